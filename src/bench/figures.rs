//! Figures computed from samples: medians, spreads, and checks of targets.
use super::cases::{Case, Figure, Target};
use super::child::Sample;
use schemars::JsonSchema;
use serde::Serialize;

/// A figure of all repetitions.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    /// Returns the spread of `values`, or `None` if they are empty.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        Some(Spread { median, least, most })
    }
}

/// Returns the figure of one repetition. `samples` has an element for each run of the case, in order.
/// For [`Figure::Memory`], `device_bytes` has the device memory of each run.
pub fn figure(case: &Case, samples: &[Sample], device_bytes: &[u64]) -> f64 {
    let first = samples[0];
    match case.figure {
        Figure::Seconds => geometric_mean(samples.iter().map(|sample| sample.user_s)),
        Figure::Cycles => first.report.cycles as f64 / first.user_s / 1e3,
        Figure::WarpInstructions => first.report.warp_instructions as f64 / first.user_s / 1e6,
        Figure::Ratio => half_over_half(samples, |sample| sample.user_s),
        Figure::Memory => {
            let beside = |(sample, device): (&Sample, &u64)| sample.resident_bytes.saturating_sub(*device);
            samples.iter().zip(device_bytes).map(beside).max().unwrap_or(0) as f64 / 1e6
        }
    }
}

/// Returns the instructions of a case: the mean of its runs in millions, or the ratio of the halves. Returns `None` for
/// memory.
pub fn instructions(case: &Case, counts: &[u64]) -> Option<f64> {
    match case.figure {
        Figure::Ratio => Some(half_over_half(counts, |count| *count as f64)),
        Figure::Seconds | Figure::Cycles | Figure::WarpInstructions => {
            Some(geometric_mean(counts.iter().map(|count| *count as f64 / 1e6)))
        }
        Figure::Memory => None,
    }
}

fn half_over_half<T>(all: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let (over, under) = all.split_at(all.len() / 2);
    geometric_mean(over.iter().zip(under).map(|(a, b)| value(a) / value(b)))
}

/// Returns the geometric mean, or 1 of no values.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count.max(1))).exp()
}

/// Returns the factor by which the figure `this` is better than `other`.
pub fn times_better(figure: Figure, this: f64, other: f64) -> f64 {
    if figure.is_rate() { this / other } else { other / this }
}

/// Returns whether the target is met, or `None` if it needs the figure of another binary and none is given.
pub fn is_met(target: Target, figure: f64, against: Option<f64>) -> Option<bool> {
    match target {
        Target::AtLeast(least) => Some(figure >= least),
        Target::AtMost(most) => Some(figure <= most),
        Target::TimesBetter(least) => against.map(|times| times >= least),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::child::Simulated;

    fn sample(user_s: f64, wall_s: f64) -> Sample {
        let report = Simulated { cycles: 300_000, warp_instructions: 6_000_000, ..Simulated::default() };
        Sample { user_s, wall_s, resident_bytes: 90_000_000, report }
    }

    fn case(figure: Figure) -> Case {
        Case { name: "c".into(), figure, target: Target::AtLeast(1.0), runs: Vec::new() }
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        assert_eq!(Spread::of(vec![4.0, 1.0, 2.0, 9.0]), Some(Spread { median: 3.0, least: 1.0, most: 9.0 }));
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn figures_are_of_the_unit_that_they_name() {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        let four = [sample(8.0, 3.0), sample(2.0, 3.0), sample(1.0, 1.0), sample(4.0, 3.0)];
        let of = |figure_of| figure(&case(figure_of), &four, &[0, 0, 0, 50_000_000]);
        assert!(near(of(Figure::Seconds), 64f64.powf(0.25)));
        assert!(near(of(Figure::Ratio), 2.0), "8/1 and 2/4");
        assert!(near(of(Figure::Cycles), 37.5));
        assert!(near(of(Figure::WarpInstructions), 0.75));
        assert!(near(of(Figure::Memory), 90.0));
        assert!(instructions(&case(Figure::Ratio), &[30, 10]).is_some_and(|ratio| near(ratio, 3.0)));
    }

    #[test]
    fn a_ratio_to_another_binary_is_of_what_is_better() {
        assert_eq!(times_better(Figure::Seconds, 1.0, 3.0), 3.0);
        assert_eq!(times_better(Figure::Cycles, 3.0, 1.0), 3.0);
        assert_eq!(is_met(Target::TimesBetter(3.0), 0.1, None), None);
        assert_eq!(is_met(Target::TimesBetter(3.0), 0.1, Some(3.5)), Some(true));
        assert_eq!(is_met(Target::AtMost(1.5), 1.6, None), Some(false));
        assert_eq!(is_met(Target::AtLeast(1.5), 1.6, None), Some(true));
    }
}
