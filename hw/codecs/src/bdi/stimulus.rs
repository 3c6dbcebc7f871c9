//! Stimuli of the codec: lines that reach every encoding and its limits, in streams with stalls, pauses and resets.
use super::codec::{BdiCompressed, compress_words};
use super::encoding::BdiEncoding;
use super::model::{BdiCompressorModel, BdiDecompressorModel};
use super::params::{BdiCompressorParams, BdiDecompressorParams};
use super::rtl::{CompressorIn, DecompressorIn};
use crate::line::{LINE_WORDS, Line};
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::stream;

/// Draws lines of every kind. Each encoding is the target equally often, with deltas at their limits and just beyond.
#[derive(Clone, Debug)]
pub struct BdiLineGenerator {
    prng: Prng,
    line_bytes: usize,
}

impl BdiLineGenerator {
    /// Creates a generator of lines of `line_bytes` (32, 64 or 128). Equal seeds give equal lines.
    pub fn new(seed: u64, line_bytes: usize) -> Self {
        BdiLineGenerator { prng: Prng::new(seed), line_bytes }
    }

    /// Returns the next line in 64-bit words, zero beyond `line_bytes`.
    pub fn next_line(&mut self) -> Line {
        let aim = BdiEncoding::ALL[self.prng.below(BdiEncoding::ALL.len() as u64) as usize];
        let mut line = match aim {
            BdiEncoding::Zeros => Line::default(),
            BdiEncoding::Uncompressed => std::array::from_fn(|_| self.prng.bits()),
            _ if aim.delta_bytes() == 0 => {
                let word = self.prng.bits();
                self.words(aim, |_, _| word)
            }
            _ => self.deltas(aim),
        };
        line[self.line_bytes / 8..].fill(0);
        line
    }

    /// Draws a base. Half of the bases are sign-extended from 16 or 32 bits.
    fn base(&mut self) -> u64 {
        let bits = self.prng.bits() as i64;
        let unused = [48, 32, 0, 0][self.prng.below(4) as usize];
        (bits >> unused) as u64
    }

    /// Draws a line of words near a base or near zero. One line in eight has a word just out of range.
    fn deltas(&mut self, aim: BdiEncoding) -> Line {
        let base = self.base();
        let half = 1i64 << (8 * aim.delta_bytes() - 1);
        let outlier =
            if self.prng.chance(12) { self.prng.below(aim.words(self.line_bytes) as u64) } else { u64::MAX };
        let mut base_shown = false;
        self.words(aim, |prng, index| {
            let near_zero = prng.chance(25);
            if !near_zero && !base_shown {
                // The first word away from zero is the base that a compressor finds.
                base_shown = true;
                return base;
            }
            let delta = match prng.below(8) {
                _ if index == outlier && prng.chance(50) => half,
                _ if index == outlier => -half - 1,
                0 => half - 1,
                1 => -half,
                _ => prng.bits() as i64 % half,
            };
            let from = if near_zero { 0 } else { base };
            from.wrapping_add_signed(delta)
        })
    }

    /// Fills a line with words of the encoding's width.
    fn words(&mut self, aim: BdiEncoding, mut draw: impl FnMut(&mut Prng, u64) -> u64) -> Line {
        let bits = 8 * aim.base_bytes();
        let mut line = [0; LINE_WORDS];
        for index in 0..aim.words(self.line_bytes) {
            let word = draw(&mut self.prng, index as u64) & (u64::MAX >> (64 - bits));
            line[index * bits / 64] |= word << (index * bits % 64);
        }
        line
    }
}

/// Returns the compressor's stimulus.
pub(super) fn compressor(
    params: &BdiCompressorParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<CompressorIn>> + use<> {
    let mut lines = BdiLineGenerator::new(seed, params.line_bytes);
    let inputs = |line: Option<Line>, ready_i| CompressorIn {
        valid_i: line.is_some(),
        line_i: line.unwrap_or_default(),
        ready_i,
    };
    stream(
        seed,
        BdiCompressorModel::new(params),
        move |_| lines.next_line(),
        inputs,
        |outputs| outputs.ready_o,
    )
}

/// Returns the decompressor's stimulus: compressed lines. One in 16 has an undefined tag, and one in 16 a random payload.
pub(super) fn decompressor(
    params: &BdiDecompressorParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<DecompressorIn>> + use<> {
    let line_bytes = params.line_bytes;
    let mut lines = BdiLineGenerator::new(seed, line_bytes);
    let draw = move |prng: &mut Prng| {
        let BdiCompressed { encoding, mut payload, .. } = compress_words(&lines.next_line(), line_bytes);
        let mut tag = encoding.tag();
        match prng.below(16) {
            0 => tag = 11 + prng.below(5) as u8,
            1 => payload[..line_bytes / 8].iter_mut().for_each(|word| *word ^= prng.bits()),
            _ => {}
        }
        (tag, payload)
    };
    let inputs = |item: Option<(u8, Line)>, ready_i| {
        let (encoding_i, payload_i) = item.unwrap_or_default();
        DecompressorIn { valid_i: item.is_some(), encoding_i, payload_i, ready_i }
    };
    stream(seed, BdiDecompressorModel::new(params), draw, inputs, |outputs| outputs.ready_o)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::LINE_BYTES;

    #[test]
    fn every_encoding_is_drawn_often() {
        for line_bytes in LINE_BYTES {
            let mut lines = BdiLineGenerator::new(7, line_bytes);
            let mut drawn = [0u32; 11];
            for _ in 0..11_000 {
                let line = lines.next_line();
                drawn[usize::from(compress_words(&line, line_bytes).encoding.tag())] += 1;
            }
            assert!(drawn.iter().all(|count| *count >= 300), "{line_bytes}: {drawn:?}");
        }
    }
}
