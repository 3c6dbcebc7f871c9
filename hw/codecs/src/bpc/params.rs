//! Parameters and constants of the BPC compressor and decompressor.
use super::code::{PLANES, PlaneShape};
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Codes that the decompressor reads per cycle, and planes that the compressor codes per cycle.
pub const SYMBOLS_PER_CYCLE: usize = 4;

/// Cycles in which the compressor codes planes.
pub const PACK_CYCLES: usize = PLANES.div_ceil(SYMBOLS_PER_CYCLE);

/// Cycles in which the decompressor makes words from planes, one for each half of the words.
pub(super) const HALVES: usize = 2;

block_params! {
    /// Parameters of compressor and decompressor.
    pub struct BpcParams {
        /// bytes of a line
        line_bytes: usize = 128, Allowed::OneOf(&[32, 64, 128]);
    }
}

impl BpcParams {
    pub(super) const fn line_bits(&self) -> usize {
        8 * self.line_bytes
    }

    pub(super) const fn shape(&self) -> PlaneShape {
        PlaneShape::of(self.line_bytes)
    }

    /// Returns the width in bits of a payload size from 0 to `line_bytes`.
    pub(super) const fn size_bits(&self) -> usize {
        self.line_bytes.ilog2() as usize + 1
    }
}
