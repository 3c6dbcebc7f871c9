//! Compares comparisons, selections, moves and bitwise operations of every type with plain arithmetic at its edges.

use super::{Vector, check};

/// Returns bits, register letter and edge values of each width.
fn widths() -> [(u32, char, Vec<u64>); 3] {
    [(16, 'h'), (32, 'w'), (64, 'd')].map(|(bits, letter)| {
        let (top, all) = (1u64 << (bits - 1), u64::MAX >> (64 - bits));
        (bits, letter, vec![0, 1, 2, top - 1, top, top + 1, all - 1, all, 0x5aa5_1234_89ab_cdef & all])
    })
}

fn pairs(edges: &[u64]) -> Vec<(u64, u64)> {
    edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).collect()
}

/// Runs `form` on any number of vectors.
fn check_all(form: &str, kinds: &str, vectors: &[Vector]) {
    vectors.chunks(32).for_each(|chunk| check(form, kinds, chunk));
}

#[test]
fn integers_of_every_type_are_compared() {
    type Comparison = (&'static str, fn(i128, i128) -> bool);
    let comparisons: [Comparison; 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ];
    for (bits, letter, edges) in widths() {
        let value = |word: u64, signed: bool| {
            if signed { i128::from((word << (64 - bits)) as i64 >> (64 - bits)) } else { i128::from(word) }
        };
        for (name, holds) in comparisons {
            for class in ['s', 'u', 'b'] {
                // Untyped bits only support equality.
                if class == 'b' && !["eq", "ne"].contains(&name) {
                    continue;
                }
                let vectors: Vec<Vector> = pairs(&edges)
                    .into_iter()
                    .map(|(a, b)| {
                        let signed = class == 's';
                        ([a, b, 0], u64::from(holds(value(a, signed), value(b, signed))))
                    })
                    .collect();
                check_all(&format!("setp.{name}.{class}{bits}"), &format!("p{letter}{letter}"), &vectors);
            }
        }
    }
}

#[test]
fn selections_and_moves_of_every_type_keep_all_bits() {
    for (bits, letter, edges) in widths() {
        let classes: &[char] = if bits == 16 { &['s', 'u', 'b'] } else { &['s', 'u', 'b', 'f'] };
        for class in classes {
            let selected: Vec<Vector> =
                pairs(&edges).into_iter().flat_map(|(a, b)| [([a, b, 1], a), ([a, b, 0], b)]).collect();
            check_all(&format!("selp.{class}{bits}"), &format!("{letter}{letter}{letter}p"), &selected);
            let moved: Vec<Vector> = edges.iter().map(|&a| ([a, 0, 0], a)).collect();
            check_all(&format!("mov.{class}{bits}"), &format!("{letter}{letter}"), &moved);
        }
    }
    check("mov.pred", "pp", &[([0, 0, 0], 0), ([1, 0, 0], 1)]);
}

#[test]
fn bits_of_every_width_and_predicates_are_combined() {
    type Operation = (&'static str, fn(u64, u64) -> u64);
    let operations: [Operation; 3] = [("and", |a, b| a & b), ("or", |a, b| a | b), ("xor", |a, b| a ^ b)];
    for (bits, letter, edges) in widths() {
        let all = u64::MAX >> (64 - bits);
        for (name, operation) in operations {
            let vectors: Vec<Vector> =
                pairs(&edges).into_iter().map(|(a, b)| ([a, b, 0], operation(a, b))).collect();
            check_all(&format!("{name}.b{bits}"), &format!("{letter}{letter}{letter}"), &vectors);
        }
        let inverted: Vec<Vector> = edges.iter().map(|&a| ([a, 0, 0], !a & all)).collect();
        check_all(&format!("not.b{bits}"), &format!("{letter}{letter}"), &inverted);
        // Shifts beyond the width leave only copies of the sign.
        let by = [0, 1, 7, u64::from(bits) - 1, u64::from(bits), 100, 0xffff_ffff];
        let shifted = |shift: &dyn Fn(u64, u64) -> u64| -> Vec<Vector> {
            edges.iter().flat_map(|&a| by.map(|n| ([a, n, 0], shift(a, n) & all))).collect()
        };
        let far = |n: u64| n >= u64::from(bits);
        let kinds = format!("{letter}{letter}w");
        check_all(&format!("shl.b{bits}"), &kinds, &shifted(&|a, n| if far(n) { 0 } else { a << n }));
        let right = shifted(&|a, n| if far(n) { 0 } else { a >> n });
        check_all(&format!("shr.u{bits}"), &kinds, &right);
        check_all(&format!("shr.b{bits}"), &kinds, &right);
        let signed = |a: u64, n: u64| {
            let value = (a << (64 - bits)) as i64 >> (64 - bits);
            (value >> n.min(63)) as u64
        };
        check_all(&format!("shr.s{bits}"), &kinds, &shifted(&signed));
    }
    let truth: Vec<(u64, u64)> = pairs(&[0, 1]);
    for (name, operation) in operations {
        let vectors: Vec<Vector> = truth.iter().map(|&(a, b)| ([a, b, 0], operation(a, b))).collect();
        check(&format!("{name}.pred"), "ppp", &vectors);
    }
    check("not.pred", "pp", &[([0, 0, 0], 1), ([1, 0, 0], 0)]);
}

#[test]
fn absolute_values_and_negations_wrap_at_the_least_number() {
    for (bits, letter, edges) in widths() {
        let all = u64::MAX >> (64 - bits);
        let sign = 1u64 << (bits - 1);
        let negated: Vec<Vector> = edges.iter().map(|&a| ([a, 0, 0], (!a).wrapping_add(1) & all)).collect();
        check_all(&format!("neg.s{bits}"), &format!("{letter}{letter}"), &negated);
        let absolute: Vec<Vector> = edges
            .iter()
            .map(|&a| ([a, 0, 0], if a & sign == 0 { a } else { (!a).wrapping_add(1) & all }))
            .collect();
        check_all(&format!("abs.s{bits}"), &format!("{letter}{letter}"), &absolute);
    }
}
