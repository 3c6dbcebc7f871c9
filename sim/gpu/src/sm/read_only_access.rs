//! Accesses of an SM to its read-only caches.
use super::events::SmEvent;
use super::l1d::{self, L1dAccess};
use super::launch::LaunchedKernel;
use super::part::Load;
use super::parts::SmParts;
use super::token::InstId;
use super::warp_slot::Hold;
use super::{Sm, TickContext};
use crate::config::ReadOnlyCache;
use crate::packet::Packet;
use crate::sm::scheduler::warps_of;
use crate::stats::FailCause;
use selvedge_ptx::ptx::CODE_REGION;

impl Sm {
    /// Looks up a line in a read-only cache for `waiter`.
    fn look_up_read_only(
        &mut self,
        cache: ReadOnlyCache,
        load: Load,
        waiter: u32,
        ctx: &TickContext<'_>,
    ) -> L1dAccess {
        let line_bytes = self.config.sm.read_only(cache).line_bytes;
        let mut l1d_ctx = l1d::AccessContext {
            now: ctx.now,
            asked: ctx.now,
            parts: &mut SmParts::default(),
            memory: ctx.memory,
        };
        self.memory.look_up_read_only(cache, line_bytes, load, waiter, &mut l1d_ctx)
    }

    /// Sends the next transaction of `head` to a read-only cache.
    pub(super) fn load_read_only(
        &mut self,
        cache: ReadOnlyCache,
        head: InstId,
        ctx: &TickContext<'_>,
    ) -> Result<(), FailCause> {
        let inst = self.memory.lsu.peek(head);
        let line = inst.transaction().line;
        let load = Load { kernel: inst.kernel, warp: inst.warp, pc: inst.pc, line, ..Load::default() };
        match self.look_up_read_only(cache, load, head, ctx) {
            L1dAccess::Hit => {
                let latency = self.config.sm.read_only(cache).hit_latency;
                self.events.push(ctx.now, ctx.now + u64::from(latency), SmEvent::Data { inst: head });
                Ok(())
            }
            L1dAccess::Pending | L1dAccess::Miss | L1dAccess::SectorMiss => Ok(()),
            L1dAccess::Fail(cause) => Err(cause),
        }
    }

    /// Handles the arrival of a line at a read-only cache.
    pub(super) fn fill_read_only(&mut self, cache: ReadOnlyCache, packet: &Packet, ctx: &TickContext<'_>) {
        let mut l1d_ctx = l1d::AccessContext {
            now: ctx.now,
            asked: ctx.now,
            parts: &mut SmParts::default(),
            memory: ctx.memory,
        };
        let (mut woken, _) = self.memory.fill(Some(cache), packet, &mut l1d_ctx);
        self.memory.blocked = None;
        for waiter in woken.drain(..) {
            match cache {
                ReadOnlyCache::Constant | ReadOnlyCache::Texture => self.data_arrived(waiter, ctx.now),
                ReadOnlyCache::Instruction => {
                    self.memory.read_only.fetching &= !(1 << waiter);
                    self.update_need(waiter as u8);
                }
            }
        }
        self.memory.keep(woken);
    }

    /// Looks up the warp's next instruction if it is in another line of code. A miss holds the warp until the line arrives.
    #[inline]
    pub(super) fn fetch_instruction(&mut self, warp: u8, ctx: &TickContext<'_>) {
        if self.memory.read_only.has(ReadOnlyCache::Instruction) {
            self.look_up_instruction(warp, ctx);
        }
    }

    #[inline(never)]
    fn look_up_instruction(&mut self, warp: u8, ctx: &TickContext<'_>) {
        let Some(slot) =
            self.residents.warps[usize::from(warp)].as_mut().filter(|slot| slot.hold != Hold::Exited)
        else {
            return;
        };
        let Some(pc) = slot.warp.pc() else { return };
        let line = code_line(&slot.kernel, pc, self.config.sm.instruction.line_bytes);
        if slot.code_line == Some(line) {
            return;
        }
        let load = Load { kernel: slot.kernel.program, warp, pc, line, ..Load::default() };
        let outcome = self.look_up_read_only(ReadOnlyCache::Instruction, load, u32::from(warp), ctx);
        let caches = &mut self.memory.read_only;
        let bit = 1 << warp;
        caches.retrying &= !bit;
        caches.fetching &= !bit;
        match outcome {
            L1dAccess::Hit => {}
            L1dAccess::Pending | L1dAccess::Miss | L1dAccess::SectorMiss => caches.fetching |= bit,
            L1dAccess::Fail(cause) => {
                caches.fetching |= bit;
                caches.retrying |= bit;
                let cache = caches.get(ReadOnlyCache::Instruction).expect("it was asked");
                cache.fail(load.kernel, cause, 1);
                return;
            }
        }
        self.residents.warp_mut(warp).code_line = Some(line);
    }

    /// Retries fetches whose miss could not be sent.
    #[inline]
    pub(super) fn retry_fetches(&mut self, ctx: &TickContext<'_>) {
        if self.memory.read_only.retrying != 0 {
            self.retry_some(ctx);
        }
    }

    #[inline(never)]
    fn retry_some(&mut self, ctx: &TickContext<'_>) {
        for warp in warps_of(self.memory.read_only.retrying) {
            self.fetch_instruction(warp, ctx);
            self.update_need(warp);
        }
    }
}

/// Returns the address of the line of code with the instruction at `pc`.
pub(super) fn code_line(kernel: &LaunchedKernel, pc: u32, line_bytes: u32) -> u64 {
    let address = CODE_REGION + kernel.code_offset + u64::from(pc) * kernel.instruction_bytes;
    address & !(u64::from(line_bytes) - 1)
}
