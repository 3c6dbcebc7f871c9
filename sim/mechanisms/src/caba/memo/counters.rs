//! What has been counted of regions and of the look-up table.
use selvedge_gpu::mechanism::{MechanismCounters, count};
use selvedge_state::State;

/// What has happened in one SM.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct Counters {
    /// Warps that came to a region and asked.
    pub(super) asked: u64,
    /// Those among them that were told that its results are known.
    pub(super) found: u64,
    /// Instructions of regions that were not executed.
    pub(super) skipped: u64,
    /// Results that were stored.
    pub(super) stored: u64,
    /// Times that a region was given up for a while.
    pub(super) given_up: u64,
    /// Times that the table was emptied or became smaller.
    pub(super) cleared: u64,
    /// Most entries that the table had.
    pub(super) entries: u64,
}

impl Counters {
    /// Adds them to the report.
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
