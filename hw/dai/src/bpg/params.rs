//! Parameters and constants of the BPG.
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Number of adjusted-hits calculators, and the L without bypassing.
pub const LEVELS: usize = 8;

/// Number of sets that are sampled.
pub const SAMPLED_SETS: usize = 4;

/// Width of a warp's or CTA's number; higher numbers count as the highest one, which no calculator watches.
pub(super) const WARP_BITS: usize = 6;

/// Width of a hit counter.
pub(super) const HIT_BITS: usize = 10;

/// Width of the reservation-failure counter.
pub(super) const RSFAIL_BITS: usize = 12;

/// Width of the access counter.
pub(super) const ACCESS_BITS: usize = 10;

/// Offset of adjusted hits, which keeps them from being negative: more than half of the maximum failure count.
pub(super) const ADJUSTED_OFFSET: u32 = 1 << (RSFAIL_BITS - 1);

/// Width of the number of a sampled set.
pub(super) const SET_BITS: usize = SAMPLED_SETS.ilog2() as usize;

/// Width of half the estimated failures.
pub(super) const HALF_BITS: usize = RSFAIL_BITS - 1;

/// Width of a number of warps, 1 to 8.
pub(super) const L_BITS: usize = 4;

block_params! {
    /// Parameters of a BPG.
    pub struct BpgParams {
        /// Sets of the L1D; 4 are sampled, for any value.
        sets: u32 = 32, Allowed::OneOf(&[16, 32, 64, 128, 256]);
        /// Ways of a set.
        ways: u32 = 4, Allowed::OneOf(&[4, 6]);
        /// Width of a tag; a line address has the bits of a set's index more.
        tag_bits: u32 = 32, Allowed::OneOf(&[20, 32]);
        /// Accesses after which a new L is chosen.
        interval: u32 = 1000, Allowed::OneOf(&[500, 1000]);
    }
}

impl BpgParams {
    /// Width of a set's index.
    pub const fn index_bits(&self) -> usize {
        self.sets.ilog2() as usize
    }

    /// Width of a line address: tag and index.
    pub const fn line_bits(&self) -> usize {
        self.tag_bits as usize + self.index_bits()
    }

    /// Width of adjusted hits with their offset.
    pub const fn adjusted_bits(&self) -> usize {
        HIT_BITS + self.index_bits() - SET_BITS + 1
    }

    /// Number of sets in a group. One of them is sampled.
    pub const fn group_size(&self) -> u32 {
        self.sets / SAMPLED_SETS as u32
    }

    /// Returns the index of a set in the shadow tags, or `None` if the set is not sampled.
    pub fn sampled(&self, set: u64) -> Option<usize> {
        let group_size = u64::from(self.group_size());
        let (group, place) = (set / group_size, set % group_size);
        (group == place).then_some(group as usize)
    }
}
