//! Parameters and constants of the decompression queue.
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of a line's identifier: 256 lines in flight.
pub(super) const ID_BITS: usize = 8;

/// Bits of a mode's latency: SC takes 14 cycles.
pub(super) const LATENCY_BITS: usize = 4;

block_params! {
    /// Parameters of a decompression queue.
    pub struct DecompressionQueueParams {
        /// Lines that can wait, in addition to the line in the decompressor.
        depth: u32 = 8, Allowed::OneOf(&[4, 8, 16]);
    }
}

impl DecompressionQueueParams {
    /// Returns the bits of a position, which is 0 to `depth`.
    pub const fn position_bits(&self) -> usize {
        self.depth.ilog2() as usize + 1
    }

    /// Returns the bits of an effective latency. Its maximum is that of the last position with the largest latency.
    pub const fn hit_latency_bits(&self) -> usize {
        let largest = ((1 << LATENCY_BITS) - 1) * (self.depth + 1);
        largest.ilog2() as usize + 1
    }
}
