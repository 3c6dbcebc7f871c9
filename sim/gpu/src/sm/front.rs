//! The cycles in front of the L1D's tags: a queue that every access passes, hits, misses and stores alike.
//!
//! One transaction enters in a cycle and one leaves at the end for the tags. One that the L1D cannot take stays at the end and
//! stops those behind it, which move up until the queue is full.
use super::lsu::InstId;
use crate::stats::FailCause;
use selvedge_state::State;
use std::collections::VecDeque;

/// Transactions in flight from the load/store unit to the L1D's tags.
#[derive(Debug, Default, State)]
pub struct Front {
    latency: u64,
    /// When each may be looked up, and its instruction.
    queue: VecDeque<(u64, InstId)>,
    /// The oldest one failed for this cause, and nothing has changed since.
    pub blocked: Option<FailCause>,
}

impl Front {
    /// Returns an empty queue of the given number of cycles, which holds as many transactions; a queue of no cycles is bypassed.
    pub fn new(latency: u32) -> Self {
        let queue = VecDeque::with_capacity(latency as usize);
        Front { latency: u64::from(latency), queue, blocked: None }
    }

    /// Returns whether there is such a queue.
    pub fn is_there(&self) -> bool {
        self.latency > 0
    }

    /// Returns whether it has room for one more transaction.
    pub fn has_room(&self) -> bool {
        (self.queue.len() as u64) < self.latency
    }

    /// Takes the next transaction of an instruction in cycle `now`.
    pub fn enter(&mut self, now: u64, inst: InstId) {
        debug_assert!(self.has_room());
        self.queue.push_back((now + self.latency, inst));
    }

    /// Returns when the oldest transaction may be looked up, and its instruction.
    pub fn oldest(&self) -> Option<(u64, InstId)> {
        self.queue.front().copied()
    }

    /// The oldest transaction has been taken.
    pub fn leave(&mut self) {
        self.queue.pop_front();
    }

    /// Transactions in it.
    pub fn len(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_pass_in_order_after_the_latency_and_wait_behind_a_blocked_one() {
        let mut front = Front::new(3);
        for (now, inst) in [(10, 1), (11, 2), (12, 3)] {
            assert!(front.has_room());
            front.enter(now, inst);
        }
        assert!(!front.has_room());
        assert_eq!(front.oldest(), Some((13, 1)));
        front.leave();
        assert!(front.has_room());
        assert_eq!(front.oldest(), Some((14, 2)), "no sooner than its own latency");
    }

    #[test]
    fn without_latency_there_is_none() {
        assert!(!Front::new(0).is_there());
    }
}
