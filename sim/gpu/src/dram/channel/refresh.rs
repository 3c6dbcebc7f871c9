//! Refreshes of a channel. Every tREFI cycles all rows are closed and all banks are refreshed, which takes tRFC cycles.
//!
//! A due refresh precedes all requests.
use super::Channel;
use crate::dram::checker::CommandKind;
use crate::dram::request::Access;
use crate::dram::scheduler::Decision;
use crate::dram::sub_rank::{CLOSED, SubRank};

impl Channel {
    /// Performs the refreshes that came due while the channel was idle, each in its own cycle before `now`.
    pub(super) fn catch_up(&mut self, now: u64) {
        while self.refresh_at < now {
            let (decision, from) = self.refresh_step();
            self.now = from.max(self.refresh_at).max(self.last_command + 1);
            if self.now >= now {
                return;
            }
            self.apply((Access::Read, decision));
        }
    }

    /// Returns the next command of a due refresh, and the first cycle at which it can be issued.
    pub(super) fn refresh_step(&self) -> (Decision, u64) {
        let latest = |from: fn(&SubRank) -> u64| self.ranks.iter().map(from).max().unwrap_or(0);
        if self.ranks.iter().any(SubRank::is_open) {
            (Decision::PrechargeAll, latest(SubRank::precharge_all_from))
        } else {
            (Decision::Refresh, latest(SubRank::refresh_from))
        }
    }

    fn all_sub_ranks(&self) -> u64 {
        (1 << self.ranks.len()) - 1
    }

    pub(super) fn precharge_all(&mut self) {
        for bank in 0..self.spec.bank_count {
            self.queues.closed(bank);
            let mut closed = 0;
            for rank in self.ranks.iter_mut().filter(|rank| rank.row(bank) != CLOSED) {
                rank.precharge(self.now, &self.spec.timing, bank);
                closed = 1;
            }
            self.counters.precharges += closed;
        }
        self.observe(CommandKind::PrechargeAll, self.all_sub_ranks(), 0, 0);
    }

    pub(super) fn refresh(&mut self) {
        for rank in &mut self.ranks {
            rank.refresh(self.now, &self.spec.timing);
        }
        self.refresh_at += self.spec.refresh_interval;
        self.counters.refreshes += 1;
        self.observe(CommandKind::Refresh, self.all_sub_ranks(), 0, 0);
    }
}
