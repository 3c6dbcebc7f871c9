//! An independent checker of a channel's commands.
//!
//! The controller keeps the earliest cycle of each command. The checker keeps the recent commands instead, with one entry per
//! burst. It compares each new command with every earlier one by a table of rules, built from the configuration. The two share no
//! code. Each sub-rank is checked separately; all sub-ranks share one command bus.
use super::request::Bursts;
use crate::config::DramConfig;
use selvedge_state::State;
use std::collections::VecDeque;
use std::fmt;

/// Effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum CommandKind {
    /// Opens a row of a bank.
    Activate,
    /// Closes a bank's row.
    Precharge,
    /// Reads bursts of the open row.
    Read,
    /// Writes bursts of the open row.
    Write,
    /// Closes every bank's row.
    PrechargeAll,
    /// Refreshes every bank.
    Refresh,
}

/// A command on a channel's command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct DramCommand {
    /// Command-clock cycle.
    pub cycle: u64,
    /// Effect of the command.
    pub kind: CommandKind,
    /// Mask of the sub-ranks that receive the command.
    pub sub_ranks: u64,
    /// Bank number; 0 for commands to all banks.
    pub bank: u32,
    /// Row that is opened, closed, read or written.
    pub row: u64,
    /// Byte in the row at which a read or write begins; 0 for other commands.
    pub column: u32,
    /// Bursts of a read or write, relative to `column`; none for other commands.
    pub bursts: Bursts,
}

/// A violation of a rule by a command.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct Violation {
    /// The command that violates the rule.
    pub command: DramCommand,
    /// Name of the rule: a timing parameter, or the kind of the fault.
    pub rule: &'static str,
    /// Cycle of the earlier command; `None` if the rule limits no distance.
    pub since: Option<u64>,
    /// Min distance in cycles.
    pub needed: u64,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = &self.command;
        write!(f, "cycle {}: {:?} bank {} row {}: {}", c.cycle, c.kind, c.bank, c.row, self.rule)?;
        match self.since {
            Some(since) => {
                write!(f, ": {} cycles after cycle {since}, needs {}", c.cycle - since, self.needed)
            }
            None => Ok(()),
        }
    }
}

/// Banks of two commands to which a rule applies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BankScope {
    SameBank,
    OtherBank,
    SameGroup,
    Channel,
}

/// Requires at least `cycles` cycles from a command `from` to a command `to`.
struct Rule {
    name: &'static str,
    from: CommandKind,
    to: CommandKind,
    scope: BankScope,
    cycles: u64,
}

/// Returns the rules of a configuration.
fn rules(d: &DramConfig) -> Vec<Rule> {
    use BankScope::{Channel, OtherBank, SameBank};
    use CommandKind::{Activate, Precharge, PrechargeAll, Read, Refresh, Write};
    let burst = burst_length(d);
    let written = d.tcwl + burst;
    let mut table = vec![
        ("tRC", Activate, Activate, SameBank, d.trc),
        ("tRRD", Activate, Activate, OtherBank, d.trrd),
        ("tRAS", Activate, Precharge, SameBank, d.tras),
        ("tRCD", Activate, Read, SameBank, d.trcd),
        ("tRCD", Activate, Write, SameBank, d.trcd),
        ("tRP", Precharge, Activate, SameBank, d.trp),
        ("tRTP", Read, Precharge, SameBank, d.trtp),
        ("tWR", Write, Precharge, SameBank, written + d.twr),
        ("tCCD", Read, Read, Channel, d.tccd),
        ("tCCD", Write, Write, Channel, d.tccd),
        ("tCDLR", Write, Read, Channel, written + d.tcdlr),
        ("tRAS", Activate, PrechargeAll, Channel, d.tras),
        ("tRTP", Read, PrechargeAll, Channel, d.trtp),
        ("tWR", Write, PrechargeAll, Channel, written + d.twr),
        ("tRP", PrechargeAll, Activate, Channel, d.trp),
        ("tRP", PrechargeAll, Refresh, Channel, d.trp),
        ("tRP", Precharge, Refresh, Channel, d.trp),
        ("tRC", Activate, Refresh, Channel, d.trc),
        ("tRFC", Refresh, Activate, Channel, d.trfc),
        ("tRFC", Refresh, Refresh, Channel, d.trfc),
    ];
    if d.bank_groups > 1 {
        table.extend([
            ("tCCDL", Read, Read, BankScope::SameGroup, d.tccdl),
            ("tCCDL", Write, Write, BankScope::SameGroup, d.tccdl),
        ]);
    }
    if d.trtw > 0 {
        table.push(("tRTW", Read, Write, Channel, d.trtw));
    }
    let rule = |(name, from, to, scope, cycles)| Rule { name, from, to, scope, cycles: u64::from(cycles) };
    table.into_iter().map(rule).collect()
}

/// Returns the cycles of a burst on the data bus of a sub-rank.
fn burst_length(d: &DramConfig) -> u32 {
    (d.burst_bytes * d.sub_ranks).div_ceil(d.bus_bytes * d.data_rate)
}

/// A transfer on the data bus, in the cycles from `start` up to, not including, `end`.
#[derive(Clone, Copy, State)]
struct Transfer {
    start: u64,
    end: u64,
    write: bool,
}

/// Recent commands and current state of a sub-rank.
#[derive(State)]
struct History {
    /// Commands that a rule can still refer to, with one entry per burst.
    recent: VecDeque<DramCommand>,
    /// Open row of each bank.
    open: Vec<Option<u64>>,
    transfers: VecDeque<Transfer>,
}

/// Checks the commands of one channel, which must arrive in order of time.
#[derive(State)]
pub struct CommandChecker {
    #[state(skip = "they follow from the configuration")]
    rules: Vec<Rule>,
    #[state(skip = "the configuration")]
    config: DramConfig,
    most_bursts: u32,
    horizon: u64,
    sub_ranks: Vec<History>,
    last_cycle: Option<u64>,
    refreshes: u64,
    checked: u64,
    violations: Vec<Violation>,
    recorded: Option<Vec<DramCommand>>,
}

/// Max violations that are kept.
const MOST_VIOLATIONS: usize = 1000;

impl CommandChecker {
    /// Creates a checker for a channel with closed banks. Requests have at most `most_bursts` bursts.
    pub fn new(config: &DramConfig, most_bursts: u32) -> Self {
        let rules = rules(config);
        let longest = rules.iter().map(|r| r.cycles).max().unwrap_or(0);
        // The entries of single bursts can have later cycles than the next command, by at most the length of one request.
        let ahead = u64::from(most_bursts * burst_length(config).max(config.tccd));
        let closed = || History {
            recent: VecDeque::new(),
            open: vec![None; config.banks as usize],
            transfers: VecDeque::new(),
        };
        Self {
            rules,
            most_bursts,
            horizon: longest + ahead,
            sub_ranks: (0..config.sub_ranks).map(|_| closed()).collect(),
            config: *config,
            last_cycle: None,
            refreshes: 0,
            checked: 0,
            violations: Vec::new(),
            recorded: None,
        }
    }

    /// Returns the checker, set to keep every command. Memory use grows with the run, so use it for short runs.
    pub fn recording(mut self) -> Self {
        self.recorded = Some(Vec::new());
        self
    }

    /// Returns the commands that a [`Self::recording`] checker has seen.
    pub fn commands(&self) -> &[DramCommand] {
        self.recorded.as_deref().unwrap_or(&[])
    }

    /// Returns the number of commands seen.
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// Returns the first 1000 violations.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Checks one command.
    pub fn observe(&mut self, command: DramCommand) {
        self.checked += 1;
        if let Some(commands) = &mut self.recorded {
            commands.push(command);
        }
        if self.last_cycle.is_some_and(|last| command.cycle <= last) {
            self.report(command, "one command per cycle", self.last_cycle.filter(|l| *l <= command.cycle), 1);
        }
        self.last_cycle = Some(command.cycle);
        let known = (1u64 << self.sub_ranks.len()) - 1;
        if command.sub_ranks == 0 || command.sub_ranks & !known != 0 {
            self.report(command, "number of sub-ranks", None, 0);
        }
        if command.kind == CommandKind::Refresh {
            self.check_refresh_time(command);
        }
        let is_column = matches!(command.kind, CommandKind::Read | CommandKind::Write);
        if is_column && !(1..=self.most_bursts).contains(&command.bursts.count()) {
            self.report(command, "number of bursts", None, 0);
        }
        for number in 0..self.sub_ranks.len() {
            let own = if is_column { self.bursts_in(number, &command) } else { 0 };
            let is_meant = command.sub_ranks >> number & 1 == 1;
            if is_column && (own > 0) != is_meant {
                self.report(command, "sub-ranks of the bursts", None, 0);
            }
            if is_meant {
                self.check_row_state(number, command);
                self.check_sub_rank(number, DramCommand { bursts: Bursts::run(own), ..command });
            }
        }
    }

    /// Returns the number of a column command's bursts in sub-rank `number`. Consecutive bursts lie in consecutive sub-ranks.
    fn bursts_in(&self, number: usize, command: &DramCommand) -> u32 {
        let first = command.column / self.config.burst_bytes;
        let sub_rank = |burst: &u32| (first + burst) % self.config.sub_ranks;
        command.bursts.numbers().filter(|burst| sub_rank(burst) == number as u32).count() as u32
    }

    fn check_sub_rank(&mut self, number: usize, command: DramCommand) {
        match command.kind {
            CommandKind::Read | CommandKind::Write => self.check_bursts(number, command),
            _ => self.check_distances(number, command),
        }
    }

    /// Checks that the `n`th refresh comes from `n` times tREFI on, and before `n + 1` times tREFI.
    fn check_refresh_time(&mut self, command: DramCommand) {
        self.refreshes += 1;
        let interval = u64::from(self.config.trefi);
        let due = self.refreshes * interval;
        if !(due..due + interval).contains(&command.cycle) {
            self.report(command, "tREFI", Some(due.min(command.cycle)), interval);
        }
    }

    fn report(&mut self, command: DramCommand, rule: &'static str, since: Option<u64>, needed: u64) {
        if self.violations.len() < MOST_VIOLATIONS {
            self.violations.push(Violation { command, rule, since, needed });
        }
    }

    /// Checks that activates find a closed bank, precharges an open one, and column commands their row open. Updates the open
    /// rows.
    fn check_row_state(&mut self, number: usize, c: DramCommand) {
        let open = &mut self.sub_ranks[number].open;
        let row = open[c.bank as usize];
        let rule = match c.kind {
            CommandKind::Activate => {
                open[c.bank as usize] = Some(c.row);
                row.is_some().then_some("activate of an open bank")
            }
            CommandKind::Precharge => {
                open[c.bank as usize] = None;
                // A precharge names only the bank: sub-ranks may close different rows together.
                row.is_none().then_some("precharge of a closed bank")
            }
            CommandKind::PrechargeAll => {
                open.fill(None);
                None
            }
            CommandKind::Refresh => open.iter().any(Option::is_some).then_some("refresh of an open bank"),
            CommandKind::Read | CommandKind::Write => {
                (row != Some(c.row)).then_some("access to a row that is not open")
            }
        };
        if let Some(rule) = rule {
            self.report(c, rule, None, 0);
        }
    }

    /// Splits a sub-rank's part of a column command into bursts and checks each.
    fn check_bursts(&mut self, number: usize, command: DramCommand) {
        let length = u64::from(burst_length(&self.config));
        let apart = length.max(u64::from(self.config.tccd));
        for n in 0..u64::from(command.bursts.count()) {
            let burst = DramCommand { cycle: command.cycle + n * apart, bursts: Bursts::run(1), ..command };
            self.check_distances(number, burst);
            self.check_bus(number, burst, length);
        }
    }

    /// Compares `c` with every earlier command by the rules for the pair.
    fn check_distances(&mut self, number: usize, c: DramCommand) {
        let recent = &mut self.sub_ranks[number].recent;
        while recent.front().is_some_and(|old| old.cycle + self.horizon < c.cycle) {
            recent.pop_front();
        }
        let mut broken = Vec::new();
        for old in recent.iter() {
            for rule in self.rules.iter().filter(|r| r.from == old.kind && r.to == c.kind) {
                let applies = match rule.scope {
                    BankScope::SameBank => old.bank == c.bank,
                    BankScope::OtherBank => old.bank != c.bank,
                    BankScope::SameGroup => {
                        self.config.bank_group(old.bank) == self.config.bank_group(c.bank)
                    }
                    BankScope::Channel => true,
                };
                if applies && c.cycle < old.cycle + rule.cycles {
                    broken.push((rule.name, old.cycle.min(c.cycle), rule.cycles));
                }
            }
        }
        recent.push_back(c);
        for (name, since, needed) in broken {
            self.report(c, name, Some(since), needed);
        }
    }

    /// Checks that the data bus carries one burst at a time. Between the data of a read and of a write lies an idle cycle, unless
    /// the configuration sets tRTW.
    fn check_bus(&mut self, number: usize, burst: DramCommand, length: u64) {
        let write = burst.kind == CommandKind::Write;
        let delay = if write { self.config.tcwl } else { self.config.tcl };
        let start = burst.cycle + u64::from(delay);
        let new = Transfer { start, end: start + length, write };
        let transfers = &mut self.sub_ranks[number].transfers;
        let clash = transfers.iter().any(|old| new.start < old.end && old.start < new.end);
        let turns = self.config.trtw == 0 && write;
        let close = transfers.iter().any(|old| turns && !old.write && new.start == old.end);
        transfers.push_back(new);
        if transfers.len() > 64 {
            transfers.pop_front();
        }
        if clash {
            self.report(burst, "data bus overlap", None, 0);
        } else if close {
            self.report(burst, "bus turn-around", None, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CommandKind::{Activate, Precharge, PrechargeAll, Read, Refresh, Write};
    use super::*;
    use crate::config::GpuConfig;

    fn dram() -> DramConfig {
        GpuConfig::load("gtx480").expect("built in").dram
    }

    /// Checks commands of (cycle, kind, bank, row, bursts) and returns the names of the violated rules.
    fn judge(commands: &[(u64, CommandKind, u32, u64, u32)]) -> Vec<&'static str> {
        judge_on(&dram(), commands)
    }

    /// Checks commands as [`judge`] does, for a given configuration. All commands go to sub-rank 0.
    fn judge_on(config: &DramConfig, commands: &[(u64, CommandKind, u32, u64, u32)]) -> Vec<&'static str> {
        let mut checker = CommandChecker::new(config, 4);
        for &(cycle, kind, bank, row, bursts) in commands {
            checker.observe(DramCommand {
                cycle,
                kind,
                sub_ranks: 1,
                bank,
                row,
                column: 0,
                bursts: Bursts::run(bursts),
            });
        }
        checker.violations().iter().map(|v| v.rule).collect()
    }

    #[test]
    fn a_legal_sequence_passes() {
        // gtx480: tRCD 12, tRRD 6, tRAS 28, tRP 12, tRC 40, tCL 12, tCWL 4, tWR 12, tRTP 2, tCDLR 5.
        let legal = [
            (0, Activate, 0, 7, 0),
            (6, Activate, 1, 3, 0),
            (12, Read, 0, 7, 4),
            (18, Read, 1, 3, 1),
            (28, Precharge, 0, 7, 0),
            (29, Write, 1, 3, 2), // read data ends 31, write data starts 33
            (40, Activate, 0, 8, 0),
            (51, Precharge, 1, 3, 0), // 29 + 4 + 1 + 1 + 12 = 47
            (52, Read, 0, 8, 4),
        ];
        assert_eq!(judge(&legal), [""; 0]);
    }

    /// A violation by one cycle must be found, and an exactly met distance must pass.
    #[test]
    fn each_rule_is_exact() {
        type Planted = (&'static str, Vec<(u64, CommandKind, u32, u64, u32)>);
        let cases: Vec<Planted> = vec![
            ("tRCD", vec![(0, Activate, 0, 1, 0), (12, Read, 0, 1, 1)]),
            ("tRCD", vec![(0, Activate, 0, 1, 0), (12, Write, 0, 1, 1)]),
            ("tRAS", vec![(0, Activate, 0, 1, 0), (28, Precharge, 0, 1, 0)]),
            ("tRRD", vec![(0, Activate, 0, 1, 0), (6, Activate, 1, 1, 0)]),
            ("tRP", vec![(0, Activate, 0, 1, 0), (40, Precharge, 0, 1, 0), (52, Activate, 0, 2, 0)]),
            ("tRC", vec![(0, Activate, 0, 1, 0), (28, Precharge, 0, 1, 0), (40, Activate, 0, 2, 0)]),
            ("tRTP", vec![(0, Activate, 0, 1, 0), (40, Read, 0, 1, 4), (45, Precharge, 0, 1, 0)]),
            ("tWR", vec![(0, Activate, 0, 1, 0), (40, Write, 0, 1, 4), (60, Precharge, 0, 1, 0)]),
            ("tCDLR", vec![(0, Activate, 0, 1, 0), (12, Write, 0, 1, 1), (22, Read, 0, 1, 1)]),
            ("tCCD", vec![(0, Activate, 0, 1, 0), (12, Read, 0, 1, 4), (16, Read, 0, 1, 1)]),
            ("tCCD", vec![(0, Activate, 0, 1, 0), (12, Write, 0, 1, 4), (16, Write, 0, 1, 1)]),
            // Read data occupies cycle 24. After an idle cycle, write data may begin in cycle 26, so the write may be issued in
            // cycle 22.
            ("bus turn-around", vec![(0, Activate, 0, 1, 0), (12, Read, 0, 1, 1), (22, Write, 0, 1, 1)]),
        ];
        for (rule, mut commands) in cases {
            assert_eq!(judge(&commands), [""; 0], "{rule} kept exactly");
            commands.last_mut().expect("not empty").0 -= 1;
            let found = judge(&commands);
            assert!(found.contains(&rule), "{rule} missed by one cycle: found {found:?}");
        }
    }

    #[test]
    fn refreshes_have_their_times_and_closed_banks() {
        let config = DramConfig { trefi: 1000, trfc: 60, ..dram() };
        let open = (960, Activate, 0, 1, 0);
        let legal = [open, (990, PrechargeAll, 0, 0, 0), (1002, Refresh, 0, 0, 0), (1062, Activate, 0, 2, 0)];
        assert_eq!(judge_on(&config, &legal), [""; 0]);
        for (at, cycle, rule) in [(1, 987, "tRAS"), (2, 1001, "tRP"), (3, 1061, "tRFC")] {
            let mut commands = legal;
            commands[at].0 = cycle;
            assert_eq!(judge_on(&config, &commands), [rule]);
        }
        assert_eq!(judge_on(&config, &[open, (1010, Refresh, 0, 0, 0)]), ["refresh of an open bank"]);
        assert_eq!(judge_on(&config, &[(999, Refresh, 0, 0, 0)]), ["tREFI"], "too early");
        assert_eq!(judge_on(&config, &[(2000, Refresh, 0, 0, 0)]), ["tREFI"], "too late");
    }

    #[test]
    fn each_sub_rank_has_rows_and_a_bus_of_its_own_under_one_command_bus() {
        let config = DramConfig { sub_ranks: 2, ..dram() };
        let judge = |commands: &[(u64, CommandKind, u64, u64, u32, u32)]| {
            let mut checker = CommandChecker::new(&config, 4);
            for &(cycle, kind, sub_ranks, row, column, bursts) in commands {
                checker.observe(DramCommand {
                    cycle,
                    kind,
                    sub_ranks,
                    bank: 0,
                    row,
                    column,
                    bursts: Bursts::run(bursts),
                });
            }
            checker.violations().iter().map(|v| v.rule).collect::<Vec<_>>()
        };
        let rows = [(0, Activate, 1, 1, 0, 0), (1, Activate, 2, 2, 0, 0)];
        let read = |first: (u64, u64), second: (u64, u64, u32)| {
            let second = (second.0, Read, second.1, 2, second.2, 1);
            judge(&[rows[0], rows[1], (first.0, Read, first.1, 1, 0, 1), second])
        };
        // A burst takes two cycles of one half of the bus. The other half can transfer a burst that begins one cycle later.
        assert_eq!(read((13, 1), (14, 2, 32)), [""; 0]);
        assert_eq!(read((13, 1), (13, 2, 32)), ["one command per cycle"]);
        assert_eq!(
            read((13, 1), (14, 1, 32)),
            ["sub-ranks of the bursts", "access to a row that is not open", "sub-ranks of the bursts"]
        );
        let two = |cycle| judge(&[rows[0], (12, Read, 1, 1, 0, 1), (cycle, Read, 1, 1, 64, 1)]);
        assert_eq!((two(14), two(13)), (vec![], vec!["data bus overlap"]));
        let whole = [(0, Activate, 3, 1, 0, 0), (12, Read, 3, 1, 0, 4), (16, Read, 3, 1, 128, 3)];
        assert_eq!(judge(&whole), [""; 0]);
    }

    #[test]
    fn wrong_rows_and_crowded_command_slots_are_found() {
        let open = (0, Activate, 0, 1, 0);
        let only = |found: Vec<&'static str>, rule| assert_eq!(found, [rule]);
        only(judge(&[open, (40, Activate, 0, 2, 0)]), "activate of an open bank");
        only(judge(&[(0, Precharge, 0, 1, 0)]), "precharge of a closed bank");
        only(judge(&[open, (12, Read, 0, 2, 1)]), "access to a row that is not open");
        only(judge(&[open, (12, Write, 1, 1, 1)]), "access to a row that is not open");
        only(judge(&[open, (12, Read, 0, 1, 5)]), "number of bursts");
        only(judge(&[open, (20, Activate, 1, 1, 0), (20, Read, 0, 1, 1)]), "one command per cycle");
        assert!(judge(&[open, (12, Read, 0, 1, 1), (20, Write, 0, 1, 1)]).contains(&"data bus overlap"));
    }

    #[test]
    fn a_violation_reads_as_one_line() {
        let mut checker = CommandChecker::new(&dram(), 4);
        let bursts = Bursts::default();
        let open = DramCommand { cycle: 5, kind: Activate, sub_ranks: 1, bank: 2, row: 9, column: 0, bursts };
        checker.observe(open);
        checker.observe(DramCommand { cycle: 15, kind: Read, bursts: Bursts::run(1), ..open });
        let text = checker.violations()[0].to_string();
        assert_eq!(text, "cycle 15: Read bank 2 row 9: tRCD: 10 cycles after cycle 5, needs 12");
    }
}
