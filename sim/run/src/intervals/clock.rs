//! Estimated time during a run by intervals, for programs that measure it.
use super::estimate::{Extrapolation, IntervalCounters};
use super::points::LaunchClass;
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

    /// Returns the number of launches so far.
    pub fn launches(&self) -> usize {
        self.launches
    }

    /// Adds the next launch, with the counters of its intervals if it has any.
    pub fn add(&mut self, class: &LaunchClass, measured: Option<IntervalCounters>, warp_instructions: u64) {
        let counters = match measured {
            Some(measured) => {
                self.last.insert(class.clone(), measured.clone());
                measured
            }
            None => {
                let last = self.last.get(class).cloned();
                Extrapolation::new(last.into_iter().collect(), warp_instructions).counters()
            }
        };
        self.cycles += counters.snapshot.cycles;
        self.launches += 1;
    }
}
