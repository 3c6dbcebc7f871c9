//! The decision in plain Rust: from counts and latencies to the mode with the lowest AMAT.

use selvedge_state::State;

/// A compression mode; its number is the value at the ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State)]
pub enum Mode {
    /// Lines are inserted uncompressed.
    None = 0,
    /// Decompresses fast: BDI.
    LowLatency = 1,
    /// Compresses best: SC.
    HighCapacity = 2,
}

impl Mode {
    /// Every mode, the simplest first.
    pub const ALL: [Mode; 3] = [Mode::None, Mode::LowLatency, Mode::HighCapacity];
}

/// Inputs of a decision. Latencies are in sixteenths of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecisionInputs {
    /// Hits in the dedicated sets of each mode.
    pub hits: [u32; 3],
    /// Insertions into the dedicated sets of each mode.
    pub misses: [u32; 3],
    /// Mean effective hit latency of each mode; 0 for mode none.
    pub hit_latency: [u32; 3],
    /// Mean miss latency.
    pub miss_latency: u32,
    /// Number of schedules that ended in the EP.
    pub schedules: u32,
    /// Sum of the warps that were available at the ends of the schedules.
    pub warps: u32,
    /// Sum of the cycles that the schedules executed.
    pub cycles: u32,
}

impl DecisionInputs {
    /// Returns the latency tolerance in 1/1024 cycles: the product of the mean of warps in 1/64 and the mean of cycles in 1/16.
    pub fn tolerance(&self) -> u32 {
        match self.schedules {
            0 => 0,
            schedules => (self.warps * 64 / schedules) * (self.cycles * 16 / schedules),
        }
    }

    /// Returns the total latency of a mode's accesses. The pipeline hides `tolerance` (in sixteenths) of each hit.
    fn cost(&self, mode: usize, tolerance: u32) -> u64 {
        let per_hit = self.hit_latency[mode].saturating_sub(tolerance);
        u64::from(self.hits[mode]) * u64::from(per_hit)
            + u64::from(self.misses[mode]) * u64::from(self.miss_latency)
    }

    /// Returns the mode that `policy` chooses.
    pub fn choose(&self, policy: u32) -> Mode {
        let tolerance = if policy == 2 { 0 } else { self.tolerance() >> 6 };
        let accesses = |mode: usize| u64::from(self.hits[mode] + self.misses[mode]);
        let better = |challenger: usize, best: usize| match policy {
            1 => self.hits[challenger] > self.hits[best],
            _ => {
                self.cost(challenger, tolerance) * accesses(best)
                    < self.cost(best, tolerance) * accesses(challenger)
            }
        };
        let best =
            (1..3).fold(0, |best, challenger| if better(challenger, best) { challenger } else { best });
        Mode::ALL[best]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns evidence with 100 accesses per mode and these hits. The miss latency is 200 cycles, the hit latencies are 2 and
    /// 14.
    fn hits(hits: [u32; 3]) -> DecisionInputs {
        DecisionInputs {
            hits,
            misses: hits.map(|hits| 100 - hits),
            hit_latency: [0, 2 * 16, 14 * 16],
            miss_latency: 200 * 16,
            ..DecisionInputs::default()
        }
    }

    #[test]
    fn equal_modes_leave_the_cache_uncompressed() {
        assert_eq!(hits([50, 50, 50]).choose(0), Mode::None);
    }

    #[test]
    fn fewer_misses_must_pay_for_slower_hits() {
        // Each hit costs 2 cycles more, and each saved miss 198 less: one in a hundred is about break-even.
        assert_eq!(hits([50, 51, 50]).choose(0), Mode::LowLatency);
        assert_eq!(hits([90, 90, 93]).choose(0), Mode::None);
        assert_eq!(hits([60, 60, 70]).choose(0), Mode::HighCapacity);
    }

    #[test]
    fn tolerance_hides_hit_latency() {
        let tolerant = DecisionInputs { schedules: 10, warps: 40, cycles: 35, ..hits([90, 90, 93]) };
        assert_eq!(tolerant.tolerance(), 14 * 1024);
        assert_eq!(tolerant.choose(0), Mode::HighCapacity);
        assert_eq!(tolerant.choose(2), Mode::None, "Adaptive-CMP does not know of it");
        assert_eq!(
            hits([90, 90, 93]).choose(1),
            Mode::HighCapacity,
            "Adaptive-Hit-Count knows of no latency"
        );
    }

    #[test]
    fn a_mode_that_saw_nothing_does_not_win() {
        let mut evidence = hits([10, 20, 30]);
        (evidence.hits[2], evidence.misses[2]) = (0, 0);
        assert_eq!(evidence.choose(0), Mode::LowLatency);
        (evidence.hits[0], evidence.misses[0]) = (0, 0);
        assert_eq!(evidence.choose(0), Mode::None, "unless it is the simplest");
    }
}
