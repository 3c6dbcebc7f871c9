//! The arithmetic of BDI as pure functions, for the golden models and the simulator.
use super::encoding::BdiEncoding;
use crate::line::{LINE_WORDS, Line, assert_line_bytes, bytes_of, words_of};
use selvedge_state::State;

/// A compressed line.
///
/// The payload is packed from bit 0 up: base, mask, then the deltas in the order of the words. Each takes whole bytes and is
/// little-endian. Base and mask come first so that a decompressor has them in the first burst. Bit `i` of the mask is set if
/// word `i` is a difference from the implicit zero base, and clear if it is one from the stored base. Encodings without
/// deltas, (b,0), store only the base. `Uncompressed` stores the line, and `Zeros` nothing. Bits beyond the payload are
/// zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct BdiCompressed {
    /// Encoding of the line.
    pub encoding: BdiEncoding,
    /// Size of the payload in bytes.
    pub size: u8,
    /// The payload.
    pub payload: Line,
}

/// Rule for the base that a payload stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub enum BaseRule {
    /// The first word that is not a delta from zero; zero if all words are deltas from zero.
    #[default]
    FirstFit,
    /// The first word of the line, even if it is a delta from zero (CABA, section 5.1.2).
    FirstWord,
}

/// Compresses a line of 32, 64 or 128 bytes into the smallest payload; ties go to the wider base.
///
/// # Panics
/// When the line has another length.
///
/// ```
/// use selvedge_hw_codecs::bdi::{BdiEncoding, compress, decompress};
/// let mut line = [0u8; 32];
/// line[8..16].copy_from_slice(&0x8_0001_d000u64.to_le_bytes());
/// let compressed = compress(&line);
/// assert_eq!((compressed.encoding, compressed.size), (BdiEncoding::B8D1, 8 + 1 + 4));
/// assert_eq!(decompress(&compressed, 32)[1], 0x8_0001_d000);
/// ```
pub fn compress(line: &[u8]) -> BdiCompressed {
    compress_words(&words_of(line), line.len())
}

/// Returns the size in bytes of the payload that [`compress`] makes, without making it.
///
/// # Panics
/// When the line is not of 32, 64 or 128 bytes.
pub fn compressed_size(line: &[u8]) -> usize {
    choose(&words_of(line), line.len(), BaseRule::FirstFit).0.size(line.len())
}

/// Compresses as [`compress`] does, but takes the line in 64-bit words. Words beyond `line_bytes` are ignored.
///
/// # Panics
/// When `line_bytes` is not 32, 64 or 128.
pub fn compress_words(line: &Line, line_bytes: usize) -> BdiCompressed {
    compress_words_from(line, line_bytes, BaseRule::FirstFit)
}

/// Compresses as [`compress_words`] does, with a rule for the base.
///
/// # Panics
/// When `line_bytes` is not 32, 64 or 128.
pub fn compress_words_from(line: &Line, line_bytes: usize, rule: BaseRule) -> BdiCompressed {
    let (encoding, base) = choose(line, line_bytes, rule);
    let payload = match encoding {
        BdiEncoding::Zeros => Line::default(),
        BdiEncoding::Uncompressed => {
            let mut payload = Line::default();
            payload[..line_bytes / 8].copy_from_slice(&line[..line_bytes / 8]);
            payload
        }
        BdiEncoding::B8D0 | BdiEncoding::B4D0 | BdiEncoding::B2D0 => {
            let mut payload = Line::default();
            payload[0] = base;
            payload
        }
        BdiEncoding::B8D1 => pack::<8, 1>(line, line_bytes, base),
        BdiEncoding::B8D2 => pack::<8, 2>(line, line_bytes, base),
        BdiEncoding::B8D4 => pack::<8, 4>(line, line_bytes, base),
        BdiEncoding::B4D1 => pack::<4, 1>(line, line_bytes, base),
        BdiEncoding::B4D2 => pack::<4, 2>(line, line_bytes, base),
        BdiEncoding::B2D1 => pack::<2, 1>(line, line_bytes, base),
    };
    BdiCompressed { encoding, size: encoding.size(line_bytes) as u8, payload }
}

/// Decompresses a payload to its line. Bits that the encoding does not use (beyond its payload, or beyond the mask's
/// words) are ignored, so that every payload decompresses to some line. [`compress`] leaves these bits zero.
///
/// # Panics
/// When `line_bytes` is not 32, 64 or 128.
pub fn decompress(compressed: &BdiCompressed, line_bytes: usize) -> Line {
    assert_line_bytes(line_bytes);
    let payload = &compressed.payload;
    match compressed.encoding {
        BdiEncoding::Zeros => Line::default(),
        BdiEncoding::Uncompressed => {
            let mut line = Line::default();
            line[..line_bytes / 8].copy_from_slice(&payload[..line_bytes / 8]);
            line
        }
        BdiEncoding::B8D0 => repeat::<8>(payload[0], line_bytes),
        BdiEncoding::B4D0 => repeat::<4>(payload[0], line_bytes),
        BdiEncoding::B2D0 => repeat::<2>(payload[0], line_bytes),
        BdiEncoding::B8D1 => unpack::<8, 1>(payload, line_bytes),
        BdiEncoding::B8D2 => unpack::<8, 2>(payload, line_bytes),
        BdiEncoding::B8D4 => unpack::<8, 4>(payload, line_bytes),
        BdiEncoding::B4D1 => unpack::<4, 1>(payload, line_bytes),
        BdiEncoding::B4D2 => unpack::<4, 2>(payload, line_bytes),
        BdiEncoding::B2D1 => unpack::<2, 1>(payload, line_bytes),
    }
}

const ORDER_32: [BdiEncoding; 11] = BdiEncoding::by_size(32);
const ORDER_64: [BdiEncoding; 11] = BdiEncoding::by_size(64);
const ORDER_128: [BdiEncoding; 11] = BdiEncoding::by_size(128);

/// Returns the encoding with the smallest payload, and its base.
fn choose(line: &Line, line_bytes: usize, rule: BaseRule) -> (BdiEncoding, u64) {
    let order = match line_bytes {
        32 => &ORDER_32,
        64 => &ORDER_64,
        128 => &ORDER_128,
        _ => panic!("a line has 32, 64 or 128 bytes, not {line_bytes}"),
    };
    let line = &line[..line_bytes / 8];
    if let Some(chosen) = choose_equal(line) {
        return chosen;
    }
    // The first four of the order are Zeros and the (b,0) encodings, which do not apply here.
    for encoding in &order[4..] {
        let base = match encoding {
            BdiEncoding::B8D1 => common_base::<8, 1>(line, rule),
            BdiEncoding::B8D2 => common_base::<8, 2>(line, rule),
            BdiEncoding::B8D4 => common_base::<8, 4>(line, rule),
            BdiEncoding::B4D1 => common_base::<4, 1>(line, rule),
            BdiEncoding::B4D2 => common_base::<4, 2>(line, rule),
            BdiEncoding::B2D1 => common_base::<2, 1>(line, rule),
            _ => Some(0),
        };
        if let Some(base) = base {
            return (*encoding, base);
        }
    }
    (BdiEncoding::Uncompressed, 0)
}

/// Returns the encoding and the base of a line whose 8-byte words are all equal; `None` for other lines.
fn choose_equal(line: &[u64]) -> Option<(BdiEncoding, u64)> {
    let first = line[0];
    if line.iter().any(|word| *word != first) {
        return None;
    }
    let halves_equal = first as u32 == (first >> 32) as u32;
    let quarters_equal = halves_equal && first as u16 == (first >> 16) as u16;
    Some(match first {
        0 => (BdiEncoding::Zeros, 0),
        _ if quarters_equal => (BdiEncoding::B2D0, first & 0xffff),
        _ if halves_equal => (BdiEncoding::B4D0, first & 0xffff_ffff),
        _ => (BdiEncoding::B8D0, first),
    })
}

const fn ones(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}

/// Returns whether `value`, a word of `BASE` bytes, is the sign-extension of its lowest `DELTA` bytes.
#[inline(always)]
fn fits<const BASE: usize, const DELTA: usize>(value: u64) -> bool {
    let half = 1 << (8 * DELTA - 1);
    value.wrapping_add(half) & ones(BASE) <= ones(DELTA)
}

/// Returns word `index` of the line, `BASE` bytes wide.
#[inline(always)]
fn word<const BASE: usize>(line: &[u64], index: usize) -> u64 {
    let per = 8 / BASE;
    line[index / per] >> (8 * BASE * (index % per)) & ones(BASE)
}

/// Returns the base for which every word is a delta of `DELTA` bytes from the base or from zero, or `None`. With
/// [`BaseRule::FirstFit`], the base is 0 if every word is a delta from zero.
#[inline(always)]
fn common_base<const BASE: usize, const DELTA: usize>(line: &[u64], rule: BaseRule) -> Option<u64> {
    let words = line.len() * (8 / BASE);
    let first = match rule {
        BaseRule::FirstWord => 0,
        BaseRule::FirstFit => {
            let away = (0..words).find(|index| !fits::<BASE, DELTA>(word::<BASE>(line, *index)));
            let Some(first) = away else { return Some(0) };
            first
        }
    };
    let base = word::<BASE>(line, first);
    let fits_either = |index: usize| {
        let value = word::<BASE>(line, index);
        fits::<BASE, DELTA>(value) | fits::<BASE, DELTA>(value.wrapping_sub(base))
    };
    (first + 1..words).all(fits_either).then_some(base)
}

/// Packs base, mask and deltas of a line that [`common_base`] accepts.
#[inline(always)]
fn pack<const BASE: usize, const DELTA: usize>(line: &Line, line_bytes: usize, base: u64) -> Line {
    let words = line_bytes / BASE;
    let mask_bytes = words.div_ceil(8);
    let mut payload = [0u8; 8 * LINE_WORDS];
    payload[..BASE].copy_from_slice(&base.to_le_bytes()[..BASE]);
    let mut mask = 0u64;
    let (deltas, _) = payload[BASE + mask_bytes..].as_chunks_mut::<DELTA>();
    for (index, delta) in (0..words).zip(deltas) {
        let value = word::<BASE>(line, index);
        let immediate = fits::<BASE, DELTA>(value);
        mask |= u64::from(immediate) << index;
        // No branch, because the base of a word is hard to predict.
        let difference = value.wrapping_sub(base & u64::from(immediate).wrapping_sub(1));
        *delta = lowest_bytes(difference);
    }
    payload[BASE..BASE + mask_bytes].copy_from_slice(&mask.to_le_bytes()[..mask_bytes]);
    words_of_chunks(&payload)
}

/// Returns the line whose base, mask and deltas are in `payload`.
#[inline(always)]
fn unpack<const BASE: usize, const DELTA: usize>(payload: &Line, line_bytes: usize) -> Line {
    let mask_bytes = (line_bytes / BASE).div_ceil(8);
    let payload = bytes_of(payload);
    let base = from_bytes::<BASE>(payload.first_chunk().expect("a payload holds a base"));
    let mask = u64::from_le_bytes(*payload[BASE..].first_chunk().expect("a payload holds a mask"));
    let (deltas, _) = payload[BASE + mask_bytes..].as_chunks::<DELTA>();
    let mut line = [0u8; 8 * LINE_WORDS];
    let (words, _) = line[..line_bytes].as_chunks_mut::<BASE>();
    for (index, (word, delta)) in words.iter_mut().zip(deltas).enumerate() {
        let unused = 64 - 8 * DELTA;
        let delta = ((from_bytes(delta) << unused) as i64 >> unused) as u64;
        // No branch, because the base of a word is hard to predict.
        let from = base & (mask >> index & 1).wrapping_sub(1);
        *word = lowest_bytes(from.wrapping_add(delta));
    }
    words_of_chunks(&line)
}

/// Returns the lowest bytes of a number, at most eight.
#[inline(always)]
fn lowest_bytes<const BYTES: usize>(value: u64) -> [u8; BYTES] {
    *value.to_le_bytes().first_chunk().expect("a number has eight bytes")
}

/// Returns the number that at most eight little-endian bytes represent.
#[inline(always)]
fn from_bytes<const BYTES: usize>(bytes: &[u8; BYTES]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Returns the 64-bit words of a whole line.
#[inline(always)]
fn words_of_chunks(bytes: &[u8; 8 * LINE_WORDS]) -> Line {
    let (chunks, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|index| u64::from_le_bytes(chunks[index]))
}

/// Returns the line whose words of `BASE` bytes all equal the lowest bytes of `word`.
fn repeat<const BASE: usize>(word: u64, line_bytes: usize) -> Line {
    let wide = (0..8 / BASE).fold(0, |wide, index| wide | (word & ones(BASE)) << (8 * BASE * index));
    let mut line = Line::default();
    line[..line_bytes / 8].fill(wide);
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bdi::stimulus::BdiLineGenerator;
    use crate::line::LINE_BYTES;
    use proptest::prelude::*;

    /// Returns a line of `line_bytes` with the given words of `base_bytes`; the last word fills the rest.
    fn line(line_bytes: usize, base_bytes: usize, words: &[u64]) -> Vec<u8> {
        let last = *words.last().unwrap();
        let words = words.iter().copied().chain(std::iter::repeat(last)).take(line_bytes / base_bytes);
        words.flat_map(|word| word.to_le_bytes().into_iter().take(base_bytes)).collect()
    }

    fn encoding(line: &[u8]) -> BdiEncoding {
        let compressed = compress(line);
        assert_eq!(bytes_of(&decompress(&compressed, line.len()))[..line.len()], *line);
        assert_eq!(compressed_size(line), usize::from(compressed.size));
        compressed.encoding
    }

    #[test]
    fn the_line_of_caba_figure_6_takes_17_bytes() {
        let base = 0x8_0001_d000;
        let line = line(64, 8, &[0, base, 0x10, base + 0x8, 0x20, base + 0x10, 0x30, base + 0x18]);
        let compressed = compress(&line);
        assert_eq!((compressed.encoding, compressed.size), (BdiEncoding::B8D1, 17));
        let payload = bytes_of(&compressed.payload);
        assert_eq!(payload[..8], base.to_le_bytes());
        assert_eq!(payload[8], 0x55);
        assert_eq!(payload[9..17], [0x00, 0x00, 0x10, 0x08, 0x20, 0x10, 0x30, 0x18]);
    }

    #[test]
    fn equal_words_take_one_of_the_narrowest_kind() {
        for bytes in LINE_BYTES {
            assert_eq!(encoding(&vec![0; bytes]), BdiEncoding::Zeros);
            assert_eq!(encoding(&line(bytes, 8, &[0x0123_4567_89ab_cdef])), BdiEncoding::B8D0);
            assert_eq!(encoding(&line(bytes, 4, &[0x0123_4567])), BdiEncoding::B4D0);
            assert_eq!(encoding(&line(bytes, 2, &[0x0123])), BdiEncoding::B2D0);
            assert_eq!(encoding(&line(bytes, 8, &[5])), BdiEncoding::B8D0);
        }
    }

    /// A value far from zero for words of any width, so that its words are not deltas from zero.
    const FAR: u64 = 0x4000_5000_6000_7000;

    /// Returns whether `encoding`, one with deltas, can represent the line. Another encoding may be smaller.
    fn represents(encoding: BdiEncoding, line: &[u8]) -> bool {
        let words = &words_of(line)[..line.len() / 8];
        let base = match encoding {
            BdiEncoding::B8D1 => common_base::<8, 1>(words, BaseRule::FirstFit),
            BdiEncoding::B8D2 => common_base::<8, 2>(words, BaseRule::FirstFit),
            BdiEncoding::B8D4 => common_base::<8, 4>(words, BaseRule::FirstFit),
            BdiEncoding::B4D1 => common_base::<4, 1>(words, BaseRule::FirstFit),
            BdiEncoding::B4D2 => common_base::<4, 2>(words, BaseRule::FirstFit),
            BdiEncoding::B2D1 => common_base::<2, 1>(words, BaseRule::FirstFit),
            _ => panic!("{encoding:?} has no deltas"),
        };
        base.is_some()
    }

    fn with_deltas() -> impl Iterator<Item = BdiEncoding> {
        BdiEncoding::ALL.into_iter().filter(|encoding| encoding.delta_bytes() > 0)
    }

    #[test]
    fn deltas_at_each_limit_fit_and_one_beyond_do_not() {
        for bytes in LINE_BYTES {
            for encoding in with_deltas() {
                let (base_bytes, half) = (encoding.base_bytes(), 1i64 << (8 * encoding.delta_bytes() - 1));
                let with = |delta: i64| line(bytes, base_bytes, &[FAR, FAR.wrapping_add_signed(delta), FAR]);
                for inside in [half - 1, -half] {
                    assert!(represents(encoding, &with(inside)), "{encoding:?} {bytes} {inside}");
                }
                for beyond in [half, -half - 1] {
                    assert!(!represents(encoding, &with(beyond)), "{encoding:?} {bytes} {beyond}");
                }
            }
        }
    }

    #[test]
    fn immediates_at_each_limit_fit_and_one_beyond_do_not() {
        for encoding in with_deltas() {
            let (base_bytes, half) = (encoding.base_bytes(), 1u64 << (8 * encoding.delta_bytes() - 1));
            let with = |value: u64| line(128, base_bytes, &[FAR, value, FAR]);
            assert!(represents(encoding, &with(half - 1)), "{encoding:?}");
            assert!(represents(encoding, &with(half.wrapping_neg())), "{encoding:?}");
            assert!(!represents(encoding, &with(half)), "{encoding:?}");
            assert!(!represents(encoding, &with(half.wrapping_neg() - 1)), "{encoding:?}");
        }
    }

    #[test]
    fn differences_wrap_around_in_the_width_of_the_word() {
        for encoding in with_deltas() {
            let (base_bytes, top) = (encoding.base_bytes(), ones(encoding.base_bytes()) >> 1);
            let across_the_sign = line(128, base_bytes, &[top, top + 1, top]);
            assert!(represents(encoding, &across_the_sign), "{encoding:?}");
            // Zero is one more than all ones: both words are deltas from zero.
            assert!(represents(encoding, &line(128, base_bytes, &[u64::MAX, 0, u64::MAX])), "{encoding:?}");
        }
    }

    #[test]
    fn a_line_of_immediates_alone_has_base_zero_and_a_full_mask() {
        let compressed = compress(&line(128, 8, &[1, 2, 3]));
        assert_eq!(compressed.encoding, BdiEncoding::B8D1);
        assert_eq!(compressed.payload[0], 0);
        assert_eq!(compressed.payload[1] & 0xffff, 0xffff);
    }

    #[test]
    fn the_base_is_the_first_word_that_zero_cannot_represent() {
        // Deltas are taken from `FAR` and not from the later words, which would also be possible bases.
        let compressed = compress(&line(128, 8, &[3, FAR, FAR + 1, FAR + 127]));
        assert_eq!((compressed.encoding, compressed.payload[0]), (BdiEncoding::B8D1, FAR));
        assert_eq!(compressed.payload[1] & 0xffff, 0b1);
    }

    #[test]
    fn random_bits_stay_uncompressed() {
        let mut prng = selvedge_hw::Prng::new(1);
        let words: Vec<u64> = (0..16).map(|_| prng.bits()).collect();
        assert_eq!(encoding(&line(128, 8, &words)), BdiEncoding::Uncompressed);
    }

    #[test]
    fn ties_go_to_the_wider_base() {
        // Both encodings take 38 bytes for a 64-byte line.
        let words = [0x4000, 0x4010_4020, 0x4010_4021, 0x4001, 0x4002];
        let line = line(64, 4, &words);
        assert!(represents(BdiEncoding::B4D2, &line) && represents(BdiEncoding::B2D1, &line));
        assert_eq!(encoding(&line), BdiEncoding::B4D2);
    }

    /// Returns the smallest size of a payload by the definition, without any of the code above.
    fn smallest_by_definition(line: &[u8]) -> usize {
        let mut best = if line.iter().all(|byte| *byte == 0) { 0 } else { line.len() };
        for base_bytes in [2usize, 4, 8] {
            let words: Vec<i128> = line
                .chunks(base_bytes)
                .map(|word| word.iter().rev().fold(0, |value, byte| value << 8 | i128::from(*byte)))
                .collect();
            if words.iter().all(|word| *word == words[0]) {
                best = best.min(base_bytes);
            }
            for delta_bytes in [1usize, 2, 4].into_iter().filter(|delta| *delta < base_bytes) {
                let span = 1i128 << (8 * base_bytes);
                let half = 1i128 << (8 * delta_bytes - 1);
                let near = |difference: i128| {
                    let wrapped = difference.rem_euclid(span);
                    wrapped < half || wrapped >= span - half
                };
                let base = words.iter().find(|word| !near(**word)).copied().unwrap_or(0);
                if words.iter().all(|word| near(*word) || near(*word - base)) {
                    best = best.min(base_bytes + words.len() * delta_bytes + words.len().div_ceil(8));
                }
            }
        }
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_line_comes_back_in_the_smallest_size(seed: u64, which in 0usize..3) {
            let line_bytes = LINE_BYTES[which];
            let words = BdiLineGenerator::new(seed, line_bytes).next_line();
            let line = &bytes_of(&words)[..line_bytes];
            let compressed = compress(line);
            prop_assert_eq!(decompress(&compressed, line_bytes), words);
            prop_assert_eq!(usize::from(compressed.size), smallest_by_definition(line));
            prop_assert_eq!(compressed_size(line), usize::from(compressed.size));
            let payload = bytes_of(&compressed.payload);
            prop_assert!(payload[usize::from(compressed.size)..].iter().all(|byte| *byte == 0));
        }

        #[test]
        fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 128)) {
            for line_bytes in LINE_BYTES {
                let line = &bytes[..line_bytes];
                prop_assert_eq!(&bytes_of(&decompress(&compress(line), line_bytes))[..line_bytes], line);
            }
        }
    }
}
