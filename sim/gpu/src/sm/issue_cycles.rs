//! Classification of the schedulers' cycles, as in figure 2 of CABA.
//!
//! A cycle in which a scheduler issues is *active*. Any other cycle counts under the first of these classes that applies to any
//! warp that the scheduler may choose:
//!
//! - *memory*: the operands of a memory instruction are available, but the load/store unit, a mechanism or a quota blocks it.
//! - *compute*: the same for an instruction of another pipe.
//! - *data dependence*: operands or destination are in flight, or the warp waits for a mechanism's instructions.
//! - *fetch*: the next instruction is being fetched through the instruction cache, if the configuration has one.
//! - *idle*: the scheduler has no warp, or all its warps are at a barrier or fence, have a branch in flight, or have exited.
use super::Sm;
use super::pipes::PipeKind;
use super::scheduler::{Scheduler, WarpMask};
use crate::stats::{IssueCycle, KernelCounters, SchedulerCycles, SmCounters};

impl Sm {
    /// Returns the counters with all cycles up to `now`, including cycles in which the SM slept.
    pub fn counters_at(&self, now: u64) -> SmCounters {
        let mut cycles = self.scheduler_cycles;
        let held = self.held_warps();
        for scheduler in &self.schedulers {
            cycles[self.stall_of(self.warps_of(scheduler), held) as usize] += now - self.counted_until;
        }
        let sum = |of: fn(&KernelCounters) -> u64| self.by_kernel.iter().map(of).sum();
        let mut counters = SmCounters {
            scheduler_cycles: SchedulerCycles::of(cycles),
            warp_instructions: sum(|kernel| kernel.warp_instructions),
            thread_instructions: sum(|kernel| kernel.thread_instructions),
            memory_instructions: sum(|kernel| kernel.memory_instructions),
            transactions: sum(|kernel| kernel.transactions),
            ctas: sum(|kernel| kernel.ctas),
            ..self.counters
        };
        self.work_done.add_to(&mut counters.events);
        counters
    }

    /// Counts the uncounted cycles up to `cycle`, in which the state of the warps did not change.
    #[inline(always)]
    pub(super) fn count_stalls_until(&mut self, cycle: u64) {
        if cycle > self.counted_until {
            self.count_unchanged_until(cycle);
        }
    }

    #[inline(never)]
    fn count_unchanged_until(&mut self, cycle: u64) {
        self.count_stalls(0, cycle - self.counted_until);
        self.counted_until = cycle;
    }

    /// Counts cycle `now`, in which the schedulers whose bits are set in `issued` issued.
    pub(super) fn count_issue(&mut self, issued: u32, now: u64) {
        self.count_stalls(issued, 1);
        self.counted_until = now;
    }

    /// Counts `cycles` cycles for each scheduler: as active if its bit in `issued` is set, else by the reason of its stall.
    #[inline(always)]
    fn count_stalls(&mut self, issued: u32, cycles: u64) {
        let held = self.held_warps();
        let is_plain = !self.is_selective && held == 0 && self.sides.fetching == 0;
        for number in 0..self.schedulers.len() {
            let cycle = if issued >> number & 1 == 1 {
                IssueCycle::Active
            } else if is_plain {
                self.needs.of_scheduler(number).stall()
            } else {
                self.stall_of(self.warps_of(&self.schedulers[number]), held)
            };
            self.scheduler_cycles[cycle as usize] += cycles;
        }
    }

    /// Returns the warps that a scheduler may choose when they are ready.
    #[inline]
    fn warps_of(&self, scheduler: &Scheduler) -> WarpMask {
        if self.is_selective { scheduler.mine & scheduler.eligible(self.parked) } else { scheduler.mine }
    }

    /// Returns the class of a cycle in which a scheduler issues none of `warps`. The mechanism holds the warps in `held`.
    #[inline(always)]
    fn stall_of(&self, warps: WarpMask, held: WarpMask) -> IssueCycle {
        let free = warps & !held;
        let has = |kind: PipeKind| self.needs.ready(kind) & free != 0;
        if has(PipeKind::Memory) {
            IssueCycle::Memory
        } else if has(PipeKind::Alu) || has(PipeKind::Fp64) || has(PipeKind::Sfu) {
            IssueCycle::Compute
        } else if (self.needs.dependent() | held) & warps != 0 {
            IssueCycle::DataDependence
        } else if self.sides.fetching & warps != 0 {
            IssueCycle::Fetch
        } else {
            IssueCycle::Idle
        }
    }

    /// Returns the warps that may issue when they are ready.
    #[inline(always)]
    pub(super) fn eligible(&self) -> WarpMask {
        let may_go = !self.stopped();
        if !self.is_selective {
            return may_go;
        }
        self.schedulers.iter().fold(0, |mask, s| mask | s.eligible(self.parked)) & may_go
    }
}
