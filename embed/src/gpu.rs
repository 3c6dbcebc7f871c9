//! A whole simulation: a workload on a GPU under a mechanism, in steps of cycles.
use crate::Failure;
use selvedge_sim::gpu::{Bounds, Control};
use selvedge_sim::overrides::Override;
use selvedge_sim::report::{RunReport, Totals};
use selvedge_sim::simulation::Simulation;
use selvedge_sim::stepped::SteppedRun;
use selvedge_sim::workload::OutputFile;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::Arc;

/// Options of a simulation in addition to its names.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Size of a built-in workload.
    pub size: Option<String>,
    /// Model of the values in memory of an Accel-Sim trace.
    pub values: Option<String>,
    /// Engine of the mechanism's blocks.
    pub engine: Option<String>,
    /// Checks DRAM commands and loads.
    pub check: bool,
    /// Limit of core cycles.
    pub max_cycles: Option<u64>,
    /// Limit of thread instructions.
    pub max_instructions: Option<u64>,
    /// Values that override the configuration, by their keys.
    pub set: BTreeMap<String, toml::Value>,
}

impl Options {
    /// Returns the options in a JSON object.
    ///
    /// # Errors
    /// A text that is no JSON object, an unknown key, or a value of another type.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        serde_json::from_str(text).map_err(|error| Failure::invalid(format!("options: {error}")))
    }
}

/// A simulation.
pub struct Gpu {
    /// `None` after the end of the simulation.
    run: Option<SteppedRun>,
    cycle: u64,
    printed: String,
}

/// Results of a simulation that has ended.
pub struct Finished {
    /// The report of `selvedge run --json`.
    pub report: RunReport,
    /// Reason that ended the simulation early, or wrong results.
    pub failure: Option<Failure>,
}

impl Gpu {
    /// Sets up a simulation before its first cycle. `control` can stop it.
    ///
    /// # Errors
    /// An unknown name, an invalid option, or a limit that ends the mechanism's trials.
    pub fn new(
        configuration: &str,
        mechanism: &str,
        workload: &str,
        options: Options,
        control: Arc<Control>,
    ) -> Result<Self, Failure> {
        let set = options.set.into_iter().map(|(key, value)| Override { key, value }).collect();
        let mut simulation = Simulation::builder()
            .configuration(configuration)
            .set(set)
            .mechanism(mechanism)
            .workload(workload)
            .bounds(Bounds { cycles: options.max_cycles, instructions: options.max_instructions });
        if let Some(size) = options.size {
            simulation = simulation.size(size.parse().map_err(Failure::invalid)?);
        }
        if let Some(values) = options.values {
            simulation = simulation.values(&values);
        }
        if let Some(engine) = options.engine {
            simulation = simulation.engine(engine.parse().map_err(Failure::invalid)?);
        }
        if options.check {
            simulation = simulation.check();
        }
        let spec = simulation.spec().map_err(Failure::invalid)?;
        let run = SteppedRun::new(spec, control)
            .map_err(|error| if error.is_stop() { Failure::fault(error) } else { Failure::invalid(error) })?;
        Ok(Gpu { run: Some(run), cycle: 0, printed: String::new() })
    }

    fn run(&mut self) -> Result<&mut SteppedRun, Failure> {
        self.run.as_mut().ok_or_else(was_finished)
    }

    /// Runs `cycles` core cycles, fewer if the simulation ends earlier. Returns whether the simulation is over.
    ///
    /// # Errors
    /// The simulation was finished before, or cannot continue.
    pub fn step(&mut self, cycles: u64) -> Result<bool, Failure> {
        let run = self.run()?;
        let over = run.step(cycles);
        self.cycle = run.cycle();
        over.map_err(Failure::fault)
    }

    /// Returns the number of core cycles that have run.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Returns the current counters.
    ///
    /// # Errors
    /// The simulation was finished before.
    pub fn totals(&mut self) -> Result<Totals, Failure> {
        Ok(self.run()?.totals())
    }

    /// Runs the simulation to its end, checks the results, and writes the files of a launch file.
    ///
    /// # Errors
    /// The simulation was finished before, or its output files cannot be computed. A reason that ends the simulation early is
    /// in the results instead.
    pub fn finish(&mut self) -> Result<Finished, Failure> {
        let run = self.run.take().ok_or_else(was_finished)?;
        let outcome = run.end().map_err(Failure::fault)?;
        self.cycle = outcome.report.totals.cycles;
        self.printed = outcome.printed.text;
        let failure = match &outcome.report.error {
            Some(error) => Some(Failure::fault(error)),
            None => outcome.outputs.iter().find_map(|file| {
                let error = write_file(file).err()?;
                Some(Failure::fault(format!("{}: {error}", file.path.display())))
            }),
        };
        Ok(Finished { report: outcome.report, failure })
    }

    /// Returns the text that the kernels of a finished simulation have printed.
    pub fn printed(&self) -> &str {
        &self.printed
    }
}

fn was_finished() -> Failure {
    Failure::invalid("the simulation was finished before")
}

/// Writes a file of the host program, completely or not at all.
fn write_file(file: &OutputFile) -> io::Result<()> {
    let mut beside = file.path.as_os_str().to_owned();
    beside.push(".part");
    let written = fs::write(&beside, &file.bytes).and_then(|()| fs::rename(&beside, &file.path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
