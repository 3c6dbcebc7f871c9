//! Fast values for signals: [`U`] up to 64 bits in one word, [`W`] wider ones in an array of words.
//!
//! rust-hdl's own `Bits<N>` stores everything above 32 bits as `[bool; N]`. These types have the methods that `#[hdl_gen]`
//! translates by name, so that they replace `Bits<N>` in the body of a block:
//!
//! | in Rust | in Verilog |
//! |---|---|
//! | `x.get_bit(i)` | `x[i]` |
//! | `x.get_bits::<M>(i)` | `x[i +: M]` |
//! | `x.replace_bit(i, v)`, `v` a `bool` or a `U<M>` | `x` with `x[i +: M]` replaced by `v` |
//! | `x.any()`, `x.all()`, `x.xor()` | `\|x`, `&x`, `^x` |
//! | `bit_cast::<M, N>(x)`, `bit_cast_to::<T>(x)` | zero-extension or truncation |
//! | `i.to_bits()` of a loop variable, `x.index()` of a value | the variable, the value |
//!
//! Arithmetic wraps at the width. Reading beyond the width gives zero and replacing beyond it changes nothing, in
//! Rust as in the emitted Verilog.

use rust_hdl_core::prelude::{Bits, Synth, TypeDescriptor, TypeKind, VCDValue, VerilogLiteral};
use selvedge_state::State;
use std::cmp::Ordering;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Shl, Shr, Sub};

/// Returns a word with the low `bits` bits set; all bits from 64 on.
#[inline(always)]
const fn ones(bits: usize) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// An unsigned value of `N` bits, 1 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, PartialOrd, Ord, Hash, State)]
pub struct U<const N: usize>(u64);

impl<const N: usize> U<N> {
    /// Maximum value.
    pub const MAX: u64 = {
        assert!(N >= 1 && N <= 64, "U<N> has 1 to 64 bits");
        ones(N)
    };

    /// Returns the low `N` bits of `value`.
    #[inline(always)]
    pub const fn new(value: u64) -> Self {
        U(value & Self::MAX)
    }

    /// Returns the value.
    #[inline(always)]
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// Returns the value as an index.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.0 as usize
    }

    /// Returns bit `i`; false from `N` on.
    #[inline(always)]
    pub fn get_bit(&self, i: usize) -> bool {
        i < N && (self.0 >> i) & 1 != 0
    }

    /// Returns bits `i .. i + M`; zero if they do not all exist.
    #[inline(always)]
    pub fn get_bits<const M: usize>(&self, i: usize) -> U<M> {
        if i + M <= N { U((self.0 >> i) & U::<M>::MAX) } else { U(0) }
    }

    /// Returns this value with `field` in the bits from `i` on; unchanged if they do not all exist.
    #[inline(always)]
    pub fn replace_bit<F: BitField>(&self, i: usize, field: F) -> Self {
        if i + F::WIDTH <= N { U((self.0 & !(ones(F::WIDTH) << i)) | (field.word() << i)) } else { *self }
    }

    /// Returns whether any bit is set.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.0 != 0
    }

    /// Returns whether all bits are set.
    #[inline(always)]
    pub fn all(&self) -> bool {
        self.0 == Self::MAX
    }

    /// Returns whether the number of set bits is odd.
    #[inline(always)]
    pub fn xor(&self) -> bool {
        // The parity of half a word takes fewer steps.
        let ones = if N <= 32 { (self.0 as u32).count_ones() } else { self.0.count_ones() };
        ones & 1 != 0
    }
}

/// A value that [`U::replace_bit`] and [`W::replace_bit`] can insert: a bit or a field of at most 64 bits.
pub trait BitField: Copy {
    /// Bits of the field.
    const WIDTH: usize;
    /// Returns the bits, in the low end of a word.
    fn word(self) -> u64;
}

/// A value in which a field can be replaced in place; used by `#[hdl_gen]`.
pub trait Replace<F> {
    /// Replaces the bits from `i` on by `field`; changes nothing if they do not all exist.
    fn replace(&mut self, i: usize, field: F);
}

impl<const N: usize, F: BitField> Replace<F> for U<N> {
    #[inline(always)]
    fn replace(&mut self, i: usize, field: F) {
        *self = self.replace_bit(i, field);
    }
}

impl<const N: usize, const K: usize, F: BitField> Replace<F> for W<N, K> {
    #[inline(always)]
    fn replace(&mut self, i: usize, field: F) {
        if i + F::WIDTH <= N {
            let (word, shift, mask) = (i / 64, i % 64, ones(F::WIDTH));
            self.0[word] = (self.0[word] & !(mask << shift)) | (field.word() << shift);
            if shift + F::WIDTH > 64 {
                let low = 64 - shift;
                self.0[word + 1] = (self.0[word + 1] & !(mask >> low)) | (field.word() >> low);
            }
        }
    }
}

impl BitField for bool {
    const WIDTH: usize = 1;
    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self)
    }
}

impl<const M: usize> BitField for U<M> {
    const WIDTH: usize = M;
    #[inline(always)]
    fn word(self) -> u64 {
        self.0
    }
}

impl<const N: usize> From<u64> for U<N> {
    /// # Panics
    /// If the value has more than `N` bits, which means that a literal in a block is wrong. [`U::new`] truncates instead.
    #[inline(always)]
    fn from(value: u64) -> Self {
        assert!(value <= Self::MAX, "{value} does not fit into {N} bits");
        U(value)
    }
}

impl From<bool> for U<1> {
    #[inline(always)]
    fn from(bit: bool) -> Self {
        U(u64::from(bit))
    }
}

impl<const N: usize> From<U<N>> for Bits<N> {
    fn from(value: U<N>) -> Self {
        value.0.into()
    }
}

/// Implements a binary operator on `U<N>`, with `U<N>` and with a literal on the right.
macro_rules! u_operator {
    ($($trait:ident, $method:ident, $apply:expr;)*) => { $(
        impl<const N: usize> $trait for U<N> {
            type Output = U<N>;
            #[inline(always)]
            fn $method(self, right: U<N>) -> U<N> {
                let apply: fn(u64, u64) -> u64 = $apply;
                U::new(apply(self.0, right.0))
            }
        }
        impl<const N: usize> $trait<u64> for U<N> {
            type Output = U<N>;
            #[inline(always)]
            fn $method(self, right: u64) -> U<N> {
                self.$method(U::<N>::new(right))
            }
        }
    )* };
}
u_operator! {
    Add, add, u64::wrapping_add;
    Sub, sub, u64::wrapping_sub;
    Mul, mul, u64::wrapping_mul;
    BitAnd, bitand, |a, b| a & b;
    BitOr, bitor, |a, b| a | b;
    BitXor, bitxor, |a, b| a ^ b;
}

impl<const N: usize> Add<bool> for U<N> {
    type Output = U<N>;
    #[inline(always)]
    fn add(self, carry: bool) -> U<N> {
        U::new(self.0.wrapping_add(u64::from(carry)))
    }
}

impl<const N: usize> Not for U<N> {
    type Output = U<N>;
    #[inline(always)]
    fn not(self) -> U<N> {
        U::new(!self.0)
    }
}

impl<const N: usize> Shl<u64> for U<N> {
    type Output = U<N>;
    #[inline(always)]
    fn shl(self, by: u64) -> U<N> {
        if by < 64 { U::new(self.0 << by) } else { U(0) }
    }
}

impl<const N: usize> Shr<u64> for U<N> {
    type Output = U<N>;
    #[inline(always)]
    fn shr(self, by: u64) -> U<N> {
        if by < 64 { U(self.0 >> by) } else { U(0) }
    }
}

impl<const N: usize, const M: usize> Shl<U<M>> for U<N> {
    type Output = U<N>;
    #[inline(always)]
    fn shl(self, by: U<M>) -> U<N> {
        self << by.0
    }
}

impl<const N: usize, const M: usize> Shr<U<M>> for U<N> {
    type Output = U<N>;
    #[inline(always)]
    fn shr(self, by: U<M>) -> U<N> {
        self >> by.0
    }
}

impl<const N: usize> PartialEq<u64> for U<N> {
    #[inline(always)]
    fn eq(&self, right: &u64) -> bool {
        self.0 == *right
    }
}

impl<const N: usize> PartialOrd<u64> for U<N> {
    #[inline(always)]
    fn partial_cmp(&self, right: &u64) -> Option<Ordering> {
        self.0.partial_cmp(right)
    }
}

impl<const N: usize> Synth for U<N> {
    const BITS: usize = N;
    fn descriptor() -> TypeDescriptor {
        bits_descriptor(N)
    }
    fn vcd(self) -> VCDValue {
        vcd_value(&[self.0], N)
    }
    fn verilog(self) -> VerilogLiteral {
        Bits::<N>::from(self).into()
    }
}

/// Returns the lowest `bits` of some words as rust-hdl dumps them: highest bit first, a single bit as a `bool`.
fn vcd_value(words: &[u64], bits: usize) -> VCDValue {
    if bits == 1 {
        return (words[0] & 1 != 0).into();
    }
    let mut values = Vec::new();
    for word in words.iter().rev() {
        if let VCDValue::Vector(word) = Bits::<64>::from(*word).into() {
            values.extend(word);
        }
    }
    values.drain(..values.len() - bits);
    VCDValue::Vector(values)
}

/// Returns rust-hdl's description of a plain vector of bits.
fn bits_descriptor(bits: usize) -> TypeDescriptor {
    TypeDescriptor { name: format!("Bits::<{bits}>"), kind: TypeKind::Bits(bits) }
}

/// The trait that turns a loop variable into a value.
pub mod to_bits {
    use super::U;

    /// Loop variables as values: `i.to_bits()`.
    pub trait ToBits {
        /// Returns the variable in `M` bits.
        ///
        /// # Panics
        /// If it does not fit.
        fn to_bits<const M: usize>(self) -> U<M>;
    }

    impl ToBits for usize {
        #[inline(always)]
        fn to_bits<const M: usize>(self) -> U<M> {
            U::from(self as u64)
        }
    }
}

/// An unsigned value of `N` bits in `K` words of 64 bits, the least significant first: `K` is `N / 64`, rounded up.
///
/// Each width that a block uses needs a name: `type Line = W<1024, 16>;`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, State)]
pub struct W<const N: usize, const K: usize>([u64; K]);

impl<const N: usize, const K: usize> Default for W<N, K> {
    #[inline(always)]
    fn default() -> Self {
        Self::from_words([0; K])
    }
}

impl<const N: usize, const K: usize> W<N, K> {
    /// Mask of the existing bits of the last word.
    const LAST: u64 = {
        assert!(N > 0 && K == N.div_ceil(64), "W<N, K> needs K = N / 64, rounded up");
        ones(N - 64 * (K - 1))
    };

    /// Returns the value with these words, the least significant first; bits from `N` on are dropped.
    #[inline(always)]
    pub fn from_words(mut words: [u64; K]) -> Self {
        words[K - 1] &= Self::LAST;
        W(words)
    }

    /// Returns the words, the least significant first.
    #[inline(always)]
    pub fn words(&self) -> &[u64; K] {
        &self.0
    }

    /// Returns the value with these bytes, the least significant first; missing bytes are zero, bits from `N` on are dropped.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut words = [0; K];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut buffer = [0; 8];
            buffer[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_le_bytes(buffer);
        }
        Self::from_words(words)
    }

    /// Returns the bytes, the least significant first: `N / 8` of them, rounded up.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(N.div_ceil(8));
        bytes
    }

    /// Returns bit `i`; false from `N` on.
    #[inline(always)]
    pub fn get_bit(&self, i: usize) -> bool {
        i < N && (self.0[i / 64] >> (i % 64)) & 1 != 0
    }

    /// Returns bits `i .. i + M`; zero if they do not all exist.
    #[inline(always)]
    pub fn get_bits<const M: usize>(&self, i: usize) -> U<M> {
        if i + M > N {
            return U(0);
        }
        let (word, shift) = (i / 64, i % 64);
        let mut bits = self.0[word] >> shift;
        if shift + M > 64 {
            bits |= self.0[word + 1] << (64 - shift);
        }
        U::new(bits)
    }

    /// Returns this value with `field` in the bits from `i` on; unchanged if they do not all exist.
    #[inline(always)]
    pub fn replace_bit<F: BitField>(&self, i: usize, field: F) -> Self {
        let mut value = *self;
        value.replace(i, field);
        value
    }

    /// Returns whether any bit is set.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.0.iter().any(|word| *word != 0)
    }

    /// Returns whether all bits are set.
    #[inline(always)]
    pub fn all(&self) -> bool {
        self.0[..K - 1].iter().all(|word| *word == u64::MAX) && self.0[K - 1] == Self::LAST
    }

    /// Returns whether the number of set bits is odd.
    #[inline(always)]
    pub fn xor(&self) -> bool {
        self.0.iter().fold(0, |sum, word| sum ^ word).count_ones() & 1 != 0
    }
}

impl<const N: usize, const K: usize> From<u64> for W<N, K> {
    /// # Panics
    /// If the value has more than `N` bits.
    #[inline(always)]
    fn from(value: u64) -> Self {
        let mut wide = Self::default();
        assert!(K > 1 || value <= Self::LAST, "{value} does not fit into {N} bits");
        wide.0[0] = value;
        wide
    }
}

impl<const N: usize, const K: usize> From<W<N, K>> for Bits<N> {
    fn from(value: W<N, K>) -> Self {
        let mut bits = Bits::<N>::default();
        for i in (0..N).filter(|i| value.get_bit(*i)) {
            bits = bits.replace_bit(i, true);
        }
        bits
    }
}

/// Implements a bitwise operator on `W<N, K>`.
macro_rules! w_bitwise {
    ($($trait:ident, $method:ident, $op:tt;)*) => { $(
        impl<const N: usize, const K: usize> $trait for W<N, K> {
            type Output = Self;
            #[inline(always)]
            fn $method(mut self, right: Self) -> Self {
                for (a, b) in self.0.iter_mut().zip(right.0) {
                    *a $op b;
                }
                self
            }
        }
    )* };
}
w_bitwise! {
    BitAnd, bitand, &=;
    BitOr, bitor, |=;
    BitXor, bitxor, ^=;
}

impl<const N: usize, const K: usize> Not for W<N, K> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self::from_words(self.0.map(|word| !word))
    }
}

/// Returns the sum of two words and a carry, and the carry out.
#[inline(always)]
fn add_words(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first || second)
}

impl<const N: usize, const K: usize> W<N, K> {
    /// Returns the sum of all words and a carry, modulo 2^N.
    #[inline(always)]
    fn add_with_carry(self, right: Self, mut carry: bool) -> Self {
        let mut sum = self;
        for (a, b) in sum.0.iter_mut().zip(right.0) {
            (*a, carry) = add_words(*a, b, carry);
        }
        Self::from_words(sum.0)
    }
}

impl<const N: usize, const K: usize> Add for W<N, K> {
    type Output = Self;
    #[inline(always)]
    fn add(self, right: Self) -> Self {
        self.add_with_carry(right, false)
    }
}

impl<const N: usize, const K: usize> Sub for W<N, K> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, right: Self) -> Self {
        self.add_with_carry(!right, true)
    }
}

impl<const N: usize, const K: usize> Shl<u64> for W<N, K> {
    type Output = Self;
    #[inline]
    fn shl(self, by: u64) -> Self {
        let mut words = [0; K];
        if by < N as u64 {
            let (skip, shift) = (by as usize / 64, by % 64);
            for (i, word) in words.iter_mut().enumerate().skip(skip) {
                *word = self.0[i - skip] << shift;
                if shift > 0 && i > skip {
                    *word |= self.0[i - skip - 1] >> (64 - shift);
                }
            }
        }
        Self::from_words(words)
    }
}

impl<const N: usize, const K: usize> Shr<u64> for W<N, K> {
    type Output = Self;
    #[inline]
    fn shr(self, by: u64) -> Self {
        let mut words = [0; K];
        if by < N as u64 {
            let (skip, shift) = (by as usize / 64, by % 64);
            for (i, word) in words.iter_mut().enumerate().take(K - skip) {
                *word = self.0[i + skip] >> shift;
                if shift > 0 && i + skip + 1 < K {
                    *word |= self.0[i + skip + 1] << (64 - shift);
                }
            }
        }
        W(words)
    }
}

impl<const N: usize, const K: usize, const M: usize> Shl<U<M>> for W<N, K> {
    type Output = Self;
    #[inline]
    fn shl(self, by: U<M>) -> Self {
        self << by.0
    }
}

impl<const N: usize, const K: usize, const M: usize> Shr<U<M>> for W<N, K> {
    type Output = Self;
    #[inline]
    fn shr(self, by: U<M>) -> Self {
        self >> by.0
    }
}

impl<const N: usize, const K: usize> Ord for W<N, K> {
    fn cmp(&self, right: &Self) -> Ordering {
        self.0.iter().rev().cmp(right.0.iter().rev())
    }
}

impl<const N: usize, const K: usize> PartialOrd for W<N, K> {
    fn partial_cmp(&self, right: &Self) -> Option<Ordering> {
        Some(self.cmp(right))
    }
}

impl<const N: usize, const K: usize> PartialEq<u64> for W<N, K> {
    #[inline(always)]
    fn eq(&self, right: &u64) -> bool {
        self.0[0] == *right && self.0[1..].iter().all(|word| *word == 0)
    }
}

impl<const N: usize, const K: usize> Synth for W<N, K> {
    const BITS: usize = N;
    fn descriptor() -> TypeDescriptor {
        bits_descriptor(N)
    }
    fn vcd(self) -> VCDValue {
        vcd_value(&self.0, N)
    }
    fn verilog(self) -> VerilogLiteral {
        Bits::<N>::from(self).into()
    }
}

/// Zero-extends or truncates `N` bits to `M`.
#[inline(always)]
pub const fn bit_cast<const M: usize, const N: usize>(value: U<N>) -> U<M> {
    U::new(value.0)
}

/// Zero-extends or truncates between any of `bool`, [`U`] and [`W`].
#[inline(always)]
pub fn bit_cast_to<T: AsWords>(value: impl AsWords) -> T {
    T::from_word(|i| value.word(i))
}

/// A value as an array of 64-bit words, the least significant first. [`bit_cast_to`] converts between such values.
pub trait AsWords: Synth {
    /// Returns word `i`; zero beyond the value.
    fn word(&self, i: usize) -> u64;
    /// Returns the value whose word `i` is `word(i)`, truncated to its width.
    fn from_word(word: impl Fn(usize) -> u64) -> Self;
}

impl AsWords for bool {
    #[inline(always)]
    fn word(&self, i: usize) -> u64 {
        u64::from(*self && i == 0)
    }
    #[inline(always)]
    fn from_word(word: impl Fn(usize) -> u64) -> Self {
        word(0) & 1 != 0
    }
}

impl<const N: usize> AsWords for U<N> {
    #[inline(always)]
    fn word(&self, i: usize) -> u64 {
        if i == 0 { self.0 } else { 0 }
    }
    #[inline(always)]
    fn from_word(word: impl Fn(usize) -> u64) -> Self {
        U::new(word(0))
    }
}

impl<const N: usize, const K: usize> AsWords for W<N, K> {
    #[inline(always)]
    fn word(&self, i: usize) -> u64 {
        if i < K { self.0[i] } else { 0 }
    }
    #[inline(always)]
    fn from_word(word: impl Fn(usize) -> u64) -> Self {
        let (mut words, mut i) = ([0; K], 0);
        while i < K {
            words[i] = word(i);
            i += 1;
        }
        Self::from_words(words)
    }
}

/// Returns an array of default values, of any length (`Default` itself is limited to 32).
pub fn array<T: Default, const N: usize>() -> [T; N] {
    std::array::from_fn(|_| T::default())
}

#[cfg(test)]
mod tests {
    use super::to_bits::ToBits;
    use super::*;
    use proptest::prelude::*;

    /// A reference value: its bits, the least significant first.
    type Reference = Vec<bool>;

    fn bits_of(words: &[u64], n: usize) -> Reference {
        (0..n).map(|i| (words[i / 64] >> (i % 64)) & 1 != 0).collect()
    }

    fn of_w<const N: usize, const K: usize>(value: W<N, K>) -> Reference {
        bits_of(value.words(), N)
    }

    /// Returns the bit-serial sum. A subtraction adds the complement with a carry.
    fn add_bits(a: &Reference, b: &Reference, mut carry: bool) -> Reference {
        a.iter()
            .zip(b)
            .map(|(a, b)| {
                let sum = a ^ b ^ carry;
                carry = (a & b) | (carry & (a ^ b));
                sum
            })
            .collect()
    }

    fn complement(a: &Reference) -> Reference {
        a.iter().map(|bit| !bit).collect()
    }

    fn shift_left(a: &Reference, by: usize) -> Reference {
        (0..a.len()).map(|i| i >= by && a[i - by]).collect()
    }

    fn shift_right(a: &Reference, by: usize) -> Reference {
        (0..a.len()).map(|i| a.get(i + by).copied().unwrap_or(false)).collect()
    }

    /// Checks all operators of one width against bit-serial references.
    fn check_w<const N: usize, const K: usize>(x: [u64; K], y: [u64; K], i: usize, field: u64) {
        let (a, b) = (W::<N, K>::from_words(x), W::<N, K>::from_words(y));
        let (ra, rb) = (of_w(a), of_w(b));
        assert_eq!(of_w(a + b), add_bits(&ra, &rb, false));
        assert_eq!(of_w(a - b), add_bits(&ra, &complement(&rb), true));
        assert_eq!(of_w(a & b), ra.iter().zip(&rb).map(|(a, b)| a & b).collect::<Reference>());
        assert_eq!(of_w(a | b), ra.iter().zip(&rb).map(|(a, b)| a | b).collect::<Reference>());
        assert_eq!(of_w(a ^ b), ra.iter().zip(&rb).map(|(a, b)| a ^ b).collect::<Reference>());
        assert_eq!(of_w(!a), complement(&ra));
        assert_eq!(of_w(a << i as u64), shift_left(&ra, i));
        assert_eq!(of_w(a >> i as u64), shift_right(&ra, i));
        assert_eq!(a.cmp(&b), ra.iter().rev().cmp(rb.iter().rev()));
        assert_eq!(a.any(), ra.contains(&true));
        assert_eq!(a.all(), !ra.contains(&false));
        assert_eq!(a.xor(), ra.iter().filter(|bit| **bit).count() % 2 == 1);
        assert_eq!(a.get_bit(i), ra.get(i).copied().unwrap_or(false));
        let inside = i + 37 <= N;
        let expected = if inside { bits_of(&[0], 37).len() } else { 0 };
        let got = a.get_bits::<37>(i).to_u64();
        for k in 0..expected {
            assert_eq!((got >> k) & 1 != 0, ra[i + k], "bit {k} of the field at {i}");
        }
        assert!(inside || got == 0);
        let replaced = of_w(a.replace_bit(i, U::<37>::new(field)));
        for (k, bit) in replaced.iter().enumerate() {
            let new = inside && (i..i + 37).contains(&k);
            assert_eq!(*bit, if new { (field >> (k - i)) & 1 != 0 } else { ra[k] }, "bit {k}");
        }
        assert_eq!(W::<N, K>::from_bytes(&a.to_bytes()), a);
    }

    proptest! {
        #[test]
        fn wide_operators_agree_with_bit_serial_arithmetic(
            x: [u64; 3], y: [u64; 3], i in 0usize..200, field: u64, same in any::<bool>(), full in any::<bool>(),
        ) {
            let y = if same { x } else { y };
            let x = if full { [u64::MAX; 3] } else { x };
            check_w::<130, 3>(x, y, i, field);
            check_w::<192, 3>(x, y, i, field);
        }

        #[test]
        fn narrow_operators_wrap_at_the_width(x: u64, y: u64, by in 0u64..80) {
            const M: u128 = (1 << 13) - 1;
            let (a, b) = (U::<13>::new(x), U::<13>::new(y));
            let (wa, wb) = (u128::from(x) & M, u128::from(y) & M);
            prop_assert_eq!(u128::from((a + b).to_u64()), (wa + wb) & M);
            prop_assert_eq!(u128::from((a - b).to_u64()), (wa + M + 1 - wb) & M);
            prop_assert_eq!(u128::from((a * b).to_u64()), (wa * wb) & M);
            prop_assert_eq!(u128::from((!a).to_u64()), !wa & M);
            prop_assert_eq!(u128::from((a << by).to_u64()), (wa << by) & M);
            prop_assert_eq!(u128::from((a >> by).to_u64()), wa >> by);
            prop_assert_eq!(u128::from((a + true).to_u64()), (wa + 1) & M);
            prop_assert_eq!(a < b, wa < wb);
            prop_assert_eq!(a.all(), wa == M);
        }

        #[test]
        fn casts_extend_with_zeros_and_truncate(x: u64) {
            let narrow = U::<20>::new(x);
            prop_assert_eq!(bit_cast::<40, 20>(narrow).to_u64(), narrow.to_u64());
            prop_assert_eq!(bit_cast::<7, 20>(narrow).to_u64(), narrow.to_u64() & 0x7f);
            let wide: W<100, 2> = bit_cast_to(U::<64>::new(x));
            prop_assert_eq!(*wide.words(), [x, 0]);
            prop_assert_eq!(bit_cast_to::<U<20>>(wide), narrow);
            prop_assert_eq!(bit_cast_to::<bool>(wide), x & 1 != 0);
        }

        #[test]
        fn literals_and_dumps_show_the_value(x: [u64; 2]) {
            let value = W::<100, 2>::from_words(x);
            let all = u128::from(x[0]) | u128::from(value.words()[1]) << 64;
            prop_assert_eq!(format!("{:x}", value.verilog()), format!("100'h{all:x}"));
            let narrow = U::<64>::new(x[0]);
            prop_assert_eq!(format!("{:x}", narrow.verilog()), format!("64'h{:x}", x[0]));
        }
    }

    #[test]
    fn narrow_fields_are_read_and_replaced() {
        let value = U::<16>::new(0xabcd);
        assert_eq!(value.get_bits::<4>(4).to_u64(), 0xc);
        assert_eq!(value.get_bits::<4>(13).to_u64(), 0, "beyond the width");
        assert_eq!(value.replace_bit(4, U::<8>::new(0x12)).to_u64(), 0xa12d);
        assert_eq!(value.replace_bit(1, true).to_u64(), 0xabcf);
        assert_eq!(value.replace_bit(16, true), value);
        assert_eq!(U::<64>::new(5).replace_bit(0, U::<64>::new(u64::MAX)).to_u64(), u64::MAX);
        assert_eq!(44.to_bits::<8>().to_u64(), 44);
    }

    #[test]
    #[should_panic(expected = "256 does not fit into 8 bits")]
    fn a_literal_that_does_not_fit_is_refused() {
        let _ = U::<8>::from(256);
    }
}
