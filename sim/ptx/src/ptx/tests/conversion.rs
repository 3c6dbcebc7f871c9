//! Tests rounding, saturation and extension of every conversion against the PTX rules.

use super::check;

fn single(value: f32) -> u64 {
    u64::from(value.to_bits())
}

fn double(value: f64) -> u64 {
    value.to_bits()
}

#[test]
fn floats_become_integers_by_rounding_and_clamping() {
    let minus = |v: i32| u64::from(v as u32);
    let nan = 0x7fff_ffff;
    check(
        "cvt.rzi.s32.f32",
        "ww",
        &[
            ([single(1.9), 0, 0], 1),
            ([single(-1.9), 0, 0], minus(-1)),
            ([nan, 0, 0], 0),
            ([single(1e10), 0, 0], 0x7fff_ffff),
            ([single(f32::NEG_INFINITY), 0, 0], 0x8000_0000),
        ],
    );
    check(
        "cvt.rni.s32.f32",
        "ww",
        &[([single(2.5), 0, 0], 2), ([single(3.5), 0, 0], 4), ([single(-2.5), 0, 0], minus(-2))],
    );
    check("cvt.rmi.s32.f32", "ww", &[([single(-1.1), 0, 0], minus(-2)), ([single(1.9), 0, 0], 1)]);
    check("cvt.rpi.s32.f32", "ww", &[([single(1.1), 0, 0], 2), ([single(-1.9), 0, 0], minus(-1))]);
    check(
        "cvt.rzi.u32.f32",
        "ww",
        &[
            ([single(-1.0), 0, 0], 0),
            ([single(5e9), 0, 0], 0xffff_ffff),
            ([single(3e9), 0, 0], 3_000_000_000),
        ],
    );
    check(
        "cvt.rzi.s32.f64",
        "wd",
        &[([double(-2.9), 0, 0], minus(-2)), ([double(1e300), 0, 0], 0x7fff_ffff)],
    );
    check("cvt.rni.s64.f64", "dd", &[([double(1e300), 0, 0], i64::MAX as u64), ([double(-0.5), 0, 0], 0)]);
    check(
        "cvt.rzi.u64.f32",
        "dw",
        &[([single(1e19), 0, 0], 9_999_999_980_506_447_872), ([single(2e19), 0, 0], u64::MAX)],
    );
    check("cvt.rzi.s16.f32", "hw", &[([single(-40_000.0), 0, 0], 0x8000)]);
    check("cvt.rzi.u8.f32", "ww", &[([single(300.0), 0, 0], 255)]);
}

#[test]
fn integers_become_floats_with_one_rounding() {
    check("cvt.rn.f32.s32", "ww", &[([16_777_217, 0, 0], 0x4b80_0000), ([0xffff_ffff, 0, 0], single(-1.0))]);
    check(
        "cvt.rp.f32.s32",
        "ww",
        &[([16_777_217, 0, 0], 0x4b80_0001), ([0xfeff_ffff, 0, 0], single(-16_777_216.0))],
    );
    check("cvt.rz.f32.u32", "ww", &[([0xffff_ffff, 0, 0], 0x4f7f_ffff)]);
    check("cvt.rn.f32.u32", "ww", &[([0xffff_ffff, 0, 0], 0x4f80_0000)]);
    // 2^60 + 2^36 + 1: a first rounding to double precision would lose the last bit and produce a tie.
    check(
        "cvt.rn.f32.u64",
        "wd",
        &[([(1 << 60) + (1 << 36) + 1, 0, 0], 0x5d80_0001), ([(1 << 60) + (1 << 36), 0, 0], 0x5d80_0000)],
    );
    check("cvt.rp.f32.u64", "wd", &[([(1 << 60) + 1, 0, 0], 0x5d80_0001), ([1 << 60, 0, 0], 0x5d80_0000)]);
    check("cvt.rz.f64.u64", "dd", &[([u64::MAX, 0, 0], double(18_446_744_073_709_549_568.0))]);
    check("cvt.rn.f64.s64", "dd", &[([u64::MAX, 0, 0], double(-1.0))]);
    check("cvt.rn.f32.u16", "wh", &[([0xffff, 0, 0], single(65535.0))]);
    check("cvt.rn.f32.s16", "wh", &[([0xffff, 0, 0], single(-1.0))]);
}

#[test]
fn integers_of_64_bits_become_doubles_in_the_direction_asked_for() {
    // Doubles are 2 apart between 2^53 and 2^54, 1,024 apart below 2^63, and 2,048 apart below 2^64.
    let odd: i64 = (1 << 53) + 1;
    let negative = -odd as u64;
    let (below, above) = (double(9_007_199_254_740_992.0), double(9_007_199_254_740_994.0));
    let (minus_below, minus_above) = (double(-9_007_199_254_740_992.0), double(-9_007_199_254_740_994.0));
    let [top, largest] = [u64::MAX, i64::MAX as u64];
    for (form, results) in [
        ("cvt.rp.f64.u64", [(odd as u64, above), (top, double(18_446_744_073_709_551_616.0))]),
        ("cvt.rm.f64.u64", [(odd as u64, below), (top, double(18_446_744_073_709_549_568.0))]),
        ("cvt.rz.f64.u64", [(odd as u64, below), (top, double(18_446_744_073_709_549_568.0))]),
        ("cvt.rn.f64.u64", [(odd as u64, below), (top, double(18_446_744_073_709_551_616.0))]),
        ("cvt.rp.f64.s64", [(odd as u64, above), (negative, minus_below)]),
        ("cvt.rm.f64.s64", [(odd as u64, below), (negative, minus_above)]),
        ("cvt.rz.f64.s64", [(odd as u64, below), (negative, minus_below)]),
        ("cvt.rn.f64.s64", [(odd as u64, below), (negative, minus_below)]),
        ("cvt.rp.f64.s64", [(largest, double(9_223_372_036_854_775_808.0)), (top, double(-1.0))]),
        ("cvt.rm.f64.s64", [(largest, double(9_223_372_036_854_774_784.0)), (top, double(-1.0))]),
    ] {
        let cases = results.map(|(integer, result)| ([integer, 0, 0], result));
        check(form, "dd", &cases);
    }
}

#[test]
fn floats_change_precision_and_become_integral() {
    check("cvt.f64.f32", "dw", &[([single(0.1), 0, 0], double(f64::from(0.1f32)))]);
    check(
        "cvt.rn.f32.f64",
        "wd",
        &[
            ([double(1.0 + 2f64.powi(-25)), 0, 0], single(1.0)),
            ([double(1e300), 0, 0], single(f32::INFINITY)),
        ],
    );
    check("cvt.rp.f32.f64", "wd", &[([double(1.0 + 2f64.powi(-25)), 0, 0], 0x3f80_0001)]);
    check("cvt.rz.f32.f64", "wd", &[([double(1e300), 0, 0], 0x7f7f_ffff)]);
    check(
        "cvt.sat.f32.f32",
        "ww",
        &[([single(2.0), 0, 0], single(1.0)), ([0x7fff_ffff, 0, 0], 0), ([single(-3.0), 0, 0], 0)],
    );
    check(
        "cvt.rni.f32.f32",
        "ww",
        &[([single(2.5), 0, 0], single(2.0)), ([single(-0.4), 0, 0], single(-0.0))],
    );
    check("cvt.rmi.f32.f32", "ww", &[([single(-0.4), 0, 0], single(-1.0))]);
    check("cvt.rzi.f64.f64", "dd", &[([double(-1.7), 0, 0], double(-1.0))]);
    check("cvt.rpi.f64.f64", "dd", &[([double(1.2), 0, 0], double(2.0))]);
    check("cvt.ftz.f32.f32", "ww", &[([1, 0, 0], 0)]);
    check(
        "cvt.rn.f16.f32",
        "hw",
        &[
            ([single(1.0), 0, 0], 0x3c00),
            ([single(65520.0), 0, 0], 0x7c00),
            ([single(65519.0), 0, 0], 0x7bff),
            ([single(2f32.powi(-24)), 0, 0], 1),
            ([single(-2.0), 0, 0], 0xc000),
        ],
    );
    check(
        "cvt.f32.f16",
        "wh",
        &[
            ([0x3c00, 0, 0], single(1.0)),
            ([1, 0, 0], single(2f32.powi(-24))),
            ([0xfc00, 0, 0], single(f32::NEG_INFINITY)),
            ([0x7e00, 0, 0], 0x7fff_ffff),
        ],
    );
}

#[test]
fn integers_extend_truncate_and_saturate() {
    check("cvt.s32.s8", "ww", &[([0x180, 0, 0], 0xffff_ff80), ([0x17f, 0, 0], 0x7f)]);
    check("cvt.u32.u8", "wh", &[([0x1ff, 0, 0], 0xff)]);
    check("cvt.u8.u32", "ww", &[([0x1ff, 0, 0], 0xff)]);
    check("cvt.s8.s32", "ww", &[([0x1ff, 0, 0], 0xffff_ffff)]);
    check("cvt.s16.s8", "hh", &[([0x80, 0, 0], 0xff80)]);
    check("cvt.sat.s8.s32", "ww", &[([300, 0, 0], 127), ([0xffff_ff00, 0, 0], 0xffff_ff80)]);
    check("cvt.sat.u8.s32", "ww", &[([0xffff_fffb, 0, 0], 0), ([300, 0, 0], 255)]);
    check("cvt.u64.u32", "dw", &[([0xffff_ffff, 0, 0], 0xffff_ffff)]);
    check("cvt.s64.s32", "dw", &[([0xffff_ffff, 0, 0], u64::MAX)]);
    check("cvt.s64.s16", "dh", &[([0x8000, 0, 0], 0xffff_ffff_ffff_8000)]);
    check("cvt.u32.u64", "wd", &[([0x1_2345_6789, 0, 0], 0x2345_6789)]);
    check("cvt.u16.u32", "hw", &[([0x12345, 0, 0], 0x2345)]);
    check("cvt.s32.s16", "wh", &[([0x8000, 0, 0], 0xffff_8000)]);
    check("cvt.u16.u64", "hd", &[([0x12345, 0, 0], 0x2345)]);
}
