//! The trials of mechanisms that take the best of several choices, found by running the workload with each first.
//!
//! The trials run under the model engine, whose decisions are those of every engine. The mechanism then runs with the choice
//! under the engine that was asked for.
use crate::mechanism::MechanismSpec;
use crate::run::{RunError, RunSpec, run};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::{Control, Limit};
use selvedge_gpu::mechanism::probe::{ProbeSpec, Probes};
use selvedge_gpu::mechanism::{MechanismCounters, Stopped, Trial, Trials};
use selvedge_hw::Engine;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The counter of the most warps that a scheduler had at the same time, which a run under a limit of warps reports.
pub(crate) const MOST_WARPS: &str = "most_resident_warps";

/// What the trials have found.
pub struct Best {
    /// The mechanism with the choice.
    pub mechanism: MechanismSpec,
    /// The choice.
    choice: Vec<u32>,
    /// The choice and its costs, for the mechanism's counters.
    pub found: MechanismCounters,
}

impl Best {
    /// Returns the choice and the counters, for [`chosen`].
    pub(crate) fn choice(&self) -> Choice {
        (self.choice.clone(), self.found.clone())
    }
}

/// What trials have found: the choice, and the mechanism's counters of it.
pub(crate) type Choice = (Vec<u32>, MechanismCounters);

/// Returns what was found before.
pub(crate) fn chosen(spec: &RunSpec, choice: Option<Choice>) -> Option<Best> {
    let (at, _) = spec.mechanism.search(&spec.config)?;
    let (choice, found) = choice?;
    Some(Best { mechanism: spec.mechanism.with_choice(at, choice.clone()), choice, found })
}

/// Returns whether the mechanism wants the best of several choices, which trials find.
pub fn searches(mechanism: &MechanismSpec, config: &GpuConfig) -> bool {
    mechanism.search(config).is_some()
}

/// Makes the trials, if the mechanism wants the best of several choices.
///
/// # Errors
/// What stops a trial: a fault of the kernel, or the user.
pub fn find(spec: &RunSpec, control: &Arc<Control>) -> Result<Option<Best>, RunError> {
    let Some((at, search)) = spec.mechanism.search(&spec.config) else { return Ok(None) };
    check(spec)?;
    let mut runs = Runs { spec, at, control, trial: 0, error: None };
    let found = search.best(&mut runs);
    control.trials.store(0, Ordering::Relaxed);
    match (found, runs.error) {
        (Ok(found), None) => Ok(chosen(spec, Some((found.choice, found.counters)))),
        (_, Some(error)) => Err(error),
        (Err(Stopped), None) => unreachable!("a trial that stopped left its error"),
    }
}

/// Returns the mechanism with one of its choices, where trials would make one: for all that is the same under each of them.
pub fn settled(mechanism: &MechanismSpec, config: &GpuConfig) -> MechanismSpec {
    let mut settled = mechanism.clone();
    while let Some((at, search)) = settled.search(config) {
        settled = settled.with_choice(at, search.any());
    }
    settled
}

/// Finds the mistakes of the options before anything has run.
fn check(spec: &RunSpec) -> Result<(), RunError> {
    let mechanism = settled(&spec.mechanism, &spec.config);
    let probes = Probes::new(spec.probes.clone(), spec.engine);
    mechanism.build(&mechanism.machine(&spec.config)?, 1, &probes)?;
    Ok(probes.check_names()?)
}

/// The trials of a run.
struct Runs<'a> {
    spec: &'a RunSpec,
    /// The mechanism's place among the specification's.
    at: usize,
    control: &'a Arc<Control>,
    /// Number of the next trial.
    trial: u64,
    /// What has stopped one.
    error: Option<RunError>,
}

impl Trials for Runs<'_> {
    fn expect(&mut self, trials: u64) {
        self.control.trials.store(trials, Ordering::Relaxed);
    }

    fn run(&mut self, choice: &[u32], most_cycles: Option<u64>) -> Result<Trial, Stopped> {
        self.control.trial.store(self.trial, Ordering::Relaxed);
        self.trial += 1;
        let bounds = self.spec.bounds;
        let trial = RunSpec {
            mechanism: self.spec.mechanism.with_choice(self.at, choice.to_vec()),
            engine: Engine::Model,
            probes: ProbeSpec::default(),
            check_dram: false,
            threads: 1,
            sample_cycles: None,
            bounds: most_cycles.map_or(bounds, |cycles| bounds.at_most(cycles)),
            ..self.spec.clone()
        };
        let mut stopped = |error| {
            self.error = Some(error);
            Stopped
        };
        let outcome = run(&trial, Arc::clone(self.control)).map_err(&mut stopped)?;
        match outcome.fault {
            Some(fault) if !is_limited(&fault) => Err(stopped(fault)),
            _ => Ok(Trial {
                cycles: outcome.report.totals.cycles,
                launches: outcome.report.kernels.iter().map(|kernel| kernel.totals.cycles).collect(),
                most_resident_warps: outcome.most_resident_warps,
            }),
        }
    }
}

/// Returns whether a limit ended a trial, so that its cycles count. After a timeout there is no time for more of them.
fn is_limited(fault: &RunError) -> bool {
    matches!(fault.limit(), Some(Limit::MaxCycles(_) | Limit::MaxInstructions(_)))
}
