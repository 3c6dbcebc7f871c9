//! The value of one lane in its PTX type, and the transfer of 32 such values from and to a warp's registers.
//!
//! Registers of up to 32 bits share one file; 16-bit values are zero-extended. 64-bit registers have a second file.
//! Predicates have a third, with one bit per lane. Constant operands come from the kernel's pool.

use super::registers::{Literals, WarpRegisters};

/// Bit of each lane in a mask.
pub(crate) const LANE_BIT: [u32; 32] = {
    let mut bits = [0; 32];
    let mut lane = 0;
    while lane < 32 {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// Instruction flag: subnormal inputs and results become zero of the same sign.
pub(crate) const FLUSH: u8 = 1;
/// Instruction flag: the result is clamped to 0..1, and NaN becomes 0.
pub(crate) const SATURATE: u8 = 2;

/// The value of one lane in a PTX type.
pub(crate) trait Lane: Copy {
    /// Representation in a register.
    type Bits: Copy + Default;
    /// Bits of its register.
    const WIDTH: u8;
    /// `true`: literals are floating-point numbers.
    const FLOAT: bool = false;

    fn load(registers: &WarpRegisters, literals: &Literals, index: u16) -> [Self::Bits; 32];
    fn store(registers: &mut WarpRegisters, index: u16, values: &[Self::Bits; 32], mask: u32);
    fn get(bits: Self::Bits) -> Self;
    fn put(self) -> Self::Bits;
    /// Returns zero of the same sign for a subnormal number.
    fn flush(self) -> Self {
        self
    }
    /// Clamps to 0..1; NaN becomes 0.
    fn saturate(self) -> Self {
        self
    }
}

/// Returns the lanes of a mask, the lowest first.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

#[inline(always)]
pub(crate) fn blend<T: Copy>(target: &mut [T; 32], values: &[T; 32], mask: u32) {
    if mask == u32::MAX {
        *target = *values;
        return;
    }
    for lane in 0..32 {
        target[lane] = if mask & LANE_BIT[lane] != 0 { values[lane] } else { target[lane] };
    }
}

macro_rules! lane {
    ($type:ty, $bits:ty, $width:literal, $file:ident, $float:literal, $get:expr, $put:expr, $flush:expr,
     $saturate:expr) => {
        impl Lane for $type {
            type Bits = $bits;
            const WIDTH: u8 = $width;
            const FLOAT: bool = $float;

            #[inline(always)]
            fn load(registers: &WarpRegisters, literals: &Literals, index: u16) -> [$bits; 32] {
                match registers.$file.get(usize::from(index)) {
                    Some(values) => *values,
                    None => literals.$file[usize::from(u16::MAX - index)],
                }
            }

            #[inline(always)]
            fn store(registers: &mut WarpRegisters, index: u16, values: &[$bits; 32], mask: u32) {
                blend(&mut registers.$file[usize::from(index)], values, mask);
            }

            #[inline(always)]
            fn get(bits: $bits) -> Self {
                $get(bits)
            }

            #[inline(always)]
            fn put(self) -> $bits {
                $put(self)
            }

            #[inline(always)]
            fn flush(self) -> Self {
                $flush(self)
            }

            #[inline(always)]
            fn saturate(self) -> Self {
                $saturate(self)
            }
        }
    };
}

/// Single-precision operations return this NaN only (PTX ISA, floating-point instructions).
#[inline(always)]
fn single_bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

#[inline(always)]
fn flush_single(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE { 0f32.copysign(value) } else { value }
}

#[inline(always)]
fn saturate_single(value: f32) -> f32 {
    // Saturation of -0 gives +0.
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

fn same<T>(value: T) -> T {
    value
}

lane!(u16, u32, 16, words, false, |b: u32| b as u16, u32::from, same, same);
lane!(i16, u32, 16, words, false, |b: u32| b as u16 as i16, |v: i16| u32::from(v as u16), same, same);
lane!(u32, u32, 32, words, false, same, same, same, same);
lane!(i32, u32, 32, words, false, |b: u32| b as i32, |v: i32| v as u32, same, same);
lane!(f32, u32, 32, words, true, f32::from_bits, single_bits, flush_single, saturate_single);
lane!(u64, u64, 64, doubles, false, same, same, same, same);
lane!(i64, u64, 64, doubles, false, |b: u64| b as i64, |v: i64| v as u64, same, same);
lane!(f64, u64, 64, doubles, true, f64::from_bits, f64::to_bits, same, same);

impl Lane for bool {
    type Bits = u32;
    const WIDTH: u8 = 1;

    #[inline(always)]
    fn load(registers: &WarpRegisters, _: &Literals, index: u16) -> [u32; 32] {
        let mask = registers.predicates[usize::from(index)];
        LANE_BIT.map(|bit| mask & bit)
    }

    #[inline(always)]
    fn store(registers: &mut WarpRegisters, index: u16, values: &[u32; 32], mask: u32) {
        let mut packed = 0;
        for lane in 0..32 {
            packed |= values[lane] & LANE_BIT[lane];
        }
        let target = &mut registers.predicates[usize::from(index)];
        *target = (*target & !mask) | (packed & mask);
    }

    #[inline(always)]
    fn get(bits: u32) -> Self {
        bits != 0
    }

    #[inline(always)]
    fn put(self) -> u32 {
        if self { u32::MAX } else { 0 }
    }
}
