//! The requests in a channel, from their arrival to their reply.
use super::queue::Queue;
use super::request::{Access, QueuedRequest, Request};
use super::spec::{ChannelSpec, NEVER};
use selvedge_state::State;
use std::collections::VecDeque;

/// The requests in a channel.
#[derive(State)]
pub struct ChannelQueues {
    /// Requests in the delay line in order, each with the cycle at which the scheduler sees it.
    pub incoming: VecDeque<(u64, Request)>,
    pub incoming_reads: usize,
    pub reads: Queue,
    pub writes: Queue,
    /// Reads that wait for an older request to their line.
    pub blocked_reads: usize,
    /// Served reads, each with the cycle at which its data arrives; sorted by this cycle.
    pub returns: VecDeque<(u64, Request)>,
    /// `true` while writes have priority.
    pub draining: bool,
}

impl ChannelQueues {
    /// Returns empty queues.
    pub fn new(spec: &ChannelSpec) -> Self {
        ChannelQueues {
            incoming: VecDeque::with_capacity(2 * spec.capacity),
            incoming_reads: 0,
            reads: spec.queue(),
            writes: spec.queue(),
            blocked_reads: 0,
            returns: VecDeque::with_capacity(spec.capacity),
            draining: false,
        }
    }

    /// Returns whether no request waits for service.
    pub fn is_empty(&self) -> bool {
        self.incoming.is_empty() && self.reads.is_empty() && self.writes.is_empty()
    }

    /// Returns whether there is space for one more request of this direction.
    pub fn has_room(&self, spec: &ChannelSpec, access: Access) -> bool {
        if spec.banks_choose() {
            let waiting = self.incoming.len() + self.reads.len() + self.writes.len();
            return waiting + self.returns.len() < spec.most_in_flight;
        }
        let incoming_writes = self.incoming.len() - self.incoming_reads;
        match access {
            _ if spec.one_queue => self.reads.len() + self.incoming.len() < spec.capacity,
            Access::Read => self.reads.len() + self.incoming_reads < spec.capacity,
            Access::Write => self.writes.len() + incoming_writes < spec.capacity,
        }
    }

    /// Adds a request in cycle `now`.
    pub fn push(&mut self, spec: &ChannelSpec, now: u64, request: Request) {
        self.incoming.push_back((now + spec.timing.latency_in(), request));
        self.incoming_reads += usize::from(request.access == Access::Read);
    }

    /// Returns the queue of a direction.
    #[inline]
    pub fn list(&self, spec: &ChannelSpec, access: Access) -> &Queue {
        match access {
            Access::Write if !spec.one_queue => &self.writes,
            _ => &self.reads,
        }
    }

    /// Returns the queue of a direction, for changes.
    #[inline]
    pub fn list_mut(&mut self, spec: &ChannelSpec, access: Access) -> &mut Queue {
        match access {
            Access::Write if !spec.one_queue => &mut self.writes,
            _ => &mut self.reads,
        }
    }

    /// Returns the number of waiting requests to a line.
    pub fn count_of(&self, line: u64) -> u32 {
        (self.reads.count_of(line) + self.writes.count_of(line)) as u32
    }

    /// Returns the oldest request without blockers, over both directions. The oldest request of all has no blockers.
    pub fn oldest(&self) -> Option<(Access, usize)> {
        let first = |list: &[QueuedRequest]| list.iter().position(|w| w.blockers == 0);
        let (read, write) = (first(&self.reads), first(&self.writes));
        match (read, write) {
            (Some(r), Some(w)) if self.writes[w].arrived < self.reads[r].arrived => Some((Access::Write, w)),
            (Some(r), _) => Some((Access::Read, r)),
            (None, Some(w)) => Some((Access::Write, w)),
            (None, None) => None,
        }
    }

    /// Returns the cycle from which the oldest request starves.
    pub fn starvation_time(&self, spec: &ChannelSpec) -> u64 {
        let arrived = |list: &[QueuedRequest]| list.first().map_or(NEVER, |w| w.arrived);
        arrived(&self.reads).min(arrived(&self.writes)).saturating_add(spec.starvation)
    }

    /// Returns the request that has waited for the starvation limit in cycle `now`, if any.
    pub fn starving(&self, spec: &ChannelSpec, now: u64) -> Option<(Access, usize)> {
        if now < self.starvation_time(spec) {
            return None;
        }
        let starves = |w: &QueuedRequest| w.chosen && w.arrived + spec.starvation <= now;
        self.oldest().filter(|(access, at)| starves(&self.list(spec, *access)[*at]))
    }

    /// Lets writes drain from the high watermark of `writes` waiting writes on, down to the low one.
    pub fn follow_watermarks(&mut self, spec: &ChannelSpec, writes: usize) {
        if writes >= spec.write_high {
            self.draining = true;
        } else if writes <= spec.write_low {
            self.draining = false;
        }
    }

    /// Records that a row was opened in a bank.
    pub fn opened(&mut self, bank: u32, row: u64) {
        self.reads.opened(bank, row);
        self.writes.opened(bank, row);
    }

    /// Records that the open row of a bank was closed.
    pub fn closed(&mut self, bank: u32) {
        self.reads.closed(bank);
        self.writes.closed(bank);
    }

    /// Removes one blocker from each waiting request to `line`, after a request to the line was served.
    pub fn unblock(&mut self, line: u64) {
        self.blocked_reads -= self.reads.unblock(line);
        self.writes.unblock(line);
    }

    /// Queues a reply that arrives in cycle `arrival`. Replies of other sub-ranks may overtake it.
    pub fn return_at(&mut self, arrival: u64, request: Request) {
        let later = self.returns.iter().rev().take_while(|(other, _)| *other > arrival).count();
        self.returns.insert(self.returns.len() - later, (arrival, request));
    }
}
