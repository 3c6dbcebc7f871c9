//! The memory system behind the SMs: request crossbar, L2 partitions with their DRAM channels, reply crossbar.
pub mod address;
pub mod closed_form;
mod lookup;
pub mod part;
pub mod parts;
pub mod slice;
#[cfg(test)]
mod tests;

pub use address::AddressMap;
pub use part::{DramPlan, L2Event, PartitionPart};
pub use parts::PartitionParts;
pub use slice::{L2Counters, Slice};

use crate::config::{GpuConfig, Interconnect};
use crate::crossbar::{Crossbar, CrossbarCounters, CrossbarSpec};
use crate::dram::{Checker, DramCounters};
use crate::packet::Packet;
use crate::stage::MechanismFault;
use crate::witness::Witness;
use selvedge_ptx::memory::DeviceMemory;
use serde::Serialize;

/// Counters of one partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartitionStats {
    /// The L2 slice.
    pub l2: L2Counters,
    /// The DRAM channel.
    pub dram: DramCounters,
}

/// Counters of the two crossbars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrossbarStats {
    /// From SMs to partitions.
    pub requests: CrossbarCounters,
    /// From partitions to SMs.
    pub replies: CrossbarCounters,
}

/// Counters of the memory system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryStats {
    /// All L2 slices.
    pub l2: L2Counters,
    /// All DRAM channels; `cycles` adds the channels up, so that `busy_cycles / cycles` is the utilization.
    pub dram: DramCounters,
    /// The crossbars.
    pub crossbar: CrossbarStats,
    /// Each partition.
    pub partitions: Vec<PartitionStats>,
}

/// Crossbars, L2 partitions and DRAM channels.
///
/// Each clock domain has its own tick and its own count of cycles, which may jump while nothing is
/// [`Self::busy`]. Within a core cycle the domains are ticked from memory to SM: DRAM, L2, crossbar, then the SMs
/// receive and send; [`closed_form`] counts on that order.
pub struct MemorySystem {
    requests: Crossbar,
    replies: Crossbar,
    slices: Vec<Slice>,
    dram_now: u64,
    config: GpuConfig,
}

impl MemorySystem {
    /// Returns an empty memory system with the mechanisms' parts of each partition.
    ///
    /// # Panics
    /// When `parts` are not those of each partition.
    pub fn new(config: &GpuConfig, parts: Vec<PartitionParts>) -> Self {
        let (sms, partitions) = (config.sm.count as usize, config.l2.partitions as usize);
        assert_eq!(parts.len(), partitions, "the parts of each partition");
        let numbered = (0..).zip(parts);
        Self {
            requests: Crossbar::new(crossbar_spec(&config.interconnect, sms, partitions)),
            replies: Crossbar::new(crossbar_spec(&config.interconnect, partitions, sms)),
            slices: numbered.map(|(number, parts)| Slice::new(config, number, parts)).collect(),
            dram_now: 0,
            config: config.clone(),
        }
    }

    /// The memory system of the base GPU.
    pub fn base(config: &GpuConfig) -> Self {
        Self::new(config, (0..config.l2.partitions).map(|_| PartitionParts::default()).collect())
    }

    /// Lets `witness` follow what slices and channels hold.
    pub fn watch(&mut self, witness: &Witness) {
        self.slices.iter_mut().for_each(|slice| slice.watch(witness));
    }

    /// Has the crossbar room for `packet` from `sm`?
    pub fn can_send(&self, sm: usize, packet: &Packet) -> bool {
        self.requests.can_send(sm, packet)
    }

    /// Sends `packet` from `sm` to its partition ([`AddressMap::partition`] of its line). The caller has made sure
    /// that [`Self::can_send`].
    pub fn send(&mut self, sm: usize, packet: Packet) {
        self.requests.send(sm, usize::from(packet.partition), packet);
    }

    /// Has an answer arrived whole at `sm`?
    pub fn has_reply(&self, sm: usize) -> bool {
        self.replies.has_packet(sm)
    }

    /// The oldest answer that has arrived whole at `sm`.
    pub fn receive(&mut self, sm: usize) -> Option<Packet> {
        self.replies.receive(sm)
    }

    /// One crossbar cycle.
    pub fn tick_interconnect(&mut self, now: u64) {
        self.requests.tick(now);
        self.replies.tick(now);
    }

    /// One L2 cycle.
    ///
    /// # Errors
    /// What a mechanism finds wrong.
    pub fn tick_l2(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        for (number, slice) in self.slices.iter_mut().enumerate() {
            if self.requests.has_packet(number)
                && slice.can_accept()
                && let Some(packet) = self.requests.receive(number)
            {
                slice.accept(packet);
            }
            if !slice.has_work(self.dram_now) {
                continue;
            }
            slice.tick(now, self.dram_now, memory)?;
            if let Some(packet) = slice.reply().copied()
                && self.replies.can_send(number, &packet)
            {
                slice.take_reply();
                self.replies.send(number, usize::from(packet.sm), packet);
            }
        }
        Ok(())
    }

    /// One cycle of the DRAM's command clock.
    pub fn tick_dram(&mut self, now: u64) {
        self.dram_now = now;
        for slice in self.slices.iter_mut().filter(|s| s.dram_busy() || s.refresh_due(now)) {
            slice.tick_dram(now);
        }
    }

    /// Is any request, answer or dirty line on its way?
    pub fn busy(&self) -> bool {
        self.requests.busy() || self.replies.busy() || self.slices.iter().any(Slice::busy)
    }

    /// The counters so far.
    pub fn stats(&self) -> MemoryStats {
        let mut stats = MemoryStats {
            crossbar: CrossbarStats { requests: self.requests.counters(), replies: self.replies.counters() },
            ..MemoryStats::default()
        };
        for slice in &self.slices {
            let part =
                PartitionStats { l2: slice.counters(), dram: slice.channel().counters_at(self.dram_now) };
            stats.l2 += part.l2;
            stats.dram += part.dram;
            stats.partitions.push(part);
        }
        stats
    }

    /// Returns what mechanisms have put into each partition.
    pub fn parts(&self) -> impl Iterator<Item = &PartitionParts> {
        self.slices.iter().map(Slice::parts)
    }

    /// Lets an independent checker judge every DRAM command from now on, or no more. Call it before the first
    /// access.
    pub fn check_dram(&mut self, on: bool) {
        let most_bursts = self.config.l2.line_bytes / self.config.dram.burst_bytes;
        for slice in &mut self.slices {
            slice.channel_mut().attach(on.then(|| Checker::new(&self.config.dram, most_bursts)));
        }
    }

    /// The first violation that the checkers have found, in one line.
    pub fn dram_violation(&self) -> Option<String> {
        let mut channels = self.slices.iter().enumerate();
        channels.find_map(|(n, s)| s.channel().violations().first().map(|v| format!("DRAM channel {n}: {v}")))
    }

    /// Commands that the checkers have judged.
    pub fn dram_commands_checked(&self) -> u64 {
        self.slices.iter().map(|s| s.channel().checked()).sum()
    }

    /// One line per packet, request and line that waits: component, queue, what waits. For deadlock reports.
    pub fn describe_waiting(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.requests.describe_waiting("request crossbar", &mut lines);
        for slice in &self.slices {
            slice.describe_waiting(&mut lines);
        }
        self.replies.describe_waiting("reply crossbar", &mut lines);
        lines
    }
}

fn crossbar_spec(config: &Interconnect, inputs: usize, outputs: usize) -> CrossbarSpec {
    CrossbarSpec {
        inputs,
        outputs,
        flit_bytes: config.flit_bytes,
        input_flits: config.input_flits,
        output_flits: config.output_flits,
        latency: config.latency,
    }
}
