//! Names expressions from which bits are selected, because Verilog can only select bits of signals.

use crate::ir::{ElementRef, Expr, Index, Node, Role, Signal, Stmt};

/// Rewrites `body` so that the operand of every slice and every sign-extension is a signal.
///
/// A temporary that is assigned in only one branch gets a default before the complete statement.
pub(crate) fn hoist(body: Vec<Stmt>, signals: &mut Vec<Signal>) -> Vec<Stmt> {
    let mut out = vec![];
    for statement in body {
        let before = signals.len();
        let branches = matches!(statement, Stmt::If { .. } | Stmt::Match { .. } | Stmt::Loop { .. });
        let rewritten = hoist_body(vec![statement], signals);
        for (id, signal) in signals.iter().enumerate().skip(before).filter(|_| branches) {
            let place = ElementRef { signal: id, index: None };
            out.push(Stmt::Assign { place, field: None, value: Expr::literal(0u8, signal.width) });
        }
        out.extend(rewritten);
    }
    out
}

fn hoist_body(body: Vec<Stmt>, signals: &mut Vec<Signal>) -> Vec<Stmt> {
    let mut out = vec![];
    for statement in body {
        let mut hoister = Hoister { signals: &mut *signals, before: vec![] };
        let statement = match statement {
            Stmt::Assign { place, field, value } => {
                let field = field.map(|field| hoister.index(field));
                let statement =
                    Stmt::Assign { place: hoister.place(place), field, value: hoister.expr(value) };
                out.append(&mut hoister.before);
                statement
            }
            Stmt::If { test, then, otherwise } => {
                let test = hoister.expr(test);
                out.append(&mut hoister.before);
                Stmt::If { test, then: hoist_body(then, signals), otherwise: hoist_body(otherwise, signals) }
            }
            Stmt::Match { test, arms } => {
                let test = hoister.expr(test);
                out.append(&mut hoister.before);
                let arms = arms.into_iter().map(|(label, body)| (label, hoist_body(body, signals))).collect();
                Stmt::Match { test, arms }
            }
            Stmt::Loop { variable, from, to, body } => {
                Stmt::Loop { variable, from, to, body: hoist_body(body, signals) }
            }
            Stmt::Comment(text) => Stmt::Comment(text),
        };
        out.push(statement);
    }
    out
}

struct Hoister<'a> {
    signals: &'a mut Vec<Signal>,
    before: Vec<Stmt>,
}

impl Hoister<'_> {
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
                Node::Slice(Box::new(self.named(inner)), index)
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
            node @ (Node::Literal(_) | Node::Variant(..) | Node::Number(_)) => node,
        };
        Expr { width, node }
    }

    /// Returns the expression as a signal: itself, or a temporary that is assigned in the preceding statement.
    fn named(&mut self, e: Expr) -> Expr {
        if matches!(e.node, Node::Read(_)) {
            return e;
        }
        let number = self.signals.iter().filter(|s| s.role == Role::Temporary).count();
        let (signal, width) = (self.signals.len(), e.width);
        let name = format!("part_{number}");
        self.signals.push(Signal {
            key: name.clone(),
            name,
            dimensions: vec![],
            width,
            signed: false,
            role: Role::Temporary,
            doc: vec![],
            values: vec![],
            is_data: false,
            layout: None,
        });
        let place = ElementRef { signal, index: None };
        self.before.push(Stmt::Assign { place: place.clone(), field: None, value: e });
        Expr { width, node: Node::Read(place) }
    }
}
