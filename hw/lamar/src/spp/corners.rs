//! Corner cases that the SPP's full stimulus must reach, observed at the ports.
use super::params::SppParams;
use super::rtl::{SppIn, SppOut};
use selvedge_hw::corners::{Corner, Corners};

/// Counts queries and commits, and the corner cases among them. An operation is a query or a commit.
pub(super) struct SppCorners {
    params: SppParams,
    /// Block of the last commit to each entry.
    owners: Vec<Option<u32>>,
    /// Entries with a pattern from before the last reset.
    stale: Vec<bool>,
    /// Query of the last cycle, and `true` if its entry was committed in that cycle.
    queried: Option<(SppIn, bool)>,
    /// Cycles until the end of the sweep that clears the entries.
    sweep_left: u32,
    operations: u64,
    dropped: u64,
    swept_query: u64,
    stale_query: u64,
    unknown: u64,
    known: u64,
    other_block: u64,
    same_cycle: u64,
    beyond_requested: u64,
    requested_only: u64,
    unpredicted_request: u64,
    empty_pattern: u64,
}

impl SppCorners {
    pub fn new(params: &SppParams) -> Self {
        SppCorners {
            params: *params,
            owners: vec![None; params.entries as usize],
            stale: vec![false; params.entries as usize],
            queried: None,
            sweep_left: params.entries,
            operations: 0,
            dropped: 0,
            swept_query: 0,
            stale_query: 0,
            unknown: 0,
            known: 0,
            other_block: 0,
            same_cycle: 0,
            beyond_requested: 0,
            requested_only: 0,
            unpredicted_request: 0,
            empty_pattern: 0,
        }
    }

    fn answer(&mut self, query: &SppIn, committed: bool, answer: &SppOut) {
        let owner = self.owners[self.params.index(query.query_address_i)];
        self.unknown += u64::from(!answer.known_o);
        self.known += u64::from(answer.known_o);
        self.other_block += u64::from(answer.known_o && owner != Some(query.query_address_i));
        self.same_cycle += u64::from(committed);
        let requested_only = answer.sectors_o == query.requested_i;
        self.requested_only += u64::from(requested_only && answer.known_o);
        self.beyond_requested += u64::from(!requested_only && answer.known_o);
        self.unpredicted_request += u64::from(committed && query.used_i & query.requested_i == 0);
        self.empty_pattern += u64::from(committed && query.used_i == 0);
    }
}

impl Corners<SppIn, SppOut> for SppCorners {
    fn reset(&mut self) {
        for (stale, owner) in self.stale.iter_mut().zip(&mut self.owners) {
            *stale |= owner.take().is_some();
        }
        self.queried = None;
        self.sweep_left = self.params.entries;
    }

    fn clock(&mut self, inputs: &SppIn, outputs: &SppOut) {
        if let Some((query, committed)) = self.queried.take() {
            self.answer(&query, committed, outputs);
        }
        self.operations += u64::from(inputs.query_i) + u64::from(inputs.evict_i);
        let entry = self.params.index(inputs.evict_address_i);
        let sweeps = self.sweep_left > 0;
        let queried = self.params.index(inputs.query_address_i);
        self.stale_query += u64::from(sweeps && inputs.query_i && self.stale[queried]);
        if sweeps {
            // The sweep clears one entry per cycle, in ascending order.
            self.stale[(self.params.entries - self.sweep_left) as usize] = false;
        }
        self.sweep_left = self.sweep_left.saturating_sub(1);
        self.dropped += u64::from(sweeps && inputs.evict_i);
        self.swept_query += u64::from(sweeps && inputs.query_i);
        let commits = inputs.evict_i && !sweeps;
        if commits {
            self.owners[entry] = Some(inputs.evict_address_i);
        }
        if inputs.query_i {
            let committed = commits && self.params.index(inputs.query_address_i) == entry;
            self.queried = Some((*inputs, committed));
        }
    }

    fn operations(&self) -> u64 {
        self.operations
    }

    fn seen(&self) -> Vec<Corner> {
        [
            ("a commit during the sweep is dropped", self.dropped),
            ("a query comes during the sweep", self.swept_query),
            ("a query finds a pattern from before a reset", self.stale_query),
            ("an entry without a pattern replies", self.unknown),
            ("a committed pattern replies", self.known),
            ("the pattern of another block replies", self.other_block),
            ("commit and query meet in one entry", self.same_cycle),
            ("a pattern adds to what is requested", self.beyond_requested),
            ("a pattern adds nothing", self.requested_only),
            ("a requested sector was not predicted", self.unpredicted_request),
            ("an empty pattern replies", self.empty_pattern),
        ]
        .map(|(name, times)| Corner { name, times, demanded: 100 })
        .to_vec()
    }
}
