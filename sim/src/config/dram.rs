//! The DRAM channels.
use super::check::Checker;
use serde::{Deserialize, Serialize};

/// How the memory controller chooses the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DramScheduler {
    /// Row hits first, then the oldest, with a bound on starvation.
    FrFcfs,
    /// Strictly the oldest.
    Fcfs,
}

/// A partition's DRAM channel. Times are in command-clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Banks of a channel.
    pub banks: u32,
    /// Bytes of a row (page) of one bank.
    pub row_bytes: u32,
    /// Bytes of one burst: the unit of transfer.
    pub burst_bytes: u32,
    /// Width of the data bus, bytes.
    pub bus_bytes: u32,
    /// Transfers per command clock.
    pub data_rate: u32,
    /// Fixed latency of the controller and the pads, in and out together.
    pub controller_latency: u32,
    /// Scheduling policy.
    pub scheduler: DramScheduler,
    /// Requests the scheduler chooses from.
    pub queue: u32,
    /// Age from which a request is served before any row hit.
    pub starvation_cycles: u32,
    /// Waiting writes that start a write drain.
    pub write_high: u32,
    /// Waiting writes that end it.
    pub write_low: u32,
    /// Read command to first data.
    pub tcl: u32,
    /// Precharge to activate.
    pub trp: u32,
    /// Activate to activate, same bank.
    pub trc: u32,
    /// Activate to precharge.
    pub tras: u32,
    /// Activate to read or write.
    pub trcd: u32,
    /// Activate to activate, different banks.
    pub trrd: u32,
    /// End of write data to read command.
    pub tcdlr: u32,
    /// End of write data to precharge.
    pub twr: u32,
    /// Write command to first data.
    pub tcwl: u32,
    /// Column command to column command.
    pub tccd: u32,
    /// Read command to precharge.
    pub trtp: u32,
    /// Read command to write command; 0 derives it so that the bus turns around with one idle cycle.
    pub trtw: u32,
}

impl Dram {
    /// Command-clock cycles that one burst occupies the data bus.
    pub fn burst_cycles(&self) -> u32 {
        (self.burst_bytes).div_ceil(self.bus_bytes * self.data_rate)
    }

    /// Read command to write command: given, or derived from latencies and one cycle of bus turn-around.
    pub fn read_to_write(&self) -> u32 {
        if self.trtw > 0 {
            self.trtw
        } else {
            (self.tcl + self.burst_cycles() + 1).saturating_sub(self.tcwl).max(1)
        }
    }

    /// A channel serves lines of `line_bytes` bytes in sectors of `sector_bytes`, each of whole bursts.
    pub(super) fn check(&self, line_bytes: u32, sector_bytes: u32, check: &mut Checker<'_>) {
        check.power("dram.banks", self.banks, 1, 64);
        check.power("dram.row_bytes", self.row_bytes, line_bytes, 1 << 16);
        check.power("dram.burst_bytes", self.burst_bytes, 32, sector_bytes);
        check.power("dram.bus_bytes", self.bus_bytes, 1, 64);
        check.power("dram.data_rate", self.data_rate, 1, 16);
        check.range("dram.controller_latency", self.controller_latency, 1, 1000);
        check.range("dram.queue", self.queue, 1, 1024);
        check.range("dram.starvation_cycles", self.starvation_cycles, 1, 1 << 30);
        check.range("dram.write_high", self.write_high, 1, self.queue);
        check.range("dram.write_low", self.write_low, 0, self.write_high.saturating_sub(1));
        self.check_timing(check);
    }

    fn check_timing(&self, check: &mut Checker<'_>) {
        for (key, value) in [
            ("dram.tcl", self.tcl),
            ("dram.trp", self.trp),
            ("dram.tras", self.tras),
            ("dram.trcd", self.trcd),
            ("dram.trrd", self.trrd),
            ("dram.tcdlr", self.tcdlr),
            ("dram.twr", self.twr),
            ("dram.tcwl", self.tcwl),
            ("dram.tccd", self.tccd),
            ("dram.trtp", self.trtp),
        ] {
            check.range(key, value, 1, 1000);
        }
        check.range("dram.trc", self.trc, self.tras.saturating_add(self.trp), 1000);
        check.range("dram.trtw", self.trtw, 0, 1000);
    }
}
