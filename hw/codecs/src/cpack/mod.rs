//! C-Pack: compression of cache lines with a dictionary of words.
//!
//! Source: LATTE-CC, table I (C-Pack+Z, 8 cycles to decompress); CABA, section 5.1.4, algorithms 5 and 6 (the variant with four
//! dictionary values). The codes come from the original algorithm, which both papers cite.
//!
//! # C-Pack+Z: `dictionary` 16
//! The 32-bit words of a line are coded in order. A new word enters the dictionary, which holds the last 16 words and drops the
//! oldest first. The dictionary is empty at the start of each line. The codes ([`Code`](FifoCode)) are:
//!
//! | code | word | bits, from the lowest on |
//! |---|---|---|
//! | zzzz | zero | 00 |
//! | xxxx | no match | 01, 32 bits of the word |
//! | mmmm | equal to a word of the dictionary | 10, 4 bits of its index |
//! | mmxx | upper two bytes equal to a word of the dictionary | 11, 00, index, 16 bits of the word |
//! | zzzx | only the lowest byte is not zero | 11, 01, 8 bits of the word |
//! | mmmx | upper three bytes equal to a word of the dictionary | 11, 10, index, 8 bits of the word |
//!
//! A word takes the code with the fewest bits. If several words of the dictionary match, the lowest index counts. xxxx, mmxx
//! and mmmx enter the dictionary. A line of zeros has a separate encoding without payload (the +Z). A line that would not
//! become shorter stays uncompressed.
//!
//! The original works on 64-byte lines, whose 16 words never overflow the dictionary. At 128 bytes the dictionary still has 16
//! words, as its codes require. So a line with many new words drops the first ones.
//!
//! # CABA's variant: `dictionary` 4
//! The dictionary has at most four values, so that all words are handled in parallel. A value is the first word that no earlier
//! value covers; zero words and single bytes need no value. The payload begins with a head of four bits per word (two for its
//! [`Kind`](SmallCode), two for its value). The values in use follow and, if any word needs a byte, one byte per word. CABA says that the
//! compressed words of a line have a fixed size, but not how many bits; here it is one byte or none. A line that needs a fifth
//! value stays uncompressed. CABA does not mention a code for lines of zeros; here they are a head of zero words.
//!
//! # Structure
//! ```text
//! compressor      line register -> kinds of four words ----> |kinds and places| -> codes -> payload register
//!   (16)          (rotates)        dictionary register <-'                             after the earlier codes
//! decompressor    payload register -> lengths of four codes -> |codes, kinds| -> four words -------> line register
//!   (16)          (moves by blocks)                            dictionary register <-'               (shifts)
//! dictionary 4    line -> logic without state -> |register| -> payload
//! ```
//! A dictionary is serial over the words of a line. The blocks handle four words per cycle, so the 32 words of a 128-byte line
//! take 8 cycles. A chain of all 32 words would take one very long cycle.
//!
//! The four words of a cycle do not wait for each other. All are compared with the dictionary before them, and with each other.
//! Only one bit per word is computed word by word: whether it enters. In the decompressor only the lengths are computed code by
//! code. The second step follows one cycle later, while the first step handles the next four words. A position in the
//! dictionary is one-hot in 16 bits, so that no path has a decoder.
//!
//! Codes are shifted to their position in a block of 128 bits, not in the whole line. Every code has an even number of bits, so
//! lengths are counted in pairs of bits.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `line_bytes` | 128 | 32, 64, 128 | bytes of a line |
//! | `dictionary` | 16 | 4, 16 | words of the dictionary: 16 is C-Pack+Z, 4 is CABA's variant |
//!
//! # Ports and timing
//! Both blocks are valid/ready streams on both sides: an item moves in a cycle in which valid and ready are both high.
//! `valid_o` never drops before `ready_i`. `ready_o` depends on `ready_i` in the same cycle; no other output depends on an
//! input. `encoding` is 0 for an uncompressed line, 1 for a compressed line and 2 for a line of zeros. The size is in bits.
//!
//! With 16 words each step takes one cycle per four words. The first step begins in the cycle in which the line is taken. The
//! interval is `line_bytes / 16`, 8 cycles for 128 bytes, which is the latency that LATTE-CC charges. The second step adds one
//! cycle, so the latency is `line_bytes / 16 + 1`. A result that is not taken stalls both steps. Payload, size and line have no
//! meaning while `valid_o` is low. With four values, latency and interval are 1.
//!
//! ```text
//! 32 bytes    0     1     2     3     4     5
//! clk_i     /--\__/--\__/--\__/--\__/--\__/--\__
//! valid_i   /-----------------\_________________
//! line_i    < A  >< B        >==================
//! ready_o   ------\_____/-----\_____/-----------
//! valid_o   __________________/-----\_____/-----
//! payload_o ==================< a  >======< b  >
//! ready_i   ------------------------------------
//! ```
//!
//! # Invalid payloads
//! An invalid tag, the code 11 11, or an index of an empty position in the dictionary gives a line of zeros and a high
//! `error_o`. Beyond the end of the payload's register zeros are read; bits after the last word's code are ignored.
//!
//! # Tests
//! A line takes nine cycles, and each cycle compares four words with the sixteen of the dictionary. So 20,000 lines are
//! compared between model, RTL and Verilator instead of 100,000.
//!
//! # Storage
//! Line, payload, dictionary and a few counters; [`HwBlock::facts`](selvedge_hw::HwBlock::facts) lists them. No paper states
//! the storage.

mod codec;
mod fifo;
mod model;
mod params;
#[cfg(test)]
mod properties;
pub mod rtl;
mod small;
pub mod stimulus;

pub use crate::line::Decompressed;
pub use codec::{CpackCompressed, CpackEncoding, CpackVariant, compress, compressed_bits, decompress};
pub use fifo::{DECODED_AT_ONCE, DICTIONARY, FifoCode};
pub use model::{CpackCompressorModel, CpackDecompressorModel};
pub use params::CpackParams;
pub use rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};
pub use small::{SmallCode, VALUES};

use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::value_names::ValueNames;
use selvedge_hw::wave_event::WaveEvent;

/// The names of the tags.
const VALUE_NAMES: ValueNames = ValueNames {
    what: "cpack_encoding",
    ports: &["encoding_i", "encoding_o"],
    names: &[
        (CpackEncoding::Uncompressed as u64, "uncompressed"),
        (CpackEncoding::Compressed as u64, "compressed"),
        (CpackEncoding::Zeros as u64, "zeros"),
    ],
};

/// Lines over which model, RTL and Verilog are compared. They are few because each line takes nine cycles in a slow Verilog
/// simulator.
const OPERATIONS: u64 = 20_000;

impl CpackParams {
    /// Returns the facts of a block with `output_bits` bits of outputs. `own` is its storage in addition to the storage of both
    /// blocks.
    fn facts(&self, own: &[Storage], output_bits: usize) -> Facts {
        if self.variant() == CpackVariant::Small4 {
            let storage =
                vec![Storage { name: "result", bits: output_bits }, Storage { name: "valid bit", bits: 1 }];
            return Facts { storage, latency: 1, interval: 1 };
        }
        let mut storage = vec![
            Storage { name: "outputs", bits: output_bits },
            Storage { name: "the other side's line or payload", bits: self.line_bits() },
            Storage { name: "dictionary", bits: 32 * DICTIONARY },
            Storage { name: "places with a word, place of the next", bits: 16 + 16 },
            Storage { name: "busy, groups of the first step, valid", bits: 1 + 3 + 1 },
            Storage { name: "whether the second step has a group, its line's first or last", bits: 3 },
        ];
        storage.extend(own);
        let cycles = (self.line_bytes / 4 / DECODED_AT_ONCE) as u32;
        Facts { storage, latency: cycles + 1, interval: cycles }
    }
}

/// The compressor; see the [module](self).
pub struct CpackCompressor;

impl HwBlock for CpackCompressor {
    const NAME: &'static str = "cpack_compressor";
    const SUMMARY: &'static str = "compresses a cache line with a dictionary of the line's words";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LATTE-CC, table I; CABA, section 5.1.4";
    const PARAMS: &'static [ParamSpec] = CpackParams::SPECS;
    const VALUE_NAMES: &'static [ValueNames] = &[VALUE_NAMES];
    const IS_STREAM: bool = true;
    const OPERATIONS: u64 = OPERATIONS;
    const PAYLOADS: &'static [Payload] =
        &[Payload { valid: "valid_o", ports: &["encoding_o", "size_o", "payload_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("line_in", &["valid_i", "ready_o"], &["line_i"]),
        WaveEvent::item("payload_out", &["valid_o", "ready_i"], &["encoding_o", "size_o"]),
    ];
    type Params = CpackParams;
    type In = CompressorIn;
    type Out = CompressorOut;
    type Model = CpackCompressorModel;

    fn model(params: &CpackParams) -> Result<CpackCompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(CpackCompressorModel::new(params))
    }
    fn rtl(params: &CpackParams) -> Result<Box<dyn RtlBlock<CompressorIn, CompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::compressor(params))
    }
    fn facts(params: &CpackParams) -> Facts {
        let own = [
            Storage { name: "what four words are and where they match", bits: 4 * (5 + 16) },
            Storage { name: "a word is not zero", bits: 1 },
        ];
        // The size is even, so its lowest bit is not stored.
        let size_bits = if params.variant() == CpackVariant::Small4 {
            params.size_bits()
        } else {
            params.size_bits() - 1
        };
        params.facts(&own, 2 + size_bits + params.line_bits())
    }
    fn stimulus(params: &CpackParams, seed: u64) -> StimulusIter<CompressorIn> {
        Box::new(stimulus::compressor(params, seed))
    }
    fn corners(params: &CpackParams) -> Box<dyn Corners<CompressorIn, CompressorOut>> {
        let (bytes, variant) = (params.line_bytes, params.variant());
        let leaves = |i: &CompressorIn, o: &CompressorOut| o.valid_o && i.ready_i;
        let mut corners = PortCorners::new(leaves)
            .with("line as it was", 200, move |i, o| leaves(i, o) && o.encoding_o == 0)
            .with("result that waits", 200, |i, o| o.valid_o && !i.ready_i);
        if variant == CpackVariant::Fifo16 {
            let codes = move |i: &CompressorIn, o: &CompressorOut| leaves(i, o) && o.encoding_o == 1;
            corners = corners.with("line of zeros", 200, move |i, o| leaves(i, o) && o.encoding_o == 2).with(
                "forgets the oldest word",
                200,
                move |i, o| codes(i, o) && fifo::forgets(&o.payload_o, bytes),
            );
            for code in FifoCode::ALL {
                corners = corners.with(code.name(), 200, move |i, o| {
                    codes(i, o) && fifo::has_code(&o.payload_o, bytes, code)
                });
            }
        } else {
            for kind in SmallCode::ALL {
                corners = corners.with(kind.name(), 200, move |i, o| {
                    leaves(i, o) && o.encoding_o == 1 && small::has_kind(&o.payload_o, bytes, kind)
                });
            }
        }
        Box::new(corners)
    }
}

/// The decompressor; see the [module](self).
pub struct CpackDecompressor;

impl HwBlock for CpackDecompressor {
    const NAME: &'static str = "cpack_decompressor";
    const SUMMARY: &'static str = "rebuilds a cache line from codes that refer to its own words";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LATTE-CC, table I; CABA, section 5.1.4";
    const PARAMS: &'static [ParamSpec] = CpackParams::SPECS;
    const VALUE_NAMES: &'static [ValueNames] = &[VALUE_NAMES];
    const IS_STREAM: bool = true;
    const OPERATIONS: u64 = OPERATIONS;
    const PAYLOADS: &'static [Payload] = &[Payload { valid: "valid_o", ports: &["error_o", "line_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("payload_in", &["valid_i", "ready_o"], &["encoding_i"]),
        WaveEvent::item("line_out", &["valid_o", "ready_i"], &["line_o"]),
        WaveEvent::decision("error", &["valid_o", "ready_i", "error_o"], &[]),
    ];
    type Params = CpackParams;
    type In = DecompressorIn;
    type Out = DecompressorOut;
    type Model = CpackDecompressorModel;

    fn model(params: &CpackParams) -> Result<CpackDecompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(CpackDecompressorModel::new(params))
    }
    fn rtl(params: &CpackParams) -> Result<Box<dyn RtlBlock<DecompressorIn, DecompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::decompressor(params))
    }
    fn facts(params: &CpackParams) -> Facts {
        let own = [
            Storage { name: "encoding, bits of the block that are over", bits: 2 + 6 },
            Storage { name: "four codes and what they are", bits: 136 + 4 * 7 },
        ];
        params.facts(&own, 1 + params.line_bits())
    }
    fn stimulus(params: &CpackParams, seed: u64) -> StimulusIter<DecompressorIn> {
        Box::new(stimulus::decompressor(params, seed))
    }
    fn corners(params: &CpackParams) -> Box<dyn Corners<DecompressorIn, DecompressorOut>> {
        let (bytes, variant) = (params.line_bytes, params.variant());
        let enters = |i: &DecompressorIn, o: &DecompressorOut| i.valid_i && o.ready_o;
        let mut corners = PortCorners::new(enters)
            .with("line as it was", 200, move |i, o| enters(i, o) && i.encoding_i == 0)
            .with("tag without meaning", 200, move |i, o| enters(i, o) && i.encoding_i == 3)
            .with("refused payload", 200, |i, o| o.valid_o && i.ready_i && o.error_o);
        let compressed = move |i: &DecompressorIn, o: &DecompressorOut| enters(i, o) && i.encoding_i == 1;
        if variant == CpackVariant::Fifo16 {
            corners = corners.with("line of zeros", 200, move |i, o| enters(i, o) && i.encoding_i == 2).with(
                "forgets the oldest word",
                200,
                move |i, o| compressed(i, o) && fifo::forgets(&i.payload_i, bytes),
            );
            for code in FifoCode::ALL {
                corners = corners.with(code.name(), 200, move |i, o| {
                    compressed(i, o) && fifo::has_code(&i.payload_i, bytes, code)
                });
            }
        } else {
            for kind in SmallCode::ALL {
                corners = corners.with(kind.name(), 200, move |i, o| {
                    compressed(i, o) && small::has_kind(&i.payload_i, bytes, kind)
                });
            }
        }
        Box::new(corners)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_what_the_parameters_imply() {
        let params = CpackParams::default();
        let state = 1024 + 512 + 32 + 5 + 3;
        assert_eq!(CpackCompressor::facts(&params).storage_bits(), state + (2 + 10 + 1024) + 4 * 21 + 1);
        assert_eq!(CpackDecompressor::facts(&params).storage_bits(), state + (1 + 1024) + 8 + 136 + 28);
        let small = CpackParams { line_bytes: 64, dictionary: 4 };
        assert_eq!(CpackCompressor::facts(&small).storage_bits(), 2 + 10 + 512 + 1);
    }

    #[test]
    fn wrong_parameters_are_named_with_what_is_allowed() {
        let wrong = CpackParams { dictionary: 8, ..CpackParams::default() };
        let error = CpackDecompressor::rtl(&wrong).err().unwrap().to_string();
        assert_eq!(error, "cpack_decompressor: parameter 'dictionary' = '8': must be 4, 16");
    }
}
