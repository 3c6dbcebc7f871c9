//! Estimates the 32-bit registers per thread that NVIDIA's assembler allocates for a kernel.
//!
//! PTX has unlimited registers, and its compiler writes values long before their use. An assembler allocates
//! registers after it has moved and folded instructions. The estimate applies optimizations that every assembler has:
//! - Values that cost nothing to recompute hold no register.
//! - Copies share a register.
//! - Address arithmetic is folded into the access.
//! - Unused values are not computed.
//!
//! The estimate then counts the max registers that are live at once, in two ways. In the first, each value is
//! computed as late as possible. In the second, loads are issued early in unrolled loops; this counts only if it
//! costs no occupancy.

mod allocate;
mod lean;
mod region;
mod schedule;

use super::ast::Function;
use super::control_flow::{self, BasicBlock, RegisterSet};
use super::decode::DecodedBody;
use allocate::MOST;
use lean::Lean;

/// Registers of the stack pointer, which every kernel has.
const RESERVED: u32 = 1;
/// Registers per SM of current GPUs.
const REGISTER_FILE: u32 = 65_536;
/// Max registers per thread at which an SM still holds 2,048 threads. Loads are issued early up to this number.
const FREE_OF_CHARGE: u32 = REGISTER_FILE / 2048;
/// Max product of registers and blocks. Beyond it all registers count as live at once; real kernels do not reach it.
const MOST_PLACES: usize = 1 << 25;
/// Min registers to which NVIDIA's assembler applies a limit.
const LEAST: u32 = 16;

/// Returns the registers per thread: the estimate, within the limits of the PTX. Values that an assembler would spill
/// to local memory stay in registers here, but are not counted.
pub(crate) fn of(function: &Function, body: &DecodedBody) -> u32 {
    let estimate = estimate(function, body);
    let threads = function.cta_limit.map(|(sides, _)| sides.iter().map(|side| u64::from(*side)).product());
    let by_ctas = threads.map(|threads: u64| {
        let ctas = u64::from(function.least_ctas.unwrap_or(1));
        let resident = threads.div_ceil(32).saturating_mul(32).saturating_mul(ctas);
        // Registers are allocated in units of 8 per thread.
        let most = u64::from(REGISTER_FILE).checked_div(resident).unwrap_or(u64::from(MOST)) / 8 * 8;
        most.min(MOST.into()) as u32
    });
    let limits = function.register_limit.into_iter().chain(by_ctas);
    limits.fold(estimate, |registers, limit| registers.min(limit.max(LEAST)))
}

/// Returns the estimate for a kernel, without the limits of its PTX.
fn estimate(function: &Function, body: &DecodedBody) -> u32 {
    if body.code.is_empty() {
        return RESERVED + 1;
    }
    let blocks = control_flow::blocks(&body.code, &body.branch_lists);
    let words = body.weights.len().div_ceil(64);
    if body.weights.len() * blocks.len() > MOST_PLACES {
        return body.weights.iter().map(|weight| u32::from(*weight)).sum::<u32>().min(MOST);
    }
    let late = Lean::new(function, body, &blocks, true);
    let late_ins = live_ins(&late, &blocks, words);
    let most = blocks.iter().map(|block| {
        let out = union(&block.successors, &late_ins, words);
        schedule::most(&late.steps[block.first as usize..block.end as usize], &out, &late.weights)
    });
    let least = most.max().unwrap_or(1);
    let soon = Lean::new(function, body, &blocks, false);
    let ins = live_ins(&soon, &blocks, words);
    let early = region::join(&soon, &blocks).into_iter().map(|region| {
        let out = union(&region.successors, &ins, words);
        schedule::early(region, &out, &soon.weights)
    });
    let early = early.max().unwrap_or(1);
    let given = allocate::count(&late, &blocks, &late_ins);
    // An assembler looks for a better allocation if occupancy would suffer otherwise.
    let given = if least + 2 <= FREE_OF_CHARGE { given.min(FREE_OF_CHARGE) } else { given };
    let base = given.max(least + RESERVED);
    base.max(early.min(base.next_multiple_of(8).max(FREE_OF_CHARGE))).min(MOST)
}

/// Returns the registers that are live before each block, and before the exit.
fn live_ins(lean: &Lean, blocks: &[BasicBlock], words: usize) -> Vec<RegisterSet> {
    let mut ins: Vec<RegisterSet> = vec![vec![0; words]; blocks.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, block) in blocks.iter().enumerate().rev() {
            let mut live = union(&block.successors, &ins, words);
            for step in lean.steps[block.first as usize..block.end as usize].iter().rev() {
                step.step_back(&mut live);
            }
            if live != ins[index] {
                ins[index] = live;
                changed = true;
            }
        }
    }
    ins
}

/// Returns the registers that are live before any of the blocks.
fn union(blocks: &[usize], ins: &[RegisterSet], words: usize) -> RegisterSet {
    let mut out = vec![0; words];
    for &block in blocks {
        out.iter_mut().zip(&ins[block]).for_each(|(a, b)| *a |= b);
    }
    out
}
