//! The requests that wait in a channel, oldest first. Bit sets of their positions let the scheduler choose one without a scan.
use super::request::{Access, QueuedRequest, numbers};
use super::sub_rank::SubRank;
use selvedge_state::State;
use std::ops::Deref;

/// Max requests for which the bit sets have bits.
pub(super) const MOST_PLACES: usize = u64::BITS as usize;

/// A position that holds no request.
const NONE: u32 = u64::BITS;

/// Waiting requests, oldest first.
#[derive(State)]
pub(super) struct Queue {
    list: Vec<QueuedRequest>,
    /// Line of each request. A separate list, so that counting the requests to a line reads little memory.
    lines: Vec<u64>,
    /// Number of requests that wait for an older request to their line.
    blocked: usize,
    places: Option<Places>,
}

/// Sets of positions in the queue, with one bit per request.
#[derive(State)]
struct Places {
    /// Banks that requests wait for.
    banks: u64,
    /// For each bank, the requests that need it.
    of_bank: Vec<u64>,
    /// Requests without an older request to their line.
    free: u64,
    /// Requests whose row is open.
    hits: u64,
    writes: u64,
}

/// The command that can be issued, with the position of the oldest request for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextCommand {
    /// The request can be read or written.
    Column(usize),
    /// The row of the request can be opened.
    Activate(usize),
    /// The open row in the bank of the request can be closed.
    Precharge(usize),
    /// No command is possible before this cycle.
    NotBefore(u64),
}

impl Deref for Queue {
    type Target = [QueuedRequest];
    fn deref(&self) -> &[QueuedRequest] {
        &self.list
    }
}

impl Queue {
    /// Returns an empty queue for up to `capacity` requests.
    pub fn new(capacity: usize) -> Self {
        let (list, lines) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        Queue { list, lines, blocked: 0, places: None }
    }

    /// Adds bit sets, for a channel of one sub-rank with `banks` banks. The capacity must be at most [`MOST_PLACES`]. The queue
    /// must be empty.
    pub fn with_places(mut self, banks: u32) -> Self {
        let of_bank = vec![0; banks as usize];
        self.places = Some(Places { banks: 0, of_bank, free: 0, hits: 0, writes: 0 });
        self
    }

    /// Returns whether the queue has bit sets, which [`Queue::choose`] needs.
    pub fn has_places(&self) -> bool {
        self.places.is_some()
    }

    /// Adds a request. `is_open` says whether its row is open.
    pub fn push(&mut self, waiting: QueuedRequest, is_open: bool) {
        if let Some(places) = &mut self.places {
            let bit = 1 << self.list.len();
            places.banks |= 1 << waiting.bank;
            places.of_bank[waiting.bank as usize] |= bit;
            places.free |= if waiting.blockers == 0 { bit } else { 0 };
            places.hits |= if is_open { bit } else { 0 };
            places.writes |= if waiting.request.access == Access::Write { bit } else { 0 };
        }
        self.blocked += usize::from(waiting.blockers > 0);
        self.lines.push(waiting.line);
        self.list.push(waiting);
    }

    /// Returns the number of waiting requests to `line`.
    pub fn count_of(&self, line: u64) -> usize {
        self.lines.iter().filter(|other| **other == line).count()
    }

    /// Removes and returns the request at position `at`.
    pub fn remove(&mut self, at: usize) -> QueuedRequest {
        let waiting = self.list.remove(at);
        self.lines.remove(at);
        self.blocked -= usize::from(waiting.blockers > 0);
        if let Some(places) = &mut self.places {
            places.remove(at, waiting.bank);
        }
        waiting
    }

    /// Returns the request at position `at`. The caller must not change bank, row and blockers.
    pub fn get_mut(&mut self, at: usize) -> &mut QueuedRequest {
        &mut self.list[at]
    }

    /// Removes one blocker from each request to `line`, after a request to the line was served. Returns the number of reads that
    /// have no blockers any more.
    pub fn unblock(&mut self, line: u64) -> usize {
        if self.blocked == 0 {
            return 0;
        }
        let mut reads = 0;
        for at in (0..self.list.len()).filter(|at| self.lines[*at] == line) {
            let w = &mut self.list[at];
            w.blockers -= 1;
            if w.blockers == 0 {
                self.blocked -= 1;
                reads += usize::from(w.request.access == Access::Read);
                if let Some(places) = &mut self.places {
                    places.free |= 1 << at;
                }
            }
        }
        reads
    }

    /// Returns whether any request has no blockers.
    pub fn has_free(&self) -> bool {
        self.blocked < self.list.len()
    }

    /// Records that a row was opened in a bank.
    pub fn opened(&mut self, bank: u32, row: u64) {
        if let Some(places) = &mut self.places {
            for at in numbers(places.of_bank[bank as usize]).filter(|at| self.list[*at].row == row) {
                places.hits |= 1 << at;
            }
        }
    }

    /// Records that the open row of a bank was closed.
    pub fn closed(&mut self, bank: u32) {
        if let Some(places) = &mut self.places {
            places.hits &= !places.of_bank[bank as usize];
        }
    }

    /// Chooses a command in cycle `now`. The oldest request that can be read or written comes first. Otherwise, each bank without
    /// a request to its open row proposes its oldest request, and the oldest of these gets an activate or a precharge. Reads are
    /// chosen only if `may_return` is set.
    pub fn choose(&self, rank: &SubRank, now: u64, may_return: bool) -> NextCommand {
        let Some(places) = &self.places else { return NextCommand::NotBefore(now) };
        let (mut column, mut row, mut wake) = (NONE, NONE, u64::MAX);
        let mut opens = false;
        for bank in numbers(places.banks) {
            let here = places.of_bank[bank] & places.free;
            let hits = here & places.hits;
            let bank = bank as u32;
            if hits != 0 {
                let reads = if may_return { hits & !places.writes } else { 0 };
                for (of, access) in [(reads, Access::Read), (hits & places.writes, Access::Write)] {
                    let from = if of != 0 { rank.column_from(bank, access) } else { u64::MAX };
                    if from > now {
                        wake = wake.min(from);
                    } else {
                        column = column.min(of.trailing_zeros());
                    }
                }
            } else if here != 0 {
                let (from, is_closed) = rank.other_row_from(bank);
                if from > now {
                    wake = wake.min(from);
                } else if here.trailing_zeros() < row {
                    row = here.trailing_zeros();
                    opens = is_closed;
                }
            }
        }
        match (column, row) {
            (NONE, NONE) => NextCommand::NotBefore(wake),
            (NONE, at) if opens => NextCommand::Activate(at as usize),
            (NONE, at) => NextCommand::Precharge(at as usize),
            (at, _) => NextCommand::Column(at as usize),
        }
    }
}

impl Places {
    /// Removes the position `at`, whose request needs `bank`. Later positions move down by one.
    fn remove(&mut self, at: usize, bank: u32) {
        let before = (1u64 << at) - 1;
        let without = |set: &mut u64| *set = *set & before | *set >> 1 & !before;
        self.of_bank.iter_mut().for_each(without);
        if self.of_bank[bank as usize] == 0 {
            self.banks &= !(1 << bank);
        }
        without(&mut self.free);
        without(&mut self.hits);
        without(&mut self.writes);
    }
}
