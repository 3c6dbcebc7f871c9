//! Regions of a kernel whose results depend only on their inputs: bodies of inlined functions without side effects.

use super::ast::{Function, Operand};
use super::control_flow::Liveness;
use super::decode::DecodedBody;
use super::forms::Space;
use super::instr::{Instr, NO_PC, Op};
use super::kernel::{KernelRegion, RegionValue};

/// Returns the regions among the inlined `bodies` of `function`, in code order. Returns only the outermost of nested
/// bodies. Excludes bodies with a predicate as input or result.
pub(crate) fn find(body: &DecodedBody, function: &Function) -> Vec<KernelRegion> {
    let mut bodies: Vec<(u32, u32)> =
        function.bodies.iter().copied().filter(|range| is_pure(body, function, *range)).collect();
    if bodies.is_empty() {
        return Vec::new();
    }
    bodies.sort_unstable_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
    let Some(liveness) = Liveness::new(&body.code, &body.branch_lists, body.weights.len()) else {
        return Vec::new();
    };
    let mut regions: Vec<KernelRegion> = Vec::new();
    for (start, end) in bodies {
        if regions.last().is_some_and(|outer| start < outer.end) {
            continue;
        }
        let code = &body.code[start as usize..end as usize];
        let mut touched: Vec<u16> =
            code.iter().flat_map(|i| i.dests().iter().chain(i.sources())).copied().collect();
        touched.sort_unstable();
        touched.dedup();
        let is_written = |number: &u16| code.iter().any(|i| i.dests().contains(number));
        let [before, after] = [start, end].map(|pc| liveness.before(&body.code, pc));
        let is_in = |set: &[u64], number: u16| set[usize::from(number) / 64] >> (number % 64) & 1 == 1;
        let inputs: Option<Vec<_>> =
            touched.iter().filter(|n| is_in(&before, **n)).map(|n| value(body, *n)).collect();
        let results: Option<Vec<_>> =
            touched.iter().filter(|n| is_written(n) && is_in(&after, **n)).map(|n| value(body, *n)).collect();
        if let (Some(inputs), Some(results)) = (inputs, results) {
            let branches_back = |(pc, i): (u32, &Instr)| matches!(i.op, Op::Branch) && i.target <= pc;
            let has_loop = (start..).zip(code).any(branches_back);
            regions.push(KernelRegion { start, end, has_loop, inputs, results });
        }
    }
    regions
}

/// Returns the register of a scoreboard number, unless it is a predicate.
fn value(body: &DecodedBody, number: u16) -> Option<RegionValue> {
    let is_of = |weight: u8| move |own: &&u8| **own == weight;
    let words = body.weights.iter().filter(is_of(1)).count();
    match body.weights[usize::from(number)] {
        1 => Some(RegionValue { number, wide: false, index: number }),
        2 => Some(RegionValue { number, wide: true, index: number - words as u16 }),
        _ => None,
    }
}

/// Returns whether all paths stay within the range, write only registers, and read only registers and constants.
fn is_pure(body: &DecodedBody, function: &Function, (start, end): (u32, u32)) -> bool {
    let range = start as usize..end as usize;
    // No code follows a body at the end of the code, so nothing can use its results.
    if body.code.len() <= end as usize || range.is_empty() {
        return false;
    }
    let names_special = |operand: &Operand| matches!(operand, Operand::Special(_));
    let reads_special = function.code[range.clone()].iter().any(|raw| raw.operands.iter().any(names_special));
    let stays = |instr: &Instr| match instr.op {
        Op::Branch => {
            (start..=end).contains(&instr.target)
                && (instr.reconvergence == NO_PC || (start..=end).contains(&instr.reconvergence))
        }
        Op::Load(form) => form.space == Space::Const,
        Op::Alu(_)
        | Op::SetPredicate(..)
        | Op::Predicate(_)
        | Op::Convert(_)
        | Op::Carry(_)
        | Op::Pack(_)
        | Op::Unpack(_)
        | Op::Insert { .. }
        | Op::Lop3
        | Op::SetWord { .. }
        | Op::Nothing => true,
        _ => false,
    };
    !reads_special && body.code[range].iter().all(stays)
}
