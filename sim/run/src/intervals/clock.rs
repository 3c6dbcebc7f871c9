//! Estimated time during a run by intervals, for programs that measure it.
use super::estimate::{Extrapolation, IntervalCounters};
use super::points::LaunchClass;
use super::{JobResult, PassedLaunch};
use std::collections::BTreeMap;

/// Estimated core cycles of the launches so far. A launch without intervals is estimated from the last one of its class with
/// intervals.
#[derive(Default)]
pub struct LaunchClock {
    /// Launches that are counted.
    launches: usize,
    cycles: u64,
    last: BTreeMap<LaunchClass, IntervalCounters>,
}

impl LaunchClock {
    /// Returns the cycles so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Counts the launches after the counted ones. `results` has the results of all their jobs.
    pub fn advance(&mut self, launches: &[PassedLaunch], results: &BTreeMap<usize, JobResult>) {
        for launch in &launches[self.launches..] {
            let counters = match launch.measured(results) {
                Some((measured, _)) => {
                    self.last.insert(launch.class.clone(), measured.clone());
                    measured
                }
                None => {
                    let last = self.last.get(&launch.class).cloned();
                    let rest = launch.instructions.warp_instructions;
                    Extrapolation::new(last.into_iter().collect(), rest).counters()
                }
            };
            self.cycles += counters.snapshot.cycles;
        }
        self.launches = launches.len();
    }
}
