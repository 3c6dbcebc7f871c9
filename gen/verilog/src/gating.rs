//! Plans clock gates: finds the conditions under which registers change, and gates their clocks with these conditions.
//!
//! A register rests in each cycle in which no statement assigns it, or in which only `d = q` does. The simulator does not
//! evaluate such a cycle again ([`Idle`](selvedge_hw::rtl::idle::Idle)). The enable of a gate comes from the same statements:
//!
//! ```text
//! if valid_i {                        assign line_en = valid_i;
//!     line.d.next = line_i.val();     selvedge_clock_gate gate_line (.en_i (line_en), .clk_o (line_clk), ...);
//! }                                   always @(posedge line_clk) ...
//! ```
//!
//! Registers with the same condition share a gate. Registers of single bits share one gate with all others of their module.

use crate::ir::{BinaryOp, ElementRef, Expr, Node, Role, Signal, SignalId, Stmt};
use crate::names;
use crate::schedule::{ModulePlan, Process, whole_copy};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the input that keeps all clocks of a block running ([`EmitOptions::clock_gating`](crate::EmitOptions)).
pub const TEST_ENABLE: &str = "test_en_i";

/// Documentation of that input.
pub(crate) const TEST_ENABLE_DOC: &str = "all clocks run, for scan tests; low in operation";

/// Ports of a clock gate: clock, enable, test enable, gated clock.
pub(crate) const CLOCK_GATE_PORTS: [&str; 4] = ["clk_i", "en_i", TEST_ENABLE, "clk_o"];

/// Number of the clock gate among the modules of a design.
pub(crate) const CLOCK_GATE_MODULE: usize = 0;

/// Min number of single-bit registers that share a gate.
const MIN_POOL: usize = 4;

/// A gated clock of a module.
#[derive(Debug)]
pub(crate) struct ClockGate {
    /// High in each cycle in which a register may change.
    pub enable: SignalId,
    pub clock: SignalId,
    /// The inputs of the registers.
    pub inputs: BTreeSet<SignalId>,
}

/// The condition under which registers change.
#[derive(Debug, PartialEq, Eq)]
enum GateCondition {
    /// Statements in which an assignment to [`CHANGE`] represents a change.
    Statements(Vec<Stmt>),
    /// Numbers of the bodies with assignments in a combinational process.
    Places(usize, Vec<usize>),
}

/// Represents the enable in statements.
const CHANGE: SignalId = SignalId::MAX;

/// Plans the gates of a module. Adds their signals, and the processes that assign their enables.
pub(crate) fn plan_gates(
    plan: &mut ModulePlan,
    signals: &mut Vec<Signal>,
    output_of: &BTreeMap<SignalId, SignalId>,
    taken: BTreeSet<String>,
) {
    let mut groups: Vec<(GateCondition, Vec<SignalId>)> = vec![];
    for (input, output) in output_of {
        let Some(cause) = cause(plan, signals, *input, *output) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, inputs)) => inputs.push(*input),
            None => groups.push((cause, vec![*input])),
        }
    }
    let is_bit = |input: &SignalId| signals[output_of[input]].total() == 1;
    let (bits, words): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|(_, inputs)| inputs.iter().all(is_bit));
    let mut names = GateNames { signals, output_of, taken };
    let mut places: Vec<(usize, Vec<usize>, SignalId)> = vec![];
    let mut add = |plan: &mut ModulePlan, cause, enable| match cause {
        GateCondition::Statements(body) => plan.processes.push(enable_process(body, enable)),
        GateCondition::Places(process, numbers) => places.push((process, numbers, enable)),
    };
    for (cause, inputs) in words {
        let stem = names.stem(&inputs);
        let enable = names.enable(&stem, &inputs);
        add(plan, cause, enable);
        plan.gates.push(ClockGate {
            enable,
            clock: names.clock(&stem),
            inputs: inputs.into_iter().collect(),
        });
    }
    let pool: Vec<SignalId> = bits.iter().flat_map(|(_, inputs)| inputs.clone()).collect();
    if pool.len() >= MIN_POOL {
        let mut any: Option<Expr> = None;
        for (cause, inputs) in bits {
            let stem = names.stem(&inputs);
            let enable = names.enable(&stem, &inputs);
            add(plan, cause, enable);
            any = Some(either(any, read(enable)));
        }
        let enable = names.enable("control", &pool);
        let place = ElementRef { signal: enable, index: None };
        plan.processes.extend(any.map(|value| Process::Assign { comments: vec![], place, value }));
        plan.gates.push(ClockGate {
            enable,
            clock: names.clock("control"),
            inputs: pool.into_iter().collect(),
        });
    }
    for (number, process) in plan.processes.iter_mut().enumerate() {
        let here: Vec<(&[usize], SignalId)> =
            places.iter().filter(|(of, ..)| *of == number).map(|(_, n, enable)| (&n[..], *enable)).collect();
        if let (Process::Comb { body }, false) = (process, here.is_empty()) {
            let old = std::mem::take(body);
            let comments = old.iter().take_while(|s| matches!(s, Stmt::Comment(_))).count();
            *body = with_changes(old, &here, &mut 0);
            let defaults = here.iter().map(|(_, enable)| assignment(*enable, 0));
            body.splice(comments..comments, defaults);
        }
    }
}

/// Adds signals with unique names.
struct GateNames<'a> {
    signals: &'a mut Vec<Signal>,
    output_of: &'a BTreeMap<SignalId, SignalId>,
    taken: BTreeSet<String>,
}

impl GateNames<'_> {
    /// Returns the name of the first register without its suffix.
    fn stem(&self, inputs: &[SignalId]) -> String {
        let name = &self.signals[self.output_of[&inputs[0]]].name;
        name.strip_suffix("_q").unwrap_or(name).to_string()
    }

    fn enable(&mut self, stem: &str, inputs: &[SignalId]) -> SignalId {
        let first = &self.signals[self.output_of[&inputs[0]]].name;
        let doc = match inputs.len() - 1 {
            0 => format!("{first} may change"),
            1 => format!("{first} or another register may change"),
            more => format!("{first} or one of {more} other registers may change"),
        };
        self.add(&format!("{stem}_en"), vec![doc])
    }

    fn clock(&mut self, stem: &str) -> SignalId {
        self.add(&format!("{stem}_clk"), vec![])
    }

    fn add(&mut self, wanted: &str, doc: Vec<String>) -> SignalId {
        let mut names = std::iter::once(wanted.to_string()).chain((2..).map(|n| format!("{wanted}_{n}")));
        let free = |name: &String| !self.taken.contains(name) && !names::is_reserved(name);
        let name = names.find(free).unwrap_or_default();
        self.taken.insert(name.clone());
        self.signals.push(Signal { doc, ..Signal::new(name, 1, Role::Temporary) });
        self.signals.len() - 1
    }
}

fn read(signal: SignalId) -> Expr {
    Expr { width: 1, node: Node::Read(ElementRef { signal, index: None }) }
}

fn assignment(signal: SignalId, value: u8) -> Stmt {
    Stmt::Assign { place: ElementRef { signal, index: None }, field: None, value: Expr::literal(value, 1) }
}

fn is_change(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Assign { place, .. } if place.signal == CHANGE)
}

/// Returns the condition under which a register changes, or `None` if it may change in each cycle.
fn cause(plan: &ModulePlan, signals: &[Signal], input: SignalId, output: SignalId) -> Option<GateCondition> {
    let mut target = input;
    // Follows copies to the process that computes the value.
    loop {
        let mut from = None;
        for (number, process) in plan.processes.iter().enumerate() {
            match process {
                Process::Assign { place, value, .. } if place.signal == target => match &value.node {
                    Node::Read(source) if place.index.is_none() && source.index.is_none() => {
                        from = Some(source.signal);
                    }
                    _ => return None,
                },
                Process::Copy { to, from: source, .. } if *to == target => from = Some(*source),
                Process::Clocked { body } if body.iter().any(|s| s.writes().contains(&target)) => {
                    let own = Stmt::only(body, &|id| id == target);
                    let statements: Vec<&Stmt> =
                        own.iter().filter(|s| !matches!(s, Stmt::Comment(_))).collect();
                    match statements.as_slice() {
                        [one] if copied(one, signals).is_some() => from = copied(one, signals),
                        _ => {
                            let changes = changes(&own, target, output);
                            return (!is_certain(&changes)).then_some(GateCondition::Statements(changes));
                        }
                    }
                }
                Process::Comb { body } if body.iter().any(|s| s.writes().contains(&target)) => {
                    if is_certain(&changes(body, target, output)) {
                        return None;
                    }
                    let mut numbers = vec![];
                    collect_places(body, (target, output), &mut 0, &mut numbers);
                    return Some(GateCondition::Places(number, numbers));
                }
                _ => {}
            }
        }
        target = from?;
    }
}

/// Returns the signal that a statement copies as a whole.
fn copied(statement: &Stmt, signals: &[Signal]) -> Option<SignalId> {
    match statement {
        Stmt::Assign { place, field: None, value } if place.index.is_none() => match &value.node {
            Node::Read(source) if source.index.is_none() => Some(source.signal),
            _ => None,
        },
        _ => whole_copy(statement, signals).map(|(_, from)| from),
    }
}

/// Returns whether the assignment gives a register its own value.
fn is_hold(place: &ElementRef, value: &Expr, output: SignalId) -> bool {
    matches!(&value.node, Node::Read(source) if source.signal == output && source.index == place.index)
}

/// Returns the statements with changes of `target` as assignments to [`CHANGE`], and without all other statements.
fn changes(body: &[Stmt], target: SignalId, output: SignalId) -> Vec<Stmt> {
    let change = || assignment(CHANGE, 1);
    let inner = |body: &[Stmt]| changes(body, target, output);
    let mut kept = vec![];
    for statement in body {
        match statement {
            Stmt::Assign { place, field, value } if place.signal == target => {
                if field.is_some() || !is_hold(place, value, output) {
                    return vec![change()];
                }
            }
            Stmt::Assign { .. } | Stmt::Comment(_) => {}
            Stmt::If { test, then, otherwise } => {
                let (then, otherwise) = (inner(then), inner(otherwise));
                if is_certain(&then) && is_certain(&otherwise) {
                    return vec![change()];
                }
                if !then.is_empty() || !otherwise.is_empty() {
                    kept.push(Stmt::If { test: test.clone(), then, otherwise });
                }
            }
            Stmt::Match { test, arms } => {
                let arms: Vec<_> = arms.iter().map(|(label, body)| (label.clone(), inner(body))).collect();
                if arms.iter().any(|(_, body)| !body.is_empty()) {
                    kept.push(Stmt::Match { test: test.clone(), arms });
                }
            }
            Stmt::Loop { variable, from, to, body } => match inner(body).as_slice() {
                [] => {}
                [one] if is_change(one) && from < to => return vec![change()],
                body => {
                    let (variable, body) = (variable.clone(), body.to_vec());
                    kept.push(Stmt::Loop { variable, from: *from, to: *to, body });
                }
            },
        }
    }
    kept
}

/// Returns whether a change happens in each cycle.
fn is_certain(changes: &[Stmt]) -> bool {
    changes.iter().any(|statement| match statement {
        Stmt::If { then, otherwise, .. } => is_certain(then) && is_certain(otherwise),
        Stmt::Match { arms, .. } => arms.iter().all(|(_, body)| is_certain(body)),
        Stmt::Loop { from, to, body, .. } => from < to && is_certain(body),
        other => is_change(other),
    })
}

/// Appends the numbers of the bodies with an assignment that changes a register. Each body has a number.
fn collect_places(
    body: &[Stmt],
    (target, output): (SignalId, SignalId),
    next: &mut usize,
    found: &mut Vec<usize>,
) {
    let changes = |statement: &Stmt| match statement {
        Stmt::Assign { place, field, value } => {
            place.signal == target && (field.is_some() || !is_hold(place, value, output))
        }
        _ => false,
    };
    if body.iter().any(changes) {
        found.push(*next);
    }
    *next += 1;
    let mut inner = |body: &[Stmt]| collect_places(body, (target, output), next, found);
    for statement in body {
        match statement {
            Stmt::If { then, otherwise, .. } => {
                inner(then);
                inner(otherwise);
            }
            Stmt::Match { arms, .. } => arms.iter().for_each(|(_, body)| inner(body)),
            Stmt::Loop { body, .. } => inner(body),
            Stmt::Assign { .. } | Stmt::Comment(_) => {}
        }
    }
}

/// Returns the statements with an assignment to each enable in the bodies with its numbers.
fn with_changes(body: Vec<Stmt>, enables: &[(&[usize], SignalId)], next: &mut usize) -> Vec<Stmt> {
    let own = *next;
    *next += 1;
    let mut inner = |body| with_changes(body, enables, next);
    let mut out = vec![];
    for statement in body {
        out.push(match statement {
            Stmt::If { test, then, otherwise } => {
                let then = inner(then);
                Stmt::If { test, then, otherwise: inner(otherwise) }
            }
            Stmt::Match { test, arms } => {
                let arms = arms.into_iter().map(|(label, body)| (label, inner(body))).collect();
                Stmt::Match { test, arms }
            }
            Stmt::Loop { variable, from, to, body } => Stmt::Loop { variable, from, to, body: inner(body) },
            other => other,
        });
    }
    let here = enables.iter().filter(|(numbers, _)| numbers.contains(&own));
    out.extend(here.map(|(_, enable)| assignment(*enable, 1)));
    out
}

/// Returns the process that assigns an enable.
fn enable_process(changes: Vec<Stmt>, enable: SignalId) -> Process {
    if let Some(value) = condition(&changes) {
        let place = ElementRef { signal: enable, index: None };
        return Process::Assign { comments: vec![], place, value };
    }
    let body = [assignment(enable, 0)].into_iter().chain(named(changes, enable)).collect();
    Process::Comb { body }
}

/// Returns the statements with the enable instead of [`CHANGE`].
fn named(changes: Vec<Stmt>, enable: SignalId) -> Vec<Stmt> {
    let all = |body| named(body, enable);
    let one = |statement| match statement {
        Stmt::Assign { .. } => assignment(enable, 1),
        Stmt::If { test, then, otherwise } => Stmt::If { test, then: all(then), otherwise: all(otherwise) },
        Stmt::Match { test, arms } => {
            Stmt::Match { test, arms: arms.into_iter().map(|(label, body)| (label, all(body))).collect() }
        }
        Stmt::Loop { variable, from, to, body } => Stmt::Loop { variable, from, to, body: all(body) },
        comment @ Stmt::Comment(_) => comment,
    };
    changes.into_iter().map(one).collect()
}

/// Returns the condition of nested `if` statements; `None` for other statements.
fn condition(changes: &[Stmt]) -> Option<Expr> {
    let mut any = None;
    for statement in changes {
        let Stmt::If { test, then, otherwise } = statement else { return None };
        let is_certain = |body: &[Stmt]| matches!(body, [one] if is_change(one));
        let branch = |test: Expr, body: &[Stmt]| match body {
            body if is_certain(body) => Some(test),
            body => Some(binary(test, BinaryOp::And, condition(body)?)),
        };
        let value = match (then.as_slice(), otherwise.as_slice()) {
            (then, []) => branch(test.clone(), then)?,
            ([], otherwise) => branch(test.clone().negated(), otherwise)?,
            // The test of the other branch is implied.
            (then, otherwise) if is_certain(then) => either(Some(test.clone()), condition(otherwise)?),
            (then, otherwise) => {
                either(Some(branch(test.clone(), then)?), branch(test.clone().negated(), otherwise)?)
            }
        };
        any = Some(either(any, value));
    }
    any
}

fn either(a: Option<Expr>, b: Expr) -> Expr {
    match a {
        Some(a) => binary(a, BinaryOp::Or, b),
        None => b,
    }
}

fn binary(a: Expr, op: BinaryOp, b: Expr) -> Expr {
    Expr { width: 1, node: Node::Binary(Box::new(a), op, Box::new(b)) }
}
