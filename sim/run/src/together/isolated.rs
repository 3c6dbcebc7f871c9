//! Isolated runs: runs of one program without the others, for comparison with programs that share the GPU.
use super::spec::TogetherSpec;
use crate::report::ratio;
use crate::run::Source;
use serde::{Deserialize, Serialize};

/// Inputs that determine the result of an isolated run, except the simulator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsolatedKey {
    /// Name of the workload.
    pub workload: String,
    /// Fingerprint that distinguishes a user's programs of the same name; empty for built-in programs.
    pub program: String,
    /// Size of the workload.
    pub size: String,
    /// Name of the configuration.
    pub config: String,
    /// All values of the configuration.
    pub machine: String,
    /// Engine of the blocks.
    pub engine: String,
    /// Core cycles of the run.
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

/// Result of an isolated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsolatedRun {
    /// Thread instructions.
    pub thread_instructions: u64,
    /// Core cycles.
    pub cycles: u64,
}

impl IsolatedRun {
    /// Returns thread instructions per core cycle.
    pub fn ipc(&self) -> f64 {
        ratio(self.thread_instructions, self.cycles)
    }
}

/// Storage for the results of isolated runs.
pub trait IsolatedRuns: Send + Sync {
    /// Returns the stored result of a run, if any.
    fn known(&self, key: &IsolatedKey) -> Option<IsolatedRun>;

    /// Stores the result of a run.
    fn keep(&self, key: &IsolatedKey, run: &IsolatedRun);
}
