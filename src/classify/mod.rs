//! `selvedge classify`: measures for each workload the quantities by which the papers sort applications, and prints
//! them next to the papers' values. With `--paper`, prints each value of that paper next to the measured one.
mod classes;
mod fingerprint;
mod table;

use crate::arguments::ClassifyOptions;
use crate::batch_watch::{BatchWatch, Task};
use crate::error::Failure;
use crate::interrupt::stop_flag;
use crate::output::{Outputs, Plan};
use crate::run_command::{classify, mismatch};
pub use classes::Paper;
use classes::chosen;
use fingerprint::Behavior;
use selvedge_hw::index_function::IndexFunction;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::gpu::Control;
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::report::{RunReport, ratio};
use selvedge_sim::run::{RunError, RunSpec, Source, run as simulate};
use selvedge_sim::sm::SimFault;
use selvedge_sim::workload::{Size, Workload};
use selvedge_sim::{Ratios, census};
use selvedge_study::measured_s;
use selvedge_testbenches::parallel;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
pub use table::Row;

/// Bytes of the large L1D.
const LARGE_BYTES: u32 = 2 << 20;
/// Max sets of an L1D.
const MOST_SETS: u32 = 4096;

/// A measurement of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    /// Run under the configuration as it is.
    Base,
    /// Run with four times the L1D.
    FourTimes,
    /// Run with an L1D of 2 MB.
    Large,
    /// Run under LAMAR's configuration, which counts the sectors used of blocks when they are evicted.
    Sectors,
    /// Compression ratios of the lines that loads read, without a timed run.
    Census,
}

impl Measure {
    const ALL: [Measure; 5] =
        [Measure::Base, Measure::FourTimes, Measure::Large, Measure::Sectors, Measure::Census];
}

/// Result of a measurement.
enum Measured {
    Report(Box<RunReport>),
    Ratios(Ratios),
}

/// Configurations of the runs.
struct ClassifyConfigs {
    base: Arc<GpuConfig>,
    four_times: Arc<GpuConfig>,
    large: Arc<GpuConfig>,
    lamar: Arc<GpuConfig>,
}

impl ClassifyConfigs {
    fn load(name: &str) -> Result<Self, Failure> {
        let base = GpuConfig::load(name).map_err(Failure::usage)?;
        let sets = base.l1d.sets;
        if sets > MOST_SETS / 4 {
            let most = MOST_SETS / 4;
            return Err(Failure::usage(format!(
                "{name}: l1d.sets = {sets}: must be at most {most} to be enlarged four times"
            )));
        }
        let with_sets = |sets: u32| Arc::new(enlarged(&base, sets));
        let large = LARGE_BYTES / (base.l1d.ways * base.l1d.line_bytes);
        Ok(ClassifyConfigs {
            four_times: with_sets(4 * sets),
            large: with_sets(large.max(1).next_power_of_two().clamp(sets, MOST_SETS)),
            lamar: Arc::new(GpuConfig::load("gtx480-lamar").map_err(Failure::usage)?),
            base: Arc::new(base),
        })
    }

    /// Returns the configuration and the mechanism of a measurement's run, or `None` if it needs no run.
    fn of(&self, measure: Measure) -> Option<(&Arc<GpuConfig>, &'static str)> {
        match measure {
            Measure::Base => Some((&self.base, "base")),
            Measure::FourTimes => Some((&self.four_times, "base")),
            Measure::Large => Some((&self.large, "base")),
            Measure::Sectors => Some((&self.lamar, "cg-only")),
            Measure::Census => None,
        }
    }
}

/// Returns the configuration with an L1D of the capacity of `sets` sets. If the index function does not support as many,
/// the sets have more ways.
fn enlarged(base: &GpuConfig, sets: u32) -> GpuConfig {
    let most = match base.l1d.index {
        IndexFunction::Bmod => MOST_SETS,
        IndexFunction::Fermi => 64,
        _ => 1024,
    };
    let mut config = base.clone();
    config.l1d.sets = sets.min(most);
    config.l1d.ways *= sets / config.l1d.sets;
    config
}

/// Measures the workloads and shows the results. After a signal, shows the results that are complete.
pub fn run(options: &ClassifyOptions) -> Result<(), Failure> {
    let workloads = chosen(&options.workloads, options.paper).map_err(Failure::usage)?;
    if let (Some(paper), true) = (options.paper, workloads.is_empty()) {
        return Err(Failure::usage(format!("--paper {paper}: it has none of the workloads named")));
    }
    let configurations = ClassifyConfigs::load(config_name(options))?;
    let mut outputs = plan(options).check()?;
    let stop = stop_flag()?;
    let measures: Vec<(&dyn Workload, Measure)> =
        workloads.iter().flat_map(|workload| Measure::ALL.map(|measure| (*workload, measure))).collect();
    let outcomes = measure_all(&measures, options, &configurations, &stop);
    let (mut failure, mut left) = (None, 0);
    let mut measured = outcomes.into_iter().map(|outcome| match outcome {
        Some(Ok(Measured::Report(report))) => {
            failure = mismatch(&report).or(failure.take());
            Some(Measured::Report(report))
        }
        Some(Ok(ratios)) => Some(ratios),
        Some(Err(error)) => {
            failure = Some(error);
            None
        }
        None => {
            left += 1;
            None
        }
    });
    let rows: Vec<Row> =
        workloads.iter().map(|workload| row(workload.name(), &configurations.base, &mut measured)).collect();
    drop(measured);
    if left > 0 && failure.is_none() {
        failure = Some(Failure::interrupted(format!("interrupted: {left} measurements are left")));
    }
    if stop.load(Ordering::Relaxed) && left > 0 {
        outputs.interrupted();
    }
    if rows.iter().any(|row| !row.is_empty()) {
        show(options, &rows, &mut outputs);
    }
    outputs.finish(failure)
}

/// Returns the configuration of the runs: the chosen one, the paper's, or gtx480.
fn config_name(options: &ClassifyOptions) -> &str {
    options.config.as_deref().unwrap_or_else(|| options.paper.map_or("gtx480", Paper::configuration))
}

fn plan(options: &ClassifyOptions) -> Plan {
    let mut plan = Plan::default();
    plan.read_config(config_name(options));
    options.json.iter().for_each(|target| plan.write_or_print("--json", target));
    options.csv.iter().for_each(|target| plan.write_or_print("--csv", target));
    plan
}

/// Makes the measurements on a number of threads. The results do not depend on which thread makes which measurement.
fn measure_all(
    measures: &[(&dyn Workload, Measure)],
    options: &ClassifyOptions,
    configurations: &ClassifyConfigs,
    stop: &Arc<AtomicBool>,
) -> Vec<Option<Result<Measured, Failure>>> {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = options.jobs.map_or(all, |jobs| jobs as usize);
    let task = |(workload, measure): &(&dyn Workload, Measure)| {
        let mechanism = configurations.of(*measure).map_or("census", |(_, mechanism)| mechanism);
        Task {
            name: format!("{} {mechanism}", workload.name()),
            subject: workload.name().into(),
            action: mechanism.into(),
            seconds: measured_s(workload.name(), &options.size.to_string(), mechanism),
        }
    };
    let watch = BatchWatch::start("runs", measures.iter().map(task).collect(), jobs);
    parallel::map(measures, jobs, |at, (workload, measure)| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        watch.started(at);
        let outcome = match configurations.of(*measure) {
            Some((config, mechanism)) => {
                let warn = watch.warnings(format!("{} {mechanism}", workload.name()));
                let spec = spec(workload.name(), options.size, config, mechanism);
                spec.and_then(|spec| one(&spec, Control::new(stop, None, warn))).transpose()
            }
            None => census::ratios(*workload, options.size, stop)
                .map(|ratios| ratios.map(Measured::Ratios))
                .map_err(|error| Failure::simulation(format!("{}: {error}", workload.name())))
                .transpose(),
        };
        watch.ended(at);
        outcome
    })
}

fn spec(name: &str, size: Size, config: &Arc<GpuConfig>, mechanism: &str) -> Result<RunSpec, Failure> {
    Ok(RunSpec {
        size,
        ..RunSpec::new(
            Source::find(name).map_err(Failure::usage)?,
            Arc::clone(config),
            mechanism.parse::<MechanismSpec>().map_err(Failure::usage)?,
        )
    })
}

/// Returns the report of a run, or `None` if a signal has ended it.
fn one(spec: &RunSpec, control: Control) -> Result<Option<Measured>, Failure> {
    let outcome = simulate(spec, Arc::new(control)).map_err(|error| classify(&error))?;
    match outcome.fault {
        None => Ok(Some(Measured::Report(Box::new(outcome.report)))),
        Some(RunError::Fault(SimFault::Interrupted { .. })) => Ok(None),
        Some(fault) => Err(classify(&fault)),
    }
}

/// Collects the measurements of a workload, which come in the order of [`Measure::ALL`].
fn row(
    workload: &'static str,
    config: &GpuConfig,
    measured: &mut dyn Iterator<Item = Option<Measured>>,
) -> Row {
    let mut row = Row::new(workload);
    let mut reports: [Option<Box<RunReport>>; 4] = Default::default();
    for measure in Measure::ALL {
        match measured.next().flatten() {
            Some(Measured::Report(report)) => reports[measure as usize] = Some(report),
            Some(Measured::Ratios(ratios)) => row.ratios = Some(ratios.into()),
            None => {}
        }
    }
    let [base, four_times, large, sectors] = &reports;
    let cycles = |report: &RunReport| report.totals.cycles as f64;
    let speedup = |other: &Option<Box<RunReport>>| Some(cycles(base.as_ref()?) / cycles(other.as_ref()?));
    row.cycles = base.as_ref().map(|report| report.totals.cycles);
    row.bandwidth = base.as_ref().map(|report| 100.0 * report.totals.dram.bandwidth_utilization);
    row.four_times = speedup(four_times);
    row.large = speedup(large);
    row.sectors = sectors.as_deref().and_then(sectors_per_block);
    row.behavior = base.as_deref().map(|report| Behavior::of(report, &config.sm));
    row.compare();
    row
}

/// Returns the mean number of sectors used of blocks that an L1D evicts, or `None` without evictions. Evictions of an
/// L2 do not count, because L1Ds request whole blocks from it.
fn sectors_per_block(report: &RunReport) -> Option<f64> {
    let count = |name| report.mechanism_counters.get(name).copied().unwrap_or(0);
    let (blocks, used) = (count("l1d_evictions"), count("l1d_evicted_sectors_used"));
    (blocks > 0).then(|| ratio(used, blocks))
}

/// Writes the requested files, and prints the table unless an output goes to standard output.
fn show(options: &ClassifyOptions, rows: &[Row], outputs: &mut Outputs) {
    if let Some(target) = &options.json {
        let text = serde_json::to_string_pretty(rows)
            .map_err(|e| Failure::simulation(format!("the table has no JSON form: {e}")));
        if let Some(text) = outputs.note(text) {
            outputs.write_or_print(target, &(text + "\n"));
        }
    }
    if let Some(target) = &options.csv {
        let text = options.paper.map_or_else(|| table::csv(rows), |paper| fingerprint::csv(rows, paper));
        outputs.write_or_print(target, &text);
    }
    outputs
        .show(&options.paper.map_or_else(|| table::render(rows), |paper| fingerprint::render(rows, paper)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enlarged_caches_have_their_capacity_and_sets_that_their_index_function_supports() {
        for (name, sets, expected) in [
            ("gtx480", 4096, (4096, 4)),
            ("maxwell-dai-ch4", 128, (128, 6)),
            ("maxwell-dai-ch4", 4096, (1024, 24)),
            ("gtx480-3.2.2", 128, (64, 8)),
        ] {
            let config = enlarged(&GpuConfig::load(name).expect("built in"), sets);
            assert_eq!((config.l1d.sets, config.l1d.ways), expected, "{name}");
        }
    }
}
