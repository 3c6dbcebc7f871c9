//! `selvedge calibrate`: fits a configuration to microbenchmarks of a real GPU, and compares a simulated GPU with it.
mod chart;
mod compare;

use crate::arguments::{CalibrateAction, CalibrateOptions, FitOptions};
use crate::error::Failure;
use crate::output::Plan;
use selvedge_sim::calibration::{Calibration, fit};
use selvedge_sim::config::{BUILT_IN, GpuConfig, oldest_for};
use std::path::Path;

/// The microbenchmarks, in CUDA.
const SUITE: &str = include_str!("../../calibrate/calibrate.cu");

/// Executes the action of the options.
pub fn run(options: &CalibrateOptions) -> Result<(), Failure> {
    match &options.action {
        CalibrateAction::Source { output } => source(output),
        CalibrateAction::Fit(options) => fitted(options),
        CalibrateAction::Compare(options) => compare::run(options),
    }
}

fn source(output: &str) -> Result<(), Failure> {
    let mut plan = Plan::default();
    plan.write_or_print("--output", output);
    let mut outputs = plan.check()?;
    outputs.write_or_print(output, SUITE);
    outputs.finish(None)
}

/// Reads the results of the microbenchmarks.
fn read(file: &Path) -> Result<Calibration, Failure> {
    Calibration::read(file).map_err(Failure::usage)
}

/// Writes the configuration that the measurements determine.
fn fitted(options: &FitOptions) -> Result<(), Failure> {
    let mut plan = Plan::default();
    plan.read(&options.json);
    plan.write_or_print("--output", &options.output);
    let mut outputs = plan.check()?;
    let measured = read(&options.json)?;
    let base = options.base.as_deref().unwrap_or_else(|| oldest_for(measured.device.capability).name);
    if BUILT_IN.iter().all(|built_in| built_in.name != base) {
        let names = BUILT_IN.map(|built_in| built_in.name).join(", ");
        return Err(Failure::usage(format!("--base {base}: must be one of {names}")));
    }
    let file = options.json.file_stem().unwrap_or_default().to_string_lossy();
    let name = options.name.as_deref().unwrap_or(&file);
    let config = GpuConfig::load(base).map_err(Failure::usage)?;
    let found = fit(&measured, &config)
        .map_err(|error| Failure::usage(format!("--base {base}: cannot run an empty kernel: {error}")))?;
    let text = found.to_toml(name, base, &measured);
    GpuConfig::parse(name, &text).map_err(|error| {
        Failure::usage(format!(
            "{}: the measurements do not fit --base {base}: {error}",
            options.json.display()
        ))
    })?;
    outputs.write_or_print(&options.output, &text);
    outputs.finish(None)
}
