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

use super::checker::{CommandChecker, CommandKind, DramCommand, Violation};
use super::counters::DramCounters;
use super::queues::ChannelQueues;
use super::request::{Access, Bursts, QueuedRequest, Request, numbers};
use super::scheduler::bank_choice::BankChoice;
use super::scheduler::{Candidates, Decision, fcfs, fr_fcfs};
use super::spec::{ChannelSpec, NEVER};
use super::sub_rank::{CLOSED, SubRank};
use super::timing::Timing;
use crate::config::{DramConfig, DramScheduler};
use selvedge_state::State;

/// The memory controller of one channel, with its banks and data bus.
#[derive(State)]
pub struct Channel {
    #[state(skip = "the configuration")]
    spec: ChannelSpec,
    queues: ChannelQueues,
    choice: BankChoice,
    ranks: Vec<SubRank>,
    now: u64,
    sleep_until: u64,
    /// Cycle at which the next refresh is due.
    refresh_at: u64,
    last_command: u64,
    /// Bus cycles in use, summed over the sub-ranks.
    bus_parts: u64,
    counters: DramCounters,
    checker: Option<Box<CommandChecker>>,
}

impl Channel {
    /// Creates an idle channel with closed banks. Requests to the same line of `line_bytes` bytes stay in order.
    pub fn new(config: &DramConfig, line_bytes: u32) -> Self {
        let spec = ChannelSpec::new(config, line_bytes);
        Self {
            queues: ChannelQueues::new(&spec),
            choice: BankChoice::default(),
            ranks: vec![SubRank::new(config.banks); config.sub_ranks as usize],
            now: 0,
            sleep_until: 0,
            refresh_at: spec.refresh_interval,
            last_command: 0,
            bus_parts: 0,
            counters: DramCounters::default(),
            checker: None,
            spec,
        }
    }

    /// Replaces the empty queues by queues without bit sets, so that the scheduler scans all requests.
    #[cfg(test)]
    pub(super) fn forget_places(&mut self) {
        use super::queue::Queue;
        let capacity = self.spec.capacity;
        (self.queues.reads, self.queues.writes) = (Queue::new(capacity), Queue::new(capacity));
    }

    /// Attaches a checker, which checks every command from now on. The channel must not have been used yet.
    pub fn attach(&mut self, checker: impl Into<Option<CommandChecker>>) {
        self.checker = checker.into().map(Box::new);
    }

    /// Returns the violations that the attached checker found; empty without a checker.
    pub fn violations(&self) -> &[Violation] {
        self.checker.as_ref().map_or(&[], |c| c.violations())
    }

    /// Returns the attached checker.
    pub fn checker(&self) -> Option<&CommandChecker> {
        self.checker.as_deref()
    }

    /// Returns the number of commands that the attached checker has checked.
    pub fn checked(&self) -> u64 {
        self.checker.as_ref().map_or(0, |c| c.checked())
    }

    /// Returns the timing of the channel.
    pub fn timing(&self) -> &Timing {
        &self.spec.timing
    }

    /// Returns whether the controller has space for one more request of this direction.
    pub fn can_push(&self, access: Access) -> bool {
        self.queues.has_room(&self.spec, access)
    }

    /// Returns whether the scheduler has space for the oldest request of the delay line.
    fn can_admit(&self) -> bool {
        let oldest = self.queues.incoming.front().map(|(_, request)| request.access);
        !self.spec.banks_choose() || self.choice.can_admit(&self.spec, oldest)
    }

    /// Adds a request in cycle `now`. [`Self::can_push`] must hold.
    pub fn push(&mut self, now: u64, request: Request) {
        debug_assert!(self.can_push(request.access));
        debug_assert!(request.bursts.count() > 0);
        self.queues.push(&self.spec, now, request);
    }

    /// Returns whether the oldest reply has arrived by cycle `now`.
    pub fn has_return(&self, now: u64) -> bool {
        self.queues.returns.front().is_some_and(|(ready, _)| *ready <= now)
    }

    /// Returns the reply that [`Self::pop`] would remove.
    pub fn peek(&self, now: u64) -> Option<&Request> {
        self.queues.returns.front().filter(|(ready, _)| *ready <= now).map(|(_, request)| request)
    }

    /// Removes and returns the oldest reply whose data has arrived by cycle `now`.
    pub fn pop(&mut self, now: u64) -> Option<Request> {
        if !self.has_return(now) {
            return None;
        }
        self.sleep_until = 0; // a free reply slot may permit the next read
        self.queues.returns.pop_front().map(|(_, request)| request)
    }

    /// Returns whether any request waits for service.
    pub fn busy(&self) -> bool {
        !self.queues.is_empty()
    }

    /// Returns whether the channel holds replies, arrived or in flight.
    pub fn returning(&self) -> bool {
        !self.queues.returns.is_empty()
    }

    /// Returns whether a refresh is due, which the next [`Self::tick`] would start.
    pub fn refresh_due(&self, now: u64) -> bool {
        self.refresh_at <= now
    }

    /// Returns the sub-rank, bank and number of each open row.
    pub fn open_rows(&self) -> impl Iterator<Item = (u8, u8, u64)> {
        (0..).zip(&self.ranks).flat_map(|(sub_rank, rank)| {
            let banks = (0..self.spec.bank_count).map(move |bank| (sub_rank, bank as u8, rank.row(bank)));
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
            && !self.spec.banks_choose()
            && self.queues.incoming.front().is_none_or(|(seen, _)| *seen > now)
    }

    /// Runs a command-clock cycle that may have work.
    #[inline(never)]
    fn run(&mut self, now: u64) {
        self.catch_up(now);
        self.now = now;
        while self.queues.incoming.front().is_some_and(|(seen, _)| *seen <= now) && self.can_admit() {
            self.admit();
        }
        if self.spec.banks_choose() {
            let chosen = self.choice.choose(&self.spec, &mut self.queues, &self.ranks[0]);
            self.sleep_until = if chosen { 0 } else { self.sleep_until };
        }
        if now < self.sleep_until {
            return;
        }
        let decision = self.decide();
        self.apply(decision);
    }

    /// Moves the oldest request of the delay line to its queue.
    fn admit(&mut self) {
        let Some((_, request)) = self.queues.incoming.pop_front() else { return };
        let line = request.address >> self.spec.line_shift;
        let older = self.queues.count_of(line);
        let at = self.spec.map.locate(request.address);
        let count = self.ranks.len() as u32;
        let waiting = QueuedRequest {
            request,
            row: at.row,
            bank: at.bank,
            sub_ranks: request.bursts.numbers().fold(0, |bits, n| bits | 1 << self.sub_rank(&request, n)),
            place: at.bank * count,
            left: request.bursts,
            chosen: !self.spec.banks_choose(),
            arrived: self.now,
            line,
            blockers: older,
            opened: false,
            starved: false,
        };
        if request.access == Access::Read {
            self.queues.incoming_reads -= 1;
            self.queues.blocked_reads += usize::from(older > 0);
        }
        let is_open = self.ranks[0].row(at.bank) == at.row;
        self.queues.list_mut(&self.spec, request.access).push(waiting, is_open);
        if self.spec.banks_choose() {
            self.choice.admit(request.access);
        }
        self.sleep_until = 0;
    }

    /// Returns the sub-rank of burst `n` of a request.
    fn sub_rank(&self, request: &Request, n: u32) -> u32 {
        ((request.address >> self.spec.burst_shift) as u32).wrapping_add(n) & (self.ranks.len() as u32 - 1)
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
        if let Some((access, at)) = self.queues.starving(&self.spec, self.now) {
            let first = self.queues.list_mut(&self.spec, access).get_mut(at).starve();
            self.counters.starved += u64::from(first);
            return (access, self.choose(access, Some(at)));
        }
        let access = self.direction();
        match self.choose(access, None) {
            Decision::Sleep(until) => {
                (access, Decision::Sleep(until.min(self.queues.starvation_time(&self.spec))))
            }
            decision => (access, decision),
        }
    }

    /// Returns the direction to serve: reads until `write_high` writes wait, then writes until at most `write_low` remain. Writes
    /// may also go if no read waits. A read that waits for an older request to its line pulls the writes forward.
    fn direction(&mut self) -> Access {
        if self.spec.one_queue {
            return Access::Read;
        }
        if self.spec.scheduler == DramScheduler::Fcfs {
            return self.queues.oldest().map_or(Access::Read, |(access, _)| access);
        }
        self.queues.follow_watermarks(&self.spec, self.queues.writes.len());
        let wanted = self.queues.draining || self.queues.reads.is_empty() || self.queues.blocked_reads > 0;
        if wanted && self.queues.writes.has_free() { Access::Write } else { Access::Read }
    }

    /// Chooses a command for the requests of one queue, or for request `only`.
    fn choose(&self, access: Access, only: Option<usize>) -> Decision {
        let candidates = Candidates {
            queue: self.queues.list(&self.spec, access),
            ranks: &self.ranks,
            now: self.now,
            may_return: self.queues.returns.len() < self.spec.most_returns,
        };
        match only {
            Some(at) => fcfs::serve(&candidates, at),
            // Banks that choose their requests have put the requests in order.
            None if self.spec.scheduler == DramScheduler::Fcfs && !self.spec.banks_choose() => {
                fcfs::choose(&candidates)
            }
            None => fr_fcfs::choose(&candidates),
        }
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
            checker.observe(DramCommand {
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
        let waiting = self.queues.list_mut(&self.spec, access).get_mut(at);
        waiting.opened = true;
        let (bank, row) = (waiting.bank, waiting.row);
        self.queues.opened(bank, row);
        for number in numbers(sub_ranks) {
            self.ranks[number].activate(self.now, &self.spec.timing, bank, row);
        }
        self.counters.activates += 1;
        self.counters.sub_rank_activates += u64::from(sub_ranks.count_ones());
        self.observe(CommandKind::Activate, sub_ranks, bank, row);
    }

    fn precharge(&mut self, access: Access, at: usize, sub_ranks: u64) {
        let bank = self.queues.list(&self.spec, access)[at].bank;
        self.queues.closed(bank);
        let mut row = CLOSED;
        for number in numbers(sub_ranks) {
            row = self.ranks[number].precharge(self.now, &self.spec.timing, bank);
        }
        self.counters.precharges += 1;
        self.observe(CommandKind::Precharge, sub_ranks, bank, row);
    }

    /// Reads or writes the first remaining burst of a request. After its last burst the request leaves the queue.
    fn one_burst(&mut self, list: Access, at: usize) {
        let now = self.now;
        let w = self.queues.list_mut(&self.spec, list).get_mut(at);
        let (access, bank, row) = (w.request.access, w.bank, w.row);
        let (first, left) = w.left.split_first();
        let address = w.request.address + (u64::from(first) << self.spec.burst_shift);
        let w = self.queues.list_mut(&self.spec, list).get_mut(at);
        w.left = left;
        let whole = (left.count() == 0).then_some(*w);
        if whole.is_some() {
            self.queues.list_mut(&self.spec, list).remove(at);
        }
        let (t, groups) = (self.spec.timing, &self.spec.groups);
        let group = groups[bank as usize];
        self.ranks[0].column(now, &t, bank, access, 1);
        self.ranks[0].hold_group(now, &t, |other| groups[other as usize] == group);
        let kind = self.count_bursts(access, 1);
        if let Some(checker) = &mut self.checker {
            let column = self.spec.map.locate(address).column;
            checker.observe(DramCommand {
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
        self.bus_parts += bursts * self.spec.timing.burst;
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
    fn served(&mut self, w: &QueuedRequest, arrival: u64) {
        match w.request.access {
            Access::Read => {
                self.queues.return_at(arrival, w.request);
                self.counters.reads += 1;
                self.counters.metadata_reads += u64::from(w.request.metadata);
            }
            Access::Write => {
                self.counters.writes += 1;
                self.counters.metadata_writes += u64::from(w.request.metadata);
            }
        }
        self.choice.served(w.bank);
        self.counters.row_hits += u64::from(!w.opened);
        self.queues.unblock(w.line);
    }

    /// Reads or writes all bursts of a request and removes it from the queue. With bank groups, only one burst.
    fn column(&mut self, list: Access, at: usize) {
        if !self.spec.groups.is_empty() {
            return self.one_burst(list, at);
        }
        let (now, t) = (self.now, self.spec.timing);
        let w = self.queues.list_mut(&self.spec, list).remove(at);
        let access = w.request.access;
        let mut longest = 0;
        for number in numbers(w.sub_ranks) {
            let n = self.share(&w.request, number);
            self.ranks[number].column(now, &t, w.bank, access, n);
            longest = longest.max(n);
        }
        let kind = self.count_bursts(access, u64::from(w.request.bursts.count()));
        if let Some(checker) = &mut self.checker {
            let column = self.spec.map.locate(w.request.address).column;
            let (sub_ranks, bank, row) = (w.sub_ranks, w.bank, w.row);
            checker.observe(DramCommand {
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

    /// Appends one line of text per waiting request, for deadlock reports.
    pub fn describe_waiting(&self, name: &str, out: &mut Vec<String>) {
        let line = |queue: &str, r: &Request| {
            let what = if r.metadata { "metadata" } else { "data" };
            format!("{name}: {queue}: {:?} of {what} at channel address {:#x}", r.access, r.address)
        };
        out.extend(self.queues.incoming.iter().map(|(_, r)| line("incoming", r)));
        for (queue, list) in [("read queue", &self.queues.reads), ("write queue", &self.queues.writes)] {
            let text = |w: &QueuedRequest| {
                format!("{}, bank {}, since cycle {}", line(queue, &w.request), w.bank, w.arrived)
            };
            out.extend(list.iter().map(text));
        }
        out.extend(self.queues.returns.iter().map(|(_, r)| line("return queue", r)));
    }
}
