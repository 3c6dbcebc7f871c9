//! Trials for mechanisms that need the best of several choices: each trial runs the workload with one choice.
//!
//! Trials use the engine `model`, because all engines make the same decisions. The mechanism then runs with the best choice under
//! the requested engine.
use crate::error::RunError;
use crate::intervals::{IntervalSpec, run_by_intervals};
use crate::launches::BestChoice;
use crate::mechanism::MechanismSpec;
use crate::run::{RunSpec, run};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::{Control, Limit};
use selvedge_gpu::mechanism::probe::{ProbeSpec, Probes};
use selvedge_gpu::mechanism::{MechanismCounters, Stopped, Trial, Trials};
use selvedge_hw::Engine;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Counter of the max number of resident warps per scheduler. A run with a limit of warps reports it.
pub(crate) const MOST_WARPS: &str = "most_resident_warps";

/// Result of the trials.
pub struct Best {
    /// Mechanism with the best choice.
    pub mechanism: MechanismSpec,
    choice: Vec<u32>,
    /// Counters of the choice and its trials, for the report.
    pub found: MechanismCounters,
}

impl Best {
    /// Returns the choice and its counters, for [`chosen`].
    pub(crate) fn choice(&self) -> BestChoice {
        (self.choice.clone(), self.found.clone())
    }
}

/// Restores the result of earlier trials. Returns `None` if the mechanism has no search, or `choice` is `None`.
pub(crate) fn chosen(spec: &RunSpec, choice: Option<BestChoice>) -> Option<Best> {
    let (at, _) = spec.mechanism.search(&spec.config)?;
    let (choice, found) = choice?;
    Some(Best { mechanism: spec.mechanism.with_choice(at, choice.clone()), choice, found })
}

/// Returns whether the mechanism needs trials.
pub fn searches(mechanism: &MechanismSpec, config: &GpuConfig) -> bool {
    mechanism.search(config).is_some()
}

/// Runs the trials, by `intervals` if given. Returns `None` if the mechanism needs none.
///
/// # Errors
/// The reason that stops a trial: a fault of the kernel, an interrupt or the timeout.
pub(crate) fn find(
    spec: &RunSpec,
    control: &Arc<Control>,
    intervals: Option<IntervalSpec>,
) -> Result<Option<Best>, RunError> {
    let Some((at, search)) = spec.mechanism.search(&spec.config) else { return Ok(None) };
    check(spec)?;
    let mut runs = TrialRuns { spec, at, control, intervals, trial: 0, error: None };
    let found = search.best(&mut runs);
    control.trials.store(0, Ordering::Relaxed);
    match (found, runs.error) {
        (Ok(found), None) => Ok(chosen(spec, Some((found.choice, found.counters)))),
        (_, Some(error)) => Err(error),
        (Err(Stopped), None) => unreachable!("a trial that stopped left its error"),
    }
}

/// Returns the mechanism with any of its choices, for properties that do not depend on the choice.
pub fn settled(mechanism: &MechanismSpec, config: &GpuConfig) -> MechanismSpec {
    let mut settled = mechanism.clone();
    while let Some((at, search)) = settled.search(config) {
        settled = settled.with_choice(at, search.any());
    }
    settled
}

/// Checks the options before the first trial.
fn check(spec: &RunSpec) -> Result<(), RunError> {
    let mechanism = settled(&spec.mechanism, &spec.config);
    let probes = Probes::new(spec.probes.clone(), spec.engine);
    mechanism.build(&mechanism.machine(&spec.config)?, 1, &probes)?;
    Ok(probes.check_names()?)
}

struct TrialRuns<'a> {
    spec: &'a RunSpec,
    /// Index of the mechanism in the specification.
    at: usize,
    control: &'a Arc<Control>,
    intervals: Option<IntervalSpec>,
    /// Number of the next trial.
    trial: u64,
    /// Error that stopped a trial.
    error: Option<RunError>,
}

impl Trials for TrialRuns<'_> {
    fn expect(&mut self, trials: u64) {
        self.control.trials.store(trials, Ordering::Relaxed);
    }

    fn run(&mut self, choice: &[u32], most_cycles: Option<u64>) -> Result<Trial, Stopped> {
        self.control.trial.store(self.trial, Ordering::Relaxed);
        self.trial += 1;
        let bounds = self.spec.bounds;
        // An estimate cannot end at a cycle. A trial without this limit has the same result, if it is the best.
        let most_cycles = most_cycles.filter(|_| self.intervals.is_none());
        let trial = RunSpec {
            mechanism: self.spec.mechanism.with_choice(self.at, choice.to_vec()),
            engine: Engine::Model,
            probes: ProbeSpec::default(),
            check_dram: false,
            sample_cycles: None,
            bounds: most_cycles.map_or(bounds, |cycles| bounds.at_most(cycles)),
            ..self.spec.clone()
        };
        let mut stopped = |error| {
            self.error = Some(error);
            Stopped
        };
        let control = Arc::clone(self.control);
        let outcome = match self.intervals {
            Some(intervals) => run_by_intervals(&trial, intervals, control),
            None => run(&trial, control),
        };
        let outcome = outcome.map_err(&mut stopped)?;
        // A launch that is not simulated takes no cycles under any choice.
        let skipped = (1..self.spec.launches.map_or(1, |range| range.first)).map(|_| 0);
        match outcome.fault {
            Some(fault) if !is_limited(&fault) => Err(stopped(fault)),
            _ => Ok(Trial {
                cycles: outcome.report.totals.cycles,
                launches: skipped
                    .chain(outcome.report.kernels.iter().map(|kernel| kernel.totals.cycles))
                    .collect(),
                most_resident_warps: outcome.most_resident_warps,
            }),
        }
    }
}

/// Returns whether a limit ended a trial. Its cycles then count. The timeout is excluded: it leaves no time for more trials.
fn is_limited(fault: &RunError) -> bool {
    matches!(fault.limit(), Some(Limit::MaxCycles(_) | Limit::MaxInstructions(_)))
}
