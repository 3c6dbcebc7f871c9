//! Tests a channel against closed-form latencies, the checker and its guarantees.
use super::*;
use crate::config::{DramConfig, DramScheduler, GpuConfig};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(super) const LINE: u64 = 128;
pub(super) const BURSTS: u32 = 4;

pub(super) fn config() -> DramConfig {
    GpuConfig::load("gtx480").expect("built in").dram
}

/// Returns the channel address of a bank, row and column.
pub(super) fn place(config: &DramConfig, bank: u32, row: u64, column: u32) -> u64 {
    BankMap::new(config).address(Location { bank, row, column })
}

/// A channel with a checker and a clock.
pub(super) struct Bench {
    pub channel: Channel,
    pub now: u64,
    /// Token and cycle of arrival of each reply.
    pub answers: Vec<(u64, u64)>,
}

impl Bench {
    pub fn new(config: &DramConfig) -> Self {
        let mut channel = Channel::new(config, LINE as u32);
        channel.attach(CommandChecker::new(config, BURSTS));
        Self { channel, now: 0, answers: Vec::new() }
    }

    pub fn push(&mut self, access: Access, address: u64, bursts: u32, token: u64) {
        let request =
            Request { access, address, bursts: Bursts::run(bursts), metadata: false, slice: 0, token };
        self.channel.push(self.now, request);
    }

    /// Runs the current cycle, takes the replies that have arrived and advances to the next cycle.
    pub fn step(&mut self) {
        self.channel.tick(self.now);
        while let Some(request) = self.channel.pop(self.now) {
            self.answers.push((request.token, self.now));
        }
        self.now += 1;
    }

    /// Runs cycles until no request and no reply remains.
    pub fn drain(&mut self) {
        let limit = self.now + 1_000_000;
        while self.channel.busy() || self.channel.returning() {
            self.step();
            assert!(self.now < limit, "the channel does not finish");
        }
    }

    /// Returns the cycle at which a reply arrived.
    pub fn arrival(&self, token: u64) -> u64 {
        self.answers.iter().find(|(t, _)| *t == token).expect("answered").1
    }

    /// Asserts that the checker has seen commands and found no violation.
    pub fn assert_legal(&self) {
        assert!(self.channel.checked() > 0);
        let found: Vec<_> = self.channel.violations().iter().map(ToString::to_string).collect();
        assert_eq!(found, [""; 0]);
    }
}

#[test]
fn unloaded_read_latency_is_the_closed_form() {
    let config = config();
    let timing = Timing::new(&config);
    for bursts in 1..=BURSTS {
        let n = u64::from(bursts);
        let mut bench = Bench::new(&config);
        let mut latency = |address, token| {
            let sent = bench.now;
            bench.push(Access::Read, address, bursts, token);
            bench.drain();
            bench.now += 100; // longer than the row's tRAS
            bench.arrival(token) - sent
        };
        assert_eq!(latency(place(&config, 3, 5, 0), 0), timing.row_empty_latency(n));
        assert_eq!(latency(place(&config, 3, 5, 256), 1), timing.row_hit_latency(n));
        assert_eq!(latency(place(&config, 3, 6, 0), 2), timing.row_conflict_latency(n));
        bench.assert_legal();
    }
}

#[test]
fn the_closed_forms_are_cabas_numbers() {
    let timing = Timing::new(&config());
    // controller 20, tCL 12, tRCD 12, tRP 12, four bursts of one cycle each
    assert_eq!(timing.row_hit_latency(4), 20 + 12 + 4);
    assert_eq!(timing.row_empty_latency(4), 20 + 12 + 12 + 4);
    assert_eq!(timing.row_conflict_latency(1), 20 + 12 + 12 + 12 + 1);
}

/// Sends `count` requests as fast as the channel accepts them. Returns the cycles until the last reply.
pub(super) fn stream(
    bench: &mut Bench,
    count: u64,
    mut request: impl FnMut(u64) -> (Access, u64, u32),
) -> u64 {
    let start = bench.now;
    let mut sent = 0;
    while sent < count {
        let (access, address, bursts) = request(sent);
        if bench.channel.can_push(access) {
            bench.push(access, address, bursts, sent);
            sent += 1;
        }
        bench.step();
    }
    bench.drain();
    bench.now - start
}

#[test]
fn a_stream_of_row_hits_fills_the_bus() {
    let config = config();
    let timing = Timing::new(&config);
    let mut bench = Bench::new(&config);
    let count = 4096;
    let cycles = stream(&mut bench, count, |n| (Access::Read, n * LINE, BURSTS));
    // The next bank opens its row while the current one is read. After the first access, the bus is always busy.
    let busy = count * u64::from(BURSTS) * timing.step;
    let bound = busy + timing.row_empty_latency(u64::from(BURSTS));
    assert!(cycles >= busy && cycles <= bound, "{cycles} cycles, expected {busy} to {bound}");
    let counters = bench.channel.counters();
    let rows = count * LINE / u64::from(config.row_bytes);
    assert_eq!((counters.activates, counters.row_hits), (rows, count - rows));
    assert_eq!(counters.precharges, rows - u64::from(config.banks));
    assert_eq!((counters.bursts, counters.busy_cycles), (count * 4, count * 4 * timing.burst));
    bench.assert_legal();
}

#[test]
fn rows_of_one_bank_are_bound_by_trc() {
    let config = config();
    let mut bench = Bench::new(&config);
    let count = 200;
    let cycles = stream(&mut bench, count, |n| (Access::Read, place(&config, 0, n, 0), 1));
    let least = (count - 1) * u64::from(config.trc);
    let most = least + Timing::new(&config).row_empty_latency(1) + 1;
    assert!((least..=most).contains(&cycles), "{cycles} cycles, expected {least} to {most}");
    bench.assert_legal();
}

#[test]
fn rows_of_all_banks_are_bound_by_trrd() {
    let config = config();
    let timing = Timing::new(&config);
    let mut bench = Bench::new(&config);
    let (count, banks) = (3200, u64::from(config.banks));
    let cycles =
        stream(&mut bench, count, |n| (Access::Read, place(&config, (n % banks) as u32, n / banks, 0), 1));
    // tRC permits each of the 16 banks a row every 40 cycles. tRRD permits the channel a row every 6 cycles, which is the tighter
    // limit.
    let per_row = u64::from(config.trrd).max(u64::from(config.trc).div_ceil(banks));
    // An activate waits for at most one column command, which has priority when both are possible.
    let (least, most) = ((count - 1) * per_row, count * (per_row + 1) + timing.row_empty_latency(1));
    assert!((least..=most).contains(&cycles), "{cycles} cycles, expected {least} to {most}");
    bench.assert_legal();
}

#[test]
fn a_write_is_seen_by_the_read_after_it() {
    let config = config();
    let mut bench = Bench::new(&config);
    // Another row is open with requests to it. Without the read of its line, the write would wait for its batch.
    bench.push(Access::Read, place(&config, 0, 1, 0), 4, 0);
    bench.push(Access::Write, place(&config, 0, 2, 128), 4, 1);
    bench.push(Access::Read, place(&config, 0, 2, 128), 4, 2);
    bench.push(Access::Read, place(&config, 0, 2, 256), 4, 3);
    bench.drain();
    bench.assert_legal();
    assert_eq!(bench.channel.counters().writes, 1);
    let (ordered, free) = (bench.arrival(2), bench.arrival(3));
    let timing = Timing::new(&config);
    assert!(ordered >= timing.write_to_read(4) + timing.row_empty_latency(4), "{ordered}");
    assert!(free > 0);
}

#[test]
fn writes_wait_for_a_batch_and_drain_to_the_low_mark() {
    let config = DramConfig { write_high: 6, write_low: 2, ..config() };
    let mut bench = Bench::new(&config);
    // Reads keep arriving. Five writes do not start a batch; the sixth does.
    let mut reads = 0;
    let mut keep_reading = |bench: &mut Bench, cycles: u64| {
        for _ in 0..cycles {
            if bench.channel.can_push(Access::Read) {
                bench.push(Access::Read, reads * LINE, 4, reads);
                reads += 1;
            }
            bench.step();
        }
    };
    keep_reading(&mut bench, 100);
    for n in 0..5 {
        bench.push(Access::Write, (1 << 24) + n * LINE, 4, 0);
    }
    keep_reading(&mut bench, 300);
    assert_eq!(bench.channel.counters().writes, 0);
    bench.push(Access::Write, (1 << 24) + 5 * LINE, 4, 0);
    keep_reading(&mut bench, 300);
    assert_eq!(bench.channel.counters().writes, 4);
    bench.drain();
    assert_eq!(bench.channel.counters().writes, 6);
    bench.assert_legal();
}

#[test]
fn no_request_starves_behind_row_hits() {
    let config = DramConfig { starvation_cycles: 200, ..config() };
    let timing = Timing::new(&config);
    let mut bench = Bench::new(&config);
    let victim = u64::MAX;
    bench.push(Access::Read, place(&config, 0, 0, 0), 4, 0);
    bench.step();
    bench.push(Access::Read, place(&config, 0, 9, 0), 4, victim);
    // Hits of row 0 never end. Columns repeat, but only after the earlier request to the line was served.
    let mut sent = 1;
    while !bench.answers.iter().any(|(token, _)| *token == victim) {
        if bench.channel.can_push(Access::Read) && bench.now.is_multiple_of(2) {
            bench.push(Access::Read, place(&config, 0, 0, (sent % 16 * LINE) as u32), 4, sent);
            sent += 1;
        }
        bench.step();
        assert!(bench.now < 10_000, "the other row never gets its turn");
    }
    let bound = 200 + timing.service_bound(4) + timing.row_conflict_latency(4);
    let waited = bench.arrival(victim);
    assert!(waited > 200, "row hits went first for {waited} cycles only");
    assert!(waited <= bound, "waited {waited} cycles, bound {bound}");
    assert_eq!(bench.channel.counters().starved, 1);
    bench.assert_legal();
}

#[test]
fn first_ready_beats_strict_order_on_mixed_rows() {
    let cycles = |scheduler| {
        let config = DramConfig { scheduler, ..config() };
        let mut bench = Bench::new(&config);
        // Two streams alternate in one bank: in order, every access changes the row.
        let cycles = stream(&mut bench, 512, |n| {
            (Access::Read, place(&config, 0, n % 2, (n / 2 % 16 * LINE) as u32), 4)
        });
        bench.assert_legal();
        (cycles, bench.channel.counters().row_hits)
    };
    let (ready_first, ready_hits) = cycles(DramScheduler::FrFcfs);
    let (in_order, order_hits) = cycles(DramScheduler::Fcfs);
    assert_eq!(order_hits, 0);
    assert!(ready_hits > 256, "{ready_hits} row hits");
    assert!(2 * ready_first < in_order, "{ready_first} against {in_order} cycles");
}

#[test]
fn answers_that_nobody_takes_hold_reads_back() {
    let config = DramConfig { queue: 8, write_high: 6, write_low: 2, ..config() };
    let mut channel = Channel::new(&config, LINE as u32);
    let mut pushed = 0;
    for now in 0..5000 {
        if channel.can_push(Access::Read) {
            let request = Request {
                access: Access::Read,
                address: pushed * LINE,
                bursts: Bursts::run(4),
                metadata: false,
                slice: 0,
                token: pushed,
            };
            channel.push(now, request);
            pushed += 1;
        }
        channel.tick(now);
    }
    // Eight replies wait, eight requests wait behind them, and the channel accepts no more.
    assert_eq!((channel.counters().reads, pushed), (8, 16));
    for expected in 0..8 {
        assert_eq!(channel.pop(5000).expect("arrived").token, expected);
    }
    channel.tick(5000);
    assert_eq!(channel.counters().reads, 9);
}

#[derive(Clone, Debug)]
struct Traffic {
    write: bool,
    bank: u32,
    row: u64,
    column: u32,
    bursts: u32,
    gap: u64,
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let gap = prop_oneof![3 => 0u64..3, 1 => 0u64..80];
    (any::<bool>(), 0u32..16, 0u64..3, 0u32..16, 1u32..5, gap)
        .prop_map(|(write, bank, row, column, bursts, gap)| Traffic { write, bank, row, column, bursts, gap })
}

fn configs() -> impl Strategy<Value = DramConfig> {
    let scheduler = prop_oneof![Just(DramScheduler::FrFcfs), Just(DramScheduler::Fcfs)];
    let times = (1u32..4, 0u32..20, 2u32..14, 1u32..14, 1u32..9, 50u32..400);
    (scheduler, times).prop_map(|(scheduler, (tccd, trtw, tcl, tcwl, trtp, starvation_cycles))| {
        // An explicit tRTW must at least prevent overlap on the bus.
        let trtw = if trtw == 0 { 0 } else { trtw.max(tcl + 1) };
        DramConfig { scheduler, tccd, trtw, tcl, tcwl, trtp, starvation_cycles, ..config() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For all traffic and timing, every command is legal, every read has exactly one reply, and every write is performed.
    /// Requests to one line stay in order, and no request waits longer than the bound.
    #[test]
    fn random_traffic_is_served_legally(
        config in configs(),
        traffic in prop::collection::vec(traffic(), 1..300),
    ) {
        let mut bench = Bench::new(&config);
        let mut sent = BTreeMap::new();
        let mut last_read_of_line: BTreeMap<u64, u64> = BTreeMap::new();
        let mut follows = Vec::new();
        for (token, t) in (0..).zip(&traffic) {
            let access = if t.write { Access::Write } else { Access::Read };
            for _ in 0..t.gap {
                bench.step();
            }
            while !bench.channel.can_push(access) {
                bench.step();
            }
            let address = place(&config, t.bank, t.row, t.column * LINE as u32);
            bench.push(access, address, t.bursts, token);
            if access == Access::Read {
                sent.insert(token, bench.now);
                follows.extend(last_read_of_line.insert(address, token).map(|earlier| (earlier, token)));
            }
        }
        bench.drain();
        bench.assert_legal();
        let mut tokens: Vec<_> = bench.answers.iter().map(|(token, _)| *token).collect();
        tokens.sort_unstable();
        prop_assert_eq!(tokens, sent.keys().copied().collect::<Vec<_>>());
        for (earlier, later) in follows {
            prop_assert!(bench.arrival(earlier) < bench.arrival(later));
        }
        let counters = bench.channel.counters();
        let writes = traffic.iter().filter(|t| t.write).count() as u64;
        prop_assert_eq!((counters.reads, counters.writes), (sent.len() as u64, writes));
        prop_assert_eq!(counters.bursts, traffic.iter().map(|t| u64::from(t.bursts)).sum::<u64>());
        prop_assert!(counters.row_hits + counters.activates >= counters.reads + counters.writes);
        // A starving request waits at most for all others that starve before it.
        let timing = Timing::new(&config);
        let bound = u64::from(config.starvation_cycles)
            + 2 * u64::from(config.queue) * timing.service_bound(u64::from(BURSTS))
            + timing.row_conflict_latency(u64::from(BURSTS));
        for (token, arrival) in &bench.answers {
            let waited = arrival - sent[token];
            prop_assert!(waited <= bound, "request {} waited {} cycles, bound {}", token, waited, bound);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The bit sets make the same choices as a scan of the queue: the same replies in the same cycles, and the same commands.
    #[test]
    fn sets_of_places_choose_as_a_walk_does(
        mut config in configs(),
        shares_queue in any::<bool>(),
        traffic in prop::collection::vec(traffic(), 1..300),
    ) {
        config.scheduler = DramScheduler::FrFcfs;
        config.write_high = if shares_queue { 0 } else { config.write_high };
        let mut by_places = Bench::new(&config);
        let mut by_walk = Bench::new(&config);
        by_walk.channel.forget_places();
        for (token, t) in (0..).zip(&traffic) {
            let access = if t.write { Access::Write } else { Access::Read };
            let mut gap = t.gap;
            while gap > 0 || !by_places.channel.can_push(access) {
                by_places.step();
                by_walk.step();
                gap = gap.saturating_sub(1);
            }
            let address = place(&config, t.bank, t.row, t.column * LINE as u32);
            by_places.push(access, address, t.bursts, token);
            by_walk.push(access, address, t.bursts, token);
        }
        by_places.drain();
        by_walk.drain();
        prop_assert_eq!(by_places.answers, by_walk.answers);
        prop_assert_eq!(by_places.channel.counters(), by_walk.channel.counters());
    }
}

/// Shows that the checker detects each violation. With a parameter one cycle longer than the controller's, it must report that
/// rule. Each constraint therefore binds somewhere in the traffic of these tests.
#[test]
fn traffic_runs_each_constraint_to_its_limit() {
    type Lengthen = fn(&mut DramConfig);
    // tRC limits a bank only if it exceeds tRAS + tRP.
    let machine = DramConfig { trc: 44, tccd: 2, tcwl: 6, write_high: 4, write_low: 0, queue: 8, ..config() };
    let cases: [(&str, Lengthen); 11] = [
        ("tRCD", |d| d.trcd += 1),
        ("tRP", |d| d.trp += 1),
        ("tRAS", |d| d.tras += 1),
        ("tRC", |d| d.trc += 1),
        ("tRRD", |d| d.trrd += 1),
        ("tCCD", |d| d.tccd += 1),
        ("tCDLR", |d| d.tcdlr += 1),
        ("tWR", |d| d.twr += 1),
        ("tRTP", |d| d.trtp += 1),
        ("tRTW", |d| d.trtw = d.read_to_write() + 1),
        ("bus turn-around", |d| (d.tcl, d.trtw) = (d.tcl + 1, 0)),
    ];
    for (rule, lengthen) in cases {
        let mut told = machine;
        lengthen(&mut told);
        let mut bench = Bench::new(&machine);
        bench.channel.attach(CommandChecker::new(&told, BURSTS));
        let mut state = 1u64;
        stream(&mut bench, 20_000, |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state >> 33;
            let access = if random.is_multiple_of(3) { Access::Write } else { Access::Read };
            let address =
                place(&machine, (random >> 2) as u32 % 4, random >> 5 & 1, (random >> 6 & 15) as u32 * 128);
            (access, address, 1 + (random >> 10) as u32 % 4)
        });
        let violations = bench.channel.violations();
        assert!(!violations.is_empty(), "{rule} never binds");
        // A longer tCCD or tCL also moves the data on the bus. Every other parameter violates its own rule only.
        let own = violations.iter().filter(|v| v.rule == rule).count();
        let exclusive = !["tCCD", "bus turn-around"].contains(&rule);
        assert!(own > 0 && (!exclusive || own == violations.len()), "{rule}: {}", violations[0]);
    }
}

proptest! {
    /// Reads and writes of one line reach the DRAM in the order in which they were sent.
    #[test]
    fn requests_to_one_line_keep_their_order(traffic in prop::collection::vec((any::<bool>(), 0u64..4, 0u64..6), 1..120)) {
        let config = DramConfig { write_high: 4, write_low: 1, starvation_cycles: 300, ..config() };
        let mut bench = Bench::new(&config);
        bench.channel.attach(CommandChecker::new(&config, BURSTS).recording());
        let mut sent: BTreeMap<u64, Vec<CommandKind>> = BTreeMap::new();
        for (write, row, gap) in traffic {
            let (access, kind) =
                if write { (Access::Write, CommandKind::Write) } else { (Access::Read, CommandKind::Read) };
            (0..gap).for_each(|_| bench.step());
            while !bench.channel.can_push(access) {
                bench.step();
            }
            // With one line per row, all in one bank, the row of a command identifies the line.
            bench.push(access, place(&config, 0, row, 0), 1, 0);
            sent.entry(row).or_default().push(kind);
        }
        bench.drain();
        let mut served: BTreeMap<u64, Vec<CommandKind>> = BTreeMap::new();
        for command in bench.channel.checker().expect("attached").commands() {
            if matches!(command.kind, CommandKind::Read | CommandKind::Write) {
                served.entry(command.row).or_default().push(command.kind);
            }
        }
        prop_assert_eq!(served, sent);
    }
}

/// Returns the configuration of a channel as in GPGPU-Sim: a delay line, one queue, and banks that choose their requests.
fn gpgpu_sim() -> DramConfig {
    DramConfig { queue: 4, return_queue: 6, write_high: 0, write_low: 0, ..config() }
}

#[test]
fn the_delay_line_and_the_answers_have_places_beside_the_queue() {
    let mut bench = Bench::new(&gpgpu_sim());
    let mut pushed = 0;
    while bench.channel.can_push(Access::Read) {
        bench.push(Access::Read, pushed * LINE, BURSTS, pushed);
        pushed += 1;
    }
    assert_eq!(pushed, 4 + 6, "as many as both queues have places");
    assert!(!bench.channel.can_push(Access::Write), "writes take the same places");
    bench.drain();
    assert_eq!(bench.answers.len(), 10);
    bench.assert_legal();
}

#[test]
fn the_delay_line_does_not_change_an_unloaded_latency() {
    let latency = |config: &DramConfig| {
        let mut bench = Bench::new(config);
        bench.push(Access::Read, 0, BURSTS, 0);
        bench.drain();
        bench.arrival(0)
    };
    assert_eq!(latency(&gpgpu_sim()), latency(&config()));
}

#[test]
fn without_watermarks_writes_wait_their_turn_among_the_reads() {
    let order = |config: &DramConfig| {
        let mut bench = Bench::new(config);
        bench.push(Access::Write, place(config, 0, 0, 0), BURSTS, 0);
        bench.step();
        bench.push(Access::Read, place(config, 0, 0, 512), BURSTS, 1);
        for _ in 0..200 {
            bench.step();
            let counters = bench.channel.counters();
            if counters.reads + counters.writes == 1 {
                return counters.writes;
            }
        }
        panic!("nothing is served");
    };
    assert_eq!(order(&DramConfig { controller_latency: 20, ..gpgpu_sim() }), 1, "the older write");
    // With watermarks, the read of the open row goes first.
    let reads_first = DramConfig { write_high: 4, write_low: 1, controller_latency: 20, ..config() };
    assert_eq!(order(&reads_first), 0);
}

#[test]
fn a_bank_serves_what_it_has_chosen_before_a_later_row_hit() {
    let arrivals = |config: &DramConfig| {
        let mut bench = Bench::new(config);
        bench.push(Access::Read, place(config, 0, 0, 0), BURSTS, 0);
        bench.push(Access::Read, place(config, 0, 1, 0), BURSTS, 1);
        // The bank has chosen row 1 and must wait for tRAS when the read of row 0 arrives.
        for _ in 0..config.controller_latency + config.trcd + 2 {
            bench.step();
        }
        bench.push(Access::Read, place(config, 0, 0, 512), BURSTS, 2);
        bench.drain();
        bench.assert_legal();
        (bench.arrival(1), bench.arrival(2))
    };
    let (other_row, row_hit) =
        arrivals(&DramConfig { tras: 60, trc: 80, controller_latency: 2, ..gpgpu_sim() });
    assert!(other_row < row_hit, "{other_row} {row_hit}");
    let (other_row, row_hit) = arrivals(&DramConfig { tras: 60, trc: 80, controller_latency: 2, ..config() });
    assert!(row_hit < other_row, "{other_row} {row_hit}");
}

#[test]
fn bursts_of_one_bank_group_are_tccdl_apart_and_others_come_between() {
    let config = DramConfig {
        bank_groups: 4,
        tccd: 2,
        tccdl: 3,
        burst_bytes: 64,
        bank_group_bits: crate::config::BankGroupBits::Low,
        ..gpgpu_sim()
    };
    let columns = |banks: &[u32]| {
        let mut channel = Channel::new(&config, LINE as u32);
        channel.attach(CommandChecker::new(&config, 2).recording());
        let mut bench = Bench { channel, now: 0, answers: Vec::new() };
        for (token, bank) in (0..).zip(banks) {
            bench.push(Access::Read, place(&config, *bank, 0, 0), 2, token);
        }
        bench.drain();
        bench.assert_legal();
        let commands = bench.channel.checker().expect("attached").commands();
        let reads: Vec<u64> =
            commands.iter().filter(|c| c.kind == CommandKind::Read).map(|c| c.cycle).collect();
        reads.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    assert_eq!(columns(&[0]), [3], "both bursts of a line lie in one group");
    let timing = Timing::new(&config);
    assert_eq!(timing.row_hit_latency(2) - timing.row_hit_latency(1), 3);
}

proptest! {
    /// For all requests, every command obeys the rules and every read has a reply.
    #[test]
    fn banks_that_choose_obey_the_rules(
        requests in prop::collection::vec((any::<bool>(), 0u32..16, 0u64..3, 0u32..8, 0u64..6), 1..200),
        (groups, one_queue, fcfs) in (0u32..3, any::<bool>(), any::<bool>()),
    ) {
        let mut config = DramConfig { bank_groups: 1 << groups, tccdl: 3, tccd: 2, ..gpgpu_sim() };
        if !one_queue {
            (config.write_high, config.write_low) = (3, 1);
        }
        if fcfs {
            config.scheduler = DramScheduler::Fcfs;
        }
        let mut bench = Bench::new(&config);
        let mut reads = 0;
        for (token, (write, bank, row, column, gap)) in (0..).zip(requests) {
            let access = if write { Access::Write } else { Access::Read };
            for _ in 0..gap {
                bench.step();
            }
            while !bench.channel.can_push(access) {
                bench.step();
            }
            bench.push(access, place(&config, bank, row, column * LINE as u32), BURSTS, token);
            reads += usize::from(!write);
        }
        bench.drain();
        bench.assert_legal();
        prop_assert_eq!(bench.answers.len(), reads);
    }
}
