//! The best mode of compression of each launch: Kernel-OPT (LATTE-CC, section V.B).
//!
//! The workload runs once with each mode for all launches; a launch then gets the mode under which it took the fewest cycles, of
//! equals the first in the order of the modes. Its cycles are those behind launches of the same mode: the L1Ds are empty at the
//! start of each launch whatever was before, but L2 and DRAM are as the launches before have left them, and so are SC's codes.
use selvedge_blocks::latte_controller::Mode;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{Found, MechanismCounters, Part, Search, Stopped, Trials};

/// Counters of the launches that got each mode, by its number.
const LAUNCHES: [&str; 3] = ["launches_none", "launches_low_latency", "launches_high_capacity"];

/// Counters of the cycles of the trial with each mode.
const CYCLES: [&str; 3] = ["trial_cycles_none", "trial_cycles_low_latency", "trial_cycles_high_capacity"];

/// Returns the search, while the launches have no modes.
pub(super) fn search(part: &Part, _: &GpuConfig) -> Option<Box<dyn Search>> {
    part.choice.is_empty().then(|| Box::new(KernelOpt) as Box<dyn Search>)
}

/// A choice is the number of each launch's mode; the last is that of all that follow.
struct KernelOpt;

impl Search for KernelOpt {
    fn any(&self) -> Vec<u32> {
        vec![0]
    }

    fn best(&self, trials: &mut dyn Trials) -> Result<Found, Stopped> {
        let mut counters = MechanismCounters::new();
        let mut tried = Vec::new();
        trials.expect(Mode::ALL.len() as u64);
        for mode in Mode::ALL {
            let launches = trials.run(&[mode as u32], None)?.launches;
            counters.insert(CYCLES[mode as usize], launches.iter().sum());
            tried.push(launches);
        }
        let modes = best_modes(&tried);
        for (mode, name) in (0..).zip(LAUNCHES) {
            counters.insert(name, modes.iter().filter(|chosen| **chosen == mode).count() as u64);
        }
        // Launches that no trial ended have the mode of the last one that was, or the first mode.
        let choice = if modes.is_empty() { vec![Mode::ALL[0] as u32] } else { modes };
        Ok(Found { choice, counters })
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
