//! Counters of regions and of the look-up table.
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_state::State;

/// Counters of memoization.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new(
        "region_instructions_skipped",
        "instructions that warps skipped because their region's results were found",
    ),
    Counter::new("region_results_stored", "regions executed whose results were stored"),
    Counter::new("regions_asked", "warps that looked up a region's results"),
    Counter::new("regions_found", "warps that found a region's results and skipped it"),
    Counter::new(
        "regions_given_up",
        "times that an SM stopped looking up a region for 16,384 cycles, since too little was found",
    ),
    Counter::new("table_entries", "the most entries that the result tables had, all SMs together"),
    Counter::new("tables_cleared", "times that a result table was emptied"),
];

/// Counters of one SM.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct MemoCounters {
    /// Warps that entered a region and looked up its results.
    pub(super) asked: u64,
    /// Look-ups that found the results.
    pub(super) found: u64,
    /// Instructions of regions that were skipped.
    pub(super) skipped: u64,
    /// Results that were stored in the table.
    pub(super) stored: u64,
    /// Times that a region lost its credit and rests.
    pub(super) given_up: u64,
    /// Times that the table was cleared or resized.
    pub(super) cleared: u64,
    /// Max entries that the table had.
    pub(super) entries: u64,
}

impl MemoCounters {
    /// Adds the counters to the report.
    pub(super) fn report(&self, out: &mut MechanismCounters) {
        for (name, value) in [
            ("regions_asked", self.asked),
            ("regions_found", self.found),
            ("region_instructions_skipped", self.skipped),
            ("region_results_stored", self.stored),
            ("regions_given_up", self.given_up),
            ("tables_cleared", self.cleared),
            ("table_entries", self.entries),
        ] {
            count(out, name, value);
        }
    }
}
