//! Storage overhead of a mechanism in addition to its blocks.
use crate::config::GpuConfig;

/// Bits of an address.
const ADDRESS_BITS: u32 = 32;

/// Storage in addition to the blocks that a mechanism instantiates. Tags that it adds to the configuration are counted from
/// there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Bits per L1D tag in addition to address and valid bit, such as the encoding of a compressed line.
    pub l1d_tag_bits: u32,
    /// Bits per L2 tag in addition to address and valid bit.
    pub l2_tag_bits: u32,
    /// L2 tags per way; 0 counts as 1.
    pub l2_tags_per_way: u32,
}

impl Overhead {
    /// Returns the common overhead of two mechanisms that share the tags of a cache.
    pub fn and(self, other: Self) -> Self {
        Overhead {
            l1d_tag_bits: self.l1d_tag_bits.max(other.l1d_tag_bits),
            l2_tag_bits: self.l2_tag_bits.max(other.l2_tag_bits),
            l2_tags_per_way: self.l2_tags_per_way.max(other.l2_tags_per_way),
        }
    }

    /// Returns the bits of the tags of all L1Ds.
    pub fn all_l1d_tag_bits(&self, config: &GpuConfig) -> u64 {
        let l1d = &config.l1d;
        let address = ADDRESS_BITS - l1d.sets.ilog2() - l1d.line_bytes.ilog2();
        let tags = l1d.sets * l1d.ways * l1d.tags_per_way * config.sm.count;
        u64::from(tags) * u64::from(address + 1 + self.l1d_tag_bits)
    }

    /// Returns the bits of the tags of the whole L2.
    pub fn all_l2_tag_bits(&self, config: &GpuConfig) -> u64 {
        let l2 = &config.l2;
        let address = ADDRESS_BITS - l2.sets.ilog2() - l2.line_bytes.ilog2() - l2.all_slices().ilog2();
        let tags = l2.sets * l2.ways * l2.all_slices() * self.l2_tags_per_way.max(1);
        u64::from(tags) * u64::from(address + 1 + self.l2_tag_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_an_address_a_valid_bit_and_what_a_mechanism_adds() {
        let config = GpuConfig::load("gtx480").expect("built in");
        // 15 L1Ds with 128 lines of 128 bytes in 32 sets; 6 slices with 64 sets of 8 ways.
        let lines = 15 * 128;
        assert_eq!(Overhead::default().all_l1d_tag_bits(&config), lines * (32 - 5 - 7 + 1));
        let seven = Overhead { l1d_tag_bits: 7, ..Overhead::default() };
        assert_eq!(seven.all_l1d_tag_bits(&config), lines * (32 - 5 - 7 + 1 + 7));
        let ways = u64::from(config.l2.sets * config.l2.ways * 6);
        let address = 32 - u64::from(config.l2.sets.ilog2()) - 7 - 2;
        let two = Overhead { l2_tag_bits: 6, l2_tags_per_way: 2, ..Overhead::default() };
        assert_eq!(two.all_l2_tag_bits(&config), 2 * ways * (address + 1 + 6));
    }
}
