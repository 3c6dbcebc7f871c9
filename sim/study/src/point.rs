//! A point of a study: one simulation, with all that it needs.
use crate::key::Key;
use crate::parameters::Parameters;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::run::RunSpec;
use selvedge_sim::together::TogetherSpec;
use std::sync::Arc;
use std::time::Duration;

/// How a study calls the parts of a point in tables and charts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// The workload; its name unless the study gives another.
    pub workload: String,
    /// The configuration.
    pub config: String,
    /// The mechanism.
    pub mechanism: String,
}

/// What is simulated.
pub enum Work {
    /// One workload.
    One(Box<RunSpec>),
    /// Several at the same time.
    Together(Box<TogetherSpec>),
}

/// One simulation of a study.
pub struct Point {
    /// Its place in the study, from 0 on.
    pub index: usize,
    /// What the study says of it.
    pub parameters: Parameters,
    /// How the study calls it.
    pub labels: Labels,
    /// What decides its result.
    pub key: Key,
    /// What is simulated, or why its parts do not suit each other.
    pub work: Result<Work, String>,
    /// The time on this host after which it is given up.
    pub timeout: Option<Duration>,
    /// The configuration with the values that are set; where these do not suit, without them.
    pub config: Arc<GpuConfig>,
    /// A name for its workload and size, whatever runs it.
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
