//! Searches for a short expression over named numbers that gives the wanted values.

use crate::verilog::{Code, code};

/// Numbers that may be added to an expression, in order of preference.
const OFFSETS: [i64; 5] = [0, -1, 1, -2, 2];
/// Factors that an expression may contain as literals.
const FACTORS: [i64; 3] = [2, 4, 8];

/// A named number with its value in each use of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedNumber {
    pub name: String,
    pub values: Vec<i64>,
}

/// A Verilog expression. Its operands need no parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerilogFormula(Code);

impl VerilogFormula {
    /// Returns the expression with blanks around operators.
    pub fn spaced(self) -> Code {
        self.0
    }

    /// Returns the expression without blanks, as within brackets.
    pub fn tight(mut self) -> Code {
        self.0.0.retain(|token| token.text() != " ");
        self.0
    }

    /// Returns the names and symbols in the expression.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.0.0.iter().map(|token| token.text().to_string())
    }

    /// Returns whether the expression is a name alone.
    pub fn is_name(&self) -> bool {
        self.0.0.iter().all(|token| token.text() != " ")
    }
}

/// An expression with its value in each use of a module.
#[derive(Clone)]
pub(crate) struct Term {
    pub code: Code,
    pub values: Vec<i64>,
}

impl From<&NamedNumber> for Term {
    fn from(known: &NamedNumber) -> Term {
        Term { code: Code::from(&known.name), values: known.values.clone() }
    }
}

/// Returns the simplest expression over `ones` that is `wanted[use]` in every use. It may contain the `fixed` numbers as
/// literals.
///
/// Every operand is a number of the design, so that the result is a relation and not a coincidence. Arbitrary factors and
/// summands are not tried: they would fit any two uses.
pub(crate) fn find(wanted: &[i64], ones: &[Term], fixed: &[i64]) -> Option<VerilogFormula> {
    let literal = |value: &i64| Term { code: Code::from(*value), values: vec![*value; wanted.len()] };
    let literals: Vec<Term> = fixed.iter().filter(|value| **value > 2).map(literal).collect();
    let factors: Vec<Term> = FACTORS.iter().map(literal).collect();

    let pairs = combine(ones, ones, &["+", "-", "*", "/"]);
    let mut mixed = combine(ones, &literals, &["+", "-", "*", "/"]);
    mixed.extend(combine(&literals, ones, &["-", "/"]));
    mixed.extend(combine(&factors, ones, &["*"]));
    mixed.extend(combine(ones, &factors, &["/"]));
    let short = [ones, &pairs[..], &mixed[..]];
    let found = short.into_iter().find_map(|terms| with_offset(wanted, terms, &OFFSETS));
    // Three operands fit nearly any two uses.
    if found.is_some() || wanted.len() < 3 {
        return found;
    }
    let triples = combine(&pairs, ones, &["+", "-"]);
    let with_literals = combine(&mixed, ones, &["+", "-"]);
    [&triples, &with_literals].into_iter().find_map(|terms| with_offset(wanted, terms, &OFFSETS[..2]))
}

/// Returns all `a op b` whose values are integers in every use.
fn combine(left: &[Term], right: &[Term], operators: &[&str]) -> Vec<Term> {
    let mut out = vec![];
    for operator in operators {
        for a in left {
            for b in right.iter().filter(|b| b.code != a.code) {
                let values: Option<Vec<i64>> =
                    a.values.iter().zip(&b.values).map(|(a, b)| apply(*a, operator, *b)).collect();
                if let Some(values) = values {
                    let code = code![a.code.clone(), " ", *operator, " ", b.code.clone()];
                    out.push(Term { code, values });
                }
            }
        }
    }
    out
}

fn apply(a: i64, operator: &str, b: i64) -> Option<i64> {
    match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        _ if b > 0 && a % b == 0 => Some(a / b),
        _ => None,
    }
}

/// Returns the first of `terms` that gives `wanted` after adding one of `offsets`.
fn with_offset(wanted: &[i64], terms: &[Term], offsets: &[i64]) -> Option<VerilogFormula> {
    let gives = |term: &Term, offset: i64| {
        // Verilog computes with 32 bits.
        let fits = |value: &i64| i32::try_from(*value).is_ok();
        term.values.iter().all(fits) && term.values.iter().zip(wanted).all(|(value, w)| value + offset == *w)
    };
    offsets.iter().find_map(|offset| {
        let term = terms.iter().find(|term| gives(term, *offset))?;
        let code = match offset {
            0 => term.code.clone(),
            1.. => code![term.code.clone(), " ", "+", " ", *offset],
            _ => code![term.code.clone(), " ", "-", " ", -offset],
        };
        Some(VerilogFormula(code))
    })
}

#[cfg(test)]
mod tests {
    use super::{Term, find};
    use crate::verilog::Code;

    fn known(name: &str, values: [i64; 3]) -> Term {
        Term { code: Code::from(name), values: values.to_vec() }
    }

    fn found(wanted: [i64; 3]) -> Option<String> {
        let named = [known("BASE", [64, 32, 16]), known("DELTA", [8, 16, 8])];
        find(&wanted, &named, &[1024]).map(|formula| formula.spaced().to_string())
    }

    #[test]
    fn a_name_comes_before_anything_longer() {
        assert_eq!(found([64, 32, 16]).as_deref(), Some("BASE"));
    }

    #[test]
    fn bounds_differences_and_quotients_are_found() {
        assert_eq!(found([63, 31, 15]).as_deref(), Some("BASE - 1"));
        assert_eq!(found([57, 17, 9]).as_deref(), Some("BASE - DELTA + 1"));
        assert_eq!(found([15, 31, 63]).as_deref(), Some("1024 / BASE - 1"));
        assert_eq!(found([512, 512, 128]).as_deref(), Some("BASE * DELTA"));
        assert_eq!(found([448, 480, 112]).as_deref(), Some("BASE * DELTA - BASE"));
    }

    #[test]
    fn numbers_without_relation_have_no_expression() {
        assert_eq!(found([5, 700, 31]), None);
    }

    #[test]
    fn any_two_numbers_are_no_relation() {
        let named = [Term { code: Code::from("STAGES"), values: vec![1, 2] }];
        assert_eq!(find(&[1156, 1036], &named, &[]), None);
    }

    #[test]
    fn values_have_the_32_bits_that_verilog_computes_with() {
        let product = |b: i64| {
            let named = [known("A", [1024, 2048, 4096]), known("B", [b, b, b + 1])];
            find(&[1024 * b, 2048 * b, 4096 * (b + 1)], &named, &[])
                .map(|formula| formula.spaced().to_string())
        };
        assert_eq!(product(1 << 18).as_deref(), Some("A * B"), "2^30 and a bit");
        assert_eq!(product(1 << 20), None, "2^32 and a bit");
    }

    #[test]
    fn quotients_are_whole() {
        let named = [Term { code: Code::from("N"), values: vec![3, 5] }];
        assert_eq!(find(&[5, 3], &named, &[16]), None);
    }
}
