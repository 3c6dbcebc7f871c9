//! Exchanges between the lanes of a warp: shuffles, votes, matches and reductions.
//!
//! A lane that does not execute the instruction contributes nothing. A shuffle reads 0 from it, as hardware does.

use super::Env;
use super::forms::{AtomicOp, ShuffleMode, VoteMode};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::{LANE_BIT, blend, lanes};
use super::warp::Warp;

impl Warp {
    /// Records that lane `reader` gets nothing from another lane, if the memory records such reads.
    pub(super) fn note_idle(
        &self,
        kernel: &Kernel,
        env: &mut Env,
        reader: u32,
        what: impl FnOnce() -> String,
    ) {
        if env.memory.notes_idle_reads() {
            let fault = self.fault(kernel, env.launch, reader, 0, what());
            env.memory.note_idle_read(&fault);
        }
    }

    pub(crate) fn shuffle(
        &mut self,
        kernel: &Kernel,
        env: &mut Env,
        instr: &Instr,
        mode: ShuffleMode,
        mask: u32,
    ) {
        let values = *self.word(kernel, instr.a);
        let (offsets, limits) = (*self.word(kernel, instr.b), *self.word(kernel, instr.c));
        let mut out = values;
        let mut found = 0;
        let mut idle = None;
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
                let executes = mask & LANE_BIT[(source & 31) as usize] != 0;
                out[lane as usize] = if executes { values[(source & 31) as usize] } else { 0 };
                found |= LANE_BIT[lane as usize];
                if !executes && mask & LANE_BIT[lane as usize] != 0 {
                    idle = idle.or(Some((lane, source & 31)));
                }
            }
        }
        if let Some((lane, source)) = idle {
            let what = || format!("reads lane {source}, which does not execute it, and gets 0");
            self.note_idle(kernel, env, lane, what);
        }
        blend(&mut self.registers.words[usize::from(instr.d)], &out, mask);
        if instr.vector[0] != NONE {
            self.write_predicate(instr.vector[0], found, mask);
        }
    }

    /// Returns each lane's group: the lanes that execute the instruction and are in the member mask of the lane.
    fn members(&self, kernel: &Kernel, env: &mut Env, index: u16, mask: u32) -> [u32; 32] {
        if index == NONE {
            return [mask; 32];
        }
        let named = *self.word(kernel, index);
        // The mask may name lanes that have ended or never existed.
        let absent = self.live_mask() & !mask;
        if let Some(lane) = lanes(mask).find(|&lane| named[lane] & absent != 0) {
            let other = (named[lane] & absent).trailing_zeros();
            let what =
                || format!("names lane {other} as a member, which does not execute it, and leaves it out");
            self.note_idle(kernel, env, lane as u32, what);
        }
        named.map(|members| members & mask)
    }

    pub(crate) fn vote(&mut self, kernel: &Kernel, env: &mut Env, instr: &Instr, mode: VoteMode, mask: u32) {
        let source = self.registers.predicates[usize::from(instr.a)];
        let votes = (if instr.offset != 0 { !source } else { source }) & mask;
        let members = self.members(kernel, env, instr.c, mask);
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

    /// `elect`: picks the lowest member.
    pub(crate) fn elect(&mut self, kernel: &Kernel, env: &mut Env, instr: &Instr, mask: u32) {
        let members = self.members(kernel, env, instr.c, mask);
        let lowest = members.map(u32::trailing_zeros);
        let picks = |lane: &usize| members[*lane] != 0 && lowest[*lane] == *lane as u32;
        let picked = lanes(mask).filter(picks).fold(0, |picked, lane| picked | LANE_BIT[lane]);
        blend(&mut self.registers.words[usize::from(instr.d)], &lowest, mask);
        self.write_predicate(instr.vector[0], picked, mask);
    }

    /// `match`: returns the members with the same value as the lane. With `all`, returns all members or none.
    pub(crate) fn match_values(
        &mut self,
        kernel: &Kernel,
        env: &mut Env,
        instr: &Instr,
        (all, wide): (bool, bool),
        mask: u32,
    ) {
        let values = self.bits(kernel, instr.a, wide);
        let members = self.members(kernel, env, instr.c, mask);
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

    /// `redux`: combines the values of all members with one operation.
    pub(crate) fn reduce(
        &mut self,
        kernel: &Kernel,
        env: &mut Env,
        instr: &Instr,
        (op, signed): (AtomicOp, bool),
        mask: u32,
    ) {
        let values = *self.word(kernel, instr.a);
        let members = self.members(kernel, env, instr.c, mask);
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
