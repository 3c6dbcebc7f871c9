//! Tests every arithmetic form at the edges of its types.

use super::super::alu::ROWS;
use super::{check, kernel_text, own_element, run_words};

const MAX: u64 = 0x7fff_ffff;
const MIN: u64 = 0x8000_0000;
const ALL: u64 = 0xffff_ffff;
const ONE: u64 = 0x3f80_0000;
const MINUS_ONE: u64 = 0xbf80_0000;
const INF: u64 = 0x7f80_0000;
const MINUS_INF: u64 = 0xff80_0000;
const MINUS_ZERO: u64 = 0x8000_0000;
const LARGEST: u64 = 0x7f7f_ffff;
const SIGNALLING: u64 = 0x7f80_0001;
const NAN: u64 = 0x7fff_ffff;
const TINY: u64 = 1;

fn double(value: f64) -> u64 {
    value.to_bits()
}

#[test]
fn integers_wrap_and_saturate() {
    check("add.s32", "www", &[([MAX, 1, 0], MIN), ([ALL, 1, 0], 0), ([5, 7, 0], 12)]);
    check("add.sat.s32", "www", &[([MAX, 1, 0], MAX), ([MIN, ALL, 0], MIN), ([5, ALL, 0], 4)]);
    check("sub.u32", "www", &[([0, 1, 0], ALL), ([9, 4, 0], 5)]);
    check("sub.sat.s32", "www", &[([MIN, 1, 0], MIN), ([MAX, ALL, 0], MAX)]);
    check("add.s16", "hhh", &[([0xffff, 1, 0], 0), ([0x7fff, 1, 0], 0x8000)]);
    check("sub.s16", "hhh", &[([0, 1, 0], 0xffff)]);
    check("add.u64", "ddd", &[([u64::MAX, 2, 0], 1), ([ALL, 1, 0], 1 << 32)]);
    check("sub.s64", "ddd", &[([0, 1, 0], u64::MAX)]);
    check("abs.s32", "ww", &[([MIN, 0, 0], MIN), ([ALL, 0, 0], 1)]);
    check("neg.s32", "ww", &[([MIN, 0, 0], MIN), ([1, 0, 0], ALL)]);
    check("neg.s64", "dd", &[([1, 0, 0], u64::MAX)]);
    check("min.s32", "www", &[([MIN, 1, 0], MIN), ([3, 2, 0], 2)]);
    check("min.u32", "www", &[([MIN, 1, 0], 1)]);
    check("max.s32", "www", &[([MIN, 1, 0], 1)]);
    check("max.u32", "www", &[([MIN, 1, 0], MIN)]);
    check("min.s16", "hhh", &[([0x8000, 1, 0], 0x8000)]);
    check("max.u64", "ddd", &[([1 << 63, 1, 0], 1 << 63)]);
    check("sad.s32", "wwww", &[([MIN, MAX, 1], 0), ([3, 5, 10], 12)]);
}

#[test]
fn products_have_low_high_and_wide_halves() {
    check("mul.lo.s32", "www", &[([0x10001, 0x10001, 0], 0x20001), ([ALL, ALL, 0], 1)]);
    check("mul.hi.u32", "www", &[([ALL, ALL, 0], 0xffff_fffe)]);
    check("mul.hi.s32", "www", &[([ALL, ALL, 0], 0), ([MIN, MIN, 0], 0x4000_0000), ([ALL, 1, 0], ALL)]);
    check("mul.wide.s32", "dww", &[([0xffff_fffe, 3, 0], 0xffff_ffff_ffff_fffa)]);
    check("mul.wide.u32", "dww", &[([0xffff_fffe, 3, 0], 0x2_ffff_fffa)]);
    check("mul.wide.s16", "whh", &[([0xffff, 2, 0], 0xffff_fffe)]);
    check("mul.wide.u16", "whh", &[([0xffff, 2, 0], 0x1_fffe)]);
    check("mul.lo.s16", "hhh", &[([0x101, 0x101, 0], 0x201)]);
    check("mul.hi.u16", "hhh", &[([0xffff, 0xffff, 0], 0xfffe)]);
    check("mul.lo.s64", "ddd", &[([1 << 40, 1 << 30, 0], 0), ([u64::MAX, 3, 0], u64::MAX - 2)]);
    check("mul.hi.s64", "ddd", &[([u64::MAX, 1, 0], u64::MAX)]);
    check("mul.hi.u64", "ddd", &[([u64::MAX, u64::MAX, 0], u64::MAX - 1)]);
    check("mad.lo.s32", "wwww", &[([3, 0xffff_fffc, 5], 0xffff_fff9)]);
    check("mad.wide.u32", "dwwd", &[([ALL, ALL, u64::MAX], 0xffff_fffe_0000_0000)]);
    check("mad.hi.u32", "wwww", &[([ALL, ALL, 2], 0)]);
    check("mul24.lo.s32", "www", &[([0x0080_0000, 2, 0], 0xff00_0000)]);
}

#[test]
fn division_truncates_and_survives_zero_and_overflow() {
    let minus_7 = 0xffff_fff9;
    check("div.s32", "www", &[([minus_7, 2, 0], 0xffff_fffd), ([MIN, ALL, 0], MIN), ([5, 0, 0], ALL)]);
    check("rem.s32", "www", &[([minus_7, 2, 0], ALL), ([MIN, ALL, 0], 0), ([5, 0, 0], 5)]);
    check("div.u32", "www", &[([minus_7, 2, 0], 0x7fff_fffc), ([1, 0, 0], ALL)]);
    check("rem.u32", "www", &[([ALL, 10, 0], 5)]);
    check("div.u16", "hhh", &[([0xffff, 10, 0], 6553)]);
    check("div.s64", "ddd", &[([1 << 63, u64::MAX, 0], 1 << 63), ([100, 7, 0], 14)]);
    check("rem.u64", "ddd", &[([u64::MAX, 10, 0], 5)]);
}

#[test]
fn shifts_clamp_at_the_width() {
    check("shl.b32", "www", &[([1, 31, 0], MIN), ([1, 32, 0], 0), ([1, ALL, 0], 0)]);
    check("shr.u32", "www", &[([MIN, 31, 0], 1), ([MIN, 32, 0], 0)]);
    check("shr.s32", "www", &[([MIN, 31, 0], ALL), ([MIN, 40, 0], ALL), ([MAX, 99, 0], 0)]);
    check("shl.b16", "hhw", &[([0x8001, 1, 0], 2), ([1, 16, 0], 0)]);
    check("shr.u16", "hhw", &[([0x8000, 15, 0], 1), ([0x8000, 16, 0], 0)]);
    check("shr.s16", "hhw", &[([0x8000, 1, 0], 0xc000), ([0x8000, 20, 0], 0xffff)]);
    check("shl.b64", "ddw", &[([1, 63, 0], 1 << 63), ([1, 64, 0], 0)]);
    check("shr.u64", "ddw", &[([u64::MAX, 60, 0], 15), ([u64::MAX, 64, 0], 0)]);
    check("shr.s64", "ddw", &[([1 << 63, 100, 0], u64::MAX)]);
    check("shf.l.wrap.b32", "wwww", &[([MIN, 1, 1], 3), ([MIN, 1, 33], 3)]);
    check("shf.r.wrap.b32", "wwww", &[([1, 1, 1], MIN), ([5, 9, 32], 5)]);
    check("shf.r.clamp.b32", "wwww", &[([1, 7, 40], 7)]);
}

#[test]
fn bits_are_counted_found_and_moved() {
    check("popc.b32", "ww", &[([ALL, 0, 0], 32), ([0, 0, 0], 0)]);
    check("popc.b64", "wd", &[([u64::MAX, 0, 0], 64)]);
    check("clz.b32", "ww", &[([0, 0, 0], 32), ([1, 0, 0], 31)]);
    check("clz.b64", "wd", &[([0, 0, 0], 64), ([1, 0, 0], 63)]);
    check("brev.b32", "ww", &[([1, 0, 0], MIN), ([0x0000_00f0, 0, 0], 0x0f00_0000)]);
    check("bfind.u32", "ww", &[([0, 0, 0], ALL), ([0x80, 0, 0], 7), ([MIN, 0, 0], 31)]);
    check("bfind.s32", "ww", &[([ALL, 0, 0], ALL), ([0xffff_ff7f, 0, 0], 7)]);
    check("bfind.shiftamt.u32", "ww", &[([0x80, 0, 0], 24), ([0, 0, 0], ALL)]);
    check(
        "bfe.u32",
        "wwww",
        &[([0xabcd_1234, 8, 8], 0x12), ([ALL, 4, 0], 0), ([ALL, 32, 4], 0), ([0xa000_0000, 28, 8], 10)],
    );
    check(
        "bfe.s32",
        "wwww",
        &[([0xf0, 4, 4], ALL), ([MIN, 40, 4], ALL), ([0x70, 4, 4], 7), ([ALL, 0, 0], 0)],
    );
    check("bfe.u64", "ddww", &[([0x1234_5678_9abc_def0, 32, 16], 0x5678), ([u64::MAX, 0, 64], u64::MAX)]);
    check(
        "bfe.s64",
        "ddww",
        &[([0x8000, 8, 8], 0xffff_ffff_ffff_ff80), ([1 << 63, 60, 40], 0xffff_ffff_ffff_fff8)],
    );
    check("bmsk.clamp.b32", "www", &[([4, 8, 0], 0xff0), ([30, 8, 0], 0xc000_0000), ([32, 8, 0], 0)]);
    let (low, high) = (0x0302_0100, 0x0706_0504);
    check(
        "prmt.b32",
        "wwww",
        &[([low, high, 0x7531], 0x0705_0301), ([0x80, 0, 0x8888], ALL), ([low, high, 0x0123], 0x0001_0203)],
    );
    check("prmt.b32.rc8", "wwww", &[([low, high, 2], 0x0202_0202)]);
    check("not.b16", "hh", &[([0, 0, 0], 0xffff)]);
    check("cnot.b32", "ww", &[([0, 0, 0], 1), ([8, 0, 0], 0)]);
    check("xor.b64", "ddd", &[([u64::MAX, 0xff, 0], u64::MAX - 0xff)]);
}

#[test]
fn bit_fields_are_inserted_and_any_function_of_three_words_is_computed() {
    let body = own_element(4)
        + "mov.u32 %r1, 0xabcd; mov.u32 %r2, 0xffffffff; bfi.b32 %r3, %r1, %r2, 8, 8; lop3.b32 %r4, %r1, %r2, %r0, 0x96;\n\
           bfi.b32 %r5, %r1, %r2, 40, 8; xor.b32 %r3, %r3, %r4; xor.b32 %r3, %r3, %r5; st.global.u32 [%rd0], %r3; ret;";
    let (out, _) = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap();
    let expected = |t: u32| 0xffff_cdff ^ (0xabcd ^ 0xffff_ffff ^ t) ^ 0xffff_ffff;
    assert_eq!(out, (0..32).map(expected).collect::<Vec<_>>());
}

#[test]
fn comparisons_know_signs_and_nan() {
    check("setp.lt.s32", "pww", &[([MIN, 1, 0], 1), ([1, MIN, 0], 0)]);
    check("setp.lt.u32", "pww", &[([MIN, 1, 0], 0), ([1, MIN, 0], 1)]);
    check("setp.ge.s16", "phh", &[([0x8000, 1, 0], 0)]);
    check("setp.gt.u16", "phh", &[([0x8000, 1, 0], 1)]);
    check("setp.eq.b64", "pdd", &[([1 << 63, 1 << 63, 0], 1), ([1 << 63, 0, 0], 0)]);
    let pairs = [[ONE, ONE, 0], [ONE, INF, 0], [INF, ONE, 0], [NAN, ONE, 0], [MINUS_ZERO, 0, 0]];
    // Results for equal, less, greater, unordered, and zeros of both signs.
    let forms = [
        ("eq", [1, 0, 0, 0, 1]),
        ("ne", [0, 1, 1, 0, 0]),
        ("lt", [0, 1, 0, 0, 0]),
        ("le", [1, 1, 0, 0, 1]),
        ("gt", [0, 0, 1, 0, 0]),
        ("ge", [1, 0, 1, 0, 1]),
        ("equ", [1, 0, 0, 1, 1]),
        ("neu", [0, 1, 1, 1, 0]),
        ("ltu", [0, 1, 0, 1, 0]),
        ("leu", [1, 1, 0, 1, 1]),
        ("gtu", [0, 0, 1, 1, 0]),
        ("geu", [1, 0, 1, 1, 1]),
        ("num", [1, 1, 1, 0, 1]),
        ("nan", [0, 0, 0, 1, 0]),
    ];
    for (form, results) in forms {
        let vectors: Vec<_> = pairs.iter().copied().zip(results).collect();
        check(&format!("setp.{form}.f32"), "pww", &vectors);
        let wide: Vec<_> = vectors
            .iter()
            .map(|&(v, r)| (v.map(|bits| double(f64::from(f32::from_bits(bits as u32)))), r))
            .collect();
        check(&format!("setp.{form}.f64"), "pdd", &wide);
    }
    check("selp.b32", "wwwp", &[([3, 4, 1], 3), ([3, 4, 0], 4)]);
    check("selp.b64", "dddp", &[([3, 4, 1], 3), ([3, 4, 0], 4)]);
    check("setp.lt.and.s32", "pwwp", &[([1, 2, 1], 1), ([1, 2, 0], 0), ([2, 1, 1], 0)]);
    check("setp.lt.or.s32", "pwwp", &[([1, 2, 0], 1), ([2, 1, 1], 1), ([2, 1, 0], 0)]);
    check("setp.eq.ftz.f32", "pww", &[([TINY, 0, 0], 1)]);
}

#[test]
fn single_precision_rounds_once_and_has_one_nan() {
    check(
        "add.f32",
        "www",
        &[
            ([INF, MINUS_INF, 0], NAN),
            ([SIGNALLING, ONE, 0], NAN),
            ([ONE, 0x3380_0000, 0], ONE),
            ([TINY, 0, 0], TINY),
        ],
    );
    check(
        "add.ftz.f32",
        "www",
        &[([TINY, 0, 0], 0), ([MINUS_ZERO | TINY, MINUS_ZERO, 0], MINUS_ZERO), ([ONE, ONE, 0], 0x4000_0000)],
    );
    check("add.sat.f32", "www", &[([ONE, ONE, 0], ONE), ([NAN, ONE, 0], 0), ([MINUS_ONE, 0, 0], 0)]);
    check("mul.f32", "www", &[([INF, 0, 0], NAN), ([LARGEST, 0x4000_0000, 0], INF)]);
    check(
        "fma.rn.f32",
        "wwww",
        &[([0x3f80_0800, 0x3f80_0800, 0xbf80_1000], 0x3380_0000), ([INF, 0, ONE], NAN)],
    );
    check(
        "div.rn.f32",
        "www",
        &[
            ([ONE, 0x4040_0000, 0], 0x3eaa_aaab),
            ([ONE, 0, 0], INF),
            ([0, 0, 0], NAN),
            ([ONE, MINUS_ZERO, 0], MINUS_INF),
        ],
    );
    check("rcp.rn.f32", "ww", &[([0x4040_0000, 0, 0], 0x3eaa_aaab), ([MINUS_INF, 0, 0], MINUS_ZERO)]);
    check(
        "sqrt.rn.f32",
        "ww",
        &[([0x4000_0000, 0, 0], 0x3fb5_04f3), ([MINUS_ONE, 0, 0], NAN), ([MINUS_ZERO, 0, 0], MINUS_ZERO)],
    );
    check(
        "min.f32",
        "www",
        &[
            ([NAN, ONE, 0], ONE),
            ([ONE, NAN, 0], ONE),
            ([MINUS_ZERO, 0, 0], MINUS_ZERO),
            ([0, MINUS_ZERO, 0], MINUS_ZERO),
            ([NAN, SIGNALLING, 0], NAN),
        ],
    );
    check(
        "max.f32",
        "www",
        &[
            ([NAN, ONE, 0], ONE),
            ([ONE, NAN, 0], ONE),
            ([MINUS_ZERO, 0, 0], 0),
            ([0, MINUS_ZERO, 0], 0),
            ([INF, ONE, 0], INF),
        ],
    );
    check("neg.f32", "ww", &[([ONE, 0, 0], MINUS_ONE), ([0, 0, 0], MINUS_ZERO)]);
    check("abs.f32", "ww", &[([MINUS_ONE, 0, 0], ONE), ([MINUS_INF, 0, 0], INF)]);
    check("copysign.f32", "www", &[([MINUS_ZERO, ONE, 0], MINUS_ONE)]);
}

#[test]
fn directed_rounding_moves_one_step_only_when_inexact() {
    let small = 0x3080_0000; // 2^-30
    let minus_small = 0xb080_0000;
    check(
        "add.rz.f32",
        "www",
        &[
            ([ONE, small, 0], ONE),
            ([ONE, minus_small, 0], 0x3f7f_ffff),
            ([LARGEST, LARGEST, 0], LARGEST),
            ([MINUS_ONE, minus_small, 0], MINUS_ONE),
        ],
    );
    check(
        "add.rm.f32",
        "www",
        &[
            ([ONE, small, 0], ONE),
            ([MINUS_ONE, minus_small, 0], 0xbf80_0001),
            ([ONE, MINUS_ONE, 0], MINUS_ZERO),
            ([ONE, ONE, 0], 0x4000_0000),
        ],
    );
    check(
        "add.rp.f32",
        "www",
        &[
            ([ONE, small, 0], 0x3f80_0001),
            ([MINUS_ONE, minus_small, 0], MINUS_ONE),
            ([ONE, MINUS_ONE, 0], 0),
            ([LARGEST, LARGEST, 0], INF),
        ],
    );
    check("sub.rp.f32", "www", &[([ONE, minus_small, 0], 0x3f80_0001)]);
    check("mul.rz.f32", "www", &[([0x3f80_0001, 0x3f80_0001, 0], 0x3f80_0002), ([TINY, 0x3f00_0000, 0], 0)]);
    check(
        "mul.rp.f32",
        "www",
        &[([0x3f80_0001, 0x3f80_0001, 0], 0x3f80_0003), ([TINY, 0x3f00_0000, 0], TINY)],
    );
    check("fma.rm.f32", "wwww", &[([ONE, ONE, minus_small], 0x3f7f_ffff)]);
    check("fma.rz.f32", "wwww", &[([ONE, ONE, small], ONE)]);
    check("div.rz.f32", "www", &[([ONE, 0x4040_0000, 0], 0x3eaa_aaaa), ([ONE, 0x4000_0000, 0], 0x3f00_0000)]);
    check(
        "div.rp.f32",
        "www",
        &[([ONE, 0x4040_0000, 0], 0x3eaa_aaab), ([MINUS_ONE, 0x4040_0000, 0], 0xbeaa_aaaa)],
    );
    check("sqrt.rp.f32", "ww", &[([0x4000_0000, 0, 0], 0x3fb5_04f4), ([0x4080_0000, 0, 0], 0x4000_0000)]);
    check("sqrt.rz.f32", "ww", &[([0x4000_0000, 0, 0], 0x3fb5_04f3)]);
}

#[test]
fn approximate_functions_are_exact_where_the_result_is() {
    check(
        "ex2.approx.f32",
        "ww",
        &[([0x4040_0000, 0, 0], 0x4100_0000), ([MINUS_INF, 0, 0], 0), ([INF, 0, 0], INF)],
    );
    check(
        "lg2.approx.f32",
        "ww",
        &[([0x4100_0000, 0, 0], 0x4040_0000), ([0, 0, 0], MINUS_INF), ([MINUS_ONE, 0, 0], NAN)],
    );
    check(
        "rsqrt.approx.f32",
        "ww",
        &[([0x4080_0000, 0, 0], 0x3f00_0000), ([0, 0, 0], INF), ([MINUS_ZERO, 0, 0], MINUS_INF)],
    );
    check("rcp.approx.ftz.f32", "ww", &[([TINY, 0, 0], INF), ([0x4000_0000, 0, 0], 0x3f00_0000)]);
    check("sqrt.approx.f32", "ww", &[([0x4080_0000, 0, 0], 0x4000_0000)]);
    check("sin.approx.f32", "ww", &[([0, 0, 0], 0), ([INF, 0, 0], NAN)]);
    check("cos.approx.f32", "ww", &[([0, 0, 0], ONE)]);
    check(
        "div.approx.f32",
        "www",
        &[
            ([ONE, 0x4000_0000, 0], 0x3f00_0000),
            ([ONE, LARGEST, 0], 0),
            ([INF, LARGEST, 0], NAN),
            ([ONE, INF, 0], 0),
        ],
    );
}

#[test]
fn double_precision_keeps_the_payload_of_a_nan() {
    let payload = 0x7ff0_0000_0000_0001;
    check(
        "add.f64",
        "ddd",
        &[
            ([payload, double(1.0), 0], 0x7ff8_0000_0000_0001),
            ([double(f64::INFINITY), double(f64::NEG_INFINITY), 0], 0xfff8_0000_0000_0000),
            ([double(0.1), double(0.2), 0], double(0.1 + 0.2)),
        ],
    );
    check(
        "mul.f64",
        "ddd",
        &[
            ([double(3.0), payload, 0], 0x7ff8_0000_0000_0001),
            ([double(1e300), double(1e300), 0], double(f64::INFINITY)),
        ],
    );
    check(
        "fma.rn.f64",
        "dddd",
        &[(
            [double(1.0 + f64::EPSILON), double(1.0 + f64::EPSILON), double(-1.0 - 2.0 * f64::EPSILON)],
            double(f64::EPSILON * f64::EPSILON),
        )],
    );
    check("div.rn.f64", "ddd", &[([double(1.0), double(3.0), 0], 0x3fd5_5555_5555_5555)]);
    check("sqrt.rn.f64", "dd", &[([double(2.0), 0, 0], 0x3ff6_a09e_667f_3bcd)]);
    check(
        "min.f64",
        "ddd",
        &[([payload, double(1.0), 0], double(1.0)), ([double(-0.0), double(0.0), 0], double(-0.0))],
    );
    check("max.f64", "ddd", &[([double(1.0), payload, 0], double(1.0)), ([double(-0.0), double(0.0), 0], 0)]);
    check("neg.f64", "dd", &[([double(1.0), 0, 0], double(-1.0))]);
}

#[test]
fn carries_chain_over_words() {
    let body = own_element(16)
        + "ld.global.u32 %r1, [%rd0]; ld.global.u32 %r2, [%rd0+4]; ld.global.u32 %r3, [%rd0+8]; ld.global.u32 %r4, [%rd0+12];\n\
           add.cc.u32 %r5, %r1, %r3; addc.u32 %r6, %r2, %r4; sub.cc.u32 %r7, %r1, %r3; subc.u32 %r8, %r2, %r4;\n\
           st.global.u32 [%rd0], %r5; st.global.u32 [%rd0+4], %r6; st.global.u32 [%rd0+8], %r7; st.global.u32 [%rd0+12], %r8;\n ret;";
    let words = |v: u64| [v as u32, (v >> 32) as u32];
    let pairs = [(0xffff_ffff_u64, 1_u64), (0, 1), (u64::MAX, u64::MAX), (0x1_0000_0000, 0xffff_ffff)];
    let input: Vec<u32> = pairs.iter().flat_map(|&(a, b)| [words(a), words(b)].concat()).collect();
    let (out, _) = run_words(&kernel_text("", &body), 4, &input).unwrap();
    let expected: Vec<u32> = pairs
        .iter()
        .flat_map(|&(a, b)| [words(a.wrapping_add(b)), words(a.wrapping_sub(b))].concat())
        .collect();
    assert_eq!(out, expected);
}

#[test]
fn multiplication_with_carry_makes_a_wide_product() {
    // The upper half of a 64 x 64 bit product, by schoolbook multiplication with carries.
    let body = own_element(16)
        + "ld.global.u32 %r1, [%rd0]; ld.global.u32 %r2, [%rd0+4]; ld.global.u32 %r3, [%rd0+8]; ld.global.u32 %r4, [%rd0+12];\n\
           mul.lo.u32 %r10, %r1, %r3; mul.hi.u32 %r11, %r1, %r3; mad.lo.cc.u32 %r11, %r1, %r4, %r11; madc.hi.u32 %r12, %r1, %r4, 0;\n\
           mad.lo.cc.u32 %r11, %r2, %r3, %r11; madc.hi.cc.u32 %r12, %r2, %r3, %r12; addc.u32 %r13, 0, 0;\n\
           mad.lo.cc.u32 %r12, %r2, %r4, %r12; madc.hi.u32 %r13, %r2, %r4, %r13;\n\
           st.global.u32 [%rd0], %r10; st.global.u32 [%rd0+4], %r11; st.global.u32 [%rd0+8], %r12; st.global.u32 [%rd0+12], %r13; ret;";
    let (a, b) = (0xffff_fffe_1234_5678_u64, 0xfedc_ba98_ffff_ffff_u64);
    let input = [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32];
    let (out, _) = run_words(&kernel_text("", &body), 1, &input).unwrap();
    let product = u128::from(a) * u128::from(b);
    assert_eq!(out, (0..4).map(|word| (product >> (32 * word)) as u32).collect::<Vec<_>>());
}

#[test]
fn no_form_is_in_the_table_twice() {
    let mut forms: Vec<&str> = ROWS.iter().flat_map(|row| row.forms.iter().copied()).collect();
    let count = forms.len();
    forms.sort_unstable();
    forms.dedup();
    assert_eq!(forms.len(), count);
}
