//! Waveforms: recorded values of the ports and registers of block instances, written in the format of a [`Sink`].
use crate::clock::Clock;
use crate::ports::{Direction, Port};
use crate::rtl::layout::PortField;
use crate::rtl::registers::Register;
use crate::value_names::ValueNames;
use crate::vcd::Vcd;
use crate::wave_event::{EventRow, WaveEvent};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// Name of the scope that contains all others.
pub const ROOT: &str = "selvedge";

/// The values of one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleSample {
    /// Number of the cycle.
    pub cycle: u64,
    /// `true` if `rst_ni` was low.
    pub reset: bool,
    /// Little-endian words of every port, in the order of [`Trace::ports`].
    pub values: Vec<Vec<u64>>,
    /// Little-endian words of every register before the edge that ends the cycle, in the order of [`Trace::registers`].
    pub registers: Vec<Vec<u64>>,
}

/// The history of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Instance name. Its dots become nested scopes ("sm0.milg").
    pub instance: String,
    /// Its clock. The values of cycle `c` are shown from [`Clock::rise`] of `c` on, where `clk_i` rises.
    pub clock: Clock,
    /// The recorded ports.
    pub ports: Vec<Port>,
    /// Names of the ports' values.
    pub names: &'static [ValueNames],
    /// Events at the ports.
    pub events: &'static [WaveEvent],
    /// Names of ports with fields, and the fields.
    pub fields: Vec<(&'static str, Vec<PortField>)>,
    /// The recorded registers; empty unless they were requested.
    pub registers: Vec<Register>,
    /// `true` if the clock stays low in a cycle without a sample. The outputs are unknown then.
    pub is_gated: bool,
    /// Samples with increasing cycle numbers. In a cycle without a sample the values do not change.
    pub samples: Vec<CycleSample>,
}

impl Trace {
    /// Returns the fields of a port, from bit 0 up; none unless it has a layout.
    pub fn fields_of(&self, port: &str) -> &[PortField] {
        self.fields.iter().find(|(name, _)| *name == port).map_or(&[], |(_, fields)| fields)
    }
}

/// Returns the name of the scope with the fields of a port.
pub fn fields_scope(port: &str) -> String {
    format!("{port}_fields")
}

/// The kind of a variable of a waveform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// A number that is not a signal: the number of the cycle.
    Number,
    /// Text of 8 bits per character.
    Text,
    /// A port into the block.
    Input,
    /// A port out of the block.
    Output,
    /// A register within the block.
    Register,
}

/// A variable of a waveform.
#[derive(Clone, Copy, Debug)]
pub struct WaveVariable<'a> {
    /// Name in its scope.
    pub name: &'a str,
    /// Width in bits.
    pub bits: usize,
    /// The kind of the variable.
    pub kind: VariableKind,
    /// The meaning, or an empty text.
    pub doc: &'a str,
}

/// A format of waveforms. Calls come in this order: scopes and variables, [`Sink::begin`], times and changes, and
/// [`Sink::finish`].
pub trait Sink {
    /// The identifier of a variable.
    type Id: Copy;
    /// The result of the finished waveform.
    type Output;
    /// Opens a scope within the present one.
    ///
    /// # Errors
    /// The errors of the writer, here and in the other functions.
    fn open(&mut self, scope: &str) -> io::Result<()>;
    /// Closes the present scope.
    ///
    /// # Errors
    /// See [`Sink::open`].
    fn close(&mut self) -> io::Result<()>;
    /// Declares a variable in the present scope.
    ///
    /// # Errors
    /// See [`Sink::open`].
    fn variable(&mut self, variable: &WaveVariable<'_>) -> io::Result<Self::Id>;
    /// Ends the declarations.
    ///
    /// # Errors
    /// See [`Sink::open`].
    fn begin(&mut self) -> io::Result<()>;
    /// Moves forward in time.
    ///
    /// # Errors
    /// See [`Sink::open`].
    fn time(&mut self, ps: u64) -> io::Result<()>;
    /// Changes a variable. `bits` are `0`, `1` and `x`, the highest first.
    ///
    /// # Errors
    /// See [`Sink::open`].
    fn change(&mut self, id: Self::Id, bits: &[u8]) -> io::Result<()>;
    /// Changes a variable of the kind [`VariableKind::Text`]. `text` has no blanks.
    ///
    /// # Errors
    /// See [`Sink::open`].
    fn text(&mut self, id: Self::Id, text: &str) -> io::Result<()>;
    /// Ends the waveform.
    ///
    /// # Errors
    /// See [`Sink::open`].
    fn finish(self) -> io::Result<Self::Output>;
}

/// The variables of one trace.
struct Variables<'a, Id> {
    clock: Id,
    reset: Id,
    ports: Vec<Id>,
    /// Fields of ports, with the index of the port and the variable.
    fields: Vec<(usize, &'a PortField, Id)>,
    rows: Vec<Id>,
    registers: Vec<Id>,
}

/// Returns the name of the variable in [`ROOT`] with the number of a clock's cycle: `cycle`, or `core_cycle` if the traces have
/// several clocks.
pub fn cycle_variable(traces: &[Trace], clock: Clock) -> String {
    match clocks(traces).len() {
        0 | 1 => "cycle".into(),
        _ => format!("{}_cycle", clock.domain),
    }
}

/// Returns every clock of the traces once, in the order of their first traces.
pub fn clocks(traces: &[Trace]) -> Vec<Clock> {
    let mut clocks: Vec<Clock> = Vec::new();
    for trace in traces {
        if !clocks.contains(&trace.clock) {
            clocks.push(trace.clock);
        }
    }
    clocks
}

/// Writes the traces as VCD text. Each instance has `clk_i`, `rst_ni`, every port, the fields of ports with a layout, a row of text
/// per event, and every register. The root scope has the number of the cycle.
///
/// # Errors
/// The errors of the writer.
pub fn write_vcd(out: impl Write, traces: &[Trace]) -> io::Result<()> {
    write(Vcd::new(out)?, traces)
}

/// Writes the traces in the format of `sink`.
///
/// # Errors
/// The errors of the writer.
pub fn write<S: Sink>(mut sink: S, traces: &[Trace]) -> io::Result<S::Output> {
    sink.open(ROOT)?;
    let mut domains = Vec::new();
    for clock in clocks(traces) {
        let name = cycle_variable(traces, clock);
        let doc = format!("number of the cycle of the clock of {} MHz", clock.mhz);
        let variable = WaveVariable { name: &name, bits: 64, kind: VariableKind::Number, doc: &doc };
        domains.push(Domain {
            clock,
            id: sink.variable(&variable)?,
            members: Vec::new(),
            next: None,
            last: 0,
        });
    }
    let mut members = declare(&mut sink, traces)?;
    sink.close()?;
    sink.begin()?;
    for domain in &mut domains {
        let (own, others) = members.into_iter().partition(|member| member.trace.clock == domain.clock);
        (domain.members, members) = (own, others);
        domain.span();
    }
    // Every clock runs from the beginning to the end of the waveform, even while none of its instances is recorded.
    let recorded = || domains.iter().filter(|domain| !domain.is_empty());
    let begin = recorded().filter_map(Domain::next_edge).min();
    let end = recorded().map(Domain::end).max();
    if let (Some(begin), Some(end)) = (begin, end) {
        domains.iter_mut().for_each(|domain| domain.widen(begin, end));
    }
    let mut now = None;
    // Take the earliest edge; of simultaneous edges, that of the clock that was declared first.
    while let Some((time, domain)) = domains
        .iter_mut()
        .filter_map(|domain| Some((domain.next_edge()?, domain)))
        .min_by_key(|(time, _)| *time)
    {
        if now != Some(time) {
            sink.time(time)?;
            now = Some(time);
        }
        domain.edge(&mut sink)?;
    }
    sink.time(end.unwrap_or(0))?;
    sink.finish()
}

/// A trace and the state of its output.
struct TraceWriter<'a, Id> {
    trace: &'a Trace,
    rows: Vec<EventRow<'a>>,
    variables: Variables<'a, Id>,
    /// Index of the next sample.
    next: usize,
    /// Level of its clock; none before the first edge.
    level: Option<bool>,
}

/// A clock and the traces of its instances.
struct Domain<'a, Id> {
    clock: Clock,
    /// Variable with the number of the cycle.
    id: Id,
    members: Vec<TraceWriter<'a, Id>>,
    /// The next cycle, and `true` if its rising edge is past; none after the last cycle.
    next: Option<(u64, bool)>,
    last: u64,
}

impl<Id: Copy> Domain<'_, Id> {
    fn is_empty(&self) -> bool {
        self.members.iter().all(|member| member.trace.samples.is_empty())
    }

    /// Sets the first and the last cycle from the samples.
    fn span(&mut self) {
        let samples = || self.members.iter().flat_map(|member| &member.trace.samples);
        let cycles = || samples().map(|sample| sample.cycle);
        self.next = cycles().min().map(|first| (first, false));
        self.last = cycles().max().unwrap_or(0);
    }

    /// Extends the cycles to all that begin at or after `begin` and end at or before `end`.
    fn widen(&mut self, begin: u64, end: u64) {
        let first = self.clock.cycle_at(begin);
        let first = if self.clock.rise(first) < begin { first + 1 } else { first };
        self.last = self.clock.cycle_at(end).saturating_sub(1);
        self.next = (first <= self.last).then_some((first, false));
    }

    /// Returns the time of the next edge.
    fn next_edge(&self) -> Option<u64> {
        let (cycle, is_risen) = self.next?;
        Some(if is_risen { self.clock.fall(cycle) } else { self.clock.rise(cycle) })
    }

    /// Returns the time at which the last cycle ends.
    fn end(&self) -> u64 {
        self.clock.rise(self.last + 1)
    }

    /// Writes the changes at the next edge, and advances to the edge after it.
    fn edge<S: Sink<Id = Id>>(&mut self, sink: &mut S) -> io::Result<()> {
        let Some((cycle, is_risen)) = self.next else { return Ok(()) };
        if is_risen {
            for member in self.members.iter_mut().filter(|member| member.level == Some(true)) {
                sink.change(member.variables.clock, b"0")?;
                member.level = Some(false);
            }
            self.next = (cycle < self.last).then_some((cycle + 1, false));
            return Ok(());
        }
        sink.change(self.id, &bits(&[cycle], 64))?;
        for member in &mut self.members {
            member.rise(cycle, sink)?;
        }
        self.next = Some((cycle, true));
        Ok(())
    }
}

impl<Id: Copy> TraceWriter<'_, Id> {
    /// Writes the changes at the beginning of `cycle`.
    fn rise<S: Sink<Id = Id>>(&mut self, cycle: u64, sink: &mut S) -> io::Result<()> {
        let samples = &self.trace.samples;
        let earlier = self.next.checked_sub(1).map(|index| &samples[index]);
        match samples.get(self.next).filter(|sample| sample.cycle == cycle) {
            Some(sample) => {
                sink.change(self.variables.clock, b"1")?;
                self.change(earlier, sample, sink)?;
                self.level = Some(true);
                self.next += 1;
            }
            None if !self.trace.is_gated => {
                sink.change(self.variables.clock, b"1")?;
                self.level = Some(true);
            }
            None if self.level.is_none() => {
                sink.change(self.variables.clock, b"0")?;
                self.level = Some(false);
            }
            None => {}
        }
        Ok(())
    }

    fn change<S: Sink<Id = Id>>(
        &self,
        earlier: Option<&CycleSample>,
        sample: &CycleSample,
        sink: &mut S,
    ) -> io::Result<()> {
        let variables = &self.variables;
        if earlier.is_none_or(|earlier| earlier.reset != sample.reset) {
            sink.change(variables.reset, if sample.reset { b"0" } else { b"1" })?;
        }
        for (index, port) in self.trace.ports.iter().enumerate() {
            // Outputs are not sampled in reset, so they are unknown.
            let is_unknown = |sample: &CycleSample| sample.reset && port.direction == Direction::Output;
            let shown = |words: &[u64], width| match is_unknown(sample) {
                true => vec![b'x'; width],
                false => bits(words, width),
            };
            let words = &sample.values[index];
            let before =
                earlier.filter(|earlier| earlier.reset == sample.reset).map(|one| &one.values[index]);
            if before.is_some_and(|before| is_unknown(sample) || before == words) {
                continue;
            }
            sink.change(variables.ports[index], &shown(words, port.bits))?;
            for (_, field, id) in variables.fields.iter().filter(|(at, ..)| *at == index) {
                let value = field.of(words);
                if before.is_none_or(|before| field.of(before) != value) {
                    sink.change(*id, &shown(&value, field.bits))?;
                }
            }
        }
        for (row, id) in self.rows.iter().zip(&variables.rows) {
            let text = row.text(sample);
            if earlier.is_none_or(|earlier| row.text(earlier) != text) {
                sink.text(*id, &text)?;
            }
        }
        for (index, register) in self.trace.registers.iter().enumerate() {
            let words = &sample.registers[index];
            if earlier.is_none_or(|earlier| earlier.registers[index] != *words) {
                sink.change(variables.registers[index], &bits(words, register.bits))?;
            }
        }
        Ok(())
    }
}

/// Writes the traces to a VCD file atomically: the text goes to a file next to it, which is then renamed.
///
/// # Errors
/// If the file cannot be created, written or renamed.
pub fn write_vcd_file(path: &Path, traces: &[Trace]) -> io::Result<()> {
    let mut text = Vec::new();
    write_vcd(&mut text, traces)?;
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let written = std::fs::write(&partial, &text).and_then(|()| std::fs::rename(&partial, path));
    if written.is_err() {
        // Ignore an error of the removal: the first error is the one to report.
        let _ = std::fs::remove_file(&partial);
    }
    written
}

/// The open scopes within [`ROOT`].
#[derive(Default)]
struct Scopes(Vec<String>);

impl Scopes {
    /// Closes and opens scopes to enter `path`. If paths come in sorted order, each scope is opened once.
    fn enter<S: Sink>(&mut self, path: &[String], sink: &mut S) -> io::Result<()> {
        let shared = self.0.iter().zip(path).take_while(|(a, b)| a == b).count();
        for _ in shared..self.0.len() {
            sink.close()?;
        }
        for scope in &path[shared..] {
            sink.open(scope)?;
        }
        self.0 = path.to_vec();
        Ok(())
    }
}

/// Declares the variables of every trace. Instances whose names begin with the same parts share scopes.
fn declare<'a, S: Sink>(sink: &mut S, traces: &'a [Trace]) -> io::Result<Vec<TraceWriter<'a, S::Id>>> {
    let mut scopes = Scopes::default();
    let path = |trace: &Trace| trace.instance.split('.').map(String::from).collect::<Vec<_>>();
    let mut by_name: Vec<usize> = (0..traces.len()).collect();
    by_name.sort_by_key(|index| path(&traces[*index]));
    let mut declared = BTreeMap::new();
    for index in by_name {
        let trace = &traces[index];
        let path = path(trace);
        scopes.enter(&path, sink)?;
        let mut input =
            |name, doc: &str| sink.variable(&WaveVariable { name, bits: 1, kind: VariableKind::Input, doc });
        let clock = input("clk_i", &format!("clock, {} MHz", trace.clock.mhz))?;
        let reset = input("rst_ni", "reset, active low")?;
        let mut ports = Vec::new();
        for port in &trace.ports {
            ports.push(sink.variable(&WaveVariable {
                name: port.name,
                bits: port.bits,
                kind: kind(port),
                doc: port.doc,
            })?);
        }
        let rows = EventRow::of(trace);
        let mut texts = Vec::new();
        for row in &rows {
            texts.push(sink.variable(&WaveVariable {
                name: row.event.name,
                bits: 8 * row.width(),
                kind: VariableKind::Text,
                doc: &row.doc(),
            })?);
        }
        let mut fields = Vec::new();
        for (index, port) in trace.ports.iter().enumerate() {
            for field in trace.fields_of(port.name) {
                scopes.enter(&[&path[..], &[fields_scope(port.name)]].concat(), sink)?;
                let variable =
                    WaveVariable { name: &field.name, bits: field.bits, kind: kind(port), doc: "" };
                fields.push((index, field, sink.variable(&variable)?));
            }
        }
        let mut by_scope: Vec<usize> = (0..trace.registers.len()).collect();
        by_scope.sort_by_key(|at| &trace.registers[*at].scope);
        let mut registers = BTreeMap::new();
        for at in by_scope {
            let Register { scope, name, bits, doc, .. } = &trace.registers[at];
            scopes.enter(&[&path[..], scope].concat(), sink)?;
            registers.insert(
                at,
                sink.variable(&WaveVariable { name, bits: *bits, kind: VariableKind::Register, doc })?,
            );
        }
        let registers = registers.into_values().collect();
        let variables = Variables { clock, reset, ports, fields, rows: texts, registers };
        declared.insert(index, TraceWriter { trace, rows, variables, next: 0, level: None });
    }
    scopes.enter(&[], sink)?;
    Ok(declared.into_values().collect())
}

fn kind(port: &Port) -> VariableKind {
    match port.direction {
        Direction::Input => VariableKind::Input,
        Direction::Output => VariableKind::Output,
    }
}

/// Returns the bits of a value as text, the highest first.
fn bits(words: &[u64], bits: usize) -> Vec<u8> {
    (0..bits).rev().map(|bit| b'0' + (words[bit / 64] >> (bit % 64) & 1) as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn trace(instance: &str, samples: Vec<CycleSample>) -> Trace {
        let port = |name, bits, direction| Port { name, bits, direction, doc: "what it is", valid: None };
        let ports = vec![port("a_i", 1, Direction::Input), port("line_o", 70, Direction::Output)];
        let clock = Clock::default();
        let (instance, registers) = (instance.to_string(), Vec::new());
        let (names, events, fields) = (&[], &[], Vec::new());
        Trace { instance, clock, is_gated: true, ports, names, events, fields, registers, samples }
    }

    fn sample(cycle: u64, a: u64, line: [u64; 2]) -> CycleSample {
        CycleSample { cycle, reset: false, values: vec![vec![a], line.to_vec()], registers: Vec::new() }
    }

    /// Returns the value of a variable at each of its changes, as text with the highest bit first.
    fn history(text: &[u8], path: &[&str]) -> Vec<(u64, String)> {
        let mut parser = vcd::Parser::new(BufReader::new(text));
        let header = parser.parse_header().unwrap();
        let wanted = header.find_var(path).unwrap().code;
        let mut time = 0;
        let mut changes = Vec::new();
        for command in parser {
            match command.unwrap() {
                vcd::Command::Timestamp(now) => time = now,
                vcd::Command::ChangeVector(code, value) if code == wanted => {
                    changes.push((time, value.to_string()))
                }
                vcd::Command::ChangeScalar(code, value) if code == wanted => {
                    changes.push((time, value.to_string()))
                }
                _ => {}
            }
        }
        changes
    }

    #[test]
    fn values_show_from_the_start_of_their_cycle_and_only_when_they_change() {
        let samples = vec![sample(3, 1, [5, 0]), sample(4, 1, [5, 0x21]), sample(6, 0, [5, 0x21])];
        let mut text = Vec::new();
        write_vcd(&mut text, &[trace("sm0.milg", samples)]).unwrap();
        let line = history(&text, &["selvedge", "sm0", "milg", "line_o"]);
        let bits = |high: u64, low: u64| format!("{high:06b}{low:064b}");
        assert_eq!(line, [(3000, bits(0, 5)), (4000, bits(0x21, 5))]);
        assert_eq!(
            history(&text, &["selvedge", "sm0", "milg", "a_i"]),
            [(3000, "1".into()), (6000, "0".into())]
        );
        let clock = history(&text, &["selvedge", "sm0", "milg", "clk_i"]);
        assert_eq!(
            clock.iter().filter(|(_, level)| level == "1").map(|(time, _)| *time).collect::<Vec<_>>(),
            [3000, 4000, 6000],
            "in cycle 5 it is not clocked"
        );
    }

    #[test]
    fn the_clock_goes_on_while_values_stay() {
        let running = |instance, samples| Trace { is_gated: false, ..trace(instance, samples) };
        let traces = [
            running("a", vec![sample(1, 1, [7, 0]), sample(4, 0, [7, 0])]),
            running("b", vec![sample(3, 1, [0, 0])]),
        ];
        let mut text = Vec::new();
        write_vcd(&mut text, &traces).unwrap();
        for instance in ["a", "b"] {
            let clock = history(&text, &["selvedge", instance, "clk_i"]);
            let rises = clock.iter().filter(|(_, level)| level == "1").map(|(time, _)| *time);
            assert_eq!(rises.collect::<Vec<_>>(), [1000, 2000, 3000, 4000], "{instance}");
        }
        assert_eq!(
            history(&text, &["selvedge", "a", "a_i"]),
            [(1000, "1".into()), (4000, "0".into())],
            "it is high for three cycles"
        );
    }

    #[test]
    fn outputs_in_reset_are_unknown_and_return_after_it() {
        let reset =
            CycleSample { cycle: 1, reset: true, values: vec![vec![0], vec![0, 0]], registers: Vec::new() };
        let mut text = Vec::new();
        let samples = vec![sample(0, 0, [9, 0]), reset, sample(2, 0, [9, 0])];
        write_vcd(&mut text, &[trace("c", samples)]).unwrap();
        let line: Vec<_> = history(&text, &["selvedge", "c", "line_o"]);
        assert_eq!(line.len(), 3);
        assert!(line[1].0 == 1000 && line[1].1.contains('x') && line[2].1.ends_with("1001"), "{line:?}");
        assert_eq!(
            history(&text, &["selvedge", "c", "rst_ni"]),
            [(0, "1".into()), (1000, "0".into()), (2000, "1".into())]
        );
    }

    #[test]
    fn several_instances_share_the_time() {
        let traces = [trace("a", vec![sample(0, 1, [0, 0])]), trace("b", vec![sample(2, 1, [0, 0])])];
        let mut text = Vec::new();
        write_vcd(&mut text, &traces).unwrap();
        assert_eq!(history(&text, &["selvedge", "a", "a_i"]), [(0, "1".into())]);
        assert_eq!(history(&text, &["selvedge", "b", "a_i"]), [(2000, "1".into())]);
        assert_eq!(history(&text, &["selvedge", "cycle"]).len(), 3);
    }

    #[test]
    fn instances_of_two_clocks_keep_their_own_periods() {
        let (core, l2) = (Clock { domain: "core", mhz: 1400 }, Clock { domain: "l2", mhz: 700 });
        let samples = |first| vec![sample(first, 0, [1, 0]), sample(first + 1, 1, [2, 0])];
        let traces = [
            Trace { clock: core, ..trace("sm0.a", samples(10)) },
            Trace { clock: l2, ..trace("l2.b", samples(5)) },
        ];
        let mut text = Vec::new();
        write_vcd(&mut text, &traces).unwrap();
        let rises = |instance: &[&str]| {
            let clock = history(&text, &[&["selvedge"], instance, &["clk_i"]].concat());
            clock.into_iter().filter(|(_, level)| level == "1").map(|(time, _)| time).collect::<Vec<_>>()
        };
        assert_eq!(rises(&["sm0", "a"]), [7142, 7857]);
        assert_eq!(rises(&["l2", "b"]), [7142, 8571]);
        assert_eq!(history(&text, &["selvedge", "l2", "b", "a_i"]), [(7142, "0".into()), (8571, "1".into())]);
        let number =
            |name| history(&text, &["selvedge", name]).into_iter().map(|(time, _)| time).collect::<Vec<_>>();
        assert_eq!(
            (number("core_cycle"), number("l2_cycle")),
            (vec![7142, 7857, 8571, 9285], vec![7142, 8571])
        );
        let text = String::from_utf8(text).unwrap();
        let times: Vec<u64> = text.lines().filter_map(|line| line.strip_prefix('#')?.parse().ok()).collect();
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
        assert_eq!(times.last(), Some(&10_000), "the last cycle is shown whole");
    }

    #[test]
    fn a_port_is_described_and_a_register_stands_in_its_scope() {
        let mut one = trace("c", vec![sample(0, 0, [9, 0]), sample(1, 0, [9, 0])]);
        let register = |scope: &[&str], name: &str| Register {
            scope: scope.iter().map(ToString::to_string).collect(),
            name: name.into(),
            bits: 3,
            what: String::new(),
            values: Vec::new(),
            doc: "what waits $end".into(),
        };
        one.registers = vec![register(&["in"], "x_q"), register(&[], "y_q"), register(&["in"], "z_q")];
        one.samples[0].registers = vec![vec![1], vec![2], vec![3]];
        one.samples[1].registers = vec![vec![1], vec![2], vec![4]];
        let mut text = Vec::new();
        write_vcd(&mut text, &[one]).unwrap();
        assert_eq!(history(&text, &["selvedge", "c", "in", "x_q"]), [(0, "001".into())]);
        assert_eq!(history(&text, &["selvedge", "c", "y_q"]), [(0, "010".into())]);
        assert_eq!(
            history(&text, &["selvedge", "c", "in", "z_q"]),
            [(0, "011".into()), (1000, "100".into())]
        );
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("$comment\n    a_i: what it is\n$end"), "{text}");
        assert!(text.contains("z_q: what waits end\n$end"), "{text}");
        assert_eq!(text.matches("$scope module in ").count(), 1);
    }

    #[test]
    fn an_unwritable_file_leaves_nothing_behind() {
        let path = std::env::temp_dir().join("selvedge-no-such-folder").join("x.vcd");
        assert!(write_vcd_file(&path, &[]).is_err());
        assert!(!path.exists());
    }
}
