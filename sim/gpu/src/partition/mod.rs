//! The memory system behind the SMs: request crossbar, L2 partitions with their DRAM channels, reply crossbar.
pub mod address;
mod atomics;
pub mod closed_form;
mod dram_path;
mod input;
mod lines;
mod lookup;
mod output;
pub mod part;
pub mod parts;
pub mod slice;
mod spec;
mod split;
#[cfg(test)]
mod tests;

pub use address::AddressMap;
pub use part::{DramPlan, L2Event, SlicePart};
pub use parts::SliceParts;
pub use slice::{L2Counters, Slice};

use crate::cache::SECTOR_BYTES;
use crate::config::{GpuConfig, Interconnect};
use crate::crossbar::{Crossbar, CrossbarCounters, CrossbarSpec};
use crate::dram::{Channel, CommandChecker, DramCounters};
use crate::id_set::IdSet;
use crate::packet::Packet;
use crate::stage::MechanismFault;
use crate::timeline::{CycleView, Happening, TimelineCounter, Track};
use crate::wakes::Wakes;
use crate::witness::Witness;
use schemars::JsonSchema;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;
use serde::Serialize;

/// Counters of one partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PartitionStats {
    /// Its L2 slices.
    pub l2: L2Counters,
    /// The DRAM channel.
    pub dram: DramCounters,
}

/// Counters of the two crossbars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, State)]
pub struct CrossbarStats {
    /// From SMs to partitions.
    pub requests: CrossbarCounters,
    /// From partitions to SMs.
    pub replies: CrossbarCounters,
}

/// Counters of the memory system.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
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

/// The crossbars, L2 partitions and DRAM channels behind the SMs.
///
/// Each clock domain has its own tick and its own count of cycles. The counts may skip cycles while the system is not
/// [`Self::busy`]. Within a core cycle the domains tick from memory to SM: DRAM, L2, crossbar. Then the SMs receive and send.
/// [`closed_form`] relies on that order.
#[derive(State)]
pub struct MemorySystem {
    requests: Crossbar,
    replies: Crossbar,
    /// Base-2 logarithm of the number of SMs that share a port.
    sm_shift: u32,
    /// Base-2 logarithm of the number of slices per partition.
    slice_shift: u32,
    partitions: Vec<Partition>,
    /// Next cycles in which slices must run. Arriving requests and DRAM replies wake slices separately.
    wakes: Wakes,
    /// Slices that must run in this L2 cycle; empty between cycles.
    due: IdSet,
    /// Partitions whose channel has replies, arrived or in flight.
    replying: IdSet,
    dram_now: u64,
    #[state(skip = "the configuration")]
    config: GpuConfig,
}

impl MemorySystem {
    /// Returns an empty memory system. `parts` are the mechanisms' parts, one for each slice.
    ///
    /// # Panics
    /// Panics if the number of `parts` differs from the number of slices.
    pub fn new(config: &GpuConfig, parts: Vec<SliceParts>) -> Self {
        let (sms, slices) = (config.sm.count, config.l2.all_slices() as usize);
        let ports = sms.div_ceil(config.interconnect.sms_per_port) as usize;
        assert_eq!(parts.len(), slices, "the parts of each slice");
        let mut numbered = (0..).zip(parts).map(|(number, parts)| Slice::new(config, number, parts));
        let partition = |_| Partition {
            slices: numbered.by_ref().take(config.l2.slices as usize).collect(),
            channel: Channel::new(&config.dram, config.l2.line_bytes),
            turn: 0,
            has_dram_work: false,
        };
        Self {
            requests: Crossbar::new(crossbar_spec(&config.interconnect, ports, slices)),
            replies: Crossbar::new(crossbar_spec(&config.interconnect, slices, ports)),
            sm_shift: config.interconnect.sms_per_port.trailing_zeros(),
            slice_shift: config.l2.slices.trailing_zeros(),
            partitions: (0..config.l2.partitions).map(partition).collect(),
            wakes: Wakes::of_awake(slices),
            due: IdSet::new(slices),
            replying: IdSet::new(config.l2.partitions as usize),
            dram_now: 0,
            config: config.clone(),
        }
    }

    /// Returns a memory system without mechanisms.
    pub fn base(config: &GpuConfig) -> Self {
        Self::new(config, (0..config.l2.all_slices()).map(|_| SliceParts::default()).collect())
    }

    /// Lets `witness` follow the contents of slices and channels.
    pub fn watch(&mut self, witness: &Witness) {
        self.partitions.iter_mut().flat_map(|p| &mut p.slices).for_each(|slice| slice.watch(witness));
    }

    /// Changes the L2 as a request to slice `slice` without timing does. Returns whether all sectors were valid.
    pub(crate) fn warm(&mut self, now: u64, slice: u16, line: u64, sectors: u32, is_write: bool) -> bool {
        let (slice, each) = (usize::from(slice), self.config.l2.slices as usize);
        self.partitions[slice / each].slices[slice % each].warm(now, line, sectors, is_write)
    }

    /// Takes a copy of bytes from the host to a physical address, in L2 cycle `now`.
    pub(crate) fn copied(&mut self, now: u64, copy: (u64, u64), memory: &DeviceMemory) {
        let map = AddressMap::new(&self.config.l2);
        let each = self.config.l2.slices as usize;
        for (line, sectors) in self.lines_of(copy) {
            let port = usize::from(map.slice(line));
            self.partitions[port / each].slices[port % each].copied(now, line, sectors, memory);
            self.wakes.set(port, now, now + 1);
        }
    }

    /// Returns the lines of the L2 that contain the `bytes` bytes from the physical `address`, and their 32-byte sectors.
    pub(crate) fn lines_of(&self, (address, bytes): (u64, u64)) -> impl Iterator<Item = (u64, u32)> + use<> {
        let line_bytes = u64::from(self.config.l2.line_bytes);
        let end = address + bytes;
        (address & !(line_bytes - 1)..end).step_by(line_bytes as usize).map(move |line| {
            let first = (address.max(line) - line) / u64::from(SECTOR_BYTES);
            let last = (end.min(line + line_bytes) - line - 1) / u64::from(SECTOR_BYTES);
            (line, (u32::MAX << first) & (u32::MAX >> (31 - last)))
        })
    }

    /// Returns whether the crossbar has room for `packet` from `sm`.
    #[inline]
    pub fn can_send(&self, sm: usize, packet: &Packet) -> bool {
        self.requests.can_send(sm >> self.sm_shift, packet)
    }

    /// Sends `packet` from `sm` to its slice, which is [`AddressMap::slice`] of its line. [`Self::can_send`] must have returned
    /// `true`.
    #[inline]
    pub fn send(&mut self, sm: usize, packet: Packet) {
        self.requests.send(sm >> self.sm_shift, usize::from(packet.slice), packet);
    }

    /// Returns whether several SMs share one port of the crossbar.
    #[inline]
    pub fn shares_ports(&self) -> bool {
        self.sm_shift != 0
    }

    /// Records that `packet` of `sm` waits for room in the crossbar; `None` records that no packet waits. The SM must not share
    /// its port.
    pub fn await_room(&mut self, sm: usize, packet: Option<&Packet>) {
        self.requests.await_room(sm, packet);
    }

    /// Returns whether any packet recorded by [`Self::await_room`] has room now.
    #[inline]
    pub fn has_room_for_any(&mut self) -> bool {
        self.requests.has_room_for_any()
    }

    /// Returns whether the waiting packet of `sm` has room now.
    #[inline]
    pub fn has_room(&self, sm: usize) -> bool {
        self.requests.has_room(sm)
    }

    /// Returns the SMs at which a complete reply has arrived. If SMs share ports, returns the ports instead.
    #[inline]
    pub(crate) fn replies(&self) -> &IdSet {
        self.replies.arrived()
    }

    /// Returns whether a complete reply has arrived at `sm`.
    #[inline]
    pub fn has_reply(&self, sm: usize) -> bool {
        self.replies.has_packet(sm >> self.sm_shift) && (self.sm_shift == 0 || self.is_for(sm))
    }

    /// Returns whether the oldest reply at the port of `sm` is for this SM.
    #[cold]
    fn is_for(&self, sm: usize) -> bool {
        self.replies.peek(sm >> self.sm_shift).is_some_and(|packet| usize::from(packet.sm) == sm)
    }

    /// Takes the oldest complete reply at `sm`.
    #[inline(always)]
    pub fn receive(&mut self, sm: usize) -> Option<Packet> {
        if self.sm_shift > 0 && !self.has_reply(sm) {
            return None;
        }
        self.replies.receive(sm >> self.sm_shift)
    }

    /// Runs one crossbar cycle.
    pub fn tick_interconnect(&mut self, now: u64) {
        self.requests.tick(now);
        self.replies.tick(now);
    }

    /// Runs one L2 cycle.
    ///
    /// # Errors
    /// Returns the error that a mechanism detected.
    pub fn tick_l2(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        self.wakes.take_due(now, &mut self.due);
        self.due.add_all(self.requests.arrived());
        let mut from = 0;
        while let Some(number) = self.replying.next(from) {
            from = number + 1;
            if let Some(reply) = self.partitions[number].channel.peek(self.dram_now) {
                self.due.insert(usize::from(reply.slice));
            }
        }
        // A slice that joins the set in this loop has a higher number, so that `pop` still finds it.
        while let Some(port) = self.due.pop() {
            self.tick_slice(port, now, memory)?;
        }
        Ok(())
    }

    /// Runs one L2 cycle of the slice at a port.
    fn tick_slice(&mut self, port: usize, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        let number = port >> self.slice_shift;
        let Partition { slices, channel, has_dram_work, .. } = &mut self.partitions[number];
        let slice = &mut slices[port & ((1 << self.slice_shift) - 1)];
        if self.requests.has_packet(port)
            && slice.can_accept()
            && let Some(packet) = self.requests.receive(port)
        {
            slice.accept(packet);
        }
        slice.tick(now, (channel, self.dram_now), memory)?;
        *has_dram_work |= slice.waits_for_dram();
        if let Some(packet) = slice.reply().copied()
            && self.replies.can_send(port, &packet)
        {
            slice.take_reply();
            self.replies.send(port, usize::from(packet.sm) >> self.sm_shift, packet);
        }
        self.wakes.set(port, now, slice.idle_until().max(now + 1));
        if self.replying.contains(number) {
            // The channel's next reply may be for a slice that runs later in this cycle, or in the next cycle.
            match channel.peek(self.dram_now) {
                Some(reply) if usize::from(reply.slice) > port => self.due.insert(usize::from(reply.slice)),
                Some(_) => {}
                None if channel.returning() => {}
                None => self.replying.remove(number),
            }
        }
        Ok(())
    }

    /// Runs one cycle of the DRAM's command clock.
    pub fn tick_dram(&mut self, now: u64) {
        self.dram_now = now;
        for (number, partition) in self.partitions.iter_mut().enumerate() {
            if partition.has_dram_work || partition.channel.refresh_due(now) {
                partition.tick_dram(now);
                if partition.channel.returning() {
                    self.replying.insert(number);
                }
            }
        }
    }

    /// Returns whether any request, reply or dirty line is in flight.
    pub fn busy(&self) -> bool {
        self.requests.busy() || self.replies.busy() || self.partitions.iter().any(Partition::busy)
    }

    /// Returns the counters so far.
    pub fn stats(&self) -> MemoryStats {
        let mut stats = MemoryStats {
            crossbar: CrossbarStats { requests: self.requests.counters(), replies: self.replies.counters() },
            ..MemoryStats::default()
        };
        for Partition { slices, channel, .. } in &self.partitions {
            let dram = channel.counters_at(self.dram_now);
            let mut part = PartitionStats { dram, ..PartitionStats::default() };
            slices.iter().for_each(|slice| part.l2 += slice.counters());
            stats.l2 += part.l2;
            stats.dram += part.dram;
            stats.partitions.push(part);
        }
        stats
    }

    /// Returns the mechanisms' parts of each slice.
    pub fn parts(&self) -> impl Iterator<Item = &SliceParts> {
        self.partitions.iter().flat_map(|p| &p.slices).map(Slice::parts)
    }

    /// Attaches an independent checker of every DRAM command, or detaches it. Must be called before the first access.
    pub fn check_dram(&mut self, on: bool) {
        let most_bursts = self.config.l2.line_bytes / self.config.dram.burst_bytes;
        for Partition { channel, .. } in &mut self.partitions {
            channel.attach(on.then(|| CommandChecker::new(&self.config.dram, most_bursts)));
        }
    }

    /// Returns the first violation that the checkers found, in one line.
    pub fn dram_violation(&self) -> Option<String> {
        let mut channels = self.partitions.iter().map(|p| &p.channel).enumerate();
        channels.find_map(|(n, c)| c.violations().first().map(|v| format!("DRAM channel {n}: {v}")))
    }

    /// Returns the number of commands that the checkers have checked.
    pub fn dram_commands_checked(&self) -> u64 {
        self.partitions.iter().map(|p| p.channel.checked()).sum()
    }

    /// Adds lines in flight, open rows and the bursts of the channels to a timeline.
    pub(crate) fn show(&self, view: &mut CycleView) {
        let mut slice = 0;
        for (channel, partition) in (0..).zip(&self.partitions) {
            for one in &partition.slices {
                let mut misses = 0;
                for (entry, line) in one.misses() {
                    view.show(Track::L2Mshr { slice, entry }, Happening::Miss { line });
                    misses += 1;
                }
                view.level(TimelineCounter::L2Misses { slice }, misses);
                slice += 1;
            }
            for (sub_rank, bank, row) in partition.channel.open_rows() {
                view.show(Track::Bank { channel, sub_rank, bank }, Happening::Row { row });
            }
            view.total(TimelineCounter::Bursts { channel }, partition.channel.bursts());
        }
    }

    /// Returns one line per waiting packet, request and line, with its component and the resource it waits for. For deadlock
    /// reports.
    pub fn describe_waiting(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.requests.describe_waiting("request crossbar", &mut lines);
        for (number, Partition { slices, channel, .. }) in self.partitions.iter().enumerate() {
            slices.iter().for_each(|slice| slice.describe_waiting(&mut lines));
            channel.describe_waiting(&format!("DRAM channel {number}"), &mut lines);
        }
        self.replies.describe_waiting("reply crossbar", &mut lines);
        lines
    }
}

/// L2 slices that share a DRAM channel.
#[derive(State)]
struct Partition {
    slices: Vec<Slice>,
    channel: Channel,
    /// The slice that may send the next request to the channel.
    turn: usize,
    /// `true` while requests wait for the channel or in it.
    has_dram_work: bool,
}

impl Partition {
    fn busy(&self) -> bool {
        self.channel.busy() || self.channel.returning() || self.slices.iter().any(Slice::busy)
    }

    /// Runs one cycle of the DRAM's command clock.
    fn tick_dram(&mut self, now: u64) {
        self.send_one(now);
        self.channel.tick(now);
        self.has_dram_work = self.channel.busy() || self.slices.iter().any(Slice::waits_for_dram);
    }

    /// Sends at most one request to the channel, from the first slice in round-robin order whose request has room.
    fn send_one(&mut self, now: u64) {
        let count = self.slices.len();
        for at in (self.turn..count).chain(0..self.turn) {
            let slice = &mut self.slices[at];
            if slice.waits_for_dram() && slice.send_to(&mut self.channel, now) {
                self.turn = if at + 1 < count { at + 1 } else { 0 };
                return;
            }
        }
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
        gap: config.packet_gap,
        sm_shift: config.sms_per_port.trailing_zeros(),
    }
}
