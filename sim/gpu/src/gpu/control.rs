//! What one run shares with the outside: how far it is, whether it must stop, and what it warns of.
use super::Limit;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Takes a warning, one line, while the run goes on.
type Warn = Box<dyn Fn(&str) + Send + Sync>;

/// How far one run is, whether it must stop, and what it warns of. The runs that the outside stops together share the flag
/// alone.
pub struct Control {
    /// Set by the outside to stop the simulation.
    pub stop: Arc<AtomicBool>,
    /// Core cycle, updated now and then.
    pub cycle: AtomicU64,
    /// CTAs of the running launch that have finished.
    pub ctas_done: AtomicU64,
    /// CTAs of the running launch.
    pub ctas_total: AtomicU64,
    /// Number of the simulation, from 0 on, among [`Control::trials`] that the run makes to choose something.
    pub trial: AtomicU64,
    /// Simulations that the run makes to choose something; 0 when it makes none.
    pub trials: AtomicU64,
    /// When the run must have ended, and how long that is from its beginning.
    deadline: Option<(Instant, Duration)>,
    warn: Warn,
}

impl Control {
    /// Creates the control of a run that begins now, which `stop` stops, and the time when it has lasted so long.
    pub fn new(
        stop: &Arc<AtomicBool>,
        timeout: Option<Duration>,
        warn: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let deadline = timeout.and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout)));
        Control { stop: Arc::clone(stop), deadline, warn: Box::new(warn), ..Control::default() }
    }

    /// Returns the timeout that has passed.
    pub fn timed_out(&self) -> Option<Limit> {
        let (deadline, timeout) = self.deadline?;
        (Instant::now() >= deadline).then_some(Limit::TimeoutS(timeout.as_secs_f64()))
    }

    /// Hands a warning to the outside. Of the simulations that choose something only the first warns, as all have the same
    /// program.
    pub(super) fn warn(&self, text: &str) {
        if self.trials.load(Ordering::Relaxed) == 0 || self.trial.load(Ordering::Relaxed) == 0 {
            (self.warn)(text);
        }
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
