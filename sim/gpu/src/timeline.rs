//! A timeline of an interval of simulation. It has slices of time on tracks for launches, CTAs, warps, MSHRs and DRAM rows, and
//! counts per cycle.
//!
//! The slice of a state that holds at the end of core cycle `c` begins at `c` or earlier.
use std::ops::Range;

/// Max slices and counts of a timeline, some hundred megabytes.
const MOST_EVENTS: usize = 6_000_000;

/// Track of a timeline, one per hardware slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// Launches in a kernel slot.
    Launch {
        /// Number of the kernel slot.
        slot: u8,
    },
    /// CTAs in a CTA slot of an SM.
    Cta {
        /// Number of the SM.
        sm: u16,
        /// CTA slot of the SM.
        slot: u8,
    },
    /// Warps in a warp slot of an SM.
    Warp {
        /// Number of the SM.
        sm: u16,
        /// Warp slot of the SM.
        slot: u8,
    },
    /// Lines in flight to an L1D, in one MSHR.
    L1dMshr {
        /// Number of the SM.
        sm: u16,
        /// Number of the MSHR.
        entry: u16,
    },
    /// Lines in flight to an L2 slice, in one MSHR.
    L2Mshr {
        /// Number of the slice.
        slice: u16,
        /// Number of the MSHR.
        entry: u16,
    },
    /// Open rows of a DRAM bank.
    Bank {
        /// Number of the channel.
        channel: u16,
        /// Sub-rank of the channel.
        sub_rank: u8,
        /// Bank of the sub-rank.
        bank: u8,
    },
}

/// Reason for which the next instruction of a warp waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpState {
    /// A memory instruction has its operands and waits for the scheduler or the load/store unit.
    ReadyForMemory,
    /// Another instruction has its operands and waits for the scheduler or its pipe.
    Ready,
    /// The instruction waits for the result of a load.
    Load,
    /// The instruction waits for the result of an arithmetic instruction.
    Result,
    /// The warp waits for instructions that a mechanism executes for it.
    Mechanism,
    /// The warp waits for the next instruction quota of its kernel.
    Quota,
    /// The warp waits for an instruction fetch.
    Fetch,
    /// The warp waits for the target of a branch.
    Branch,
    /// The warp waits at a barrier.
    Barrier,
    /// The warp waits at a fence.
    Fence,
    /// The warp has ended and waits for its instructions in flight.
    Ended,
}

/// State that a slice of the timeline shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A launch is in progress.
    Launch {
        /// Index of the kernel in [`Timeline::kernels`].
        kernel: u16,
        /// First core cycle in which a CTA may start.
        starts: u64,
    },
    /// A CTA is resident.
    Cta {
        /// Index of the kernel in [`Timeline::kernels`].
        kernel: u16,
        /// Coordinates of the CTA in the grid.
        cta: [u32; 3],
    },
    /// A warp waits for its next instruction.
    Warp {
        /// Reason for the wait.
        state: WarpState,
        /// PTX line of the instruction.
        line: u32,
    },
    /// A line is in flight.
    Miss {
        /// Address of the line.
        line: u64,
    },
    /// A row is open.
    Row {
        /// Number of the row.
        row: u64,
    },
}

/// A state with its duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackSlice {
    /// Track of the slice.
    pub track: Track,
    /// First core cycle at whose end the state held.
    pub from: u64,
    /// First core cycle at whose end the state no longer held, or the end of the interval.
    pub until: u64,
    /// State that the slice shows.
    pub what: Happening,
}

/// Counter with a value per cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimelineCounter {
    /// Warp instructions that an SM issued in the cycle.
    Issued {
        /// Number of the SM.
        sm: u16,
    },
    /// Lines in flight to an L1D at the end of the cycle.
    L1dMisses {
        /// Number of the SM.
        sm: u16,
    },
    /// Lines in flight to an L2 slice at the end of the cycle.
    L2Misses {
        /// Number of the slice.
        slice: u16,
    },
    /// Bursts that commands of the cycle read or wrote in a DRAM channel.
    Bursts {
        /// Number of the channel.
        channel: u16,
    },
}

/// Value of a counter from a cycle on, until the next value of the same counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterValue {
    /// The counter.
    pub counter: TimelineCounter,
    /// First core cycle with the value.
    pub cycle: u64,
    /// Value of the counter.
    pub value: u64,
}

/// States and counts of an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Names of the kernels.
    pub kernels: Vec<String>,
    /// Slices, sorted by the cycle in which they ended, then by track.
    pub slices: Vec<TrackSlice>,
    /// Counts that differ from the previous one of their counter, sorted by cycle, then by counter.
    pub counts: Vec<CounterValue>,
    /// Core cycle at which the recording stopped because of its size.
    pub cut_at: Option<u64>,
}

/// States and counts at the end of a cycle.
pub(crate) struct CycleView {
    kernels: Vec<String>,
    happenings: Vec<(Track, Happening)>,
    /// Counts of the cycle.
    levels: Vec<(TimelineCounter, u64)>,
    /// Counts since the start of the simulation.
    totals: Vec<(TimelineCounter, u64)>,
}

impl CycleView {
    /// Adds a state that holds.
    pub(crate) fn show(&mut self, track: Track, what: Happening) {
        self.happenings.push((track, what));
    }

    /// Adds a counter with its value of the cycle.
    pub(crate) fn level(&mut self, counter: TimelineCounter, value: u64) {
        self.levels.push((counter, value));
    }

    /// Adds a counter with its value since the start.
    pub(crate) fn total(&mut self, counter: TimelineCounter, value: u64) {
        self.totals.push((counter, value));
    }

    /// Returns the index of a kernel. Adds an unknown kernel.
    pub(crate) fn kernel(&mut self, name: &str) -> u16 {
        let known = self.kernels.iter().position(|kernel| kernel == name);
        let number = known.unwrap_or_else(|| {
            self.kernels.push(name.to_owned());
            self.kernels.len() - 1
        });
        number as u16
    }
}

/// A state that holds at the moment.
struct Open {
    track: Track,
    from: u64,
    what: Happening,
}

/// Recorder of a timeline. It reads the state of the GPU at the end of each core cycle of its interval.
pub(crate) struct TimelineRecorder {
    interval: Range<u64>,
    view: CycleView,
    /// Slices that have not ended, sorted by track.
    open: Vec<Open>,
    /// Last values, sorted by counter.
    levels: Vec<(TimelineCounter, u64)>,
    totals: Vec<(TimelineCounter, u64)>,
    timeline: Timeline,
}

impl TimelineRecorder {
    /// Creates a recorder of the core cycles of `interval`.
    pub(crate) fn new(interval: Range<u64>) -> Self {
        let view =
            CycleView { kernels: Vec::new(), happenings: Vec::new(), levels: Vec::new(), totals: Vec::new() };
        TimelineRecorder {
            interval,
            view,
            open: Vec::new(),
            levels: Vec::new(),
            totals: Vec::new(),
            timeline: Timeline::default(),
        }
    }

    /// Returns the next core cycle at whose end the recorder must read the GPU; `None` after its interval.
    pub(crate) fn next(&self, now: u64) -> Option<u64> {
        // The counters of the first cycle of the interval start from their values in the cycle before.
        let next = (now + 1).max(self.interval.start.saturating_sub(1));
        (next <= self.interval.end && self.timeline.cut_at.is_none()).then_some(next)
    }

    /// Records the state of the GPU at the end of core cycle `now`, which `show` adds.
    pub(crate) fn look(&mut self, now: u64, show: impl FnOnce(&mut CycleView)) {
        let is_in = now + 1 >= self.interval.start && now <= self.interval.end;
        if !is_in || self.timeline.cut_at.is_some() {
            return;
        }
        show(&mut self.view);
        if now >= self.interval.start {
            self.follow(now);
        }
        if self.interval.contains(&now) {
            self.count(now);
        }
        self.view.happenings.clear();
        self.view.levels.clear();
        self.totals.clear();
        std::mem::swap(&mut self.totals, &mut self.view.totals);
        if self.timeline.slices.len() + self.timeline.counts.len() > MOST_EVENTS {
            self.timeline.cut_at = Some(now);
        }
    }

    /// Ends the slices of states that no longer hold at the end of cycle `now`, and begins the slices of new states. Ends all
    /// slices at the end of the interval.
    fn follow(&mut self, now: u64) {
        let is_over = now == self.interval.end;
        let seen = &mut self.view.happenings;
        seen.sort_unstable_by_key(|(track, _)| *track);
        let mut still = Vec::with_capacity(seen.len());
        let mut seen = seen.iter().peekable();
        for open in self.open.drain(..) {
            while let Some((track, what)) = seen.next_if(|(track, _)| *track < open.track) {
                still.push(Open { track: *track, from: now, what: *what });
            }
            let new = seen.next_if(|(track, _)| *track == open.track).map(|(_, what)| *what);
            if new == Some(open.what) && !is_over {
                still.push(open);
                continue;
            }
            let Open { track, from, what } = open;
            self.timeline.slices.push(TrackSlice { track, from, until: now, what });
            if let Some(what) = new {
                still.push(Open { track, from: now, what });
            }
        }
        still.extend(seen.map(|(track, what)| Open { track: *track, from: now, what: *what }));
        self.open = if is_over { Vec::new() } else { still };
    }

    /// Keeps the counts of cycle `now` that differ from the previous ones.
    fn count(&mut self, now: u64) {
        let grown = self.view.totals.iter().zip(&self.totals).map(|((counter, total), (before, earlier))| {
            debug_assert_eq!(counter, before, "each cycle has the same counters");
            (*counter, total - earlier)
        });
        let mut new: Vec<(TimelineCounter, u64)> = self.view.levels.iter().copied().chain(grown).collect();
        new.sort_unstable_by_key(|(counter, _)| *counter);
        for (counter, value) in &new {
            let before = self.levels.binary_search_by_key(counter, |(known, _)| *known);
            if before.is_err() || before.is_ok_and(|at| self.levels[at].1 != *value) {
                self.timeline.counts.push(CounterValue { counter: *counter, cycle: now, value: *value });
            }
        }
        self.levels = new;
    }

    /// Returns the timeline up to core cycle `now`.
    pub(crate) fn finish(mut self, now: u64) -> Timeline {
        let until = self.timeline.cut_at.unwrap_or(now.min(self.interval.end));
        for Open { track, from, what } in self.open {
            self.timeline.slices.push(TrackSlice { track, from, until: until.max(from + 1), what });
        }
        self.timeline.kernels = self.view.kernels;
        self.timeline
    }
}
