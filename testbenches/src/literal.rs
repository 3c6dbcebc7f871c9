//! Writes port values as text: hexadecimal numbers of a given width, and concatenated values as one wide number.
use std::fmt::Write;

/// Returns a value as a sized Verilog literal, such as `10'h3a5`.
///
/// `words` is little-endian and must contain at least `bits` bits.
pub fn sized(words: &[u64], bits: usize) -> String {
    let mut wide = Wide::default();
    wide.append(words, bits);
    format!("{bits}'h{}", wide.hex())
}

/// A number of any width, built from concatenated values.
#[derive(Clone, Debug, Default)]
pub struct Wide {
    /// Bits, the lowest first.
    words: Vec<u64>,
    bits: usize,
}

impl Wide {
    /// Appends the lowest `bits` bits of `words` above the current bits.
    pub fn append(&mut self, words: &[u64], bits: usize) {
        for (index, word) in words.iter().enumerate().take(bits.div_ceil(64)) {
            let width = (bits - 64 * index).min(64);
            let word = word & (u64::MAX >> (64 - width));
            let shift = self.bits % 64;
            if shift == 0 {
                self.words.push(word);
            } else {
                *self.words.last_mut().expect("a partial word is there") |= word << shift;
                if shift + width > 64 {
                    self.words.push(word >> (64 - shift));
                }
            }
            self.bits += width;
        }
    }

    /// Returns the number in hexadecimal, with leading zeros for its width.
    pub fn hex(&self) -> String {
        let digits = self.bits.div_ceil(4);
        let mut text = String::with_capacity(16 * self.words.len());
        for word in self.words.iter().rev() {
            write!(text, "{word:016x}").expect("writing to a string cannot fail");
        }
        text.split_off(text.len() - digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_shows_the_width_and_all_its_digits() {
        assert_eq!(sized(&[0x3a5], 10), "10'h3a5");
        assert_eq!(sized(&[1], 1), "1'h1");
        assert_eq!(sized(&[0], 64), "64'h0000000000000000");
        assert_eq!(sized(&[0xf, 0x1], 65), "65'h1000000000000000f");
    }

    #[test]
    fn values_join_at_any_bit() {
        let mut wide = Wide::default();
        wide.append(&[0b1], 1);
        wide.append(&[0x0123_4567_89ab_cdef, 0x7], 67);
        wide.append(&[0xf0], 4);
        // 4 bits of zero, then 67 bits shifted up by one, then the single bit.
        let low: u128 = (0x7_u128 << 64 | 0x0123_4567_89ab_cdef) << 1 | 1;
        assert_eq!(wide.hex(), format!("{low:018x}"));
    }
}
