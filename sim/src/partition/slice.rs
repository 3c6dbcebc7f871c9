//! One L2 partition: a write-back, write-allocate slice of the L2 in front of its DRAM channel.
//!
//! ```text
//! requests -> [queue] -> port -> tags: hit ------------------------------> [pipe] -> [replies] ->
//!                         ^        |  miss -> MSHR, victim -> [evictions] ~> [to_dram] -> channel
//!                         +-- [replay] <- MSHR released <- fill <~ returns <------------- channel
//! ```
//! The port handles one request per cycle: requests whose line has just come first, then new ones in order; a new
//! one that cannot be handled blocks those behind it. Whatever is answered goes through the hit pipeline, so a
//! miss costs the hit latency and the time in DRAM. `~` marks the mechanism's stages ([`PartitionPolicy`]).
use super::address::AddressMap;
use super::policy::{MechanismFault, PartitionPolicy, Stage};
use crate::cache::{MshrTable, Probe, TagArray, Victim};
use crate::config::GpuConfig;
use crate::dram::{Access, Channel, DramCounters, Request};
use crate::memory::DeviceMemory;
use crate::packet::{Packet, PacketKind};
use crate::stats::{CacheCounters, Decision, FailCause, counters};
use std::collections::VecDeque;

/// Bytes of a sector, the unit of [`Packet::sectors`].
const SECTOR_BYTES: u32 = 32;
/// Most requests to DRAM that a read miss makes at once: data or metadata, and a metadata write-back.
const READ_REQUESTS: usize = 2;
/// Most requests to DRAM that a line's eviction makes: data, metadata, and a metadata write-back.
const WRITE_REQUESTS: usize = 3;
/// Lines between the mechanism's fill stage and the tags.
const FILLED_LINES: usize = 2;

counters! {
/// Counters of an L2 slice.
pub struct L2Counters {
    /// Outcomes of its accesses.
    #[serde(flatten)]
    pub cache: CacheCounters,
    /// Atomics among the accesses.
    pub atomics: u64,
    /// Lines that came from DRAM.
    pub fills: u64,
    /// Dirty lines that left for DRAM.
    pub writebacks: u64,
    /// Cycles in which the port stood still because answers could not leave.
    pub reply_stalls: u64,
    /// Cycles in which a write waited for the mechanism's write stage.
    pub write_stage_stalls: u64,
    /// DRAM command cycles in which a request waited because the channel's queue was full.
    pub dram_full_cycles: u64,
}
}

/// What the slice keeps with a line.
#[derive(Clone, Copy, Debug, Default)]
struct LineState {
    dirty: bool,
}

/// A read that waits for its metadata.
#[derive(Clone, Copy)]
struct Parked {
    metadata: u64,
    arrived: bool,
    request: Request,
}

/// An L2 slice with its DRAM channel.
pub struct Slice {
    number: u16,
    map: AddressMap,
    full_line: u32,
    hit_latency: u64,
    request_capacity: usize,
    reply_capacity: usize,
    eviction_capacity: usize,
    dram_capacity: usize,
    policy: Box<dyn PartitionPolicy>,
    requests: VecDeque<Packet>,
    /// The write at the head of `requests` has been offered to the mechanism and may go on.
    head_may_enter: bool,
    /// A write that has left the mechanism's write stage.
    entering: Option<Packet>,
    tags: TagArray<LineState>,
    mshr: MshrTable<Packet>,
    /// Requests whose line has come; `replayed` of them are done.
    replay: Vec<Packet>,
    replayed: usize,
    pipe: VecDeque<(u64, Packet)>,
    replies: VecDeque<Packet>,
    evictions: VecDeque<u64>,
    /// Lines that have left the tags and not yet reached `to_dram`: reading them has to wait.
    leaving: Vec<u64>,
    filled: VecDeque<u64>,
    to_dram: VecDeque<Request>,
    metadata_reads: Vec<u64>,
    parked: VecDeque<Parked>,
    channel: Channel,
    counters: L2Counters,
}

impl Slice {
    /// The empty slice of partition `number`.
    pub fn new(config: &GpuConfig, number: u16, policy: Box<dyn PartitionPolicy>) -> Self {
        let l2 = &config.l2;
        Self {
            number,
            map: AddressMap::new(l2),
            full_line: ((1u64 << (l2.line_bytes / SECTOR_BYTES)) - 1) as u32,
            hit_latency: u64::from(l2.hit_latency),
            request_capacity: l2.request_queue as usize,
            reply_capacity: l2.reply_queue as usize,
            eviction_capacity: l2.eviction_queue as usize,
            dram_capacity: l2.dram_queue as usize,
            policy,
            requests: VecDeque::with_capacity(l2.request_queue as usize),
            head_may_enter: false,
            entering: None,
            tags: TagArray::new(l2.sets, l2.ways, l2.line_bytes, l2.index),
            mshr: MshrTable::new(l2.mshr_entries, l2.mshr_merges),
            replay: Vec::with_capacity(l2.mshr_merges as usize),
            replayed: 0,
            pipe: VecDeque::with_capacity(l2.hit_latency as usize),
            replies: VecDeque::with_capacity(l2.reply_queue as usize),
            evictions: VecDeque::with_capacity(l2.eviction_queue as usize),
            leaving: Vec::with_capacity(2 * l2.eviction_queue as usize),
            filled: VecDeque::with_capacity(FILLED_LINES),
            to_dram: VecDeque::with_capacity(l2.dram_queue as usize),
            metadata_reads: Vec::with_capacity(l2.mshr_entries as usize),
            parked: VecDeque::with_capacity(l2.mshr_entries as usize),
            channel: Channel::new(&config.dram, l2.line_bytes),
            counters: L2Counters::default(),
        }
    }

    /// Has the request queue room?
    pub fn can_accept(&self) -> bool {
        self.requests.len() < self.request_capacity
    }

    /// Puts a request into the queue. The caller has made sure that [`Self::can_accept`].
    pub fn accept(&mut self, packet: Packet) {
        debug_assert!(self.can_accept());
        debug_assert_eq!(self.map.partition(packet.line), packet.partition);
        self.requests.push_back(packet);
    }

    /// The oldest answer.
    pub fn reply(&self) -> Option<&Packet> {
        self.replies.front()
    }

    /// Takes the oldest answer.
    pub fn take_reply(&mut self) -> Option<Packet> {
        self.replies.pop_front()
    }

    /// Would [`Self::tick`] do anything? `dram_now` is the channel's time.
    pub fn has_work(&self, dram_now: u64) -> bool {
        !(self.requests.is_empty()
            && self.pipe.is_empty()
            && self.replies.is_empty()
            && self.replay.is_empty()
            && self.evictions.is_empty()
            && self.filled.is_empty()
            && self.parked.is_empty()
            && self.entering.is_none())
            || self.channel.has_return(dram_now)
            || self.policy.busy()
    }

    /// Does the slice or its channel hold anything that is not finished?
    pub fn busy(&self) -> bool {
        self.has_work(u64::MAX) || !self.mshr.is_empty() || self.dram_busy() || !self.leaving.is_empty()
    }

    /// One L2 cycle; `dram_now` is the channel's time.
    ///
    /// # Errors
    /// What the mechanism finds wrong.
    pub fn tick(&mut self, now: u64, dram_now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        self.policy.tick(now, memory)?;
        self.finish_pipe(now, memory);
        self.receive_fills(dram_now, memory);
        self.send_parked();
        self.send_evictions(memory);
        self.use_port(now, memory);
        debug_assert!(self.counters.cache.is_conserved());
        Ok(())
    }

    /// Moves an answer that has passed the hit pipeline to the reply queue.
    fn finish_pipe(&mut self, now: u64, memory: &DeviceMemory) {
        let ready = self.pipe.front().is_some_and(|(ready, _)| *ready <= now);
        if !ready || self.replies.len() >= self.reply_capacity {
            return;
        }
        if let Some((_, mut packet)) = self.pipe.pop_front() {
            if packet.kind == PacketKind::ReadReply {
                self.policy.reply(&mut packet, memory);
            }
            self.replies.push_back(packet);
        }
    }

    /// Takes an answer of the channel, lets lines pass the mechanism's fill stage, and fills one line.
    fn receive_fills(&mut self, dram_now: u64, memory: &DeviceMemory) {
        if self.filled.len() < FILLED_LINES
            && let Some(line) = self.policy.fill_leave()
        {
            self.filled.push_back(line);
        }
        if let Some(request) = self.channel.peek(dram_now).copied() {
            self.receive(dram_now, request, memory);
        }
        if self.replay.is_empty()
            && let Some(line) = self.filled.pop_front()
        {
            self.fill(line);
        }
    }

    /// Handles one answer of the channel, or leaves it there when there is no room.
    fn receive(&mut self, dram_now: u64, request: Request, memory: &DeviceMemory) {
        if request.metadata {
            self.channel.pop(dram_now);
            self.metadata_arrived(request.address);
            return;
        }
        if self.filled.len() >= FILLED_LINES {
            return;
        }
        let line = request.token;
        match self.policy.fill_enter(line, memory) {
            Stage::Through => self.filled.push_back(line),
            Stage::Taken => {}
            Stage::Full => return,
        }
        self.channel.pop(dram_now);
    }

    fn metadata_arrived(&mut self, address: u64) {
        self.metadata_reads.retain(|a| *a != address);
        self.policy.metadata_arrived(address);
        for parked in self.parked.iter_mut().filter(|p| p.metadata == address) {
            parked.arrived = true;
        }
    }

    /// The data of `line` is there: everything that waited for it may be handled.
    fn fill(&mut self, line: u64) {
        let Probe::Reserved(slot) = self.tags.probe(self.map.local(line)) else {
            debug_assert!(false, "a line comes that nothing waits for");
            return;
        };
        self.tags.fill(slot);
        self.mshr.release(line, &mut self.replay);
        self.counters.fills += 1;
    }

    /// Sends the oldest parked read whose metadata has come.
    fn send_parked(&mut self) {
        if self.room_to_dram(1)
            && let Some(at) = self.parked.iter().position(|p| p.arrived)
            && let Some(parked) = self.parked.remove(at)
        {
            self.to_dram.push_back(parked.request);
        }
    }

    fn room_to_dram(&self, requests: usize) -> bool {
        self.to_dram.len() + requests <= self.dram_capacity
    }

    /// Lets dirty lines pass the mechanism's eviction stage on their way to DRAM.
    fn send_evictions(&mut self, memory: &DeviceMemory) {
        if self.leaving.is_empty() {
            return;
        }
        if self.room_to_dram(WRITE_REQUESTS)
            && let Some(line) = self.policy.evict_leave()
        {
            self.write_out(line, memory);
        }
        if self.room_to_dram(WRITE_REQUESTS)
            && let Some(&line) = self.evictions.front()
        {
            match self.policy.evict_enter(line, memory) {
                Stage::Through => self.write_out(line, memory),
                Stage::Taken => {}
                Stage::Full => return,
            }
            self.evictions.pop_front();
        }
    }

    /// Sends a dirty line to DRAM with what its metadata needs.
    fn write_out(&mut self, line: u64, memory: &DeviceMemory) {
        let plan = self.policy.write_plan(line, memory);
        let data = Request {
            access: Access::Write,
            address: self.map.local(line),
            bursts: plan.bursts,
            metadata: false,
            token: line,
        };
        self.to_dram.push_back(data);
        if let Some(address) = plan.metadata {
            self.read_metadata(address);
        }
        self.write_metadata(plan.metadata_writeback);
        if let Some(at) = self.leaving.iter().position(|l| *l == line) {
            self.leaving.remove(at);
        }
        self.counters.writebacks += 1;
    }

    /// Reads a metadata burst unless it is already on its way.
    fn read_metadata(&mut self, address: u64) {
        if !self.metadata_reads.contains(&address) {
            self.metadata_reads.push(address);
            self.to_dram.push_back(metadata_request(Access::Read, address));
        }
    }

    fn write_metadata(&mut self, address: Option<u64>) {
        if let Some(address) = address {
            self.to_dram.push_back(metadata_request(Access::Write, address));
        }
    }

    /// The port's cycle: one request is handled, or the first one is blocked and the cause is counted.
    fn use_port(&mut self, now: u64, memory: &DeviceMemory) {
        if self.pipe.len() as u64 >= self.hit_latency {
            self.counters.reply_stalls += 1;
            return;
        }
        if let Some(packet) = self.replay.get(self.replayed).copied() {
            self.handle_replay(now, &packet);
            return;
        }
        if self.entering.is_none() {
            self.entering = self.policy.write_leave();
        }
        if let Some(packet) = self.entering {
            if self.handle(now, &packet, memory) {
                self.entering = None;
            }
            return;
        }
        let Some(packet) = self.requests.front().copied() else { return };
        if packet.kind != PacketKind::Read && !self.head_may_enter {
            match self.policy.write_enter(&packet, memory) {
                Stage::Through => self.head_may_enter = true,
                Stage::Taken => {
                    self.requests.pop_front();
                    return;
                }
                Stage::Full => {
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

    /// A request whose line has just come.
    fn handle_replay(&mut self, now: u64, packet: &Packet) {
        if packet.kind != PacketKind::Read {
            self.mark_dirty(packet.line);
        }
        self.answer(now, packet);
        self.replayed += 1;
        if self.replayed == self.replay.len() {
            self.replay.clear();
            self.replayed = 0;
        }
    }

    fn mark_dirty(&mut self, line: u64) {
        match self.tags.probe(self.map.local(line)) {
            Probe::Hit(slot) => self.tags.state_mut(slot).dirty = true,
            _ => debug_assert!(false, "a line is written before it is there"),
        }
    }

    /// Handles a new request; `false` when it is blocked.
    fn handle(&mut self, now: u64, packet: &Packet, memory: &DeviceMemory) -> bool {
        let done = match self.tags.probe(self.map.local(packet.line)) {
            Probe::Hit(slot) => {
                self.tags.touch(slot);
                self.tags.state_mut(slot).dirty |= packet.kind != PacketKind::Read;
                self.answer(now, packet);
                Ok(Decision::Hit)
            }
            Probe::Reserved(_) => self.merge(packet),
            Probe::Miss => self.miss(now, packet, memory),
        };
        match done {
            Ok(decision) => {
                self.counters.cache.decide(decision, packet.kind != PacketKind::Read, packet.line);
                self.counters.atomics += u64::from(packet.kind == PacketKind::Atomic);
                true
            }
            Err(cause) => {
                self.counters.cache.reservation_fails.add(cause, 1);
                false
            }
        }
    }

    /// The line is on its way: the request waits with the others.
    fn merge(&mut self, packet: &Packet) -> Result<Decision, FailCause> {
        let id = self.mshr.find(packet.line).filter(|id| self.mshr.can_merge(*id));
        let id = id.ok_or(FailCause::MshrMerge)?;
        self.mshr.merge(id, *packet);
        Ok(Decision::Pending)
    }

    /// The line is not there. A write of all its bytes takes a slot at once; all else fetches it first.
    fn miss(&mut self, now: u64, packet: &Packet, memory: &DeviceMemory) -> Result<Decision, FailCause> {
        let whole = packet.kind == PacketKind::Write
            && packet.full_sectors
            && packet.sectors & self.full_line == self.full_line;
        if !whole {
            self.check_fetch(packet.line)?;
        }
        let local = self.map.local(packet.line);
        let victim = self.tags.victim(local).ok_or(FailCause::Line)?;
        self.evict(&victim)?;
        self.tags.reserve(victim.slot, local);
        if whole {
            self.tags.fill(victim.slot);
            self.tags.state_mut(victim.slot).dirty = true;
            self.answer(now, packet);
        } else {
            self.mshr.allocate(packet.line, *packet);
            self.fetch(packet.line, memory);
        }
        Ok(Decision::Miss)
    }

    /// May a line be fetched in this cycle? Evictions that wait for the same queue go first.
    fn check_fetch(&self, line: u64) -> Result<(), FailCause> {
        if !self.mshr.can_allocate() {
            return Err(FailCause::MshrEntry);
        }
        let evictions_wait = !self.leaving.is_empty() && !self.room_to_dram(WRITE_REQUESTS);
        if evictions_wait || !self.room_to_dram(READ_REQUESTS) || self.leaving.contains(&line) {
            return Err(FailCause::MissQueue);
        }
        Ok(())
    }

    /// Sends a dirty victim on its way to DRAM.
    fn evict(&mut self, victim: &Victim<LineState>) -> Result<(), FailCause> {
        let Some((local, state)) = victim.evicted else { return Ok(()) };
        if state.dirty {
            if self.evictions.len() >= self.eviction_capacity {
                return Err(FailCause::MissQueue);
            }
            let line = self.map.global(self.number, local);
            self.evictions.push_back(line);
            self.leaving.push(line);
        }
        self.tags.invalidate(victim.slot);
        Ok(())
    }

    /// Asks DRAM for a line, or first for its metadata.
    fn fetch(&mut self, line: u64, memory: &DeviceMemory) {
        let plan = self.policy.read_plan(line, memory);
        let request = Request {
            access: Access::Read,
            address: self.map.local(line),
            bursts: plan.bursts,
            metadata: false,
            token: line,
        };
        match plan.metadata {
            None => self.to_dram.push_back(request),
            Some(metadata) => {
                self.read_metadata(metadata);
                self.parked.push_back(Parked { metadata, arrived: false, request });
            }
        }
        self.write_metadata(plan.metadata_writeback);
    }

    /// Sends the answer to a request into the hit pipeline.
    fn answer(&mut self, now: u64, packet: &Packet) {
        let (kind, data_bytes) = match packet.kind {
            PacketKind::Write => (PacketKind::WriteAck, 0),
            PacketKind::Atomic => (PacketKind::AtomicReply, packet.data_bytes),
            _ => (PacketKind::ReadReply, (packet.sectors.count_ones() * SECTOR_BYTES) as u16),
        };
        self.pipe.push_back((now + self.hit_latency, Packet { kind, data_bytes, ..*packet }));
    }

    /// Has [`Self::tick_dram`] anything to do?
    pub fn dram_busy(&self) -> bool {
        !self.to_dram.is_empty() || self.channel.busy()
    }

    /// One command-clock cycle of the channel.
    pub fn tick_dram(&mut self, now: u64) {
        if let Some(request) = self.to_dram.front() {
            if self.channel.can_push(request.access) {
                self.channel.push(now, *request);
                self.to_dram.pop_front();
            } else {
                self.counters.dram_full_cycles += 1;
            }
        }
        self.channel.tick(now);
    }

    /// The channel, to attach a checker to.
    pub fn channel_mut(&mut self) -> &mut Channel {
        &mut self.channel
    }

    /// The channel.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// The mechanism.
    pub fn policy(&self) -> &dyn PartitionPolicy {
        self.policy.as_ref()
    }

    /// The slice's counters.
    pub fn counters(&self) -> L2Counters {
        self.counters
    }

    /// The channel's counters.
    pub fn dram_counters(&self) -> DramCounters {
        self.channel.counters()
    }

    /// One line per request inside: for deadlock reports.
    pub fn describe_waiting(&self, out: &mut Vec<String>) {
        let name = format!("L2 partition {}", self.number);
        let text = |queue: &str, p: &Packet| {
            format!("{name}: {queue}: {:?} of line {:#x} for SM {}", p.kind, p.line, p.sm)
        };
        out.extend(self.requests.iter().map(|p| text("request queue", p)));
        out.extend(self.entering.iter().map(|p| text("write stage exit", p)));
        out.extend(self.replay.iter().skip(self.replayed).map(|p| text("replay", p)));
        out.extend(self.pipe.iter().map(|(_, p)| text("hit pipeline", p)));
        out.extend(self.replies.iter().map(|p| text("reply queue", p)));
        let lines = self.mshr.lines();
        out.extend(lines.iter().map(|(line, n)| format!("{name}: MSHR: line {line:#x}, {n} requests wait")));
        out.extend(self.leaving.iter().map(|line| format!("{name}: eviction of line {line:#x}")));
        let metadata = self.parked.iter().filter(|p| !p.arrived);
        out.extend(
            metadata
                .map(|p| format!("{name}: line {:#x} waits for metadata {:#x}", p.request.token, p.metadata)),
        );
        if self.policy.busy() {
            out.push(format!("{name}: the mechanism is busy"));
        }
        let to_dram = self.to_dram.iter();
        out.extend(to_dram.map(|r| format!("{name}: queue to DRAM: {:?} at {:#x}", r.access, r.address)));
        self.channel.describe_waiting(&format!("DRAM channel {}", self.number), out);
    }
}

/// One burst of metadata.
fn metadata_request(access: Access, address: u64) -> Request {
    Request { access, address, bursts: 1, metadata: true, token: address }
}
