//! BDI, base-delta-immediate compression: a compressor and a decompressor of cache lines.
//!
//! Source: CABA, section 5.1 (algorithm, figure 6); LATTE-CC, section IV.C.1 (encodings, 2/2 cycles).
//!
//! A line of 32, 64 or 128 bytes consists of words of 8, 4 or 2 bytes. Each word is stored as a short difference (delta)
//! from one of two bases: zero, or the first word that is not a short difference from zero. [`Encoding`](BdiEncoding) lists the eleven
//! encodings, [`Compressed`](BdiCompressed) defines the layout of a payload, and [`compress`] and [`decompress`] are the arithmetic.
//! Subtraction wraps in the word's width. A delta of k bytes is in -2^(8k-1) ..= 2^(8k-1)-1. The smallest payload wins; ties
//! go to the wider base. [`Base`](BaseRule) is the rule for the stored base. CABA's routines take the first word (section 5.1.2), even
//! if it is a short difference from zero, so that they need no search. The papers do not define an encoding without deltas;
//! here it means that all words are equal.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `line_bytes` | 128 | 32, 64, 128 | bytes of a line |
//! | `first_word` | false | true, false | (compressor only) the base is the first word, even if it is a short difference from zero |
//! | `pipeline_depth` | 2 | 1 to 5 | registers from input to output: the latency in cycles |
//!
//! LATTE-CC assumes 2 cycles to compress and 2 to decompress; CABA's dedicated hardware takes 5 and 1. One register is at
//! the output. The others are between the steps of the logic, each at the position that shortens the longest path most:
//!
//! | depth | compressor | decompressor |
//! |---|---|---|
//! | 1 | search, trials, choice, subtraction, packing | spreading, bases, addition |
//! | 2 | search, trials / choice, subtraction, packing | spreading / bases, addition |
//! | 3 | search / trials / choice, subtraction, packing | spreading / bases / addition |
//! | 4 | search / trials / choice, subtraction / packing | as at depth 3, with a register that shortens no path |
//! | 5 | search / trials / choice / subtraction / packing | as at depth 3, with two such registers |
//!
//! The search finds for each encoding the words that are deltas from zero, and the base. The trials select the encoding. The
//! choice selects the base and the mask of that encoding.
//!
//! # Ports and timing
//! Both blocks have a valid/ready stream on each side: an item moves in a cycle in which valid and ready are both high.
//! `valid_o` stays high until `ready_i`. The pipeline is elastic: a register takes a new item when it is empty or when its
//! own item moves on. So a stall closes gaps before it reaches the input, no item is lost, and one line passes per cycle
//! while nothing stalls. `ready_o` depends on `ready_i` in the same cycle; no other output depends on an input. An output
//! keeps its last value while `valid_o` is low.
//!
//! ```text
//! depth 2     0     1     2     3     4     5
//! clk_i     /--\__/--\__/--\__/--\__/--\__/--\__
//! valid_i   /-----------------------\___________
//! line_i    < A  >< B  >< C        >============
//! ready_o   ------------\_____/-----------------   low: both registers are full and A is not taken
//! valid_o   ____________/-----------------------
//! payload_o ============< a        >< b  >< c  >
//! ready_i   ------------\_____/-----------------
//! ```
//!
//! # Undefined tags
//! Tags 11 to 15 are undefined. For them, the decompressor gives a line of zeros with `error_o` high. It ignores bits that
//! an encoding does not use (beyond its payload, or beyond the mask's words).
//!
//! # Storage
//! The storage is the registers of the pipeline: see [`HwBlock::facts`](selvedge_hw::HwBlock::facts). At 128 bytes and depth
//! 2, the compressor holds 2,430 bits: 1,392 between trials and choice, 1,036 at the output, and 2 valid bits.

mod codec;
#[cfg(test)]
mod definition;
mod encoding;
mod model;
mod params;
pub mod rtl;
pub mod stimulus;
#[cfg(test)]
mod stream;

pub use codec::{
    BaseRule, BdiCompressed, compress, compress_words, compress_words_from, compressed_size, decompress,
};
pub use encoding::{BdiEncoding, units};
pub use model::{BdiCompressorModel, BdiDecompressorModel};
pub use params::{BdiCompressorParams, BdiDecompressorParams, MAX_DEPTH};
pub use rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};

use params::chosen_bits;
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::value_names::ValueNames;
use selvedge_hw::wave_event::WaveEvent;

/// The names of the tags.
const VALUE_NAMES: ValueNames =
    ValueNames { what: "bdi_encoding", ports: &["encoding_i", "encoding_o"], names: &BdiEncoding::NAMES };

/// Returns the facts of a pipeline with these registers (name, number and bits of each) and their valid bits.
fn facts(pipeline_depth: usize, registers: &[(&'static str, usize, usize)]) -> Facts {
    let storage = registers.iter().filter(|(_, count, _)| *count > 0);
    let mut storage: Vec<Storage> =
        storage.map(|&(name, count, bits)| Storage { name, bits: count * bits }).collect();
    storage.push(Storage { name: "valid bits", bits: pipeline_depth });
    Facts { storage, latency: pipeline_depth as u32, interval: 1 }
}

impl BdiCompressorParams {
    fn facts(&self) -> Facts {
        let cuts = rtl::compressor_cuts(self.pipeline_depth);
        let (first, chosen) = (self.searched_bits(), chosen_bits(self.line_bytes));
        facts(
            self.pipeline_depth,
            &[
                ("line, bases and masks", cuts.firsts, first),
                ("line, bases, masks and tag", cuts.nears, first + 13),
                ("line, tag, base and mask", cuts.choice, chosen),
                ("deltas, tag, base and mask", cuts.deltas, chosen),
                ("results", 1, self.line_bits() + 4 + self.size_bits()),
            ],
        )
    }
}

impl BdiDecompressorParams {
    fn facts(&self) -> Facts {
        let cuts = rtl::decompressor_cuts(self.pipeline_depth);
        facts(
            self.pipeline_depth,
            &[
                ("deltas, tag, base and mask", cuts.spread, self.chosen_bits()),
                ("deltas, the base of each, tag", cuts.operands, 2 * self.line_bits() + 4),
                ("results", cuts.results, self.line_bits() + 1),
            ],
        )
    }
}

/// The compressor; see the [module](self).
pub struct BdiCompressor;

impl HwBlock for BdiCompressor {
    const NAME: &'static str = "bdi_compressor";
    const SUMMARY: &'static str =
        "compresses a cache line by base-delta-immediate into the smallest of eleven encodings";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "CABA, section 5.1; LATTE-CC, section IV.C.1";
    const PARAMS: &'static [ParamSpec] = BdiCompressorParams::SPECS;
    const VALUE_NAMES: &'static [ValueNames] = &[VALUE_NAMES];
    const IS_STREAM: bool = true;
    const PAYLOADS: &'static [Payload] =
        &[Payload { valid: "valid_o", ports: &["encoding_o", "size_o", "payload_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("line_in", &["valid_i", "ready_o"], &["line_i"]),
        WaveEvent::item("payload_out", &["valid_o", "ready_i"], &["encoding_o", "size_o"]),
    ];
    type Params = BdiCompressorParams;
    type In = CompressorIn;
    type Out = CompressorOut;
    type Model = BdiCompressorModel;

    fn model(params: &BdiCompressorParams) -> Result<BdiCompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(BdiCompressorModel::new(params))
    }
    fn rtl(
        params: &BdiCompressorParams,
    ) -> Result<Box<dyn RtlBlock<CompressorIn, CompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::compressor(params))
    }
    fn facts(params: &BdiCompressorParams) -> Facts {
        params.facts()
    }
    fn stimulus(params: &BdiCompressorParams, seed: u64) -> StimulusIter<CompressorIn> {
        Box::new(stimulus::compressor(params, seed))
    }
    fn corners(_params: &BdiCompressorParams) -> Box<dyn Corners<CompressorIn, CompressorOut>> {
        let corners = PortCorners::new(|i: &CompressorIn, o: &CompressorOut| o.valid_o && i.ready_i);
        let corners = BdiEncoding::ALL.into_iter().fold(corners, |corners, encoding| {
            corners.with(encoding.name(), 1000, move |i, o| {
                o.valid_o && i.ready_i && o.encoding_o == encoding.tag()
            })
        });
        Box::new(SHORT_BASES.into_iter().fold(corners, |corners, (name, encoding, bits)| {
            corners.with(name, 100, move |i, o| {
                let is_encoding = o.valid_o && i.ready_i && o.encoding_o == encoding.tag();
                is_encoding && is_negative_within(o.payload_o[0], encoding, bits)
            })
        }))
    }
}

/// Corner cases of negative bases that their lowest bits determine: name, encoding and number of these bits.
const SHORT_BASES: [(&str, BdiEncoding, u32); 3] = [
    ("b8d1 with a negative base of 16 bits", BdiEncoding::B8D1, 16),
    ("b8d2 with a negative base of 32 bits", BdiEncoding::B8D2, 32),
    ("b4d1 with a negative base of 16 bits", BdiEncoding::B4D1, 16),
];

/// Returns whether the base at the start of a payload is negative and fits into `bits` bits with its sign.
fn is_negative_within(payload: u64, encoding: BdiEncoding, bits: u32) -> bool {
    let unused = 64 - 8 * encoding.base_bytes() as u32;
    let base = (payload << unused) as i64 >> unused;
    (-(1 << (bits - 1))..0).contains(&base)
}

/// The decompressor; see the [module](self).
pub struct BdiDecompressor;

impl HwBlock for BdiDecompressor {
    const NAME: &'static str = "bdi_decompressor";
    const SUMMARY: &'static str = "rebuilds a cache line from its base-delta-immediate encoding and payload";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "CABA, section 5.1; LATTE-CC, section IV.C.1";
    const PARAMS: &'static [ParamSpec] = BdiDecompressorParams::SPECS;
    const VALUE_NAMES: &'static [ValueNames] = &[VALUE_NAMES];
    const IS_STREAM: bool = true;
    const PAYLOADS: &'static [Payload] = &[Payload { valid: "valid_o", ports: &["error_o", "line_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("payload_in", &["valid_i", "ready_o"], &["encoding_i"]),
        WaveEvent::item("line_out", &["valid_o", "ready_i"], &["line_o"]),
        WaveEvent::decision("error", &["valid_o", "ready_i", "error_o"], &[]),
    ];
    type Params = BdiDecompressorParams;
    type In = DecompressorIn;
    type Out = DecompressorOut;
    type Model = BdiDecompressorModel;

    fn model(params: &BdiDecompressorParams) -> Result<BdiDecompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(BdiDecompressorModel::new(params))
    }
    fn rtl(
        params: &BdiDecompressorParams,
    ) -> Result<Box<dyn RtlBlock<DecompressorIn, DecompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::decompressor(params))
    }
    fn facts(params: &BdiDecompressorParams) -> Facts {
        params.facts()
    }
    fn stimulus(params: &BdiDecompressorParams, seed: u64) -> StimulusIter<DecompressorIn> {
        Box::new(stimulus::decompressor(params, seed))
    }
    fn corners(_params: &BdiDecompressorParams) -> Box<dyn Corners<DecompressorIn, DecompressorOut>> {
        // Payloads with an undefined tag do not count as lines.
        let defined = BdiEncoding::ALL.len() as u8;
        let corners = PortCorners::new(move |i: &DecompressorIn, o: &DecompressorOut| {
            i.valid_i && o.ready_o && i.encoding_i < defined
        });
        let corners = corners.with("undefined tag", 1000, |_, o| o.valid_o && o.error_o);
        Box::new(BdiEncoding::ALL.into_iter().fold(corners, |corners, encoding| {
            corners.with(encoding.name(), 1000, move |i, o| {
                i.valid_i && o.ready_o && i.encoding_i == encoding.tag()
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(BdiCompressor::facts(&BdiCompressorParams::default()).storage_bits(), 2430);
    }
}
