//! The needs of an SM's warps: the need of each warp, and the warps with each need.
use super::pipes::{PIPE_KINDS, PipeKind};
use super::scheduler::WarpMask;
use crate::stats::IssueCycle;
use selvedge_state::State;

/// The resource that a warp's next instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Need(u8);

impl Need {
    /// Operands or destination registers that are in flight.
    pub const OPERANDS: Need = Need(PIPE_KINDS as u8);

    /// The slot has no warp, or its warp cannot issue.
    pub const HELD: Need = Need(PIPE_KINDS as u8 + 1);

    /// Returns the need of a free pipe.
    #[inline(always)]
    pub fn pipe(kind: PipeKind) -> Self {
        Need(kind as u8)
    }

    /// Returns the byte of the need in [`NeedCounts`], which does not count [`Need::HELD`]. The needs that explain a cycle
    /// without issue come first, in order of priority.
    const fn place(self) -> u32 {
        const MEMORY: u8 = PipeKind::Memory as u8;
        const ALU: u8 = PipeKind::Alu as u8;
        const FP64: u8 = PipeKind::Fp64 as u8;
        const SFU: u8 = PipeKind::Sfu as u8;
        const TENSOR: u8 = PipeKind::Tensor as u8;
        const INT: u8 = PipeKind::Int as u8;
        const CONTROL: u8 = PipeKind::Control as u8;
        const OPERANDS: u8 = Need::OPERANDS.0;
        match self.0 {
            MEMORY => 0,
            ALU => 1,
            FP64 => 2,
            SFU => 3,
            TENSOR => 4,
            INT => 5,
            OPERANDS => 6,
            CONTROL => 7,
            _ => unreachable!(),
        }
    }
}

/// Number of different needs.
const NEEDS: usize = PIPE_KINDS + 2;

/// Number of a scheduler's warps with each need except [`Need::HELD`], in the byte that [`Need::place`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct NeedCounts(u64);

/// The count of one warp, by need.
const ONE: [u64; NEEDS] = {
    let mut ones = [0; NEEDS];
    let mut need = 0;
    while need < Need::HELD.0 as usize {
        ones[need] = 1 << (8 * Need(need as u8).place());
        need += 1;
    }
    ones
};

impl NeedCounts {
    /// Returns whether any warp has its operands.
    #[inline(always)]
    pub fn any_ready(self) -> bool {
        // All bytes except that of [`Need::OPERANDS`].
        self.0 & 0xff00_ffff_ffff_ffff != 0
    }

    /// Returns the class of a cycle in which none of the warps issues.
    #[inline(always)]
    pub fn stall(self) -> IssueCycle {
        const STALLS: [IssueCycle; 8] = [
            IssueCycle::Memory,
            IssueCycle::Compute,
            IssueCycle::Compute,
            IssueCycle::Compute,
            IssueCycle::Compute,
            IssueCycle::Compute,
            IssueCycle::DataDependence,
            IssueCycle::Idle,
        ];
        let first = (self.0 | 1 << 56).trailing_zeros() / 8;
        STALLS[first as usize % 8]
    }
}

#[derive(State)]
pub struct WarpNeeds {
    /// Needs by warp slot.
    of: Box<[Need]>,
    /// The scheduler of each warp slot.
    scheduler_of: Box<[u8]>,
    /// Counts by scheduler.
    counts: Box<[NeedCounts]>,
    /// The warps by their need.
    warps: [WarpMask; NEEDS],
}

impl WarpNeeds {
    /// Returns the needs of `count` empty warp slots. Slot n belongs to scheduler n modulo `schedulers`.
    pub fn new(count: usize, schedulers: usize) -> Self {
        let scheduler_of: Box<[u8]> = (0..count).map(|warp| (warp % schedulers) as u8).collect();
        WarpNeeds {
            of: vec![Need::HELD; count].into(),
            scheduler_of,
            counts: vec![NeedCounts(0); schedulers].into(),
            warps: [0; NEEDS],
        }
    }

    /// Returns the counts of a scheduler's warps.
    #[inline(always)]
    pub fn of_scheduler(&self, scheduler: usize) -> NeedCounts {
        self.counts[scheduler]
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
        let counts = &mut self.counts[usize::from(self.scheduler_of[usize::from(warp)])];
        counts.0 = counts.0 + ONE[usize::from(need.0)] - ONE[usize::from(before.0)];
        let bit: WarpMask = 1 << warp;
        self.warps[usize::from(before.0)] &= !bit;
        self.warps[usize::from(need.0)] |= bit;
    }

    /// Returns the warps with available operands whose next instruction needs a pipe of this kind.
    #[inline(always)]
    pub fn ready(&self, kind: PipeKind) -> WarpMask {
        self.warps[kind as usize]
    }

    /// Returns whether any warp has its operands.
    #[inline(always)]
    pub fn any_ready(&self) -> bool {
        self.counts.iter().any(|counts| counts.any_ready())
    }

    /// Returns the warps that wait for operands or for their destination.
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
            let mut needs = WarpNeeds::new(96, 3);
            let mut expected = [Need::HELD; 96];
            let is_ready = |need: &Need| ![Need::OPERANDS, Need::HELD].contains(need);
            for (warp, need) in changes {
                needs.set(warp, Need(need));
                expected[usize::from(warp)] = Need(need);
                let with = |need: Need| (0..96).filter(|warp| expected[*warp] == need).fold(0, |mask, warp| mask | 1 << warp);
                for kind in PipeKind::ALL {
                    prop_assert_eq!(needs.ready(kind), with(Need::pipe(kind)));
                }
                prop_assert_eq!(needs.dependent(), with(Need::OPERANDS));
                prop_assert_eq!(needs.any_ready(), expected.iter().any(is_ready));
                prop_assert_eq!(needs.of(warp), Need(need));
                for scheduler in 0..3 {
                    let mine = || (0..96).filter(|warp| warp % 3 == scheduler).map(|warp| expected[warp]);
                    let counts = needs.of_scheduler(scheduler);
                    prop_assert_eq!(counts.any_ready(), mine().any(|need| is_ready(&need)));
                    let has = |kind: PipeKind| mine().any(|need| need == Need::pipe(kind));
                    let stall = if has(PipeKind::Memory) {
                        IssueCycle::Memory
                    } else if PipeKind::ARITHMETIC.into_iter().any(has) {
                        IssueCycle::Compute
                    } else if mine().any(|need| need == Need::OPERANDS) {
                        IssueCycle::DataDependence
                    } else {
                        IssueCycle::Idle
                    };
                    prop_assert_eq!(counts.stall(), stall);
                }
            }
        }
    }
}
