//! What the schedulers' cycles went on, as CABA's figure 2 divides them.
//!
//! A cycle in which a scheduler issued is active. Any other counts under the first of these that applies to a warp that
//! the scheduler may choose: its next instruction is a memory instruction with its operands, which the load/store unit
//! (or a mechanism or quota that limits it) does not take: *memory*; likewise for the other pipes: *compute*; operands or the
//! destination are still under way, or it waits for a mechanism's instructions on its behalf: *data dependence*; its next
//! instruction is still being fetched by the instruction cache,
//! where there is one: *fetch*. Else there is no warp, or each is at a barrier or fence, has a
//! branch under way or has exited: *idle*.
use super::Sm;
use super::pipes::PipeKind;
use super::scheduler::WarpMask;
use crate::stats::{IssueCycle, SmCounters};

impl Sm {
    /// The counters with all cycles up to `now`, those that the SM has slept through included.
    pub fn counters_at(&self, now: u64) -> SmCounters {
        let mut counters = self.counters;
        self.each_stall(0, |cycle| counters.scheduler_cycles.add(cycle, now - self.counted_until));
        counters
    }

    /// Counts the cycles after those counted, up to `cycle`, in which nothing has changed.
    pub(super) fn count_stalls_until(&mut self, cycle: u64) {
        if cycle > self.counted_until {
            let mut cycles = self.counters.scheduler_cycles;
            self.each_stall(0, |stall| cycles.add(stall, cycle - self.counted_until));
            self.counters.scheduler_cycles = cycles;
            self.counted_until = cycle;
        }
    }

    /// Counts cycle `now`, in which the schedulers whose bits are set in `issued` issued.
    pub(super) fn count_issue(&mut self, issued: u32, now: u64) {
        let mut cycles = self.counters.scheduler_cycles;
        cycles.add(IssueCycle::Active, u64::from(issued.count_ones()));
        if issued.count_ones() as usize != self.schedulers.len() {
            self.each_stall(issued, |stall| cycles.add(stall, 1));
        }
        self.counters.scheduler_cycles = cycles;
        self.counted_until = now;
    }

    /// Calls `f` with the reason of each scheduler that does not issue: its bit in `issued` is not set.
    fn each_stall(&self, issued: u32, mut f: impl FnMut(IssueCycle)) {
        let held = self.held_warps();
        let ready = |kind: PipeKind| self.ready[kind as usize] & !held;
        let memory = ready(PipeKind::Memory);
        let compute = ready(PipeKind::Alu) | ready(PipeKind::Fp64) | ready(PipeKind::Sfu);
        let dependent = self.dependent | held;
        for (number, scheduler) in self.schedulers.iter().enumerate() {
            if issued >> number & 1 == 1 {
                continue;
            }
            let mut warps = scheduler.mine;
            if self.is_selective {
                warps &= scheduler.eligible(self.parked);
            }
            let stall = if memory & warps != 0 {
                IssueCycle::Memory
            } else if compute & warps != 0 {
                IssueCycle::Compute
            } else if dependent & warps != 0 {
                IssueCycle::DataDependence
            } else if self.sides.fetching & warps != 0 {
                IssueCycle::Fetch
            } else {
                IssueCycle::Idle
            };
            f(stall);
        }
    }

    /// The warps that may issue when ready.
    pub(super) fn eligible(&self) -> WarpMask {
        let may_go = !self.stopped();
        if !self.is_selective {
            return may_go;
        }
        self.schedulers.iter().fold(0, |mask, s| mask | s.eligible(self.parked)) & may_go
    }
}
