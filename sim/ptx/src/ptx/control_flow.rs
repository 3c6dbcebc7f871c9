//! Control-flow analysis of decoded code: reconvergence points of diverged paths, and live registers.

use super::forms::CacheOp;
use super::instr::{Instr, NO_PC, NONE, Op};

/// A basic block: straight-line code and its successors.
#[derive(Debug)]
pub(super) struct BasicBlock {
    pub first: u32,
    /// One past the last instruction.
    pub end: u32,
    pub successors: Vec<usize>,
}

/// Splits the code into blocks. Index `blocks.len()` represents the exit.
pub(super) fn blocks(code: &[Instr], lists: &[Vec<u32>]) -> Vec<BasicBlock> {
    let length = code.len();
    let mut starts = vec![false; length + 1];
    starts[0] = true;
    for (pc, instr) in code.iter().enumerate() {
        match instr.op {
            Op::Branch => {
                starts[instr.target as usize] = true;
                starts[pc + 1] = true;
            }
            Op::BranchIndexed => {
                lists[instr.target as usize].iter().for_each(|&target| starts[target as usize] = true);
                starts[pc + 1] = true;
            }
            Op::Exit => starts[pc + 1] = true,
            _ => {}
        }
    }
    let firsts: Vec<usize> = (0..length).filter(|&pc| starts[pc]).collect();
    let block_of = |pc: usize| firsts.partition_point(|&first| first < pc);
    let exit = firsts.len();
    let mut out = Vec::with_capacity(exit);
    for (index, &first) in firsts.iter().enumerate() {
        let end = firsts.get(index + 1).copied().unwrap_or(length);
        let last = &code[end - 1];
        let guarded = last.guard != NONE;
        let next = if end < length { block_of(end) } else { exit };
        let mut successors = match last.op {
            Op::Branch if guarded => vec![block_of(last.target as usize), next],
            Op::Branch => vec![block_of(last.target as usize)],
            Op::BranchIndexed => {
                let targets = lists[last.target as usize].iter().map(|&target| block_of(target as usize));
                let mut successors: Vec<usize> = targets.chain(guarded.then_some(next)).collect();
                successors.sort_unstable();
                successors
            }
            // A guarded exit removes its lanes from all masks, so it does not diverge the remaining lanes.
            Op::Exit if !guarded => vec![exit],
            _ => vec![next],
        };
        successors.dedup();
        out.push(BasicBlock { first: first as u32, end: end as u32, successors });
    }
    out
}

/// Returns the blocks and the exit in reverse post-order of the reversed graph, the exit first.
fn reverse_order(blocks: &[BasicBlock], predecessors: &[Vec<usize>]) -> Vec<usize> {
    let exit = blocks.len();
    let mut seen = vec![false; exit + 1];
    let mut order = Vec::with_capacity(exit + 1);
    let mut stack = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((node, child)) = stack.pop() {
        match predecessors[node].get(child) {
            Some(&next) => {
                stack.push((node, child + 1));
                if !seen[next] {
                    seen[next] = true;
                    stack.push((next, 0));
                }
            }
            None => order.push(node),
        }
    }
    order.reverse();
    order
}

/// Returns the immediate post-dominator of every block, by iteration over the reversed graph. `None` for a block that
/// never reaches the exit.
fn post_dominators(blocks: &[BasicBlock]) -> Vec<Option<usize>> {
    let exit = blocks.len();
    let mut predecessors = vec![Vec::new(); exit + 1];
    for (index, block) in blocks.iter().enumerate() {
        block.successors.iter().for_each(|&successor| predecessors[successor].push(index));
    }
    let order = reverse_order(blocks, &predecessors);
    let mut rank = vec![usize::MAX; exit + 1];
    order.iter().enumerate().for_each(|(position, &node)| rank[node] = position);
    let mut immediate: Vec<Option<usize>> = vec![None; exit + 1];
    immediate[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().skip(1) {
            let known = blocks[node].successors.iter().copied().filter(|&s| immediate[s].is_some());
            let meet = known.reduce(|a, b| common(a, b, &immediate, &rank));
            if meet.is_some() && immediate[node] != meet {
                immediate[node] = meet;
                changed = true;
            }
        }
    }
    immediate.truncate(exit);
    immediate
}

/// Returns the nearest common post-dominator of two blocks.
fn common(mut a: usize, mut b: usize, immediate: &[Option<usize>], rank: &[usize]) -> usize {
    while a != b {
        while rank[a] > rank[b] {
            a = immediate[a].unwrap_or(a);
        }
        while rank[b] > rank[a] {
            b = immediate[b].unwrap_or(b);
        }
    }
    a
}

/// Sets the reconvergence point of every branch: the first instruction of its immediate post-dominator.
pub(crate) fn set_reconvergence(code: &mut [Instr], lists: &[Vec<u32>]) {
    if code.is_empty() {
        return;
    }
    let blocks = blocks(code, lists);
    let immediate = post_dominators(&blocks);
    for (index, block) in blocks.iter().enumerate() {
        let last = &mut code[block.end as usize - 1];
        if matches!(last.op, Op::Branch | Op::BranchIndexed) {
            last.reconvergence =
                immediate[index].and_then(|meet| blocks.get(meet)).map_or(NO_PC, |meet| meet.first);
        }
    }
}

/// Marks the backward branches of loops that may wait for other threads: loops with an atomic, an mbarrier, or a load that does
/// not read the L1D.
pub(crate) fn mark_waits(code: &mut [Instr]) {
    for pc in 0..code.len() {
        let target = code[pc].target as usize;
        if !matches!(code[pc].op, Op::Branch) || target > pc {
            continue;
        }
        let waits = code[target..=pc].iter().any(|instr| match instr.op {
            Op::Atomic(_) | Op::Mbarrier(_) => true,
            Op::Load(form) => matches!(form.cache, CacheOp::Global | CacheOp::Volatile),
            _ => false,
        });
        code[pc].offset = waits.into();
    }
}

/// A set of registers as bits.
pub(crate) type RegisterSet = Vec<u64>;

fn insert(set: &mut RegisterSet, register: u16) {
    set[usize::from(register) / 64] |= 1 << (register % 64);
}

/// Updates the live registers backwards across one instruction. A guarded write keeps the old value live.
fn step_back(live: &mut RegisterSet, instr: &Instr) {
    if instr.guard == NONE {
        for &register in instr.dests() {
            live[usize::from(register) / 64] &= !(1 << (register % 64));
        }
    }
    instr.sources().iter().for_each(|&register| insert(live, register));
}

/// Max words of register sets. Liveness is not computed for larger code, which real kernels do not reach.
pub(super) const MAX_LIVENESS_WORDS: usize = 1 << 22;

/// Live registers of each block.
pub(crate) struct Liveness {
    blocks: Vec<BasicBlock>,
    /// Registers that are live before each block, and before the exit.
    live_in: Vec<RegisterSet>,
}

impl Liveness {
    /// Computes the liveness of `registers` registers. Returns `None` if it needs more than [`MAX_LIVENESS_WORDS`].
    pub(crate) fn new(code: &[Instr], lists: &[Vec<u32>], registers: usize) -> Option<Self> {
        let blocks = blocks(code, lists);
        let words = registers.div_ceil(64);
        if words * blocks.len() > MAX_LIVENESS_WORDS {
            return None;
        }
        let mut live_in: Vec<RegisterSet> = vec![vec![0; words]; blocks.len() + 1];
        let mut changed = true;
        while changed {
            changed = false;
            for index in (0..blocks.len()).rev() {
                let mut live = live_out(&blocks[index], &live_in);
                block_code(code, &blocks[index]).rev().for_each(|instr| step_back(&mut live, instr));
                if live != live_in[index] {
                    live_in[index] = live;
                    changed = true;
                }
            }
        }
        Some(Liveness { blocks, live_in })
    }

    /// Returns the registers that are live before an instruction.
    pub(crate) fn before(&self, code: &[Instr], pc: u32) -> RegisterSet {
        let block = &self.blocks[self.blocks.partition_point(|block| block.end <= pc)];
        let mut live = live_out(block, &self.live_in);
        code[pc as usize..block.end as usize].iter().rev().for_each(|instr| step_back(&mut live, instr));
        live
    }
}

fn live_out(block: &BasicBlock, live_in: &[RegisterSet]) -> RegisterSet {
    let mut out = vec![0; live_in[0].len()];
    for &successor in &block.successors {
        out.iter_mut().zip(&live_in[successor]).for_each(|(a, b)| *a |= b);
    }
    out
}

fn block_code<'a>(code: &'a [Instr], block: &BasicBlock) -> impl DoubleEndedIterator<Item = &'a Instr> {
    code[block.first as usize..block.end as usize].iter()
}
