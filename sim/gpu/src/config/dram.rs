//! Configuration of the DRAM channels.
use super::check::Checker;
use super::dram_energy::DramEnergy;
use super::l2::L2;
use super::mapping::{AddressField, AddressMapping};
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// Scheduling policy of the memory controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DramScheduler {
    /// First-ready, first-come first-served: row hits first, then the oldest request, with a limit on starvation.
    FrFcfs,
    /// First-come first-served: always the oldest request.
    Fcfs,
}

/// Bits of a bank's number that select its bank group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BankGroupBits {
    /// The lowest bits: consecutive banks are in consecutive groups.
    Low,
    /// The highest bits: consecutive banks are in the same group.
    High,
}

/// Max banks of a channel, summed over its sub-ranks.
pub const MOST_BANKS: u32 = 64;

/// DRAM channel of a partition. Times are in command-clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Number of banks of a channel, a power of two.
    pub banks: u32,
    /// Row (page) size of a bank, bytes.
    pub row_bytes: u32,
    /// Mapping of a channel's address bits to row, bank and column, in GPGPU-Sim's notation. Empty: row bits above bank
    /// bits above column bits.
    pub mapping: AddressMapping,
    /// Burst size, the unit of transfer, bytes.
    pub burst_bytes: u32,
    /// Width of the data bus, bytes.
    pub bus_bytes: u32,
    /// Transfers per command-clock cycle.
    pub data_rate: u32,
    /// Sub-ranks of a channel (LAMAR, section 2.3.1). Chips, data bus and rows are divided equally among them; consecutive
    /// bursts are in consecutive sub-ranks. They share the command bus. 1: no division.
    pub sub_ranks: u32,
    /// Bank groups of a channel. Column commands to the same group are at least `tccdl` apart, others at least `tccd`. 1:
    /// no groups.
    pub bank_groups: u32,
    /// Bits of a bank's number that select its bank group.
    pub bank_group_bits: BankGroupBits,
    /// Fixed latency of the controller and the pads, both directions together, command-clock cycles.
    pub controller_latency: u32,
    /// Scheduling policy of the memory controller.
    pub scheduler: DramScheduler,
    /// Entries of the request queue, from which the scheduler chooses. If `write_high` is above 0 and `return_queue` is 0,
    /// writes have a second queue of the same size.
    pub queue: u32,
    /// Entries for replies that wait to leave. 0: the number of entries is that of `queue`; one half of
    /// `controller_latency` is in front of the banks, where requests occupy entries of `queue`, the other half behind them.
    /// Above 0: all of `controller_latency` is a delay line in front of `queue`, which holds reads and writes. Each bank
    /// then holds the request that it serves, outside `queue`, and at most `queue` + `return_queue` requests are in flight.
    pub return_queue: u32,
    /// Age at which a request is served before all row hits, command-clock cycles.
    pub starvation_cycles: u32,
    /// Entries for waiting writes, in addition to `queue` for reads; must be 0 if `return_queue` is 0. 0: no separate
    /// entries.
    pub write_queue: u32,
    /// Number of waiting writes that starts a write drain. 0: reads and writes share one queue with equal priority.
    pub write_high: u32,
    /// Number of waiting writes at which a write drain ends.
    pub write_low: u32,
    /// Read command to first data, command-clock cycles.
    pub tcl: u32,
    /// Precharge to activate, command-clock cycles.
    pub trp: u32,
    /// Activate to activate of the same bank, command-clock cycles.
    pub trc: u32,
    /// Activate to precharge, command-clock cycles.
    pub tras: u32,
    /// Activate to read or write command, command-clock cycles.
    pub trcd: u32,
    /// Activate to activate of another bank, command-clock cycles.
    pub trrd: u32,
    /// End of write data to read command, command-clock cycles.
    pub tcdlr: u32,
    /// End of write data to precharge, command-clock cycles.
    pub twr: u32,
    /// Write command to first data, command-clock cycles.
    pub tcwl: u32,
    /// Column command to column command, command-clock cycles.
    pub tccd: u32,
    /// Column command to column command of the same bank group, at least `tccd`, command-clock cycles. Ignored without bank
    /// groups.
    pub tccdl: u32,
    /// Read command to precharge, command-clock cycles.
    pub trtp: u32,
    /// Read command to write command, command-clock cycles. 0: derived from the other latencies, with one idle cycle of the
    /// data bus.
    pub trtw: u32,
    /// Mean time between refreshes of all banks, command-clock cycles. 0: no refresh.
    pub trefi: u32,
    /// Refresh to activate, command-clock cycles.
    pub trfc: u32,
    /// Coefficients of the channel's energy.
    pub energy: DramEnergy,
}

impl DramConfig {
    /// Returns the command-clock cycles of one burst on the data bus of its sub-rank.
    pub fn burst_cycles(&self) -> u32 {
        (self.burst_bytes * self.sub_ranks).div_ceil(self.bus_bytes * self.data_rate)
    }

    /// Returns the group of a bank.
    pub fn bank_group(&self, bank: u32) -> u32 {
        match self.bank_group_bits {
            BankGroupBits::Low => bank % self.bank_groups,
            BankGroupBits::High => bank / (self.banks / self.bank_groups),
        }
    }

    /// Returns the max number of bursts in one sub-rank among `bursts` consecutive ones.
    pub fn sub_rank_bursts(&self, bursts: u32) -> u32 {
        bursts.div_ceil(self.sub_ranks)
    }

    /// Returns the cycles from a read to a write command: as configured, or derived from the latencies with one idle cycle on the
    /// bus.
    pub fn read_to_write(&self) -> u32 {
        if self.trtw > 0 {
            self.trtw
        } else {
            (self.tcl + self.burst_cycles() + 1).saturating_sub(self.tcwl).max(1)
        }
    }

    /// Checks the channel, which serves the lines of `l2` in sectors of whole bursts.
    pub(super) fn check(&self, l2: &L2, check: &mut Checker<'_>) {
        let line_bytes = l2.line_bytes;
        check.power("dram.banks", self.banks, 1, MOST_BANKS);
        check.power("dram.row_bytes", self.row_bytes, line_bytes, 1 << 16);
        check.power("dram.burst_bytes", self.burst_bytes, 32, self.largest_burst(l2));
        check.power("dram.bus_bytes", self.bus_bytes, 1, 64);
        check.power("dram.data_rate", self.data_rate, 1, 16);
        self.check_sub_ranks(line_bytes, check);
        check.range("dram.controller_latency", self.controller_latency, 1, 1000);
        check.range("dram.queue", self.queue, 1, 1024);
        check.range("dram.starvation_cycles", self.starvation_cycles, 1, 1 << 30);
        check.range("dram.return_queue", self.return_queue, 0, 1024);
        check.range("dram.write_high", self.write_high, 0, self.queue.max(self.write_queue));
        check.range("dram.write_queue", self.write_queue, 0, if self.return_queue > 0 { 1024 } else { 0 });
        check.range("dram.write_low", self.write_low, 0, self.write_high.saturating_sub(1));
        self.check_bank_groups(check);
        self.check_timing(check);
        self.energy.check(check);
        if let Err(allowed) = self.check_mapping(l2) {
            check.fail("dram.mapping", self.mapping.text(), allowed);
        }
    }

    /// Returns the max bytes of a burst: a sector of `l2`. It is a line if a slice splits its requests, because a burst may then
    /// bring more than the requested sector.
    fn largest_burst(&self, l2: &L2) -> u32 {
        if l2.split_requests && self.sub_ranks == 1 { l2.line_bytes } else { l2.sector_bytes }
    }

    /// Checks that the mapping has a letter for each bit of bank and column, that its channel bit agrees with `l2`, and
    /// that each line is in one row.
    fn check_mapping(&self, l2: &L2) -> Result<(), String> {
        let bits = self.mapping.bits();
        if bits.is_empty() {
            return Ok(());
        }
        for (field, letters, key, value) in [
            (AddressField::Bank, "B", "dram.banks", self.banks),
            (AddressField::Column, "C and S", "dram.row_bytes", self.row_bytes),
        ] {
            let own: Vec<_> = bits.iter().filter(|b| b.field == field).collect();
            let wanted = value.trailing_zeros() as usize;
            if own.len() != wanted {
                let last = own.last().map_or(String::new(), |b| format!("position {}: ", b.position));
                return Err(format!(
                    "{last}{} letters {letters}: must be {wanted}, for {key} = {value}",
                    own.len()
                ));
            }
        }
        let line_bits = l2.line_bytes.trailing_zeros();
        if let Some(b) = bits.iter().rev().find(|b| b.bit < line_bits && b.field != AddressField::Column) {
            return Err(format!(
                "position {}: must be C or S in the lowest {line_bits} places, since a line of {} bytes is in one row",
                b.position, l2.line_bytes
            ));
        }
        match self.mapping.channel_bit() {
            Some(bit) if 1u64 << bit != u64::from(l2.interleave_bytes) => Err(format!(
                "position 8: dramid@{bit}: must be dramid@{}, for l2.interleave_bytes = {}",
                l2.interleave_bytes.trailing_zeros(),
                l2.interleave_bytes
            )),
            _ => Ok(()),
        }
    }

    /// Returns the max number of sub-ranks for lines of `line_bytes`. Each sub-rank needs a byte of the bus and a burst of each
    /// line.
    pub fn most_sub_ranks(&self, line_bytes: u32) -> u32 {
        let most =
            (line_bytes / self.burst_bytes.max(1)).min(self.bus_bytes).min(MOST_BANKS / self.banks.max(1));
        most.max(1)
    }

    fn check_bank_groups(&self, check: &mut Checker<'_>) {
        if self.sub_ranks > 1 && self.bank_groups > 1 {
            check.fail("dram.bank_groups", self.bank_groups, "allowed with sub-ranks is 1".into());
        }
        check.power("dram.bank_groups", self.bank_groups, 1, self.banks);
        if self.bank_groups > 1 {
            check.range("dram.tccdl", self.tccdl, self.tccd, 1000);
        }
    }

    fn check_sub_ranks(&self, line_bytes: u32, check: &mut Checker<'_>) {
        check.power("dram.sub_ranks", self.sub_ranks, 1, self.most_sub_ranks(line_bytes));
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
        check.range("dram.trc", self.trc, 1, 1000);
        check.range("dram.trtw", self.trtw, 0, 1000);
        check.range("dram.trfc", self.trfc, u32::from(self.trefi > 0), 1000);
        if self.trefi > 0 {
            // The time between two refreshes must suffice to close the rows and to serve requests.
            let least = 2 * (self.trfc.min(1000) + self.trc.min(1000) + self.twr.min(1000) + 100);
            check.range("dram.trefi", self.trefi, least, 1 << 20);
        }
    }
}
