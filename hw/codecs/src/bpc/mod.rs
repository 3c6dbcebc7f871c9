//! BPC, bit-plane compression: a compressor and a decompressor of cache lines.
//!
//! Source: LATTE-CC, table I and section VI (11 cycles to decompress). The algorithm is from Kim et al., ISCA 2016.
//!
//! The line consists of 32-bit words. The first word is the base. Every other word is represented by its difference from the
//! previous word, an unsigned subtraction with 33 bits. Plane `j` consists of bit `j` of every difference (DBP). The codes
//! represent the exclusive-or of a plane with the plane above it (DBX), from the highest plane down. The plane above plane
//! 32 is zero. Smooth data has small differences. Their upper planes are copies of the sign, so the exclusive-or makes them
//! zero.
//!
//! | code | bits at 128 bytes | meaning |
//! |---|---|---|
//! | `000`, `001`, `010`, `011`, `1` | 3, 7, 11, 19, 33 | base word: zero, sign-extended from 4, 8 or 16 bits, or all 32 bits |
//! | `001` | 3 | one plane with DBX zero |
//! | `01` + number less 2 | 7 | 2 to 33 such planes |
//! | `00000` | 5 | DBX all ones |
//! | `00001` | 5 | DBP zero, DBX not zero |
//! | `00010` + lower position | 10 | DBX with exactly two ones, which are neighbours |
//! | `00011` + position | 10 | DBX with a single one |
//! | `1` + DBX | 32 | any other plane |
//!
//! Of these kinds, the compressor uses the first one that applies. The payload consists of the codes without gaps, from bit
//! 0 up. The first bit of each code is its lowest bit, and each field begins with its lowest bit.
//!
//! Choices where the sources are silent:
//! - A line of 64 or 32 bytes has planes of 15 or 7 bits, and positions of 4 or 3 bits.
//! - A line whose codes save less than a byte stays uncompressed, and `compressed_o` is low.
//! - Payload sizes are whole bytes.
//!
//! # Schematic
//! ```text
//! compressor    line_i > differences > [planes, four less each cycle] > DBX, four codes > [codes] > last block > [payload]
//!                      > code of the base word -----------------------------------------------------^
//! decompressor  payload_i > base word
//!                         > four codes > [codes] > planes > [planes] > half of each sum of differences > [line]
//!                             ^   > [next bits]  -> the last plane       ^-----> [carries] -----v
//!                             \------+-- [payload, a block less when it is read: the register of the line]
//! ```
//!
//! The decompressor splits codes one cycle before it makes planes from them. It splits the first four codes in the cycle in
//! which it takes the payload. The bits after the four codes have a separate register, so that the next code always begins
//! at bit 0 of that register. In the same cycle, the bits of the payload that come next are shifted to their position. If
//! only the last plane is left after four codes, its code, at that bit 0, is read together with them. So 33 codes take eight
//! cycles. The same adders make the words in two cycles: first the lower halves, then the upper halves with the carries.
//! Additions of 32 bits in one cycle would be the longest path by far.
//!
//! In both blocks, the output register also holds intermediate results.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `line_bytes` | 128 | 32, 64, 128 | bytes of a line |
//!
//! # Ports and timing
//! Both blocks have a valid/ready stream on each side and work on one line at a time. `ready_o` is high when no line is in
//! progress, and the result register is empty or its result is taken in this cycle. So `ready_o` depends on `ready_i`; no
//! other output depends on an input. `valid_o` stays high until `ready_i`. Results come from registers, which are
//! meaningless while `valid_o` is low.
//!
//! ```text
//!           0     1     2    ..    10    11    12
//! clk_i     /--\__/--\__/--\__ .. /--\__/--\__/--\__
//! valid_i   /-----\___________ .. _________________
//! ready_o   ------\___________ .. ______/-----------    with ready_i high
//! valid_o   __________________ .. ______/-----\_____
//! ```
//!
//! The compressor takes 11 cycles for every line: one for the planes, nine to code 33 planes at four per cycle, and one to
//! place the last code in the payload. Earlier codes are placed while the next ones are made. The decompressor takes one
//! cycle for the base word, one for every four codes, and two for the line: 4 to 11 cycles. The last four codes may be five.
//! An uncompressed line takes 2 cycles. The maximum is the paper's 11 cycles. A new line can enter in the cycle in which the
//! result is taken.
//!
//! # Errors
//! A run beyond plane 0, or codes beyond the end of the payload, give a line of zeros with `error_o` high. A position
//! outside a plane selects no bit. Bits after the last code are ignored.
//!
//! # Storage
//! See [`HwBlock::facts`]. LATTE-CC states no storage for BPC.

pub mod code;
mod codec;
mod model;
mod params;
#[cfg(test)]
mod properties;
pub mod rtl;
pub mod stimulus;

pub use code::CodeKind;
pub use codec::{BpcCompressed, BpcDecompressed, code_bits, compress, compress_words, decompress, kinds};
pub use model::{BpcCompressorModel, BpcDecompressorModel};
pub use params::{BpcParams, PACK_CYCLES, SYMBOLS_PER_CYCLE};
pub use rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};

use crate::line::PAYLOAD_FORMS;
use code::PLANES;
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::value_names::ValueNames;
use selvedge_hw::wave_event::WaveEvent;

impl BpcParams {
    /// Returns the facts of a block with this storage. Latency and interval are for a line with 33 codes.
    fn facts(storage: Vec<Storage>) -> Facts {
        let cycles = PACK_CYCLES as u32 + 2;
        Facts { storage, latency: cycles, interval: cycles }
    }
}

/// The compressor; see the [module](self).
pub struct BpcCompressor;

impl HwBlock for BpcCompressor {
    const NAME: &'static str = "bpc_compressor";
    const SUMMARY: &'static str = "compresses a cache line by bit planes of its words' differences";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LATTE-CC, table I";
    const PARAMS: &'static [ParamSpec] = BpcParams::SPECS;
    const IS_STREAM: bool = true;
    // Each takes eleven cycles.
    const OPERATIONS: u64 = 20_000;
    const PAYLOADS: &'static [Payload] =
        &[Payload { valid: "valid_o", ports: &["compressed_o", "size_o", "payload_o"] }];
    const VALUE_NAMES: &'static [ValueNames] = &[PAYLOAD_FORMS];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("line_in", &["valid_i", "ready_o"], &["line_i"]),
        WaveEvent::item("payload_out", &["valid_o", "ready_i"], &["compressed_o", "size_o"]),
    ];
    type Params = BpcParams;
    type In = CompressorIn;
    type Out = CompressorOut;
    type Model = BpcCompressorModel;

    fn model(params: &BpcParams) -> Result<BpcCompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(BpcCompressorModel::new(params))
    }
    fn rtl(params: &BpcParams) -> Result<Box<dyn RtlBlock<CompressorIn, CompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::compressor(params))
    }
    fn facts(params: &BpcParams) -> Facts {
        let plane = params.shape().plane_bits;
        let chunk = SYMBOLS_PER_CYCLE * (plane + 1);
        BpcParams::facts(vec![
            Storage { name: "line", bits: params.line_bits() },
            Storage { name: "planes and the one above", bits: (PLANES + 1) * plane },
            Storage { name: "run, four codes and their lengths", bits: 6 + chunk + 24 },
            Storage { name: "last block and the payload's length", bits: rtl::block_bits(chunk) + 11 },
            Storage { name: "cycle of the line at work", bits: 4 },
            Storage { name: "payload", bits: params.line_bits() + params.size_bits() + 2 },
        ])
    }
    fn stimulus(params: &BpcParams, seed: u64) -> StimulusIter<CompressorIn> {
        Box::new(stimulus::compressor(params, seed))
    }
    fn corners(params: &BpcParams) -> Box<dyn Corners<CompressorIn, CompressorOut>> {
        let line_bytes = params.line_bytes;
        let corners = PortCorners::new(|i: &CompressorIn, o: &CompressorOut| i.valid_i && o.ready_o);
        let corners = corners.with("line as it is", 1000, |i, o| o.valid_o && i.ready_i && !o.compressed_o);
        Box::new(CodeKind::ALL.into_iter().fold(corners, |corners, kind| {
            corners.with(kind.name(), 1000, move |i, o| {
                i.valid_i && o.ready_o && kinds(&i.line_i, line_bytes).contains(&kind)
            })
        }))
    }
}

/// The decompressor; see the [module](self).
pub struct BpcDecompressor;

impl HwBlock for BpcDecompressor {
    const NAME: &'static str = "bpc_decompressor";
    const SUMMARY: &'static str = "rebuilds a cache line from the codes of its bit planes";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LATTE-CC, table I";
    const PARAMS: &'static [ParamSpec] = BpcParams::SPECS;
    const IS_STREAM: bool = true;
    // Each takes up to eleven cycles.
    const OPERATIONS: u64 = 20_000;
    const PAYLOADS: &'static [Payload] = &[Payload { valid: "valid_o", ports: &["error_o", "line_o"] }];
    const VALUE_NAMES: &'static [ValueNames] = &[PAYLOAD_FORMS];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("payload_in", &["valid_i", "ready_o"], &["compressed_i"]),
        WaveEvent::item("line_out", &["valid_o", "ready_i"], &["line_o"]),
        WaveEvent::decision("error", &["valid_o", "ready_i", "error_o"], &[]),
    ];
    type Params = BpcParams;
    type In = DecompressorIn;
    type Out = DecompressorOut;
    type Model = BpcDecompressorModel;

    fn model(params: &BpcParams) -> Result<BpcDecompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(BpcDecompressorModel::new(params))
    }
    fn rtl(params: &BpcParams) -> Result<Box<dyn RtlBlock<DecompressorIn, DecompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::decompressor(params))
    }
    fn facts(params: &BpcParams) -> Facts {
        let plane = params.shape().plane_bits;
        let chunk = SYMBOLS_PER_CYCLE * (plane + 1);
        BpcParams::facts(vec![
            Storage { name: "payload, later the line", bits: params.line_bits() },
            Storage {
                name: "place in the payload, bits read",
                bits: rtl::block_bits(chunk).ilog2() as usize + 1 + 11,
            },
            Storage { name: "four codes, block behind them", bits: chunk + rtl::block_bits(chunk) },
            Storage { name: "base word", bits: 32 },
            Storage { name: "planes and the last one", bits: PLANES * plane },
            Storage { name: "carries of lower halves", bits: rtl::carries(params.line_bytes / 16) },
            Storage { name: "planes read, busy, coded, decoded, halfway, failed", bits: 6 + 5 },
            Storage { name: "valid, error", bits: 2 },
        ])
    }
    fn stimulus(params: &BpcParams, seed: u64) -> StimulusIter<DecompressorIn> {
        Box::new(stimulus::decompressor(params, seed))
    }
    fn corners(params: &BpcParams) -> Box<dyn Corners<DecompressorIn, DecompressorOut>> {
        let line_bytes = params.line_bytes;
        let corners = PortCorners::new(|i: &DecompressorIn, o: &DecompressorOut| i.valid_i && o.ready_o);
        let corners = corners
            .with("line as it is", 1000, |i, o| i.valid_i && o.ready_o && !i.compressed_i)
            .with("codes that make no line", 1000, |i, o| o.valid_o && i.ready_i && o.error_o);
        // These are the kinds of codes of the line. Except for changed payloads, they are also the kinds that were read.
        Box::new(CodeKind::ALL.into_iter().fold(corners, |corners, kind| {
            corners.with(kind.name(), 1000, move |i, o| {
                o.valid_o && i.ready_i && !o.error_o && kinds(&o.line_o, line_bytes).contains(&kind)
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_follows_from_the_parameters() {
        let bits = |line_bytes| {
            let params = BpcParams { line_bytes };
            (BpcCompressor::facts(&params).storage_bits(), BpcDecompressor::facts(&params).storage_bits())
        };
        assert_eq!(bits(128), (3413, 2432));
        assert_eq!(bits(32), (899, 658));
    }
}
