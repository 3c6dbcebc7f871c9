//! Replaces an instruction by several: instructions on vectors by instructions on their elements.

use super::ast::{Operand, PtxRegister, RawInstruction, RegisterId};
use super::{mbarrier, wmma};

/// Returns the instructions that replace `raw`; `None` if it stays. New registers are appended to `registers`.
pub(super) fn expand(raw: &RawInstruction, registers: &mut Vec<PtxRegister>) -> Option<Vec<RawInstruction>> {
    let mut parts = raw.opcode.split('.');
    let name = parts.next().unwrap_or_default();
    match name {
        "mov" | "red" | "atom" | "cp" => {}
        "mbarrier" => return pending_count(raw),
        "wmma" => return wmma::expand(raw, registers),
        "mma" => return wmma::halves(raw, registers),
        _ => return None,
    }
    let modifiers: Vec<&str> = parts.collect();
    if name == "cp" {
        return ignoring_copy(raw, registers);
    }
    let is_lanes = |modifier: &&str| matches!(*modifier, "v2" | "v4" | "v8");
    let at = modifiers.iter().position(is_lanes)?;
    let lanes: usize = modifiers[at][1..].parse().ok()?;
    let opcode = raw.opcode.replacen(&format!(".{}", modifiers[at]), "", 1);
    if name == "mov" {
        return moves(raw, &opcode, lanes, registers);
    }
    atomics(raw, &opcode, lanes, &modifiers)
}

/// `mov.v4` of a vector: one move per element.
fn moves(
    raw: &RawInstruction,
    opcode: &str,
    lanes: usize,
    registers: &mut Vec<PtxRegister>,
) -> Option<Vec<RawInstruction>> {
    let [Operand::Vector(to), Operand::Vector(from)] = &raw.operands[..] else { return None };
    if to.len() != lanes || from.len() != lanes {
        return None;
    }
    let one = |to: &Operand, from: &Operand| RawInstruction {
        opcode: opcode.to_owned(),
        operands: vec![to.clone(), from.clone()],
        ..raw.clone()
    };
    let overwritten = |place: usize| to[..place].contains(&from[place]);
    if !(0..lanes).any(overwritten) {
        return Some(to.iter().zip(from).map(|(to, from)| one(to, from)).collect());
    }
    let width = registers[to.iter().find_map(register)? as usize].width;
    let copies: Vec<Operand> = (0..lanes)
        .map(|_| {
            registers.push(PtxRegister { name: "element".to_owned(), width });
            Operand::Register(registers.len() as RegisterId - 1)
        })
        .collect();
    let saved = copies.iter().zip(from).map(|(copy, from)| one(copy, from));
    Some(saved.chain(to.iter().zip(&copies).map(|(to, copy)| one(to, copy))).collect())
}

fn register(operand: &Operand) -> Option<RegisterId> {
    match operand {
        Operand::Register(id) => Some(*id),
        _ => None,
    }
}

/// `red` and `atom` of vectors: one access per element.
fn atomics(
    raw: &RawInstruction,
    opcode: &str,
    lanes: usize,
    modifiers: &[&str],
) -> Option<Vec<RawInstruction>> {
    let bytes = modifiers.iter().find_map(|modifier| match *modifier {
        "f16" | "bf16" => Some(2),
        "f32" | "f16x2" | "bf16x2" => Some(4),
        _ => None,
    })?;
    let element = |number: usize| {
        let operands = raw.operands.iter().map(|operand| match operand {
            Operand::Vector(list) if list.len() == lanes => list.get(number).cloned(),
            Operand::Address(base, offset) => {
                Some(Operand::Address(base.clone(), offset.wrapping_add(bytes * number as i64)))
            }
            // A cache policy.
            other => Some(other.clone()),
        });
        Some(RawInstruction {
            opcode: opcode.to_owned(),
            operands: operands.collect::<Option<_>>()?,
            ..raw.clone()
        })
    };
    (0..lanes).map(element).collect()
}

/// `mbarrier.pending_count`: the low bits of a state.
fn pending_count(raw: &RawInstruction) -> Option<Vec<RawInstruction>> {
    let ("mbarrier.pending_count.b64", [count, state]) = (raw.opcode.as_str(), &raw.operands[..]) else {
        return None;
    };
    let replaced =
        |opcode: &str, operands| RawInstruction { opcode: opcode.to_owned(), operands, ..raw.clone() };
    let mask = Operand::Integer(mbarrier::PENDING.into());
    Some(vec![
        replaced("cvt.u32.u64", vec![count.clone(), state.clone()]),
        replaced("and.b32", vec![count.clone(), count.clone(), mask]),
    ])
}

/// `cp.async` with a predicate that ignores the source: a copy of 0 bytes, or of all.
fn ignoring_copy(raw: &RawInstruction, registers: &mut Vec<PtxRegister>) -> Option<Vec<RawInstruction>> {
    let [to, from, bytes, ignore @ Operand::Register(id), rest @ ..] = &raw.operands[..] else { return None };
    if registers[*id as usize].width != 1 {
        return None;
    }
    registers.push(PtxRegister { name: "size".to_owned(), width: 32 });
    let size = Operand::Register(registers.len() as RegisterId - 1);
    let select = RawInstruction {
        opcode: "selp.b32".to_owned(),
        operands: vec![size.clone(), Operand::Integer(0), bytes.clone(), ignore.clone()],
        ..raw.clone()
    };
    let mut operands = vec![to.clone(), from.clone(), bytes.clone(), size];
    operands.extend_from_slice(rest);
    Some(vec![select, RawInstruction { operands, ..raw.clone() }])
}
