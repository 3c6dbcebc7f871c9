//! RTL of the codec. Each top module has steps of combinational logic with elastic registers between them.

mod classify;
mod compressor;
mod decompressor;
mod expand;
mod pack;
mod parse;
mod segments;
mod split;
mod whole;

pub use compressor::{
    CompressorIn, CompressorOut, FpcCompressorOneCycle, FpcCompressorTop, FpcSegmentCompressor,
};
pub use decompressor::{DecompressorIn, DecompressorOut, FpcDecompressorTop, FpcSegmentDecompressor};

use super::params::{FpcCompressorParams, FpcDecompressorParams, LineFormat};
use decompressor::{FpcDecompressorCuts, SegmentCuts};
use selvedge_hw::rtl::prelude::*;

elaborate! {
    /// Returns the compressor for valid parameters.
    pub(super) fn compressor(params: &FpcCompressorParams as PARAMS) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
        for line_bytes in [32, 64, 128] {
            match segmented {
                false => {
                    match pipeline_depth { 1 => FpcCompressorOneCycle, 2 | 5 => FpcCompressorTop } {
                        LINE = PARAMS.lines().bits(),
                        LW = word_count(LINE),
                        WORDS = PARAMS.lines().words(),
                        GROUPS = PARAMS.lines().groups(),
                        GROUP = WORDS / GROUPS,
                        SYM = 9 * GROUPS,
                        SYMW = word_count(SYM),
                        HEAD = longest_head(PARAMS.lines()),
                        HEADW = word_count(HEAD),
                        HSUM = 3 + clog2(GROUPS),
                        SIZE = PARAMS.size_bits(),
                        MID = LINE + SYM,
                        MW = word_count(MID),
                        RESULT = LINE + 1 + SIZE,
                        RW = word_count(RESULT),
                    }
                }
                true => {
                    FpcSegmentCompressor {
                        LINE = PARAMS.lines().bits(),
                        LW = word_count(LINE),
                        GROUPS = PARAMS.lines().groups(),
                        SYM = 9 * GROUPS,
                        SYMW = word_count(SYM),
                        PRE = 3 * GROUPS,
                        PREW = word_count(PRE),
                        PAIRS = GROUPS / 2,
                        G16 = if GROUPS > 2 { GROUPS } else { 0 },
                        G32 = if GROUPS > 4 { GROUPS } else { 0 },
                        // A segment has eight lanes of 16 bits.
                        BITS = clog2(8 * GROUPS),
                        ALL = BITS * GROUPS,
                        DISTANCES = ALL - BITS,
                        MOVES = 2 * ALL,
                        MOVESW = word_count(MOVES),
                        SIZE = PARAMS.size_bits(),
                        MID = LINE + PRE + ALL,
                        MW = word_count(MID),
                        RESULT = LINE + 1 + SIZE,
                        RW = word_count(RESULT),
                    }
                }
            }
        }
    }
}

/// Returns the bits of the longest head that a compressor makes. Two words take at most the 6 bits of a run and the 3 of a
/// prefix.
const fn longest_head(lines: LineFormat) -> usize {
    if lines.segmented { 3 * lines.groups() } else { 9 * lines.words() / 2 }
}

/// Returns the registers of a decompressor of words, so that its longest path is short for this number of registers.
///
/// In an ASIC library each half of the prefixes of a 128-byte line takes about 12 units of time, and all later steps together
/// take 8. So the fourth and the fifth register shorten no path.
pub(super) fn decompressor_cuts(depth: usize) -> FpcDecompressorCuts {
    let (half, parsed, aligned, split) = match depth {
        1 => (0, 0, 0, 0),
        2 => (1, 0, 0, 0),
        3 => (1, 1, 0, 0),
        4 => (1, 1, 0, 1),
        _ => (1, 1, 1, 1),
    };
    FpcDecompressorCuts { half, parsed, aligned, split }
}

/// Returns the registers of a decompressor of segments. The steps before the strings of segments take longest. The register
/// after the inputs comes last, because it has no logic before it.
pub(super) fn segment_cuts(depth: usize) -> SegmentCuts {
    let (input, aligned, far, near) = match depth {
        1 => (0, 0, 0, 0),
        2 => (0, 0, 0, 1),
        3 => (0, 1, 0, 1),
        4 => (0, 1, 1, 1),
        _ => (1, 1, 1, 1),
    };
    SegmentCuts { input, aligned, far, near }
}

elaborate! {
    /// Returns the decompressor for valid parameters.
    pub(super) fn decompressor(
        params: &FpcDecompressorParams as PARAMS
    ) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
        for line_bytes in [32, 64, 128] {
            match segmented {
                false => {
                    FpcDecompressorTop {
                        LINE = PARAMS.lines().bits(),
                        LW = word_count(LINE),
                        WORDS = PARAMS.lines().words(),
                        // Half of the tree's levels; the other half is in the last step.
                        LEVELS = clog2(WORDS) / 2,
                        GROUPS = PARAMS.lines().groups(),
                        GROUP = WORDS / GROUPS,
                        HALF = GROUPS / 2,
                        RUNS = !PARAMS.segmented as usize,
                        SYMBOL = 3 * (1 + RUNS),
                        HEAD = SYMBOL * GROUPS,
                        HEADW = word_count(HEAD),
                        PRE = 3 * GROUPS,
                        PREW = word_count(PRE),
                        PART = 3 * HALF,
                        PARTW = word_count(PART),
                        FIRST = LINE + HALF * (SYMBOL + 3) + 3 + 8 + 1,
                        FW = word_count(FIRST),
                        MID = LINE + PRE + 8 + 1 + 1,
                        MW = word_count(MID),
                        CUT = LINE + PRE + 2,
                        CW = word_count(CUT),
                        RESULT = LINE + 1,
                        RW = word_count(RESULT),
                    }
                }
                true => {
                    FpcSegmentDecompressor {
                        LINE = PARAMS.lines().bits(),
                        LW = word_count(LINE),
                        GROUPS = PARAMS.lines().groups(),
                        PAIRS = GROUPS / 2,
                        PRE = 3 * GROUPS,
                        PREW = word_count(PRE),
                        BITS = clog2(8 * GROUPS),
                        ALL = BITS * GROUPS,
                        DISTANCES = ALL - BITS,
                        FAR = ALL + 4 * BITS,
                        FARW = word_count(FAR),
                        NEARS = 3 * GROUPS - 3,
                        NEAR = 3 * GROUPS + 3,
                        FIRST = LINE + 1,
                        FW = word_count(FIRST),
                        ALIGNED = LINE + PRE + DISTANCES,
                        AW = word_count(ALIGNED),
                        MOVED = LINE + PRE + NEARS,
                        MW = word_count(MOVED),
                        PLACED = LINE + PRE,
                        PW = word_count(PLACED),
                    }
                }
            }
        }
    }
}
