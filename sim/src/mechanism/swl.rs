//! SWL: static wavefront limiting (Rogers et al.; Dai, section 2.7.1), and the two rivals of Dai's chapter 2 that take the best
//! limit of all: SWL-best, and CBWT-best, which protects lines in the L1D by their distance as well.
//!
//! The best limit is a matter of the run: `run` tries every one of them first ([`crate::best`]) and gives it to the mechanism
//! as the option `limit`, which users of the two cannot give.
use super::pdp;
use crate::config::{GpuConfig, SchedulerPolicy};
use crate::mechanism::{
    Claim, MechanismError, MechanismInfo, MechanismSpec, Needs, OptionInfo, Part, no_policies,
};

/// Name of the option.
const LIMIT: &str = "limit";

/// The counter of the most warps that a scheduler had at the same time.
pub const MOST_WARPS: &str = "most_resident_warps";

/// The registry's entry of SWL.
pub const SWL: MechanismInfo = MechanismInfo {
    name: "swl",
    summary: "lets only the oldest warps of each scheduler issue, so many as told",
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
    build: no_policies,
};

/// The registry's entry of SWL-best.
pub const SWL_BEST: MechanismInfo = MechanismInfo {
    name: "swl-best",
    summary: "the same with the best limit, for which the workload runs with each limit first",
    source: "Dai, section 2.7.1 (SWL-best)",
    options: &[],
    claims: &[Claim::WarpLimit, Claim::Trials],
    ..SWL
};

/// The registry's entry of CBWT-best.
pub const CBWT_BEST: MechanismInfo = MechanismInfo {
    name: "cbwt-best",
    summary: "SWL-best, and loads pass by the L1D where they would evict a line within its protecting distance",
    source: "Dai, section 2.7.1 (CBWT-best)",
    claims: &[Claim::WarpLimit, Claim::Bypass, Claim::Trials],
    build: pdp::build,
    ..SWL_BEST
};

/// Warps of a scheduler.
fn most(config: &GpuConfig) -> u32 {
    config.sm.warps.div_ceil(config.sm.schedulers)
}

/// Limits every scheduler.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    if config.sm.scheduler == SchedulerPolicy::TwoLevel {
        let allowed =
            "allowed are gto, lrr and oldest-cta-first: a two-level scheduler's active set is its limit";
        return Err(part.unsuited("sm.scheduler", "two-level", allowed));
    }
    let Some(limit) = part.options.get(LIMIT).copied() else {
        let allowed = "allowed is one, which runs with each limit first";
        return Err(part.unsuited("workloads", "several", allowed));
    };
    let most = most(config);
    if limit == 0 || limit > most {
        return Err(MechanismError::Option {
            mechanism: part.info.name.into(),
            option: format!("{LIMIT}={limit}"),
            allowed: format!("allowed are 1 to {most}, the warps of a scheduler, as in swl=4"),
        });
    }
    config.sm.wavefront_limit = limit;
    Ok(())
}

/// Does the specification limit warps?
pub fn limits(spec: &MechanismSpec) -> bool {
    spec.parts.iter().any(|part| part.info.claims.contains(&Claim::WarpLimit))
}

/// The limit that lets all warps issue, when the specification wants the best limit and does not have it yet.
pub fn wants_best(spec: &MechanismSpec, config: &GpuConfig) -> Option<u32> {
    let is_open =
        |part: &Part| part.info.claims.contains(&Claim::WarpLimit) && !part.options.contains_key(LIMIT);
    spec.parts.iter().any(is_open).then(|| most(config))
}

/// The specification with this limit instead of the best.
pub fn with_limit(spec: &MechanismSpec, limit: u32) -> MechanismSpec {
    let mut spec = spec.clone();
    for part in &mut spec.parts {
        if part.info.claims.contains(&Claim::WarpLimit) {
            part.options.insert(LIMIT, limit);
        }
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::small_kernels::kernels::THRASHING;
    use crate::mechanism::small_kernels::{run_small, run_workload};

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
                "mechanism swl: option `limit=0`: allowed are 1 to 24, the warps of a scheduler, as in swl=4",
            ),
            (
                "swl=25",
                "",
                "mechanism swl: option `limit=25`: allowed are 1 to 24, the warps of a scheduler, as in swl=4",
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
                "mechanisms cbwt-best and mdb-local cannot be combined: both choose the loads that pass by the L1D",
            ),
            (
                "swl=4",
                "[sm]\nscheduler = \"two-level\"",
                "mechanism swl: sm.scheduler = two-level: allowed are gto, lrr and oldest-cta-first: a two-level scheduler's \
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
}
