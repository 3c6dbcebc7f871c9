//! Compares an L2 slice with a simple functional cache, with one request at a time: the outcome of each request, and the sectors
//! moved from and to DRAM.
use super::*;
use crate::cache::Sectors;
use crate::cache::functional::{CacheGeometry, CacheResult, Functional};
use crate::config::{Allocate, Fetch, IndexFunction, L2WritePolicy, WriteAllocate};

const FUNCTIONS: [IndexFunction; 6] = [
    IndexFunction::Bmod,
    IndexFunction::Bxor,
    IndexFunction::Pmod,
    IndexFunction::APrime { mersenne: false },
    IndexFunction::DPrime { prime: 11 },
    IndexFunction::IPoly,
];

/// Generates every geometry and policy of a slice. It has few sets, which fill soon, and one partition, so that all lines belong
/// to it.
fn any_l2() -> impl Strategy<Value = GpuConfig> {
    let shape = (1u32..5, 1u32..5, 5u32..9, 0u32..4, 0usize..FUNCTIONS.len(), 5u32..9);
    let policies = (any::<bool>(), any::<bool>(), any::<bool>(), 0usize..4);
    (shape, policies).prop_map(
        |((sets, ways, line, sector, index, l1d_line), (coarse, through, on_fill, allocate))| {
            let mut config = config();
            (config.l2.partitions, config.l2.interleave_bytes) = (1, 256);
            config.l2.index = FUNCTIONS[index];
            config.l2.sets = if config.l2.index == IndexFunction::Bmod { sets } else { 16 };
            config.l2.ways = ways;
            config.l2.line_bytes = 1 << line;
            config.l2.sector_bytes = (config.l2.line_bytes >> sector).max(32);
            config.l2.fetch = if coarse { Fetch::Line } else { Fetch::Requested };
            config.l2.write_policy =
                if through { L2WritePolicy::WriteThrough } else { L2WritePolicy::WriteBack };
            config.l2.allocate = if on_fill { Allocate::OnFill } else { Allocate::OnMiss };
            config.l2.write_allocate = [
                WriteAllocate::Fetch,
                WriteAllocate::Mask,
                WriteAllocate::None,
                WriteAllocate::ForwardAndFetch,
            ][allocate];
            config.l1d.line_bytes = 1 << l1d_line.min(line);
            config
        },
    )
}

fn golden(config: &GpuConfig) -> Functional {
    let l2 = &config.l2;
    Functional::new(CacheGeometry {
        sets: l2.sets,
        ways: l2.ways,
        tags_per_way: 1,
        line_bytes: l2.line_bytes,
        sector_bytes: l2.sector_bytes,
        index: l2.index,
        fetch: l2.fetch,
    })
}

/// Returns a request of the L1D for some sectors of one of its lines. A store covers all of them or the first half of each.
fn request(config: &GpuConfig, number: u64, sectors: u32, kind: PacketKind, whole: bool) -> Packet {
    let line_bytes = config.l1d.line_bytes;
    let sectors = sectors & Sectors::new(line_bytes, 32).all();
    let sectors = if sectors == 0 { 1 } else { sectors };
    let line = number * u64::from(line_bytes);
    let half = |sector: u32| if sectors >> sector & 1 == 1 { 0x0f << (8 * sector) } else { 0 };
    let halves: u64 = (0..8).map(half).sum();
    let words = if whole { halves | halves << 4 } else { halves };
    Packet { line, sectors, words, full_sectors: whole, slice: 0, ..packet(config, kind, line, 0) }
}

/// Returns the outcome of the single access counted in `new`.
fn found(new: L2Counters) -> CacheResult {
    let cache = new.cache;
    match (cache.hits, cache.misses, cache.sector_misses) {
        (1, 0, 0) => CacheResult::Hit,
        (0, 1, 1) => CacheResult::SectorMiss,
        (0, 1, 0) => CacheResult::Miss,
        counted => panic!("one access counts as {counted:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_slice_finds_what_a_functional_cache_finds_when_requests_come_one_by_one(
        config in any_l2(),
        requests in prop::collection::vec((0u64..120, 1u32..256, 0u8..4, any::<bool>()), 1..200),
    ) {
        let mut bench = SliceBench::base(&config);
        let mut golden = golden(&config);
        let mut moved = 0;
        for (n, (number, sectors, kind, whole)) in requests.into_iter().enumerate() {
            let kind = [PacketKind::Read, PacketKind::Read, PacketKind::Write, PacketKind::Atomic][usize::from(kind)];
            let packet = request(&config, number, sectors, kind, whole);
            let part = Sectors::new(config.l2.line_bytes, 32).part(packet.line, packet.sectors);
            let words = packet.words << ((packet.line - part.line) / 4);
            let through = config.l2.write_policy == L2WritePolicy::WriteThrough;
            let expected = match kind {
                PacketKind::Read => golden.read(part.line, part.sectors),
                PacketKind::Write => {
                    golden.write(part.line, part.sectors, words, config.l2.write_allocate, through)
                }
                _ => golden.atomic(part.line, part.sectors, through),
            };
            moved += u64::from(golden.fetched.count_ones());
            let before = bench.slice.counters();
            bench.latency(&packet);
            prop_assert_eq!(found(bench.slice.counters() - before), expected, "request {}: {:?}", n, packet);
            prop_assert_eq!(bench.slice.counters().cache.sectors_filled, moved, "request {}", n);
        }
        let (counters, dram) = (bench.slice.counters(), bench.channel.counters());
        prop_assert_eq!(counters.writebacks, golden.writebacks);
        prop_assert_eq!(dram.bursts, moved + golden.sectors_written);
        prop_assert_eq!(counters.cache.sectors_fetched, counters.cache.sectors_filled);
        prop_assert_eq!(counters.cache.reservation_fails.total(), 0);
    }

    /// Checks that sectors, small lines and few resources cause no lost or duplicate reply.
    #[test]
    fn a_sectored_slice_keeps_the_contract(
        config in any_l2(),
        starved in any::<bool>(),
        requests in prop::collection::vec((0u64..60, 1u32..256, 0u8..4, any::<bool>()), 1..300),
    ) {
        let mut config = config;
        if starved {
            (config.l2.mshr_entries, config.l2.mshr_merges, config.l2.reply_queue) = (3, 2, 1);
            (config.l2.dram_queue, config.l2.eviction_queue) = (3, 1);
            (config.dram.queue, config.dram.write_high, config.dram.write_low) = (2, 1, 0);
        }
        let make = |(token, (number, sectors, kind, whole)): (u32, (u64, u32, u8, bool))| {
            let kind = [PacketKind::Read, PacketKind::Read, PacketKind::Write, PacketKind::Atomic][usize::from(kind)];
            Packet { token, ..request(&config, number, sectors, kind, whole) }
        };
        let requests: Vec<_> = (0..).zip(requests).map(make).collect();
        let mut bench = SliceBench::base(&config);
        assert_contract(&mut bench, &requests);
        let (counters, dram) = (bench.slice.counters(), bench.channel.counters());
        prop_assert!(counters.cache.is_conserved());
        prop_assert_eq!(counters.cache.accesses, requests.len() as u64);
        prop_assert_eq!((counters.fills, counters.writebacks), (dram.reads, dram.writes));
        prop_assert_eq!(counters.cache.sectors_fetched, counters.cache.sectors_filled);
    }
}

/// Checks that with sectors a read fetches, and an eviction writes, only the sectors that it must.
#[test]
fn sectors_move_by_themselves() {
    let mut config = config();
    (config.l2.sets, config.l2.ways, config.l2.sector_bytes) = (1, 1, 32);
    let mut bench = SliceBench::base(&config);
    bench.latency(&Packet { sectors: 0b0001, ..packet(&config, PacketKind::Read, 0, 0) });
    bench.latency(&Packet { sectors: 0b0110, ..packet(&config, PacketKind::Write, 0, 1) });
    assert_eq!(bench.channel.counters().bursts, 1, "a write of whole sectors fetches none");
    bench.latency(&Packet {
        sectors: 0b1000,
        full_sectors: false,
        ..packet(&config, PacketKind::Write, 0, 2)
    });
    assert_eq!(bench.channel.counters().bursts, 2, "a partial write fetches its sector");
    bench.latency(&Packet { sectors: 0b0001, ..packet(&config, PacketKind::Read, LINE, 3) });
    let dram = bench.channel.counters();
    assert_eq!((dram.reads, dram.writes, dram.bursts), (3, 1, 3 + 3));
}

/// Checks the bursts that two stores, which together cover a sector, cost under each policy.
#[test]
fn each_write_policy_moves_what_it_says() {
    let moves = |write_policy, write_allocate| {
        let mut config = config();
        (config.l2.sector_bytes, config.l2.write_policy, config.l2.write_allocate) =
            (32, write_policy, write_allocate);
        let mut bench = SliceBench::base(&config);
        let store = Packet { sectors: 1, full_sectors: false, ..packet(&config, PacketKind::Write, 0, 0) };
        bench.latency(&Packet { words: 0x0f, ..store });
        bench.latency(&Packet { words: 0xf0, ..store });
        bench.latency(&Packet { sectors: 1, ..packet(&config, PacketKind::Read, 0, 1) });
        let dram = bench.channel.counters();
        (dram.reads, dram.writes)
    };
    use L2WritePolicy::{WriteBack, WriteThrough};
    use WriteAllocate::{Fetch, ForwardAndFetch, Mask, None};
    assert_eq!(moves(WriteBack, Fetch), (1, 0));
    assert_eq!(moves(WriteBack, ForwardAndFetch), (1, 1), "the second store hits");
    assert_eq!(moves(WriteThrough, ForwardAndFetch), (1, 2));
    assert_eq!(moves(WriteBack, Mask), (0, 0));
    assert_eq!(moves(WriteBack, None), (1, 2));
    assert_eq!(moves(WriteThrough, Fetch), (1, 2));
    assert_eq!(moves(WriteThrough, Mask), (0, 2));
    assert_eq!(moves(WriteThrough, None), (1, 2));
}

/// Checks GPGPU-Sim's policy W. A store that misses is sent on to DRAM unchanged, and its line is fetched clean. A second store
/// to the line, while it is in flight, is sent on as well.
#[test]
fn a_forwarded_store_leaves_its_line_clean() {
    let mut config = config();
    config.l2.write_allocate = WriteAllocate::ForwardAndFetch;
    (config.l2.sets, config.l2.ways) = (1, 1);
    let mut bench = SliceBench::base(&config);
    let store = Packet { sectors: 1, ..packet(&config, PacketKind::Write, 0, 0) };
    bench.cycle(Some(&store));
    bench.cycle(Some(&Packet { token: 1, ..store }));
    let answered: Vec<_> = bench.drain().iter().map(|p| (p.kind, p.token)).collect();
    assert_eq!(answered, [(PacketKind::WriteAck, 0), (PacketKind::WriteAck, 1)]);
    let (counters, dram) = (bench.slice.counters(), bench.channel.counters());
    assert_eq!((dram.reads, dram.read_bursts, dram.writes, dram.write_bursts), (1, 4, 2, 2));
    assert_eq!((counters.allocation_bursts, counters.forwarded_bursts), (4, 2));
    assert_eq!((counters.cache.misses, counters.cache.pending_hits), (1, 1));
    // Another line replaces it, without a write-back.
    bench.latency(&packet(&config, PacketKind::Read, LINE, 2));
    assert_eq!(bench.channel.counters().writes, 2);
    // A store that hits makes its line dirty.
    bench.latency(&packet(&config, PacketKind::Write, LINE, 3));
    bench.latency(&packet(&config, PacketKind::Read, 0, 4));
    assert_eq!(bench.channel.counters().writes, 3);
    assert_eq!(bench.slice.counters().forwarded_bursts, 2);
}

/// Checks that sectors of one line that are requested one after the other share one miss register but have separate fetches.
#[test]
fn sector_misses_share_the_lines_register() {
    let mut config = config();
    (config.l2.sector_bytes, config.l2.mshr_entries) = (32, 1);
    let mut bench = SliceBench::base(&config);
    for (token, sectors) in [(0, 0b0001), (1, 0b0010), (2, 0b0011)] {
        bench.cycle(Some(&Packet { sectors, ..packet(&config, PacketKind::Read, 0, token) }));
    }
    let answers: Vec<_> = bench.drain().iter().map(|p| (p.token, p.data_bytes)).collect();
    assert_eq!(answers, [(0, 32), (1, 32), (2, 64)]);
    let cache = bench.slice.counters().cache;
    assert_eq!((cache.misses, cache.sector_misses, cache.pending_hits), (2, 1, 1));
    assert_eq!(bench.channel.counters().bursts, 2);
    assert_eq!(cache.reservation_fails.total(), 0);
}
