//! A slice of the L2, in front of its partition's DRAM channel. `lookup.rs` decides the outcome of each request.
//!
//! ```text
//! requests -> [queue] -> port -> tags: hit ------------------------------> [pipe] -> [replies] ->
//!                         ^        |  miss -> MSHR, victim -> [evictions] ~> [to_dram] -> channel
//!                         +-- [replay] <- MSHR released <- fill <~ returns <------------- channel
//! ```
//! The port handles one request per cycle: first requests whose line has just arrived (replays), then new requests in order. A
//! new request that cannot be handled blocks those behind it. A write that leaves the mechanism's write stage takes no port
//! cycle. With a data port narrower than a line, a replay takes none either.
//!
//! All replies go through the hit pipeline, so that a miss costs the hit latency and the time in DRAM. An atomic enters the
//! pipeline with its last operation (`atomics.rs`). Replies leave the pipeline in the order of their ready cycles, not in order
//! of entry. `~` marks the mechanism's stages ([`PartitionPart`](super::part::PartitionPart)).
use super::address::AddressMap;
use super::atomics::AtomicUnit;
use super::parts::PartitionParts;
use super::split::Splits;
use crate::cache::{LinePart, MshrTable, Probe, SECTOR_BYTES, SectorUse, Sectors, TagArray};
use crate::config::{Allocate, Fetch, GpuConfig, L2WritePolicy, WriteAllocate};
use crate::dram::{Access, Bursts, Channel, Request};
use crate::packet::{Packet, PacketKind};
use crate::stage::{MechanismFault, Offer};
use crate::stats::{CacheCounters, counters};
use crate::witness::Witness;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;
use std::collections::VecDeque;

/// Max requests to DRAM that a read miss makes at once: data or metadata, and a metadata write-back.
pub(super) const READ_REQUESTS: usize = 2;
/// Max requests to DRAM of an eviction: data, metadata, and a metadata write-back.
pub(super) const WRITE_REQUESTS: usize = 3;
/// Max lines between the mechanism's fill stage and the tags.
const FILLED_LINES: usize = 2;

counters! {
/// Counters of an L2 slice.
pub struct L2Counters {
    /// Outcomes of its accesses.
    #[serde(flatten)]
    pub cache: CacheCounters,
    /// Atomics among the accesses.
    pub atomics: u64,
    /// Operations of those atomics: one for each lane.
    #[serde(skip_serializing_if = "crate::stats::is_zero")]
    pub atomic_operations: u64,
    /// Cycles in which an atomic waited for the atomic unit.
    #[serde(skip_serializing_if = "crate::stats::is_zero")]
    pub atomic_stalls: u64,
    /// Accesses that split requests have become beyond one each, and packets of answers beyond one each.
    #[serde(skip_serializing_if = "crate::stats::is_zero")]
    pub split_parts: u64,
    /// Lines, or parts of lines with sectors, that came from DRAM.
    pub fills: u64,
    /// Dirty lines and passed-on writes that left for DRAM.
    pub writebacks: u64,
    /// Bursts that were read for stores that miss.
    pub allocation_bursts: u64,
    /// Bursts of stores that went on to DRAM at once.
    pub forwarded_bursts: u64,
    /// Cycles in which the port stood still because replies could not leave.
    pub reply_stalls: u64,
    /// Cycles in which a request waited for the mechanism's write stage, or for a write in it.
    pub write_stage_stalls: u64,
    /// DRAM command cycles in which a request waited because the channel's queue was full.
    pub dram_full_cycles: u64,
}
}

/// The state of a line in the slice.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct LineState {
    /// Sectors whose bytes are all present.
    pub valid: u32,
    /// Sectors that were written and not sent to DRAM. A dirty sector that is not valid was partly written.
    pub dirty: u32,
    /// 4-byte words that were written to sectors that were not valid.
    pub words: u64,
    /// The use of the sectors by requests.
    pub sectors: SectorUse,
}

/// A read that waits for its metadata burst.
#[derive(Clone, Copy, State)]
pub(super) struct Parked {
    pub metadata: u64,
    pub arrived: bool,
    pub request: Request,
}

/// A reply in the hit pipeline.
#[derive(State)]
struct Answer {
    /// The first cycle in which it may leave.
    ready: u64,
    packet: Packet,
    /// The request did not wait for its line.
    is_hit: bool,
}

/// An L2 slice in front of a DRAM channel.
#[derive(State)]
pub struct Slice {
    pub(super) number: u16,
    pub(super) map: AddressMap,
    pub(super) line_bytes: u32,
    /// The division of a line into bursts.
    pub(super) bursts: Sectors,
    pub(super) sectors: Sectors,
    #[state(skip = "the configuration")]
    pub(super) fetch: Fetch,
    pub(super) writes_back: bool,
    #[state(skip = "the configuration")]
    pub(super) write_allocate: WriteAllocate,
    #[state(skip = "the configuration")]
    pub(super) allocate: Allocate,
    hit_latency: u64,
    request_capacity: usize,
    reply_capacity: usize,
    pub(super) eviction_capacity: usize,
    dram_capacity: usize,
    pub(super) parts: PartitionParts,
    pub(super) burst_bytes: u32,
    requests: VecDeque<Packet>,
    /// The requests with unanswered parts, if requests are split.
    splits: Option<Splits>,
    /// The mechanism has let the write at the head of `requests` pass.
    head_may_enter: bool,
    /// The sectors of the writes in the mechanism's write stage. Requests for the same sectors wait behind them.
    staged: Vec<LinePart>,
    /// A write that has left the mechanism's write stage.
    entering: Option<Packet>,
    pub(super) tags: TagArray<LineState>,
    /// `true` if the slice has more tags than ways.
    pub(super) is_compressed: bool,
    /// Lines evicted in this access to make room; empty between accesses.
    pub(super) making_room: Vec<(u64, LineState)>,
    pub(super) mshr: MshrTable<Packet>,
    pub(super) atomics: AtomicUnit,
    /// Requests whose line has arrived; the port has handled the first `replayed` ones.
    pub(super) replay: Vec<Packet>,
    pub(super) replayed: usize,
    pipe: VecDeque<Answer>,
    replies: VecDeque<Packet>,
    pub(super) evictions: VecDeque<LinePart>,
    /// Lines that have left the tags but not reached `to_dram`. They must not be read from DRAM yet.
    pub(super) leaving: Vec<u64>,
    /// Lines of forwarded stores, to be fetched after the stores have left.
    pub(super) fetches_behind_stores: VecDeque<LinePart>,
    filled: VecDeque<LinePart>,
    pub(super) to_dram: VecDeque<Request>,
    port_bytes: u32,
    /// The first cycle in which the data port is free, if it is narrower than a line.
    port_free_from: u64,
    /// The slice has no work before this cycle unless a request or a DRAM reply arrives.
    idle_until: u64,
    metadata_reads: Vec<u64>,
    pub(super) parked: VecDeque<Parked>,
    pub(super) witness: Witness,
    pub(super) counters: L2Counters,
}

impl Slice {
    /// Returns the empty slice `number`, counted over all partitions.
    pub fn new(config: &GpuConfig, number: u16, mut parts: PartitionParts) -> Self {
        let l2 = &config.l2;
        let tags_per_way = parts.tags_per_way();
        Self {
            is_compressed: tags_per_way > 1,
            number,
            map: AddressMap::new(l2),
            line_bytes: l2.line_bytes,
            bursts: Sectors::new(l2.line_bytes, config.dram.burst_bytes),
            sectors: Sectors::new(l2.line_bytes, l2.sector_bytes),
            fetch: l2.fetch,
            writes_back: l2.write_policy == L2WritePolicy::WriteBack,
            write_allocate: l2.write_allocate,
            allocate: l2.allocate,
            hit_latency: u64::from(l2.hit_latency),
            // Reserves the entries that the parts of one more packet may need.
            request_capacity: l2.request_queue as usize + 1 - l2.most_parts() as usize,
            reply_capacity: l2.reply_queue as usize,
            eviction_capacity: l2.eviction_queue as usize,
            dram_capacity: l2.dram_queue as usize,
            parts,
            burst_bytes: config.dram.burst_bytes,
            requests: VecDeque::with_capacity(l2.request_queue as usize),
            splits: l2.split_requests.then(|| Splits::new(Sectors::new(l2.line_bytes, l2.sector_bytes))),
            head_may_enter: false,
            staged: Vec::new(),
            entering: None,
            tags: TagArray::compressed(l2.sets, l2.ways, tags_per_way, l2.line_bytes, l2.index),
            making_room: Vec::new(),
            atomics: AtomicUnit::new(l2),
            mshr: MshrTable::new(l2.mshr_entries, l2.mshr_merges),
            replay: Vec::with_capacity(l2.mshr_merges as usize),
            replayed: 0,
            pipe: VecDeque::with_capacity(l2.hit_latency as usize),
            replies: VecDeque::with_capacity(l2.reply_queue as usize),
            evictions: VecDeque::with_capacity(l2.eviction_queue as usize),
            leaving: Vec::with_capacity(2 * l2.eviction_queue as usize),
            fetches_behind_stores: VecDeque::new(),
            filled: VecDeque::with_capacity(FILLED_LINES),
            to_dram: VecDeque::with_capacity(l2.dram_queue as usize),
            port_bytes: l2.port_bytes,
            port_free_from: 0,
            idle_until: 0,
            metadata_reads: Vec::with_capacity(l2.mshr_entries as usize),
            parked: VecDeque::with_capacity(l2.mshr_entries as usize),
            witness: Witness::default(),
            counters: L2Counters::default(),
        }
    }

    /// Lets `witness` follow the contents of the slice and of its lines in DRAM.
    pub fn watch(&mut self, witness: &Witness) {
        self.witness = witness.clone();
    }

    /// Returns whether the request queue can take one more request.
    pub fn can_accept(&self) -> bool {
        self.requests.len() < self.request_capacity
    }

    /// Puts a request into the queue. [`Self::can_accept`] must have returned `true`.
    pub fn accept(&mut self, packet: Packet) {
        debug_assert!(self.can_accept());
        debug_assert_eq!(self.map.slice(packet.line), packet.slice);
        if self.splits.is_none() {
            self.requests.push_back(packet);
        } else {
            self.split(packet);
        }
        self.idle_until = 0;
    }

    /// Puts the parts of a request into the queue.
    #[cold]
    fn split(&mut self, packet: Packet) {
        let Some(splits) = &mut self.splits else { return };
        let before = self.requests.len();
        splits.split(packet, &self.witness, &mut self.requests);
        self.counters.split_parts += (self.requests.len() - before - 1) as u64;
    }

    /// Returns the oldest reply.
    pub fn reply(&self) -> Option<&Packet> {
        self.replies.front()
    }

    /// Takes the oldest reply.
    pub fn take_reply(&mut self) -> Option<Packet> {
        self.replies.pop_front()
    }

    /// Returns the first cycle in which [`Self::tick`] has work, unless a request or a DRAM reply arrives earlier.
    #[inline]
    pub fn idle_until(&self) -> u64 {
        self.idle_until
    }

    /// Lets the slice run in the next cycle although no request has arrived.
    pub(super) fn wake(&mut self) {
        self.idle_until = 0;
    }

    /// Returns whether the next cycle may move anything outside the hit pipeline.
    fn holds_work(&self) -> bool {
        !(self.requests.is_empty()
            && self.replies.is_empty()
            && self.replay.is_empty()
            && self.evictions.is_empty()
            && self.fetches_behind_stores.is_empty()
            && self.filled.is_empty()
            && self.parked.is_empty()
            && self.entering.is_none())
            || self.parts.busy()
    }

    /// Returns whether the slice holds any unfinished request or line.
    pub fn busy(&self) -> bool {
        self.holds_work()
            || !self.pipe.is_empty()
            || !self.mshr.is_empty()
            || !self.to_dram.is_empty()
            || !self.leaving.is_empty()
    }

    /// Runs one L2 cycle; `dram_now` is the current cycle of the channel.
    ///
    /// # Errors
    /// Returns the error that the mechanism detected.
    pub fn tick(
        &mut self,
        now: u64,
        (channel, dram_now): (&mut Channel, u64),
        memory: &DeviceMemory,
    ) -> Result<(), MechanismFault> {
        self.parts.tick(now, memory)?;
        self.finish_pipe(now, memory);
        self.receive_fills(now, (channel, dram_now), memory);
        self.send_parked();
        self.send_evictions(now, memory);
        self.fetch_behind_store(memory);
        self.use_port(now, memory);
        debug_assert!(self.counters.cache.is_conserved());
        self.idle_until = match self.pipe.front() {
            // A full pipeline counts as a stall in each cycle, even if no request waits.
            _ if self.holds_work() || self.pipe.len() as u64 >= self.hit_latency => 0,
            Some(oldest) => oldest.ready,
            None => u64::MAX,
        };
        Ok(())
    }

    /// Moves a reply that has passed the hit pipeline to the reply queue.
    fn finish_pipe(&mut self, now: u64, memory: &DeviceMemory) {
        let ready = self.pipe.front().is_some_and(|answer| answer.ready <= now);
        if !ready || self.replies.len() >= self.reply_capacity {
            return;
        }
        if let Some(Answer { mut packet, is_hit, .. }) = self.pipe.pop_front() {
            if packet.kind == PacketKind::ReadReply {
                self.parts.reply(&mut packet, is_hit, memory);
            }
            if let Some(splits) = &mut self.splits {
                packet = splits.join(packet, &self.witness);
            }
            self.replies.push_back(packet);
        }
    }

    /// Takes a reply of the channel, moves a line through the mechanism's fill stage, and fills one line.
    fn receive_fills(&mut self, now: u64, (channel, dram_now): (&mut Channel, u64), memory: &DeviceMemory) {
        if self.filled.len() < FILLED_LINES
            && let Some(part) = self.parts.pop_fill()
        {
            self.filled.push_back(part);
        }
        if let Some(request) = channel.peek(dram_now).copied().filter(|r| r.slice == self.number)
            && self.receive(now, request, memory)
        {
            channel.pop(dram_now);
        }
        if self.replay.is_empty()
            && self.check_room().is_ok()
            && let Some(part) = self.filled.pop_front()
        {
            self.fill(now, part);
            self.give_room(now, part.line, memory);
        }
    }

    /// Handles one reply of the channel; returns `false` if it has to wait.
    fn receive(&mut self, now: u64, request: Request, memory: &DeviceMemory) -> bool {
        if request.metadata {
            self.metadata_arrived(request.address);
            return true;
        }
        if self.filled.len() >= FILLED_LINES {
            return false;
        }
        let part = LinePart::of_token(request.token, self.line_bytes);
        match self.parts.offer_fill(now, part, memory) {
            Offer::Pass => self.filled.push_back(part),
            Offer::Taken => {}
            Offer::Full => return false,
        }
        true
    }

    fn metadata_arrived(&mut self, address: u64) {
        self.metadata_reads.retain(|a| *a != address);
        self.parts.metadata_arrived(address);
        for parked in self.parked.iter_mut().filter(|p| p.metadata == address) {
            parked.arrived = true;
        }
    }

    /// Fills sectors of a line, and releases the requests that wait for no other sectors.
    fn fill(&mut self, now: u64, part: LinePart) {
        let slot = match (self.tags.probe(self.map.slice_local(part.line)), self.allocate) {
            (Probe::Reserved(slot), _) | (Probe::Hit(slot), Allocate::OnFill) => slot,
            (Probe::Miss, Allocate::OnFill) => self.slot_for_fill(now, part.line),
            (Probe::Hit(_) | Probe::Miss, Allocate::OnMiss) => {
                debug_assert!(false, "a line comes that nothing waits for");
                return;
            }
        };
        self.witness.l2_filled(part);
        let register = self.register_of(part);
        let wanted = self.mshr.find(register).map_or(0, |id| self.mshr.wanted(id));
        let state = self.tags.state_mut(slot);
        state.valid |= part.sectors;
        state.sectors.arrive(part.sectors, wanted);
        if self.mshr.arrive(register, part.sectors, &mut self.replay) == 0 && !self.awaits_sectors(part.line)
        {
            self.tags.fill(slot);
        }
        self.counters.fills += 1;
        self.counters.cache.sectors_filled += u64::from(part.count());
    }

    /// Returns the key of a part in the miss registers: its line, or its first byte if requests are split.
    pub(super) fn register_of(&self, part: LinePart) -> u64 {
        if self.splits.is_some() { part.first_byte() } else { part.line }
    }

    /// Returns whether sectors of the line are in flight in separate miss registers.
    fn awaits_sectors(&self, line: u64) -> bool {
        self.splits.is_some()
            && (0..self.line_bytes / SECTOR_BYTES)
                .any(|sector| self.mshr.find(line + u64::from(sector * SECTOR_BYTES)).is_some())
    }

    /// Sends the oldest parked read whose metadata has arrived.
    fn send_parked(&mut self) {
        if self.room_to_dram(1)
            && let Some(at) = self.parked.iter().position(|p| p.arrived)
            && let Some(parked) = self.parked.remove(at)
        {
            self.to_dram.push_back(parked.request);
        }
    }

    pub(super) fn room_to_dram(&self, requests: usize) -> bool {
        self.to_dram.len() + requests <= self.dram_capacity
    }

    /// Moves dirty lines through the mechanism's eviction stage to the queue to DRAM.
    fn send_evictions(&mut self, now: u64, memory: &DeviceMemory) {
        if self.leaving.is_empty() {
            return;
        }
        if self.room_to_dram(WRITE_REQUESTS)
            && let Some(part) = self.parts.pop_eviction()
        {
            self.write_out(part, memory);
        }
        if self.room_to_dram(WRITE_REQUESTS)
            && let Some(&part) = self.evictions.front()
        {
            match self.parts.offer_eviction(now, part, memory) {
                Offer::Pass => self.write_out(part, memory),
                Offer::Taken => {}
                Offer::Full => return,
            }
            self.evictions.pop_front();
        }
    }

    /// Sends a line's dirty sectors to DRAM, with the accesses to their metadata.
    fn write_out(&mut self, part: LinePart, memory: &DeviceMemory) {
        let plan = self.parts.write_plan(part, self.burst_bytes, memory);
        let data = self.data_request(Access::Write, part, plan.bursts);
        self.to_dram.push_back(data);
        if let Some(address) = plan.metadata {
            self.read_metadata(address);
        }
        self.write_metadata(plan.metadata_writeback);
        if let Some(at) = self.leaving.iter().position(|l| *l == part.line) {
            self.leaving.remove(at);
        }
        self.counters.writebacks += 1;
    }

    pub(super) fn data_request(&self, access: Access, part: LinePart, bursts: u32) -> Request {
        let address = self.map.local(part.first_byte());
        // Uncompressed sectors keep their positions; a compressed line is one run of bursts.
        let places = Bursts::of_mask(self.bursts.to_own(self.bursts.whole(part.sectors)));
        let bursts = if places.count() == bursts { places } else { Bursts::run(bursts) };
        Request { access, address, bursts, metadata: false, slice: self.number, token: part.token() }
    }

    /// Reads a metadata burst unless it is already in flight.
    pub(super) fn read_metadata(&mut self, address: u64) {
        if !self.metadata_reads.contains(&address) {
            self.metadata_reads.push(address);
            self.to_dram.push_back(self.metadata_request(Access::Read, address));
        }
    }

    pub(super) fn write_metadata(&mut self, address: Option<u64>) {
        if let Some(address) = address {
            self.to_dram.push_back(self.metadata_request(Access::Write, address));
        }
    }

    /// Returns the request for one burst of metadata.
    fn metadata_request(&self, access: Access, address: u64) -> Request {
        let bursts = Bursts::run(1);
        Request { access, address, bursts, metadata: true, slice: self.number, token: address }
    }

    /// Handles one request at the port, or counts the cause that blocks the first request.
    fn use_port(&mut self, now: u64, memory: &DeviceMemory) {
        if self.pipe.len() as u64 >= self.hit_latency {
            self.counters.reply_stalls += 1;
            return;
        }
        if let Some(packet) = self.replay.get(self.replayed).copied() {
            self.handle_replay(now, &packet, memory);
            if self.port_bytes == 0 {
                return;
            }
        }
        if now < self.port_free_from {
            return;
        }
        if self.entering.is_none() {
            self.entering = self.parts.pop_write();
        }
        // A write from the mechanism takes no port cycle here: it took one when it entered the write stage.
        if let Some(packet) = self.entering {
            if !self.handle(now, &packet, memory) {
                return;
            }
            self.entering = None;
            self.release(&packet);
            if self.pipe.len() as u64 >= self.hit_latency {
                return;
            }
        }
        let Some(mut packet) = self.requests.front().copied() else { return };
        if self.port_bytes != 0 && self.replay[self.replayed..].iter().any(|p| p.line == packet.line) {
            return;
        }
        if self.is_behind_a_write(&packet) {
            self.counters.write_stage_stalls += 1;
            return;
        }
        if packet.kind != PacketKind::Read && !self.head_may_enter {
            match self.parts.offer_write(now, &mut packet, memory) {
                Offer::Pass => {
                    self.requests[0] = packet;
                    self.head_may_enter = true;
                }
                Offer::Taken => {
                    self.staged.push(self.sectors.part(packet.line, packet.sectors));
                    self.requests.pop_front();
                    return;
                }
                Offer::Full => {
                    self.counters.write_stage_stalls += 1;
                    return;
                }
            }
        }
        if self.handle(now, &packet, memory) {
            self.requests.pop_front();
            self.head_may_enter = false;
        }
    }

    /// Occupies the data port for the cycles in which it moves `bytes` bytes, if it is narrower than a line.
    pub(super) fn hold_port(&mut self, now: u64, bytes: u32) {
        if self.port_bytes != 0 {
            self.port_free_from = self.port_free_from.max(now) + u64::from(bytes.div_ceil(self.port_bytes));
        }
    }

    /// Lets requests that wait for `write` continue.
    fn release(&mut self, write: &Packet) {
        let part = self.sectors.part(write.line, write.sectors);
        let at = self.staged.iter().position(|held| *held == part).expect("the mechanism took the write");
        self.staged.swap_remove(at);
    }

    /// Returns whether the mechanism's write stage holds a write to sectors of `packet`.
    fn is_behind_a_write(&self, packet: &Packet) -> bool {
        if self.staged.is_empty() {
            return false;
        }
        let own = self.sectors.part(packet.line, packet.sectors);
        self.staged.iter().any(|held| held.line == own.line && held.sectors & own.sectors != 0)
    }

    /// Returns whether an atomic whose sectors are valid may begin in this cycle. Counts a stall if it waits.
    pub(super) fn may_begin(&mut self, now: u64, packet: &Packet) -> bool {
        let is_free = packet.kind != PacketKind::Atomic || self.atomics.is_free(now, packet);
        self.counters.atomic_stalls += u64::from(!is_free);
        is_free
    }

    /// Puts the reply to a request into the hit pipeline; an atomic's reply enters with its last operation. `is_hit`: the request
    /// did not wait for its line.
    pub(super) fn answer(&mut self, now: u64, packet: &Packet, is_hit: bool) {
        let mut from = now;
        let (kind, data_bytes) = match packet.kind {
            PacketKind::Write => (PacketKind::WriteAck, 0),
            PacketKind::Atomic => {
                from = self.atomics.begin(now, packet);
                self.counters.atomic_operations += u64::from(packet.operations.all);
                (PacketKind::AtomicReply, if packet.operations.returns { packet.data_bytes } else { 0 })
            }
            _ => (PacketKind::ReadReply, (packet.sectors.count_ones() * SECTOR_BYTES) as u16),
        };
        let witness = match packet.kind {
            PacketKind::Read => self.witness.l2_read(packet.line, packet.sectors),
            _ => 0,
        };
        let packet = Packet { kind, data_bytes, witness, ..*packet };
        let ready = from + self.hit_latency;
        let place = self.pipe.iter().rposition(|answer| answer.ready <= ready).map_or(0, |before| before + 1);
        self.pipe.insert(place, Answer { ready, packet, is_hit });
    }

    /// Returns whether a request waits for the channel.
    pub fn waits_for_dram(&self) -> bool {
        !self.to_dram.is_empty()
    }

    /// Sends the oldest request that waits for the channel, if the channel has room. Returns whether it was sent.
    pub fn send_to(&mut self, channel: &mut Channel, now: u64) -> bool {
        let Some(request) = self.to_dram.front() else { return false };
        if !channel.can_push(request.access) {
            self.counters.dram_full_cycles += 1;
            return false;
        }
        let part = LinePart::of_token(request.token, self.line_bytes);
        match request.access {
            _ if request.metadata => {}
            Access::Read => self.witness.dram_read(part),
            Access::Write => self.witness.dram_written(part),
        }
        channel.push(now, *request);
        self.to_dram.pop_front();
        true
    }

    /// Returns the mechanisms' parts in the slice.
    pub fn parts(&self) -> &PartitionParts {
        &self.parts
    }

    /// Returns the slice's counters.
    pub fn counters(&self) -> L2Counters {
        self.counters
    }

    /// Returns the MSHRs in use, each with its line.
    pub fn misses(&self) -> impl Iterator<Item = (u16, u64)> {
        self.mshr.entries()
    }

    /// Appends one line per request in the slice with the resource it waits for, for deadlock reports.
    pub fn describe_waiting(&self, out: &mut Vec<String>) {
        let name = self.map.slice_name(self.number);
        let text = |queue: &str, p: &Packet, what: &str| {
            format!("{name}: {queue}: {:?} of line {:#x} for SM {} waits for {what}", p.kind, p.line, p.sm)
        };
        let resources = "a way, an MSHR, the atomic unit or room in the mechanism";
        out.extend(self.requests.iter().map(|p| text("request queue", p, resources)));
        out.extend(self.entering.iter().map(|p| text("write stage exit", p, "a way or an MSHR")));
        out.extend(self.replay.iter().skip(self.replayed).map(|p| text("replay", p, "the tags")));
        out.extend(self.pipe.iter().map(|a| text("hit pipeline", &a.packet, "room in the reply queue")));
        out.extend(self.replies.iter().map(|p| text("reply queue", p, "the reply crossbar")));
        let lines = self.mshr.lines();
        out.extend(lines.iter().map(|(line, n)| {
            format!("{name}: MSHR: line {line:#x} waits for its data, {n} requests with it")
        }));
        out.extend(self.leaving.iter().map(|line| {
            format!("{name}: eviction: line {line:#x} waits for the mechanism or the queue to DRAM")
        }));
        for parked in self.parked.iter().filter(|p| !p.arrived) {
            let line = LinePart::of_token(parked.request.token, self.line_bytes).line;
            out.push(format!("{name}: line {line:#x} waits for metadata {:#x}", parked.metadata));
        }
        if self.parts.busy() {
            out.push(format!("{name}: the mechanism is busy"));
        }
        let to_dram = self.to_dram.iter();
        out.extend(to_dram.map(|r| format!("{name}: queue to DRAM: {:?} at {:#x}", r.access, r.address)));
    }
}
