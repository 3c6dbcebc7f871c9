//! Prefetches of a mechanism. They are looked up in the L1D when the load/store unit does not use its port, and sent as misses
//! that no load waits for.
use super::l1d;
use super::part::{L1dEvent, Prefetch, Prefetched};
use super::token::ReplyToken;
use super::{Sm, TickContext};

impl Sm {
    /// Looks up the mechanism's next prefetch.
    pub(super) fn run_prefetch(&mut self, ctx: &TickContext<'_>) {
        if !self.parts.busy() {
            return;
        }
        let Some(prefetch) = self.parts.prefetch(ctx.now) else { return };
        let outcome = self.prefetch(&prefetch, ctx);
        self.tally.counters.prefetches_sent += u64::from(outcome == Prefetched::Sent);
        self.parts.l1d_event(ctx.now, &L1dEvent::Prefetch { line: prefetch.line, outcome });
    }

    fn prefetch(&mut self, prefetch: &Prefetch, ctx: &TickContext<'_>) -> Prefetched {
        let Prefetch { kernel, warp, line } = *prefetch;
        if !ctx.memory.is_allocated(line, u64::from(self.config.l1d.line_bytes)) {
            return Prefetched::Beyond;
        }
        // `L1d::prefetch` sets the sectors.
        let packet = self.memory.read(line, 0, kernel, ReplyToken::Prefetch(warp));
        let mut l1d_ctx =
            l1d::AccessContext { now: ctx.now, asked: ctx.now, parts: &mut self.parts, memory: ctx.memory };
        self.memory.l1d.prefetch(packet, &mut l1d_ctx)
    }
}
