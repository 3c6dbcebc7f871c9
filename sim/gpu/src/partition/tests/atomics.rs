//! Tests the atomic unit against its closed formula: operations on one word are serialized, others are not.
use super::*;
use crate::packet::Operations;

/// Operations per cycle and cycles per word, including the values of Fermi, Kepler and GPGPU-Sim.
const UNITS: [(u32, u32); 4] = [(4, 9), (16, 1), (32, 1), (1, 5)];

fn unit((operations, word_cycles): (u32, u32)) -> GpuConfig {
    let mut config = one_clock();
    (config.l2.atomic_operations, config.l2.atomic_word_cycles) = (operations, word_cycles);
    config
}

/// Returns an atomic of `lanes` lanes on the first `words` words of line 0, in equal shares.
fn atomic(config: &GpuConfig, lanes: u8, words: u8, token: u32) -> Packet {
    let operations = Operations { all: lanes, on_one_word: lanes / words, returns: true };
    let mask = (1 << words) - 1;
    Packet { words: mask, operations, sm: 0, ..packet(config, PacketKind::Atomic, 0, token) }
}

/// Returns a slice that holds line 0.
fn with_line(config: &GpuConfig) -> SliceBench {
    let mut bench = SliceBench::base(config);
    bench.latency(&packet(config, PacketKind::Read, 0, 99));
    bench
}

/// Returns the cycles from the first offer to each reply, with its token. Offers the requests in order when there is room.
fn answers(bench: &mut SliceBench, requests: &[Packet]) -> Vec<(u32, u64)> {
    let start = bench.now;
    let mut waiting: VecDeque<&Packet> = requests.iter().collect();
    let mut answers = Vec::new();
    while answers.len() < requests.len() {
        if waiting.front().is_some_and(|packet| bench.offer(packet)) {
            waiting.pop_front();
        }
        bench.tick();
        answers.extend(bench.answer().map(|answer| (answer.token, bench.now - 1 - start)));
        assert!(bench.now < start + 100_000, "no answer");
    }
    answers
}

#[test]
fn lanes_on_one_word_take_turns() {
    for shape in UNITS {
        let config = unit(shape);
        let mut bench = with_line(&config);
        for lanes in [1, 2, 31, 32] {
            let expected = u64::from(config.l2.hit_latency) + (u64::from(lanes) - 1) * u64::from(shape.1);
            assert_eq!(bench.latency(&atomic(&config, lanes, 1, 0)), expected, "{shape:?}, {lanes} lanes");
        }
        assert_eq!((bench.slice.counters().atomics, bench.slice.counters().atomic_operations), (4, 66));
    }
}

#[test]
fn lanes_on_words_of_their_own_are_as_many_in_a_cycle_as_the_unit_takes() {
    for shape in UNITS {
        let config = unit(shape);
        let mut bench = with_line(&config);
        for lanes in [1, 4, 5, 16, 32] {
            let expected = u64::from(config.l2.hit_latency + u32::from(lanes).div_ceil(shape.0) - 1);
            assert_eq!(
                bench.latency(&atomic(&config, lanes, lanes, 0)),
                expected,
                "{shape:?}, {lanes} lanes"
            );
        }
    }
}

#[test]
fn warps_on_one_word_take_turns_and_warps_on_others_do_not() {
    for shape in UNITS {
        let config = unit(shape);
        let hit = u64::from(config.l2.hit_latency);
        let word_cycles = u64::from(shape.1);
        // The 64 operations of two warps on one word are all serialized.
        let both = [atomic(&config, 32, 1, 0), atomic(&config, 32, 1, 1)];
        let times = answers(&mut with_line(&config), &both);
        assert_eq!(times, [(0, hit + 31 * word_cycles), (1, hit + 63 * word_cycles)], "{shape:?}");
        // One lane each on two different words: the second atomic begins in the next cycle.
        let other = Packet { words: 2, ..atomic(&config, 1, 1, 1) };
        let times = answers(&mut with_line(&config), &[atomic(&config, 1, 1, 0), other]);
        assert_eq!(times, [(0, hit), (1, hit + 1)], "{shape:?}");
        // Each of 32 words takes its second operation at least `word_cycles` cycles after its first one.
        let rows = [atomic(&config, 32, 32, 0), atomic(&config, 32, 32, 1)];
        let times = answers(&mut with_line(&config), &rows);
        let row = u64::from(32u32.div_ceil(shape.0));
        let second = (row + hit + row - 1).max(hit + row - 1 + word_cycles);
        assert_eq!(times, [(0, hit + row - 1), (1, second)], "{shape:?}");
    }
}

#[test]
fn a_load_passes_an_atomic_that_takes_turns() {
    let config = unit((4, 9));
    let hit = u64::from(config.l2.hit_latency);
    let load = packet(&config, PacketKind::Read, 0, 1);
    let times = answers(&mut with_line(&config), &[atomic(&config, 32, 1, 0), load]);
    assert_eq!(times, [(1, hit + 1), (0, hit + 31 * 9)]);
}

#[test]
fn an_atomic_whose_line_comes_takes_turns_too() {
    let config = unit((4, 9));
    let line = SliceBench::base(&config).latency(&atomic(&config, 1, 1, 0));
    assert_eq!(SliceBench::base(&config).latency(&atomic(&config, 32, 1, 0)), line + 31 * 9);
    let mut bench = SliceBench::base(&config);
    let both = [atomic(&config, 32, 1, 0), atomic(&config, 32, 1, 1)];
    assert_eq!(answers(&mut bench, &both)[1], (1, line + 63 * 9), "they merge into one miss");
    assert_eq!(bench.slice.counters().atomic_stalls, 31 * 9 + 9 - 1);
}

#[test]
fn a_reduction_is_answered_without_data() {
    let config = unit((4, 9));
    let bytes = |returns| {
        let mut bench = with_line(&config);
        let mut packet = atomic(&config, 32, 1, 0);
        (packet.operations.returns, packet.data_bytes) = (returns, 128);
        bench.cycle(Some(&packet));
        bench.drain().iter().map(|answer| answer.data_bytes).collect::<Vec<_>>()
    };
    assert_eq!((bytes(true), bytes(false)), (vec![128], vec![0]));
}

#[test]
fn slices_have_units_of_their_own() {
    let config = config();
    let map = AddressMap::new(&config.l2);
    let time = |lines: [u64; 2]| {
        let mut bench = SystemBench::new(&config);
        let read = |(token, line): (u32, &u64)| packet(&config, PacketKind::Read, *line, token);
        serve(&mut bench, &(0..).zip(&lines).map(read).collect::<Vec<_>>());
        let before = bench.core;
        let atomic = |(sm, line): (u16, &u64)| {
            let slice = map.slice(*line);
            Packet { line: *line, slice, sm, ..atomic(&config, 32, 1, sm.into()) }
        };
        serve(&mut bench, &(0..).zip(&lines).map(atomic).collect::<Vec<_>>());
        bench.core - before
    };
    let row = 32 * u64::from(config.l2.atomic_word_cycles);
    let (same, other) = (time([0, 0]), time([0, u64::from(config.l2.interleave_bytes)]));
    // The clock of the slices is half as fast as the core clock.
    assert!((2 * row - 4..=2 * row + 4).contains(&(same - other)), "{same} and {other} core cycles");
}
