//! MRPB: memory-request prioritization buffers (Jia et al., HPCA 2014), which Dai's chapter 3 compares with (sections 2.2.3
//! and 3.4.2).
//!
//! MRPB reorders memory instructions between the coalescer and the L1D. They wait in one queue per warp (or CTA). The load/store
//! unit serves one queue until it is empty, and then the non-empty queue with the lowest number. So fewer warps use the L1D
//! within a short time. In addition, a load that fails to reserve something in the L1D bypasses it instead of waiting.
//!
//! Dai compares with MRPB and does not build it, so it has no block.
use crate::BYPASS_COUNTERS;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{
    Claim, Counter, Mechanism, MechanismCounters, MechanismError, Setup, Site, Values, count,
};
use selvedge_gpu::sm::part::{FailureBypass, Load, MemoryEvent, MemoryObserver, RequestQueues, SmPart};
use selvedge_gpu::stats::FailCause;
use selvedge_gpu::{has, mechanism_options, option_names};
use selvedge_state::State;

/// Counters of `mrpb`.
pub(crate) const COUNTERS: &[Counter] =
    &[Counter::new("instructions_served_early", "memory instructions served before an earlier one")];

option_names! {
    /// The unit, warp or CTA, that has its own queue.
    #[derive(State)]
    pub enum QueueOwner {
        /// A queue for each warp.
        Warp = "warp",
        /// A queue for each CTA.
        Cta = "cta",
        /// One queue for all.
        None = "none",
    }
}

option_names! {
    /// The reservation failures that make a load bypass the L1D.
    #[derive(State)]
    pub enum BypassOn {
        /// Any failure.
        Any = "any",
        /// Only that of a line slot.
        Line = "line",
        /// None.
        Never = "never",
    }
}

mechanism_options! {
    /// Options of `mrpb`.
    pub struct MrpbOptions {
        /// what has a queue of its own; none: one queue for all, in the order of issue
        queues: QueueOwner = QueueOwner::Warp, Values::names::<QueueOwner>();
        /// failures to reserve that make a load bypass the L1D: any, only that of a line slot, or none
        pass: BypassOn = BypassOn::Any, Values::names::<BypassOn>();
        /// memory instructions that wait in the queues of an SM, all together
        entries: u32 = 32, Values::range(1, 64);
    }
}

/// The mechanism `mrpb`.
#[derive(Debug)]
pub struct Mrpb;

impl Mechanism for Mrpb {
    const NAME: &'static str = "mrpb";
    const SUMMARY: &'static str = "reorders memory instructions warp by warp in front of the L1D, and bypasses it for loads that would stall";
    const SOURCE: &'static str = "Dai, sections 2.2.3 and 3.4.2 (MRPB)";
    const CLAIMS: &'static [Claim] = &[Claim::Bypass];
    const COUNTERS: &'static [&'static [Counter]] = &[COUNTERS, BYPASS_COUNTERS];
    type Options = MrpbOptions;

    /// Makes the load/store unit's queue at least as large as all of MRPB's queues together, which replace it.
    fn configure(setup: &Setup<MrpbOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        config.sm.lsu.queue = config.sm.lsu.queue.max(setup.options.entries);
        Ok(())
    }

    /// Builds the state of every SM.
    fn attach(setup: &Setup<MrpbOptions>, site: &mut Site<'_>) {
        let MrpbOptions { queues, pass, .. } = setup.options;
        site.each_sm(|_| MrpbSm { queues, pass, bypassed: 0, moves: 0 });
    }
}

/// MRPB's state in an SM.
#[derive(State)]
struct MrpbSm {
    queues: QueueOwner,
    pass: BypassOn,
    /// Line transactions that bypassed the L1D.
    bypassed: u64,
    /// Instructions that were served before an earlier one.
    moves: u64,
}

impl SmPart for MrpbSm {
    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "bypassed_loads", self.bypassed);
        count(out, "instructions_served_early", self.moves);
    }

    has!(memory_observer: MemoryObserver);

    fn request_queues(&self) -> Option<&dyn RequestQueues> {
        (self.queues != QueueOwner::None).then_some(self)
    }

    has!(failure_bypass: FailureBypass);
}

impl RequestQueues for MrpbSm {
    fn request_queue(&self, warp: u8, cta: u8) -> u8 {
        match self.queues {
            QueueOwner::Warp => warp,
            QueueOwner::Cta => cta,
            QueueOwner::None => 0,
        }
    }
}

impl MemoryObserver for MrpbSm {
    fn memory_event(&mut self, _: u64, _: u8, event: MemoryEvent) {
        self.moves += u64::from(event == MemoryEvent::ServedEarly);
    }

    fn watches_failures(&self) -> bool {
        false
    }
}

impl FailureBypass for MrpbSm {
    fn bypasses_failure(&mut self, _: u64, _: &Load, cause: FailCause) -> bool {
        let passes = match self.pass {
            BypassOn::Any => true,
            BypassOn::Line => cause == FailCause::Line,
            BypassOn::Never => false,
        };
        self.bypassed += u64::from(passes);
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_mechanism_testing::kernels::THRASHING;
    use selvedge_mechanism_testing::{SmallKernel, run_small, run_workload};

    #[test]
    fn warps_that_thrash_are_faster_by_either_half() {
        let base = run_small(&THRASHING, "gtx480-dai", "base").report.totals;
        let run = |options: &str| run_small(&THRASHING, "gtx480-dai", &format!("mrpb,{options}")).report;
        let (pass, order) = (run("queues=none"), run("pass=never"));
        for (what, report) in [("pass", &pass), ("order", &order)] {
            assert!(report.totals.cycles < base.cycles, "{what}: {} {}", report.totals.cycles, base.cycles);
            assert!(report.totals.l1d.miss_rate < base.l1d.miss_rate, "{what}");
        }
        // Loads that bypass wait for no MSHR; the reordered ones hit lines of their warp before others evict them.
        let waits = pass.totals.l1d.detail.reservation_fails;
        assert_eq!((waits.line, waits.mshr_entry), (0, 0));
        assert!(pass.mechanism_counters["bypassed_loads"] > 0);
        assert_eq!(pass.mechanism_counters["instructions_served_early"], 0);
        assert!(order.mechanism_counters["instructions_served_early"] > 0);
        assert_eq!(order.mechanism_counters["bypassed_loads"], 0);
    }

    /// Eight warps of an SM gather words of different lines. `block` is 32 for a CTA per warp, or 256 for one CTA.
    fn gathering(block: u32) -> SmallKernel<'static> {
        SmallKernel { grid: 3 * 256 / block, block, ..THRASHING }
    }

    #[test]
    fn with_a_queue_per_cta_warps_of_a_cta_are_served_in_the_order_of_issue() {
        let run = |block, queues: &str| {
            let mechanism = format!("mrpb,pass=never,queues={queues}");
            let report = run_small(&gathering(block), "gtx480-dai", &mechanism).report;
            (report.totals.cycles, report.mechanism_counters["instructions_served_early"])
        };
        // Each SM has one CTA, so the queue per CTA is the only queue.
        assert_eq!(run(256, "cta"), run(256, "none"));
        assert_ne!(run(256, "warp"), run(256, "none"));
        // Each CTA has one warp, so a queue per CTA is a queue per warp.
        assert_eq!(run(32, "cta"), run(32, "warp"));
        assert_ne!(run(32, "cta"), run(32, "none"));
    }

    #[test]
    fn without_contention_little_changes() {
        for workload in ["vecadd", "pathfinder"] {
            let base = run_workload(workload, "gtx480-dai", "base").report.totals.cycles as f64;
            let mrpb = run_workload(workload, "gtx480-dai", "mrpb").report.totals.cycles as f64;
            // The order alone costs vecadd 12 of its 1071 cycles.
            assert!((mrpb / base - 1.0).abs() < 0.015, "{workload}: {base} {mrpb}");
        }
    }

    #[test]
    fn a_load_passes_by_for_the_causes_that_are_stated() {
        let causes = [FailCause::Line, FailCause::MshrEntry, FailCause::MshrMerge, FailCause::MissQueue];
        for (pass, expected) in [(BypassOn::Any, [true; 4]), (BypassOn::Never, [false; 4])] {
            let mut mrpb = MrpbSm { queues: QueueOwner::None, pass, bypassed: 0, moves: 0 };
            assert_eq!(causes.map(|cause| mrpb.bypasses_failure(0, &Load::default(), cause)), expected);
        }
        let mut mrpb = MrpbSm { queues: QueueOwner::None, pass: BypassOn::Line, bypassed: 0, moves: 0 };
        let passes = causes.map(|cause| mrpb.bypasses_failure(0, &Load::default(), cause));
        assert_eq!((passes, mrpb.bypassed), ([true, false, false, false], 1));
    }
}
