//! Chains of `if` that compare one value with constants, which a `case` shows better.

use crate::ir::{BinaryOp, CompareOp, Expr, Node, Role, Signal, Stmt};
use num_bigint::BigUint;

/// Min arms of a `case`, without its default.
const FEWEST_ARMS: usize = 3;

/// A chain of `if` as a choice by one value.
pub(crate) struct ChoiceByValue<'a> {
    pub value: &'a Expr,
    /// Constants of each arm, and its statements.
    pub arms: Vec<(Vec<&'a Expr>, &'a [Stmt])>,
    pub otherwise: &'a [Stmt],
}

impl<'a> ChoiceByValue<'a> {
    /// Returns the choice that the statement makes; `None` if it is another statement, if its conditions are other ones, or
    /// if two constants may be equal.
    pub fn of(statement: &'a Stmt, signals: &[Signal]) -> Option<ChoiceByValue<'a>> {
        let (mut arms, mut next) = (vec![], std::slice::from_ref(statement));
        let (mut values, mut known) = (vec![], vec![]);
        while let [Stmt::If { test, then, otherwise }] = next {
            let mut labels = vec![];
            comparisons(test, &mut labels).then_some(())?;
            for (value, constant) in &labels {
                values.push(*value);
                known.push(number(constant, signals)?);
            }
            arms.push((labels.into_iter().map(|(_, constant)| constant).collect(), then.as_slice()));
            next = otherwise;
        }
        let value = *values.first()?;
        let is_one = values.iter().all(|other| *other == value) && number(value, signals).is_none();
        known.sort_unstable();
        let count = known.len();
        known.dedup();
        (is_one && known.len() == count && arms.len() >= FEWEST_ARMS).then_some(ChoiceByValue {
            value,
            arms,
            otherwise: next,
        })
    }
}

/// Appends the values and constants of a comparison for equality, or of alternatives of these. Returns `false` for other
/// conditions.
fn comparisons<'a>(test: &'a Expr, found: &mut Vec<(&'a Expr, &'a Expr)>) -> bool {
    match &test.node {
        Node::Compare { left, op: CompareOp::Eq, right, .. } => {
            found.push((left, right));
            true
        }
        Node::Binary(a, BinaryOp::Or | BinaryOp::Either, b) if test.width == 1 => {
            comparisons(a, found) && comparisons(b, found)
        }
        _ => false,
    }
}

/// Returns the number that an expression always has.
fn number(e: &Expr, signals: &[Signal]) -> Option<BigUint> {
    match &e.node {
        Node::Literal(value) | Node::Variant(_, value) => Some(value.clone()),
        Node::Read(source) if source.index.is_none() && signals[source.signal].role == Role::Constant => {
            match signals[source.signal].values.as_slice() {
                [one] => Some(one.clone()),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::ElementRef;

    fn read(signal: usize) -> Expr {
        Expr { width: 4, node: Node::Read(ElementRef { signal, index: None }) }
    }

    fn equal(left: Expr, value: u8) -> Expr {
        let (left, right) = (Box::new(left), Box::new(Expr::literal(value, 4)));
        Expr { width: 1, node: Node::Compare { signed: false, left, op: CompareOp::Eq, right } }
    }

    fn either(a: Expr, b: Expr) -> Expr {
        Expr { width: 1, node: Node::Binary(Box::new(a), BinaryOp::Or, Box::new(b)) }
    }

    /// Returns the chain of `if` with these conditions.
    fn chain(tests: Vec<Expr>) -> Stmt {
        let end = vec![Stmt::Comment("else".into())];
        let mut rest = tests
            .into_iter()
            .rev()
            .fold(end, |otherwise, test| vec![Stmt::If { test, then: vec![], otherwise }]);
        rest.remove(0)
    }

    /// Returns the number of constants of each arm.
    fn arms(statement: &Stmt) -> Option<Vec<usize>> {
        let signals = [Signal::new("x", 4, Role::Local), Signal::new("y", 4, Role::Local)];
        let choice = ChoiceByValue::of(statement, &signals)?;
        assert_eq!(choice.otherwise.len(), 1);
        Some(choice.arms.iter().map(|(labels, _)| labels.len()).collect())
    }

    #[test]
    fn comparisons_of_one_value_with_distinct_constants_are_a_choice() {
        let tests = vec![equal(read(0), 1), either(equal(read(0), 2), equal(read(0), 3)), equal(read(0), 4)];
        assert_eq!(arms(&chain(tests)), Some(vec![1, 2, 1]));
    }

    #[test]
    fn short_chains_other_values_and_equal_constants_are_no_choice() {
        let three = |value: Expr, last: u8| vec![equal(read(0), 1), equal(value, 2), equal(read(0), last)];
        assert_eq!(arms(&chain(three(read(0), 3))), Some(vec![1, 1, 1]));
        assert_eq!(arms(&chain(three(read(1), 3))), None);
        assert_eq!(arms(&chain(three(read(0), 1))), None);
        assert_eq!(arms(&chain(three(read(0), 3)[..2].to_vec())), None);
    }
}
