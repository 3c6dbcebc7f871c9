//! The latency queue: the pipeline stages between the load/store unit and the L1D's tags. All loads and stores pass it, whether
//! they hit or miss. Atomics bypass it, since the L2 executes them.
//!
//! In each cycle one transaction enters and one leaves for the tags. A transaction that the L1D cannot take stays at the end of
//! the queue. It stops those behind it, which move up until the queue is full.
use super::token::InstId;
use crate::stats::FailCause;
use selvedge_state::State;
use std::collections::VecDeque;

/// Transactions in flight from the load/store unit to the L1D's tags.
#[derive(Debug, Default, State)]
pub struct LatencyQueue {
    latency: u64,
    /// The first cycle in which each transaction may be looked up, and its instruction.
    queue: VecDeque<(u64, InstId)>,
    /// The cause that blocks the oldest transaction, if nothing has changed since its failure.
    pub blocked: Option<FailCause>,
}

impl LatencyQueue {
    /// Returns an empty queue with a latency of `latency` cycles and the same number of entries. With a latency of 0 the queue is
    /// bypassed.
    pub fn new(latency: u32) -> Self {
        let queue = VecDeque::with_capacity(latency as usize);
        LatencyQueue { latency: u64::from(latency), queue, blocked: None }
    }

    /// Returns whether the configuration has such a queue.
    pub fn is_there(&self) -> bool {
        self.latency > 0
    }

    /// Returns whether one more transaction fits.
    pub fn has_room(&self) -> bool {
        (self.queue.len() as u64) < self.latency
    }

    /// Takes the next transaction of an instruction in cycle `now`.
    pub fn enter(&mut self, now: u64, inst: InstId) {
        debug_assert!(self.has_room());
        self.queue.push_back((now + self.latency, inst));
    }

    /// Returns the first cycle in which the oldest transaction may be looked up, and its instruction.
    pub fn oldest(&self) -> Option<(u64, InstId)> {
        self.queue.front().copied()
    }

    /// Returns the instruction of each transaction in the queue, the oldest first.
    pub fn instructions(&self) -> impl Iterator<Item = InstId> {
        self.queue.iter().map(|(_, inst)| *inst)
    }

    /// Removes the oldest transaction.
    pub fn leave(&mut self) {
        self.queue.pop_front();
    }

    /// Returns the number of transactions in the queue.
    pub fn len(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_pass_in_order_after_the_latency_and_wait_behind_a_blocked_one() {
        let mut queue = LatencyQueue::new(3);
        for (now, inst) in [(10, 1), (11, 2), (12, 3)] {
            assert!(queue.has_room());
            queue.enter(now, inst);
        }
        assert!(!queue.has_room());
        assert_eq!(queue.oldest(), Some((13, 1)));
        queue.leave();
        assert!(queue.has_room());
        assert_eq!(queue.oldest(), Some((14, 2)), "no sooner than its own latency");
    }

    #[test]
    fn without_latency_there_is_none() {
        assert!(!LatencyQueue::new(0).is_there());
    }
}
