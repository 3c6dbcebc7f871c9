//! Decodes operations of one lane that are not rows of the arithmetic table.

use super::super::ast::Operand;
use super::super::float::Rounding;
use super::super::forms::{OpClass, Rare};
use super::super::instr::{NONE, Op};
use super::super::lane_ops::{FloatOp, LaneForm, LaneOp};
use super::{FunctionDecoder, Result};
use crate::ptx::alu::OperandType;

impl FunctionDecoder<'_> {
    /// Decodes an operation of one lane. Returns `None` if `name` and `modifiers` are none.
    pub(super) fn lane_op(
        &mut self,
        name: &str,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Option<Result<()>> {
        let (op, class) = float_op(name, modifiers).or_else(|| extreme(name, modifiers, operands.len()))?;
        Some(self.lane_operands(op, class, operands))
    }

    fn lane_operands(&mut self, op: LaneOp, class: OpClass, operands: &[Operand]) -> Result<()> {
        let (count, bits) = match op {
            LaneOp::Double { op, .. } | LaneOp::Pair { op, .. } => (op.operands(), 64),
            LaneOp::Extreme { three, .. } => (if three { 3 } else { 2 }, 32),
        };
        let float = !matches!(op, LaneOp::Pair { .. });
        let wanted = count + 1;
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = self.dest(&operands[0], bits)?;
        let mut places = [NONE; 3];
        for (place, operand) in places.iter_mut().zip(&operands[1..]) {
            *place = self.source(operand, OperandType { width: bits, float })?;
        }
        [self.instr.a, self.instr.b, self.instr.c] = places;
        self.plain(Op::Rare(Rare::Lane(LaneForm { op, bits })), class)
    }
}

/// Returns the direction that PTX calls `name`.
fn rounding(name: &str) -> Option<Rounding> {
    Some(match name {
        "rn" => Rounding::Nearest,
        "rz" => Rounding::Zero,
        "rm" => Rounding::Down,
        "rp" => Rounding::Up,
        _ => return None,
    })
}

/// Arithmetic in double precision that is rounded in a direction, and on pairs of single-precision numbers.
fn float_op(name: &str, modifiers: &[&str]) -> Option<(LaneOp, OpClass)> {
    let op = match name {
        "add" => FloatOp::Add,
        "sub" => FloatOp::Subtract,
        "mul" => FloatOp::Multiply,
        "fma" | "mad" => FloatOp::Fma,
        "div" => FloatOp::Divide,
        "rcp" => FloatOp::Reciprocal,
        "sqrt" => FloatOp::SquareRoot,
        _ => return None,
    };
    let divides = matches!(op, FloatOp::Divide | FloatOp::Reciprocal | FloatOp::SquareRoot);
    let (direction, rest) = match modifiers.iter().position(|modifier| rounding(modifier).is_some()) {
        Some(at) => (rounding(modifiers[at]), [&modifiers[..at], &modifiers[at + 1..]].concat()),
        None => (None, modifiers.to_vec()),
    };
    let nearest = Rounding::Nearest;
    match rest[..] {
        ["f64"] => {
            let rounding = direction.filter(|direction| *direction != nearest)?;
            let class = if divides { OpClass::Fp64Div } else { OpClass::Fp64 };
            Some((LaneOp::Double { op, rounding }, class))
        }
        ["f32x2"] | ["ftz", "f32x2"] if !divides => {
            let rounding = direction.unwrap_or(nearest);
            Some((LaneOp::Pair { op, rounding, flush: rest.len() == 2 }, OpClass::Fp32))
        }
        _ => None,
    }
}

/// `min` and `max` in single precision that are not rows of the table.
fn extreme(name: &str, modifiers: &[&str], operands: usize) -> Option<(LaneOp, OpClass)> {
    let most = match name {
        "min" => false,
        "max" => true,
        _ => return None,
    };
    let known = |modifier: &&str| matches!(*modifier, "ftz" | "NaN" | "xorsign" | "abs" | "f32");
    let three = operands == 4;
    let has = |name| modifiers.contains(&name);
    let suits = has("f32") && modifiers.iter().all(known) && has("abs") | three;
    let (magnitude, xor_sign) = (has("abs"), has("xorsign"));
    let op = LaneOp::Extreme { most, nan: has("NaN"), magnitude, xor_sign, flush: has("ftz"), three };
    suits.then_some((op, OpClass::Fp32))
}
