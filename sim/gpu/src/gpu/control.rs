//! The interface between one run and its controller: progress, the request to stop, and warnings.
use crate::bounds::Limit;
use crate::sm::fault::SimFault;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Receives a one-line warning during the run.
type Warn = Box<dyn Fn(&str) + Send + Sync>;

/// The progress of one run, the request to stop it, and the receiver of its warnings. Runs that are stopped together share only
/// the flag `stop`.
pub struct Control {
    /// Set by the controller to stop the simulation.
    pub stop: Arc<AtomicBool>,
    /// Core cycle, updated every 16,384 cycles.
    pub cycle: AtomicU64,
    /// CTAs of the launches in progress that have finished.
    pub ctas_done: AtomicU64,
    /// CTAs of the launches in progress.
    pub ctas_total: AtomicU64,
    /// Number of the current simulation, from 0 to [`Control::trials`] - 1, if the run simulates several times to choose
    /// something.
    pub trial: AtomicU64,
    /// Simulations that the run makes to choose something; 0 if it makes none.
    pub trials: AtomicU64,
    /// The time when the run must have ended, and the timeout from its beginning.
    deadline: Option<(Instant, Duration)>,
    warn: Warn,
}

impl Control {
    /// Returns the control of a run that begins now. The run ends when `stop` is set or `timeout` has passed; `warn` receives its
    /// warnings.
    pub fn new(
        stop: &Arc<AtomicBool>,
        timeout: Option<Duration>,
        warn: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let deadline = timeout.and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout)));
        Control { stop: Arc::clone(stop), deadline, warn: Box::new(warn), ..Control::default() }
    }

    /// Returns the timeout as a limit, if it has passed.
    pub fn timed_out(&self) -> Option<Limit> {
        let (deadline, timeout) = self.deadline?;
        (Instant::now() >= deadline).then_some(Limit::TimeoutS(timeout.as_secs_f64()))
    }

    /// Returns a watch on the stop flag and the timeout.
    pub fn watch(&self) -> StopWatch {
        StopWatch { stop: Arc::clone(&self.stop), deadline: self.deadline }
    }

    /// Returns the control of a simulation that belongs to this run. It obeys the same stop flag and deadline, but reports neither
    /// progress nor warnings.
    pub fn of_part(&self) -> Self {
        Control { stop: Arc::clone(&self.stop), deadline: self.deadline, ..Control::default() }
    }

    /// Passes a warning to the controller. Among simulations that choose something only the first warns, because all run the same
    /// program.
    pub fn warn(&self, text: &str) {
        if self.trials.load(Ordering::Relaxed) == 0 || self.trial.load(Ordering::Relaxed) == 0 {
            (self.warn)(text);
        }
    }
}

/// Watches the stop flag and the timeout of a run, for work between two launches.
#[derive(Clone, Debug)]
pub struct StopWatch {
    stop: Arc<AtomicBool>,
    deadline: Option<(Instant, Duration)>,
}

impl StopWatch {
    /// Returns the fault that ends the run at core cycle `now()`: an interrupt or the timeout.
    pub fn fault(&self, now: impl FnOnce() -> u64) -> Option<SimFault> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(SimFault::Interrupted { cycle: now() });
        }
        let (deadline, timeout) = self.deadline?;
        let limit = Limit::TimeoutS(timeout.as_secs_f64());
        (Instant::now() >= deadline).then(|| SimFault::Limited { limit, cycle: now() })
    }
}

impl Default for Control {
    fn default() -> Self {
        Control {
            stop: Arc::default(),
            cycle: AtomicU64::default(),
            ctas_done: AtomicU64::default(),
            ctas_total: AtomicU64::default(),
            trial: AtomicU64::default(),
            trials: AtomicU64::default(),
            deadline: None,
            warn: Box::new(|_| {}),
        }
    }
}

impl Debug for Control {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cycle", &self.cycle).finish_non_exhaustive()
    }
}
