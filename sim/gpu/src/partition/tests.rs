//! Tests the L2 slices and the whole memory system against closed forms, conservation laws and one contract.
mod atomics;
mod functional;

use super::part::{DramPlans, Eviction, L2FetchSectors, L2Fill, L2Observer, Replies};
use super::*;
use crate::cache::{Fetched, LinePart};
use crate::dram::{Access, Bursts, Channel, Request, Timing};
use crate::has;
use crate::mechanism::Shared;
use crate::packet::{Operations, PacketKind};
use crate::stage::{Offer, Stage};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const LINE: u64 = 128;

fn config() -> GpuConfig {
    GpuConfig::load("gtx480").expect("built in")
}

/// Returns a configuration with equal clocks, so that latencies are exact.
fn one_clock() -> GpuConfig {
    let mut config = config();
    config.clock.interconnect_mhz = 1000;
    config.clock.core_mhz = 1000;
    config.clock.l2_mhz = 1000;
    config.clock.dram_mhz = 1000;
    config
}

fn packet(config: &GpuConfig, kind: PacketKind, line: u64, token: u32) -> Packet {
    let map = AddressMap::new(&config.l2);
    Packet {
        kind,
        line,
        sectors: 0xf,
        full_sectors: true,
        words: u64::MAX,
        operations: Operations { all: 32, on_one_word: 1, returns: true },
        data_bytes: if kind == PacketKind::Write { LINE as u16 } else { 0 },
        sm: (token % config.sm.count) as u16,
        slice: map.slice(line),
        kernel: 0,
        token,
        payload: 0,
        witness: 0,
    }
}

/// A component that takes requests for lines and replies to them later.
trait MemoryLike {
    /// Takes the request if it fits; returns whether it did.
    fn offer(&mut self, packet: &Packet) -> bool;
    fn tick(&mut self);
    fn answer(&mut self) -> Option<Packet>;
    fn busy(&self) -> bool;
    /// Returns whether it replies to writes.
    fn acknowledges(&self) -> bool;
}

/// The L2 slice of partition 0 with its channel.
struct SliceBench {
    slice: Slice,
    channel: Channel,
    now: u64,
    memory: DeviceMemory,
}

impl SliceBench {
    fn new(config: &GpuConfig, parts: SliceParts) -> Self {
        let channel = Channel::new(&config.dram, config.l2.line_bytes);
        Self { slice: Slice::new(config, 0, parts), channel, now: 0, memory: DeviceMemory::new() }
    }

    fn base(config: &GpuConfig) -> Self {
        Self::new(config, SliceParts::default())
    }

    /// Offers a request if one is given, ticks once, and returns a reply.
    fn cycle(&mut self, offered: Option<&Packet>) -> Option<Packet> {
        if let Some(packet) = offered {
            assert!(self.offer(packet), "the request queue is full");
        }
        self.tick();
        self.answer()
    }

    /// Runs until the slice is idle. Returns the replies in order.
    fn drain(&mut self) -> Vec<Packet> {
        let limit = self.now + 100_000;
        let mut answers = Vec::new();
        while self.busy() {
            self.tick();
            answers.extend(self.answer());
            assert!(self.now < limit, "the slice does not finish");
        }
        answers
    }

    /// Returns the cycles from offering a request to an idle slice until its reply.
    fn latency(&mut self, packet: &Packet) -> u64 {
        let start = self.now;
        let mut answer = self.cycle(Some(packet));
        while answer.is_none() {
            answer = self.cycle(None);
            assert!(self.now < start + 10_000, "no answer");
        }
        let latency = self.now - 1 - start;
        self.drain();
        latency
    }
}

impl MemoryLike for SliceBench {
    fn offer(&mut self, packet: &Packet) -> bool {
        let room = self.slice.can_accept();
        if room {
            self.slice.accept(*packet);
        }
        room
    }

    fn tick(&mut self) {
        let channel = (&mut self.channel, self.now);
        self.slice.tick(self.now, channel, &self.memory).expect("no mechanism fails here");
        self.slice.send_to(&mut self.channel, self.now);
        self.channel.tick(self.now);
        self.now += 1;
    }

    fn answer(&mut self) -> Option<Packet> {
        self.slice.take_reply()
    }

    fn busy(&self) -> bool {
        self.slice.busy() || self.channel.busy() || self.channel.returning()
    }

    fn acknowledges(&self) -> bool {
        true
    }
}

/// A channel alone, which replies to reads only.
struct ChannelBench {
    channel: Channel,
    sent: BTreeMap<u64, Packet>,
    now: u64,
}

impl MemoryLike for ChannelBench {
    fn offer(&mut self, packet: &Packet) -> bool {
        let write = packet.kind == PacketKind::Write;
        let access = if write { Access::Write } else { Access::Read };
        let room = self.channel.can_push(access);
        if room {
            let token = u64::from(packet.token);
            let request = Request {
                access,
                address: packet.line,
                bursts: Bursts::run(4),
                metadata: false,
                slice: 0,
                token,
            };
            self.channel.push(self.now, request);
            self.sent.insert(token, *packet);
        }
        room
    }

    fn tick(&mut self) {
        self.channel.tick(self.now);
        self.now += 1;
    }

    fn answer(&mut self) -> Option<Packet> {
        let request = self.channel.pop(self.now - 1)?;
        Some(Packet { kind: PacketKind::ReadReply, ..self.sent[&request.token] })
    }

    fn busy(&self) -> bool {
        self.channel.busy() || self.channel.returning()
    }

    fn acknowledges(&self) -> bool {
        false
    }
}

/// The whole memory system with its clock domains.
struct SystemBench {
    system: MemorySystem,
    config: GpuConfig,
    core: u64,
    phase: [u32; 3],
    cycles: [u64; 3],
    memory: DeviceMemory,
    turn: usize,
}

impl SystemBench {
    fn new(config: &GpuConfig) -> Self {
        let mut system = MemorySystem::base(config);
        system.check_dram(true);
        Self {
            system,
            config: config.clone(),
            core: 0,
            phase: [0; 3],
            cycles: [0; 3],
            memory: DeviceMemory::new(),
            turn: 0,
        }
    }

    /// Returns the core cycles from sending a request in an idle system until its reply.
    fn latency(&mut self, packet: &Packet) -> u64 {
        let start = self.core;
        assert!(self.offer(packet));
        loop {
            self.tick();
            if self.answer().is_some() {
                let latency = self.core - start;
                while self.busy() {
                    self.tick();
                }
                return latency;
            }
            assert!(self.core < start + 10_000, "{:?}", self.system.describe_waiting());
        }
    }
}

impl MemoryLike for SystemBench {
    fn offer(&mut self, packet: &Packet) -> bool {
        let sm = usize::from(packet.sm);
        let room = self.system.can_send(sm, packet);
        if room {
            self.system.send(sm, *packet);
        }
        room
    }

    fn tick(&mut self) {
        self.core += 1;
        let clock = self.config.clock;
        for (domain, mhz) in [clock.dram_mhz, clock.l2_mhz, clock.interconnect_mhz].into_iter().enumerate() {
            self.phase[domain] += mhz;
            if self.phase[domain] >= clock.core_mhz {
                self.phase[domain] -= clock.core_mhz;
                self.cycles[domain] += 1;
                let now = self.cycles[domain];
                match domain {
                    0 => self.system.tick_dram(now),
                    1 => self.system.tick_l2(now, &self.memory).expect("no mechanism fails here"),
                    _ => self.system.tick_interconnect(now),
                }
            }
        }
    }

    fn answer(&mut self) -> Option<Packet> {
        let sms = self.config.sm.count as usize;
        for _ in 0..sms {
            self.turn = (self.turn + 1) % sms;
            if self.system.has_reply(self.turn) {
                return self.system.receive(self.turn);
            }
        }
        None
    }

    fn busy(&self) -> bool {
        self.system.busy()
    }

    fn acknowledges(&self) -> bool {
        true
    }
}

/// Sends `requests` as fast as the memory takes them. Returns all replies by token.
fn serve(memory: &mut dyn MemoryLike, requests: &[Packet]) -> BTreeMap<u32, Packet> {
    let mut answers = BTreeMap::new();
    let mut waiting: VecDeque<_> = requests.iter().collect();
    for _ in 0..1_000_000 {
        if waiting.front().is_some_and(|p| memory.offer(p)) {
            waiting.pop_front();
        }
        memory.tick();
        while let Some(answer) = memory.answer() {
            let twice = answers.insert(answer.token, answer);
            assert_eq!(twice, None, "answered twice");
        }
        if waiting.is_empty() && !memory.busy() {
            return answers;
        }
    }
    panic!("the memory does not finish");
}

/// Asserts the contract of every memory. It is idle before the first and after the last request. Each request that expects a
/// reply gets exactly one, of its kind and line. Replies may come in any order of lines.
fn assert_contract(memory: &mut dyn MemoryLike, requests: &[Packet]) {
    assert!(!memory.busy(), "busy before the first request");
    let answers = serve(memory, requests);
    for request in requests {
        let expected = match request.kind {
            PacketKind::Write if !memory.acknowledges() => None,
            PacketKind::Write => Some(PacketKind::WriteAck),
            PacketKind::Atomic => Some(PacketKind::AtomicReply),
            _ => Some(PacketKind::ReadReply),
        };
        let answer = answers.get(&request.token);
        assert_eq!(answer.map(|a| a.kind), expected, "request {}", request.token);
        assert!(answer.is_none_or(|a| (a.line, a.sm) == (request.line, request.sm)));
    }
    assert_eq!(
        answers.len(),
        requests.iter().filter(|r| memory.acknowledges() || r.kind == PacketKind::Read).count()
    );
}

/// Generates random requests over `lines` lines of all partitions, or of the first partition only.
fn requests(lines: u64, first_partition: bool) -> impl Strategy<Value = Vec<Packet>> {
    let kind =
        prop_oneof![4 => Just(PacketKind::Read), 3 => Just(PacketKind::Write), 1 => Just(PacketKind::Atomic)];
    prop::collection::vec((kind, 0..lines, any::<bool>(), 1u32..16), 1..400).prop_map(move |choices| {
        let config = config();
        let map = AddressMap::new(&config.l2);
        let make = |(token, (kind, line, full, sectors)): (u32, (PacketKind, u64, bool, u32))| {
            let line = if first_partition { map.global(0, line * LINE) } else { line * LINE };
            let p = packet(&config, kind, line, token);
            Packet { full_sectors: full, sectors: if full { 0xf } else { sectors }, ..p }
        };
        (0..).zip(choices).map(make).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_l2_slice_keeps_the_contract(requests in requests(60, true)) {
        assert_contract(&mut SliceBench::base(&config()), &requests);
    }

    /// Runs a slice so small that every resource runs out.
    #[test]
    fn a_starved_slice_keeps_the_contract(requests in requests(200, true)) {
        let mut config = config();
        (config.l2.sets, config.l2.ways, config.l2.mshr_entries, config.l2.mshr_merges) = (2, 2, 3, 2);
        (config.l2.dram_queue, config.l2.eviction_queue, config.l2.reply_queue) = (3, 1, 1);
        (config.dram.queue, config.dram.write_high, config.dram.write_low) = (2, 1, 0);
        let mut bench = SliceBench::base(&config);
        assert_contract(&mut bench, &requests);
        let counters = bench.slice.counters();
        prop_assert!(counters.cache.is_conserved());
        prop_assert_eq!(counters.cache.accesses, requests.len() as u64);
        prop_assert_eq!(counters.writebacks, bench.channel.counters().writes);
        prop_assert_eq!(counters.fills, bench.channel.counters().reads);
    }

    #[test]
    fn a_dram_channel_keeps_the_contract(requests in requests(1 << 16, false)) {
        let reads_and_writes: Vec<_> =
            requests.into_iter().filter(|r| r.kind != PacketKind::Atomic).collect();
        let channel = Channel::new(&config().dram, LINE as u32);
        assert_contract(&mut ChannelBench { channel, sent: BTreeMap::new(), now: 0 }, &reads_and_writes);
    }

    #[test]
    fn the_memory_system_keeps_the_contract(requests in requests(1 << 10, false)) {
        let mut bench = SystemBench::new(&config());
        assert_contract(&mut bench, &requests);
        prop_assert_eq!(bench.system.dram_violation(), None);
        // Stores that cover their sectors may remain in the L2.
        let stays = |request: &Packet| request.kind == PacketKind::Write && request.full_sectors;
        prop_assert!(bench.system.dram_commands_checked() > 0 || requests.iter().all(stays));
        let stats = bench.system.stats();
        prop_assert!(stats.l2.cache.is_conserved());
        prop_assert_eq!(stats.l2.cache.accesses, requests.len() as u64);
        prop_assert_eq!(stats.crossbar.requests.packets, stats.crossbar.replies.packets);
        prop_assert!(bench.system.describe_waiting().is_empty());
    }
}

#[test]
fn l2_hit_latency_is_the_configured_one() {
    let config = config();
    let mut bench = SliceBench::base(&config);
    let read = packet(&config, PacketKind::Read, 0, 0);
    bench.latency(&read);
    assert_eq!(bench.latency(&read), u64::from(config.l2.hit_latency));
}

#[test]
fn l2_miss_latency_adds_the_channels() {
    let config = config();
    let mut bench = SliceBench::base(&config);
    let channel = Timing::new(&config.dram).row_empty_latency(4);
    let latency = bench.latency(&packet(&config, PacketKind::Read, 0, 0));
    // Both clocks are equal here: the request leaves in the cycle of its miss, and its reply is taken on arrival.
    assert_eq!(latency, u64::from(config.l2.hit_latency) + channel);
}

#[test]
fn l2_answers_one_hit_per_cycle() {
    let config = config();
    let mut bench = SliceBench::base(&config);
    let read = packet(&config, PacketKind::Read, 0, 0);
    bench.latency(&read);
    let answers = (0..1000).filter(|_| bench.cycle(Some(&read)).is_some()).count();
    assert_eq!(answers, 1000 - config.l2.hit_latency as usize);
}

#[test]
fn a_whole_line_is_written_without_fetching_it() {
    let config = config();
    let mut bench = SliceBench::base(&config);
    let write = packet(&config, PacketKind::Write, 0, 0);
    assert_eq!(bench.latency(&write), u64::from(config.l2.hit_latency));
    assert_eq!(bench.latency(&packet(&config, PacketKind::Read, 0, 1)), u64::from(config.l2.hit_latency));
    let dram = bench.channel.counters();
    assert_eq!((dram.reads, dram.writes), (0, 0));
}

#[test]
fn a_partial_write_fetches_and_then_dirties_the_line() {
    let mut config = config();
    (config.l2.sets, config.l2.ways) = (1, 1);
    for partial in [
        Packet { full_sectors: false, ..packet(&config, PacketKind::Write, 0, 0) },
        Packet { sectors: 0x7, ..packet(&config, PacketKind::Write, 0, 0) },
        packet(&config, PacketKind::Atomic, 0, 0),
    ] {
        let mut bench = SliceBench::base(&config);
        assert!(bench.latency(&partial) > u64::from(config.l2.hit_latency));
        assert_eq!(bench.channel.counters().reads, 1);
        // Another line replaces the dirty line in the only slot, which is written back.
        bench.latency(&packet(&config, PacketKind::Read, LINE, 1));
        assert_eq!(bench.channel.counters().writes, 1);
        assert_eq!(bench.slice.counters().writebacks, 1);
    }
}

#[test]
fn a_clean_line_leaves_silently() {
    let mut config = config();
    (config.l2.sets, config.l2.ways) = (1, 1);
    let mut bench = SliceBench::base(&config);
    bench.latency(&packet(&config, PacketKind::Read, 0, 0));
    bench.latency(&packet(&config, PacketKind::Read, LINE, 1));
    assert_eq!(bench.channel.counters().writes, 0);
    assert_eq!(bench.slice.counters().cache.misses, 2);
}

#[test]
fn reads_of_one_line_in_flight_merge() {
    let config = config();
    let mut bench = SliceBench::base(&config);
    for token in 0..5 {
        bench.cycle(Some(&packet(&config, PacketKind::Read, 0, token)));
    }
    let tokens: Vec<_> = bench.drain().iter().map(|p| p.token).collect();
    assert_eq!(tokens, [0, 1, 2, 3, 4]);
    let cache = bench.slice.counters().cache;
    assert_eq!((cache.misses, cache.pending_hits), (1, 4));
    assert_eq!(bench.channel.counters().reads, 1);
}

/// Checks that each cause of a reservation failure has its own counter, and that the blocked request is served in the end.
#[test]
fn reservation_failures_are_counted_by_cause() {
    let fails = |change: &dyn Fn(&mut GpuConfig), lines: &[u64]| {
        let mut config = config();
        change(&mut config);
        let mut bench = SliceBench::base(&config);
        let requests: Vec<_> =
            (0..).zip(lines).map(|(t, l)| packet(&config, PacketKind::Read, l * LINE, t)).collect();
        assert_eq!(serve(&mut bench, &requests).len(), lines.len());
        bench.slice.counters().cache.reservation_fails
    };
    // Lines 0, 1, 12, 13, 24, ... belong to partition 0.
    let entry = fails(&|c| c.l2.mshr_entries = 1, &[0, 1]);
    assert!(entry.mshr_entry > 0 && entry.total() == entry.mshr_entry);
    let merge = fails(&|c| c.l2.mshr_merges = 1, &[0, 0]);
    assert!(merge.mshr_merge > 0 && merge.total() == merge.mshr_merge);
    let line = fails(&|c| (c.l2.sets, c.l2.ways) = (1, 1), &[0, 1]);
    assert!(line.line > 0 && line.total() == line.line);
    let full = |c: &mut GpuConfig| {
        c.l2.dram_queue = 3;
        (c.dram.queue, c.dram.write_high, c.dram.write_low) = (1, 1, 0);
    };
    let queue = fails(&full, &[0, 1, 12, 13, 24, 25, 36, 37]);
    assert!(queue.miss_queue > 0 && queue.total() == queue.miss_queue);
    assert_eq!(fails(&|_| {}, &[0, 1, 0, 12]).total(), 0);
}

/// Checks that a read of a line does not overtake its write-back.
#[test]
fn a_line_that_leaves_is_read_after_it_was_written() {
    let mut config = config();
    (config.l2.sets, config.l2.ways) = (1, 1);
    let mut bench = SliceBench::base(&config);
    bench.channel.attach(CommandChecker::new(&config.dram, 4));
    let requests = [
        packet(&config, PacketKind::Write, 0, 0),
        packet(&config, PacketKind::Write, LINE, 1),
        packet(&config, PacketKind::Read, 0, 2),
    ];
    assert_eq!(serve(&mut bench, &requests).len(), 3);
    let dram = bench.channel.counters();
    assert_eq!((dram.reads, dram.writes), (1, 2));
    assert!(bench.channel.violations().is_empty());
}

/// The calls that the test policy received, shared with the test.
#[derive(Default, selvedge_state::State)]
struct Seen {
    events: Vec<(&'static str, u64)>,
    arrived: Vec<u64>,
}

/// A mechanism with all stages, each for two lines and three cycles, with metadata for all lines and with short replies.
#[derive(selvedge_state::State)]
struct TestPolicy {
    now: u64,
    fills: VecDeque<(u64, L2Fill)>,
    evictions: VecDeque<(u64, Eviction)>,
    writes: VecDeque<(u64, Packet)>,
    bursts: u32,
    metadata: bool,
    seen: Shared<Seen>,
}

const STAGE_LINES: usize = 2;
const STAGE_CYCLES: u64 = 3;
/// Metadata are in rows of bank 8. The data of the tests are in bank 0.
const METADATA: u64 = (1 << 30) + 8 * 2048;

impl TestPolicy {
    fn new(bursts: u32, metadata: bool) -> (Self, Shared<Seen>) {
        let seen = Shared::new(Seen::default());
        let policy = Self {
            now: 0,
            fills: VecDeque::new(),
            evictions: VecDeque::new(),
            writes: VecDeque::new(),
            bursts,
            metadata,
            seen: seen.clone(),
        };
        (policy, seen)
    }

    fn plan(&self, line: u64) -> DramPlan {
        let metadata = METADATA + line / 1024 * 32;
        let known = self.seen.lock().arrived.contains(&metadata);
        DramPlan {
            bursts: self.bursts,
            metadata: (self.metadata && !known).then_some(metadata),
            metadata_writeback: None,
        }
    }

    fn see(&self, event: &'static str, line: u64) {
        self.seen.lock().events.push((event, line));
    }

    fn enter<T>(stage: &mut VecDeque<(u64, T)>, now: u64, item: T) -> Offer {
        if stage.len() >= STAGE_LINES {
            return Offer::Full;
        }
        stage.push_back((now + STAGE_CYCLES, item));
        Offer::Taken
    }

    fn leave<T>(stage: &mut VecDeque<(u64, T)>, now: u64) -> Option<T> {
        stage.front().filter(|(ready, _)| *ready <= now)?;
        stage.pop_front().map(|(_, item)| item)
    }
}

impl SlicePart for TestPolicy {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        assert!(now > self.now || now == 0, "ticked twice in a cycle");
        self.now = now;
        Ok(())
    }

    fn busy(&self) -> bool {
        !(self.fills.is_empty() && self.evictions.is_empty() && self.writes.is_empty())
    }

    has!(dram: DramPlans, fills: Stage<L2Fill>, evictions: Stage<Eviction>, writes: Stage<Packet>, replies: Replies);
}

impl DramPlans for TestPolicy {
    fn read_plan(&mut self, part: LinePart, _: &DeviceMemory) -> DramPlan {
        self.see("read", part.line);
        self.plan(part.line)
    }

    fn write_plan(&mut self, part: LinePart, _: &DeviceMemory) -> DramPlan {
        self.see("write", part.line);
        self.plan(part.line)
    }

    fn metadata_arrived(&mut self, address: u64) {
        self.seen.lock().arrived.push(address);
    }

    fn untimed_access(&mut self, line: u64) {
        self.see("untimed", line);
    }
}

impl Stage<L2Fill> for TestPolicy {
    fn offer(&mut self, _: u64, fill: &mut L2Fill, _: &DeviceMemory) -> Offer {
        Self::enter(&mut self.fills, self.now, *fill)
    }

    fn pop(&mut self) -> Option<L2Fill> {
        Self::leave(&mut self.fills, self.now)
    }
}

impl Stage<Eviction> for TestPolicy {
    fn offer(&mut self, _: u64, eviction: &mut Eviction, _: &DeviceMemory) -> Offer {
        Self::enter(&mut self.evictions, self.now, *eviction)
    }

    fn pop(&mut self) -> Option<Eviction> {
        Self::leave(&mut self.evictions, self.now)
    }
}

impl Stage<Packet> for TestPolicy {
    fn offer(&mut self, _: u64, packet: &mut Packet, _: &DeviceMemory) -> Offer {
        if packet.full_sectors { Offer::Pass } else { Self::enter(&mut self.writes, self.now, *packet) }
    }

    fn pop(&mut self) -> Option<Packet> {
        Self::leave(&mut self.writes, self.now)
    }
}

impl Replies for TestPolicy {
    fn reply(&mut self, packet: &mut Packet, _: bool, _: &DeviceMemory) {
        assert_eq!(packet.kind, PacketKind::ReadReply);
        packet.data_bytes = 32;
        packet.payload = 1;
    }
}

#[test]
fn metadata_is_read_before_the_data() {
    let config = config();
    let latency = |metadata| {
        let (policy, seen) = TestPolicy::new(2, metadata);
        let mut bench = SliceBench::new(&config, SliceParts::one(policy));
        let first = bench.latency(&packet(&config, PacketKind::Read, 0, 0));
        let second = bench.latency(&packet(&config, PacketKind::Read, LINE, 1));
        let dram = bench.channel.counters();
        assert_eq!(dram.metadata_reads, u64::from(metadata));
        assert_eq!(seen.lock().arrived.len() as u64, dram.metadata_reads);
        assert_eq!(dram.bursts, 2 + 2 + dram.metadata_reads);
        (first, second)
    };
    let (with, without) = (latency(true), latency(false));
    let timing = Timing::new(&config.dram);
    // One additional access to a closed bank. The request for the data leaves when the metadata arrive.
    assert_eq!(with.0, without.0 + timing.row_empty_latency(1));
    assert_eq!(with.1, without.1, "the second line's metadata is known");
}

/// A write-back in the mechanism's eviction stage is not in DRAM yet. The plan for the line's next read must be made after it.
#[test]
fn a_line_is_not_fetched_while_its_write_back_is_in_the_eviction_stage() {
    let mut config = config();
    (config.l2.sets, config.l2.ways) = (1, 2);
    let (policy, seen) = TestPolicy::new(4, false);
    let mut bench = SliceBench::new(&config, SliceParts::one(policy));
    bench.latency(&packet(&config, PacketKind::Write, 0, 0));
    bench.latency(&packet(&config, PacketKind::Read, LINE, 1));
    // The third line of the partition replaces the dirty line, which the next cycle requests again.
    for (token, line) in [(2, 12 * LINE), (3, 0)] {
        bench.cycle(Some(&packet(&config, PacketKind::Read, line, token)));
    }
    assert_eq!(bench.drain().len(), 2);
    assert_eq!(seen.lock().events, [("read", LINE), ("read", 12 * LINE), ("write", 0), ("read", 0)]);
    let waited = bench.slice.counters().cache.reservation_fails.miss_queue;
    assert_eq!(waited, STAGE_CYCLES, "the read waits for the stage and for nothing else");
}

#[test]
fn accesses_without_timing_that_reach_dram_are_seen_by_the_part_that_states_their_cost() {
    let mut config = config();
    (config.l2.sets, config.l2.ways) = (1, 2);
    let (policy, seen) = TestPolicy::new(4, true);
    let mut slice = SliceBench::new(&config, SliceParts::one(policy)).slice;
    // A write of whole sectors fetches nothing, and the second read hits.
    for (line, is_write) in [(0, true), (LINE, false), (LINE, false)] {
        slice.warm(0, line, 0xf, is_write);
    }
    assert_eq!(seen.lock().events, [("untimed", LINE)]);
    // The dirty line leaves, and then the clean one.
    for line in [12 * LINE, 24 * LINE] {
        slice.warm(0, line, 0xf, false);
    }
    let after = [LINE, 0, 12 * LINE, 24 * LINE].map(|line| ("untimed", line));
    assert_eq!(seen.lock().events, after);
}

/// Checks that a slice whose replies are not taken holds one request per entry of its queues and hit pipeline.
#[test]
fn a_slice_holds_as_many_requests_as_its_queues_have_places() {
    let mut config = config();
    (config.l2.request_queue, config.l2.reply_queue) = (5, 3);
    let mut bench = SliceBench::base(&config);
    let read = packet(&config, PacketKind::Read, 0, 0);
    bench.latency(&read);
    let mut taken = 0;
    for _ in 0..1000 {
        taken += u32::from(bench.offer(&read));
        bench.tick();
    }
    assert_eq!(taken, 5 + config.l2.hit_latency + 3);
    assert!(bench.slice.counters().reply_stalls > 0);
    assert_eq!(bench.drain().len() as u32, taken);
}

#[test]
fn as_many_requests_wait_for_a_line_as_an_entry_merges() {
    let mut config = config();
    config.l2.mshr_merges = 3;
    let mut bench = SliceBench::base(&config);
    let fails = |bench: &SliceBench| {
        let cache = bench.slice.counters().cache;
        (cache.misses + cache.pending_hits, cache.reservation_fails.mshr_merge)
    };
    (0..3).for_each(|token| _ = bench.cycle(Some(&packet(&config, PacketKind::Read, 0, token))));
    assert_eq!(fails(&bench), (3, 0));
    bench.cycle(Some(&packet(&config, PacketKind::Read, 0, 3)));
    assert_eq!(fails(&bench), (3, 1));
    assert_eq!(bench.drain().len(), 4);
}

#[test]
fn as_many_lines_are_in_flight_as_there_are_entries() {
    let mut config = config();
    config.l2.mshr_entries = 3;
    let mut bench = SliceBench::base(&config);
    // Lines 0, 1, 12 and 13 belong to partition 0.
    for (token, line) in [(0, 0), (1, 1), (2, 12), (3, 13)] {
        bench.cycle(Some(&packet(&config, PacketKind::Read, line * LINE, token)));
    }
    let cache = bench.slice.counters().cache;
    assert_eq!((cache.misses, cache.reservation_fails.mshr_entry), (3, 1));
    assert_eq!(bench.drain().len(), 4);
}

/// Checks that a request does not overtake a write to its sectors in the mechanism's write stage.
#[test]
fn a_read_waits_for_the_write_before_it_in_the_write_stage() {
    let config = config();
    let (policy, _) = TestPolicy::new(4, false);
    let mut bench = SliceBench::new(&config, SliceParts::one(policy));
    for line in [0, LINE] {
        bench.latency(&packet(&config, PacketKind::Read, line, 0));
    }
    let partial = Packet { full_sectors: false, sectors: 0b0011, ..packet(&config, PacketKind::Write, 0, 1) };
    let answers = |bench: &mut SliceBench, read: Packet| {
        bench.cycle(Some(&partial));
        bench.cycle(Some(&read));
        bench.drain().iter().map(|answer| answer.token).collect::<Vec<_>>()
    };
    let read = |line, sectors| Packet { sectors, ..packet(&config, PacketKind::Read, line, 2) };
    assert_eq!(answers(&mut bench, read(0, 0b0110)), [1, 2]);
    // Other sectors and other lines do not wait.
    assert_eq!(answers(&mut bench, read(0, 0b1100)), [2, 1]);
    assert_eq!(answers(&mut bench, read(LINE, 0b0011)), [2, 1]);
    assert!(bench.slice.counters().write_stage_stalls > 0);
}

#[test]
fn reads_share_a_metadata_burst_on_its_way() {
    let config = config();
    let (policy, seen) = TestPolicy::new(1, true);
    let mut bench = SliceBench::new(&config, SliceParts::one(policy));
    for (token, line) in [(0, 0), (1, LINE)] {
        bench.cycle(Some(&packet(&config, PacketKind::Read, line, token)));
    }
    assert_eq!(bench.drain().len(), 2);
    assert_eq!(bench.channel.counters().metadata_reads, 1);
    assert_eq!(seen.lock().events, [("read", 0), ("read", LINE)]);
}

/// Fetches two sectors more than requested, and records the events that it receives.
#[derive(Default, selvedge_state::State)]
struct Granular {
    #[state(skip = "what the test looks at")]
    events: Shared<Vec<L2Event>>,
}

impl SlicePart for Granular {
    has!(fetch: L2FetchSectors, observer: L2Observer);
}

impl L2FetchSectors for Granular {
    fn sectors(&mut self, _: u64, missing: LinePart, absent: u32) -> u32 {
        assert_eq!(missing.sectors & !absent, 0, "only what is not there is asked for");
        missing.sectors | missing.sectors << 1 | missing.sectors << 2
    }
}

impl L2Observer for Granular {
    fn l2_event(&mut self, _: u64, event: &L2Event) {
        self.events.lock().push(*event);
    }
}

#[test]
fn a_mechanism_chooses_the_sectors_that_a_miss_fetches_and_hears_which_were_used() {
    let mut config = config();
    (config.l2.sets, config.l2.ways, config.l2.sector_bytes) = (1, 1, 32);
    let policy = Granular::default();
    let events = policy.events.clone();
    let mut bench = SliceBench::new(&config, SliceParts::one(policy));
    let mut request = |kind, line, sectors| {
        bench.latency(&Packet { sectors, ..packet(&config, kind, line, 0) });
        std::mem::take(&mut *events.lock())
    };
    let fetched =
        |demand, not_predicted, predicted| L2Event::Fetched(Fetched { demand, not_predicted, predicted });
    assert_eq!(request(PacketKind::Read, 0, 0b0001), [fetched(1, 0, 2)]);
    // A store of a whole sector fetches nothing, but is the first use of a predicted sector.
    assert_eq!(request(PacketKind::Write, 0, 0b0010), [L2Event::PredictionUsed(1)]);
    assert_eq!(request(PacketKind::Read, 0, 0b1000), [fetched(0, 1, 0)]);
    assert_eq!(request(PacketKind::Read, 0, 0b1011), []);
    let evicted = L2Event::Evicted { line: 0, used: 0b1011 };
    assert_eq!(request(PacketKind::Read, LINE, 0b0100), [evicted, fetched(1, 0, 1)]);
    assert_eq!(bench.channel.counters().read_bursts, 3 + 1 + 2);
}

#[test]
fn replies_leave_as_the_mechanism_makes_them() {
    let config = config();
    let (policy, _) = TestPolicy::new(1, false);
    let mut bench = SliceBench::new(&config, SliceParts::one(policy));
    bench.cycle(Some(&packet(&config, PacketKind::Read, 0, 0)));
    let answers = bench.drain();
    assert_eq!(answers.iter().map(|p| (p.data_bytes, p.payload)).collect::<Vec<_>>(), [(32, 1)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Checks that the stages of a mechanism lose nothing when resources run out, and that each move of a line is planned once.
    #[test]
    fn a_slice_with_a_mechanism_keeps_the_contract(requests in requests(200, true), small in any::<bool>()) {
        let mut config = config();
        if small {
            (config.l2.sets, config.l2.ways, config.l2.mshr_entries, config.l2.mshr_merges) = (2, 2, 3, 2);
            (config.l2.dram_queue, config.l2.eviction_queue, config.l2.reply_queue) = (3, 1, 1);
            (config.dram.queue, config.dram.write_high, config.dram.write_low) = (2, 1, 0);
        }
        let (policy, seen) = TestPolicy::new(3, true);
        let mut bench = SliceBench::new(&config, SliceParts::one(policy));
        assert_contract(&mut bench, &requests);
        let (counters, dram) = (bench.slice.counters(), bench.channel.counters());
        let planned = |event| seen.lock().events.iter().filter(|(e, _)| *e == event).count() as u64;
        prop_assert_eq!(planned("read"), counters.fills);
        prop_assert_eq!(planned("write"), counters.writebacks);
        prop_assert_eq!(dram.reads - dram.metadata_reads, counters.fills);
        prop_assert_eq!(dram.writes - dram.metadata_writes, counters.writebacks);
        prop_assert_eq!(dram.bursts, 3 * (counters.fills + counters.writebacks) + dram.metadata_reads);
    }
}

#[test]
fn whole_round_trips_are_the_closed_forms() {
    let mut slow_crossbar = config();
    slow_crossbar.clock.interconnect_mhz = 700;
    slow_crossbar.clock.l2_mhz = 1400;
    for config in [config(), one_clock(), slow_crossbar] {
        let mut bench = SystemBench::new(&config);
        let map = AddressMap::new(&config.l2);
        let mut sums = [0.0; 2];
        let expected = [closed_form::dram_read_round_trip(&config), closed_form::l2_hit_round_trip(&config)];
        let spread = [closed_form::dram_read_spread(&config), closed_form::l2_hit_spread(&config)];
        // Reads a line in a separate row of every partition and bank, and then hits it, at varying phases of the clocks.
        let (partitions, banks) = (config.l2.partitions, config.dram.banks);
        for n in 0..partitions * banks {
            let local = u64::from(n / partitions * config.dram.row_bytes);
            let read = packet(&config, PacketKind::Read, map.global((n % partitions) as u16, local), n);
            for kind in 0..2 {
                (0..n % 5).for_each(|_| bench.tick());
                let latency = bench.latency(&read) as f64;
                let off = (latency - expected[kind]).abs();
                assert!(off <= spread[kind], "{latency}, expected {} +- {}", expected[kind], spread[kind]);
                sums[kind] += latency / f64::from(partitions * banks);
            }
        }
        // Clocks in a ratio of small integers lock their phases. The mean is then the value of one phase.
        let locked = if config.clock.interconnect_mhz < config.clock.core_mhz { 1.0 } else { 0.5 };
        for (mean, expected) in sums.into_iter().zip(expected) {
            assert!((mean - expected).abs() <= locked, "mean {mean}, expected {expected}");
        }
        let cache = bench.system.stats().l2.cache;
        assert_eq!((cache.hits, cache.misses), (96, 96));
    }
}

#[test]
fn gtx480s_round_trips_are_known() {
    // In the crossbar a request takes 12 cycles and a reply 12 + 4. The L2 takes 30 cycles of two core cycles each, and the phase
    // half a cycle.
    let config = config();
    assert_eq!(closed_form::l2_hit_round_trip(&config), 12.0 + 16.0 + 60.0 + 0.5);
    // 48 DRAM cycles: controller 20, tRCD 12, tCL 12, four bursts.
    let dram = (48.0 + 0.5) * 1400.0 / 924.0 + 1.0;
    assert!((closed_form::dram_read_round_trip(&config) - 88.5 - dram).abs() < 1e-9);
}

/// Returns the bytes per core cycle that arrive after a warm-up while all SMs read as fast as they can.
fn read_bandwidth(config: &GpuConfig, mut line: impl FnMut(u32, u64) -> u64) -> (f64, MemoryStats) {
    let mut bench = SystemBench::new(config);
    let (warm_up, measured) = (5_000, 20_000);
    let (mut sent, mut received) = (0, 0);
    for cycle in 0..warm_up + measured {
        for sm in 0..config.sm.count {
            let read = Packet { sm: sm as u16, ..packet(config, PacketKind::Read, line(sm, sent), 0) };
            sent += u64::from(bench.offer(&read));
        }
        bench.tick();
        for sm in 0..config.sm.count as usize {
            received += u64::from(bench.system.receive(sm).is_some() && cycle >= warm_up);
        }
    }
    assert_eq!(bench.system.dram_violation(), None);
    ((received * LINE) as f64 / measured as f64, bench.system.stats())
}

#[test]
fn l2_hits_are_bound_by_the_reply_ports() {
    let config = config();
    // Each SM reads one line of a partition. The SMs of other partitions do not use it, so that no reply queue suffers from
    // head-of-line blocking. All reads except the first hit.
    let partitions = u64::from(config.l2.partitions);
    let block = u64::from(config.l2.interleave_bytes);
    let (bandwidth, stats) = read_bandwidth(&config, |sm, _| u64::from(sm) % partitions * block);
    assert_eq!(stats.l2.cache.misses, partitions);
    let bound = closed_form::l2_peak_bytes_per_core_cycle(&config);
    assert!(bandwidth <= bound * 1.001, "{bandwidth} bytes per cycle, bound {bound}");
    assert!(bandwidth >= bound * 0.95, "{bandwidth} bytes per cycle, bound {bound}");
}

#[test]
fn streams_are_bound_by_the_dram_buses() {
    let config = config();
    let (bandwidth, stats) = read_bandwidth(&config, |_, n| n * LINE);
    let bound = closed_form::dram_peak_bytes_per_core_cycle(&config);
    assert!(bandwidth <= bound * 1.001, "{bandwidth} bytes per cycle, bound {bound}");
    assert!(bandwidth >= bound * 0.95, "{bandwidth} bytes per cycle, bound {bound}");
    assert!(stats.dram.row_hits * 100 > stats.dram.reads * 90);
}

#[test]
fn what_waits_is_named() {
    let config = config();
    let mut bench = SystemBench::new(&config);
    assert!(bench.offer(&packet(&config, PacketKind::Read, 0x700, 3)));
    let text = |bench: &SystemBench| bench.system.describe_waiting().join("\n");
    assert_eq!(
        text(&bench),
        "request crossbar: input queue 3: Read of line 0x700 for SM 3 waits for its output"
    );
    (0..60).for_each(|_| bench.tick());
    let waiting = text(&bench);
    assert!(
        waiting.contains("L2 partition 1: MSHR: line 0x700 waits for its data, 1 requests with it"),
        "{waiting}"
    );
    assert!(waiting.contains("DRAM channel 1: "), "{waiting}");
}

/// Checks the names of the counters in reports.
#[test]
fn statistics_are_named_as_in_reports() {
    let mut bench = SystemBench::new(&config());
    bench.latency(&packet(&config(), PacketKind::Read, 0, 0));
    let stats = toml::Value::try_from(bench.system.stats()).expect("plain counters");
    let count = |section: &toml::Value, name: &str| section[name].as_integer().expect("a counter");
    assert_eq!(count(&stats["l2"], "misses"), 1);
    assert_eq!(count(&stats["dram"], "bursts"), 4);
    assert_eq!(count(&stats["crossbar"]["replies"], "flits"), 5);
    assert_eq!(count(&stats["partitions"][0]["l2"], "accesses"), 1);
}

#[test]
fn slices_of_a_partition_have_ports_of_their_own_and_share_its_channel() {
    let run = |slices| {
        let mut config = one_clock();
        (config.l2.partitions, config.l2.slices) = (1, slices);
        let mut bench = SystemBench::new(&config);
        let requests: Vec<_> =
            (0..64).map(|n| packet(&config, PacketKind::Read, u64::from(n) * LINE, n)).collect();
        let mut waiting: VecDeque<_> = requests.iter().chain(&requests).chain(&requests).copied().collect();
        let mut answers = 0;
        while !waiting.is_empty() || bench.busy() {
            for _ in 0..waiting.len().min(4) {
                if bench.offer(&waiting[0]) {
                    waiting.pop_front();
                }
            }
            bench.tick();
            while bench.answer().is_some() {
                answers += 1;
            }
        }
        assert_eq!(answers, 3 * 64);
        assert_eq!(bench.system.dram_violation(), None);
        let stats = bench.system.stats();
        assert_eq!((stats.partitions.len(), stats.dram.reads, stats.l2.cache.accesses), (1, 64, 192));
        (bench.core, stats)
    };
    let ((one, _), (two, stats)) = (run(1), run(2));
    assert!(two < one, "{two} cycles with two ports, {one} with one");
    assert_eq!(stats.l2.fills, 64);
}
