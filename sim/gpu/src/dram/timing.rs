//! Timing of a channel, derived once from the configuration. All times are cycles of the DRAM command clock.
//!
//! A column command of n bursts represents n column commands that are [`Timing::step`] cycles apart:
//!
//! ```text
//! cycle     0        tCL      tCL+step ...
//! command   READ x3
//! data bus           burst 0  burst 1  burst 2
//! ```
use crate::config::DramConfig;
use selvedge_state::State;

/// Distances between commands of one sub-rank. `n` is the number of bursts in this sub-rank, at least 1.
#[derive(Clone, Copy, Debug, State)]
pub struct Timing {
    /// Cycles of one burst on the data bus of its sub-rank.
    pub burst: u64,
    /// Column command to the next one of the same direction: the longer of tCCD and `burst`.
    pub step: u64,
    /// Column command to the next one of the same bank group, with one burst per command; 0 without bank groups.
    pub tccdl: u64,
    /// Activate to column command.
    pub trcd: u64,
    /// Precharge to activate.
    pub trp: u64,
    /// Activate to precharge.
    pub tras: u64,
    /// Activate to activate of one bank.
    pub trc: u64,
    /// Activate to activate of different banks.
    pub trrd: u64,
    tcl: u64,
    tcwl: u64,
    tcdlr: u64,
    twr: u64,
    trtp: u64,
    turn: u64,
    latency: u64,
    latency_in: u64,
    /// Refresh to activate.
    pub trfc: u64,
}

impl Timing {
    /// Derives the timing from `dram`.
    pub fn new(dram: &DramConfig) -> Self {
        let cycles = u64::from;
        let burst = cycles(dram.burst_cycles());
        let no_overlap = (cycles(dram.tcl) + burst).saturating_sub(cycles(dram.tcwl));
        Self {
            burst,
            step: burst.max(cycles(dram.tccd)),
            tccdl: if dram.bank_groups > 1 { cycles(dram.tccdl) } else { 0 },
            trcd: cycles(dram.trcd),
            trp: cycles(dram.trp),
            tras: cycles(dram.tras),
            trc: cycles(dram.trc),
            trrd: cycles(dram.trrd),
            tcl: cycles(dram.tcl),
            tcwl: cycles(dram.tcwl),
            tcdlr: cycles(dram.tcdlr),
            twr: cycles(dram.twr),
            trtp: cycles(dram.trtp),
            turn: cycles(dram.read_to_write()).max(no_overlap),
            latency: cycles(dram.controller_latency),
            latency_in: cycles(dram.controller_latency) / if dram.return_queue > 0 { 1 } else { 2 },
            trfc: cycles(dram.trfc),
        }
    }

    /// Returns the controller cycles before the scheduler sees a request. This is half of the fixed latency, rounded down. With a
    /// delay line in front of the queue, it is the whole latency.
    pub fn latency_in(&self) -> u64 {
        self.latency_in
    }

    /// Returns the cycles from the last data on the bus to the arrival of the reply, the rest of the fixed latency.
    pub fn latency_out(&self) -> u64 {
        self.latency - self.latency_in
    }

    /// Cycles from the first to the last of `n` column commands.
    fn span(&self, n: u64) -> u64 {
        (n - 1) * self.step
    }

    /// Returns the cycles from a column command of `n` bursts to the next one of the same direction.
    pub fn column_to_column(&self, n: u64) -> u64 {
        n * self.step
    }

    /// Returns the cycles from a read command to a write command.
    pub fn read_to_write(&self, n: u64) -> u64 {
        self.span(n) + self.turn
    }

    /// Returns the cycles from a write command to a read command: the data of the write, then tCDLR.
    pub fn write_to_read(&self, n: u64) -> u64 {
        self.write_to_data_end(n) + self.tcdlr
    }

    /// Returns the cycles from a read command to a precharge.
    pub fn read_to_precharge(&self, n: u64) -> u64 {
        self.span(n) + self.trtp
    }

    /// Returns the cycles from a write command to a precharge: the data of the write, then tWR.
    pub fn write_to_precharge(&self, n: u64) -> u64 {
        self.write_to_data_end(n) + self.twr
    }

    /// Returns the cycles from a read command to the end of its data on the bus.
    pub fn read_to_data_end(&self, n: u64) -> u64 {
        self.tcl + self.span(n) + self.burst
    }

    /// Cycles from the first to the last of `n` column commands of one request in an empty channel. Bank groups can make it
    /// longer than `span`.
    fn lone_span(&self, n: u64) -> u64 {
        (n - 1) * self.step.max(self.tccdl)
    }

    /// Returns the cycles from a write command to the end of its data on the bus.
    pub fn write_to_data_end(&self, n: u64) -> u64 {
        self.tcwl + self.span(n) + self.burst
    }

    /// Returns the unloaded latency of a read of `n` bursts from an open row, from the request to the last data.
    pub fn row_hit_latency(&self, n: u64) -> u64 {
        self.latency + self.tcl + self.lone_span(n) + self.burst
    }

    /// Returns the unloaded latency of a read of `n` bursts from a closed bank.
    pub fn row_empty_latency(&self, n: u64) -> u64 {
        self.trcd + self.row_hit_latency(n)
    }

    /// Returns the unloaded latency of a read of `n` bursts from a bank with another open row that can be closed at once.
    pub fn row_conflict_latency(&self, n: u64) -> u64 {
        self.trp + self.row_empty_latency(n)
    }

    /// Returns an upper bound on the cycles that one request takes while the scheduler serves it alone. The bound adds the max
    /// time of the previous request in the bank, the row change and the change of direction on the bus.
    pub fn service_bound(&self, most_bursts: u64) -> u64 {
        let previous = self.write_to_precharge(most_bursts).max(self.read_to_precharge(most_bursts));
        let turn = self.write_to_read(most_bursts).max(self.read_to_write(most_bursts));
        previous.max(self.tras) + self.trp.max(self.trc) + self.trrd + self.trcd + turn + 3
    }
}
