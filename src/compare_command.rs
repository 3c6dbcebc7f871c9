//! `selvedge compare`: runs workloads under several mechanisms and compares each with the first mechanism.
use crate::arguments::CompareOptions;
use crate::batch_watch::{BatchWatch, Task};
use crate::error::Failure;
use crate::interrupt::stop_flag;
use crate::output::{Outputs, Plan, width};
use crate::plot::{Bars, Series, bars};
use crate::run_command::{
    classify, estimate_line, mismatch, processors, refused_lines, value_model, values_line, with_values,
};
use crate::set_option::configuration;
use crate::{latency_from, mechanism_list};
use selvedge_area::Table;
use selvedge_sim::best::settled;
use selvedge_sim::gpu::Control;
use selvedge_sim::intervals::{IntervalSpec, run_by_intervals};
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::mechanism::probe::ProbeSpec;
use selvedge_sim::printable::printable;
use selvedge_sim::report::{RunReport, Totals};
use selvedge_sim::run::{RunError, RunSpec, Source, run as simulate};
use selvedge_sim::share::ShareSpec;
use selvedge_sim::sm::SimFault;
use selvedge_sim::together::report::TogetherReport;
use selvedge_sim::together::{TogetherSpec, run as simulate_together};
use selvedge_sim::workload::Size;
use selvedge_study::{PointTable, StudyRow, measured_s, run_row, together_row};
use selvedge_testbenches::parallel;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Outcome of each run by index. `None` if the run was not reached.
type Outcomes = Vec<Option<Result<Report, Failure>>>;

/// Runs every workload under every mechanism and shows the results. After a signal, shows the finished runs.
pub fn run(options: &CompareOptions) -> Result<(), Failure> {
    let mechanisms = parse_mechanisms(&options.mechanisms, options.latency_from.as_deref())?;
    let specs = specs(options, &mechanisms)?;
    let jobs = jobs(options);
    let mut outputs = plan(options, &specs).check()?;
    let stop = stop_flag()?;
    // With fewer runs than jobs, each run takes several threads.
    let intervals = options.intervals.map(|most| IntervalSpec {
        most: most.into(),
        error: options.error,
        jobs: (jobs / specs.len().max(1)).max(1),
    });
    let outcomes = run_all(&specs, jobs, intervals, options.bounds.timeout, &stop);
    let (mut failure, mut left) = (None, 0);
    let mut reports = Vec::new();
    for outcome in outcomes {
        match outcome {
            Some(Ok(report)) => {
                failure = report.failure().or(failure);
                reports.push(Some(report));
            }
            Some(Err(error)) => {
                failure = Some(error);
                reports.push(None);
            }
            None => {
                left += 1;
                reports.push(None);
            }
        }
    }
    if left > 0 && failure.is_none() {
        failure = Some(Failure::interrupted(format!("interrupted: {left} runs are left")));
    }
    if stop.load(Ordering::Relaxed) && reports.iter().any(Option::is_none) {
        outputs.interrupted();
    }
    if reports.iter().any(Option::is_some) {
        show(options, &mechanisms, &reports, &mut outputs);
    }
    outputs.finish(failure)
}

fn jobs(options: &CompareOptions) -> usize {
    options.jobs.map_or_else(processors, |jobs| jobs as usize)
}

fn parse_mechanisms(text: &str, latencies: Option<&Path>) -> Result<Vec<MechanismSpec>, Failure> {
    let mut specs: Vec<MechanismSpec> = Vec::new();
    for text in mechanism_list::split(text) {
        if specs.iter().any(|spec| spec.text == text) {
            return Err(Failure::usage(format!("--mechanisms: {text} is given twice: must be given once")));
        }
        specs.push(latency_from::mechanism(&text, latencies)?);
    }
    Ok(specs)
}

/// A run of one workload, or of several at the same time.
enum Spec {
    One(Box<RunSpec>),
    Together(Box<TogetherSpec>),
}

impl Spec {
    fn sources(&self) -> &[Source] {
        match self {
            Spec::One(spec) => std::slice::from_ref(&spec.workload),
            Spec::Together(spec) => &spec.workloads,
        }
    }

    fn workload(&self) -> String {
        let names: Vec<&str> = self.sources().iter().map(Source::name).collect();
        names.join("+")
    }

    fn mechanism(&self) -> &MechanismSpec {
        match self {
            Spec::One(spec) => &spec.mechanism,
            Spec::Together(spec) => &spec.mechanism,
        }
    }

    fn size(&self) -> Size {
        match self {
            Spec::One(spec) => spec.size,
            Spec::Together(spec) => spec.size,
        }
    }
}

/// The report of a [`Spec`].
#[derive(Serialize)]
#[serde(untagged)]
enum Report {
    One(Box<RunReport>),
    Together(Box<TogetherReport>),
}

impl Report {
    fn one(&self) -> Option<&RunReport> {
        match self {
            Report::One(report) => Some(report),
            Report::Together(_) => None,
        }
    }

    fn workload(&self) -> String {
        match self {
            Report::One(report) => report.workload.clone(),
            Report::Together(report) => report.workload(),
        }
    }

    fn mechanism(&self) -> &str {
        match self {
            Report::One(report) => &report.mechanism,
            Report::Together(report) => &report.mechanism,
        }
    }

    fn totals(&self) -> &Totals {
        match self {
            Report::One(report) => &report.totals,
            Report::Together(report) => &report.totals,
        }
    }

    fn row(&self) -> StudyRow {
        match self {
            Report::One(report) => run_row(report),
            Report::Together(report) => together_row(report),
        }
    }

    /// Returns the failure of a run with wrong results, or of a run that a limit has ended.
    fn failure(&self) -> Option<Failure> {
        let (wrong, limit, error) = match self {
            Report::One(report) => (mismatch(report), report.limit, &report.error),
            Report::Together(report) => (report.wrong().map(Failure::mismatch), report.limit, &report.error),
        };
        let why = error.as_deref().unwrap_or_default();
        let limited = || Failure::simulation(format!("{} {}: {why}", self.workload(), self.mechanism()));
        wrong.or_else(|| limit.map(|_| limited()))
    }

    /// Returns whether the cycles of both reports are for the same work.
    fn compares_with(&self, other: &Report) -> bool {
        match (self, other) {
            (Report::One(first), Report::One(other)) => first.result.compares_with(other.result),
            (Report::Together(first), Report::Together(other)) => {
                let is_whole = |report: &TogetherReport| report.limit.is_none() && report.wrong().is_none();
                is_whole(first) && is_whole(other)
            }
            _ => false,
        }
    }
}

/// Returns the runs: all mechanisms of the first workload, then of the next.
fn specs(options: &CompareOptions, mechanisms: &[MechanismSpec]) -> Result<Vec<Spec>, Failure> {
    let config = Arc::new(configuration(&options.config, &options.set, options.registers)?);
    let limits = options.limits.limits();
    let values = value_model(options.values.as_deref(), &limits)?;
    let engine = options.verilog.lockstep.unwrap_or(options.engine);
    let probes = ProbeSpec { compiler: options.verilog.compiler(engine)?, ..ProbeSpec::default() };
    let share: ShareSpec = options.share.as_deref().unwrap_or("left-over").parse().map_err(Failure::usage)?;
    let mut specs = Vec::new();
    let mut most = 1;
    for name in &options.workloads {
        let is_joined = name.contains('+') && !Path::new(name).is_file();
        let names: Vec<&str> = if is_joined { name.split('+').collect() } else { vec![name] };
        most = most.max(names.len());
        let find = |name: &&str| {
            let source = Source::find_within(name, &limits).map_err(Failure::usage)?;
            with_values(source, values.as_ref())
        };
        let workloads = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        for mechanism in mechanisms {
            specs.push(match &workloads[..] {
                [workload] => Spec::One(Box::new(RunSpec {
                    size: options.size,
                    engine,
                    probes: probes.clone(),
                    max_memory: limits.memory,
                    bounds: options.bounds.bounds(),
                    ..RunSpec::new(workload.clone(), Arc::clone(&config), mechanism.clone())
                })),
                _ => Spec::Together(Box::new(TogetherSpec {
                    workloads: workloads.clone(),
                    size: options.size,
                    config: Arc::clone(&config),
                    share: share.clone(),
                    cycles: None,
                    alone: false,
                    isolated: None,
                    mechanism: mechanism.clone(),
                    engine,
                    probes: probes.clone(),
                    check_dram: false,
                    max_memory: limits.memory,
                    bounds: options.bounds.bounds(),
                })),
            });
        }
    }
    if most > 1 && options.intervals.is_some() {
        return Err(Failure::usage("--intervals: must be given without workloads joined by +"));
    }
    if most == 1 && options.share.is_some() {
        return Err(Failure::usage("--share: must be given with several workloads, as in bfs+kmeans"));
    }
    options.verilog.check_blocks(mechanisms.iter(), &config, most)?;
    // Report an unsupported configuration before hours of runs, not after.
    for mechanism in mechanisms {
        settled(mechanism, &config).machine(&config).map_err(Failure::usage)?;
    }
    Ok(specs)
}

/// Returns the files that the command reads and writes. It does not write the files that launch files save.
fn plan(options: &CompareOptions, specs: &[Spec]) -> Plan {
    let mut plan = Plan::default();
    plan.read_config(&options.config);
    options.latency_from.iter().for_each(|path| plan.read(path));
    specs.iter().flat_map(Spec::sources).for_each(|source| plan.read_source(source, None));
    options.verilog.verilog.iter().flat_map(|own| &own.files).for_each(|path| plan.read(path));
    options.plot.iter().for_each(|path| plan.write("--plot", path));
    options.json.iter().for_each(|target| plan.write_or_print("--json", target));
    options.csv.iter().for_each(|target| plan.write_or_print("--csv", target));
    plan
}

/// Runs `specs` on `jobs` threads. The results do not depend on which thread runs which spec.
fn run_all(
    specs: &[Spec],
    jobs: usize,
    intervals: Option<IntervalSpec>,
    timeout: Option<Duration>,
    stop: &Arc<AtomicBool>,
) -> Outcomes {
    let watch = BatchWatch::start("runs", specs.iter().map(task).collect(), jobs);
    parallel::map(specs, jobs, |at, spec| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let warn = watch.warnings(format!("{} {}", spec.workload(), spec.mechanism().text));
        watch.started(at);
        let outcome = one(spec, intervals, Control::new(stop, timeout, warn));
        watch.ended(at);
        Some(outcome)
    })
}

/// Returns the task of a run, with its expected seconds.
fn task(spec: &Spec) -> Task {
    let (workload, mechanism) = (spec.workload(), &spec.mechanism().text);
    let seconds_of = |source: &Source| measured_s(source.name(), &spec.size().to_string(), mechanism);
    Task {
        name: format!("{workload} {mechanism}"),
        seconds: spec.sources().iter().map(seconds_of).sum(),
        subject: workload,
        action: mechanism.clone(),
    }
}

fn one(spec: &Spec, intervals: Option<IntervalSpec>, control: Control) -> Result<Report, Failure> {
    let control = Arc::new(control);
    let failure = |error: RunError| classify(&error);
    let (report, fault) = match spec {
        Spec::One(spec) => {
            let outcome = match intervals {
                Some(intervals) => run_by_intervals(spec, intervals, control),
                None => simulate(spec, control),
            };
            let outcome = outcome.map_err(failure)?;
            (Report::One(Box::new(outcome.report)), outcome.fault)
        }
        Spec::Together(spec) => {
            let outcome = simulate_together(spec, control).map_err(failure)?;
            (Report::Together(Box::new(outcome.report)), outcome.fault)
        }
    };
    match fault {
        None => Ok(report),
        Some(fault) if fault.limit().is_some() => Ok(report),
        Some(RunError::Fault(fault @ SimFault::Interrupted { .. })) => {
            Err(Failure::interrupted(format!("{} {}: {fault}", spec.workload(), spec.mechanism().text)))
        }
        Some(fault) => Err(classify(&fault)),
    }
}

/// Returns the cycles of the first mechanism divided by this one's. Both must have completed the workload or executed
/// the same number of instructions.
fn speedup(first: Option<&Report>, this: &Report) -> Option<f64> {
    let first = first.filter(|first| first.compares_with(this));
    first.map(|first| first.totals().cycles as f64 / this.totals().cycles.max(1) as f64)
}

/// Returns the geometric mean, or `None` if there are no values.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

fn show(
    options: &CompareOptions,
    mechanisms: &[MechanismSpec],
    reports: &[Option<Report>],
    outputs: &mut Outputs,
) {
    let by_workload: Vec<&[Option<Report>]> = reports.chunks(mechanisms.len()).collect();
    let mut table = Table::new(&[
        "workload",
        "mechanism",
        "cycles",
        "speedup",
        "L1D misses",
        "L2 misses",
        "DRAM bytes",
        "DRAM uJ",
        "energy uJ",
    ])
    .dispensable(&["DRAM uJ", "L2 misses"]);
    let mut all: Vec<Vec<f64>> = mechanisms.iter().map(|_| Vec::new()).collect();
    for row in &by_workload {
        for (at, report) in row.iter().enumerate() {
            let Some(report) = report else { continue };
            let speedup = speedup(row[0].as_ref(), report);
            all[at].extend(speedup);
            let t = report.totals();
            table.row(vec![
                report.workload(),
                report.mechanism().into(),
                t.cycles.to_string(),
                speedup.map_or("-".into(), |speedup| format!("{speedup:.3}")),
                t.l1d.misses.to_string(),
                t.l2.misses.to_string(),
                (32 * t.dram.bursts).to_string(),
                format!("{:.1}", t.dram.energy.total_nj / 1000.0),
                format!("{:.1}", t.energy.total_nj / 1000.0),
            ]);
        }
    }
    for (mechanism, speedups) in mechanisms.iter().zip(&all) {
        let mean = geometric_mean(speedups).map_or("-".into(), |mean| format!("{mean:.3}"));
        let mut cells = vec!["geometric mean".into(), mechanism.text.clone(), "-".into(), mean];
        cells.extend(std::iter::repeat_n("-".to_string(), 5));
        table.row(cells);
    }
    if let Some(path) = &options.plot
        && let Some(chart) = outputs.note(chart(options, mechanisms, &by_workload))
    {
        outputs.write(path, chart);
    }
    if let Some(target) = &options.json {
        let reports: Vec<&Report> = reports.iter().flatten().collect();
        let text = serde_json::to_string_pretty(&reports)
            .map_err(|e| Failure::simulation(format!("the reports have no JSON form: {e}")));
        if let Some(text) = outputs.note(text) {
            outputs.write_or_print(target, &(text + "\n"));
        }
    }
    if let Some(target) = &options.csv {
        outputs.write_or_print(
            target,
            &PointTable::new(&reports.iter().flatten().map(Report::row).collect::<Vec<_>>()).csv(),
        );
    }
    // Refused requests of a recorded program do not depend on the mechanism.
    let refused = by_workload.iter().filter_map(|row| row.iter().flatten().next()?.one());
    let refused: String = refused.map(|one| refused_lines(&one.workload, one.refused.as_ref())).collect();
    // The model does not depend on the mechanism.
    let first = by_workload.iter().filter_map(|row| row.iter().flatten().next()?.one());
    let values: String = first.filter_map(values_line).collect();
    let estimated: String =
        reports.iter().flatten().filter_map(|report| estimate_line(report.one()?)).collect();
    outputs.show(&(table.render_within(width()) + &estimated + &values + &racing(&by_workload) + &refused));
}

/// Returns the speedups as a chart, with a group of bars for each workload and one for the geometric means.
fn chart(
    options: &CompareOptions,
    mechanisms: &[MechanismSpec],
    by_workload: &[&[Option<Report>]],
) -> Result<String, Failure> {
    let mut groups: Vec<String> = options.workloads.iter().map(|name| stem(name)).collect();
    let mut series: Vec<Series> = Vec::new();
    for (at, mechanism) in mechanisms.iter().enumerate() {
        let speedup = |row: &&[Option<Report>]| speedup(row[0].as_ref(), row[at].as_ref()?);
        series
            .push(Series { name: mechanism.text.clone(), values: by_workload.iter().map(speedup).collect() });
    }
    if groups.len() > 1 {
        groups.push("geometric mean".into());
        for one in &mut series {
            let known: Vec<f64> = one.values.iter().flatten().copied().collect();
            one.values.push(geometric_mean(&known));
        }
    }
    let title = format!("Speedup at size {} on {}", options.size, stem(&options.config));
    let axis = format!("speedup over {}", mechanisms[0].text);
    bars(&Bars { title: &title, axis: &axis, groups: &groups, series: &series, stated: &[] })
}

/// Returns a line that names the workloads with races, and the launch files whose instruction counts differ between the
/// mechanisms. Returns an empty string if there are no such workloads or only one mechanism.
fn racing(by_workload: &[&[Option<Report>]]) -> String {
    let by_workload = by_workload.iter().filter(|row| row.len() > 1);
    let races = |row: &&[Option<Report>]| -> Option<String> {
        let mut reports = row.iter().flatten().filter_map(Report::one);
        let first = reports.next()?;
        let executed =
            |report: &RunReport| (report.totals.warp_instructions, report.totals.thread_instructions);
        let differs = || reports.any(|report| executed(report) != executed(first));
        first.races.unwrap_or_else(differs).then(|| printable(&first.workload).into_owned())
    };
    let names: Vec<String> = by_workload.filter_map(races).collect();
    if names.is_empty() {
        return String::new();
    }
    let verb = if names.len() == 1 { "races" } else { "race" };
    format!("note: {} {verb}: the order of accesses changes what is executed\n", names.join(", "))
}

/// Returns the name of a launch file without folder and extension.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stay_with_their_mechanism() {
        let texts = |text: &str| -> Vec<String> {
            parse_mechanisms(text, None).expect("valid").into_iter().map(|spec| spec.text).collect()
        };
        assert_eq!(
            texts("base,static-bdi,latency=0,hw-bdi+dmil,latte-cc,high=bpc,queue=4"),
            ["base", "static-bdi,latency=0", "hw-bdi+dmil", "latte-cc,high=bpc,queue=4"]
        );
        assert!(parse_mechanisms("base,base", None).is_err());
        assert!(parse_mechanisms("base,latency=0", None).is_err(), "base has no options");
    }

    #[test]
    fn the_mean_of_speedups_is_geometric() {
        assert!((geometric_mean(&[2.0, 0.5]).expect("two") - 1.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }
}
