//! The atomic unit of an L2 slice, which serializes the operations on each word.
//!
//! The unit takes the atomics of the slice in the order of its port. It begins up to `l2.atomic_operations` operations per cycle.
//! A word takes its next operation `l2.atomic_word_cycles` cycles after the previous one. An atomic of `n` operations, `m` of
//! them on one word, begins them within `max(ceil(n / atomic_operations), (m - 1) * atomic_word_cycles + 1)` cycles. The next
//! atomic begins after these cycles, once all of its words are free.
use crate::config::L2;
use crate::packet::Packet;
use selvedge_state::State;

/// An atomic whose operations have begun and may still occupy words.
#[derive(Clone, Copy, Debug, State)]
struct BegunAtomic {
    line: u64,
    /// Words of the line.
    words: u64,
    /// The cycle in which its lowest word takes its last operation.
    from: u64,
    /// Cycles over which its words take their last operations.
    span: u64,
}

impl BegunAtomic {
    /// Returns the cycles from the lowest word's operation to that of `word`. Words take their operations in the order of their
    /// addresses.
    fn offset(words: u64, word: u32, span: u64) -> u64 {
        let before = words & ((1 << word) - 1);
        u64::from(before.count_ones()) * span / u64::from(words.count_ones().max(1))
    }
}

#[derive(Debug, State)]
pub struct AtomicUnit {
    word_cycles: u64,
    per_cycle: u64,
    /// The first cycle in which the unit may begin another atomic.
    free_from: u64,
    /// Atomics that may still occupy words. Stays empty if an operation occupies its word for one cycle only.
    begun: Vec<BegunAtomic>,
}

impl AtomicUnit {
    /// Returns an idle unit.
    pub fn new(l2: &L2) -> Self {
        AtomicUnit {
            word_cycles: u64::from(l2.atomic_word_cycles),
            per_cycle: u64::from(l2.atomic_operations),
            free_from: 0,
            begun: Vec::new(),
        }
    }

    /// Returns the cycles over which the operations of `packet` begin, and the cycles over which its words take their last
    /// operations.
    fn spans(&self, packet: &Packet) -> (u64, u64) {
        let (all, deepest) = (u64::from(packet.operations.all), u64::from(packet.operations.on_one_word));
        let cycles = all.div_ceil(self.per_cycle).max(deepest.saturating_sub(1) * self.word_cycles + 1);
        (cycles, if deepest > 1 { 1 } else { cycles })
    }

    /// Returns whether the operations of `packet` may begin in cycle `now`.
    pub fn is_free(&self, now: u64, packet: &Packet) -> bool {
        now >= self.free_from && self.begun.iter().all(|begun| !self.takes(begun, now, packet))
    }

    /// Returns whether `begun` would still occupy a word of `packet` in the cycle in which `packet` uses it.
    fn takes(&self, begun: &BegunAtomic, now: u64, packet: &Packet) -> bool {
        let common = if begun.line == packet.line { begun.words & packet.words } else { 0 };
        let span = if packet.operations.on_one_word > 1 { 1 } else { self.spans(packet).0 };
        (0..u64::BITS).filter(|word| common >> word & 1 == 1).any(|word| {
            let free = begun.from + BegunAtomic::offset(begun.words, word, begun.span) + self.word_cycles;
            free > now + BegunAtomic::offset(packet.words, word, span)
        })
    }

    /// Begins the operations of `packet` and returns the cycle in which the last one begins. [`Self::is_free`] must have returned
    /// `true`.
    pub fn begin(&mut self, now: u64, packet: &Packet) -> u64 {
        debug_assert!(self.is_free(now, packet));
        let (cycles, span) = self.spans(packet);
        let last = now + cycles - 1;
        self.free_from = last + 1;
        if self.word_cycles > 1 {
            let word_cycles = self.word_cycles;
            self.begun.retain(|begun| begun.from + begun.span + word_cycles > now);
            let from = last + 1 - span;
            self.begun.push(BegunAtomic { line: packet.line, words: packet.words, from, span });
        }
        last
    }
}
