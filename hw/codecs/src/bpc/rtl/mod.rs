//! RTL of the codec.

mod compressor;
mod decode;
mod decompressor;
mod encode;
mod planes;

use super::code::PLANES;
use super::params::{BpcParams, SYMBOLS_PER_CYCLE};
pub use compressor::{BpcCompressorTop, CompressorIn, CompressorOut};
pub use decompressor::{BpcDecompressorTop, DecompressorIn, DecompressorOut};
use selvedge_hw::rtl::prelude::*;

/// Returns the bits of a block of the payload, which holds four codes or the code of a base word.
pub(super) const fn block_bits(chunk_bits: usize) -> usize {
    if chunk_bits > 64 { chunk_bits } else { 64 }
}

/// Returns the number of additions in a tree that gives each of `groups` groups of words the sum of all words up to its end.
const fn tree_additions(groups: usize) -> usize {
    groups / 2 * groups.ilog2() as usize
}

/// Returns the number of additions that make the words of a line from its differences: four in each group of words, the
/// additions of the tree, and one for each word of all groups except the first group and the last words.
pub(super) const fn carries(groups: usize) -> usize {
    4 * groups + tree_additions(groups) + 3 * (groups - 1)
}

elaborate! {
    /// Returns the compressor for valid parameters.
    pub(super) fn compressor(params: &BpcParams as PARAMS) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
        for line_bytes in [32, 64, 128] {
            BpcCompressorTop {
                LINE = PARAMS.line_bits(),
                LW = word_count(LINE),
                P = PARAMS.shape().plane_bits,
                PLACE = PARAMS.shape().place_bits,
                F = P + 1,
                ALL = PLANES * P,
                AW = word_count(ALL),
                FIVE = (SYMBOLS_PER_CYCLE + 1) * P,
                FW = word_count(FIVE),
                CHUNK = SYMBOLS_PER_CYCLE * F,
                CW = word_count(CHUNK),
                BLOCK = block_bits(CHUNK),
                BW = word_count(BLOCK),
                BOTH = 2 * BLOCK,
                BOW = word_count(BOTH),
                BLOCKS = LINE / BLOCK,
                PIECES = BLOCK / 64,
                BLOCKLOG = BLOCK.ilog2() as usize,
                SIZE = PARAMS.size_bits(),
            }
        }
    }
}

elaborate! {
    /// Returns the decompressor for valid parameters.
    pub(super) fn decompressor(params: &BpcParams as PARAMS) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
        for line_bytes in [32, 64, 128] {
            BpcDecompressorTop {
                LINE = PARAMS.line_bits(),
                LW = word_count(LINE),
                P = PARAMS.shape().plane_bits,
                PLACE = PARAMS.shape().place_bits,
                F = P + 1,
                CHUNK = SYMBOLS_PER_CYCLE * F,
                CW = word_count(CHUNK),
                FIVE = CHUNK + F,
                FW = word_count(FIVE),
                DATA = (PLANES - 1) * P,
                DW = word_count(DATA),
                SIXTEEN = DATA / 2,
                SW = word_count(SIXTEEN),
                BLOCK = block_bits(CHUNK),
                BW = word_count(BLOCK),
                BLOCKLOG = BLOCK.ilog2() as usize,
                BOTH = 2 * BLOCK,
                BOW = word_count(BOTH),
                PLACES = BLOCKLOG + 1,
                GROUPS = F / 4,
                TREE = tree_additions(GROUPS),
                CARRIES = carries(GROUPS),
                CAW = word_count(CARRIES),
                HALF = LINE / 2,
                HW = word_count(HALF),
            }
        }
    }
}
