//! The patterns of FPC: the words of each pattern, and the bits that are stored for a word.

/// A frequent pattern of a 32-bit word. Its number is the 3-bit prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Pattern {
    /// A zero word, or a run of zero words.
    Zeros = 0,
    /// Four bits, sign-extended.
    Sign4 = 1,
    /// A byte, sign-extended.
    Sign8 = 2,
    /// A halfword, sign-extended.
    Sign16 = 3,
    /// A halfword above a zero halfword.
    Upper16 = 4,
    /// Two halfwords, each a sign-extended byte.
    TwoBytes = 5,
    /// Four equal bytes.
    Repeated = 6,
    /// Any word.
    Raw = 7,
}

impl Pattern {
    /// All patterns, by prefix.
    pub const ALL: [Pattern; 8] = [
        Pattern::Zeros,
        Pattern::Sign4,
        Pattern::Sign8,
        Pattern::Sign16,
        Pattern::Upper16,
        Pattern::TwoBytes,
        Pattern::Repeated,
        Pattern::Raw,
    ];

    /// All patterns in the order in which they are tried: the fewest data bits first, ties by prefix.
    pub const BY_SIZE: [Pattern; 8] = [
        Pattern::Zeros,
        Pattern::Sign4,
        Pattern::Sign8,
        Pattern::Repeated,
        Pattern::Sign16,
        Pattern::Upper16,
        Pattern::TwoBytes,
        Pattern::Raw,
    ];

    /// Returns the pattern of a prefix. Only the low three bits of the prefix count.
    pub const fn from_prefix(prefix: u8) -> Pattern {
        Self::ALL[(prefix & 7) as usize]
    }

    /// Returns the 3-bit prefix.
    pub const fn prefix(self) -> u8 {
        self as u8
    }

    /// Returns the name of the pattern in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Pattern::Zeros => "zeros",
            Pattern::Sign4 => "4 bits, sign-extended",
            Pattern::Sign8 => "byte, sign-extended",
            Pattern::Sign16 => "halfword, sign-extended",
            Pattern::Upper16 => "halfword above zeros",
            Pattern::TwoBytes => "two sign-extended bytes",
            Pattern::Repeated => "four equal bytes",
            Pattern::Raw => "raw word",
        }
    }

    /// Returns the data bits of a word. The length of a zero run is not included.
    pub const fn data_bits(self) -> usize {
        match self {
            Pattern::Zeros => 0,
            Pattern::Sign4 => 4,
            Pattern::Sign8 | Pattern::Repeated => 8,
            Pattern::Sign16 | Pattern::Upper16 | Pattern::TwoBytes => 16,
            Pattern::Raw => 32,
        }
    }

    /// Returns whether the word has this pattern.
    #[inline]
    pub const fn fits(self, word: u32) -> bool {
        match self {
            Pattern::Zeros => word == 0,
            Pattern::Sign4 => word.wrapping_add(1 << 3) < 1 << 4,
            Pattern::Sign8 => word.wrapping_add(1 << 7) < 1 << 8,
            Pattern::Sign16 => word.wrapping_add(1 << 15) < 1 << 16,
            Pattern::Upper16 => word & 0xffff == 0,
            Pattern::TwoBytes => {
                (word as u16).wrapping_add(1 << 7) < 1 << 8
                    && ((word >> 16) as u16).wrapping_add(1 << 7) < 1 << 8
            }
            Pattern::Repeated => word == (word & 0xff) * 0x0101_0101,
            Pattern::Raw => true,
        }
    }

    /// Returns the data of a word of this pattern, in the low [`data_bits`](Self::data_bits) bits.
    #[inline]
    pub const fn keep(self, word: u32) -> u32 {
        match self {
            Pattern::Zeros => 0,
            Pattern::Sign4 => word & 0xf,
            Pattern::Sign8 | Pattern::Repeated => word & 0xff,
            Pattern::Sign16 => word & 0xffff,
            Pattern::Upper16 => word >> 16,
            Pattern::TwoBytes => (word >> 8) & 0xff00 | word & 0xff,
            Pattern::Raw => word,
        }
    }

    /// Returns the word of this pattern from its data.
    #[inline]
    pub const fn rebuild(self, data: u32) -> u32 {
        match self {
            Pattern::Zeros => 0,
            Pattern::Sign4 => ((data << 28) as i32 >> 28) as u32,
            Pattern::Sign8 => data as i8 as u32,
            Pattern::Sign16 => data as i16 as u32,
            Pattern::Upper16 => data << 16,
            Pattern::TwoBytes => ((data >> 8) as i8 as u32) << 16 | data as i8 as u16 as u32,
            Pattern::Repeated => (data & 0xff) * 0x0101_0101,
            Pattern::Raw => data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_number_the_patterns() {
        for (prefix, pattern) in (0..8).zip(Pattern::ALL) {
            assert_eq!((pattern.prefix(), Pattern::from_prefix(prefix)), (prefix, pattern));
        }
        assert!(Pattern::BY_SIZE.is_sorted_by_key(|pattern| (pattern.data_bits(), pattern.prefix())));
    }

    #[test]
    fn words_at_each_limit_fit_and_one_beyond_do_not() {
        for (pattern, half) in [(Pattern::Sign4, 8i32), (Pattern::Sign8, 128), (Pattern::Sign16, 32768)] {
            for (word, fits) in [(half - 1, true), (-half, true), (half, false), (-half - 1, false)] {
                assert_eq!(pattern.fits(word as u32), fits, "{pattern:?} {word}");
            }
        }
        for (word, fits) in [
            (0x007f_ff80, true),
            (0xff80_007f, true),
            (0x0080_0000, false),
            (0x0000_0080, false),
            (0xff7f_0000, false),
        ] {
            assert_eq!(Pattern::TwoBytes.fits(word), fits, "{word:x}");
        }
        assert!(Pattern::Upper16.fits(0x8001_0000) && !Pattern::Upper16.fits(0x8000_0001));
        assert!(Pattern::Repeated.fits(0xabab_abab) && !Pattern::Repeated.fits(0xabab_abaa));
    }

    #[test]
    fn a_word_that_fits_comes_back() {
        for word in
            (0..=u32::MAX).step_by(65_521).chain([0, 7, !7, 127, !127, 32767, !32767, 0x55 * 0x0101_0101])
        {
            for pattern in Pattern::ALL.into_iter().filter(|pattern| pattern.fits(word)) {
                let kept = pattern.keep(word);
                assert!(u64::from(kept) < 1 << pattern.data_bits(), "{pattern:?} {word:x}");
                assert_eq!(pattern.rebuild(kept), word, "{pattern:?}");
            }
        }
    }
}
