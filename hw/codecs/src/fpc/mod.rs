//! FPC, frequent pattern compression: a compressor and a decompressor of cache lines.
//!
//! Source: LATTE-CC, table I (5 cycles to decompress); CABA, section 5.1.4 (the segmented variant, algorithms 3 and 4). The
//! patterns come from the original algorithm, which both papers cite.
//!
//! A line of 32, 64 or 128 bytes is a sequence of 32-bit words. Each word with a frequent [`Pattern`] is stored as a 3-bit
//! prefix and a few bits of data:
//!
//! | prefix | pattern | data bits |
//! |---|---|---|
//! | 0 | run of 1 to 8 zero words | 3: words of the run minus one |
//! | 1 | 4 bits, sign-extended | 4 |
//! | 2 | byte, sign-extended | 8 |
//! | 3 | halfword, sign-extended | 16 |
//! | 4 | halfword above a zero halfword | 16 |
//! | 5 | two halfwords, each a sign-extended byte | 16 |
//! | 6 | four equal bytes | 8 |
//! | 7 | any other word | 32 |
//!
//! A word takes the pattern with the fewest data bits; of patterns with equal bits, the lowest prefix counts. A line that would
//! not become shorter stays uncompressed. With `segmented` all four words of a segment share one prefix: the first pattern in
//! that order that they all have. Zeros are then a pattern without data, and runs do not exist.
//!
//! # Choices where the papers are silent
//! - **Position of the prefixes.** CABA moves them to the head of the line, so that the positions of all words are known at
//!   once. Decompression in five cycles needs the same in the original algorithm. Both variants here begin with a head of 3-bit
//!   symbols: the prefixes, and the length of a run directly after its prefix 0. Sizes do not depend on the position: a run
//!   takes 6 bits, as in the original. [`Compressed`](FpcCompressed) describes the layout of the payload.
//! - **Words of a segment.** CABA does not give the number. [`SEGMENT_WORDS`] is 4, so that a 128-byte line has eight segments,
//!   and the loop of CABA's algorithm 3 runs eight times.
//! - **Cycles to compress.** No paper gives the number. By default one register is between the two halves of the logic and one
//!   is at the output.
//!
//! # Structure
//! ```text
//! segments
//! compressor    line -> classify -> gather -> |register| -> move down --> |registers| -> payload
//!               a prefix for four words, their data         by 1, 2, 4 ... lanes
//! decompressor  payload -> |register| -> align -> |register| -> far -> |register| -> near -> |register| -> rebuild -> |register| -> line
//!                                        data from             moves by 32,         moves by 4,           words from
//!                                        bit 0 up              16, 8 lanes          2, 1 lanes            their data
//!
//! words
//! compressor    line -> classify -> |register| -> pack ---> |registers| -> payload
//!               a symbol for each word            two packers, head and data, joined by a shifter
//! decompressor  payload -> parse -> parse -> align -> split -> expand -> |register| -> line
//!               half the prefixes each      data from   upper and lower half of the
//!                                           bit 0 up    unpacker, words from their data
//! ```
//! Segments need much less logic than words. The data of all words in a segment have the same length, so each word is at one of
//! four positions and no shifter moves it. The data of a segment take 0, 1, 2, 4 or 8 lanes of 16 bits. The compressor moves
//! them down by the lanes that the segments before leave free, and the decompressor moves them up. A segment never passes
//! another one, so all move at once through one row of lanes, by one power of two after the other. The head has a fixed length,
//! so nothing is parsed and the data begin at a fixed bit. A line becomes shorter unless all its segments are raw, because any
//! other segment saves at least 64 bits. Raw segments do not move and have no head, so no copy of the line is needed. In the
//! same way the decompressor treats an uncompressed line as raw segments.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `line_bytes` | 128 | 32, 64, 128 | bytes of a line |
//! | `segmented` | true | true, false | CABA's variant: one prefix per segment of four words |
//! | `pipeline_depth` | 2 (compressor), 5 (decompressor) | 1, 2, 5 (compressor), 1 to 5 (decompressor) | registers from input to output: the latency in cycles |
//!
//! The default is the variant that the simulator's mechanisms use.
//!
//! At depth 1 all logic is before the only register. The compressor of words then has a separate module without state,
//! `fpc_compress`. From depth 2 on, one register is between the compressor's two halves. Further registers follow the logic, so
//! that a synthesis tool can move them into it; Yosys and ABC do not.
//!
//! The decompressor's registers cut the longest path. With segments, they are added after the last moves (depth 2), after the
//! alignment of the data (3), after the moves by eight lanes or more (4), and after the inputs (5). With words, they are
//! added after half of the prefixes (2) and after all prefixes (3). The other two (4, 5) are between the later steps, which are
//! shorter.
//!
//! # Ports and timing
//! Both blocks are valid/ready streams on both sides: an item moves in a cycle in which valid and ready are both high.
//! `valid_o` never drops before `ready_i`. The pipeline is elastic: a stall fills empty registers before it reaches the input,
//! and one line per cycle passes when nothing stalls. `ready_o` depends on `ready_i` in the same cycle; no other output depends
//! on an input. An output keeps its last value while `valid_o` is low. `encoding` is 1 for a compressed payload and 0 for an
//! uncompressed line. The size is in bits.
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
//! # Invalid payloads
//! A zero run that exceeds the line gives a line of zeros and a high `error_o`. With segments every payload is valid, and
//! `error_o` is always low. Data beyond the payload's last bit read as zeros; bits after the last word's data are ignored.
//!
//! # Storage
//! Every register of the pipeline; [`HwBlock::facts`](selvedge_hw::HwBlock::facts) lists them. No paper states the storage.

mod codec;
mod model;
mod params;
mod pattern;
#[cfg(test)]
mod properties;
pub mod rtl;
pub mod stimulus;

pub use crate::line::Decompressed;
pub use codec::{FpcCompressed, FpcVariant, MAX_RUN, SEGMENT_WORDS, compress, compressed_bits, decompress};
pub use model::{FpcCompressorModel, FpcDecompressorModel};
pub use params::{FpcCompressorParams, FpcDecompressorParams, LineFormat};
pub use pattern::Pattern;
pub use rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};

use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::wave_event::WaveEvent;

/// Returns whether all words have equal halves of two different bytes.
fn repeats_halves(words: &[u64]) -> bool {
    let repeats = |word: u64| word & 0xffff == word >> 16 && word & 0xff != word >> 24;
    words.iter().all(|two| repeats(two & 0xffff_ffff) && repeats(two >> 32))
}

/// Returns the facts of a block with the registers `storage`, and adds the valid bits of the pipeline.
fn facts(pipeline_depth: usize, mut storage: Vec<Storage>) -> Facts {
    storage.push(Storage { name: "valid bits", bits: pipeline_depth });
    Facts { storage, latency: pipeline_depth as u32, interval: 1 }
}

/// The compressor; see the [module](self).
pub struct FpcCompressor;

impl HwBlock for FpcCompressor {
    const NAME: &'static str = "fpc_compressor";
    const SUMMARY: &'static str = "compresses a cache line word by word into frequent patterns";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LATTE-CC, table I; CABA, section 5.1.4";
    const PARAMS: &'static [ParamSpec] = FpcCompressorParams::SPECS;
    const IS_STREAM: bool = true;
    const PAYLOADS: &'static [Payload] =
        &[Payload { valid: "valid_o", ports: &["encoding_o", "size_o", "payload_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("line_in", &["valid_i", "ready_o"], &["line_i"]),
        WaveEvent::item("payload_out", &["valid_o", "ready_i"], &["encoding_o", "size_o"]),
    ];
    type Params = FpcCompressorParams;
    type In = CompressorIn;
    type Out = CompressorOut;
    type Model = FpcCompressorModel;

    fn model(params: &FpcCompressorParams) -> Result<FpcCompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(FpcCompressorModel::new(params))
    }
    fn rtl(
        params: &FpcCompressorParams,
    ) -> Result<Box<dyn RtlBlock<CompressorIn, CompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::compressor(params))
    }
    fn facts(params: &FpcCompressorParams) -> Facts {
        let lines = params.lines();
        let (name, between) = if params.segmented {
            let bits = lines.groups().ilog2() as usize + 3;
            ("data, prefixes and free lanes of segments between the two halves of the logic", 3 + bits)
        } else {
            ("line and symbols between the two halves of the logic", 9)
        };
        let between = lines.bits() + between * lines.groups();
        let behind = params.pipeline_depth.saturating_sub(1).max(1);
        let storage = vec![
            Storage { name, bits: if params.pipeline_depth > 1 { between } else { 0 } },
            Storage { name: "results", bits: behind * (lines.bits() + 1 + params.size_bits()) },
        ];
        facts(params.pipeline_depth, storage)
    }
    fn stimulus(params: &FpcCompressorParams, seed: u64) -> StimulusIter<CompressorIn> {
        Box::new(stimulus::compressor(params, seed))
    }
    fn corners(params: &FpcCompressorParams) -> Box<dyn Corners<CompressorIn, CompressorOut>> {
        let (bytes, variant) = (params.line_bytes, params.lines().variant());
        // In the longest compressed payload one segment keeps half of its bits, and all segments have a prefix.
        let close = if params.segmented { 64 } else { 32 };
        let leaves = |i: &CompressorIn, o: &CompressorOut| o.valid_o && i.ready_i;
        let mut corners = PortCorners::new(leaves)
            .with("line as it was", 1000, move |i, o| leaves(i, o) && o.encoding_o == 0)
            .with("smallest payload", 20, move |i, o| {
                leaves(i, o) && o.encoding_o == 1 && usize::from(o.size_o) <= 6 * bytes / 32
            })
            .with("as long as a shorter payload can be", 20, move |i, o| {
                leaves(i, o) && o.encoding_o == 1 && usize::from(o.size_o) + close >= 8 * bytes
            });
        corners = corners.with("segment of repeated halves", 20, move |i, o| {
            i.valid_i && o.ready_o && i.line_i[..bytes / 8].chunks(SEGMENT_WORDS / 2).any(repeats_halves)
        });
        for pattern in Pattern::ALL {
            corners = corners.with(pattern.name(), 1000, move |i, o| {
                leaves(i, o) && o.encoding_o == 1 && codec::has_pattern(&o.payload_o, bytes, variant, pattern)
            });
        }
        Box::new(corners)
    }
}

/// The decompressor; see the [module](self).
pub struct FpcDecompressor;

impl HwBlock for FpcDecompressor {
    const NAME: &'static str = "fpc_decompressor";
    const SUMMARY: &'static str = "rebuilds a cache line from its frequent patterns";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LATTE-CC, table I; CABA, section 5.1.4";
    const PARAMS: &'static [ParamSpec] = FpcDecompressorParams::SPECS;
    const IS_STREAM: bool = true;
    const PAYLOADS: &'static [Payload] = &[Payload { valid: "valid_o", ports: &["error_o", "line_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("payload_in", &["valid_i", "ready_o"], &["encoding_i"]),
        WaveEvent::item("line_out", &["valid_o", "ready_i"], &["line_o"]),
        WaveEvent::decision("error", &["valid_o", "ready_i", "error_o"], &[]),
    ];
    type Params = FpcDecompressorParams;
    type In = DecompressorIn;
    type Out = DecompressorOut;
    type Model = FpcDecompressorModel;

    fn model(params: &FpcDecompressorParams) -> Result<FpcDecompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(FpcDecompressorModel::new(params))
    }
    fn rtl(
        params: &FpcDecompressorParams,
    ) -> Result<Box<dyn RtlBlock<DecompressorIn, DecompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::decompressor(params))
    }
    fn facts(params: &FpcDecompressorParams) -> Facts {
        let (line, groups) = (params.lines().bits(), params.lines().groups());
        if params.segmented {
            let cuts = rtl::segment_cuts(params.pipeline_depth);
            let (data, moved) = (line + 3 * groups, groups - 1);
            let distance = groups.ilog2() as usize + 3;
            let storage = vec![
                Storage { name: "payload", bits: cuts.input * (line + 1) },
                Storage {
                    name: "data, prefixes and distances",
                    bits: cuts.aligned * (data + distance * moved),
                },
                Storage {
                    name: "lanes, prefixes and distances modulo eight",
                    bits: cuts.far * (data + 3 * moved),
                },
                Storage { name: "strings of segments and prefixes", bits: cuts.near * data },
                Storage { name: "results", bits: line },
            ];
            return facts(params.pipeline_depth, storage);
        }
        let cuts = rtl::decompressor_cuts(params.pipeline_depth);
        let data = line + 3 * groups + 2;
        let storage = vec![
            Storage {
                name: "payload, rest of the head, half of the prefixes",
                bits: cuts.half * (line + 9 * groups / 2 + 3 + 8 + 1),
            },
            Storage { name: "payload, prefixes, end of the head", bits: cuts.parsed * (data + 8) },
            Storage { name: "data and prefixes", bits: cuts.aligned * data },
            Storage { name: "strings of a few words and prefixes", bits: cuts.split * data },
            Storage { name: "results", bits: line + 1 },
        ];
        facts(params.pipeline_depth, storage)
    }
    fn stimulus(params: &FpcDecompressorParams, seed: u64) -> StimulusIter<DecompressorIn> {
        Box::new(stimulus::decompressor(params, seed))
    }
    fn corners(params: &FpcDecompressorParams) -> Box<dyn Corners<DecompressorIn, DecompressorOut>> {
        let (bytes, variant) = (params.line_bytes, params.lines().variant());
        let enters = |i: &DecompressorIn, o: &DecompressorOut| i.valid_i && o.ready_o;
        let mut corners = PortCorners::new(enters)
            .with("line as it was", 1000, move |i, o| enters(i, o) && i.encoding_i == 0);
        // Only the variant without segments has runs, and so invalid payloads.
        if !params.segmented {
            corners = corners.with("run beyond the line", 200, |i, o| o.valid_o && i.ready_i && o.error_o);
        }
        for pattern in Pattern::ALL {
            corners = corners.with(pattern.name(), 1000, move |i, o| {
                enters(i, o) && i.encoding_i == 1 && codec::has_pattern(&i.payload_i, bytes, variant, pattern)
            });
        }
        Box::new(corners)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_what_the_parameters_imply() {
        let compressor = FpcCompressor::facts(&FpcCompressorParams::default());
        assert_eq!(compressor.storage_bits(), 1024 + 24 + 48 + (1024 + 1 + 11) + 2);
        let words = FpcCompressorParams { segmented: false, ..FpcCompressorParams::default() };
        assert_eq!(FpcCompressor::facts(&words).storage_bits(), 1024 + 32 * 9 + (1024 + 1 + 11) + 2);

        let decompressor = FpcDecompressor::facts(&FpcDecompressorParams::default());
        let registers = [1024 + 1, 1024 + 24 + 42, 1024 + 24 + 21, 1024 + 24, 1024];
        assert_eq!(decompressor.storage_bits(), registers.iter().sum::<usize>() + 5);
        let words = FpcDecompressorParams { segmented: false, ..FpcDecompressorParams::default() };
        let registers = [1024 + 16 * 9 + 12, 1024 + 96 + 10, 1024 + 96 + 2, 1024 + 96 + 2, 1025];
        assert_eq!(FpcDecompressor::facts(&words).storage_bits(), registers.iter().sum::<usize>() + 5);
        let short = FpcDecompressorParams { line_bytes: 64, segmented: true, pipeline_depth: 1 };
        assert_eq!(FpcDecompressor::facts(&short).storage_bits(), 512 + 1);
    }

    #[test]
    fn wrong_parameters_are_named_with_what_is_allowed() {
        let wrong = FpcDecompressorParams { pipeline_depth: 6, ..FpcDecompressorParams::default() };
        let error = FpcDecompressor::rtl(&wrong).err().unwrap().to_string();
        assert_eq!(error, "fpc_decompressor: parameter 'pipeline_depth' = '6': must be 1, 2, 3, 4, 5");
    }
}
