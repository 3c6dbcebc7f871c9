//! Tests video instructions against the pseudocode of the PTX ISA, in integers of 128 bits.

use super::{Vector, check, kernel_text, own_element, run_words};

const WORDS: [u32; 6] = [0, 0x80ff_7f01, 0x7f80_ff00, 0x1234_5678, 0xffff_ffff, 0x00ff_8001];

/// Returns the low `bits` of `word` as a number of a type.
fn value(word: u64, bits: u32, signed: bool) -> i128 {
    let low = i128::from(word) & ((1 << bits) - 1);
    if signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

fn clamp(value: i128, bits: u32, signed: bool) -> i128 {
    if signed {
        value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}

type Operation = (&'static str, fn(i128, i128) -> i128);

const OPERATIONS: [Operation; 6] = [
    ("vadd", |a, b| a + b),
    ("vsub", |a, b| a - b),
    ("vabsdiff", |a, b| (a - b).abs()),
    ("vmin", |a, b| if a < b { a } else { b }),
    ("vmax", |a, b| if a > b { a } else { b }),
    ("vavrg", |a, b| if a + b >= 0 { (a + b + 1) >> 1 } else { (a + b) >> 1 }),
];

const COMPARISONS: [Operation; 6] = [
    ("eq", |a, b| i128::from(a == b)),
    ("ne", |a, b| i128::from(a != b)),
    ("lt", |a, b| i128::from(a < b)),
    ("le", |a, b| i128::from(a <= b)),
    ("gt", |a, b| i128::from(a > b)),
    ("ge", |a, b| i128::from(a >= b)),
];

fn name(signed: bool) -> &'static str {
    if signed { "s32" } else { "u32" }
}

/// Returns vectors of all pairs of words, with a third operand.
fn vectors(result: &dyn Fn(u32, u32, u32) -> i128) -> Vec<Vector> {
    let pairs = WORDS.iter().flat_map(|&a| WORDS.iter().map(move |&b| (a, b)));
    let vector = |(a, b): (u32, u32)| {
        let c = a.rotate_left(7) ^ 0x0f1e_2d3c;
        ([a.into(), b.into(), c.into()], (result(a, b, c) & 0xffff_ffff) as u64)
    };
    pairs.map(vector).collect()
}

fn check_all(form: &str, kinds: &str, vectors: &[Vector]) {
    vectors.chunks(32).for_each(|chunk| check(form, kinds, chunk));
}

#[test]
fn parts_of_registers_are_added_compared_and_merged() {
    let signs = [[false; 3], [true; 3], [true, false, true], [false, true, false]];
    for (parts, bits) in [(2u32, 16u32), (4, 8)] {
        let part =
            |word: u32, index: u32, signed: bool| value(u64::from(word >> (bits * index)), bits, signed);
        let merged = |of: &dyn Fn(u32) -> i128| -> i128 {
            (0..parts).map(|i| (of(i) & ((1 << bits) - 1)) << (bits * i)).sum()
        };
        for [d, x, y] in signs {
            let types = format!("{}.{}", name(x), name(y));
            for (stem, operation) in OPERATIONS {
                for saturate in [false, true] {
                    let own = |a: u32, b: u32, i: u32| {
                        let t = operation(part(a, i, x), part(b, i, y));
                        if saturate { clamp(t, bits, d) } else { t }
                    };
                    let sat = if saturate { ".sat" } else { "" };
                    let form = format!("{stem}{parts}.{}.{types}{sat}", name(d));
                    check_all(&form, "wwww", &vectors(&|a, b, _| merged(&|i| own(a, b, i))));
                    let sum = |a, b, c: u32| i128::from(c) + (0..parts).map(|i| own(a, b, i)).sum::<i128>();
                    check_all(&format!("{form}.add"), "wwww", &vectors(&sum));
                }
            }
            for (comparison, operation) in COMPARISONS {
                let own = |a: u32, b: u32, i: u32| operation(part(a, i, x), part(b, i, y));
                let form = format!("vset{parts}.{types}.{comparison}");
                check_all(&form, "wwww", &vectors(&|a, b, _| merged(&|i| own(a, b, i))));
                let sum = |a, b, c: u32| i128::from(c) + (0..parts).map(|i| own(a, b, i)).sum::<i128>();
                check_all(&format!("{form}.add"), "wwww", &vectors(&sum));
            }
        }
    }
}

#[test]
fn whole_registers_take_a_second_operation() {
    for [d, x, y] in [[false; 3], [true; 3], [true, false, true]] {
        let types = format!("{}.{}", name(x), name(y));
        let arithmetic =
            OPERATIONS[..5].iter().map(|(stem, f)| (format!("{stem}.{}.{types}", name(d)), *f, d));
        let comparisons = COMPARISONS.iter().map(|(op, f)| (format!("vset.{types}.{op}"), *f, false));
        for (form, operation, d) in arithmetic.chain(comparisons) {
            let own = |a: u32, b: u32| operation(value(a.into(), 32, x), value(b.into(), 32, y));
            check_all(&form, "www", &vectors(&|a, b, _| own(a, b)));
            if !form.starts_with("vset") {
                check_all(&format!("{form}.sat"), "www", &vectors(&|a, b, _| clamp(own(a, b), 32, d)));
            }
            let third = |c: u32| value(c.into(), 32, d);
            check_all(&format!("{form}.add"), "wwww", &vectors(&|a, b, c| own(a, b) + third(c)));
            check_all(&format!("{form}.min"), "wwww", &vectors(&|a, b, c| own(a, b).min(third(c))));
            check_all(&format!("{form}.max"), "wwww", &vectors(&|a, b, c| own(a, b).max(third(c))));
        }
    }
    let counted = |wrap: bool, b: u32| if wrap { b & 31 } else { b.min(32) };
    for wrap in [false, true] {
        let mode = if wrap { "wrap" } else { "clamp" };
        for signed in [false, true] {
            let of = name(signed);
            let left = |a: u32, b: u32, _: u32| value(a.into(), 32, signed) << counted(wrap, b);
            check_all(&format!("vshl.{of}.{of}.u32.{mode}"), "www", &vectors(&left));
            let clamped = |a, b, c| clamp(left(a, b, c), 32, signed);
            check_all(&format!("vshl.{of}.{of}.u32.sat.{mode}"), "www", &vectors(&clamped));
            let right =
                |a: u32, b: u32, c: u32| (value(a.into(), 32, signed) >> counted(wrap, b)) + i128::from(c);
            check_all(&format!("vshr.{of}.{of}.u32.{mode}.add"), "wwww", &vectors(&right));
        }
    }
}

#[test]
fn selectors_pick_parts_of_operands_and_results() {
    let (a, b, c) = (0x8079_0512u32, 0xf00f_3344u32, 0xaabb_ccddu32);
    let cases = [
        // Bytes 4 to 7 are those of b.
        ("vadd4.u32.u32.u32 %r4.b20, %r1.b7654, %r2.b3210, %r3", 0xaa88_cc56),
        ("vadd2.s32.s32.s32.sat %r4, %r1.h01, %r2.h33, %r3", 0xf521_8000),
        ("vset4.u32.u32.gt.add %r4.b2, %r1, %r2, %r3", 0xaabb_ccde),
        ("vabsdiff4.u32.u32.u32.add %r4.b10, %r1, %r2, %r3", 0xaabb_cd3d),
        ("vadd.u32.u32.u32 %r4, %r1.b2, %r2.h1", 0xf088),
        ("vsub.s32.s32.s32.sat %r4.b1, %r1.b3, %r2.b0, %r3", 0xaabb_80dd),
        ("vmax.s32.s32.s32 %r4.h1, %r1.h1, %r2.h1, %r3", 0xf00f_ccdd),
        ("vshr.u32.u32.u32.clamp.add %r4, %r1, 32, %r3", 0xaabb_ccdd),
    ];
    for (statement, wanted) in cases {
        let body = own_element(4)
            + &format!(
                "mov.b32 %r1, {a}; mov.b32 %r2, {b}; mov.b32 %r3, {c}; {statement}; st.global.u32 [%rd0], %r4; ret;"
            );
        let (out, _) = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap();
        assert_eq!(out, [wanted; 32], "{statement}: {:#x}", out[0]);
    }
}
