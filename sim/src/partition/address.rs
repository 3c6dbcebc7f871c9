//! Which partition a line belongs to, and where it lies there.

/// Spreads addresses over partitions in blocks of `interleave` bytes, modulo their number, which need not be a power
/// of two. Each partition sees a dense address space of its own: no row of its DRAM is left out.
#[derive(Clone, Copy, Debug)]
pub struct AddressMap {
    partitions: u64,
    interleave_bits: u32,
}

impl AddressMap {
    /// The map of `partitions` partitions; `interleave_bytes` is a power of two.
    pub fn new(partitions: u32, interleave_bytes: u32) -> Self {
        debug_assert!(partitions > 0 && interleave_bytes.is_power_of_two());
        Self { partitions: u64::from(partitions), interleave_bits: interleave_bytes.trailing_zeros() }
    }

    /// The partition of byte `address`.
    pub fn partition(&self, address: u64) -> u16 {
        ((address >> self.interleave_bits) % self.partitions) as u16
    }

    /// The address of byte `address` within its partition.
    pub fn local(&self, address: u64) -> u64 {
        let block = (address >> self.interleave_bits) / self.partitions;
        block << self.interleave_bits | self.offset(address)
    }

    /// The address of byte `local` of `partition`: the inverse of [`Self::partition`] and [`Self::local`].
    pub fn global(&self, partition: u16, local: u64) -> u64 {
        let block = (local >> self.interleave_bits) * self.partitions + u64::from(partition);
        block << self.interleave_bits | self.offset(local)
    }

    fn offset(&self, address: u64) -> u64 {
        address & ((1 << self.interleave_bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_go_round_the_partitions() {
        let map = AddressMap::new(6, 256);
        let places: Vec<_> = (0..8).map(|n| (map.partition(n * 256), map.local(n * 256 + 3))).collect();
        let first = [(0, 3), (1, 3), (2, 3), (3, 3), (4, 3), (5, 3), (0, 259), (1, 259)];
        assert_eq!(places, first);
    }

    proptest! {
        #[test]
        fn addresses_map_back(partitions in 1u32..33, bits in 7u32..13, address in 0u64..1 << 45) {
            let map = AddressMap::new(partitions, 1 << bits);
            let (partition, local) = (map.partition(address), map.local(address));
            prop_assert!(u32::from(partition) < partitions);
            prop_assert_eq!(map.global(partition, local), address);
            prop_assert!(local <= address);
        }
    }
}
