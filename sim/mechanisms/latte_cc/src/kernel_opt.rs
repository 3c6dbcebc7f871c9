//! The best mode of compression of each launch: Kernel-OPT (LATTE-CC, section V.B).
//!
//! The workload runs once with each mode for all launches. A launch then gets the mode with the fewest cycles; of equally fast
//! modes, the first. A trial measures a launch after launches of the same mode. The L1Ds are empty at the start of each launch
//! in any case. L2, DRAM and SC's codes are in the state that the earlier launches have left.
use selvedge_gpu::mechanism::{Counter, MechanismCounters, Search, SearchResult, Stopped, Trials};
use selvedge_hw_latte_cc::latte_controller::Mode;

/// Counters of `kernel-opt`.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("launches_high_capacity", "launches run in the high-capacity mode"),
    Counter::new("launches_low_latency", "launches run in the low-latency mode"),
    Counter::new("launches_none", "launches run without compression"),
    Counter::new(
        "trial_cycles_high_capacity",
        "cycles of all launches in the high-capacity mode, from trials",
    ),
    Counter::new("trial_cycles_low_latency", "cycles of all launches in the low-latency mode, from trials"),
    Counter::new("trial_cycles_none", "cycles of all launches without compression, from trials"),
];

/// Counters of the launches that got each mode, in the order of the modes.
const LAUNCHES: [&str; 3] = ["launches_none", "launches_low_latency", "launches_high_capacity"];

/// Counters of the cycles of each mode's trial.
const CYCLES: [&str; 3] = ["trial_cycles_none", "trial_cycles_low_latency", "trial_cycles_high_capacity"];

/// Returns the search, or nothing if the launches have modes.
pub(super) fn search(choice: &[u32]) -> Option<Box<dyn Search>> {
    choice.is_empty().then(|| Box::new(ModeSearch) as Box<dyn Search>)
}

/// The search for the modes. A choice is the number of each launch's mode; all further launches have the last mode.
struct ModeSearch;

impl Search for ModeSearch {
    fn any(&self) -> Vec<u32> {
        vec![0]
    }

    fn best(&self, trials: &mut dyn Trials) -> Result<SearchResult, Stopped> {
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
        // If no trial has ended a launch, every launch gets the first mode.
        let choice = if modes.is_empty() { vec![Mode::ALL[0] as u32] } else { modes };
        Ok(SearchResult { choice, counters })
    }
}

/// Returns for each launch the number of the trial in which it was shortest. If the launches of a program depend on time, a
/// trial may have fewer launches than another; a launch is compared only in the trials that have it.
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
