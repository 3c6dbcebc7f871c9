//! Prefetches of a mechanism. They are looked up in the L1D when the load/store unit does not use its port, and sent as misses
//! that no load waits for.
use super::part::{L1dEvent, Prefetch, Prefetched};
use super::read_only::SIDE_TOKEN;
use super::{BYPASS_TOKEN, PREFETCH_TOKEN, Sm, TickContext, l1d};
use crate::packet::{Operations, Packet, PacketKind};

/// Returns whether `token` is of a read that was sent for a prefetch.
pub(super) fn is_prefetch(token: u32) -> bool {
    token & (BYPASS_TOKEN | SIDE_TOKEN | PREFETCH_TOKEN) == PREFETCH_TOKEN
}

impl Sm {
    /// Returns whether the load/store unit leaves the L1D's port free in cycle `now`.
    pub(super) fn l1d_port_is_free(&self, now: u64) -> bool {
        match self.front.is_there() {
            true => self.front.oldest().is_none_or(|(at, _)| at > now),
            false => self.lsu.head().is_none_or(|head| self.lsu_ready_at(head) > now),
        }
    }

    /// Looks up the mechanism's next prefetch.
    pub(super) fn run_prefetch(&mut self, ctx: &TickContext<'_>) {
        if !self.parts.busy() {
            return;
        }
        let Some(prefetch) = self.parts.prefetch(ctx.now) else { return };
        let outcome = self.prefetch(&prefetch, ctx);
        self.counters.prefetches_sent += u64::from(outcome == Prefetched::Sent);
        self.parts.l1d_event(ctx.now, &L1dEvent::Prefetch { line: prefetch.line, outcome });
    }

    fn prefetch(&mut self, prefetch: &Prefetch, ctx: &TickContext<'_>) -> Prefetched {
        let Prefetch { kernel, warp, line } = *prefetch;
        if !ctx.memory.is_allocated(line, u64::from(self.config.l1d.line_bytes)) {
            return Prefetched::Beyond;
        }
        let packet = Packet {
            kind: PacketKind::Read,
            line,
            // `L1d::prefetch` sets the sectors.
            sectors: 0,
            full_sectors: false,
            words: 0,
            operations: Operations::default(),
            data_bytes: 0,
            sm: self.id,
            slice: self.map.slice(line),
            kernel,
            token: PREFETCH_TOKEN | u32::from(warp),
            payload: 0,
            witness: 0,
        };
        let mut l1d_ctx =
            l1d::Context { now: ctx.now, asked: ctx.now, parts: &mut self.parts, memory: ctx.memory };
        self.l1d.prefetch(packet, &mut l1d_ctx)
    }
}
