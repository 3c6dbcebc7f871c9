//! The latency queue: the pipeline stages between the load/store unit and the L1D's tags. All loads and stores pass it, whether
//! they hit or miss. Atomics bypass it, since the L2 executes them.
//!
//! In each cycle one transaction per bank enters, and one per bank leaves for the tags, all in order. A transaction that the L1D
//! cannot take stays at the end of the queue. It stops those behind it, which move up until the queue is full.
use super::l1d_banks::{BankSet, banks_in};
use super::token::InstId;
use crate::stats::FailCause;
use selvedge_state::State;
use std::collections::VecDeque;

/// A transaction in the latency queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct QueuedTransaction {
    /// The first cycle in which it may be looked up.
    pub at: u64,
    pub inst: InstId,
    /// The banks that it uses.
    pub banks: BankSet,
}

/// Transactions in flight from the load/store unit to the L1D's tags.
#[derive(Debug, Default, State)]
pub struct LatencyQueue {
    /// Cycles from entry to lookup, and max number of transactions in a bank.
    latency: u64,
    queue: VecDeque<QueuedTransaction>,
    /// Number of transactions in each bank.
    by_bank: Vec<u64>,
    /// The cause that blocks the oldest transaction, if nothing has changed since its failure.
    pub blocked: Option<FailCause>,
}

impl LatencyQueue {
    /// Returns an empty queue of `banks` banks with a latency of `latency` cycles, and the same number of entries in each bank. With
    /// a latency of 0 the queue is bypassed.
    pub fn new(latency: u32, banks: u32) -> Self {
        let queue = VecDeque::with_capacity((latency * banks) as usize);
        LatencyQueue { latency: u64::from(latency), queue, by_bank: vec![0; banks as usize], blocked: None }
    }

    /// Returns whether the configuration has such a queue.
    pub fn is_there(&self) -> bool {
        self.latency > 0
    }

    /// Returns whether one more transaction fits into `banks`.
    pub fn has_room(&self, banks: BankSet) -> bool {
        banks_in(banks).all(|bank| self.by_bank[bank] < self.latency)
    }

    /// Takes the next transaction of an instruction in cycle `now`.
    pub fn enter(&mut self, now: u64, inst: InstId, banks: BankSet) {
        debug_assert!(self.has_room(banks));
        banks_in(banks).for_each(|bank| self.by_bank[bank] += 1);
        self.queue.push_back(QueuedTransaction { at: now + self.latency, inst, banks });
    }

    /// Returns the oldest transaction.
    pub fn oldest(&self) -> Option<QueuedTransaction> {
        self.queue.front().copied()
    }

    /// Returns the instruction of each transaction in the queue, the oldest first.
    pub fn instructions(&self) -> impl Iterator<Item = InstId> {
        self.queue.iter().map(|queued| queued.inst)
    }

    /// Removes the oldest transaction.
    pub fn leave(&mut self) {
        if let Some(oldest) = self.queue.pop_front() {
            banks_in(oldest.banks).for_each(|bank| self.by_bank[bank] -= 1);
        }
    }

    /// Returns the number of transactions in the queue.
    pub fn len(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first cycle of the oldest transaction's lookup, and its instruction.
    fn oldest(queue: &LatencyQueue) -> Option<(u64, InstId)> {
        queue.oldest().map(|queued| (queued.at, queued.inst))
    }

    #[test]
    fn transactions_pass_in_order_after_the_latency_and_wait_behind_a_blocked_one() {
        let mut queue = LatencyQueue::new(3, 1);
        for (now, inst) in [(10, 1), (11, 2), (12, 3)] {
            assert!(queue.has_room(1));
            queue.enter(now, inst, 1);
        }
        assert!(!queue.has_room(1));
        assert_eq!(oldest(&queue), Some((13, 1)));
        queue.leave();
        assert!(queue.has_room(1));
        assert_eq!(oldest(&queue), Some((14, 2)), "no sooner than its own latency");
    }

    #[test]
    fn each_bank_has_its_own_room() {
        let mut queue = LatencyQueue::new(2, 4);
        queue.enter(10, 1, 0b0011);
        queue.enter(11, 2, 0b0110);
        assert!(!queue.has_room(0b1010), "bank 1 is full");
        assert!(queue.has_room(0b1101));
        queue.leave();
        assert!(queue.has_room(0b1010));
    }

    #[test]
    fn without_latency_there_is_none() {
        assert!(!LatencyQueue::new(0, 1).is_there());
    }
}
