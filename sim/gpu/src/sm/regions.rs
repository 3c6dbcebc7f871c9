//! Regions whose results a mechanism may know (memoization). A warp asks before it enters a region, and reports the results after
//! it has executed one.
//!
//! The border of a region is a mark on the instruction there. Asking occupies that instruction's issue slot. A warp skips a
//! region with known results in simulated time. Outside of simulated time, the region is executed to check the mechanism's
//! values.
use super::launch;
use super::needs::Need;
use super::part::{RegionEntry, RegionReply};
use super::pipes::PipeKind;
use super::warp_slot::{Border, Hold, RegionState};
use super::{SimFault, SimResult, Sm, TickContext};
use selvedge_ptx::ptx::{KernelRegion, RegionValue};
use std::sync::Arc;

impl Sm {
    /// Returns the need of the next instruction of a warp whose kernel has regions that the mechanism may know.
    #[inline(never)]
    pub(super) fn need_with_regions(&mut self, warp: u8) -> Need {
        let Some(slot) = &self.residents.warps[usize::from(warp)] else { return Need::HELD };
        if matches!(slot.region, RegionState::Asked { .. }) {
            return Need::OPERANDS;
        }
        let (Hold::None, Some(pc)) = (slot.hold, slot.warp.pc()) else { return Need::HELD };
        if let Some(need) = self.need_at_border(warp, pc) {
            return need;
        }
        self.residents.warps[usize::from(warp)].as_ref().map_or(Need::HELD, |slot| slot.need_at(pc))
    }

    /// Returns the need of a warp at a border that concerns the mechanism; `None` if it is at none. The warp crosses the border
    /// when the registers for it are written.
    fn need_at_border(&mut self, warp: u8, pc: u32) -> Option<Need> {
        let slot = self.residents.warp_mut(warp);
        let border = slot.border(pc).filter(|border| match border {
            Border::Start(number) => {
                let region = &slot.kernel.kernel.regions[usize::from(*number)];
                self.parts.wants_region(self.last_tick, slot.kernel.slot, *number, region)
            }
            Border::End(_) => true,
        });
        slot.border = border;
        let border = border?;
        let is_pending = |value: &RegionValue| slot.scoreboard.contains(value.number);
        let is_awaited = slot.awaited_at(border).any(is_pending);
        Some(if is_awaited { Need::OPERANDS } else { Need::pipe(PipeKind::Control) })
    }

    /// Asks for a region's results at its start, or reports them at its end.
    pub(super) fn cross_border(&mut self, warp: u8, border: Border, now: u64) -> PipeKind {
        let slot = self.residents.warp_mut(warp);
        let kernel = Arc::clone(&slot.kernel);
        let active = slot.warp.active_mask();
        let executed = slot.warp.executed().expect("only what executes asks");
        match border {
            Border::Start(number) => {
                let region = &kernel.kernel.regions[usize::from(number)];
                let inputs = executed.values(&region.inputs);
                slot.region = RegionState::Asked { region: number, mask: active };
                let entry = RegionEntry {
                    kernel: kernel.slot,
                    warp,
                    region: number,
                    mask: active,
                    inputs,
                    results: KernelRegion::words(&region.results),
                };
                self.parts.region_entered(now, entry);
            }
            Border::End(number) => {
                let results = executed.values(&kernel.kernel.regions[usize::from(number)].results);
                slot.region = RegionState::Outside;
                self.parts.region_computed(now, warp, results);
            }
        }
        self.update_need(warp);
        PipeKind::Control
    }

    /// Lets warps continue whose requests the mechanism has answered.
    pub(super) fn take_answers(&mut self, ctx: &mut TickContext<'_>) -> SimResult<()> {
        while let Some(RegionReply { warp, is_known }) = self.parts.region_reply() {
            let slot = self.residents.warp_mut(warp);
            let RegionState::Asked { region, mask } = slot.region else { continue };
            if is_known {
                self.skip_region(warp, region, ctx)?;
                self.fetch_instruction(warp, ctx);
            } else {
                slot.region = RegionState::Inside { region, mask, at_start: true, is_wanted: true };
            }
            self.update_need(warp);
        }
        Ok(())
    }

    /// Moves a warp past a region with known results, and lets the mechanism check them.
    fn skip_region(&mut self, warp: u8, number: u16, ctx: &mut TickContext<'_>) -> SimResult<()> {
        let (slot, cta) = self.residents.warp_and_cta(warp);
        let kernel = Arc::clone(&slot.kernel);
        let region = &kernel.kernel.regions[usize::from(number)];
        let place = launch::ClockAndSm { clock: ctx.now, sm: u32::from(self.id), sms: self.config.sm.count };
        ctx.memory.select(kernel.program);
        let mut env = kernel.environment(ctx.memory, &mut cta.shared, place);
        slot.region = RegionState::Outside;
        let executed = slot.warp.executed().expect("only what executes asks");
        let instructions = executed.skip(&kernel.kernel, &mut env, region).map_err(SimFault::boxed)?;
        let results = executed.values(&region.results);
        Ok(self.parts.region_skipped(warp, instructions, &results)?)
    }
}
