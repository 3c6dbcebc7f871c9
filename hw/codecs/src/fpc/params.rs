//! Parameters of the FPC compressor and decompressor, and their lines.
use super::codec::{FpcVariant, SEGMENT_WORDS};
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

block_params! {
    /// Parameters of the compressor: two registers by default.
    pub struct FpcCompressorParams {
        /// bytes of a line
        line_bytes: usize = 128, Allowed::OneOf(&[32, 64, 128]);
        /// one prefix per segment of four words
        segmented: bool = true, Allowed::Switch;
        /// registers from input to output: the latency in cycles
        pipeline_depth: usize = 2, Allowed::OneOf(&[1, 2, 5]);
    }
}

block_params! {
    /// Parameters of the decompressor: five registers by default, LATTE-CC's latency.
    pub struct FpcDecompressorParams {
        /// bytes of a line
        line_bytes: usize = 128, Allowed::OneOf(&[32, 64, 128]);
        /// one prefix per segment of four words
        segmented: bool = true, Allowed::Switch;
        /// registers from input to output: the latency in cycles
        pipeline_depth: usize = 5, Allowed::OneOf(&[1, 2, 3, 4, 5]);
    }
}

impl FpcCompressorParams {
    /// Returns the size and the variant of the lines.
    pub const fn lines(&self) -> LineFormat {
        LineFormat { bytes: self.line_bytes, segmented: self.segmented }
    }

    /// Returns the bits of a payload size, from 0 to all bits of the line.
    pub(super) const fn size_bits(&self) -> usize {
        self.lines().bits().ilog2() as usize + 1
    }
}

impl FpcDecompressorParams {
    /// Returns the size and the variant of the lines.
    pub const fn lines(&self) -> LineFormat {
        LineFormat { bytes: self.line_bytes, segmented: self.segmented }
    }
}

/// Size and compression variant of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineFormat {
    /// Bytes of a line: 32, 64 or 128.
    pub bytes: usize,
    /// One prefix per segment of four words, as in CABA, instead of one per word or zero run.
    pub segmented: bool,
}

impl LineFormat {
    /// Returns the variant that `segmented` selects.
    pub const fn variant(self) -> FpcVariant {
        if self.segmented { FpcVariant::Segments } else { FpcVariant::Words }
    }

    pub(super) const fn bits(self) -> usize {
        8 * self.bytes
    }

    pub(super) const fn words(self) -> usize {
        self.bytes / 4
    }

    /// Returns the prefixes of a line, with one for each word of a zero run.
    pub(super) const fn groups(self) -> usize {
        if self.segmented { self.words() / SEGMENT_WORDS } else { self.words() }
    }
}
