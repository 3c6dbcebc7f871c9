//! Checks the commands of a DRAM channel against the standard's table of timing parameters.
//!
//! This judge is independent of the simulator's checker. It follows the table of GDDR5 (JEDEC JESD212, timing parameters), and
//! reads a whole recorded trace. It reconstructs the open rows and the use of the data bus, then measures the distance that each
//! parameter limits. The table has tFAW, but the simulator's configurations do not. The judge uses four times tRRD, the lower
//! bound of tFAW.
use proptest::prelude::*;
use selvedge_sim::config::{DramConfig, DramScheduler, GpuConfig};
use selvedge_sim::dram::{
    Access, BankMap, Bursts, Channel, CommandChecker, CommandKind, DramCommand, Location, Request,
};
use std::collections::{BTreeMap, BTreeSet};

const LINE: u64 = 128;
const MOST_BURSTS: u32 = 4;

/// Min distances of the table, in cycles of the command clock.
#[derive(Clone, Copy, Debug)]
struct Table {
    rcd: u64,
    rp: u64,
    ras: u64,
    rc: u64,
    rrd: u64,
    faw: u64,
    ccd: u64,
    /// Last write data to read: tWTR, called tCDLR in GDDR5.
    wtr: u64,
    rtp: u64,
    wr: u64,
    cl: u64,
    cwl: u64,
    /// Read to write; 0 if only the data bus limits it.
    rtw: u64,
    refi: u64,
    rfc: u64,
    /// Cycles of a burst on the data bus.
    burst: u64,
}

impl Table {
    fn of(d: &DramConfig) -> Self {
        let cycles = u64::from;
        // A sub-rank has a part of the bus, on which a burst takes proportionally longer.
        let bytes_per_cycle = d.bus_bytes * d.data_rate;
        let burst = cycles((d.burst_bytes * d.sub_ranks).div_ceil(bytes_per_cycle));
        Self {
            rcd: cycles(d.trcd),
            rp: cycles(d.trp),
            ras: cycles(d.tras),
            rc: cycles(d.trc),
            rrd: cycles(d.trrd),
            faw: 4 * cycles(d.trrd),
            ccd: cycles(d.tccd),
            wtr: cycles(d.tcdlr),
            rtp: cycles(d.trtp),
            wr: cycles(d.twr),
            cl: cycles(d.tcl),
            cwl: cycles(d.tcwl),
            rtw: cycles(d.trtw),
            refi: cycles(d.trefi),
            rfc: cycles(d.trfc),
            burst,
        }
    }
}

/// An interval in which a row was open, from activate to precharge.
struct Row {
    bank: u32,
    row: u64,
    opened: u64,
    reads: Vec<u64>,
    writes: Vec<u64>,
    closed: Option<u64>,
}

/// Events in one sub-rank.
#[derive(Default)]
struct Events {
    rows: Vec<Row>,
    refreshes: Vec<u64>,
    /// Commands that the state of their bank does not allow.
    impossible: BTreeSet<&'static str>,
}

/// Returns the cycle of each burst of a column command. The controller sends them as close as tCCD and the bus allow.
fn bursts(command: &DramCommand, count: u64, table: &Table) -> Vec<u64> {
    (0..count).map(|n| command.cycle + n * table.ccd.max(table.burst)).collect()
}

impl Events {
    /// Collects the events of sub-rank `number`.
    fn of(commands: &[DramCommand], number: u32, config: &DramConfig, table: &Table) -> Self {
        let mut events = Self::default();
        for command in commands.iter().filter(|command| command.sub_ranks >> number & 1 == 1) {
            let first = command.column / config.burst_bytes;
            let is_here = |burst: &u32| (first + burst) % config.sub_ranks == number;
            let count = command.bursts.numbers().filter(is_here).count() as u64;
            events.add(command, bursts(command, count, table));
        }
        events
    }

    fn add(&mut self, command: &DramCommand, bursts: Vec<u64>) {
        let is_open = |row: &&mut Row| row.closed.is_none();
        let mut open = self.rows.iter_mut().filter(is_open).filter(|row| row.bank == command.bank);
        match command.kind {
            CommandKind::Activate => {
                if open.next().is_some() {
                    self.impossible.insert("activate of an open bank");
                }
                self.rows.push(Row {
                    bank: command.bank,
                    row: command.row,
                    opened: command.cycle,
                    reads: Vec::new(),
                    writes: Vec::new(),
                    closed: None,
                });
            }
            CommandKind::Precharge => match open.next() {
                Some(row) => row.closed = Some(command.cycle),
                None => drop(self.impossible.insert("precharge of a closed bank")),
            },
            CommandKind::PrechargeAll => {
                self.rows.iter_mut().filter(is_open).for_each(|row| row.closed = Some(command.cycle));
            }
            CommandKind::Refresh => {
                if self.rows.iter_mut().any(|row| row.closed.is_none()) {
                    self.impossible.insert("refresh of an open bank");
                }
                self.refreshes.push(command.cycle);
            }
            CommandKind::Read | CommandKind::Write => match open.find(|row| row.row == command.row) {
                Some(row) if command.kind == CommandKind::Read => row.reads.extend(bursts),
                Some(row) => row.writes.extend(bursts),
                None => drop(self.impossible.insert("access to a row that is not open")),
            },
        }
    }

    /// Returns the cycles of all reads or all writes, in order.
    fn columns(&self, of: fn(&Row) -> &Vec<u64>) -> Vec<u64> {
        let mut columns: Vec<u64> = self.rows.iter().flat_map(of).copied().collect();
        columns.sort_unstable();
        columns
    }
}

/// Names of the violated parameters.
type Found = BTreeSet<&'static str>;

/// Adds `name` to `found` unless `later` is at least `cycles` after `earlier`.
fn apart(found: &mut Found, name: &'static str, earlier: u64, later: u64, cycles: u64) {
    if later < earlier + cycles {
        found.insert(name);
    }
}

/// Judges tRCD, tRAS, tRTP and tWR within each row.
fn judge_rows(events: &Events, table: &Table, found: &mut Found) {
    for row in &events.rows {
        for column in row.reads.iter().chain(&row.writes) {
            apart(found, "tRCD", row.opened, *column, table.rcd);
        }
        let Some(closed) = row.closed else { continue };
        apart(found, "tRAS", row.opened, closed, table.ras);
        for read in &row.reads {
            apart(found, "tRTP", *read, closed, table.rtp);
        }
        for write in &row.writes {
            apart(found, "tWR", write + table.cwl + table.burst, closed, table.wr);
        }
    }
}

/// Judges tRP, tRC, tRRD and tFAW between rows.
fn judge_activates(events: &Events, table: &Table, found: &mut Found) {
    let mut last_of_bank: BTreeMap<u32, &Row> = BTreeMap::new();
    for row in &events.rows {
        if let Some(last) = last_of_bank.insert(row.bank, row) {
            apart(found, "tRC", last.opened, row.opened, table.rc);
            if let Some(closed) = last.closed {
                apart(found, "tRP", closed, row.opened, table.rp);
            }
        }
    }
    for pair in events.rows.windows(2).filter(|pair| pair[0].bank != pair[1].bank) {
        apart(found, "tRRD", pair[0].opened, pair[1].opened, table.rrd);
    }
    for five in events.rows.windows(5) {
        apart(found, "tFAW", five[0].opened, five[4].opened, table.faw);
    }
}

/// Judges tCCD, tWTR and tRTW between columns, and the data bus with tCL and tCWL.
fn judge_columns(events: &Events, table: &Table, found: &mut Found) {
    let reads = events.columns(|row| &row.reads);
    let writes = events.columns(|row| &row.writes);
    for columns in [&reads, &writes] {
        columns.windows(2).for_each(|pair| apart(found, "tCCD", pair[0], pair[1], table.ccd));
    }
    for write in &writes {
        let data_end = write + table.cwl + table.burst;
        for read in reads.iter().filter(|read| *read > write) {
            apart(found, "tWTR", data_end, *read, table.wtr);
        }
        for read in reads.iter().filter(|read| *read < write) {
            apart(found, "tRTW", *read, *write, table.rtw);
        }
    }
    // The bus carries one burst per cycle, with an idle cycle between the data of a read and a write.
    let carried = |starts: &[u64], delay: u64| -> Vec<u64> {
        starts.iter().flat_map(|start| start + delay..start + delay + table.burst).collect()
    };
    let (read, written) = (carried(&reads, table.cl), carried(&writes, table.cwl));
    let cycles: BTreeSet<u64> = read.iter().chain(&written).copied().collect();
    if cycles.len() < read.len() + written.len() {
        found.insert("data bus");
    }
    let read: BTreeSet<u64> = read.into_iter().collect();
    let rests = |write: &u64| table.rtw > 0 || !read.contains(&(write + table.cwl - 1));
    if !writes.iter().all(rests) {
        found.insert("turn-around");
    }
}

/// Judges tRFC and tREFI of refreshes, and tRP and tRC before them.
fn judge_refreshes(events: &Events, table: &Table, found: &mut Found) {
    for (number, refresh) in (1..).zip(&events.refreshes) {
        if !(number * table.refi..(number + 1) * table.refi).contains(refresh) {
            found.insert("tREFI");
        }
        for row in &events.rows {
            if row.opened > *refresh {
                apart(found, "tRFC", *refresh, row.opened, table.rfc);
                continue;
            }
            apart(found, "tRC", row.opened, *refresh, table.rc);
            if let Some(closed) = row.closed.filter(|closed| closed <= refresh) {
                apart(found, "tRP", closed, *refresh, table.rp);
            }
        }
    }
    events.refreshes.windows(2).for_each(|pair| apart(found, "tRFC", pair[0], pair[1], table.rfc));
}

/// Returns all violations in a trace.
fn judge(commands: &[DramCommand], config: &DramConfig, table: &Table) -> Found {
    let mut found = Found::new();
    if commands.windows(2).any(|pair| pair[1].cycle <= pair[0].cycle) {
        found.insert("one command per cycle");
    }
    for number in 0..config.sub_ranks {
        let events = Events::of(commands, number, config, table);
        judge_rows(&events, table, &mut found);
        judge_activates(&events, table, &mut found);
        judge_columns(&events, table, &mut found);
        judge_refreshes(&events, table, &mut found);
        found.extend(events.impossible);
    }
    // No refresh may be missing.
    if let Some(last) = commands.last().filter(|_| table.refi > 0) {
        let given = commands.iter().filter(|command| command.kind == CommandKind::Refresh).count() as u64;
        if last.cycle >= (given + 2) * table.refi {
            found.insert("tREFI");
        }
    }
    found
}

#[derive(Clone, Copy, Debug)]
struct Traffic {
    write: bool,
    bank: u32,
    row: u64,
    column: u32,
    bursts: u32,
    gap: u64,
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let gap = prop_oneof![4 => 0u64..3, 2 => 0u64..60, 1 => 0u64..2000];
    let banks = prop_oneof![Just(1u32), Just(4), Just(16)];
    let parts = (any::<bool>(), banks, any::<u32>(), 0u64..3, 0u32..13, 1u32..5, gap);
    parts.prop_map(|(write, banks, bank, row, column, bursts, gap)| Traffic {
        write,
        bank: bank % banks,
        row,
        column,
        bursts,
        gap,
    })
}

fn gtx480() -> DramConfig {
    GpuConfig::load("gtx480").expect("built in").dram
}

fn configs() -> impl Strategy<Value = DramConfig> {
    let scheduler = prop_oneof![Just(DramScheduler::FrFcfs), Just(DramScheduler::Fcfs)];
    let columns = (1u32..4, 0u32..20, 2u32..14, 1u32..14, 1u32..9, 1u32..12);
    let rows = (1u32..16, 1u32..16, 10u32..40, 0u32..12, 1u32..9, 1u32..16);
    let others =
        (prop_oneof![Just(0u32), 900u32..4000], 20u32..200, prop_oneof![Just(1u32), Just(2), Just(4)]);
    (scheduler, columns, rows, others).prop_map(|(scheduler, columns, rows, others)| {
        let (tccd, trtw, tcl, tcwl, trtp, tcdlr) = columns;
        let (trcd, trp, tras, more, trrd, twr) = rows;
        let (trefi, trfc, sub_ranks) = others;
        // Ensures that a tRTW above 0 keeps the data apart.
        let burst = 4;
        let trtw = if trtw == 0 { 0 } else { trtw.max(tcl + burst) };
        let trc = tras + trp + more;
        DramConfig {
            scheduler,
            tccd,
            trtw,
            tcl,
            tcwl,
            trtp,
            tcdlr,
            trcd,
            trp,
            tras,
            trc,
            trrd,
            twr,
            trefi,
            trfc,
            sub_ranks,
            ..gtx480()
        }
    })
}

/// Serves the requests and returns the commands of the channel.
fn record(config: &DramConfig, traffic: &[Traffic]) -> Vec<DramCommand> {
    let mut channel = Channel::new(config, LINE as u32);
    channel.attach(CommandChecker::new(config, MOST_BURSTS).recording());
    let map = BankMap::new(config);
    let mut now = 0;
    let mut step = |channel: &mut Channel| {
        channel.tick(now);
        while channel.pop(now).is_some() {}
        now += 1;
        assert!(now < 1_000_000, "the channel does not finish");
        now
    };
    let mut at = 0;
    for (token, t) in (0..).zip(traffic) {
        let access = if t.write { Access::Write } else { Access::Read };
        for _ in 0..t.gap {
            at = step(&mut channel);
        }
        while !channel.can_push(access) {
            at = step(&mut channel);
        }
        let column = t.column * LINE as u32 % config.row_bytes;
        let address = map.address(Location { bank: t.bank % config.banks, row: t.row, column });
        channel.push(
            at,
            Request { access, address, bursts: Bursts::run(t.bursts), metadata: false, token, slice: 0 },
        );
    }
    while channel.busy() || channel.returning() {
        step(&mut channel);
    }
    channel.checker().expect("attached").commands().to_vec()
}

fn moved(commands: &[DramCommand], kind: CommandKind) -> u32 {
    commands.iter().filter(|command| command.kind == kind).map(|command| command.bursts.count()).sum()
}

/// Returns whether the simulator's own checker finds a violation.
fn own_checker_objects(commands: &[DramCommand], config: &DramConfig) -> bool {
    let mut checker = CommandChecker::new(config, MOST_BURSTS);
    commands.iter().for_each(|command| checker.observe(*command));
    !checker.violations().is_empty()
}

/// Modification of a command in a trace.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// Moves the command earlier by this number of cycles.
    Earlier(u64),
    /// Moves the command and all later ones earlier by this number of cycles.
    RestEarlier(u64),
    /// Removes the command.
    Dropped,
    /// Changes the bank.
    OtherBank(u32),
    /// Changes the row.
    OtherRow,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => (1u64..20).prop_map(Damage::Earlier),
        4 => (1u64..20).prop_map(Damage::RestEarlier),
        2 => Just(Damage::Dropped),
        1 => (1u32..16).prop_map(Damage::OtherBank),
        1 => Just(Damage::OtherRow),
    ]
}

fn damaged(mut commands: Vec<DramCommand>, at: usize, damage: Damage) -> Vec<DramCommand> {
    match damage {
        Damage::Earlier(by) => commands[at].cycle = commands[at].cycle.saturating_sub(by),
        Damage::RestEarlier(by) => {
            commands[at..].iter_mut().for_each(|command| command.cycle = command.cycle.saturating_sub(by));
        }
        Damage::Dropped => drop(commands.remove(at)),
        Damage::OtherBank(by) => commands[at].bank = (commands[at].bank + by) % 16,
        Damage::OtherRow => commands[at].row ^= 1,
    }
    commands
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random requests under random timing, scheduling, refresh and number of sub-ranks.
    #[test]
    fn every_recorded_trace_keeps_to_the_table(
        config in configs(),
        traffic in prop::collection::vec(traffic(), 1..200),
    ) {
        let commands = record(&config, &traffic);
        prop_assert_eq!(judge(&commands, &config, &Table::of(&config)), Found::new());
        let asked = |write| traffic.iter().filter(|t| t.write == write).map(|t| t.bursts).sum::<u32>();
        prop_assert_eq!(moved(&commands, CommandKind::Read), asked(false));
        prop_assert_eq!(moved(&commands, CommandKind::Write), asked(true));
    }

    /// Both judges find a violation in a damaged trace, or neither does.
    #[test]
    fn both_judges_agree_on_damaged_traces(
        config in configs(),
        traffic in prop::collection::vec(traffic(), 1..60),
        at in any::<prop::sample::Index>(),
        damage in damage(),
    ) {
        let commands = record(&config, &traffic);
        let at = at.index(commands.len());
        let commands = damaged(commands, at, damage);
        let found = judge(&commands, &config, &Table::of(&config));
        prop_assert_eq!(!found.is_empty(), own_checker_objects(&commands, &config), "{:?} of {}: {:?}", damage, at, found);
    }
}

/// Returns a dense mix of reads and writes to a few rows of all banks.
fn dense(banks: u32, count: u32) -> Vec<Traffic> {
    let mixed = |n: u32| n.wrapping_mul(0x9e37_79b9) >> 8;
    (0..count)
        .map(|n| Traffic {
            write: mixed(n) % 5 < 2,
            bank: mixed(n + 1000) % banks,
            row: u64::from(mixed(n + 2000) % 2),
            column: mixed(n + 3000) % 16,
            bursts: 1 + mixed(n + 4000) % 4,
            gap: u64::from(mixed(n + 5000) % 4),
        })
        .collect()
}

/// Recorded traces reach each limit: a judge with a limit one cycle longer finds a violation of that limit.
#[test]
fn recorded_traces_run_into_each_limit() {
    type Lengthen = fn(&mut Table);
    let limits: [(&str, Lengthen); 11] = [
        ("tRCD", |t| t.rcd += 1),
        ("tRP", |t| t.rp += 1),
        ("tRAS", |t| t.ras += 1),
        ("tRC", |t| t.rc += 1),
        ("tRRD", |t| t.rrd += 1),
        ("tCCD", |t| t.ccd += 1),
        ("tWTR", |t| t.wtr += 1),
        ("tRTP", |t| t.rtp += 1),
        ("tWR", |t| t.wr += 1),
        ("tRTW", |t| t.rtw += 1),
        ("tRFC", |t| t.rfc += 1),
    ];
    let plain = DramConfig { trefi: 1000, trfc: 61, trtw: 16, tccd: 2, ..gtx480() };
    // The limits tRC, tRAS and tRTP of a row are reached only if no other limit is longer.
    let configs = [
        plain,
        DramConfig { trc: plain.tras + plain.trp + 9, ..plain },
        DramConfig { trtp: 20, tras: 14, trc: 26, ..plain },
    ];
    for (name, lengthen) in limits {
        let mut found = Found::new();
        for config in configs {
            for banks in [1, 2, 16] {
                let commands = record(&config, &dense(banks, 400));
                let mut table = Table::of(&config);
                assert_eq!(judge(&commands, &config, &table), Found::new());
                lengthen(&mut table);
                // The judge places the bursts of a request by the table, so that a longer tCCD also stretches them.
                found.extend(judge(&commands, &config, &table).into_iter().filter(|other| *other == name));
            }
        }
        assert_eq!(found, Found::from([name]));
    }
}

/// Cycle, kind, bank and row of a command to sub-rank 0; a read or write moves one burst.
type Short = (u64, CommandKind, u32, u64);

fn trace(commands: &[Short]) -> Vec<DramCommand> {
    let command = |&(cycle, kind, bank, row): &Short| DramCommand {
        cycle,
        kind,
        sub_ranks: 1,
        bank,
        row,
        column: 0,
        bursts: Bursts::run(u32::from(matches!(kind, CommandKind::Read | CommandKind::Write))),
    };
    commands.iter().map(command).collect()
}

/// Tests each parameter alone. The last command of each trace is at its limit; one cycle earlier is a violation.
#[test]
fn a_command_one_cycle_early_is_found_under_its_parameters_name() {
    use CommandKind::{Activate, Precharge, PrechargeAll, Read, Refresh, Write};
    let table = Table {
        rcd: 12,
        rp: 13,
        ras: 28,
        rc: 45,
        rrd: 6,
        faw: 30,
        ccd: 2,
        wtr: 5,
        rtp: 4,
        wr: 14,
        cl: 12,
        cwl: 4,
        rtw: 11,
        refi: 1000,
        rfc: 61,
        burst: 1,
    };
    let plain = DramConfig { sub_ranks: 1, ..gtx480() };
    let planted: [(&str, &[Short]); 16] = [
        ("tRCD", &[(0, Activate, 0, 7), (12, Read, 0, 7)]),
        ("tRCD", &[(0, Activate, 0, 7), (12, Write, 0, 7)]),
        ("tRAS", &[(0, Activate, 0, 7), (28, Precharge, 0, 0)]),
        ("tRC", &[(0, Activate, 0, 7), (28, Precharge, 0, 0), (45, Activate, 0, 8)]),
        ("tRP", &[(0, Activate, 0, 7), (40, Precharge, 0, 0), (53, Activate, 0, 8)]),
        ("tRRD", &[(0, Activate, 0, 7), (6, Activate, 1, 7)]),
        (
            "tFAW",
            &[
                (0, Activate, 0, 1),
                (6, Activate, 1, 1),
                (12, Activate, 2, 1),
                (18, Activate, 3, 1),
                (30, Activate, 4, 1),
            ],
        ),
        ("tCCD", &[(0, Activate, 0, 7), (20, Read, 0, 7), (22, Read, 0, 7)]),
        ("tCCD", &[(0, Activate, 0, 7), (6, Activate, 1, 7), (20, Write, 0, 7), (22, Write, 1, 7)]),
        // The data of a write ends after tCWL and the burst.
        ("tWTR", &[(0, Activate, 0, 7), (12, Write, 0, 7), (12 + 4 + 1 + 5, Read, 0, 7)]),
        ("tRTW", &[(0, Activate, 0, 7), (12, Read, 0, 7), (23, Write, 0, 7)]),
        ("tRTP", &[(0, Activate, 0, 7), (40, Read, 0, 7), (44, Precharge, 0, 0)]),
        ("tWR", &[(0, Activate, 0, 7), (20, Write, 0, 7), (20 + 4 + 1 + 14, PrechargeAll, 0, 0)]),
        ("tREFI", &[(0, Activate, 0, 7), (40, PrechargeAll, 0, 0), (1000, Refresh, 0, 0)]),
        ("tRP", &[(950, Activate, 0, 7), (1000, PrechargeAll, 0, 0), (1013, Refresh, 0, 0)]),
        ("tRFC", &[(1005, Refresh, 0, 0), (1066, Activate, 0, 7)]),
    ];
    for (name, commands) in planted {
        assert_eq!(judge(&trace(commands), &plain, &table), Found::new(), "{name}: {commands:?}");
        let mut early = trace(commands);
        early.last_mut().expect("a command").cycle -= 1;
        assert_eq!(judge(&early, &plain, &table), Found::from([name]), "{commands:?}");
    }
}

/// Tests the data bus alone, with the delays at which two bursts overlap.
#[test]
fn bursts_that_meet_on_the_bus_are_found() {
    use CommandKind::{Activate, Read, Write};
    // Without tRTW the bus decides. The data of the read takes cycles 24 and 25, and cycle 26 is idle. The data of a write begins
    // tCWL = 4 cycles after it.
    let table = Table { rtw: 0, burst: 2, ..Table::of(&DramConfig { trtw: 0, ..gtx480() }) };
    assert_eq!((table.cl, table.cwl, table.rcd), (12, 4, 12));
    let after = |cycle| trace(&[(0, Activate, 0, 7), (12, Read, 0, 7), (cycle, Write, 0, 7)]);
    let plain = DramConfig { sub_ranks: 1, ..gtx480() };
    assert_eq!(judge(&after(20), &plain, &table), Found::from(["data bus"]));
    assert_eq!(judge(&after(21), &plain, &table), Found::from(["data bus", "turn-around"]));
    assert_eq!(judge(&after(22), &plain, &table), Found::from(["turn-around"]));
    assert_eq!(judge(&after(23), &plain, &table), Found::new());
}

/// Commands that the state of the bank never allows.
#[test]
fn commands_that_make_no_sense_are_found() {
    use CommandKind::{Activate, Precharge, Read, Refresh};
    let plain = DramConfig { sub_ranks: 1, trefi: 1000, trfc: 61, ..gtx480() };
    let table = Table::of(&plain);
    for (name, commands) in [
        ("activate of an open bank", &[(0, Activate, 0, 7), (500, Activate, 0, 8)][..]),
        ("precharge of a closed bank", &[(0, Activate, 0, 7), (500, Precharge, 1, 0)]),
        ("access to a row that is not open", &[(0, Activate, 0, 7), (500, Read, 0, 8)]),
        ("refresh of an open bank", &[(0, Activate, 0, 7), (1000, Refresh, 0, 0)]),
        ("one command per cycle", &[(50, Activate, 0, 7), (50, Activate, 1, 7)]),
        ("tREFI", &[(0, Activate, 0, 7), (2000, Activate, 1, 7)]),
    ] {
        let found = judge(&trace(commands), &plain, &table);
        assert!(found.contains(name), "{name}: {found:?}");
    }
}
