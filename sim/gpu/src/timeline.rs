//! A timeline: what launches, CTAs, warps, MSHRs and DRAM rows do in an interval of simulation, as slices of time on tracks, and
//! counts of each cycle.
//!
//! Something that holds at the end of core cycle `c` has a slice that begins at `c` at the latest.
use crate::gpu::Gpu;
use std::ops::Range;

/// Most slices and counts of a timeline: some hundred megabytes.
const MOST_EVENTS: usize = 6_000_000;

/// Where something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// Launches of a kernel slot.
    Launch {
        /// The kernel slot.
        slot: u8,
    },
    /// CTAs of an SM.
    Cta {
        /// The SM.
        sm: u16,
        /// Its CTA slot.
        slot: u8,
    },
    /// Warps of an SM.
    Warp {
        /// The SM.
        sm: u16,
        /// Its warp slot.
        slot: u8,
    },
    /// Lines that an L1D waits for.
    L1dMshr {
        /// The SM.
        sm: u16,
        /// The entry of its MSHRs.
        entry: u16,
    },
    /// Lines that an L2 slice waits for.
    L2Mshr {
        /// The slice.
        slice: u16,
        /// The entry of its MSHRs.
        entry: u16,
    },
    /// Rows of a DRAM bank.
    Bank {
        /// The channel.
        channel: u16,
        /// The sub-rank of the channel.
        sub_rank: u8,
        /// The bank of the sub-rank.
        bank: u8,
    },
}

/// What a warp does: what its next instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpState {
    /// A memory instruction has its operands: it waits for the scheduler or the load/store unit.
    ReadyForMemory,
    /// Another instruction has its operands: it waits for the scheduler or its pipe.
    Ready,
    /// A result of a load.
    Load,
    /// A result of an arithmetic instruction.
    Result,
    /// A mechanism's instructions on the warp's behalf.
    Mechanism,
    /// Its kernel's next quota of instructions.
    Quota,
    /// A fetch of the instruction cache.
    Fetch,
    /// The target of a branch.
    Branch,
    /// A barrier.
    Barrier,
    /// A fence.
    Fence,
    /// The warp has ended, and waits for what is in flight.
    Ended,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A launch is in progress.
    Launch {
        /// The kernel, among [`Timeline::kernels`].
        kernel: u16,
        /// The first core cycle in which a CTA may start.
        starts: u64,
    },
    /// A CTA is resident.
    Cta {
        /// The kernel, among [`Timeline::kernels`].
        kernel: u16,
        /// Its place in the grid.
        cta: [u32; 3],
    },
    /// A warp waits for its next instruction.
    Warp {
        /// For what.
        state: WarpState,
        /// The PTX line of the instruction.
        line: u32,
    },
    /// A line is in flight.
    Miss {
        /// Its address.
        line: u64,
    },
    /// A row is open.
    Row {
        /// Its number.
        row: u64,
    },
}

/// Something that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Where.
    pub track: Track,
    /// The core cycle at whose end it was first seen.
    pub from: u64,
    /// The core cycle at whose end it was no longer there, or the end of the interval.
    pub until: u64,
    /// What.
    pub what: Happening,
}

/// What is counted in each cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// Warp instructions that an SM issued in the cycle.
    Issued {
        /// The SM.
        sm: u16,
    },
    /// Lines in flight to an L1D at the end of the cycle.
    L1dMisses {
        /// The SM.
        sm: u16,
    },
    /// Lines in flight to an L2 slice at the end of the cycle.
    L2Misses {
        /// The slice.
        slice: u16,
    },
    /// Bursts that a DRAM channel read or wrote by commands of the cycle.
    Bursts {
        /// The channel.
        channel: u16,
    },
}

/// A count from some cycle on, until the next of the same counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What is counted.
    pub counter: Counter,
    /// The core cycle.
    pub cycle: u64,
    /// The count.
    pub value: u64,
}

/// What happened in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Names of the kernels.
    pub kernels: Vec<String>,
    /// What lasted, by the cycle in which it ended, then by track.
    pub slices: Vec<Slice>,
    /// Counts that differ from the counter's last one, by cycle, then by counter.
    pub counts: Vec<Count>,
    /// The core cycle from which on nothing more was recorded, because there was too much.
    pub cut_at: Option<u64>,
}

/// What holds at the end of a cycle.
pub(crate) struct View {
    kernels: Vec<String>,
    happenings: Vec<(Track, Happening)>,
    /// Counts of the cycle.
    levels: Vec<(Counter, u64)>,
    /// Counts since the beginning.
    totals: Vec<(Counter, u64)>,
}

impl View {
    /// Something holds.
    pub(crate) fn show(&mut self, track: Track, what: Happening) {
        self.happenings.push((track, what));
    }

    /// A counter has this value in the cycle.
    pub(crate) fn level(&mut self, counter: Counter, value: u64) {
        self.levels.push((counter, value));
    }

    /// A counter has grown to this value.
    pub(crate) fn total(&mut self, counter: Counter, value: u64) {
        self.totals.push((counter, value));
    }

    /// Returns the number of a kernel.
    pub(crate) fn kernel(&mut self, name: &str) -> u16 {
        let known = self.kernels.iter().position(|kernel| kernel == name);
        let number = known.unwrap_or_else(|| {
            self.kernels.push(name.to_owned());
            self.kernels.len() - 1
        });
        number as u16
    }
}

/// What lasts now.
struct Open {
    track: Track,
    from: u64,
    what: Happening,
}

/// The recorder of a timeline: it looks at the GPU at the end of each core cycle of its interval.
pub(crate) struct Recorder {
    interval: Range<u64>,
    view: View,
    /// By track.
    open: Vec<Open>,
    /// The last values, by counter.
    levels: Vec<(Counter, u64)>,
    totals: Vec<(Counter, u64)>,
    timeline: Timeline,
}

impl Recorder {
    /// Returns a recorder of the core cycles of `interval`.
    pub(crate) fn new(interval: Range<u64>) -> Self {
        let view =
            View { kernels: Vec::new(), happenings: Vec::new(), levels: Vec::new(), totals: Vec::new() };
        Recorder {
            interval,
            view,
            open: Vec::new(),
            levels: Vec::new(),
            totals: Vec::new(),
            timeline: Timeline::default(),
        }
    }

    /// Returns the next core cycle at whose end it looks at the GPU; none when its interval is over.
    pub(crate) fn next(&self, now: u64) -> Option<u64> {
        // The cycle before the interval is where the counters of its first one begin.
        let next = (now + 1).max(self.interval.start.saturating_sub(1));
        (next <= self.interval.end && self.timeline.cut_at.is_none()).then_some(next)
    }

    /// Looks at the GPU at the end of its core cycle.
    pub(crate) fn look(&mut self, gpu: &Gpu) {
        let now = gpu.cycle();
        let is_in = now + 1 >= self.interval.start && now <= self.interval.end;
        if !is_in || self.timeline.cut_at.is_some() {
            return;
        }
        gpu.show(&mut self.view);
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

    /// Ends what is over and begins what is new at the end of cycle `now`, at the end of the interval everything.
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
            self.timeline.slices.push(Slice { track, from, until: now, what });
            if let Some(what) = new {
                still.push(Open { track, from: now, what });
            }
        }
        still.extend(seen.map(|(track, what)| Open { track: *track, from: now, what: *what }));
        self.open = if is_over { Vec::new() } else { still };
    }

    /// Keeps the counts of cycle `now` that differ from those before.
    fn count(&mut self, now: u64) {
        let grown = self.view.totals.iter().zip(&self.totals).map(|((counter, total), (before, earlier))| {
            debug_assert_eq!(counter, before, "each cycle has the same counters");
            (*counter, total - earlier)
        });
        let mut new: Vec<(Counter, u64)> = self.view.levels.iter().copied().chain(grown).collect();
        new.sort_unstable_by_key(|(counter, _)| *counter);
        for (counter, value) in &new {
            let before = self.levels.binary_search_by_key(counter, |(known, _)| *known);
            if before.is_err() || before.is_ok_and(|at| self.levels[at].1 != *value) {
                self.timeline.counts.push(Count { counter: *counter, cycle: now, value: *value });
            }
        }
        self.levels = new;
    }

    /// Returns the timeline of what was seen until core cycle `now`.
    pub(crate) fn finish(mut self, now: u64) -> Timeline {
        let until = self.timeline.cut_at.unwrap_or(now.min(self.interval.end));
        for Open { track, from, what } in self.open {
            self.timeline.slices.push(Slice { track, from, until: until.max(from + 1), what });
        }
        self.timeline.kernels = self.view.kernels;
        self.timeline
    }
}
