//! Encoding of traces: numbers of variable length, and the offset of decoding errors.

use selvedge_state::State;

/// A decoding error: its offset in the file and its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damage {
    pub at: usize,
    pub what: String,
}

pub(super) type DecodeResult<T> = Result<T, Damage>;

/// Digest of an empty input.
pub const EMPTY_DIGEST: u64 = 0xcbf2_9ce4_8422_2325;

/// Extends a digest by `bytes`. It detects accidental damage, not deliberate changes.
pub fn digest(so_far: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(PRIME).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(so_far, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(mix(sum, bytes.len() as u64), |sum, byte| mix(sum, u64::from(*byte)))
}

#[derive(Debug, Default, State)]
pub(super) struct TraceEncoder {
    pub bytes: Vec<u8>,
}

impl TraceEncoder {
    pub fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Writes a number with seven bits per byte, the lowest bits first. The highest bit of a byte is set if more bytes follow.
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Writes a signed number; a small absolute value takes few bytes.
    pub fn signed(&mut self, value: i64) {
        self.number((value << 1 ^ value >> 63) as u64);
    }

    pub fn mask(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn long(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.block(text.as_bytes());
    }

    /// Writes bytes, preceded by their number.
    pub fn block(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

/// Decodes the bytes from `at` to `end`. Offsets count from the start of the file.
#[derive(Debug, Clone)]
pub(super) struct TraceDecoder<'a> {
    bytes: &'a [u8],
    pub at: usize,
    end: usize,
}

impl<'a> TraceDecoder<'a> {
    pub fn new(bytes: &'a [u8], range: std::ops::Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= bytes.len());
        Self { bytes, at: range.start, end: range.end }
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    /// Returns an error at the current offset.
    pub fn damage(&self, what: impl Into<String>) -> Damage {
        Damage { at: self.at, what: what.into() }
    }

    pub fn take(&mut self, count: u64) -> DecodeResult<&'a [u8]> {
        let left = self.end - self.at;
        let fits = usize::try_from(count).ok().filter(|&count| count <= left);
        let count =
            fits.ok_or_else(|| self.damage(format!("{count} bytes should follow, but {left} are left")))?;
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    pub fn byte(&mut self) -> DecodeResult<u8> {
        Ok(self.take(1)?[0])
    }

    fn fixed<const N: usize>(&mut self) -> DecodeResult<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64)?);
        Ok(out)
    }

    pub fn mask(&mut self) -> DecodeResult<u32> {
        Ok(u32::from_le_bytes(self.fixed()?))
    }

    pub fn long(&mut self) -> DecodeResult<u64> {
        Ok(u64::from_le_bytes(self.fixed()?))
    }

    pub fn number(&mut self) -> DecodeResult<u64> {
        let (start, mut value) = (self.at, 0);
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Damage { at: start, what: "a number has more than 64 bits".into() })
    }

    /// Reads a number of at most `most`. `what` names it in the error.
    pub fn at_most(&mut self, most: u64, what: &str) -> DecodeResult<u64> {
        let start = self.at;
        let value = self.number()?;
        if value <= most {
            return Ok(value);
        }
        Err(Damage { at: start, what: format!("{what} = {value}: must be 0 to {most}") })
    }

    pub fn word(&mut self, what: &str) -> DecodeResult<u32> {
        Ok(self.at_most(u32::MAX.into(), what)? as u32)
    }

    pub fn signed(&mut self) -> DecodeResult<i64> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub fn block(&mut self) -> DecodeResult<&'a [u8]> {
        let count = self.number()?;
        self.take(count)
    }

    pub fn text(&mut self) -> DecodeResult<&'a str> {
        let start = self.at;
        std::str::from_utf8(self.block()?)
            .map_err(|_| Damage { at: start, what: "a name is not text".into() })
    }

    /// Reads a number and returns the entry of `table` with this number. `what` names it in the error.
    pub fn entry<T: Copy>(&mut self, table: &[T], what: &str) -> DecodeResult<T> {
        let start = self.at;
        let number = self.byte()?;
        entry(table, number, what, start)
    }
}

/// Returns entry `number` of `table`. The number was read at offset `at`.
pub(super) fn entry<T: Copy>(table: &[T], number: u8, what: &str, at: usize) -> DecodeResult<T> {
    table
        .get(usize::from(number))
        .copied()
        .ok_or_else(|| Damage { at, what: format!("{what} = {number}: must be 0 to {}", table.len() - 1) })
}

/// Returns the number of an entry in a complete table.
pub(super) fn number_of<T: PartialEq>(table: &[T], value: &T) -> u8 {
    table.iter().position(|entry| entry == value).expect("the table is complete") as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(values in proptest::collection::vec(any::<u64>(), 0..20)) {
            let mut out = TraceEncoder::default();
            for value in &values {
                out.number(*value);
                out.signed(*value as i64);
            }
            let mut back = TraceDecoder::new(&out.bytes, 0..out.bytes.len());
            for value in &values {
                prop_assert_eq!(back.number(), Ok(*value));
                prop_assert_eq!(back.signed(), Ok(*value as i64));
            }
            prop_assert!(back.is_at_end());
        }

        #[test]
        fn one_changed_bit_changes_the_digest(
            bytes in proptest::collection::vec(any::<u8>(), 1..100),
            place in any::<prop::sample::Index>(),
            bit in 0u8..8,
        ) {
            let mut changed = bytes.clone();
            changed[place.index(bytes.len())] ^= 1 << bit;
            prop_assert_ne!(digest(EMPTY_DIGEST, &bytes), digest(EMPTY_DIGEST, &changed));
        }
    }

    #[test]
    fn a_number_beyond_64_bits_is_damage_where_it_starts() {
        let bytes = [[0xff; 9].as_slice(), &[2]].concat();
        let damage = TraceDecoder::new(&bytes, 0..bytes.len()).number().expect_err("too large");
        assert_eq!((damage.at, damage.what.as_str()), (0, "a number has more than 64 bits"));
    }
}
