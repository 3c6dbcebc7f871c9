//! RTL of the codec. Each top is two halves of combinational logic and an elastic pipeline.

mod bases;
mod choose;
mod compressor;
mod decompressor;
mod pack;
mod rebuild;

use super::{BdiParams, CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};
use crate::block::RtlBlock;
use crate::rtl_instance::RtlInstance;
use compressor::{BdiCompressor, BdiCompressorOneCycle};
use decompressor::{BdiDecompressor, BdiDecompressorOneCycle};

// Widths that follow from the size of the line, spelled out because the RTL's types cannot compute with their own
// parameters: line bits and words; words of 8, 4 and 2 bytes; bits of base and mask for each; bits of a payload size
// (compressor only); bits and words of the middle register; bits and words of the result register. The tops check them.
type Compressor32 = BdiCompressor<256, 4, 4, 8, 16, 72, 40, 32, 6, 340, 6, 266, 5>;
type Compressor64 = BdiCompressor<512, 8, 8, 16, 32, 72, 48, 48, 7, 612, 10, 523, 9>;
type Compressor128 = BdiCompressor<1024, 16, 16, 32, 64, 80, 64, 80, 8, 1156, 19, 1036, 17>;
type OneCycleCompressor32 = BdiCompressorOneCycle<256, 4, 4, 8, 16, 72, 40, 32, 6, 340, 6, 266, 5>;
type OneCycleCompressor64 = BdiCompressorOneCycle<512, 8, 8, 16, 32, 72, 48, 48, 7, 612, 10, 523, 9>;
type OneCycleCompressor128 = BdiCompressorOneCycle<1024, 16, 16, 32, 64, 80, 64, 80, 8, 1156, 19, 1036, 17>;
type Decompressor32 = BdiDecompressor<256, 4, 4, 8, 16, 72, 40, 32, 340, 6, 257, 5>;
type Decompressor64 = BdiDecompressor<512, 8, 8, 16, 32, 72, 48, 48, 612, 10, 513, 9>;
type Decompressor128 = BdiDecompressor<1024, 16, 16, 32, 64, 80, 64, 80, 1156, 19, 1025, 17>;
type OneCycleDecompressor32 = BdiDecompressorOneCycle<256, 4, 4, 8, 16, 72, 40, 32, 340, 6, 257, 5>;
type OneCycleDecompressor64 = BdiDecompressorOneCycle<512, 8, 8, 16, 32, 72, 48, 48, 612, 10, 513, 9>;
type OneCycleDecompressor128 = BdiDecompressorOneCycle<1024, 16, 16, 32, 64, 80, 64, 80, 1156, 19, 1025, 17>;

/// The compressor for valid parameters.
pub(super) fn compressor(params: &BdiParams) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
    let behind = params.pipeline_depth.saturating_sub(1);
    match (params.line_bytes, behind) {
        (32, 0) => RtlInstance::boxed(OneCycleCompressor32::new(1)),
        (64, 0) => RtlInstance::boxed(OneCycleCompressor64::new(1)),
        (_, 0) => RtlInstance::boxed(OneCycleCompressor128::new(1)),
        (32, _) => RtlInstance::boxed(Compressor32::new(behind)),
        (64, _) => RtlInstance::boxed(Compressor64::new(behind)),
        (_, _) => RtlInstance::boxed(Compressor128::new(behind)),
    }
}

/// The decompressor for valid parameters.
pub(super) fn decompressor(params: &BdiParams) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
    let behind = params.pipeline_depth.saturating_sub(1);
    match (params.line_bytes, behind) {
        (32, 0) => RtlInstance::boxed(OneCycleDecompressor32::new(1)),
        (64, 0) => RtlInstance::boxed(OneCycleDecompressor64::new(1)),
        (_, 0) => RtlInstance::boxed(OneCycleDecompressor128::new(1)),
        (32, _) => RtlInstance::boxed(Decompressor32::new(behind)),
        (64, _) => RtlInstance::boxed(Decompressor64::new(behind)),
        (_, _) => RtlInstance::boxed(Decompressor128::new(behind)),
    }
}
