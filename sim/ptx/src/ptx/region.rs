//! Regions of a kernel whose results follow from their inputs alone: bodies of inlined functions without side effects.

use super::ast::{Function, Operand};
use super::control_flow::Liveness;
use super::decode::Body;
use super::instr::{Instr, NO_PC, Op, Space};

/// A register that goes into a region or comes out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionValue {
    /// Its scoreboard number.
    pub number: u16,
    /// Whether it has 64 bits, and not 32.
    pub wide: bool,
    /// Its index in its file.
    pub(crate) index: u16,
}

/// A part of a kernel's code that is entered at its start and left at its end alone, has no effect but on registers, and
/// reads nothing but registers and constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Index of its first instruction.
    pub start: u32,
    /// Index of the instruction that follows it.
    pub end: u32,
    /// Whether it branches back.
    pub has_loop: bool,
    /// What its results depend on.
    pub inputs: Vec<RegionValue>,
    /// What is needed of it afterwards.
    pub results: Vec<RegionValue>,
}

impl Region {
    /// 32-bit words of some of its values.
    #[must_use]
    pub fn words(values: &[RegionValue]) -> usize {
        values.iter().map(|value| 1 + usize::from(value.wide)).sum()
    }
}

/// The regions among the inlined `bodies` of `function`, in the order of the code; of nested ones the outermost. Those whose
/// inputs or results include a predicate are none.
pub(crate) fn find(body: &Body, function: &Function) -> Vec<Region> {
    let mut bodies: Vec<(u32, u32)> =
        function.bodies.iter().copied().filter(|range| is_pure(body, function, *range)).collect();
    if bodies.is_empty() {
        return Vec::new();
    }
    bodies.sort_unstable_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
    let Some(liveness) = Liveness::new(&body.code, &body.branch_lists, body.weights.len()) else {
        return Vec::new();
    };
    let mut regions: Vec<Region> = Vec::new();
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
            regions.push(Region { start, end, has_loop, inputs, results });
        }
    }
    regions
}

/// The register of a scoreboard number, unless it is a predicate.
fn value(body: &Body, number: u16) -> Option<RegionValue> {
    let is_of = |weight: u8| move |own: &&u8| **own == weight;
    let words = body.weights.iter().filter(is_of(1)).count();
    match body.weights[usize::from(number)] {
        1 => Some(RegionValue { number, wide: false, index: number }),
        2 => Some(RegionValue { number, wide: true, index: number - words as u16 }),
        _ => None,
    }
}

/// Returns whether all paths stay between the two, without an effect but on registers and without a source but registers and constants.
fn is_pure(body: &Body, function: &Function, (start, end): (u32, u32)) -> bool {
    let range = start as usize..end as usize;
    // A body at the end of the code is followed by nothing that its results could go to.
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
