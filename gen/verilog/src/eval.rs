//! Evaluates statements without inputs, so that constants are written as constants.

use crate::ir::{BinaryOp, CompareOp, Expr, Index, LoopValues, Node, ReduceOp, Signal, SignalId, Stmt, mask};
use num_bigint::BigUint;
use std::collections::BTreeMap;

/// Values of elements of signals.
pub(crate) type ElementValues = BTreeMap<(SignalId, usize), BigUint>;

/// Runs `body`, which reads only constants and signals that it has assigned.
pub(crate) fn run(body: &[Stmt], signals: &[Signal], turn: &mut LoopValues, store: &mut ElementValues) {
    for statement in body {
        match statement {
            Stmt::Assign { place, field, value } => {
                let evaluator = Evaluator { signals, turn, store };
                let element = place.index.as_ref().map_or(0, |index| evaluator.index(index));
                let new = evaluator.expr(value);
                let slot = (place.signal, element);
                let new = match field {
                    None => new,
                    Some(field) => {
                        let from = evaluator.index(field);
                        let old = store.get(&slot).cloned().unwrap_or_default();
                        replace(&old, signals[place.signal].width, from, &new, value.width)
                    }
                };
                store.insert(slot, new);
            }
            Stmt::If { test, then, otherwise } => {
                let test = Evaluator { signals, turn, store }.expr(test);
                run(if test == BigUint::default() { otherwise } else { then }, signals, turn, store);
            }
            Stmt::Match { test, arms } => {
                let evaluator = Evaluator { signals, turn, store };
                let test = evaluator.expr(test);
                let arm = arms
                    .iter()
                    .find(|(label, _)| label.as_ref().is_none_or(|label| evaluator.expr(label) == test));
                if let Some((_, body)) = arm {
                    run(body, signals, turn, store);
                }
            }
            Stmt::Loop { variable, from, to, body } => {
                for value in *from..*to {
                    turn.push((variable.clone(), value));
                    run(body, signals, turn, store);
                    turn.pop();
                }
            }
            Stmt::Comment(_) => {}
        }
    }
}

fn replace(old: &BigUint, width: usize, from: usize, field: &BigUint, bits: usize) -> BigUint {
    if from + bits > width {
        return old.clone();
    }
    let hole = mask(bits) << from;
    let cleared = old - (old & &hole);
    cleared | (field << from)
}

struct Evaluator<'a> {
    signals: &'a [Signal],
    turn: &'a LoopValues,
    store: &'a ElementValues,
}

impl Evaluator<'_> {
    fn index(&self, index: &Index) -> usize {
        use crate::ir::IndexOp::*;
        match index {
            Index::Value(e) => self.expr(e).iter_u64_digits().next().unwrap_or(0) as usize,
            Index::Operation(a, op, b) => {
                let (a, b) = (self.index(a), self.index(b));
                match op {
                    Add => a + b,
                    Sub => a.wrapping_sub(b),
                    Mul => a * b,
                }
            }
            other => other.value(self.turn).ok().flatten().unwrap_or(0),
        }
    }

    fn expr(&self, e: &Expr) -> BigUint {
        let ones = mask(e.width);
        let bit = |b: bool| BigUint::from(u8::from(b));
        match &e.node {
            Node::Read(place) => {
                let element = place.index.as_ref().map_or(0, |index| self.index(index));
                let constant = || self.signals[place.signal].values.get(element).cloned();
                self.store.get(&(place.signal, element)).cloned().or_else(constant).unwrap_or_default()
            }
            Node::Literal(value) | Node::Variant(_, value) => value.clone(),
            Node::Number(index) => BigUint::from(self.index(index)) & ones,
            Node::Extend(inner) => self.expr(inner),
            Node::SignExtend(inner) => {
                let value = self.expr(inner);
                if value.bit(inner.width as u64 - 1) {
                    value | (mask(e.width) - mask(inner.width))
                } else {
                    value
                }
            }
            Node::Slice(inner, index) => {
                let from = self.index(index);
                if from + e.width > inner.width {
                    BigUint::default()
                } else {
                    (self.expr(inner) >> from) & ones
                }
            }
            Node::Concat(parts) => {
                parts.iter().fold(BigUint::default(), |sum, part| (sum << part.width) | self.expr(part))
            }
            Node::Replace(inner, index, field) => {
                replace(&self.expr(inner), e.width, self.index(index), &self.expr(field), field.width)
            }
            Node::Not(inner) => &ones - self.expr(inner),
            Node::Negate(inner) => ((BigUint::from(1u8) << e.width) - self.expr(inner)) & ones,
            Node::Reduce(op, inner) => {
                let value = self.expr(inner);
                bit(match op {
                    ReduceOp::All => value == mask(inner.width),
                    ReduceOp::Any => value != BigUint::default(),
                    ReduceOp::Xor => value.count_ones() % 2 == 1,
                })
            }
            Node::Binary(a, op, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                ones & match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Sub => a + (BigUint::from(1u8) << e.width) - b,
                    BinaryOp::Mul => a * b,
                    BinaryOp::And | BinaryOp::Both => a & b,
                    BinaryOp::Or | BinaryOp::Either => a | b,
                    BinaryOp::Xor => a ^ b,
                }
            }
            Node::Shift { left, value, by } => {
                let (value, by) = (self.expr(value), self.index(by));
                match (by >= e.width, left) {
                    (true, _) => BigUint::default(),
                    (false, true) => (value << by) & ones,
                    (false, false) => value >> by,
                }
            }
            Node::Compare { signed, left, op, right } => {
                // Inverting the sign bit turns the signed order into the unsigned one.
                let flip = if *signed { BigUint::from(1u8) << (left.width - 1) } else { BigUint::default() };
                bit(compare(&(self.expr(left) ^ &flip), *op, &(self.expr(right) ^ &flip)))
            }
            Node::CompareIndex(a, op, b) => bit(compare(&self.index(a), *op, &self.index(b))),
            Node::Choose(test, yes, no) => {
                self.expr(if self.expr(test) == BigUint::default() { no } else { yes })
            }
        }
    }
}

pub(crate) fn compare<T: Ord>(a: &T, op: CompareOp, b: &T) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}
