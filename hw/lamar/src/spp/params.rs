//! Parameters of the SPP.
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

block_params! {
    /// Parameters of an SPP.
    pub struct SppParams {
        /// Entries of the pattern history table.
        entries: u32 = 256, Allowed::OneOf(&[256, 1024]);
        /// Sectors of a cache block.
        sectors: u32 = 4, Allowed::OneOf(&[4, 8]);
        /// An entry without a pattern predicts all sectors instead of none.
        unknown_coarse: bool = true, Allowed::Switch;
    }
}

impl SppParams {
    /// Width of an index into the table.
    pub const fn index_bits(&self) -> u32 {
        self.entries.ilog2()
    }

    /// Returns the prediction of an entry without a pattern.
    pub fn unknown_pattern(&self) -> u8 {
        if self.unknown_coarse { ((1u32 << self.sectors) - 1) as u8 } else { 0 }
    }

    /// Returns the entry of a block address: the XOR of all its slices, each as wide as the index.
    pub fn index(&self, address: u32) -> usize {
        let bits = self.index_bits();
        (0..32u32.div_ceil(bits)).fold(0, |index, slice| index ^ (address >> (slice * bits))) as usize
            % self.entries as usize
    }
}
