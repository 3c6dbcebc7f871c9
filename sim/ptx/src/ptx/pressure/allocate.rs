//! Allocates registers as an assembler does. Each value keeps its register for its whole life. A 64-bit value has
//! two, which start at an even number.

use super::super::control_flow::{BasicBlock, RegisterSet};
use super::lean::{Lean, Mobility, RegisterUse};

/// Register of the stack pointer in every kernel.
const RESERVED_NUMBER: usize = 1;
/// Max registers per thread on any GPU.
pub(super) const MOST: u32 = 255;

/// Live range of a value. Each instruction has two positions: it reads at the first and writes at the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Life {
    first: u32,
    last: u32,
    weight: u8,
}

/// Returns the number of registers that a simple allocation needs for all values of the code.
pub(super) fn count(lean: &Lean, blocks: &[BasicBlock], ins: &[RegisterSet]) -> u32 {
    let mut lives = Lives::new(&lean.weights);
    for (index, block) in blocks.iter().enumerate() {
        lives.extend_all(&ins[index], 2 * block.first);
        for next in &block.successors {
            lives.extend_all(&ins[*next], 2 * block.end - 1);
        }
        for at in block.first..block.end {
            lives.add(&lean.steps[at as usize], at);
        }
    }
    give(lives.finish())
}

/// Counts as [`count`] does, for straight-line code. The registers in `out` are live after it.
pub(super) fn count_straight(steps: &[RegisterUse], out: &RegisterSet, weights: &[u8]) -> u32 {
    let mut lives = Lives::new(weights);
    let mut before = out.clone();
    steps.iter().rev().for_each(|step| step.step_back(&mut before));
    lives.extend_all(&before, 0);
    steps.iter().enumerate().for_each(|(at, step)| lives.add(step, at as u32));
    lives.extend_all(out, (2 * steps.len() as u32).saturating_sub(1));
    give(lives.finish())
}

/// Assigns registers to values in order of their first positions.
fn give(mut lives: Vec<Life>) -> u32 {
    lives.sort_unstable();
    // Position from which each register is free.
    let mut busy: Vec<u32> = vec![0; RESERVED_NUMBER + 1];
    busy[RESERVED_NUMBER] = u32::MAX;
    let mut most = RESERVED_NUMBER + 1;
    for life in lives {
        let width = usize::from(life.weight);
        let free = |at: usize| busy.get(at).is_none_or(|until| *until <= life.first);
        let mut at = 0;
        while !(at..at + width).all(free) {
            at += width;
        }
        if at + width >= MOST as usize {
            return MOST;
        }
        if busy.len() < at + width {
            busy.resize(at + width, 0);
        }
        busy[at..at + width].fill(life.last + 1);
        most = most.max(at + width);
    }
    most as u32
}

/// Live range of each register.
struct Lives<'a> {
    weights: &'a [u8],
    spans: Vec<Option<(u32, u32)>>,
    /// Ranges of registers that only one instruction needs.
    brief: Vec<Life>,
}

impl<'a> Lives<'a> {
    fn new(weights: &'a [u8]) -> Self {
        Self { weights, spans: vec![None; weights.len()], brief: Vec::new() }
    }

    fn extend(&mut self, register: usize, place: u32) {
        let span = self.spans[register].get_or_insert((place, place));
        *span = (span.0.min(place), span.1.max(place));
    }

    fn extend_all(&mut self, set: &RegisterSet, place: u32) {
        for (word, &bits) in set.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                self.extend(word * 64 + left.trailing_zeros() as usize, place);
                left &= left - 1;
            }
        }
    }

    fn add(&mut self, step: &RegisterUse, at: u32) {
        if step.kind == Mobility::Nothing {
            return;
        }
        step.sources.iter().for_each(|source| self.extend(*source as usize, 2 * at));
        let written = 2 * at + u32::from(!step.apart);
        step.dests.iter().for_each(|dest| self.extend(*dest as usize, written));
        let results: u32 = step.dests.iter().map(|dest| u32::from(self.weights[*dest as usize])).sum();
        let extra = step.extra.saturating_sub(results);
        self.brief.extend((0..extra).map(|_| Life { first: 2 * at + 1, last: 2 * at + 1, weight: 1 }));
    }

    fn finish(self) -> Vec<Life> {
        let lasting = self.spans.iter().zip(self.weights).filter_map(|(span, weight)| {
            let (first, last) = (*span)?;
            (*weight > 0).then_some(Life { first, last, weight: *weight })
        });
        lasting.chain(self.brief).collect()
    }
}
