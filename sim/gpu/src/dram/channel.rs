//! The memory controller of one channel with its banks: first-ready, first-come first-served (FR-FCFS) or plain
//! FCFS, open rows, writes drained in batches or in one queue with the reads.
//!
//! Each cycle the scheduler may give one command. It looks at the waiting requests of the current direction, oldest
//! first: the first whose row is open and whose timing allows is read or written; otherwise the first bank that
//! needs another row is precharged or activated, but a row is not closed while a waiting request still hits it.
//! A request older than `starvation_cycles` is served alone. Requests to one line keep their order. Between
//! decisions the scheduler sleeps until the earliest time at which a command may become possible.
//!
//! Where the queue of answers has places of its own, each bank serves one request at a time, which it chooses from the queue when it
//! has none: of the row that is open the oldest, else the oldest of all (GPGPU-Sim's banks). One bank chooses in a cycle. What comes
//! later for the open row waits until then.
//!
//! With bank groups the bursts of a request are read or written one by one, so that those of another group may come between.
//!
//! A request goes to the sub-ranks that its bursts lie in, by common commands where it can: all that have to open the
//! row open it together, and all read or write together. A refresh that is due goes before all requests: the open rows
//! are closed and all banks refreshed. While a channel is idle its refreshes are caught up with later, at their times.
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

/// "Not before anything changes."
const NEVER: u64 = u64::MAX;

/// What the scheduler decided: a command for the waiting request at this position, in these sub-ranks.
#[derive(Clone, Copy)]
enum Decision {
    Column(usize),
    Activate(usize, u64),
    Precharge(usize, u64),
    /// Closes all rows: a refresh is due.
    PrechargeAll,
    Refresh,
    /// Nothing is possible before this cycle.
    Sleep(u64),
}

/// One memory controller with its banks and bus.
#[derive(State)]
pub struct Channel {
    #[state(skip = "the configuration")]
    scheduler: DramScheduler,
    capacity: usize,
    starvation: u64,
    /// Requests in flight, where the delay line and the answers have places of their own and banks choose what they serve; else 0.
    most_in_flight: usize,
    /// Requests that no bank has chosen; banks that have chosen one, and the bank that looks for one first.
    unchosen: usize,
    /// The writes among them, and their own places, where there are any.
    unchosen_writes: usize,
    write_places: usize,
    serving: u64,
    bank_turn: u32,
    most_returns: usize,
    write_high: usize,
    write_low: usize,
    /// Do reads and writes wait in one list, which is `reads`? They do where banks choose, whatever the watermarks.
    one_queue: bool,
    /// The group of each bank; none where there are no groups.
    groups: Vec<u32>,
    line_shift: u32,
    timing: Timing,
    map: BankMap,
    ranks: Vec<SubRank>,
    bank_count: u32,
    burst_shift: u32,
    /// On their way to the scheduler, with the cycle at which it sees them; in order.
    incoming: VecDeque<(u64, Request)>,
    reads: Queue,
    writes: Queue,
    incoming_reads: usize,
    /// Reads served, with the cycle at which their data arrives; in that order.
    returns: VecDeque<(u64, Request)>,
    draining: bool,
    blocked_reads: usize,
    now: u64,
    sleep_until: u64,
    /// When the next refresh is due, and how far one is from the next.
    refresh_at: u64,
    refresh_interval: u64,
    last_command: u64,
    /// Cycles of sub-ranks' buses in use.
    bus_parts: u64,
    counters: DramCounters,
    checker: Option<Box<Checker>>,
}

impl Channel {
    /// An idle channel with closed banks. `line_bytes` is the size of the lines that keep their order.
    pub fn new(config: &Dram, line_bytes: u32) -> Self {
        let refresh_interval = if config.trefi == 0 { NEVER } else { u64::from(config.trefi) };
        let capacity = config.queue as usize;
        // Several sub-ranks, or banks that choose for themselves, ask for more than sets of places say.
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

    /// Has the scheduler walk over the queues, before anything waits in them.
    #[cfg(test)]
    pub(super) fn forget_places(&mut self) {
        (self.reads, self.writes) = (Queue::new(self.capacity), Queue::new(self.capacity));
    }

    /// Lets `checker` judge every command from now on; the channel must not have been used yet.
    pub fn attach(&mut self, checker: impl Into<Option<Checker>>) {
        self.checker = checker.into().map(Box::new);
    }

    /// What the attached checker found; empty without one.
    pub fn violations(&self) -> &[Violation] {
        self.checker.as_ref().map_or(&[], |c| c.violations())
    }

    /// The attached checker.
    pub fn checker(&self) -> Option<&Checker> {
        self.checker.as_deref()
    }

    /// Commands that the attached checker has judged.
    pub fn checked(&self) -> u64 {
        self.checker.as_ref().map_or(0, |c| c.checked())
    }

    /// The channel's timing.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Returns whether the controller has room for one more request of this direction.
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

    /// Returns whether the scheduler has room for an incoming request that has passed the delay line. What a bank serves has left the queue.
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

    /// One bank that serves nothing chooses a request, if there is one for it.
    fn choose_for_a_bank(&mut self) {
        if self.unchosen == 0 {
            return;
        }
        // Where none of the wanted direction can be chosen, one of the other must: it may be what they wait for.
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

    /// The direction that banks choose from first: reads, until enough writes wait; then writes, until few are left. Without
    /// watermarks there is none.
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
        // A read that waits for a write of its own line pulls the writes forward.
        Some(if self.draining || self.blocked_reads > 0 { Access::Write } else { Access::Read })
    }

    /// The request, of one direction or any, that a bank which serves nothing chooses: of the open row the oldest, else the oldest of
    /// all. The banks take turns; first come, first served, it is the oldest request's turn.
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
        // Of equals the first is the least, which is the oldest.
        waiting().filter(|(_, w)| w.bank == bank).min_by_key(|(_, w)| w.row != open).map(|(at, _)| at)
    }

    /// Gives the controller a request in cycle `now`. The caller has made sure that [`Self::can_push`].
    pub fn push(&mut self, now: u64, request: Request) {
        debug_assert!(self.can_push(request.access));
        debug_assert!(request.bursts.count() > 0);
        self.incoming.push_back((now + self.timing.latency_in(), request));
        self.incoming_reads += usize::from(request.access == Access::Read);
    }

    /// Has the oldest answer arrived by cycle `now`?
    pub fn has_return(&self, now: u64) -> bool {
        self.returns.front().is_some_and(|(ready, _)| *ready <= now)
    }

    /// The answer that [`Self::pop`] would take.
    pub fn peek(&self, now: u64) -> Option<&Request> {
        self.returns.front().filter(|(ready, _)| *ready <= now).map(|(_, request)| request)
    }

    /// The oldest answered read whose data has arrived by cycle `now`.
    pub fn pop(&mut self, now: u64) -> Option<Request> {
        if !self.has_return(now) {
            return None;
        }
        self.sleep_until = 0; // a place for one more answer may allow the next read
        self.returns.pop_front().map(|(_, request)| request)
    }

    /// Returns whether any request waits for service.
    pub fn busy(&self) -> bool {
        !(self.incoming.is_empty() && self.reads.is_empty() && self.writes.is_empty())
    }

    /// Returns whether replies wait, arrived or in flight.
    pub fn returning(&self) -> bool {
        !self.returns.is_empty()
    }

    /// Is a refresh due, which [`Self::tick`] would give?
    pub fn refresh_due(&self, now: u64) -> bool {
        self.refresh_at <= now
    }

    /// Returns the open rows with their sub-ranks and banks.
    pub fn open_rows(&self) -> impl Iterator<Item = (u8, u8, u64)> {
        (0..).zip(&self.ranks).flat_map(|(sub_rank, rank)| {
            let banks = (0..self.bank_count).map(move |bank| (sub_rank, bank as u8, rank.row(bank)));
            banks.filter(|(_, _, row)| *row != CLOSED)
        })
    }

    /// Returns the bursts that were read or written so far.
    pub fn bursts(&self) -> u64 {
        self.counters.bursts
    }

    /// Counters from the start to the last tick.
    pub fn counters(&self) -> DramCounters {
        self.counters_at(self.now)
    }

    /// Counters from the start to cycle `now`, which does not lie before the last tick.
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

    /// One command-clock cycle. `now` never goes back; it may jump while the channel is not [`Self::busy`].
    #[inline(always)]
    pub fn tick(&mut self, now: u64) {
        if self.rests_in(now) {
            self.now = now;
        } else {
            self.run(now);
        }
    }

    /// Returns whether nothing is to do in cycle `now`.
    #[inline(always)]
    fn rests_in(&self, now: u64) -> bool {
        now < self.sleep_until
            && now < self.refresh_at
            && !self.banks_choose()
            && self.incoming.front().is_none_or(|(seen, _)| *seen > now)
    }

    /// Runs a command-clock cycle in which there is something to do.
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

    /// Moves the oldest incoming request to its queue.
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

    /// The sub-rank of burst `n` of a request.
    fn sub_rank(&self, request: &Request, n: u32) -> u32 {
        ((request.address >> self.burst_shift) as u32).wrapping_add(n) & (self.ranks.len() as u32 - 1)
    }

    /// How many of a request's bursts lie in sub-rank `number`.
    fn share(&self, request: &Request, number: usize) -> u64 {
        request.bursts.numbers().filter(|n| self.sub_rank(request, *n) as usize == number).count() as u64
    }

    /// Chooses the direction to serve and a command in it.
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

    /// The requests that wait with those of a direction.
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

    /// The oldest request that may be served, over both directions. The oldest of all is never blocked.
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

    /// The cycle from which the oldest request starves.
    fn starvation_time(&self) -> u64 {
        let arrived = |list: &[Waiting]| list.first().map_or(NEVER, |w| w.arrived);
        arrived(&self.reads).min(arrived(&self.writes)).saturating_add(self.starvation)
    }

    /// The request that has waited too long, if any.
    fn starving(&self) -> Option<(Access, usize)> {
        if self.now < self.starvation_time() {
            return None;
        }
        let starves = |w: &Waiting| w.chosen && w.arrived + self.starvation <= self.now;
        self.oldest().filter(|(access, at)| starves(&self.list(*access)[*at]))
    }

    /// Reads go first, until enough writes wait; then writes, until few are left. Without reads, writes may go; a
    /// read that waits for a write of its own line pulls the writes forward.
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

    /// The sub-ranks among those that a request needs whose open row is another one, or none.
    fn missing(&self, w: &Waiting) -> u64 {
        let other = |n: &usize| self.ranks[*n].row(w.bank) != w.row;
        numbers(w.sub_ranks).filter(other).fold(0, |bits, n| bits | 1 << n)
    }

    /// The first cycle for a request's read or write of its rows, which are open.
    fn column_from(&self, w: &Waiting) -> u64 {
        self.latest(w.sub_ranks, |rank| rank.column_from(w.bank, w.request.access))
    }

    /// The latest of a time of each of `sub_ranks`.
    fn latest(&self, sub_ranks: u64, from: impl Fn(&SubRank) -> u64) -> u64 {
        numbers(sub_ranks).map(|n| from(&self.ranks[n])).max().unwrap_or(0)
    }

    /// A command for the requests of one list, or for `only` one of them.
    fn choose(&self, access: Access, only: Option<usize>) -> Decision {
        match &self.ranks[..] {
            [rank] if only.is_none() && self.list(access).has_places() => self.choose_by_places(rank, access),
            [rank] => self.choose_in(rank, access, only),
            _ => self.choose_among_ranks(access, only),
        }
    }

    /// As [`Self::choose_in`] for all requests of a list, by the sets that the list keeps.
    fn choose_by_places(&self, rank: &SubRank, access: Access) -> Decision {
        let may_return = self.returns.len() < self.most_returns;
        match self.list(access).choose(rank, self.now, may_return) {
            Choice::Column(at) => Decision::Column(at),
            Choice::Activate(at) => Decision::Activate(at, 1),
            Choice::Precharge(at) => Decision::Precharge(at, 1),
            Choice::NotBefore(cycle) => Decision::Sleep(cycle),
        }
    }

    /// As [`Self::choose_among_ranks`], for a channel with one sub-rank: a request needs one bank.
    fn choose_in(&self, rank: &SubRank, access: Access, only: Option<usize>) -> Decision {
        let is_fcfs = self.scheduler == DramScheduler::Fcfs && !self.banks_choose();
        let strict = only.is_some() || is_fcfs;
        let may_return = self.returns.len() < self.most_returns;
        // Banks whose open row is still used, and those that an older request wants to open another row in.
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

    /// As [`Self::choose`], for a channel with several sub-ranks: a request may need a bank in each of them.
    fn choose_among_ranks(&self, access: Access, only: Option<usize>) -> Decision {
        let list = self.list(access);
        let is_fcfs = self.scheduler == DramScheduler::Fcfs && !self.banks_choose();
        let strict = only.is_some() || is_fcfs;
        let first = only.unwrap_or(0);
        let may_return = self.returns.len() < self.most_returns;
        // A bit for each bank of each sub-rank: those with a row that is still used, and those that an older request
        // wants to open another row in.
        let (mut used, mut claimed) = (0u64, 0u64);
        let mut rows = [0u16; MOST_BANKS as usize]; // a candidate claims one bank of a sub-rank at least
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

    /// Carries a decision out for the requests of the direction it was made for.
    fn apply(&mut self, (access, decision): (Access, Decision)) {
        match decision {
            Decision::Sleep(until) => {
                // Up to a refresh that is not yet due.
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

    /// Reads or writes one of the request's bursts; with the last one it leaves the queue.
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

    /// Counts bursts and returns the command that moves them.
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

    /// A request has left the queue; if it is a read its answer arrives in cycle `arrival`.
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

    /// Reads or writes the request's bursts; it leaves the queue.
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

    /// The answer arrives in cycle `arrival`; those of other sub-ranks may overtake it.
    fn return_at(&mut self, arrival: u64, request: Request) {
        let later = self.returns.iter().rev().take_while(|(other, _)| *other > arrival).count();
        self.returns.insert(self.returns.len() - later, (arrival, request));
    }

    /// A request to `line` was served: the younger ones wait for one less.
    fn unblock(&mut self, line: u64) {
        self.blocked_reads -= self.reads.unblock(line);
        self.writes.unblock(line);
    }

    /// One line per waiting request: for deadlock reports.
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
