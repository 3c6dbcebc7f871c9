//! Tests that sub-ranks transfer short accesses in parallel, each more slowly, and whole lines as fast as an undivided rank.
use super::tests::{BURSTS, Bench, LINE, config, place, stream};
use super::*;
use crate::config::{DramConfig, DramScheduler};
use proptest::prelude::*;

fn divided(sub_ranks: u32) -> DramConfig {
    DramConfig { sub_ranks, ..config() }
}

/// Sends reads of one burst in the same cycle, given as (row, column) of bank 0. Returns the cycle at which each arrives.
fn arrivals(config: &DramConfig, places: &[(u64, u32)]) -> Vec<u64> {
    let mut bench = Bench::new(config);
    for (token, (row, column)) in (0..).zip(places) {
        bench.push(Access::Read, place(config, 0, *row, *column), 1, token);
    }
    bench.drain();
    bench.assert_legal();
    (0..places.len() as u64).map(|token| bench.arrival(token)).collect()
}

#[test]
fn a_burst_takes_longer_on_a_narrower_bus_and_a_line_does_not() {
    // The controller takes 20 cycles, tRCD 12, tCL 12. A burst of 32 bytes has four transfers per cycle of 8, 4 or 2 bytes. A
    // line uses all sub-ranks.
    for (sub_ranks, one, line) in [(1, 1, 4), (2, 2, 4), (4, 4, 4)] {
        for (bursts, data) in [(1, one), (BURSTS, line)] {
            let mut bench = Bench::new(&divided(sub_ranks));
            bench.push(Access::Read, 0, bursts, 0);
            bench.drain();
            bench.assert_legal();
            assert_eq!(bench.arrival(0), 20 + 12 + 12 + data, "{sub_ranks} sub-ranks, {bursts} bursts");
        }
    }
}

#[test]
fn a_line_opens_its_row_in_all_sub_ranks_by_one_command() {
    let mut bench = Bench::new(&divided(2));
    bench.push(Access::Read, 0, BURSTS, 0);
    bench.push(Access::Read, place(&divided(2), 0, 1, 0), BURSTS, 1);
    bench.drain();
    bench.assert_legal();
    let counters = bench.channel.counters();
    assert_eq!((counters.activates, counters.sub_rank_activates, counters.precharges), (2, 4, 1));
    assert_eq!(bench.channel.checked(), 5, "two activates, a precharge and two reads");
}

#[test]
fn bursts_that_are_not_neighbours_go_to_their_own_sub_ranks() {
    // Bursts 0 and 2 lie in the same half and take two cycles each, one after the other. Bursts 0 and 3 lie in different halves.
    for (mask, activates, data) in [(0b0101, 1, 4), (0b1001, 2, 2), (0b1010, 1, 4), (0b0011, 2, 2)] {
        let mut bench = Bench::new(&divided(2));
        let first = LINE / u64::from(BURSTS) * u64::from(u32::trailing_zeros(mask));
        let (access, bursts) = (Access::Read, Bursts::of_mask(mask));
        bench
            .channel
            .push(0, Request { access, address: first, bursts, metadata: false, slice: 0, token: 0 });
        bench.drain();
        bench.assert_legal();
        let counters = bench.channel.counters();
        assert_eq!((counters.sub_rank_activates, counters.bursts), (activates, 2), "{mask:#b}");
        assert_eq!(bench.arrival(0), 20 + 12 + 12 + data, "{mask:#b}");
    }
}

#[test]
fn different_rows_of_a_bank_are_read_at_once_in_different_sub_ranks() {
    let both = [(1, 0), (2, 32)];
    let whole = arrivals(&divided(1), &both);
    let halves = arrivals(&divided(2), &both);
    // With halves, the commands of the second read follow one cycle later. Undivided, the bank must change its row, which tRC
    // limits.
    assert_eq!(halves[1] - halves[0], 1);
    assert_eq!(whole[1] - whole[0], u64::from(config().trc));
}

/// Returns the cycles that `count` reads of one burst take, at addresses `apart` bytes from each other.
fn burst_stream(config: &DramConfig, count: u64, apart: u64) -> u64 {
    let mut bench = Bench::new(config);
    let cycles = stream(&mut bench, count, |n| (Access::Read, n * apart, 1));
    bench.assert_legal();
    cycles
}

#[test]
fn streams_of_single_bursts_reach_the_bandwidth_of_the_sub_ranks_that_they_use() {
    // Each sub-rank transfers a burst in burst_cycles(). A stream over all sub-ranks takes one cycle per burst, the limit of the
    // command bus. The command bus has no free cycle to open the next rows in advance. Each row therefore ends with tRP, tRCD,
    // and two commands per sub-rank to close and to open its part. A sub-rank that starts its last burst later also starts the
    // next row later, by one burst each.
    let count = 4096;
    for sub_ranks in [2, 4] {
        let config = divided(sub_ranks);
        let timing = Timing::new(&config);
        let latency = timing.row_empty_latency(1);
        let rows = count * 32 / u64::from(config.row_bytes);
        let all = burst_stream(&config, count, 32);
        let row_change = u64::from(config.trp + config.trcd + 2 * sub_ranks) + 2 * timing.step;
        let most = count + rows * row_change + latency;
        assert!((count..=most).contains(&all), "{all} cycles over {sub_ranks} sub-ranks, at most {most}");
        let one = burst_stream(&config, count, 32 * u64::from(sub_ranks));
        let busy = count * timing.step;
        assert!(
            (busy..=busy + latency).contains(&one),
            "{one} cycles in one of {sub_ranks}, expected {busy}"
        );
    }
}

#[derive(Clone, Debug)]
struct Traffic {
    write: bool,
    bank: u32,
    row: u64,
    burst: u32,
    bursts: u32,
    gap: u64,
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let gap = prop_oneof![3 => 0u64..3, 1 => 0u64..80, 1 => 500u64..1500];
    (any::<bool>(), 0u32..4, 0u64..3, 0u32..64, 1u32..5, gap).prop_map(
        |(write, bank, row, burst, bursts, gap)| {
            let bursts = bursts.min(BURSTS - burst % BURSTS);
            Traffic { write, bank, row, burst, bursts, gap }
        },
    )
}

fn configs() -> impl Strategy<Value = DramConfig> {
    let scheduler = prop_oneof![Just(DramScheduler::FrFcfs), Just(DramScheduler::Fcfs)];
    (scheduler, 0u32..3, any::<bool>(), 50u32..400, 1u32..4).prop_map(
        |(scheduler, bits, refresh, starvation_cycles, tccd)| DramConfig {
            scheduler,
            starvation_cycles,
            tccd,
            trefi: if refresh { 700 } else { 0 },
            ..divided(1 << bits)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For all parts of lines, divisions into sub-ranks and refresh settings, every command is legal, every read has one reply,
    /// no request waits longer than the bound, and the counters are consistent.
    #[test]
    fn parts_of_lines_are_served_legally(
        config in configs(),
        traffic in prop::collection::vec(traffic(), 1..200),
    ) {
        let mut bench = Bench::new(&config);
        let mut sent = std::collections::BTreeMap::new();
        for (token, t) in (0..).zip(&traffic) {
            let access = if t.write { Access::Write } else { Access::Read };
            for _ in 0..t.gap {
                bench.step();
            }
            while !bench.channel.can_push(access) {
                bench.step();
            }
            bench.push(access, place(&config, t.bank, t.row, t.burst * 32), t.bursts, token);
            if !t.write {
                sent.insert(token, bench.now);
            }
        }
        bench.drain();
        bench.assert_legal();
        let mut tokens: Vec<_> = bench.answers.iter().map(|(token, _)| *token).collect();
        tokens.sort_unstable();
        prop_assert_eq!(tokens, sent.keys().copied().collect::<Vec<_>>());
        let counters = bench.channel.counters();
        prop_assert_eq!(counters.reads + counters.writes, traffic.len() as u64);
        prop_assert_eq!(counters.bursts, traffic.iter().map(|t| u64::from(t.bursts)).sum::<u64>());
        prop_assert_eq!(counters.read_bursts + counters.write_bursts, counters.bursts);
        let standby = counters.active_cycles + counters.precharged_cycles;
        prop_assert_eq!(standby, counters.cycles * u64::from(config.sub_ranks));
        prop_assert!(counters.sub_rank_activates >= counters.activates);
        let timing = Timing::new(&config);
        let most = u64::from(BURSTS);
        let served = 2 * u64::from(config.queue) * timing.service_bound(most) + timing.row_conflict_latency(most);
        // A refresh takes, per tREFI, tRFC cycles and the time to close all rows and to open one.
        let lost = timing.trfc + timing.service_bound(most);
        let free = u64::from(config.trefi).saturating_sub(lost).max(1);
        let refreshes = if config.trefi == 0 { 0 } else { served / free + 2 };
        let bound = u64::from(config.starvation_cycles) + served + refreshes * lost;
        for (token, arrival) in &bench.answers {
            let waited = arrival - sent[token];
            prop_assert!(waited <= bound, "request {} waited {} cycles, bound {}", token, waited, bound);
        }
    }
}

/// Two line-sized requests need different rows in both halves, and each finds its row open in one half. Neither may delay the
/// other for longer than the service of one request.
#[test]
fn two_lines_that_each_hold_a_half_do_not_wait_for_starvation() {
    let config = divided(2);
    let mut bench = Bench::new(&config);
    bench.push(Access::Read, place(&config, 0, 1, 0), 1, 0);
    bench.push(Access::Read, place(&config, 0, 2, 32), 1, 1);
    for _ in 0..60 {
        bench.step();
    }
    bench.push(Access::Read, place(&config, 0, 1, LINE as u32), BURSTS, 2);
    bench.push(Access::Read, place(&config, 0, 2, 2 * LINE as u32), BURSTS, 3);
    let sent = bench.now;
    bench.drain();
    bench.assert_legal();
    assert_eq!(bench.channel.counters().starved, 0);
    let both = 2 * Timing::new(&config).row_conflict_latency(u64::from(BURSTS)) + u64::from(config.trc);
    assert!(bench.arrival(3) - sent <= both, "{} cycles", bench.arrival(3) - sent);
}
