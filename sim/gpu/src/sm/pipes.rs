//! The execution pipes: which kind an instruction needs, when one is free, and how long a result takes.
use crate::config::Sm as SmConfig;
use crate::events::Work;
pub use crate::pipe_kind::{PIPE_KINDS, PipeKind};
use selvedge_ptx::ptx::{Instr, OpClass, Space};
use selvedge_state::State;

/// What the issue stage needs to know of an instruction; computed once per launch.
#[derive(Clone, Copy, Debug)]
pub struct IssueInfo {
    /// The pipe.
    pub pipe: PipeKind,
    /// Issue to result, cycles (loads: decided by the memory system).
    pub latency: u32,
    /// What costs energy.
    pub work: Work,
}

impl IssueInfo {
    /// Classifies one instruction.
    pub fn of(instr: &Instr, sm: &SmConfig) -> Self {
        let is_bank = matches!(instr.space(), Some(Space::Param | Space::Const));
        let (pipe, latency) = match instr.class {
            OpClass::Int | OpClass::Convert | OpClass::Warp => (PipeKind::Alu, sm.alu.int_latency),
            OpClass::IntMul => (PipeKind::Alu, sm.alu.int_mul_latency),
            OpClass::Fp32 => (PipeKind::Alu, sm.alu.fp32_latency),
            OpClass::Fp64 => (PipeKind::Fp64, sm.fp64.latency),
            OpClass::Fp64Div => (PipeKind::Fp64, sm.fp64.div_latency),
            OpClass::Sfu => (PipeKind::Sfu, sm.sfu.latency),
            OpClass::IntDiv | OpClass::Fp32Div => (PipeKind::Sfu, sm.sfu.div_latency),
            // A call of the system takes what a branch to it takes; what it does has no time of its own.
            OpClass::Control | OpClass::System | OpClass::Barrier | OpClass::Fence | OpClass::Exit => {
                (PipeKind::Control, sm.branch_latency)
            }
            OpClass::Load if is_bank && !sm.constant.is_there() => (PipeKind::Alu, sm.lsu.const_latency),
            OpClass::Load | OpClass::Store | OpClass::Atomic | OpClass::Texture => (PipeKind::Memory, 0),
        };
        let pipeline = match pipe {
            PipeKind::Alu | PipeKind::Fp64 | PipeKind::Sfu => sm.pipeline_latency,
            PipeKind::Memory | PipeKind::Control => 0,
        };
        IssueInfo { pipe, latency: latency + pipeline, work: Work::of(instr) }
    }
}

/// Occupancy of the pipes of one SM.
#[derive(State)]
pub struct Pipes {
    /// Per pipe kind: first cycle in which each pipe accepts a warp again.
    free_at: [Vec<u64>; 4],
    /// Per pipe kind: the pipe that accepts one first.
    next: [usize; 4],
    /// Per pipe kind: first cycle in which any does; always for control.
    first_free: [u64; PIPE_KINDS],
    interval: [u64; 4],
}

impl Pipes {
    /// All pipes free.
    pub fn new(sm: &SmConfig) -> Self {
        let group = |pipes: u32| vec![0; pipes as usize];
        Pipes {
            free_at: [group(sm.alu.pipes), group(sm.fp64.pipes), group(sm.sfu.pipes), group(1)],
            next: [0; 4],
            first_free: [0; PIPE_KINDS],
            interval: [sm.alu.lanes, sm.fp64.lanes, sm.sfu.lanes, sm.lsu.lanes].map(|l| u64::from(32 / l)),
        }
    }

    /// Can a pipe of this kind accept a warp in cycle `now`?
    #[inline]
    pub fn is_free(&self, kind: PipeKind, now: u64) -> bool {
        self.first_free[kind as usize] <= now
    }

    /// Can a pipe of this kind accept a warp of a scheduler in cycle `now`, with so many sub-cores that have a share each?
    pub fn is_free_for(&self, kind: PipeKind, share: (u8, usize), now: u64) -> bool {
        self.free_at[kind as usize][self.share(kind, share)].iter().any(|f| *f <= now)
    }

    /// Occupies a free pipe of a scheduler's share from `now`.
    pub fn occupy_for(&mut self, kind: PipeKind, share: (u8, usize), now: u64) {
        let (interval, range) = (self.interval[kind as usize], self.share(kind, share));
        let pipe = self.free_at[kind as usize][range].iter_mut().find(|f| **f <= now);
        *pipe.expect("a pipe of the share is free") = now + interval;
        self.find_first(kind);
    }

    /// The pipes of a scheduler among those of a kind; all schedulers share the load/store unit.
    fn share(&self, kind: PipeKind, (scheduler, sub_cores): (u8, usize)) -> std::ops::Range<usize> {
        let all = self.free_at[kind as usize].len();
        if sub_cores == 1 || kind == PipeKind::Memory {
            return 0..all;
        }
        let count = all / sub_cores;
        usize::from(scheduler) * count..(usize::from(scheduler) + 1) * count
    }

    /// First cycle in which a pipe of this kind accepts a warp.
    #[inline]
    pub fn next_free(&self, kind: PipeKind) -> u64 {
        self.first_free[kind as usize]
    }

    /// Finds the pipe of a kind, which is not the control unit, that is free first.
    #[inline(always)]
    fn find_first(&mut self, kind: PipeKind) {
        let pipes = &self.free_at[kind as usize];
        let (mut next, mut first) = (0, pipes[0]);
        for (pipe, free_at) in pipes.iter().enumerate().skip(1) {
            if *free_at < first {
                (next, first) = (pipe, *free_at);
            }
        }
        (self.next[kind as usize], self.first_free[kind as usize]) = (next, first);
    }

    /// Occupies a free pipe of this kind from `now`.
    pub fn occupy(&mut self, kind: PipeKind, now: u64) {
        if kind == PipeKind::Control {
            return;
        }
        let pipe = &mut self.free_at[kind as usize][self.next[kind as usize]];
        debug_assert!(*pipe <= now, "issue checked that a pipe is free");
        *pipe = now + self.interval[kind as usize];
        self.find_first(kind);
    }
}
