//! The memory system behind the SMs: request crossbar, L2 partitions with their DRAM channels, reply crossbar.
pub mod address;
pub mod closed_form;
mod lookup;
pub mod part;
pub mod parts;
pub mod slice;
mod split;
#[cfg(test)]
mod tests;

pub use address::AddressMap;
pub use part::{DramPlan, L2Event, PartitionPart};
pub use parts::PartitionParts;
pub use slice::{L2Counters, Slice};

use crate::config::{GpuConfig, Interconnect};
use crate::crossbar::{CrossbarCounters, CrossbarSpec, Egress, Granted, Ingress, crossbar};
use crate::dram::{Channel, Checker, DramCounters};
use crate::id_set::IdSet;
use crate::packet::Packet;
use crate::stage::MechanismFault;
use crate::timeline::{Counter, Happening, Track, View};
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

/// Crossbars, L2 partitions and DRAM channels.
///
/// Each clock domain has its own tick and its own count of cycles, which may jump while nothing is
/// [`Self::busy`]. Within a core cycle the domains are ticked from memory to SM: DRAM, L2, crossbar, then the SMs
/// receive and send; [`closed_form`] counts on that order.
#[derive(State)]
pub struct MemorySystem {
    /// What SMs send to and receive from.
    pub(crate) near: Near,
    /// All behind it.
    pub(crate) far: Box<Far>,
    #[state(skip = "the configuration")]
    config: GpuConfig,
}

/// The side of the crossbars that SMs see. Requests that it has granted come to the [`Far`] side a crossbar latency later at the earliest.
#[derive(State)]
pub struct Near {
    pub(crate) requests: Ingress,
    pub(crate) replies: Egress,
    /// Base-2 logarithm of the SMs that share a port.
    sm_shift: u32,
}

/// The side of the crossbars that slices see, the slices, and the DRAM channels. Replies that it has granted come to the
/// [`Near`] side a crossbar latency later at the earliest.
#[derive(State)]
pub(crate) struct Far {
    pub requests: Egress,
    pub replies: Ingress,
    /// Base-2 logarithm of the SMs that share a port.
    sm_shift: u32,
    /// Base-2 logarithm of the slices of a partition.
    slice_shift: u32,
    partitions: Vec<Partition>,
    /// When slices have something to do, requests that come and replies of the channels apart.
    wakes: Wakes,
    /// Slices that run in an L2 cycle; empty between cycles.
    due: IdSet,
    /// Partitions whose channel has replies, arrived or in flight.
    replying: IdSet,
    dram_now: u64,
}

/// Where a receiver says that it has taken a packet.
pub trait Taken {
    /// A packet with so many bytes of data has been taken from port `output`.
    fn taken(&mut self, output: usize, data_bytes: u16);
}

impl Taken for Ingress {
    #[inline(always)]
    fn taken(&mut self, output: usize, data_bytes: u16) {
        self.free(output, data_bytes);
    }
}

impl Near {
    /// Has the crossbar room for `packet` from `sm`?
    #[inline]
    pub fn can_send(&self, sm: usize, packet: &Packet) -> bool {
        self.requests.can_send(sm >> self.sm_shift, packet)
    }

    /// Sends `packet` from `sm`, for which there is room, to its slice.
    #[inline]
    pub fn send(&mut self, sm: usize, packet: Packet) {
        self.requests.send(sm >> self.sm_shift, usize::from(packet.slice), packet);
    }

    /// Returns whether a reply has arrived whole at `sm`.
    #[inline]
    pub fn has_reply(&self, sm: usize) -> bool {
        self.replies.has_packet(sm >> self.sm_shift) && (self.sm_shift == 0 || self.is_for(sm))
    }

    /// Is the oldest answer at the port of `sm` one for it?
    #[cold]
    fn is_for(&self, sm: usize) -> bool {
        self.replies.peek(sm >> self.sm_shift).is_some_and(|packet| usize::from(packet.sm) == sm)
    }

    /// Takes the oldest answer that has arrived whole at `sm`, and says so to `taken`.
    #[inline(always)]
    pub fn receive(&mut self, sm: usize, taken: &mut (impl Taken + ?Sized)) -> Option<Packet> {
        if self.sm_shift > 0 && !self.has_reply(sm) {
            return None;
        }
        let port = sm >> self.sm_shift;
        let packet = self.replies.receive(port)?;
        taken.taken(port, packet.data_bytes);
        Some(packet)
    }
}

impl Far {
    /// Returns nothing at all: what stands in while another thread has the memory system's far side.
    pub fn nothing(config: &GpuConfig) -> Self {
        let (replies, requests) = crossbar(crossbar_spec(&config.interconnect, 0, 0));
        Far {
            requests,
            replies,
            sm_shift: 0,
            slice_shift: 0,
            partitions: Vec::new(),
            wakes: Wakes::new(0),
            due: IdSet::new(0),
            replying: IdSet::new(0),
            dram_now: 0,
        }
    }

    /// One L2 cycle. Says to `taken` which requests have been received.
    ///
    /// # Errors
    /// What a mechanism finds wrong.
    pub fn tick_l2(
        &mut self,
        now: u64,
        memory: &DeviceMemory,
        taken: &mut impl Taken,
    ) -> Result<(), MechanismFault> {
        self.wakes.take_due(now, &mut self.due);
        self.due.add_all(self.requests.arrived());
        let mut from = 0;
        while let Some(number) = self.replying.next(from) {
            from = number + 1;
            if let Some(reply) = self.partitions[number].channel.peek(self.dram_now) {
                self.due.insert(usize::from(reply.slice));
            }
        }
        // Those that join the set meanwhile come later in the order.
        while let Some(port) = self.due.pop() {
            self.tick_slice(port, now, memory, taken)?;
        }
        Ok(())
    }

    /// One L2 cycle of the slice at a port.
    fn tick_slice(
        &mut self,
        port: usize,
        now: u64,
        memory: &DeviceMemory,
        taken: &mut impl Taken,
    ) -> Result<(), MechanismFault> {
        let number = port >> self.slice_shift;
        let Partition { slices, channel, has_dram_work, .. } = &mut self.partitions[number];
        let slice = &mut slices[port & ((1 << self.slice_shift) - 1)];
        if self.requests.has_packet(port)
            && slice.can_accept()
            && let Some(packet) = self.requests.receive(port)
        {
            taken.taken(port, packet.data_bytes);
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
            // The channel's next reply is for a slice that has its turn later in this cycle, or in the next.
            match channel.peek(self.dram_now) {
                Some(reply) if usize::from(reply.slice) > port => self.due.insert(usize::from(reply.slice)),
                Some(_) => {}
                None if channel.returning() => {}
                None => self.replying.remove(number),
            }
        }
        Ok(())
    }

    /// One cycle of the DRAM's command clock.
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

    /// One crossbar cycle.
    #[inline]
    pub fn tick_interconnect(&mut self, now: u64, granted: &mut impl Granted) {
        self.requests.tick(now);
        self.replies.tick(now, granted);
    }

    /// Returns whether anything is in flight here, replies in the crossbar that are granted apart.
    pub fn busy(&self) -> bool {
        self.requests.ejected() > 0 || self.replies.busy() || self.partitions.iter().any(Partition::busy)
    }

    /// Returns whether no mechanism has a part in a slice.
    pub fn is_plain(&self) -> bool {
        self.partitions.iter().flat_map(|p| &p.slices).all(|slice| slice.parts().is_empty())
    }
}

impl MemorySystem {
    /// Returns an empty memory system with the mechanisms' parts of each slice.
    ///
    /// # Panics
    /// When `parts` are not those of each slice.
    pub fn new(config: &GpuConfig, parts: Vec<PartitionParts>) -> Self {
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
        let (near_requests, far_requests) = crossbar(crossbar_spec(&config.interconnect, ports, slices));
        let (far_replies, near_replies) = crossbar(crossbar_spec(&config.interconnect, slices, ports));
        let sm_shift = config.interconnect.sms_per_port.trailing_zeros();
        let far = Far {
            requests: far_requests,
            replies: far_replies,
            sm_shift,
            slice_shift: config.l2.slices.trailing_zeros(),
            partitions: (0..config.l2.partitions).map(partition).collect(),
            wakes: Wakes::of_awake(slices),
            due: IdSet::new(slices),
            replying: IdSet::new(config.l2.partitions as usize),
            dram_now: 0,
        };
        Self {
            near: Near { requests: near_requests, replies: near_replies, sm_shift },
            far: Box::new(far),
            config: config.clone(),
        }
    }

    /// The memory system of the base GPU.
    pub fn base(config: &GpuConfig) -> Self {
        Self::new(config, (0..config.l2.all_slices()).map(|_| PartitionParts::default()).collect())
    }

    /// Lets `witness` follow what slices and channels hold.
    pub fn watch(&mut self, witness: &Witness) {
        self.far.partitions.iter_mut().flat_map(|p| &mut p.slices).for_each(|slice| slice.watch(witness));
    }

    /// Leaves the L2 as a request of slice `slice` without timing does.
    pub(crate) fn warm(&mut self, slice: u16, line: u64, sectors: u32, is_write: bool) {
        let (slice, each) = (usize::from(slice), self.config.l2.slices as usize);
        self.far.partitions[slice / each].slices[slice % each].warm(line, sectors, is_write);
    }

    /// Has the crossbar room for `packet` from `sm`?
    #[inline]
    pub fn can_send(&self, sm: usize, packet: &Packet) -> bool {
        self.near.can_send(sm, packet)
    }

    /// Returns the flits that the port of `sm`, which it shares with no other, takes even if none leaves it.
    pub fn room(&self, sm: usize) -> u32 {
        self.near.requests.room(sm)
    }

    /// Returns the replies to `sm`, which shares its port with no other, that have left their slices' ports, with the crossbar cycles
    /// in which they arrive, in order. Others arrive a crossbar latency from now at the earliest.
    pub fn coming_replies(&self, sm: usize) -> impl Iterator<Item = &(u64, Packet)> {
        self.near.replies.coming(sm)
    }

    /// Sends `packet` from `sm` to its slice ([`AddressMap::slice`] of its line). The caller has made sure that
    /// [`Self::can_send`].
    #[inline]
    pub fn send(&mut self, sm: usize, packet: Packet) {
        self.near.send(sm, packet);
    }

    /// Returns whether several SMs have one port of the crossbar.
    #[inline]
    pub fn shares_ports(&self) -> bool {
        self.near.sm_shift != 0
    }

    /// Notes that `packet`, which found no room, waits in front of the port of `sm`; or that none does any more. The SM shares the
    /// port with no other.
    pub fn await_room(&mut self, sm: usize, packet: Option<&Packet>) {
        self.near.requests.await_room(sm, packet);
    }

    /// Returns whether a packet of any SM that waited for room has it now.
    #[inline]
    pub fn has_room_for_any(&mut self) -> bool {
        self.near.requests.has_room_for_any()
    }

    /// Returns whether the packet of `sm` that waited for room has it now.
    #[inline]
    pub fn has_room(&self, sm: usize) -> bool {
        self.near.requests.has_room(sm)
    }

    /// Returns the SMs at which a reply has arrived whole, or where they share ports, the numbers of those.
    #[inline]
    pub(crate) fn replies(&self) -> &IdSet {
        self.near.replies.arrived()
    }

    /// Returns whether a reply has arrived whole at `sm`.
    #[inline]
    pub fn has_reply(&self, sm: usize) -> bool {
        self.near.has_reply(sm)
    }

    /// The oldest answer that has arrived whole at `sm`.
    #[inline(always)]
    pub fn receive(&mut self, sm: usize) -> Option<Packet> {
        self.near.receive(sm, &mut self.far.replies)
    }

    /// One crossbar cycle.
    pub fn tick_interconnect(&mut self, now: u64) {
        let (near, far) = (&mut self.near, &mut *self.far);
        far.requests.tick(now);
        near.requests.tick(now, &mut far.requests);
        near.replies.tick(now);
        far.replies.tick(now, &mut near.replies);
    }

    /// One L2 cycle.
    ///
    /// # Errors
    /// What a mechanism finds wrong.
    #[inline]
    pub fn tick_l2(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        self.far.tick_l2(now, memory, &mut self.near.requests)
    }

    /// One cycle of the DRAM's command clock.
    #[inline]
    pub fn tick_dram(&mut self, now: u64) {
        self.far.tick_dram(now);
    }

    /// Returns whether any request, reply or dirty line is in flight.
    pub fn busy(&self) -> bool {
        self.near.requests.busy() || self.near.replies.ejected() > 0 || self.far.busy()
    }

    /// The counters so far.
    pub fn stats(&self) -> MemoryStats {
        let requests = self.near.requests.counters();
        let mut stats = MemoryStats {
            crossbar: CrossbarStats { requests, replies: self.far.replies.counters() },
            ..MemoryStats::default()
        };
        for Partition { slices, channel, .. } in &self.far.partitions {
            let dram = channel.counters_at(self.far.dram_now);
            let mut part = PartitionStats { dram, ..PartitionStats::default() };
            slices.iter().for_each(|slice| part.l2 += slice.counters());
            stats.l2 += part.l2;
            stats.dram += part.dram;
            stats.partitions.push(part);
        }
        stats
    }

    /// Returns what mechanisms have put into each slice.
    pub fn parts(&self) -> impl Iterator<Item = &PartitionParts> {
        self.far.partitions.iter().flat_map(|p| &p.slices).map(Slice::parts)
    }

    /// Lets an independent checker judge every DRAM command from now on, or no more. Call it before the first
    /// access.
    pub fn check_dram(&mut self, on: bool) {
        let most_bursts = self.config.l2.line_bytes / self.config.dram.burst_bytes;
        for Partition { channel, .. } in &mut self.far.partitions {
            channel.attach(on.then(|| Checker::new(&self.config.dram, most_bursts)));
        }
    }

    /// The first violation that the checkers have found, in one line.
    pub fn dram_violation(&self) -> Option<String> {
        let mut channels = self.far.partitions.iter().map(|p| &p.channel).enumerate();
        channels.find_map(|(n, c)| c.violations().first().map(|v| format!("DRAM channel {n}: {v}")))
    }

    /// Commands that the checkers have judged.
    pub fn dram_commands_checked(&self) -> u64 {
        self.far.partitions.iter().map(|p| p.channel.checked()).sum()
    }

    /// Shows lines in flight, open rows and the work of the channels, for a timeline.
    pub(crate) fn show(&self, view: &mut View) {
        let mut slice = 0;
        for (channel, partition) in (0..).zip(&self.far.partitions) {
            for one in &partition.slices {
                let mut misses = 0;
                for (entry, line) in one.misses() {
                    view.show(Track::L2Mshr { slice, entry }, Happening::Miss { line });
                    misses += 1;
                }
                view.level(Counter::L2Misses { slice }, misses);
                slice += 1;
            }
            for (sub_rank, bank, row) in partition.channel.open_rows() {
                view.show(Track::Bank { channel, sub_rank, bank }, Happening::Row { row });
            }
            view.total(Counter::Bursts { channel }, partition.channel.bursts());
        }
    }

    /// One line per packet, request and line that waits: component, queue, what waits. For deadlock reports.
    pub fn describe_waiting(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.near.requests.describe_waiting("request crossbar", &mut lines);
        self.far.requests.describe_waiting("request crossbar", &mut lines);
        for (number, Partition { slices, channel, .. }) in self.far.partitions.iter().enumerate() {
            slices.iter().for_each(|slice| slice.describe_waiting(&mut lines));
            channel.describe_waiting(&format!("DRAM channel {number}"), &mut lines);
        }
        self.far.replies.describe_waiting("reply crossbar", &mut lines);
        self.near.replies.describe_waiting("reply crossbar", &mut lines);
        lines
    }
}

/// The slices of the L2 that share a DRAM channel.
#[derive(State)]
struct Partition {
    slices: Vec<Slice>,
    channel: Channel,
    /// The slice that the channel takes the next request of, if there is one.
    turn: usize,
    /// Requests wait in front of the channel or in it.
    has_dram_work: bool,
}

impl Partition {
    fn busy(&self) -> bool {
        self.channel.busy() || self.channel.returning() || self.slices.iter().any(Slice::busy)
    }

    /// One cycle of the DRAM's command clock.
    fn tick_dram(&mut self, now: u64) {
        self.send_one(now);
        self.channel.tick(now);
        self.has_dram_work = self.channel.busy() || self.slices.iter().any(Slice::waits_for_dram);
    }

    /// Sends a request of one of the slices to the channel, which takes one in a cycle: the first in turn whose request finds room.
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
