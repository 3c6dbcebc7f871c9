//! Sorts the statements of a block into processes as in hand-written Verilog: `assign`s, wires of sub-blocks, combinational
//! `always` blocks, and clocked blocks.
//!
//! A statement may have its own process if it reads only final values: no later statement assigns a signal that it reads.
//! Statements that assign the same signal stay together, in order.

use crate::clean::without_dead_stores;
use crate::eval;
use crate::gating::ClockGate;
use crate::ir::{ElementRef, Expr, Index, Node, Role, Signal, SignalId, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// A process of the module.
#[derive(Debug)]
pub(crate) enum Process {
    /// A continuous assignment of a complete signal or of one element.
    Assign { comments: Vec<String>, place: ElementRef, value: Expr },
    /// A continuous assignment of an array to an array of the same shape.
    Copy { comments: Vec<String>, to: SignalId, from: SignalId },
    /// Constant values for all elements of a signal.
    Constant { comments: Vec<String>, signal: SignalId, values: Vec<num_bigint::BigUint> },
    /// A combinational block.
    Comb { body: Vec<Stmt> },
    /// Assignments to registers, written as assignments to `d`. Registers that are not assigned hold their value.
    Clocked { body: Vec<Stmt> },
}

/// The driver of an input of a sub-block, or of all sub-blocks of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pin {
    /// The same signal or literal for each sub-block.
    Same(Expr),
    /// Element `i` of an array for sub-block `i`.
    Element(SignalId),
}

#[derive(Debug, Default)]
pub(crate) struct ModulePlan {
    pub processes: Vec<Process>,
    /// Inputs of sub-blocks that need no intermediate signal.
    pub pins: BTreeMap<SignalId, Pin>,
    /// Outputs of sub-blocks that drive an output or local of this module directly. That signal has no other driver.
    pub outputs: BTreeMap<SignalId, SignalId>,
    pub gates: Vec<ClockGate>,
}

impl ModulePlan {
    /// Returns whether a sub-block drives the signal directly.
    pub fn is_driven(&self, id: SignalId) -> bool {
        self.outputs.values().any(|target| *target == id)
    }
}

/// A statement at the top level of the body, with the comments before it.
#[derive(Clone, Debug)]
struct BodyItem {
    comments: Vec<String>,
    statement: Stmt,
    reads: Vec<SignalId>,
    writes: Vec<SignalId>,
}

/// Sorts `body`. `output_of` maps the input of a register to its output.
pub(crate) fn schedule(
    body: Vec<Stmt>,
    signals: &[Signal],
    output_of: &BTreeMap<SignalId, SignalId>,
) -> ModulePlan {
    let body = body.into_iter().flat_map(|statement| split_loop(statement, signals)).collect();
    let items = items(without_dead_stores(body, signals, &mut BTreeSet::new()), signals);
    let groups = producers_first(group(&items, signals), &items);
    let mut plan = ModulePlan::default();
    let read_inside: BTreeSet<SignalId> = items.iter().flat_map(|item| item.reads.clone()).collect();
    for members in groups {
        let members: Vec<&BodyItem> = members.iter().map(|i| &items[*i]).collect();
        plan_group(&members, signals, output_of, &read_inside, &mut plan);
    }
    connect_outputs(&mut plan, signals);
    plan
}

/// Returns top-level statements with their comments. Removes clock and reset pins.
fn items(body: Vec<Stmt>, signals: &[Signal]) -> Vec<BodyItem> {
    let mut out: Vec<BodyItem> = vec![];
    let mut comments = vec![];
    for statement in body {
        match statement {
            Stmt::Comment(text) => comments.push(text),
            statement => {
                let writes = statement.writes();
                let pins = |id: &SignalId| matches!(signals[*id].role, Role::ClockPin | Role::ResetPin);
                if !writes.is_empty() && writes.iter().all(pins) {
                    continue;
                }
                let reads = statement.reads();
                out.push(BodyItem { comments: std::mem::take(&mut comments), statement, reads, writes });
            }
        }
    }
    out
}

/// Moves wiring out of a loop. Each assignment gets its own loop.
///
/// Wiring is an assignment to a register or to a pin of a sub-block that shares no signal with the rest of the loop.
fn split_loop(statement: Stmt, signals: &[Signal]) -> Vec<Stmt> {
    let Stmt::Loop { variable, from, to, body } = statement else { return vec![statement] };
    let body: Vec<Stmt> = body.into_iter().flat_map(|inner| split_loop(inner, signals)).collect();
    let is_wiring = |position: usize| {
        let statement = &body[position];
        let (reads, writes) = (statement.reads(), statement.writes());
        let outward = writes.iter().all(|id| {
            use Role::*;
            matches!(signals[*id].role, RegisterInput | ChildInput(_) | ClockPin | ResetPin)
        });
        let apart = body.iter().enumerate().filter(|(other, _)| *other != position).all(|(_, other)| {
            let (other_reads, other_writes) = (other.reads(), other.writes());
            let touched = |id: &SignalId| other_writes.contains(id) || other_reads.contains(id);
            !writes.iter().any(touched) && !reads.iter().any(|id| other_writes.contains(id))
        });
        let simple = match statement {
            Stmt::Assign { .. } => true,
            Stmt::Loop { body, .. } => body.len() == 1,
            _ => false,
        };
        simple && !writes.is_empty() && outward && apart
    };
    // A register with a default assignment and another one in the same loop stays in the loop.
    let wiring: Vec<bool> = (0..body.len()).map(is_wiring).collect();
    let mut parts: Vec<Stmt> = vec![];
    let mut rest = vec![];
    let mut comments = vec![];
    let make = |body| Stmt::Loop { variable: variable.clone(), from, to, body };
    for (statement, wiring) in body.into_iter().zip(wiring) {
        match statement {
            Stmt::Comment(_) => comments.push(statement),
            statement if wiring => {
                parts.append(&mut comments);
                parts.push(make(vec![statement]));
            }
            statement => {
                rest.append(&mut comments);
                rest.push(statement);
            }
        }
    }
    rest.append(&mut comments);
    if rest.iter().any(|statement| !matches!(statement, Stmt::Comment(_))) {
        parts.push(make(rest));
    } else {
        parts.extend(rest);
    }
    parts
}

/// Returns whether the statement is `d = q`, for one register or in a loop over an array of registers.
fn is_hold(statement: &Stmt, output_of: &BTreeMap<SignalId, SignalId>) -> bool {
    match statement {
        Stmt::Assign { place, field: None, value } => match &value.node {
            Node::Read(source) => {
                output_of.get(&place.signal) == Some(&source.signal) && place.index == source.index
            }
            _ => false,
        },
        Stmt::Loop { body, .. } => body.len() == 1 && is_hold(&body[0], output_of),
        _ => false,
    }
}

/// Removes `d = q` where no earlier statement assigns `d`: the register holds its value anyway. `assigned` has the inputs
/// of registers that earlier statements assign.
fn without_holds(
    body: Vec<Stmt>,
    output_of: &BTreeMap<SignalId, SignalId>,
    mut assigned: BTreeSet<SignalId>,
) -> Vec<Stmt> {
    let has_hold = |body: &[Stmt]| body.iter().any(|inner| is_hold(inner, output_of));
    let mut kept = vec![];
    for statement in body {
        let writes = statement.writes();
        if is_hold(&statement, output_of) && !writes.iter().any(|id| assigned.contains(id)) {
            continue;
        }
        let left = match statement {
            Stmt::If { test, then, otherwise } if has_hold(&then) || has_hold(&otherwise) => {
                let then = without_holds(then, output_of, assigned.clone());
                let otherwise = without_holds(otherwise, output_of, assigned.clone());
                match (then.is_empty(), otherwise.is_empty()) {
                    (true, true) => None,
                    (true, false) => {
                        Some(Stmt::If { test: test.negated(), then: otherwise, otherwise: then })
                    }
                    _ => Some(Stmt::If { test, then, otherwise }),
                }
            }
            other => Some(other),
        };
        kept.extend(left);
        assigned.extend(writes);
    }
    kept
}

/// Returns the signal that a statement assigns completely and unconditionally.
pub(crate) fn assigns_whole(statement: &Stmt, signals: &[Signal]) -> Option<SignalId> {
    match statement {
        Stmt::Assign { place, field: None, .. } if !signals[place.signal].is_array() => Some(place.signal),
        Stmt::Loop { variable, from: 0, to, body } => match body.as_slice() {
            [Stmt::Assign { place, field: None, .. }]
                if *to == signals[place.signal].length()
                    && matches!(&place.index, Some(Index::Loop(name, _)) if name == variable) =>
            {
                Some(place.signal)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Disjoint sets (union-find).
struct Union(Vec<usize>);

impl Union {
    fn find(&mut self, i: usize) -> usize {
        if self.0[i] != i {
            self.0[i] = self.find(self.0[i]);
        }
        self.0[i]
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high] = low;
    }

    fn groups(&mut self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for i in 0..self.0.len() {
            groups.entry(self.find(i)).or_default().push(i);
        }
        groups.into_values().collect()
    }
}

/// Returns the groups of statements that must share a process, in the order of their first statements.
fn group(items: &[BodyItem], signals: &[Signal]) -> Vec<Vec<usize>> {
    let mut union = Union((0..items.len()).collect());
    let mut writers: BTreeMap<SignalId, Vec<usize>> = BTreeMap::new();
    for (position, item) in items.iter().enumerate() {
        for signal in &item.writes {
            writers.entry(*signal).or_default().push(position);
        }
    }
    for positions in writers.values() {
        positions.windows(2).for_each(|pair| union.unite(pair[0], pair[1]));
    }
    for (position, item) in items.iter().enumerate() {
        for signal in item.reads.iter().filter(|id| signals[**id].is_variable()) {
            if let Some(last) =
                writers.get(signal).and_then(|positions| positions.last()).filter(|l| **l > position)
            {
                union.unite(position, *last);
            }
        }
    }
    // Merges processes that read each other's results, which removes the combinational loop between processes.
    while let Some((a, b)) = mutual(&union.groups(), items) {
        union.unite(a, b);
    }
    union.groups()
}

/// Returns for each group the other groups that assign a signal that it reads.
fn producers(groups: &[Vec<usize>], items: &[BodyItem]) -> Vec<BTreeSet<usize>> {
    let of_signal: BTreeMap<SignalId, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(g, members)| {
            members.iter().flat_map(move |i| items[*i].writes.iter().map(move |s| (*s, g)))
        })
        .collect();
    let of_group = |(g, members): (usize, &Vec<usize>)| {
        let reads = members.iter().flat_map(|i| &items[*i].reads);
        reads.filter_map(|s| of_signal.get(s)).copied().filter(|other| *other != g).collect()
    };
    groups.iter().enumerate().map(of_group).collect()
}

/// Sorts groups by their first statements, but each group after its producers. The groups must have no cycle of reads.
fn producers_first(groups: Vec<Vec<usize>>, items: &[BodyItem]) -> Vec<Vec<usize>> {
    let mut missing = producers(&groups, items);
    let mut waiting: Vec<(usize, Vec<usize>)> = groups.into_iter().enumerate().collect();
    let mut sorted = vec![];
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|(g, _)| missing[*g].is_empty()).expect("no cycle of reads");
        let (g, members) = waiting.remove(ready);
        for of in &mut missing {
            of.remove(&g);
        }
        sorted.push(members);
    }
    sorted
}

/// Finds two groups on a cycle of reads. Returns one statement of each.
fn mutual(groups: &[Vec<usize>], items: &[BodyItem]) -> Option<(usize, usize)> {
    let next = producers(groups, items);
    let reaches = |from: usize, to: usize| {
        let (mut seen, mut stack) = (BTreeSet::from([from]), vec![from]);
        while let Some(at) = stack.pop() {
            for other in &next[at] {
                if *other == to {
                    return true;
                }
                if seen.insert(*other) {
                    stack.push(*other);
                }
            }
        }
        false
    };
    (0..groups.len()).find_map(|g| {
        next[g].iter().find(|other| reaches(**other, g)).map(|other| (groups[g][0], groups[*other][0]))
    })
}

/// Chooses the process for one group.
fn plan_group(
    members: &[&BodyItem],
    signals: &[Signal],
    output_of: &BTreeMap<SignalId, SignalId>,
    read_inside: &BTreeSet<SignalId>,
    plan: &mut ModulePlan,
) {
    let writes: BTreeSet<SignalId> = members.iter().flat_map(|item| item.writes.clone()).collect();
    let clocked =
        writes.iter().all(|id| signals[*id].role == Role::RegisterInput && !read_inside.contains(id));
    if clocked {
        let changes = members.iter().filter(|item| !is_hold(&item.statement, output_of));
        let body: Vec<Stmt> = changes.flat_map(|item| with_comments(item)).collect();
        let body = without_holds(body, output_of, BTreeSet::new());
        plan.processes.push(Process::Clocked { body });
        return;
    }
    if let [item] = members {
        if let Some((signal, pin)) = direct_pin(&item.statement, signals, read_inside) {
            plan.pins.insert(signal, pin);
            return;
        }
        if let Some((to, from)) = whole_copy(&item.statement, signals) {
            plan.processes.push(Process::Copy { comments: item.comments.clone(), to, from });
            return;
        }
        if let Stmt::Assign { place, field: None, value } = &item.statement {
            let (place, value) = (place.clone(), value.clone());
            plan.processes.push(Process::Assign { comments: item.comments.clone(), place, value });
            return;
        }
    }
    if let Some(signal) = constant_group(members, &writes, signals) {
        for (signal, values, comments) in signal {
            plan.processes.push(Process::Constant { comments, signal, values });
        }
        return;
    }
    let body = members.iter().flat_map(|item| with_comments(item)).collect();
    plan.processes.push(Process::Comb { body });
}

fn with_comments(item: &BodyItem) -> Vec<Stmt> {
    item.comments.iter().cloned().map(Stmt::Comment).chain([item.statement.clone()]).collect()
}

type ConstantSignal = (SignalId, Vec<num_bigint::BigUint>, Vec<String>);

/// Returns the values of a group that reads only constants and its own signals.
fn constant_group(
    members: &[&BodyItem],
    writes: &BTreeSet<SignalId>,
    signals: &[Signal],
) -> Option<Vec<ConstantSignal>> {
    let fixed = |id: &SignalId| writes.contains(id) || signals[*id].role == Role::Constant;
    if !members.iter().all(|item| item.reads.iter().all(fixed)) {
        return None;
    }
    let body: Vec<Stmt> = members.iter().map(|item| item.statement.clone()).collect();
    let mut store = eval::ElementValues::new();
    eval::run(&body, signals, &mut vec![], &mut store);
    let mut comments: Vec<String> = members.iter().flat_map(|item| item.comments.clone()).collect();
    let values = writes.iter().map(|signal| {
        let element = |i| store.get(&(*signal, i)).cloned().unwrap_or_default();
        let values = (0..signals[*signal].length()).map(element).collect();
        (*signal, values, std::mem::take(&mut comments))
    });
    Some(values.collect())
}

/// Matches `for i { to[i] = from[i] }` over all elements of arrays of equal length.
pub(crate) fn whole_copy(statement: &Stmt, signals: &[Signal]) -> Option<(SignalId, SignalId)> {
    let to = assigns_whole(statement, signals)?;
    let Stmt::Loop { body, .. } = statement else { return None };
    let [Stmt::Assign { place, value, .. }] = body.as_slice() else { return None };
    match &value.node {
        Node::Read(source)
            if source.index == place.index && signals[source.signal].length() == signals[to].length() =>
        {
            Some((to, source.signal))
        }
        _ => None,
    }
}

/// Returns the signal or literal that drives an input of a sub-block, if no logic is needed for it.
fn direct_pin(
    statement: &Stmt,
    signals: &[Signal],
    read_inside: &BTreeSet<SignalId>,
) -> Option<(SignalId, Pin)> {
    let pin = assigns_whole(statement, signals)?;
    if !matches!(signals[pin].role, Role::ChildInput(_)) || read_inside.contains(&pin) {
        return None;
    }
    let is_variable = |source: &ElementRef| signals[source.signal].role != Role::Constant;
    let plain = |value: &Expr| match &value.node {
        Node::Read(source) => !signals[source.signal].is_array() && is_variable(source),
        Node::Slice(inner, Index::Number(_)) => match &inner.node {
            Node::Read(source) => source.index.is_none() && is_variable(source),
            _ => false,
        },
        Node::Literal(_) => true,
        _ => false,
    };
    match statement {
        Stmt::Assign { value, .. } if plain(value) => Some((pin, Pin::Same(value.clone()))),
        Stmt::Loop { body, .. } => match body.as_slice() {
            [Stmt::Assign { value, .. }] if plain(value) => Some((pin, Pin::Same(value.clone()))),
            _ => match whole_copy(statement, signals) {
                Some((_, from)) if signals[from].role != Role::Constant => Some((pin, Pin::Element(from))),
                _ => None,
            },
        },
        _ => None,
    }
}

/// Connects an output of a sub-block directly to an output of this module, if its only reader is the `assign` of that
/// output.
fn connect_outputs(plan: &mut ModulePlan, signals: &[Signal]) {
    let mut readers: BTreeMap<SignalId, usize> = BTreeMap::new();
    let of_processes = plan.processes.iter().flat_map(Process::reads);
    let of_pins = plan.pins.values().flat_map(Pin::reads);
    of_processes.chain(of_pins).for_each(|id| *readers.entry(id).or_default() += 1);
    let alias = |process: &Process| -> Option<(SignalId, SignalId)> {
        let (to, from) = match process {
            Process::Assign { place: ElementRef { signal, index: None }, value, .. } => match &value.node {
                Node::Read(ElementRef { signal: from, index: None }) => (*signal, *from),
                _ => return None,
            },
            Process::Copy { to, from, .. } => (*to, *from),
            _ => return None,
        };
        let is_output = matches!(signals[from].role, Role::ChildOutput(_));
        (is_output && readers.get(&from) == Some(&1) && signals[to].role == Role::Output)
            .then_some((from, to))
    };
    let mut kept = vec![];
    for process in std::mem::take(&mut plan.processes) {
        match alias(&process) {
            Some((from, to)) => {
                plan.outputs.insert(from, to);
            }
            None => kept.push(process),
        }
    }
    plan.processes = kept;
}
