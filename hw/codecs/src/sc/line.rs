//! The cache line of SC: 128 bytes, seen as 32 words.
use crate::line::{LINE_WORDS, Line};

/// Bits of a line.
pub const LINE_BITS: usize = 64 * LINE_WORDS;

/// Number of 32-bit words in a line. Each word has its own code.
pub const WORDS: usize = LINE_BITS / 32;

/// Returns the 32-bit words of a line, word 0 first.
pub fn words_of(line: &Line) -> [u32; WORDS] {
    std::array::from_fn(|word| (line[word / 2] >> (32 * (word % 2))) as u32)
}

/// Returns the line with these 32-bit words.
pub(crate) fn line_of(words: &[u32; WORDS]) -> Line {
    std::array::from_fn(|pair| u64::from(words[2 * pair]) | u64::from(words[2 * pair + 1]) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_line_are_the_same_bits() {
        let words = std::array::from_fn(|word| 0x0101_0101 * word as u32);
        let line = line_of(&words);
        assert_eq!(line[1], 0x0303_0303_0202_0202);
        assert_eq!(words_of(&line), words);
    }
}
