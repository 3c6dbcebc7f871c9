//! `selvedge run --functional`: executes workloads without timing.
use crate::arguments::RunOptions;
use crate::error::Failure;
use crate::interrupt::stop_flag;
use crate::output::{Outputs, width};
use crate::progress::Progress;
use crate::run_command::{classify, named, plan, refused_lines, show_printed};
use crate::set_option::configuration;
use selvedge_area::Table;
use selvedge_sim::functional::{FunctionalReport, FunctionalSpec, run as execute};
use selvedge_sim::report::Outcome;
use selvedge_sim::run::{RunError, Source};
use selvedge_sim::workload::Size;
use std::path::Path;

/// Runs the workloads of the options. Shows the executed instructions, and whether the results are right.
pub fn run(options: &RunOptions) -> Result<(), Failure> {
    let specs = specs(options)?;
    let mut outputs = plan(options, specs.iter().map(|spec| &spec.workload))?.check()?;
    let stop = stop_flag()?;
    let mut reports = Vec::new();
    let mut failure = None;
    for spec in &specs {
        let title = format!("{} {} functional", spec.workload.name(), spec.size);
        let progress = Progress::start(title, &stop, options.gpu.bounds.timeout);
        let outcome = execute(spec, &progress.control());
        drop(progress);
        let outcome = outcome.map_err(|error| classify(&error))?;
        show_printed(&outcome.printed);
        for file in &outcome.outputs {
            outputs.write(&file.path, &file.bytes);
        }
        let is_last = matches!(outcome.report.result, Outcome::Interrupted | Outcome::Timeout);
        failure = ended(&outcome.report, outcome.fault.as_ref()).or(failure);
        if outcome.report.result == Outcome::Interrupted {
            outputs.interrupted();
        }
        reports.push(outcome.report);
        if is_last {
            break;
        }
    }
    show(options, &reports, &mut outputs);
    outputs.finish(failure)
}

/// Returns the runs: the workload of the options, or the showcase.
fn specs(options: &RunOptions) -> Result<Vec<FunctionalSpec>, Failure> {
    let limits = options.limits();
    let config = configuration(&options.gpu.config, &options.gpu.set, options.gpu.registers)?;
    let spec = |(name, size): (&str, Size)| {
        if name.contains('+') && !Path::new(name).is_file() {
            return Err(Failure::usage(format!("--functional {name}: must be one workload or launch file")));
        }
        let workload = Source::find_within(name, &limits).map_err(Failure::usage)?;
        if matches!(workload, Source::Trace(_)) {
            return Err(Failure::usage(format!(
                "--functional {name}: must be a workload or a launch file: a trace holds no program to execute"
            )));
        }
        Ok(FunctionalSpec {
            workload,
            size,
            input: options.input.clone(),
            config: config.clone(),
            max_memory: limits.memory,
            check: options.gpu.check,
        })
    };
    named(options).into_iter().map(spec).collect()
}

/// Returns the failure of a run that did not end correctly.
pub(super) fn ended(report: &FunctionalReport, fault: Option<&RunError>) -> Option<Failure> {
    let why = report.error.as_deref()?;
    let line = format!("{} {}: {why}", report.workload, report.size);
    Some(match (report.result, fault) {
        (Outcome::Interrupted, _) => Failure::interrupted(line),
        (Outcome::Incomplete, _) => Failure::simulation(line),
        (Outcome::Timeout, _) => Failure::simulation(format!("{line}: --timeout has passed")),
        (_, Some(fault)) => classify(fault),
        (_, None) => Failure::mismatch(line),
    })
}

pub(super) fn show(options: &RunOptions, reports: &[FunctionalReport], outputs: &mut Outputs) {
    if let Some(target) = &options.gpu.json {
        let text = match reports {
            [one] => serde_json::to_string_pretty(one),
            many => serde_json::to_string_pretty(many),
        };
        let text = text.map_err(|e| Failure::simulation(format!("the report has no JSON form: {e}")));
        if let Some(text) = outputs.note(text) {
            outputs.write_or_print(target, &(text + "\n"));
        }
    }
    let mut table = Table::new(&[
        "workload",
        "size",
        "launches",
        "warp instr",
        "thread instr",
        "memory instr",
        "M warp instr/s",
        "result",
    ])
    .dispensable(&["thread instr", "memory instr"]);
    for report in reports {
        table.row(vec![
            report.workload.clone(),
            report.size.clone(),
            report.launches.to_string(),
            report.warp_instructions.to_string(),
            report.thread_instructions.to_string(),
            report.memory_instructions.to_string(),
            format!("{:.1}", report.host.warp_instructions_per_s / 1e6),
            report.result.word().into(),
        ]);
    }
    let mut table = table.render_within(width());
    for report in reports {
        table += &refused_lines(&report.workload, report.refused.as_ref());
    }
    outputs.show(&table);
}
