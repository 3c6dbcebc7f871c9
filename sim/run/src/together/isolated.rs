//! Runs of one program alone, against which programs that share the GPU are measured: what decides them, and what of them is
//! kept.
use super::TogetherSpec;
use crate::report::ratio;
use crate::run::Source;
use serde::{Deserialize, Serialize};

/// Everything that decides what such a run gives, apart from the simulator itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsolatedKey {
    /// Name of the workload.
    pub workload: String,
    /// What tells a program of the user's from others of its name; empty for those that are built in.
    pub program: String,
    /// Size of the workload.
    pub size: String,
    /// Name of the configuration.
    pub config: String,
    /// Every value of the configuration.
    pub machine: String,
    /// Engine of the blocks.
    pub engine: String,
    /// Core cycles.
    pub cycles: u64,
}

impl IsolatedKey {
    pub(super) fn new(spec: &TogetherSpec, workload: &Source, cycles: u64) -> Self {
        IsolatedKey {
            workload: workload.name().to_owned(),
            program: workload.fingerprint(),
            size: spec.size.to_string(),
            config: spec.config.name.clone(),
            machine: format!("{:?}", spec.config),
            engine: spec.engine.to_string(),
            cycles,
        }
    }
}

/// What such a run gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsolatedRun {
    /// Thread instructions.
    pub thread_instructions: u64,
    /// Core cycles.
    pub cycles: u64,
}

impl IsolatedRun {
    /// Thread instructions per cycle.
    pub fn ipc(&self) -> f64 {
        ratio(self.thread_instructions, self.cycles)
    }
}

/// Where such runs are looked up and kept.
pub trait IsolatedRuns: Send + Sync {
    /// What is known of a run.
    fn known(&self, key: &IsolatedKey) -> Option<IsolatedRun>;

    /// Keeps what a run gave.
    fn keep(&self, key: &IsolatedKey, run: &IsolatedRun);
}
