//! Parameters of the C-Pack compressor and decompressor.
use super::codec::CpackVariant;
use super::fifo::DICTIONARY;
use super::small::VALUES;
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

block_params! {
    /// Parameters of compressor and decompressor.
    pub struct CpackParams {
        /// Bytes of a line: 32, 64 or 128.
        line_bytes: usize = 128, Allowed::OneOf(&[32, 64, 128]);
        /// Words of the dictionary: 16 is C-Pack+Z, 4 is CABA's variant.
        dictionary: usize = DICTIONARY, Allowed::OneOf(&[4, 16]);
    }
}

impl CpackParams {
    /// Returns the variant that `dictionary` selects.
    pub fn variant(&self) -> CpackVariant {
        if self.dictionary == VALUES { CpackVariant::Small4 } else { CpackVariant::Fifo16 }
    }

    pub(super) const fn line_bits(&self) -> usize {
        8 * self.line_bytes
    }

    /// Returns the bits of a payload size, from 0 to all bits of the line. They also hold the length of the longest string of
    /// codes.
    pub(super) const fn size_bits(&self) -> usize {
        self.line_bits().ilog2() as usize + 1
    }
}
