//! Decodes arithmetic, comparisons and conversions of small floating-point formats.

use super::super::ast::Operand;
use super::super::error::quote;
use super::super::float::Rounding;
use super::super::forms::{
    CompareForm, CompareResult, HalfForm, HalfOp, NarrowForm, NarrowSource, OpClass, PredicateOp, Rare,
    Relation,
};
use super::super::instr::{NONE, Op};
use super::super::small_float::SmallFloat;
use super::{FunctionDecoder, Result, exactly};

/// Returns the 16-bit floating-point format of a type, and whether a register holds two elements.
fn half_type(name: &str) -> Option<(SmallFloat, bool)> {
    match name {
        "f16" => Some((SmallFloat::Half, false)),
        "f16x2" => Some((SmallFloat::Half, true)),
        "bf16" => Some((SmallFloat::Brain, false)),
        "bf16x2" => Some((SmallFloat::Brain, true)),
        _ => None,
    }
}

/// Returns the bits of a register that holds one element, or two if `pair`.
fn width(pair: bool) -> u8 {
    if pair { 32 } else { 16 }
}

impl FunctionDecoder<'_> {
    /// Returns whether an instruction is arithmetic or a comparison of 16-bit floating-point numbers.
    pub(super) fn is_half(name: &str, modifiers: &[&str]) -> bool {
        let of = modifiers.last().and_then(|of| half_type(of));
        of.is_some() && (matches!(name, "setp" | "set") || half_op(name).is_some())
    }

    /// Decodes arithmetic and comparisons of 16-bit floating-point numbers.
    pub(super) fn half(&mut self, name: &str, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [rest @ .., of] = modifiers else { return Err("its type is missing".to_owned()) };
        let (format, pair) = half_type(of).ok_or("its type is not known")?;
        match name {
            "setp" => {
                return self.compare_halves(rest, (format, pair), CompareResult::Predicates, 0, operands);
            }
            "set" => {
                let [rest @ .., to] = rest else { return Err("its result's type is missing".to_owned()) };
                let (result, bits) = match *to {
                    "u16" | "s16" if !pair => (CompareResult::Ones, 16),
                    "u32" | "s32" => (CompareResult::Ones, 32),
                    to if to == *of => (CompareResult::Number, width(pair)),
                    other => return Err(format!("its result cannot be '{}'", quote(other))),
                };
                return self.compare_halves(rest, (format, pair), result, bits, operands);
            }
            _ => {}
        }
        let op = half_op(name).ok_or("it is not known")?;
        let mut form = HalfForm {
            op,
            format,
            pair,
            flush: false,
            saturate: false,
            relu: false,
            nan: false,
            xor_sign: false,
        };
        for modifier in rest {
            match *modifier {
                "rn" | "approx" | "abs" => {}
                "ftz" => form.flush = true,
                "sat" => form.saturate = true,
                "relu" => form.relu = true,
                "NaN" => form.nan = true,
                "xorsign" => form.xor_sign = true,
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        let wanted = op.operands() + 1;
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = self.dest(&operands[0], width(pair))?;
        let mut places = [NONE; 3];
        for (place, operand) in places.iter_mut().zip(&operands[1..]) {
            *place = self.integer(operand, width(pair))?;
        }
        [self.instr.a, self.instr.b, self.instr.c] = places;
        let special = matches!(op, HalfOp::Exponential | HalfOp::Tangent);
        let class = if special { OpClass::Sfu } else { OpClass::Fp32 };
        self.plain(Op::Rare(Rare::Half(form)), class)
    }

    fn compare_halves(
        &mut self,
        modifiers: &[&str],
        (format, pair): (SmallFloat, bool),
        result: CompareResult,
        bits: u8,
        operands: &[Operand],
    ) -> Result<()> {
        let (mut relation, mut combine, mut flush) = (None, None, false);
        for modifier in modifiers {
            match *modifier {
                "and" => combine = Some(PredicateOp::And),
                "or" => combine = Some(PredicateOp::Or),
                "xor" => combine = Some(PredicateOp::Xor),
                "ftz" => flush = true,
                name => {
                    relation = Some(
                        Relation::named(name)
                            .ok_or_else(|| format!("modifier '{}' is not known", quote(name)))?,
                    );
                }
            }
        }
        let relation = relation.ok_or("its comparison is missing")?;
        let wanted = 3 + usize::from(combine.is_some());
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = match (&operands[0], result) {
            (Operand::Pair(first, second), CompareResult::Predicates) => {
                self.instr.vector[0] = self.dest_register(*second, 1)?;
                self.dest_register(*first, 1)?
            }
            (other, CompareResult::Predicates) => self.dest(other, 1)?,
            (other, _) => self.dest(other, bits)?,
        };
        self.instr.a = self.integer(&operands[1], width(pair))?;
        self.instr.b = self.integer(&operands[2], width(pair))?;
        let mut negate = false;
        if combine.is_some() {
            (self.instr.c, negate) = self.predicate(&operands[3])?;
        }
        let form = CompareForm { relation, format, pair, flush, result, bits, combine, negate };
        self.plain(Op::Rare(Rare::CompareHalves(form)), OpClass::Fp32)
    }

    /// Returns whether a conversion has a small format or a rounding that only [`FunctionDecoder::narrow`] supports.
    pub(super) fn is_narrowing(modifiers: &[&str]) -> bool {
        let only_here = |m: &&str| m.ends_with("x2") || matches!(*m, "relu" | "satfinite" | "rna" | "tf32");
        modifiers.iter().any(only_here)
    }

    /// Decodes conversions of one or two numbers between small formats.
    pub(super) fn narrow(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [rest @ .., to, from] = modifiers else { return Err("it needs two types".to_owned()) };
        let format = |name: &str| {
            let (name, pair) = name.strip_suffix("x2").map_or((name, false), |name| (name, true));
            let format = SmallFloat::named(name).filter(|format| !pair || format.bits() < 32);
            format.map(|format| (format, pair)).ok_or_else(|| format!("type '{}' is not known", quote(name)))
        };
        let ((to, to_pair), (from, from_pair)) = (format(to)?, format(from)?);
        let source = match (to_pair, from_pair) {
            (false, false) => NarrowSource::One,
            (true, true) => NarrowSource::Pair,
            (true, false) if from == SmallFloat::Single => NarrowSource::Two,
            _ => return Err("it cannot convert between these types".to_owned()),
        };
        let (mut rounding, mut form) = (
            None,
            NarrowForm {
                to,
                from,
                source,
                rounding: Rounding::Nearest,
                ties_away: false,
                relu: false,
                finite: false,
            },
        );
        for modifier in rest {
            match *modifier {
                "rn" => rounding = Some(Rounding::Nearest),
                "rz" => rounding = Some(Rounding::Zero),
                "rna" if to == SmallFloat::Tf32 => {
                    rounding = Some(Rounding::Nearest);
                    form.ties_away = true;
                }
                "relu" => form.relu = true,
                "satfinite" => form.finite = true,
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        form.rounding = rounding.ok_or("it needs a rounding: .rn or .rz")?;
        let [d, sources @ ..] = operands else { return Err("it takes operands".to_owned()) };
        let wanted = if source == NarrowSource::Two { 2 } else { 1 };
        if sources.len() != wanted {
            return Err(format!("it takes {} operands, got {}", wanted + 1, operands.len()));
        }
        let to_bits = if to_pair { 2 * to.bits() } else { to.bits() };
        let from_bits = if from_pair { 2 * from.bits() } else { from.bits() };
        self.instr.d = self.dest(d, to_bits)?;
        let of = super::super::alu::OperandType { width: from_bits, float: from == SmallFloat::Single };
        self.instr.a = self.source(&sources[0], of)?;
        if let Some(second) = sources.get(1) {
            self.instr.b = self.source(second, of)?;
        }
        self.plain(Op::Rare(Rare::Narrow(form)), OpClass::Convert)
    }

    /// `cvt.pack.sat`: clamps two integers and packs them into one register.
    pub(super) fn pack_clamped(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [to, with_third] = match modifiers {
            ["pack", "sat", to, "s32"] => [*to, ""],
            ["pack", "sat", to, "s32", "b32"] => [*to, "b32"],
            _ => return Err("it must be .pack.sat to an integer type, from .s32".to_owned()),
        };
        let signed = to.starts_with('s');
        let bits = match (to.get(1..), with_third) {
            (Some("16"), "") => 16,
            (Some("8"), "b32") => 8,
            (Some("4"), "b32") => 4,
            (Some("2"), "b32") => 2,
            _ => return Err("it packs 16 bits from two operands, or 8, 4 or 2 bits with a third".to_owned()),
        };
        if !signed && !to.starts_with('u') {
            return Err(format!("type '{}' is not an integer", quote(to)));
        }
        if with_third.is_empty() {
            let [d, a, b] = exactly(operands)?;
            self.instr.d = self.dest(d, 32)?;
            (self.instr.a, self.instr.b) = (self.integer(a, 32)?, self.integer(b, 32)?);
        } else {
            let [d, a, b, c] = exactly(operands)?;
            self.instr.d = self.dest(d, 32)?;
            (self.instr.a, self.instr.b) = (self.integer(a, 32)?, self.integer(b, 32)?);
            self.instr.c = self.integer(c, 32)?;
        }
        self.plain(Op::Rare(Rare::PackClamped { bits, signed }), OpClass::Convert)
    }
}

fn half_op(name: &str) -> Option<HalfOp> {
    Some(match name {
        "add" => HalfOp::Add,
        "sub" => HalfOp::Subtract,
        "mul" => HalfOp::Multiply,
        "fma" => HalfOp::Fma,
        "neg" => HalfOp::Negate,
        "abs" => HalfOp::Absolute,
        "min" => HalfOp::Minimum,
        "max" => HalfOp::Maximum,
        "ex2" => HalfOp::Exponential,
        "tanh" => HalfOp::Tangent,
        _ => return None,
    })
}
