//! Compares every family of arithmetic with a reference of another method, at all edges of its types.

use super::exact::{self, DOUBLE, Format, Number, SINGLE};
use super::{Vector, check};

/// Runs `form` on any number of vectors.
fn check_all(form: &str, kinds: &str, vectors: &[Vector]) {
    vectors.chunks(32).for_each(|chunk| check(form, kinds, chunk));
}

fn pairs(edges: &[u64]) -> impl Iterator<Item = (u64, u64)> + '_ {
    edges.iter().flat_map(move |&a| edges.iter().map(move |&b| (a, b)))
}

/// Returns the value of the low `bits` of a word.
fn value(word: u64, bits: u32, signed: bool) -> i128 {
    let low = i128::from(word) & ((1 << bits) - 1);
    if signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

fn low(value: i128, bits: u32) -> u64 {
    (value & ((1 << bits) - 1)) as u64
}

fn edges(bits: u32) -> Vec<u64> {
    let top = 1u64 << (bits - 1);
    let all = u64::MAX >> (64 - bits);
    vec![0, 1, 2, 7, top - 1, top, top + 1, all - 1, all, 0x5a5a_1234_89ab_cdef & all]
}

/// A form without its type, and its reference on values of that type.
type Binary = (&'static str, fn(i128, i128, u32) -> i128);

#[test]
fn integer_arithmetic_of_two_operands_agrees() {
    let forms: [Binary; 9] = [
        ("add", |a, b, _| a + b),
        ("sub", |a, b, _| a - b),
        ("mul.lo", |a, b, bits| {
            ((a & ((1 << bits) - 1)) * (b & ((1 << (bits / 2)) - 1)))
                + (((a & ((1 << (bits / 2)) - 1)) * (b >> (bits / 2) & ((1 << (bits / 2)) - 1)))
                    << (bits / 2))
        }),
        ("mul.hi", |a, b, bits| (a * b) >> bits),
        ("min", |a, b, _| if a < b { a } else { b }),
        ("max", |a, b, _| if a < b { b } else { a }),
        // Division by zero has hardware's results: all ones, and the dividend as remainder.
        ("div", |a, b, _| if b == 0 { -1 } else { (a.abs() / b.abs()) * a.signum() * b.signum() }),
        ("rem", |a, b, _| if b == 0 { a } else { a - b * ((a.abs() / b.abs()) * a.signum() * b.signum()) }),
        ("mul.wide", |a, b, _| a * b),
    ];
    for (bits, letter, wide) in [(16, 'h', 'w'), (32, 'w', 'd'), (64, 'd', 'd')] {
        for (name, reference) in forms {
            let widens = name == "mul.wide";
            // Products of unsigned 64-bit words do not fit in a signed 128-bit integer.
            if bits == 64 && (widens || name.starts_with("mul")) {
                continue;
            }
            for signed in [false, true] {
                let out = if widens { 2 * bits } else { bits };
                let vectors: Vec<Vector> = pairs(&edges(bits))
                    .map(|(a, b)| {
                        let result = reference(value(a, bits, signed), value(b, bits, signed), bits);
                        ([a, b, 0], low(result, out))
                    })
                    .collect();
                let result = if widens { wide } else { letter };
                let form = format!("{name}.{}{bits}", if signed { 's' } else { 'u' });
                check_all(&form, &format!("{result}{letter}{letter}"), &vectors);
            }
        }
    }
}

#[test]
fn sixty_four_bit_products_agree_with_schoolbook_multiplication() {
    // Four products of halves, each below 2^64.
    let schoolbook = |a: u64, b: u64| {
        let halves = |word: u64| (word >> 32, word & 0xffff_ffff);
        let ((ah, al), (bh, bl)) = (halves(a), halves(b));
        let ((x, xl), (y, yl), (z, zl)) = (halves(ah * bl), halves(al * bh), halves(al * bl));
        let middle = z + xl + yl;
        (ah * bh + x + y + (middle >> 32), (middle << 32) | zl)
    };
    let signed_high = |a: u64, b: u64| {
        let high = schoolbook(a, b).0;
        let less = if a >> 63 == 1 { b } else { 0 };
        high.wrapping_sub(less).wrapping_sub(if b >> 63 == 1 { a } else { 0 })
    };
    let vectors = |f: &dyn Fn(u64, u64) -> u64| -> Vec<Vector> {
        pairs(&edges(64)).map(|(a, b)| ([a, b, 0], f(a, b))).collect()
    };
    check_all("mul.lo.u64", "ddd", &vectors(&|a, b| schoolbook(a, b).1));
    check_all("mul.hi.u64", "ddd", &vectors(&|a, b| schoolbook(a, b).0));
    check_all("mul.hi.s64", "ddd", &vectors(&signed_high));
}

#[test]
fn bits_are_found_field_by_field() {
    // Bit by bit, from lists of booleans, lowest bit first.
    let text = |word: u64| (0..32).map(|bit| word >> bit & 1 == 1).collect::<Vec<bool>>();
    let number = |bits: &[bool]| bits.iter().rev().fold(0u64, |n, &bit| n << 1 | u64::from(bit));
    let words = [0, 1, 0x8000_0000, 0xffff_ffff, 0x1234_5678, 0x00ff_0000];
    let places = [0u64, 1, 7, 16, 31, 32, 40, 255];
    let mut fields = Vec::new();
    for a in words {
        for start in places {
            fields.extend(places.map(|length| ([a, start, length], text(a))));
        }
    }
    let unsigned = |([a, start, length], bits): &([u64; 3], Vec<bool>)| {
        let field: Vec<bool> =
            (0..*length.min(&32)).map(|i| bits.get((start + i) as usize).copied().unwrap_or(false)).collect();
        ([*a, *start, *length], number(&field))
    };
    check_all("bfe.u32", "wwww", &fields.iter().map(unsigned).collect::<Vec<_>>());
    let signed = |([a, start, length], bits): &([u64; 3], Vec<bool>)| {
        let sign = *length > 0 && bits[(start + length - 1).min(31) as usize];
        let within = |i: u64| i < *length && start + i < 32;
        let field: Vec<bool> =
            (0..32).map(|i| if within(i) { bits[(start + i) as usize] } else { sign }).collect();
        ([*a, *start, *length], number(&field))
    };
    check_all("bfe.s32", "wwww", &fields.iter().map(signed).collect::<Vec<_>>());
    let unary = |f: &dyn Fn(Vec<bool>) -> u64| -> Vec<Vector> {
        words.iter().map(|&a| ([a, 0, 0], f(text(a)))).collect()
    };
    check("popc.b32", "ww", &unary(&|bits| bits.iter().filter(|&&bit| bit).count() as u64));
    check("clz.b32", "ww", &unary(&|bits| bits.iter().rev().take_while(|&&bit| !bit).count() as u64));
    check("brev.b32", "ww", &unary(&|bits| number(&bits.into_iter().rev().collect::<Vec<_>>())));
    let top = |bits: Vec<bool>| bits.iter().rposition(|&bit| bit).map_or(0xffff_ffff, |at| at as u64);
    check("bfind.u32", "ww", &unary(&top));
    let nth = |a: u64, base: u64, count: i32| {
        let ones: Vec<u64> = (0..32).filter(|&bit| a >> bit & 1 == 1).collect();
        let at = match count {
            0 => ones.iter().position(|&bit| bit == base),
            1.. => ones.iter().position(|&bit| bit >= base).map(|first| first + count as usize - 1),
            _ => ones
                .iter()
                .rposition(|&bit| bit <= base)
                .and_then(|last| (last + 1).checked_add_signed(count as isize)),
        };
        at.and_then(|at| ones.get(at)).copied().unwrap_or(0xffff_ffff)
    };
    let mut vectors = Vec::new();
    for a in words {
        for base in [0, 15, 31] {
            vectors.extend([-3, -1, 0, 1, 2, 33].map(|n| ([a, base, u64::from(n as u32)], nth(a, base, n))));
        }
    }
    check_all("fns.b32", "wwww", &vectors);
}

#[test]
fn sums_of_products_and_differences_agree() {
    let words: [u64; 4] = [0, 0x7f80_01ff, 0xffff_ffff, 0x8102_fe7f];
    let byte = |word: u64, index: u64, signed: bool| value(word >> (8 * index), 8, signed);
    let half = |word: u64, index: u64, signed: bool| value(word >> (16 * index), 16, signed);
    for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let name = |signed| if signed { "s32" } else { "u32" };
        let types = format!("{}.{}", name(x), name(y));
        let c = 0xffff_fff0u64;
        let with = |f: &dyn Fn(u64, u64) -> i128| -> Vec<Vector> {
            pairs(&words).map(|(a, b)| ([a, b, c], low(f(a, b) + i128::from(c), 32))).collect()
        };
        let four = |a, b| (0..4).map(|i| byte(a, i, x) * byte(b, i, y)).sum();
        check(&format!("dp4a.{types}"), "wwww", &with(&four));
        let lower = |a, b| (0..2).map(|i| half(a, i, x) * byte(b, i, y)).sum();
        check(&format!("dp2a.lo.{types}"), "wwww", &with(&lower));
        let upper = |a, b| (0..2).map(|i| half(a, i, x) * byte(b, i + 2, y)).sum();
        check(&format!("dp2a.hi.{types}"), "wwww", &with(&upper));
    }
    for (bits, letter) in [(16u32, 'h'), (32, 'w'), (64, 'd')] {
        for signed in [false, true] {
            let difference = |a, b| (value(a, bits, signed) - value(b, bits, signed)).abs();
            let vectors: Vec<Vector> =
                pairs(&edges(bits)).map(|(a, b)| ([a, b, 3], low(difference(a, b) + 3, bits))).collect();
            let form = format!("sad.{}{bits}", if signed { 's' } else { 'u' });
            check_all(&form, &letter.to_string().repeat(4), &vectors);
        }
    }
    let high24 = |a: u64, b: u64| (value(a, 24, true) * value(b, 24, true)) >> 16;
    let vectors = |clamp: bool| -> Vec<Vector> {
        let c = 0x7fff_ff00u64;
        let most = i128::from(i32::MAX);
        let sum = |a, b| high24(a, b) + i128::from(c);
        let kept = |sum: i128| if clamp { sum.min(most) } else { sum };
        pairs(&[0x007f_ffff, 0xff80_0000, 3, 0x1234_5678])
            .map(|(a, b)| ([a, b, c], low(kept(sum(a, b)), 32)))
            .collect()
    };
    check("mad24.hi.s32", "wwww", &vectors(false));
    check("mad24.hi.sat.s32", "wwww", &vectors(true));
}

/// Returns numbers at the edges of a format: zeros, subnormals, the ends of the normal range, neighbours of one,
/// infinities, NaN.
fn float_edges(format: Format) -> Vec<u64> {
    let one_bits = format.precision - 1;
    let top = ((1u64 << (u64::from(format.bits) - format.precision)) - 1) << one_bits;
    let one = (top >> 1) & (top | (top >> 1)) & !((1 << one_bits) - 1);
    let sign = 1u64 << (format.bits - 1);
    let positive = [
        0,
        1,
        (1 << one_bits) - 1,
        1 << one_bits,
        one - 1,
        one,
        one + 1,
        one + (3 << (one_bits - 1)),
        top - 1,
        top,
    ];
    positive.iter().flat_map(|&bits| [bits, bits | sign]).chain([top | 1 << (one_bits - 1)]).collect()
}

/// Returns the reference's bits. Single precision has one NaN. In double precision a NaN keeps its input's payload, so the
/// result is not fixed.
fn expected(format: Format, number: &Number, rounding: char) -> Option<u64> {
    format.write(number, rounding).or((format.bits == 32).then_some(0x7fff_ffff))
}

#[test]
fn single_precision_agrees_in_every_rounding() {
    let numbers = float_edges(SINGLE);
    let read = |bits| SINGLE.read(bits);
    type Operation = (&'static str, fn(&Number, &Number, char) -> Number);
    let operations: [Operation; 4] = [
        ("add", exact::add),
        ("sub", |a, b, rounding| exact::add(a, &exact::negate(b), rounding)),
        ("mul", |a, b, _| exact::multiply(a, b)),
        ("div", |a, b, _| exact::divide(a, b)),
    ];
    for rounding in ['n', 'z', 'm', 'p'] {
        for (name, operation) in operations {
            let vectors: Vec<Vector> = pairs(&numbers)
                .filter_map(|(a, b)| {
                    let result = operation(&read(a), &read(b), rounding);
                    Some(([a, b, 0], expected(SINGLE, &result, rounding)?))
                })
                .collect();
            check_all(&format!("{name}.r{rounding}.f32"), "www", &vectors);
        }
        let unary = |operation: &dyn Fn(&Number) -> Number| -> Vec<Vector> {
            let vector = |&a: &u64| Some(([a, 0, 0], expected(SINGLE, &operation(&read(a)), rounding)?));
            numbers.iter().filter_map(vector).collect()
        };
        check_all(&format!("sqrt.r{rounding}.f32"), "ww", &unary(&exact::square_root));
        let one = read(u64::from(1f32.to_bits()));
        check_all(&format!("rcp.r{rounding}.f32"), "ww", &unary(&|a| exact::divide(&one, a)));
        let addends = [0, 0x8000_0000, 1, 0xbf80_0001, 0x7f80_0000, 0x3300_0000];
        let fused = |a, b, c| exact::add(&exact::multiply(&read(a), &read(b)), &read(c), rounding);
        for c in addends {
            let vectors: Vec<Vector> = pairs(&numbers)
                .filter_map(|(a, b)| Some(([a, b, c], expected(SINGLE, &fused(a, b, c), rounding)?)))
                .collect();
            check_all(&format!("fma.r{rounding}.f32"), "wwww", &vectors);
        }
    }
}

#[test]
fn double_precision_agrees_in_every_rounding() {
    let numbers = float_edges(DOUBLE);
    let read = |bits| DOUBLE.read(bits);
    for rounding in ['n', 'z', 'm', 'p'] {
        let binary = |operation: &dyn Fn(&Number, &Number) -> Number| -> Vec<Vector> {
            let vector =
                |(a, b)| Some(([a, b, 0], expected(DOUBLE, &operation(&read(a), &read(b)), rounding)?));
            pairs(&numbers).filter_map(vector).collect()
        };
        let form = |name: &str| format!("{name}.r{rounding}.f64");
        check_all(&form("add"), "ddd", &binary(&|a, b| exact::add(a, b, rounding)));
        check_all(&form("sub"), "ddd", &binary(&|a, b| exact::add(a, &exact::negate(b), rounding)));
        check_all(&form("mul"), "ddd", &binary(&exact::multiply));
        check_all(&form("div"), "ddd", &binary(&exact::divide));
        for addend in [0, 1 << 63, 1, 0xbff0_0000_0000_0001, 0x3ca0_0000_0000_0000, 0x7ff0_0000_0000_0000] {
            let fused: Vec<Vector> =
                binary(&|a, b| exact::add(&exact::multiply(a, b), &read(addend), rounding))
                    .into_iter()
                    .map(|([a, b, _], result)| ([a, b, addend], result))
                    .collect();
            check_all(&form("fma"), "dddd", &fused);
        }
        let unary = |operation: &dyn Fn(&Number) -> Number| -> Vec<Vector> {
            let vector = |&a: &u64| Some(([a, 0, 0], expected(DOUBLE, &operation(&read(a)), rounding)?));
            numbers.iter().filter_map(vector).collect()
        };
        check_all(&form("sqrt"), "dd", &unary(&exact::square_root));
        let one = read(1f64.to_bits());
        check_all(&form("rcp"), "dd", &unary(&|a| exact::divide(&one, a)));
    }
    // The forms without a rounding round to nearest.
    let (one, tiny) = (1f64.to_bits(), 2f64.powi(-60).to_bits());
    check("add.f64", "ddd", &[([one, tiny, 0], one)]);
    check("sub.f64", "ddd", &[([one, tiny, 0], one)]);
    check("mul.f64", "ddd", &[([one, tiny, 0], tiny)]);
}

#[test]
fn pairs_of_single_precision_agree_in_every_rounding() {
    let numbers = float_edges(SINGLE);
    let read = |bits| SINGLE.read(bits);
    for rounding in ['n', 'z', 'm', 'p'] {
        let packed = |operation: &dyn Fn(&Number, &Number) -> Number, c: u64| -> Vec<Vector> {
            let single = |(a, b): (u64, u64)| {
                let result = expected(SINGLE, &operation(&read(a), &read(b)), rounding);
                (a, b, result.expect("single precision has one NaN"))
            };
            let all: Vec<(u64, u64, u64)> = pairs(&numbers).map(single).collect();
            let high = all.iter().cycle().skip(17);
            let both = |((a, b, low), (x, y, high)): (&(u64, u64, u64), &(u64, u64, u64))| {
                ([a | x << 32, b | y << 32, c | c << 32], low | high << 32)
            };
            all.iter().zip(high).map(both).collect()
        };
        let form = |name: &str| format!("{name}.r{rounding}.f32x2");
        check_all(&form("add"), "ddd", &packed(&|a, b| exact::add(a, b, rounding), 0));
        let minus = |a: &Number, b: &Number| exact::add(a, &exact::negate(b), rounding);
        check_all(&form("sub"), "ddd", &packed(&minus, 0));
        check_all(&form("mul"), "ddd", &packed(&exact::multiply, 0));
        let c = 0xbf80_0001;
        let fused = |a: &Number, b: &Number| exact::add(&exact::multiply(a, b), &read(c), rounding);
        check_all(&form("fma"), "dddd", &packed(&fused, c));
    }
}

#[test]
fn precision_is_cut_in_every_rounding() {
    let mut numbers = float_edges(DOUBLE);
    // Numbers next to and between single-precision numbers, and its subnormals.
    let single = f64::from(f32::MIN_POSITIVE) * 1.5;
    numbers.extend(
        [1.0 + 2f64.powi(-24), -1.0 - 3.0 * 2f64.powi(-24), single, -single * 2f64.powi(-22)]
            .map(f64::to_bits),
    );
    for rounding in ['n', 'z', 'm', 'p'] {
        let vector = |&a: &u64| Some(([a, 0, 0], expected(SINGLE, &DOUBLE.read(a), rounding)?));
        check_all(
            &format!("cvt.r{rounding}.f32.f64"),
            "wd",
            &numbers.iter().filter_map(vector).collect::<Vec<_>>(),
        );
    }
}

#[test]
fn a_nan_becomes_zero_or_the_top_bit_by_the_widths() {
    let (single, double) = (0x7fc0_0000, 0x7ff8_0000_0000_0000);
    for (form, kinds, nan, result) in [
        ("cvt.rzi.s32.f32", "ww", single, 0),
        ("cvt.rni.u32.f32", "ww", single, 0),
        ("cvt.rni.s64.f32", "dw", single, 1 << 63),
        ("cvt.rni.u64.f32", "dw", single, 1 << 63),
        ("cvt.rzi.s32.f64", "wd", double, 1 << 31),
        ("cvt.rzi.u32.f64", "wd", double, 1 << 31),
        ("cvt.rzi.s64.f64", "dd", double, 1 << 63),
    ] {
        check(form, kinds, &[([nan, 0, 0], result)]);
    }
}

#[test]
fn approximations_of_double_precision_use_the_upper_half() {
    let third = (1.0f64 / 3.0).to_bits() & !0xffff_ffff;
    let infinity = f64::INFINITY.to_bits();
    check(
        "rcp.approx.ftz.f64",
        "dd",
        &[
            ([3f64.to_bits(), 0, 0], third),
            ([3f64.to_bits() | 0xffff_ffff, 0, 0], third),
            ([1, 0, 0], infinity),
            ([1 << 63, 0, 0], f64::NEG_INFINITY.to_bits()),
            ([infinity, 0, 0], 0),
            ([f64::MAX.to_bits(), 0, 0], 0),
            ([infinity | 1, 0, 0], 0x7fff_ffff_0000_0000),
        ],
    );
    check("rsqrt.approx.ftz.f64", "dd", &[([4f64.to_bits(), 0, 0], 0.5f64.to_bits()), ([0, 0, 0], infinity)]);
    let kinds = [
        ("finite", [1, 1, 1, 0, 0]),
        ("infinite", [0, 0, 0, 1, 0]),
        ("number", [1, 1, 1, 1, 0]),
        ("notanumber", [0, 0, 0, 0, 1]),
        ("normal", [0, 0, 1, 0, 0]),
        ("subnormal", [0, 1, 0, 0, 0]),
    ];
    for (kind, results) in kinds {
        let inputs = [1 << 63, 1, 1f64.to_bits(), infinity, infinity | 1];
        let vectors: Vec<Vector> = inputs.iter().zip(results).map(|(&a, r)| ([a, 0, 0], r)).collect();
        check(&format!("testp.{kind}.f64"), "pd", &vectors);
    }
}

#[test]
fn selections_by_sign_and_signed_products_with_carry_agree() {
    check(
        "slct.u64.f32",
        "dddw",
        &[([3, 4, 0x8000_0000], 3), ([3, 4, 0xbf80_0000], 4), ([3, 4, 0x7fc0_0000], 4)],
    );
    check("slct.b16.s32", "hhhw", &[([3, 4, 0], 3), ([3, 4, 0xffff_ffff], 4)]);
    // The carry is clear before the first instruction that writes it.
    let vectors: Vec<Vector> = pairs(&edges(32))
        .map(|(a, b)| {
            let product = value(a, 32, true) * value(b, 32, true);
            ([a, b, 5], low((product >> 32) + 5, 32))
        })
        .collect();
    check_all("mad.hi.cc.s32", "wwww", &vectors);
}
