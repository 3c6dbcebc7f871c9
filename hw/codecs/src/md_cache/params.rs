//! Parameters and constants of the metadata cache.
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of a block: one DRAM burst of 32 bytes.
pub(super) const BLOCK_BITS: usize = 256;

/// Ways of a set.
pub const WAYS: usize = 4;

/// Bits of the order of a set's ways: one per pair of ways.
pub(super) const ORDER_BITS: usize = 6;

block_params! {
    /// Parameters of a metadata cache.
    pub struct MdCacheParams {
        /// Size of the data in KB, in 4 ways of 32-byte blocks.
        kilobytes: u32 = 8, Allowed::OneOf(&[4, 8, 16]);
        /// Bits of a line's entry.
        entry_bits: u32 = 2, Allowed::OneOf(&[2, 4]);
    }
}

impl MdCacheParams {
    /// Returns the number of sets.
    pub const fn sets(&self) -> u32 {
        self.kilobytes * 1024 * 8 / (BLOCK_BITS * WAYS) as u32
    }

    /// Returns the number of lines whose entries share a block.
    pub const fn lines_per_block(&self) -> u32 {
        BLOCK_BITS as u32 / self.entry_bits
    }

    /// Returns the bits of a line's number within its block.
    pub const fn offset_bits(&self) -> u32 {
        self.lines_per_block().ilog2()
    }

    /// Returns the bits of a block's number.
    pub const fn block_bits(&self) -> u32 {
        32 - self.offset_bits()
    }

    /// Returns the bits of a tag.
    pub const fn tag_bits(&self) -> u32 {
        self.block_bits() - self.sets().ilog2()
    }
}
