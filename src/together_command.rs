//! `selvedge run A+B`: runs several workloads on one GPU at the same time, and prints a table.
use crate::arguments::RunOptions;
use crate::error::Failure;
use crate::interrupt::stop_flag;
use crate::isolated::Folder;
use crate::latency_from;
use crate::output::{Outputs, Plan, width};
use crate::progress::Progress;
use crate::run_command::{
    classify, coverage_lines, is_interrupted, parse_fault, plan, probes, show_printed, show_probes,
    write_divergence, write_timeline, write_traces,
};
use crate::set_option::configuration;
use selvedge_area::Table;
use selvedge_sim::mechanism::probe::ProbeSpec;
use selvedge_sim::run::{RunError, Source};
use selvedge_sim::share::ShareSpec;
use selvedge_sim::sm::SimFault;
use selvedge_sim::together::isolated::IsolatedRuns;
use selvedge_sim::together::report::TogetherReport;
use selvedge_sim::together::{TogetherSpec, probe_names, run_with_checkpoints as simulate};
use selvedge_sim::workload::Size;
use selvedge_study::{PointTable, together_row};
use std::path::Path;
use std::sync::Arc;

/// Returns the workloads of the options if they name several.
///
/// # Errors
/// Fails if an option for several workloads is given with a single one.
pub fn workloads(options: &RunOptions) -> Result<Option<Vec<&str>>, Failure> {
    let together = |name: &&str| name.contains('+') && !Path::new(name).is_file();
    if let Some(names) = options.workload.as_deref().filter(together) {
        return Ok(Some(names.split('+').collect()));
    }
    let alone = [
        ("--share", options.share.is_some()),
        ("--for", options.cycles_together.is_some()),
        ("--alone", options.alone),
    ];
    match alone.into_iter().find(|(_, given)| *given) {
        None => Ok(None),
        Some((option, _)) => {
            Err(Failure::usage(format!("{option}: allowed with several workloads, as in bfs+kmeans")))
        }
    }
}

/// Runs these workloads together.
pub fn run(options: &RunOptions, names: &[&str]) -> Result<(), Failure> {
    let mut spec = spec(options, names)?;
    if options.list_probes {
        return show_probes(&probe_names(&spec).map_err(|e| classify(&e))?);
    }
    let mut outputs = plan(options, spec.workloads.iter())?.check()?;
    spec.isolated = isolated(options, outputs.plan());
    let stop = stop_flag()?;
    let title = format!("{} {} {}", names.join("+"), spec.size, spec.mechanism.text);
    let progress = Progress::start(title, &stop, options.gpu.bounds.timeout);
    let outcome = simulate(&spec, &options.checkpoints.checkpoints(), progress.control());
    drop(progress);
    let mut outcome = outcome.map_err(|e| classify(&e))?;
    show_printed(&outcome.printed);
    let interrupted = is_interrupted(outcome.fault.as_ref());
    if interrupted {
        outputs.interrupted();
    }
    write_timeline(options, outcome.timeline.as_ref(), &outcome.traces, &spec.config, &mut outputs);
    write_traces(options, std::mem::take(&mut outcome.traces), &mut outputs);
    if let Some(RunError::Fault(SimFault::Mechanism(fault))) = &outcome.fault {
        write_divergence(fault.as_ref(), &mut outputs);
    }
    if outcome.fault.as_ref().is_none_or(RunError::is_stop) {
        show(options, &outcome.report, &mut outputs);
    }
    if let Some(fault) = &outcome.fault {
        return outputs.finish(Some(classify(fault)));
    }
    for file in &outcome.outputs {
        outputs.write(&file.path, &file.bytes);
    }
    outputs.finish(outcome.report.wrong().map(Failure::mismatch))
}

fn spec(options: &RunOptions, names: &[&str]) -> Result<TogetherSpec, Failure> {
    let of_one = [
        ("--input", options.input.is_some()),
        ("--stats", options.gpu.stats.is_some()),
        ("--launches", options.gpu.launches.is_some()),
        ("--series", options.gpu.series.is_some()),
        ("--energy-from", options.gpu.energy_from.is_some()),
    ];
    if let Some((option, _)) = of_one.into_iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!(
            "{option}: supports one workload only; --json and --csv have the statistics of several"
        )));
    }
    let share: ShareSpec = options.share.as_deref().unwrap_or("left-over").parse().map_err(Failure::usage)?;
    let text = options.gpu.mechanism.as_deref().unwrap_or("base");
    let mechanism = latency_from::mechanism(text, options.gpu.latency_from.as_deref())?;
    let limits = options.limits();
    let workloads =
        names.iter().map(|name| Source::find_within(name, &limits)).collect::<Result<Vec<_>, _>>();
    let faults = options.inject.iter().map(|text| parse_fault(text)).collect::<Result<Vec<_>, _>>()?;
    let config = Arc::new(configuration(&options.gpu.config, &options.gpu.set, options.gpu.registers)?);
    options.gpu.verilog.check_blocks(std::iter::once(&mechanism), &config, names.len())?;
    Ok(TogetherSpec {
        workloads: workloads.map_err(Failure::usage)?,
        size: options.size.unwrap_or(Size::Tiny),
        config,
        share,
        cycles: options.cycles_together,
        alone: options.alone,
        isolated: None,
        mechanism,
        engine: options.gpu.engine(),
        probes: ProbeSpec {
            compiler: options.gpu.verilog.compiler(options.gpu.engine())?,
            ..probes(options, faults)
        },
        check_dram: options.gpu.check,
        max_memory: limits.memory,
        bounds: options.gpu.bounds.bounds(),
    })
}

/// Returns the cache of runs alone if `--alone` is given and a folder exists.
fn isolated(options: &RunOptions, plan: &Arc<Plan>) -> Option<Arc<dyn IsolatedRuns>> {
    options.alone.then_some(())?;
    Some(Arc::new(Folder::new(options.store.as_deref(), Arc::clone(plan))?))
}

/// Writes the requested files, and prints the table unless an output goes to standard output.
fn show(options: &RunOptions, report: &TogetherReport, outputs: &mut Outputs) {
    if let Some(target) = &options.gpu.json {
        let text = serde_json::to_string_pretty(report)
            .map_err(|e| Failure::simulation(format!("the report has no JSON form: {e}")));
        if let Some(text) = outputs.note(text) {
            outputs.write_or_print(target, &(text + "\n"));
        }
    }
    if let Some(target) = &options.gpu.csv {
        outputs.write_or_print(target, &PointTable::new(&[together_row(report)]).csv());
    }
    outputs.show(&(render(report) + &coverage_lines(&report.coverage)));
}

fn render(report: &TogetherReport) -> String {
    let mut table = Table::new(&[
        "workload",
        "ends",
        "launches",
        "CTAs",
        "IPC",
        "IPC alone",
        "normalized",
        "L1D miss",
        "result",
    ])
    .dispensable(&["CTAs", "launches"]);
    let fraction = |value: Option<f64>, digits: usize| value.map_or("-".into(), |v| format!("{v:.digits$}"));
    for program in &report.programs {
        table.row(vec![
            program.workload.clone(),
            program.ends.to_string(),
            program.launches.to_string(),
            program.ctas.to_string(),
            format!("{:.1}", program.ipc),
            fraction(program.ipc_alone, 1),
            fraction(program.normalized_ipc(), 3),
            format!("{:.1}%", 100.0 * program.l1d.miss_rate),
            program.result.word().into(),
        ]);
    }
    let mut text = table.render_within(width());
    let TogetherReport { size, share, mechanism, totals, .. } = report;
    let share = match &report.partition {
        None => share.clone(),
        Some(partition) => {
            let ctas: Vec<String> = partition.ctas.iter().map(u32::to_string).collect();
            format!("{share} ({})", ctas.join(","))
        }
    };
    text += &format!("{size}, {share}, {mechanism}: {} cycles, IPC {:.1}", totals.cycles, totals.ipc);
    if let Some(t) = &report.throughput {
        text += &format!(
            ", weighted speedup {:.3}, ANTT {:.3}, fairness {:.3}",
            t.weighted_speedup, t.antt, t.fairness
        );
    }
    if let Some(limit) = report.limit {
        text += &format!(", ended by {limit}");
    }
    text + "\n"
}
