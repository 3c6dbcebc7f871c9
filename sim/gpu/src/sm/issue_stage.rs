//! The issue stage of an SM: schedulers, the needs of their warps, execution pipes and operand collection.
use super::collector::OperandCollector;
use super::needs::WarpNeeds;
use super::pipes::{PipeKind, Pipes};
use super::quota::Quotas;
use super::schedule::Schedule;
use super::scheduler::{Scheduler, WarpMask};
use crate::config::SmConfig;
use crate::kernel_slots::PROGRAMS;
use selvedge_ptx::ptx::MemAccess;
use selvedge_state::State;

/// The issue stage of an SM.
#[derive(State)]
pub struct IssueStage {
    pub schedulers: Vec<Scheduler>,
    /// `true` if the schedulers consider only some of their warps.
    pub is_selective: bool,
    /// `true` if readiness to issue depends only on the warps, the pipes, the load/store unit, and quotas.
    #[state(skip = "it follows from the configuration and the parts")]
    is_local: bool,
    /// No instruction issues before this cycle unless a warp or the room in the load/store unit changes. 0 if the schedulers must
    /// determine it in each cycle.
    rests_until: u64,
    pub pipes: Pipes,
    /// Operand collection, if the configuration has it.
    pub collector: Option<Box<OperandCollector>>,
    /// The need of each warp's next instruction.
    pub needs: WarpNeeds,
    /// Warps that wait for operands from memory; only maintained for selective schedulers.
    pub awaiting_memory: WarpMask,
    /// Warps at a barrier, and warps that have exited.
    pub parked: WarpMask,
    /// Quotas of the kernels' instructions, if they are limited.
    pub quotas: Option<Quotas>,
    /// The scheduler that issues first.
    pub first_scheduler: usize,
    /// The last schedule of each scheduler; only maintained if the mechanism needs it.
    pub schedules: Vec<Schedule>,
    /// The memory access of the instruction that executes.
    pub access: MemAccess,
}

impl IssueStage {
    /// Returns the issue stage of an SM without warps. `is_local`: neither a mechanism nor an instruction cache influences it.
    pub fn new(sm: &SmConfig, is_local: bool) -> Self {
        let schedulers: Vec<_> = (0..sm.schedulers).map(|i| Scheduler::new(sm, i)).collect();
        let is_selective = schedulers.iter().any(Scheduler::is_selective);
        IssueStage {
            is_selective,
            is_local: is_local && !is_selective && !sm.collector.is_there(),
            rests_until: 0,
            schedulers,
            pipes: Pipes::new(sm),
            collector: OperandCollector::new(sm),
            needs: WarpNeeds::new(sm.warps as usize, sm.schedulers as usize),
            awaiting_memory: 0,
            parked: 0,
            quotas: None,
            first_scheduler: 0,
            schedules: vec![Schedule::default(); sm.schedulers as usize],
            access: MemAccess::default(),
        }
    }

    /// Returns the max number of warps that one scheduler held at the same time.
    pub fn most_warps(&self) -> u64 {
        self.schedulers.iter().map(Scheduler::most_warps).max().unwrap_or(0) as u64
    }

    /// Adds a warp.
    pub fn arrive(&mut self, warp: u8) {
        let count = self.schedulers.len();
        self.schedulers[usize::from(warp) % count].arrive(warp);
    }

    /// Removes a warp. `program_warps` are the remaining warps by program.
    pub fn leave(&mut self, warp: u8, program_warps: &[WarpMask; PROGRAMS]) {
        let count = self.schedulers.len();
        self.schedulers[usize::from(warp) % count].leave(warp);
        if let Some(quotas) = &mut self.quotas {
            quotas.settle(program_warps);
        }
    }

    /// Returns whether the schedulers need not be asked before [`Self::is_due`] returns `true`.
    #[inline(always)]
    pub fn may_rest(&self) -> bool {
        self.is_local && self.quotas.is_none()
    }

    /// Lets the schedulers rest until cycle `until`, unless [`Self::wake`] is called earlier.
    #[inline(always)]
    pub fn rest(&mut self, until: u64) {
        self.rests_until = until;
    }

    /// Lets the schedulers be asked in the next cycle.
    #[inline(always)]
    pub fn wake(&mut self) {
        self.rests_until = 0;
    }

    /// Returns the cycle before which no instruction issues, unless [`Self::wake`] is called.
    #[inline(always)]
    pub fn rests_until(&self) -> u64 {
        self.rests_until
    }

    /// Returns whether the schedulers must be asked in cycle `now`.
    #[inline(always)]
    pub fn is_due(&self, now: u64) -> bool {
        now >= self.rests_until
    }

    /// Returns the warps of kernels whose quota is used up.
    #[inline(always)]
    pub fn stopped(&self, program_warps: &[WarpMask; PROGRAMS]) -> WarpMask {
        self.quotas.as_ref().map_or(0, |quotas| quotas.stopped(program_warps))
    }

    /// Returns the warps that may issue when they are ready.
    #[inline(always)]
    pub fn eligible(&self, program_warps: &[WarpMask; PROGRAMS]) -> WarpMask {
        let may_go = !self.stopped(program_warps);
        if !self.is_selective {
            return may_go;
        }
        self.schedulers.iter().fold(0, |mask, s| mask | s.eligible(self.parked)) & may_go
    }

    /// Returns the warps that a scheduler may choose when they are ready.
    #[inline]
    pub fn warps_of(&self, scheduler: &Scheduler) -> WarpMask {
        if self.is_selective { scheduler.mine & scheduler.eligible(self.parked) } else { scheduler.mine }
    }

    /// Returns the warps with available operands and a free pipe, except those with a memory instruction.
    #[inline(always)]
    pub fn ready_for_pipes(&self, now: u64) -> WarpMask {
        // Control instructions need no pipe. The masks of the other kinds are computed without branches.
        let if_free = |kind: PipeKind| {
            let is_free = WarpMask::from(self.pipes.is_free(kind, now));
            self.needs.ready(kind) & is_free.wrapping_neg()
        };
        let mut mask = self.needs.ready(PipeKind::Control)
            | if_free(PipeKind::Alu)
            | if_free(PipeKind::Fp64)
            | if_free(PipeKind::Sfu);
        if self.pipes.has_optional {
            mask |= if_free(PipeKind::Tensor) | if_free(PipeKind::Int);
        }
        mask
    }

    /// Returns the warps with available operands that fit into operand collection, except those with a memory instruction.
    pub fn ready_for_collector(&self, collector: &OperandCollector, scheduler: usize) -> WarpMask {
        let mut mask = self.needs.ready(PipeKind::Control);
        for kind in PipeKind::ARITHMETIC {
            if self.needs.ready(kind) != 0 && collector.has_room(kind, scheduler) {
                mask |= self.needs.ready(kind);
            }
        }
        mask
    }

    /// Lets the scheduler after `scheduler` issue first in the next cycle, if its instruction occupies a `pipe` that all share.
    #[inline(always)]
    pub fn take_turns(&mut self, scheduler: usize, pipe: PipeKind) {
        if pipe.is_single() {
            // Schedulers take turns at the pipes that they share.
            self.first_scheduler = if scheduler + 1 < self.schedulers.len() { scheduler + 1 } else { 0 };
        }
    }

    /// Returns the scheduler that is asked first in cycle `now`.
    #[inline(always)]
    pub fn first(&self, now: u64) -> usize {
        // With operand collection, the first scheduler changes in every cycle: all compete for the registers in front of the
        // units.
        if self.collector.is_some() { now as usize % self.schedulers.len() } else { self.first_scheduler }
    }
}
