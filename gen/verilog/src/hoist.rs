//! Names expressions from which bits are selected, because Verilog can only select bits of signals.

use crate::ir::{ElementRef, Expr, Index, Node, Role, Signal, SignalId, Stmt};
use std::collections::BTreeMap;

/// Rewrites `body` so that the operand of every slice and every sign-extension is a signal, and that it has all bits that an
/// index may select.
///
/// A temporary that is assigned in only one branch gets a default before the complete statement.
pub(crate) fn hoist(body: Vec<Stmt>, signals: &mut Vec<Signal>) -> Vec<Stmt> {
    let mut out = vec![];
    let mut hoister = Hoister {
        signals,
        before: vec![],
        front: vec![],
        padded: BTreeMap::new(),
        clocked: false,
        target: None,
    };
    for statement in body {
        let before = hoister.signals.len();
        let branches = matches!(statement, Stmt::If { .. } | Stmt::Match { .. } | Stmt::Loop { .. });
        hoister.clocked =
            statement.writes().iter().all(|id| hoister.signals[*id].role == Role::RegisterInput);
        let rewritten = hoister.body(vec![statement]);
        // Comments stay next to their statement.
        let comments = out.iter().rev().take_while(|s| matches!(s, Stmt::Comment(_))).count();
        let comments = out.split_off(out.len() - comments);
        let is_new = |id: &usize| !hoister.padded.values().any(|padded| padded == id);
        for id in (before..hoister.signals.len()).filter(|id| branches && is_new(id)) {
            out.push(assign(id, Expr::literal(0u8, hoister.signals[id].width)));
        }
        out.append(&mut hoister.front);
        out.extend(comments);
        out.extend(rewritten);
    }
    out
}

struct Hoister<'a> {
    signals: &'a mut Vec<Signal>,
    /// Statements before the current one.
    before: Vec<Stmt>,
    /// Statements before the current statement at the top level.
    front: Vec<Stmt>,
    /// Inputs and registers with zeros above them.
    padded: BTreeMap<SignalId, SignalId>,
    /// `true` in a statement that assigns registers only.
    clocked: bool,
    /// The signal that the current statement assigns.
    target: Option<SignalId>,
}

impl Hoister<'_> {
    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = vec![];
        for statement in body {
            let statement = match statement {
                Stmt::Assign { place, field, value } => {
                    self.target = Some(place.signal);
                    let field = field.map(|field| self.index(field));
                    let statement = Stmt::Assign { place: self.place(place), field, value: self.expr(value) };
                    out.append(&mut self.before);
                    statement
                }
                Stmt::If { test, then, otherwise } => {
                    self.target = None;
                    let test = self.expr(test);
                    out.append(&mut self.before);
                    Stmt::If { test, then: self.body(then), otherwise: self.body(otherwise) }
                }
                Stmt::Match { test, arms } => {
                    self.target = None;
                    let test = self.expr(test);
                    out.append(&mut self.before);
                    let arms = arms.into_iter().map(|(label, body)| (label, self.body(body))).collect();
                    Stmt::Match { test, arms }
                }
                Stmt::Loop { variable, from, to, body } => {
                    Stmt::Loop { variable, from, to, body: self.body(body) }
                }
                Stmt::Comment(text) => Stmt::Comment(text),
            };
            out.push(statement);
        }
        out
    }

    fn place(&mut self, place: ElementRef) -> ElementRef {
        ElementRef { signal: place.signal, index: place.index.map(|index| self.index(index)) }
    }

    fn index(&mut self, index: Index) -> Index {
        match index {
            Index::Value(e) => Index::Value(Box::new(self.expr(*e))),
            Index::Operation(a, op, b) => {
                Index::Operation(Box::new(self.index(*a)), op, Box::new(self.index(*b)))
            }
            other => other,
        }
    }

    fn boxed(&mut self, e: Expr) -> Box<Expr> {
        Box::new(self.expr(e))
    }

    fn expr(&mut self, e: Expr) -> Expr {
        let width = e.width;
        let node = match e.node {
            Node::Read(place) => Node::Read(self.place(place)),
            Node::Slice(inner, index) => {
                let inner = self.expr(*inner);
                let index = self.index(index);
                let inner = self.named(inner);
                let inner = if width == 1 { self.padded(inner, &index) } else { inner };
                Node::Slice(Box::new(inner), index)
            }
            Node::SignExtend(inner) => {
                let inner = self.expr(*inner);
                let simple = matches!(&inner.node, Node::Slice(_, index) if !index.is_dynamic());
                Node::SignExtend(Box::new(if simple { inner } else { self.named(inner) }))
            }
            Node::Extend(inner) => Node::Extend(self.boxed(*inner)),
            Node::Concat(parts) => Node::Concat(parts.into_iter().map(|part| self.expr(part)).collect()),
            Node::Replace(a, index, b) => Node::Replace(self.boxed(*a), self.index(index), self.boxed(*b)),
            Node::Not(a) => Node::Not(self.boxed(*a)),
            Node::Negate(a) => Node::Negate(self.boxed(*a)),
            Node::Reduce(op, a) => Node::Reduce(op, self.boxed(*a)),
            Node::Binary(a, op, b) => Node::Binary(self.boxed(*a), op, self.boxed(*b)),
            Node::Shift { left, value, by } => {
                Node::Shift { left, value: self.boxed(*value), by: self.index(by) }
            }
            Node::Compare { signed, left, op, right } => {
                Node::Compare { signed, left: self.boxed(*left), op, right: self.boxed(*right) }
            }
            Node::CompareIndex(a, op, b) => Node::CompareIndex(self.index(a), op, self.index(b)),
            Node::Choose(test, yes, no) => Node::Choose(self.boxed(*test), self.boxed(*yes), self.boxed(*no)),
            node @ (Node::Literal(_) | Node::Variant(..) | Node::Number(_)) => node,
        };
        Expr { width, node }
    }

    /// Returns the expression as a signal: itself, or a temporary that is assigned in the preceding statement.
    fn named(&mut self, e: Expr) -> Expr {
        if matches!(e.node, Node::Read(_)) {
            return e;
        }
        let target = self.target.map_or("test".into(), |target| self.stem(target));
        let name = match &e.node {
            Node::Shift { value, .. } => match &value.node {
                Node::Read(place) if !self.signals[place.signal].name.ends_with("shifted") => {
                    self.stem(place.signal) + "_shifted"
                }
                _ => target + "_shifted",
            },
            _ => target + "_full",
        };
        let name = self.free(name);
        let signal = self.temporary(name, e.width);
        self.before.push(assign(signal, e));
        read(signal, self.signals[signal].width)
    }

    /// Returns a signal with zeros above it for all bits that `index` may select.
    fn padded(&mut self, e: Expr, index: &Index) -> Expr {
        let (Node::Read(place), Index::Value(value)) = (&e.node, index) else { return e };
        if index.largest() < e.width || value.width > MOST_PADDED_INDEX {
            return e;
        }
        let (id, width) = (place.signal, 1 << value.width);
        let signal = &self.signals[id];
        let is_fixed = place.index.is_none() && !signal.is_driven_here();
        if let Some(padded) =
            self.padded.get(&id).filter(|padded| is_fixed && self.signals[**padded].width == width)
        {
            return read(*padded, width);
        }
        if !is_fixed && self.clocked {
            return e;
        }
        let name = self.free(self.stem(id) + "_padded");
        let padded = self.temporary(name, width);
        let statement = assign(padded, e.extended(width));
        if is_fixed {
            self.padded.insert(id, padded);
            self.front.push(statement);
        } else {
            self.before.push(statement);
        }
        read(padded, width)
    }

    /// Returns a signal's name without its suffix.
    fn stem(&self, id: SignalId) -> String {
        let name = &self.signals[id].name;
        ["_q", "_d", "_i", "_o"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_string()
    }

    /// Returns the name, with a number if another signal has it.
    fn free(&self, name: String) -> String {
        let is_free = |name: &String| self.signals.iter().all(|signal| signal.name != *name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or_default()
    }

    /// Declares a temporary.
    fn temporary(&mut self, name: String, width: usize) -> SignalId {
        self.signals.push(Signal::new(name, width, Role::Temporary));
        self.signals.len() - 1
    }
}

/// Max bits of an index for which a signal is padded.
const MOST_PADDED_INDEX: usize = 8;

fn assign(signal: SignalId, value: Expr) -> Stmt {
    Stmt::Assign { place: ElementRef { signal, index: None }, field: None, value }
}

fn read(signal: SignalId, width: usize) -> Expr {
    Expr { width, node: Node::Read(ElementRef { signal, index: None }) }
}
