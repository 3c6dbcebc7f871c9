//! Parameters and constants of the SC compressor.
use crate::sc::{SET_BITS, WORDS, set_of};
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of the counter of groups.
pub(super) const GROUPS_BITS: usize = 3;

/// Number of banks of the table.
pub(super) const BANKS: usize = 8;

block_params! {
    /// Parameters of the compressor.
    pub struct ScCompressorParams {
        /// Words per group, 4 or 8. A group is looked up and packed in one cycle unless words wait for a bank.
        symbols_per_cycle: u32 = 8, Allowed::OneOf(&[4, 8]);
    }
}

impl ScCompressorParams {
    /// Returns the number of groups in a line.
    pub(super) fn groups(&self) -> u32 {
        WORDS as u32 / self.symbols_per_cycle
    }
}

/// Returns the bank of a word: the XOR of three slices of its set index.
pub(super) fn bank_of(word: u32) -> usize {
    let set = set_of(word, SET_BITS) as usize;
    (set ^ set >> 3 ^ set >> 6) % BANKS
}
