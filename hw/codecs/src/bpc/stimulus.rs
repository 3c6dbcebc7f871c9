//! Stimuli of the codec: lines that reach every kind of code, in streams with stalls, pauses and resets.
use super::code::PlaneShape;
use super::codec::{BpcCompressed, compress_words};
use super::model::{BpcCompressorModel, BpcDecompressorModel};
use super::params::BpcParams;
use super::rtl::{CompressorIn, DecompressorIn};
use crate::line::Line;
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::stream;

/// Draws lines from their bit planes, so that every kind of code occurs. Also draws lines of noise, which do not compress.
#[derive(Clone, Debug)]
pub struct BpcLineGenerator {
    prng: Prng,
    line_bytes: usize,
}

impl BpcLineGenerator {
    /// Creates a generator of lines of `line_bytes` (32, 64 or 128). Equal seeds give equal lines.
    pub fn new(seed: u64, line_bytes: usize) -> Self {
        BpcLineGenerator { prng: Prng::new(seed), line_bytes }
    }

    /// Returns the next line in 64-bit words, zero beyond `line_bytes`.
    pub fn next_line(&mut self) -> Line {
        let mut line = match self.prng.below(16) {
            0 => Line::default(),
            1 | 2 => std::array::from_fn(|_| self.prng.bits()),
            _ => self.sparse_in_planes(),
        };
        line[self.line_bytes / 8..].fill(0);
        line
    }

    /// Draws a line with a base word of any width. After the exclusive-or, 5 to 50 % of its planes are not zero.
    fn sparse_in_planes(&mut self) -> Line {
        let shape = PlaneShape::of(self.line_bytes);
        let base = self.prng.bits() as u32;
        let base = match self.prng.below(5) {
            0 => 0,
            1 => base,
            width => ((base as i32) >> (32 - (1 << width))) as u32,
        };
        let busy = 5 + self.prng.below(4) * 15;
        let mut deltas = vec![0u32; shape.plane_bits];
        let mut above = 0u32;
        for plane in (0..32).rev() {
            let dbx = if self.prng.chance(busy) { self.plane(shape, above) } else { 0 };
            above ^= dbx;
            for (index, delta) in deltas.iter_mut().enumerate() {
                *delta |= (above >> index & 1) << plane;
            }
        }
        let mut line = Line::default();
        let mut word = base;
        line[0] = u64::from(word);
        for (index, delta) in (1..).zip(deltas) {
            word = word.wrapping_add(delta);
            line[index / 2] |= u64::from(word) << (32 * (index % 2));
        }
        line
    }

    /// Draws a plane after the exclusive-or, of one of the kinds for non-zero planes.
    fn plane(&mut self, shape: PlaneShape, above: u32) -> u32 {
        let place = self.prng.below(shape.plane_bits as u64);
        match self.prng.below(5) {
            0 => shape.ones(),
            1 => above,
            2 => 1 << place,
            3 => 0b11 << place.min(shape.plane_bits as u64 - 2),
            _ => self.prng.bits() as u32 & shape.ones(),
        }
    }
}

/// Returns the compressor's stimulus.
pub(super) fn compressor(
    params: &BpcParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<CompressorIn>> + use<> {
    let mut lines = BpcLineGenerator::new(seed, params.line_bytes);
    let inputs = |line: Option<Line>, ready_i| CompressorIn {
        valid_i: line.is_some(),
        line_i: line.unwrap_or_default(),
        ready_i,
    };
    stream(
        seed,
        BpcCompressorModel::new(params),
        move |_| lines.next_line(),
        inputs,
        |outputs| outputs.ready_o,
    )
}

/// Returns the decompressor's stimulus: compressed lines. Four in 16 are replaced or changed. One is noise. One has
/// some changed bits. One is all ones: raw codes that run beyond the end of the payload. One has noise in its third 64-bit
/// word and zeros elsewhere, which are codes of single planes.
pub(super) fn decompressor(
    params: &BpcParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<DecompressorIn>> + use<> {
    let line_bytes = params.line_bytes;
    let mut lines = BpcLineGenerator::new(seed, line_bytes);
    let draw = move |prng: &mut Prng| {
        let BpcCompressed { mut compressed, mut payload, .. } =
            compress_words(&lines.next_line(), line_bytes);
        let words = &mut payload[..line_bytes / 8];
        match prng.below(16) {
            0 => {
                compressed = true;
                words.iter_mut().for_each(|word| *word = prng.bits());
            }
            1 => words[0] ^= prng.bits() & prng.bits() & prng.bits(),
            2 => {
                compressed = true;
                words.fill(u64::MAX);
            }
            3 => {
                compressed = true;
                words.fill(0);
                words[2] = prng.bits() & prng.bits() & prng.bits();
            }
            _ => {}
        }
        (compressed, payload)
    };
    let inputs = |item: Option<(bool, Line)>, ready_i| {
        let (compressed_i, payload_i) = item.unwrap_or_default();
        DecompressorIn { valid_i: item.is_some(), compressed_i, payload_i, ready_i }
    };
    stream(seed, BpcDecompressorModel::new(params), draw, inputs, |outputs| outputs.ready_o)
}
