//! C-Pack as pure functions. The golden models and the simulator use them.
use super::fifo::{FifoDecoder, FifoEncoder};
use super::small;
use crate::line::{Decompressed, LINE_WORDS, Line, assert_line_bytes};
use selvedge_state::State;

/// Variant of the C-Pack algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CpackVariant {
    /// C-Pack+Z: a first-in-first-out dictionary of 16 words, six kinds of codes, and a separate encoding of a line of zeros.
    #[default]
    Fifo16,
    /// CABA's variant: at most four dictionary values at the head, then at most one byte per word.
    Small4,
}

/// Encoding of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, State)]
#[repr(u8)]
pub enum CpackEncoding {
    /// The line itself, because its codes would not be shorter.
    #[default]
    Uncompressed = 0,
    /// Codes, or in CABA's variant head, dictionary and bytes.
    Compressed = 1,
    /// A line of zeros (the +Z), without payload. CABA's variant does not have it.
    Zeros = 2,
}

impl CpackEncoding {
    /// All encodings, by tag.
    pub const ALL: [CpackEncoding; 3] =
        [CpackEncoding::Uncompressed, CpackEncoding::Compressed, CpackEncoding::Zeros];

    /// Returns the 2-bit tag.
    pub const fn tag(self) -> u8 {
        self as u8
    }
}

/// A line after compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct CpackCompressed {
    /// Encoding of the line.
    pub encoding: CpackEncoding,
    /// Bits of the payload.
    pub bits: u16,
    /// The payload, from bit 0 up; bits beyond it are zero.
    pub payload: Line,
}

/// Returns the first `line_bytes` bytes of a line; the others are zero.
pub(super) fn cut(line: &Line, line_bytes: usize) -> Line {
    let mut own = Line::default();
    own[..line_bytes / 8].copy_from_slice(&line[..line_bytes / 8]);
    own
}

/// Returns word `index` of a line: 32 bits.
#[inline]
pub(super) fn word(line: &Line, index: usize) -> u32 {
    (line[index / 2] >> (32 * (index % 2))) as u32
}

/// Writes word `index` of a line. The word must be zero before.
#[inline]
pub(super) fn put_word(line: &mut Line, index: usize, word: u32) {
    line[index / 2] |= u64::from(word) << (32 * (index % 2));
}

/// Writes the low `bits` (at most 64) of `value` at bit `place`. Higher bits of `value` must be zero; bits beyond the line are
/// dropped.
#[inline]
pub(super) fn put(string: &mut Line, place: usize, value: u64, bits: usize) {
    let (at, shift) = (place / 64, place % 64);
    if at < LINE_WORDS {
        string[at] |= value << shift;
        if shift + bits > 64 && at + 1 < LINE_WORDS {
            string[at + 1] |= value >> (64 - shift);
        }
    }
}

/// Returns `bits` (1 to 64) bits from bit `place` on; bits beyond the line are zero.
#[inline]
pub(super) fn get(string: &Line, place: usize, bits: usize) -> u64 {
    let at = |word: usize| u128::from(string.get(word).copied().unwrap_or(0));
    let both = at(place / 64) | at(place / 64 + 1) << 64;
    (both >> (place % 64)) as u64 & (u64::MAX >> (64 - bits))
}

/// Compresses a line. Words beyond `line_bytes` are ignored.
///
/// # Panics
/// If `line_bytes` is not 32, 64 or 128.
///
/// ```
/// use selvedge_hw_codecs::cpack::{CpackEncoding, CpackVariant, compress, decompress};
/// let mut line = [0x1234_5678_1234_5678u64; 16];
/// line[3] = 0x1234_5699_0000_0007;
/// let compressed = compress(&line, 128, CpackVariant::Fifo16);
/// // A new word, 29 full matches, a byte above zeros, and a match of all but the last byte.
/// assert_eq!(compressed.bits, 34 + 29 * 6 + 12 + 16);
/// let back = decompress(compressed.encoding.tag(), &compressed.payload, 128, CpackVariant::Fifo16);
/// assert_eq!(back.line, line);
/// ```
pub fn compress(line: &Line, line_bytes: usize, variant: CpackVariant) -> CpackCompressed {
    assert_line_bytes(line_bytes);
    let line = cut(line, line_bytes);
    if variant == CpackVariant::Small4 {
        return small::compress(&line, line_bytes);
    }
    let mut encoder = FifoEncoder::default();
    for index in 0..line_bytes / 4 {
        encoder.encode(word(&line, index));
    }
    encoder.finish(&line, line_bytes)
}

/// Returns the bits of the payload that [`compress`] makes: at most the bits of the line.
///
/// # Panics
/// If `line_bytes` is not 32, 64 or 128.
pub fn compressed_bits(line: &Line, line_bytes: usize, variant: CpackVariant) -> usize {
    usize::from(compress(line, line_bytes, variant).bits)
}

/// Decompresses a payload with the tag of an encoding. The payload marks its own end; bits beyond `line_bytes` read as zero.
///
/// # Panics
/// If `line_bytes` is not 32, 64 or 128.
pub fn decompress(tag: u8, payload: &Line, line_bytes: usize, variant: CpackVariant) -> Decompressed {
    assert_line_bytes(line_bytes);
    let payload = cut(payload, line_bytes);
    if variant == CpackVariant::Small4 {
        return small::decompress(tag, &payload, line_bytes);
    }
    let mut decoder = FifoDecoder::new(tag, payload);
    for _ in 0..line_bytes / 4 {
        decoder.decode_next();
    }
    decoder.finish()
}
