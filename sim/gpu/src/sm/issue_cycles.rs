//! Classification of the schedulers' cycles, as in figure 2 of CABA.
//!
//! A cycle in which a scheduler issues is *active*. Any other cycle counts under the first of these classes that applies to any
//! warp that the scheduler may choose:
//!
//! - *memory*: the operands of a memory instruction are available, but the load/store unit, a mechanism or a quota blocks it.
//! - *compute*: the same for an instruction of another pipe.
//! - *data dependence*: operands or destination are in flight, or the warp waits for a mechanism's instructions.
//! - *fetch*: the next instruction is being fetched through the instruction cache, if the configuration has one.
//! - *idle*: the scheduler has no warp, or all its warps are at a barrier or fence, wait for a phase of an mbarrier, have a
//!   branch in flight, or have exited.
use super::Sm;
use super::pipes::PipeKind;
use super::scheduler::WarpMask;
use crate::stats::{IssueCycle, SmCounters};

impl Sm {
    /// Returns the counters with all cycles up to `now`, including cycles in which the SM slept.
    pub fn counters_at(&self, now: u64) -> SmCounters {
        let held = self.parts.held_warps();
        let stage = &self.issue_stage;
        let stalls = stage.schedulers.iter().map(|one| self.stall_of(stage.warps_of(one), held));
        self.tally.total(now, stalls)
    }

    /// Counts the uncounted cycles up to `cycle`, in which the state of the warps did not change.
    #[inline(always)]
    pub(super) fn count_stalls_until(&mut self, cycle: u64) {
        if cycle > self.tally.counted_until {
            self.count_unchanged_until(cycle);
        }
    }

    #[inline(never)]
    fn count_unchanged_until(&mut self, cycle: u64) {
        self.count_stalls(0, cycle - self.tally.counted_until);
        self.tally.counted_until = cycle;
    }

    /// Counts cycle `now`, in which the schedulers whose bits are set in `issued` issued.
    pub(super) fn count_issue(&mut self, issued: u32, now: u64) {
        self.count_stalls(issued, 1);
        self.tally.counted_until = now;
    }

    /// Counts `cycles` cycles for each scheduler: as active if its bit in `issued` is set, else by the reason of its stall.
    #[inline(always)]
    fn count_stalls(&mut self, issued: u32, cycles: u64) {
        let held = self.parts.held_warps();
        let is_plain = !self.issue_stage.is_selective && held == 0 && self.memory.read_only.fetching == 0;
        for number in 0..self.issue_stage.schedulers.len() {
            let cycle = if issued >> number & 1 == 1 {
                IssueCycle::Active
            } else if is_plain {
                self.issue_stage.needs.of_scheduler(number).stall()
            } else {
                self.stall_of(self.issue_stage.warps_of(&self.issue_stage.schedulers[number]), held)
            };
            self.tally.count_cycles(cycle, cycles);
        }
    }

    /// Returns the class of a cycle in which a scheduler issues none of `warps`. The mechanism holds the warps in `held`.
    #[inline(always)]
    fn stall_of(&self, warps: WarpMask, held: WarpMask) -> IssueCycle {
        let free = warps & !held;
        let has = |kind: PipeKind| self.issue_stage.needs.ready(kind) & free != 0;
        if has(PipeKind::Memory) {
            IssueCycle::Memory
        } else if PipeKind::ARITHMETIC.into_iter().any(has) {
            IssueCycle::Compute
        } else if (self.issue_stage.needs.dependent() | held) & warps != 0 {
            IssueCycle::DataDependence
        } else if self.memory.read_only.fetching & warps != 0 {
            IssueCycle::Fetch
        } else {
            IssueCycle::Idle
        }
    }
}
