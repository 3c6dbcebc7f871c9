//! Parameters and constants of the SC decompressor.
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of a block, the unit in which a payload is taken.
pub(super) const BLOCK_BITS: usize = 32;

/// Number of banks of the values.
pub(super) const BANKS: usize = 8;

block_params! {
    /// Parameters of the decompressor.
    pub struct ScDecompressorParams {
        /// Maximum number of codes that are decoded per cycle: 1, 2 or 4.
        symbols_per_cycle: u32 = 4, Allowed::OneOf(&[1, 2, 4]);
    }
}
