//! Operations of one lane that few kernels use, on up to three operands.

use super::float::{self, Rounding};
use super::lane::Lane;

/// Arithmetic of [`LaneOp::Double`] and [`LaneOp::Pair`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatOp {
    Add,
    Subtract,
    Multiply,
    Fma,
    Divide,
    Reciprocal,
    SquareRoot,
}

impl FloatOp {
    /// Returns the number of operands.
    pub(crate) fn operands(self) -> usize {
        match self {
            Self::Fma => 3,
            Self::Reciprocal | Self::SquareRoot => 1,
            _ => 2,
        }
    }
}

/// An operation of one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneOp {
    /// Double precision, rounded in a direction.
    Double { op: FloatOp, rounding: Rounding },
    /// Two single-precision numbers in a 64-bit register.
    Pair { op: FloatOp, rounding: Rounding, flush: bool },
    /// Minimum or maximum of two or three single-precision numbers.
    Extreme {
        most: bool,
        /// A NaN input gives NaN.
        nan: bool,
        /// Compares magnitudes.
        magnitude: bool,
        /// Gives the result the sign of the product.
        xor_sign: bool,
        flush: bool,
        three: bool,
    },
}

/// An operation, and the registers of its operands: [`Instr::a`], [`Instr::b`] and [`Instr::c`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneForm {
    pub op: LaneOp,
    /// Bits of the result's register, and of the operands' registers.
    pub bits: u8,
}

impl LaneOp {
    pub(super) fn compute(self, [a, b, c]: [u64; 3]) -> u64 {
        match self {
            Self::Double { op, rounding } => double(op, rounding, [a, b, c].map(f64::from_bits)).to_bits(),
            Self::Pair { op, rounding, flush } => {
                let half = |shift: u32| {
                    let inputs = [a, b, c].map(|bits| f32::from_bits((bits >> shift) as u32));
                    u64::from(single(op, rounding, flush, inputs).put()) << shift
                };
                half(0) | half(32)
            }
            Self::Extreme { most, nan, magnitude, xor_sign, flush, three } => {
                let inputs = [a, b, c].map(|bits| f32::from_bits(bits as u32));
                let inputs = if flush { inputs.map(Lane::flush) } else { inputs };
                let inputs = &inputs[..if three { 3 } else { 2 }];
                let sign = inputs.iter().fold(0, |sign, input| sign ^ input.to_bits() >> 31);
                if nan && inputs.iter().any(|input| input.is_nan()) {
                    return f32::NAN.put().into();
                }
                let pick = if most { float::max32 } else { float::min32 };
                let inputs = inputs.iter().map(|input| if magnitude { input.abs() } else { *input });
                let picked = inputs.reduce(pick).unwrap_or(f32::NAN);
                let signed = if xor_sign && sign == 1 { -picked } else { picked };
                signed.put().into()
            }
        }
    }
}

fn single(op: FloatOp, rounding: Rounding, flush: bool, inputs: [f32; 3]) -> f32 {
    let [a, b, c] = if flush { inputs.map(Lane::flush) } else { inputs };
    let result = match op {
        FloatOp::Add => float::add32(a, b, rounding),
        FloatOp::Subtract => float::add32(a, -b, rounding),
        FloatOp::Multiply => float::mul32(a, b, rounding),
        FloatOp::Fma => float::fma32(a, b, c, rounding),
        FloatOp::Divide => float::div32(a, b, rounding),
        FloatOp::Reciprocal => float::div32(1.0, a, rounding),
        FloatOp::SquareRoot => float::sqrt32(a, rounding),
    };
    if flush { result.flush() } else { result }
}

fn double(op: FloatOp, rounding: Rounding, [a, b, c]: [f64; 3]) -> f64 {
    match op {
        FloatOp::Add => float::fma64_toward(a, 1.0, b, float::add64(a, b), rounding),
        FloatOp::Subtract => float::fma64_toward(a, 1.0, -b, float::sub64(a, b), rounding),
        FloatOp::Multiply => float::mul64_toward(a, b, rounding),
        FloatOp::Fma => float::fma64_toward(a, b, c, float::fma64(a, b, c), rounding),
        FloatOp::Divide => float::div64_toward(a, b, rounding),
        FloatOp::Reciprocal => float::div64_toward(1.0, a, rounding),
        FloatOp::SquareRoot => float::sqrt64_toward(a, rounding),
    }
}
