//! Tests rounding, saturation and comparison of 16-bit and 8-bit floating-point numbers against the PTX rules.

use super::exact::{self, Format};
use super::{Vector, check, kernel_text, own_element, run_words};

const HALF: Format = Format { bits: 16, precision: 11, lowest: -24 };
const BRAIN: Format = Format { bits: 16, precision: 8, lowest: -133 };
/// NaN that operations return.
const NAN: u64 = 0x7fff;

/// Returns edge cases of a format, and random numbers.
fn operands(format: Format, count: usize) -> Vec<u64> {
    let infinity = ((1u64 << (16 - format.precision)) - 1) << (format.precision - 1);
    let one = ((1u64 << (15 - format.precision)) - 1) << (format.precision - 1);
    let mut out = vec![0, 0x8000, 1, infinity, infinity - 1, infinity | 0x8000, infinity + 1, one, one + 1];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    while out.len() < count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Every second number is near 1, where sums cancel and products round.
        let random = state >> 48;
        out.push(if out.len() % 2 == 0 { random } else { (random & 0x81ff) | one & !0x1ff });
    }
    out
}

/// Compares `form` on many operands with `expected`. Also tests the form for pairs, with another number in the other
/// half.
fn agrees(name: &str, of: &str, format: Format, count: usize, expected: impl Fn([u64; 3]) -> Option<u64>) {
    let pool = operands(format, 64);
    let mut cases: Vec<[u64; 3]> = Vec::new();
    for step in 0..8 * 32 {
        cases.push([pool[step % 64], pool[(step * 7 + step / 64) % 64], pool[(step * 13 + step / 8) % 64]]);
    }
    let kept = |values: [u64; 3]| std::array::from_fn(|i| if i < count { values[i] } else { 0 });
    let answers: Vec<Vector> =
        cases.iter().map(|&values| (kept(values), expected(values).unwrap_or(NAN))).collect();
    let (scalar, pair) = (&"hhhh"[..=count], &"wwww"[..=count]);
    for chunk in answers.chunks(32) {
        check(&format!("{name}.{of}"), scalar, chunk);
        let pairs: Vec<Vector> = (0..32)
            .map(|i| {
                let (low, high) = (chunk[i], chunk[(i + 5) % 32]);
                (std::array::from_fn(|n| low.0[n] | high.0[n] << 16), low.1 | high.1 << 16)
            })
            .collect();
        check(&format!("{name}.{of}x2"), pair, &pairs);
    }
}

#[test]
fn arithmetic_rounds_once() {
    for (of, format) in [("f16", HALF), ("bf16", BRAIN)] {
        let read = move |bits| format.read(bits);
        let write = move |number: exact::Number| format.write(&number, 'n');
        agrees("add.rn", of, format, 2, |[a, b, _]| write(exact::add(&read(a), &read(b), 'n')));
        agrees("sub.rn", of, format, 2, |[a, b, _]| {
            write(exact::add(&read(a), &exact::negate(&read(b)), 'n'))
        });
        agrees("mul.rn", of, format, 2, |[a, b, _]| write(exact::multiply(&read(a), &read(b))));
        agrees("fma.rn", of, format, 3, |[a, b, c]| {
            write(exact::add(&exact::multiply(&read(a), &read(b)), &read(c), 'n'))
        });
    }
}

#[test]
fn signs_are_changed_and_extremes_chosen() {
    for of in ["f16", "bf16"] {
        check(&format!("neg.{of}"), "hh", &[([0x3c00, 0, 0], 0xbc00), ([0x8000, 0, 0], 0)]);
        check(&format!("abs.{of}"), "hh", &[([0xbc00, 0, 0], 0x3c00)]);
        check(&format!("neg.{of}x2"), "ww", &[([0x3c00_8000, 0, 0], 0xbc00_0000)]);
        check(
            &format!("min.{of}"),
            "hhh",
            &[
                ([0x3c00, 0xbc00, 0], 0xbc00),
                ([0, 0x8000, 0], 0x8000),
                ([0x7fff, 0x3c00, 0], 0x3c00),
                ([0x7fff, 0xffff, 0], NAN),
            ],
        );
        check(&format!("max.{of}"), "hhh", &[([0x8000, 0, 0], 0), ([0x3c00, 0x7fff, 0], 0x3c00)]);
        check(&format!("max.NaN.{of}"), "hhh", &[([0x3c00, 0x7fff, 0], NAN), ([0x3c00, 0x3c01, 0], 0x3c01)]);
        check(&format!("max.NaN.{of}x2"), "www", &[([0x7fff_0001, 0x3c00_0002, 0], NAN << 16 | 2)]);
        check(
            &format!("min.xorsign.abs.{of}"),
            "hhh",
            &[([0xbc00, 0x3c01, 0], 0xbc00), ([0xbc00, 0xbc01, 0], 0x3c00)],
        );
    }
}

#[test]
fn results_are_clamped_and_flushed() {
    check(
        "fma.rn.relu.f16",
        "hhhh",
        &[([0x3c00, 0xc000, 0], 0), ([0x3c00, 0x4000, 0], 0x4000), ([0x7fff, 0, 0], NAN)],
    );
    check(
        "add.sat.f16",
        "hhh",
        &[([0x3c00, 0x3c00, 0], 0x3c00), ([0xbc00, 0, 0], 0), ([0x7fff, 0, 0], 0), ([0x3800, 0, 0], 0x3800)],
    );
    check(
        "mul.ftz.f16",
        "hhh",
        &[([1, 0x3c00, 0], 0), ([0x8001, 0x3c00, 0], 0x8000), ([0x0400, 0x3800, 0], 0)],
    );
    check("fma.rn.relu.bf16x2", "wwww", &[([0x3f80_bf80, 0x4000_4000, 0], 0x4000_0000)]);
}

#[test]
fn special_functions_are_rounded_to_the_format() {
    check("ex2.approx.f16", "hh", &[([0x4200, 0, 0], 0x4800), ([0x3800, 0, 0], 0x3da8)]);
    check("ex2.approx.ftz.bf16", "hh", &[([0x4040, 0, 0], 0x4100)]);
    check("tanh.approx.f16", "hh", &[([0, 0, 0], 0), ([0x7c00, 0, 0], 0x3c00), ([0xfc00, 0, 0], 0xbc00)]);
}

#[test]
fn comparisons_know_what_is_unordered() {
    let (one, two, nan) = (0x3c00, 0x4000, 0x7fff);
    for (relation, answers) in [
        ("eq", [1, 0, 0, 0]),
        ("ne", [0, 1, 1, 0]),
        ("lt", [0, 1, 0, 0]),
        ("le", [1, 1, 0, 0]),
        ("gt", [0, 0, 1, 0]),
        ("ge", [1, 0, 1, 0]),
        ("equ", [1, 0, 0, 1]),
        ("neu", [0, 1, 1, 1]),
        ("ltu", [0, 1, 0, 1]),
        ("leu", [1, 1, 0, 1]),
        ("gtu", [0, 0, 1, 1]),
        ("geu", [1, 0, 1, 1]),
        ("num", [1, 1, 1, 0]),
        ("nan", [0, 0, 0, 1]),
    ] {
        let pairs = [[one, one], [one, two], [two, one], [one, nan]];
        let vectors: Vec<Vector> =
            pairs.iter().zip(answers).map(|(&[a, b], answer)| ([a, b, 0], answer)).collect();
        for of in ["f16", "bf16"] {
            check(&format!("setp.{relation}.{of}"), "phh", &vectors);
            let words: Vec<Vector> =
                vectors.iter().map(|(operands, answer)| (*operands, answer * 0xffff_ffff)).collect();
            check(&format!("set.{relation}.u32.{of}"), "whh", &words);
            let halves: Vec<Vector> = vectors
                .iter()
                .map(|([a, b, _], answer)| ([a << 16 | one, b << 16 | two, 0], answer * 0xffff_0000))
                .map(|(operands, answer)| {
                    (operands, answer | if relation_of_less(relation) { 0xffff } else { 0 })
                })
                .collect();
            check(&format!("set.{relation}.u32.{of}x2"), "www", &halves);
        }
    }
    check("set.gt.f16.f16", "hhh", &[([two, one, 0], 0x3c00), ([one, two, 0], 0)]);
    check("set.gt.bf16x2.bf16x2", "www", &[([0x4000_0000, 0x3f80_3f80, 0], 0x3f80_0000)]);
}

/// Returns whether a relation is true for 1 and 2.
fn relation_of_less(name: &str) -> bool {
    matches!(name, "ne" | "lt" | "le" | "neu" | "ltu" | "leu" | "num")
}

#[test]
fn a_comparison_of_pairs_gives_two_predicates() {
    let body = own_element(16)
        + "mov.b32 %r1, 0x3c004000; mov.b32 %r2, 0x40003c00; setp.ne.u32 %p4, %r1, 0;\n\
           setp.lt.f16x2 %p1|%p2, %r1, %r2; selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 1, 0, %p2;\n\
           setp.lt.and.f16x2 %p1|%p2, %r1, %r2, !%p4; selp.u32 %r5, 1, 0, %p2;\n\
           mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4000; setp.lt.f16 %p1|%p2, %h1, %h2; selp.u32 %r6, 1, 0, %p2;\n\
           st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6}; ret;";
    assert_eq!(run_words(&kernel_text("", &body), 1, &[9; 4]).unwrap().0, [0, 1, 0, 0]);
}

#[test]
fn conversions_make_two_of_two_registers() {
    let single = |value: f32| u64::from(value.to_bits());
    check(
        "cvt.rn.f16x2.f32",
        "www",
        &[([single(1.0), single(-2.0), 0], 0x3c00_c000), ([single(1e6), single(f32::NAN), 0], 0x7c00_7fff)],
    );
    check("cvt.rz.f16x2.f32", "www", &[([single(1e6), single(1.0 + 0.75 / 1024.0), 0], 0x7bff_3c00)]);
    check("cvt.rn.relu.f16x2.f32", "www", &[([single(-1.0), single(2.0), 0], 0x4000)]);
    check("cvt.rn.bf16x2.f32", "www", &[([single(1.0), single(-3.140_625), 0], 0x3f80_c049)]);
    check("cvt.rn.relu.bf16x2.f32", "www", &[([single(1.0), single(-3.0), 0], 0x3f80_0000)]);
    check("cvt.rn.relu.f16.f32", "hw", &[([single(-1.0), 0, 0], 0), ([single(0.5), 0, 0], 0x3800)]);
    check("cvt.rn.satfinite.e4m3x2.f32", "hww", &[([single(1000.0), single(-1.0), 0], 0x7eb8)]);
    check("cvt.rn.satfinite.relu.e5m2x2.f32", "hww", &[([single(1e9), single(-1.0), 0], 0x7b00)]);
    check("cvt.rn.satfinite.e4m3x2.f16x2", "hw", &[([0x3c00_fc00, 0, 0], 0x38fe)]);
    check("cvt.rn.f16x2.e4m3x2", "wh", &[([0x387f, 0, 0], 0x3c00_7fff), ([0x0181, 0, 0], 0x1800_9800)]);
    check("cvt.rn.relu.f16x2.e5m2x2", "wh", &[([0x3cbc, 0, 0], 0x3c00_0000), ([0x7c01, 0, 0], 0x7c00_0100)]);
    check(
        "cvt.rna.tf32.f32",
        "ww",
        &[
            ([0x3f80_1000, 0, 0], 0x3f80_2000),
            ([0x3f80_0fff, 0, 0], 0x3f80_0000),
            ([0xbf80_1000, 0, 0], 0xbf80_2000),
        ],
    );
    check("cvt.rn.tf32.f32", "ww", &[([0x3f80_1000, 0, 0], 0x3f80_0000), ([0x3f80_3000, 0, 0], 0x3f80_4000)]);
}

#[test]
fn brain_floats_convert_to_and_from_everything() {
    let single = |value: f32| u64::from(value.to_bits());
    check("cvt.f32.bf16", "wh", &[([0xc049, 0, 0], single(-3.140_625)), ([0x7fff, 0, 0], 0x7fff_ffff)]);
    check(
        "cvt.rn.bf16.f32",
        "hw",
        &[([single(1.003_906_2), 0, 0], 0x3f80), ([single(f32::MAX), 0, 0], 0x7f80)],
    );
    check("cvt.rz.bf16.f32", "hw", &[([single(f32::MAX), 0, 0], 0x7f7f)]);
    check("cvt.rzi.s32.bf16", "wh", &[([0xc049, 0, 0], 0xffff_fffd), ([0x7f80, 0, 0], 0x7fff_ffff)]);
    check(
        "cvt.rn.bf16.s32",
        "hw",
        &[([0xffff_fffd, 0, 0], 0xc040), ([257, 0, 0], 0x4380), ([259, 0, 0], 0x4382)],
    );
    // One above a tie rounds up. A detour through double precision would lose it.
    check(
        "cvt.rn.bf16.u64",
        "hd",
        &[([0x8080_0000_0000_0000, 0, 0], 0x5f00), ([0x8080_0000_0000_0001, 0, 0], 0x5f01)],
    );
    check("cvt.rni.bf16.bf16", "hh", &[([0x4020, 0, 0], 0x4000), ([0x4060, 0, 0], 0x4080)]);
    check("cvt.rn.f16.bf16", "hh", &[([0x3f80, 0, 0], 0x3c00)]);
}

#[test]
fn integers_are_packed_with_clamping() {
    check(
        "cvt.pack.sat.u16.s32",
        "www",
        &[([70_000, 0xffff_ffff, 0], 0xffff_0000), ([1, 2, 0], 0x0001_0002)],
    );
    check("cvt.pack.sat.s16.s32", "www", &[([0xffff_ffff, 40_000, 0], 0xffff_7fff)]);
    check("cvt.pack.sat.u8.s32.b32", "wwww", &[([300, 0xffff_ff00, 0xabcd_1234], 0x1234_ff00)]);
    check("cvt.pack.sat.s8.s32.b32", "wwww", &[([0xffff_0000, 127, 1], 0x0001_807f)]);
    check("cvt.pack.sat.u4.s32.b32", "wwww", &[([20, 3, 0x0056_789a], 0x5678_9af3)]);
}

#[test]
fn inline_assembly_of_the_header_style_is_executed() {
    let body = own_element(4)
        + "mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4200;\n\
           {add.f16 %h3,%h1,%h2;\n}\n\
           { mov.b32 %r1, {%h3,%h2};}\n\
           {.reg .f16 low,high;\n mov.b32 {low,high}, %r1;\n mov.b32 %r1, {high,low};}\n\
           {  cvt.f32.f16 %f1, %h3;}\n\
           {.reg .pred q; setp.gt.f16 q, %h3, %h1; selp.u16 %h4, 1, 0, q;}\n\
           { fma.rn.f16x2 %r1,%r1,%r1,%r1;\n}\n\
           st.global.u32 [%rd0], %r1; st.global.f32 [%rd0+4], %f1; st.global.u16 [%rd0+8], %h4; ret;";
    // The pair is 3 below and 4 above. x * x + x gives 12 and 20.
    let (out, _) = run_words(&kernel_text("", &body), 1, &[0; 3]).unwrap();
    assert_eq!(out, [0x4d00_4a00, 4f32.to_bits(), 1]);
}

#[test]
fn atomics_add_halves_one_by_one() {
    let body = own_element(0)
        + "mov.b16 %h1, 0x3c00; mov.b32 %r1, 0x40003c00;\n\
           atom.global.add.noftz.f16 %h2, [%rd0], %h1; red.global.add.noftz.f16x2 [%rd0+4], %r1;\n\
           red.global.add.noftz.bf16x2 [%rd0+8], %r1; ret;";
    let (out, _) = run_words(&kernel_text("", &body), 32, &[0, 0, 0]).unwrap();
    // 32 times 1, and 64 in the upper half. Read as bf16, the same bits are 2 and 0.0078.
    assert_eq!(out, [0x5000, 0x5400_5000, 0x4280_3e80]);
}
