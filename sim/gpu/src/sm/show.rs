//! The state of an SM at the end of a cycle, for a timeline.
use super::Sm;
use super::pipes::PipeKind;
use super::warp_slot::{Hold, WarpSlot};
use crate::timeline::{CycleView, Happening, TimelineCounter, Track, WarpState};

impl Sm {
    /// Adds CTAs, warps and lines in flight to a timeline.
    pub(crate) fn show(&self, view: &mut CycleView) {
        let sm = self.id;
        for (slot, cta) in (0..).zip(&self.residents.ctas) {
            if let Some(cta) = cta {
                let kernel = view.kernel(&cta.kernel.kernel.name);
                view.show(Track::Cta { sm, slot }, Happening::Cta { kernel, cta: cta.cta });
            }
        }
        for (slot, warp) in (0..).zip(&self.residents.warps) {
            if let Some(warp) = warp {
                let code = &warp.kernel.kernel.code;
                let line = warp.warp.pc().map_or(0, |pc| code[pc as usize].line);
                let state = self.state_of(slot, warp);
                view.show(Track::Warp { sm, slot }, Happening::Warp { state, line });
            }
        }
        let mut misses = 0;
        for (entry, line) in self.memory.l1d.misses() {
            view.show(Track::L1dMshr { sm, entry }, Happening::Miss { line });
            misses += 1;
        }
        view.level(TimelineCounter::L1dMisses { sm }, misses);
        view.total(TimelineCounter::Issued { sm }, self.tally.warp_instructions());
    }

    /// Returns the state of a warp: ready, or waiting for a resource or event.
    fn state_of(&self, slot: u8, warp: &WarpSlot) -> WarpState {
        let bit = 1 << slot;
        match warp.hold {
            Hold::Control => WarpState::Branch,
            Hold::Barrier(_) | Hold::Suspended { .. } => WarpState::Barrier,
            Hold::Fence { .. } | Hold::Reads { .. } => WarpState::Fence,
            Hold::Exited => WarpState::Ended,
            Hold::None if self.memory.read_only.fetching & bit != 0 => WarpState::Fetch,
            Hold::None if self.parts.held_warps() & bit != 0 => WarpState::Mechanism,
            Hold::None
                if self.issue_stage.needs.dependent() & bit != 0 && !warp.scoreboard.awaits_memory() =>
            {
                WarpState::Result
            }
            Hold::None if self.issue_stage.needs.dependent() & bit != 0 => WarpState::Load,
            Hold::None if self.issue_stage.stopped(&self.residents.program_warps) & bit != 0 => {
                WarpState::Quota
            }
            Hold::None if self.issue_stage.needs.ready(PipeKind::Memory) & bit != 0 => {
                WarpState::ReadyForMemory
            }
            Hold::None => WarpState::Ready,
        }
    }
}
