//! A slice of the L2, in front of its partition's DRAM channel. `lookup.rs` decides the outcome of each request. Requests are in
//! `input.rs`, lines in `lines.rs`, traffic with DRAM in `dram_path.rs`, and replies in `output.rs`.
//!
//! ```text
//! requests -> [queue] -> port -> tags: hit ------------------------------> [pipe] -> [replies] ->
//!                         ^        |  miss -> MSHR, victim -> [evictions] ~> [requests] -> channel
//!                         +-- [replay] <- MSHR released <- fill <~ returns <-------------- channel
//! ```
//! The port handles one request per cycle: first requests whose line has just arrived (replays), then new requests in order. A
//! new request that cannot be handled blocks those behind it. A write that leaves the mechanism's write stage takes no port
//! cycle. With a data port narrower than a line, a replay takes none either.
//!
//! All replies go through the hit pipeline, so that a miss costs the hit latency and the time in DRAM. An atomic enters the
//! pipeline with its last operation (`atomics.rs`). Replies leave the pipeline in the order of their ready cycles, not in order
//! of entry. `~` marks the mechanism's stages ([`SlicePart`](super::part::SlicePart)).
use super::dram_path::{DramPath, WRITE_REQUESTS};
use super::input::SliceInput;
use super::lines::SliceLines;
use super::output::{Answer, SliceOutput};
use super::parts::SliceParts;
use super::spec::SliceSpec;
use crate::cache::{LinePart, Probe, SECTOR_BYTES};
use crate::config::{Allocate, GpuConfig};
use crate::dram::{Access, Channel, Request};
use crate::packet::{Packet, PacketKind};
use crate::stage::{MechanismFault, Offer};
use crate::stats::{CacheCounters, counters};
use crate::witness::Witness;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

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

/// An L2 slice in front of a DRAM channel.
#[derive(State)]
pub struct Slice {
    #[state(skip = "the configuration")]
    pub(super) spec: SliceSpec,
    pub(super) parts: SliceParts,
    input: SliceInput,
    pub(super) lines: SliceLines,
    pub(super) dram: DramPath,
    output: SliceOutput,
    /// The first cycle in which the data port is free, if it is narrower than a line.
    port_free_from: u64,
    /// The slice has no work before this cycle unless a request or a DRAM reply arrives.
    idle_until: u64,
    pub(super) witness: Witness,
    pub(super) counters: L2Counters,
}

impl Slice {
    /// Returns the empty slice `number`, counted over all partitions.
    pub fn new(config: &GpuConfig, number: u16, mut parts: SliceParts) -> Self {
        let l2 = &config.l2;
        let tags_per_way = parts.tags_per_way();
        Self {
            spec: SliceSpec::new(config, number),
            parts,
            input: SliceInput::new(l2),
            lines: SliceLines::new(l2, tags_per_way),
            dram: DramPath::new(l2),
            output: SliceOutput::new(l2),
            port_free_from: 0,
            idle_until: 0,
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
        self.input.queue.len() < self.spec.request_capacity
    }

    /// Puts a request into the queue. [`Self::can_accept`] must have returned `true`.
    pub fn accept(&mut self, packet: Packet) {
        debug_assert!(self.can_accept());
        debug_assert_eq!(self.spec.map.slice(packet.line), packet.slice);
        self.counters.split_parts += self.input.accept(packet, &self.witness);
        self.idle_until = 0;
    }

    /// Returns the oldest reply.
    pub fn reply(&self) -> Option<&Packet> {
        self.output.replies.front()
    }

    /// Takes the oldest reply.
    pub fn take_reply(&mut self) -> Option<Packet> {
        self.output.replies.pop_front()
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
        !(self.input.is_empty()
            && self.output.replies.is_empty()
            && self.lines.replay.is_empty()
            && self.dram.is_at_rest())
            || self.parts.busy()
    }

    /// Returns whether the hit pipeline has no room.
    fn is_pipe_full(&self) -> bool {
        self.output.pipe.len() as u64 >= self.spec.hit_latency
    }

    /// Returns whether the slice holds any unfinished request or line.
    pub fn busy(&self) -> bool {
        self.holds_work()
            || !self.output.pipe.is_empty()
            || !self.lines.mshr.is_empty()
            || !self.dram.requests.is_empty()
            || !self.dram.leaving.is_empty()
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
        self.dram.send_parked(&self.spec);
        self.send_evictions(now, memory);
        self.fetch_behind_store(memory);
        self.use_port(now, memory);
        debug_assert!(self.counters.cache.is_conserved());
        self.idle_until = match self.output.pipe.front() {
            // A full pipeline counts as a stall in each cycle, even if no request waits.
            _ if self.holds_work() || self.is_pipe_full() => 0,
            Some(oldest) => oldest.ready,
            None => u64::MAX,
        };
        Ok(())
    }

    /// Moves a reply that has passed the hit pipeline to the reply queue.
    fn finish_pipe(&mut self, now: u64, memory: &DeviceMemory) {
        if self.output.replies.len() >= self.spec.reply_capacity {
            return;
        }
        if let Some(Answer { mut packet, is_hit, .. }) = self.output.pop_ready(now) {
            if packet.kind == PacketKind::ReadReply {
                self.parts.reply(&mut packet, is_hit, memory);
            }
            self.output.replies.push_back(self.input.join(packet, &self.witness));
        }
    }

    /// Takes a reply of the channel, moves a line through the mechanism's fill stage, and fills one line.
    fn receive_fills(&mut self, now: u64, (channel, dram_now): (&mut Channel, u64), memory: &DeviceMemory) {
        if self.dram.may_fill()
            && let Some(part) = self.parts.pop_fill()
        {
            self.dram.filled.push_back(part);
        }
        if let Some(request) = channel.peek(dram_now).copied().filter(|r| r.slice == self.spec.number)
            && self.receive(now, request, memory)
        {
            channel.pop(dram_now);
        }
        if self.lines.replay.is_empty()
            && self.check_room().is_ok()
            && let Some(part) = self.dram.filled.pop_front()
        {
            self.fill(now, part);
            self.give_room(now, part.line, memory);
        }
    }

    /// Handles one reply of the channel; returns `false` if it has to wait.
    fn receive(&mut self, now: u64, request: Request, memory: &DeviceMemory) -> bool {
        if request.metadata {
            self.parts.metadata_arrived(request.address);
            self.dram.metadata_arrived(request.address);
            return true;
        }
        if !self.dram.may_fill() {
            return false;
        }
        let part = LinePart::of_token(request.token, self.spec.line_bytes);
        match self.parts.offer_fill(now, part, memory) {
            Offer::Pass => self.dram.filled.push_back(part),
            Offer::Taken => {}
            Offer::Full => return false,
        }
        true
    }

    /// Fills sectors of a line, and releases the requests that wait for no other sectors.
    fn fill(&mut self, now: u64, part: LinePart) {
        let slot = match (self.lines.tags.probe(self.spec.map.slice_local(part.line)), self.spec.allocate) {
            (Probe::Reserved(slot), _) | (Probe::Hit(slot), Allocate::OnFill) => slot,
            (Probe::Miss, Allocate::OnFill) => self.slot_for_fill(now, part.line),
            (Probe::Hit(_) | Probe::Miss, Allocate::OnMiss) => {
                debug_assert!(false, "a line comes that nothing waits for");
                return;
            }
        };
        self.witness.l2_filled(part);
        let register = self.register_of(part);
        let wanted = self.lines.mshr.find(register).map_or(0, |id| self.lines.mshr.wanted(id));
        let state = self.lines.tags.state_mut(slot);
        state.valid |= part.sectors;
        state.sectors.arrive(part.sectors, wanted);
        if self.lines.mshr.arrive(register, part.sectors, &mut self.lines.replay) == 0
            && !self.awaits_sectors(part.line)
        {
            self.lines.tags.fill(slot);
        }
        self.counters.fills += 1;
        self.counters.cache.sectors_filled += u64::from(part.count());
    }

    /// Returns the key of a part in the miss registers: its line, or its first byte if requests are split.
    pub(super) fn register_of(&self, part: LinePart) -> u64 {
        if self.input.splits() { part.first_byte() } else { part.line }
    }

    /// Returns whether sectors of the line are in flight in separate miss registers.
    fn awaits_sectors(&self, line: u64) -> bool {
        self.input.splits()
            && (0..self.spec.line_bytes / SECTOR_BYTES)
                .any(|sector| self.lines.mshr.find(line + u64::from(sector * SECTOR_BYTES)).is_some())
    }

    /// Moves dirty lines through the mechanism's eviction stage to the queue to DRAM.
    fn send_evictions(&mut self, now: u64, memory: &DeviceMemory) {
        if self.dram.leaving.is_empty() {
            return;
        }
        if self.dram.has_room(&self.spec, WRITE_REQUESTS)
            && let Some(part) = self.parts.pop_eviction()
        {
            self.write_out(part, memory);
        }
        if self.dram.has_room(&self.spec, WRITE_REQUESTS)
            && let Some(&part) = self.dram.evictions.front()
        {
            match self.parts.offer_eviction(now, part, memory) {
                Offer::Pass => self.write_out(part, memory),
                Offer::Taken => {}
                Offer::Full => return,
            }
            self.dram.evictions.pop_front();
        }
    }

    /// Sends a line's dirty sectors to DRAM.
    fn write_out(&mut self, part: LinePart, memory: &DeviceMemory) {
        let plan = self.parts.write_plan(part, self.spec.burst_bytes, memory);
        self.dram.write(&self.spec, part, plan);
        self.counters.writebacks += 1;
    }

    /// Handles one request at the port, or counts the cause that blocks the first request.
    fn use_port(&mut self, now: u64, memory: &DeviceMemory) {
        if self.is_pipe_full() {
            self.counters.reply_stalls += 1;
            return;
        }
        if let Some(packet) = self.lines.next_replay() {
            self.handle_replay(now, &packet, memory);
            if self.spec.port_bytes == 0 {
                return;
            }
        }
        if now < self.port_free_from {
            return;
        }
        if self.input.entering.is_none() {
            self.input.entering = self.parts.pop_write();
        }
        // A write from the mechanism takes no port cycle here: it took one when it entered the write stage.
        if let Some(packet) = self.input.entering {
            if !self.handle(now, &packet, memory) {
                return;
            }
            self.input.entering = None;
            self.input.release(self.spec.sectors.part(packet.line, packet.sectors));
            if self.is_pipe_full() {
                return;
            }
        }
        let Some(mut packet) = self.input.queue.front().copied() else { return };
        if self.spec.port_bytes != 0 && self.lines.to_replay().iter().any(|p| p.line == packet.line) {
            return;
        }
        if self.is_behind_a_write(&packet) {
            self.counters.write_stage_stalls += 1;
            return;
        }
        if packet.kind != PacketKind::Read && !self.input.head_may_enter {
            match self.parts.offer_write(now, &mut packet, memory) {
                Offer::Pass => {
                    self.input.queue[0] = packet;
                    self.input.head_may_enter = true;
                }
                Offer::Taken => {
                    self.input.stage(self.spec.sectors.part(packet.line, packet.sectors));
                    return;
                }
                Offer::Full => {
                    self.counters.write_stage_stalls += 1;
                    return;
                }
            }
        }
        if self.handle(now, &packet, memory) {
            self.input.queue.pop_front();
            self.input.head_may_enter = false;
        }
    }

    /// Occupies the data port for the cycles in which it moves `bytes` bytes, if it is narrower than a line.
    pub(super) fn hold_port(&mut self, now: u64, bytes: u32) {
        if self.spec.port_bytes != 0 {
            self.port_free_from =
                self.port_free_from.max(now) + u64::from(bytes.div_ceil(self.spec.port_bytes));
        }
    }

    /// Returns whether the mechanism's write stage holds a write to sectors of `packet`.
    fn is_behind_a_write(&self, packet: &Packet) -> bool {
        self.input.has_staged() && self.input.is_staged(self.spec.sectors.part(packet.line, packet.sectors))
    }

    /// Returns whether an atomic whose sectors are valid may begin in this cycle. Counts a stall if it waits.
    pub(super) fn may_begin(&mut self, now: u64, packet: &Packet) -> bool {
        let is_free = packet.kind != PacketKind::Atomic || self.lines.atomics.is_free(now, packet);
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
                from = self.lines.atomics.begin(now, packet);
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
        self.output.push(Answer { ready: from + self.spec.hit_latency, packet, is_hit });
    }

    /// Returns whether a request waits for the channel.
    pub fn waits_for_dram(&self) -> bool {
        !self.dram.requests.is_empty()
    }

    /// Sends the oldest request that waits for the channel, if the channel has room. Returns whether it was sent.
    pub fn send_to(&mut self, channel: &mut Channel, now: u64) -> bool {
        let Some(request) = self.dram.requests.front() else { return false };
        if !channel.can_push(request.access) {
            self.counters.dram_full_cycles += 1;
            return false;
        }
        let part = LinePart::of_token(request.token, self.spec.line_bytes);
        match request.access {
            _ if request.metadata => {}
            Access::Read => self.witness.dram_read(part),
            Access::Write => self.witness.dram_written(part),
        }
        channel.push(now, *request);
        self.dram.requests.pop_front();
        true
    }

    /// Returns the mechanisms' parts in the slice.
    pub fn parts(&self) -> &SliceParts {
        &self.parts
    }

    /// Returns the slice's counters.
    pub fn counters(&self) -> L2Counters {
        self.counters
    }

    /// Returns the MSHRs in use, each with its line.
    pub fn misses(&self) -> impl Iterator<Item = (u16, u64)> {
        self.lines.mshr.entries()
    }

    /// Appends one line per request in the slice with the resource it waits for, for deadlock reports.
    pub fn describe_waiting(&self, out: &mut Vec<String>) {
        let name = self.spec.map.slice_name(self.spec.number);
        let text = |queue: &str, p: &Packet, what: &str| {
            format!("{name}: {queue}: {:?} of line {:#x} for SM {} waits for {what}", p.kind, p.line, p.sm)
        };
        let resources = "a way, an MSHR, the atomic unit or room in the mechanism";
        out.extend(self.input.queue.iter().map(|p| text("request queue", p, resources)));
        out.extend(self.input.entering.iter().map(|p| text("write stage exit", p, "a way or an MSHR")));
        out.extend(self.lines.to_replay().iter().map(|p| text("replay", p, "the tags")));
        out.extend(
            self.output.pipe.iter().map(|a| text("hit pipeline", &a.packet, "room in the reply queue")),
        );
        out.extend(self.output.replies.iter().map(|p| text("reply queue", p, "the reply crossbar")));
        let lines = self.lines.mshr.lines();
        out.extend(lines.iter().map(|(line, n)| {
            format!("{name}: MSHR: line {line:#x} waits for its data, {n} requests with it")
        }));
        out.extend(self.dram.leaving.iter().map(|line| {
            format!("{name}: eviction: line {line:#x} waits for the mechanism or the queue to DRAM")
        }));
        for parked in self.dram.parked.iter().filter(|p| !p.arrived) {
            let line = LinePart::of_token(parked.request.token, self.spec.line_bytes).line;
            out.push(format!("{name}: line {line:#x} waits for metadata {:#x}", parked.metadata));
        }
        if self.parts.busy() {
            out.push(format!("{name}: the mechanism is busy"));
        }
        let to_dram = self.dram.requests.iter();
        out.extend(to_dram.map(|r| format!("{name}: queue to DRAM: {:?} at {:#x}", r.access, r.address)));
    }
}
