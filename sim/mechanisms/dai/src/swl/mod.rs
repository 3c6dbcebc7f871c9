//! SWL: static wavefront limiting (Rogers et al.; Dai, section 2.7.1), and two mechanisms that Dai's chapter 2 compares with:
//! SWL-best, which uses the best limit, and CBWT-best, which also protects lines in the L1D by their reuse distance.
//!
//! SWL-best and CBWT-best find the best limit by running the workload with every limit first.
mod pdp;

use crate::BYPASS_COUNTERS;
use selvedge_gpu::config::{GpuConfig, SchedulerPolicy};
use selvedge_gpu::mechanism::{
    Claim, Counter, Mechanism, MechanismCounters, MechanismError, NoOptions, Search, SearchResult, Setup,
    Site, Stopped, Trials, Values,
};
use selvedge_gpu::mechanism_options;

/// Counters of limits of warps.
pub(crate) const COUNTERS: &[Counter] = &[Counter::new(
    "most_resident_warps",
    "the most warps that a scheduler had at once; a limit of as many limits nothing",
)];

/// Counters of the search for the best limit.
pub(crate) const SEARCH_COUNTERS: &[Counter] = &[
    Counter::new("chosen_limit", "warp limit under which the workload was fastest"),
    Counter::new("tried_limits", "runs made to find the best limit"),
    Counter::new("unlimited_cycles", "cycles of the run without a limit"),
];

/// Number of a limit that was not given.
const NOT_GIVEN: u32 = 0;

mechanism_options! {
    /// Options of `swl`.
    pub struct SwlOptions {
        /// warps of a scheduler that may issue, the oldest that are not at a barrier; must be given
        limit: u32 = NOT_GIVEN, Values::range(1, 128);
    }
}

/// Requirements of the mechanisms on the configuration.
const CONFIGURATION: &str = "a scheduler that is not two-level";

/// The mechanism `swl`.
#[derive(Debug)]
pub struct Swl;

impl Mechanism for Swl {
    const NAME: &'static str = "swl";
    const SUMMARY: &'static str = "limits each scheduler to its N oldest warps";
    const SOURCE: &'static str = "Dai, section 2.7.1 (SWL)";
    const CONFIGURATION: &'static str = CONFIGURATION;
    const CLAIMS: &'static [Claim] = &[Claim::WarpLimit];
    const COUNTERS: &'static [&'static [Counter]] = &[COUNTERS];
    type Options = SwlOptions;

    fn configure(setup: &Setup<SwlOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        limit_schedulers(setup, setup.options.limit, config)
    }

    fn attach(_: &Setup<SwlOptions>, _: &mut Site<'_>) {}
}

/// The mechanism `swl-best`.
#[derive(Debug)]
pub struct SwlBest;

impl Mechanism for SwlBest {
    const NAME: &'static str = "swl-best";
    const SUMMARY: &'static str =
        "limits each scheduler to its N oldest warps, with the N that was fastest in trial runs (an oracle)";
    const SOURCE: &'static str = "Dai, section 2.7.1 (SWL-best)";
    const CONFIGURATION: &'static str = CONFIGURATION;
    const CLAIMS: &'static [Claim] = &[Claim::WarpLimit, Claim::Trials];
    const COUNTERS: &'static [&'static [Counter]] = &[COUNTERS, SEARCH_COUNTERS];
    type Options = NoOptions;

    fn configure(setup: &Setup<NoOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        limit_to_choice(setup, config)
    }

    fn attach(_: &Setup<NoOptions>, _: &mut Site<'_>) {}

    fn search(setup: &Setup<NoOptions>, config: &GpuConfig) -> Option<Box<dyn Search>> {
        search(&setup.choice, config)
    }
}

/// The mechanism `cbwt-best`.
#[derive(Debug)]
pub struct CbwtBest;

impl Mechanism for CbwtBest {
    const NAME: &'static str = "cbwt-best";
    const SUMMARY: &'static str = "limits as swl-best does, and bypasses the L1D where a load would evict a line within its protecting distance";
    const SOURCE: &'static str = "Dai, section 2.7.1 (CBWT-best)";
    const CONFIGURATION: &'static str = CONFIGURATION;
    const CLAIMS: &'static [Claim] = &[Claim::WarpLimit, Claim::Bypass, Claim::Trials];
    const COUNTERS: &'static [&'static [Counter]] =
        &[COUNTERS, SEARCH_COUNTERS, pdp::COUNTERS, BYPASS_COUNTERS];
    type Options = NoOptions;

    fn configure(setup: &Setup<NoOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        limit_to_choice(setup, config)
    }

    fn attach(_: &Setup<NoOptions>, site: &mut Site<'_>) {
        pdp::attach(site);
    }

    fn search(setup: &Setup<NoOptions>, config: &GpuConfig) -> Option<Box<dyn Search>> {
        search(&setup.choice, config)
    }
}

/// Returns the number of warps of a scheduler, the max limit.
fn most(config: &GpuConfig) -> u32 {
    config.sm.warps.div_ceil(config.sm.schedulers)
}

/// Sets the limit of every scheduler to the choice of a search.
fn limit_to_choice(setup: &Setup<NoOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
    suits_limit(setup, config)?;
    let Some(limit) = setup.choice.first() else {
        let allowed = "must be one, which runs with each limit first";
        return Err(setup.unsuited("workloads", "several", allowed));
    };
    limit_schedulers(setup, *limit, config)
}

/// Checks that the schedulers have no limit of their own.
fn suits_limit<O>(setup: &Setup<O>, config: &GpuConfig) -> Result<(), MechanismError> {
    if config.sm.scheduler == SchedulerPolicy::TwoLevel {
        let allowed = "must be gto, lrr or oldest-cta-first: a two-level scheduler's active set is its limit";
        return Err(setup.unsuited("sm.scheduler", "two-level", allowed));
    }
    Ok(())
}

/// Sets the limit of every scheduler.
fn limit_schedulers<O>(setup: &Setup<O>, limit: u32, config: &mut GpuConfig) -> Result<(), MechanismError> {
    suits_limit(setup, config)?;
    let most = most(config);
    if limit == NOT_GIVEN || limit > most {
        return Err(MechanismError::Option {
            mechanism: setup.name.into(),
            option: if limit == NOT_GIVEN { "limit".into() } else { format!("limit={limit}") },
            allowed: format!("must be given as 1 to {most}, the warps of a scheduler, as in swl,limit=4"),
        });
    }
    config.sm.wavefront_limit = limit;
    Ok(())
}

/// Returns the search for the best limit, or nothing if the limit is known.
fn search(choice: &[u32], config: &GpuConfig) -> Option<Box<dyn Search>> {
    choice.is_empty().then(|| Box::new(BestLimit { all: most(config) }) as Box<dyn Search>)
}

/// The search for the best limit. A choice is one number, the limit.
///
/// The first trial has no limit, the last one a limit of one warp per scheduler. A trial ends early, and loses, once it has
/// taken the cycles of the best one so far; this changes no result. Limits of at least the max number of warps that a
/// scheduler ever had are all the same, so only one such limit is tried.
struct BestLimit {
    /// The limit that equals the warps of a scheduler, and so limits nothing.
    all: u32,
}

impl Search for BestLimit {
    fn any(&self) -> Vec<u32> {
        vec![self.all]
    }

    fn best(&self, trials: &mut dyn Trials) -> Result<SearchResult, Stopped> {
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
        Ok(SearchResult { choice: vec![limit], counters })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_mechanism_testing::kernels::{ROUND, THRASHING};
    use selvedge_mechanism_testing::{run_small, run_workload};
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
                "mechanism swl: option 'limit': must be given as 1 to 24, the warps of a scheduler, as in swl,limit=4",
            ),
            (
                "swl=25",
                "",
                "mechanism swl: option 'limit=25': must be given as 1 to 24, the warps of a scheduler, as in swl,limit=4",
            ),
            ("swl-best=4", "", "mechanism swl-best: option '4': allowed: it has no options"),
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
        // An SM has 8 warps on two schedulers.
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
        // Six of the lines map to a set; between two accesses to a line each of the others is accessed once.
        assert_eq!(cbwt.mechanism_counters["highest_distance"], 6);
        assert!(cbwt.mechanism_counters["bypassed_loads"] > 0);
        assert!(
            base.l1d.miss_rate > 0.99 && cbwt.totals.l1d.miss_rate < 0.6,
            "{}",
            cbwt.totals.l1d.miss_rate
        );
        assert!(cbwt.totals.cycles < base.cycles, "{} {}", cbwt.totals.cycles, base.cycles);
    }

    /// Trials whose cycles are given for the limits 1 to 4.
    struct Stated([u64; 4]);

    impl Trials for Stated {
        fn expect(&mut self, _: u64) {}

        fn run(&mut self, choice: &[u32], _: Option<u64>) -> Result<selvedge_gpu::mechanism::Trial, Stopped> {
            let cycles = self.0[choice[0] as usize - 1];
            Ok(selvedge_gpu::mechanism::Trial { cycles, launches: Vec::new(), most_resident_warps: 4 })
        }
    }

    #[test]
    fn of_limits_that_take_the_same_time_the_highest_is_chosen() {
        for (cycles, expected) in [([9, 9, 9, 9], 4), ([9, 7, 7, 9], 3), ([5, 7, 7, 9], 1), ([9, 8, 9, 9], 2)]
        {
            let found = BestLimit { all: 4 }.best(&mut Stated(cycles)).expect("nothing stops");
            assert_eq!(found.choice, [expected], "{cycles:?}");
        }
    }
}
