//! How many 32-bit registers a thread of a kernel needs: an estimate of what NVIDIA's assembler allocates.
//!
//! PTX has registers without end, and its compiler writes values long before they are used. An assembler allocates after it
//! has moved and folded instructions. The estimate does what any of them would: values that cost nothing to make again hold no
//! register, copies share one, address arithmetic joins the access, and what nobody reads is not computed. Of what
//! is left, the most that is live at once is counted, both with each value made as late as it can be and with loads issued early in
//! loops that are unrolled; the latter counts only as far as it costs no occupancy.

mod allocate;
mod lean;
mod region;
mod schedule;

use super::ast::Function;
use super::control_flow::{self, Block, Set};
use super::decode::Body;
use lean::Lean;

/// Register 1, which holds the stack pointer in every kernel.
const RESERVED: u32 = 1;
const RESERVED_NUMBER: usize = 1;
/// Registers of an SM of the GPUs that PTX of today is compiled for.
const REGISTER_FILE: u32 = 65_536;
/// Registers of a thread with which such an SM still holds its 2,048 threads: loads are issued early up to here.
const FREE_OF_CHARGE: u32 = REGISTER_FILE / 2048;
/// Most registers that a thread of any GPU can have.
const MOST: u32 = 255;
/// Registers times blocks beyond which all registers count as live at once: such code is no real kernel.
const MOST_PLACES: usize = 1 << 25;
/// Registers below which NVIDIA's assembler obeys no limit.
const LEAST: u32 = 16;

/// The registers of a kernel's threads: the estimate, and no more than its PTX allows. What an assembler then keeps in local
/// memory stays in registers here that are not counted.
pub(crate) fn of(function: &Function, body: &Body) -> u32 {
    let estimate = estimate(function, body);
    let threads = function.cta_limit.map(|(sides, _)| sides.iter().map(|side| u64::from(*side)).product());
    let by_ctas = threads.map(|threads: u64| {
        let ctas = u64::from(function.least_ctas.unwrap_or(1));
        let resident = threads.div_ceil(32).saturating_mul(32).saturating_mul(ctas);
        // Registers are allocated to warps in units of 8 to each thread.
        let most = u64::from(REGISTER_FILE).checked_div(resident).unwrap_or(u64::from(MOST)) / 8 * 8;
        most.min(MOST.into()) as u32
    });
    let limits = function.register_limit.into_iter().chain(by_ctas);
    limits.fold(estimate, |registers, limit| registers.min(limit.max(LEAST)))
}

/// The estimate for a kernel, without limits that its PTX sets.
fn estimate(function: &Function, body: &Body) -> u32 {
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
    // An assembler finds a better way where that costs occupancy otherwise.
    let given = if least + 2 <= FREE_OF_CHARGE { given.min(FREE_OF_CHARGE) } else { given };
    let base = given.max(least + RESERVED);
    base.max(early.min(base.next_multiple_of(8).max(FREE_OF_CHARGE))).min(MOST)
}

/// The registers that are live before each block, and before the exit.
fn live_ins(lean: &Lean, blocks: &[Block], words: usize) -> Vec<Set> {
    let mut ins: Vec<Set> = vec![vec![0; words]; blocks.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, block) in blocks.iter().enumerate().rev() {
            let mut live = union(&block.successors, &ins, words);
            for step in lean.steps[block.first as usize..block.end as usize].iter().rev() {
                schedule::step_back(&mut live, step);
            }
            if live != ins[index] {
                ins[index] = live;
                changed = true;
            }
        }
    }
    ins
}

/// The registers that are live before any of the blocks.
fn union(blocks: &[usize], ins: &[Set], words: usize) -> Set {
    let mut out = vec![0; words];
    for &block in blocks {
        out.iter_mut().zip(&ins[block]).for_each(|(a, b)| *a |= b);
    }
    out
}
