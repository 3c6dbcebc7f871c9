//! The best mode of compression of each launch: Kernel-OPT (LATTE-CC, section V.B).
//!
//! The workload runs once with each mode for all launches; a launch then gets the mode under which it took the fewest cycles, of
//! equals the first in the order of the modes. Its cycles are those behind launches of the same mode: the L1Ds are empty at the
//! start of each launch whatever was before, but L2 and DRAM are as the launches before have left them, and so are SC's codes.
use super::{Best, is_limited, trial};
use crate::gpu::Control;
use crate::mechanism::{MechanismCounters, latte};
use crate::run::{RunError, RunSpec, run};
use selvedge_blocks::latte_controller::Mode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Counters of the launches that got each mode, by its number.
const LAUNCHES: [&str; 3] = ["launches_none", "launches_low_latency", "launches_high_capacity"];

/// Counters of the cycles of the trial with each mode.
const CYCLES: [&str; 3] = ["trial_cycles_none", "trial_cycles_low_latency", "trial_cycles_high_capacity"];

/// Tries every mode.
///
/// # Errors
/// What stops a trial: a fault of the kernel, or the user.
pub(super) fn find(spec: &RunSpec, control: &Arc<Control>) -> Result<Best, RunError> {
    let mut found = MechanismCounters::new();
    let mut trials = Vec::new();
    control.trials.store(Mode::ALL.len() as u64, Ordering::Relaxed);
    for (at, mode) in (0..).zip(Mode::ALL) {
        control.trial.store(at, Ordering::Relaxed);
        let cycles = launch_cycles(spec, mode, control)?;
        found.insert(CYCLES[mode as usize], cycles.iter().sum());
        trials.push(cycles);
    }
    control.trials.store(0, Ordering::Relaxed);
    let modes = best_modes(&trials);
    for (mode, name) in (0..).zip(LAUNCHES) {
        found.insert(name, modes.iter().filter(|chosen| **chosen == mode).count() as u64);
    }
    // Launches that no trial ended have the mode of the last one that was, or the first mode.
    let modes = if modes.is_empty() { vec![Mode::ALL[0] as u32] } else { modes };
    Ok(Best { mechanism: latte::with_launches(&spec.mechanism, &modes), found })
}

/// The cycles of each launch when all have the same mode; a trial that a limit ends has those of the launches before.
fn launch_cycles(spec: &RunSpec, mode: Mode, control: &Arc<Control>) -> Result<Vec<u64>, RunError> {
    let mechanism = latte::with_launches(&spec.mechanism, &[mode as u32]);
    let outcome = run(&trial(spec, mechanism), Arc::clone(control))?;
    match outcome.fault {
        Some(fault) if !is_limited(&fault) => Err(fault),
        _ => Ok(outcome.report.kernels.iter().map(|kernel| kernel.totals.cycles).collect()),
    }
}

/// For each launch, the number of the trial in which it was shortest. A program whose launches depend on the time may have
/// made more of them in one trial than in another: those that were made count.
fn best_modes(trials: &[Vec<u64>]) -> Vec<u32> {
    let launches = trials.iter().map(Vec::len).max().unwrap_or(0);
    let best = |launch: usize| {
        let tried = (0..).zip(trials).filter_map(|(mode, cycles)| Some((*cycles.get(launch)?, mode)));
        tried.min().map_or(0, |(_, mode)| mode)
    };
    (0..launches).map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_launch_gets_its_shortest_trial_and_of_equals_the_first() {
        let trials = [vec![10, 20, 30], vec![9, 20, 31], vec![8, 19, 30, 7]];
        assert_eq!(best_modes(&trials), [2, 2, 0, 2]);
        assert_eq!(best_modes(&[vec![], vec![], vec![]]), [] as [u32; 0]);
    }
}
