//! Parameters and constants of the BGP.
use super::hash::BANKS;
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Columns of a bank of a bitarray: bits per row.
pub(super) const COLUMNS: usize = 16;

/// Bits of the number of a column.
pub(super) const COLUMN_BITS: usize = COLUMNS.ilog2() as usize;

/// Width of the two counters of a window: large enough for the longest window.
pub(super) const SKEW_BITS: usize = 10;

block_params! {
    /// Parameters of a BGP.
    pub struct BgpParams {
        /// Bits of each of the two arrays of the Bloom filter.
        bitarray_bits: u32 = 2048, Allowed::OneOf(&[2048, 4096]);
        /// Insertions into an array until it is cleared.
        refresh_period: u32 = 512, Allowed::OneOf(&[512, 1024]);
        /// Sectors of a cache block.
        sectors: u32 = 4, Allowed::OneOf(&[4, 8]);
        /// A block with fewer used sectors has low locality.
        fg_threshold: u32 = 2, Allowed::Range(2, 4);
        /// Percentage of insertions in a window above which the default flips.
        skew_percent: u32 = 70, Allowed::OneOf(&[70, 90]);
        /// Evictions after which the skew is evaluated.
        skew_window: u32 = 1000, Allowed::OneOf(&[500, 1000]);
    }
}

impl BgpParams {
    /// Width of an index into a bank of an array.
    pub const fn index_bits(&self) -> u32 {
        (self.bitarray_bits / BANKS as u32).ilog2()
    }

    /// Rows of one array, summed over its banks.
    pub const fn rows(&self) -> u32 {
        self.bitarray_bits / COLUMNS as u32
    }

    /// Insertions between two swaps. The newly active array holds at least this history.
    pub const fn half_period(&self) -> u32 {
        self.refresh_period / 2
    }

    /// Maximum insertions in a window without a flip of the default.
    pub fn skew_limit(&self) -> u32 {
        self.skew_window * self.skew_percent / 100
    }
}
