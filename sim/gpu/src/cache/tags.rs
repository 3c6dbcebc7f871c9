//! A set-associative tag array with LRU replacement and a user state per line.
//!
//! In the compressed organization a set has several tags per way. Lines allocate the data of the set in sub-blocks of 32 bytes.
//! Lines that need fewer sub-blocks leave space for more lines (LATTE-CC, section III.A; CABA, section 6.5).
use super::index::SetFunction;
use super::sectors::SECTOR_BYTES;
use selvedge_hw::index_function::IndexFunction;
use selvedge_state::State;

/// Tag of a way that holds no line. Line addresses are multiples of the line size, so they never have this value.
const NO_LINE: u64 = u64::MAX;

/// Position in the tag array: one way of one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct TagSlot(u32);

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The line is present and none of its data is in flight.
    Hit(TagSlot),
    /// The line is present, but all or some of its data is in flight.
    Reserved(TagSlot),
    /// The line is absent.
    Miss,
}

/// A slot that a new line can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim<S> {
    /// Slot for the new line.
    pub slot: TagSlot,
    /// Address and state of the valid line that is evicted; `None` if the slot is free.
    pub evicted: Option<(u64, S)>,
}

/// Bit of an age: data of the line is in flight.
const AWAITED: u64 = 1 << 63;

/// Age of a way that holds no line.
const NEVER: u64 = 0;

/// The tags of a cache. `S` is the state that the cache keeps with each tag, such as a dirty bit or a sector mask.
#[derive(Clone, Debug, State)]
pub struct TagArray<S> {
    index: SetFunction,
    ways: usize,
    /// A one-byte hash of each way's line, eight ways per word; 0 marks an empty way. A lookup compares eight ways at once.
    prints: Vec<u64>,
    /// Words of `prints` per set.
    words: usize,
    lines: Vec<u64>,
    /// Time of each way's last use, with [`AWAITED`]; [`NEVER`] if the way holds no line.
    ages: Vec<u64>,
    states: Vec<S>,
    /// Sub-blocks of each line; 0 in a cache without compression.
    blocks: Vec<u8>,
    /// Sub-blocks per set.
    capacity: u32,
    clock: u64,
}

impl Probe {
    /// Returns the slot of the line if it is present, even while its data is in flight.
    pub fn slot(self) -> Option<TagSlot> {
        match self {
            Probe::Hit(slot) | Probe::Reserved(slot) => Some(slot),
            Probe::Miss => None,
        }
    }
}

/// Returns a one-byte hash of `line`, never 0.
#[inline(always)]
fn print_of(line: u64) -> u64 {
    // The golden ratio times 2^64 spreads all bits of the line into the highest ones.
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).max(1)
}

/// Sets the highest bit of each byte of `word` that is 0, and clears all other bits.
#[inline(always)]
fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW) + LOW) | word | LOW)
}

impl<S: Copy + Default> TagArray<S> {
    /// Creates an empty tag array of `sets` x `ways` lines of `line_bytes` bytes.
    pub fn new(sets: u32, ways: u32, line_bytes: u32, index: IndexFunction) -> Self {
        Self::compressed(sets, ways, 1, line_bytes, index)
    }

    /// Creates an empty tag array with data for `sets` x `ways` uncompressed lines and `tags_per_way` times as many tags.
    pub fn compressed(
        sets: u32,
        ways: u32,
        tags_per_way: u32,
        line_bytes: u32,
        index: IndexFunction,
    ) -> Self {
        let tags = (ways * tags_per_way) as usize;
        let slots = sets as usize * tags;
        Self {
            index: SetFunction::new(index, sets, line_bytes),
            ways: tags,
            blocks: vec![0; slots],
            capacity: ways * line_bytes / SECTOR_BYTES,
            prints: vec![0; sets as usize * tags.div_ceil(8)],
            words: tags.div_ceil(8),
            lines: vec![NO_LINE; slots],
            ages: vec![NEVER; slots],
            states: vec![S::default(); slots],
            clock: 0,
        }
    }

    /// Returns the slots of the set of `line`.
    fn set(&self, line: u64) -> std::ops::Range<usize> {
        let first = self.index.set(line) * self.ways;
        first..first + self.ways
    }

    /// Looks up `line`. Does not change the replacement order: see [`Self::touch`].
    pub fn probe(&self, line: u64) -> Probe {
        let set = self.index.set(line);
        let wanted = print_of(line) * 0x0101_0101_0101_0101;
        for (word, prints) in self.prints[set * self.words..][..self.words].iter().enumerate() {
            let mut alike = zero_bytes(prints ^ wanted);
            while alike != 0 {
                let at = set * self.ways + 8 * word + alike.trailing_zeros() as usize / 8;
                if self.lines[at] == line {
                    let slot = TagSlot(at as u32);
                    return if self.is_awaited(at) { Probe::Reserved(slot) } else { Probe::Hit(slot) };
                }
                alike &= alike - 1;
            }
        }
        Probe::Miss
    }

    /// Returns whether the way at `at` holds a line without data in flight.
    #[inline(always)]
    fn is_valid(&self, at: usize) -> bool {
        self.ages[at] != NEVER && !self.is_awaited(at)
    }

    /// Returns whether the way at `at` holds a line with data in flight.
    #[inline(always)]
    fn is_awaited(&self, at: usize) -> bool {
        self.ages[at] & AWAITED != 0
    }

    /// Stores `line` as the line of the way at `at`.
    fn set_line(&mut self, at: usize, line: u64) {
        let (set, way) = (at as u32 / self.ways as u32, at as u32 % self.ways as u32);
        let print = if line == NO_LINE { 0 } else { print_of(line) };
        let prints = &mut self.prints[set as usize * self.words + way as usize / 8];
        let shift = 8 * (way % 8);
        *prints = *prints & !(0xff << shift) | print << shift;
        self.lines[at] = line;
    }

    /// Makes `slot` the most recently used one of its set.
    pub fn touch(&mut self, slot: TagSlot) {
        self.clock += 1;
        let age = &mut self.ages[slot.0 as usize];
        *age = *age & AWAITED | self.clock;
    }

    /// Returns the slot for the new line `line`: a free one, else the least recently used valid one. Returns `None` if every way
    /// of the set is reserved. The access then has to wait (a reservation failure).
    pub fn victim(&self, line: u64) -> Option<Victim<S>> {
        let set = self.set(line);
        // Free ways have the lowest age, then come valid ways. Ways with data in flight have the highest.
        let (mut least, mut at) = (u64::MAX, set.start);
        for (other, age) in set.clone().zip(&self.ages[set]) {
            (least, at) = if *age < least { (*age, other) } else { (least, at) };
        }
        match least {
            NEVER => Some(Victim { slot: TagSlot(at as u32), evicted: None }),
            _ if least & AWAITED != 0 => None,
            _ => Some(Victim { slot: TagSlot(at as u32), evicted: Some((self.lines[at], self.states[at])) }),
        }
    }

    /// Returns the slot for a new line of an owner with a quota of `ways` ways per set. A free slot comes first. An owner with at
    /// least `ways` lines evicts its own least recently used line. Otherwise it evicts a line of others, or its own if theirs are
    /// all reserved.
    pub fn victim_within(&self, line: u64, ways: u32, is_owners: impl Fn(u64) -> bool) -> Option<Victim<S>> {
        let set = self.set(line);
        if let Some(way) = self.ages[set.clone()].iter().position(|age| *age == NEVER) {
            return Some(Victim { slot: TagSlot((set.start + way) as u32), evicted: None });
        }
        let least = |of_owner: bool| {
            let valid = set.clone().filter(|at| self.is_valid(*at));
            valid.filter(|at| is_owners(self.lines[*at]) == of_owner).min_by_key(|at| self.ages[*at])
        };
        let held = set.clone().filter(|at| is_owners(self.lines[*at])).count();
        let at = if held >= ways as usize { least(true) } else { least(false).or_else(|| least(true)) }?;
        Some(Victim { slot: TagSlot(at as u32), evicted: Some((self.lines[at], self.states[at])) })
    }

    /// Reserves `slot` for `line`, with its data in flight. The state is reset to its default. The slot becomes the most recently
    /// used one. `slot` must come from [`Self::victim`] for the same line.
    pub fn reserve(&mut self, slot: TagSlot, line: u64) {
        let at = slot.0 as usize;
        debug_assert!(self.set(line).contains(&at) && !self.is_awaited(at));
        debug_assert_eq!(self.probe(line), Probe::Miss);
        self.set_line(at, line);
        self.ages[at] = AWAITED;
        self.blocks[at] = 0;
        self.states[at] = S::default();
        self.touch(slot);
    }

    /// Records that more data of the line in `slot` is in flight. The line keeps its state and is not evicted before
    /// [`Self::fill`].
    pub fn await_more(&mut self, slot: TagSlot) {
        debug_assert_ne!(self.ages[slot.0 as usize], NEVER);
        self.ages[slot.0 as usize] |= AWAITED;
    }

    /// Records that all data of the line in `slot` has arrived. The line is valid from now on.
    pub fn fill(&mut self, slot: TagSlot) {
        debug_assert_ne!(self.ages[slot.0 as usize], NEVER);
        self.ages[slot.0 as usize] &= !AWAITED;
    }

    /// Changes the data of the line in `slot` to `blocks` sub-blocks. Evicts the least recently used valid lines of the set until
    /// they fit, and appends these lines to `evicted`. A reserved line has no sub-blocks before the first call. Returns `false`
    /// and changes nothing if other lines with data in flight occupy too many sub-blocks.
    pub fn give_blocks(&mut self, slot: TagSlot, blocks: u32, evicted: &mut Vec<(u64, S)>) -> bool {
        let at = slot.0 as usize;
        debug_assert!(blocks > 0 && blocks <= self.capacity && self.ages[at] != NEVER);
        let set = at / self.ways * self.ways..(at / self.ways + 1) * self.ways;
        let held = |array: &Self, all: bool| -> u32 {
            let others = set.clone().filter(|other| *other != at);
            others.filter(|o| all || array.is_awaited(*o)).map(|o| u32::from(array.blocks[o])).sum()
        };
        if held(self, false) + blocks > self.capacity {
            return false;
        }
        while held(self, true) + blocks > self.capacity {
            let valid = set.clone().filter(|o| *o != at && self.is_valid(*o));
            let least = valid.min_by_key(|o| self.ages[*o]).expect("a valid line holds what is too much");
            evicted.push((self.lines[least], self.states[least]));
            self.invalidate(TagSlot(least as u32));
        }
        self.blocks[at] = blocks as u8;
        true
    }

    /// Returns whether [`Self::give_blocks`] can give a new line `blocks` sub-blocks.
    pub fn has_room(&self, line: u64, blocks: u32) -> bool {
        let awaited = self.set(line).filter(|at| self.is_awaited(*at));
        awaited.map(|at| u32::from(self.blocks[at])).sum::<u32>() + blocks <= self.capacity
    }

    /// Returns the used and the total number of sub-blocks of the set of `line`.
    pub fn blocks(&self, line: u64) -> (u32, u32) {
        (self.set(line).map(|at| u32::from(self.blocks[at])).sum(), self.capacity)
    }

    /// Removes any line from `slot`.
    pub fn invalidate(&mut self, slot: TagSlot) {
        self.blocks[slot.0 as usize] = 0;
        self.set_line(slot.0 as usize, NO_LINE);
        self.ages[slot.0 as usize] = NEVER;
    }

    /// Removes every valid line for which `is_meant` returns `true`. Reserved lines remain, because their data is in flight.
    pub fn invalidate_valid(&mut self, is_meant: impl Fn(u64) -> bool) {
        for at in 0..self.lines.len() {
            if self.is_valid(at) && is_meant(self.lines[at]) {
                self.invalidate(TagSlot(at as u32));
            }
        }
    }

    /// Returns the line in `slot`, even while its data is in flight.
    pub fn line(&self, slot: TagSlot) -> Option<u64> {
        let line = self.lines[slot.0 as usize];
        (line != NO_LINE).then_some(line)
    }

    /// Returns the user state of `slot`.
    pub fn state(&self, slot: TagSlot) -> &S {
        &self.states[slot.0 as usize]
    }

    /// Returns the user state of `slot` for modification.
    pub fn state_mut(&mut self, slot: TagSlot) -> &mut S {
        &mut self.states[slot.0 as usize]
    }

    /// Returns every line with its state and whether it is valid. It scans all slots: use it for checks and reports only.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &S, bool)> {
        let held = (0..self.lines.len()).filter(|at| self.ages[*at] != NEVER);
        held.map(|at| (self.lines[at], &self.states[at], self.is_valid(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: u64 = 128;
    const SETS: u64 = 4;

    fn array() -> TagArray<bool> {
        TagArray::new(SETS as u32, 2, LINE as u32, IndexFunction::Bmod)
    }

    /// Returns the `n`th line that maps to set 1.
    fn in_set_1(n: u64) -> u64 {
        (1 + n * SETS) * LINE
    }

    fn bring(tags: &mut TagArray<bool>, line: u64) -> Option<(u64, bool)> {
        let victim = tags.victim(line).expect("a way is free or valid");
        tags.reserve(victim.slot, line);
        tags.fill(victim.slot);
        victim.evicted
    }

    #[test]
    fn a_line_goes_from_miss_over_reserved_to_hit() {
        let mut tags = array();
        assert_eq!(tags.probe(128), Probe::Miss);
        let slot = tags.victim(128).expect("empty").slot;
        tags.reserve(slot, 128);
        assert_eq!(tags.probe(128), Probe::Reserved(slot));
        tags.fill(slot);
        assert_eq!(tags.probe(128), Probe::Hit(slot));
        tags.invalidate(slot);
        assert_eq!(tags.probe(128), Probe::Miss);
    }

    #[test]
    fn lines_of_one_print_are_told_apart() {
        let mut tags: TagArray<bool> = TagArray::new(1, 20, LINE as u32, IndexFunction::Bmod);
        let alike = (0..).map(|n| n * LINE).filter(|line| print_of(*line) == print_of(0));
        let lines: Vec<u64> = alike.take(21).collect();
        lines[..20].iter().for_each(|line| assert_eq!(bring(&mut tags, *line), None));
        let slots: Vec<Option<TagSlot>> = lines.iter().map(|line| tags.probe(*line).slot()).collect();
        let expected: Vec<Option<TagSlot>> = (0..20).map(|at| Some(TagSlot(at))).chain([None]).collect();
        assert_eq!(slots, expected);
    }

    #[test]
    fn the_least_recently_touched_line_leaves_with_its_state() {
        let mut tags = array();
        assert_eq!(bring(&mut tags, in_set_1(0)), None);
        assert_eq!(bring(&mut tags, in_set_1(1)), None);
        let Probe::Hit(slot) = tags.probe(in_set_1(0)) else { panic!("line 0 was filled") };
        tags.touch(slot);
        let Probe::Hit(slot) = tags.probe(in_set_1(1)) else { panic!("line 1 was filled") };
        *tags.state_mut(slot) = true;
        assert_eq!(bring(&mut tags, in_set_1(2)), Some((in_set_1(1), true)));
        assert_eq!(bring(&mut tags, in_set_1(3)), Some((in_set_1(0), false)));
    }

    #[test]
    fn reserved_ways_are_never_victims() {
        let mut tags = array();
        for n in 0..2 {
            let slot = tags.victim(in_set_1(n)).expect("free").slot;
            tags.reserve(slot, in_set_1(n));
        }
        assert_eq!(tags.victim(in_set_1(2)), None);
        assert!(tags.victim(0).is_some(), "another set is not affected");
    }

    #[test]
    fn an_owner_with_all_its_ways_evicts_its_own_line_and_one_with_fewer_another_s() {
        let is_even = |line: u64| (line / LINE / SETS).is_multiple_of(2);
        let mut tags: TagArray<bool> = TagArray::new(SETS as u32, 4, LINE as u32, IndexFunction::Bmod);
        for n in [1, 3, 0, 2] {
            bring(&mut tags, in_set_1(n));
        }
        let evicted = |ways| tags.victim_within(in_set_1(4), ways, is_even).and_then(|v| v.evicted);
        assert_eq!(evicted(2), Some((in_set_1(0), false)), "the older of its own two");
        assert_eq!(evicted(3), Some((in_set_1(1), false)), "the older of the others'");
    }

    #[test]
    fn a_line_that_awaits_more_is_no_victim_and_keeps_its_state() {
        let mut tags = array();
        bring(&mut tags, in_set_1(0));
        bring(&mut tags, in_set_1(1));
        let slot = tags.probe(in_set_1(0)).slot().expect("line 0 was filled");
        *tags.state_mut(slot) = true;
        tags.await_more(slot);
        assert_eq!(tags.victim(in_set_1(2)).and_then(|v| v.evicted), Some((in_set_1(1), false)));
        tags.fill(slot);
        assert_eq!(tags.victim(in_set_1(2)).and_then(|v| v.evicted), Some((in_set_1(0), true)));
    }

    #[test]
    fn a_line_finds_no_room_beside_one_that_awaits_more() {
        let mut tags: TagArray<()> = TagArray::compressed(1, 1, 2, 128, IndexFunction::Bmod);
        let mut slots = [0, 128].map(|line| {
            let slot = tags.victim(line).expect("a tag is free").slot;
            tags.reserve(slot, line);
            slot
        });
        slots.reverse();
        let [new, old] = slots;
        let mut evicted = Vec::new();
        assert!(tags.give_blocks(old, 4, &mut evicted));
        assert!(!tags.give_blocks(new, 1, &mut evicted), "4 of 4 sub-blocks are taken");
        assert!(evicted.is_empty());
    }

    #[test]
    fn a_new_line_starts_with_the_default_state() {
        let mut tags = array();
        bring(&mut tags, 0);
        let Probe::Hit(slot) = tags.probe(0) else { panic!("line 0 was filled") };
        *tags.state_mut(slot) = true;
        tags.invalidate(slot);
        bring(&mut tags, 0);
        assert!(!*tags.state(slot));
    }

    #[test]
    fn lines_lists_what_is_held() {
        let mut tags = array();
        bring(&mut tags, 0);
        let slot = tags.victim(128).expect("free").slot;
        tags.reserve(slot, 128);
        assert_eq!(tags.line(slot), Some(128));
        let held: Vec<_> = tags.lines().map(|(line, _, valid)| (line, valid)).collect();
        assert_eq!(held, [(0, true), (128, false)]);
        tags.invalidate_valid(|_| true);
        assert_eq!(tags.lines().count(), 1);
    }

    proptest! {
        /// Compares with lists of lines, least recently used first: the same lines are present, and their data never exceeds the
        /// capacity.
        #[test]
        fn compressed_lines_fill_their_set_and_never_more(
            tags_per_way in 1u32..5,
            ways in 1u32..5,
            accesses in prop::collection::vec((0u64..40, 1u32..5), 1..500),
        ) {
            let mut tags: TagArray<()> = TagArray::compressed(2, ways, tags_per_way, 128, IndexFunction::Bmod);
            let mut golden: [Vec<(u64, u32)>; 2] = Default::default();
            for (number, size) in accesses {
                let line = number * LINE;
                let set = &mut golden[number as usize % 2];
                let known = set.iter().position(|(l, _)| *l == line);
                prop_assert_eq!(tags.probe(line) != Probe::Miss, known.is_some(), "line {}", number);
                if let Some(at) = known {
                    let entry = set.remove(at);
                    set.push(entry);
                    tags.touch(tags.probe(line).slot().expect("it is there"));
                    continue;
                }
                if set.len() as u32 == ways * tags_per_way {
                    set.remove(0);
                }
                while set.iter().map(|(_, size)| size).sum::<u32>() + size > ways * 4 {
                    set.remove(0);
                }
                set.push((line, size));
                let slot = tags.victim(line).expect("nothing is reserved").slot;
                tags.reserve(slot, line);
                let before = tags.lines().count();
                let mut evicted = Vec::new();
                prop_assert!(tags.give_blocks(slot, size, &mut evicted));
                tags.fill(slot);
                prop_assert_eq!(tags.lines().count(), before - evicted.len());
                let (used, capacity) = tags.blocks(line);
                prop_assert!(used <= capacity && capacity == ways * 4);
                prop_assert_eq!(used, set.iter().map(|(_, size)| size).sum::<u32>());
            }
        }
    }
}
