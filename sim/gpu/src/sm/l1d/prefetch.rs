//! Prefetches of the L1D: misses that no load waits for.
use super::{AccessContext, L1d};
use crate::config::Allocate;
use crate::packet::Packet;
use crate::sm::part::Prefetched;
use crate::stats::FailCause;

impl L1d {
    /// Sends a miss for a whole line, unless a part of the line is valid or in flight, or a resource is not available. A prefetch
    /// never waits. It does not count as an access.
    pub fn prefetch(&mut self, packet: Packet, ctx: &mut AccessContext<'_>) -> Prefetched {
        let line = packet.line;
        if self.mshr.find(line).is_some() {
            return Prefetched::UnderWay;
        }
        if self.tags.probe(line).slot().is_some() {
            return Prefetched::Present;
        }
        if !self.mshr.can_allocate() {
            return Prefetched::NoRoom(FailCause::MshrEntry);
        }
        if !self.can_queue() || self.leaving.len() >= self.config.miss_queue as usize {
            return Prefetched::NoRoom(FailCause::MissQueue);
        }
        if self.config.allocate == Allocate::OnMiss && !self.reserve(None, line, &*ctx.parts) {
            return Prefetched::NoRoom(FailCause::Line);
        }
        let id = self.mshr.allocate(line);
        let fetched = self.sectors.all();
        self.mshr.expect(id, fetched);
        self.missed_at[id.index()][0] = super::Times::of(ctx);
        self.count(packet.kernel, |counters| counters.sectors_fetched += u64::from(fetched.count_ones()));
        self.miss_queue.push_back(Packet { sectors: fetched, ..packet });
        self.report_evictions(ctx);
        Prefetched::Sent
    }

    /// Returns whether a packet waits for the crossbar, or more than half of the MSHRs are in use.
    pub fn is_strained(&self) -> bool {
        self.outgoing().is_some() || 2 * self.mshr.len() > self.config.mshr_entries as usize
    }
}
