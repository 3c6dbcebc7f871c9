//! Which textures a kernel samples, as far as its code shows.
use super::GLOBALS_BASE;
use super::alu::Alu;
use super::instr::{Instr, Kernel, NONE, Op, Space, TextureShape};
use crate::memory::HEAP_BASE;

/// Where the handle of a texture comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextureSource {
    /// The `.global` variable at this device address.
    Variable(u64),
    /// The kernel's parameter of this number.
    Param(usize),
    /// Memory, or a computation.
    Elsewhere,
}

/// How a kernel samples a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureUse {
    /// Where its handle comes from.
    pub source: TextureSource,
    /// One to three, layers or faces included.
    pub dimensions: u8,
    /// Whether the last dimension counts the six faces of a cube.
    pub cube: bool,
    /// Whether samples are floating-point numbers.
    pub float: bool,
}

impl Kernel {
    /// The textures that the kernel samples, in the order of its code, each way of sampling one once.
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

    /// Where the register `number` got its value before instruction `pc`, followed through moves in the code's order.
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
                (Op::Alu(Alu::Move64), Some(from)) => number = from,
                // The address of a reference, which is a constant.
                (Op::Alu(Alu::Move64), None) => {
                    let value = self.double_pool.get(usize::from(u16::MAX - instr.a)).map(|lanes| lanes[0]);
                    let variable = value.filter(|address| (GLOBALS_BASE..HEAP_BASE).contains(address));
                    return variable.map_or(TextureSource::Elsewhere, TextureSource::Variable);
                }
                _ => return TextureSource::Elsewhere,
            }
        }
        TextureSource::Elsewhere
    }
}

/// The first register that an instruction reads, its guard apart.
fn first_operand(instr: &Instr) -> Option<u16> {
    instr.sources().get(usize::from(instr.guard != NONE)).copied()
}
