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
    /// Half the width of the 95% confidence interval of the cycles. It covers differences between intervals, launches and ends of
    /// launches, but no error that all of them share. Null if too few intervals measure it.
    pub cycles_within: Option<f64>,
    /// Estimated thread instructions per core cycle of the run.
    pub ipc: f64,
}

impl Estimate {
    /// Returns half the width of the confidence interval as a share of the cycles.
    #[must_use]
    pub fn share_within(&self) -> Option<f64> {
        self.cycles_within.map(|within| within / self.cycles.max(1.0))
    }

    /// Returns whether half the width of the confidence interval is at most this share of the cycles.
    #[must_use]
    pub fn is_within(&self, share: f64) -> bool {
        self.share_within().is_some_and(|within| within <= share)
    }
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

    /// Returns the rounded mean of `all`, which has an element.
    pub fn mean(all: &[IntervalCounters]) -> IntervalCounters {
        sum(all).scaled(1.0 / all.len() as f64)
    }

    /// Returns the number of warp instructions.
    pub fn instructions(&self) -> u64 {
        self.snapshot.sm.warp_instructions
    }

    /// Returns the core cycles per warp instruction.
    fn rate(&self) -> f64 {
        self.snapshot.cycles as f64 / self.instructions().max(1) as f64
    }
}

fn sum(all: &[IntervalCounters]) -> IntervalCounters {
    let mut sum = IntervalCounters::default();
    all.iter().for_each(|one| sum.add(one));
    sum
}

/// The warp instructions of a launch that were not simulated in detail, and the measurements that represent them.
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

    /// Returns the estimated counters of the further instructions.
    pub fn counters(&self) -> IntervalCounters {
        let sum = sum(&self.measured);
        sum.scaled(self.rest as f64 / sum.instructions().max(1) as f64)
    }

    fn rate(&self) -> f64 {
        sum(&self.measured).rate()
    }

    fn cycles(&self) -> f64 {
        self.rate() * self.rest as f64
    }

    fn mean_instructions(&self) -> f64 {
        sum(&self.measured).instructions().max(1) as f64 / self.measured.len().max(1) as f64
    }

    /// Returns the sum of the squared residuals of the ratio estimate, relative to the mean cycles of a measurement.
    fn squares(&self) -> f64 {
        let (rate, mean) = (self.rate(), self.mean_instructions());
        let squared = |one: &IntervalCounters| {
            let residual = one.snapshot.cycles as f64 - rate * one.instructions() as f64;
            (residual / (rate * mean)).powi(2)
        };
        self.measured.iter().map(squared).sum()
    }
}

/// Launches of a class in the order of the program. Each represents a part of the launches next to it that were not simulated.
#[derive(Default)]
pub struct LaunchChain {
    measured: Vec<IntervalCounters>,
    /// Cycles of other launches that each launch represents.
    represented: Vec<f64>,
    /// Sum of the squared cycles of the launches that were not simulated.
    squares: f64,
}

impl LaunchChain {
    /// Adds a simulated launch.
    pub fn push(&mut self, measured: IntervalCounters) {
        self.measured.push(measured);
        self.represented.push(0.0);
    }

    /// Returns the estimated counters of a launch of `rest` warp instructions between the last two launches.
    pub fn between(&mut self, rest: u64) -> IntervalCounters {
        self.represent(2, rest)
    }

    /// Returns the estimated counters of a launch of `rest` warp instructions after the last launch.
    pub fn after(&mut self, rest: u64) -> IntervalCounters {
        self.represent(1, rest)
    }

    fn represent(&mut self, last: usize, rest: u64) -> IntervalCounters {
        let from = self.measured.len().saturating_sub(last);
        let nearest = Extrapolation::new(self.measured[from..].to_vec(), rest);
        let scale = rest as f64 / sum(&nearest.measured).instructions().max(1) as f64;
        for (represented, one) in self.represented[from..].iter_mut().zip(&nearest.measured) {
            *represented += scale * one.snapshot.cycles as f64;
        }
        self.squares += nearest.cycles().powi(2);
        nearest.counters()
    }

    /// Returns the variance of the cycles of the launches that were not simulated. `None` if one launch represents all. Launches
    /// next to each other are alike: the variance is that of successive differences (Wolter, "An Investigation of Some Estimators
    /// of Variance for Systematic Sampling", 1984).
    pub fn variance(&self) -> Option<Variance> {
        if self.squares == 0.0 {
            return Some(Variance::NONE);
        }
        let steps = self.measured.len().saturating_sub(1) as f64;
        if steps < 1.0 {
            return None;
        }
        let mean = sum(&self.measured).rate();
        let differences = self.measured.windows(2).map(|pair| (pair[1].rate() - pair[0].rate()) / mean);
        let relative = differences.map(|difference| difference.powi(2)).sum::<f64>() / (2.0 * steps);
        let represented: f64 = self.represented.iter().map(|cycles| cycles.powi(2)).sum();
        let freedom = 2.0 * steps.powi(2) / (3.0 * steps - 1.0);
        Some(Variance { squared_cycles: relative * (represented + self.squares), freedom })
    }
}

/// Variance of the difference between estimated cycles and the cycles of the full run.
#[derive(Clone, Copy, Debug)]
pub struct Variance {
    squared_cycles: f64,
    /// Degrees of freedom of the variance.
    freedom: f64,
}

impl Variance {
    const NONE: Variance = Variance { squared_cycles: 0.0, freedom: 1.0 };

    /// Returns the variance of all parts between intervals. Their measurements have the same relative variance, as have the parts
    /// that they represent. `None` if an extrapolation has no measurement, or if none has two.
    pub fn of_intervals(all: &[Extrapolation]) -> Option<Variance> {
        let all: Vec<&Extrapolation> = all.iter().filter(|one| one.rest > 0).collect();
        if all.is_empty() {
            return Some(Variance::NONE);
        }
        let freedom: usize = all.iter().map(|one| one.measured.len().saturating_sub(1)).sum();
        if freedom == 0 || all.iter().any(|one| one.measured.is_empty()) {
            return None;
        }
        let relative = all.iter().map(|one| one.squares()).sum::<f64>() / freedom as f64;
        let variance = |one: &&Extrapolation| {
            let (measured, represented) =
                (one.measured.len() as f64, one.rest as f64 / one.mean_instructions());
            one.cycles().powi(2) * relative * (1.0 / measured + 1.0 / represented)
        };
        Some(Variance { squared_cycles: all.iter().map(variance).sum(), freedom: freedom as f64 })
    }

    /// Returns the variance of the mean of `ends` of one launch, compared with the one end of the full run. `between` represents the
    /// instructions that an end has more or less than the others. `None` with one end.
    pub fn of_ends(ends: &[IntervalCounters], between: &Extrapolation) -> Option<Variance> {
        let (count, rate) = (ends.len() as f64, between.rate());
        if ends.len() < 2 {
            return None;
        }
        let cycles = |one: &IntervalCounters| one.snapshot.cycles as f64 - rate * one.instructions() as f64;
        let mean = ends.iter().map(cycles).sum::<f64>() / count;
        let squares: f64 = ends.iter().map(|one| (cycles(one) - mean).powi(2)).sum();
        let freedom = count - 1.0;
        Some(Variance { squared_cycles: squares / freedom * (1.0 + 1.0 / count), freedom })
    }
}

/// Returns half the width of the 95% confidence interval of cycles with the sum of `all` variances, with the degrees of freedom of
/// Satterthwaite, "An Approximate Distribution of Estimates of Variance Components" (1946). `None` if a variance is unknown.
pub fn half_width(all: &[Option<Variance>]) -> Option<f64> {
    let all: Vec<Variance> = all.iter().copied().collect::<Option<_>>()?;
    let variance: f64 = all.iter().map(|one| one.squared_cycles).sum();
    if variance == 0.0 {
        return Some(0.0);
    }
    let freedom =
        variance.powi(2) / all.iter().map(|one| one.squared_cycles.powi(2) / one.freedom).sum::<f64>();
    Some(quantile(freedom) * variance.sqrt())
}

/// Returns the 97.5% quantile of Student's t distribution with the given degrees of freedom, from 1 on, to 1%. Between the integers, the
/// quantile is interpolated in the reciprocal, which does not make it smaller.
fn quantile(freedom: f64) -> f64 {
    const QUANTILES: [f64; 10] = [12.71, 4.31, 3.19, 2.78, 2.58, 2.45, 2.37, 2.31, 2.27, 2.23];
    let freedom = freedom.max(1.0);
    if freedom >= 10.0 {
        return 1.96 + 2.7 / freedom;
    }
    let below = freedom.floor();
    let share = (1.0 / below - 1.0 / freedom) / (1.0 / below - 1.0 / (below + 1.0));
    let at = below as usize - 1;
    QUANTILES[at] + share * (QUANTILES[at + 1] - QUANTILES[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::Rng;
    use proptest::test_runner::{RngAlgorithm, TestRng};

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
            half_width(&[Variance::of_intervals(&[Extrapolation::new(measured, 1000)])])
        };
        assert_eq!((of(&[300; 4]), of(&[300]), of(&[])), (Some(0.0), None, None));
        // Rates 3 and 5 about 4: the variance of a measurement is 2, half of that of their mean and a tenth of that of the ten
        // represented measurements. The quantile for one degree of freedom is 12.71.
        let width = of(&[300, 500]).expect("two measurements");
        assert!((width - 12_710.0 * 1.2_f64.sqrt()).abs() < 1e-6, "{width}");
        assert_eq!(half_width(&[Variance::of_intervals(&[])]), Some(0.0), "nothing is extrapolated");
    }

    #[test]
    fn a_quantile_is_that_of_the_tables() {
        for (freedom, exact) in
            [(1.0, 12.706), (2.0, 4.303), (5.0, 2.571), (12.0, 2.179), (30.0, 2.042), (1e9, 1.96)]
        {
            assert!((quantile(freedom) / exact - 1.0).abs() < 0.01, "{freedom}: {}", quantile(freedom));
        }
        assert!((4.31..12.71).contains(&quantile(1.5)) && quantile(0.2) == quantile(1.0));
    }

    /// Returns a uniform number in [0, 1).
    fn uniform(random: &mut TestRng) -> f64 {
        f64::from(random.next_u32()) / 2.0_f64.powi(32)
    }

    /// Returns a number of a nearly normal distribution with mean 0 and variance 1.
    fn normal(random: &mut TestRng) -> f64 {
        (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
    }

    /// Returns how often the interval that `estimated` returns, as its middle and half its width, contains the value that it
    /// returns third.
    fn coverage(mut estimated: impl FnMut(&mut TestRng) -> (f64, f64, f64)) -> f64 {
        const TIMES: u32 = 2000;
        let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let held = (0..TIMES).filter(|_| {
            let (middle, within, actual) = estimated(&mut random);
            (middle - actual).abs() <= within
        });
        f64::from(u32::try_from(held.count()).expect("few")) / f64::from(TIMES)
    }

    /// Returns a part of a launch with `work` warp instructions at about `rate` cycles each.
    fn part(random: &mut TestRng, rate: f64, spread: f64, work: f64) -> IntervalCounters {
        measured((work * rate * (1.0 + spread * normal(random))) as u64, work as u64)
    }

    /// Measures some of a launch's 60 parts of unequal work. The rate differs from part to part.
    fn ratio(random: &mut TestRng, count: usize, half: fn(&Extrapolation) -> f64) -> (f64, f64, f64) {
        let parts: Vec<IntervalCounters> = (0..60)
            .map(|_| {
                let work = 50_000.0 * (1.0 + uniform(random));
                part(random, 4.0, 0.03, work)
            })
            .collect();
        let (chosen, others) = parts.split_at(count);
        let others = sum(others);
        let all = Extrapolation::new(chosen.to_vec(), others.instructions());
        (all.cycles(), half(&all), others.snapshot.cycles as f64)
    }

    #[test]
    fn intervals_of_few_parts_with_unequal_work_contain_the_whole_in_95_of_100_cases() {
        for count in [3, 6, 30] {
            let held = coverage(|random| {
                ratio(random, count, |all| {
                    half_width(&[Variance::of_intervals(std::slice::from_ref(all))])
                        .expect("two measurements")
                })
            });
            assert!((0.93..0.975).contains(&held), "{count}: {held}");
        }
        // Without the variance of the represented parts, an interval from half of all parts is too narrow.
        let narrow = coverage(|random| {
            ratio(random, 30, |all| {
                let variance = all.squares() / 29.0 / 30.0;
                quantile(29.0) * variance.sqrt() * all.cycles()
            })
        });
        assert!(narrow < 0.88, "{narrow}");
    }

    /// Simulates one of four among 49 launches whose rates drift.
    fn chain(random: &mut TestRng) -> (LaunchChain, f64, f64) {
        let (mut chain, mut gap, mut drift) = (LaunchChain::default(), Vec::new(), 0.0);
        let (mut estimated, mut actual) = (0.0, 0.0);
        for number in 0..49 {
            drift = 0.9 * drift + 0.01 * normal(random);
            let launch = part(random, 4.0 * (1.0 + drift), 0.01, 100_000.0);
            if number % 4 != 0 {
                actual += launch.snapshot.cycles as f64;
                gap.push(launch.instructions());
                continue;
            }
            chain.push(launch);
            estimated += gap.drain(..).map(|rest| chain.between(rest).snapshot.cycles as f64).sum::<f64>();
        }
        (chain, estimated, actual)
    }

    #[test]
    fn launches_that_represent_their_neighbors_on_both_sides_contain_them_in_95_of_100_cases() {
        let held = coverage(|random| {
            let (chain, estimated, actual) = chain(random);
            (estimated, half_width(&[chain.variance()]).expect("many launches"), actual)
        });
        assert!((0.93..=1.0).contains(&held), "{held}");
        // A variance for each gap, as if its two launches represented no other gap.
        let narrow = coverage(|random| {
            let (chain, estimated, actual) = chain(random);
            let gaps: Vec<Extrapolation> =
                chain.measured.windows(2).map(|pair| Extrapolation::new(pair.to_vec(), 300_000)).collect();
            let relative = gaps.iter().map(|gap| gap.squares()).sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| gap.cycles().powi(2) * relative / 2.0).sum::<f64>();
            (estimated, quantile(gaps.len() as f64) * variance.sqrt(), actual)
        });
        assert!(narrow < held - 0.02, "{narrow} {held}");
    }

    #[test]
    fn the_phase_in_which_a_launch_ends_is_in_its_interval() {
        let launch = |random: &mut TestRng| {
            let middle: Vec<IntervalCounters> = (0..6).map(|_| part(random, 4.0, 0.001, 50_000.0)).collect();
            let end = |random: &mut TestRng| part(random, 8.0, 0.05, 100_000.0);
            let ends: Vec<IntervalCounters> = (0..3).map(|_| end(random)).collect();
            let rest: Vec<IntervalCounters> = (0..10).map(|_| part(random, 4.0, 0.001, 50_000.0)).collect();
            let actual = sum(&rest).snapshot.cycles as f64 + end(random).snapshot.cycles as f64;
            (Extrapolation::new(middle, 500_000), ends, actual)
        };
        let middle = |between: &Extrapolation, ends: &[IntervalCounters]| {
            between.cycles() + IntervalCounters::mean(ends).snapshot.cycles as f64
        };
        let held = coverage(|random| {
            let (between, ends, actual) = launch(random);
            let variances =
                [Variance::of_intervals(std::slice::from_ref(&between)), Variance::of_ends(&ends, &between)];
            (middle(&between, &ends), half_width(&variances).expect("three ends"), actual)
        });
        assert!((0.93..0.98).contains(&held), "{held}");
        let narrow = coverage(|random| {
            let (between, ends, actual) = launch(random);
            let variances = [Variance::of_intervals(std::slice::from_ref(&between))];
            (middle(&between, &ends), half_width(&variances).expect("six intervals"), actual)
        });
        assert!(narrow < 0.5, "{narrow}");
        assert!(half_width(&[Variance::of_ends(&[measured(1, 1)], &Extrapolation::default())]).is_none());
    }

    #[test]
    fn further_instructions_have_the_counters_of_the_measured_ones_in_proportion() {
        let all = Extrapolation::new(vec![measured(300, 100), measured(500, 300)], 200);
        let estimated = all.counters();
        assert_eq!((estimated.snapshot.cycles, estimated.instructions()), (400, 200));
        assert_eq!(estimated.mechanism["events"], 40);
    }
}
