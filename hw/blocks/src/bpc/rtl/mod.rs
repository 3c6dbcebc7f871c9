//! RTL of the codec.

mod compressor;
mod decode;
mod decompressor;
mod encode;
mod planes;

use super::code::PLANES;
use super::{BpcParams, SYMBOLS_PER_CYCLE};
pub use compressor::{BpcCompressor, CompressorIn, CompressorOut};
pub use decompressor::{BpcDecompressor, DecompressorIn, DecompressorOut};
use selvedge_hw::rtl::prelude::*;

elaborate! {
    /// Returns the compressor for valid parameters.
    pub(super) fn compressor(params: &BpcParams as PARAMS) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
        for line_bytes in [32, 64, 128] {
            BpcCompressor {
                LINE = PARAMS.line_bits(),
                LW = word_count(LINE),
                P = PARAMS.shape().plane_bits,
                PLACE = PARAMS.shape().place_bits,
                F = P + 1,
                ALL = PLANES * P,
                AW = word_count(ALL),
                FOUR = SYMBOLS_PER_CYCLE * P,
                FW = word_count(FOUR),
                CHUNK = SYMBOLS_PER_CYCLE * F,
                CW = word_count(CHUNK),
                SIZE = PARAMS.size_bits(),
            }
        }
    }
}

elaborate! {
    /// Returns the decompressor for valid parameters.
    pub(super) fn decompressor(params: &BpcParams as PARAMS) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
        for line_bytes in [32, 64, 128] {
            BpcDecompressor {
                LINE = PARAMS.line_bits(),
                LW = word_count(LINE),
                P = PARAMS.shape().plane_bits,
                PLACE = PARAMS.shape().place_bits,
                F = P + 1,
                CHUNK = SYMBOLS_PER_CYCLE * F,
                CW = word_count(CHUNK),
                DATA = (PLANES - 1) * P,
                DW = word_count(DATA),
                GROUPS = F / 4,
            }
        }
    }
}
