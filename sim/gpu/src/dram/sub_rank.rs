//! A sub-rank of a channel: its banks with their open rows, and the earliest cycle of each command.
//!
//! LAMAR (section 2.3.1, figure 3) divides the chips of a rank into sub-ranks. Each has a part of the data bus; one command bus
//! serves all. Every sub-rank has its own open rows and its own distances between commands. An undivided rank is a single
//! sub-rank.
use super::request::Access;
use super::timing::Timing;
use selvedge_state::State;

/// Row number of a bank without an open row.
pub const CLOSED: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, State)]
struct Bank {
    row: u64,
    activate_from: u64,
    precharge_from: u64,
    column_from: u64,
}

/// Banks and data bus of one sub-rank.
#[derive(Clone, Debug, State)]
pub struct SubRank {
    banks: Vec<Bank>,
    next_activate: u64,
    next_read: u64,
    next_write: u64,
    open: u32,
    /// Cycle since which the sub-rank has had a row open, or has had none.
    since: u64,
    active: u64,
    precharged: u64,
}

impl SubRank {
    /// Creates a sub-rank with all banks closed.
    pub fn new(banks: u32) -> Self {
        let bank = Bank { row: CLOSED, activate_from: 0, precharge_from: 0, column_from: 0 };
        Self {
            banks: vec![bank; banks as usize],
            next_activate: 0,
            next_read: 0,
            next_write: 0,
            open: 0,
            since: 0,
            active: 0,
            precharged: 0,
        }
    }

    /// Returns the open row of `bank`, or [`CLOSED`].
    #[inline]
    pub fn row(&self, bank: u32) -> u64 {
        self.banks[bank as usize].row
    }

    /// Returns whether any row is open.
    pub fn is_open(&self) -> bool {
        self.open > 0
    }

    /// Returns the first cycle at which the open row can be read or written.
    #[inline]
    pub fn column_from(&self, bank: u32, access: Access) -> u64 {
        let direction = match access {
            Access::Read => self.next_read,
            Access::Write => self.next_write,
        };
        self.banks[bank as usize].column_from.max(direction)
    }

    /// Returns the first cycle at which a row of a closed bank can be opened.
    #[inline]
    pub fn activate_from(&self, bank: u32) -> u64 {
        self.banks[bank as usize].activate_from.max(self.next_activate)
    }

    /// Returns the first cycle at which the open row can be closed.
    #[inline]
    pub fn precharge_from(&self, bank: u32) -> u64 {
        self.banks[bank as usize].precharge_from
    }

    /// Returns the first cycle of the next command that leads to a row that is not open in `bank`. The command is an activate if
    /// the flag is `true`, because no row is open. Otherwise it is a precharge.
    #[inline]
    pub fn other_row_from(&self, bank: u32) -> (u64, bool) {
        let Bank { row, activate_from, precharge_from, .. } = self.banks[bank as usize];
        if row == CLOSED { (activate_from.max(self.next_activate), true) } else { (precharge_from, false) }
    }

    /// Returns the first cycle at which all open rows can be closed.
    pub fn precharge_all_from(&self) -> u64 {
        let open = self.banks.iter().filter(|b| b.row != CLOSED);
        open.map(|b| b.precharge_from).max().unwrap_or(0)
    }

    /// Returns the first cycle at which all banks can be refreshed. They must be closed.
    pub fn refresh_from(&self) -> u64 {
        self.banks.iter().map(|b| b.activate_from).max().unwrap_or(0)
    }

    /// Opens a row in cycle `now`.
    pub fn activate(&mut self, now: u64, t: &Timing, bank: u32, row: u64) {
        let bank = &mut self.banks[bank as usize];
        bank.row = row;
        bank.column_from = bank.column_from.max(now + t.trcd);
        bank.precharge_from = now + t.tras;
        bank.activate_from = now + t.trc;
        self.next_activate = now + t.trrd;
        if self.open == 0 {
            self.precharged += now - self.since;
            self.since = now;
        }
        self.open += 1;
    }

    /// Closes the open row of `bank` and returns it.
    pub fn precharge(&mut self, now: u64, t: &Timing, bank: u32) -> u64 {
        let bank = &mut self.banks[bank as usize];
        let row = std::mem::replace(&mut bank.row, CLOSED);
        bank.activate_from = bank.activate_from.max(now + t.trp);
        self.open -= 1;
        if self.open == 0 {
            self.active += now - self.since;
            self.since = now;
        }
        row
    }

    /// Reads or writes `n` bursts of the open row.
    pub fn column(&mut self, now: u64, t: &Timing, bank: u32, access: Access, n: u64) {
        let bank = &mut self.banks[bank as usize];
        match access {
            Access::Read => {
                bank.precharge_from = bank.precharge_from.max(now + t.read_to_precharge(n));
                self.next_read = now + t.column_to_column(n);
                self.next_write = self.next_write.max(now + t.read_to_write(n));
            }
            Access::Write => {
                bank.precharge_from = bank.precharge_from.max(now + t.write_to_precharge(n));
                self.next_write = now + t.column_to_column(n);
                self.next_read = self.next_read.max(now + t.write_to_read(n));
            }
        }
    }

    /// Delays the next column commands of the banks for which `is_in_group` returns `true` to tCCDL after cycle `now`.
    pub fn hold_group(&mut self, now: u64, t: &Timing, is_in_group: impl Fn(u32) -> bool) {
        for (_, bank) in (0..).zip(&mut self.banks).filter(|(number, _)| is_in_group(*number)) {
            bank.column_from = bank.column_from.max(now + t.tccdl);
        }
    }

    /// Refreshes all banks in cycle `now`. They must be closed.
    pub fn refresh(&mut self, now: u64, t: &Timing) {
        for bank in &mut self.banks {
            bank.activate_from = now + t.trfc;
        }
    }

    /// Returns the cycles until `now` with an open row, and the cycles without.
    pub fn standby_cycles(&self, now: u64) -> (u64, u64) {
        let last = now.saturating_sub(self.since);
        if self.is_open() {
            (self.active + last, self.precharged)
        } else {
            (self.active, self.precharged + last)
        }
    }
}
