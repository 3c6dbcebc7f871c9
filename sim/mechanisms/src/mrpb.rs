//! MRPB: memory-request prioritization buffers (Jia et al., HPCA 2014), Dai's rival in chapter 3 (sections 2.2.3 and 3.4.2).
//!
//! Two things happen between the coalescer and the L1D. Memory instructions wait in a queue per warp (or CTA) instead of one
//! for all, and the load/store unit goes on with the queue that it is at until that is empty, then with the non-empty one of
//! the lowest number: fewer warps use the L1D within a short time. And a load that fails to reserve something in the L1D
//! bypasses it instead of waiting.
//!
//! No block of `selvedge-hw` does this: Dai compares with it and does not build it.
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::{
    Claim, MechanismCounters, MechanismError, MechanismInfo, Needs, OptionInfo, Part, Site, count,
};
use selvedge_gpu::sm::part::{FailureBypass, Load, MemoryEvent, MemoryObserver, RequestQueues, SmPart};
use selvedge_gpu::stage::MechanismFault;
use selvedge_gpu::stats::FailCause;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// Whose memory instructions share a queue.
const QUEUES: OptionInfo = OptionInfo::choice(
    "queues",
    &["warp", "cta", "none"],
    "what has a queue of its own; none: one queue for all, in the order of issue",
);

/// When a load bypasses the L1D.
const PASS: OptionInfo = OptionInfo::choice(
    "pass",
    &["any", "line", "never"],
    "failures to reserve that make a load bypass the L1D: any, only that of a line slot, or none",
);

/// Room in the queues.
const ENTRIES: OptionInfo = OptionInfo::number(
    "entries",
    32,
    (1, 64),
    "memory instructions that wait in the queues of an SM, all together",
);

/// The registry's entry.
pub const INFO: MechanismInfo = MechanismInfo {
    name: "mrpb",
    summary: "reorders memory instructions warp by warp in front of the L1D, and bypasses it for loads that would stall",
    source: "Dai, sections 2.2.3 and 3.4.2 (MRPB)",
    blocks: &[],
    options: &[QUEUES, PASS, ENTRIES],
    needs: Needs::Nothing,
    machine_needs: "",
    claims: &[Claim::Bypass],
    machine,
    attach,
    ..MechanismInfo::NOTHING
};

/// The queues stand in place of the load/store unit's.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    config.sm.lsu.queue = config.sm.lsu.queue.max(part.options[ENTRIES.name]);
    Ok(())
}

/// Builds the share of every SM.
fn attach(part: &Part, site: &mut Site<'_>) {
    let queues = [Queues::Warp, Queues::Cta, Queues::None][part.options[QUEUES.name] as usize];
    let pass = [Pass::Any, Pass::Line, Pass::Never][part.options[PASS.name] as usize];
    site.each_sm(|_| Mrpb { queues, pass, bypassed: 0, moves: 0 });
}

#[derive(Clone, Copy, PartialEq, Eq, State)]
enum Queues {
    Warp,
    Cta,
    None,
}

#[derive(Clone, Copy, State)]
enum Pass {
    Any,
    Line,
    Never,
}

/// MRPB's share of an SM.
#[derive(State)]
struct Mrpb {
    queues: Queues,
    pass: Pass,
    /// Line transactions that bypassed the L1D.
    bypassed: u64,
    /// Instructions that were served before an earlier one.
    moves: u64,
}

impl SmPart for Mrpb {
    fn stands_alone(&self) -> bool {
        true
    }

    fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        Ok(())
    }

    fn busy(&self) -> bool {
        false
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "bypassed_loads", self.bypassed);
        count(out, "instructions_served_early", self.moves);
    }

    fn traces(&self, _: &mut Vec<Trace>) {}

    has!(memory_observer: MemoryObserver);

    fn request_queues(&self) -> Option<&dyn RequestQueues> {
        (self.queues != Queues::None).then_some(self)
    }

    has!(failure_bypass: FailureBypass);
}

impl RequestQueues for Mrpb {
    fn request_queue(&self, warp: u8, cta: u8) -> u8 {
        match self.queues {
            Queues::Warp => warp,
            Queues::Cta => cta,
            Queues::None => 0,
        }
    }
}

impl MemoryObserver for Mrpb {
    fn memory_event(&mut self, _: u64, _: u8, event: MemoryEvent) {
        self.moves += u64::from(event == MemoryEvent::ServedEarly);
    }

    fn watches_failures(&self) -> bool {
        false
    }
}

impl FailureBypass for Mrpb {
    fn bypasses_failure(&mut self, _: u64, _: &Load, cause: FailCause) -> bool {
        let passes = match self.pass {
            Pass::Any => true,
            Pass::Line => cause == FailCause::Line,
            Pass::Never => false,
        };
        self.bypassed += u64::from(passes);
        passes
    }
}

#[cfg(test)]
mod tests {
    use crate::small_kernels::kernels::THRASHING;
    use crate::small_kernels::{SmallKernel, run_small, run_workload};

    #[test]
    fn warps_that_thrash_are_faster_by_either_half() {
        let base = run_small(&THRASHING, "gtx480-dai", "base").report.totals;
        let run = |options: &str| run_small(&THRASHING, "gtx480-dai", &format!("mrpb,{options}")).report;
        let (pass, order) = (run("queues=none"), run("pass=never"));
        for (what, report) in [("pass", &pass), ("order", &order)] {
            assert!(report.totals.cycles < base.cycles, "{what}: {} {}", report.totals.cycles, base.cycles);
            assert!(report.totals.l1d.miss_rate < base.l1d.miss_rate, "{what}");
        }
        // The reasons: one waits for no MSHR, the other serves the same warps again before their lines have left.
        let waits = pass.totals.l1d.detail.reservation_fails;
        assert_eq!((waits.line, waits.mshr_entry), (0, 0));
        assert!(pass.mechanism_counters["bypassed_loads"] > 0);
        assert_eq!(pass.mechanism_counters["instructions_served_early"], 0);
        assert!(order.mechanism_counters["instructions_served_early"] > 0);
        assert_eq!(order.mechanism_counters["bypassed_loads"], 0);
    }

    /// Eight warps with a CTA each, or all in one, that gather words of different lines.
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
        // One CTA on each SM: its queue is the only one.
        assert_eq!(run(256, "cta"), run(256, "none"));
        assert_ne!(run(256, "warp"), run(256, "none"));
        // CTAs of one warp: their queues are those of the warps.
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
}
