//! Compares the L1D with a simple functional cache, and checks the number of each of its resources.
use super::l1d::{AccessContext, L1d, L1dAccess};
use super::part::{L1dEvent, L1dFetchSectors, L1dObserver, L1dPlacement, LineSpace, Load, SmPart};
use super::parts::SmParts;
use super::token::ReplyToken;
use crate::cache::functional::{CacheGeometry, CacheResult, Functional};
use crate::cache::{Fetched, Sectors};
use crate::config::{Allocate, Fetch, GpuConfig, IndexFunction, L1dConfig, WritePolicy};
use crate::has;
use crate::mechanism::Shared;
use crate::packet::{Operations, Packet, PacketKind};
use crate::stats::FailCause;
use proptest::prelude::*;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::LOCAL_REGION;

fn config() -> L1dConfig {
    GpuConfig::load("gtx480").expect("built in").l1d
}

fn sectored() -> L1dConfig {
    L1dConfig { sector_bytes: 32, ..config() }
}

fn packet(kind: PacketKind, line: u64, sectors: u32) -> Packet {
    Packet {
        kind,
        line,
        sectors,
        full_sectors: false,
        words: 0,
        operations: Operations::default(),
        data_bytes: 0,
        sm: 0,
        slice: 0,
        kernel: 0,
        token: 0,
        payload: 0,
        witness: 0,
    }
}

/// An L1D with the parts of a mechanism.
struct Bench {
    l1d: L1d,
    parts: SmParts,
    memory: DeviceMemory,
    now: u64,
    /// Number of lines and of sectors that were written back.
    written: (u64, u64),
}

impl Bench {
    fn new(config: &L1dConfig, parts: SmParts) -> Self {
        Bench { l1d: L1d::new(config), parts, memory: DeviceMemory::new(), now: 0, written: (0, 0) }
    }

    fn load(&mut self, line: u64, touched: u32, inst: u32) -> L1dAccess {
        self.now += 1;
        let sectors = self.l1d.sectors_of(touched);
        let packet = packet(PacketKind::Read, line, sectors);
        let load = Load { line, sectors, ..Load::default() };
        let mut ctx =
            AccessContext { now: self.now, asked: self.now, parts: &mut self.parts, memory: &self.memory };
        let found = self.l1d.look_up(packet.line, packet.sectors);
        self.l1d.load(packet, found, &load, inst, &mut ctx)
    }

    /// Returns `true` if the L1D keeps the store.
    fn store(&mut self, line: u64, touched: u32) -> bool {
        let packet = packet(PacketKind::Write, line, touched);
        if self.l1d.keep(&packet) {
            return true;
        }
        let mut ctx =
            AccessContext { now: self.now, asked: self.now, parts: &mut self.parts, memory: &self.memory };
        self.l1d.write(&packet, &mut ctx);
        false
    }

    /// Returns the next packet that leaves and is not a write-back. Counts the write-backs before it.
    fn sent(&mut self) -> Option<Packet> {
        loop {
            let packet = self.l1d.sent()?;
            if packet.token != ReplyToken::WriteBack.pack() {
                return Some(packet);
            }
            assert_eq!((packet.kind, packet.full_sectors), (PacketKind::Write, true));
            assert_eq!(u32::from(packet.data_bytes), packet.sectors.count_ones() * 32);
            assert_eq!(packet.words.count_ones(), packet.sectors.count_ones() * 8);
            self.written.0 += 1;
            self.written.1 += u64::from(packet.sectors.count_ones());
        }
    }

    /// Answers a request. Returns the instructions that it wakes.
    fn answer(&mut self, request: &Packet) -> Vec<u32> {
        let reply = Packet { kind: PacketKind::ReadReply, ..*request };
        let mut woken = Vec::new();
        let mut ctx =
            AccessContext { now: self.now, asked: self.now, parts: &mut self.parts, memory: &self.memory };
        self.l1d.fill(&reply, &mut woken, &mut ctx);
        woken
    }

    /// Runs a load, with its reply before the next access. Returns its outcome and the sectors that it fetched.
    fn serial_load(&mut self, line: u64, touched: u32) -> (CacheResult, u32) {
        match self.load(line, touched, 7) {
            L1dAccess::Hit => (CacheResult::Hit, 0),
            access @ (L1dAccess::Miss | L1dAccess::SectorMiss) => {
                let request = self.sent().expect("a miss is sent");
                assert_eq!(self.answer(&request), [7]);
                (
                    if access == L1dAccess::Miss { CacheResult::Miss } else { CacheResult::SectorMiss },
                    request.sectors,
                )
            }
            access => panic!("{access:?} though nothing is in flight"),
        }
    }

    /// Runs a store and returns its outcome.
    fn serial_store(&mut self, line: u64, touched: u32) -> CacheResult {
        let before = self.l1d.counters();
        self.store(line, touched);
        let new = self.l1d.counters() - before;
        match (new.write_hits, new.write_misses, new.write_sector_misses) {
            (1, 0, 0) => CacheResult::Hit,
            (0, 1, 1) => CacheResult::SectorMiss,
            (0, 1, 0) => CacheResult::Miss,
            counted => panic!("one store counts as {counted:?}"),
        }
    }
}

/// A placement whose compressed sizes depend only on the line.
#[derive(selvedge_state::State)]
struct Sizes {
    /// Sub-blocks of a line that is not compressed.
    whole: u32,
}

fn size(line: u64) -> u32 {
    (line >> 5).wrapping_mul(0x9e37_79b9) as u32 >> 16 & 7
}

impl SmPart for Sizes {
    has!(placement: L1dPlacement);
}

impl L1dPlacement for Sizes {
    fn space(&mut self, line: u64, _: &DeviceMemory) -> LineSpace {
        LineSpace::SubBlocks(size(line).clamp(1, self.whole))
    }

    fn placed(&mut self) -> Option<(u64, u32)> {
        None
    }

    fn stale_line(&mut self) -> Option<u64> {
        None
    }
}

const FUNCTIONS: [IndexFunction; 7] = [
    IndexFunction::Bmod,
    IndexFunction::Bxor,
    IndexFunction::Pmod,
    IndexFunction::APrime { mersenne: false },
    IndexFunction::APrime { mersenne: true },
    IndexFunction::DPrime { prime: 11 },
    IndexFunction::IPoly,
];

const POLICIES: [WritePolicy; 4] =
    [WritePolicy::WriteEvict, WritePolicy::WriteThrough, WritePolicy::WriteBack, WritePolicy::LocalWriteBack];

/// Returns the address of line `number`. Every second line is in local memory.
fn address(config: &L1dConfig, number: u64) -> u64 {
    number % 2 * LOCAL_REGION + number * u64::from(config.line_bytes)
}

/// Generates every geometry and policy that the configuration allows, with few sets so that they fill.
fn any_l1d() -> impl Strategy<Value = L1dConfig> {
    let shape = (0u32..3, 1u32..5, 5u32..9, 0u32..4, 1u32..5, 0usize..FUNCTIONS.len());
    let policies = (any::<bool>(), any::<bool>(), 0usize..POLICIES.len());
    (shape, policies).prop_map(|((sets, ways, line, sector, tags, index), (on_fill, coarse, policy))| {
        let line_bytes = 1 << line;
        let sector_bytes = (line_bytes >> sector).max(32);
        let index = FUNCTIONS[index];
        L1dConfig {
            sets: if index == IndexFunction::Bmod { 1 << sets } else { 16 },
            ways,
            line_bytes,
            sector_bytes,
            tags_per_way: if sector_bytes == line_bytes && !POLICIES[policy].writes_back() {
                tags
            } else {
                1
            },
            index,
            allocate: if on_fill { Allocate::OnFill } else { Allocate::OnMiss },
            fetch: if coarse { Fetch::Line } else { Fetch::Requested },
            write_policy: POLICIES[policy],
            ..config()
        }
    })
}

fn functional(config: &L1dConfig) -> Functional {
    let &L1dConfig { sets, ways, tags_per_way, line_bytes, sector_bytes, index, fetch, .. } = config;
    let shape = CacheGeometry { sets, ways, tags_per_way, line_bytes, sector_bytes, index, fetch };
    let mut functional = Functional::new(shape);
    if tags_per_way > 1 {
        functional.size = |line| size(line).max(1);
        functional.reserves_whole_lines = config.allocate == Allocate::OnMiss;
    }
    functional
}

proptest! {
    #[test]
    fn an_l1d_finds_what_a_functional_cache_finds_when_accesses_come_one_by_one(
        config in any_l1d(),
        accesses in prop::collection::vec((0u64..80, 1u32..256, 0u8..4), 1..300),
    ) {
        let mut bench = Bench::new(&config, SmParts::one(Sizes { whole: config.line_bytes / 32 }));
        let mut golden = functional(&config);
        let all = Sectors::new(config.line_bytes, 32).all();
        for (n, (number, sectors, kind)) in accesses.into_iter().enumerate() {
            let line = address(&config, number);
            let touched = if sectors & all == 0 { 1 } else { sectors & all };
            if kind == 0 {
                let expected = match config.write_policy {
                    WritePolicy::WriteEvict => golden.write_evict(line, touched),
                    WritePolicy::WriteThrough => golden.write_through(line, touched),
                    WritePolicy::LocalWriteBack if line < LOCAL_REGION => golden.write_evict(line, touched),
                    WritePolicy::WriteBack | WritePolicy::LocalWriteBack => golden.write_back(line, touched),
                };
                prop_assert_eq!(bench.serial_store(line, touched), expected, "access {}", n);
            } else {
                let expected = golden.read(line, touched);
                prop_assert_eq!(bench.serial_load(line, touched), (expected, golden.fetched), "access {}", n);
            }
        }
        prop_assert_eq!(bench.sent(), None);
        prop_assert_eq!(bench.written, (golden.writebacks, golden.sectors_written));
        prop_assert!(bench.l1d.counters().is_conserved() && bench.l1d.is_idle());
        prop_assert_eq!(bench.l1d.counters().sectors_fetched, bench.l1d.counters().sectors_filled);
        prop_assert_eq!(bench.l1d.counters().reservation_fails.total(), 0);
    }

    /// Checks with many misses in flight that every load is woken once, after its sectors have arrived, for any order of replies.
    #[test]
    fn every_load_is_woken_once(
        config in any_l1d(),
        small in any::<bool>(),
        steps in prop::collection::vec((0u64..12, 1u32..256, 0u8..6, any::<prop::sample::Index>()), 1..300),
    ) {
        let (mshr_entries, mshr_merges) = if small { (3, 2) } else { (32, 8) };
        let config = L1dConfig { mshr_entries, mshr_merges, ..config };
        let mut bench = Bench::new(&config, SmParts::one(Sizes { whole: config.line_bytes / 32 }));
        let all = Sectors::new(config.line_bytes, 32).all();
        let (mut under_way, mut waiting) = (Vec::new(), Vec::new());
        for (inst, (number, sectors, act, which)) in (0..).zip(steps) {
            let line = address(&config, number);
            let touched = if sectors & all == 0 { 1 } else { sectors & all };
            match act {
                0 => {
                    bench.store(line, touched);
                }
                1 | 2 if !under_way.is_empty() => {
                    let request: Packet = under_way.swap_remove(which.index(under_way.len()));
                    for woken in bench.answer(&request) {
                        let at = waiting.iter().position(|w| *w == woken);
                        waiting.swap_remove(at.expect("it waits"));
                    }
                }
                _ => match bench.load(line, touched, inst) {
                    L1dAccess::Hit | L1dAccess::Fail(_) => {}
                    L1dAccess::Pending => waiting.push(inst),
                    L1dAccess::Miss | L1dAccess::SectorMiss => {
                        waiting.push(inst);
                        under_way.extend(bench.sent());
                    }
                },
            }
        }
        for request in under_way {
            for woken in bench.answer(&request) {
                waiting.retain(|w| *w != woken);
            }
        }
        prop_assert_eq!(bench.sent(), None);
        prop_assert_eq!(waiting, Vec::<u32>::new());
        prop_assert!(bench.l1d.is_idle() && bench.l1d.counters().is_conserved());
        prop_assert_eq!(bench.l1d.counters().sectors_fetched, bench.l1d.counters().sectors_filled);
    }
}

fn writing_back() -> L1dConfig {
    L1dConfig { write_policy: WritePolicy::WriteBack, sets: 1, ways: 1, ..sectored() }
}

#[test]
fn a_line_that_leaves_takes_the_kept_stores_with_it_ahead_of_the_miss() {
    let mut bench = Bench::new(&writing_back(), SmParts::default());
    assert!(!bench.store(0, 0b0001), "nothing is there");
    bench.serial_load(0, 0b0011);
    assert!(bench.store(0, 0b0010));
    assert!(!bench.store(0, 0b0110), "one of its sectors is not there");
    assert_eq!(bench.load(128, 0b0001, 1), L1dAccess::Miss);
    let (first, second) = (bench.l1d.sent().expect("sent"), bench.l1d.sent().expect("sent"));
    assert_eq!((first.kind, first.line, first.sectors, first.data_bytes), (PacketKind::Write, 0, 0b0010, 32));
    assert_eq!((second.kind, second.line), (PacketKind::Read, 128));
}

#[test]
fn what_the_l2_must_know_is_written_back_first() {
    let dirty = || {
        let mut bench = Bench::new(&writing_back(), SmParts::default());
        bench.serial_load(0, 0b1111);
        assert!(bench.store(0, 0b0111));
        bench
    };
    let mut atomic = dirty();
    let packet = packet(PacketKind::Atomic, 0, 0b0001);
    let mut ctx = AccessContext { now: 9, asked: 9, parts: &mut atomic.parts, memory: &atomic.memory };
    atomic.l1d.write(&packet, &mut ctx);
    atomic.l1d.invalidate_all();
    let mut bypassing = dirty();
    assert_eq!(bypassing.l1d.bypass(Packet { kind: PacketKind::Read, sectors: 0b0110, ..packet }), Ok(()));
    bypassing.l1d.bypass_ended(&packet);
    bypassing.l1d.invalidate_all();
    for (mut bench, parts) in [(atomic, [0b0001, 0b0110]), (bypassing, [0b0110, 0b0001])] {
        let sent: Vec<_> = std::iter::from_fn(|| bench.l1d.sent()).collect();
        let written: Vec<_> =
            sent.iter().filter(|p| p.token == ReplyToken::WriteBack.pack()).map(|p| p.sectors).collect();
        assert_eq!(written, parts);
        assert!(bench.l1d.is_idle());
    }
}

#[test]
fn a_miss_waits_when_too_many_lines_are_on_their_way_out() {
    let narrow = L1dConfig { miss_queue: 1, ways: 2, ..writing_back() };
    let mut bench = Bench::new(&narrow, SmParts::default());
    bench.serial_load(0, 0b0001);
    bench.store(0, 0b0001);
    assert_eq!(bench.serial_load(128, 0b0001).0, CacheResult::Miss);
    bench.store(128, 0b0001);
    assert_eq!(bench.load(256, 0b0001, 1), L1dAccess::Miss);
    // The miss and the evicted dirty line of the load before are both still queued.
    assert_eq!(bench.load(384, 0b0001, 2), L1dAccess::Fail(FailCause::MissQueue));
}

#[test]
fn a_sector_that_is_not_there_is_fetched_alone() {
    let mut bench = Bench::new(&sectored(), SmParts::default());
    assert_eq!(bench.serial_load(0, 0b0001), (CacheResult::Miss, 0b0001));
    assert_eq!(bench.serial_load(0, 0b0011), (CacheResult::SectorMiss, 0b0010));
    assert_eq!(bench.serial_load(0, 0b0011), (CacheResult::Hit, 0));
    let coarse = L1dConfig { fetch: Fetch::Line, ..sectored() };
    let mut bench = Bench::new(&coarse, SmParts::default());
    assert_eq!(bench.serial_load(0, 0b0001), (CacheResult::Miss, 0b1111));
    bench.store(0, 0b0100);
    assert_eq!(bench.serial_load(0, 0b1111), (CacheResult::SectorMiss, 0b0100));
}

#[test]
fn a_load_waits_for_the_sectors_on_their_way_that_it_needs() {
    let mut bench = Bench::new(&sectored(), SmParts::default());
    assert_eq!(bench.load(0, 0b0001, 1), L1dAccess::Miss);
    assert_eq!(bench.load(0, 0b0011, 2), L1dAccess::SectorMiss);
    assert_eq!(bench.load(0, 0b0010, 3), L1dAccess::Pending);
    let (first, second) = (bench.l1d.sent().expect("sent"), bench.l1d.sent().expect("sent"));
    assert_eq!((first.sectors, second.sectors), (0b0001, 0b0010));
    // The second reply overtakes the first.
    assert_eq!(bench.answer(&second), [3]);
    assert_eq!(bench.answer(&first), [1, 2]);
    assert!(bench.l1d.is_idle());
}

#[test]
fn a_line_that_awaits_a_sector_is_not_replaced() {
    let one = L1dConfig { sets: 1, ways: 1, ..sectored() };
    let mut bench = Bench::new(&one, SmParts::default());
    bench.serial_load(0, 0b0001);
    assert_eq!(bench.load(0, 0b0010, 1), L1dAccess::SectorMiss);
    assert_eq!(bench.load(128, 0b0001, 2), L1dAccess::Fail(FailCause::Line));
    let request = bench.l1d.sent().expect("sent");
    bench.answer(&request);
    assert_eq!(bench.load(128, 0b0001, 2), L1dAccess::Miss);
}

#[test]
fn loads_that_pass_by_hold_slots_and_nothing_else() {
    let bounded = L1dConfig { bypass_slots: 2, mshr_entries: 1, sets: 1, ways: 1, ..config() };
    let mut bench = Bench::new(&bounded, SmParts::default());
    let pass = |bench: &mut Bench, line| bench.l1d.bypass(packet(PacketKind::Read, line, 0xf));
    assert_eq!(bench.load(0, 0xf, 1), L1dAccess::Miss);
    assert_eq!([pass(&mut bench, 128), pass(&mut bench, 256)], [Ok(()), Ok(())]);
    assert_eq!(pass(&mut bench, 384), Err(FailCause::BypassSlot));
    let request = bench.l1d.sent().expect("the miss");
    assert_eq!(bench.answer(&request), [1]);
    bench.l1d.bypass_ended(&packet(PacketKind::ReadReply, 128, 0xf));
    assert_eq!(pass(&mut bench, 384), Ok(()));
    // The bypasses have not evicted the line that was valid before.
    assert_eq!(bench.load(0, 0xf, 2), L1dAccess::Hit);
    assert_eq!(bench.l1d.counters().bypasses, 3);
    assert_eq!(bench.l1d.counters().accesses, 2);
}

#[test]
fn loads_that_bypass_the_cache_move_the_segments_that_they_touch() {
    for (bypass_bytes, moved) in [(32, 0b0100), (64, 0b1100), (128, 0b1111)] {
        let mut bench = Bench::new(&L1dConfig { bypass_bytes, ..config() }, SmParts::default());
        bench.l1d.bypass(packet(PacketKind::Read, 0, 0b0100)).expect("there is room");
        assert_eq!(bench.l1d.sent().map(|packet| packet.sectors), Some(moved), "{bypass_bytes} bytes");
    }
}

#[test]
fn loads_pass_by_without_limit_unless_there_is_one() {
    let mut bench = Bench::new(&L1dConfig { miss_queue: 1000, ..config() }, SmParts::default());
    assert!((0..1000).all(|n| bench.l1d.bypass(packet(PacketKind::Read, n * 128, 0xf)).is_ok()));
    assert_eq!(bench.l1d.bypass(packet(PacketKind::Read, 0, 0xf)), Err(FailCause::MissQueue));
}

/// Fetches one sector more than requested. Records the evicted lines and the outcome of its predictions.
#[derive(Default, selvedge_state::State)]
struct Spatial {
    evicted: Vec<(u64, u32)>,
    fetched: Vec<Fetched>,
    used: u32,
}

impl SmPart for Shared<Spatial> {
    has!(fetch: L1dFetchSectors, l1d_observer: L1dObserver);
}

impl L1dFetchSectors for Shared<Spatial> {
    fn sectors(&mut self, _: u64, _: &Load, missing: u32, absent: u32) -> u32 {
        missing | (missing << 1 & absent)
    }
}

impl L1dObserver for Shared<Spatial> {
    fn l1d_event(&mut self, _: u64, event: &L1dEvent) {
        let mut seen = self.lock();
        match *event {
            L1dEvent::Load { .. }
            | L1dEvent::Prefetch { .. }
            | L1dEvent::Returned { .. }
            | L1dEvent::Flushed { .. } => {}
            L1dEvent::Fetched(fetched) => seen.fetched.push(fetched),
            L1dEvent::PredictionUsed(sectors) => seen.used += sectors,
            L1dEvent::Evicted { line, used } => seen.evicted.push((line, used)),
        }
    }
}

#[test]
fn a_mechanism_chooses_the_sectors_and_hears_which_were_used() {
    for allocate in [Allocate::OnMiss, Allocate::OnFill] {
        let one = L1dConfig { sets: 1, ways: 1, allocate, ..sectored() };
        let seen = Shared::new(Spatial::default());
        let mut bench = Bench::new(&one, SmParts::one(seen.clone()));
        assert_eq!(bench.serial_load(0, 0b0001), (CacheResult::Miss, 0b0011));
        assert_eq!(bench.serial_load(0, 0b0100), (CacheResult::SectorMiss, 0b1100));
        assert_eq!(bench.serial_load(0, 0b1000), (CacheResult::Hit, 0));
        assert_eq!(bench.serial_load(128, 0b0010), (CacheResult::Miss, 0b0110));
        bench.store(128, 0b0110);
        assert_eq!(seen.lock().evicted, [(0, 0b1101), (128, 0b0010)], "{allocate:?}");
    }
}

#[test]
fn a_mechanism_hears_how_good_its_predictions_were() {
    let fetched = |demand, not_predicted, predicted| Fetched { demand, not_predicted, predicted };
    for allocate in [Allocate::OnMiss, Allocate::OnFill] {
        let one = L1dConfig { sets: 1, ways: 1, allocate, ..sectored() };
        let seen = Shared::new(Spatial::default());
        let mut bench = Bench::new(&one, SmParts::one(seen.clone()));
        assert_eq!(bench.load(0, 0b0001, 1), L1dAccess::Miss);
        // Sector 1 is in flight by a prediction. Sector 3 was not predicted.
        assert_eq!(bench.load(0, 0b0010, 2), L1dAccess::Pending);
        assert_eq!(bench.load(0, 0b1000, 3), L1dAccess::SectorMiss);
        assert_eq!(seen.lock().used, 1);
        for request in [bench.l1d.sent(), bench.l1d.sent()].into_iter().flatten() {
            bench.answer(&request);
        }
        assert_eq!(bench.serial_load(0, 0b0011), (CacheResult::Hit, 0));
        assert_eq!(seen.lock().used, 1, "asked for a second time");
        bench.store(0, 0b0001);
        assert_eq!(bench.serial_load(0, 0b0001), (CacheResult::SectorMiss, 0b0001));
        assert_eq!(bench.serial_load(0, 0b0100), (CacheResult::SectorMiss, 0b0100));
        let expected = [fetched(1, 0, 1), fetched(0, 1, 0), fetched(1, 0, 0), fetched(0, 1, 0)];
        assert_eq!(seen.lock().fetched, expected, "{allocate:?}");
    }
}

#[test]
fn as_many_loads_wait_for_a_line_as_an_entry_merges() {
    let narrow = L1dConfig { mshr_merges: 3, ..config() };
    let mut bench = Bench::new(&narrow, SmParts::default());
    assert_eq!(bench.load(0, 0xf, 1), L1dAccess::Miss);
    assert_eq!([2, 3].map(|inst| bench.load(0, 0xf, inst)), [L1dAccess::Pending; 2]);
    assert_eq!(bench.load(0, 0xf, 4), L1dAccess::Fail(FailCause::MshrMerge));
    let request = bench.sent().expect("the miss");
    assert_eq!(bench.answer(&request), [1, 2, 3]);
    assert_eq!(bench.load(0, 0xf, 4), L1dAccess::Hit);
}

#[test]
fn as_many_lines_are_in_flight_as_there_are_entries() {
    let narrow = L1dConfig { mshr_entries: 3, ..config() };
    let mut bench = Bench::new(&narrow, SmParts::default());
    assert_eq!([0, 128, 256].map(|line| bench.load(line, 0xf, 1)), [L1dAccess::Miss; 3]);
    assert_eq!(bench.load(384, 0xf, 2), L1dAccess::Fail(FailCause::MshrEntry));
    let request = bench.sent().expect("a miss");
    bench.answer(&request);
    assert_eq!(bench.load(384, 0xf, 2), L1dAccess::Miss);
}

#[test]
fn as_many_misses_wait_for_the_crossbar_as_the_queue_has_places() {
    let narrow = L1dConfig { miss_queue: 2, ..config() };
    let mut bench = Bench::new(&narrow, SmParts::default());
    assert_eq!([0, 128].map(|line| bench.load(line, 0xf, 1)), [L1dAccess::Miss; 2]);
    assert_eq!(bench.load(256, 0xf, 2), L1dAccess::Fail(FailCause::MissQueue));
    bench.sent().expect("a miss");
    assert_eq!(bench.load(256, 0xf, 2), L1dAccess::Miss);
}

/// Checks a load that was sent before a store to its sector: later loads must not get the sector from it.
#[test]
fn what_a_store_overtakes_on_its_way_is_not_for_those_after_it() {
    for write_policy in [WritePolicy::WriteEvict, WritePolicy::WriteThrough] {
        let mut bench = Bench::new(&L1dConfig { write_policy, ..sectored() }, SmParts::default());
        assert_eq!(bench.load(0, 0b0011, 1), L1dAccess::Miss);
        bench.store(0, 0b0001);
        assert_eq!(bench.load(0, 0b0010, 2), L1dAccess::Pending);
        assert_eq!(bench.load(0, 0b0001, 3), L1dAccess::Fail(FailCause::MshrMerge));
        let request = bench.sent().expect("the miss");
        assert_eq!(bench.answer(&request), [1, 2], "those before the store have it");
        assert_eq!(bench.load(0, 0b0010, 4), L1dAccess::Hit);
        assert_eq!(bench.load(0, 0b0001, 5), L1dAccess::SectorMiss);
        let mut whole = Bench::new(&L1dConfig { write_policy, ..config() }, SmParts::default());
        assert_eq!(whole.load(0, 0b0001, 1), L1dAccess::Miss);
        whole.store(0, 0b0001);
        let request = whole.sent().expect("the miss");
        assert_eq!(whole.answer(&request), [1]);
        assert_eq!(whole.load(0, 0b0001, 2), L1dAccess::Miss, "nothing is left of the line");
    }
}
