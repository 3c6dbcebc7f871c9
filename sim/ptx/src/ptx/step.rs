//! Execution of one instruction in the 32 lanes of a warp.

use super::access::{Fault, MemAccess};
use super::alu::AluOp;
use super::alu::execute::execute;
use super::forms::{CarryForm, Combine, ConvertForm, PredicateOp, Rare, RareAccess};
use super::instr::{Instr, NONE, Op};
use super::kernel::{Kernel, KernelRegion};
use super::lane::{LANE_BIT, blend};
use super::special::LiveSpecial;
use super::warp::{Step, Warp};
use super::{
    Env, bits, bulk, convert, matrix, mbarrier, memory_ops, surface_ops, system, tensor, texture_ops,
};

impl Warp {
    /// Executes a whole region, at whose start the running path must be. Returns the number of executed instructions.
    ///
    /// # Errors
    /// As [`Warp::step`].
    pub fn skip(&mut self, kernel: &Kernel, env: &mut Env, region: &KernelRegion) -> Result<u64, Box<Fault>> {
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
            execute(op, &mut self.registers, &kernel.literals, instr, mask);
            self.advance();
            return Ok(done);
        }
        if let Op::Branch = instr.op {
            self.branch(instr, mask);
            if instr.offset != 0 {
                self.count_turn(kernel, env);
            }
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
                if env.memory.clusters().current().is_some() {
                    let arrived = self.cluster_arrivals(mask, env.memory.clusters().phases().0);
                    env.memory.clusters_mut().exit(mask.count_ones(), arrived.count_ones());
                }
                self.exit(mask);
                return Ok(Step::Exit);
            }
            op if !self.strands.is_single() && op.needs_members() && !self.strands.take_gathered() => {
                if self.gather(matches!(op, Op::Barrier { .. } | Op::BarrierReduce(_))) {
                    return Ok(Step::Yield);
                }
                // The running path may have more lanes now.
                return self.step(kernel, env, access);
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
            Op::Mbarrier(form) => return mbarrier::execute(self, kernel, env, instr, form, mask, access),
            Op::ClusterBarrier { waits } => {
                return Ok(mbarrier::cluster_barrier(self, env, waits, mask, access));
            }
            Op::Bulk(form) => return bulk::copy(self, kernel, env, instr, form, mask, access),
            Op::Sent(form) => return bulk::send(self, kernel, env, instr, form, mask, access),
            Op::Tensor(form) => return tensor::copy(self, kernel, env, instr, form, mask, access),
            Op::WarpGroup(form) => {
                self.multiply_in_group(kernel, env, instr, form, mask)?;
                done
            }
            Op::AwaitReads => Step::AwaitReads,
            Op::System(call) => {
                system::call(self, kernel, env, instr, call, mask)?;
                done
            }
            Op::Fence => Step::Fence,
            Op::Gather | Op::Nothing => done,
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
            Rare::Transpose => self.transpose_matrix(kernel, instr, mask),
            Rare::Elect => self.elect(kernel, env, instr, mask),
            Rare::Video(form) => self.video(kernel, instr, form, mask),
            Rare::Lane(form) => self.lane_op(kernel, instr, form, mask),
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
            RareAccess::LoadMatrix(form) => {
                matrix::access_matrices(self, kernel, env, instr, (form, false), mask, access)
            }
            RareAccess::StoreMatrix(form) => {
                matrix::access_matrices(self, kernel, env, instr, (form, true), mask, access)
            }
            RareAccess::Copy(form) => matrix::copy(self, kernel, env, instr, form, mask, access),
            RareAccess::Surface(form) => surface_ops::access(self, kernel, env, instr, form, mask, access),
        }
    }

    fn set_predicate(&mut self, kernel: &Kernel, instr: &Instr, op: AluOp, combine: Combine, mask: u32) {
        // Read before the comparison writes, because the combined predicate may be the destination.
        let other = if instr.c == NONE { 0 } else { self.registers.predicates[usize::from(instr.c)] };
        let other = if combine.negate { !other } else { other };
        execute(op, &mut self.registers, &kernel.literals, instr, mask);
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
        op: AluOp,
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

    fn read_live(&mut self, env: &Env, instr: &Instr, live: LiveSpecial, mask: u32) {
        let (bits, value) = match live {
            LiveSpecial::Clock => (32, env.clock & 0xffff_ffff),
            LiveSpecial::ClockHigh => (32, env.clock >> 32),
            LiveSpecial::Clock64 => (64, env.clock),
            LiveSpecial::SmId => (32, u64::from(env.sm)),
            LiveSpecial::NumberOfSms => (32, u64::from(env.sms)),
            LiveSpecial::GlobalTimer => (64, env.nanoseconds()),
            LiveSpecial::GlobalTimerLow => (32, env.nanoseconds() & 0xffff_ffff),
            LiveSpecial::GlobalTimerHigh => (32, env.nanoseconds() >> 32),
        };
        self.set_bits(instr.d, bits, &[value; 32], mask);
    }
}
