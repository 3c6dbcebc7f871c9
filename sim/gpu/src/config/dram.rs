//! The DRAM channels.
use super::check::Checker;
use super::dram_energy::DramEnergy;
use super::l2::L2;
use super::mapping::{AddressMapping, Field};
use documented::DocumentedFields;
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

/// Which bits of a bank's number tell its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BankGroupBits {
    /// The lowest: consecutive banks are in consecutive groups.
    Low,
    /// The highest: consecutive banks are in one group.
    High,
}

/// Most banks of a channel, each sub-rank's counted.
pub const MOST_BANKS: u32 = 64;

/// A partition's DRAM channel. Times are in command-clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Banks of a channel.
    pub banks: u32,
    /// Bytes of a row (page) of one bank.
    pub row_bytes: u32,
    /// Which bits of a channel's address are row, bank and column; empty: row above bank above column.
    pub mapping: AddressMapping,
    /// Bytes of one burst: the unit of transfer.
    pub burst_bytes: u32,
    /// Width of the data bus, bytes.
    pub bus_bytes: u32,
    /// Transfers per command clock.
    pub data_rate: u32,
    /// Sub-ranks that the chips, and with them the data bus and each row, are divided into (LAMAR, section 2.3.1): a
    /// burst is in one of them, the next burst in the next. They share the command bus. 1: a whole rank.
    pub sub_ranks: u32,
    /// Groups of a channel's banks: column commands to one group are `tccdl` apart, others `tccd`. 1: no groups.
    pub bank_groups: u32,
    /// Which bits of a bank's number are its group's.
    pub bank_group_bits: BankGroupBits,
    /// Fixed latency of the controller and the pads, in and out together.
    pub controller_latency: u32,
    /// Scheduling policy.
    pub scheduler: DramScheduler,
    /// Requests the scheduler chooses from.
    pub queue: u32,
    /// Entries for replies that wait to leave. With 0 there are as many as in `queue`, and half of the controller's latency is
    /// behind the banks, half in front, where requests take places of the queue. Otherwise all of the latency is a delay line in
    /// front of the queue, which holds reads and writes; each bank holds the one request that it serves beside the queue, and as
    /// many requests as both queues have places are in flight.
    pub return_queue: u32,
    /// Age from which a request is served before any row hit.
    pub starvation_cycles: u32,
    /// Writes that the scheduler chooses from beside the reads, where `return_queue` has entries; 0: both share `queue`.
    pub write_queue: u32,
    /// Waiting writes that start a write drain; 0: reads and writes wait in one queue and none go first.
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
    /// The same within a bank group, no less than `tccd`; nothing looks at it where there are no groups.
    pub tccdl: u32,
    /// Read command to precharge.
    pub trtp: u32,
    /// Read command to write command; 0 derives it so that the bus turns around with one idle cycle.
    pub trtw: u32,
    /// From one refresh of all banks to the next, on average; 0: none.
    pub trefi: u32,
    /// Refresh to activate.
    pub trfc: u32,
    /// What its energy is computed from.
    pub energy: DramEnergy,
}

impl Dram {
    /// Command-clock cycles that one burst occupies the data bus of its sub-rank.
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

    /// Most bursts that one sub-rank has of `bursts` consecutive ones.
    pub fn sub_rank_bursts(&self, bursts: u32) -> u32 {
        bursts.div_ceil(self.sub_ranks)
    }

    /// Read command to write command: given, or derived from latencies and one cycle of bus turn-around.
    pub fn read_to_write(&self) -> u32 {
        if self.trtw > 0 {
            self.trtw
        } else {
            (self.tcl + self.burst_cycles() + 1).saturating_sub(self.tcwl).max(1)
        }
    }

    /// A channel serves the lines of a slice of `l2`, in sectors of whole bursts.
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

    /// Most bytes of a burst: those of a sector of `l2`, or of its line where a slice splits its requests and a burst brings more
    /// than the sector that is asked for.
    fn largest_burst(&self, l2: &L2) -> u32 {
        if l2.split_requests && self.sub_ranks == 1 { l2.line_bytes } else { l2.sector_bytes }
    }

    /// The mapping has a letter for each bit of bank and column, the channel where `l2` has it, and a line in one row.
    fn check_mapping(&self, l2: &L2) -> Result<(), String> {
        let bits = self.mapping.bits();
        if bits.is_empty() {
            return Ok(());
        }
        for (field, letters, key, value) in [
            (Field::Bank, "B", "dram.banks", self.banks),
            (Field::Column, "C and S", "dram.row_bytes", self.row_bytes),
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
        if let Some(b) = bits.iter().rev().find(|b| b.bit < line_bits && b.field != Field::Column) {
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

    /// Most sub-ranks for lines of `line_bytes`: each has a byte of the bus and a burst of a line at least.
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
            // Between two refreshes there is time to close the rows and to serve something.
            let least = 2 * (self.trfc.min(1000) + self.trc.min(1000) + self.twr.min(1000) + 100);
            check.range("dram.trefi", self.trefi, least, 1 << 20);
        }
    }
}
