//! Estimate of a run from the counters of its intervals.
use schemars::JsonSchema;
use selvedge_gpu::gpu::Gpu;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::snapshot::Snapshot;
use serde::Serialize;

/// Estimate of a run from intervals. All counters of the report are estimated with it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Estimate {
    /// Number of intervals that were simulated in detail.
    pub intervals: u64,
    /// Share of the run's warp instructions that were simulated in detail, the warm-up of the intervals included.
    pub detailed_share: f64,
    /// Estimated core cycles of the run.
    pub cycles: f64,
    /// Half the width of the 95% confidence interval of the cycles. It covers differences between intervals, but no error
    /// that all intervals share. Null with too few intervals.
    pub cycles_within: Option<f64>,
    /// Estimated thread instructions per core cycle of the run.
    pub ipc: f64,
}

/// Counters of the GPU and of the mechanism.
#[derive(Clone, Debug, Default)]
pub struct IntervalCounters {
    pub snapshot: Snapshot,
    pub mechanism: MechanismCounters,
}

impl IntervalCounters {
    /// Returns the counters since the beginning of the simulation.
    pub fn of(gpu: &Gpu) -> Self {
        let mut mechanism = MechanismCounters::new();
        gpu.mechanism_counters(&mut mechanism);
        IntervalCounters { snapshot: gpu.snapshot(), mechanism }
    }

    /// Returns the counters since `before`.
    pub fn since(&self, before: &IntervalCounters) -> IntervalCounters {
        let earlier = |name| before.mechanism.get(name).copied().unwrap_or(0);
        let mechanism = &self.mechanism;
        IntervalCounters {
            snapshot: &self.snapshot - &before.snapshot,
            mechanism: mechanism
                .iter()
                .map(|(name, count)| (*name, count.saturating_sub(earlier(name))))
                .collect(),
        }
    }

    /// Returns the counters times `factor`, rounded.
    fn scaled(&self, factor: f64) -> IntervalCounters {
        let scaled = |count: &u64| (*count as f64 * factor).round() as u64;
        IntervalCounters {
            snapshot: self.snapshot.scaled(factor),
            mechanism: self.mechanism.iter().map(|(name, count)| (*name, scaled(count))).collect(),
        }
    }

    /// Adds `more`. The energy models come from `more`, because a default has none.
    pub fn add(&mut self, more: &IntervalCounters) {
        self.snapshot.energy_model = more.snapshot.energy_model;
        self.snapshot.gpu_energy_model = more.snapshot.gpu_energy_model.clone();
        self.snapshot += &more.snapshot;
        more.mechanism.iter().for_each(|(name, count)| *self.mechanism.entry(name).or_default() += count);
    }

    fn instructions(&self) -> u64 {
        self.snapshot.sm.warp_instructions
    }

    /// Returns the core cycles per warp instruction.
    fn rate(&self) -> f64 {
        self.snapshot.cycles as f64 / self.instructions().max(1) as f64
    }
}

/// The warp instructions of a run that were not simulated in detail, and the measurements that represent them.
#[derive(Clone, Debug, Default)]
pub struct Extrapolation {
    measured: Vec<IntervalCounters>,
    rest: u64,
}

impl Extrapolation {
    /// Returns `rest` further warp instructions that `measured` represents.
    pub fn new(measured: Vec<IntervalCounters>, rest: u64) -> Self {
        Extrapolation { measured, rest }
    }

    /// Adds `more` further warp instructions.
    pub fn extend(&mut self, more: u64) {
        self.rest += more;
    }

    fn sum(&self) -> IntervalCounters {
        let mut sum = IntervalCounters::default();
        self.measured.iter().for_each(|one| sum.add(one));
        sum
    }

    /// Returns the estimated counters of the further instructions.
    pub fn counters(&self) -> IntervalCounters {
        let sum = self.sum();
        sum.scaled(self.rest as f64 / sum.instructions().max(1) as f64)
    }

    fn cycles(&self) -> f64 {
        self.sum().rate() * self.rest as f64
    }

    /// Returns the sum of the squared deviations of the measured rates from the rate of all, relative to it.
    fn squares(&self) -> f64 {
        let mean = self.sum().rate();
        self.measured.iter().map(|one| (one.rate() / mean - 1.0).powi(2)).sum()
    }
}

/// Returns half the width of the 95% confidence interval of the cycles of all extrapolations. Assumes that their measurements have
/// the same relative variance. `None` if an extrapolation has no measurement, or if none has two.
pub fn half_width(all: &[Extrapolation]) -> Option<f64> {
    let all: Vec<&Extrapolation> = all.iter().filter(|one| one.rest > 0).collect();
    if all.is_empty() {
        return Some(0.0);
    }
    let freedom: usize = all.iter().map(|one| one.measured.len().saturating_sub(1)).sum();
    if freedom == 0 || all.iter().any(|one| one.measured.is_empty()) {
        return None;
    }
    let relative = all.iter().map(|one| one.squares()).sum::<f64>() / freedom as f64;
    let variance = |one: &&Extrapolation| one.cycles().powi(2) * relative / one.measured.len() as f64;
    Some(quantile(freedom) * all.iter().map(variance).sum::<f64>().sqrt())
}

/// Returns the 97.5% quantile of Student's t distribution with the given number of degrees of freedom, rounded up.
fn quantile(freedom: usize) -> f64 {
    const QUANTILES: [f64; 10] = [12.71, 4.31, 3.19, 2.78, 2.58, 2.45, 2.37, 2.31, 2.27, 2.23];
    match freedom {
        0..=10 => QUANTILES[freedom.max(1) - 1],
        11..=20 => 2.21,
        21..=60 => 2.09,
        _ => 2.01,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(cycles: u64, warp_instructions: u64) -> IntervalCounters {
        let mut one = IntervalCounters::default();
        (one.snapshot.cycles, one.snapshot.sm.warp_instructions) = (cycles, warp_instructions);
        one.mechanism.insert("events", cycles / 10);
        one
    }

    #[test]
    fn equal_measurements_leave_no_doubt_and_one_leaves_all() {
        let of = |cycles: &[u64]| {
            let measured = cycles.iter().map(|cycles| measured(*cycles, 100)).collect();
            half_width(&[Extrapolation::new(measured, 1000)])
        };
        assert_eq!((of(&[300; 4]), of(&[300]), of(&[])), (Some(0.0), None, None));
        // Rates 3 and 5 about 4: the standard error of the mean is 1, and the quantile for one degree of freedom is 12.71.
        let width = of(&[300, 500]).expect("two measurements");
        assert!((width - 12_710.0).abs() < 1e-6, "{width}");
        assert_eq!(half_width(&[]), Some(0.0), "nothing is extrapolated");
    }

    #[test]
    fn further_instructions_have_the_counters_of_the_measured_ones_in_proportion() {
        let all = Extrapolation::new(vec![measured(300, 100), measured(500, 300)], 200);
        let estimated = all.counters();
        assert_eq!((estimated.snapshot.cycles, estimated.instructions()), (400, 200));
        assert_eq!(estimated.mechanism["events"], 40);
    }
}
