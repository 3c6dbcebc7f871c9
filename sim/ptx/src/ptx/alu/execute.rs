//! Execution of the rows of the arithmetic table.

use super::super::bits::{
    byte_pair, dot, extract_signed, extract32, extract64, find_nth, find_shift, find_top, funnel_left,
    funnel_right, halves, low_bits, low24, permute, permute_mode, sign_folded, signed_bytes, signed_halves,
    signed_pair,
};
use super::super::float::{self, Rounding};
use super::super::instr::Instr;
use super::super::lane::{FLUSH, Lane, SATURATE};
use super::super::registers::{Literals, WarpRegisters};
use super::super::{CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use super::AluOp;
use crate::clusters;

macro_rules! map {
    ($name:ident, $($type:ident $value:ident $field:ident),+) => {
        #[inline(always)]
        fn $name<$($type: Lane,)+ R: Lane>(
            registers: &mut WarpRegisters, literals: &Literals, instr: &Instr, mask: u32, each: bool, f: impl Fn($($type),+) -> R,
        ) {
            $(let $value = $type::load(registers, literals, instr.$field);)+
            let mut out = [R::Bits::default(); 32];
            if ($($type::FLOAT ||)+ R::FLOAT) && instr.flags != 0 {
                let (flush, saturate) = (instr.flags & FLUSH != 0, instr.flags & SATURATE != 0);
                for lane in 0..32 {
                    $(let $value = $type::get($value[lane]);
                    let $value = if flush { $value.flush() } else { $value };)+
                    let value = f($($value),+);
                    let value = if flush { value.flush() } else { value };
                    out[lane] = (if saturate { value.saturate() } else { value }).put();
                }
            } else if each && mask != u32::MAX {
                // Expensive functions are computed only for the active lanes.
                let mut left = mask;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    out[lane] = f($($type::get($value[lane])),+).put();
                    left &= left - 1;
                }
            } else {
                for lane in 0..32 {
                    out[lane] = f($($type::get($value[lane])),+).put();
                }
            }
            R::store(registers, instr.d, &out, mask);
        }
    };
}

map!(map1, A a a);
map!(map2, A a a, B b b);
map!(map3, A a a, B b b, C c c);

macro_rules! dispatch {
    ($r:ident $k:ident $i:ident $m:ident $each:literal |$a:ident: $A:ty| $R:ty, $e:expr) => {
        map1::<$A, $R>($r, $k, $i, $m, $each, |$a: $A| -> $R { $e })
    };
    ($r:ident $k:ident $i:ident $m:ident $each:literal |$a:ident: $A:ty, $b:ident: $B:ty| $R:ty, $e:expr) => {
        map2::<$A, $B, $R>($r, $k, $i, $m, $each, |$a: $A, $b: $B| -> $R { $e })
    };
    ($r:ident $k:ident $i:ident $m:ident $each:literal |$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| $R:ty, $e:expr) => {
        map3::<$A, $B, $C, $R>($r, $k, $i, $m, $each, |$a: $A, $b: $B, $c: $C| -> $R { $e })
    };
}

macro_rules! execute_rows {
    ($($class:ident $cost:ident $name:ident [$($form:literal)+] |$($x:ident: $t:ty),+| -> $r:ty { $e:expr })+) => {
        /// Computes `op` in the lanes of `mask`. Inlined, so that it uses the host instructions that its caller is
        /// compiled for.
        #[inline(always)]
        fn execute_lanes(op: AluOp, registers: &mut WarpRegisters, literals: &Literals, instr: &Instr, mask: u32) {
            match op {
                $(AluOp::$name => execute_rows!(@run registers literals instr mask $cost |$($x: $t),+| $r, $e),)+
            }
        }
    };
    (@run $r:ident $k:ident $i:ident $m:ident all $($rest:tt)+) => { dispatch!($r $k $i $m false $($rest)+) };
    (@run $r:ident $k:ident $i:ident $m:ident each $($rest:tt)+) => { dispatch!($r $k $i $m true $($rest)+) };
}

/// Computes `op` in the lanes of `mask`.
pub(crate) fn execute(
    op: AluOp,
    registers: &mut WarpRegisters,
    literals: &Literals,
    instr: &Instr,
    mask: u32,
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the host has both features.
        return unsafe { execute_wide(op, registers, literals, instr, mask) };
    }
    execute_plain(op, registers, literals, instr, mask);
}

/// Computes eight lanes per host instruction, and fused multiply-adds without a call. All operations round exactly,
/// so results equal [`execute_plain`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn execute_wide(op: AluOp, registers: &mut WarpRegisters, literals: &Literals, instr: &Instr, mask: u32) {
    execute_lanes(op, registers, literals, instr, mask);
}

/// Runs on every host of the compiler's target.
fn execute_plain(op: AluOp, registers: &mut WarpRegisters, literals: &Literals, instr: &Instr, mask: u32) {
    execute_lanes(op, registers, literals, instr, mask);
}

#[inline(always)]
fn test_kind(a: f32, kind: std::num::FpCategory) -> bool {
    a.classify() == kind
}
table! { execute_rows }

/// Returns whether a generic address lies in the window that starts at `base`.
fn in_window(address: u64, base: u64) -> bool {
    address.wrapping_sub(base) < WINDOW_BYTES
}

/// Returns `a != b`, but false for NaN.
#[inline(always)]
fn less_or_greater<T: PartialOrd + Copy>(a: T, b: T) -> bool {
    matches_gt(a, b) || a < b
}

/// Returns `a >= b`, false for NaN. The complement is "less or unordered".
#[inline(always)]
fn matches_ge<T: PartialOrd>(a: T, b: T) -> bool {
    a >= b
}

/// Returns `a > b`, false for NaN. The complement is "less, equal or unordered".
#[inline(always)]
fn matches_gt<T: PartialOrd>(a: T, b: T) -> bool {
    a > b
}
