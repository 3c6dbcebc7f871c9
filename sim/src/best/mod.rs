//! Mechanisms that take the best of what they could be, found by running the workload with each first.
//!
//! The trials run under the model engine, whose decisions are those of every engine; what they find is given to the mechanism
//! that then runs under the engine that was asked for.
mod launches;
mod limits;

use crate::config::GpuConfig;
use crate::gpu::{Control, Limit};
use crate::mechanism::probe::{ProbeSpec, Probes};
use crate::mechanism::{MechanismCounters, MechanismSpec, latte, swl};
use crate::run::{RunError, RunSpec};
use selvedge_hw::Engine;
use std::sync::Arc;

/// What the trials have found.
pub struct Best {
    /// The mechanism with the choice.
    pub mechanism: MechanismSpec,
    /// The choice and its costs, for the mechanism's counters.
    pub found: MechanismCounters,
}

/// Does the mechanism want the best of something, which trials find?
pub fn searches(mechanism: &MechanismSpec, config: &GpuConfig) -> bool {
    swl::wants_best(mechanism, config).is_some() || latte::wants_launches(mechanism)
}

/// Makes the trials, if the mechanism wants the best of something.
///
/// # Errors
/// What stops a trial: a fault of the kernel, or the user.
pub fn find(spec: &RunSpec, control: &Arc<Control>) -> Result<Option<Best>, RunError> {
    if !searches(&spec.mechanism, &spec.config) {
        return Ok(None);
    }
    check(spec)?;
    match swl::wants_best(&spec.mechanism, &spec.config) {
        Some(all) => limits::find(spec, all, control).map(Some),
        None => launches::find(spec, control).map(Some),
    }
}

/// The mechanism with one of the choices that it has, where trials would make one: for all that is the same under each of
/// them.
pub fn settled(mechanism: &MechanismSpec, config: &GpuConfig) -> MechanismSpec {
    let limited = match swl::wants_best(mechanism, config) {
        Some(all) => swl::with_limit(mechanism, all),
        None => mechanism.clone(),
    };
    if latte::wants_launches(&limited) { latte::with_launches(&limited, &[0]) } else { limited }
}

/// Finds the mistakes of the options before anything has run.
fn check(spec: &RunSpec) -> Result<(), RunError> {
    let mechanism = settled(&spec.mechanism, &spec.config);
    let probes = Probes::new(spec.probes.clone(), spec.engine);
    mechanism.build(&mechanism.machine(&spec.config)?, 1, &probes);
    Ok(probes.check_names()?)
}

/// A run to find out how long the workload takes under `mechanism`.
fn trial(spec: &RunSpec, mechanism: MechanismSpec) -> RunSpec {
    RunSpec {
        mechanism,
        engine: Engine::Model,
        probes: ProbeSpec::default(),
        check_dram: false,
        sample_cycles: None,
        ..spec.clone()
    }
}

/// Did a limit end a trial, so that its cycles count? After a timeout there is no time for more of them.
fn is_limited(fault: &RunError) -> bool {
    matches!(fault.limit(), Some(Limit::MaxCycles(_) | Limit::MaxInstructions(_)))
}
