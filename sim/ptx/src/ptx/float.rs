//! Floating-point arithmetic of the PTX ISA that differs from Rust's.

/// Rounding of an exact result to a representable one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
}

/// Returns the NaN of a double-precision operation: the first NaN input, made quiet, or the hardware's default NaN.
#[inline(always)]
fn double_nan(inputs: &[f64]) -> f64 {
    const QUIET: u64 = 0x0008_0000_0000_0000;
    let input = inputs.iter().find(|v| v.is_nan());
    f64::from_bits(input.map_or(0xfff8_0000_0000_0000, |v| v.to_bits() | QUIET))
}

macro_rules! double_operations {
    ($($name:ident($($x:ident),+) = $value:expr;)+) => {$(
        #[inline(always)]
        pub(crate) fn $name($($x: f64),+) -> f64 {
            let value: f64 = $value;
            if value.is_nan() { double_nan(&[$($x),+]) } else { value }
        }
    )+};
}

double_operations! {
    add64(a, b) = a + b;
    sub64(a, b) = a - b;
    mul64(a, b) = a * b;
    div64(a, b) = a / b;
    fma64(a, b, c) = a.mul_add(b, c);
    sqrt64(a) = a.sqrt();
    min64(a, b) = if a.is_nan() { b } else if b.is_nan() { a } else { lesser(a, b) };
    max64(a, b) = if a.is_nan() { b } else if b.is_nan() { a } else { -lesser(-a, -b) };
}

/// Applies `function` to the upper 32 bits of `value`, and returns the upper 32 bits of the result: 20 bits of
/// fraction. Subnormal inputs and results become zero.
#[inline(always)]
pub fn upper_half(value: f64, function: impl Fn(f64) -> f64) -> f64 {
    const UPPER: u64 = !0xffff_ffff;
    let flush = |value: f64| if value.is_subnormal() { 0f64.copysign(value) } else { value };
    // Keep a NaN whose payload is only in the lower half: truncation would make it infinite.
    let upper = if value.is_nan() { value } else { f64::from_bits(value.to_bits() & UPPER) };
    let result = flush(function(flush(upper)));
    f64::from_bits(if result.is_nan() { 0x7fff_ffff_0000_0000 } else { result.to_bits() & UPPER })
}

/// Returns the smaller of two numbers, with -0 below +0.
#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b || (a == b && a.is_sign_negative()) { a } else { b }
}

/// `min.f32`: returns the number if the other input is NaN; -0 is below +0.
#[inline(always)]
pub fn min32(a: f32, b: f32) -> f32 {
    if a.is_nan() || b < a || (a == b && b.is_sign_negative()) { b } else { a }
}

/// `max.f32`: returns the number if the other input is NaN; +0 is above -0.
#[inline(always)]
pub fn max32(a: f32, b: f32) -> f32 {
    if a.is_nan() || b > a || (a == b && b.is_sign_positive()) { b } else { a }
}

/// `div.approx.f32`: a finite divisor above 2^126 gives 0 (NaN for an infinite dividend).
#[inline(always)]
pub fn div_approx(a: f32, b: f32) -> f32 {
    const LARGE: f32 = 8.507_059e37; // 2^126
    if b.abs() > LARGE && b.is_finite() {
        return if a.is_finite() { 0f32.copysign(a) * b.signum() } else { f32::NAN };
    }
    a / b
}

/// Returns the sum, rounded to odd. A second rounding to 24 bits then gives the same result as a single rounding.
pub(super) fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // Inexact and even: the neighbour in the direction of the error is odd.
    if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    }
}

/// Rounds to single precision.
pub fn to_single(value: f64, rounding: Rounding) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if !value.is_finite() || back == value {
        return nearest;
    }
    let above = back > value;
    match rounding {
        Rounding::Nearest => nearest,
        Rounding::Down if above => nearest.next_down(),
        Rounding::Up if !above => nearest.next_up(),
        Rounding::Zero if above == (value > 0.0) => {
            if value > 0.0 {
                nearest.next_down()
            } else {
                nearest.next_up()
            }
        }
        _ => nearest,
    }
}

/// Returns `value`, the sum of `a` and `b`. An exact zero sum of opposite terms is -0 when rounding down, +0
/// otherwise.
fn zero_sum(value: f64, a: f64, b: f64, rounding: Rounding) -> f64 {
    let cancelled = value == 0.0 && a == -b && (a != 0.0 || a.is_sign_positive() != b.is_sign_positive());
    if cancelled { if rounding == Rounding::Down { -0.0 } else { 0.0 } } else { value }
}

/// `add` in single precision, rounded in a direction.
pub fn add32(a: f32, b: f32, rounding: Rounding) -> f32 {
    let (a, b) = (f64::from(a), f64::from(b));
    to_single(zero_sum(sum_to_odd(a, b), a, b, rounding), rounding)
}

/// `mul` in single precision, rounded in a direction; the product of two singles is exact in double precision.
pub fn mul32(a: f32, b: f32, rounding: Rounding) -> f32 {
    to_single(f64::from(a) * f64::from(b), rounding)
}

/// `fma` in single precision, rounded once.
pub fn fma32(a: f32, b: f32, c: f32, rounding: Rounding) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    to_single(zero_sum(sum_to_odd(product, c), product, c, rounding), rounding)
}

/// `div` in single precision, rounded in a direction.
pub fn div32(a: f32, b: f32, rounding: Rounding) -> f32 {
    let (wide_a, wide_b) = (f64::from(a), f64::from(b));
    let quotient = wide_a / wide_b;
    if !quotient.is_finite() || quotient == 0.0 {
        return to_single(quotient, rounding);
    }
    // The remainder is exact with one fused operation. Its sign gives the side of the quotient on which the true
    // value lies.
    let remainder = (-quotient).mul_add(wide_b, wide_a);
    to_single(step_to_odd(quotient, remainder, wide_b), rounding)
}

/// `sqrt` in single precision, rounded in a direction.
pub fn sqrt32(a: f32, rounding: Rounding) -> f32 {
    let wide = f64::from(a);
    let root = wide.sqrt();
    if !root.is_finite() || root == 0.0 {
        return to_single(root, rounding);
    }
    to_single(step_to_odd(root, (-root).mul_add(root, wide), root), rounding)
}

/// Rounds `value` to odd. The true value minus `value` has the sign of `remainder / divisor`.
fn step_to_odd(value: f64, remainder: f64, divisor: f64) -> f64 {
    if remainder == 0.0 || value.to_bits() & 1 == 1 {
        return value;
    }
    let grows = ((remainder > 0.0) == (divisor > 0.0)) == (value > 0.0);
    f64::from_bits(if grows { value.to_bits() + 1 } else { value.to_bits() - 1 })
}

/// Returns the magnitude of a finite number as an integer, and the exponent of that integer's lowest bit.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// Rounds `whole` times 2^`exponent` to double precision in a direction. An odd `whole` of 56 bits or more represents any
/// number between its even neighbors.
fn round64(negative: bool, whole: u128, exponent: i32, rounding: Rounding) -> f64 {
    const INFINITY: u64 = 0x7ff0_0000_0000_0000;
    let length = 128 - whole.leading_zeros() as i32;
    let lowest = (exponent + length - 53).max(-1074);
    let shift = lowest - exponent;
    let (kept, exact) = match shift {
        ..=0 => (whole << -shift, true),
        1..=127 => (whole >> shift, whole & ((1 << shift) - 1) == 0),
        _ => (0, false),
    };
    let away = match rounding {
        Rounding::Nearest | Rounding::Zero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    };
    let kept = kept as u64 + u64::from(away && !exact);
    // The leading one of a normal number adds one to the exponent.
    let bits = ((lowest + 1074) as u64).saturating_mul(1 << 52).saturating_add(kept);
    let bits = if bits < INFINITY { bits } else { INFINITY - u64::from(!away) };
    f64::from_bits(bits | u64::from(negative) << 63)
}

/// Moves the leading one to bit 125, and returns the new integer and exponent. `whole` must not be zero.
fn align(whole: u128, exponent: i32) -> (u128, i32) {
    let shift = whole.leading_zeros() as i32 - 2;
    (whole << shift, exponent - shift)
}

/// Shifts right. The lowest bit becomes one if a one is lost.
fn shift_to_odd(whole: u128, shift: i32) -> u128 {
    if shift > 127 {
        return 1;
    }
    whole >> shift | u128::from(whole & ((1 << shift) - 1) != 0)
}

/// `fma` in double precision, rounded in a direction other than nearest. `nearest` is the result to nearest.
pub fn fma64_toward(a: f64, b: f64, c: f64, nearest: f64, rounding: Rounding) -> f64 {
    if ![a, b, c].iter().all(|value| value.is_finite()) {
        return nearest;
    }
    let minus = a.is_sign_negative() != b.is_sign_negative();
    let zero = |negative: bool| if negative { -0.0 } else { 0.0 };
    if a == 0.0 || b == 0.0 {
        let differ = c == 0.0 && minus != c.is_sign_negative();
        return if differ { zero(rounding == Rounding::Down) } else { c };
    }
    let ((a, a_exponent), (b, b_exponent)) = (parts(a), parts(b));
    let (product, exponent) = align(u128::from(a) * u128::from(b), a_exponent + b_exponent);
    if c == 0.0 {
        return round64(minus, product, exponent, rounding);
    }
    let (whole, own) = parts(c);
    let (addend, own) = align(u128::from(whole), own);
    let top = exponent.max(own);
    let (product, addend) = (shift_to_odd(product, top - exponent), shift_to_odd(addend, top - own));
    let negative = c.is_sign_negative();
    let (minus, sum) = match (minus == negative, product.cmp(&addend)) {
        (true, _) => (minus, product + addend),
        (false, std::cmp::Ordering::Greater) => (minus, product - addend),
        (false, std::cmp::Ordering::Less) => (negative, addend - product),
        (false, std::cmp::Ordering::Equal) => return zero(rounding == Rounding::Down),
    };
    round64(minus, sum, top, rounding)
}

/// `mul` in double precision, rounded in a direction other than nearest.
pub fn mul64_toward(a: f64, b: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return mul64(a, b);
    }
    let minus = a.is_sign_negative() != b.is_sign_negative();
    let ((a, a_exponent), (b, b_exponent)) = (parts(a), parts(b));
    round64(minus, u128::from(a) * u128::from(b), a_exponent + b_exponent, rounding)
}

/// `div` in double precision, rounded in a direction other than nearest.
pub fn div64_toward(a: f64, b: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return div64(a, b);
    }
    let minus = a.is_sign_negative() != b.is_sign_negative();
    let ((a, a_exponent), (b, b_exponent)) = (parts(a), parts(b));
    let (dividend, exponent) = align(u128::from(a), a_exponent);
    let (quotient, rest) = (dividend / u128::from(b), dividend % u128::from(b));
    // The quotient has 72 bits or more, so its lowest bit can represent the rest.
    round64(minus, quotient | u128::from(rest != 0), exponent - b_exponent, rounding)
}

/// `sqrt` in double precision, rounded in a direction other than nearest.
pub fn sqrt64_toward(a: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || a <= 0.0 {
        return sqrt64(a);
    }
    let (whole, exponent) = parts(a);
    let (whole, exponent) = align(u128::from(whole), exponent);
    let (whole, exponent) = (whole >> (exponent & 1), exponent + (exponent & 1));
    let root = whole.isqrt();
    round64(false, root | u128::from(root * root != whole), exponent / 2, rounding)
}

/// Rounds to an integer.
pub fn to_integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// Converts the bits of a half-precision number to single precision.
pub fn half_to_single(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10) & 31, u32::from(bits) & 0x3ff);
    match exponent {
        0 => f32::from_bits(sign | (fraction as f32 * (1.0 / 16_777_216.0)).to_bits()),
        31 if fraction != 0 => f32::from_bits(0x7fff_ffff),
        31 => f32::from_bits(sign | 0x7f80_0000),
        _ => f32::from_bits(sign | ((exponent + 112) << 23) | (fraction << 13)),
    }
}

/// Rounds a number to half precision and returns its bits. Overflow follows the rounding direction.
pub fn to_half(value: f64, rounding: Rounding) -> u16 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return sign | 0x7c00;
    }
    let away = match rounding {
        Rounding::Nearest | Rounding::Zero => false,
        Rounding::Down => sign != 0,
        Rounding::Up => sign == 0,
    };
    // `units` counts the spacing of halves at this magnitude: 2^-24 for subnormals, else 2^(exponent - 10).
    let exponent = (((magnitude.to_bits() >> 52) as i32) - 1023).max(-14);
    let units = magnitude * 2f64.powi(10 - exponent);
    let whole = match rounding {
        Rounding::Nearest => units.round_ties_even(),
        _ if away => units.ceil(),
        _ => units.floor(),
    };
    // A carry out of the fraction increments the exponent. Above the last exponent the result is infinity.
    let bits = ((exponent + 14) as u32) * 1024 + whole as u32;
    let largest = if away || rounding == Rounding::Nearest { 0x7c00 } else { 0x7bff };
    sign | bits.min(largest) as u16
}
