//! Removes stores that are overwritten before a read, and gives each value a separate name.

use crate::ir::{ElementRef, Index, IndexOp, Node, Role, Signal, SignalId, Stmt};
use crate::schedule::assigns_whole;
use std::collections::{BTreeMap, BTreeSet};

/// Returns `body` without dead stores, and with one value per name.
pub(crate) fn clean(body: Vec<Stmt>, signals: &mut Vec<Signal>) -> Vec<Stmt> {
    let body = without_dead_stores(body, signals, &mut BTreeSet::new());
    let mut body = name_stages(body, signals);
    let mut uses = BTreeMap::new();
    body.iter().for_each(|statement| count(statement, &mut uses));
    let apart =
        signals.iter().enumerate().map(|(id, _)| id).filter(|id| is_apart(&body, *id, signals)).collect();
    name_values(&mut body, signals, &mut uses, &BTreeSet::new(), &apart);
    body
}

/// Writes a value that goes to an input of a sub-block directly to that input, if its name gets another value afterwards.
///
/// The source of an optional register stage uses one name for the value before and after it: `x = a; stage.d = x;
/// x = stage.q`. With the stage, this becomes `stage.d = a; x = stage.q`.
fn name_stages(mut body: Vec<Stmt>, signals: &mut [Signal]) -> Vec<Stmt> {
    let mut position = 0;
    while position < body.len() {
        match staged(&body, position, signals) {
            Some((name, copy, input)) => {
                body[..position].iter_mut().for_each(|statement| statement.rename(name, input));
                body.remove(copy);
                let layout = signals[name].layout;
                signals[input].layout = signals[input].layout.or(layout);
            }
            None => position += 1,
        }
    }
    body
}

/// Returns a local that the statement at `position` assigns again, with the position of the only statement that uses its
/// former value, a copy to an input of a sub-block.
fn staged(body: &[Stmt], position: usize, signals: &[Signal]) -> Option<(SignalId, usize, SignalId)> {
    let name = assigns_whole(&body[position], signals)?;
    if signals[name].role != Role::Local || body[position].reads().contains(&name) {
        return None;
    }
    let before = || body[..position].iter().enumerate();
    let writes = |statement: &Stmt| statement.writes().contains(&name);
    let mut users = before().filter(|(_, s)| s.reads().contains(&name) && !writes(s));
    let ((copy, user), None) = (users.next()?, users.next()) else { return None };
    let Stmt::Assign { place: ElementRef { signal: input, index: None }, field: None, value } = user else {
        return None;
    };
    let whole = Node::Read(ElementRef { signal: name, index: None });
    let is_only = |(other, s): (usize, &Stmt)| {
        other == copy || !(s.writes().contains(input) || s.reads().contains(input))
    };
    let fits = value.node == whole
        && matches!(signals[*input].role, Role::ChildInput(_))
        && before().all(|(other, s)| other < copy || !writes(s))
        && body.iter().enumerate().all(is_only);
    fits.then_some((name, copy, *input))
}

/// Adds the number of stores and reads of each signal.
fn count(statement: &Stmt, uses: &mut BTreeMap<SignalId, usize>) {
    let mut all = vec![];
    statement.visit(&mut |inner| {
        if let Stmt::Assign { place, .. } = inner {
            all.push(place.signal);
        }
    });
    statement.visit_expressions(&mut |e| {
        if let Node::Read(place) = &e.node {
            all.push(place.signal);
        }
    });
    all.into_iter().for_each(|id| *uses.entry(id).or_default() += 1);
}

/// Gives a local another name from its second value on. A local has a second value if a statement assigns it completely after
/// other statements of the same list have read its first value. `uses` are the numbers of uses in the complete body.
///
/// The values of the signals in `own` do not leave `body`, those of the signals in `apart` do not leave the loops in it.
fn name_values(
    body: &mut [Stmt],
    signals: &mut Vec<Signal>,
    uses: &mut BTreeMap<SignalId, usize>,
    own: &BTreeSet<SignalId>,
    apart: &BTreeSet<SignalId>,
) {
    for position in 0..body.len() {
        if let Some(name) = second_value(body, position, signals, uses, own) {
            let new = signals.len();
            let stem = crate::names::signal(&signals[name].key);
            let is_free = |name: &String| signals.iter().all(|signal| signal.name != *name);
            let text = (2..).map(|number| format!("{stem}_{number}")).find(is_free).unwrap_or_default();
            signals.push(Signal { name: text, doc: vec![], ..signals[name].clone() });
            let mut moved = BTreeMap::new();
            for statement in &mut body[position..] {
                statement.rename(name, new);
                count(statement, &mut moved);
            }
            let moved = moved.get(&new).copied().unwrap_or_default();
            uses.insert(new, moved);
            uses.entry(name).and_modify(|uses| *uses -= moved);
        }
    }
    let none = BTreeSet::new();
    for statement in body {
        match statement {
            Stmt::If { then, otherwise, .. } => {
                name_values(then, signals, uses, &none, &none);
                name_values(otherwise, signals, uses, &none, &none);
            }
            Stmt::Match { arms, .. } => {
                arms.iter_mut().for_each(|(_, body)| name_values(body, signals, uses, &none, &none));
            }
            Stmt::Loop { body, .. } => {
                let inner = apart.iter().copied().filter(|id| is_apart(body, *id, signals)).collect();
                name_values(body, signals, uses, apart, &inner);
            }
            Stmt::Assign { .. } | Stmt::Comment(_) => {}
        }
    }
}

/// Returns whether a statement gives a local a complete value that does not depend on the former one.
fn is_value(statement: &Stmt, name: SignalId, signals: &[Signal]) -> bool {
    assigns_whole(statement, signals) == Some(name) && !statement.reads().contains(&name)
}

/// Returns whether only loops use the signal, and each iteration gives it a value first.
fn is_apart(body: &[Stmt], name: SignalId, signals: &[Signal]) -> bool {
    let uses = |statement: &&Stmt| statement.reads().contains(&name) || statement.writes().contains(&name);
    body.iter().filter(uses).all(|statement| match statement {
        Stmt::Loop { body, .. } => {
            body.iter().find(uses).is_some_and(|first| is_value(first, name, signals))
                || is_apart(body, name, signals)
        }
        _ => false,
    })
}

/// Returns the local that gets its second value at `position`. Its values do not leave `body`, and its first use is a value.
fn second_value(
    body: &[Stmt],
    position: usize,
    signals: &[Signal],
    uses: &BTreeMap<SignalId, usize>,
    own: &BTreeSet<SignalId>,
) -> Option<SignalId> {
    let name = assigns_whole(&body[position], signals)?;
    let is_local = matches!(signals[name].role, Role::Local | Role::Temporary);
    if !is_local || !is_value(&body[position], name, signals) {
        return None;
    }
    let reads = |statement: &Stmt| statement.reads().contains(&name);
    let writes = |statement: &Stmt| statement.writes().contains(&name);
    let first = body.iter().position(|s| reads(s) || writes(s)).filter(|first| *first < position)?;
    let is_read = body[first..position].iter().any(|s| reads(s) && !writes(s));
    let mut here = BTreeMap::new();
    body.iter().for_each(|statement| count(statement, &mut here));
    let is_own = own.contains(&name) || here.get(&name) == uses.get(&name);
    (is_read && is_own && is_value(&body[first], name, signals)).then_some(name)
}

/// Returns `body` without stores that are overwritten before a read. `overwritten` has the signals that the statements after
/// `body` overwrite before they read them. The function updates it to the statements from the start of `body`.
pub(crate) fn without_dead_stores(
    body: Vec<Stmt>,
    signals: &[Signal],
    overwritten: &mut BTreeSet<SignalId>,
) -> Vec<Stmt> {
    let mut kept = vec![];
    for statement in body.into_iter().rev() {
        if let Some(statement) = live(statement, signals, overwritten) {
            kept.push(statement);
        }
    }
    kept.reverse();
    kept
}

/// Returns the signals that a loop assigns entirely: each iteration assigns another element or field.
fn covered(statement: &Stmt, signals: &[Signal]) -> Vec<SignalId> {
    let Stmt::Loop { variable, from: 0, to, body } = statement else { return vec![] };
    let reads = statement.reads();
    let is_own = |index: &Index| matches!(index, Index::Loop(name, _) if name == variable);
    let of = |statement: &Stmt| {
        let Stmt::Assign { place, field, value } = statement else { return None };
        let signal = &signals[place.signal];
        let bits = value.width;
        let is_complete = match (&place.index, field) {
            (Some(index), None) => is_own(index) && *to == signal.length(),
            (None, Some(Index::Operation(a, IndexOp::Mul, b))) => {
                is_own(a) && b.constant() == Some(bits) && to * bits == signal.width
            }
            (None, Some(index)) => is_own(index) && bits == 1 && *to == signal.width,
            _ => false,
        };
        (is_complete && !reads.contains(&place.signal)).then_some(place.signal)
    };
    body.iter().filter_map(of).collect()
}

/// Returns the statement without dead stores, or `None` if nothing is left.
fn live(statement: Stmt, signals: &[Signal], overwritten: &mut BTreeSet<SignalId>) -> Option<Stmt> {
    let read = |names: &mut BTreeSet<SignalId>, statement: &Stmt| {
        statement.reads().iter().for_each(|id| {
            names.remove(id);
        });
    };
    let whole = assigns_whole(&statement, signals);
    if whole.is_some() || matches!(statement, Stmt::Assign { .. }) {
        if statement.writes().iter().all(|id| overwritten.contains(id)) {
            return None;
        }
        overwritten.extend(whole);
        read(overwritten, &statement);
        return Some(statement);
    }
    let is_empty = |body: &[Stmt]| body.iter().all(|statement| matches!(statement, Stmt::Comment(_)));
    let test = |test| Stmt::If { test, then: vec![], otherwise: vec![] };
    match statement {
        Stmt::If { test: condition, then, otherwise } => {
            let mut other = overwritten.clone();
            let then = without_dead_stores(then, signals, overwritten);
            let otherwise = without_dead_stores(otherwise, signals, &mut other);
            overwritten.retain(|id| other.contains(id));
            read(overwritten, &test(condition.clone()));
            let left = !(is_empty(&then) && is_empty(&otherwise));
            left.then_some(Stmt::If { test: condition, then, otherwise })
        }
        Stmt::Match { test: value, arms } => {
            let (after, mut all) = (overwritten.clone(), None::<BTreeSet<SignalId>>);
            let arms: Vec<_> = arms
                .into_iter()
                .map(|(label, body)| {
                    let mut before = after.clone();
                    let body = without_dead_stores(body, signals, &mut before);
                    all = Some(all.take().map_or(before.clone(), |all| &all & &before));
                    (label, body)
                })
                .collect();
            *overwritten = all.unwrap_or(after);
            read(overwritten, &test(value.clone()));
            let left = arms.iter().any(|(_, body)| !is_empty(body));
            left.then_some(Stmt::Match { test: value, arms })
        }
        Stmt::Loop { variable, from, to, body } => {
            // The end of the body leads to the statements after the loop or to the next iteration.
            let after = overwritten.clone();
            loop {
                let mut start = overwritten.clone();
                without_dead_stores(body.clone(), signals, &mut start);
                let end = &after & &start;
                if end == *overwritten {
                    break;
                }
                *overwritten = end;
            }
            let body = without_dead_stores(body, signals, overwritten);
            let statement = Stmt::Loop { variable, from, to, body };
            overwritten.extend(covered(&statement, signals));
            let Stmt::Loop { body, .. } = &statement else { return None };
            (!is_empty(body)).then_some(statement)
        }
        other => Some(other),
    }
}
