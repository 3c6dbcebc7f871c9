//! RTL of the codec: a machine that goes through a line four words at a time, and logic for CABA's variant.

mod compressor;
mod decode;
mod decompressor;
mod encode;
mod small;

pub use compressor::{CompressorIn, CompressorOut, CpackCompressor, CpackSmallCompressor};
pub use decompressor::{CpackDecompressor, CpackSmallDecompressor, DecompressorIn, DecompressorOut};

use super::CpackParams;
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::top::RtlInstance;

// Widths that follow from the size of the line, spelled out because the RTL's types cannot compute with their own
// parameters; the tops check them.

/// The compressor for valid parameters: bits and 64-bit words of the line, bits of a size; in CABA's variant also words of
/// 32 bits, and bits and 64-bit words of the result register.
pub(super) fn compressor(params: &CpackParams) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
    match (params.line_bytes, params.dictionary) {
        (32, 4) => RtlInstance::boxed(CpackSmallCompressor::<256, 4, 8, 9, 267, 5>::new(params)),
        (64, 4) => RtlInstance::boxed(CpackSmallCompressor::<512, 8, 16, 10, 524, 9>::new(params)),
        (_, 4) => RtlInstance::boxed(CpackSmallCompressor::<1024, 16, 32, 11, 1037, 17>::new(params)),
        (32, _) => RtlInstance::boxed(CpackCompressor::<256, 4, 9>::new(params)),
        (64, _) => RtlInstance::boxed(CpackCompressor::<512, 8, 10>::new(params)),
        (_, _) => RtlInstance::boxed(CpackCompressor::<1024, 16, 11>::new(params)),
    }
}

/// The decompressor for valid parameters: bits and 64-bit words of the line, groups of four words; in CABA's variant words
/// of 32 bits, and bits and 64-bit words of the result register.
pub(super) fn decompressor(params: &CpackParams) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
    match (params.line_bytes, params.dictionary) {
        (32, 4) => RtlInstance::boxed(CpackSmallDecompressor::<256, 4, 8, 257, 5>::new(params)),
        (64, 4) => RtlInstance::boxed(CpackSmallDecompressor::<512, 8, 16, 513, 9>::new(params)),
        (_, 4) => RtlInstance::boxed(CpackSmallDecompressor::<1024, 16, 32, 1025, 17>::new(params)),
        (32, _) => RtlInstance::boxed(CpackDecompressor::<256, 4, 2>::new(params)),
        (64, _) => RtlInstance::boxed(CpackDecompressor::<512, 8, 4>::new(params)),
        (_, _) => RtlInstance::boxed(CpackDecompressor::<1024, 16, 8>::new(params)),
    }
}
