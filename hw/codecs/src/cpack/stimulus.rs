//! Stimuli of the codec: lines of words that are new or similar to earlier words, and streams with stalls, pauses and resets.
use super::codec::{CpackCompressed, compress, put_word, word};
use super::model::{CpackCompressorModel, CpackDecompressorModel};
use super::params::CpackParams;
use super::rtl::{CompressorIn, DecompressorIn};
use crate::line::{LINE_WORDS, Line};
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::stream;

/// Generates lines whose words are zero, a byte, new, or equal to an earlier word in four, three or two upper bytes.
#[derive(Clone, Debug)]
pub struct CpackLineGenerator {
    prng: Prng,
    line_bytes: usize,
}

impl CpackLineGenerator {
    /// Returns a generator of lines of `line_bytes` (32, 64 or 128) bytes. The same seed gives the same lines.
    pub fn new(seed: u64, line_bytes: usize) -> Self {
        CpackLineGenerator { prng: Prng::new(seed), line_bytes }
    }

    /// Returns the next line. Words beyond a shorter line are zero.
    pub fn next_line(&mut self) -> Line {
        let mut line = [0; LINE_WORDS];
        if self.prng.below(16) == 0 {
            return line;
        }
        // From lines with few different words to lines that overflow every dictionary.
        let new_percent = [2, 10, 40, 95][self.prng.below(4) as usize];
        // Half of the lines have no words that share only two bytes, which CABA's variant cannot represent.
        let kinds = if self.prng.chance(50) { 5 } else { 4 };
        for index in 0..self.line_bytes / 4 {
            let random = self.prng.bits() as u32;
            let earlier = word(&line, self.prng.below(index as u64 + 1) as usize);
            let own = if self.prng.chance(new_percent) || index == 0 {
                random
            } else {
                match self.prng.below(kinds) {
                    0 => 0,
                    1 => random & 0xff,
                    2 => earlier,
                    3 => earlier & !0xff | random & 0xff,
                    _ => earlier & !0xffff | random & 0xffff,
                }
            };
            put_word(&mut line, index, own);
        }
        line
    }
}

/// Endless stimulus of the compressor.
pub(super) fn compressor(
    params: &CpackParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<CompressorIn>> + use<> {
    let mut lines = CpackLineGenerator::new(seed, params.line_bytes);
    let inputs = |line: Option<Line>, ready_i| CompressorIn {
        valid_i: line.is_some(),
        line_i: line.unwrap_or_default(),
        ready_i,
    };
    stream(
        seed,
        CpackCompressorModel::new(params),
        move |_| lines.next_line(),
        inputs,
        |outputs| outputs.ready_o,
    )
}

/// Endless stimulus of the decompressor: compressed lines. Of 16, one has tag 2 or 3, one has a few inverted bits, and one has
/// random bits from a random 64-bit word on.
pub(super) fn decompressor(
    params: &CpackParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<DecompressorIn>> + use<> {
    let (line_bytes, variant) = (params.line_bytes, params.variant());
    let mut lines = CpackLineGenerator::new(seed, line_bytes);
    let draw = move |prng: &mut Prng| {
        let CpackCompressed { encoding, mut payload, .. } = compress(&lines.next_line(), line_bytes, variant);
        let mut tag = encoding.tag();
        let used = &mut payload[..line_bytes / 8];
        let at = prng.below(used.len() as u64) as usize;
        match prng.below(16) {
            0 => tag = 2 + prng.below(2) as u8,
            1 => used[at] ^= prng.bits() & prng.bits() & prng.bits(),
            2 => used[at..].iter_mut().for_each(|word| *word = prng.bits()),
            _ => {}
        }
        (tag, payload)
    };
    let inputs = |item: Option<(u8, Line)>, ready_i| {
        let (encoding_i, payload_i) = item.unwrap_or_default();
        DecompressorIn { valid_i: item.is_some(), encoding_i, payload_i, ready_i }
    };
    stream(seed, CpackDecompressorModel::new(params), draw, inputs, |outputs| outputs.ready_o)
}
