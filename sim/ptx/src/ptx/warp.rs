//! Execution state of a warp: registers, the stack of diverged paths, and the execution of one instruction in 32
//! lanes.

use super::access::{AccessKind, Fault, MemAccess};
use super::alu;
use super::functional::BARRIERS;
use super::instr::{
    CarryForm, Combine, ConvertForm, Instr, Kernel, NO_PC, NONE, Op, PredicateOp, Rare, RareAccess,
    ReduceMode,
};
use super::lane::{LANE_BIT, blend};
use super::region::{Region, RegionValue};
use super::special::{self, Live};
use super::{Env, LaunchDims, bits, convert, matrix, memory_ops, surface_ops, system, texture_ops};
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
    /// A memory fence.
    Fence,
    /// Lanes ended. The warp is done when [`Warp::pc`] is `None`.
    Exit,
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

/// The register files of a warp.
#[derive(Debug, Clone, Default, PartialEq, Eq, State)]
pub(crate) struct Registers {
    pub words: Box<[[u32; 32]]>,
    pub doubles: Box<[[u64; 32]]>,
    pub predicates: Box<[u32]>,
}

impl Registers {
    /// Returns zeroed registers for a warp of `kernel`.
    fn of(kernel: &Kernel) -> Self {
        Registers {
            words: vec![[0; 32]; kernel.words].into(),
            doubles: vec![[0; 32]; kernel.doubles].into(),
            predicates: vec![0; kernel.predicates].into(),
        }
    }

    fn clear(&mut self) {
        self.words.fill([0; 32]);
        self.doubles.fill([0; 32]);
        self.predicates.fill(0);
    }
}

/// Lanes that run together, from `pc` to `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
struct Path {
    pc: u32,
    /// Instruction at which the path ends and joins the path below it.
    until: u32,
    mask: u32,
}

/// A warp: 32 threads in lockstep.
#[derive(Debug, Clone, State)]
pub struct Warp {
    pub(crate) registers: Registers,
    /// The running path. Its mask is 0 when all lanes have exited.
    current: Path,
    /// Waiting paths, the next to run last.
    waiting: Vec<Path>,
    pub(crate) local: Vec<u8>,
    pub(crate) cta: [u32; 3],
    pub(crate) warp_in_cta: u32,
    /// Number of the warp in the grid, which determines the address of its local memory.
    pub(crate) warp_in_grid: u64,
    /// Instruction of the reducing barrier at which the warp waits, and the lanes that need its result.
    reduction: Option<(u32, u32)>,
}

impl Warp {
    /// Creates warp `warp_in_cta` of CTA `cta`, at the kernel's first instruction. Lanes beyond the CTA's last thread
    /// never run.
    #[must_use]
    pub fn new(kernel: &Kernel, launch: &LaunchDims, cta: [u32; 3], warp_in_cta: u32) -> Self {
        Warp::with(Registers::of(kernel), kernel, launch, cta, warp_in_cta)
    }

    /// Starts another warp of the same kernel, as [`Warp::new`] does, in the registers of this one.
    pub fn renew(&mut self, kernel: &Kernel, launch: &LaunchDims, cta: [u32; 3], warp_in_cta: u32) {
        let mut registers = std::mem::take(&mut self.registers);
        registers.clear();
        *self = Warp::with(registers, kernel, launch, cta, warp_in_cta);
    }

    fn with(
        mut registers: Registers,
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
            current: Path { pc: 0, until: NO_PC, mask },
            waiting: Vec::new(),
            local: vec![0; kernel.local_bytes as usize * 32],
            cta,
            warp_in_cta,
            warp_in_grid: cta_in_grid * u64::from(launch.warps_per_cta()) + u64::from(warp_in_cta),
            reduction: None,
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

    /// Returns the lanes that have not exited, waiting paths included.
    #[must_use]
    pub fn live_mask(&self) -> u32 {
        self.waiting.iter().fold(self.current.mask, |mask, path| mask | path.mask)
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

    /// Executes a whole region, at whose start the running path must be. Returns the number of executed instructions.
    ///
    /// # Errors
    /// As [`Warp::step`].
    pub fn skip(&mut self, kernel: &Kernel, env: &mut Env, region: &Region) -> Result<u64, Box<Fault>> {
        let around = self.waiting.len();
        let inside = region.start..region.end;
        let mut access = MemAccess::default();
        let mut instructions = 0;
        // The region ends when the path leaves it, or when the path has joined one that waited.
        while self.waiting.len() > around || self.waiting.len() == around && inside.contains(&self.current.pc)
        {
            self.step(kernel, env, &mut access)?;
            instructions += 1;
        }
        Ok(instructions)
    }

    /// Executes the instruction at [`Warp::pc`] and advances. Only loads, stores and atomics write `access`.
    ///
    /// # Errors
    /// A [`Fault`] for an access that is misaligned or outside every buffer. The warp's state is then invalid.
    #[inline]
    pub fn step(
        &mut self,
        kernel: &Kernel,
        env: &mut Env,
        access: &mut MemAccess,
    ) -> Result<Step, Box<Fault>> {
        let Some(pc) = self.pc() else { return Ok(Step::Exit) };
        let instr = &kernel.code[pc as usize];
        let mask = self.guarded(instr);
        let done = Step::Alu { active: mask };
        if let Op::Alu(op) = instr.op {
            alu::execute(op, &mut self.registers, kernel, instr, mask);
            self.advance();
            return Ok(done);
        }
        if let Op::Branch = instr.op {
            self.branch(instr, mask);
            return Ok(done);
        }
        if mask == 0 {
            self.advance();
            return Ok(done);
        }
        if let Op::BranchIndexed = instr.op {
            self.branch_indexed(kernel, env, instr, mask)?;
            return Ok(done);
        }
        let step = match instr.op {
            Op::Alu(_) | Op::Branch | Op::BranchIndexed => done,
            Op::Load(form) => {
                memory_ops::load(self, kernel, env, instr, form, mask, access)?;
                Step::Memory
            }
            Op::Store(form) => {
                memory_ops::store(self, kernel, env, instr, form, mask, access)?;
                Step::Memory
            }
            Op::Atomic(form) => {
                memory_ops::atomic(self, kernel, env, instr, form, mask, access)?;
                Step::Memory
            }
            Op::Exit => {
                self.exit(mask);
                return Ok(Step::Exit);
            }
            Op::Barrier { arrive } => self.barrier(kernel, env, instr, mask, arrive)?,
            Op::BarrierReduce(_) => {
                let step = self.barrier(kernel, env, instr, mask, false)?;
                self.reduction = Some((pc, mask));
                step
            }
            Op::Texture(form) => {
                texture_ops::sample(self, kernel, env, instr, form, mask, access)?;
                Step::Texture { active: mask }
            }
            Op::RareAccess(rare) => {
                self.rare_access(kernel, env, instr, rare, mask, access)?;
                Step::Memory
            }
            Op::System(call) => {
                system::call(self, kernel, env, instr, call, mask)?;
                done
            }
            Op::Fence => Step::Fence,
            Op::Nothing => done,
            _ => {
                self.other(kernel, env, instr, mask);
                done
            }
        };
        self.advance();
        Ok(step)
    }

    /// Executes instructions that are not a row of the arithmetic table.
    fn other(&mut self, kernel: &Kernel, env: &mut Env, instr: &Instr, mask: u32) {
        match instr.op {
            Op::SetPredicate(op, combine) => self.set_predicate(kernel, instr, op, combine, mask),
            Op::SetWord { op, combine, float } => self.set_word(kernel, instr, op, combine, float, mask),
            Op::Predicate(op) => self.predicate(instr, op, mask),
            Op::Convert(form) => self.convert(kernel, instr, form, mask),
            Op::Carry(form) => self.carry(kernel, instr, form, mask),
            Op::Pack(parts) => self.pack(kernel, instr, parts, mask),
            Op::Insert { wide } => self.insert(kernel, instr, wide, mask),
            Op::Lop3 => self.lop3(kernel, instr, mask),
            Op::Unpack(parts) => self.unpack(kernel, instr, parts, mask),
            Op::ReadLive(live) => self.read_live(env, instr, live, mask),
            Op::Shuffle(mode) => self.shuffle(kernel, env, instr, mode, mask),
            Op::Vote(mode) => self.vote(kernel, env, instr, mode, mask),
            Op::Match { all, wide } => self.match_values(kernel, env, instr, (all, wide), mask),
            Op::Reduce { op, signed } => self.reduce(kernel, env, instr, (op, signed), mask),
            Op::ActiveMask => blend(&mut self.registers.words[usize::from(instr.d)], &[mask; 32], mask),
            Op::Rare(rare) => self.rare(kernel, env, instr, rare, mask),
            _ => {}
        }
    }

    /// Executes register operations that few kernels use.
    #[cold]
    fn rare(&mut self, kernel: &Kernel, env: &mut Env, instr: &Instr, rare: Rare, mask: u32) {
        match rare {
            Rare::Half(form) => self.half(kernel, instr, form, mask),
            Rare::CompareHalves(form) => self.compare_halves(kernel, instr, form, mask),
            Rare::Narrow(form) => self.narrow(kernel, instr, form, mask),
            Rare::PackClamped { bits, signed } => self.pack_clamped(kernel, instr, bits, signed, mask),
            Rare::Matrix(form) => self.multiply_matrices(kernel, env, instr, form, mask),
        }
    }

    /// Executes memory accesses that few kernels use.
    #[cold]
    fn rare_access(
        &mut self,
        kernel: &Kernel,
        env: &mut Env,
        instr: &Instr,
        rare: RareAccess,
        mask: u32,
        access: &mut MemAccess,
    ) -> Result<(), Box<Fault>> {
        match rare {
            RareAccess::LoadMatrix(form) => matrix::load_matrix(self, kernel, env, instr, form, mask, access),
            RareAccess::Copy(form) => matrix::copy(self, kernel, env, instr, form, mask, access),
            RareAccess::Surface(form) => surface_ops::access(self, kernel, env, instr, form, mask, access),
        }
    }

    // ---- control ----

    #[inline]
    fn advance(&mut self) {
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
            let Some(below) = self.waiting.pop() else { return };
            self.current = below;
        }
    }

    fn branch(&mut self, instr: &Instr, taken: u32) {
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
            self.waiting.push(Path { pc: meet, until: self.current.until, mask: all });
        }
        // A path that starts at the meeting point has nothing to execute. The taken side runs first.
        if next != meet {
            self.waiting.push(Path { pc: next, until: meet, mask: fallen });
        }
        self.current = Path { pc: target, until: meet, mask: taken };
        if target == meet {
            self.join();
        }
    }

    /// Branches each lane to the target with its number. The lanes with the first lane's target run first.
    fn branch_indexed(
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
        for lane in memory_ops::lanes(taken) {
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
                self.waiting.push(Path { pc: meet, until: self.current.until, mask: all });
            }
            let apart = paths.iter().rev().filter(|path| path.0 != meet);
            self.waiting.extend(apart.map(|&(pc, mask)| Path { pc, until: meet, mask }));
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

    fn exit(&mut self, mask: u32) {
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

    fn barrier(
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

    // ---- data ----

    #[inline]
    pub(crate) fn word<'a>(&'a self, kernel: &'a Kernel, index: u16) -> &'a [u32; 32] {
        self.registers
            .words
            .get(usize::from(index))
            .unwrap_or_else(|| &kernel.word_pool[usize::from(u16::MAX - index)])
    }

    #[inline]
    pub(crate) fn double<'a>(&'a self, kernel: &'a Kernel, index: u16) -> &'a [u64; 32] {
        let pool = || &kernel.double_pool[usize::from(u16::MAX - index)];
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

    fn set_predicate(&mut self, kernel: &Kernel, instr: &Instr, op: alu::Alu, combine: Combine, mask: u32) {
        // Read before the comparison writes, because the combined predicate may be the destination.
        let other = if instr.c == NONE { 0 } else { self.registers.predicates[usize::from(instr.c)] };
        let other = if combine.negate { !other } else { other };
        alu::execute(op, &mut self.registers, kernel, instr, mask);
        let compared = self.registers.predicates[usize::from(instr.d)];
        let combined = |value: u32| match combine.op {
            Some(PredicateOp::And) => value & other,
            Some(PredicateOp::Or) => value | other,
            Some(PredicateOp::Xor) => value ^ other,
            _ => value,
        };
        self.write_predicate(instr.d, combined(compared), mask);
        if combine.second != NONE {
            self.write_predicate(combine.second, combined(!compared), mask);
        }
    }

    /// `set`: writes the comparison to a hidden predicate, and then to the destination as a word.
    fn set_word(
        &mut self,
        kernel: &Kernel,
        instr: &Instr,
        op: alu::Alu,
        combine: Combine,
        float: bool,
        mask: u32,
    ) {
        self.set_predicate(kernel, instr, op, combine, mask);
        let holds = self.registers.predicates[usize::from(instr.d)];
        let value = if float { 1f32.to_bits() } else { u32::MAX };
        let words = LANE_BIT.map(|bit| if holds & bit != 0 { value } else { 0 });
        blend(&mut self.registers.words[usize::from(instr.vector[0])], &words, mask);
    }

    fn predicate(&mut self, instr: &Instr, op: PredicateOp, mask: u32) {
        let value = |index: u16| self.registers.predicates.get(usize::from(index)).copied().unwrap_or(0);
        let (a, b) = (value(instr.a), value(instr.b));
        let result = match op {
            PredicateOp::And => a & b,
            PredicateOp::Or => a | b,
            PredicateOp::Xor => a ^ b,
            PredicateOp::Not => !a,
            PredicateOp::Move => a,
            PredicateOp::False => 0,
            PredicateOp::True => u32::MAX,
        };
        self.write_predicate(instr.d, result, mask);
    }

    fn convert(&mut self, kernel: &Kernel, instr: &Instr, form: ConvertForm, mask: u32) {
        let source = self.bits(kernel, instr.a, form.from_wide);
        let values = source.map(|bits| convert::convert(bits, form));
        self.set_bits(instr.d, form.to_register_bits, &values, mask);
    }

    fn carry(&mut self, kernel: &Kernel, instr: &Instr, form: CarryForm, mask: u32) {
        let bits = if form.wide { 64 } else { 32 };
        let ones = u128::from(u64::MAX >> (64 - bits));
        let load = |index| self.bits(kernel, index, form.wide);
        let (a, b) = (load(instr.a), load(instr.b));
        let c = if form.product.is_some() { load(instr.c) } else { [0; 32] };
        // The last vector slot has the index of the carry flag, a hidden predicate.
        let flag = instr.vector[7];
        let carries = self.registers.predicates[usize::from(flag)];
        let mut carried = 0;
        let mut out = [0; 32];
        for lane in 0..32 {
            // A subtraction adds the complement: its carry flag is set if nothing is borrowed.
            let flag = carries & LANE_BIT[lane] != 0;
            let carry = u128::from(form.reads && flag != form.subtract);
            let (left, right) = match form.product {
                None => (u128::from(a[lane]), u128::from(b[lane])),
                Some(high) => {
                    let product = if form.signed {
                        let number = |v: u64| i128::from((v << (64 - bits)) as i64 >> (64 - bits));
                        number(a[lane]).wrapping_mul(number(b[lane])) as u128
                    } else {
                        u128::from(a[lane]) * u128::from(b[lane])
                    };
                    ((if high { product >> bits } else { product }) & ones, u128::from(c[lane]))
                }
            };
            // A borrow sets bits above the word, as a carry does.
            let result = if form.subtract {
                left.wrapping_sub(right).wrapping_sub(carry)
            } else {
                left + right + carry
            };
            out[lane] = (result & ones) as u64;
            carried |= if (result > ones) != form.subtract { LANE_BIT[lane] } else { 0 };
        }
        self.set_bits(instr.d, bits, &out, mask);
        if form.writes {
            self.write_predicate(flag, carried, mask);
        }
    }

    fn insert(&mut self, kernel: &Kernel, instr: &Instr, wide: bool, mask: u32) {
        let bits = if wide { 64 } else { 32 };
        let (field, word) = (self.bits(kernel, instr.a, wide), self.bits(kernel, instr.b, wide));
        let (positions, lengths) = (self.word(kernel, instr.c), self.word(kernel, instr.vector[0]));
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = bits::insert(field[lane], word[lane], bits, positions[lane], lengths[lane]);
        }
        self.set_bits(instr.d, bits as u8, &out, mask);
    }

    fn lop3(&mut self, kernel: &Kernel, instr: &Instr, mask: u32) {
        let load = |index| *self.word(kernel, index);
        let (a, b, c) = (load(instr.a), load(instr.b), load(instr.c));
        let mut out = [0; 32];
        // Each one bit in the table is a combination of inputs, or their complements, for which the result is one.
        for row in (0..8u32).filter(|row| instr.offset >> row & 1 == 1) {
            let pick = |value: u32, bit: u32| if row & bit != 0 { value } else { !value };
            for lane in 0..32 {
                out[lane] |= pick(a[lane], 4) & pick(b[lane], 2) & pick(c[lane], 1);
            }
        }
        blend(&mut self.registers.words[usize::from(instr.d)], &out, mask);
    }

    fn pack(&mut self, kernel: &Kernel, instr: &Instr, parts: u8, mask: u32) {
        let part_bits = instr.offset as u32;
        let mut out = [0u64; 32];
        for part in 0..parts {
            let values = self.bits(kernel, instr.vector[usize::from(part)], false);
            for lane in 0..32 {
                out[lane] |= values[lane] << (part_bits * u32::from(part));
            }
        }
        self.set_bits(instr.d, (part_bits as u8) * parts, &out, mask);
    }

    fn unpack(&mut self, kernel: &Kernel, instr: &Instr, parts: u8, mask: u32) {
        let part_bits = instr.offset as u32;
        let whole = self.bits(kernel, instr.a, part_bits * u32::from(parts) == 64);
        for part in 0..parts {
            let index = instr.vector[usize::from(part)];
            if index != NONE {
                let values = whole.map(|bits| bits >> (part_bits * u32::from(part)));
                self.set_bits(index, part_bits as u8, &values, mask);
            }
        }
    }

    fn read_live(&mut self, env: &Env, instr: &Instr, live: Live, mask: u32) {
        let (bits, value) = match live {
            Live::Clock => (32, env.clock & 0xffff_ffff),
            Live::ClockHigh => (32, env.clock >> 32),
            Live::Clock64 => (64, env.clock),
            Live::SmId => (32, u64::from(env.sm)),
            Live::NumberOfSms => (32, u64::from(env.sms)),
            Live::GlobalTimer => (64, env.nanoseconds()),
            Live::GlobalTimerLow => (32, env.nanoseconds() & 0xffff_ffff),
            Live::GlobalTimerHigh => (32, env.nanoseconds() >> 32),
        };
        self.set_bits(instr.d, bits, &[value; 32], mask);
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

impl AccessKind {
    /// Returns whether the access returns values to registers.
    #[must_use]
    pub fn returns_value(self) -> bool {
        !matches!(self, Self::Store | Self::Atomic { reduction: true, .. })
    }
}
