//! RTL of the codec. Each top is steps of combinational logic with elastic registers between them.

mod bases;
mod choose;
mod compressor;
mod decompressor;
mod first;
mod near;
mod pack;
mod rebuild;
mod subtract;

pub use compressor::{BdiCompressor, CompressorIn, CompressorOut};
pub use decompressor::{BdiDecompressor, DecompressorIn, DecompressorOut};

use super::BdiParams;
use compressor::CompressorCuts;
use decompressor::DecompressorCuts;
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::top::RtlInstance;

// Widths that follow from the size of the line, spelled out because the RTL's types cannot compute with their own
// parameters: line bits and words; words of 8, 4 and 2 bytes; bits of base and mask for each; bits of a payload size
// (compressor only); bits and words of the middle register; bits and words of the result register. The tops check them.
type Compressor32 = BdiCompressor<256, 4, 4, 8, 16, 72, 40, 32, 6, 572, 9, 579, 10, 340, 6, 266, 5>;
type Compressor64 = BdiCompressor<512, 8, 8, 16, 32, 72, 48, 48, 7, 872, 14, 879, 14, 612, 10, 523, 9>;
type Compressor128 =
    BdiCompressor<1024, 16, 16, 32, 64, 80, 64, 80, 8, 1472, 23, 1479, 24, 1156, 19, 1036, 17>;
type Decompressor32 = BdiDecompressor<256, 4, 4, 8, 16, 72, 40, 32, 340, 6, 516, 9, 257, 5>;
type Decompressor64 = BdiDecompressor<512, 8, 8, 16, 32, 72, 48, 48, 612, 10, 1028, 17, 513, 9>;
type Decompressor128 = BdiDecompressor<1024, 16, 16, 32, 64, 80, 64, 80, 1156, 19, 2052, 33, 1025, 17>;

/// Where a compressor's registers stand, so that its longest path is short for so many of them.
///
/// In an ASIC library a search, the trials, the choice, the subtraction and the packing of 128 bytes take about 5, 8, 5, 7 and 4
/// parts of time; a register in front of the trials also keeps all bases and masks.
pub(super) fn compressor_cuts(depth: usize) -> CompressorCuts {
    let (firsts, nears, choice, deltas) = match depth {
        1 => (0, 0, 0, 0),
        2 => (0, 0, 1, 0),
        3 => (1, 0, 1, 0),
        4 => (1, 0, 1, 1),
        _ => (1, 1, 1, 1),
    };
    CompressorCuts { firsts, nears, choice, deltas }
}

/// Where a decompressor's registers stand: there are three steps, so that more than three registers shorten no path.
pub(super) fn decompressor_cuts(depth: usize) -> DecompressorCuts {
    let (spread, operands) = (usize::from(depth > 1), usize::from(depth > 2));
    DecompressorCuts { spread, operands, results: depth - spread - operands }
}

/// The compressor for valid parameters.
pub(super) fn compressor(params: &BdiParams) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
    match params.line_bytes {
        32 => RtlInstance::boxed(Compressor32::new(params)),
        64 => RtlInstance::boxed(Compressor64::new(params)),
        _ => RtlInstance::boxed(Compressor128::new(params)),
    }
}

/// The decompressor for valid parameters.
pub(super) fn decompressor(params: &BdiParams) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
    match params.line_bytes {
        32 => RtlInstance::boxed(Decompressor32::new(params)),
        64 => RtlInstance::boxed(Decompressor64::new(params)),
        _ => RtlInstance::boxed(Decompressor128::new(params)),
    }
}
