//! The scheduling policies of a channel. Each chooses a command for the waiting requests of one direction.
pub mod bank_choice;
pub mod fcfs;
pub mod fr_fcfs;

use super::queue::Queue;
use super::request::{Access, QueuedRequest, numbers};
use super::sub_rank::SubRank;

/// Decision of the scheduler. A command names the position of its request in the queue and the mask of its sub-ranks.
#[derive(Clone, Copy)]
pub enum Decision {
    Column(usize),
    Activate(usize, u64),
    Precharge(usize, u64),
    /// Closes all rows, because a refresh is due.
    PrechargeAll,
    Refresh,
    /// No command is possible before this cycle.
    Sleep(u64),
}

/// The requests of one direction, and the banks that they wait for.
pub struct Candidates<'a> {
    pub queue: &'a Queue,
    pub ranks: &'a [SubRank],
    pub now: u64,
    /// `true` if the reply queue has room.
    pub may_return: bool,
}

impl Candidates<'_> {
    /// Returns the sub-ranks of a request in which its row is not open.
    fn missing(&self, w: &QueuedRequest) -> u64 {
        let other = |n: &usize| self.ranks[*n].row(w.bank) != w.row;
        numbers(w.sub_ranks).filter(other).fold(0, |bits, n| bits | 1 << n)
    }

    /// Returns the first cycle at which a request with open rows can be read or written.
    fn column_from(&self, w: &QueuedRequest) -> u64 {
        self.latest(w.sub_ranks, |rank| rank.column_from(w.bank, w.request.access))
    }

    /// Returns the max over `sub_ranks` of the time that `from` returns.
    fn latest(&self, sub_ranks: u64, from: impl Fn(&SubRank) -> u64) -> u64 {
        numbers(sub_ranks).map(|n| from(&self.ranks[n])).max().unwrap_or(0)
    }

    /// Returns whether the reply queue has room for the data of a request.
    fn has_credit(&self, w: &QueuedRequest) -> bool {
        self.may_return || w.request.access == Access::Write
    }
}
