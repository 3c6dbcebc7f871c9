//! RTL of the codec: a state machine that handles a line four words at a time, and combinational logic for CABA's variant.

mod compressor;
mod decode;
mod decompressor;
mod encode;
mod small;

pub use compressor::{CompressorIn, CompressorOut, CpackCompressorTop, CpackSmallCompressor};
pub use decompressor::{CpackDecompressorTop, CpackSmallDecompressor, DecompressorIn, DecompressorOut};

use super::fifo::DECODED_AT_ONCE;
use super::params::CpackParams;
use selvedge_hw::rtl::prelude::*;

elaborate! {
    /// Returns the compressor for valid parameters.
    pub(super) fn compressor(params: &CpackParams as PARAMS) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
        for line_bytes in [32, 64, 128] {
            match dictionary {
                4 => {
                    CpackSmallCompressor {
                        LINE = PARAMS.line_bits(),
                        LW = word_count(LINE),
                        WORDS = LINE / 32,
                        SIZE = PARAMS.size_bits(),
                        RESULT = LINE + 2 + SIZE,
                        RW = word_count(RESULT),
                    }
                }
                16 => {
                    CpackCompressorTop {
                        LINE = PARAMS.line_bits(),
                        LW = word_count(LINE),
                        BLOCKS = LINE / 128,
                        SIZE = PARAMS.size_bits(),
                        HALF = SIZE - 1,
                    }
                }
            }
        }
    }
}

elaborate! {
    /// Returns the decompressor for valid parameters.
    pub(super) fn decompressor(params: &CpackParams as PARAMS) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
        for line_bytes in [32, 64, 128] {
            match dictionary {
                4 => {
                    CpackSmallDecompressor {
                        LINE = PARAMS.line_bits(),
                        LW = word_count(LINE),
                        WORDS = LINE / 32,
                        RESULT = LINE + 1,
                        RW = word_count(RESULT),
                    }
                }
                16 => {
                    CpackDecompressorTop {
                        LINE = PARAMS.line_bits(),
                        LW = word_count(LINE),
                        GROUPS = LINE / 32 / DECODED_AT_ONCE,
                    }
                }
            }
        }
    }
}
