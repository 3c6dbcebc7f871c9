//! Shortens combinational processes: a vector that is assigned in parts gets one concatenation, and a process with one choice
//! becomes a continuous assignment.

use crate::clean::without_dead_stores;
use crate::ir::{ElementRef, Expr, Node, Role, Signal, SignalId, Stmt};
use crate::schedule::{ModulePlan, Process};
use std::collections::BTreeSet;

/// Max parts of a concatenation.
const MOST_PARTS: usize = 8;

/// Shortens the processes of a plan.
pub(crate) fn condense(plan: &mut ModulePlan, signals: &[Signal]) {
    for process in &mut plan.processes {
        let Process::Comb { body } = process else { continue };
        join_parts(body, signals);
        *body = without_dead_stores(std::mem::take(body), signals, &mut BTreeSet::new());
        let comments = body.iter().take_while(|statement| matches!(statement, Stmt::Comment(_))).count();
        if let Some((place, value)) = choice(&body[comments..], signals) {
            let text = |statement: Stmt| if let Stmt::Comment(text) = statement { Some(text) } else { None };
            let comments = std::mem::take(body).into_iter().map_while(text).collect();
            *process = Process::Assign { comments, place, value };
        }
    }
}

/// Returns the bits that a statement assigns: the signal, the first bit and the value. `None` if they depend on a signal or
/// loop.
fn part<'a>(statement: &'a Stmt, signals: &[Signal]) -> Option<(SignalId, usize, &'a Expr)> {
    let Stmt::Assign { place, field, value } = statement else { return None };
    let element = place.index.as_ref().map_or(Some(0), |index| index.constant())?;
    let field = field.as_ref().map_or(Some(0), |index| index.constant())?;
    let signal = &signals[place.signal];
    (signal.layout.is_none() && value.width < signal.total())
        .then(|| (place.signal, element * signal.width + field, value))
}

/// Joins consecutive assignments to all parts of a signal.
fn join_parts(body: &mut Vec<Stmt>, signals: &[Signal]) {
    let mut at = 0;
    while at < body.len() {
        if let Some((count, joined)) = joined(&body[at..], signals) {
            body.splice(at..at + count, [joined]);
        }
        match &mut body[at] {
            Stmt::If { then, otherwise, .. } => {
                join_parts(then, signals);
                join_parts(otherwise, signals);
            }
            Stmt::Match { arms, .. } => arms.iter_mut().for_each(|(_, body)| join_parts(body, signals)),
            Stmt::Loop { body, .. } => join_parts(body, signals),
            Stmt::Assign { .. } | Stmt::Comment(_) => {}
        }
        at += 1;
    }
}

/// Returns the number of statements at the start of `body` that assign all parts of a signal, and the statement that replaces
/// them.
fn joined(body: &[Stmt], signals: &[Signal]) -> Option<(usize, Stmt)> {
    let (id, ..) = part(body.first()?, signals)?;
    let (total, mut bits, mut parts) = (signals[id].total(), 0, vec![]);
    for statement in body {
        let (_, low, value) = part(statement, signals).filter(|(own, ..)| *own == id)?;
        if statement.reads().contains(&id) || parts.len() == MOST_PARTS {
            return None;
        }
        parts.push((low, value.clone()));
        bits += value.width;
        if bits == total {
            break;
        }
    }
    let count = parts.len();
    parts.sort_by_key(|(low, _)| *low);
    let are_adjacent = parts.windows(2).all(|pair| pair[0].0 + pair[0].1.width == pair[1].0);
    if bits != total || !are_adjacent {
        return None;
    }
    let parts = parts.into_iter().rev().map(|(_, value)| value).collect();
    let value = Expr { width: total, node: Node::Concat(parts) };
    Some((count, Stmt::Assign { place: ElementRef { signal: id, index: None }, field: None, value }))
}

/// Returns the signal that the statements assign, and its value with a choice of two values or none.
fn choice(body: &[Stmt], signals: &[Signal]) -> Option<(ElementRef, Expr)> {
    let whole = |statement: &Stmt| match statement {
        Stmt::Assign { place, field: None, value } if value.width == signals[place.signal].total() => {
            Some((place.signal, value.clone()))
        }
        _ => None,
    };
    let one = |body: &[Stmt]| if let [one] = body { whole(one) } else { None };
    let (id, value) = match body {
        [only @ Stmt::Assign { .. }] => whole(only)?,
        [Stmt::If { test, then, otherwise }] => {
            let ((id, yes), (other, no)) = (one(then)?, one(otherwise)?);
            (id, choose(test, yes, no, signals).filter(|_| id == other)?)
        }
        [default, Stmt::If { test, then, otherwise }] if otherwise.is_empty() => {
            let ((id, no), (other, yes)) = (whole(default)?, one(then)?);
            (id, choose(test, yes, no, signals).filter(|_| id == other)?)
        }
        _ => return None,
    };
    let mut reads = vec![];
    value.reads(&mut reads);
    (!reads.contains(&id)).then_some((ElementRef { signal: id, index: None }, value))
}

/// Returns the choice of two values; `None` for named values, which a `case` or `if` shows better.
fn choose(test: &Expr, yes: Expr, no: Expr, signals: &[Signal]) -> Option<Expr> {
    if is_named(&yes, signals) || is_named(&no, signals) {
        return None;
    }
    let width = yes.width;
    let node = match &test.node {
        Node::Not(inner) => Node::Choose(inner.clone(), Box::new(no), Box::new(yes)),
        _ => Node::Choose(Box::new(test.clone()), Box::new(yes), Box::new(no)),
    };
    Some(Expr { width, node })
}

/// Returns whether the value has a name, which SystemVerilog may declare in an enumeration.
pub(crate) fn is_named(value: &Expr, signals: &[Signal]) -> bool {
    match &value.node {
        Node::Variant(..) => true,
        Node::Read(source) => signals[source.signal].role == Role::Constant,
        _ => false,
    }
}
