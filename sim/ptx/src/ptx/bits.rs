//! Bit fields, bytes and their sums: functions of one lane for the less common integer instructions.

/// Returns `length` bits of `a` from `position` on, zero-extended.
#[inline(always)]
pub(crate) fn extract32(a: u32, position: u32, length: u32) -> u32 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position > 31 || length == 0 { 0 } else { (a >> position) & low_bits(length.min(32)) as u32 }
}

#[inline(always)]
pub(crate) fn extract64(a: u64, position: u32, length: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position > 63 || length == 0 { 0 } else { (a >> position) & low_bits(length.min(64)) }
}

/// Returns a word with `count` (0 to 64) ones at its low end.
#[inline(always)]
pub(crate) fn low_bits(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// `bfe` of a signed type. Bits beyond the field, or beyond the word, copy the field's top bit.
#[inline(always)]
pub(crate) fn extract_signed(a: i64, bits: u32, position: u32, length: u32) -> i64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if length == 0 {
        return 0;
    }
    let top = (position + length - 1).min(bits - 1);
    let sign = (a >> top) & 1;
    let field = if position >= bits { 0 } else { (a as u64 & low_bits(bits)) >> position };
    let kept = length.min(bits.saturating_sub(position));
    let fill = if sign == 1 { !low_bits(kept) } else { 0 };
    ((field & low_bits(kept)) | fill) as i64
}

/// `bfi`: inserts the low `length` bits of `a` into `b` at `position`.
#[inline(always)]
pub(crate) fn insert(a: u64, b: u64, bits: u32, position: u32, length: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position >= bits || length == 0 {
        return b;
    }
    let field = low_bits(length.min(bits - position)) << position;
    (b & !field) | ((a << position) & field)
}

/// `bfind`: returns the position of the highest one bit, or all ones for 0. Callers fold negative numbers first.
#[inline(always)]
pub(crate) fn find_top(a: u64) -> u32 {
    63u32.wrapping_sub(a.leading_zeros())
}

/// As [`find_top`], but returns the left shift that moves the bit to the top of a word of `bits`.
#[inline(always)]
pub(crate) fn find_shift(a: u64, bits: u32) -> u32 {
    if a == 0 { u32::MAX } else { bits - 1 - find_top(a) }
}

#[inline(always)]
pub(crate) fn sign_folded(a: i64) -> u64 {
    (if a < 0 { !a } else { a }) as u64
}

/// `prmt`: picks four bytes from the eight of `b:a`. Bit 3 of a selector replicates the byte's sign.
#[inline(always)]
pub(crate) fn permute(a: u32, b: u32, selectors: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |out, i| {
        let selector = selectors >> (4 * i) & 15;
        let byte = (bytes >> (8 * (selector & 7))) as u8;
        let byte = if selector & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
        out | u32::from(byte) << (8 * i)
    })
}

/// `prmt` in a named mode. `selectors` has one entry per value of the low two bits of `c`.
#[inline(always)]
pub(crate) fn permute_mode(a: u32, b: u32, c: u32, selectors: [u32; 4]) -> u32 {
    permute(a, b, selectors[(c & 3) as usize])
}

#[inline(always)]
pub(crate) fn funnel_left(low: u32, high: u32, count: u32) -> u32 {
    let word = u64::from(high) << 32 | u64::from(low);
    ((word << count) >> 32) as u32
}

#[inline(always)]
pub(crate) fn funnel_right(low: u32, high: u32, count: u32) -> u32 {
    let word = u64::from(high) << 32 | u64::from(low);
    (word >> count) as u32
}

#[inline(always)]
pub(crate) fn low24(a: i32) -> i32 {
    a << 8 >> 8
}

/// Returns `c` plus the sum of the products of `a` and `b`.
#[inline(always)]
pub(crate) fn dot<const N: usize>(a: [i32; N], b: [i32; N], c: u32) -> u32 {
    a.iter().zip(b).fold(c, |sum, (a, b)| sum.wrapping_add((a * b) as u32))
}

#[inline(always)]
pub(crate) fn signed_bytes(a: u32) -> [i32; 4] {
    a.to_le_bytes().map(|byte| i32::from(byte as i8))
}

#[inline(always)]
pub(crate) fn halves(a: u32) -> [i32; 2] {
    [a & 0xffff, a >> 16].map(|half| half as i32)
}

#[inline(always)]
pub(crate) fn signed_halves(a: u32) -> [i32; 2] {
    halves(a).map(|half| i32::from(half as i16))
}

/// Returns bytes `first` and `first + 1` of a word.
#[inline(always)]
pub(crate) fn byte_pair(a: u32, first: usize) -> [i32; 2] {
    let bytes = a.to_le_bytes();
    [bytes[first], bytes[first + 1]].map(i32::from)
}

#[inline(always)]
pub(crate) fn signed_pair(a: u32, first: usize) -> [i32; 2] {
    byte_pair(a, first).map(|byte| i32::from(byte as u8 as i8))
}

/// `fns`: returns the position of the `count`th one bit of `a` from bit `base` upwards, or downwards for a negative
/// count. Returns all ones if `a` has too few. A count of 0 tests bit `base` itself.
pub(crate) fn find_nth(a: u32, base: u32, count: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    let ones = |bit: &u32| a >> bit & 1 == 1;
    let nth = count.unsigned_abs().max(1) as usize - 1;
    let found = match count {
        0 => Some(base).filter(ones),
        1.. => (base..32).filter(ones).nth(nth),
        _ => (0..=base).rev().filter(ones).nth(nth),
    };
    found.unwrap_or(u32::MAX)
}
