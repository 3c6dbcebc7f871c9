//! Estimates a run from intervals: one pass executes the program without timing, and parts of its launches are simulated in
//! detail on several threads.
//!
//! The pass leaves a checkpoint at the start of each interval: device memory, and the GPU with warm tags of the L1Ds and the L2.
//! An interval simulates some CTAs before its counters count. Beginning and end of a launch are always intervals, and count
//! exactly. The intervals between them represent the rest of the launch, in proportion to the warp instructions.
mod clock;
mod estimate;
mod points;
mod pool;
mod windows;

pub use estimate::Estimate;
pub(crate) use estimate::IntervalCounters;

use crate::error::RunError;
use crate::launches::CurrentLaunch;
use crate::mechanism::MechanismSpec;
use crate::report::{KernelReport, Outcome, RunReport};
use crate::run::{BegunRun, RunOutcome, RunSpec, Source};
use crate::source::RecordedProgram;
use clock::LaunchClock;
use estimate::{Extrapolation, LaunchChain, Variance, half_width};
use points::{LaunchChoice, LaunchClass, LaunchInterval, LaunchSpan, class, intervals, shape};
use pool::Pool;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::{Bounds, Control, Gpu, Limit};
use selvedge_gpu::mechanism::DataNeeds;
use selvedge_gpu::mechanism::probe::{ProbeSpec, Probes};
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_hw::Engine;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::FunctionalStats;
use selvedge_state::{Reader, State, Writer};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use windows::{WindowCounters, Windows};

/// The first interval of a launch trains the mechanism at most for one of so many parts of the launch.
const MOST_TRAINING: u64 = 4;

/// Max growth of the number of intervals from run to run. A width from few intervals is uncertain.
const MOST_GROWTH: f64 = 8.0;

/// Number of intervals, precision and threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalSpec {
    /// Max intervals between beginning and end of a launch, from 1 on.
    pub most: u64,
    /// Max half width of the confidence interval of the cycles, in percent of the cycles. The run is repeated with more intervals until
    /// it is reached. `None`: one run.
    pub error: Option<f64>,
    /// Threads, from 1 on. They do not change the results.
    pub jobs: usize,
}

/// Returns the number of a percentage such as `2%`, for [`IntervalSpec::error`]. `None` if it is not from 0.01% to 100%.
#[must_use]
pub fn percent(text: &str) -> Option<f64> {
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    percent.filter(|percent| (0.01..=100.0).contains(percent))
}

/// Estimates `spec` from intervals: [`crate::report::RunReport::estimate`]. All counters of the report are estimates.
///
/// # Errors
/// The errors of [`crate::run::run`]. A trace, a check, a series or a limit on cycles, which need every cycle.
pub fn run_by_intervals(
    spec: &RunSpec,
    intervals: IntervalSpec,
    control: Arc<Control>,
) -> Result<RunOutcome, RunError> {
    check(spec)?;
    let Some(error) = intervals.error else { return run_once(spec, intervals, control) };
    let (mut spec, mut intervals) = (spec.clone(), intervals);
    let mut outcome = run_once(&spec, intervals, Arc::clone(&control))?;
    let mut growth = Growth::default();
    while let Some(next) = growth.next(&outcome, intervals.most, error / 100.0) {
        if let Source::Live(live) = &spec.workload {
            let Some(record) = live.record() else { break };
            spec.workload = Source::Recorded(Arc::new(RecordedProgram { file: None, record }));
        }
        intervals.most = next;
        let repeated = run_once(&spec, intervals, Arc::clone(&control))?;
        let is_whole = is_complete(&repeated);
        outcome = replace(outcome, repeated);
        if !is_whole {
            break;
        }
    }
    if growth.is_stuck {
        let most = intervals.most;
        let why = "more intervals change nothing";
        control.warn(&format!("--error {error}%: not reached with --intervals {most}; {why}"));
    }
    Ok(outcome)
}

/// Returns whether a run has come to its end or to its limit of instructions.
fn is_complete(outcome: &RunOutcome) -> bool {
    let is_limit = |fault: &RunError| matches!(fault.limit(), Some(Limit::MaxInstructions(_)));
    outcome.fault.as_ref().is_none_or(is_limit)
}

/// Replaces an outcome by that of a repeated run. Results and printed text of the program are of the first run. A repeated run that stops
/// early leaves the estimate of the run before.
fn replace(before: RunOutcome, repeated: RunOutcome) -> RunOutcome {
    if is_complete(&repeated) {
        let RunReport { result, error, refused, .. } = before.report;
        let report = RunReport { result, error, refused, ..repeated.report };
        return RunOutcome { report, printed: before.printed, ..repeated };
    }
    let RunReport { result, error, limit, .. } = repeated.report;
    let report = RunReport { result, error, limit, ..before.report };
    RunOutcome { report, fault: repeated.fault, ..before }
}

/// Growth of the number of intervals towards a precision, as in SMARTS (Wunderlich et al., 2003).
#[derive(Default)]
struct Growth {
    /// Intervals of the last run.
    intervals: u64,
    /// `true` if more intervals change nothing.
    is_stuck: bool,
}

impl Growth {
    /// Returns the max number of intervals for the next run. `None` if `outcome`, with `most`, is within `error`, or if more intervals
    /// would not make it better.
    fn next(&mut self, outcome: &RunOutcome, most: u64, error: f64) -> Option<u64> {
        let is_good = is_complete(outcome) && outcome.report.result != Outcome::Fail;
        let estimate = outcome.report.estimate.as_ref().filter(|_| is_good)?;
        let more = estimate.intervals > std::mem::replace(&mut self.intervals, estimate.intervals);
        let is_within = estimate.is_within(error);
        self.is_stuck = !more && !is_within;
        if !more || is_within {
            return None;
        }
        Some(more_intervals(most, estimate.share_within().map(|share| share / error)))
    }
}

/// Returns the number of intervals for a precision that is `times` better than with `most`; `None`: without a known precision.
fn more_intervals(most: u64, times: Option<f64>) -> u64 {
    // The width shrinks with the root of the number. A tenth more, because the width itself is an estimate.
    let growth = times.map_or(2.0, |times| (1.1 * times.powi(2)).clamp(1.5, MOST_GROWTH));
    (most as f64 * growth).ceil() as u64
}

/// Runs `spec` once.
fn run_once(spec: &RunSpec, intervals: IntervalSpec, control: Arc<Control>) -> Result<RunOutcome, RunError> {
    let trials = IntervalSpec { error: None, ..intervals };
    let mut begun = BegunRun::new(spec, None, &control, None, Some(trials))?;
    let start = Instant::now();
    let simulator = IntervalSimulator::new(spec, &begun, control)?;
    let work = |job| simulator.run(job);
    let mut pass = Pass::new(intervals.most, spec.bounds.instructions);
    let (ended, results) = Pool::run(intervals.jobs, &work, |pool| pass.run(&mut begun, pool));
    // The intervals come before a fault of the pass, in the order of the program.
    let (results, mut fault) = match results {
        Ok(results) => (results, ended.err()),
        Err(fault) => (BTreeMap::new(), Some(fault)),
    };
    let launches = if fault.is_none() { pass.launches } else { Vec::new() };
    let limit = launches.last().filter(|last| last.is_cut).and(spec.bounds.instructions);
    let estimated = estimate(launches, &results, &mut begun.launches.done.kernels);
    if let Some(most) = limit {
        let (limit, cycle) = (Limit::MaxInstructions(most), estimated.counters.snapshot.cycles);
        fault = Some(SimFault::Limited { limit, cycle }.into());
    }
    if let Some(fault) = &fault {
        begun.launches.program.fail(fault);
    }
    let (outcome, _) = begun.end(spec, fault, start.elapsed().as_secs_f64(), Some(estimated))?;
    Ok(outcome)
}

/// Refuses runs that need every cycle.
fn check(spec: &RunSpec) -> Result<(), RunError> {
    let refused = |what: &str, must| Err(RunError::NoIntervals { what: what.into(), must });
    match &spec.workload {
        Source::Trace(file) => return refused(&file.name, "a workload or a launch file"),
        Source::BuiltIn(_) | Source::File(_) | Source::Recorded(_) | Source::Live(_) => {}
    }
    if !matches!(spec.engine, Engine::Model | Engine::Rtl) {
        return refused(&format!("engine {}", spec.engine), "rtl or model");
    }
    // A mechanism that reads registers knows results, and skips the instructions that compute them. The counts of issued and of
    // executed instructions then differ.
    if spec.mechanism.check_needs(DataNeeds::Values, spec.workload.name()).is_err() {
        return refused(&spec.mechanism.text, "a mechanism that skips no instructions");
    }
    if spec.check_dram || spec.sample_cycles.is_some() || spec.bounds.cycles.is_some() {
        return refused("a check, a series or a limit on cycles", "a run without them");
    }
    Ok(())
}

/// A part of a launch that is simulated in detail, from a checkpoint.
struct IntervalJob {
    interval: LaunchInterval,
    launch: Arc<LaunchedKernel>,
    /// CTAs that can run at the same time.
    resident: u64,
    /// Mean number of warp instructions of the CTAs before the first one; 0 at the beginning of a launch.
    cta_instructions: f64,
    /// State of the GPU before the first CTA.
    gpu: Vec<u8>,
    memory: DeviceMemory,
    /// Limit of a launch that is simulated whole.
    bounds: Bounds,
    /// Parts of a whole launch that are simulated in detail, if not all of it is.
    windows: Option<Windows>,
    learning: Learning,
}

/// State that the mechanism has learned in the first interval of a launch, for the other intervals and the next launch. Empty if that
/// interval fails.
#[derive(Default)]
struct LearnedState(OnceLock<Vec<u8>>);

/// The duty of the first interval to give a [`LearnedState`]. Drop ends the wait of the other intervals.
struct Teacher(Arc<LearnedState>);

impl Drop for Teacher {
    fn drop(&mut self) {
        let _ = self.0.0.set(Vec::new());
    }
}

/// Role of an interval in the training of the mechanism. Both are empty if the mechanism learns nothing.
#[derive(Default)]
struct Learning {
    /// The state to start with. The interval waits for it.
    from: Option<Arc<LearnedState>>,
    /// The state that other intervals wait for.
    teacher: Option<Teacher>,
}

/// Result of a [`IntervalJob`].
struct JobResult {
    /// Counters while the interval counted. With windows, counters of the edges.
    counted: IntervalCounters,
    /// Counters of the windows between the edges, if the interval has windows.
    windows: Vec<IntervalCounters>,
    /// Warp instructions that were simulated, the warm-up included.
    simulated: u64,
    most_resident_warps: u64,
}

impl JobResult {
    fn of(gpu: &Gpu, counted: IntervalCounters, windows: Vec<IntervalCounters>) -> Self {
        JobResult {
            counted,
            windows,
            simulated: gpu.warp_instructions(),
            most_resident_warps: gpu.most_resident_warps(),
        }
    }
}

/// Everything that a thread needs to simulate a job.
struct IntervalSimulator {
    machine: Arc<GpuConfig>,
    mechanism: MechanismSpec,
    engine: Engine,
    control: Arc<Control>,
}

impl IntervalSimulator {
    fn new(spec: &RunSpec, begun: &BegunRun, control: Arc<Control>) -> Result<Self, RunError> {
        let machine = Arc::new(begun.mechanism.machine(&spec.config)?);
        Ok(IntervalSimulator { machine, mechanism: begun.mechanism.clone(), engine: spec.engine, control })
    }

    fn run(&self, job: IntervalJob) -> Result<JobResult, RunError> {
        let IntervalJob {
            interval,
            launch,
            resident,
            cta_instructions,
            gpu: state,
            bounds,
            windows,
            learning,
            ..
        } = job;
        let mut memory = job.memory;
        let probes = Probes::new(ProbeSpec::default(), self.engine);
        let parts = self.mechanism.build(&self.machine, 1, &probes)?;
        let ctas = launch.dims.ctas();
        let mut gpu = Gpu::new(&self.machine, parts, Arc::new(self.control.of_part()));
        gpu.resume(&[launch], &mut Reader::new(&state)).expect("the state of a GPU of the same options");
        drop(state);
        if let Some(taught) = &learning.from {
            let learned = taught.0.wait();
            if !learned.is_empty() {
                gpu.learn(learned).expect("the state of a GPU of the same options");
            }
        }
        if let Some(windows) = windows {
            let WindowCounters { edges, between } = windows.run(&mut gpu, &mut memory)?;
            return Ok(JobResult::of(&gpu, edges, between));
        }
        if interval.start > 0 {
            gpu.start_slowly(resident, cta_instructions);
        }
        gpu.run_until_done(interval.from, &mut memory)?;
        let before = IntervalCounters::of(&gpu);
        gpu.bound(bounds);
        let mut is_cut = false;
        match interval.until {
            Some(until) => {
                gpu.run_until_done(until, &mut memory)?;
                if !interval.is_beginning() {
                    let begun = before.snapshot.sm.warp_instructions;
                    let in_step = InStep { begun, from: interval.from, cta_instructions };
                    in_step.run_until_balanced(until, &mut gpu, &mut memory)?;
                }
            }
            None => match gpu.run_until(u64::MAX, &mut memory) {
                Err(SimFault::Limited { limit: Limit::MaxInstructions(_), .. }) => is_cut = true,
                ended => drop(ended?),
            },
        }
        if let Some(teacher) = learning.teacher.as_ref().filter(|_| !is_cut) {
            gpu.run_until_trained(ctas / MOST_TRAINING, &mut memory)?;
            let _ = teacher.0.0.set(gpu.learned());
        }
        let counted = IntervalCounters::of(&gpu).since(&before);
        Ok(JobResult::of(&gpu, counted, Vec::new()))
    }
}

/// Balance of an interval. CTAs that run in step begin and end together. If an interval begins and ends in different phases of its
/// CTAs, it has too many or too few instructions for its cycles.
struct InStep {
    /// Warp instructions when the counters started to count.
    begun: u64,
    /// CTAs that had ended then.
    from: u64,
    /// Mean number of warp instructions of a CTA.
    cta_instructions: f64,
}

impl InStep {
    /// Returns the change in the instructions of the CTAs in progress since the counters started to count, when `done` CTAs have
    /// ended.
    fn progress(&self, gpu: &Gpu, done: u64) -> f64 {
        let issued = gpu.snapshot().sm.warp_instructions - self.begun;
        issued as f64 - (done - self.from) as f64 * self.cta_instructions
    }

    /// Runs the launch from CTA `until` on until its CTAs in progress have the same progress as when the counters started to
    /// count. At most doubles the interval.
    fn run_until_balanced(
        &self,
        until: u64,
        gpu: &mut Gpu,
        memory: &mut DeviceMemory,
    ) -> Result<(), RunError> {
        let is_behind = self.progress(gpu, until) < 0.0;
        for done in until..2 * until - self.from {
            if (self.progress(gpu, done) < 0.0) != is_behind {
                break;
            }
            gpu.run_until_done(done + 1, memory)?;
        }
        Ok(())
    }
}

/// A launch that the pass has executed.
struct PassedLaunch {
    launch: CurrentLaunch,
    class: LaunchClass,
    instructions: FunctionalStats,
    /// Intervals and the numbers of their jobs; empty if other launches of the class represent the launch.
    intervals: Vec<(LaunchInterval, usize)>,
    /// `true` if a limit ends the run in this launch.
    is_cut: bool,
}

impl PassedLaunch {
    /// Ends the launch after `left` thread instructions if it has as many. Returns whether it does. The last CTA executes more, and a
    /// run ends within it.
    fn end_at(&mut self, left: u64) -> bool {
        let all = &mut self.instructions;
        self.is_cut = all.thread_instructions >= left;
        if self.is_cut {
            let share = left as f64 / all.thread_instructions as f64;
            all.warp_instructions = (all.warp_instructions as f64 * share).round() as u64;
            all.memory_instructions = (all.memory_instructions as f64 * share).round() as u64;
            all.thread_instructions = left;
        }
        self.is_cut
    }

    /// Returns the estimate of the launch. `None` if the launch has no intervals.
    fn measured(&self, results: &BTreeMap<usize, JobResult>) -> Option<MeasuredLaunch> {
        let mut counters = IntervalCounters::default();
        let (mut standing, mut ends) = (Vec::new(), Vec::new());
        for (interval, job) in &self.intervals {
            let JobResult { counted, windows, .. } = &results[job];
            if interval.is_end() {
                ends.push(counted.clone());
                continue;
            }
            counters.add(counted);
            windows.iter().for_each(|window| counters.add(window));
            standing.extend(windows.iter().cloned());
            if !interval.is_beginning() {
                standing.push(counted.clone());
            }
        }
        if !ends.is_empty() {
            counters.add(&IntervalCounters::mean(&ends));
        }
        let rest = self.instructions.warp_instructions.saturating_sub(counters.instructions());
        let extrapolation = (!standing.is_empty()).then(|| Extrapolation::new(standing, rest));
        extrapolation.iter().for_each(|rest| counters.add(&rest.counters()));
        (!self.intervals.is_empty()).then_some(MeasuredLaunch { counters, extrapolation, ends })
    }
}

/// The estimate of a launch from its own intervals.
struct MeasuredLaunch {
    counters: IntervalCounters,
    /// The part between the intervals, which the counters include.
    extrapolation: Option<Extrapolation>,
    /// The intervals that simulate the end of the launch. The counters include their mean.
    ends: Vec<IntervalCounters>,
}

/// The pass that executes the program and makes the jobs.
struct Pass {
    launches: Vec<PassedLaunch>,
    choice: LaunchChoice,
    most: u64,
    /// Thread instructions until the limit of the run, if it has one.
    left: Option<u64>,
    /// State that the last simulated launch has learned.
    learned: Option<Arc<LearnedState>>,
    /// Memory of the state of a launch that was not simulated, for the next one.
    spare: Vec<u8>,
}

impl Pass {
    fn new(most: u64, left: Option<u64>) -> Self {
        Pass {
            launches: Vec::new(),
            choice: LaunchChoice::default(),
            most,
            left,
            learned: None,
            spare: Vec::new(),
        }
    }

    /// Returns the part of the current launch that runs, and its instructions if the limit of the run ends it.
    fn span(
        &self,
        whole: LaunchSpan,
        gpu: &Gpu,
        memory: &DeviceMemory,
    ) -> Result<(LaunchSpan, Option<FunctionalStats>), RunError> {
        // A launch that is simulated whole ends at the limit without a count.
        let Some(left) = self.left.filter(|_| !whole.is_whole(self.most)) else { return Ok((whole, None)) };
        let (ctas, instructions) = gpu.count_ctas(left, &mut memory.clone())?;
        Ok(match instructions.thread_instructions < left {
            true => (whole, None),
            false => (LaunchSpan { ctas, ends: false, ..whole }, Some(instructions)),
        })
    }

    /// Executes the program without timing, and adds a job for each interval. Ends early if a job fails.
    fn run(
        &mut self,
        begun: &mut BegunRun,
        pool: &Pool<IntervalJob, JobResult, RunError>,
    ) -> Result<(), RunError> {
        if let Some(stopped) = begun.stopped.take() {
            return Err(stopped);
        }
        let (program, gpu, memory) =
            (&mut begun.launches.program, &mut begun.launches.gpu, &mut begun.launches.memory);
        let mut jobs = 0;
        let mut clock = LaunchClock::default();
        loop {
            let mut now = || {
                pool.settle(|results| {
                    for launch in &self.launches[clock.launches()..] {
                        let measured = launch.measured(results).map(|measured| measured.counters);
                        clock.add(&launch.class, measured, launch.instructions.warp_instructions);
                    }
                });
                clock.cycles()
            };
            let Some(launch) = program.next(memory, gpu.config(), &mut now)? else { break };
            if program.overlaps() {
                return Err(RunError::Overlap);
            }
            gpu.take_copies_untimed(memory);
            gpu.check_room(&launch, memory)?;
            let launch = Arc::new(launch);
            gpu.start(Arc::clone(&launch));
            let shape = shape(&launch.kernel.name, &launch.dims);
            let sm = &gpu.config().sm;
            let resident = u64::from(launch.most_ctas(sm)) * u64::from(sm.count);
            let mut span = LaunchSpan { ctas: launch.dims.ctas(), resident, ends: true };
            // The instructions of a launch of few CTAs decide later whether it is simulated.
            let taken = (!span.is_whole(self.most)).then(|| self.choice.expects(&shape));
            let mut counted = None;
            if taken == Some(true) {
                (span, counted) = self.span(span, gpu, memory)?;
            }
            let chosen = if taken == Some(false) { Vec::new() } else { intervals(span, self.most) };
            let mut passed = PassedLaunch {
                launch: CurrentLaunch::of(&launch, gpu.config()),
                class: class(shape, 0),
                instructions: FunctionalStats::default(),
                intervals: Vec::new(),
                is_cut: false,
            };
            // A launch of several intervals trains the mechanism in its first one.
            let learned = (chosen.len() > 1 && gpu.learns()).then(Arc::<LearnedState>::default);
            if learned.is_some() {
                self.learned.clone_from(&learned);
            }
            let mut whole = None;
            for interval in chosen {
                passed.instructions += gpu.execute_ctas(interval.start, u64::MAX, memory)?;
                let mut state = Writer::reusing(std::mem::take(&mut self.spare));
                gpu.save(&mut state);
                let launch = Arc::clone(&launch);
                let before = passed.instructions.warp_instructions as f64;
                let job = IntervalJob {
                    interval,
                    launch,
                    resident,
                    cta_instructions: before / interval.start.max(1) as f64,
                    gpu: state.into_bytes(),
                    memory: memory.clone(),
                    bounds: Bounds { cycles: None, instructions: self.left.filter(|_| interval.is_whole()) },
                    windows: None,
                    learning: match interval.is_beginning() {
                        true => Learning { from: None, teacher: learned.clone().map(Teacher) },
                        false => Learning { from: learned.clone(), teacher: None },
                    },
                };
                if interval.is_whole() {
                    whole = Some(job);
                    break;
                }
                passed.intervals.push((interval, jobs));
                jobs += 1;
                if !pool.add(job) {
                    return Ok(());
                }
            }
            match counted {
                Some(counted) => passed.instructions = counted,
                None => {
                    passed.instructions += match self.left {
                        // In a launch of few CTAs, the limit ends the run when every CTA is in progress.
                        Some(left) if span.is_whole(self.most) => {
                            gpu.fast_forward(|all| all.thread_instructions >= left, memory)?
                        }
                        left => gpu.execute_ctas(u64::MAX, left.unwrap_or(u64::MAX), memory)?,
                    }
                }
            }
            let is_cut = self.left.is_some_and(|left| passed.end_at(left));
            let total = passed.instructions.warp_instructions;
            passed.class = class(passed.class.0, total);
            let is_taken = self.choice.takes(&passed.class, self.most, taken);
            if let Some(job) = whole.take_if(|_| !is_taken) {
                self.spare = job.gpu;
            }
            if let Some(job) = whole {
                let warps = resident.min(job.launch.dims.ctas()) * u64::from(job.launch.warps_per_cta);
                let learning = gpu.learns().then(|| {
                    let learned = Arc::<LearnedState>::default();
                    let from = self.learned.replace(Arc::clone(&learned));
                    Learning { from, teacher: Some(Teacher(learned)) }
                });
                // A mechanism that learns from timing learns too little in windows.
                let windows = match learning {
                    None => Windows::new(total, warps, self.most, !is_cut),
                    Some(_) => None,
                };
                passed.intervals.push((job.interval, jobs));
                jobs += 1;
                if !pool.add(IntervalJob { windows, learning: learning.unwrap_or_default(), ..job }) {
                    return Ok(());
                }
            }
            self.left = self.left.map(|left| left - passed.instructions.thread_instructions);
            self.launches.push(passed);
            if is_cut {
                return Ok(());
            }
        }
        program.finish(0)
    }
}

/// The estimated counters of a run.
pub(crate) struct Estimated {
    pub counters: IntervalCounters,
    pub estimate: Estimate,
    pub most_resident_warps: u64,
}

/// Estimates the counters of a run, and appends the reports of its launches to `kernels`.
fn estimate(
    launches: Vec<PassedLaunch>,
    results: &BTreeMap<usize, JobResult>,
    kernels: &mut Vec<KernelReport>,
) -> Estimated {
    let (mut extrapolations, mut variances) = (Vec::new(), Vec::new());
    let mut each: Vec<Option<IntervalCounters>> = Vec::new();
    for launch in &launches {
        each.push(launch.measured(results).map(|measured| {
            if let Some(extrapolation) = measured.extrapolation {
                if !measured.ends.is_empty() {
                    variances.push(Variance::of_ends(&measured.ends, &extrapolation));
                }
                extrapolations.push(extrapolation);
            }
            measured.counters
        }));
    }
    variances.push(Variance::of_intervals(&extrapolations));
    // Launches after the first one start in the state that the pass has left. No interval measures its distance from the full run.
    if extrapolations.is_empty() && launches.len() > 1 {
        variances.push(None);
    }
    alike(&launches, &mut each, &mut variances);
    let mut so_far = IntervalCounters::default();
    let mut all = FunctionalStats::default();
    for (launch, measured) in launches.into_iter().zip(each) {
        let measured = measured.unwrap_or_default();
        so_far.add(&measured);
        all += launch.instructions;
        if !launch.is_cut {
            kernels.push(launch.launch.report(measured.snapshot, so_far.snapshot.clone()));
        }
    }
    let cycles = so_far.snapshot.cycles as f64;
    let simulated: u64 = results.values().map(|result| result.simulated).sum();
    Estimated {
        estimate: Estimate {
            intervals: results.len() as u64,
            detailed_share: simulated as f64 / all.warp_instructions.max(1) as f64,
            cycles,
            cycles_within: half_width(&variances),
            ipc: all.thread_instructions as f64 / cycles.max(1.0),
        },
        counters: so_far,
        most_resident_warps: results.values().map(|result| result.most_resident_warps).max().unwrap_or(0),
    }
}

/// Estimates the launches without intervals from the nearest launches of the same class with intervals, before and after. A class
/// without intervals is estimated from the class of the same shape with the most similar number of instructions. Appends the
/// variance of each class.
fn alike(
    launches: &[PassedLaunch],
    each: &mut [Option<IntervalCounters>],
    variances: &mut Vec<Option<Variance>>,
) {
    let mut classes: BTreeMap<&LaunchClass, Vec<usize>> = BTreeMap::new();
    for (at, launch) in launches.iter().enumerate() {
        classes.entry(&launch.class).or_default().push(at);
    }
    let is_measured = |members: &Vec<usize>| members.iter().any(|at| each[*at].is_some());
    let (measured, others): (Vec<_>, Vec<_>) =
        classes.into_iter().partition(|(_, members)| is_measured(members));
    let mut chains: BTreeMap<&LaunchClass, LaunchChain> = BTreeMap::new();
    for (class, members) in measured {
        let mut chain = LaunchChain::default();
        let mut gap: Vec<usize> = Vec::new();
        for at in members.iter().copied().map(Some).chain([None]) {
            match at.map(|at| (at, each[at].clone())) {
                Some((at, None)) => gap.push(at),
                Some((_, Some(measured))) => {
                    chain.push(measured);
                    gap.drain(..).for_each(|at| {
                        each[at] = Some(chain.between(launches[at].instructions.warp_instructions));
                    });
                }
                None => gap.drain(..).for_each(|at| {
                    each[at] = Some(chain.after(launches[at].instructions.warp_instructions));
                }),
            }
        }
        chains.insert(class, chain);
    }
    for (class, members) in others {
        let similar = chains.iter_mut().filter(|(other, _)| other.0 == class.0);
        if let Some((_, chain)) = similar.min_by_key(|(other, _)| other.1.abs_diff(class.1)) {
            members.iter().for_each(|at| {
                each[*at] = Some(chain.after(launches[*at].instructions.warp_instructions));
            });
        }
    }
    variances.extend(chains.values().map(LaunchChain::variance));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overrides::Override;
    use crate::simulation::Simulation;
    use selvedge_ptx::ptx::LaunchDims;
    use selvedge_workloads::workload::Size;
    use std::f64::consts::TAU;
    use std::sync::Mutex;

    /// Counts the loads that bypass the L1D in intervals after the first one of a launch, with and without the limits that the
    /// first one has learned. The loads of the kernel wait for MSHRs.
    #[test]
    fn intervals_start_with_the_limits_that_the_first_one_has_learned() {
        let few = [("sm.count", 2), ("l1d.mshr_entries", 8)];
        let few = few.map(|(key, value)| Override { key: key.into(), value: value.into() }).to_vec();
        let simulation = Simulation::builder().workload("btree").size(Size::Small).mechanism("mdb-local");
        let spec = simulation.set(few).spec().expect("valid");
        let control = Arc::new(Control::default());
        let mut begun = BegunRun::new(&spec, None, &control, None, None).expect("it starts");
        let simulator = IntervalSimulator::new(&spec, &begun, control).expect("the machine of the run");
        let bypassed = |result: &JobResult| result.counted.mechanism["bypassed_loads"];
        let sums = Mutex::new((0, 0));
        let work = |job: IntervalJob| {
            let untaught = (!job.interval.is_beginning()).then(|| IntervalJob {
                interval: job.interval,
                launch: Arc::clone(&job.launch),
                resident: job.resident,
                cta_instructions: job.cta_instructions,
                gpu: job.gpu.clone(),
                memory: job.memory.clone(),
                bounds: job.bounds,
                windows: job.windows.clone(),
                learning: Learning::default(),
            });
            let result = simulator.run(job)?;
            if let Some(untaught) = untaught {
                let mut sums = sums.lock().expect("one thread");
                sums.0 += bypassed(&result);
                sums.1 += bypassed(&simulator.run(untaught)?);
            }
            Ok(result)
        };
        let (passed, results) = Pool::run(1, &work, |pool| Pass::new(2, None).run(&mut begun, pool));
        assert!(passed.is_ok() && results.is_ok_and(|results| results.len() > 5));
        let (taught, untaught) = sums.into_inner().expect("one thread");
        assert!(taught > untaught, "{taught} {untaught}");
    }

    /// Returns how often the confidence interval of a launch contains its rate. The CTAs of the launch begin and end together, at a
    /// phase that the number of warm CTAs of an interval shifts.
    fn held_in_phases(warm: impl Fn(&LaunchInterval) -> u64) -> usize {
        const RESIDENT: u64 = 100;
        let span = LaunchSpan { ctas: 200 * RESIDENT, resident: RESIDENT, ends: true };
        let all = points::intervals(span, 6);
        let between = || all.iter().filter(|one| !one.is_beginning() && !one.is_end());
        let holds = |phase: u32| {
            let measured = between().map(|one| {
                let phase = f64::from(phase) / 100.0 + warm(one) as f64 / RESIDENT as f64;
                let mut counters = IntervalCounters::default();
                counters.snapshot.sm.warp_instructions = 1_000_000;
                counters.snapshot.cycles = (1e6 + 3e4 * (TAU * phase).cos()) as u64;
                counters
            });
            let extrapolation = Extrapolation::new(measured.collect(), 100_000_000);
            let within = half_width(&[Variance::of_intervals(std::slice::from_ref(&extrapolation))]);
            (extrapolation.counters().snapshot.cycles as f64 - 1e8).abs() <= within.expect("six intervals")
        };
        (0..100).filter(|phase| holds(*phase)).count()
    }

    #[test]
    fn warm_ups_of_different_lengths_hold_the_rate_of_ctas_that_run_in_step() {
        assert!(held_in_phases(|one| one.from - one.start) >= 95);
        let equal = held_in_phases(|_| 300);
        assert!(equal < 20, "{equal} of 100 phases with equal warm-ups");
    }

    #[test]
    fn launches_with_a_period_of_three_are_represented_by_all_their_phases() {
        let dims = LaunchDims::new([8, 1, 1], [32, 1, 1]);
        let (mut choice, class) = (LaunchChoice::default(), class(shape("k", &dims), 1000));
        let launches = 696;
        let mut chain = LaunchChain::default();
        let (mut estimated, mut gap) = (0, 0);
        for launch in 0..launches {
            if !choice.takes(&class, 6, None) {
                gap += 1;
                continue;
            }
            let mut measured = IntervalCounters::default();
            measured.snapshot.sm.warp_instructions = 1000;
            measured.snapshot.cycles = [1000, 2000, 6000][launch % 3];
            estimated += measured.snapshot.cycles;
            chain.push(measured);
            estimated += std::mem::take(&mut gap) * chain.between(1000).snapshot.cycles;
        }
        estimated += gap * chain.after(1000).snapshot.cycles;
        let share = estimated as f64 / (3000 * launches) as f64;
        assert!((share - 1.0).abs() < 0.1, "{share}");
    }

    #[test]
    fn a_percentage_is_from_a_hundredth_to_a_hundred() {
        assert_eq!(["2%", "0.01%", "100%"].map(percent), [2.0, 0.01, 100.0].map(Some));
        for text in ["2", "", "%", "x%", "0%", "0.009%", "101%", "-1%", "NaN%", "2 %"] {
            assert_eq!(percent(text), None, "{text}");
        }
    }

    #[test]
    fn the_number_of_intervals_grows_with_the_square_of_the_precision() {
        let grown = [Some(2.0), Some(1.01), Some(100.0), None].map(|times| more_intervals(10, times));
        assert_eq!(grown, [44, 15, 80, 20]);
    }

    #[test]
    fn a_first_interval_that_fails_teaches_nothing_and_lets_the_others_go_on() {
        let learned = Arc::new(LearnedState::default());
        drop(Teacher(Arc::clone(&learned)));
        assert_eq!(learned.0.get(), Some(&Vec::new()));
    }
}
