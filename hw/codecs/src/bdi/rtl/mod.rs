//! RTL of the codec. Each top module consists of steps of combinational logic with elastic registers between them.

/// Names the fields that [`first::BdiFirsts`] puts together, and any fields after them. These are a base for each encoding
/// with deltas, the flags for upper base bits that are copies of the sign, and the words that are deltas from zero.
macro_rules! search_layout {
    ($($signal:ident),+ $(; $field:ident: $bits:expr)*) => {
        layouts! {
            $($signal),+: {
                line: LINE, base_b8d4: 64, base_b8d2: 32, base_b8d1: 16, base_b4d2: 32, base_b4d1: 16, base_b2d1: 16,
                signs_b8d2: 1, signs_b8d1: 1, signs_b4d1: 1,
                zero_b8d1: N8, zero_b8d2: N8, zero_b8d4: N8, zero_b4d1: N4, zero_b4d2: N4, zero_b2d1: N2
                $(, $field: $bits)*
            }
        }
    };
}

mod bases;
mod choose;
mod compressor;
mod decompressor;
mod first;
mod near;
mod pack;
mod rebuild;
mod subtract;

pub use compressor::{BdiCompressorTop, CompressorIn, CompressorOut};
pub use decompressor::{BdiDecompressorTop, DecompressorIn, DecompressorOut};

use super::params::{BdiCompressorParams, BdiDecompressorParams, chosen_bits};
use compressor::CompressorCuts;
use decompressor::BdiDecompressorCuts;
use selvedge_hw::rtl::prelude::*;

/// Returns the positions of a compressor's registers that make its longest path short for the given number of registers.
///
/// In an ASIC library, search and trials of 128 bytes take a little longer than all steps after them. A register after the
/// trials keeps all bases and masks, so that the choice among them does not wait for the trials.
pub(super) fn compressor_cuts(depth: usize) -> CompressorCuts {
    let (firsts, nears, choice, deltas) = match depth {
        1 => (0, 0, 0, 0),
        2 => (0, 1, 0, 0),
        3 => (1, 1, 0, 0),
        4 => (1, 1, 0, 1),
        _ => (1, 1, 1, 1),
    };
    CompressorCuts { firsts, nears, choice, deltas }
}

/// Returns the positions of a decompressor's registers. There are three steps, so that more than three registers shorten no
/// path.
pub(super) fn decompressor_cuts(depth: usize) -> BdiDecompressorCuts {
    let (spread, operands) = (usize::from(depth > 1), usize::from(depth > 2));
    BdiDecompressorCuts { spread, operands, results: depth - spread - operands }
}

/// Returns the number of bits of a base and of a mask for `words` words. The mask takes whole bytes.
const fn head_bits(base_bits: usize, words: usize) -> usize {
    base_bits + words.next_multiple_of(8)
}

elaborate! {
    /// Returns the compressor for valid parameters.
    pub(super) fn compressor(params: &BdiCompressorParams as PARAMS) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
        for line_bytes in [32, 64, 128] {
            for first_word in [false, true] {
                BdiCompressorTop {
                    LINE = PARAMS.line_bits(),
                    LW = word_count(LINE),
                    N8 = LINE / 64,
                    N4 = LINE / 32,
                    N2 = LINE / 16,
                    H8 = head_bits(64, N8),
                    H4 = head_bits(32, N4),
                    H2 = head_bits(16, N2),
                    SIZE = PARAMS.size_bits(),
                    SEARCH = !PARAMS.first_word as usize,
                    FIRST = PARAMS.searched_bits(),
                    FW = word_count(FIRST),
                    NEAR = FIRST + 13,
                    NW = word_count(NEAR),
                    MID = chosen_bits(PARAMS.line_bytes),
                    MW = word_count(MID),
                    RESULT = LINE + 4 + SIZE,
                    RW = word_count(RESULT),
                }
            }
        }
    }
}

elaborate! {
    /// Returns the decompressor for valid parameters.
    pub(super) fn decompressor(params: &BdiDecompressorParams as PARAMS) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
        for line_bytes in [32, 64, 128] {
            BdiDecompressorTop {
                LINE = PARAMS.line_bits(),
                LW = word_count(LINE),
                N8 = LINE / 64,
                N4 = LINE / 32,
                N2 = LINE / 16,
                H8 = head_bits(64, N8),
                H4 = head_bits(32, N4),
                H2 = head_bits(16, N2),
                MID = PARAMS.chosen_bits(),
                MW = word_count(MID),
                BOTH = 2 * LINE + 4,
                BW = word_count(BOTH),
                RESULT = LINE + 1,
                RW = word_count(RESULT),
            }
        }
    }
}
