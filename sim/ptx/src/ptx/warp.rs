//! Execution state of a warp: registers and the stack of diverged paths.

use super::access::{Fault, MemAccess};
use super::forms::ReduceMode;
use super::instr::{Instr, NO_PC, NONE, Op};
use super::kernel::{Kernel, RegionValue};
use super::lane::{LANE_BIT, blend, lanes};
use super::launch::BARRIERS;
use super::registers::WarpRegisters;
use super::strand::Strands;
use super::{Env, LaunchDims, special};
use selvedge_state::State;
use std::num::NonZeroU32;

/// Outcome of an executed instruction. It fits in return registers, even with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Arithmetic, a branch, or an instruction whose guard was false in every lane (0 active lanes).
    Alu {
        /// Lanes that executed it.
        active: u32,
    },
    /// A load, store or atomic. [`MemAccess`] describes the access.
    Memory,
    /// A texture sample. [`MemAccess`] describes the access; its mask omits lanes outside the texture.
    Texture {
        /// Lanes that executed it.
        active: u32,
    },
    /// The warp reached a barrier. Unless it only arrives, it must not be stepped until the barrier completes.
    /// [`Warp::ballot`] returns the predicates of its lanes.
    Barrier {
        /// Number of the barrier, below 16.
        id: u8,
        /// `true` for `bar.arrive`: counts, but does not wait.
        arrive_only: bool,
        /// Threads that take part, a multiple of 32; `None` for the whole CTA.
        threads: Option<NonZeroU32>,
    },
    /// A memory access as [`Step::Memory`] that has ended a phase of an mbarrier. Suspended warps of the CTA may continue.
    PhaseEnd,
    /// A memory access as [`Step::Memory`] that does not delay the warp. [`MemAccess::then`](super::MemAccess::then) has the
    /// changes of mbarriers that follow it. The caller must take them, also when the access has no lanes.
    Async,
    /// An instruction that changes barriers of other CTAs when its message has arrived. The caller must take the changes in
    /// [`MemAccess::then`](super::MemAccess::then).
    Message {
        /// Bytes of the data that the message carries.
        bytes: u32,
    },
    /// The warp waits for a phase of an mbarrier or of the cluster's barrier. The instruction executes again when a phase of the
    /// CTA has ended ([`Step::PhaseEnd`], [`Completion::apply`](super::Completion::apply),
    /// [`RunningClusters::take_woken`](crate::clusters::RunningClusters::take_woken)), or after some cycles.
    Suspend {
        /// Cycles after which the instruction must execute again.
        cycles: u32,
    },
    /// The running lanes wait for other lanes of the warp, which run next.
    Yield,
    /// A memory fence.
    Fence,
    /// The warp waits until the bulk copies that it has issued ([`Step::Async`] with a store) have read shared memory.
    AwaitReads,
    /// Lanes ended. The warp is done when [`Warp::pc`] is `None`.
    Exit,
}

impl Step {
    /// Returns the lanes that executed the instruction. Before it, the lanes in `active` were active; `access` is its access.
    #[inline(always)]
    pub fn lanes(self, active: u32, access: &MemAccess) -> u32 {
        match self {
            Step::Alu { active } | Step::Texture { active } => active,
            Step::Memory | Step::PhaseEnd | Step::Async => access.mask,
            Step::Yield | Step::Suspend { .. } => 0,
            _ => active,
        }
    }
}

/// Count of the predicates that threads bring to a barrier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, State)]
pub struct Ballot {
    /// Threads that brought a predicate.
    pub threads: u32,
    /// Threads whose predicate was true.
    pub ayes: u32,
}

impl std::ops::AddAssign for Ballot {
    fn add_assign(&mut self, other: Self) {
        self.threads += other.threads;
        self.ayes += other.ayes;
    }
}

/// Lanes that run together, from `pc` to `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub(super) struct LanePath {
    pub(super) pc: u32,
    /// Instruction at which the path ends and joins the path below it.
    pub(super) until: u32,
    pub(super) mask: u32,
}

impl LanePath {
    /// Returns whether both paths have the same position and end.
    pub(super) fn is_at(self, other: LanePath) -> bool {
        (self.pc, self.until) == (other.pc, other.until)
    }
}

/// A warp: 32 threads in lockstep.
#[derive(Debug, Clone, State)]
pub struct Warp {
    pub(crate) registers: WarpRegisters,
    /// The running path. Its mask is 0 when all lanes have exited.
    pub(super) current: LanePath,
    /// Waiting paths, the next to run last.
    pub(super) waiting: Vec<LanePath>,
    pub(super) strands: Strands,
    pub(crate) local: Vec<u8>,
    pub(crate) cta: [u32; 3],
    pub(crate) warp_in_cta: u32,
    /// Number of the warp in the grid, which determines the address of its local memory.
    pub(crate) warp_in_grid: u64,
    /// Instruction of the reducing barrier at which the warp waits, and the lanes that need its result.
    pub(super) reduction: Option<(u32, u32)>,
    /// The cycle at which the warp stops to wait for a phase of an mbarrier.
    pub(super) suspended: Option<u64>,
    /// Lanes that have arrived at the cluster's barrier and have not passed their wait.
    pub(super) cluster_waits: u32,
    /// Lanes that have last arrived in a phase with an odd number.
    pub(super) cluster_odd: u32,
}

impl Warp {
    /// Creates warp `warp_in_cta` of CTA `cta`, at the kernel's first instruction. Lanes beyond the CTA's last thread
    /// never run.
    #[must_use]
    pub fn new(kernel: &Kernel, launch: &LaunchDims, cta: [u32; 3], warp_in_cta: u32) -> Self {
        Warp::with(
            WarpRegisters::new(kernel.words, kernel.doubles, kernel.predicates),
            kernel,
            launch,
            cta,
            warp_in_cta,
        )
    }

    /// Starts another warp of the same kernel, as [`Warp::new`] does, in the registers of this one.
    pub fn renew(&mut self, kernel: &Kernel, launch: &LaunchDims, cta: [u32; 3], warp_in_cta: u32) {
        let mut registers = std::mem::take(&mut self.registers);
        registers.clear();
        *self = Warp::with(registers, kernel, launch, cta, warp_in_cta);
    }

    fn with(
        mut registers: WarpRegisters,
        kernel: &Kernel,
        launch: &LaunchDims,
        cta: [u32; 3],
        warp_in_cta: u32,
    ) -> Self {
        let threads = launch.threads_per_cta().saturating_sub(warp_in_cta * 32).min(32);
        for &(index, special) in &kernel.specials {
            let shared = [kernel.shared_bytes, launch.dynamic_shared];
            registers.words[usize::from(index)] = special::values(special, launch, cta, warp_in_cta, shared);
        }
        if let Some(index) = kernel.true_predicate {
            registers.predicates[usize::from(index)] = u32::MAX;
        }
        let mask = if threads == 0 { 0 } else { u32::MAX >> (32 - threads) };
        let cta_in_grid = u64::from(cta[0])
            + u64::from(launch.grid[0]) * (u64::from(cta[1]) + u64::from(launch.grid[1]) * u64::from(cta[2]));
        Self {
            registers,
            current: LanePath { pc: 0, until: NO_PC, mask },
            waiting: Vec::new(),
            strands: Strands::default(),
            local: vec![0; kernel.local_bytes as usize * 32],
            cta,
            warp_in_cta,
            warp_in_grid: cta_in_grid * u64::from(launch.warps_per_cta()) + u64::from(warp_in_cta),
            reduction: None,
            suspended: None,
            cluster_waits: 0,
            cluster_odd: 0,
        }
    }

    /// Returns the lanes of the running path whose guard of `instr` is true.
    #[inline(always)]
    pub(crate) fn guarded(&self, instr: &Instr) -> u32 {
        if instr.guard == NONE {
            return self.current.mask;
        }
        let guard = self.registers.predicates[usize::from(instr.guard)];
        self.current.mask & if instr.guard_negated { !guard } else { guard }
    }

    /// Returns whether the warp and `other` have equal state, so that both continue in the same way.
    pub(crate) fn is_where(&self, other: &Warp) -> bool {
        self.current == other.current
            && self.waiting == other.waiting
            && self.strands == other.strands
            && self.reduction == other.reduction
            && self.registers == other.registers
            && self.local == other.local
    }

    /// Returns the index of the next instruction in the kernel's code; `None` when all lanes have exited.
    #[inline]
    #[must_use]
    pub fn pc(&self) -> Option<u32> {
        (self.current.mask != 0).then_some(self.current.pc)
    }

    /// Returns the lanes on the running path.
    #[inline]
    #[must_use]
    pub fn active_mask(&self) -> u32 {
        self.current.mask
    }

    /// Returns the lanes that have not exited, waiting paths and strands included.
    #[must_use]
    pub fn live_mask(&self) -> u32 {
        self.waiting.iter().fold(self.current.mask | self.strands.mask(), |mask, path| mask | path.mask)
    }

    /// Returns the warp's CTA, and its number in the CTA.
    #[must_use]
    pub fn place(&self) -> ([u32; 3], u32) {
        (self.cta, self.warp_in_cta)
    }

    /// Returns the registers `of` in all lanes, as 32-bit words. The low word of a pair comes first.
    #[must_use]
    pub fn values(&self, of: &[RegionValue]) -> Vec<[u32; 32]> {
        let words = of.iter().flat_map(|value| {
            let index = usize::from(value.index);
            if !value.wide {
                return vec![self.registers.words[index]];
            }
            let double = &self.registers.doubles[index];
            vec![double.map(|lane| lane as u32), double.map(|lane| (lane >> 32) as u32)]
        });
        words.collect()
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        self.current.pc += 1;
        if self.current.pc == self.current.until {
            self.join();
        }
    }

    /// Ends the current path if it has no lanes or has reached its end. Its lanes continue with the waiting path
    /// below.
    #[cold]
    fn join(&mut self) {
        while self.current.mask == 0 || self.current.pc == self.current.until {
            let Some(below) = self.waiting.pop() else { return self.end_strand() };
            self.current = below;
        }
        if !self.strands.is_single() {
            self.join_strands();
        }
    }

    pub(super) fn branch(&mut self, instr: &Instr, taken: u32) {
        let all = self.current.mask;
        let fallen = all & !taken;
        let (target, next) = (instr.target, self.current.pc + 1);
        if taken == 0 || fallen == 0 {
            self.current.pc = if taken == 0 { next } else { target };
            if self.current.pc == self.current.until {
                self.join();
            }
            return;
        }
        // Paths that only meet at the exit end where the enclosing path ends.
        let meet = if instr.reconvergence == NO_PC { self.current.until } else { instr.reconvergence };
        if meet != self.current.until {
            self.waiting.push(LanePath { pc: meet, until: self.current.until, mask: all });
        }
        // A path that starts at the meeting point has nothing to execute. The taken side runs first.
        if next != meet {
            self.waiting.push(LanePath { pc: next, until: meet, mask: fallen });
        }
        self.current = LanePath { pc: target, until: meet, mask: taken };
        if target == meet {
            self.join();
        }
    }

    /// Branches each lane to the target with its number. The lanes with the first lane's target run first.
    pub(super) fn branch_indexed(
        &mut self,
        kernel: &Kernel,
        env: &Env,
        instr: &Instr,
        taken: u32,
    ) -> Result<(), Box<Fault>> {
        let targets = &kernel.branch_lists[instr.target as usize];
        let numbers = *self.word(kernel, instr.a);
        let all = self.current.mask;
        let mut paths: Vec<(u32, u32)> = Vec::new();
        let mut add = |pc: u32, bit: u32| match paths.iter_mut().find(|path| path.0 == pc) {
            Some(path) => path.1 |= bit,
            None => paths.push((pc, bit)),
        };
        for lane in lanes(taken) {
            let number = numbers[lane];
            let Some(&target) = targets.get(number as usize) else {
                let what = format!("picks target {number}, but the list has {}", targets.len());
                return Err(self.fault(kernel, env.launch, lane as u32, 0, what));
            };
            add(target, LANE_BIT[lane]);
        }
        if all & !taken != 0 {
            add(self.current.pc + 1, all & !taken);
        }
        let meet = if instr.reconvergence == NO_PC { self.current.until } else { instr.reconvergence };
        if let [(target, _)] = paths[..] {
            self.current.pc = target;
        } else {
            if meet != self.current.until {
                self.waiting.push(LanePath { pc: meet, until: self.current.until, mask: all });
            }
            let apart = paths.iter().rev().filter(|path| path.0 != meet);
            self.waiting.extend(apart.map(|&(pc, mask)| LanePath { pc, until: meet, mask }));
            match self.waiting.pop() {
                Some(path) => self.current = path,
                None => self.current.mask = 0,
            }
        }
        if self.current.pc == self.current.until {
            self.join();
        }
        Ok(())
    }

    pub(super) fn exit(&mut self, mask: u32) {
        for path in &mut self.waiting {
            path.mask &= !mask;
        }
        self.current.mask &= !mask;
        if self.current.mask != 0 {
            self.advance();
        } else {
            self.join();
        }
    }

    pub(super) fn barrier(
        &self,
        kernel: &Kernel,
        env: &Env,
        instr: &Instr,
        mask: u32,
        arrive_only: bool,
    ) -> Result<Step, Box<Fault>> {
        let lane = mask.trailing_zeros();
        let value = |index| self.word(kernel, index)[lane as usize];
        let (id, threads) = (value(instr.a), (instr.b != NONE).then(|| value(instr.b)));
        let wrong = if id >= BARRIERS {
            format!("names barrier {id}, which does not exist; a block has barriers 0 to {}", BARRIERS - 1)
        } else if let Some(count) = threads.filter(|&count| count == 0 || count % 32 != 0) {
            format!("cannot wait for {count} threads; whole warps of 32 are allowed")
        } else {
            return Ok(Step::Barrier {
                id: id as u8,
                arrive_only,
                threads: threads.and_then(NonZeroU32::new),
            });
        };
        Err(self.fault(kernel, env.launch, lane, 0, wrong))
    }

    /// Returns the predicates of the lanes at the reducing barrier where the warp waits. Empty if it waits at no such
    /// barrier. When the barrier completes, [`Warp::pass_barrier`] needs the sum over all warps.
    #[must_use]
    pub fn ballot(&self, kernel: &Kernel) -> Ballot {
        let Some((pc, mask)) = self.reduction else { return Ballot::default() };
        let instr = &kernel.code[pc as usize];
        let value = self.registers.predicates[usize::from(instr.c)];
        let ayes = (if instr.offset != 0 { !value } else { value }) & mask;
        Ballot { threads: mask.count_ones(), ayes: ayes.count_ones() }
    }

    /// Passes the sum of all threads' predicates to the warp, when the barrier at which it waits completes.
    pub fn pass_barrier(&mut self, kernel: &Kernel, total: Ballot) {
        let Some((pc, mask)) = self.reduction.take() else { return };
        let instr = &kernel.code[pc as usize];
        let Op::BarrierReduce(mode) = instr.op else { return };
        let holds = match mode {
            ReduceMode::Count => return self.set_bits(instr.d, 32, &[total.ayes.into(); 32], mask),
            ReduceMode::All => total.ayes == total.threads,
            ReduceMode::Any => total.ayes > 0,
        };
        self.write_predicate(instr.d, if holds { u32::MAX } else { 0 }, mask);
    }

    #[inline]
    pub(crate) fn word<'a>(&'a self, kernel: &'a Kernel, index: u16) -> &'a [u32; 32] {
        self.registers
            .words
            .get(usize::from(index))
            .unwrap_or_else(|| &kernel.literals.words[usize::from(u16::MAX - index)])
    }

    #[inline]
    pub(crate) fn double<'a>(&'a self, kernel: &'a Kernel, index: u16) -> &'a [u64; 32] {
        let pool = || &kernel.literals.doubles[usize::from(u16::MAX - index)];
        self.registers.doubles.get(usize::from(index)).unwrap_or_else(pool)
    }

    /// Returns register `index` of the 64-bit or the 32-bit file, as 64 bits.
    pub(crate) fn bits(&self, kernel: &Kernel, index: u16, wide: bool) -> [u64; 32] {
        if wide { *self.double(kernel, index) } else { self.word(kernel, index).map(u64::from) }
    }

    pub(crate) fn set_bits(&mut self, index: u16, register_bits: u8, values: &[u64; 32], mask: u32) {
        match register_bits {
            64 => blend(&mut self.registers.doubles[usize::from(index)], values, mask),
            32 => blend(&mut self.registers.words[usize::from(index)], &values.map(|v| v as u32), mask),
            bits => {
                let kept = (1u32 << bits) - 1;
                blend(&mut self.registers.words[usize::from(index)], &values.map(|v| v as u32 & kept), mask);
            }
        }
    }

    pub(crate) fn write_predicate(&mut self, index: u16, value: u32, mask: u32) {
        let target = &mut self.registers.predicates[usize::from(index)];
        *target = (*target & !mask) | (value & mask);
    }

    /// Returns a fault of the current instruction in lane `lane`.
    pub(crate) fn fault(
        &self,
        kernel: &Kernel,
        launch: &LaunchDims,
        lane: u32,
        address: u64,
        what: String,
    ) -> Box<Fault> {
        let instr = &kernel.code[self.current.pc as usize];
        Box::new(Fault {
            file: kernel.file.clone(),
            kernel: kernel.name.clone(),
            line: instr.line,
            text: kernel.text(self.current.pc).to_owned(),
            cta: self.cta,
            thread: special::thread_index(launch, self.warp_in_cta, lane),
            address,
            what,
        })
    }
}
