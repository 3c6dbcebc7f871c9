//! Strands of a warp: groups of its lanes that take turns. The scheduling of lanes is independent on Volta and later GPUs, so
//! lanes that spin must not keep the other lanes of their warp from executing.
//!
//! A warp has one strand, and its paths follow the stack, until a path spins while other lanes wait. The spinning lanes then
//! form a separate strand. Strands reunite where their stacks are equal: at the end of a path, and at instructions that
//! need all lanes.
use super::warp::{LanePath, Warp};
use selvedge_state::State;
use std::collections::VecDeque;

/// A strand that does not run.
#[derive(Debug, Clone, PartialEq, Eq, State)]
struct Strand {
    current: LanePath,
    waiting: Vec<LanePath>,
    /// Waits for the other strands, where their paths meet or at an instruction that needs all lanes.
    arrived: bool,
}

/// The strands of a warp, except for the stack of the running one.
#[derive(Debug, Clone, Default, PartialEq, Eq, State)]
pub(super) struct Strands {
    parked: VecDeque<Strand>,
    /// Backward branches of the running strand since it started to run.
    pub(super) turns: u32,
    /// Instruction at which the running strand waited for others before it was resumed.
    waited_at: Option<u32>,
    /// The lanes for the next instruction are gathered.
    gathered: bool,
}

impl Strands {
    /// Returns whether the warp has one strand.
    #[inline]
    pub(super) fn is_single(&self) -> bool {
        self.parked.is_empty()
    }

    /// Returns whether the lanes for the next instruction are gathered, and clears the mark.
    pub(super) fn take_gathered(&mut self) -> bool {
        std::mem::take(&mut self.gathered)
    }

    /// Returns the lanes of the strands that do not run.
    pub(super) fn mask(&self) -> u32 {
        let paths =
            |strand: &Strand| strand.waiting.iter().fold(strand.current.mask, |mask, path| mask | path.mask);
        self.parked.iter().fold(0, |mask, strand| mask | paths(strand))
    }
}

impl Strand {
    /// Returns whether the strand will reach the end of a path at `place`.
    fn comes_to(&self, place: LanePath) -> bool {
        !self.arrived && self.waiting.iter().any(|path| path.is_at(place))
    }
}

impl Warp {
    /// Parks the running lanes, and lets the next strand run: the lanes that wait on this one's stack, if any.
    pub(super) fn take_turns(&mut self) {
        let mine = self.current.mask;
        let others = self.waiting.iter().map(|path| LanePath { mask: path.mask & !mine, ..*path });
        let mut waiting: Vec<LanePath> = others.filter(|path| path.mask != 0).collect();
        self.waiting.retain_mut(|path| {
            path.mask &= mine;
            path.mask != 0
        });
        if let Some(current) = waiting.pop() {
            self.strands.parked.push_front(Strand { current, waiting, arrived: false });
        }
        self.park(false);
        self.resume(0);
    }

    fn park(&mut self, arrived: bool) {
        let waiting = std::mem::take(&mut self.waiting);
        self.strands.parked.push_back(Strand { current: self.current, waiting, arrived });
    }

    /// Runs the parked strand at `index`, if there is one.
    fn resume(&mut self, index: usize) {
        if let Some(Strand { current, waiting, arrived }) = self.strands.parked.remove(index) {
            (self.current, self.waiting) = (current, waiting);
            (self.strands.turns, self.strands.waited_at) = (0, arrived.then_some(current.pc));
        }
    }

    /// Runs another strand after the running one has ended. Prefers one that does not wait for others.
    pub(super) fn end_strand(&mut self) {
        let index = self.strands.parked.iter().position(|strand| !strand.arrived);
        self.resume(index.unwrap_or(0));
    }

    /// Unites the running strand with those at the same place, at the end of a path. If another strand will come to this place,
    /// parks the running one until then.
    pub(super) fn join_strands(&mut self) {
        self.unite();
        let here = self.current;
        let next = self.strands.parked.iter().position(|strand| !strand.arrived);
        if let Some(next) = next.filter(|_| self.strands.parked.iter().any(|strand| strand.comes_to(here))) {
            self.park(true);
            self.resume(next);
        }
    }

    /// Unites the running strand with those at the same instruction, which needs all lanes. If another strand can still arrive,
    /// parks the running one and returns `true`. With `all`, also parks a strand that runs because another one spins.
    #[cold]
    pub(super) fn gather(&mut self, all: bool) -> bool {
        self.unite();
        let has_waited = self.strands.waited_at.take() == Some(self.current.pc);
        let next = self.strands.parked.iter().position(|strand| !strand.arrived);
        if let Some(next) = next.filter(|_| all || !has_waited) {
            self.park(true);
            self.resume(next);
            return true;
        }
        if next.is_none() {
            // Every other strand waits elsewhere, for lanes that will not come.
            self.strands.parked.iter_mut().for_each(|strand| strand.arrived = false);
        }
        self.strands.gathered = !self.strands.is_single();
        false
    }

    /// Adds the lanes of all parked strands whose stack has the same places as the running one's.
    fn unite(&mut self) {
        let (current, waiting) = (&mut self.current, &mut self.waiting);
        self.strands.parked.retain(|strand| {
            let is_same = strand.current.is_at(*current)
                && strand.waiting.len() == waiting.len()
                && strand.waiting.iter().zip(&*waiting).all(|(a, b)| a.is_at(*b));
            if is_same {
                current.mask |= strand.current.mask;
                waiting.iter_mut().zip(&strand.waiting).for_each(|(to, from)| to.mask |= from.mask);
            }
            !is_same
        });
    }
}
