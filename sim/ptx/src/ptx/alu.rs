//! The arithmetic table. Each row has an operation's PTX forms, its functional unit and its function for one lane.
//!
//! The decoder takes operand widths from a row's types; the executor takes the function. A new form needs only a new
//! row. The forms omit `.ftz` and `.sat`: the decoder strips them from floating-point forms. It sets flags instead,
//! which act on the inputs and results of every row.

use super::forms::OpClass;
use super::lane::Lane;

/// Type of a row's operand: width of its register in bits, and kind of its literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperandType {
    pub width: u8,
    pub float: bool,
}

const fn operand<T: Lane>() -> OperandType {
    OperandType { width: T::WIDTH, float: T::FLOAT }
}

/// The part of a row that the decoder reads.
#[derive(Debug)]
pub(crate) struct AluRow {
    pub op: AluOp,
    pub class: OpClass,
    pub forms: &'static [&'static str],
    pub result: OperandType,
    pub operands: &'static [OperandType],
}

macro_rules! table {
    ($each:ident) => { $each! {
        Int all Move16 ["mov.b16" "mov.u16" "mov.s16" "mov.f16"] |a: u16| -> u16 { a }
        Int all Move32 ["mov.b32" "mov.u32" "mov.s32" "mov.f32"] |a: u32| -> u32 { a }
        Int all Move64 ["mov.b64" "mov.u64" "mov.s64" "mov.f64"] |a: u64| -> u64 { a }

        Int all Add16 ["add.u16" "add.s16"] |a: u16, b: u16| -> u16 { a.wrapping_add(b) }
        Int all Add32 ["add.u32" "add.s32"] |a: u32, b: u32| -> u32 { a.wrapping_add(b) }
        Int all Add64 ["add.u64" "add.s64"] |a: u64, b: u64| -> u64 { a.wrapping_add(b) }
        Int all AddSat ["add.sat.s32"] |a: i32, b: i32| -> i32 { a.saturating_add(b) }
        Int all Sub16 ["sub.u16" "sub.s16"] |a: u16, b: u16| -> u16 { a.wrapping_sub(b) }
        Int all Sub32 ["sub.u32" "sub.s32"] |a: u32, b: u32| -> u32 { a.wrapping_sub(b) }
        Int all Sub64 ["sub.u64" "sub.s64"] |a: u64, b: u64| -> u64 { a.wrapping_sub(b) }
        Int all SubSat ["sub.sat.s32"] |a: i32, b: i32| -> i32 { a.saturating_sub(b) }

        IntMul all MulLo16 ["mul.lo.u16" "mul.lo.s16"] |a: u16, b: u16| -> u16 { a.wrapping_mul(b) }
        IntMul all MulLo32 ["mul.lo.u32" "mul.lo.s32"] |a: u32, b: u32| -> u32 { a.wrapping_mul(b) }
        IntMul all MulLo64 ["mul.lo.u64" "mul.lo.s64"] |a: u64, b: u64| -> u64 { a.wrapping_mul(b) }
        IntMul all MulHiU16 ["mul.hi.u16"] |a: u16, b: u16| -> u16 { ((u32::from(a) * u32::from(b)) >> 16) as u16 }
        IntMul all MulHiS16 ["mul.hi.s16"] |a: i16, b: i16| -> i16 { ((i32::from(a) * i32::from(b)) >> 16) as i16 }
        IntMul all MulHiU32 ["mul.hi.u32"] |a: u32, b: u32| -> u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 }
        IntMul all MulHiS32 ["mul.hi.s32"] |a: i32, b: i32| -> i32 { ((i64::from(a) * i64::from(b)) >> 32) as i32 }
        IntMul all MulHiU64 ["mul.hi.u64"] |a: u64, b: u64| -> u64 { ((u128::from(a) * u128::from(b)) >> 64) as u64 }
        IntMul all MulHiS64 ["mul.hi.s64"] |a: i64, b: i64| -> i64 { ((i128::from(a) * i128::from(b)) >> 64) as i64 }
        IntMul all MulWideU16 ["mul.wide.u16"] |a: u16, b: u16| -> u32 { u32::from(a) * u32::from(b) }
        IntMul all MulWideS16 ["mul.wide.s16"] |a: i16, b: i16| -> i32 { i32::from(a) * i32::from(b) }
        IntMul all MulWideU32 ["mul.wide.u32"] |a: u32, b: u32| -> u64 { u64::from(a) * u64::from(b) }
        IntMul all MulWideS32 ["mul.wide.s32"] |a: i32, b: i32| -> i64 { i64::from(a) * i64::from(b) }
        IntMul all Mul24U ["mul24.lo.u32"] |a: u32, b: u32| -> u32 { (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff) }
        IntMul all Mul24S ["mul24.lo.s32"] |a: i32, b: i32| -> i32 { low24(a).wrapping_mul(low24(b)) }
        IntMul all Mul24HiU ["mul24.hi.u32"] |a: u32, b: u32| -> u32 {
            ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32
        }
        IntMul all Mul24HiS ["mul24.hi.s32"] |a: i32, b: i32| -> i32 {
            ((i64::from(low24(a)) * i64::from(low24(b))) >> 16) as i32
        }

        IntMul all MadLo16 ["mad.lo.u16" "mad.lo.s16"] |a: u16, b: u16, c: u16| -> u16 { a.wrapping_mul(b).wrapping_add(c) }
        IntMul all MadLo32 ["mad.lo.u32" "mad.lo.s32"] |a: u32, b: u32, c: u32| -> u32 { a.wrapping_mul(b).wrapping_add(c) }
        IntMul all MadLo64 ["mad.lo.u64" "mad.lo.s64"] |a: u64, b: u64, c: u64| -> u64 { a.wrapping_mul(b).wrapping_add(c) }
        IntMul all MadHiU32 ["mad.hi.u32"] |a: u32, b: u32, c: u32| -> u32 {
            (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c)
        }
        IntMul all MadHiS32 ["mad.hi.s32"] |a: i32, b: i32, c: i32| -> i32 {
            (((i64::from(a) * i64::from(b)) >> 32) as i32).wrapping_add(c)
        }
        IntMul all MadHiSatS32 ["mad.hi.sat.s32"] |a: i32, b: i32, c: i32| -> i32 {
            (((i64::from(a) * i64::from(b)) >> 32) as i32).saturating_add(c)
        }
        IntMul all MadHiU64 ["mad.hi.u64"] |a: u64, b: u64, c: u64| -> u64 {
            (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c)
        }
        IntMul all MadHiS64 ["mad.hi.s64"] |a: i64, b: i64, c: i64| -> i64 {
            (((i128::from(a) * i128::from(b)) >> 64) as i64).wrapping_add(c)
        }
        IntMul all MadWideU16 ["mad.wide.u16"] |a: u16, b: u16, c: u32| -> u32 {
            (u32::from(a) * u32::from(b)).wrapping_add(c)
        }
        IntMul all MadWideS16 ["mad.wide.s16"] |a: i16, b: i16, c: i32| -> i32 {
            (i32::from(a) * i32::from(b)).wrapping_add(c)
        }
        IntMul all MadWideU32 ["mad.wide.u32"] |a: u32, b: u32, c: u64| -> u64 {
            (u64::from(a) * u64::from(b)).wrapping_add(c)
        }
        IntMul all MadWideS32 ["mad.wide.s32"] |a: i32, b: i32, c: i64| -> i64 {
            (i64::from(a) * i64::from(b)).wrapping_add(c)
        }
        IntMul all Mad24U ["mad24.lo.u32"] |a: u32, b: u32, c: u32| -> u32 {
            (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c)
        }
        IntMul all Mad24S ["mad24.lo.s32"] |a: i32, b: i32, c: i32| -> i32 { low24(a).wrapping_mul(low24(b)).wrapping_add(c) }
        IntMul all MadHiU16 ["mad.hi.u16"] |a: u16, b: u16, c: u16| -> u16 {
            (((u32::from(a) * u32::from(b)) >> 16) as u16).wrapping_add(c)
        }
        IntMul all MadHiS16 ["mad.hi.s16"] |a: i16, b: i16, c: i16| -> i16 {
            (((i32::from(a) * i32::from(b)) >> 16) as i16).wrapping_add(c)
        }
        IntMul all Mad24HiU ["mad24.hi.u32"] |a: u32, b: u32, c: u32| -> u32 {
            (((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32).wrapping_add(c)
        }
        IntMul all Mad24HiS ["mad24.hi.s32"] |a: i32, b: i32, c: i32| -> i32 {
            (((i64::from(low24(a)) * i64::from(low24(b))) >> 16) as i32).wrapping_add(c)
        }
        IntMul all Mad24HiSatS ["mad24.hi.sat.s32"] |a: i32, b: i32, c: i32| -> i32 {
            (((i64::from(low24(a)) * i64::from(low24(b))) >> 16) as i32).saturating_add(c)
        }
        IntMul all Dp4aUU ["dp4a.u32.u32"] |a: u32, b: u32, c: u32| -> u32 {
            dot(a.to_le_bytes().map(i32::from), b.to_le_bytes().map(i32::from), c)
        }
        IntMul all Dp4aUS ["dp4a.u32.s32"] |a: u32, b: u32, c: u32| -> u32 {
            dot(a.to_le_bytes().map(i32::from), signed_bytes(b), c)
        }
        IntMul all Dp4aSU ["dp4a.s32.u32"] |a: u32, b: u32, c: u32| -> u32 {
            dot(signed_bytes(a), b.to_le_bytes().map(i32::from), c)
        }
        IntMul all Dp4aSS ["dp4a.s32.s32"] |a: u32, b: u32, c: u32| -> u32 { dot(signed_bytes(a), signed_bytes(b), c) }
        IntMul all Dp2aLoUU ["dp2a.lo.u32.u32"] |a: u32, b: u32, c: u32| -> u32 { dot(halves(a), byte_pair(b, 0), c) }
        IntMul all Dp2aHiUU ["dp2a.hi.u32.u32"] |a: u32, b: u32, c: u32| -> u32 { dot(halves(a), byte_pair(b, 2), c) }
        IntMul all Dp2aLoUS ["dp2a.lo.u32.s32"] |a: u32, b: u32, c: u32| -> u32 { dot(halves(a), signed_pair(b, 0), c) }
        IntMul all Dp2aHiUS ["dp2a.hi.u32.s32"] |a: u32, b: u32, c: u32| -> u32 { dot(halves(a), signed_pair(b, 2), c) }
        IntMul all Dp2aLoSU ["dp2a.lo.s32.u32"] |a: u32, b: u32, c: u32| -> u32 { dot(signed_halves(a), byte_pair(b, 0), c) }
        IntMul all Dp2aHiSU ["dp2a.hi.s32.u32"] |a: u32, b: u32, c: u32| -> u32 { dot(signed_halves(a), byte_pair(b, 2), c) }
        IntMul all Dp2aLoSS ["dp2a.lo.s32.s32"] |a: u32, b: u32, c: u32| -> u32 { dot(signed_halves(a), signed_pair(b, 0), c) }
        IntMul all Dp2aHiSS ["dp2a.hi.s32.s32"] |a: u32, b: u32, c: u32| -> u32 { dot(signed_halves(a), signed_pair(b, 2), c) }
        Int all SadU16 ["sad.u16"] |a: u16, b: u16, c: u16| -> u16 { a.abs_diff(b).wrapping_add(c) }
        Int all SadS16 ["sad.s16"] |a: i16, b: i16, c: i16| -> i16 { c.wrapping_add_unsigned(a.abs_diff(b)) }
        Int all SadU64 ["sad.u64"] |a: u64, b: u64, c: u64| -> u64 { a.abs_diff(b).wrapping_add(c) }
        Int all SadS64 ["sad.s64"] |a: i64, b: i64, c: i64| -> i64 { c.wrapping_add_unsigned(a.abs_diff(b)) }
        Int all SadU32 ["sad.u32"] |a: u32, b: u32, c: u32| -> u32 { a.abs_diff(b).wrapping_add(c) }
        Int all SadS32 ["sad.s32"] |a: i32, b: i32, c: i32| -> i32 { c.wrapping_add_unsigned(a.abs_diff(b)) }

        // Division by zero is undefined in PTX. Hardware returns all ones as quotient and the dividend as remainder.
        IntDiv each DivU16 ["div.u16"] |a: u16, b: u16| -> u16 { a.checked_div(b).unwrap_or(u16::MAX) }
        IntDiv each DivS16 ["div.s16"] |a: i16, b: i16| -> i16 { if b == 0 { -1 } else { a.wrapping_div(b) } }
        IntDiv each DivU32 ["div.u32"] |a: u32, b: u32| -> u32 { a.checked_div(b).unwrap_or(u32::MAX) }
        IntDiv each DivS32 ["div.s32"] |a: i32, b: i32| -> i32 { if b == 0 { -1 } else { a.wrapping_div(b) } }
        IntDiv each DivU64 ["div.u64"] |a: u64, b: u64| -> u64 { a.checked_div(b).unwrap_or(u64::MAX) }
        IntDiv each DivS64 ["div.s64"] |a: i64, b: i64| -> i64 { if b == 0 { -1 } else { a.wrapping_div(b) } }
        IntDiv each RemU16 ["rem.u16"] |a: u16, b: u16| -> u16 { a.checked_rem(b).unwrap_or(a) }
        IntDiv each RemS16 ["rem.s16"] |a: i16, b: i16| -> i16 { if b == 0 { a } else { a.wrapping_rem(b) } }
        IntDiv each RemU32 ["rem.u32"] |a: u32, b: u32| -> u32 { a.checked_rem(b).unwrap_or(a) }
        IntDiv each RemS32 ["rem.s32"] |a: i32, b: i32| -> i32 { if b == 0 { a } else { a.wrapping_rem(b) } }
        IntDiv each RemU64 ["rem.u64"] |a: u64, b: u64| -> u64 { a.checked_rem(b).unwrap_or(a) }
        IntDiv each RemS64 ["rem.s64"] |a: i64, b: i64| -> i64 { if b == 0 { a } else { a.wrapping_rem(b) } }

        Int all Abs16 ["abs.s16"] |a: i16| -> i16 { a.wrapping_abs() }
        Int all Abs32 ["abs.s32"] |a: i32| -> i32 { a.wrapping_abs() }
        Int all Abs64 ["abs.s64"] |a: i64| -> i64 { a.wrapping_abs() }
        Int all Neg16 ["neg.s16"] |a: i16| -> i16 { a.wrapping_neg() }
        Int all Neg32 ["neg.s32"] |a: i32| -> i32 { a.wrapping_neg() }
        Int all Neg64 ["neg.s64"] |a: i64| -> i64 { a.wrapping_neg() }
        Int all MinU16 ["min.u16"] |a: u16, b: u16| -> u16 { a.min(b) }
        Int all MinS16 ["min.s16"] |a: i16, b: i16| -> i16 { a.min(b) }
        Int all MinU32 ["min.u32"] |a: u32, b: u32| -> u32 { a.min(b) }
        Int all MinS32 ["min.s32"] |a: i32, b: i32| -> i32 { a.min(b) }
        Int all MinU64 ["min.u64"] |a: u64, b: u64| -> u64 { a.min(b) }
        Int all MinS64 ["min.s64"] |a: i64, b: i64| -> i64 { a.min(b) }
        Int all MaxU16 ["max.u16"] |a: u16, b: u16| -> u16 { a.max(b) }
        Int all MaxS16 ["max.s16"] |a: i16, b: i16| -> i16 { a.max(b) }
        Int all MaxU32 ["max.u32"] |a: u32, b: u32| -> u32 { a.max(b) }
        Int all MaxS32 ["max.s32"] |a: i32, b: i32| -> i32 { a.max(b) }
        Int all MaxU64 ["max.u64"] |a: u64, b: u64| -> u64 { a.max(b) }
        Int all MaxS64 ["max.s64"] |a: i64, b: i64| -> i64 { a.max(b) }

        Int all And16 ["and.b16"] |a: u16, b: u16| -> u16 { a & b }
        Int all And32 ["and.b32"] |a: u32, b: u32| -> u32 { a & b }
        Int all And64 ["and.b64"] |a: u64, b: u64| -> u64 { a & b }
        Int all Or16 ["or.b16"] |a: u16, b: u16| -> u16 { a | b }
        Int all Or32 ["or.b32"] |a: u32, b: u32| -> u32 { a | b }
        Int all Or64 ["or.b64"] |a: u64, b: u64| -> u64 { a | b }
        Int all Xor16 ["xor.b16"] |a: u16, b: u16| -> u16 { a ^ b }
        Int all Xor32 ["xor.b32"] |a: u32, b: u32| -> u32 { a ^ b }
        Int all Xor64 ["xor.b64"] |a: u64, b: u64| -> u64 { a ^ b }
        Int all Not16 ["not.b16"] |a: u16| -> u16 { !a }
        Int all Not32 ["not.b32"] |a: u32| -> u32 { !a }
        Int all Not64 ["not.b64"] |a: u64| -> u64 { !a }
        Int all Cnot16 ["cnot.b16"] |a: u16| -> u16 { u16::from(a == 0) }
        Int all Cnot32 ["cnot.b32"] |a: u32| -> u32 { u32::from(a == 0) }
        Int all Cnot64 ["cnot.b64"] |a: u64| -> u64 { u64::from(a == 0) }

        // Shift counts clamp to the width.
        Int all Shl16 ["shl.b16"] |a: u16, b: u32| -> u16 { if b > 15 { 0 } else { a << b } }
        Int all Shl32 ["shl.b32"] |a: u32, b: u32| -> u32 { if b > 31 { 0 } else { a << (b & 31) } }
        Int all Shl64 ["shl.b64"] |a: u64, b: u32| -> u64 { if b > 63 { 0 } else { a << (b & 63) } }
        Int all ShrU16 ["shr.u16" "shr.b16"] |a: u16, b: u32| -> u16 { if b > 15 { 0 } else { a >> b } }
        Int all ShrU32 ["shr.u32" "shr.b32"] |a: u32, b: u32| -> u32 { if b > 31 { 0 } else { a >> (b & 31) } }
        Int all ShrU64 ["shr.u64" "shr.b64"] |a: u64, b: u32| -> u64 { if b > 63 { 0 } else { a >> (b & 63) } }
        Int all ShrS16 ["shr.s16"] |a: i16, b: u32| -> i16 { a >> b.min(15) }
        Int all ShrS32 ["shr.s32"] |a: i32, b: u32| -> i32 { a >> b.min(31) }
        Int all ShrS64 ["shr.s64"] |a: i64, b: u32| -> i64 { a >> b.min(63) }
        Int all ShfLeftClamp ["shf.l.clamp.b32"] |a: u32, b: u32, c: u32| -> u32 { funnel_left(a, b, c.min(32)) }
        Int all ShfLeftWrap ["shf.l.wrap.b32"] |a: u32, b: u32, c: u32| -> u32 { funnel_left(a, b, c & 31) }
        Int all ShfRightClamp ["shf.r.clamp.b32"] |a: u32, b: u32, c: u32| -> u32 { funnel_right(a, b, c.min(32)) }
        Int all ShfRightWrap ["shf.r.wrap.b32"] |a: u32, b: u32, c: u32| -> u32 { funnel_right(a, b, c & 31) }

        Int all Popc32 ["popc.b32"] |a: u32| -> u32 { a.count_ones() }
        Int all Popc64 ["popc.b64"] |a: u64| -> u32 { a.count_ones() }
        Int all Clz32 ["clz.b32"] |a: u32| -> u32 { a.leading_zeros() }
        Int all Clz64 ["clz.b64"] |a: u64| -> u32 { a.leading_zeros() }
        Int all Brev32 ["brev.b32"] |a: u32| -> u32 { a.reverse_bits() }
        Int all Brev64 ["brev.b64"] |a: u64| -> u64 { a.reverse_bits() }
        Int all BfindU32 ["bfind.u32"] |a: u32| -> u32 { find_top(u64::from(a)) }
        Int all BfindS32 ["bfind.s32"] |a: i32| -> u32 { find_top(sign_folded(i64::from(a))) }
        Int all BfindU64 ["bfind.u64"] |a: u64| -> u32 { find_top(a) }
        Int all BfindS64 ["bfind.s64"] |a: i64| -> u32 { find_top(sign_folded(a)) }
        Int all BfindShiftU32 ["bfind.shiftamt.u32"] |a: u32| -> u32 { find_shift(u64::from(a), 32) }
        Int all BfindShiftS32 ["bfind.shiftamt.s32"] |a: i32| -> u32 { find_shift(sign_folded(i64::from(a)), 32) }
        Int all BfindShiftU64 ["bfind.shiftamt.u64"] |a: u64| -> u32 { find_shift(a, 64) }
        Int all BfindShiftS64 ["bfind.shiftamt.s64"] |a: i64| -> u32 { find_shift(sign_folded(a), 64) }
        Int all BfeU32 ["bfe.u32"] |a: u32, b: u32, c: u32| -> u32 { extract32(a, b, c) }
        Int all BfeU64 ["bfe.u64"] |a: u64, b: u32, c: u32| -> u64 { extract64(a, b, c) }
        Int all BfeS32 ["bfe.s32"] |a: i32, b: u32, c: u32| -> i32 { extract_signed(i64::from(a), 32, b, c) as i32 }
        Int all BfeS64 ["bfe.s64"] |a: i64, b: u32, c: u32| -> i64 { extract_signed(a, 64, b, c) }
        Int each Fns ["fns.b32"] |a: u32, b: u32, c: i32| -> u32 { find_nth(a, b, c) }
        Int all SzextClampU ["szext.clamp.u32"] |a: u32, b: u32| -> u32 { a & low_bits(b.min(32)) as u32 }
        Int all SzextWrapU ["szext.wrap.u32"] |a: u32, b: u32| -> u32 { a & low_bits(b & 31) as u32 }
        Int all SzextClampS ["szext.clamp.s32"] |a: i32, b: u32| -> i32 { extract_signed(i64::from(a), 32, 0, b.min(32)) as i32 }
        Int all SzextWrapS ["szext.wrap.s32"] |a: i32, b: u32| -> i32 { extract_signed(i64::from(a), 32, 0, b & 31) as i32 }
        Int all BmskClamp ["bmsk.clamp.b32"] |a: u32, b: u32| -> u32 {
            if a > 31 { 0 } else { (low_bits(b.min(32)) << a) as u32 }
        }
        Int all BmskWrap ["bmsk.wrap.b32"] |a: u32, b: u32| -> u32 { (low_bits(b & 31) << (a & 31)) as u32 }
        Int all Permute ["prmt.b32"] |a: u32, b: u32, c: u32| -> u32 { permute(a, b, c) }
        Int all PermuteF4e ["prmt.b32.f4e"] |a: u32, b: u32, c: u32| -> u32 {
            permute_mode(a, b, c, [0x3210, 0x4321, 0x5432, 0x6543])
        }
        Int all PermuteB4e ["prmt.b32.b4e"] |a: u32, b: u32, c: u32| -> u32 {
            permute_mode(a, b, c, [0x5670, 0x6701, 0x7012, 0x0123])
        }
        Int all PermuteRc8 ["prmt.b32.rc8"] |a: u32, b: u32, c: u32| -> u32 {
            permute_mode(a, b, c, [0x0000, 0x1111, 0x2222, 0x3333])
        }
        Int all PermuteEcl ["prmt.b32.ecl"] |a: u32, b: u32, c: u32| -> u32 {
            permute_mode(a, b, c, [0x3210, 0x3211, 0x3222, 0x3333])
        }
        Int all PermuteEcr ["prmt.b32.ecr"] |a: u32, b: u32, c: u32| -> u32 {
            permute_mode(a, b, c, [0x0000, 0x1110, 0x2210, 0x3210])
        }
        Int all PermuteRc16 ["prmt.b32.rc16"] |a: u32, b: u32, c: u32| -> u32 {
            permute_mode(a, b, c, [0x1010, 0x3232, 0x1010, 0x3232])
        }

        Int all Select16 ["selp.b16" "selp.u16" "selp.s16"] |a: u16, b: u16, c: bool| -> u16 { if c { a } else { b } }
        Int all Select32 ["selp.b32" "selp.u32" "selp.s32" "selp.f32"] |a: u32, b: u32, c: bool| -> u32 { if c { a } else { b } }
        Int all Select64 ["selp.b64" "selp.u64" "selp.s64" "selp.f64"] |a: u64, b: u64, c: bool| -> u64 { if c { a } else { b } }
        Int all SlctS32 ["slct.b32.s32" "slct.u32.s32" "slct.s32.s32" "slct.f32.s32"] |a: u32, b: u32, c: i32| -> u32 {
            if c >= 0 { a } else { b }
        }
        Int all SlctF32 ["slct.b32.f32" "slct.u32.f32" "slct.s32.f32" "slct.f32.f32"] |a: u32, b: u32, c: f32| -> u32 {
            if c >= 0.0 { a } else { b }
        }
        Int all Slct64S32 ["slct.b64.s32" "slct.u64.s32" "slct.s64.s32" "slct.f64.s32"] |a: u64, b: u64, c: i32| -> u64 {
            if c >= 0 { a } else { b }
        }

        Int all Slct64F32 ["slct.b64.f32" "slct.u64.f32" "slct.s64.f32" "slct.f64.f32"] |a: u64, b: u64, c: f32| -> u64 {
            if c >= 0.0 { a } else { b }
        }
        Int all Slct16S32 ["slct.b16.s32" "slct.u16.s32" "slct.s16.s32"] |a: u16, b: u16, c: i32| -> u16 {
            if c >= 0 { a } else { b }
        }
        Int all Slct16F32 ["slct.b16.f32" "slct.u16.f32" "slct.s16.f32"] |a: u16, b: u16, c: f32| -> u16 {
            if c >= 0.0 { a } else { b }
        }

        Int all SetEq16 ["setp.eq.b16" "setp.eq.u16" "setp.eq.s16"] |a: u16, b: u16| -> bool { a == b }
        Int all SetNe16 ["setp.ne.b16" "setp.ne.u16" "setp.ne.s16"] |a: u16, b: u16| -> bool { a != b }
        Int all SetLtU16 ["setp.lt.u16" "setp.lo.u16"] |a: u16, b: u16| -> bool { a < b }
        Int all SetLeU16 ["setp.le.u16" "setp.ls.u16"] |a: u16, b: u16| -> bool { a <= b }
        Int all SetGtU16 ["setp.gt.u16" "setp.hi.u16"] |a: u16, b: u16| -> bool { a > b }
        Int all SetGeU16 ["setp.ge.u16" "setp.hs.u16"] |a: u16, b: u16| -> bool { a >= b }
        Int all SetLtS16 ["setp.lt.s16"] |a: i16, b: i16| -> bool { a < b }
        Int all SetLeS16 ["setp.le.s16"] |a: i16, b: i16| -> bool { a <= b }
        Int all SetGtS16 ["setp.gt.s16"] |a: i16, b: i16| -> bool { a > b }
        Int all SetGeS16 ["setp.ge.s16"] |a: i16, b: i16| -> bool { a >= b }
        Int all SetEq32 ["setp.eq.b32" "setp.eq.u32" "setp.eq.s32"] |a: u32, b: u32| -> bool { a == b }
        Int all SetNe32 ["setp.ne.b32" "setp.ne.u32" "setp.ne.s32"] |a: u32, b: u32| -> bool { a != b }
        Int all SetLtU32 ["setp.lt.u32" "setp.lo.u32"] |a: u32, b: u32| -> bool { a < b }
        Int all SetLeU32 ["setp.le.u32" "setp.ls.u32"] |a: u32, b: u32| -> bool { a <= b }
        Int all SetGtU32 ["setp.gt.u32" "setp.hi.u32"] |a: u32, b: u32| -> bool { a > b }
        Int all SetGeU32 ["setp.ge.u32" "setp.hs.u32"] |a: u32, b: u32| -> bool { a >= b }
        Int all SetLtS32 ["setp.lt.s32"] |a: i32, b: i32| -> bool { a < b }
        Int all SetLeS32 ["setp.le.s32"] |a: i32, b: i32| -> bool { a <= b }
        Int all SetGtS32 ["setp.gt.s32"] |a: i32, b: i32| -> bool { a > b }
        Int all SetGeS32 ["setp.ge.s32"] |a: i32, b: i32| -> bool { a >= b }
        Int all SetEq64 ["setp.eq.b64" "setp.eq.u64" "setp.eq.s64"] |a: u64, b: u64| -> bool { a == b }
        Int all SetNe64 ["setp.ne.b64" "setp.ne.u64" "setp.ne.s64"] |a: u64, b: u64| -> bool { a != b }
        Int all SetLtU64 ["setp.lt.u64" "setp.lo.u64"] |a: u64, b: u64| -> bool { a < b }
        Int all SetLeU64 ["setp.le.u64" "setp.ls.u64"] |a: u64, b: u64| -> bool { a <= b }
        Int all SetGtU64 ["setp.gt.u64" "setp.hi.u64"] |a: u64, b: u64| -> bool { a > b }
        Int all SetGeU64 ["setp.ge.u64" "setp.hs.u64"] |a: u64, b: u64| -> bool { a >= b }
        Int all SetLtS64 ["setp.lt.s64"] |a: i64, b: i64| -> bool { a < b }
        Int all SetLeS64 ["setp.le.s64"] |a: i64, b: i64| -> bool { a <= b }
        Int all SetGtS64 ["setp.gt.s64"] |a: i64, b: i64| -> bool { a > b }
        Int all SetGeS64 ["setp.ge.s64"] |a: i64, b: i64| -> bool { a >= b }
        Fp32 all SetEqF32 ["setp.eq.f32"] |a: f32, b: f32| -> bool { a == b }
        Fp32 all SetNeF32 ["setp.ne.f32"] |a: f32, b: f32| -> bool { less_or_greater(a, b) }
        Fp32 all SetLtF32 ["setp.lt.f32"] |a: f32, b: f32| -> bool { a < b }
        Fp32 all SetLeF32 ["setp.le.f32"] |a: f32, b: f32| -> bool { a <= b }
        Fp32 all SetGtF32 ["setp.gt.f32"] |a: f32, b: f32| -> bool { a > b }
        Fp32 all SetGeF32 ["setp.ge.f32"] |a: f32, b: f32| -> bool { a >= b }
        Fp32 all SetEquF32 ["setp.equ.f32"] |a: f32, b: f32| -> bool { !less_or_greater(a, b) }
        Fp32 all SetNeuF32 ["setp.neu.f32"] |a: f32, b: f32| -> bool { a != b }
        Fp32 all SetLtuF32 ["setp.ltu.f32"] |a: f32, b: f32| -> bool { !matches_ge(a, b) }
        Fp32 all SetLeuF32 ["setp.leu.f32"] |a: f32, b: f32| -> bool { !matches_gt(a, b) }
        Fp32 all SetGtuF32 ["setp.gtu.f32"] |a: f32, b: f32| -> bool { !matches_ge(b, a) }
        Fp32 all SetGeuF32 ["setp.geu.f32"] |a: f32, b: f32| -> bool { !matches_gt(b, a) }
        Fp32 all SetNumF32 ["setp.num.f32"] |a: f32, b: f32| -> bool { !a.is_nan() && !b.is_nan() }
        Fp32 all SetNanF32 ["setp.nan.f32"] |a: f32, b: f32| -> bool { a.is_nan() || b.is_nan() }
        Fp64 all SetEqF64 ["setp.eq.f64"] |a: f64, b: f64| -> bool { a == b }
        Fp64 all SetNeF64 ["setp.ne.f64"] |a: f64, b: f64| -> bool { less_or_greater(a, b) }
        Fp64 all SetLtF64 ["setp.lt.f64"] |a: f64, b: f64| -> bool { a < b }
        Fp64 all SetLeF64 ["setp.le.f64"] |a: f64, b: f64| -> bool { a <= b }
        Fp64 all SetGtF64 ["setp.gt.f64"] |a: f64, b: f64| -> bool { a > b }
        Fp64 all SetGeF64 ["setp.ge.f64"] |a: f64, b: f64| -> bool { a >= b }
        Fp64 all SetEquF64 ["setp.equ.f64"] |a: f64, b: f64| -> bool { !less_or_greater(a, b) }
        Fp64 all SetNeuF64 ["setp.neu.f64"] |a: f64, b: f64| -> bool { a != b }
        Fp64 all SetLtuF64 ["setp.ltu.f64"] |a: f64, b: f64| -> bool { !matches_ge(a, b) }
        Fp64 all SetLeuF64 ["setp.leu.f64"] |a: f64, b: f64| -> bool { !matches_gt(a, b) }
        Fp64 all SetGtuF64 ["setp.gtu.f64"] |a: f64, b: f64| -> bool { !matches_ge(b, a) }
        Fp64 all SetGeuF64 ["setp.geu.f64"] |a: f64, b: f64| -> bool { !matches_gt(b, a) }
        Fp64 all SetNumF64 ["setp.num.f64"] |a: f64, b: f64| -> bool { !a.is_nan() && !b.is_nan() }
        Fp64 all SetNanF64 ["setp.nan.f64"] |a: f64, b: f64| -> bool { a.is_nan() || b.is_nan() }

        Fp32 all AddF32 ["add.f32" "add.rn.f32"] |a: f32, b: f32| -> f32 { a + b }
        Fp32 all SubF32 ["sub.f32" "sub.rn.f32"] |a: f32, b: f32| -> f32 { a - b }
        Fp32 all MulF32 ["mul.f32" "mul.rn.f32"] |a: f32, b: f32| -> f32 { a * b }
        Fp32 all FmaF32 ["fma.rn.f32" "mad.f32" "mad.rn.f32"] |a: f32, b: f32, c: f32| -> f32 { a.mul_add(b, c) }
        Fp32 each AddRzF32 ["add.rz.f32"] |a: f32, b: f32| -> f32 { float::add32(a, b, Rounding::Zero) }
        Fp32 each AddRmF32 ["add.rm.f32"] |a: f32, b: f32| -> f32 { float::add32(a, b, Rounding::Down) }
        Fp32 each AddRpF32 ["add.rp.f32"] |a: f32, b: f32| -> f32 { float::add32(a, b, Rounding::Up) }
        Fp32 each SubRzF32 ["sub.rz.f32"] |a: f32, b: f32| -> f32 { float::add32(a, -b, Rounding::Zero) }
        Fp32 each SubRmF32 ["sub.rm.f32"] |a: f32, b: f32| -> f32 { float::add32(a, -b, Rounding::Down) }
        Fp32 each SubRpF32 ["sub.rp.f32"] |a: f32, b: f32| -> f32 { float::add32(a, -b, Rounding::Up) }
        Fp32 each MulRzF32 ["mul.rz.f32"] |a: f32, b: f32| -> f32 { float::mul32(a, b, Rounding::Zero) }
        Fp32 each MulRmF32 ["mul.rm.f32"] |a: f32, b: f32| -> f32 { float::mul32(a, b, Rounding::Down) }
        Fp32 each MulRpF32 ["mul.rp.f32"] |a: f32, b: f32| -> f32 { float::mul32(a, b, Rounding::Up) }
        Fp32 each FmaRzF32 ["fma.rz.f32" "mad.rz.f32"] |a: f32, b: f32, c: f32| -> f32 { float::fma32(a, b, c, Rounding::Zero) }
        Fp32 each FmaRmF32 ["fma.rm.f32" "mad.rm.f32"] |a: f32, b: f32, c: f32| -> f32 { float::fma32(a, b, c, Rounding::Down) }
        Fp32 each FmaRpF32 ["fma.rp.f32" "mad.rp.f32"] |a: f32, b: f32, c: f32| -> f32 { float::fma32(a, b, c, Rounding::Up) }
        Fp32 all AbsF32 ["abs.f32"] |a: f32| -> f32 { a.abs() }
        Fp32 all NegF32 ["neg.f32"] |a: f32| -> f32 { -a }
        Fp32 all MinF32 ["min.f32"] |a: f32, b: f32| -> f32 { float::min32(a, b) }
        Fp32 all MaxF32 ["max.f32"] |a: f32, b: f32| -> f32 { float::max32(a, b) }
        Fp32 all MinNanF32 ["min.NaN.f32"] |a: f32, b: f32| -> f32 { if a.is_nan() { a } else if b.is_nan() { b } else { float::min32(a, b) } }
        Fp32 all MaxNanF32 ["max.NaN.f32"] |a: f32, b: f32| -> f32 { if a.is_nan() { a } else if b.is_nan() { b } else { float::max32(a, b) } }
        Fp32 all CopysignF32 ["copysign.f32"] |a: u32, b: u32| -> u32 { a & 0x8000_0000 | b & 0x7fff_ffff }
        Fp32Div all DivF32 ["div.rn.f32" "div.f32"] |a: f32, b: f32| -> f32 { a / b }
        Fp32Div each DivRzF32 ["div.rz.f32"] |a: f32, b: f32| -> f32 { float::div32(a, b, Rounding::Zero) }
        Fp32Div each DivRmF32 ["div.rm.f32"] |a: f32, b: f32| -> f32 { float::div32(a, b, Rounding::Down) }
        Fp32Div each DivRpF32 ["div.rp.f32"] |a: f32, b: f32| -> f32 { float::div32(a, b, Rounding::Up) }
        Fp32Div all RcpF32 ["rcp.rn.f32"] |a: f32| -> f32 { 1.0 / a }
        Fp32Div each RcpRzF32 ["rcp.rz.f32"] |a: f32| -> f32 { float::div32(1.0, a, Rounding::Zero) }
        Fp32Div each RcpRmF32 ["rcp.rm.f32"] |a: f32| -> f32 { float::div32(1.0, a, Rounding::Down) }
        Fp32Div each RcpRpF32 ["rcp.rp.f32"] |a: f32| -> f32 { float::div32(1.0, a, Rounding::Up) }
        Fp32Div all SqrtF32 ["sqrt.rn.f32"] |a: f32| -> f32 { a.sqrt() }
        Fp32Div each SqrtRzF32 ["sqrt.rz.f32"] |a: f32| -> f32 { float::sqrt32(a, Rounding::Zero) }
        Fp32Div each SqrtRmF32 ["sqrt.rm.f32"] |a: f32| -> f32 { float::sqrt32(a, Rounding::Down) }
        Fp32Div each SqrtRpF32 ["sqrt.rp.f32"] |a: f32| -> f32 { float::sqrt32(a, Rounding::Up) }
        // The approximate functions are computed as exactly as single precision permits.
        Sfu all DivFullF32 ["div.full.f32"] |a: f32, b: f32| -> f32 { a / b }
        Sfu all DivApproxF32 ["div.approx.f32"] |a: f32, b: f32| -> f32 { float::div_approx(a, b) }
        Sfu all RcpApproxF32 ["rcp.approx.f32"] |a: f32| -> f32 { 1.0 / a }
        Sfu all SqrtApproxF32 ["sqrt.approx.f32"] |a: f32| -> f32 { a.sqrt() }
        Sfu all RsqrtApproxF32 ["rsqrt.approx.f32"] |a: f32| -> f32 { (1.0 / f64::from(a).sqrt()) as f32 }
        Sfu each Ex2F32 ["ex2.approx.f32"] |a: f32| -> f32 { f64::from(a).exp2() as f32 }
        Sfu each Lg2F32 ["lg2.approx.f32"] |a: f32| -> f32 { f64::from(a).log2() as f32 }
        Sfu each SinF32 ["sin.approx.f32"] |a: f32| -> f32 { f64::from(a).sin() as f32 }
        Sfu each CosF32 ["cos.approx.f32"] |a: f32| -> f32 { f64::from(a).cos() as f32 }
        Sfu each TanhF32 ["tanh.approx.f32"] |a: f32| -> f32 { f64::from(a).tanh() as f32 }

        Fp64 all AddF64 ["add.f64" "add.rn.f64"] |a: f64, b: f64| -> f64 { float::add64(a, b) }
        Fp64 all SubF64 ["sub.f64" "sub.rn.f64"] |a: f64, b: f64| -> f64 { float::sub64(a, b) }
        Fp64 all MulF64 ["mul.f64" "mul.rn.f64"] |a: f64, b: f64| -> f64 { float::mul64(a, b) }
        Fp64 all FmaF64 ["fma.rn.f64" "mad.f64" "mad.rn.f64"] |a: f64, b: f64, c: f64| -> f64 { float::fma64(a, b, c) }
        Fp64 all AbsF64 ["abs.f64"] |a: f64| -> f64 { a.abs() }
        Fp64 all NegF64 ["neg.f64"] |a: f64| -> f64 { -a }
        Fp64 all MinF64 ["min.f64"] |a: f64, b: f64| -> f64 { float::min64(a, b) }
        Fp64 all MaxF64 ["max.f64"] |a: f64, b: f64| -> f64 { float::max64(a, b) }
        Fp64 all CopysignF64 ["copysign.f64"] |a: u64, b: u64| -> u64 { a & (1 << 63) | b & !(1 << 63) }
        Fp64Div all DivF64 ["div.rn.f64"] |a: f64, b: f64| -> f64 { float::div64(a, b) }
        Fp64Div all RcpF64 ["rcp.rn.f64"] |a: f64| -> f64 { float::div64(1.0, a) }
        // These read only the upper 32 bits of the operand and set only the upper 32 bits of the result.
        Sfu all RcpApproxF64 ["rcp.approx.ftz.f64"] |a: f64| -> f64 { float::upper_half(a, |a| 1.0 / a) }
        Sfu all RsqrtApproxFtzF64 ["rsqrt.approx.ftz.f64"] |a: f64| -> f64 { float::upper_half(a, |a| 1.0 / a.sqrt()) }
        Fp64Div all SqrtF64 ["sqrt.rn.f64"] |a: f64| -> f64 { float::sqrt64(a) }
        Fp64Div all RsqrtF64 ["rsqrt.approx.f64"] |a: f64| -> f64 { float::div64(1.0, float::sqrt64(a)) }

        Fp32 all TestFinite ["testp.finite.f32"] |a: f32| -> bool { a.is_finite() }
        Fp32 all TestInfinite ["testp.infinite.f32"] |a: f32| -> bool { a.is_infinite() }
        Fp32 all TestNumber ["testp.number.f32"] |a: f32| -> bool { !a.is_nan() }
        Fp32 all TestNan ["testp.notanumber.f32"] |a: f32| -> bool { a.is_nan() }
        Fp32 all TestNormal ["testp.normal.f32"] |a: f32| -> bool { test_kind(a, std::num::FpCategory::Normal) }
        Fp32 all TestSubnormal ["testp.subnormal.f32"] |a: f32| -> bool { test_kind(a, std::num::FpCategory::Subnormal) }

        Fp64 all TestFinite64 ["testp.finite.f64"] |a: f64| -> bool { a.is_finite() }
        Fp64 all TestInfinite64 ["testp.infinite.f64"] |a: f64| -> bool { a.is_infinite() }
        Fp64 all TestNumber64 ["testp.number.f64"] |a: f64| -> bool { !a.is_nan() }
        Fp64 all TestNan64 ["testp.notanumber.f64"] |a: f64| -> bool { a.is_nan() }
        Fp64 all TestNormal64 ["testp.normal.f64"] |a: f64| -> bool { a.is_normal() }
        Fp64 all TestSubnormal64 ["testp.subnormal.f64"] |a: f64| -> bool { a.is_subnormal() }

        Int all IsShared ["isspacep.shared" "isspacep.shared::cta"] |a: u64, own: u32| -> bool {
            in_window(a, SHARED_WINDOW) && clusters::rank(a - SHARED_WINDOW, own) == own
        }
        Int all IsClusterShared ["isspacep.shared::cluster"] |a: u64| -> bool { in_window(a, SHARED_WINDOW) }
        Int all IsLocal ["isspacep.local"] |a: u64| -> bool { in_window(a, LOCAL_WINDOW) }
        Int all IsConst ["isspacep.const"] |a: u64| -> bool { in_window(a, CONST_WINDOW) }
        Int all IsParam ["isspacep.param" "isspacep.param::entry"] |a: u64| -> bool { in_window(a, PARAM_WINDOW) }
        Int all IsGlobal ["isspacep.global"] |a: u64| -> bool {
            ![SHARED_WINDOW, LOCAL_WINDOW, CONST_WINDOW, PARAM_WINDOW].iter().any(|&base| in_window(a, base))
        }

        // The decoder adds the rank of the executing CTA.
        Int all MapShared ["mapa.shared::cluster.u32"] |a: u32, rank: u32, own: u32| -> u32 {
            clusters::map(a.into(), rank, own) as u32
        }
        Int all MapShared64 ["mapa.shared::cluster.u64"] |a: u64, rank: u32, own: u32| -> u64 {
            clusters::map(a, rank, own)
        }
        Int all MapGeneric ["mapa.u64"] |a: u64, rank: u32, own: u32| -> u64 {
            SHARED_WINDOW + clusters::map(a.wrapping_sub(SHARED_WINDOW), rank, own)
        }
        Int all RankOf ["getctarank.shared::cluster.u32"] |a: u32, own: u32| -> u32 { clusters::rank(a.into(), own) }
        Int all RankOf64 ["getctarank.shared::cluster.u64"] |a: u64, own: u32| -> u32 { clusters::rank(a, own) }
        Int all RankOfGeneric ["getctarank.u64"] |a: u64, own: u32| -> u32 {
            clusters::rank(a.wrapping_sub(SHARED_WINDOW), own)
        }

        // Conversions that only change the register. The decoder handles all others.
        Convert all CvtU64U32 ["cvt.u64.u32" "cvt.s64.u32"] |a: u32| -> u64 { u64::from(a) }
        Convert all CvtS64S32 ["cvt.s64.s32" "cvt.u64.s32"] |a: i32| -> i64 { i64::from(a) }
        Convert all CvtU32U64 ["cvt.u32.u64" "cvt.s32.u64" "cvt.u32.s64" "cvt.s32.s64"] |a: u64| -> u32 { a as u32 }
        Convert all CvtU32U16 ["cvt.u32.u16" "cvt.s32.u16"] |a: u16| -> u32 { u32::from(a) }
        Convert all CvtS32S16 ["cvt.s32.s16" "cvt.u32.s16"] |a: i16| -> i32 { i32::from(a) }
        Convert all CvtU16U32 ["cvt.u16.u32" "cvt.s16.u32" "cvt.u16.s32" "cvt.s16.s32"] |a: u32| -> u16 { a as u16 }
        Convert all CvtF32S32 ["cvt.rn.f32.s32"] |a: i32| -> f32 { a as f32 }
        Convert all CvtF32U32 ["cvt.rn.f32.u32"] |a: u32| -> f32 { a as f32 }
        Convert all CvtF64S32 ["cvt.rn.f64.s32" "cvt.f64.s32"] |a: i32| -> f64 { f64::from(a) }
        Convert all CvtF64U32 ["cvt.rn.f64.u32" "cvt.f64.u32"] |a: u32| -> f64 { f64::from(a) }
        Convert all CvtF64F32 ["cvt.f64.f32"] |a: f32| -> f64 { f64::from(a) }
        Convert all CvtF32F64 ["cvt.rn.f32.f64"] |a: f64| -> f32 { a as f32 }
        Convert all CvtS32F32 ["cvt.rzi.s32.f32"] |a: f32| -> i32 { a as i32 }
    } };
}

pub(crate) mod execute;

macro_rules! declare {
    ($($class:ident $cost:ident $name:ident [$($form:literal)+] |$($x:ident: $t:ty),+| -> $r:ty { $e:expr })+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum AluOp { $($name),+ }

        pub(crate) const ROWS: &[AluRow] = &[$(AluRow {
            op: AluOp::$name,
            class: OpClass::$class,
            forms: &[$($form),+],
            result: operand::<$r>(),
            operands: &[$(operand::<$t>()),+],
        }),+];
    };
}

table! { declare }
