//! The watchdog of a simulation: limits, progress, and the request to stop.
use super::control::Control;
use crate::bounds::Bounds;
use crate::sm::fault::SimFault;
use selvedge_state::State;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Default of [`Watchdog::patience`], in core cycles.
const WATCHDOG_CYCLES: u64 = 2_000_000;

/// Core cycles between two checks for an interrupt, each with a report of the progress.
pub const POLL_CYCLES: u64 = 16_384;

/// The last progress that the watchdog saw.
#[derive(Clone, Copy, Debug, Default, State)]
struct LastProgress {
    /// Core cycle in which `measure` was last seen to change.
    at: u64,
    /// A measure that grows with any progress.
    measure: u64,
}

/// The watchdog of a simulation.
#[derive(State)]
pub struct Watchdog {
    seen: LastProgress,
    /// Core cycles without progress after which the watchdog reports a deadlock.
    #[state(skip = "an option")]
    pub patience: u64,
    #[state(skip = "an option")]
    bounds: Bounds,
    /// The core cycle at whose end the simulation polls next.
    next_poll: u64,
    /// The core cycle at whose end the simulation next checks a limit, polls or records, whichever is first.
    pub next_look: u64,
    #[state(skip = "the caller's")]
    pub control: Arc<Control>,
}

impl Watchdog {
    /// Returns the watchdog of a simulation that begins.
    pub fn new(control: Arc<Control>) -> Self {
        Watchdog {
            seen: LastProgress::default(),
            patience: WATCHDOG_CYCLES,
            bounds: Bounds::default(),
            next_poll: POLL_CYCLES,
            next_look: 0,
            control,
        }
    }

    /// Sets the limits of the simulation, which is in core cycle `now`.
    pub fn bound(&mut self, bounds: Bounds, now: u64) {
        self.bounds = bounds;
        self.next_look = now;
    }

    /// Begins a launch in core cycle `now`, in which `ctas` CTAs are in progress or to come.
    pub fn begin(&mut self, now: u64, ctas: u64) {
        self.seen = LastProgress { at: now, measure: 0 };
        self.control.ctas_total.store(ctas, Ordering::Relaxed);
    }

    /// Checks the limits in core cycle `now`, after `instructions` thread instructions. Returns whether a poll is due.
    ///
    /// # Errors
    /// Returns an error if a limit is reached.
    pub fn check(&self, now: u64, instructions: u64) -> Result<bool, SimFault> {
        match self.bounds.reached(now, instructions) {
            Some(limit) => Err(SimFault::Limited { limit, cycle: now }),
            None => Ok(now >= self.next_poll),
        }
    }

    /// Reports the cycle to the controller, and obeys its request to stop.
    ///
    /// # Errors
    /// Returns an error at an interrupt or after the timeout.
    pub fn report(&self, now: u64) -> Result<(), SimFault> {
        self.control.cycle.store(now, Ordering::Relaxed);
        self.control.watch().fault(|| now).map_or(Ok(()), Err)
    }

    /// Takes the measure of progress in core cycle `now`. Returns whether it has not changed for too long. `slowdown` is the
    /// ratio of the core clock to the slowest clock.
    pub fn is_stuck(&mut self, now: u64, measure: u64, slowdown: u64) -> bool {
        if measure != self.seen.measure {
            self.seen = LastProgress { at: now, measure };
            return false;
        }
        now - self.seen.at > self.patience * slowdown.max(1)
    }

    /// Schedules the next poll after the one in core cycle `now`.
    pub fn polled(&mut self, now: u64) {
        self.next_poll = (now / POLL_CYCLES + 1) * POLL_CYCLES;
    }

    /// Schedules the next look. `peak` is the max number of thread instructions per cycle.
    pub fn schedule_look(&mut self, now: u64, instructions: u64, peak: u64) {
        self.next_look = self.next_poll.min(self.bounds.next(now, instructions, peak));
    }
}
