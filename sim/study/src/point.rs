//! A point of a study: one simulation and its parameters.
use crate::key::Key;
use crate::parameters::Parameters;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::run::RunSpec;
use selvedge_sim::together::TogetherSpec;
use std::sync::Arc;
use std::time::Duration;

/// Names of a point's parts in tables and charts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Label of the workload; by default its name.
    pub workload: String,
    /// Label of the configuration.
    pub config: String,
    /// Label of the mechanism.
    pub mechanism: String,
}

/// Simulation of a point.
pub enum PointWork {
    /// A run of one workload.
    One(Box<RunSpec>),
    /// A run of several workloads at the same time.
    Together(Box<TogetherSpec>),
}

/// One simulation of a study.
pub struct Point {
    /// Position in the study, from 0.
    pub index: usize,
    /// Parameters from the study file.
    pub parameters: Parameters,
    /// Labels for tables and charts.
    pub labels: Labels,
    /// Hash of everything that affects the result.
    pub key: Key,
    /// Simulation to run, or the reason for which the parts do not support each other.
    pub work: Result<PointWork, String>,
    /// Max wall-clock time of the simulation.
    pub timeout: Option<Duration>,
    /// Configuration with the overrides; without them if it does not support them.
    pub config: Arc<GpuConfig>,
    /// Hash of the workload, size and limits, from [`crate::key::work_name`].
    pub(crate) work_name: String,
}

impl Point {
    /// Returns a name for messages.
    pub fn name(&self) -> String {
        let Labels { workload, config, mechanism } = &self.labels;
        let mut name = format!("{workload} {config} {mechanism}");
        for one in &self.parameters.set {
            name += &format!(" {}={}", one.key, one.cell());
        }
        if let Some(share) = &self.parameters.share {
            name += &format!(" {share}");
        }
        name
    }
}
