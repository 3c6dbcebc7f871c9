//! A kernel's code, reduced to the instructions and values that need registers.

use super::super::ast::{Function, Operand};
use super::super::control_flow::{BasicBlock, RegisterSet};
use super::super::decode::DecodedBody;
use super::super::forms::{CacheOp, Number, OpClass, Space};
use super::super::instr::{Instr, NONE, Op};
use super::super::special::{self, Special, SpecialSource};

/// Register use of an instruction.
#[derive(Debug, Clone, Default)]
pub(super) struct RegisterUse {
    pub dests: Vec<u32>,
    pub sources: Vec<u32>,
    /// Number of registers that it needs during execution, in addition to its sources and results.
    pub extra: u32,
    /// `true`: results are written before all sources are read, because the hardware executes several instructions.
    pub apart: bool,
    /// `true`: its results replace the old values in all lanes.
    pub replaces: bool,
    pub kind: Mobility,
    /// `true`: it adds a constant to a register in place.
    pub steps_up: bool,
}

pub(super) fn insert(set: &mut RegisterSet, register: u32) {
    set[register as usize / 64] |= 1 << (register % 64);
}

fn remove(set: &mut RegisterSet, register: u32) {
    set[register as usize / 64] &= !(1 << (register % 64));
}

impl RegisterUse {
    /// Updates the live registers backwards across one instruction.
    pub(super) fn step_back(&self, live: &mut RegisterSet) {
        if self.replaces {
            self.dests.iter().for_each(|d| remove(live, *d));
        }
        self.sources.iter().for_each(|s| insert(live, *s));
    }
}

/// Freedom to move an instruction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mobility {
    /// Removed instruction.
    #[default]
    Nothing,
    /// Movable within the limits of its operands.
    Pure,
    /// Movable between stores to its space.
    Load(Space),
    /// Stores to a space.
    Store(Space),
    /// Not movable.
    Fixed,
}

/// The reduced code, and the number of 32-bit registers behind each register.
pub(super) struct Lean {
    pub steps: Vec<RegisterUse>,
    pub weights: Vec<u8>,
    /// `true` for each instruction in a loop that a pragma keeps from unrolling.
    pub rolled: Vec<bool>,
    /// `true` for each branch that a counter decides.
    pub counted: Vec<bool>,
}

/// Max definitions of a register that are checked again after one of its uses is removed.
const MOST_LOOKED_AT: usize = 16;
/// Max values from which another value is recomputed at its use.
const MOST_MADE_FROM: usize = 4;

/// Representation of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stand {
    /// The value is kept in its register.
    Itself,
    /// The value is recomputed at its uses from these values. The list is empty for constants.
    Made(Vec<u32>),
}

struct Maker<'a> {
    function: &'a Function,
    code: &'a [Instr],
    weights: Vec<u8>,
    /// Weights of the registers before [`Maker::narrow`] halves any.
    widths: &'a [u8],
    /// Instructions that write each register.
    definitions: Vec<Vec<u32>>,
    /// Instructions that read each register, once per read.
    uses: Vec<Vec<u32>>,
    dead: Vec<bool>,
    /// Number of loops around each instruction, and its block.
    depth: Vec<u32>,
    block: Vec<u32>,
    stands: Vec<Stand>,
    /// `true`: values with a single use are recomputed at that use.
    late: bool,
}

impl Lean {
    pub(super) fn new(function: &Function, body: &DecodedBody, blocks: &[BasicBlock], late: bool) -> Self {
        let mut maker = Maker::new(function, body, blocks, late);
        maker.remove_dead();
        maker.narrow();
        maker.fold();
        maker.finish()
    }
}

impl<'a> Maker<'a> {
    fn new(function: &'a Function, body: &'a DecodedBody, blocks: &[BasicBlock], late: bool) -> Self {
        let registers = body.weights.len();
        let (mut definitions, mut uses) = (vec![Vec::new(); registers], vec![Vec::new(); registers]);
        for (at, instr) in body.code.iter().enumerate() {
            instr.dests().iter().for_each(|&d| definitions[usize::from(d)].push(at as u32));
            if let Op::WarpGroup(form) = instr.op {
                // Sums are in the first file, whose scoreboard numbers are the indices.
                let sums = &body.operand_lists[instr.target as usize][..form.sums()];
                for users in [&mut definitions, &mut uses] {
                    sums.iter().for_each(|&sum| users[usize::from(sum)].push(at as u32));
                }
            }
            for &source in instr.sources() {
                let users: &mut Vec<u32> = &mut uses[usize::from(source)];
                if users.last() != Some(&(at as u32)) {
                    users.push(at as u32);
                }
            }
        }
        let (depth, block) = loops(blocks, body.code.len());
        Self {
            function,
            code: &body.code,
            weights: body.weights.clone(),
            widths: &body.weights,
            definitions,
            uses,
            dead: vec![false; body.code.len()],
            depth,
            block,
            stands: vec![Stand::Itself; registers],
            late,
        }
    }

    fn opcode(&self, at: u32) -> &'a str {
        self.function.code.get(at as usize).map_or("ret", |raw| raw.opcode.as_str())
    }

    fn operands(&self, at: u32) -> &'a [Operand] {
        self.function.code.get(at as usize).map_or(&[], |raw| raw.operands.as_slice())
    }

    /// Returns whether an instruction has no effect except its results.
    fn is_pure(&self, at: u32) -> bool {
        let instr = &self.code[at as usize];
        use OpClass::{Convert, Fp32, Fp32Div, Fp64, Fp64Div, Int, IntDiv, IntMul, Matrix, MatrixFp64, Sfu};
        let is_matrix = matches!(instr.class, Matrix(_) | MatrixFp64(_));
        let is_arithmetic = is_matrix
            || matches!(instr.class, Int | IntMul | IntDiv | Fp32 | Fp32Div | Fp64 | Fp64Div | Sfu | Convert);
        is_arithmetic && !matches!(instr.op, Op::Carry(_) | Op::ReadLive(_))
    }

    /// Removes instructions whose results are unused.
    fn remove_dead(&mut self) {
        let mut list: Vec<u32> = (0..self.code.len() as u32).collect();
        while let Some(at) = list.pop() {
            let instr = &self.code[at as usize];
            let loads = matches!(&instr.op, Op::Load(form) if form.cache != CacheOp::Volatile);
            let unused = |d: &u16| {
                self.uses[usize::from(*d)].iter().all(|user| self.dead[*user as usize] || *user == at)
            };
            if self.dead[at as usize] || !(self.is_pure(at) || loads) || !instr.dests().iter().all(unused) {
                continue;
            }
            self.dead[at as usize] = true;
            for source in instr.sources() {
                let definitions = &self.definitions[usize::from(*source)];
                list.extend(definitions.iter().take(MOST_LOOKED_AT));
            }
        }
        for users in &mut self.uses {
            users.retain(|user| !self.dead[*user as usize]);
        }
    }

    /// Returns whether an instruction reads only the low half of the 64-bit register `register`.
    fn reads_low_half(&self, at: u32, register: u32, narrow: &[bool]) -> bool {
        let instr = &self.code[at as usize];
        let opcode = self.opcode(at);
        if matches!(instr.space(), Some(Space::Shared | Space::Local))
            && matches!(instr.op, Op::Load(_) | Op::Store(_) | Op::Atomic(_))
        {
            // A store reads all of its value.
            let reads = instr.sources().iter().filter(|source| u32::from(**source) == register).count();
            return reads == 1 && self.is_address(at, register);
        }
        let mut parts = opcode.split('.');
        let name = parts.next().unwrap_or_default();
        let kind = parts.next_back().unwrap_or_default();
        match name {
            "cvt" => {
                matches!(kind, "u64" | "s64")
                    && instr.dests().iter().all(|d| self.weights[usize::from(*d)] == 1)
            }
            "add" | "sub" | "and" | "or" | "xor" | "mov" | "cvta" | "not" | "neg" | "selp" | "mul"
            | "mad" | "shl"
                if matches!(kind, "u64" | "s64" | "b64")
                    && !opcode.contains("wide")
                    && !opcode.contains(".hi") =>
            {
                !instr.dests().is_empty() && instr.dests().iter().all(|d| narrow[usize::from(*d)])
            }
            _ => false,
        }
    }

    /// Returns whether the register is the address of an access.
    fn is_address(&self, at: u32, register: u32) -> bool {
        self.address_number(at) == Some(register)
    }

    /// Returns the scoreboard number of an access's address register.
    fn address_number(&self, at: u32) -> Option<u32> {
        let instr = &self.code[at as usize];
        let form = match &instr.op {
            Op::Load(form) | Op::Store(form) | Op::Atomic(form) => form,
            _ => return None,
        };
        let Some(Operand::Address(base, _)) =
            self.operands(at).iter().find(|operand| matches!(operand, Operand::Address(..)))
        else {
            return None;
        };
        if !matches!(**base, Operand::Register(_)) {
            return None;
        }
        let weight = if form.wide_address { 2 } else { 1 };
        let guard = usize::from(instr.guard != NONE);
        // Sources are in operand order.
        let sources = &instr.sources()[guard..];
        let found = match instr.op {
            Op::Load(_) => sources.first(),
            _ => sources.iter().find(|s| self.widths[usize::from(**s)] == weight),
        };
        found.map(|s| u32::from(*s))
    }

    /// Finds 64-bit registers whose low half alone is read, such as addresses in shared and local memory.
    fn narrow(&mut self) {
        let mut narrow: Vec<bool> = self.weights.iter().map(|weight| *weight == 2).collect();
        let mut changed = true;
        while changed {
            changed = false;
            // Values depend on earlier values, so iteration from the last register to the first needs few passes.
            for register in (0..narrow.len()).rev() {
                if narrow[register]
                    && !self.uses[register]
                        .iter()
                        .all(|at| self.reads_low_half(*at, register as u32, &narrow))
                {
                    narrow[register] = false;
                    changed = true;
                }
            }
        }
        for (register, narrow) in narrow.into_iter().enumerate() {
            if narrow || self.weights[register] == 2 && self.has_no_high_half(register) {
                self.weights[register] = 1;
            }
        }
    }

    /// Returns whether the high half of a 64-bit register is always zero.
    fn has_no_high_half(&self, register: usize) -> bool {
        let definitions = &self.definitions[register];
        let unsigned = |at: &u32| match &self.code[*at as usize].op {
            Op::Load(form) => form.element.number == Number::Unsigned && form.element.bits < 64,
            _ => self.opcode(*at) == "cvt.u64.u32",
        };
        definitions.len() == 1 && definitions.iter().all(unsigned)
    }

    /// Returns the definition of a register if it is the only one and has no guard.
    fn definition(&self, register: u32) -> Option<u32> {
        match self.definitions[register as usize][..] {
            [at] if self.code[at as usize].guard == NONE => Some(at),
            _ => None,
        }
    }

    fn fold(&mut self) {
        for at in 0..self.code.len() as u32 {
            let [dest] = *self.code[at as usize].dests() else { continue };
            if self.dead[at as usize] || self.definition(dest.into()) != Some(at) {
                continue;
            }
            if let Some(made) = self.made(at, dest.into()) {
                self.stands[usize::from(dest)] = Stand::Made(made);
            }
        }
    }

    /// Returns the registers behind the sources of an instruction, after replacement of recomputed values.
    fn stand_of_sources(&self, at: u32) -> Vec<u32> {
        let mut out = Vec::new();
        for &source in self.code[at as usize].sources() {
            match &self.stands[usize::from(source)] {
                Stand::Itself => out.push(u32::from(source)),
                Stand::Made(from) => out.extend(from),
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    fn weight(&self, registers: &[u32]) -> u32 {
        registers.iter().map(|r| u32::from(self.weights[*r as usize])).sum()
    }

    /// Returns the values from which an instruction's result can be recomputed at its uses; `None` if it needs a
    /// register.
    fn made(&self, at: u32, dest: u32) -> Option<Vec<u32>> {
        let instr = &self.code[at as usize];
        let opcode = self.opcode(at);
        let name = opcode.split('.').next().unwrap_or_default();
        if let Op::Load(form) = &instr.op {
            return (form.space == Space::Param && instr.sources().is_empty()).then(Vec::new);
        }
        if !self.is_pure(at) || self.weights[dest as usize] == 0 {
            return None;
        }
        // Launch sizes are constants. Thread indices must be read from special registers.
        let is_read = |operand: &Operand| {
            let Operand::Special(special) = operand else { return false };
            !matches!(
                special::find(special),
                Some(SpecialSource::Fixed(
                    Special::Ntid(_)
                        | Special::Nctaid(_)
                        | Special::Given(_)
                        | Special::Zero
                        | Special::GridId
                ))
            )
        };
        if self.operands(at).iter().any(is_read) {
            return None;
        }
        let from = self.stand_of_sources(at);
        if from.is_empty() || from.len() > MOST_MADE_FROM {
            return from.is_empty().then_some(from);
        }
        // A value cannot be recomputed from registers that change before its use.
        let users = &self.uses[dest as usize];
        let stable = from.iter().all(|r| self.definition(*r).is_some());
        let close = |user: &u32| {
            self.block[*user as usize] == self.block[at as usize]
                && *user > at
                && from.iter().all(|r| {
                    let definitions = &self.definitions[*r as usize];
                    let next = definitions.partition_point(|d| *d <= at);
                    definitions.get(next).is_none_or(|d| d >= user)
                })
        };
        if !stable && !users.iter().all(close) {
            return None;
        }
        let copies = matches!(name, "mov" | "cvta")
            || matches!(
                opcode,
                "cvt.u64.u32"
                    | "cvt.s64.s32"
                    | "cvt.u32.u64"
                    | "cvt.s32.s64"
                    | "cvt.u32.s64"
                    | "cvt.s64.u32"
                    | "cvt.u64.s32"
                    | "cvt.u32.u32"
                    | "cvt.s32.s32"
            );
        if copies && instr.sources().len() == 1 {
            return Some(from);
        }
        let has_constant =
            self.operands(at).iter().any(|o| matches!(o, Operand::Integer(_) | Operand::Variable(..)));
        // A sum with a constant becomes the offset of an access.
        if matches!(name, "add")
            && has_constant
            && from.len() == 1
            && self.weights[from[0] as usize] == self.weights[dest as usize]
            && users.iter().all(|user| self.address_number(*user) == Some(dest))
        {
            return Some(from);
        }
        let smaller = self.late && self.weight(&from) < self.weight(&[dest]);
        if smaller && has_constant && (opcode.starts_with("mul.wide") || matches!(name, "shl" | "mul")) {
            return Some(from);
        }
        let single =
            self.late && users.len() == 1 && self.depth[users[0] as usize] <= self.depth[at as usize];
        let cheap = !matches!(instr.class, OpClass::IntDiv | OpClass::Fp32Div | OpClass::Fp64Div);
        (single && cheap && self.weight(&from) <= self.weight(&[dest])).then_some(from)
    }

    /// Returns whether a branch depends on a counter that is stepped by a constant. NVIDIA's assembler does not count
    /// down to a bound that is not constant.
    fn is_counted(&self, at: u32) -> bool {
        let instr = &self.code[at as usize];
        if !matches!(instr.op, Op::Branch) || instr.guard == NONE {
            return false;
        }
        let Some(test) = instr.sources().first().and_then(|guard| self.definition(u32::from(*guard))) else {
            return false;
        };
        let constant = self.operands(test).iter().any(|operand| matches!(operand, Operand::Integer(_)));
        self.opcode(test).starts_with("setp")
            && self.code[test as usize].sources().iter().any(|counter| {
                let step = self.definitions[usize::from(*counter)].iter().find_map(|at| self.step(*at));
                step.is_some_and(|rises| rises || constant)
            })
    }

    /// Returns, for an addition to a register in place, whether the addend is positive or unknown. `None` for other
    /// instructions.
    fn step(&self, at: u32) -> Option<bool> {
        let instr = &self.code[at as usize];
        if !self.opcode(at).starts_with("add") {
            return None;
        }
        match self.operands(at) {
            [to, from, Operand::Integer(step)] if to == from => Some(*step > 0),
            [to, a, b] if (to == a || to == b) && a != b && instr.dests().len() == 1 => Some(true),
            _ => None,
        }
    }

    /// Returns whether the hardware executes several instructions: for products of integers, and most 64-bit
    /// operations.
    fn is_several(&self, opcode: &str, dests: &[u32]) -> bool {
        let name = opcode.split('.').next().unwrap_or_default();
        let wide = self.weight(dests) > dests.len() as u32
            && !opcode.ends_with("f64")
            && !matches!(name, "mov" | "cvta");
        let product = matches!(name, "mul" | "mad") && !opcode.contains(".f");
        wide || product
    }

    fn finish(self) -> Lean {
        let mut steps = Vec::with_capacity(self.code.len());
        for (at, instr) in self.code.iter().enumerate() {
            let folded = |d: &u16| self.stands[usize::from(*d)] != Stand::Itself;
            let jumps = matches!(instr.op, Op::Branch) && instr.guard == NONE;
            if jumps || self.dead[at] || (!instr.dests().is_empty() && instr.dests().iter().all(folded)) {
                steps.push(RegisterUse::default());
                continue;
            }
            let at = at as u32;
            let made: u32 = instr
                .sources()
                .iter()
                .filter(|s| match &self.stands[usize::from(**s)] {
                    Stand::Itself => false,
                    Stand::Made(from) => self.weight(from) < u32::from(self.weights[usize::from(**s)]),
                })
                .filter(|s| self.address_number(at) == Some(u32::from(**s)))
                .map(|s| u32::from(self.weights[usize::from(*s)]))
                .sum();
            let kind = match &instr.op {
                Op::Load(form) if form.cache == CacheOp::ReadOnly => Mobility::Load(Space::Const),
                Op::Load(form) if form.cache != CacheOp::Volatile => Mobility::Load(form.space),
                Op::Texture(_) => Mobility::Load(Space::Const),
                Op::Store(form) => Mobility::Store(form.space),
                _ if self.is_pure(at) => Mobility::Pure,
                _ => Mobility::Fixed,
            };
            let dests: Vec<u32> = instr.dests().iter().map(|d| u32::from(*d)).collect();
            let sources = self.stand_of_sources(at);
            let opcode = self.opcode(at);
            let constant = self.operands(at).iter().any(|o| matches!(o, Operand::Integer(_)));
            let steps_up = opcode.starts_with("add") && constant && sources == dests;
            steps.push(RegisterUse {
                extra: made.max(routine(opcode)),
                apart: kind == Mobility::Pure && self.is_several(opcode, &dests),
                replaces: instr.guard == NONE,
                kind,
                steps_up,
                dests,
                sources,
            });
        }
        let rolled =
            (0..self.code.len()).map(|at| self.function.code.get(at).is_some_and(|raw| raw.rolled)).collect();
        let counted = (0..self.code.len() as u32).map(|at| self.is_counted(at)).collect();
        Lean { steps, weights: self.weights, rolled, counted }
    }
}

/// Returns the registers of the routine that replaces an instruction that hardware lacks, operands and result
/// included. The numbers were measured with kernels of one such instruction and 0 to 10 live values. The registers of
/// the same kernel with an addition were subtracted; the mean was taken.
fn routine(opcode: &str) -> u32 {
    let wide = opcode.ends_with("64");
    let float = opcode.contains(".f");
    let exact = [".rn", ".rz", ".rm", ".rp"].iter().any(|mode| opcode.contains(mode));
    match (opcode.split('.').next().unwrap_or_default(), float, wide) {
        ("div" | "rem", false, false) => 8,
        ("div" | "rem", false, true) => 17,
        ("div", true, false) if exact => 9,
        ("rcp", true, false) if exact => 7,
        ("sqrt", true, false) if exact => 4,
        ("div" | "sqrt", true, true) => 15,
        ("rcp", true, true) => 7,
        _ => 0,
    }
}

/// Returns the number of loops around each instruction, and its block. A backward branch makes a loop of the blocks
/// in between.
fn loops(blocks: &[BasicBlock], length: usize) -> (Vec<u32>, Vec<u32>) {
    let mut block_of = vec![0; length];
    for (index, block) in blocks.iter().enumerate() {
        block_of[block.first as usize..block.end as usize].fill(index as u32);
    }
    // Last block of each loop, by first block.
    let mut ends = std::collections::BTreeMap::new();
    for (index, block) in blocks.iter().enumerate() {
        for &head in block.successors.iter().filter(|head| **head <= index) {
            ends.insert(head, index);
        }
    }
    let mut changes = vec![0i32; length + 1];
    for (head, end) in ends {
        changes[blocks[head].first as usize] += 1;
        changes[blocks[end].end as usize] -= 1;
    }
    let depth = changes.iter().take(length).scan(0, |depth, change| {
        *depth += change;
        Some(*depth as u32)
    });
    (depth.collect(), block_of)
}
