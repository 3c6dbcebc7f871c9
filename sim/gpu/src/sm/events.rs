//! The events of an SM in later cycles.
use super::token::InstId;
use super::wheel::EventWheel;
use selvedge_state::State;

/// An event in a later cycle.
#[derive(Clone, Copy, Debug, State)]
pub enum SmEvent {
    /// The destination registers of an instruction are written.
    Writeback { warp: u8, pc: u32 },
    /// The instruction after a branch, barrier or fence may issue.
    Control { warp: u8 },
    /// The data of a transaction arrive, after an L1D hit or a shared-memory access.
    Data { inst: InstId },
    /// The data of an L1D hit leave the array for the mechanism.
    Hit { inst: InstId, line: u64 },
}

/// The events of an SM.
#[derive(State)]
pub struct FutureEvents {
    wheel: EventWheel<SmEvent>,
    /// Memory for the events of a cycle.
    due: Vec<SmEvent>,
}

impl FutureEvents {
    /// Returns no events. Each event will be at most `horizon` cycles ahead.
    pub fn new(horizon: u32) -> Self {
        FutureEvents { wheel: EventWheel::new(horizon), due: Vec::new() }
    }

    /// Adds an event in cycle `at`, which must be later than `now`.
    #[inline]
    pub fn push(&mut self, now: u64, at: u64, event: SmEvent) {
        self.wheel.push(now, at, event);
    }

    /// Returns the cycle of the next event after `now`; `u64::MAX` without an event.
    #[inline(always)]
    pub fn next_after(&self, now: u64) -> u64 {
        self.wheel.next_after(now).unwrap_or(u64::MAX)
    }

    /// Takes the events of cycle `now`, if it has any. [`Self::keep`] takes the list back.
    #[inline(always)]
    pub fn take(&mut self, now: u64) -> Option<Vec<SmEvent>> {
        if !self.wheel.has(now) {
            return None;
        }
        let mut due = std::mem::take(&mut self.due);
        self.wheel.take(now, &mut due);
        Some(due)
    }

    /// Keeps the memory of a list of handled events, for the next cycle.
    #[inline]
    pub fn keep(&mut self, handled: Vec<SmEvent>) {
        debug_assert!(handled.is_empty(), "the events are handled");
        self.due = handled;
    }
}
