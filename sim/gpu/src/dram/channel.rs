//! The memory controller of one channel with its banks. The scheduler is first-ready, first-come first-served (FR-FCFS) or plain
//! FCFS. Rows stay open. Writes drain in batches, or share one queue with the reads.
//!
//! The scheduler issues at most one command per cycle. It considers the waiting requests of the current direction, oldest first.
//! It reads or writes the first one whose row is open and whose timing permits it. Otherwise it precharges or activates the first
//! bank that needs another row. It does not close a row while a waiting request still hits that row. A request that has waited
//! for `starvation_cycles` is served alone. Requests to one line stay in order. Between decisions the scheduler sleeps until the
//! earliest cycle at which a command may become possible.
//!
//! If the reply queue has its own slots (`return_queue`), each bank serves one request at a time, as in GPGPU-Sim. An idle bank
//! chooses the oldest request to its open row, else its oldest request. One bank chooses per cycle. Later requests to the open
//! row wait until the bank chooses again.
//!
//! With bank groups, the bursts of a request are separate commands. Bursts of other groups can come between them.
//!
//! A request goes to the sub-ranks of its bursts, with common commands where possible. All sub-ranks that need the row open it
//! together, and all of them read or write together. A due refresh precedes all requests: all open rows are closed, then all
//! banks are refreshed. After an idle period the channel performs the missed refreshes with their original cycles.
mod refresh;

use super::address::BankMap;
use super::checker::{Checker, Command, CommandKind, Violation};
use super::counters::DramCounters;
use super::queue::{Choice, MOST_PLACES, Queue};
use super::request::{Access, Bursts, Request, Waiting, numbers};
use super::sub_rank::{CLOSED, SubRank};
use super::timing::Timing;
use crate::config::{Dram, DramScheduler, MOST_BANKS};
use selvedge_state::State;
use std::collections::VecDeque;

/// Time of an event that only another event can schedule.
const NEVER: u64 = u64::MAX;

/// Decision of the scheduler. A command names the position of its request in the queue and the mask of its sub-ranks.
#[derive(Clone, Copy)]
enum Decision {
    Column(usize),
    Activate(usize, u64),
    Precharge(usize, u64),
    /// Closes all rows, because a refresh is due.
    PrechargeAll,
    Refresh,
    /// No command is possible before this cycle.
    Sleep(u64),
}

/// The memory controller of one channel, with its banks and data bus.
#[derive(State)]
pub struct Channel {
    #[state(skip = "the configuration")]
    scheduler: DramScheduler,
    capacity: usize,
    starvation: u64,
    /// Max requests in the channel, including replies, if banks choose their requests; else 0.
    most_in_flight: usize,
    /// Waiting requests that no bank has chosen.
    unchosen: usize,
    /// Writes among `unchosen`, and the slots of the write queue. With 0 slots, writes share the slots of the reads.
    unchosen_writes: usize,
    write_places: usize,
    serving: u64,
    bank_turn: u32,
    most_returns: usize,
    write_high: usize,
    write_low: usize,
    /// `true` if reads and writes share the queue `reads`: without a high watermark, or if banks choose their requests.
    one_queue: bool,
    /// Group of each bank; empty without bank groups.
    groups: Vec<u32>,
    line_shift: u32,
    timing: Timing,
    map: BankMap,
    ranks: Vec<SubRank>,
    bank_count: u32,
    burst_shift: u32,
    /// Requests in the delay line in order, each with the cycle at which the scheduler sees it.
    incoming: VecDeque<(u64, Request)>,
    reads: Queue,
    writes: Queue,
    incoming_reads: usize,
    /// Served reads, each with the cycle at which its data arrives; sorted by this cycle.
    returns: VecDeque<(u64, Request)>,
    draining: bool,
    blocked_reads: usize,
    now: u64,
    sleep_until: u64,
    /// Cycle at which the next refresh is due, and cycles between refreshes.
    refresh_at: u64,
    refresh_interval: u64,
    last_command: u64,
    /// Bus cycles in use, summed over the sub-ranks.
    bus_parts: u64,
    counters: DramCounters,
    checker: Option<Box<Checker>>,
}

impl Channel {
    /// Creates an idle channel with closed banks. Requests to the same line of `line_bytes` bytes stay in order.
    pub fn new(config: &Dram, line_bytes: u32) -> Self {
        let refresh_interval = if config.trefi == 0 { NEVER } else { u64::from(config.trefi) };
        let capacity = config.queue as usize;
        // The bit sets support only FR-FCFS for the whole channel, one sub-rank and at most `MOST_PLACES` requests.
        let has_places = config.sub_ranks == 1
            && config.return_queue == 0
            && config.scheduler != DramScheduler::Fcfs
            && capacity <= MOST_PLACES;
        let queue = || {
            let queue = Queue::new(capacity);
            if has_places { queue.with_places(config.banks) } else { queue }
        };
        Self {
            scheduler: config.scheduler,
            capacity,
            starvation: u64::from(config.starvation_cycles),
            most_in_flight: if config.return_queue > 0 { capacity + config.return_queue as usize } else { 0 },
            unchosen: 0,
            unchosen_writes: 0,
            write_places: config.write_queue as usize,
            serving: 0,
            bank_turn: 0,
            most_returns: if config.return_queue > 0 { config.return_queue as usize } else { capacity },
            write_high: config.write_high as usize,
            write_low: config.write_low as usize,
            one_queue: config.write_high == 0 || config.return_queue > 0,
            groups: if config.bank_groups > 1 {
                (0..config.banks).map(|bank| config.bank_group(bank)).collect()
            } else {
                Vec::new()
            },
            line_shift: line_bytes.trailing_zeros(),
            timing: Timing::new(config),
            map: BankMap::new(config),
            ranks: vec![SubRank::new(config.banks); config.sub_ranks as usize],
            bank_count: config.banks,
            burst_shift: config.burst_bytes.trailing_zeros(),
            incoming: VecDeque::with_capacity(2 * capacity),
            reads: queue(),
            writes: queue(),
            incoming_reads: 0,
            returns: VecDeque::with_capacity(capacity),
            draining: false,
            blocked_reads: 0,
            now: 0,
            sleep_until: 0,
            refresh_at: refresh_interval,
            refresh_interval,
            last_command: 0,
            bus_parts: 0,
            counters: DramCounters::default(),
            checker: None,
        }
    }

    /// Replaces the empty queues by queues without bit sets, so that the scheduler scans all requests.
    #[cfg(test)]
    pub(super) fn forget_places(&mut self) {
        (self.reads, self.writes) = (Queue::new(self.capacity), Queue::new(self.capacity));
    }

    /// Attaches a checker, which checks every command from now on. The channel must not have been used yet.
    pub fn attach(&mut self, checker: impl Into<Option<Checker>>) {
        self.checker = checker.into().map(Box::new);
    }

    /// Returns the violations that the attached checker found; empty without a checker.
    pub fn violations(&self) -> &[Violation] {
        self.checker.as_ref().map_or(&[], |c| c.violations())
    }

    /// Returns the attached checker.
    pub fn checker(&self) -> Option<&Checker> {
        self.checker.as_deref()
    }

    /// Returns the number of commands that the attached checker has checked.
    pub fn checked(&self) -> u64 {
        self.checker.as_ref().map_or(0, |c| c.checked())
    }

    /// Returns the timing of the channel.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Returns whether the controller has space for one more request of this direction.
    pub fn can_push(&self, access: Access) -> bool {
        if self.most_in_flight > 0 {
            let waiting = self.incoming.len() + self.reads.len() + self.writes.len();
            return waiting + self.returns.len() < self.most_in_flight;
        }
        let incoming_writes = self.incoming.len() - self.incoming_reads;
        match access {
            _ if self.one_queue => self.reads.len() + self.incoming.len() < self.capacity,
            Access::Read => self.reads.len() + self.incoming_reads < self.capacity,
            Access::Write => self.writes.len() + incoming_writes < self.capacity,
        }
    }

    /// Returns whether banks choose the requests that they serve.
    fn banks_choose(&self) -> bool {
        self.most_in_flight > 0
    }

    /// Returns whether the scheduler has space for the oldest request of the delay line. Requests that banks have chosen take no
    /// space.
    fn can_admit(&self) -> bool {
        if !self.banks_choose() {
            return true;
        }
        if self.write_places == 0 {
            return self.unchosen < self.capacity;
        }
        match self.incoming.front().map(|(_, request)| request.access) {
            Some(Access::Write) => self.unchosen_writes < self.write_places,
            _ => self.unchosen - self.unchosen_writes < self.capacity,
        }
    }

    /// Lets one idle bank choose a request, if a request waits for an idle bank.
    fn choose_for_a_bank(&mut self) {
        if self.unchosen == 0 {
            return;
        }
        // If no request of the wanted direction can be chosen, one of the other direction must be: the wanted ones may wait for
        // it.
        let wanted = self.wanted_by_banks();
        let choice =
            wanted.and_then(|access| self.bank_choice(Some(access))).or_else(|| self.bank_choice(None));
        if let Some(at) = choice {
            let w = self.reads.get_mut(at);
            w.chosen = true;
            self.serving |= 1 << w.bank;
            self.bank_turn = (w.bank + 1) % self.bank_count;
            self.unchosen_writes -= usize::from(w.request.access == Access::Write);
            self.unchosen -= 1;
            self.sleep_until = 0;
        }
    }

    /// Returns the direction that banks choose first: reads until `write_high` writes wait, then writes until at most `write_low`
    /// remain. Returns `None` without watermarks.
    fn wanted_by_banks(&mut self) -> Option<Access> {
        if self.write_high == 0 {
            return None;
        }
        let is_write = |w: &&Waiting| !w.chosen && w.request.access == Access::Write;
        let writes = self.reads.iter().filter(is_write).count();
        if writes >= self.write_high {
            self.draining = true;
        } else if writes <= self.write_low {
            self.draining = false;
        }
        // A read that waits for an older request to its line pulls the writes forward, because the older request may be a write.
        Some(if self.draining || self.blocked_reads > 0 { Access::Write } else { Access::Read })
    }

    /// Returns the request that an idle bank chooses, of the direction `only` or of any: the oldest one to its open row, else the
    /// oldest one. Banks choose round-robin. With FCFS, only the bank of the oldest request may choose.
    fn bank_choice(&self, only: Option<Access>) -> Option<usize> {
        let waits = |w: &Waiting| {
            !w.chosen && w.blockers == 0 && only.is_none_or(|access| access == w.request.access)
        };
        let waiting = || self.reads.iter().enumerate().filter(|(_, w)| waits(w));
        if self.scheduler == DramScheduler::Fcfs {
            return waiting().next().filter(|(_, w)| self.serving >> w.bank & 1 == 0).map(|(at, _)| at);
        }
        let asking = waiting().fold(0u64, |banks, (_, w)| banks | 1 << w.bank) & !self.serving;
        let from = asking & (u64::MAX << self.bank_turn);
        let bank = if from != 0 { from } else { asking }.trailing_zeros();
        if bank >= self.bank_count {
            return None;
        }
        let open = self.ranks[0].row(bank);
        // `min_by_key` returns the first of equal requests, which is the oldest.
        waiting().filter(|(_, w)| w.bank == bank).min_by_key(|(_, w)| w.row != open).map(|(at, _)| at)
    }

    /// Adds a request in cycle `now`. [`Self::can_push`] must hold.
    pub fn push(&mut self, now: u64, request: Request) {
        debug_assert!(self.can_push(request.access));
        debug_assert!(request.bursts.count() > 0);
        self.incoming.push_back((now + self.timing.latency_in(), request));
        self.incoming_reads += usize::from(request.access == Access::Read);
    }

    /// Returns whether the oldest reply has arrived by cycle `now`.
    pub fn has_return(&self, now: u64) -> bool {
        self.returns.front().is_some_and(|(ready, _)| *ready <= now)
    }

    /// Returns the reply that [`Self::pop`] would remove.
    pub fn peek(&self, now: u64) -> Option<&Request> {
        self.returns.front().filter(|(ready, _)| *ready <= now).map(|(_, request)| request)
    }

    /// Removes and returns the oldest reply whose data has arrived by cycle `now`.
    pub fn pop(&mut self, now: u64) -> Option<Request> {
        if !self.has_return(now) {
            return None;
        }
        self.sleep_until = 0; // a free reply slot may permit the next read
        self.returns.pop_front().map(|(_, request)| request)
    }

    /// Returns whether any request waits for service.
    pub fn busy(&self) -> bool {
        !(self.incoming.is_empty() && self.reads.is_empty() && self.writes.is_empty())
    }

    /// Returns whether the channel holds replies, arrived or in flight.
    pub fn returning(&self) -> bool {
        !self.returns.is_empty()
    }

    /// Returns whether a refresh is due, which the next [`Self::tick`] would start.
    pub fn refresh_due(&self, now: u64) -> bool {
        self.refresh_at <= now
    }

    /// Returns the sub-rank, bank and number of each open row.
    pub fn open_rows(&self) -> impl Iterator<Item = (u8, u8, u64)> {
        (0..).zip(&self.ranks).flat_map(|(sub_rank, rank)| {
            let banks = (0..self.bank_count).map(move |bank| (sub_rank, bank as u8, rank.row(bank)));
            banks.filter(|(_, _, row)| *row != CLOSED)
        })
    }

    /// Returns the number of bursts that were read or written.
    pub fn bursts(&self) -> u64 {
        self.counters.bursts
    }

    /// Returns the counters from the start to the last tick.
    pub fn counters(&self) -> DramCounters {
        self.counters_at(self.now)
    }

    /// Returns the counters from the start to cycle `now`, which must not precede the last tick.
    pub fn counters_at(&self, now: u64) -> DramCounters {
        let mut counters = self.counters;
        counters.cycles = now;
        counters.busy_cycles = self.bus_parts / self.ranks.len() as u64;
        for rank in &self.ranks {
            let (active, precharged) = rank.standby_cycles(now);
            counters.active_cycles += active;
            counters.precharged_cycles += precharged;
        }
        counters
    }

    /// Runs one command-clock cycle. `now` never decreases; it may jump while the channel is not [`Self::busy`].
    #[inline(always)]
    pub fn tick(&mut self, now: u64) {
        if self.rests_in(now) {
            self.now = now;
        } else {
            self.run(now);
        }
    }

    /// Returns whether the channel has no work in cycle `now`.
    #[inline(always)]
    fn rests_in(&self, now: u64) -> bool {
        now < self.sleep_until
            && now < self.refresh_at
            && !self.banks_choose()
            && self.incoming.front().is_none_or(|(seen, _)| *seen > now)
    }

    /// Runs a command-clock cycle that may have work.
    #[inline(never)]
    fn run(&mut self, now: u64) {
        self.catch_up(now);
        self.now = now;
        while self.incoming.front().is_some_and(|(seen, _)| *seen <= now) && self.can_admit() {
            self.admit();
        }
        if self.banks_choose() {
            self.choose_for_a_bank();
        }
        if now < self.sleep_until {
            return;
        }
        let decision = self.decide();
        self.apply(decision);
    }

    /// Moves the oldest request of the delay line to its queue.
    fn admit(&mut self) {
        let Some((_, request)) = self.incoming.pop_front() else { return };
        let line = request.address >> self.line_shift;
        let older = (self.reads.count_of(line) + self.writes.count_of(line)) as u32;
        let at = self.map.locate(request.address);
        let count = self.ranks.len() as u32;
        let waiting = Waiting {
            request,
            row: at.row,
            bank: at.bank,
            sub_ranks: request.bursts.numbers().fold(0, |bits, n| bits | 1 << self.sub_rank(&request, n)),
            place: at.bank * count,
            left: request.bursts,
            chosen: !self.banks_choose(),
            arrived: self.now,
            line,
            blockers: older,
            opened: false,
            starved: false,
        };
        if request.access == Access::Read {
            self.incoming_reads -= 1;
            self.blocked_reads += usize::from(older > 0);
        }
        let is_open = self.ranks[0].row(at.bank) == at.row;
        self.list_mut(request.access).push(waiting, is_open);
        if self.banks_choose() {
            self.unchosen += 1;
            self.unchosen_writes += usize::from(request.access == Access::Write);
        }
        self.sleep_until = 0;
    }

    /// Returns the sub-rank of burst `n` of a request.
    fn sub_rank(&self, request: &Request, n: u32) -> u32 {
        ((request.address >> self.burst_shift) as u32).wrapping_add(n) & (self.ranks.len() as u32 - 1)
    }

    /// Returns the number of bursts of a request that lie in sub-rank `number`.
    fn share(&self, request: &Request, number: usize) -> u64 {
        request.bursts.numbers().filter(|n| self.sub_rank(request, *n) as usize == number).count() as u64
    }

    /// Chooses the direction to serve, and a command of that direction.
    fn decide(&mut self) -> (Access, Decision) {
        if self.refresh_due(self.now) {
            let (decision, from) = self.refresh_step();
            return (Access::Read, if from <= self.now { decision } else { Decision::Sleep(from) });
        }
        if let Some((access, at)) = self.starving() {
            let first = !std::mem::replace(&mut self.list_mut(access).get_mut(at).starved, true);
            self.counters.starved += u64::from(first);
            return (access, self.choose(access, Some(at)));
        }
        let access = self.direction();
        match self.choose(access, None) {
            Decision::Sleep(until) => (access, Decision::Sleep(until.min(self.starvation_time()))),
            decision => (access, decision),
        }
    }

    /// Returns the queue of a direction.
    fn list(&self, access: Access) -> &Queue {
        match access {
            Access::Write if !self.one_queue => &self.writes,
            _ => &self.reads,
        }
    }

    fn list_mut(&mut self, access: Access) -> &mut Queue {
        match access {
            Access::Write if !self.one_queue => &mut self.writes,
            _ => &mut self.reads,
        }
    }

    /// Returns the oldest request without blockers, over both directions. The oldest request of all has no blockers.
    fn oldest(&self) -> Option<(Access, usize)> {
        let first = |list: &[Waiting]| list.iter().position(|w| w.blockers == 0);
        let (read, write) = (first(&self.reads), first(&self.writes));
        match (read, write) {
            (Some(r), Some(w)) if self.writes[w].arrived < self.reads[r].arrived => Some((Access::Write, w)),
            (Some(r), _) => Some((Access::Read, r)),
            (None, Some(w)) => Some((Access::Write, w)),
            (None, None) => None,
        }
    }

    /// Returns the cycle from which the oldest request starves.
    fn starvation_time(&self) -> u64 {
        let arrived = |list: &[Waiting]| list.first().map_or(NEVER, |w| w.arrived);
        arrived(&self.reads).min(arrived(&self.writes)).saturating_add(self.starvation)
    }

    /// Returns the request that has waited for the starvation limit, if any.
    fn starving(&self) -> Option<(Access, usize)> {
        if self.now < self.starvation_time() {
            return None;
        }
        let starves = |w: &Waiting| w.chosen && w.arrived + self.starvation <= self.now;
        self.oldest().filter(|(access, at)| starves(&self.list(*access)[*at]))
    }

    /// Returns the direction to serve: reads until `write_high` writes wait, then writes until at most `write_low` remain. Writes
    /// may also go if no read waits. A read that waits for an older request to its line pulls the writes forward.
    fn direction(&mut self) -> Access {
        if self.one_queue {
            return Access::Read;
        }
        if self.scheduler == DramScheduler::Fcfs {
            return self.oldest().map_or(Access::Read, |(access, _)| access);
        }
        if self.writes.len() >= self.write_high {
            self.draining = true;
        } else if self.writes.len() <= self.write_low {
            self.draining = false;
        }
        let wanted = self.draining || self.reads.is_empty() || self.blocked_reads > 0;
        if wanted && self.writes.has_free() { Access::Write } else { Access::Read }
    }

    /// Returns the sub-ranks of a request in which its row is not open.
    fn missing(&self, w: &Waiting) -> u64 {
        let other = |n: &usize| self.ranks[*n].row(w.bank) != w.row;
        numbers(w.sub_ranks).filter(other).fold(0, |bits, n| bits | 1 << n)
    }

    /// Returns the first cycle at which a request with open rows can be read or written.
    fn column_from(&self, w: &Waiting) -> u64 {
        self.latest(w.sub_ranks, |rank| rank.column_from(w.bank, w.request.access))
    }

    /// Returns the max over `sub_ranks` of the time that `from` returns.
    fn latest(&self, sub_ranks: u64, from: impl Fn(&SubRank) -> u64) -> u64 {
        numbers(sub_ranks).map(|n| from(&self.ranks[n])).max().unwrap_or(0)
    }

    /// Chooses a command for the requests of one queue, or for request `only`.
    fn choose(&self, access: Access, only: Option<usize>) -> Decision {
        match &self.ranks[..] {
            [rank] if only.is_none() && self.list(access).has_places() => self.choose_by_places(rank, access),
            [rank] => self.choose_in(rank, access, only),
            _ => self.choose_among_ranks(access, only),
        }
    }

    /// Chooses as [`Self::choose_in`] does for all requests of a queue, with the bit sets of the queue.
    fn choose_by_places(&self, rank: &SubRank, access: Access) -> Decision {
        let may_return = self.returns.len() < self.most_returns;
        match self.list(access).choose(rank, self.now, may_return) {
            Choice::Column(at) => Decision::Column(at),
            Choice::Activate(at) => Decision::Activate(at, 1),
            Choice::Precharge(at) => Decision::Precharge(at, 1),
            Choice::NotBefore(cycle) => Decision::Sleep(cycle),
        }
    }

    /// Chooses as [`Self::choose_among_ranks`] does for a channel with one sub-rank, in which a request needs one bank.
    fn choose_in(&self, rank: &SubRank, access: Access, only: Option<usize>) -> Decision {
        let is_fcfs = self.scheduler == DramScheduler::Fcfs && !self.banks_choose();
        let strict = only.is_some() || is_fcfs;
        let may_return = self.returns.len() < self.most_returns;
        // Banks whose open row still has requests, and banks for which an older request needs another row.
        let (mut used, mut claimed) = (0u64, 0u64);
        let mut rows = [0u16; MOST_BANKS as usize];
        let mut row_count = 0;
        let mut wake = NEVER;
        for (at, w) in self.list(access).iter().enumerate().skip(only.unwrap_or(0)) {
            if w.blockers > 0 || !w.chosen {
                continue;
            }
            let bit = 1 << w.bank;
            if rank.row(w.bank) == w.row {
                used |= bit;
                if may_return || w.request.access == Access::Write {
                    let from = rank.column_from(w.bank, w.request.access);
                    if from <= self.now {
                        return Decision::Column(at);
                    }
                    wake = wake.min(from);
                }
            } else if claimed & bit == 0 {
                claimed |= bit;
                rows[row_count] = at as u16;
                row_count += 1;
            }
            if strict {
                break;
            }
        }
        for at in rows[..row_count].iter().map(|at| usize::from(*at)) {
            let bank = self.list(access)[at].bank;
            let (decision, from) = if rank.row(bank) == CLOSED {
                (Decision::Activate(at, 1), rank.activate_from(bank))
            } else if used >> bank & 1 == 0 {
                (Decision::Precharge(at, 1), rank.precharge_from(bank))
            } else {
                continue;
            };
            if from <= self.now {
                return decision;
            }
            wake = wake.min(from);
        }
        Decision::Sleep(wake)
    }

    /// Chooses as [`Self::choose`] does for a channel with several sub-ranks. A request may need a bank in each of them.
    fn choose_among_ranks(&self, access: Access, only: Option<usize>) -> Decision {
        let list = self.list(access);
        let is_fcfs = self.scheduler == DramScheduler::Fcfs && !self.banks_choose();
        let strict = only.is_some() || is_fcfs;
        let first = only.unwrap_or(0);
        let may_return = self.returns.len() < self.most_returns;
        // One bit per bank of each sub-rank: banks whose open row still has requests, and banks for which an older request needs
        // another row.
        let (mut used, mut claimed) = (0u64, 0u64);
        let mut rows = [0u16; MOST_BANKS as usize]; // each candidate claims at least one bank of a sub-rank
        let mut row_count = 0;
        let mut wake = NEVER;
        for (at, w) in list.iter().enumerate().skip(first) {
            if w.blockers > 0 || !w.chosen {
                continue;
            }
            let missing = self.missing(w);
            if missing == 0 {
                used |= w.bits(w.sub_ranks);
                let credit = may_return || w.request.access == Access::Write;
                let from = self.column_from(w);
                if credit && from <= self.now {
                    return Decision::Column(at);
                }
                wake = if credit { wake.min(from) } else { wake };
            } else if w.bits(missing) & !claimed != 0 {
                claimed |= w.bits(w.sub_ranks);
                rows[row_count] = at as u16;
                row_count += 1;
            }
            if strict {
                break;
            }
        }
        claimed = 0;
        for at in rows[..row_count].iter().map(|at| *at as usize) {
            let w = &list[at];
            let fresh = self.missing(w) & !(claimed >> w.place);
            claimed |= w.bits(w.sub_ranks);
            let wrong = numbers(fresh).filter(|n| self.ranks[*n].row(w.bank) != CLOSED);
            let wrong = wrong.fold(0, |bits, n| bits | 1 << n);
            let (decision, from) = if wrong == 0 {
                (Decision::Activate(at, fresh), self.latest(fresh, |rank| rank.activate_from(w.bank)))
            } else if used & w.bits(wrong) == 0 {
                (Decision::Precharge(at, wrong), self.latest(wrong, |rank| rank.precharge_from(w.bank)))
            } else {
                continue;
            };
            if from <= self.now {
                return decision;
            }
            wake = wake.min(from);
        }
        Decision::Sleep(wake)
    }

    /// Issues the command of a decision for the given direction, or goes to sleep.
    fn apply(&mut self, (access, decision): (Access, Decision)) {
        match decision {
            Decision::Sleep(until) => {
                // Sleeps at most until the next refresh that is not due yet.
                let due = if self.refresh_due(self.now) { NEVER } else { self.refresh_at };
                self.sleep_until = until.min(due);
                return;
            }
            Decision::Activate(at, sub_ranks) => self.activate(access, at, sub_ranks),
            Decision::Precharge(at, sub_ranks) => self.precharge(access, at, sub_ranks),
            Decision::Column(at) => self.column(access, at),
            Decision::PrechargeAll => self.precharge_all(),
            Decision::Refresh => self.refresh(),
        }
        self.last_command = self.now;
    }

    fn observe(&mut self, kind: CommandKind, sub_ranks: u64, bank: u32, row: u64) {
        if let Some(checker) = &mut self.checker {
            checker.observe(Command {
                cycle: self.now,
                kind,
                sub_ranks,
                bank,
                row,
                column: 0,
                bursts: Bursts::default(),
            });
        }
    }

    fn activate(&mut self, access: Access, at: usize, sub_ranks: u64) {
        let waiting = self.list_mut(access).get_mut(at);
        waiting.opened = true;
        let (bank, row) = (waiting.bank, waiting.row);
        self.reads.opened(bank, row);
        self.writes.opened(bank, row);
        for number in numbers(sub_ranks) {
            self.ranks[number].activate(self.now, &self.timing, bank, row);
        }
        self.counters.activates += 1;
        self.counters.sub_rank_activates += u64::from(sub_ranks.count_ones());
        self.observe(CommandKind::Activate, sub_ranks, bank, row);
    }

    fn precharge(&mut self, access: Access, at: usize, sub_ranks: u64) {
        let bank = self.list(access)[at].bank;
        self.reads.closed(bank);
        self.writes.closed(bank);
        let mut row = CLOSED;
        for number in numbers(sub_ranks) {
            row = self.ranks[number].precharge(self.now, &self.timing, bank);
        }
        self.counters.precharges += 1;
        self.observe(CommandKind::Precharge, sub_ranks, bank, row);
    }

    /// Reads or writes the first remaining burst of a request. After its last burst the request leaves the queue.
    fn one_burst(&mut self, list: Access, at: usize) {
        let now = self.now;
        let w = self.list_mut(list).get_mut(at);
        let (access, bank, row) = (w.request.access, w.bank, w.row);
        let (first, left) = w.left.split_first();
        let address = w.request.address + (u64::from(first) << self.burst_shift);
        let w = self.list_mut(list).get_mut(at);
        w.left = left;
        let whole = (left.count() == 0).then_some(*w);
        if whole.is_some() {
            self.list_mut(list).remove(at);
        }
        let (t, groups) = (self.timing, &self.groups);
        let group = groups[bank as usize];
        self.ranks[0].column(now, &t, bank, access, 1);
        self.ranks[0].hold_group(now, &t, |other| groups[other as usize] == group);
        let kind = self.count_bursts(access, 1);
        if let Some(checker) = &mut self.checker {
            let column = self.map.locate(address).column;
            checker.observe(Command {
                cycle: now,
                kind,
                sub_ranks: 1,
                bank,
                row,
                column,
                bursts: Bursts::run(1),
            });
        }
        if let Some(w) = whole {
            self.served(&w, now + t.read_to_data_end(1) + t.latency_out());
        }
    }

    /// Counts bursts and returns the command that transfers them.
    fn count_bursts(&mut self, access: Access, bursts: u64) -> CommandKind {
        self.counters.bursts += bursts;
        self.bus_parts += bursts * self.timing.burst;
        match access {
            Access::Read => {
                self.counters.read_bursts += bursts;
                CommandKind::Read
            }
            Access::Write => {
                self.counters.write_bursts += bursts;
                CommandKind::Write
            }
        }
    }

    /// Completes a request that has left the queue. The reply of a read arrives in cycle `arrival`.
    fn served(&mut self, w: &Waiting, arrival: u64) {
        match w.request.access {
            Access::Read => {
                self.return_at(arrival, w.request);
                self.counters.reads += 1;
                self.counters.metadata_reads += u64::from(w.request.metadata);
            }
            Access::Write => {
                self.counters.writes += 1;
                self.counters.metadata_writes += u64::from(w.request.metadata);
            }
        }
        self.serving &= !(1 << w.bank);
        self.counters.row_hits += u64::from(!w.opened);
        self.unblock(w.line);
    }

    /// Reads or writes all bursts of a request and removes it from the queue. With bank groups, only one burst.
    fn column(&mut self, list: Access, at: usize) {
        if !self.groups.is_empty() {
            return self.one_burst(list, at);
        }
        let (now, t) = (self.now, self.timing);
        let w = self.list_mut(list).remove(at);
        let access = w.request.access;
        let mut longest = 0;
        for number in numbers(w.sub_ranks) {
            let n = self.share(&w.request, number);
            self.ranks[number].column(now, &t, w.bank, access, n);
            longest = longest.max(n);
        }
        let kind = self.count_bursts(access, u64::from(w.request.bursts.count()));
        if let Some(checker) = &mut self.checker {
            let column = self.map.locate(w.request.address).column;
            let (sub_ranks, bank, row) = (w.sub_ranks, w.bank, w.row);
            checker.observe(Command {
                cycle: now,
                kind,
                sub_ranks,
                bank,
                row,
                column,
                bursts: w.request.bursts,
            });
        }
        self.served(&w, now + t.read_to_data_end(longest) + t.latency_out());
    }

    /// Queues a reply that arrives in cycle `arrival`. Replies of other sub-ranks may overtake it.
    fn return_at(&mut self, arrival: u64, request: Request) {
        let later = self.returns.iter().rev().take_while(|(other, _)| *other > arrival).count();
        self.returns.insert(self.returns.len() - later, (arrival, request));
    }

    /// Removes one blocker from each waiting request to `line`, after a request to the line was served.
    fn unblock(&mut self, line: u64) {
        self.blocked_reads -= self.reads.unblock(line);
        self.writes.unblock(line);
    }

    /// Appends one line of text per waiting request, for deadlock reports.
    pub fn describe_waiting(&self, name: &str, out: &mut Vec<String>) {
        let line = |queue: &str, r: &Request| {
            let what = if r.metadata { "metadata" } else { "data" };
            format!("{name}: {queue}: {:?} of {what} at channel address {:#x}", r.access, r.address)
        };
        out.extend(self.incoming.iter().map(|(_, r)| line("incoming", r)));
        for (queue, list) in [("read queue", &self.reads), ("write queue", &self.writes)] {
            let text = |w: &Waiting| {
                format!("{}, bank {}, since cycle {}", line(queue, &w.request), w.bank, w.arrived)
            };
            out.extend(list.iter().map(text));
        }
        out.extend(self.returns.iter().map(|(_, r)| line("return queue", r)));
    }
}
