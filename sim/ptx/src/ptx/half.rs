//! Arithmetic and comparisons of 16-bit floating-point numbers, one or two per register, and conversions between
//! small formats.

use super::float::{self, Rounding};
use super::forms::{CompareForm, CompareResult, HalfForm, HalfOp, NarrowForm, NarrowSource, PredicateOp};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::{LANE_BIT, lanes};
use super::small_float::SmallFloat;
use super::warp::Warp;

/// Returns the bits of element `index` of a register.
fn element(word: u32, index: u32, format: SmallFloat) -> u32 {
    let bits = u32::from(format.bits());
    if bits == 32 { word } else { word >> (index * bits) & ((1 << bits) - 1) }
}

/// Computes one element.
fn compute(form: HalfForm, operands: [u32; 3]) -> u32 {
    let HalfForm { format, .. } = form;
    let bits = if form.flush { operands.map(|bits| format.flush(bits)) } else { operands };
    let [a, b, c] = bits.map(|bits| format.decode(bits));
    let sign = format.sign_of(u32::MAX);
    let round = |value: f64| format.encode(value, Rounding::Nearest);
    // The result in double precision is exact or rounded to odd, so that the final rounding equals a single rounding.
    let result = match form.op {
        HalfOp::Add => round(float::sum_to_odd(a, b)),
        HalfOp::Subtract => round(float::sum_to_odd(a, -b)),
        HalfOp::Multiply => round(a * b),
        HalfOp::Fma => round(float::sum_to_odd(a * b, c)),
        HalfOp::Negate => bits[0] ^ sign,
        HalfOp::Absolute => bits[0] & !sign,
        HalfOp::Minimum | HalfOp::Maximum => extreme(form, [bits[0], bits[1]], [a, b]),
        HalfOp::Exponential => round(a.exp2()),
        HalfOp::Tangent => round(a.tanh()),
    };
    let result = if form.flush { format.flush(result) } else { result };
    let value = format.decode(result);
    match () {
        () if form.saturate && (value.is_nan() || value <= 0.0) => 0,
        () if form.saturate && value > 1.0 => round(1.0),
        () if form.relu && value <= 0.0 => 0,
        () => result,
    }
}

/// Returns the minimum or the maximum of two numbers; -0 is below +0.
fn extreme(form: HalfForm, bits: [u32; 2], values: [f64; 2]) -> u32 {
    let HalfForm { format, .. } = form;
    let product = format.sign_of(bits[0] ^ bits[1]);
    let (bits, values) = if form.xor_sign {
        (bits.map(|bits| bits & !format.sign_of(u32::MAX)), values.map(f64::abs))
    } else {
        (bits, values)
    };
    let [a, b] = values;
    let nan = format.encode(f64::NAN, Rounding::Nearest);
    if a.is_nan() && b.is_nan() || form.nan && (a.is_nan() || b.is_nan()) {
        return nan;
    }
    let first_is_less = a < b || (a == b && a.is_sign_negative());
    let first = b.is_nan() || !a.is_nan() && first_is_less == (form.op == HalfOp::Minimum);
    let chosen = if first { bits[0] } else { bits[1] };
    if form.xor_sign { chosen | product } else { chosen }
}

/// Converts one number.
fn narrow(form: NarrowForm, bits: u32) -> u32 {
    let value = form.from.decode(bits);
    if form.relu && value <= 0.0 {
        return 0;
    }
    if form.ties_away && value.is_finite() {
        // Only single precision to tf32 supports this: add half a unit, then truncate.
        return (bits + 0x1000) & !0x1fff;
    }
    if form.finite {
        form.to.encode_finite(value, form.rounding)
    } else {
        form.to.encode(value, form.rounding)
    }
}

impl Warp {
    /// Returns the words of a source register, or zeros for [`NONE`].
    fn words_of(&self, kernel: &Kernel, index: u16) -> [u32; 32] {
        if index == NONE { [0; 32] } else { *self.word(kernel, index) }
    }

    /// Computes 16-bit floating-point arithmetic in the lanes of `mask`.
    pub(crate) fn half(&mut self, kernel: &Kernel, instr: &Instr, form: HalfForm, mask: u32) {
        let operands = [instr.a, instr.b, instr.c].map(|index| self.words_of(kernel, index));
        let mut out = [0; 32];
        for lane in lanes(mask) {
            for index in 0..1 + u32::from(form.pair) {
                let result = compute(form, operands.map(|words| element(words[lane], index, form.format)));
                out[lane] |= u64::from(result) << (16 * index);
            }
        }
        self.set_bits(instr.d, if form.pair { 32 } else { 16 }, &out, mask);
    }

    /// Compares 16-bit floating-point numbers in the lanes of `mask`.
    pub(crate) fn compare_halves(&mut self, kernel: &Kernel, instr: &Instr, form: CompareForm, mask: u32) {
        let operands = [instr.a, instr.b].map(|index| self.words_of(kernel, index));
        let other = match instr.c {
            NONE => 0,
            index => self.registers.predicates[usize::from(index)],
        };
        let other = if form.negate { !other } else { other };
        let combined = |value: u32| match form.combine {
            Some(PredicateOp::And) => value & other,
            Some(PredicateOp::Or) => value | other,
            Some(PredicateOp::Xor) => value ^ other,
            _ => value,
        };
        let mut holds = [0; 2];
        for lane in lanes(mask) {
            for (index, holds) in holds.iter_mut().enumerate().take(1 + usize::from(form.pair)) {
                let [a, b] = operands.map(|words| {
                    let bits = element(words[lane], index as u32, form.format);
                    form.format.decode(if form.flush { form.format.flush(bits) } else { bits })
                });
                *holds |= if form.relation.holds(a, b) { LANE_BIT[lane] } else { 0 };
            }
        }
        if !form.pair {
            holds[1] = !holds[0];
        }
        let holds = holds.map(combined);
        let share = if form.pair { 16 } else { form.bits };
        let value = match form.result {
            CompareResult::Predicates => {
                self.write_predicate(instr.d, holds[0], mask);
                if instr.vector[0] != NONE {
                    self.write_predicate(instr.vector[0], holds[1], mask);
                }
                return;
            }
            CompareResult::Ones => u64::MAX >> (64 - share),
            CompareResult::Number => form.format.encode(1.0, Rounding::Nearest).into(),
        };
        let of = |holds: u32, lane: usize| if holds & LANE_BIT[lane] != 0 { value } else { 0 };
        let out = std::array::from_fn(|lane| {
            of(holds[0], lane) | if form.pair { of(holds[1], lane) << 16 } else { 0 }
        });
        self.set_bits(instr.d, form.bits, &out, mask);
    }

    /// Converts between small formats in the lanes of `mask`.
    pub(crate) fn narrow(&mut self, kernel: &Kernel, instr: &Instr, form: NarrowForm, mask: u32) {
        let [first, second] = [instr.a, instr.b].map(|index| self.words_of(kernel, index));
        let bits = form.to.bits();
        let mut out = [0; 32];
        for lane in lanes(mask) {
            let (low, high) = match form.source {
                NarrowSource::One => (first[lane], None),
                NarrowSource::Two => (second[lane], Some(first[lane])),
                NarrowSource::Pair => {
                    (element(first[lane], 0, form.from), Some(element(first[lane], 1, form.from)))
                }
            };
            out[lane] =
                u64::from(narrow(form, low)) | high.map_or(0, |high| u64::from(narrow(form, high)) << bits);
        }
        let whole = if form.source == NarrowSource::One { bits } else { 2 * bits };
        self.set_bits(instr.d, whole, &out, mask);
    }

    /// `cvt.pack`: clamps two integers to a narrower type and packs them, the first above the second. The lower bits
    /// of a third word, if any, fill the bits above both.
    pub(crate) fn pack_clamped(&mut self, kernel: &Kernel, instr: &Instr, bits: u8, signed: bool, mask: u32) {
        let [a, b, c] = [instr.a, instr.b, instr.c].map(|index| self.words_of(kernel, index));
        let (low, high) =
            if signed { (-(1i64 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let clamped = |word: u32| (i64::from(word as i32).clamp(low, high) as u64) & ((1 << bits) - 1);
        let out = std::array::from_fn(|lane| {
            clamped(a[lane]) << bits | clamped(b[lane]) | u64::from(c[lane]) << (2 * bits)
        });
        self.set_bits(instr.d, 32, &out, mask);
    }
}
