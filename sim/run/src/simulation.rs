//! Sets up a single simulation by names, for programs that use Selvedge as a library.
use crate::intervals::{IntervalSpec, run_by_intervals};
use crate::overrides::{Override, overridden};
use crate::report::RunReport;
use crate::run::{RunError, RunSpec, Source, run};
use selvedge_gpu::config::{ConfigError, GpuConfig};
use selvedge_gpu::gpu::{Bounds, Control};
use selvedge_gpu::limits::Limits;
use selvedge_gpu::trace::values::ValueModel;
use selvedge_hw::Engine;
use selvedge_workloads::workload::Size;
use std::path::Path;
use std::sync::Arc;

/// Builder for a run of one workload on one GPU with one mechanism.
///
/// ```
/// use selvedge_sim::simulation::Simulation;
///
/// let report = Simulation::builder().workload("vecadd").mechanism("hw-bdi").run()?;
/// assert!(report.totals.cycles > 0);
/// # Ok::<(), selvedge_sim::simulation::SimulationError>(())
/// ```
pub struct Simulation {
    workload: String,
    size: Size,
    values: Option<String>,
    configuration: String,
    set: Vec<Override>,
    mechanism: String,
    engine: Engine,
    check: bool,
    bounds: Bounds,
    intervals: Option<IntervalSpec>,
}

/// Reasons for which a simulation cannot be set up, or stops early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The configuration is unknown or invalid.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// A value that overrides the configuration is invalid.
    #[error("set: {0}")]
    Set(String),
    /// Any other error of the setup or of the run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Simulation {
    /// Returns a simulation of `vecadd` at size `tiny` on `gtx480`, without a mechanism, with the engine `model`.
    pub fn builder() -> Self {
        Simulation {
            workload: "vecadd".into(),
            size: Size::Tiny,
            values: None,
            configuration: "gtx480".into(),
            set: Vec::new(),
            mechanism: "base".into(),
            engine: Engine::Model,
            check: false,
            bounds: Bounds::default(),
            intervals: None,
        }
    }

    /// Sets the workload: a built-in one, a launch file (`.toml`) or a trace.
    #[must_use]
    pub fn workload(mut self, name: &str) -> Self {
        self.workload = name.into();
        self
    }

    /// Sets the size of a built-in workload.
    #[must_use]
    pub fn size(mut self, size: Size) -> Self {
        self.size = size;
        self
    }

    /// Sets the model of the values in memory of an Accel-Sim trace, in the form of the option `--values`.
    #[must_use]
    pub fn values(mut self, text: &str) -> Self {
        self.values = Some(text.into());
        self
    }

    /// Sets the configuration: a built-in one or a file.
    #[must_use]
    pub fn configuration(mut self, name: &str) -> Self {
        self.configuration = name.into();
        self
    }

    /// Sets values that override the configuration.
    #[must_use]
    pub fn set(mut self, values: Vec<Override>) -> Self {
        self.set = values;
        self
    }

    /// Sets the mechanism and its options, in the form of the option `--mechanism`.
    #[must_use]
    pub fn mechanism(mut self, text: &str) -> Self {
        self.mechanism = text.into();
        self
    }

    /// Sets the engine of the mechanism's blocks.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Checks each DRAM command against all timing constraints, and the value that each load returns.
    #[must_use]
    pub fn check(mut self) -> Self {
        self.check = true;
        self
    }

    /// Sets the limits on cycles and instructions after which the simulation stops.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Simulates intervals and estimates the whole run; see [`run_by_intervals`].
    #[must_use]
    pub fn intervals(mut self, intervals: IntervalSpec) -> Self {
        self.intervals = Some(intervals);
        self
    }

    /// Returns the specification of the run.
    ///
    /// # Errors
    /// An unknown or invalid name of a workload, value model, configuration or mechanism.
    pub fn spec(&self) -> Result<RunSpec, SimulationError> {
        let config = GpuConfig::load(&self.configuration)?;
        let config = overridden(&config, &self.set).map_err(SimulationError::Set)?;
        let limits = Limits::default();
        let values = self.values.as_ref().map(|text| ValueModel::parse(text, Path::new(""), &limits));
        let values = values.transpose().map_err(RunError::from)?.map(Arc::new);
        Ok(RunSpec {
            size: self.size,
            engine: self.engine,
            check_dram: self.check,
            bounds: self.bounds,
            ..RunSpec::new(
                Source::find(&self.workload)?.with_values(values.as_ref())?,
                Arc::new(config),
                self.mechanism.parse().map_err(RunError::from)?,
            )
        })
    }

    /// Runs the simulation to its end.
    ///
    /// # Errors
    /// The errors of [`Self::spec`], a fault of the program, a limit, or a difference between engines.
    pub fn run(&self) -> Result<RunReport, SimulationError> {
        let spec = self.spec()?;
        let control = Arc::new(Control::default());
        let outcome = match self.intervals {
            Some(intervals) => run_by_intervals(&spec, intervals, control),
            None => run(&spec, control),
        }?;
        outcome.fault.map_or(Ok(outcome.report), |fault| Err(fault.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(simulation: &Simulation) -> String {
        simulation.run().expect_err("it is wrong").to_string()
    }

    #[test]
    fn the_report_is_of_what_was_set() {
        let report =
            Simulation::builder().workload("atax").mechanism("dmil").engine(Engine::Lockstep).check();
        let report = report.configuration("gtx480-dai").run().expect("it runs");
        assert_eq!((report.workload.as_str(), report.mechanism.as_str()), ("atax", "dmil"));
        assert_eq!(report.config, "gtx480-dai");
    }

    #[test]
    fn a_wrong_name_and_a_limit_are_errors() {
        assert!(error(&Simulation::builder().workload("vecsub")).contains("unknown workload"));
        assert!(error(&Simulation::builder().mechanism("dmill")).contains("unknown mechanism"));
        assert!(error(&Simulation::builder().configuration("gtx")).contains("gtx"));
        let set = vec![Override { key: "l1d.ways".into(), value: 0.into() }];
        assert_eq!(error(&Simulation::builder().set(set)), "set: l1d.ways = 0: must be 1 to 512");
        let short = Bounds { cycles: Some(100), ..Bounds::default() };
        assert!(error(&Simulation::builder().bounds(short)).contains("100"));
    }
}
