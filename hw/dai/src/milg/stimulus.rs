//! Stimulus of the MILG: phases of low load, contention and overflow that drive every counter to both ends.
use super::params::MilgParams;
use super::rtl::{MilgIn, MilgOut};
use selvedge_hw::block::Stimulus;
use selvedge_hw::corners::{Corner, Corners};
use selvedge_hw::prng::Prng;

/// Percentages of cycles with issues and with completions, each of 1 to 3 instructions: balanced, filling, draining, crowded.
const OCCUPANCY: [(u64, u64); 4] = [(40, 40), (60, 30), (30, 60), (90, 80)];

/// Percentages of cycles with requests and with reservation failures: few failures, about one per request, two, more than the
/// counter can hold, and two for [`LONE`].
const CONTENTION: [(u64, u64); 5] = [(80, 2), (45, 60), (30, 75), (18, 95), (30, 75)];

/// The kind of contention whose first interval has one instruction in flight.
const LONE: usize = 4;

/// Cycles of one kind of contention: long enough for a complete interval with the rarest requests.
const CONTENTION_CYCLES: u64 = 12_000;

/// Returns the endless stimulus of the MILG. It ignores `may_issue_o`, so that the counters must saturate. Under contention,
/// every second interval of requests only drains: its maximum is the number in flight at its start. Each kind of contention
/// begins with a reset, because a limit never rises. The last kind begins with one instruction, fewer than the failures per
/// request.
pub(super) fn milg(params: &MilgParams, seed: u64) -> impl Iterator<Item = Stimulus<MilgIn>> + use<> {
    let request_bits = params.request_bits;
    let mut prng = Prng::new(seed);
    let mut occupancy = OCCUPANCY[0];
    let mut remaining = 0u64;
    let mut cycle = 0u64;
    let mut requests = 0u64;
    std::iter::from_fn(move || {
        let reset = cycle.is_multiple_of(CONTENTION_CYCLES) || prng.below(30_000) == 0;
        let phase = (cycle / CONTENTION_CYCLES) as usize % CONTENTION.len();
        let is_first_of_phase = cycle % CONTENTION_CYCLES == 1;
        let contention = CONTENTION[phase];
        cycle += 1;
        if reset {
            requests = 0;
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            occupancy = OCCUPANCY[prng.below(OCCUPANCY.len() as u64) as usize];
            remaining = 100 + prng.below(1000);
        }
        remaining -= 1;
        let mut count = |percent| if prng.chance(percent) { 1 + prng.below(3) as u8 } else { 0 };
        let (mut issued_i, mut completed_i) = (count(occupancy.0), count(occupancy.1));
        let (request_i, rsfail_i) = (prng.chance(contention.0), prng.chance(contention.1));
        if phase > 0 && (requests >> request_bits) % 2 == 1 {
            (issued_i, completed_i) = (0, 3);
        }
        if phase == LONE && requests >> request_bits == 0 {
            (issued_i, completed_i) = (u8::from(is_first_of_phase), 0);
        }
        requests += u64::from(request_i);
        Some(Stimulus::step(MilgIn { issued_i, completed_i, request_i, rsfail_i }))
    })
}

/// Counts how often the counters were pushed past their ends. An operation is a cycle.
pub(super) struct MilgCorners {
    params: MilgParams,
    cycles: u64,
    /// Failures in this interval, without saturation. The last cycle's failure is separate, in `last_rsfail`.
    rsfails: u64,
    last_rsfail: bool,
    inflight_at_top: u64,
    inflight_at_zero: u64,
    rsfail_at_top: u64,
    saturated_limits: u64,
    unlimited: u64,
    limit: u16,
    /// Instructions in flight at the start of the interval. `most_since` is the maximum after its first cycle.
    first: u16,
    most_since: u16,
    first_decides: u64,
    capped: u64,
    raised_to_one: u64,
    /// `true` in the first interval after a reset.
    is_first: bool,
    low_at_first: u64,
}

impl MilgCorners {
    pub(super) fn new(params: &MilgParams) -> Self {
        MilgCorners {
            params: *params,
            cycles: 0,
            rsfails: 0,
            last_rsfail: false,
            inflight_at_top: 0,
            inflight_at_zero: 0,
            rsfail_at_top: 0,
            saturated_limits: 0,
            unlimited: 0,
            limit: params.no_limit(),
            first: 0,
            most_since: 0,
            first_decides: 0,
            capped: 0,
            raised_to_one: 0,
            is_first: true,
            low_at_first: 0,
        }
    }

    /// Returns the failures per request in the interval that has just ended.
    fn per_request(&self) -> u64 {
        let top = (1 << self.params.rsfail_bits) - 1;
        self.rsfails.min(top) >> self.params.request_bits
    }

    /// Returns whether the instructions in flight at the start of the ended interval raised its limit.
    fn is_decided_by_first(&self, limit: u16) -> bool {
        let most = u64::from(self.most_since.min(self.limit));
        let per_request = self.per_request();
        per_request > 0 && u64::from(limit) > (most / per_request).max(1)
    }

    /// Returns the maximum in flight of the ended interval divided by its failures per request, or `None` without failures.
    fn quotient(&self) -> Option<u64> {
        u64::from(self.most_since.max(self.first)).checked_div(self.per_request())
    }

    /// Returns whether the previous limit lowered the limit of the ended interval.
    fn is_capped(&self, limit: u16) -> bool {
        self.quotient().is_some_and(|quotient| u64::from(limit) < quotient)
    }
}

impl Corners<MilgIn, MilgOut> for MilgCorners {
    fn reset(&mut self) {
        (self.rsfails, self.last_rsfail) = (0, false);
        (self.first, self.most_since, self.limit) = (0, 0, self.params.no_limit());
        self.is_first = true;
    }
    fn clock(&mut self, inputs: &MilgIn, outputs: &MilgOut) {
        self.cycles += 1;
        let (issued, completed) = (inputs.issued_i, inputs.completed_i);
        self.inflight_at_top += u64::from(outputs.inflight_o == self.params.no_limit() && issued > completed);
        self.inflight_at_zero += u64::from(outputs.inflight_o == 0 && completed > issued);
        let top = (1 << self.params.rsfail_bits) - 1;
        if outputs.update_o {
            // The interval ended with the last cycle; the failure of that cycle already belongs to this interval.
            self.saturated_limits += u64::from(self.rsfails > top);
            self.unlimited += u64::from(outputs.limit_o == self.params.no_limit());
            self.first_decides += u64::from(self.is_decided_by_first(outputs.limit_o));
            self.capped += u64::from(self.is_capped(outputs.limit_o));
            self.raised_to_one += u64::from(self.quotient() == Some(0));
            let top = u64::from(self.params.no_limit()).checked_div(self.per_request());
            self.low_at_first += u64::from(self.is_first && self.quotient() < top);
            (self.rsfails, self.is_first) = (0, false);
            (self.first, self.most_since, self.limit) = (outputs.inflight_o, 0, outputs.limit_o);
        } else {
            self.most_since = self.most_since.max(outputs.inflight_o);
        }
        self.rsfails += u64::from(self.last_rsfail);
        self.last_rsfail = inputs.rsfail_i;
        self.rsfail_at_top += u64::from(self.rsfails >= top && inputs.rsfail_i);
    }
    fn operations(&self) -> u64 {
        self.cycles
    }
    fn seen(&self) -> Vec<Corner> {
        [
            ("in flight pushed beyond the top", self.inflight_at_top),
            ("in flight pushed below zero", self.inflight_at_zero),
            ("failures pushed beyond the top", self.rsfail_at_top),
            ("limit from saturated failures", self.saturated_limits),
            ("no limit", self.unlimited),
            ("limit from what the interval began with", self.first_decides),
            ("limit from the limit before", self.capped),
            ("limit from a quotient of 0", self.raised_to_one),
            ("first limit from few in flight", self.low_at_first),
        ]
        .map(|(name, times)| Corner { name, times, demanded: 1 })
        .to_vec()
    }
}
