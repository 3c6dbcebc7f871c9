//! SWL: static wavefront limiting (Rogers et al.; Dai, section 2.7.1), and the two rivals of Dai's chapter 2 that take the best
//! limit of all: SWL-best, and CBWT-best, which protects lines in the L1D by their distance as well.
//!
//! The best limit is found by running the workload with every one of them first.
use super::pdp;
use selvedge_gpu::config::{GpuConfig, SchedulerPolicy};
use selvedge_gpu::mechanism::{
    Claim, Found, MechanismCounters, MechanismError, MechanismInfo, Needs, OptionInfo, Part, Search, Stopped,
    Trials, no_parts,
};

/// Name of the option.
const LIMIT: &str = "limit";

/// The registry's entry of SWL.
pub const SWL: MechanismInfo = MechanismInfo {
    name: "swl",
    summary: "limits each scheduler to its N oldest warps",
    source: "Dai, section 2.7.1 (SWL)",
    blocks: &[],
    options: &[OptionInfo::number(
        LIMIT,
        0,
        (1, 128),
        "warps of a scheduler that may issue, the oldest that are not at a barrier; must be given",
    )],
    needs: Needs::Nothing,
    machine_needs: "a scheduler that is not two-level",
    claims: &[Claim::WarpLimit],
    machine,
    attach: no_parts,
    ..MechanismInfo::NOTHING
};

/// The registry's entry of SWL-best.
pub const SWL_BEST: MechanismInfo = MechanismInfo {
    name: "swl-best",
    summary: "limits each scheduler to its N oldest warps, with the N that was fastest in trial runs (an oracle)",
    source: "Dai, section 2.7.1 (SWL-best)",
    options: &[],
    claims: &[Claim::WarpLimit, Claim::Trials],
    search,
    ..SWL
};

/// The registry's entry of CBWT-best.
pub const CBWT_BEST: MechanismInfo = MechanismInfo {
    name: "cbwt-best",
    summary: "limits as swl-best does, and bypasses the L1D where a load would evict a line within its protecting distance",
    source: "Dai, section 2.7.1 (CBWT-best)",
    claims: &[Claim::WarpLimit, Claim::Bypass, Claim::Trials],
    attach: pdp::attach,
    ..SWL_BEST
};

/// Warps of a scheduler.
fn most(config: &GpuConfig) -> u32 {
    config.sm.warps.div_ceil(config.sm.schedulers)
}

/// Limits every scheduler.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    if config.sm.scheduler == SchedulerPolicy::TwoLevel {
        let allowed = "must be gto, lrr or oldest-cta-first: a two-level scheduler's active set is its limit";
        return Err(part.unsuited("sm.scheduler", "two-level", allowed));
    }
    let Some(limit) = limit(part) else {
        let allowed = "must be one, which runs with each limit first";
        return Err(part.unsuited("workloads", "several", allowed));
    };
    let most = most(config);
    if limit == 0 || limit > most {
        return Err(MechanismError::Option {
            mechanism: part.info.name.into(),
            option: format!("{LIMIT}={limit}"),
            allowed: format!("must be 1 to {most}, the warps of a scheduler, as in swl=4"),
        });
    }
    config.sm.wavefront_limit = limit;
    Ok(())
}

/// Returns the search, while there is no limit.
fn search(part: &Part, config: &GpuConfig) -> Option<Box<dyn Search>> {
    let is_open = limit(part).is_none();
    is_open.then(|| Box::new(BestLimit { all: most(config) }) as Box<dyn Search>)
}

/// The limit that is given, or that a search has chosen.
fn limit(part: &Part) -> Option<u32> {
    part.options.get(LIMIT).or(part.choice.first()).copied()
}

/// The search for the best limit. A choice is one number, the limit.
///
/// The trials go from no limit down to one warp per scheduler. A trial that takes as long as the best one so far cannot win
/// and ends there, which changes no result. A limit above the most warps that a scheduler ever had is no limit, so that none
/// of these is tried twice.
struct BestLimit {
    /// The limit that limits nothing.
    all: u32,
}

impl Search for BestLimit {
    fn any(&self) -> Vec<u32> {
        vec![self.all]
    }

    fn best(&self, trials: &mut dyn Trials) -> Result<Found, Stopped> {
        let unlimited = trials.run(&[self.all], None)?;
        let most = unlimited.most_resident_warps.clamp(1, u64::from(self.all)) as u32;
        trials.expect(u64::from(most));
        let (mut limit, mut cycles) = (most, unlimited.cycles);
        for tried in (1..most).rev() {
            let trial = trials.run(&[tried], Some(cycles))?;
            if trial.cycles < cycles {
                (limit, cycles) = (tried, trial.cycles);
            }
        }
        let counters = MechanismCounters::from([
            ("chosen_limit", u64::from(limit)),
            ("tried_limits", u64::from(most)),
            ("unlimited_cycles", unlimited.cycles),
        ]);
        Ok(Found { choice: vec![limit], counters })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_kernels::kernels::{ROUND, THRASHING};
    use crate::small_kernels::{run_small, run_workload};
    use selvedge_sim::mechanism::MechanismSpec;

    fn machine_of(mechanism: &str, keys: &str) -> Result<GpuConfig, String> {
        let config = GpuConfig::parse("my.toml", &format!("base = \"gtx480-dai\"\n{keys}")).expect("valid");
        let spec: MechanismSpec = mechanism.parse().map_err(|e: MechanismError| e.to_string())?;
        spec.machine(&config).map_err(|e| e.to_string())
    }

    #[test]
    fn the_limit_is_the_machines() {
        assert_eq!(machine_of("swl=4", "").map(|c| c.sm.wavefront_limit), Ok(4));
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        for (mechanism, keys, says) in [
            (
                "swl",
                "",
                "mechanism swl: option `limit=0`: must be 1 to 24, the warps of a scheduler, as in swl=4",
            ),
            (
                "swl=25",
                "",
                "mechanism swl: option `limit=25`: must be 1 to 24, the warps of a scheduler, as in swl=4",
            ),
            ("swl-best=4", "", "mechanism swl-best: option `4`: allowed: it has no options"),
            (
                "swl=4+swl-best",
                "",
                "mechanisms swl and swl-best cannot be combined: both limit the warps that are scheduled",
            ),
            (
                "cbwt-best+mdb-local",
                "",
                "mechanisms cbwt-best and mdb-local cannot be combined: both choose the loads that bypass the L1D",
            ),
            (
                "swl=4",
                "[sm]\nscheduler = \"two-level\"",
                "mechanism swl: sm.scheduler = two-level: must be gto, lrr or oldest-cta-first: a two-level scheduler's \
                 active set is its limit",
            ),
        ] {
            assert_eq!(machine_of(mechanism, keys).map(|_| ()), Err(says.to_owned()), "{mechanism}");
        }
    }

    #[test]
    fn warps_that_thrash_are_faster_when_few_may_issue() {
        let base = run_small(&THRASHING, "gtx480-dai", "base").report.totals;
        let swl = run_small(&THRASHING, "gtx480-dai", "swl=1").report.totals;
        assert!(swl.cycles < base.cycles, "{} {}", swl.cycles, base.cycles);
        assert!(swl.l1d.miss_rate < base.l1d.miss_rate, "{} {}", swl.l1d.miss_rate, base.l1d.miss_rate);
    }

    #[test]
    fn a_limit_that_no_scheduler_reaches_changes_nothing() {
        let base = run_workload("vecadd", "gtx480-dai", "base").report;
        let swl = run_workload("vecadd", "gtx480-dai", "swl=24").report;
        assert_eq!(base.totals, swl.totals);
        assert!(swl.mechanism_counters["most_resident_warps"] <= 24);
    }

    #[test]
    fn the_best_limit_is_at_least_as_good_as_every_one() {
        let best = run_small(&THRASHING, "gtx480-dai", "swl-best").report;
        let counters = &best.mechanism_counters;
        // 8 warps of an SM on two schedulers.
        assert_eq!((counters["tried_limits"], counters["most_resident_warps"]), (4, 4));
        let each: Vec<u64> = (1..=4)
            .map(|limit| run_small(&THRASHING, "gtx480-dai", &format!("swl={limit}")).report.totals.cycles)
            .collect();
        assert_eq!(Some(&best.totals.cycles), each.iter().min(), "{each:?}");
        assert_eq!(each[counters["chosen_limit"] as usize - 1], best.totals.cycles);
        let base = run_small(&THRASHING, "gtx480-dai", "base").report.totals.cycles;
        assert_eq!((counters["unlimited_cycles"], each[3]), (base, base));
        assert!(best.totals.cycles < base, "few of these warps are faster than all");
    }

    #[test]
    fn a_workload_that_needs_all_warps_keeps_them() {
        let base = run_workload("vecadd", "gtx480-dai", "base").report.totals.cycles;
        let best = run_workload("vecadd", "gtx480-dai", "swl-best").report.totals.cycles;
        assert!(best <= base, "{best} {base}");
    }

    #[test]
    fn protecting_distances_keep_lines_that_no_limit_would() {
        let base = run_small(&ROUND, "gtx480-dai", "swl-best").report.totals;
        let cbwt = run_small(&ROUND, "gtx480-dai", "cbwt-best").report;
        // A set has six of the lines, one access to each between two to the same.
        assert_eq!(cbwt.mechanism_counters["highest_distance"], 6);
        assert!(cbwt.mechanism_counters["bypassed_loads"] > 0);
        assert!(
            base.l1d.miss_rate > 0.99 && cbwt.totals.l1d.miss_rate < 0.6,
            "{}",
            cbwt.totals.l1d.miss_rate
        );
        assert!(cbwt.totals.cycles < base.cycles, "{} {}", cbwt.totals.cycles, base.cycles);
    }
}
