//! Parameters and constants of the code builder.
use crate::sc::MAX_CODE_BITS;
use crate::sc::huffman::limited_lengths;
use crate::sc::vft::{COUNT_BITS, LOST_BITS};
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of the escape symbol's weight, as for the table's lost count.
pub const ESCAPE_BITS: usize = LOST_BITS;

/// Bits of the field for a code's length.
pub(super) const LENGTH_BITS: usize = 5;

/// Cycles from a read to the reply of this family's table.
pub(super) const TABLE_LATENCY: u64 = 2;

block_params! {
    /// Parameters of a code builder.
    pub struct CodeBuilderParams {
        /// Entries of the table.
        entries: usize = 1024, Allowed::OneOf(&[64, 1024]);
        /// Maximum length of a code in bits.
        max_code_bits: usize = MAX_CODE_BITS, Allowed::OneOf(&[12, 16]);
    }
}

impl CodeBuilderParams {
    /// Returns the width of an entry's index in bits.
    pub const fn index_bits(&self) -> usize {
        self.entries.ilog2() as usize
    }

    /// Returns the width of a node's weight in bits. The root has the weight of all symbols together.
    pub(super) const fn weight_bits(&self) -> usize {
        ((self.entries << COUNT_BITS) + (1 << ESCAPE_BITS)).ilog2() as usize + 1
    }
}

/// Returns the cycles between the table's last reply and the first cycle of the emission.
///
/// `weights` are the weights of the existing entries and of the escape symbol. They must not increase.
///
/// # Panics
/// When `weights` is empty or increases.
pub fn code_cycles(params: &CodeBuilderParams, weights: &[u32]) -> u64 {
    let entries = weights.len() - 1;
    if entries == 0 {
        return 2;
    }
    let way = limited_lengths(weights, params.max_code_bits as u32);
    let sort = 52 + 2 * entries;
    let merge = 1 + 2 * entries;
    let measure = 2 + way.nodes + (params.max_code_bits - 1).saturating_sub(way.depth) + way.steps;
    (sort + merge + measure + 1) as u64
}
