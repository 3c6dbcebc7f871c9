//! Whether several threads are worth it: what they cost and bring differs between workloads, their phases, and hosts.
//!
//! A run goes by intervals of core cycles. The time of an interval, by what was done in it, decides which way those that follow run.
//! Now and then a short interval runs each of the other ways, to see. No result depends on it.
use super::Gpu;
use crate::sm::SimFault;
use selvedge_ptx::memory::DeviceMemory;
use std::time::Instant;

/// Core cycles of an interval that runs another way, to see.
const PROBE_CYCLES: u64 = 2048;

/// Core cycles from such intervals to the next, at first and at most: twice as many each time that the choice stays.
const FIRST_HOLD: u64 = 16 * 1024;
const MOST_HOLD: u64 = 512 * 1024;

/// The longest interval, in core cycles.
const MOST_CYCLES: u64 = 16 * 1024;

/// Work of an interval whose time says something: instructions, packets and requests of DRAM.
const LEAST_WORK: u64 = 200;

/// Another way must take less than this part of the time.
const GAIN: f64 = 0.97;

/// How an interval runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// On one thread.
    Alone,
    /// SMs run ahead of the memory system, in windows.
    Ahead,
    /// The memory system runs beside the SMs, some of which may run ahead.
    Beside,
}

impl Way {
    /// The other ways.
    fn others(self) -> [Way; 2] {
        match self {
            Way::Alone => [Way::Beside, Way::Ahead],
            Way::Ahead => [Way::Alone, Way::Beside],
            Way::Beside => [Way::Alone, Way::Ahead],
        }
    }
}

/// Which way intervals run.
pub(super) struct Pace {
    way: Way,
    /// Which of the other ways is tried next.
    next_other: usize,
    /// Core cycles until an interval runs another way.
    left: u64,
    hold: u64,
    /// Nanoseconds for a unit of work of the last intervals; 0 when there were none.
    cost: f64,
    has_stalled: bool,
}

impl Pace {
    pub fn new() -> Self {
        Pace {
            way: Way::Beside,
            next_other: 0,
            left: PROBE_CYCLES,
            hold: FIRST_HOLD,
            cost: 0.0,
            has_stalled: false,
        }
    }

    /// Returns how the next interval runs, and its core cycles. In debug builds all run beside.
    fn next(&self) -> (Way, u64) {
        if cfg!(debug_assertions) {
            return (Way::Beside, MOST_CYCLES);
        }
        match self.left {
            0 => (self.way.others()[self.next_other], PROBE_CYCLES),
            left => (self.way, left.min(MOST_CYCLES)),
        }
    }

    /// Notes that the interval that is about to be noted has ended early, since the threads had no core each.
    pub fn stall(&mut self) {
        self.has_stalled = true;
    }

    /// Notes how long an interval has taken.
    fn note(&mut self, way: Way, cycles: u64, work: u64, nanoseconds: f64) {
        let has_stalled = std::mem::take(&mut self.has_stalled);
        let cost = (work >= LEAST_WORK).then_some(nanoseconds / work as f64);
        if way == self.way {
            self.left = self.left.saturating_sub(cycles);
            if has_stalled {
                (self.left, self.cost) = (0, f64::INFINITY);
            } else if let Some(cost) = cost {
                self.cost = if self.cost == 0.0 { cost } else { (self.cost + cost) / 2.0 };
            }
            return;
        }
        if let Some(cost) = cost
            && cost < GAIN * self.cost
            && !has_stalled
        {
            *self = Pace { way, left: FIRST_HOLD, cost, ..Pace::new() };
        } else if self.next_other == 0 {
            self.next_other = 1;
        } else {
            self.next_other = 0;
            self.hold = (self.hold * 2).min(MOST_HOLD);
            self.left = self.hold;
        }
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
        let (way, cycles) = windows.pace.next();
        let sample = self.sampling.map_or(u64::MAX, |sampling| sampling.next);
        let stop = until.min(self.now + cycles).min(self.next_look).min(sample);
        let (from, work, start) = (self.now, self.progress(), Instant::now());
        let has_run = way == Way::Beside && beside && self.run_beside(stop, until, memory)?;
        if !has_run {
            self.run_plainly(stop, until, way != Way::Alone, memory)?;
        }
        let (cycles, work, time) = (self.now - from, self.progress() - work, start.elapsed());
        if let Some(windows) = &mut self.windows {
            windows.pace.note(way, cycles, work, time.as_nanos() as f64);
        }
        Ok(())
    }

    /// Runs without the memory system beside the SMs, which may run ahead where `has_windows`, to core cycle `stop` or over the idle
    /// cycles there.
    fn run_plainly(
        &mut self,
        stop: u64,
        until: u64,
        has_windows: bool,
        memory: &mut DeviceMemory,
    ) -> Result<(), SimFault> {
        while self.now < stop && self.is_working() {
            if has_windows {
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

    /// Notes intervals of 1,000 units of work that take `costs` nanoseconds each, on one thread, ahead and beside, until both other
    /// ways were tried once.
    fn try_others(pace: &mut Pace, costs: [f64; 3]) {
        let cost = |way: Way| 1000.0 * costs[way as usize];
        while pace.left > 0 {
            pace.note(pace.way, PROBE_CYCLES, 1000, cost(pace.way));
        }
        for other in pace.way.others() {
            pace.note(other, PROBE_CYCLES, 1000, cost(other));
        }
    }

    #[test]
    fn the_fastest_way_is_taken() {
        let costs =
            [([1.0, 2.0, 3.0], Way::Alone), ([3.0, 1.0, 2.0], Way::Ahead), ([2.0, 3.0, 1.0], Way::Beside)];
        for (costs, fastest) in costs {
            let mut pace = Pace::new();
            (0..4).for_each(|_| try_others(&mut pace, costs));
            assert_eq!(pace.way, fastest, "{costs:?}");
        }
    }

    #[test]
    fn other_ways_are_tried_less_often_the_longer_they_are_slower() {
        let mut pace = Pace::new();
        let holds = [0; 8].map(|_| {
            try_others(&mut pace, [2.0, 2.0, 1.0]);
            pace.left
        });
        assert!(holds.is_sorted() && holds[0] < holds[7], "{holds:?}");
        assert_eq!(holds[7], MOST_HOLD);
    }

    #[test]
    fn threads_without_a_core_each_are_not_taken_again_soon() {
        let mut pace = Pace::new();
        pace.stall();
        pace.note(Way::Beside, PROBE_CYCLES, 1000, 9000.0);
        assert_eq!(pace.left, 0, "another way is next");
        pace.note(Way::Alone, PROBE_CYCLES, 1000, 1000.0);
        assert_eq!(pace.way, Way::Alone);
        pace.left = 0;
        for other in [Way::Beside, Way::Ahead] {
            pace.stall();
            pace.note(other, 64, 1000, 1.0);
        }
        assert!(pace.way == Way::Alone && pace.left > 0);
    }

    #[test]
    fn an_interval_with_little_work_changes_nothing() {
        let mut pace = Pace::new();
        pace.note(Way::Beside, PROBE_CYCLES, 1000, 1000.0);
        pace.note(Way::Alone, PROBE_CYCLES, 10, 1.0);
        assert_eq!(pace.way, Way::Beside);
    }
}
