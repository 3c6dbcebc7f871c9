//! Decodes matrix products, loads of their fragments, and copies to shared memory.

use super::super::ast::{Operand, VariableSpace};
use super::super::error::quote;
use super::super::forms::{
    CacheOp, CopyForm, Factor, LoadMatrixForm, MatrixForm, OpClass, Outside, Rare, RareAccess, Space, Sum,
    SurfaceForm,
};
use super::super::instr::{NONE, Op};
use super::super::small_float::SmallFloat;
use super::memory::elements;
use super::{FunctionDecoder, Result, exactly};

/// Number of scoreboard numbers that copies to shared memory share. A wait can name all of them.
const COPY_FLAGS: usize = 8;

impl FunctionDecoder<'_> {
    /// `mma.sync`: result, two factors and addend, all vectors.
    pub(super) fn matrix(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (finite, modifiers): (Vec<&str>, Vec<&str>) =
            modifiers.iter().partition(|modifier| **modifier == "satfinite");
        let ["sync", "aligned", shape, "row", "col", to, a, b, from] = modifiers[..] else {
            return Err("known is mma.sync.aligned.SHAPE.row.col with four types".to_owned());
        };
        let form = matrix_form(shape, [to, a, b, from], !finite.is_empty())?;
        let [d, first, second, addend] = exactly(operands)?;
        let [sums, firsts, seconds] = form.registers();
        let mut list = Vec::new();
        for element in vector(d, sums)? {
            list.push(self.dest(element, 32)?);
        }
        for (operand, count) in [(first, firsts), (second, seconds), (addend, sums)] {
            for element in vector(operand, count)? {
                let float = matches!((form.sum, count), (Sum::Single, 4));
                list.push(self.source(element, super::super::alu::OperandType { width: 32, float })?);
            }
        }
        // Duplicate sources add no dependence.
        self.sources.sort_unstable();
        self.sources.dedup();
        self.instr.target = self.body.operand_lists.len() as u32;
        self.body.operand_lists.push(list.into());
        self.plain(Op::Rare(Rare::Matrix(form)), OpClass::Fp32)
    }

    /// `ldmatrix`: one, two or four registers from an address in shared memory.
    pub(super) fn load_matrix(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (mut count, mut transpose, mut generic) = (0, false, true);
        for modifier in modifiers {
            match *modifier {
                "sync" | "aligned" | "m8n8" | "b16" => {}
                "x1" => count = 1,
                "x2" => count = 2,
                "x4" => count = 4,
                "trans" => transpose = true,
                "shared" | "shared::cta" => generic = false,
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        let parts = ["sync", "aligned", "m8n8", "b16"];
        if count == 0 || !parts.iter().all(|part| modifiers.contains(part)) {
            return Err("known is ldmatrix.sync.aligned.m8n8 of x1, x2 or x4 and b16".to_owned());
        }
        let [d, address] = exactly(operands)?;
        for (index, element) in elements(d, count)?.iter().enumerate() {
            self.instr.vector[index] = self.dest(element, 32)?;
        }
        let place = self.place(address, Space::Shared)?;
        self.instr.a = place.register;
        self.instr.offset = place.offset;
        let form = LoadMatrixForm {
            count,
            transpose,
            wide_address: place.wide,
            generic: generic && place.register != NONE,
        };
        self.plain(Op::RareAccess(RareAccess::LoadMatrix(form)), OpClass::Load)
    }

    /// `cp.async`: copies, and waits for them.
    pub(super) fn copy(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let ["async", rest @ ..] = modifiers else {
            return Err("only 'cp.async' is known".to_owned());
        };
        match rest {
            ["commit_group"] => {
                exactly::<0>(operands)?;
                return self.plain(Op::Nothing, OpClass::Control);
            }
            ["wait_group"] => {
                let [Operand::Integer(_)] = exactly(operands)? else {
                    return Err("it takes a number of groups".to_owned());
                };
                return self.wait_for_copies();
            }
            ["wait_all"] => {
                exactly::<0>(operands)?;
                return self.wait_for_copies();
            }
            _ => {}
        }
        let mut cache = None;
        for modifier in rest.iter() {
            match *modifier {
                "shared" | "shared::cta" | "global" => {}
                "ca" => cache = Some(CacheOp::All),
                "cg" => cache = Some(CacheOp::Global),
                hint if hint.starts_with("L2::") => {}
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        let cache = cache.ok_or("known are .ca and .cg from .global to .shared")?;
        if !rest.contains(&"global") || !rest.iter().any(|modifier| modifier.starts_with("shared")) {
            return Err("known are .ca and .cg from .global to .shared".to_owned());
        }
        let (to, from, bytes, size) = match operands {
            [to, from, bytes] => (to, from, bytes, None),
            [to, from, bytes, size] => (to, from, bytes, Some(size)),
            _ => return Err(format!("it takes 3 or 4 operands, got {}", operands.len())),
        };
        let Operand::Integer(bytes @ (4 | 8 | 16)) = bytes else {
            return Err("it copies 4, 8 or 16 bytes".to_owned());
        };
        let [to, from] = [self.place(to, Space::Shared)?, self.place(from, Space::Global)?];
        let form = CopyForm { bytes: *bytes as u8, cache, wide_to: to.wide, wide_from: from.wide };
        self.instr.a = from.register;
        self.instr.offset = from.offset;
        self.instr.b = match to.register {
            NONE => self.constant(0, 32),
            register => register,
        };
        self.instr.target = to.offset as u32;
        if let Some(size) = size {
            self.instr.c = self.integer(size, 32)?;
        }
        let flag = self.copy_flag();
        self.dests.push(flag);
        self.plain(Op::RareAccess(RareAccess::Copy(form)), OpClass::Load)
    }

    /// Returns the scoreboard number of the next copy. It is in flight while the copy is.
    fn copy_flag(&mut self) -> u16 {
        let index = self.copies % COPY_FLAGS;
        self.copies += 1;
        if index == self.copy_flags.len() {
            let hidden = self.hidden(1);
            self.copy_flags.push((self.named[0] + self.named[1]) as u16 + hidden);
        }
        self.copy_flags[index]
    }

    /// Decodes an instruction that waits for all copies.
    fn wait_for_copies(&mut self) -> Result<()> {
        self.waits.push(self.body.code.len());
        self.plain(Op::Nothing, OpClass::Int)
    }

    /// Adds the copies' scoreboard numbers to every wait. Later copies are included, because a loop may execute them
    /// first.
    pub(super) fn name_copies(&mut self) {
        for &wait in &self.waits {
            let instr = &mut self.body.code[wait];
            for &flag in &self.copy_flags {
                let count = usize::from(instr.dest_count + instr.source_count);
                if let Some(slot) = instr.named.get_mut(count) {
                    *slot = flag;
                    instr.source_count += 1;
                }
            }
        }
    }

    /// `suld.b.2d` and `sust.b.2d`: loads and stores bytes of a surface.
    pub(super) fn surface(&mut self, store: bool, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (count, of, outside) = match modifiers {
            ["b", "2d", "v2", of, outside] => (2, of, outside),
            ["b", "2d", "v4", of, outside] => (4, of, outside),
            ["b", "2d", of, outside] => (1, of, outside),
            _ => return Err("known is .b.2d, with one, two or four elements".to_owned()),
        };
        let outside = match *outside {
            "trap" => Outside::Trap,
            "clamp" => Outside::Clamp,
            "zero" => Outside::Zero,
            other => return Err(format!("'{}' is not trap, clamp or zero", quote(other))),
        };
        let bits = match *of {
            "b8" => 8,
            "b16" => 16,
            "b32" => 32,
            "b64" => 64,
            other => return Err(format!("type '{}' is not b8, b16, b32 or b64", quote(other))),
        };
        if bits == 64 && count == 4 {
            return Err("its vector is too long".to_owned());
        }
        let [first, second] = exactly(operands)?;
        let (place, values) = if store { (first, second) } else { (second, first) };
        let Operand::Vector(place) = place else {
            return Err("it needs a surface and coordinates in brackets".to_owned());
        };
        let [handle, coordinates] = exactly(place)?;
        let Operand::Vector(coordinates) = coordinates else {
            return Err("it takes two coordinates".to_owned());
        };
        let [x, y] = exactly(coordinates)?;
        (self.instr.a, self.instr.offset) = self.handle(handle)?;
        (self.instr.b, self.instr.c) = (self.integer(x, 32)?, self.integer(y, 32)?);
        let mut register_bits = 0;
        for (index, element) in elements(values, count)?.iter().enumerate() {
            let width = match element {
                Operand::Register(id) if store => {
                    let place = self.wide_source(*id, bits.max(16))?;
                    self.instr.vector[index] = place.index;
                    place.width
                }
                Operand::Register(_) => {
                    let place = self.wide_dest(element, bits.max(16))?;
                    self.instr.vector[index] = place.index;
                    place.width
                }
                _ if store => {
                    self.instr.vector[index] = self.integer(element, bits.max(16))?;
                    bits.max(16)
                }
                _ => continue,
            };
            if register_bits != 0 && register_bits != width {
                return Err("its registers differ in width".to_owned());
            }
            register_bits = width;
        }
        let form = SurfaceForm { store, bytes: bits / 8, elements: count, outside, register_bits };
        let class = if store { OpClass::Store } else { OpClass::Load };
        self.plain(Op::RareAccess(RareAccess::Surface(form)), class)
    }

    /// Decodes an address: a register with an offset, or a variable of `space`.
    fn place(&mut self, operand: &Operand, space: Space) -> Result<AddressPlace> {
        let Operand::Address(base, offset) = operand else {
            return Err("it needs an address in brackets".to_owned());
        };
        match &**base {
            Operand::Register(id) => {
                let place = self.wide_source(*id, 32)?;
                Ok(AddressPlace { register: place.index, offset: *offset, wide: place.width == 64 })
            }
            Operand::Variable(id, _) => {
                let (address, found) = self.address_of(*id)?;
                if found != space || self.ast.variables[*id as usize].space == VariableSpace::Param {
                    let name = quote(&self.ast.variables[*id as usize].name);
                    return Err(format!("variable '{name}' is in another state space"));
                }
                Ok(AddressPlace { register: NONE, offset: offset.wrapping_add(address as i64), wide: false })
            }
            _ => Err("its address must be a register or a variable".to_owned()),
        }
    }
}

/// Operand of an address: register and offset.
struct AddressPlace {
    register: u16,
    offset: i64,
    wide: bool,
}

/// Returns the elements of a vector operand, which must have `count`.
fn vector(operand: &Operand, count: usize) -> Result<&[Operand]> {
    elements(operand, count as u8)
}

/// Parses the shape and types of a matrix product.
fn matrix_form(shape: &str, [to, a, b, from]: [&str; 4], finite: bool) -> Result<MatrixForm> {
    let factor = |name: &str| {
        Ok(match name {
            "u8" => Factor::Unsigned8,
            "s8" => Factor::Signed8,
            "f16" => Factor::Float(SmallFloat::Half),
            "bf16" => Factor::Float(SmallFloat::Brain),
            "tf32" => Factor::Float(SmallFloat::Tf32),
            "e4m3" => Factor::Float(SmallFloat::E4m3),
            "e5m2" => Factor::Float(SmallFloat::E5m2),
            other => return Err(format!("a factor of type '{}' is not known", quote(other))),
        })
    };
    let (a, b) = (factor(a)?, factor(b)?);
    let k: u8 = match shape {
        "m16n8k4" => 4,
        "m16n8k8" => 8,
        "m16n8k16" => 16,
        "m16n8k32" => 32,
        other => return Err(format!("shape '{}' is not m16n8k4, k8, k16 or k32", quote(other))),
    };
    let of_eight = |of: Factor| of.bits() == 8;
    let integers = |of: Factor| matches!(of, Factor::Unsigned8 | Factor::Signed8);
    let suits = match a.bits() {
        8 => of_eight(b) && integers(a) == integers(b) && (k == 32 || k == 16 && integers(a)),
        16 => a == b && (k == 8 || k == 16),
        _ => a == b && (k == 4 || k == 8),
    };
    let sum = match (to, integers(a)) {
        ("s32", true) => Sum::Integer { finite },
        ("f32", false) => Sum::Single,
        ("f16", false) if a == Factor::Float(SmallFloat::Half) => Sum::Half,
        _ => return Err(format!("a result of type '{}' does not suit the factors", quote(to))),
    };
    if !suits || to != from || finite && !integers(a) {
        return Err("its shape and types do not go together".to_owned());
    }
    Ok(MatrixForm { k, a, b, sum })
}
