//! Computes points: each once, several at a time. Other processes can use the same store.
use crate::estimate::remember;
use crate::parameters::Parameters;
use crate::point::{Point, PointWork};
use crate::store::{Status, Store, StoreError, StoreLookup, StoredPoint};
use selvedge_sim::gpu::{Control, Limit};
use selvedge_sim::intervals::{IntervalSpec, run_by_intervals};
use selvedge_sim::ptx::FunctionalError as KernelError;
use selvedge_sim::report::Outcome;
use selvedge_sim::run::{RunError, RunSpec, run};
use selvedge_sim::sm::SimFault;
use selvedge_sim::together::isolated::IsolatedRuns;
use selvedge_sim::together::report::Verdict;
use selvedge_sim::together::{TogetherSpec, run as run_together};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval between checks of whether another process has computed a point.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Observer of the computation, called from several threads. Points are identified by their positions in the list.
pub trait StudyProgress: Sync {
    /// Called at the start of a point's simulation.
    fn started(&self, _at: usize, _control: &Arc<Control>) {}
    /// Called when a point has an entry.
    fn ended(&self, _at: usize, _entry: &StoredPoint) {}
    /// Returns a function that receives the warnings of a point's simulation.
    fn warnings(&self, _at: usize) -> Box<dyn Fn(&str) + Send + Sync> {
        Box::new(|_| {})
    }
    /// Called with a message for the user.
    fn note(&self, _text: &str) {}
}

/// Ignores all events.
impl StudyProgress for () {}

/// Counts of points by their outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Points with a result.
    pub done: usize,
    /// Points whose workload, configuration and mechanism do not support each other.
    pub unsupported: usize,
    /// Points whose simulation failed.
    pub failed: usize,
    /// Points that were simulated now instead of read from the store.
    pub computed: usize,
    /// Points without an entry at an early end.
    pub left: usize,
    /// Damaged entries, which are computed again.
    pub damaged: usize,
}

/// Options of the computation.
pub struct Orders<'a> {
    /// Number of concurrent simulations, at least 1.
    pub jobs: usize,
    /// `true` to compute failed points again.
    pub retry: bool,
    /// Flag that ends the computation. Finished points are kept.
    pub stop: &'a Arc<AtomicBool>,
    /// Expected seconds of each point. The first point of each workload starts first, then the longest ones. If empty, the list's
    /// order is kept.
    pub costs: &'a [f64],
}

/// Positions of points with the same key.
struct KeyGroup {
    places: Vec<usize>,
    /// `true` after its damaged entry has been counted.
    is_damaged: bool,
}

struct Board<'a> {
    points: &'a [Point],
    store: &'a Store,
    orders: &'a Orders<'a>,
    progress: &'a dyn StudyProgress,
    /// Groups without a worker.
    waiting: Mutex<VecDeque<KeyGroup>>,
    summary: Mutex<Summary>,
    error: Mutex<Option<StoreError>>,
}

/// Returns the first point of each workload, usually its baseline. These points start before all others: their measured times
/// correct the expected times of their workloads.
pub(crate) fn scouts(points: &[Point], costs: &[f64]) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let is_first = |at: &usize| {
        costs.get(*at).is_some_and(|cost| *cost > 0.0) && seen.insert(points[*at].work_name.as_str())
    };
    (0..points.len()).filter(is_first).collect()
}

/// Gives each point an entry, from the store or from a simulation. Points with the same key are simulated once, even across
/// processes with the same store.
///
/// # Errors
/// The store cannot be written. Finished points stay in it.
pub fn run_points(
    points: &[Point],
    store: &Store,
    orders: &Orders,
    progress: &dyn StudyProgress,
) -> Result<Summary, StoreError> {
    let mut groups: BTreeMap<&str, KeyGroup> = BTreeMap::new();
    for (at, point) in points.iter().enumerate() {
        let new = || KeyGroup { places: Vec::new(), is_damaged: false };
        groups.entry(point.key.text()).or_insert_with(new).places.push(at);
    }
    let mut groups: Vec<KeyGroup> = groups.into_values().collect();
    let cost = |group: &KeyGroup| orders.costs.get(group.places[0]).copied().unwrap_or_default();
    let scouts = scouts(points, orders.costs);
    let is_late = |group: &KeyGroup| !scouts.contains(&group.places[0]);
    groups.sort_by(|a, b| {
        (is_late(a).cmp(&is_late(b))).then(cost(b).total_cmp(&cost(a))).then(a.places.cmp(&b.places))
    });
    let board = Board {
        points,
        store,
        orders,
        progress,
        waiting: Mutex::new(groups.into()),
        summary: Mutex::default(),
        error: Mutex::default(),
    };
    store.tidy();
    board.take_what_is_there();
    let workers = orders.jobs.clamp(1, locked(&board.waiting).len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| board.work());
        }
    });
    let mut summary = locked(&board.summary).clone();
    summary.left = locked(&board.waiting).iter().map(|group| group.places.len()).sum();
    match locked(&board.error).take() {
        Some(error) => Err(error),
        None => Ok(summary),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board<'_> {
    /// Takes all entries that the store has before the simulations, so that the progress counts only the rest.
    fn take_what_is_there(&self) {
        let all: Vec<KeyGroup> = locked(&self.waiting).drain(..).collect();
        for mut group in all {
            if self.orders.stop.load(Ordering::Relaxed) || !self.take(&mut group) {
                locked(&self.waiting).push_back(group);
            }
        }
    }

    /// Ends a group if the store has its entry.
    fn take(&self, group: &mut KeyGroup) -> bool {
        match self.store.look(&self.points[group.places[0]].key) {
            StoreLookup::There(entry) if !(self.orders.retry && entry.status == Status::Failed) => {
                self.end(group, &entry);
                true
            }
            StoreLookup::Damaged(why) => {
                if !std::mem::replace(&mut group.is_damaged, true) {
                    self.progress.note(&format!("{why}: it is computed again"));
                    locked(&self.summary).damaged += 1;
                }
                false
            }
            _ => false,
        }
    }

    fn end(&self, group: &KeyGroup, entry: &StoredPoint) {
        let mut summary = locked(&self.summary);
        let count = group.places.len();
        *match entry.status {
            Status::Done => &mut summary.done,
            Status::Unsupported => &mut summary.unsupported,
            Status::Failed => &mut summary.failed,
        } += count;
        drop(summary);
        group.places.iter().for_each(|at| self.progress.ended(*at, entry));
    }

    /// Computes groups until none is left. Retries points of other processes after the rest.
    fn work(&self) {
        let mut others = 0;
        while !self.orders.stop.load(Ordering::Relaxed) && locked(&self.error).is_none() {
            let mut waiting = locked(&self.waiting);
            let Some(mut group) = waiting.pop_front() else { return };
            let left = waiting.len();
            drop(waiting);
            match self.work_on(&mut group) {
                Ok(GroupTurn::Ended) => others = 0,
                Ok(GroupTurn::OfAnother) => {
                    locked(&self.waiting).push_back(group);
                    others += 1;
                    if others > left {
                        std::thread::sleep(LOOK_AGAIN);
                    }
                }
                Ok(GroupTurn::Interrupted) => locked(&self.waiting).push_back(group),
                Err(error) => {
                    locked(&self.error).get_or_insert(error);
                    locked(&self.waiting).push_back(group);
                }
            }
        }
    }

    fn work_on(&self, group: &mut KeyGroup) -> Result<GroupTurn, StoreError> {
        let at = group.places[0];
        let point = &self.points[at];
        let Some(lock) = self.store.lock(&point.key)? else { return Ok(GroupTurn::OfAnother) };
        // Another process may have computed the point before the lock was taken.
        if self.take(group) {
            return Ok(GroupTurn::Ended);
        }
        let control = Control::new(self.orders.stop, point.timeout, self.progress.warnings(at));
        let control = Arc::new(control);
        self.progress.started(at, &control);
        let isolated = Arc::new(self.store.clone());
        let start = Instant::now();
        let Some(entry) = compute(point, isolated, control) else { return Ok(GroupTurn::Interrupted) };
        self.store.keep(&point.key, &entry, lock)?;
        if let (Some(report), Status::Done) = (&entry.report, entry.status) {
            remember(self.store, point, start.elapsed(), report);
        }
        locked(&self.summary).computed += 1;
        self.end(group, &entry);
        Ok(GroupTurn::Ended)
    }
}

/// Outcome of one attempt at a group.
enum GroupTurn {
    Ended,
    OfAnother,
    Interrupted,
}

/// Simulates a point. Returns `None` after an interrupt.
fn compute(point: &Point, isolated: Arc<dyn IsolatedRuns>, control: Arc<Control>) -> Option<StoredPoint> {
    let simulated = catch_unwind(AssertUnwindSafe(|| match &point.work {
        Err(reason) => Some((Status::Unsupported, Some(reason.clone()), None)),
        Ok(PointWork::One(spec)) => one(spec, &point.parameters, control),
        Ok(PointWork::Together(spec)) => {
            together(&TogetherSpec { isolated: Some(isolated), ..(**spec).clone() }, control)
        }
    }));
    let (status, reason, report) = simulated.unwrap_or_else(|_| {
        Some((Status::Failed, Some("the simulator has panicked: this is an error of its own".into()), None))
    })?;
    Some(StoredPoint::new(point, status, reason, report))
}

/// Status, reason and report; `None` after an interrupt.
type PointResult = Option<(Status, Option<String>, Option<Value>)>;

fn one(spec: &RunSpec, parameters: &Parameters, control: Arc<Control>) -> PointResult {
    let ran = match parameters.intervals {
        Some(most) => {
            // The points of a study take all cores.
            let intervals = IntervalSpec { most, error: parameters.error_percent, jobs: 1 };
            run_by_intervals(spec, intervals, control)
        }
        None => run(spec, control),
    };
    let outcome = match ran {
        Ok(outcome) => outcome,
        Err(error) => return refused(&error),
    };
    let wrong = matches!(outcome.report.result, Outcome::Fail | Outcome::Incomplete);
    let wrong = wrong.then(|| outcome.report.error.clone()).flatten();
    judged(outcome.fault.as_ref(), wrong, &outcome.report)
}

fn together(spec: &TogetherSpec, control: Arc<Control>) -> PointResult {
    let outcome = match run_together(spec, control) {
        Ok(outcome) => outcome,
        Err(error) => return refused(&error),
    };
    let wrong = outcome.report.programs.iter().find(|program| program.result == Verdict::Fail);
    let wrong = wrong.map(|program| {
        let why = program.error.as_deref().unwrap_or("the results differ from the CPU reference");
        format!("{}: {why}", program.workload)
    });
    judged(outcome.fault.as_ref(), wrong, &outcome.report)
}

/// Returns the outcome of a run, with a `fault`, or with the reason for `wrong` results.
fn judged(fault: Option<&RunError>, wrong: Option<String>, report: &impl Serialize) -> PointResult {
    let report = || serde_json::to_value(report).ok();
    match fault {
        None => match wrong {
            None => Some((Status::Done, None, report())),
            Some(why) => Some((Status::Failed, Some(why), report())),
        },
        Some(fault) => match fault.limit() {
            Some(Limit::TimeoutS(_)) => Some((Status::Failed, Some(fault.to_string()), None)),
            Some(_) => Some((Status::Done, None, report())),
            None => refused(fault),
        },
    }
}

/// Returns the outcome of a run that failed to start or broke off.
fn refused(error: &RunError) -> PointResult {
    let status = match error {
        RunError::Fault(SimFault::Interrupted { .. }) => return None,
        RunError::Mechanism(_) | RunError::Share(_) | RunError::NoProgram { .. } => Status::Unsupported,
        RunError::NoIntervals { .. } => Status::Unsupported,
        RunError::Fault(SimFault::TooLarge { .. } | SimFault::Cluster { .. } | SimFault::Launch(_)) => {
            Status::Unsupported
        }
        RunError::Kernel(KernelError::Launch { .. }) => Status::Unsupported,
        _ => Status::Failed,
    };
    Some((status, Some(error.to_string()), None))
}
