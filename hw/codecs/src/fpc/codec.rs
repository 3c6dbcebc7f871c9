//! FPC as pure functions. The golden models and the simulator use them.
use super::pattern::Pattern;
use crate::line::{Decompressed, LINE_WORDS, Line, assert_line_bytes};
use selvedge_state::State;

/// Maximum number of zero words in a run, which has one prefix.
pub const MAX_RUN: usize = 8;

/// Words of a segment in the segmented variant.
pub const SEGMENT_WORDS: usize = 4;

/// Variant of FPC, which decides how many words share a prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, State)]
pub enum FpcVariant {
    /// The original algorithm: a prefix per word, or per run of up to eight zero words.
    #[default]
    Words,
    /// CABA's variant: a prefix per segment of four words, which all have the same pattern.
    Segments,
}

/// A line after compression.
///
/// A compressed payload is one string of bits from bit 0 up: the head, then the data of the words in order. The head has one
/// symbol of three bits per prefix. In [`FpcVariant::Words`] one more symbol follows the prefix of a zero run: the words of the
/// run minus one. Bits beyond the payload are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct FpcCompressed {
    /// `true` if the payload is head and data; `false` if it is the line itself, because head and data would not be shorter.
    pub compressed: bool,
    /// Bits of the payload.
    pub bits: u16,
    /// The payload.
    pub payload: Line,
}

/// A string of bits that grows at its end. Bits beyond a line are counted but not stored.
#[derive(Clone, Copy, Default)]
struct BitString {
    words: Line,
    length: usize,
}

impl BitString {
    /// Appends the low `bits` (at most 32) of `value`. Higher bits of `value` must be zero.
    #[inline]
    fn push(&mut self, value: u32, bits: usize) {
        let (word, shift) = (self.length / 64, self.length % 64);
        if word < LINE_WORDS {
            self.words[word] |= u64::from(value) << shift;
            if shift + bits > 64 && word + 1 < LINE_WORDS {
                self.words[word + 1] |= u64::from(value) >> (64 - shift);
            }
        }
        self.length += bits;
    }
}

/// Returns `bits` (at most 32) bits of the string from `place` on; bits beyond its end are zero.
#[inline]
fn read(string: &Line, place: usize, bits: usize) -> u32 {
    let (word, shift) = (place / 64, place % 64);
    let at = |word: usize| string.get(word).copied().unwrap_or(0);
    let both = u128::from(at(word)) | u128::from(at(word + 1)) << 64;
    (both >> shift) as u32 & (u32::MAX as u64 >> (32 - bits)) as u32
}

/// Returns word `index` of a line: 32 bits.
#[inline]
fn word(line: &Line, index: usize) -> u32 {
    (line[index / 2] >> (32 * (index % 2))) as u32
}

/// Returns the pattern with the fewest data bits that all these words have.
fn choose(words: impl Iterator<Item = u32> + Clone) -> Pattern {
    let fits = |pattern: &Pattern| words.clone().all(|word| pattern.fits(word));
    Pattern::BY_SIZE.into_iter().find(fits).expect("every word can be kept as it is")
}

/// Calls `head` with every symbol, and `data` with the data of every word and its number of bits.
#[inline]
fn encode(
    line: &Line,
    line_bytes: usize,
    variant: FpcVariant,
    mut head: impl FnMut(u32),
    mut data: impl FnMut(u32, usize),
) {
    let words = line_bytes / 4;
    let group = match variant {
        FpcVariant::Words => 1,
        FpcVariant::Segments => SEGMENT_WORDS,
    };
    let mut run = 0;
    for first in (0..words).step_by(group) {
        let members = (first..first + group).map(|index| word(line, index));
        let pattern = choose(members.clone());
        if pattern == Pattern::Zeros && variant == FpcVariant::Words {
            run += 1;
            if run == MAX_RUN || first + 1 == words || word(line, first + 1) != 0 {
                head(u32::from(Pattern::Zeros.prefix()));
                head(run as u32 - 1);
                run = 0;
            }
            continue;
        }
        head(u32::from(pattern.prefix()));
        for member in members {
            data(pattern.keep(member), pattern.data_bits());
        }
    }
}

/// Returns the bits of head and data, even if they are not fewer than the bits of the line.
fn encoded_bits(line: &Line, line_bytes: usize, variant: FpcVariant) -> usize {
    let (mut head, mut data) = (0, 0);
    encode(line, line_bytes, variant, |_| head += 3, |_, bits| data += bits);
    head + data
}

/// Returns the bits of the payload that [`compress`] makes, without making it: at most the bits of the line.
///
/// # Panics
/// If `line_bytes` is not 32, 64 or 128.
pub fn compressed_bits(line: &Line, line_bytes: usize, variant: FpcVariant) -> usize {
    assert_line_bytes(line_bytes);
    encoded_bits(line, line_bytes, variant).min(8 * line_bytes)
}

/// Compresses a line. Words beyond `line_bytes` are ignored.
///
/// # Panics
/// If `line_bytes` is not 32, 64 or 128.
///
/// ```
/// use selvedge_hw_codecs::fpc::{FpcVariant, compress, decompress};
/// let mut line = [0u64; 16];
/// line[3] = 0x1234_0000;
/// let compressed = compress(&line, 128, FpcVariant::Words);
/// // A run of 6 zero words, a halfword above zeros, and runs of 8, 8, 8 and 1 zero words.
/// assert_eq!(compressed.bits, 6 + (3 + 16) + 4 * 6);
/// assert_eq!(decompress(&compressed, 128, FpcVariant::Words).line, line);
/// ```
pub fn compress(line: &Line, line_bytes: usize, variant: FpcVariant) -> FpcCompressed {
    assert_line_bytes(line_bytes);
    let (mut head, mut data) = (BitString::default(), BitString::default());
    encode(line, line_bytes, variant, |symbol| head.push(symbol, 3), |kept, bits| data.push(kept, bits));
    let bits = head.length + data.length;
    if bits >= 8 * line_bytes {
        let mut payload = Line::default();
        payload[..line_bytes / 8].copy_from_slice(&line[..line_bytes / 8]);
        return FpcCompressed { compressed: false, bits: 8 * line_bytes as u16, payload };
    }
    let mut place = 0;
    while place < data.length {
        let piece = (data.length - place).min(32);
        head.push(read(&data.words, place, piece), piece);
        place += piece;
    }
    FpcCompressed { compressed: true, bits: bits as u16, payload: head.words }
}

/// Returns the pattern of every word and the bits of the head, or `None` if a zero run exceeds the line.
fn parse(
    payload: &Line,
    line_bytes: usize,
    variant: FpcVariant,
) -> Option<([Pattern; 2 * LINE_WORDS], usize)> {
    let words = line_bytes / 4;
    let mut patterns = [Pattern::Zeros; 2 * LINE_WORDS];
    let (mut index, mut place) = (0, 0);
    while index < words {
        let pattern = Pattern::from_prefix(read(payload, place, 3) as u8);
        place += 3;
        let covered = match variant {
            FpcVariant::Segments => SEGMENT_WORDS,
            FpcVariant::Words if pattern == Pattern::Zeros => {
                place += 3;
                1 + read(payload, place - 3, 3) as usize
            }
            FpcVariant::Words => 1,
        };
        if index + covered > words {
            return None;
        }
        patterns[index..index + covered].fill(pattern);
        index += covered;
    }
    Some((patterns, place))
}

/// Returns whether a compressed payload has a word of this pattern.
pub(super) fn has_pattern(payload: &Line, line_bytes: usize, variant: FpcVariant, pattern: Pattern) -> bool {
    parse(payload, line_bytes, variant).is_some_and(|(all, _)| all[..line_bytes / 4].contains(&pattern))
}

/// Decompresses a payload. [`FpcCompressed::bits`] is ignored, because a payload marks its own end. Bits beyond `line_bytes` of
/// the payload read as zero, so every payload gives a result.
///
/// # Panics
/// If `line_bytes` is not 32, 64 or 128.
pub fn decompress(compressed: &FpcCompressed, line_bytes: usize, variant: FpcVariant) -> Decompressed {
    assert_line_bytes(line_bytes);
    let mut payload = Line::default();
    payload[..line_bytes / 8].copy_from_slice(&compressed.payload[..line_bytes / 8]);
    if !compressed.compressed {
        return Decompressed { line: payload, error: false };
    }
    let Some((patterns, mut place)) = parse(&payload, line_bytes, variant) else {
        return Decompressed { line: Line::default(), error: true };
    };
    let mut line = Line::default();
    for (index, pattern) in patterns.into_iter().enumerate().take(line_bytes / 4) {
        if pattern.data_bits() > 0 {
            let rebuilt = pattern.rebuild(read(&payload, place, pattern.data_bits()));
            line[index / 2] |= u64::from(rebuilt) << (32 * (index % 2));
            place += pattern.data_bits();
        }
    }
    Decompressed { line, error: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIANTS: [FpcVariant; 2] = [FpcVariant::Words, FpcVariant::Segments];

    #[test]
    fn a_line_of_zeros_is_a_few_symbols() {
        for (bytes, words, segments) in [(32, 6, 6), (64, 12, 12), (128, 24, 24)] {
            let zeros = Line::default();
            assert_eq!(compress(&zeros, bytes, FpcVariant::Words).bits, words, "six bits for eight words");
            assert_eq!(
                compress(&zeros, bytes, FpcVariant::Segments).bits,
                segments,
                "three bits for four words"
            );
        }
    }

    #[test]
    fn a_line_of_raw_words_stays_as_it_is() {
        for variant in VARIANTS {
            let line = [0x1234_5678_9abc_def0; LINE_WORDS];
            let compressed = compress(&line, 128, variant);
            assert_eq!((compressed.compressed, compressed.bits, compressed.payload), (false, 1024, line));
        }
    }

    #[test]
    fn a_line_that_would_keep_its_size_stays_as_it_is() {
        // 28 raw words, a nibble and three halfwords: 96 bits of prefixes and 896 + 4 + 48 of data are more than 1024.
        let mut words = [0x1234_5678u32; 32];
        words[28..].copy_from_slice(&[5, 0x1234, 0x1234, 0x1234]);
        let size = |words: &[u32; 32]| {
            let line: Line =
                std::array::from_fn(|i| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32);
            compressed_bits(&line, 128, FpcVariant::Words)
        };
        assert_eq!(size(&words), 1024);
        words[28] = 100;
        words[27] = 0;
        assert_eq!(size(&words), 31 * 3 + 6 + 27 * 32 + 8 + 3 * 16);
    }

    #[test]
    fn a_run_beyond_the_line_is_an_error() {
        let run = |length: u64| length << 3;
        let payload = |symbols: [u64; 5]| {
            let mut line = Line::default();
            line[0] = symbols.iter().rev().fold(0, |all, symbol| all << 6 | symbol);
            FpcCompressed { compressed: true, bits: 30, payload: line }
        };
        let whole = payload([run(7), run(7), run(7), run(6), run(0)]);
        assert_eq!(decompress(&whole, 128, FpcVariant::Words), Decompressed::default());
        let beyond = payload([run(7), run(7), run(7), run(6), run(1)]);
        let error = decompress(&beyond, 128, FpcVariant::Words);
        assert!(error.error && error.line == Line::default(), "one word is left, and the last run has two");
    }
}
