//! The best wavefront limit of a workload, found by running it with each: SWL-best and CBWT-best (Dai, section 2.7.1).
//!
//! The trials go from no limit down to one warp per scheduler. They run under the model engine, whose decisions are those of
//! every engine. A trial that takes as long as the best one so far cannot win and ends there, which changes no result.
//! A limit above the most warps that a scheduler ever had is no limit, so that none of these is tried twice.
use super::{Best, is_limited, trial};
use crate::gpu::{Bounds, Control};
use crate::mechanism::{MechanismCounters, swl};
use crate::run::{RunError, RunSpec, run};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Tries every limit up to `all`, which limits nothing.
///
/// # Errors
/// What stops a trial: a fault of the kernel, or the user.
pub(super) fn find(spec: &RunSpec, all: u32, control: &Arc<Control>) -> Result<Best, RunError> {
    let unlimited = try_limit(spec, all, spec.bounds, control)?;
    let most = unlimited.most_warps.clamp(1, u64::from(all)) as u32;
    control.trials.store(u64::from(most), Ordering::Relaxed);
    let (mut limit, mut cycles) = (most, unlimited.cycles);
    for tried in (1..most).rev() {
        control.trial.store(u64::from(most - tried), Ordering::Relaxed);
        let trial = try_limit(spec, tried, spec.bounds.at_most(cycles), control)?;
        if trial.cycles < cycles {
            (limit, cycles) = (tried, trial.cycles);
        }
    }
    control.trials.store(0, Ordering::Relaxed);
    let found = MechanismCounters::from([
        ("chosen_limit", u64::from(limit)),
        ("tried_limits", u64::from(most)),
        ("unlimited_cycles", unlimited.cycles),
    ]);
    Ok(Best { mechanism: swl::with_limit(&spec.mechanism, limit), found })
}

/// What a trial has shown.
struct Trial {
    /// Core cycles to its end, or to one of its limits.
    cycles: u64,
    /// The most warps that a scheduler had at the same time.
    most_warps: u64,
}

/// Runs the workload with a limit of warps, within `bounds`.
fn try_limit(spec: &RunSpec, warps: u32, bounds: Bounds, control: &Arc<Control>) -> Result<Trial, RunError> {
    let trial = RunSpec { bounds, ..trial(spec, swl::with_limit(&spec.mechanism, warps)) };
    let outcome = run(&trial, Arc::clone(control))?;
    match outcome.fault {
        Some(fault) if !is_limited(&fault) => Err(fault),
        _ => Ok(Trial {
            cycles: outcome.report.totals.cycles,
            most_warps: outcome.report.mechanism_counters[swl::MOST_WARPS],
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::mechanism::small_kernels::kernels::{ROUND, THRASHING};
    use crate::mechanism::small_kernels::{run_small, run_workload};

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
