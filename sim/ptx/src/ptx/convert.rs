//! Converts one value between types, as `cvt` does.

use super::float;
use super::forms::{ConvertForm, Number, NumberType};
use super::small_float::SmallFloat;

/// Returns an integer of type `of` as `i128`, sign-extended or zero-extended.
fn integer(bits: u64, of: NumberType) -> i128 {
    let unused = 64 - u32::from(of.bits);
    match of.number {
        Number::Signed => i128::from((bits << unused) as i64 >> unused),
        _ => i128::from(bits << unused >> unused),
    }
}

/// Returns the min and max of an integer type.
fn integer_range(of: NumberType) -> (i128, i128) {
    match of.number {
        Number::Signed => (-(1 << (of.bits - 1)), (1 << (of.bits - 1)) - 1),
        _ => (0, (1 << of.bits) - 1),
    }
}

/// Converts one value, as `cvt` does. The result is sign-extended or zero-extended to 64 bits for wider destinations.
pub(crate) fn convert(bits: u64, form: ConvertForm) -> u64 {
    let (low, high) = integer_range(form.to);
    match (form.from.number.is_float(), form.to.number.is_float()) {
        (true, true) => float_to_float(bits, form),
        (true, false) => {
            let value = float_value(bits, form);
            let whole = float::to_integral(value, form.rounding);
            // Values out of range clamp to the nearest representable value. A NaN becomes 0 in conversions that
            // involve at most 32 bits, and otherwise only the top bit.
            match whole.is_nan() {
                true if form.from.bits == 64 || form.to.bits == 64 => 1 << (form.to.bits - 1),
                true => 0,
                false => (whole as i128).clamp(low, high) as u64,
            }
        }
        (false, true) => integer_to_float(integer(bits, form.from), form),
        (false, false) => {
            let value = integer(bits, form.from);
            if form.saturate { value.clamp(low, high) as u64 } else { integer(value as u64, form.to) as u64 }
        }
    }
}

fn float_value(bits: u64, form: ConvertForm) -> f64 {
    match form.from.bits {
        16 if form.from.number == Number::Brain => SmallFloat::Brain.decode(bits as u16 as u32),
        16 => f64::from(float::half_to_single(bits as u16)),
        32 => {
            let value = f32::from_bits(bits as u32);
            f64::from(if form.flush && value.is_subnormal() { 0f32.copysign(value) } else { value })
        }
        _ => f64::from_bits(bits),
    }
}

fn float_bits(value: f64, form: ConvertForm) -> u64 {
    let value = match form.saturate {
        true if value > 0.0 => value.min(1.0),
        true => 0.0,
        false => value,
    };
    let rounding = if form.integral { float::Rounding::Nearest } else { form.rounding };
    match form.to.bits {
        16 if form.to.number == Number::Brain => SmallFloat::Brain.encode(value, rounding).into(),
        16 => u64::from(float::to_half(value, rounding)),
        32 if value.is_nan() => 0x7fff_ffff,
        32 => {
            let single = float::to_single(value, rounding);
            let single = if form.flush && single.is_subnormal() { 0f32.copysign(single) } else { single };
            u64::from(single.to_bits())
        }
        _ => value.to_bits(),
    }
}

fn float_to_float(bits: u64, form: ConvertForm) -> u64 {
    let value = float_value(bits, form);
    let value = if form.integral { float::to_integral(value, form.rounding) } else { value };
    float_bits(value, form)
}

fn integer_to_float(value: i128, form: ConvertForm) -> u64 {
    // Up to 53 bits are exact in double precision. Wider values must be rounded once, in the requested direction.
    if form.to.bits == 32 && form.rounding == float::Rounding::Nearest && !form.saturate {
        return u64::from((value as f32).to_bits());
    }
    let nearest = value as f64;
    let back = nearest as i128;
    let wide = match form.rounding {
        float::Rounding::Nearest if form.to.number != Number::Brain => nearest,
        // Round to odd, so that the second rounding, to single precision, is correct in every direction.
        _ if back != value && form.to.bits < 64 && nearest.to_bits() & 1 == 0 => {
            if (back < value) == (value > 0) {
                f64::from_bits(nearest.to_bits() + 1)
            } else {
                f64::from_bits(nearest.to_bits() - 1)
            }
        }
        float::Rounding::Down if back > value => nearest.next_down(),
        float::Rounding::Up if back < value => nearest.next_up(),
        float::Rounding::Zero if back > value && value > 0 => nearest.next_down(),
        float::Rounding::Zero if back < value && value < 0 => nearest.next_up(),
        _ => nearest,
    };
    float_bits(wide, form)
}
