//! Removes signals that only copy another one, and names pins of sub-blocks as signals of the module.

use crate::condense::is_named;
use crate::ir::{ElementRef, Expr, Node, Role, Signal, SignalId, Stmt};
use crate::names;
use crate::schedule::{ModulePlan, Pin, Process};
use std::collections::BTreeSet;

/// Removes the copies of a plan: a local that copies a signal, and an output that copies a local without another reader.
pub(crate) fn remove_copies(plan: &mut ModulePlan, signals: &[Signal]) {
    let mut position = 0;
    while position < plan.processes.len() {
        match replaced(plan, position, signals) {
            Some((old, new)) => {
                plan.processes.remove(position);
                plan.rename(old, new);
                position = 0;
            }
            None => position += 1,
        }
    }
}

/// Returns the signals that the process at `position` copies from and to.
fn copy(process: &Process) -> Option<(SignalId, SignalId)> {
    match process {
        Process::Assign { comments, place: ElementRef { signal: to, index: None }, value }
            if comments.is_empty() =>
        {
            match &value.node {
                Node::Read(ElementRef { signal: from, index: None }) => Some((*from, *to)),
                _ => None,
            }
        }
        Process::Copy { comments, to, from } if comments.is_empty() => Some((*from, *to)),
        _ => None,
    }
}

/// Returns the signal that is not needed without the copy at `position`, and the signal that replaces it.
fn replaced(plan: &mut ModulePlan, position: usize, signals: &[Signal]) -> Option<(SignalId, SignalId)> {
    use Role::{ChildOutput, Input, Local, Output, RegisterOutput, Temporary};
    let (from, to) = copy(&plan.processes[position])?;
    let is_plain = |id: SignalId| signals[id].layout.is_none() && signals[id].doc.is_empty();
    let is_local = |id: SignalId| matches!(signals[id].role, Local | Temporary);
    match (&signals[from].role, &signals[to].role) {
        (ChildOutput(_), Local) if signals[from].layout.is_none() && signals[to].layout.is_none() => {
            plan.outputs.insert(from, to);
            Some((from, to))
        }
        (Input | RegisterOutput | Local | Temporary, Local | Temporary)
            if is_plain(to) && signals[from].layout.is_none() =>
        {
            Some((to, from))
        }
        (Local | Temporary, Output) if is_local(from) && is_plain(from) && signals[to].layout.is_none() => {
            let reads =
                |process: &Process| process.reads().contains(&from) && !process.writes().contains(&from);
            if plan.processes.iter().any(|process| process.names(from, signals)) {
                return None;
            }
            let pins = plan.pins.values().any(|pin| pin.reads().contains(&from));
            let others = plan.processes.iter().enumerate().filter(|(at, _)| *at != position);
            (!pins && !others.map(|(_, process)| process).any(reads)).then_some((from, to))
        }
        _ => None,
    }
}

impl ModulePlan {
    /// Replaces a signal by another one.
    fn rename(&mut self, old: SignalId, new: SignalId) {
        let expression = |e: &mut Expr| e.rewrite(&mut |e| e.rename(old, new));
        for process in &mut self.processes {
            match process {
                Process::Assign { place, value, .. } => {
                    expression(value);
                    place.index.iter_mut().for_each(|index| index.rewrite(&mut |e| e.rename(old, new)));
                    place.signal = if place.signal == old { new } else { place.signal };
                }
                Process::Copy { to, from, .. } => {
                    for id in [to, from] {
                        *id = if *id == old { new } else { *id };
                    }
                }
                Process::Constant { signal, .. } => *signal = if *signal == old { new } else { *signal },
                Process::Comb { body } | Process::Clocked { body } => {
                    body.iter_mut().for_each(|statement| statement.rename(old, new));
                }
            }
        }
        self.outputs.values_mut().filter(|target| **target == old).for_each(|target| *target = new);
        for pin in self.pins.values_mut() {
            match pin {
                Pin::Same(value) => expression(value),
                Pin::Element(id) => *id = if *id == old { new } else { *id },
            }
        }
    }
}

impl Process {
    /// Returns the signals that the process reads.
    pub fn reads(&self) -> Vec<SignalId> {
        let mut reads = vec![];
        match self {
            Process::Assign { place, value, .. } => {
                value.reads(&mut reads);
                place.index.iter().for_each(|index| index.visit(&mut |e| e.reads(&mut reads)));
            }
            Process::Copy { from, .. } => reads.push(*from),
            Process::Constant { .. } => {}
            Process::Comb { body } | Process::Clocked { body } => {
                reads.extend(body.iter().flat_map(Stmt::reads))
            }
        }
        reads
    }

    /// Returns whether the process assigns the signal a value with a name.
    fn names(&self, id: SignalId, signals: &[Signal]) -> bool {
        match self {
            Process::Assign { place, value, .. } => place.signal == id && is_named(value, signals),
            Process::Comb { body } | Process::Clocked { body } => {
                let mut found = false;
                body.iter().for_each(|statement| {
                    statement.visit(&mut |s| {
                        found |= matches!(s, Stmt::Assign { place, value, .. } if place.signal == id && is_named(value, signals));
                    });
                });
                found
            }
            Process::Copy { .. } | Process::Constant { .. } => false,
        }
    }

    /// Returns the signals that the process assigns.
    pub fn writes(&self) -> Vec<SignalId> {
        match self {
            Process::Assign { place, .. } => vec![place.signal],
            Process::Copy { to, .. } => vec![*to],
            Process::Constant { signal, .. } => vec![*signal],
            Process::Comb { body } | Process::Clocked { body } => {
                body.iter().flat_map(Stmt::writes).collect()
            }
        }
    }
}

impl Pin {
    /// Returns the signals that drive the input.
    pub fn reads(&self) -> Vec<SignalId> {
        let mut reads = vec![];
        match self {
            Pin::Same(value) => value.reads(&mut reads),
            Pin::Element(signal) => reads.push(*signal),
        }
        reads
    }
}

/// Names the signals at pins of sub-blocks. Only ports have the suffixes `_i` and `_o`. `taken` are names other than signals.
pub(crate) fn name_pins(plan: &ModulePlan, signals: &mut [Signal], mut taken: BTreeSet<String>) {
    let is_pin = |(id, signal): (usize, &Signal)| match signal.role {
        Role::ChildInput(_) => !plan.pins.contains_key(&id),
        Role::ChildOutput(_) => !plan.outputs.contains_key(&id),
        _ => false,
    };
    let pins: Vec<SignalId> =
        signals.iter().enumerate().filter(|pin| is_pin(*pin)).map(|(id, _)| id).collect();
    let stem = |name: &str| name.strip_suffix("_i").or(name.strip_suffix("_o")).map(str::to_string);
    let stems: Vec<Option<String>> = pins.iter().map(|id| stem(&signals[*id].name)).collect();
    taken.extend(signals.iter().map(|signal| signal.name.clone()));
    for process in &plan.processes {
        if let Process::Comb { body } | Process::Clocked { body } = process {
            for statement in body {
                statement.visit(&mut |s| {
                    if let Stmt::Loop { variable, .. } = s {
                        taken.insert(variable.clone());
                    }
                });
            }
        }
    }
    for (id, own) in pins.iter().zip(&stems) {
        let Some(own) = own else { continue };
        let is_only = stems.iter().filter(|other| other.as_ref() == Some(own)).count() == 1;
        let end = if matches!(signals[*id].role, Role::ChildInput(_)) { "in" } else { "out" };
        let wanted = [own.clone(), format!("{own}_{end}")];
        let is_free = |name: &&String| !taken.contains(*name) && names::is_usable(name);
        if let Some(name) = wanted.iter().skip(usize::from(!is_only)).find(is_free) {
            taken.insert(name.clone());
            signals[*id].name.clone_from(name);
        }
    }
}
