//! What the lanes of a warp exchange: shuffles, votes, matches and reductions.

use super::instr::{AtomicOp, Instr, Kernel, NONE, ShuffleMode, VoteMode};
use super::lane::{LANE_BIT, blend};
use super::memory_ops::lanes;
use super::warp::Warp;

impl Warp {
    pub(crate) fn shuffle(&mut self, kernel: &Kernel, instr: &Instr, mode: ShuffleMode, mask: u32) {
        let values = *self.word(kernel, instr.a);
        let (offsets, limits) = (*self.word(kernel, instr.b), *self.word(kernel, instr.c));
        let mut out = values;
        let mut found = 0;
        for lane in 0..32u32 {
            let (offset, limit) = (offsets[lane as usize] & 31, limits[lane as usize]);
            let segment = limit >> 8 & 31;
            let bound = limit & 31;
            let last = (lane & segment) | (bound & !segment);
            let first = lane & segment;
            let (source, valid) = match mode {
                ShuffleMode::Up => (lane.wrapping_sub(offset), lane as i32 - offset as i32 >= last as i32),
                ShuffleMode::Down => (lane + offset, lane + offset <= last),
                ShuffleMode::Butterfly => (lane ^ offset, lane ^ offset <= last),
                ShuffleMode::Index => (first | (offset & !segment), first | (offset & !segment) <= last),
            };
            if valid {
                out[lane as usize] = values[(source & 31) as usize];
                found |= LANE_BIT[lane as usize];
            }
        }
        blend(&mut self.registers.words[usize::from(instr.d)], &out, mask);
        if instr.vector[0] != NONE {
            self.write_predicate(instr.vector[0], found, mask);
        }
    }

    /// The lanes that each lane exchanges with: those that execute the instruction and are in its member mask.
    fn members(&self, kernel: &Kernel, index: u16, mask: u32) -> [u32; 32] {
        if index == NONE { [mask; 32] } else { self.word(kernel, index).map(|members| members & mask) }
    }

    pub(crate) fn vote(&mut self, kernel: &Kernel, instr: &Instr, mode: VoteMode, mask: u32) {
        let source = self.registers.predicates[usize::from(instr.a)];
        let votes = (if instr.offset != 0 { !source } else { source }) & mask;
        let members = self.members(kernel, instr.c, mask);
        if mode == VoteMode::Ballot {
            let ballots = members.map(|members| votes & members);
            return blend(&mut self.registers.words[usize::from(instr.d)], &ballots, mask);
        }
        let mut result = 0;
        for (members, bit) in members.into_iter().zip(LANE_BIT) {
            let ayes = votes & members;
            let holds = match mode {
                VoteMode::All => ayes == members,
                VoteMode::Any => ayes != 0,
                VoteMode::Uniform | VoteMode::Ballot => ayes == members || ayes == 0,
            };
            result |= if holds { bit } else { 0 };
        }
        self.write_predicate(instr.d, result, mask);
    }

    /// `match`: the members whose value is the lane's own; with `all`, all members or none.
    pub(crate) fn match_values(&mut self, kernel: &Kernel, instr: &Instr, all: bool, wide: bool, mask: u32) {
        let values = self.bits(kernel, instr.a, wide);
        let members = self.members(kernel, instr.c, mask);
        let mut out = [0; 32];
        let mut agree = 0;
        for lane in lanes(mask) {
            let equal = lanes(members[lane]).filter(|&other| values[other] == values[lane]);
            let found = equal.fold(0, |found, other| found | LANE_BIT[other]);
            let unanimous = found == members[lane];
            agree |= if unanimous { LANE_BIT[lane] } else { 0 };
            out[lane] = if all && !unanimous { 0 } else { found };
        }
        blend(&mut self.registers.words[usize::from(instr.d)], &out, mask);
        if instr.vector[0] != NONE {
            self.write_predicate(instr.vector[0], agree, mask);
        }
    }

    /// `redux`: one operation over the values of all members.
    pub(crate) fn reduce(&mut self, kernel: &Kernel, instr: &Instr, op: AtomicOp, signed: bool, mask: u32) {
        let values = *self.word(kernel, instr.a);
        let members = self.members(kernel, instr.c, mask);
        let pair = |a: u32, b: u32| match op {
            AtomicOp::Min if signed => (a as i32).min(b as i32) as u32,
            AtomicOp::Max if signed => (a as i32).max(b as i32) as u32,
            AtomicOp::Min => a.min(b),
            AtomicOp::Max => a.max(b),
            AtomicOp::And => a & b,
            AtomicOp::Or => a | b,
            AtomicOp::Xor => a ^ b,
            _ => a.wrapping_add(b),
        };
        let out = members.map(|members| lanes(members).map(|lane| values[lane]).reduce(pair).unwrap_or(0));
        blend(&mut self.registers.words[usize::from(instr.d)], &out, mask);
    }
}
