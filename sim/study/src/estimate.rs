//! Estimates the time of points: from runs of the same work in the store, else from measurements on another host, else from
//! counts of instructions.
use crate::key::hash;
use crate::point::{Point, PointWork};
use crate::speeds::Speeds;
use crate::store::{Status, Store};
use selvedge_sim::config::GpuConfig;
use selvedge_sim::functional::{FunctionalSpec, run as execute};
use selvedge_sim::gpu::Control;
use selvedge_sim::limits::Limits;
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::run::{RunSpec, Source, run};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Memory of a process in bytes, without its workload's data; 25 MB were measured.
const PROCESS_BYTES: u64 = 256 << 20;
/// Memory per byte of device memory, in host program, caches and reference; 1.4 to 2 were measured.
const BYTES_PER_DEVICE_BYTE: u64 = 3;
/// Memory of a process whose workload could not be counted.
const UNKNOWN_BYTES: u64 = 4 << 30;

/// Number of timed short runs; other processes may slow down a single one.
const SHORT_RUNS: usize = 3;

/// Source of an estimate, from the most to the least accurate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The point has a result, or cannot have one.
    Ended,
    /// The point has run before with the same mechanism and engine, on any configuration.
    Run,
    /// The workload has run before with another mechanism.
    Workload,
    /// The workload was measured on another host.
    Measured,
    /// The instructions were counted without timing.
    Count,
    /// No data: the estimate is the mean of the other points.
    Nothing,
}

/// Estimated time of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeEstimate {
    /// Seconds on one core.
    pub seconds: f64,
    /// Source of the estimate.
    pub basis: Basis,
}

/// Time of a run in the store, independent of the version of the simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cost {
    mechanism: String,
    engine: String,
    seconds: f64,
    cycles: u64,
    warp_instructions: u64,
}

/// Work of a workload, independent of timing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct CountedWork {
    warp_instructions: u64,
    /// Bytes of device memory, or of a trace.
    bytes: u64,
}

/// Returns the folder for the times of a workload's runs, relative to the store.
fn folder(point: &Point) -> PathBuf {
    PathBuf::from("costs").join(&point.work_name[..32])
}

fn count_file(point: &Point) -> PathBuf {
    PathBuf::from("counts").join(format!("{}.json", &point.work_name[..32]))
}

/// Returns the last time of a run with this point's workload, mechanism and engine, on any configuration. It includes the check
/// of the results.
pub(crate) fn remembered_s(store: &Store, point: &Point) -> Option<f64> {
    let p = &point.parameters;
    let costs: Vec<Cost> = store.records(&folder(point));
    let same = costs.into_iter().find(|cost| (&cost.mechanism, &cost.engine) == (&p.mechanism, &p.engine));
    same.map(|cost| cost.seconds)
}

/// Stores the measured time of a point.
pub(crate) fn remember(store: &Store, point: &Point, taken: Duration, report: &Value) {
    let count = |name: &str| report["totals"][name].as_u64().unwrap_or_default();
    let (mechanism, engine) = (&point.parameters.mechanism, &point.parameters.engine);
    let cost = Cost {
        mechanism: mechanism.clone(),
        engine: engine.clone(),
        seconds: taken.as_secs_f64(),
        cycles: count("cycles"),
        warp_instructions: count("warp_instructions"),
    };
    let name = hash(format!("{mechanism} {engine}").as_bytes());
    store.keep_record(&folder(point).join(format!("{}.json", &name[..32])), &cost);
}

/// Estimates the time of each of `points` that has no result yet. Counts instructions without timing if no other data is
/// available, for at most `budget`.
pub fn estimate(
    points: &[Point],
    store: &Store,
    budget: Duration,
    stop: &Arc<AtomicBool>,
) -> Vec<TimeEstimate> {
    let end = Instant::now() + budget;
    let mut seen = std::collections::BTreeSet::new();
    // Points with the same key run once.
    let is_open = |point: &Point| {
        let ended = || store.get(point).is_some_and(|entry| entry.status != Status::Failed);
        seen.insert(point.key.clone()) && point.work.is_ok() && !ended()
    };
    let open: Vec<bool> = points.iter().map(is_open).collect();
    let mut costs: BTreeMap<&str, Vec<Cost>> = BTreeMap::new();
    for point in points.iter().zip(&open).filter(|(_, open)| **open).map(|(point, _)| point) {
        costs.entry(&point.work_name).or_insert_with(|| store.records(&folder(point)));
    }
    let mut speed = Speed::of(costs.values().flatten());
    let mut host = HostSpeed::default();
    let mut counts: BTreeMap<&str, Option<CountedWork>> = BTreeMap::new();
    let mut estimates = Vec::new();
    for (point, open) in points.iter().zip(open) {
        if !open {
            estimates.push(TimeEstimate { seconds: 0.0, basis: Basis::Ended });
            continue;
        }
        let known = from_runs(point, &costs[point.work_name.as_str()]);
        let estimate = known.or_else(|| host.measured(point)).or_else(|| {
            let count = counts.entry(&point.work_name).or_insert_with(|| count(point, store, end, stop));
            let count = (*count)?.warp_instructions;
            let speed = *speed.get_or_insert_with(Speed::measured);
            let seconds = count as f64 / speed.warp_instructions_per_s * factor(&point.parameters.mechanism);
            Some(TimeEstimate { seconds, basis: Basis::Count })
        });
        let estimate = estimate.unwrap_or(TimeEstimate { seconds: f64::NAN, basis: Basis::Nothing });
        estimates.push(limited(estimate, point, &mut speed));
    }
    fill(&mut estimates);
    estimates
}

/// Returns the memory in bytes that a process needs to simulate each of `points`. Counts unknown workloads without timing, for at
/// most `budget`.
pub fn memory_needed(points: &[Point], store: &Store, budget: Duration, stop: &Arc<AtomicBool>) -> Vec<u64> {
    let end = Instant::now() + budget;
    let mut counts: BTreeMap<&str, Option<CountedWork>> = BTreeMap::new();
    let mut needed = Vec::new();
    for point in points {
        let count = counts.entry(&point.work_name).or_insert_with(|| count(point, store, end, stop));
        needed.push(count.map_or(UNKNOWN_BYTES, |count| PROCESS_BYTES + BYTES_PER_DEVICE_BYTE * count.bytes));
    }
    needed
}

/// Returns the time of a mechanism relative to the baseline.
fn factor(mechanism: &str) -> f64 {
    Speeds::measured().map_or(1.0, |speeds| speeds.mechanism(mechanism))
}

/// Speed of this host, measured on first use.
#[derive(Default)]
struct HostSpeed {
    /// Time of the short run here, relative to the host of the measurements.
    slower: Option<f64>,
}

impl HostSpeed {
    /// Returns the time of a point on this host, from the measurements on another one.
    fn measured(&mut self, point: &Point) -> Option<TimeEstimate> {
        let speeds = Speeds::measured()?;
        let seconds = speeds.seconds(point)?;
        let slower = *self.slower.get_or_insert_with(|| short_run_s() / speeds.short_run_s);
        Some(TimeEstimate { seconds: seconds * slower, basis: Basis::Measured })
    }
}

/// Estimates from runs of the same workload: the run with the same mechanism and engine, else the mean of the other runs,
/// corrected by the factors of the mechanisms. Runs with the same engine are preferred.
fn from_runs(point: &Point, costs: &[Cost]) -> Option<TimeEstimate> {
    let p = &point.parameters;
    let same_engine: Vec<&Cost> = costs.iter().filter(|cost| cost.engine == p.engine).collect();
    if let Some(same) = same_engine.iter().find(|cost| cost.mechanism == p.mechanism) {
        return Some(TimeEstimate { seconds: same.seconds, basis: Basis::Run });
    }
    let like: Vec<&Cost> = if same_engine.is_empty() { costs.iter().collect() } else { same_engine };
    let sum: f64 = like.iter().map(|cost| cost.seconds / factor(&cost.mechanism)).sum();
    let seconds = sum / like.len() as f64 * factor(&p.mechanism);
    (!like.is_empty()).then_some(TimeEstimate { seconds, basis: Basis::Workload })
}

/// Limits the estimate to the time of the run's max number of cycles. Stored runs had the same limits.
fn limited(estimate: TimeEstimate, point: &Point, speed: &mut Option<Speed>) -> TimeEstimate {
    let most = [point.parameters.max_cycles, point.parameters.cycles_together];
    let Some(most) = most.into_iter().flatten().min() else { return estimate };
    let is_of_runs = matches!(estimate.basis, Basis::Run | Basis::Workload);
    let is_together = point.parameters.cycles_together.is_some();
    if is_of_runs || (estimate.basis == Basis::Measured && is_together) {
        return estimate;
    }
    let seconds = most as f64 / speed.get_or_insert_with(Speed::measured).cycles_per_s;
    if is_together || estimate.seconds.is_nan() || estimate.seconds > seconds {
        return TimeEstimate { seconds, basis: Basis::Count };
    }
    estimate
}

/// Sets unknown estimates to the mean of the known ones.
fn fill(estimates: &mut [TimeEstimate]) {
    let known = estimates.iter().filter(|one| !matches!(one.basis, Basis::Ended | Basis::Nothing));
    let known: Vec<f64> = known.map(|one| one.seconds).collect();
    let mean = if known.is_empty() { 1.0 } else { known.iter().sum::<f64>() / known.len() as f64 };
    estimates.iter_mut().filter(|one| one.basis == Basis::Nothing).for_each(|one| one.seconds = mean);
}

/// Speed of simulations on this host.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Speed {
    warp_instructions_per_s: f64,
    cycles_per_s: f64,
}

impl Speed {
    /// Returns the mean speed of runs; `None` without runs.
    fn of<'c>(costs: impl Iterator<Item = &'c Cost>) -> Option<Self> {
        let (mut seconds, mut instructions, mut cycles) = (0.0, 0, 0);
        for cost in costs {
            seconds += cost.seconds;
            instructions += cost.warp_instructions;
            cycles += cost.cycles;
        }
        (seconds > 0.0 && instructions > 0 && cycles > 0).then(|| Speed {
            warp_instructions_per_s: instructions as f64 / seconds,
            cycles_per_s: cycles as f64 / seconds,
        })
    }

    /// Measures the speed in a short run.
    fn measured() -> Self {
        let (totals, seconds) = timed_short_run();
        let per_s = |count: u64| (count.max(1)) as f64 / seconds;
        Speed { warp_instructions_per_s: per_s(totals.0), cycles_per_s: per_s(totals.1) }
    }
}

/// Returns the seconds of a short run on this host, as the minimum of several runs.
pub fn short_run_s() -> f64 {
    (0..SHORT_RUNS).map(|_| timed_short_run().1).fold(f64::INFINITY, f64::min)
}

/// Returns the warp instructions and cycles of a short run, and its seconds.
fn timed_short_run() -> ((u64, u64), f64) {
    let start = Instant::now();
    let totals = short_run().unwrap_or_default();
    (totals, start.elapsed().as_secs_f64().max(1e-6))
}

/// Runs a small workload and returns its warp instructions and cycles.
fn short_run() -> Option<(u64, u64)> {
    let spec = RunSpec::new(
        Source::find("atax").ok()?,
        Arc::new(GpuConfig::load("gtx480").ok()?),
        MechanismSpec::base(),
    );
    let report = run(&spec, Arc::new(Control::default())).ok()?.report;
    Some((report.totals.warp_instructions, report.totals.cycles))
}

/// Returns the counts of a point's workloads. They come from the store or are counted now. Returns `None` if counting does not
/// finish before `end`.
fn count(point: &Point, store: &Store, end: Instant, stop: &Arc<AtomicBool>) -> Option<CountedWork> {
    let file = count_file(point);
    if let Some(known) = store.record(&file) {
        return Some(known);
    }
    let (sources, size, input) = match point.work.as_ref().ok()? {
        PointWork::One(spec) => (vec![&spec.workload], spec.size, spec.input.clone()),
        PointWork::Together(spec) => (spec.workloads.iter().collect(), spec.size, None),
    };
    let mut sum = CountedWork { warp_instructions: 0, bytes: 0 };
    for source in sources {
        let one = match source {
            Source::Trace(trace) => CountedWork {
                warp_instructions: trace
                    .summaries()
                    .ok()?
                    .iter()
                    .map(|launch| launch.warp_instructions)
                    .sum(),
                bytes: trace
                    .inputs
                    .iter()
                    .filter_map(|file| file.metadata().ok())
                    .map(|file| file.len())
                    .sum(),
            },
            source => {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() || stop.load(Ordering::Relaxed) {
                    return None;
                }
                let spec = FunctionalSpec {
                    workload: source.clone(),
                    size,
                    input: input.clone(),
                    config: (*point.config).clone(),
                    max_memory: Limits::default().memory,
                    check: false,
                };
                let outcome = execute(&spec, &Control::new(stop, Some(left), |_: &str| {})).ok()?;
                if outcome.fault.is_some() {
                    return None;
                }
                let report = outcome.report;
                CountedWork { warp_instructions: report.warp_instructions, bytes: report.device_bytes }
            }
        };
        sum.warp_instructions += one.warp_instructions;
        sum.bytes += one.bytes;
    }
    store.keep_record(&file, &sum);
    Some(sum)
}
