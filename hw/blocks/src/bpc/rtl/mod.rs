//! RTL of the codec.

mod compressor;
mod decode;
mod decompressor;
mod encode;
mod planes;

use super::BpcParams;
pub use compressor::{BpcCompressor, CompressorIn, CompressorOut};
pub use decompressor::{BpcDecompressor, DecompressorIn, DecompressorOut};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::top::RtlInstance;

// Widths that follow from the size of the line, spelled out because the RTL's types cannot compute with their own
// parameters; each wide one is followed by its words of 64 bits. The line; the bits of a plane, of a place in it, of its
// longest code; then of the compressor all 33 planes, four planes, four codes, and the bits of a size; of the
// decompressor four codes, 32 planes, and groups of four words. The blocks check them.
type Compressor32 = BpcCompressor<256, 4, 7, 3, 8, 231, 4, 28, 1, 32, 1, 6>;
type Compressor64 = BpcCompressor<512, 8, 15, 4, 16, 495, 8, 60, 1, 64, 1, 7>;
type Compressor128 = BpcCompressor<1024, 16, 31, 5, 32, 1023, 16, 124, 2, 128, 2, 8>;
type Decompressor32 = BpcDecompressor<256, 4, 7, 3, 8, 32, 1, 224, 4, 2>;
type Decompressor64 = BpcDecompressor<512, 8, 15, 4, 16, 64, 1, 480, 8, 4>;
type Decompressor128 = BpcDecompressor<1024, 16, 31, 5, 32, 128, 2, 992, 16, 8>;

/// The compressor for valid parameters.
pub(super) fn compressor(params: &BpcParams) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
    match params.line_bytes {
        32 => RtlInstance::boxed(Compressor32::new(params)),
        64 => RtlInstance::boxed(Compressor64::new(params)),
        _ => RtlInstance::boxed(Compressor128::new(params)),
    }
}

/// The decompressor for valid parameters.
pub(super) fn decompressor(params: &BpcParams) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
    match params.line_bytes {
        32 => RtlInstance::boxed(Decompressor32::new(params)),
        64 => RtlInstance::boxed(Decompressor64::new(params)),
        _ => RtlInstance::boxed(Decompressor128::new(params)),
    }
}
