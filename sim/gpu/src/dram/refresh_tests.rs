//! Tests that busy and idle channels refresh in time, and that the cost of refreshes follows from tRFC and tREFI.
use super::tests::{BURSTS, Bench, LINE, config, stream};
use super::*;
use crate::config::DramConfig;

fn refreshed(trefi: u32) -> DramConfig {
    DramConfig { trefi, trfc: 61, ..config() }
}

#[test]
fn refreshes_cost_a_stream_their_share_of_the_time() {
    let count = 20_000;
    let time = |config: &DramConfig| {
        let mut bench = Bench::new(config);
        let cycles = stream(&mut bench, count, |n| (Access::Read, n * LINE, BURSTS));
        bench.assert_legal();
        (cycles, bench.channel.counters().refreshes)
    };
    let (without, none) = time(&refreshed(0));
    assert_eq!(none, 0);
    for trefi in [1000, 3600, 7207] {
        let config = refreshed(trefi);
        let (with, refreshes) = time(&config);
        assert_eq!(refreshes, (with - 1) / u64::from(trefi), "a refresh each {trefi} cycles");
        // No read can be issued from the closing of the rows (tRP) over the refresh (tRFC) to the opening of a row (tRCD). Before
        // the rows close, the bursts of the last read and tRTP must pass, or tRAS of the last opened row.
        let least = u64::from(config.trp + config.trfc + config.trcd);
        let most = least + u64::from(config.tras);
        let lost = (with - without) as f64 / refreshes as f64;
        assert!(
            (least as f64..=most as f64).contains(&lost),
            "{lost} cycles each, expected {least} to {most}"
        );
        let overhead = (with - without) as f64 / with as f64;
        assert!(
            overhead >= f64::from(config.trfc) / f64::from(trefi),
            "{overhead} is less than tRFC / tREFI"
        );
    }
}

#[test]
fn an_idle_channel_catches_up_with_its_refreshes() {
    let config = refreshed(1000);
    let mut bench = Bench::new(&config);
    bench.push(Access::Read, 0, BURSTS, 0);
    bench.drain();
    assert_eq!(bench.channel.counters().refreshes, 0);
    bench.now = 100_500;
    bench.push(Access::Read, 0, BURSTS, 1);
    bench.drain();
    bench.assert_legal();
    let counters = bench.channel.counters();
    assert_eq!((counters.refreshes, counters.activates, counters.precharges), (100, 2, 1));
    // The first of the missed refreshes closed the row. The last one had ended before the read arrived.
    assert_eq!(bench.arrival(1) - 100_500, Timing::new(&config).row_empty_latency(u64::from(BURSTS)));
}

#[test]
fn a_read_that_comes_with_a_refresh_waits_for_it() {
    let config = refreshed(1000);
    let mut bench = Bench::new(&config);
    let timing = Timing::new(&config);
    bench.now = 1000 - timing.latency_in();
    let sent = bench.now;
    bench.push(Access::Read, 0, 1, 0);
    bench.drain();
    bench.assert_legal();
    // Both reach the scheduler in cycle 1000. The refresh goes first, and the row opens tRFC cycles later.
    assert_eq!(bench.arrival(0) - sent, timing.row_empty_latency(1) + u64::from(config.trfc));
}
