//! The memory controller of one channel with its banks: first-ready, first-come first-served (FR-FCFS) or plain
//! FCFS, open rows, writes drained in batches.
//!
//! Each cycle the scheduler may give one command. It looks at the waiting requests of the current direction, oldest
//! first: the first whose row is open and whose timing allows is read or written; otherwise the first bank that
//! needs another row is precharged or activated, but a row is not closed while a waiting request still hits it.
//! A request older than `starvation_cycles` is served alone. Requests to one line keep their order. Between
//! decisions the scheduler sleeps until the earliest time at which a command may become possible.
use super::address::BankMap;
use super::checker::{Checker, Command, CommandKind, Violation};
use super::timing::Timing;
use crate::config::{Dram, DramScheduler};
use crate::stats::counters;
use std::collections::VecDeque;

/// No row is open.
const CLOSED: u64 = u64::MAX;
/// "Not before anything changes."
const NEVER: u64 = u64::MAX;

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Answered by [`Channel::pop`] when its data has come.
    Read,
    /// Posted: nothing answers.
    Write,
}

/// A request to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read or write.
    pub access: Access,
    /// Byte address within the channel.
    pub address: u64,
    /// Bursts to move, 1 to line size / burst size.
    pub bursts: u32,
    /// Is it an access to compression metadata (CABA, section 5.3.2) and not to data?
    pub metadata: bool,
    /// Returned with the request: the asker's handle.
    pub token: u64,
}

counters! {
/// Counters of a channel.
pub struct DramCounters {
    /// Read requests served, metadata included.
    pub reads: u64,
    /// Write requests served, metadata included.
    pub writes: u64,
    /// Bursts moved by both.
    pub bursts: u64,
    /// Rows opened.
    pub activates: u64,
    /// Rows closed.
    pub precharges: u64,
    /// Requests for which no row had to be opened.
    pub row_hits: u64,
    /// Cycles in which the data bus carried data.
    pub busy_cycles: u64,
    /// Command-clock cycles that have passed.
    pub cycles: u64,
    /// Metadata reads among the reads.
    pub metadata_reads: u64,
    /// Metadata writes among the writes.
    pub metadata_writes: u64,
    /// Requests that waited longer than the starvation bound and were then served alone.
    pub starved: u64,
}
}

/// A request that waits in the controller.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: Request,
    row: u64,
    bank: u32,
    arrived: u64,
    /// The line, for ordering.
    line: u64,
    /// Older requests to the same line that are still waiting.
    blockers: u32,
    /// Was a row opened for it?
    opened: bool,
    starved: bool,
}

#[derive(Clone, Copy, Debug)]
struct Bank {
    row: u64,
    activate_from: u64,
    precharge_from: u64,
    column_from: u64,
}

/// What the scheduler decided: a command for the waiting request at this position.
#[derive(Clone, Copy)]
enum Decision {
    Column(usize),
    Activate(usize),
    Precharge(usize),
    /// Nothing is possible before this cycle.
    Sleep(u64),
}

/// One memory controller with its banks and bus.
pub struct Channel {
    scheduler: DramScheduler,
    capacity: usize,
    starvation: u64,
    write_high: usize,
    write_low: usize,
    line_shift: u32,
    timing: Timing,
    map: BankMap,
    banks: Vec<Bank>,
    /// On their way to the scheduler, with the cycle at which it sees them; in order.
    incoming: VecDeque<(u64, Request)>,
    reads: Vec<Waiting>,
    writes: Vec<Waiting>,
    incoming_reads: usize,
    /// Reads served, with the cycle at which their data arrives; in order, since the bus is.
    returns: VecDeque<(u64, Request)>,
    next_activate: u64,
    next_read: u64,
    next_write: u64,
    draining: bool,
    blocked_reads: usize,
    now: u64,
    sleep_until: u64,
    counters: DramCounters,
    checker: Option<Box<Checker>>,
}

impl Channel {
    /// An idle channel with closed banks. `line_bytes` is the size of the lines that keep their order.
    pub fn new(config: &Dram, line_bytes: u32) -> Self {
        let bank = Bank { row: CLOSED, activate_from: 0, precharge_from: 0, column_from: 0 };
        let capacity = config.queue as usize;
        Self {
            scheduler: config.scheduler,
            capacity,
            starvation: u64::from(config.starvation_cycles),
            write_high: config.write_high as usize,
            write_low: config.write_low as usize,
            line_shift: line_bytes.trailing_zeros(),
            timing: Timing::new(config),
            map: BankMap::new(config),
            banks: vec![bank; config.banks as usize],
            incoming: VecDeque::with_capacity(2 * capacity),
            reads: Vec::with_capacity(capacity),
            writes: Vec::with_capacity(capacity),
            incoming_reads: 0,
            returns: VecDeque::with_capacity(capacity),
            next_activate: 0,
            next_read: 0,
            next_write: 0,
            draining: false,
            blocked_reads: 0,
            now: 0,
            sleep_until: 0,
            counters: DramCounters::default(),
            checker: None,
        }
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

    /// Has the controller room for one more request of this direction?
    pub fn can_push(&self, access: Access) -> bool {
        let incoming_writes = self.incoming.len() - self.incoming_reads;
        match access {
            Access::Read => self.reads.len() + self.incoming_reads < self.capacity,
            Access::Write => self.writes.len() + incoming_writes < self.capacity,
        }
    }

    /// Gives the controller a request in cycle `now`. The caller has made sure that [`Self::can_push`].
    pub fn push(&mut self, now: u64, request: Request) {
        debug_assert!(self.can_push(request.access));
        debug_assert!(request.bursts > 0);
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

    /// Does any request wait for service?
    pub fn busy(&self) -> bool {
        !(self.incoming.is_empty() && self.reads.is_empty() && self.writes.is_empty())
    }

    /// Do answers wait, arrived or on their way?
    pub fn returning(&self) -> bool {
        !self.returns.is_empty()
    }

    /// Counters since the start; `cycles` is left to the owner of the clock.
    pub fn counters(&self) -> DramCounters {
        self.counters
    }

    /// One command-clock cycle. `now` never goes back; it may jump while the channel is not [`Self::busy`].
    pub fn tick(&mut self, now: u64) {
        self.now = now;
        while self.incoming.front().is_some_and(|(seen, _)| *seen <= now) {
            self.admit();
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
        let older = self.reads.iter().chain(&self.writes).filter(|w| w.line == line).count() as u32;
        let at = self.map.locate(request.address);
        let waiting = Waiting {
            request,
            row: at.row,
            bank: at.bank,
            arrived: self.now,
            line,
            blockers: older,
            opened: false,
            starved: false,
        };
        match request.access {
            Access::Read => {
                self.incoming_reads -= 1;
                self.blocked_reads += usize::from(older > 0);
                self.reads.push(waiting);
            }
            Access::Write => self.writes.push(waiting),
        }
        self.sleep_until = 0;
    }

    /// Chooses the direction to serve and a command in it.
    fn decide(&mut self) -> (Access, Decision) {
        if let Some((access, at)) = self.starving() {
            let list = self.list_mut(access);
            let first = !std::mem::replace(&mut list[at].starved, true);
            self.counters.starved += u64::from(first);
            return (access, self.choose(access, Some(at)));
        }
        let access = self.direction();
        match self.choose(access, None) {
            Decision::Sleep(until) => (access, Decision::Sleep(until.min(self.starvation_time()))),
            decision => (access, decision),
        }
    }

    fn list(&self, access: Access) -> &Vec<Waiting> {
        match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        }
    }

    fn list_mut(&mut self, access: Access) -> &mut Vec<Waiting> {
        match access {
            Access::Read => &mut self.reads,
            Access::Write => &mut self.writes,
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
        self.oldest().filter(|(access, at)| self.list(*access)[*at].arrived + self.starvation <= self.now)
    }

    /// Reads go first, until enough writes wait; then writes, until few are left. Without reads, writes may go; a
    /// read that waits for a write of its own line pulls the writes forward.
    fn direction(&mut self) -> Access {
        if self.scheduler == DramScheduler::Fcfs {
            return self.oldest().map_or(Access::Read, |(access, _)| access);
        }
        if self.writes.len() >= self.write_high {
            self.draining = true;
        } else if self.writes.len() <= self.write_low {
            self.draining = false;
        }
        let wanted = self.draining || self.reads.is_empty() || self.blocked_reads > 0;
        if wanted && self.writes.iter().any(|w| w.blockers == 0) { Access::Write } else { Access::Read }
    }

    /// A command for the requests of one direction, or for `only` one of them.
    fn choose(&self, access: Access, only: Option<usize>) -> Decision {
        let list = self.list(access);
        let strict = only.is_some() || self.scheduler == DramScheduler::Fcfs;
        let first = only.unwrap_or(0);
        let (column_from, credit) = match access {
            Access::Read => (self.next_read, self.returns.len() < self.capacity),
            Access::Write => (self.next_write, true),
        };
        let (mut hit_banks, mut other_banks) = (0u64, 0u64);
        let mut rows = [0u16; 64]; // at most one candidate per bank
        let mut row_count = 0;
        let mut wake = NEVER;
        for (at, w) in list.iter().enumerate().skip(first) {
            if w.blockers > 0 {
                continue;
            }
            let bank = &self.banks[w.bank as usize];
            let bit = 1u64 << w.bank;
            if bank.row == w.row {
                hit_banks |= bit;
                let from = bank.column_from.max(column_from);
                if credit && from <= self.now {
                    return Decision::Column(at);
                }
                wake = if credit { wake.min(from) } else { wake };
            } else if other_banks & bit == 0 {
                other_banks |= bit;
                rows[row_count] = at as u16;
                row_count += 1;
            }
            if strict {
                break;
            }
        }
        for at in rows[..row_count].iter().map(|at| *at as usize) {
            let bank = &self.banks[list[at].bank as usize];
            if bank.row == CLOSED {
                let from = bank.activate_from.max(self.next_activate);
                if from <= self.now {
                    return Decision::Activate(at);
                }
                wake = wake.min(from);
            } else if hit_banks & (1 << list[at].bank) == 0 {
                if bank.precharge_from <= self.now {
                    return Decision::Precharge(at);
                }
                wake = wake.min(bank.precharge_from);
            }
        }
        Decision::Sleep(wake)
    }

    /// Carries a decision out for the requests of the direction it was made for.
    fn apply(&mut self, (access, decision): (Access, Decision)) {
        match decision {
            Decision::Sleep(until) => self.sleep_until = until,
            Decision::Activate(at) => self.activate(access, at),
            Decision::Precharge(at) => self.precharge(access, at),
            Decision::Column(at) => self.column(access, at),
        }
    }

    fn observe(&mut self, kind: CommandKind, bank: u32, row: u64, bursts: u32) {
        if let Some(checker) = &mut self.checker {
            checker.observe(Command { cycle: self.now, kind, bank, row, bursts });
        }
    }

    fn activate(&mut self, access: Access, at: usize) {
        let (now, t) = (self.now, self.timing);
        let waiting = &mut self.list_mut(access)[at];
        waiting.opened = true;
        let (number, row) = (waiting.bank, waiting.row);
        let bank = &mut self.banks[number as usize];
        bank.row = row;
        bank.column_from = now + t.trcd;
        bank.precharge_from = now + t.tras;
        bank.activate_from = now + t.trc;
        self.next_activate = now + t.trrd;
        self.counters.activates += 1;
        self.observe(CommandKind::Activate, number, row, 0);
    }

    fn precharge(&mut self, access: Access, at: usize) {
        let number = self.list(access)[at].bank;
        let bank = &mut self.banks[number as usize];
        let row = std::mem::replace(&mut bank.row, CLOSED);
        bank.activate_from = bank.activate_from.max(self.now + self.timing.trp);
        self.counters.precharges += 1;
        self.observe(CommandKind::Precharge, number, row, 0);
    }

    /// Reads or writes the request's bursts; it leaves the queue.
    fn column(&mut self, access: Access, at: usize) {
        let (now, t) = (self.now, self.timing);
        let w = self.list_mut(access).remove(at);
        let n = u64::from(w.request.bursts);
        let bank = &mut self.banks[w.bank as usize];
        match access {
            Access::Read => {
                bank.precharge_from = bank.precharge_from.max(now + t.read_to_precharge(n));
                self.next_read = now + t.column_to_column(n);
                self.next_write = self.next_write.max(now + t.read_to_write(n));
                let arrival = now + t.read_to_data_end(n) + t.latency_out();
                self.returns.push_back((arrival, w.request));
                self.counters.reads += 1;
                self.counters.metadata_reads += u64::from(w.request.metadata);
                self.observe(CommandKind::Read, w.bank, w.row, w.request.bursts);
            }
            Access::Write => {
                bank.precharge_from = bank.precharge_from.max(now + t.write_to_precharge(n));
                self.next_write = now + t.column_to_column(n);
                self.next_read = self.next_read.max(now + t.write_to_read(n));
                self.counters.writes += 1;
                self.counters.metadata_writes += u64::from(w.request.metadata);
                self.observe(CommandKind::Write, w.bank, w.row, w.request.bursts);
            }
        }
        self.counters.bursts += n;
        self.counters.busy_cycles += n * t.burst;
        self.counters.row_hits += u64::from(!w.opened);
        self.unblock(w.line);
    }

    /// A request to `line` was served: the younger ones wait for one less.
    fn unblock(&mut self, line: u64) {
        for w in self.writes.iter_mut().filter(|w| w.line == line) {
            w.blockers -= 1;
        }
        for w in self.reads.iter_mut().filter(|w| w.line == line) {
            w.blockers -= 1;
            self.blocked_reads -= usize::from(w.blockers == 0);
        }
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
