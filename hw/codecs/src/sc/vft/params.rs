//! Parameters and constants of the value-frequency table.
use crate::sc::WORD_BITS;
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of a count.
pub const COUNT_BITS: usize = 12;

/// The largest count.
pub const COUNT_MAX: u16 = (1 << COUNT_BITS) - 1;

/// Bits of the lost count.
pub const LOST_BITS: usize = 14;

/// The largest lost count.
pub const LOST_MAX: u16 = (1 << LOST_BITS) - 1;

block_params! {
    /// Parameters of a value-frequency table.
    pub struct VftParams {
        /// Number of entries, each for one value.
        entries: usize = 1024, Allowed::OneOf(&[64, 1024]);
    }
}

impl VftParams {
    /// Returns the width of an entry's index in bits.
    pub const fn index_bits(&self) -> usize {
        self.entries.ilog2() as usize
    }

    /// Returns the width of a set index in bits.
    pub const fn set_bits(&self) -> usize {
        self.index_bits() - 2
    }

    /// Returns the width of a tag in bits.
    pub(super) const fn tag_bits(&self) -> usize {
        WORD_BITS - self.set_bits()
    }
}
