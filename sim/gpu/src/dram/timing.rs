//! A channel's timing, derived once from the configuration. All times are cycles of the DRAM command clock.
//!
//! A column command for n bursts stands for n column commands that are [`Timing::step`] cycles apart:
//!
//! ```text
//! cycle     0        tCL      tCL+step ...
//! command   READ x3
//! data bus           burst 0  burst 1  burst 2
//! ```
use crate::config::Dram;
use selvedge_state::State;

/// Distances between commands of one sub-rank. `n` is a number of its bursts, at least 1.
#[derive(Clone, Copy, Debug, State)]
pub struct Timing {
    /// Cycles of one burst on its sub-rank's data bus.
    pub burst: u64,
    /// Column command to the next one of the same direction: tCCD, or the burst when that is longer.
    pub step: u64,
    /// Column command to the next one of the same bank group, bursts taken one by one; 0 without groups.
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
    /// The timing that `dram` describes.
    pub fn new(dram: &Dram) -> Self {
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

    /// Controller cycles before the scheduler sees a request: half of the fixed latency, rounded down, or all of it where it is
    /// a delay line in front of the queue.
    pub fn latency_in(&self) -> u64 {
        self.latency_in
    }

    /// Cycles from the last data on the bus to the answer's arrival: the rest.
    pub fn latency_out(&self) -> u64 {
        self.latency - self.latency_in
    }

    /// First to last of `n` column commands.
    fn span(&self, n: u64) -> u64 {
        (n - 1) * self.step
    }

    /// Column command of `n` bursts to the next one of the same direction.
    pub fn column_to_column(&self, n: u64) -> u64 {
        n * self.step
    }

    /// Read command to write command.
    pub fn read_to_write(&self, n: u64) -> u64 {
        self.span(n) + self.turn
    }

    /// Write command to read command: the write's data, then tCDLR.
    pub fn write_to_read(&self, n: u64) -> u64 {
        self.write_to_data_end(n) + self.tcdlr
    }

    /// Read command to precharge.
    pub fn read_to_precharge(&self, n: u64) -> u64 {
        self.span(n) + self.trtp
    }

    /// Write command to precharge: the write's data, then tWR.
    pub fn write_to_precharge(&self, n: u64) -> u64 {
        self.write_to_data_end(n) + self.twr
    }

    /// Read command to the end of its data on the bus.
    pub fn read_to_data_end(&self, n: u64) -> u64 {
        self.tcl + self.span(n) + self.burst
    }

    /// First to last of `n` column commands of one request in an empty channel: `span`, or as a bank group allows.
    fn lone_span(&self, n: u64) -> u64 {
        (n - 1) * self.step.max(self.tccdl)
    }

    /// Write command to the end of its data on the bus.
    pub fn write_to_data_end(&self, n: u64) -> u64 {
        self.tcwl + self.span(n) + self.burst
    }

    /// Unloaded read of `n` bursts from a row that is open: request in to data out.
    pub fn row_hit_latency(&self, n: u64) -> u64 {
        self.latency + self.tcl + self.lone_span(n) + self.burst
    }

    /// Unloaded read of `n` bursts from a closed bank.
    pub fn row_empty_latency(&self, n: u64) -> u64 {
        self.trcd + self.row_hit_latency(n)
    }

    /// Unloaded read of `n` bursts from a bank with another row open that may be closed at once.
    pub fn row_conflict_latency(&self, n: u64) -> u64 {
        self.trp + self.row_empty_latency(n)
    }

    /// Upper bound on the time that one request takes once the scheduler serves nothing but it: everything before
    /// it in its bank, and the bus turned around, at their longest.
    pub fn service_bound(&self, most_bursts: u64) -> u64 {
        let previous = self.write_to_precharge(most_bursts).max(self.read_to_precharge(most_bursts));
        let turn = self.write_to_read(most_bursts).max(self.read_to_write(most_bursts));
        previous.max(self.tras) + self.trp.max(self.trc) + self.trrd + self.trcd + turn + 3
    }
}
