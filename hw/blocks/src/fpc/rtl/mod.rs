//! RTL of the codec. Each top is steps of combinational logic with elastic registers between them.

mod classify;
mod compressor;
mod decompressor;
mod expand;
mod pack;
mod parse;
mod split;
mod whole;

pub use compressor::{CompressorIn, CompressorOut, FpcCompressor, FpcCompressorOneCycle};
pub use decompressor::{DecompressorIn, DecompressorOut, FpcDecompressor};

use super::{CompressorParams, DecompressorParams};
use decompressor::DecompressorCuts;
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::top::RtlInstance;

/// The instance for valid parameters: `$pipelined` and `$one_cycle` with the widths of each line size and variant.
macro_rules! instance {
    (
        $params:ident, $pipelined:ident, $one_cycle:ident:
        $(($bytes:literal, $segmented:literal) => [$($width:literal),*]),* $(,)?
    ) => {
        match ($params.line_bytes, $params.segmented, $params.pipeline_depth) {
            $(
                ($bytes, $segmented, 1) => RtlInstance::boxed($one_cycle::<$($width),*>::new($params)),
                ($bytes, $segmented, _) => RtlInstance::boxed($pipelined::<$($width),*>::new($params)),
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
    instance! { params, FpcCompressor, FpcCompressorOneCycle:
        (32, false) => [256, 4, 8, 8, 1, 72, 2, 36, 1, 6, 9, 328, 6, 266, 5],
        (64, false) => [512, 8, 16, 16, 1, 144, 3, 72, 2, 7, 10, 656, 11, 523, 9],
        (128, false) => [1024, 16, 32, 32, 1, 288, 5, 144, 3, 8, 11, 1312, 21, 1036, 17],
        (32, true) => [256, 4, 8, 2, 4, 18, 1, 6, 1, 4, 9, 274, 5, 266, 5],
        (64, true) => [512, 8, 16, 4, 4, 36, 1, 12, 1, 5, 10, 548, 9, 523, 9],
        (128, true) => [1024, 16, 32, 8, 4, 72, 2, 24, 1, 6, 11, 1096, 18, 1036, 17],
    }
}

/// Where a decompressor's registers stand, so that its longest path is short for so many of them.
///
/// In an ASIC library each half of the prefixes of 128 bytes takes about 12 parts of time, and all that follows 8, so that the
/// fourth and fifth register shorten no path.
pub(super) fn decompressor_cuts(depth: usize) -> DecompressorCuts {
    let (half, parsed, aligned, split) = match depth {
        1 => (0, 0, 0, 0),
        2 => (1, 0, 0, 0),
        3 => (1, 1, 0, 0),
        4 => (1, 1, 0, 1),
        _ => (1, 1, 1, 1),
    };
    DecompressorCuts { half, parsed, aligned, split }
}

/// The decompressor for valid parameters: bits and 64-bit words of the line; words, and levels of their tree before the last
/// step; groups, words of a group and half the groups; zero runs or none; bits of the longest symbol; bits and 64-bit words of the
/// longest head that may be met, of all prefixes and of half of them, and of the registers.
pub(super) fn decompressor(
    params: &DecompressorParams,
) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
    macro_rules! instance {
        ($(($bytes:literal, $segmented:literal) => [$($width:literal),*]),* $(,)?) => {
            match (params.line_bytes, params.segmented) {
                $(($bytes, $segmented) => {
                    RtlInstance::boxed(FpcDecompressor::<$($width),*>::new(params))
                })*
                other => unreachable!("not valid: {other:?}"),
            }
        };
    }
    instance! {
        (32, false) => [256, 4, 8, 1, 8, 1, 4, 1, 6, 48, 1, 24, 1, 12, 1, 304, 5, 290, 5, 282, 5, 257, 5],
        (64, false) => [512, 8, 16, 2, 16, 1, 8, 1, 6, 96, 2, 48, 1, 24, 1, 596, 10, 570, 9, 562, 9, 513, 9],
        (128, false) => [1024, 16, 32, 2, 32, 1, 16, 1, 6, 192, 3, 96, 2, 48, 1, 1180, 19, 1130, 18, 1122, 18, 1025, 17],
        (32, true) => [256, 4, 8, 1, 2, 4, 1, 0, 3, 6, 1, 6, 1, 3, 1, 274, 5, 272, 5, 264, 5, 257, 5],
        (64, true) => [512, 8, 16, 2, 4, 4, 2, 0, 3, 12, 1, 12, 1, 6, 1, 536, 9, 534, 9, 526, 9, 513, 9],
        (128, true) => [1024, 16, 32, 2, 8, 4, 4, 0, 3, 24, 1, 24, 1, 12, 1, 1060, 17, 1058, 17, 1050, 17, 1025, 17],
    }
}
