//! Finds the element types behind a kernel's pointer parameters, from its loads, stores and atomics.
use super::alu::AluOp;
use super::forms::{MemoryForm, Number, RareAccess, Space};
use super::instr::{Instr, NONE, Op};
use super::kernel::Kernel;

/// Element type of the data behind a pointer parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointerUse {
    /// Index of the parameter.
    pub param: usize,
    /// Bits of an element: 8, 16, 32 or 64.
    pub bits: u8,
    /// `true`: elements are floating-point numbers.
    pub float: bool,
    /// `true`: loads sign-extend the elements.
    pub signed: bool,
}

/// Set of parameters, one bit each.
type ParamSet = u128;

impl Kernel {
    /// Returns the element type behind each parameter that loads, stores and atomics reach, in parameter order. If
    /// the instructions disagree, the most frequent type wins.
    #[must_use]
    pub fn pointers(&self) -> Vec<PointerUse> {
        let reached = self.reached();
        let of_param = |param: usize| {
            let mut kinds: Vec<(PointerUse, usize)> = Vec::new();
            for (instr, params) in self.code.iter().zip(&reached) {
                if params >> param & 1 == 0 {
                    continue;
                }
                let Some((bits, float, signed)) = element(instr) else { continue };
                let found = PointerUse { param, bits, float, signed };
                match kinds.iter_mut().find(|(known, _)| *known == found) {
                    Some((_, count)) => *count += 1,
                    None => kinds.push((found, 1)),
                }
            }
            // The first of the most frequent types.
            kinds.into_iter().rev().max_by_key(|(_, count)| *count).map(|(found, _)| found)
        };
        (0..self.params.len().min(ParamSet::BITS as usize)).filter_map(of_param).collect()
    }

    /// Returns the parameters from which the address of each instruction may come.
    fn reached(&self) -> Vec<ParamSet> {
        let mut held = vec![0; self.register_count];
        // The loop terminates, because registers only gain parameters.
        let mut changed = true;
        while changed {
            changed = false;
            for instr in &self.code {
                let from = self.carried(instr, &held);
                for &dest in instr.dests() {
                    changed |= from & !held[usize::from(dest)] != 0;
                    held[usize::from(dest)] |= from;
                }
            }
        }
        self.code.iter().map(|instr| address_register(instr).map_or(0, |r| held[usize::from(r)])).collect()
    }

    /// Returns the parameters whose addresses an instruction passes to its result.
    fn carried(&self, instr: &Instr, held: &[ParamSet]) -> ParamSet {
        match instr.op {
            Op::Load(form) if form.space == Space::Param && instr.a == NONE => {
                let at = |offset: u32| i64::from(offset) == instr.offset;
                let found = self.params.iter().position(|p| at(p.offset) && p.bytes == 8);
                found.filter(|param| *param < ParamSet::BITS as usize).map_or(0, |param| 1 << param)
            }
            Op::Alu(AluOp::Move64 | AluOp::Add64 | AluOp::Sub64 | AluOp::Select64) => {
                sources(instr).iter().fold(0, |all, &source| all | held[usize::from(source)])
            }
            // Only the addend, the last operand, can be an address. The others are an index and a size.
            Op::Alu(AluOp::MadLo64 | AluOp::MadWideU32 | AluOp::MadWideS32) => {
                instr.sources().last().map_or(0, |&source| held[usize::from(source)])
            }
            _ => 0,
        }
    }
}

/// Returns the registers that an instruction reads, without its guard.
fn sources(instr: &Instr) -> &[u16] {
    &instr.sources()[usize::from(instr.guard != NONE)..]
}

/// Returns the scoreboard number of the address register of a memory access.
fn address_register(instr: &Instr) -> Option<u16> {
    if instr.a == NONE {
        return None;
    }
    match instr.op {
        // The address is decoded after the data operands.
        Op::Load(_) | Op::Store(_) | Op::Atomic(_) => sources(instr).last().copied(),
        // The destination address comes first.
        Op::RareAccess(RareAccess::Copy(_)) => sources(instr).get(1).copied(),
        Op::Bulk(_) => sources(instr).first().copied(),
        _ => None,
    }
}

/// Returns the bits of the elements that an instruction accesses, and whether they are floating-point or signed.
fn element(instr: &Instr) -> Option<(u8, bool, bool)> {
    let of = |form: MemoryForm| {
        let global = matches!(form.space, Space::Global | Space::Generic);
        let number = form.element.number;
        global.then_some((form.element.bits, number == Number::Float, number == Number::Signed))
    };
    match instr.op {
        Op::Load(form) | Op::Store(form) | Op::Atomic(form) => of(form),
        Op::RareAccess(RareAccess::Copy(_)) | Op::Bulk(_) => Some((32, false, false)),
        _ => None,
    }
}
