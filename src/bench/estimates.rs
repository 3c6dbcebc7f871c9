//! Compares runs estimated from intervals with full runs: cycles, speedups, confidence intervals and time.
use super::child::{REPORT, Sample, measure};
use super::figures::geometric_mean;
use crate::arguments::BenchOptions;
use crate::error::Failure;
use crate::mechanism_list;
use crate::output::say;
use crate::run_command::processors;
use selvedge_area::Table;
use selvedge_sim::workload::Size;
use std::path::Path;

/// A full run and its estimate.
struct EstimatePair {
    workload: String,
    mechanism: String,
    full: Sample,
    estimated: Sample,
}

impl EstimatePair {
    /// Returns the estimated cycles over the cycles of the full run, less 1.
    fn error(&self) -> f64 {
        self.estimated.report.cycles as f64 / self.full.report.cycles.max(1) as f64 - 1.0
    }

    /// Returns whether the confidence interval contains the cycles of the full run; `None` without an interval.
    fn holds(&self) -> Option<bool> {
        let within = self.estimated.report.cycles_within?;
        // The report rounds the cycles of each launch.
        Some(self.full.report.cycles.abs_diff(self.estimated.report.cycles) as f64 <= within + 1.0)
    }

    /// Returns the wall-clock time of the full run over that of the estimate.
    fn times_faster(&self) -> f64 {
        self.full.wall_s / self.estimated.wall_s.max(1e-9)
    }
}

/// Runs each workload under each mechanism in full and by intervals, and returns the table and its summary.
///
/// # Errors
/// Fails if a run fails.
pub fn compare(options: &BenchOptions, binary: &Path, folder: &Path) -> Result<String, Failure> {
    let mechanisms = mechanism_list::split(&options.mechanisms);
    let size = options.size.unwrap_or(Size::Study).to_string();
    let mut pairs = Vec::new();
    for workload in &options.estimates {
        for mechanism in &mechanisms {
            let run = |more: &[String]| {
                let words = ["run", workload, "--size", &size, "--mechanism", mechanism];
                let words =
                    words.into_iter().chain(["--engine", "model", "--json", REPORT]).map(str::to_owned);
                let words: Vec<String> = words.chain(more.iter().cloned()).collect();
                let sample = measure(binary, &words, folder)?;
                say(format!("{:.2} s: {}\n", sample.wall_s, words.join(" ")));
                Ok::<_, Failure>(sample)
            };
            let full = run(&[])?;
            let numbers = [options.intervals.to_string(), processors().to_string()];
            let [intervals, jobs] = numbers;
            let estimated = run(&["--intervals".into(), intervals, "--jobs".into(), jobs])?;
            pairs.push(EstimatePair {
                workload: workload.clone(),
                mechanism: mechanism.clone(),
                full,
                estimated,
            });
        }
    }
    Ok(table(&pairs).render() + &summary(&pairs))
}

/// Returns the speedups over the first mechanism of the same workload: that of the full runs, and that of the estimates.
fn speedups(pairs: &[EstimatePair], of: &EstimatePair) -> Option<(f64, f64)> {
    let first = pairs.iter().find(|pair| pair.workload == of.workload)?;
    if first.mechanism == of.mechanism {
        return None;
    }
    let ratio = |first: &Sample, this: &Sample| first.report.cycles as f64 / this.report.cycles.max(1) as f64;
    Some((ratio(&first.full, &of.full), ratio(&first.estimated, &of.estimated)))
}

fn table(pairs: &[EstimatePair]) -> Table {
    let mut table = Table::new(&[
        "workload",
        "mechanism",
        "cycles",
        "error",
        "interval",
        "speedup",
        "estimated",
        "error",
        "in detail",
        "full, s",
        "CPU, s",
        "faster",
    ]);
    for pair in pairs {
        let report = &pair.estimated.report;
        let interval = report
            .cycles_within
            .map_or("-".into(), |within| format!("{:.1}%", 100.0 * within / report.cycles.max(1) as f64));
        let (full, estimated, error) =
            speedups(pairs, pair).map_or_else(Default::default, |(full, estimated)| {
                (
                    format!("{full:.3}"),
                    format!("{estimated:.3}"),
                    format!("{:+.1}%", 100.0 * (estimated / full - 1.0)),
                )
            });
        table.row(vec![
            pair.workload.clone(),
            pair.mechanism.clone(),
            pair.full.report.cycles.to_string(),
            format!("{:+.1}%", 100.0 * pair.error()),
            interval,
            full,
            estimated,
            error,
            format!("{:.0}%", 100.0 * report.detailed_share),
            format!("{:.2}", pair.full.wall_s),
            format!("{:.2}", pair.estimated.user_s),
            format!("{:.1}x", pair.times_faster()),
        ]);
    }
    table
}

/// Returns the geometric mean and the worst of the errors, and the share of confidence intervals that hold.
fn summary(pairs: &[EstimatePair]) -> String {
    let speedups: Vec<f64> = pairs
        .iter()
        .filter_map(|pair| speedups(pairs, pair))
        .map(|(full, estimated)| distance(estimated / full))
        .collect();
    let cycles: Vec<f64> = pairs.iter().map(|pair| distance(1.0 + pair.error())).collect();
    let held: Vec<bool> = pairs.iter().filter_map(EstimatePair::holds).collect();
    let count = held.iter().filter(|held| **held).count();
    let faster: Vec<f64> = pairs.iter().map(EstimatePair::times_faster).collect();
    format!(
        "cycles: {}\nspeedups: {}\nconfidence intervals: {count} of {} hold the full run's cycles\n\
         wall-clock time: {:.1} times faster in the geometric mean, on {} threads\n",
        errors(&cycles),
        errors(&speedups),
        held.len(),
        geometric_mean(faster.iter().copied()),
        processors()
    )
}

/// Returns the factor between a ratio and 1, at least 1.
fn distance(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio)
}

fn errors(factors: &[f64]) -> String {
    let worst = factors.iter().copied().fold(1.0, f64::max);
    let percent = |factor: f64| 100.0 * (factor - 1.0);
    format!(
        "geometric mean of the errors {:.1}%, worst {:.1}%, of {}",
        percent(geometric_mean(factors.iter().copied())),
        percent(worst),
        factors.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::child::Simulated;

    fn pair(mechanism: &str, full: u64, estimated: u64, within: f64) -> EstimatePair {
        let sample = |cycles, cycles_within, wall_s| Sample {
            wall_s,
            report: Simulated { cycles, cycles_within, ..Simulated::default() },
            ..Sample::default()
        };
        EstimatePair {
            workload: "w".into(),
            mechanism: mechanism.into(),
            full: sample(full, None, 8.0),
            estimated: sample(estimated, Some(within), 1.0),
        }
    }

    #[test]
    fn errors_of_speedups_are_the_factors_between_both_speedups() {
        let pairs = [pair("base", 1000, 1100, 50.0), pair("m", 500, 500, 0.0)];
        // The speedup is 2 in full and 2.2 as estimated.
        assert_eq!(speedups(&pairs, &pairs[1]), Some((2.0, 2.2)));
        assert_eq!(speedups(&pairs, &pairs[0]), None);
        assert_eq!((pairs[0].holds(), pairs[1].holds()), (Some(false), Some(true)));
        let text = summary(&pairs);
        assert!(text.contains("speedups: geometric mean of the errors 10.0%, worst 10.0%, of 1\n"), "{text}");
        assert!(text.contains("1 of 2 hold") && text.contains("8.0 times faster"), "{text}");
    }

    #[test]
    fn an_error_to_either_side_counts_alike() {
        assert!((geometric_mean([distance(0.5), distance(2.0)].into_iter()) - 2.0).abs() < 1e-12);
    }
}
