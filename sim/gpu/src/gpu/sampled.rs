//! Sampled simulation: windows are simulated in detail. Between them, CTAs execute without timing, and only the caches see their
//! accesses.
//!
//! After a skip, the CTAs that were resident find their lines evicted from the L1D, and run out of step with later CTAs. The next
//! window therefore begins after a number of CTAs equal to the resident ones have ended.
//!
//! The cycles per instruction of a launch's measured windows give the cycles of its skipped instructions. The beginning of a
//! launch, before its first skip, and its end, when no CTA is left to start, are simulated in detail and count exactly.
use crate::partition::AddressMap;
use crate::sm::coalescer::Transaction;
use schemars::JsonSchema;
use serde::Serialize;
use std::str::FromStr;

/// Lengths of the alternating intervals that are simulated in detail and skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SampleSpec {
    /// Warp instructions measured per window.
    pub detailed: u64,
    /// Warp instructions between two windows, rounded up to whole CTAs.
    pub skip: u64,
}

/// Error of a text that is not a [`SampleSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be detailed=N,skip=M with numbers of warp instructions from 1 on, such as detailed=50000,skip=450000"
)]
pub struct SampleSpecError;

impl FromStr for SampleSpec {
    type Err = SampleSpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut detailed, mut skip) = (None, None);
        for word in text.split(',') {
            let (key, number) = word.split_once('=').ok_or(SampleSpecError)?;
            let place = match key {
                "detailed" => &mut detailed,
                "skip" => &mut skip,
                _ => return Err(SampleSpecError),
            };
            let number = number.parse().ok().filter(|number| *number > 0).ok_or(SampleSpecError)?;
            if place.replace(number).is_some() {
                return Err(SampleSpecError);
            }
        }
        let (detailed, skip) = detailed.zip(skip).ok_or(SampleSpecError)?;
        Ok(SampleSpec { detailed, skip })
    }
}

/// Estimate of a sampled simulation.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Estimate {
    /// Requested lengths.
    #[serde(flatten)]
    pub spec: SampleSpec,
    /// Number of measured windows.
    pub windows: u64,
    /// Number of skipped CTAs.
    pub skipped_ctas: u64,
    /// Number of skipped warp instructions.
    pub skipped_warp_instructions: u64,
    /// Number of skipped thread instructions.
    pub skipped_thread_instructions: u64,
    /// Estimated core cycles of the whole run.
    pub cycles: f64,
    /// Half the width of the 95% confidence interval of the cycles. It covers differences between windows, but no error
    /// that all windows share. Null with too few windows.
    pub cycles_within: Option<f64>,
    /// Estimated thread instructions per core cycle of the whole run.
    pub ipc: f64,
}

/// A number of core cycles and the warp instructions in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    pub cycles: u64,
    pub instructions: u64,
}

impl Span {
    pub fn since(self, before: Span) -> Span {
        Span { cycles: self.cycles - before.cycles, instructions: self.instructions - before.instructions }
    }

    fn rate(self) -> f64 {
        self.cycles as f64 / self.instructions as f64
    }
}

/// The windows and the skips of a launch.
#[derive(Clone, Debug, Default)]
struct LaunchSample {
    windows: Vec<Span>,
    skipped: u64,
    /// Everything that was simulated in detail.
    detailed: Span,
}

impl LaunchSample {
    /// Returns the cycles per warp instruction of all windows together. Without windows, returns the rate of all detailed
    /// simulation.
    fn rate(&self) -> f64 {
        let add = |a: Span, b: &Span| Span {
            cycles: a.cycles + b.cycles,
            instructions: a.instructions + b.instructions,
        };
        let all = self.windows.iter().fold(Span::default(), add);
        if all.instructions > 0 { all.rate() } else { self.detailed.rate() }
    }

    /// Returns the sum of the squared deviations of the windows' rates from [`Self::rate`], relative to it.
    fn squares(&self) -> f64 {
        let mean = self.rate();
        self.windows.iter().map(|window| (window.rate() / mean - 1.0).powi(2)).sum()
    }

    /// Returns the estimated cycles of the skipped instructions.
    fn skipped_cycles(&self) -> f64 {
        self.rate() * self.skipped as f64
    }
}

/// Returns half the width of the 95% confidence interval around the estimated cycles of these launches. Assumes that the windows
/// of all launches have the same relative variance. `None` if a launch has no window, or if no launch has two.
fn half_width(launches: &[&LaunchSample]) -> Option<f64> {
    let freedom: usize = launches.iter().map(|launch| launch.windows.len().saturating_sub(1)).sum();
    if freedom == 0 || launches.iter().any(|launch| launch.windows.is_empty()) {
        return None;
    }
    let relative = launches.iter().map(|launch| launch.squares()).sum::<f64>() / freedom as f64;
    let variance =
        |launch: &&LaunchSample| launch.skipped_cycles().powi(2) * relative / launch.windows.len() as f64;
    Some(quantile(freedom) * launches.iter().map(variance).sum::<f64>().sqrt())
}

/// The position of a launch between two skips.
#[derive(Clone, Copy, Debug)]
enum SamplePhase {
    /// From the launch's first cycle until the number of CTAs that have ended reaches the number of resident CTAs.
    Beginning,
    /// From a skip until this number of CTAs of the launch have ended.
    Settling(u64),
    /// Since the cycles and instructions given here, in a window.
    Measuring(Span),
}

/// The state of a sampled simulation.
pub struct Sampled {
    spec: SampleSpec,
    pub map: AddressMap,
    launches: Vec<LaunchSample>,
    phase: SamplePhase,
    /// Cycles and instructions of the GPU when the launch began.
    begun: Span,
    skipped_ctas: u64,
    skipped_thread_instructions: u64,
    /// Memory for the transactions of an access.
    pub transactions: Vec<Transaction>,
}

impl Sampled {
    /// Returns the state before the first launch.
    pub fn new(spec: SampleSpec, map: AddressMap) -> Self {
        Sampled {
            spec,
            map,
            launches: Vec::new(),
            phase: SamplePhase::Beginning,
            begun: Span::default(),
            skipped_ctas: 0,
            skipped_thread_instructions: 0,
            transactions: Vec::new(),
        }
    }

    /// Starts the sample of a new launch.
    pub fn begin(&mut self, now: Span) {
        if let Some(launch) = self.launches.last_mut() {
            launch.detailed = now.since(self.begun);
        }
        self.launches.push(LaunchSample::default());
        (self.phase, self.begun) = (SamplePhase::Beginning, now);
    }

    /// Returns whether more CTAs may be skipped after `skipped` warp instructions.
    pub fn may_skip(&self, skipped: u64) -> bool {
        skipped < self.spec.skip
    }

    /// Counts a CTA that was skipped.
    pub fn count(&mut self, thread_instructions: u64) {
        self.skipped_ctas += 1;
        self.skipped_thread_instructions += thread_instructions;
    }

    /// Ends a skip of `skipped` warp instructions. The next window begins when `done` CTAs of the launch have ended.
    pub fn settle(&mut self, skipped: u64, done: u64) {
        if let Some(launch) = self.launches.last_mut() {
            launch.skipped += skipped;
        }
        self.phase = SamplePhase::Settling(done);
    }

    /// Returns the estimate at the cycles and warp instructions `now`, after `thread_instructions` in detail.
    pub fn estimate(&self, now: Span, thread_instructions: u64) -> Estimate {
        let mut launches = self.launches.clone();
        if let Some(last) = launches.last_mut() {
            last.detailed = now.since(self.begun);
        }
        let with_skips: Vec<&LaunchSample> = launches.iter().filter(|launch| launch.skipped > 0).collect();
        let skipped: f64 = with_skips.iter().map(|launch| launch.skipped_cycles()).sum();
        let cycles = now.cycles as f64 + skipped;
        let instructions = thread_instructions + self.skipped_thread_instructions;
        Estimate {
            spec: self.spec,
            windows: with_skips.iter().map(|launch| launch.windows.len() as u64).sum(),
            skipped_ctas: self.skipped_ctas,
            skipped_warp_instructions: with_skips.iter().map(|launch| launch.skipped).sum(),
            skipped_thread_instructions: self.skipped_thread_instructions,
            cycles,
            cycles_within: half_width(&with_skips),
            ipc: instructions as f64 / cycles.max(1.0),
        }
    }

    /// Enters the next phase if the current one is over. Returns `true` at the end of a window. `done` CTAs have ended and
    /// `resident` run.
    pub fn go_on(&mut self, now: Span, done: u64, resident: u64) -> bool {
        let until = match self.phase {
            SamplePhase::Beginning => resident,
            SamplePhase::Settling(until) => until,
            SamplePhase::Measuring(from) => {
                let window = now.since(from);
                if window.instructions < self.spec.detailed {
                    return false;
                }
                self.launches.last_mut().expect("a launch has begun").windows.push(window);
                // If no CTA can be skipped now, the next window follows directly.
                self.phase = SamplePhase::Measuring(now);
                return true;
            }
        };
        if done >= until.max(1) {
            self.phase = SamplePhase::Measuring(now);
        }
        false
    }
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

    #[test]
    fn a_spec_has_both_numbers_once() {
        assert_eq!("skip=9,detailed=1".parse(), Ok(SampleSpec { detailed: 1, skip: 9 }));
        for wrong in
            ["", "detailed=1", "detailed=0,skip=1", "detailed=1,skip=2,skip=3", "detailed=1,skip=x", "a=1"]
        {
            assert_eq!(wrong.parse::<SampleSpec>(), Err(SampleSpecError), "{wrong}");
        }
    }

    #[test]
    fn equal_windows_leave_no_doubt_and_one_window_leaves_all() {
        let window = |cycles| Span { cycles, instructions: 100 };
        let launch = |windows| LaunchSample { windows, skipped: 1000, detailed: window(700) };
        let of = |windows| half_width(&[&launch(windows)]);
        assert_eq!(of(vec![window(300); 4]), Some(0.0));
        assert_eq!((of(vec![window(300)]), of(Vec::new())), (None, None));
        assert_eq!((launch(vec![window(300)]).rate(), launch(Vec::new()).rate()), (3.0, 7.0));
        // Rates 3 and 5 about 4: the standard error of the mean is 1, and the quantile for one degree of freedom is 12.71.
        let width = of(vec![window(300), window(500)]).expect("two windows");
        assert!((width - 12_710.0).abs() < 1e-6, "{width}");
    }
}
