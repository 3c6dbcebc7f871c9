//! Stimuli of the codec: lines that reach every pattern and its limits, and streams with stalls, pauses and resets.
use super::codec::{FpcCompressed, SEGMENT_WORDS, compress};
use super::model::{FpcCompressorModel, FpcDecompressorModel};
use super::params::{FpcCompressorParams, FpcDecompressorParams};
use super::pattern::Pattern;
use super::rtl::{CompressorIn, DecompressorIn};
use crate::line::{LINE_WORDS, Line};
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::stream;

/// Generates lines with words of every pattern, at their limits and just beyond. They have single words, segments of one
/// pattern, and zero runs of every length.
#[derive(Clone, Debug)]
pub struct FpcLineGenerator {
    prng: Prng,
    line_bytes: usize,
}

impl FpcLineGenerator {
    /// Returns a generator of lines of `line_bytes` (32, 64 or 128) bytes. The same seed gives the same lines.
    pub fn new(seed: u64, line_bytes: usize) -> Self {
        FpcLineGenerator { prng: Prng::new(seed), line_bytes }
    }

    /// Returns the next line. Words beyond a shorter line are zero.
    pub fn next_line(&mut self) -> Line {
        let words = self.line_bytes / 4;
        let mut line = [0; LINE_WORDS];
        match self.prng.below(32) {
            0 => return line,
            1 => {
                line[..words / 2].fill_with(|| repeated_halves(&mut self.prng));
                return line;
            }
            _ => {}
        }
        let raw_percent = [0, 5, 70, 100][self.prng.below(4) as usize];
        let mut index = 0;
        while index < words {
            let pattern = if self.prng.chance(raw_percent) {
                Pattern::Raw
            } else {
                Pattern::ALL[self.prng.below(8) as usize]
            };
            // Whole segments are as frequent as single words. Zeros come in runs of 1 to 18 words.
            let length = match pattern {
                Pattern::Zeros => 1 + self.prng.below(18) as usize,
                _ if self.prng.chance(50) => SEGMENT_WORDS - index % SEGMENT_WORDS,
                _ => 1,
            };
            for place in index..words.min(index + length) {
                line[place / 2] |= u64::from(self.word(pattern)) << (32 * (place % 2));
            }
            index += length;
        }
        line
    }

    /// Returns a word of the pattern. One in 64 nonzero words has an inverted bit, which usually changes its pattern.
    fn word(&mut self, pattern: Pattern) -> u32 {
        let random = self.prng.bits() as u32;
        // Some words have the largest and smallest values of the sign-extended fields.
        let limits = [0x7fff, 0x8000, 0x7f, 0x80, 0x7, 0x8, 0x7f80, 0x807f];
        let data = if self.prng.chance(25) { limits[(random & 7) as usize] } else { random };
        let word = pattern.rebuild(data);
        if pattern != Pattern::Zeros && self.prng.below(64) == 0 { word ^ 1 << (random >> 27) } else { word }
    }
}

/// Draws two words of equal halves, which a comparison of their bytes must not take for repeated bytes.
fn repeated_halves(prng: &mut Prng) -> u64 {
    let [low, high] = [prng.below(1 << 16), prng.below(1 << 16)];
    (low * 0x1_0001) | (high * 0x1_0001) << 32
}

/// Endless stimulus of the compressor.
pub(super) fn compressor(
    params: &FpcCompressorParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<CompressorIn>> + use<> {
    let mut lines = FpcLineGenerator::new(seed, params.line_bytes);
    let inputs = |line: Option<Line>, ready_i| CompressorIn {
        valid_i: line.is_some(),
        line_i: line.unwrap_or_default(),
        ready_i,
    };
    stream(
        seed,
        FpcCompressorModel::new(params),
        move |_| lines.next_line(),
        inputs,
        |outputs| outputs.ready_o,
    )
}

/// Endless stimulus of the decompressor: compressed lines. One in 16 has random bits from a random 64-bit word on. One in 16
/// consists of random bits with many zeros, which include runs beyond the end of the line.
pub(super) fn decompressor(
    params: &FpcDecompressorParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<DecompressorIn>> + use<> {
    let (line_bytes, variant) = (params.line_bytes, params.lines().variant());
    let mut lines = FpcLineGenerator::new(seed, line_bytes);
    let draw = move |prng: &mut Prng| {
        let FpcCompressed { compressed, mut payload, .. } = compress(&lines.next_line(), line_bytes, variant);
        let used = &mut payload[..line_bytes / 8];
        let kind = prng.below(16);
        let from = prng.below(used.len() as u64) as usize;
        match kind {
            0 => used[from..].iter_mut().for_each(|word| *word = prng.bits()),
            1 => used.iter_mut().for_each(|word| {
                *word = prng.bits() & prng.bits() & prng.bits();
            }),
            _ => {}
        }
        (u8::from(compressed || kind < 2), payload)
    };
    let inputs = |item: Option<(u8, Line)>, ready_i| {
        let (encoding_i, payload_i) = item.unwrap_or_default();
        DecompressorIn { valid_i: item.is_some(), encoding_i, payload_i, ready_i }
    };
    stream(seed, FpcDecompressorModel::new(params), draw, inputs, |outputs| outputs.ready_o)
}
