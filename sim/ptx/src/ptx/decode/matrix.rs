//! Decodes matrix products, loads of their fragments, and copies to shared memory.

use super::super::ast::{Operand, VariableSpace};
use super::super::error::quote;
use super::super::float::Rounding;
use super::super::forms::{
    CacheOp, CopyForm, Factor, LoadMatrixForm, MatrixForm, OpClass, Outside, Rare, RareAccess, Space, Sum,
    SurfaceForm, Variant,
};
use super::super::instr::{NONE, Op};
use super::super::small_float::SmallFloat;
use super::in_flight::WorkInFlight;
use super::memory::elements;
use super::{FunctionDecoder, Result, exactly};

impl FunctionDecoder<'_> {
    /// `mma.sync`: result, two factors and addend, all vectors. `whole`: allows only shapes of PTX.
    pub(super) fn matrix(&mut self, whole: bool, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (mut shape, mut types, mut layouts) = (None, Vec::new(), Vec::new());
        let mut rounding = Rounding::Nearest;
        let (mut finite, mut bits, mut synced) = (false, None, 0);
        for modifier in modifiers {
            match *modifier {
                "sync" | "aligned" => synced += 1,
                "row" | "col" => layouts.push(*modifier == "row"),
                "satfinite" => finite = true,
                "rn" => rounding = Rounding::Nearest,
                "rz" => rounding = Rounding::Zero,
                "rm" => rounding = Rounding::Down,
                "rp" => rounding = Rounding::Up,
                "and" => bits = Some(Variant::And),
                "xor" => bits = Some(Variant::Plain),
                "popc" => {}
                shape_name if shape_name.starts_with('m') => shape = Some(shape_name),
                of => types.push(of),
            }
        }
        let ([to, a, b, from], Some(shape), [a_by_row, b_by_row], 2) =
            (&types[..], shape, &layouts[..], synced)
        else {
            return Err("known is mma.sync.aligned.SHAPE.row.col with four types".to_owned());
        };
        let mut form = matrix_form(shape, [to, a, b, from], whole)?;
        form.rounding = rounding;
        let integers = form.a.is_integer();
        let is_bit = form.a == Factor::Bit;
        if finite && !integers
            || bits.is_some() != is_bit
            || form.to != Sum::Double && rounding != Rounding::Nearest
        {
            return Err("its modifiers and types do not go together".to_owned());
        }
        form.variant = if finite { Variant::Finite } else { bits.unwrap_or(Variant::Plain) };
        let quarters = form.k_bits == 2 && form.a == Factor::Float(SmallFloat::Half);
        let operands = if let [rest @ .., Operand::Integer(half)] = operands
            && quarters
        {
            form.variant = Variant::Quarters { a_by_row: *a_by_row, b_by_row: *b_by_row, left: *half == 0 };
            rest
        } else if !a_by_row || *b_by_row {
            return Err("its layouts must be row and col".to_owned());
        } else {
            operands
        };
        let [d, first, second, addend] = exactly(operands)?;
        let [sums, firsts, seconds, addends] = form.registers();
        let width = if form.to == Sum::Double { 64 } else { 32 };
        let mut list = Vec::new();
        for element in vector(d, sums)? {
            list.push(self.dest(element, width)?);
        }
        let float = matches!(form.from, Sum::Single | Sum::Double);
        for (operand, count, float) in
            [(first, firsts, width == 64), (second, seconds, width == 64), (addend, addends, float)]
        {
            for element in vector(operand, count)? {
                list.push(self.source(element, super::super::alu::OperandType { width, float })?);
            }
        }
        // Duplicate sources add no dependence.
        self.sources.sort_unstable();
        self.sources.dedup();
        self.instr.target = self.body.operand_lists.len() as u32;
        self.body.operand_lists.push(list.into());
        self.plain(Op::Rare(Rare::Matrix(form)), form.class())
    }

    /// `movmatrix`: one register to one register.
    pub(super) fn transpose_matrix(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        if modifiers != ["sync", "aligned", "m8n8", "trans", "b16"] {
            return Err("known is movmatrix.sync.aligned.m8n8.trans.b16".to_owned());
        }
        let [d, a] = exactly(operands)?;
        self.instr.d = self.dest(d, 32)?;
        self.instr.a = self.integer(a, 32)?;
        self.plain(Op::Rare(Rare::Transpose), OpClass::Warp)
    }

    /// `elect.sync`: the lane that is picked, and a predicate that is true in it.
    pub(super) fn elect(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [d, members] = exactly(operands)?;
        if modifiers != ["sync"] {
            return Err("known is elect.sync".to_owned());
        }
        (self.instr.d, self.instr.vector[0]) = match d {
            Operand::Pair(lane, picked) => (self.dest_register(*lane, 32)?, self.dest_register(*picked, 1)?),
            Operand::Register(id) if self.places[*id as usize].width == 1 => {
                (self.hidden(32), self.dest_register(*id, 1)?)
            }
            other => (self.dest(other, 32)?, self.hidden(1)),
        };
        self.instr.c = self.integer(members, 32)?;
        self.plain(Op::Rare(Rare::Elect), OpClass::Warp)
    }

    /// `ldmatrix` and `stmatrix`: one, two or four registers, and an address in shared memory.
    pub(super) fn load_matrix(
        &mut self,
        store: bool,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<()> {
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
            return Err("known is .sync.aligned.m8n8 of x1, x2 or x4 and b16".to_owned());
        }
        let [first, second] = exactly(operands)?;
        let (list, address) = if store { (second, first) } else { (first, second) };
        for (index, element) in elements(list, count)?.iter().enumerate() {
            self.instr.vector[index] =
                if store { self.integer(element, 32)? } else { self.dest(element, 32)? };
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
        match store {
            true => self.plain(Op::RareAccess(RareAccess::StoreMatrix(form)), OpClass::Store),
            false => self.plain(Op::RareAccess(RareAccess::LoadMatrix(form)), OpClass::Load),
        }
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
                return self.awaits(WorkInFlight::Copy);
            }
            ["bulk", rest @ ..] => return self.bulk(rest, operands),
            ["mbarrier", "arrive", rest @ ..] => return self.arrive_later(rest, operands),
            ["wait_all"] => {
                exactly::<0>(operands)?;
                return self.awaits(WorkInFlight::Copy);
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
        let space = |name: &str| rest.iter().position(|modifier| modifier.starts_with(name));
        if space("global").is_none() || space("shared").is_none() || space("shared") > space("global") {
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
        self.starts(WorkInFlight::Copy);
        self.plain(Op::RareAccess(RareAccess::Copy(form)), OpClass::Load)
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
    pub(super) fn place(&mut self, operand: &Operand, space: Space) -> Result<AddressPlace> {
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
pub(super) struct AddressPlace {
    pub(super) register: u16,
    pub(super) offset: i64,
    pub(super) wide: bool,
}

/// Returns the elements of a vector operand, which must have `count`.
fn vector(operand: &Operand, count: usize) -> Result<&[Operand]> {
    elements(operand, count as u8)
}

/// Returns the type of a factor.
pub(super) fn factor(name: &str) -> Result<Factor> {
    Ok(match name {
        "u8" => Factor::Unsigned8,
        "s8" => Factor::Signed8,
        "u4" => Factor::Unsigned4,
        "s4" => Factor::Signed4,
        "b1" => Factor::Bit,
        "f16" => Factor::Float(SmallFloat::Half),
        "bf16" => Factor::Float(SmallFloat::Brain),
        "tf32" => Factor::Float(SmallFloat::Tf32),
        "e4m3" => Factor::Float(SmallFloat::E4m3),
        "e5m2" => Factor::Float(SmallFloat::E5m2),
        "f64" => Factor::Double,
        other => return Err(format!("a factor of type '{}' is not known", quote(other))),
    })
}

/// Returns the type of a sum.
pub(super) fn sum(name: &str) -> Result<Sum> {
    Ok(match name {
        "f16" => Sum::Half,
        "f32" => Sum::Single,
        "f64" => Sum::Double,
        "s32" => Sum::Integer,
        other => return Err(format!("a result of type '{}' is not known", quote(other))),
    })
}

/// Parses the shape and types of a matrix product. `whole`: allows only shapes of PTX.
fn matrix_form(shape: &str, [to, a, b, from]: [&str; 4], whole: bool) -> Result<MatrixForm> {
    let (a, b, to, from) = (factor(a)?, factor(b)?, sum(to)?, sum(from)?);
    let (tall, k) = match shape.split_once("n8k") {
        Some(("m16", k)) => (true, k),
        Some(("m8", k)) => (false, k),
        _ => return Err(format!("shape '{}' does not have 8 or 16 rows and 8 columns", quote(shape))),
    };
    let k: u16 = k.parse().map_err(|_| format!("shape '{}' is not known", quote(shape)))?;
    let half = a.is_half();
    let shapes: &[(bool, u16)] = match a {
        Factor::Float(SmallFloat::Half) if !whole => &[(true, 8), (true, 16), (false, 4)],
        Factor::Float(SmallFloat::Half | SmallFloat::Brain) => &[(true, 8), (true, 16)],
        Factor::Float(SmallFloat::Tf32) => &[(true, 4), (true, 8)],
        Factor::Float(_) => &[(true, 32)],
        Factor::Double if !whole => &[(false, 4), (false, 16)],
        Factor::Double => &[(false, 4), (true, 4), (true, 8)],
        Factor::Unsigned8 | Factor::Signed8 => &[(false, 16), (true, 16), (true, 32)],
        Factor::Unsigned4 | Factor::Signed4 => &[(false, 32), (true, 32), (true, 64)],
        Factor::Bit => &[(false, 128), (true, 128), (true, 256)],
    };
    let small = |of: Factor| of.bits() == 8 && !of.is_integer();
    let alike = a == b || a.bits() == b.bits() && (a.is_integer() && b.is_integer() || small(a) && small(b));
    let sums: &[Sum] = match a {
        Factor::Double => &[Sum::Double],
        Factor::Float(SmallFloat::Half) => &[Sum::Half, Sum::Single],
        Factor::Float(_) => &[Sum::Single],
        _ => &[Sum::Integer],
    };
    if !sums.contains(&to) {
        return Err("a result of its type does not suit the factors".to_owned());
    }
    let sums_suit = to == from || !whole && half && sums.contains(&from);
    if !alike || !shapes.contains(&(tall, k)) || !sums_suit {
        return Err("its shape and types do not go together".to_owned());
    }
    let k_bits = k.trailing_zeros() as u8;
    Ok(MatrixForm { tall, k_bits, a, b, to, from, rounding: Rounding::Nearest, variant: Variant::Plain })
}
