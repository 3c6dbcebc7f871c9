//! RTL of the codec. Each top is two halves of combinational logic and an elastic pipeline.

mod classify;
mod compressor;
mod decompressor;
mod expand;
mod pack;
mod parse;
mod whole;

use super::{
    CompressorIn, CompressorOut, CompressorParams, DecompressorIn, DecompressorOut, DecompressorParams,
};
use crate::block::RtlBlock;
use crate::rtl_instance::RtlInstance;

/// The instance for valid parameters: `$pipelined` and `$one_cycle` with the widths of each line size and variant.
macro_rules! instance {
    (
        $params:ident, $pipelined:ident, $one_cycle:ident:
        $(($bytes:literal, $segmented:literal) => [$($width:literal),*]),* $(,)?
    ) => {
        match ($params.line_bytes, $params.segmented, $params.pipeline_depth) {
            $(
                ($bytes, $segmented, 1) => RtlInstance::boxed($one_cycle::<$($width),*>::new(1)),
                ($bytes, $segmented, depth) => RtlInstance::boxed($pipelined::<$($width),*>::new(depth - 1)),
            )*
            other => unreachable!("not valid: {other:?}"),
        }
    };
}

// Widths that follow from the size of the line, spelled out because the RTL's types cannot compute with their own
// parameters; the tops check them.

/// The compressor for valid parameters: bits and 64-bit words of the line; words, groups and words of a group; bits and
/// 64-bit words of all symbols and of the longest head; bits of the lengths of head and payload; bits and 64-bit words of
/// the middle register and of the result.
pub(super) fn compressor(params: &CompressorParams) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
    use compressor::{FpcCompressor, FpcCompressorOneCycle};
    instance! { params, FpcCompressor, FpcCompressorOneCycle:
        (32, false) => [256, 4, 8, 8, 1, 72, 2, 36, 1, 6, 9, 328, 6, 266, 5],
        (64, false) => [512, 8, 16, 16, 1, 144, 3, 72, 2, 7, 10, 656, 11, 523, 9],
        (128, false) => [1024, 16, 32, 32, 1, 288, 5, 144, 3, 8, 11, 1312, 21, 1036, 17],
        (32, true) => [256, 4, 8, 2, 4, 18, 1, 6, 1, 4, 9, 274, 5, 266, 5],
        (64, true) => [512, 8, 16, 4, 4, 36, 1, 12, 1, 5, 10, 548, 9, 523, 9],
        (128, true) => [1024, 16, 32, 8, 4, 72, 2, 24, 1, 6, 11, 1096, 18, 1036, 17],
    }
}

/// The decompressor for valid parameters: bits and 64-bit words of the line; words, groups and words of a group; bits and
/// 64-bit words of the longest head that may be met, of all prefixes, of the middle register and of the result.
pub(super) fn decompressor(
    params: &DecompressorParams,
) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
    use decompressor::{FpcDecompressor, FpcDecompressorOneCycle};
    instance! { params, FpcDecompressor, FpcDecompressorOneCycle:
        (32, false) => [256, 4, 8, 8, 1, 48, 1, 24, 1, 290, 5, 257, 5],
        (64, false) => [512, 8, 16, 16, 1, 96, 2, 48, 1, 570, 9, 513, 9],
        (128, false) => [1024, 16, 32, 32, 1, 192, 3, 96, 2, 1130, 18, 1025, 17],
        (32, true) => [256, 4, 8, 2, 4, 6, 1, 6, 1, 272, 5, 257, 5],
        (64, true) => [512, 8, 16, 4, 4, 12, 1, 12, 1, 534, 9, 513, 9],
        (128, true) => [1024, 16, 32, 8, 4, 24, 1, 24, 1, 1058, 17, 1025, 17],
    }
}
