//! Work that instructions start and later instructions wait for: copies to shared memory, products of warp groups.

use super::super::forms::OpClass;
use super::super::instr::{Instr, Op};
use super::{FunctionDecoder, Result};

/// Number of scoreboard numbers that the work of a kind shares. A wait can name all of them.
const FLAGS: usize = 8;

/// Kind of work.
#[derive(Debug, Clone, Copy)]
pub(super) enum WorkInFlight {
    Copy,
    GroupProduct,
}

/// Work of one kind in a function.
#[derive(Default)]
pub(super) struct InFlight {
    /// Number of instructions that start work so far.
    started: usize,
    /// Scoreboard numbers. Each is in flight while the work is.
    flags: Vec<u16>,
    /// Indices of the instructions that wait.
    waits: Vec<usize>,
}

impl InFlight {
    /// Adds the scoreboard numbers to every wait. Later work is included, because a loop may start it first.
    pub(super) fn name(&self, code: &mut [Instr]) {
        for &wait in &self.waits {
            let instr = &mut code[wait];
            for &flag in &self.flags {
                let count = usize::from(instr.dest_count + instr.source_count);
                if let Some(slot) = instr.named.get_mut(count) {
                    *slot = flag;
                    instr.source_count += 1;
                }
            }
        }
    }
}

impl FunctionDecoder<'_> {
    /// Makes the instruction start work.
    pub(super) fn starts(&mut self, work: WorkInFlight) {
        let kind = work as usize;
        let index = self.in_flight[kind].started % FLAGS;
        self.in_flight[kind].started += 1;
        if index == self.in_flight[kind].flags.len() {
            let hidden = self.hidden(1);
            self.in_flight[kind].flags.push((self.named[0] + self.named[1]) as u16 + hidden);
        }
        self.dests.push(self.in_flight[kind].flags[index]);
    }

    /// Decodes an instruction that waits for all work.
    pub(super) fn awaits(&mut self, work: WorkInFlight) -> Result<()> {
        self.in_flight[work as usize].waits.push(self.body.code.len());
        self.plain(Op::Nothing, OpClass::Int)
    }
}
