//! `selvedge run`: runs workloads on the GPU and prints a table.
use crate::arguments::RunOptions;
use crate::energy_from::{self, EnergySource};
use crate::error::{Failure, one_line};
use crate::interrupt::stop_flag;
use crate::output::{Outputs, Plan, is_quiet, print, say, width};
use crate::progress::Progress;
use crate::set_option::configuration;
use crate::trace_events::trace_events;
use crate::{checkpoint_options, functional_command, latency_from, together_command};
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_hw::wave::Trace;
use selvedge_hw::{BlockCompiler, PlantedUpset, StepError};
use selvedge_sim::config::GpuConfig;
use selvedge_sim::gpu::Control;
use selvedge_sim::intervals::{Estimate, IntervalSpec, run_by_intervals};
use selvedge_sim::limits::Limits;
use selvedge_sim::mechanism::probe::ProbeSpec;
use selvedge_sim::memory::{PRINT_CAPACITY, PrintedText};
use selvedge_sim::printable::{printable, printable_lines};
use selvedge_sim::ptx::FunctionalError as KernelError;
use selvedge_sim::report::{BlockCoverage, Outcome, Refused, RefusedFor, RunReport};
use selvedge_sim::run::{RunError, RunOutcome, RunSpec, Source, probe_names, run_with_checkpoints};
use selvedge_sim::sm::SimFault;
use selvedge_sim::statistic;
use selvedge_sim::timeline::Timeline;
use selvedge_sim::trace::values::ValueModel;
use selvedge_sim::workload::Size;
use selvedge_study::{run_table, series};
use selvedge_testbenches::wave::{WaveFormat, Waveform, save_path};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

/// The demonstration, which runs if no workload is named. Each workload has CTAs for all SMs.
const SHOWCASE: [(&str, Size); 2] = [("bfs", Size::Small), ("kmeans", Size::Small)];
/// Mechanisms of the demonstration, one per paper. The first is the baseline.
const SHOWCASE_MECHANISMS: [&str; 5] = ["base", "hw-bdi", "bgp", "latte-cc", "mdb-local"];

/// Returns the workloads of the options with their sizes.
pub(super) fn named(options: &RunOptions) -> Vec<(&str, Size)> {
    match &options.workload {
        Some(name) => vec![(name, options.size.unwrap_or(Size::Tiny))],
        None => SHOWCASE.map(|(name, size)| (name, options.size.unwrap_or(size))).to_vec(),
    }
}

/// Returns the number of processors.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs the workloads of the options.
pub fn run(options: &RunOptions) -> Result<(), Failure> {
    checkpoint_options::check(options)?;
    if options.functional {
        return functional_command::run(options);
    }
    if let Some(names) = together_command::workloads(options)? {
        let usual = "one workload or launch file";
        let one = [
            ("--intervals", options.gpu.intervals.is_some(), usual),
            ("--launch", options.gpu.launch.is_some(), usual),
            ("--values", options.values.is_some(), "one Accel-Sim trace"),
        ];
        if let Some((option, _, must)) = one.into_iter().find(|(_, given, _)| *given) {
            return Err(Failure::usage(format!("{option}: {}: must be {must}", names.join("+"))));
        }
        return together_command::run(options, &names);
    }
    let (config, sources) = machine(options)?;
    let specs = specs(options, &config)?;
    if options.list_probes {
        let names = specs.iter().map(probe_names).collect::<Result<Vec<_>, _>>();
        return show_probes(&names.map_err(|e| classify(&e))?.concat());
    }
    let recorded = [("--vcd", &options.gpu.vcd), ("--trace-events", &options.gpu.trace_events)];
    if let Some((option, _)) = recorded.into_iter().find(|(_, file)| specs.len() > 1 && file.is_some()) {
        return Err(Failure::usage(format!(
            "{option}: must be given with a workload, since it records one run"
        )));
    }
    let mut outputs = plan(options, specs.iter().map(|spec| &spec.workload))?.check()?;
    let stop = stop_flag()?;
    let mut reports = Vec::new();
    let mut failure = None;
    for (at, spec) in specs.iter().enumerate() {
        let title = format!("{} {} {}", spec.workload.name(), spec.size, spec.mechanism.text);
        if specs.len() > 1 && !is_quiet() && !std::io::stderr().is_terminal() {
            // The progress bar needs a terminal. Without one, these lines show the progress.
            say(format!("run {} of {}: {}\n", at + 1, specs.len(), printable(&title)));
        }
        let progress = Progress::start(title, &stop, options.gpu.bounds.timeout);
        let outcome = simulate(options, spec, progress.control());
        drop(progress);
        let mut outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                failure = Some(classify(&error));
                break;
            }
        };
        show_printed(&outcome.printed);
        if is_interrupted(outcome.fault.as_ref()) {
            outputs.interrupted();
        }
        write_timeline(options, outcome.timeline.as_ref(), &outcome.traces, &spec.config, &mut outputs);
        write_traces(options, std::mem::take(&mut outcome.traces), &mut outputs);
        if let Some(RunError::Fault(SimFault::Mechanism(fault))) = &outcome.fault {
            write_divergence(fault.as_ref(), &mut outputs);
        }
        for file in &outcome.outputs {
            outputs.write(&file.path, &file.bytes);
        }
        let Some(fault) = &outcome.fault else {
            failure = mismatch(&outcome.report).or(failure);
            reports.push(outcome.report);
            continue;
        };
        // A run that a signal or limit ends shows its partial results. After a fault, only the fault is reliable.
        failure = Some(classify(fault));
        if !fault.is_stop() {
            break;
        }
        reports.push(outcome.report);
        if fault.limit().is_none() {
            break;
        }
    }
    if !reports.is_empty() {
        show(options, &reports, &sources, &mut outputs);
    }
    outputs.finish(failure)
}

/// Runs `spec` whole or by intervals.
pub(super) fn simulate(
    options: &RunOptions,
    spec: &RunSpec,
    control: Arc<Control>,
) -> Result<RunOutcome, RunError> {
    let jobs = options.gpu.jobs.map_or_else(processors, |jobs| jobs as usize);
    match options.gpu.intervals {
        Some(most) => run_by_intervals(
            spec,
            IntervalSpec { most: most.into(), error: options.gpu.error, jobs },
            control,
        ),
        None => run_with_checkpoints(spec, &options.checkpoints.checkpoints(), control),
    }
}

/// Returns the files that a run of these workloads reads and writes.
///
/// # Errors
/// Fails for an unsupported waveform format.
pub(super) fn plan<'a>(
    options: &RunOptions,
    workloads: impl Iterator<Item = &'a Source>,
) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    plan.read_config(&options.gpu.config);
    let from = [&options.gpu.energy_from, &options.gpu.latency_from];
    from.into_iter().flatten().for_each(|path| plan.read(path));
    let printable = [
        ("--json", &options.gpu.json),
        ("--stats", &options.gpu.stats),
        ("--launches", &options.gpu.launches),
        ("--csv", &options.gpu.csv),
        ("--series", &options.gpu.series),
    ];
    for (option, target) in printable {
        target.iter().for_each(|target| plan.write_or_print(option, target));
    }
    options.gpu.trace_events.iter().for_each(|path| plan.write("--trace-events", path));
    if let Some(path) = &options.gpu.vcd {
        WaveFormat::of(path).map_err(Failure::usage)?;
        plan.write("--vcd", path);
        if is_file(path) {
            plan.write("the save file of --vcd", &save_path(path));
        }
    }
    options.gpu.verilog.verilog.iter().flat_map(|own| &own.files).for_each(|path| plan.read(path));
    options.checkpoints.plan(&mut plan);
    for workload in workloads {
        plan.read_source(workload, options.input.as_deref());
        plan.write_saves(workload);
    }
    Ok(plan)
}

/// Returns whether a path is a regular file or does not exist yet. Files can be written next to it, but not next to a
/// pipe.
fn is_file(path: &Path) -> bool {
    path.metadata().map_or(true, |there| there.is_file())
}

/// Returns whether a signal ended the run early.
pub(super) fn is_interrupted(fault: Option<&RunError>) -> bool {
    matches!(fault, Some(RunError::Fault(SimFault::Interrupted { .. })))
}

/// Prints the names of block instances, one per line.
pub(super) fn show_probes(names: &[String]) -> Result<(), Failure> {
    if names.is_empty() {
        say("selvedge: the mechanism has no blocks to probe\n");
    }
    print(&names.iter().map(|name| format!("{name}\n")).collect::<String>())
}

/// Prints the output of the kernels to standard error, so that it does not mix with the table or JSON on standard
/// output.
pub(super) fn show_printed(printed: &PrintedText) {
    say(printable_lines(&printed.text));
    if printed.lost > 0 {
        let (lost, most) = (printed.lost, PRINT_CAPACITY);
        say(format!("selvedge: {lost} messages of the kernel are lost: at most {most} bytes are kept\n"));
    }
}

/// Writes the recordings of the probes if `--vcd` is given, and the files for viewers next to them.
pub(super) fn write_traces(options: &RunOptions, traces: Vec<Trace>, outputs: &mut Outputs) {
    let Some(path) = &options.gpu.vcd else { return };
    let waveform = Waveform { traces };
    let Some(bytes) = outputs.note(waveform.bytes(path).map_err(Failure::usage)) else { return };
    let beside = if is_file(path) { waveform.beside(path) } else { Ok(Vec::new()) };
    outputs.write(path, bytes);
    let Some(beside) = outputs.note(beside.map_err(Failure::usage)) else { return };
    for (at, (path, bytes)) in beside.iter().enumerate() {
        match at {
            // The save file is in the plan. The recording determines the other files.
            0 => outputs.write(path, bytes),
            _ => {
                outputs.write_late("a file for viewers", path, bytes);
            }
        }
    }
}

/// Writes the timeline and the recordings of the probes if `--trace-events` is given.
pub(super) fn write_timeline(
    options: &RunOptions,
    timeline: Option<&Timeline>,
    traces: &[Trace],
    config: &GpuConfig,
    outputs: &mut Outputs,
) {
    let (Some(path), Some(timeline)) = (&options.gpu.trace_events, timeline) else { return };
    if let Some(cycle) = timeline.cut_at {
        say(format!(
            "selvedge: the trace events end at cycle {cycle}: --cycles must be smaller for the rest\n"
        ));
    }
    if let Some(bytes) = outputs.note(trace_events(timeline, traces, config)) {
        outputs.write(path, bytes);
    }
}

/// Writes the cycles before a lockstep difference to a waveform in the current folder.
pub(super) fn write_divergence(fault: &(dyn std::error::Error + 'static), outputs: &mut Outputs) {
    let Some(divergence) = fault.downcast_ref().and_then(StepError::divergence) else { return };
    let name = format!("divergence-{}.vcd", divergence.instance);
    let text = Waveform { traces: divergence.history.clone() }.vcd();
    if outputs.write_late("the waveform of the difference", Path::new(&name), text) {
        say(format!("selvedge: the last cycles before the difference are in {name}\n"));
    }
}

/// Parses a fault to inject, INSTANCE:CYCLE:BIT.
pub(super) fn parse_fault(text: &str) -> Result<(String, PlantedUpset), Failure> {
    let wrong = || {
        Failure::usage(format!("--inject {text}: must be INSTANCE:CYCLE:BIT, as in sm0.decompressor:900:3"))
    };
    let (instance, fault) = text.split_once(':').ok_or_else(wrong)?;
    Ok((instance.to_string(), fault.parse().map_err(|_| wrong())?))
}

/// Returns the configuration, and the sources of the block energies if `--energy-from` replaces them.
pub(super) fn machine(options: &RunOptions) -> Result<(Arc<GpuConfig>, Vec<EnergySource>), Failure> {
    let mut config = configuration(&options.gpu.config, &options.gpu.set, options.gpu.registers)?;
    let path = options.gpu.energy_from.as_deref();
    let sources = path.map(|path| energy_from::apply(path, &mut config)).transpose()?;
    Ok((Arc::new(config), sources.unwrap_or_default()))
}

/// Converts the options to runs.
fn specs(options: &RunOptions, config: &Arc<GpuConfig>) -> Result<Vec<RunSpec>, Failure> {
    let mechanisms = match (&options.gpu.mechanism, options.workload.is_some()) {
        (Some(text), _) => vec![text.as_str()],
        (None, true) => vec!["base"],
        (None, false) => SHOWCASE_MECHANISMS.to_vec(),
    };
    let limits = options.limits();
    let values = value_model(options.values.as_deref(), &limits)?;
    let compiler = options.gpu.verilog.compiler(options.gpu.engine())?;
    let mut specs = Vec::new();
    for (name, size) in named(options) {
        let workload = Source::find_within(name, &limits).map_err(Failure::usage)?;
        let workload = with_values(workload, values.as_ref())?;
        if matches!(workload, Source::Trace(_) | Source::Recorded(_)) {
            refuse_for_traces(options)?;
        }
        for text in &mechanisms {
            specs.push(spec(options, config, &workload, text, size, compiler.as_ref())?);
        }
    }
    options.gpu.verilog.check_blocks(specs.iter().map(|spec| &spec.mechanism), config, 1)?;
    Ok(specs)
}

/// Returns the model of `--values`.
pub(super) fn value_model(text: Option<&str>, limits: &Limits) -> Result<Option<Arc<ValueModel>>, Failure> {
    let model = text.map(|text| ValueModel::parse(text, Path::new(""), limits)).transpose();
    Ok(model.map_err(|error| Failure::usage(format!("--{error}")))?.map(Arc::new))
}

/// Gives the workload the values of `--values`.
pub(super) fn with_values(workload: Source, values: Option<&Arc<ValueModel>>) -> Result<Source, Failure> {
    workload.with_values(values).map_err(|error| Failure::usage(format!("--{error}")))
}

/// Returns the probes to record and the faults to inject.
pub(super) fn probes(options: &RunOptions, faults: Vec<(String, PlantedUpset)>) -> ProbeSpec {
    let (from, cycles, inside) = (options.gpu.from, options.gpu.cycles, options.gpu.inside);
    let timeline = options.gpu.trace_events.is_some();
    let (instances, corners) = (options.gpu.probe.clone(), options.gpu.corners);
    ProbeSpec { instances, timeline, from, cycles, inside, faults, corners, compiler: None }
}

/// Returns the run of one workload under one mechanism.
pub(super) fn spec(
    options: &RunOptions,
    config: &Arc<GpuConfig>,
    workload: &Source,
    mechanism: &str,
    size: Size,
    compiler: Option<&Arc<dyn BlockCompiler>>,
) -> Result<RunSpec, Failure> {
    let faults = options.inject.iter().map(|text| parse_fault(text)).collect::<Result<Vec<_>, _>>()?;
    let probes = ProbeSpec { compiler: compiler.cloned(), ..probes(options, faults) };
    Ok(RunSpec {
        size,
        input: options.input.clone(),
        engine: options.gpu.engine(),
        probes,
        check_dram: options.gpu.check,
        sample_cycles: options.gpu.series.as_ref().map(|_| options.gpu.every),
        max_memory: options.limits().memory,
        bounds: options.gpu.bounds.bounds(),
        launches: options.gpu.launch,
        ..RunSpec::new(
            workload.clone(),
            Arc::clone(config),
            latency_from::mechanism(mechanism, options.gpu.latency_from.as_deref())?,
        )
    })
}

/// Refuses `--size` and `--input`, which traces and recorded programs have fixed.
fn refuse_for_traces(options: &RunOptions) -> Result<(), Failure> {
    let given = [("--size", options.size.is_some()), ("--input", options.input.is_some())];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!(
            "{option}: allowed with workloads, not with traces and recorded programs, which have their own"
        ))),
    }
}

pub(super) fn classify(error: &RunError) -> Failure {
    match error {
        RunError::Fault(SimFault::Interrupted { .. }) => Failure::interrupted(error),
        RunError::Fault(
            SimFault::TooLarge { .. } | SimFault::Cluster { .. } | SimFault::Launch(_) | SimFault::Trace(_),
        ) => Failure::usage(error),
        RunError::Kernel(KernelError::Launch { .. }) => Failure::usage(error),
        RunError::Kernel(_) | RunError::Fault(_) | RunError::DramTiming(_) | RunError::Unseen(_) => {
            Failure::simulation(error)
        }
        _ => Failure::usage(error),
    }
}

/// Returns the failure of a run that ended with wrong or incomplete results.
pub(super) fn mismatch(report: &RunReport) -> Option<Failure> {
    let line = |why: &str| format!("{} {}: {why}", report.workload, report.size);
    match (report.result, &report.refused) {
        (Outcome::Fail, _) => {
            let why = report.error.as_deref().unwrap_or("the results differ from the CPU reference");
            Some(Failure::mismatch(line(why)))
        }
        (Outcome::Incomplete, Some(refused)) => Some(Failure::simulation(line(&refused.to_string()))),
        _ => None,
    }
}

/// Returns the refused work of a CUDA program, as lines for below the table.
pub(super) fn refused_lines(workload: &str, refused: Option<&Refused>) -> String {
    let Some(refused) = refused else { return String::new() };
    let mut text = format!("incomplete: {}: {refused}\n", printable(workload));
    let mut left = refused.modules + refused.launches + refused.calls;
    for RefusedFor { call, why, count } in &refused.reasons {
        let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        text += &format!("  {}\n", one_line(&format!("{call}: {why}{times}")));
        left = left.saturating_sub(*count);
    }
    if left > 0 {
        text += &format!("  and {left} more\n");
    }
    text
}

/// A report, with the sources of its codecs' energies if these are not in the configuration.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "RunReport")]
pub(super) struct Sourced<'a> {
    /// The report.
    #[serde(flatten)]
    report: &'a RunReport,
    /// Sources of the blocks' energies.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    energy_sources: &'a [EnergySource],
}

/// Converts reports to JSON: an object for one report, a list for several.
fn json(reports: &[RunReport], sources: &[EnergySource]) -> serde_json::Result<String> {
    let sourced: Vec<Sourced> =
        reports.iter().map(|report| Sourced { report, energy_sources: sources }).collect();
    match sourced.as_slice() {
        [one] => serde_json::to_string_pretty(one),
        many => serde_json::to_string_pretty(many),
    }
}

/// Writes the requested files, and prints the table unless an output goes to standard output.
pub(super) fn show(
    options: &RunOptions,
    reports: &[RunReport],
    sources: &[EnergySource],
    outputs: &mut Outputs,
) {
    if let Some(target) = &options.gpu.json {
        let text = json(reports, sources)
            .map_err(|e| Failure::simulation(format!("the report has no JSON form: {e}")));
        if let Some(text) = outputs.note(text) {
            outputs.write_or_print(target, &(text + "\n"));
        }
    }
    if let Some(target) = &options.gpu.stats {
        let mut text: String = reports.iter().map(statistic::text).collect();
        for one in sources {
            text += &one.statistic();
        }
        outputs.write_or_print(target, &text);
    }
    if let Some(target) = &options.gpu.launches {
        outputs.write_or_print(target, &statistic::csv(reports));
    }
    if let Some(target) = &options.gpu.csv {
        outputs.write_or_print(target, &run_table(reports).csv());
    }
    if let Some(target) = &options.gpu.series {
        outputs.write_or_print(target, &series(reports).csv());
    }
    let mut table = render(reports);
    if !sources.is_empty() {
        table += &energy_from::summary(sources);
    }
    table += &reports.iter().filter_map(estimate_line).collect::<String>();
    table += &reports.iter().filter_map(launches_line).collect::<String>();
    table += &reports.iter().filter_map(values_line).collect::<String>();
    table += &reports.iter().filter_map(blas_line).collect::<String>();
    for report in reports {
        table += &coverage_lines(&report.coverage);
        table += &refused_lines(&report.workload, report.refused.as_ref());
    }
    outputs.show(&table);
}

/// Returns a line for each block whose corner cases were counted.
pub(super) fn coverage_lines(coverage: &[BlockCoverage]) -> String {
    coverage.iter().map(|block| format!("{block}\n")).collect()
}

/// Returns the estimate of a run by intervals, as a line for below the table.
pub(super) fn estimate_line(report: &RunReport) -> Option<String> {
    let Estimate { intervals, detailed_share, cycles, cycles_within, ipc } = report.estimate.as_ref()?;
    let within = cycles_within.map_or("without a confidence interval".into(), |within| {
        format!("within {within:.0} ({:.1}%) with 95% confidence", 100.0 * within / cycles.max(1.0))
    });
    Some(format!(
        "estimated: {} {}: {cycles:.0} cycles, {within}, IPC {ipc:.1}, from {intervals} intervals with {:.1}% of the instructions\n",
        printable(&report.workload),
        printable(&report.mechanism),
        100.0 * detailed_share
    ))
}

/// Returns the number of launches that replace kernels of cuBLAS, as a line for below the table.
fn blas_line(report: &RunReport) -> Option<String> {
    let count = report.cublas_launches();
    let workload = printable(&report.workload);
    (count > 0).then(|| {
        format!("cuBLAS: {workload}: {count} launches are of Selvedge's kernels, which are simpler than NVIDIA's\n")
    })
}

/// Returns the launches that were simulated, if not all, as a line for below the table.
fn launches_line(report: &RunReport) -> Option<String> {
    let range = report.launches?;
    let (workload, mechanism) = (printable(&report.workload), printable(&report.mechanism));
    Some(format!("simulated: {workload} {mechanism}: only launch {range}\n"))
}

/// Returns the model of the values of a trace, as a line for below the table.
pub(super) fn values_line(report: &RunReport) -> Option<String> {
    let values = report.values.as_deref()?;
    Some(format!("values: {}: from the model {}\n", printable(&report.workload), printable(values)))
}

fn render(reports: &[RunReport]) -> String {
    let mut table = Table::new(&[
        "workload",
        "size",
        "mechanism",
        "cycles",
        "IPC",
        "speedup",
        "L1D miss",
        "L2 miss",
        "DRAM bursts",
        "compression",
        "result",
    ])
    .dispensable(&["compression", "DRAM bursts", "L2 miss"]);
    for report in reports {
        let t = &report.totals;
        table.row(vec![
            report.workload.clone(),
            report.size.clone(),
            report.mechanism.clone(),
            t.cycles.to_string(),
            format!("{:.1}", t.ipc),
            speedup(report, reports).map_or("".into(), |s| format!("{s:.3}")),
            format!("{:.1}%", 100.0 * t.l1d.miss_rate),
            format!("{:.1}%", 100.0 * t.l2.miss_rate),
            t.dram.bursts.to_string(),
            report.compression_ratio().map_or("-".into(), |r| format!("{r:.2}")),
            report.result.word().into(),
        ]);
    }
    table.without_empty("speedup").render_within(width())
}

/// Returns the cycles of the same workload's baseline divided by this run's. Both must have done the same work. A single
/// run has no baseline.
fn speedup(report: &RunReport, reports: &[RunReport]) -> Option<f64> {
    if reports.len() == 1 {
        return None;
    }
    let base = reports.iter().find(|r| r.workload == report.workload && r.mechanism == "base")?;
    if !base.result.compares_with(report.result) {
        return None;
    }
    Some(base.totals.cycles as f64 / report.totals.cycles.max(1) as f64)
}
