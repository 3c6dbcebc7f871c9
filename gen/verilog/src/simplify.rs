//! Writes shifts by numbers, and the union of values that share no bit, as concatenations. Bits of constants in a concatenation
//! become literals, and zeros that are inverted on a condition become copies of the condition.

use crate::ir::{BinaryOp, ElementRef, Expr, Index, Node, Role, Signal, Stmt, mask};
use num_bigint::BigUint;

/// Rewrites all expressions of `body`.
pub(crate) fn simplify(mut body: Vec<Stmt>, signals: &[Signal]) -> Vec<Stmt> {
    for statement in &mut body {
        statement.rewrite(&mut |e| {
            if let Some(node) = concatenation(e, signals) {
                e.node = node;
            }
            if let Node::Concat(parts) = &mut e.node {
                parts
                    .iter_mut()
                    .filter_map(|part| Some((constant_bit(part, signals)?, part)))
                    .for_each(|(bit, part)| *part = Expr::literal(bit, 1));
            }
        });
    }
    copy_conditions(&mut body, signals);
    body
}

/// Writes `x = 0; if (c) x = ~x` as copies of `c`.
fn copy_conditions(body: &mut Vec<Stmt>, signals: &[Signal]) {
    let mut at = 0;
    while at < body.len() {
        if let Some(copies) = copied_condition(&body[at..], signals) {
            body.splice(at..at + 2, [copies]);
        }
        match &mut body[at] {
            Stmt::If { then, otherwise, .. } => {
                copy_conditions(then, signals);
                copy_conditions(otherwise, signals);
            }
            Stmt::Match { arms, .. } => {
                arms.iter_mut().for_each(|(_, body)| copy_conditions(body, signals));
            }
            Stmt::Loop { body, .. } => copy_conditions(body, signals),
            Stmt::Assign { .. } | Stmt::Comment(_) => {}
        }
        at += 1;
    }
}

/// Returns the statement that replaces the first two statements.
fn copied_condition(body: &[Stmt], signals: &[Signal]) -> Option<Stmt> {
    let [first, Stmt::If { test, then, otherwise }, ..] = body else { return None };
    let (
        Stmt::Assign { place, field: None, value: zeros },
        [Stmt::Assign { place: other, field: None, value }],
    ) = (first, then.as_slice())
    else {
        return None;
    };
    let Node::Not(inverted) = &value.node else { return None };
    let width = signals[place.signal].total();
    let mut reads = vec![];
    test.reads(&mut reads);
    let fits = otherwise.is_empty()
        && place == other
        && place.index.is_none()
        && inverted.node == Node::Read(place.clone())
        && zeros.node == Node::Literal(BigUint::ZERO)
        && [zeros.width, value.width] == [width; 2]
        && width > 1
        && !reads.contains(&place.signal);
    let value = Expr { width, node: Node::SignExtend(Box::new(test.clone())) };
    fits.then(|| Stmt::Assign { place: place.clone(), field: None, value })
}

/// Returns the value of one bit of a constant.
fn constant_bit(e: &Expr, signals: &[Signal]) -> Option<u8> {
    let Node::Slice(inner, Index::Number(at)) = &e.node else { return None };
    let Node::Read(ElementRef { signal, index: None }) = inner.node else { return None };
    match (&signals[signal].role, signals[signal].values.as_slice()) {
        (Role::Constant, [value]) if e.width == 1 => Some(u8::from(value.bit(*at as u64))),
        _ => None,
    }
}

/// The bits of a value: expressions with their first bits, and the value of all other bits.
struct ValueParts {
    parts: Vec<(usize, Expr)>,
    rest: BigUint,
}

impl ValueParts {
    fn whole(e: &Expr) -> ValueParts {
        ValueParts { parts: vec![(0, e.clone())], rest: BigUint::ZERO }
    }

    /// Returns the parts of an expression; `None` if a part must be cut, but is no signal.
    fn of(e: &Expr, signals: &[Signal]) -> Option<ValueParts> {
        Some(match &e.node {
            Node::Literal(value) => ValueParts { parts: vec![], rest: value.clone() },
            Node::Extend(inner) => ValueParts::of(inner, signals)?,
            Node::Concat(all) => {
                let mut sum = ValueParts { parts: vec![], rest: BigUint::ZERO };
                let mut low = 0;
                for part in all.iter().rev() {
                    let own = ValueParts::of(part, signals)?;
                    sum.parts.extend(own.parts.into_iter().map(|(at, e)| (low + at, e)));
                    sum.rest |= own.rest << low;
                    low += part.width;
                }
                sum
            }
            Node::Shift { left: true, value, by: Index::Number(by) } => {
                let own = ValueParts::of(value, signals)?;
                let moved = own.parts.into_iter().map(|(at, part)| (at + by, part));
                let parts = moved.filter_map(|(at, part)| kept(at, 0, part, e.width, signals));
                ValueParts { parts: parts.collect::<Option<_>>()?, rest: (own.rest << by) & mask(e.width) }
            }
            Node::Shift { left: false, value, by: Index::Number(by) } => {
                let own = ValueParts::of(value, signals)?;
                let parts =
                    own.parts.into_iter().filter_map(|(at, part)| kept(at, *by, part, usize::MAX, signals));
                ValueParts { parts: parts.collect::<Option<_>>()?, rest: own.rest >> by }
            }
            Node::Binary(a, BinaryOp::Or, b) => {
                let (a, b) = (ValueParts::of(a, signals)?, ValueParts::of(b, signals)?);
                if a.overlaps(&b) {
                    return Some(ValueParts::whole(e));
                }
                let parts = a.parts.into_iter().chain(b.parts).collect();
                ValueParts { parts, rest: a.rest | b.rest }
            }
            _ => ValueParts::whole(e),
        })
    }

    fn overlaps(&self, other: &ValueParts) -> bool {
        let bits = |own: &ValueParts| {
            own.parts.iter().fold(BigUint::ZERO, |all, (at, e)| all | (mask(e.width) << *at))
        };
        let (a, b) = (bits(self), bits(other));
        (&a & &b) != BigUint::ZERO
            || (&a & &other.rest) != BigUint::ZERO
            || (&b & &self.rest) != BigUint::ZERO
    }

    /// Returns the concatenation of `width` bits.
    fn joined(mut self, width: usize) -> Node {
        self.parts.sort_by_key(|(at, _)| *at);
        let (mut all, mut low) = (vec![], 0);
        let rest = |from: usize, to: usize| Expr::literal((&self.rest >> from) & mask(to - from), to - from);
        for (at, e) in &self.parts {
            if *at > low {
                all.push(rest(low, *at));
            }
            low = at + e.width;
            all.push(e.clone());
        }
        if width > low {
            all.push(rest(low, width));
        }
        all.reverse();
        match all.len() {
            1 => all.remove(0).node,
            _ => Node::Concat(all),
        }
    }
}

/// Returns the bits of a part at `at` that lie from bit `from` on and below bit `to`, as a part of the bits from `from` on. Returns
/// `None` if there are none, and `Some(None)` if the part must be cut, but is no signal.
fn kept(at: usize, from: usize, e: Expr, to: usize, signals: &[Signal]) -> Option<Option<(usize, Expr)>> {
    let (first, last) = (at.max(from), (at + e.width).min(to));
    if first >= last {
        return None;
    }
    if last - first == e.width {
        return Some(Some((at - from, e)));
    }
    let source = match &e.node {
        Node::Slice(inner, Index::Number(_)) => inner,
        _ => &Box::new(e.clone()),
    };
    let is_vector =
        matches!(&source.node, Node::Read(ElementRef { signal, .. }) if signals[*signal].layout.is_none());
    Some(is_vector.then(|| (first - from, e.sliced(Index::Number(first - at), last - first))))
}

/// Returns a shift or union as a concatenation, if it has parts.
fn concatenation(e: &Expr, signals: &[Signal]) -> Option<Node> {
    let has_parts = |e: &Expr| {
        matches!(&e.node, Node::Extend(_) | Node::Concat(_))
            || matches!(&e.node, Node::Shift { value, by: Index::Number(_), .. } if !matches!(value.node, Node::Shift { .. }))
    };
    let is_sum = match &e.node {
        Node::Shift { left: true, value, by: Index::Number(by) } => {
            *by > 0 && matches!(value.node, Node::Extend(_) | Node::Concat(_))
        }
        Node::Binary(a, BinaryOp::Or, b) => {
            let (a, b) = (&**a, &**b);
            let both = has_parts(a) && has_parts(b);
            let literal = |a: &Expr, b: &Expr| has_parts(a) && matches!(b.node, Node::Literal(_));
            both || literal(a, b) || literal(b, a)
        }
        _ => false,
    };
    let found = ValueParts::of(e, signals).filter(|_| is_sum)?;
    let is_split = found.parts.iter().all(|(_, part)| part.width < e.width);
    (is_split && !found.parts.is_empty()).then(|| found.joined(e.width))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(width: usize) -> Expr {
        Expr { width, node: Node::Read(ElementRef { signal: 0, index: None }) }
    }

    fn shift(left: bool, value: Expr, by: usize) -> Expr {
        let width = value.width;
        Expr { width, node: Node::Shift { left, value: Box::new(value), by: Index::Number(by) } }
    }

    fn or(a: Expr, b: Expr) -> Expr {
        let width = a.width;
        Expr { width, node: Node::Binary(Box::new(a), BinaryOp::Or, Box::new(b)) }
    }

    /// Returns the parts of the concatenation of an expression; empty if it stays as it is.
    fn parts(e: &Expr) -> Vec<Expr> {
        match concatenation(e, &[Signal::new("x", 8, Role::Local)]) {
            Some(Node::Concat(parts)) => parts,
            Some(node) => vec![Expr { width: e.width, node }],
            None => vec![],
        }
    }

    #[test]
    fn a_shifted_extension_has_its_zeros_below() {
        let found = parts(&shift(true, read(8).extended(16), 3));
        assert_eq!(found, [Expr::literal(0u8, 5), read(8), Expr::literal(0u8, 3)]);
        let cut = parts(&shift(true, read(8).extended(16), 10));
        assert_eq!(cut, [read(8).sliced(Index::Number(0), 6), Expr::literal(0u8, 10)]);
        assert_eq!(parts(&shift(true, read(8), 3)), []);
    }

    #[test]
    fn values_that_share_no_bit_are_joined() {
        let low = Expr::literal(5u8, 16);
        let found = parts(&or(shift(true, read(8).extended(16), 3), low.clone()));
        assert_eq!(found, [Expr::literal(0u8, 5), read(8), Expr::literal(5u8, 3)]);
        assert_eq!(parts(&or(read(8).extended(16), low)), []);
        let halves = or(shift(false, read(8), 4), shift(true, read(4).extended(8), 4));
        assert_eq!(parts(&halves), [read(4), read(8).sliced(Index::Number(4), 4)]);
    }

    #[test]
    fn a_bit_of_a_constant_in_a_concatenation_is_a_literal() {
        let one = Signal { values: vec![1u8.into()], ..Signal::new("one", 8, Role::Constant) };
        let signals = [one, Signal::new("x", 8, Role::Local)];
        let x = Expr { width: 8, node: Node::Read(ElementRef { signal: 1, index: None }) };
        let bit = |at| read(8).sliced(Index::Number(at), 1);
        let target = ElementRef { signal: 1, index: None };
        let value = Expr { width: 10, node: Node::Concat(vec![bit(7), x.clone(), bit(0)]) };
        let body = simplify(vec![Stmt::Assign { place: target, field: None, value }], &signals);
        let Stmt::Assign { value, .. } = &body[0] else { panic!("no assignment") };
        assert_eq!(value.node, Node::Concat(vec![Expr::literal(0u8, 1), x, Expr::literal(1u8, 1)]));
    }

    #[test]
    fn zeros_that_are_inverted_on_a_condition_are_its_copies() {
        let signals = [Signal::new("x", 8, Role::Local), Signal::new("c", 1, Role::Local)];
        let x = ElementRef { signal: 0, index: None };
        let store = |value| Stmt::Assign { place: x.clone(), field: None, value };
        let condition = |signal| Expr { width: 1, node: Node::Read(ElementRef { signal, index: None }) };
        let choice = |first, test| {
            let inverse = Expr { width: 8, node: Node::Not(Box::new(read(8))) };
            vec![store(first), Stmt::If { test, then: vec![store(inverse)], otherwise: vec![] }]
        };
        let copies = Expr { width: 8, node: Node::SignExtend(Box::new(condition(1))) };
        assert_eq!(simplify(choice(Expr::literal(0u8, 8), condition(1)), &signals), [store(copies)]);
        for kept in [
            choice(Expr::literal(1u8, 8), condition(1)),
            choice(Expr::literal(0u8, 8), read(8).sliced(Index::Number(0), 1)),
        ] {
            assert_eq!(simplify(kept.clone(), &signals), kept);
        }
    }

    #[test]
    fn only_bits_of_signals_are_cut() {
        let sum = Expr { width: 8, node: Node::Binary(Box::new(read(8)), BinaryOp::Add, Box::new(read(8))) };
        assert_eq!(parts(&shift(true, sum.clone().extended(16), 10)), []);
        assert_eq!(parts(&shift(true, sum.clone().extended(16), 8)), [sum, Expr::literal(0u8, 8)]);
    }
}
