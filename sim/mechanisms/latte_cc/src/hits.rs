//! Hits on compressed lines. A hit waits in the queue block while the real codec decompresses its line.
//!
//! The queue gives the time at which the line would be decompressed at the latency of its mode. If the codec takes longer for a
//! line, the hit waits for the codec, so no hit is faster than its hardware.
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_gpu::sm::part::Hit;
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::Instance;
use selvedge_hw::wave::Trace;
use selvedge_hw_latte_cc::decompression_queue::{
    DecompressionQueue, DecompressionQueueIn, DecompressionQueueParams,
};
use selvedge_hw_latte_cc::latte_controller::Mode;
use selvedge_state::State;
use std::collections::VecDeque;

/// Counters of hits on compressed lines.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new(
        "decompression_cycles",
        "cycles that hits on compressed lines spent in the queue and the decompressor",
    ),
    Counter::new(
        "decompression_late_cycles",
        "cycles in which the queue's latency was over and the decompressor not done",
    ),
    Counter::new("l1d_hits_high_capacity", "hits on L1D lines of the high-capacity codec"),
    Counter::new("l1d_hits_low_latency", "hits on L1D lines of the low-latency codec"),
];

/// A hit in flight.
#[derive(Clone, Copy, Debug, State)]
struct HitInFlight {
    hit: Hit,
    id: u8,
    mode: Mode,
    latency: u8,
    /// `true` when the line has left the codec.
    decompressed: bool,
    /// The cycle in which the hit arrived.
    since: u64,
}

/// The hits of one SM that are in the queue for the decompressor.
#[derive(State)]
pub struct Hits {
    queue: Instance<DecompressionQueue>,
    /// A hit that enters the queue in the next cycle, or as soon as the queue has a free entry.
    incoming: Option<HitInFlight>,
    inside: VecDeque<HitInFlight>,
    /// The mode of the hit whose latency the queue gives next.
    answered: Option<Mode>,
    leaving: VecDeque<Hit>,
    next_id: u8,
    hits: [u64; 3],
    cycles: u64,
    late_cycles: u64,
}

impl Hits {
    /// Returns an empty queue for `depth` lines.
    pub fn new(name: String, depth: u32, probes: &Probes) -> Self {
        Hits {
            queue: probes.instance(name, &DecompressionQueueParams { depth }),
            incoming: None,
            inside: VecDeque::new(),
            answered: None,
            leaving: VecDeque::new(),
            next_id: 0,
            hits: [0; 3],
            cycles: 0,
            late_cycles: 0,
        }
    }

    /// Returns whether a hit can be added.
    pub fn has_room(&self) -> bool {
        self.incoming.is_none()
    }

    /// Adds a hit on a line of `mode` in cycle `now`. Returns the tag of its line in the codec.
    pub fn push(&mut self, hit: Hit, mode: Mode, latency: u32, now: u64) -> u64 {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        self.incoming =
            Some(HitInFlight { hit, id, mode, latency: latency as u8, decompressed: false, since: now });
        self.hits[mode as usize] += 1;
        u64::from(id)
    }

    /// Records that the line of a hit has left the codec.
    pub fn decompressed(&mut self, id: u64) {
        let all = self.inside.iter_mut().chain(&mut self.incoming);
        let hit = all.into_iter().find(|hit| u64::from(hit.id) == id).expect("a codec gives what was put in");
        hit.decompressed = true;
    }

    /// Returns whether the queue must be clocked.
    pub fn is_busy(&self) -> bool {
        self.incoming.is_some() || !self.inside.is_empty() || self.answered.is_some()
    }

    /// Returns whether any hit is in the queue or leaves it.
    pub fn holds_hits(&self) -> bool {
        self.incoming.is_some() || !self.inside.is_empty() || !self.leaving.is_empty()
    }

    /// Clocks the queue once. Returns the mode and the effective latency of the hit that entered in the clock before, if any.
    ///
    /// # Errors
    /// If the engines differ.
    pub fn tick(&mut self, now: u64) -> Result<Option<(Mode, u8)>, MechanismFault> {
        self.queue.advance_to(now);
        let ready_i = self.inside.front().is_some_and(|hit| hit.decompressed);
        let inputs = DecompressionQueueIn {
            valid_i: self.incoming.is_some(),
            id_i: self.incoming.map_or(0, |hit| hit.id),
            latency_i: self.incoming.map_or(0, |hit| hit.latency),
            ready_i,
        };
        let out = self.queue.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        if out.valid_o && ready_i {
            let hit = self.inside.pop_front().expect("the queue gives what was put in");
            debug_assert_eq!(hit.id, out.id_o, "hits leave in the order in which they came");
            self.cycles += now - hit.since;
            self.leaving.push_back(hit.hit);
        } else if out.valid_o {
            self.late_cycles += 1;
        }
        let answer = self.answered.take().filter(|_| out.accepted_o).map(|mode| (mode, out.hit_latency_o));
        if out.ready_o
            && let Some(hit) = self.incoming.take()
        {
            self.answered = Some(hit.mode);
            self.inside.push_back(hit);
        }
        Ok(answer)
    }

    /// Removes and returns the next hit whose data are decompressed.
    pub fn pop(&mut self) -> Option<Hit> {
        self.leaving.pop_front()
    }

    /// Adds its counters to the report.
    pub fn counters(&self, out: &mut MechanismCounters) {
        count(out, "l1d_hits_low_latency", self.hits[Mode::LowLatency as usize]);
        count(out, "l1d_hits_high_capacity", self.hits[Mode::HighCapacity as usize]);
        count(out, "decompression_cycles", self.cycles);
        count(out, "decompression_late_cycles", self.late_cycles);
    }

    /// Returns the recorded ports of the queue, if it is probed.
    pub fn trace(&self) -> Option<Trace> {
        self.queue.trace()
    }
}
