//! Parameters and constants of the AWT.
use crate::widths::{SR_BITS, WARP_BITS};
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of SR.ID and warp, which identify an assist warp.
pub(crate) const KEY_BITS: usize = SR_BITS + WARP_BITS;

/// Entries in a row of the search.
pub(super) const ROW: usize = 8;

block_params! {
    /// Parameters of an AWT.
    pub struct AwtParams {
        /// Active assist warps at the same time.
        entries: u32 = 48, Allowed::OneOf(&[8, 48]);
    }
}

impl AwtParams {
    /// Returns the number of entries that take high priority only: the lowest quarter.
    pub fn high_only(&self) -> u32 {
        self.entries / 4
    }

    /// Returns the number of rows in which the entries are searched.
    pub const fn rows(&self) -> usize {
        self.entries as usize / ROW
    }

    /// Returns the bits of an entry's number.
    pub const fn index_bits(&self) -> u32 {
        self.entries.next_power_of_two().ilog2()
    }
}
