//! Whether several threads are worth it: what they cost and bring differs between workloads, their phases, and hosts.
//!
//! A run goes by intervals of core cycles. The time of an interval, by what was done in it, decides whether those that follow run on
//! several threads or on one. Now and then a short interval runs the other way, to see. No result depends on it.
use super::Gpu;
use crate::sm::SimFault;
use selvedge_ptx::memory::DeviceMemory;
use std::time::Instant;

/// Core cycles of an interval that is run the other way, to see.
const PROBE_CYCLES: u64 = 2048;

/// Core cycles from one such interval to the next, at first and at most: twice as many each time that the choice stays.
const FIRST_HOLD: u64 = 16 * 1024;
const MOST_HOLD: u64 = 512 * 1024;

/// The longest interval, in core cycles.
const MOST_CYCLES: u64 = 16 * 1024;

/// Work of an interval whose time says something: instructions, packets and requests of DRAM.
const LEAST_WORK: u64 = 200;

/// The other way must take less than this part of the time.
const GAIN: f64 = 0.97;

/// Which way intervals run.
pub(super) struct Pace {
    /// On several threads.
    is_shared: bool,
    /// Core cycles until an interval runs the other way.
    left: u64,
    hold: u64,
    /// Nanoseconds for a unit of work of the last intervals; 0 when there were none.
    cost: f64,
    has_stalled: bool,
}

impl Pace {
    pub fn new() -> Self {
        Pace { is_shared: true, left: PROBE_CYCLES, hold: FIRST_HOLD, cost: 0.0, has_stalled: false }
    }

    /// Returns whether the next interval runs on several threads, and its core cycles. In debug builds all do.
    fn next(&self) -> (bool, u64) {
        if cfg!(debug_assertions) {
            return (true, MOST_CYCLES);
        }
        match self.left {
            0 => (!self.is_shared, PROBE_CYCLES),
            left => (self.is_shared, left.min(MOST_CYCLES)),
        }
    }

    /// Notes that the interval that is about to be noted has ended early, since the threads had no core each.
    pub fn stall(&mut self) {
        self.has_stalled = true;
    }

    /// Notes how long an interval has taken.
    fn note(&mut self, is_shared: bool, cycles: u64, work: u64, nanoseconds: f64) {
        let has_stalled = std::mem::take(&mut self.has_stalled);
        let cost = (work >= LEAST_WORK).then_some(nanoseconds / work as f64);
        if is_shared == self.is_shared {
            self.left = self.left.saturating_sub(cycles);
            if has_stalled {
                (self.left, self.cost) = (0, f64::INFINITY);
            } else if let Some(cost) = cost {
                self.cost = if self.cost == 0.0 { cost } else { (self.cost + cost) / 2.0 };
            }
            return;
        }
        self.hold = (self.hold * 2).min(MOST_HOLD);
        if let Some(cost) = cost
            && cost < GAIN * self.cost
            && !has_stalled
        {
            *self = Pace { is_shared, left: 0, hold: FIRST_HOLD, cost, has_stalled: false };
        }
        self.left = self.hold;
    }
}

impl Gpu {
    /// Runs an interval of core cycles, none after `until`; `beside` says whether the memory system may run beside the SMs.
    pub(super) fn run_interval(
        &mut self,
        until: u64,
        beside: bool,
        memory: &mut DeviceMemory,
    ) -> Result<(), SimFault> {
        if self.now >= self.next_look {
            self.look(memory)?;
        }
        let Some(windows) = &self.windows else { return Ok(()) };
        let (is_shared, cycles) = windows.pace.next();
        let sample = self.sampling.map_or(u64::MAX, |sampling| sampling.next);
        let stop = until.min(self.now + cycles).min(self.next_look).min(sample);
        let (from, work, start) = (self.now, self.progress(), Instant::now());
        let has_run = is_shared && beside && self.run_beside(stop, until, memory)?;
        if !has_run {
            self.run_plainly(stop, until, is_shared, memory)?;
        }
        let (cycles, work, time) = (self.now - from, self.progress() - work, start.elapsed());
        if let Some(windows) = &mut self.windows {
            windows.pace.note(is_shared, cycles, work, time.as_nanos() as f64);
        }
        Ok(())
    }

    /// Runs without the memory system beside the SMs, which may run ahead where `is_shared`, to core cycle `stop` or over the idle
    /// cycles there.
    fn run_plainly(
        &mut self,
        stop: u64,
        until: u64,
        is_shared: bool,
        memory: &mut DeviceMemory,
    ) -> Result<(), SimFault> {
        while self.now < stop && self.is_working() {
            if is_shared {
                self.open_window(stop, memory);
            }
            self.advance(until, memory)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes intervals until one has run the other way, all of which take `costs` nanoseconds for a unit of work, on one thread and on
    /// several.
    fn probe(pace: &mut Pace, costs: [f64; 2]) {
        let before = pace.is_shared;
        loop {
            let is_shared = if pace.left == 0 { !before } else { before };
            pace.note(is_shared, PROBE_CYCLES, 1000, 1000.0 * costs[usize::from(is_shared)]);
            if is_shared != before {
                return;
            }
        }
    }

    #[test]
    fn the_faster_way_is_taken() {
        for (costs, is_shared) in [([2.0, 1.0], true), ([1.0, 2.0], false)] {
            let mut pace = Pace::new();
            (0..2).for_each(|_| probe(&mut pace, costs));
            assert_eq!(pace.is_shared, is_shared);
        }
    }

    #[test]
    fn the_other_way_is_tried_less_often_the_longer_it_is_slower() {
        let mut pace = Pace::new();
        let holds = [0; 8].map(|_| {
            probe(&mut pace, [2.0, 1.0]);
            pace.left
        });
        assert!(holds.is_sorted() && holds[0] < holds[7], "{holds:?}");
        assert_eq!(holds[7], MOST_HOLD);
    }

    #[test]
    fn threads_without_a_core_each_are_not_taken_again_soon() {
        let mut pace = Pace::new();
        pace.stall();
        pace.note(true, PROBE_CYCLES, 1000, 9000.0);
        assert_eq!(pace.next().0, cfg!(debug_assertions), "the other way is next");
        pace.note(false, PROBE_CYCLES, 1000, 1000.0);
        assert!(!pace.is_shared);
        pace.left = 0;
        pace.stall();
        pace.note(true, 64, 1000, 1.0);
        assert!(!pace.is_shared && pace.left > 0);
    }

    #[test]
    fn an_interval_with_little_work_changes_nothing() {
        let mut pace = Pace::new();
        pace.note(true, PROBE_CYCLES, 1000, 1000.0);
        pace.note(false, PROBE_CYCLES, 10, 1.0);
        assert!(pace.is_shared);
    }
}
