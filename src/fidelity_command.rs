//! `selvedge fidelity`: expected and measured latencies and bandwidths of configurations, as Markdown.
use crate::arguments::FidelityOptions;
use crate::error::Failure;
use crate::output::Plan;
use selvedge_sim::config::{BUILT_IN, GpuConfig};
use selvedge_sim::fidelity::{FidelityError, Measurement, measure, page, section};

/// Measures, writes the page, and fails if a value is out of bounds.
pub fn run(options: &FidelityOptions) -> Result<(), Failure> {
    let mut plan = Plan::default();
    options.config.iter().for_each(|name| plan.read_config(name));
    plan.write_or_print("--output", &options.output);
    let mut outputs = plan.check()?;
    let (text, wrong) = match &options.config {
        Some(name) => one(name)?,
        None => all()?,
    };
    outputs.write_or_print(&options.output, &text);
    outputs.finish(wrong.first().map(|first| {
        Failure::simulation(format!("{} values lie outside their bounds: {first}", wrong.len()))
    }))
}

/// Returns the table of one configuration, and its values out of bounds.
fn one(name: &str) -> Result<(String, Vec<String>), Failure> {
    let config = GpuConfig::load(name).map_err(Failure::usage)?;
    let found = measure_one(&config)?;
    let built_in = BUILT_IN.iter().find(|machine| machine.name == name);
    let text = section(&config.name, built_in.map_or(name, |machine| machine.summary), &found);
    Ok((text, outside(&config.name, &found)))
}

/// Returns the page of all built-in configurations, and their values out of bounds.
fn all() -> Result<(String, Vec<String>), Failure> {
    let mut measured = Vec::new();
    let mut wrong = Vec::new();
    for machine in &BUILT_IN {
        let config = GpuConfig::load(machine.name).map_err(Failure::usage)?;
        let found = measure_one(&config)?;
        wrong.extend(outside(machine.name, &found));
        measured.push((machine, found));
    }
    Ok((page(&measured), wrong))
}

fn measure_one(config: &GpuConfig) -> Result<Vec<Measurement>, Failure> {
    measure(config).map_err(|e| {
        let text = format!("configuration {}: {e}", config.name);
        match e {
            FidelityError::Unfit(_) => Failure::usage(text),
            _ => Failure::simulation(text),
        }
    })
}

/// Describes the values out of bounds.
fn outside(machine: &str, found: &[Measurement]) -> Vec<String> {
    let wrong = found.iter().filter(|m| !m.agrees());
    let line = |m: &Measurement| {
        format!(
            "{machine}: {}: measured {}, must be {} to {} {}",
            m.name, m.measured, m.allowed.0, m.allowed.1, m.unit
        )
    };
    wrong.map(line).collect()
}
