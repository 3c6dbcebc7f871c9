//! Stimuli of the codec: lines of words that are new or like earlier ones, and streams with stalls, pauses and resets.
use super::codec::{Compressed, compress, put_word, word};
use super::model::{CompressorModel, DecompressorModel};
use super::{CompressorIn, CpackParams, DecompressorIn};
use crate::line::{LINE_WORDS, Line};
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::Traffic;

/// Draws lines whose words are zero, a byte, new, or like an earlier one in all, three or two upper bytes.
#[derive(Clone, Debug)]
pub struct LineGenerator {
    prng: Prng,
    line_bytes: usize,
}

impl LineGenerator {
    /// A generator of lines of `line_bytes` (32, 64 or 128), the same for the same seed.
    pub fn new(seed: u64, line_bytes: usize) -> Self {
        LineGenerator { prng: Prng::new(seed), line_bytes }
    }

    /// The next line, in words; those beyond a shorter line are zero.
    pub fn next_line(&mut self) -> Line {
        let mut line = [0; LINE_WORDS];
        if self.prng.below(16) == 0 {
            return line;
        }
        // From lines that a few words make up to lines that overflow every dictionary.
        let new_percent = [2, 10, 40, 95][self.prng.below(4) as usize];
        // Half of the lines have no words that share two bytes only, which CABA's variant cannot represent.
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

/// The compressor's stimulus: an offered line stays until it is taken, as valid/ready streams demand, which is known
/// from a golden model that runs along.
pub(super) fn compressor(
    params: &CpackParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<CompressorIn>> + use<> {
    let mut lines = LineGenerator::new(seed, params.line_bytes);
    let mut traffic = Traffic::new(seed);
    let mut model = CompressorModel::new(params);
    let mut offered: Option<Line> = None;
    let mut first = true;
    std::iter::from_fn(move || {
        traffic.next_cycle();
        if std::mem::take(&mut first) || traffic.reset_due() {
            model.reset();
            offered = None;
            return Some(Stimulus::reset());
        }
        if offered.is_none() && traffic.offer() {
            offered = Some(lines.next_line());
        }
        let inputs = CompressorIn {
            valid_i: offered.is_some(),
            line_i: offered.unwrap_or_default(),
            ready_i: traffic.accept(),
        };
        if model.step(&inputs).ready_o {
            offered = None;
        }
        Some(Stimulus::step(inputs))
    })
}

/// The decompressor's stimulus: compressed lines; of 16, one has a tag that means nothing, one a few bits inverted, and one
/// random bits from somewhere on.
pub(super) fn decompressor(
    params: &CpackParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<DecompressorIn>> + use<> {
    let (line_bytes, variant) = (params.line_bytes, params.variant());
    let mut lines = LineGenerator::new(seed, line_bytes);
    let mut traffic = Traffic::new(seed);
    let mut model = DecompressorModel::new(params);
    let mut offered: Option<(u8, Line)> = None;
    let mut first = true;
    std::iter::from_fn(move || {
        traffic.next_cycle();
        if std::mem::take(&mut first) || traffic.reset_due() {
            model.reset();
            offered = None;
            return Some(Stimulus::reset());
        }
        if offered.is_none() && traffic.offer() {
            let Compressed { encoding, mut payload, .. } = compress(&lines.next_line(), line_bytes, variant);
            let mut tag = encoding.tag();
            let used = &mut payload[..line_bytes / 8];
            let at = traffic.prng.below(used.len() as u64) as usize;
            match traffic.prng.below(16) {
                0 => tag = 2 + traffic.prng.below(2) as u8,
                1 => used[at] ^= traffic.prng.bits() & traffic.prng.bits() & traffic.prng.bits(),
                2 => used[at..].iter_mut().for_each(|word| *word = traffic.prng.bits()),
                _ => {}
            }
            offered = Some((tag, payload));
        }
        let (encoding_i, payload_i) = offered.unwrap_or_default();
        let inputs =
            DecompressorIn { valid_i: offered.is_some(), encoding_i, payload_i, ready_i: traffic.accept() };
        if model.step(&inputs).ready_o {
            offered = None;
        }
        Some(Stimulus::step(inputs))
    })
}
