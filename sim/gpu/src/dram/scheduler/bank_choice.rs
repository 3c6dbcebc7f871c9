//! Banks that choose their requests, as in GPGPU-Sim: each bank serves one request at a time. An idle bank chooses the oldest
//! request to its open row, else its oldest request. One bank chooses per cycle.
use super::super::queues::ChannelQueues;
use super::super::request::{Access, QueuedRequest};
use super::super::spec::ChannelSpec;
use super::super::sub_rank::SubRank;
use crate::config::DramScheduler;
use selvedge_state::State;

/// The requests that no bank has chosen, and the banks that serve a request.
#[derive(Debug, Default, State)]
pub struct BankChoice {
    /// Waiting requests that no bank has chosen.
    unchosen: usize,
    /// Writes among `unchosen`.
    unchosen_writes: usize,
    /// Banks that serve a request, one bit each.
    serving: u64,
    /// The bank that chooses first.
    turn: u32,
}

impl BankChoice {
    /// Returns whether the scheduler has space for a request. Requests that banks have chosen take no space.
    pub fn can_admit(&self, spec: &ChannelSpec, access: Option<Access>) -> bool {
        if spec.write_places == 0 {
            return self.unchosen < spec.capacity;
        }
        match access {
            Some(Access::Write) => self.unchosen_writes < spec.write_places,
            _ => self.unchosen - self.unchosen_writes < spec.capacity,
        }
    }

    /// Counts a request that waits for a bank from now on.
    pub fn admit(&mut self, access: Access) {
        self.unchosen += 1;
        self.unchosen_writes += usize::from(access == Access::Write);
    }

    /// Lets the bank of a served request choose the next one.
    #[inline]
    pub fn served(&mut self, bank: u32) {
        self.serving &= !(1 << bank);
    }

    /// Lets one idle bank choose a request, if a request waits for an idle bank. Returns whether it did.
    pub fn choose(&mut self, spec: &ChannelSpec, queues: &mut ChannelQueues, rank: &SubRank) -> bool {
        if self.unchosen == 0 {
            return false;
        }
        // If no request of the wanted direction can be chosen, one of the other direction must be: the wanted ones may wait for
        // it.
        let wanted = wanted(spec, queues);
        let choice = wanted
            .and_then(|access| self.find(spec, queues, rank, Some(access)))
            .or_else(|| self.find(spec, queues, rank, None));
        let Some(at) = choice else { return false };
        let w = queues.reads.get_mut(at);
        w.chosen = true;
        self.serving |= 1 << w.bank;
        self.turn = (w.bank + 1) % spec.bank_count;
        self.unchosen_writes -= usize::from(w.request.access == Access::Write);
        self.unchosen -= 1;
        true
    }

    /// Returns the request that an idle bank chooses, of the direction `only` or of any: the oldest one to its open row, else the
    /// oldest one. Banks choose round-robin. With FCFS, only the bank of the oldest request may choose.
    fn find(
        &self,
        spec: &ChannelSpec,
        queues: &ChannelQueues,
        rank: &SubRank,
        only: Option<Access>,
    ) -> Option<usize> {
        let waits = |w: &QueuedRequest| {
            !w.chosen && w.blockers == 0 && only.is_none_or(|access| access == w.request.access)
        };
        let waiting = || queues.reads.iter().enumerate().filter(|(_, w)| waits(w));
        if spec.scheduler == DramScheduler::Fcfs {
            return waiting().next().filter(|(_, w)| self.serving >> w.bank & 1 == 0).map(|(at, _)| at);
        }
        let asking = waiting().fold(0u64, |banks, (_, w)| banks | 1 << w.bank) & !self.serving;
        let from = asking & (u64::MAX << self.turn);
        let bank = if from != 0 { from } else { asking }.trailing_zeros();
        if bank >= spec.bank_count {
            return None;
        }
        let open = rank.row(bank);
        // `min_by_key` returns the first of equal requests, which is the oldest.
        waiting().filter(|(_, w)| w.bank == bank).min_by_key(|(_, w)| w.row != open).map(|(at, _)| at)
    }
}

/// Returns the direction that banks choose first: reads until `write_high` writes wait, then writes until at most `write_low`
/// remain. Returns `None` without watermarks.
fn wanted(spec: &ChannelSpec, queues: &mut ChannelQueues) -> Option<Access> {
    if spec.write_high == 0 {
        return None;
    }
    let is_write = |w: &&QueuedRequest| !w.chosen && w.request.access == Access::Write;
    let writes = queues.reads.iter().filter(is_write).count();
    queues.follow_watermarks(spec, writes);
    // A read that waits for an older request to its line pulls the writes forward, because the older request may be a write.
    Some(if queues.draining || queues.blocked_reads > 0 { Access::Write } else { Access::Read })
}
