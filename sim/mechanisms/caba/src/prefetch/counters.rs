//! Counters of prefetches.
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_gpu::sm::part::Prefetched;
use selvedge_gpu::stats::FailCause;
use selvedge_state::State;

/// Counters of prefetching.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("loads_ended", "loads whose warp ended before their assist warp began"),
    Counter::new(
        "loads_not_followed",
        "loads without an assist warp: 16 were waiting, or one of the same load and warp",
    ),
    Counter::new("metadata_replaced", "metadata of a load replaced by that of another"),
    Counter::new("prefetched_lines_late", "prefetched lines that a load requested while they were in flight"),
    Counter::new("prefetched_lines_left", "prefetched lines that no load had requested at the end"),
    Counter::new("prefetched_lines_useful", "prefetched lines that a load found in the L1D"),
    Counter::new("prefetched_lines_useless", "prefetched lines evicted before a load requested them"),
    Counter::new("prefetches", "lines that assist warps requested: those sent and those dropped"),
    Counter::new("prefetches_dropped_beyond", "prefetches dropped because no buffer of the program is there"),
    Counter::new("prefetches_dropped_ended", "prefetches dropped because their warp had ended"),
    Counter::new("prefetches_dropped_no_mshr", "prefetches dropped because no MSHR was free"),
    Counter::new("prefetches_dropped_no_queue", "prefetches dropped because the miss queue was full"),
    Counter::new("prefetches_dropped_no_way", "prefetches dropped because no way of the set was free"),
    Counter::new("prefetches_dropped_present", "prefetches dropped because the line is in the L1D"),
    Counter::new("prefetches_dropped_under_way", "prefetches dropped because the line was in flight"),
    Counter::new("prefetches_sent", "prefetches sent as misses: useful, late, useless and left ones"),
];

/// Counters of one SM.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct PrefetchCounters {
    /// Loads without an assist warp: the queue was full, or had the same load of the same warp.
    pub(super) not_followed: u64,
    /// Loads whose warp ended before their assist warp was triggered.
    pub(super) ended: u64,
    /// Metadata that another load's metadata replaced.
    pub(super) replaced: u64,
    /// Lines that `pref` instructions requested.
    pub(super) prefetches: u64,
    sent: u64,
    present: u64,
    under_way: u64,
    no_mshr: u64,
    no_way: u64,
    no_queue: u64,
    /// Dropped prefetches outside of the program's buffers, with those whose number has no address.
    pub(super) beyond: u64,
    /// Prefetches whose warp ended before the L1D's port was free.
    pub(super) orphaned: u64,
    pub(super) useful: u64,
    pub(super) late: u64,
    pub(super) useless: u64,
}

impl PrefetchCounters {
    /// Counts the L1D's decision on a prefetch.
    pub(super) fn decide(&mut self, outcome: Prefetched) {
        let counter = match outcome {
            Prefetched::Sent => &mut self.sent,
            Prefetched::Present => &mut self.present,
            Prefetched::UnderWay => &mut self.under_way,
            Prefetched::Beyond => &mut self.beyond,
            Prefetched::NoRoom(FailCause::Line) => &mut self.no_way,
            Prefetched::NoRoom(FailCause::MissQueue) => &mut self.no_queue,
            Prefetched::NoRoom(_) => &mut self.no_mshr,
        };
        *counter += 1;
    }

    /// Adds the counters to the report. `unjudged` is the number of prefetched lines that no load has requested yet.
    pub(super) fn report(&self, unjudged: u64, out: &mut MechanismCounters) {
        for (name, value) in [
            ("loads_not_followed", self.not_followed),
            ("loads_ended", self.ended),
            ("metadata_replaced", self.replaced),
            ("prefetches", self.prefetches),
            ("prefetches_sent", self.sent),
            ("prefetches_dropped_present", self.present),
            ("prefetches_dropped_under_way", self.under_way),
            ("prefetches_dropped_no_mshr", self.no_mshr),
            ("prefetches_dropped_no_way", self.no_way),
            ("prefetches_dropped_no_queue", self.no_queue),
            ("prefetches_dropped_beyond", self.beyond),
            ("prefetches_dropped_ended", self.orphaned),
            ("prefetched_lines_useful", self.useful),
            ("prefetched_lines_late", self.late),
            ("prefetched_lines_useless", self.useless),
            ("prefetched_lines_left", unjudged),
        ] {
            count(out, name, value);
        }
    }
}
