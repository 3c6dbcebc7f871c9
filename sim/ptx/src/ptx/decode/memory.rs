//! Decodes loads, stores and atomics.

use super::super::alu::OperandType;
use super::super::ast::{Operand, VariableSpace};
use super::super::error::quote;
use super::super::forms::{
    AtomicOp, CacheOp, MemoryForm, Number, NumberType, OpClass, Space, TextureForm, TextureShape,
};
use super::super::instr::{NONE, Op};
use super::{FunctionDecoder, Result, exactly, number_type};

impl FunctionDecoder<'_> {
    pub(super) fn load(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let mut form = memory_form(modifiers)?;
        let [d, address] = exactly(operands)?;
        let elements = elements(d, form.elements)?;
        for (index, element) in elements.iter().enumerate() {
            if *element == Operand::Sink {
                continue;
            }
            let place = self.wide_dest(element, form.element.bits)?;
            if index > 0 && form.register_bits != 0 && form.register_bits != place.width {
                return Err("its destinations differ in width".to_owned());
            }
            form.register_bits = place.width;
            self.instr.vector[index] = place.index;
        }
        form.wide_register = form.register_bits == 64;
        self.address(address, &mut form)?;
        self.plain(Op::Load(form), OpClass::Load)
    }

    pub(super) fn store(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let mut form = memory_form(modifiers)?;
        let [address, values] = exactly(operands)?;
        for (index, element) in elements(values, form.elements)?.iter().enumerate() {
            let (place, width) = self.stored(element, form.element)?;
            if index > 0 && form.wide_register != (width == 64) {
                return Err("its values differ in width".to_owned());
            }
            form.wide_register = width == 64;
            self.instr.vector[index] = place;
        }
        self.address(address, &mut form)?;
        self.plain(Op::Store(form), OpClass::Store)
    }

    /// Decodes a value to store: a register at least as wide as the element, or a literal.
    pub(super) fn stored(&mut self, operand: &Operand, element: NumberType) -> Result<(u16, u8)> {
        if let Operand::Register(id) = operand {
            let place = self.wide_source(*id, element.bits)?;
            return Ok((place.index, place.width));
        }
        let width = element.bits.max(16);
        let index = self.source(operand, OperandType { width, float: element.number == Number::Float })?;
        Ok((index, width))
    }

    pub(super) fn atomic(&mut self, reduction: bool, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let op = modifiers.iter().find_map(|m| atomic_op(m)).ok_or("its operation is not known")?;
        let rest: Vec<&str> =
            modifiers.iter().copied().filter(|m| atomic_op(m).is_none() && *m != "noftz").collect();
        let pair = rest.iter().find_map(|m| match *m {
            "f16x2" => Some(Number::HalfPair),
            "bf16x2" => Some(Number::BrainPair),
            _ => None,
        });
        let rest: Vec<&str> = rest.iter().map(|m| if m.ends_with("x2") { "b32" } else { *m }).collect();
        let mut form = memory_form(&rest)?;
        (form.atomic, form.reduction) = (op, reduction);
        form.element.number = pair.unwrap_or(form.element.number);
        let float = pair.is_some() || form.element.number.is_float();
        let least = if float || op == AtomicOp::Cas { 16 } else { 32 };
        if form.elements != 1 || form.element.bits < least || (float && op != AtomicOp::Add) {
            return Err("its type does not suit the operation".to_owned());
        }
        let float = float && form.element.bits >= 32 && pair.is_none();
        let wanted = 2 + usize::from(!reduction) + usize::from(op == AtomicOp::Cas);
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        let width = form.element.bits;
        (form.wide_register, form.register_bits) = (width == 64, width);
        let mut operands = operands.iter();
        let mut next = || operands.next().ok_or("an operand is missing".to_owned());
        if !reduction {
            let d = next()?;
            if *d != Operand::Sink {
                self.instr.d = self.dest(d, width)?;
            }
        }
        let address = next()?;
        self.instr.b = self.source(next()?, OperandType { width, float })?;
        if op == AtomicOp::Cas {
            self.instr.c = self.integer(next()?, width)?;
        }
        self.address(address, &mut form)?;
        form.reduction |= self.instr.d == NONE;
        self.plain(Op::Atomic(form), OpClass::Atomic)
    }

    /// `tex`: four results, a handle, and one coordinate per dimension.
    pub(super) fn texture(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [shape, "v4", result @ ("u32" | "s32" | "f32"), coordinate @ ("s32" | "f32")] = modifiers else {
            return Err(
                "known are 1d, 2d, 3d, a1d, a2d and cube of v4 of u32, s32 or f32, by coordinates of \
                        s32 or f32"
                    .to_owned(),
            );
        };
        let (dimensions, shape) = match *shape {
            "1d" => (1, TextureShape::Plain),
            "2d" => (2, TextureShape::Plain),
            "3d" => (3, TextureShape::Plain),
            "a1d" => (2, TextureShape::Layered),
            "a2d" => (3, TextureShape::Layered),
            "cube" if *coordinate == "f32" => (3, TextureShape::Cube),
            "cube" => return Err("a cube needs coordinates of f32".to_owned()),
            other => return Err(format!("'{}' is not 1d, 2d, 3d, a1d, a2d or cube", quote(other))),
        };
        let [results, source] = exactly(operands)?;
        for (index, element) in elements(results, 4)?.iter().enumerate() {
            if *element != Operand::Sink {
                self.instr.vector[index] = self.dest(element, 32)?;
            }
        }
        let Operand::Vector(source) = source else {
            return Err("it needs a texture and coordinates in brackets".to_owned());
        };
        let [handle, coordinates] = exactly(source)?;
        (self.instr.a, self.instr.offset) = self.handle(handle)?;
        let given = match coordinates {
            Operand::Vector(list) => &list[..],
            other => std::slice::from_ref(other),
        };
        // PTX pads three coordinates to four and ignores the fourth. Older PTX also pads fewer coordinates to four.
        if given.len() != dimensions && given.len() != 4 {
            return Err(format!("it takes {dimensions} coordinates, got {}", given.len()));
        }
        let float_coordinates = *coordinate == "f32";
        for (index, place) in given[..dimensions].iter().enumerate() {
            // The layer is the first coordinate and an integer.
            let (axis, float) = match shape {
                TextureShape::Layered if index == 0 => (dimensions - 1, false),
                TextureShape::Layered => (index - 1, float_coordinates),
                _ => (index, float_coordinates),
            };
            self.instr.vector[4 + axis] = self.source(place, OperandType { width: 32, float })?;
        }
        let float_result = *result == "f32";
        let form = TextureForm { dimensions: dimensions as u8, shape, float_coordinates, float_result };
        self.plain(Op::Texture(form), OpClass::Texture)
    }

    /// Decodes the handle of a texture or surface: a 64-bit register, or the address of a reference.
    pub(super) fn handle(&mut self, operand: &Operand) -> Result<(u16, i64)> {
        match operand {
            Operand::Register(id) => Ok((self.register_source(*id, 64)?, 0)),
            Operand::Variable(id, offset) => match self.address_of(*id)? {
                (address, Space::Global) => Ok((NONE, offset.wrapping_add(address as i64))),
                _ => Err("its texture must be a handle or a global texture reference".to_owned()),
            },
            _ => Err("its texture must be a 64-bit register or a texture reference".to_owned()),
        }
    }

    pub(super) fn address(&mut self, operand: &Operand, form: &mut MemoryForm) -> Result<()> {
        let Operand::Address(base, offset) = operand else {
            return Err("it needs an address in brackets".to_owned());
        };
        self.instr.offset = *offset;
        match &**base {
            Operand::Register(id) => {
                let place = self.wide_source(*id, 32)?;
                form.wide_address = place.width == 64;
                self.instr.a = place.index;
                Ok(())
            }
            Operand::Variable(id, _) => {
                let (address, space) = self.address_of(*id)?;
                let declared_param = self.ast.variables[*id as usize].space == VariableSpace::Param;
                let same = form.space == space || (declared_param && form.space == Space::Param);
                if !same && form.space != Space::Generic {
                    let name = quote(&self.ast.variables[*id as usize].name);
                    return Err(format!("variable '{name}' is in another state space"));
                }
                form.space = space;
                self.instr.offset = offset.wrapping_add(address as i64);
                Ok(())
            }
            Operand::Integer(value) => {
                self.instr.offset = offset.wrapping_add(*value as i64);
                Ok(())
            }
            Operand::Name(name, _) => Err(format!("'{}' is not declared", quote(name))),
            _ => Err("its address must be a register, a variable or a number".to_owned()),
        }
    }
}

pub(super) fn elements(operand: &Operand, count: u8) -> Result<&[Operand]> {
    let list = match operand {
        Operand::Vector(list) => &list[..],
        other => std::slice::from_ref(other),
    };
    if list.len() == usize::from(count) {
        Ok(list)
    } else {
        Err(format!("it moves {count} elements, got {}", list.len()))
    }
}

fn atomic_op(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "add" => AtomicOp::Add,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        "inc" => AtomicOp::Inc,
        "dec" => AtomicOp::Dec,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "exch" => AtomicOp::Exch,
        "cas" => AtomicOp::Cas,
        _ => return None,
    })
}

/// Parses the modifiers of a memory instruction.
fn memory_form(modifiers: &[&str]) -> Result<MemoryForm> {
    let mut form = MemoryForm {
        space: Space::Generic,
        element: NumberType { number: Number::Unsigned, bits: 0 },
        elements: 1,
        wide_register: false,
        register_bits: 0,
        wide_address: false,
        cache: CacheOp::All,
        atomic: AtomicOp::Add,
        reduction: false,
    };
    for modifier in modifiers {
        match *modifier {
            "global" => form.space = Space::Global,
            "shared" | "shared::cta" | "shared::cluster" => form.space = Space::Shared,
            "local" => form.space = Space::Local,
            "const" => form.space = Space::Const,
            "param" | "param::entry" | "param::func" => form.space = Space::Param,
            "volatile" | "cv" | "wt" => form.cache = CacheOp::Volatile,
            "cg" | "relaxed" | "acquire" | "release" | "acq_rel" => form.cache = CacheOp::Global,
            "cs" | "lu" => form.cache = CacheOp::Streaming,
            "nc" => form.cache = CacheOp::ReadOnly,
            "ca" | "wb" | "weak" | "cta" | "cluster" | "gpu" | "sys" => {}
            "v2" => form.elements = 2,
            "v4" => form.elements = 4,
            "v8" => form.elements = 8,
            hint if hint.starts_with("L1::") || hint.starts_with("L2::") => {}
            other => match number_type(other) {
                Some(element) if form.element.bits == 0 => form.element = element,
                _ => return Err(format!("modifier '{}' is not known", quote(other))),
            },
        }
    }
    if form.element.bits == 0 {
        return Err("its type is missing".to_owned());
    }
    if u32::from(form.element.bits) * u32::from(form.elements) > 256 {
        return Err("its vector is too long".to_owned());
    }
    Ok(form)
}
