//! The arithmetic of BPC as pure functions, for the golden models and the simulator.
use super::code::{
    CodeKind, PLANES, PlaneCode, PlaneShape, base_code, plane_code, read_base, read_symbol, run_code,
};
use super::params::SYMBOLS_PER_CYCLE;
use crate::line::{LINE_WORDS, Line, assert_line_bytes, words_of};
use selvedge_state::State;

/// A compressed line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct BpcCompressed {
    /// `true` if the payload consists of codes; otherwise the payload is the line.
    pub compressed: bool,
    /// Size of the payload in bytes. Unused bits of the last byte are zero.
    pub size: u8,
    /// The payload from bit 0 up, zero beyond its size.
    pub payload: Line,
}

/// Result of a decompression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BpcDecompressed {
    /// The line; zero after an error.
    pub line: Line,
    /// `true` if the codes run beyond the last plane or beyond the payload.
    pub error: bool,
    /// Cycles in which the decompressor reads the codes after the code of the base word.
    pub cycles: usize,
}

/// Compresses a line of 32, 64 or 128 bytes.
///
/// # Panics
/// When the line has another length.
///
/// ```
/// use selvedge_hw_codecs::bpc::{compress, decompress};
/// let line: Vec<u8> = (0..32u32).flat_map(|word| (1000 + 4 * word).to_le_bytes()).collect();
/// let compressed = compress(&line);
/// // A base of 16 bits, 30 zero planes, two planes of ones (for bits 2 and 1), and one more zero plane.
/// assert_eq!(compressed.size, (19u8 + 7 + 5 + 5 + 3).div_ceil(8));
/// assert_eq!(decompress(&compressed, 128).line, selvedge_hw_codecs::line::words_of(&line));
/// ```
pub fn compress(line: &[u8]) -> BpcCompressed {
    compress_words(&words_of(line), line.len())
}

/// Compresses as [`compress`] does, but takes the line in 64-bit words. Words beyond `line_bytes` are ignored.
///
/// # Panics
/// When `line_bytes` is not 32, 64 or 128.
pub fn compress_words(line: &Line, line_bytes: usize) -> BpcCompressed {
    let mut payload = CodeString::default();
    for_each_code(line, line_bytes, |_, code| payload.push(code));
    if payload.len.div_ceil(8) < line_bytes {
        return BpcCompressed {
            compressed: true,
            size: payload.len.div_ceil(8) as u8,
            payload: payload.words(),
        };
    }
    let mut words = Line::default();
    words[..line_bytes / 8].copy_from_slice(&line[..line_bytes / 8]);
    BpcCompressed { compressed: false, size: line_bytes as u8, payload: words }
}

/// Returns the number of bits of all codes of a line, even if the line would stay uncompressed.
///
/// # Panics
/// When the line is not of 32, 64 or 128 bytes.
pub fn code_bits(line: &[u8]) -> usize {
    let mut bits = 0;
    for_each_code(&words_of(line), line.len(), |_, code| bits += code.bits);
    bits
}

/// Returns the kinds of a line's codes, in order.
///
/// # Panics
/// When the line is not of 32, 64 or 128 bytes.
pub fn kinds(line: &Line, line_bytes: usize) -> Vec<CodeKind> {
    let mut kinds = Vec::new();
    for_each_code(line, line_bytes, |kind, _| kinds.push(kind));
    kinds
}

/// Decompresses a payload to its line.
///
/// # Panics
/// When `line_bytes` is not 32, 64 or 128.
pub fn decompress(compressed: &BpcCompressed, line_bytes: usize) -> BpcDecompressed {
    assert_line_bytes(line_bytes);
    let payload = &compressed.payload;
    if !compressed.compressed {
        let mut line = Line::default();
        line[..line_bytes / 8].copy_from_slice(&payload[..line_bytes / 8]);
        return BpcDecompressed { line, error: false, cycles: 0 };
    }
    let shape = PlaneShape::of(line_bytes);
    let (base, mut place) = read_base(at(payload, 0, line_bytes));
    // The planes before the exclusive-or, the highest one first.
    let mut planes = [0u32; PLANES];
    let (mut above, mut next, mut symbols, mut cycles) = (0, 0, 0, 0);
    while next < PLANES {
        let symbol = read_symbol(shape, at(payload, place, line_bytes), above);
        // The code of the last plane is read together with the codes before it.
        if symbols % SYMBOLS_PER_CYCLE == 0 && next < PLANES - 1 {
            cycles += 1;
        }
        symbols += 1;
        place += symbol.bits;
        above ^= symbol.dbx;
        if next + symbol.planes > PLANES {
            return BpcDecompressed { line: Line::default(), error: true, cycles };
        }
        planes[next..next + symbol.planes].fill(above);
        next += symbol.planes;
    }
    if place > 8 * line_bytes {
        return BpcDecompressed { line: Line::default(), error: true, cycles };
    }
    BpcDecompressed { line: rebuild(base, &planes, line_bytes), error: false, cycles }
}

/// Returns the line of a base word and of the planes of its differences, the highest plane first.
fn rebuild(base: u32, planes: &[u32; PLANES], line_bytes: usize) -> Line {
    let mut line = Line::default();
    let mut word = base;
    for index in 0..line_bytes / 4 {
        if index > 0 {
            // The highest plane is the sign of the 33-bit differences, which 32-bit words do not need.
            let bit = |plane: &u32| plane >> (index - 1) & 1;
            word = word.wrapping_add(planes[1..].iter().fold(0, |delta, plane| delta << 1 | bit(plane)));
        }
        line[index / 2] |= u64::from(word) << (32 * (index % 2));
    }
    line
}

/// Returns the planes of a line's differences before the exclusive-or, the highest one first.
fn planes(line: &Line, line_bytes: usize) -> [u32; PLANES] {
    let word = |index: usize| line[index / 2] >> (32 * (index % 2)) & 0xffff_ffff;
    let mut planes = [0; PLANES];
    for index in 0..line_bytes / 4 - 1 {
        let delta = word(index + 1).wrapping_sub(word(index));
        for (plane, bits) in planes.iter_mut().enumerate() {
            *bits |= ((delta >> (PLANES - 1 - plane)) as u32 & 1) << index;
        }
    }
    planes
}

/// Calls `emit` for every code of a line: first for the base word, then for the planes from the highest down.
fn for_each_code(line: &Line, line_bytes: usize, mut emit: impl FnMut(CodeKind, PlaneCode)) {
    assert_line_bytes(line_bytes);
    let shape = PlaneShape::of(line_bytes);
    let mut put = |(kind, code)| emit(kind, code);
    put(base_code(line[0] as u32));
    let (mut above, mut run) = (0, 0);
    for dbp in planes(line, line_bytes) {
        let dbx = dbp ^ above;
        above = dbp;
        if dbx == 0 {
            run += 1;
            continue;
        }
        if run > 0 {
            put(run_code(run));
            run = 0;
        }
        put(plane_code(shape, dbx, dbp));
    }
    if run > 0 {
        put(run_code(run));
    }
}

/// Returns 64 bits of the payload from bit `place` on, with zeros beyond the line.
fn at(payload: &Line, place: usize, line_bytes: usize) -> u64 {
    let word = |index: usize| if index < line_bytes / 8 { payload[index] } else { 0 };
    let (index, shift) = (place / 64, place % 64);
    if shift == 0 { word(index) } else { word(index) >> shift | word(index + 1) << (64 - shift) }
}

/// Code words one after the other: up to 33 + 33 * 32 bits.
#[derive(Default)]
struct CodeString {
    words: [u64; LINE_WORDS + 2],
    len: usize,
}

impl CodeString {
    fn push(&mut self, code: PlaneCode) {
        let (index, shift) = (self.len / 64, self.len % 64);
        self.words[index] |= code.value << shift;
        if shift + code.bits > 64 {
            self.words[index + 1] |= code.value >> (64 - shift);
        }
        self.len += code.bits;
    }

    fn words(&self) -> Line {
        std::array::from_fn(|index| self.words[index])
    }
}
