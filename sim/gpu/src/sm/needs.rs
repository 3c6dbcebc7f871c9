//! What the warps of an SM wait for: for each warp, and for each need the warps that have it.
use super::pipes::{PIPE_KINDS, PipeKind};
use super::scheduler::WarpMask;
use selvedge_state::State;

/// What a warp's next instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Need(u8);

impl Need {
    /// Its operands or its destination.
    pub const OPERANDS: Need = Need(PIPE_KINDS as u8);

    /// The warp is not considered, or there is none.
    pub const HELD: Need = Need(PIPE_KINDS as u8 + 1);

    /// Returns the need of a free pipe.
    #[inline(always)]
    pub fn pipe(kind: PipeKind) -> Self {
        Need(kind as u8)
    }

    fn is_pipe(self) -> bool {
        self.0 < PIPE_KINDS as u8
    }
}

/// How many needs there are.
const NEEDS: usize = PIPE_KINDS + 2;

/// The needs of an SM's warps.
#[derive(State)]
pub struct Needs {
    /// By warp slot.
    of: Box<[Need]>,
    /// The warps by their need.
    warps: [WarpMask; NEEDS],
    /// Warps with operands.
    ready: u32,
}

impl Needs {
    /// Returns the needs of `count` warp slots without a warp.
    pub fn new(count: usize) -> Self {
        Needs { of: vec![Need::HELD; count].into(), warps: [0; NEEDS], ready: 0 }
    }

    /// Returns the need of a warp.
    #[inline(always)]
    pub fn of(&self, warp: u8) -> Need {
        self.of[usize::from(warp)]
    }

    /// Replaces the need of a warp.
    #[inline(always)]
    pub fn set(&mut self, warp: u8, need: Need) {
        let before = std::mem::replace(&mut self.of[usize::from(warp)], need);
        self.ready = self.ready + u32::from(need.is_pipe()) - u32::from(before.is_pipe());
        let bit: WarpMask = 1 << warp;
        self.warps[usize::from(before.0)] &= !bit;
        self.warps[usize::from(need.0)] |= bit;
    }

    /// Returns the warps with operands whose next instruction needs a pipe of this kind.
    #[inline(always)]
    pub fn ready(&self, kind: PipeKind) -> WarpMask {
        self.warps[kind as usize]
    }

    /// Returns whether any warp has its operands.
    #[inline(always)]
    pub fn any_ready(&self) -> bool {
        self.ready > 0
    }

    /// Returns the warps that wait for operands or their destination.
    #[inline(always)]
    pub fn dependent(&self) -> WarpMask {
        self.warps[usize::from(Need::OPERANDS.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_masks_have_the_warps_of_each_need(changes in prop::collection::vec((0u8..96, 0u8..NEEDS as u8), 1..200)) {
            let mut needs = Needs::new(96);
            let mut expected = [Need::HELD; 96];
            for (warp, need) in changes {
                needs.set(warp, Need(need));
                expected[usize::from(warp)] = Need(need);
                let with = |need: Need| (0..96).filter(|warp| expected[*warp] == need).fold(0, |mask, warp| mask | 1 << warp);
                for kind in PipeKind::ALL {
                    prop_assert_eq!(needs.ready(kind), with(Need::pipe(kind)));
                }
                prop_assert_eq!(needs.dependent(), with(Need::OPERANDS));
                prop_assert_eq!(needs.any_ready(), expected.iter().any(|need| need.is_pipe()));
                prop_assert_eq!(needs.of(warp), Need(need));
            }
        }
    }
}
