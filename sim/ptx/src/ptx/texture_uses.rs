//! Finds the textures that a kernel samples, from its code.
use super::GLOBALS_BASE;
use super::alu::AluOp;
use super::forms::{Space, TextureShape};
use super::instr::{Instr, NONE, Op};
use super::kernel::Kernel;
use crate::memory::HEAP_BASE;

/// Origin of a texture handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextureSource {
    /// The `.global` variable at this device address.
    Variable(u64),
    /// The kernel parameter with this index.
    Param(usize),
    /// Memory, or a computation.
    Elsewhere,
}

/// A kernel's use of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureUse {
    /// Origin of the handle.
    pub source: TextureSource,
    /// Number of dimensions, 1 to 3, layers or faces included.
    pub dimensions: u8,
    /// `true`: the last dimension counts the six faces of a cube.
    pub cube: bool,
    /// `true`: samples are floating-point numbers.
    pub float: bool,
}

impl Kernel {
    /// Returns the distinct texture uses of the kernel, in code order.
    #[must_use]
    pub fn textures(&self) -> Vec<TextureUse> {
        let mut out: Vec<TextureUse> = Vec::new();
        for (pc, instr) in self.code.iter().enumerate() {
            let Op::Texture(form) = instr.op else { continue };
            let source = match instr.a {
                NONE => TextureSource::Variable(instr.offset as u64),
                _ => first_operand(instr).map_or(TextureSource::Elsewhere, |handle| self.trace(pc, handle)),
            };
            let cube = form.shape == TextureShape::Cube;
            let found = TextureUse { source, dimensions: form.dimensions, cube, float: form.float_result };
            if !out.contains(&found) {
                out.push(found);
            }
        }
        out
    }

    /// Returns the origin of register `number` before instruction `pc`. Follows moves backwards in code order.
    fn trace(&self, pc: usize, number: u16) -> TextureSource {
        let mut number = number;
        for instr in self.code[..pc].iter().rev() {
            if !instr.dests().contains(&number) {
                continue;
            }
            match (&instr.op, first_operand(instr)) {
                (Op::Load(form), None) if form.space == Space::Param => {
                    let at = |offset: u32| i64::from(offset) == instr.offset;
                    let param = self.params.iter().position(|param| at(param.offset) && param.bytes == 8);
                    return param.map_or(TextureSource::Elsewhere, TextureSource::Param);
                }
                (Op::Alu(AluOp::Move64), Some(from)) => number = from,
                // The address of a texture reference is a constant.
                (Op::Alu(AluOp::Move64), None) => {
                    let value =
                        self.literals.doubles.get(usize::from(u16::MAX - instr.a)).map(|lanes| lanes[0]);
                    let variable = value.filter(|address| (GLOBALS_BASE..HEAP_BASE).contains(address));
                    return variable.map_or(TextureSource::Elsewhere, TextureSource::Variable);
                }
                _ => return TextureSource::Elsewhere,
            }
        }
        TextureSource::Elsewhere
    }
}

/// Returns the first register that an instruction reads, without its guard.
fn first_operand(instr: &Instr) -> Option<u16> {
    instr.sources().get(usize::from(instr.guard != NONE)).copied()
}
