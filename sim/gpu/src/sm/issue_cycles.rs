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
        for scheduler in 0..self.schedulers.len() {
            counters.scheduler_cycles.add(self.stall(scheduler), now - self.counted_until);
        }
        counters
    }

    /// Counts the cycles after those counted, up to `cycle`, in which nothing has changed.
    pub(super) fn count_stalls_until(&mut self, cycle: u64) {
        if cycle > self.counted_until {
            self.counters.scheduler_cycles = self.counters_at(cycle).scheduler_cycles;
            self.counted_until = cycle;
        }
    }

    /// Counts cycle `now`, in which the schedulers whose bits are set in `issued` issued.
    pub(super) fn count_issue(&mut self, issued: u32, now: u64) {
        for scheduler in 0..self.schedulers.len() {
            let cycle = if issued >> scheduler & 1 == 1 { IssueCycle::Active } else { self.stall(scheduler) };
            self.counters.scheduler_cycles.add(cycle, 1);
        }
        self.counted_until = now;
    }

    /// Why a scheduler does not issue.
    fn stall(&self, scheduler: usize) -> IssueCycle {
        let warps = self.schedulers[scheduler].mine & self.schedulers[scheduler].eligible(self.parked);
        let held = self.held_warps() & warps;
        let ready = |kind: PipeKind| self.ready[kind as usize] & warps & !held != 0;
        if ready(PipeKind::Memory) {
            IssueCycle::Memory
        } else if ready(PipeKind::Alu) || ready(PipeKind::Fp64) || ready(PipeKind::Sfu) {
            IssueCycle::Compute
        } else if (self.dependent | held) & warps != 0 {
            IssueCycle::DataDependence
        } else if self.sides.fetching & warps != 0 {
            IssueCycle::Fetch
        } else {
            IssueCycle::Idle
        }
    }

    /// The warps that may issue when ready.
    pub(super) fn eligible(&self) -> WarpMask {
        let may_go = !self.stopped();
        if !self.schedulers[0].is_selective() {
            return may_go;
        }
        self.schedulers.iter().fold(0, |mask, s| mask | s.eligible(self.parked)) & may_go
    }
}
