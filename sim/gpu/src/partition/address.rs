//! The map from a line to its partition and slice, and to its address there.
use crate::config::{IndexFunction, L2};
use crate::dram::ADDRESS_BITS;
use selvedge_state::State;

/// Address bit within a partition that marks the second block that the partition gets from one round, if a round divides
/// unevenly. The bit is above all bank and row bits. Both blocks therefore share a location in DRAM, as in GPGPU-Sim; the DRAM
/// model holds no data.
const AGAIN_BIT: u32 = ADDRESS_BITS;

/// Spreads addresses over partitions in blocks by an index function of the block number. The block size is a power of two. Each
/// partition has its own dense address space. Only partitions that `a-prime` gives fewer blocks than others have unused rows.
#[derive(Clone, Copy, Debug, State)]
pub struct AddressMap {
    function: IndexFunction,
    partitions: u64,
    interleave_bits: u32,
    /// Blocks after which the function repeats.
    round: u64,
    /// Max blocks of a round that one partition gets.
    share: u64,
    /// Number of bits of a partition's address that select the slice, and the position of the lowest of these bits.
    slice_bits: u32,
    slice_shift: u32,
}

impl AddressMap {
    /// Returns the map for the partitions of `l2`.
    pub fn new(l2: &L2) -> Self {
        debug_assert!(l2.partitions > 0 && l2.interleave_bytes.is_power_of_two());
        let partitions = u64::from(l2.partitions);
        // A round is a prime number of blocks for the prime moduli, and the next power of two for the polynomial. For all other
        // functions it is one block per partition.
        let round = match l2.partition_index {
            IndexFunction::IPoly => partitions.next_power_of_two(),
            function => function.prime(l2.partitions).map_or(partitions, u64::from),
        };
        Self {
            function: l2.partition_index,
            partitions,
            interleave_bits: l2.interleave_bytes.trailing_zeros(),
            round,
            share: round.div_ceil(partitions),
            slice_bits: l2.slices.trailing_zeros(),
            slice_shift: l2.slice_bytes.trailing_zeros(),
        }
    }

    /// Returns the slice of byte `address`, numbered over all partitions. The number is also the slice's port.
    #[inline]
    pub fn slice(&self, address: u64) -> u16 {
        let partition = self.partition(address);
        match self.slice_bits {
            0 => partition,
            bits => partition << bits | self.slice_of_local(self.local(address)),
        }
    }

    /// Returns the number of blocks after which the partitions repeat.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Returns the name of a slice in messages.
    pub fn slice_name(&self, slice: u16) -> String {
        let partition = slice >> self.slice_bits;
        match self.slice_bits {
            0 => format!("L2 partition {partition}"),
            bits => format!("L2 partition {partition}, slice {}", slice & ((1 << bits) - 1)),
        }
    }

    /// Returns the slice, numbered within its partition, of byte `local` of the partition.
    fn slice_of_local(&self, local: u64) -> u16 {
        (local >> self.slice_shift & ((1 << self.slice_bits) - 1)) as u16
    }

    /// Returns the address of byte `address` within its slice: its address within the partition without the slice's bits.
    pub fn slice_local(&self, address: u64) -> u64 {
        let local = self.local(address);
        let low = local & ((1 << self.slice_shift) - 1);
        local >> (self.slice_shift + self.slice_bits) << self.slice_shift | low
    }

    /// Returns the address of byte `local` of slice `slice`, as the inverse of [`Self::slice`] and [`Self::slice_local`].
    pub fn slice_global(&self, slice: u16, local: u64) -> u64 {
        let number = u64::from(slice) & ((1 << self.slice_bits) - 1);
        let low = local & ((1 << self.slice_shift) - 1);
        let above = (local >> self.slice_shift << self.slice_bits | number) << self.slice_shift;
        self.global(slice >> self.slice_bits, above | low)
    }

    /// Returns the partition of byte `address`.
    pub fn partition(&self, address: u64) -> u16 {
        self.partition_of_block(address >> self.interleave_bits)
    }

    fn partition_of_block(&self, block: u64) -> u16 {
        match self.function {
            IndexFunction::Bmod => (block % self.partitions) as u16,
            // Takes the modulo here, since `index` would truncate the block number to 32 bits, in general within a round.
            IndexFunction::Pmod | IndexFunction::APrime { .. } => {
                (block % self.round % self.partitions) as u16
            }
            // If the number of partitions is not a power of two, indices past the last partition wrap around, as in GPGPU-Sim.
            IndexFunction::IPoly if self.share > 1 => (self.poly_place(block) % self.partitions) as u16,
            function => function.index(block as u32, self.partitions as u32) as u16,
        }
    }

    /// Returns the position of [`AGAIN_BIT`] in a block number.
    fn again_bit(&self) -> u32 {
        AGAIN_BIT - self.interleave_bits
    }

    /// Returns the index of a block within its round by the polynomial.
    fn poly_place(&self, block: u64) -> u64 {
        u64::from(self.function.index(block as u32, self.round as u32))
    }

    /// Returns the address of byte `address` within its partition.
    #[inline]
    pub fn local(&self, address: u64) -> u64 {
        let block = address >> self.interleave_bits;
        let local = if self.share == 1 { block / self.round } else { self.uneven_local(block) };
        local << self.interleave_bits | self.offset(address)
    }

    /// Returns the number of a block within its partition, if some partitions get more blocks of a round than others.
    #[cold]
    fn uneven_local(&self, block: u64) -> u64 {
        match self.function {
            IndexFunction::IPoly => {
                (block / self.round) | ((self.poly_place(block) / self.partitions) << self.again_bit())
            }
            _ => block / self.round * self.share + block % self.round / self.partitions,
        }
    }

    /// Returns the address of byte `local` of `partition`, as the inverse of [`Self::partition`] and [`Self::local`].
    pub fn global(&self, partition: u16, local: u64) -> u64 {
        let at = local >> self.interleave_bits;
        if self.share > 1 && self.function == IndexFunction::IPoly {
            let first = (at & ((1 << self.again_bit()) - 1)) * self.round;
            let place = (at >> self.again_bit()) * self.partitions + u64::from(partition);
            let block = first + (place ^ self.poly_place(first));
            return block << self.interleave_bits | self.offset(local);
        }
        let first = at / self.share * self.round;
        let place = at % self.share * self.partitions + u64::from(partition);
        let block = match self.function {
            IndexFunction::Bmod
            | IndexFunction::Pmod
            | IndexFunction::APrime { .. }
            // Fermi's hash indexes the sets of a cache. No configuration uses it for partitions.
            | IndexFunction::Fermi => first + place,
            // `d-prime` adds the displacement of the round to the block's position; the functions below XOR the two.
            IndexFunction::DPrime { .. } => {
                let shift = u64::from(self.partition_of_block(first));
                first + place.wrapping_sub(shift) % self.partitions
            }
            IndexFunction::Bxor | IndexFunction::IPoly => {
                first + (place ^ u64::from(self.partition_of_block(first)))
            }
        };
        block << self.interleave_bits | self.offset(local)
    }

    fn offset(&self, address: u64) -> u64 {
        address & ((1 << self.interleave_bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GpuConfig;
    use proptest::prelude::*;

    const HASHES: [IndexFunction; 6] = [
        IndexFunction::Bxor,
        IndexFunction::Pmod,
        IndexFunction::APrime { mersenne: false },
        IndexFunction::APrime { mersenne: true },
        IndexFunction::DPrime { prime: 11 },
        IndexFunction::IPoly,
    ];

    fn map(function: IndexFunction, partitions: u32, interleave_bytes: u32) -> AddressMap {
        let mut l2 = GpuConfig::load("gtx480").expect("built in").l2;
        (l2.partition_index, l2.partitions, l2.interleave_bytes) = (function, partitions, interleave_bytes);
        AddressMap::new(&l2)
    }

    #[test]
    fn blocks_go_round_the_partitions() {
        let map = map(IndexFunction::Bmod, 6, 256);
        let places: Vec<_> = (0..8).map(|n| (map.partition(n * 256), map.local(n * 256 + 3))).collect();
        let first = [(0, 3), (1, 3), (2, 3), (3, 3), (4, 3), (5, 3), (0, 259), (1, 259)];
        assert_eq!(places, first);
    }

    #[test]
    fn blocks_go_round_the_slices_of_a_partition() {
        let mut l2 = GpuConfig::load("gtx480").expect("built in").l2;
        l2.slices = 2;
        let map = AddressMap::new(&l2);
        let places: Vec<_> =
            [0, 1, 6, 7, 12].map(|n| (map.slice(n * 256), map.slice_local(n * 256 + 3))).into();
        // Partition 0 has blocks 0, 6 and 12 in its first, second and first slice.
        assert_eq!(places, [(0, 3), (2, 3), (1, 3), (3, 3), (0, 259)]);
    }

    #[test]
    fn a_stride_of_all_partitions_camps_on_one_only_under_the_modulo() {
        let used = |function| {
            let map = map(function, 16, 256);
            let mut partitions: Vec<_> = (0..16).map(|n| map.partition(n * 16 * 256)).collect();
            partitions.sort_unstable();
            partitions.dedup();
            partitions.len()
        };
        assert_eq!(used(IndexFunction::Bmod), 1);
        assert!(HASHES.iter().all(|f| used(*f) >= 8));
    }

    proptest! {
        #[test]
        fn addresses_map_back(partitions in 1u32..65, bits in 7u32..13, address in 0u64..1 << 45) {
            let map = map(IndexFunction::Bmod, partitions, 1 << bits);
            let (partition, local) = (map.partition(address), map.local(address));
            prop_assert!(u32::from(partition) < partitions);
            prop_assert_eq!(map.global(partition, local), address);
            prop_assert!(local <= address);
        }

        #[test]
        fn addresses_of_slices_map_back(
            (partitions, slices) in (1u32..65, 0u32..4),
            (bits, slice_bits) in (7u32..13, 7u32..13),
            address in 0u64..1 << 45,
        ) {
            let mut l2 = GpuConfig::load("gtx480").expect("built in").l2;
            (l2.partitions, l2.slices) = (partitions, 1 << slices);
            (l2.interleave_bytes, l2.slice_bytes) = (1 << bits, 1 << slice_bits);
            let map = AddressMap::new(&l2);
            let (slice, local) = (map.slice(address), map.slice_local(address));
            prop_assert_eq!(slice >> slices, map.partition(address));
            prop_assert_eq!(map.slice_global(slice, local), address);
            prop_assert!(local <= map.local(address));
        }

        #[test]
        fn hashed_addresses_map_back(partitions in 4u32..7, bits in 7u32..13, address in 0u64..1 << 45) {
            for function in HASHES {
                let map = map(function, 1 << partitions, 1 << bits);
                let (partition, local) = (map.partition(address), map.local(address));
                prop_assert!(u32::from(partition) < 1 << partitions);
                prop_assert_eq!(map.global(partition, local), address, "{:?}", function);
            }
        }

        /// Uses numbers of partitions that do not divide the polynomial's round evenly.
        #[test]
        fn addresses_of_uneven_partitions_map_back(partitions in 9u32..65, bits in 7u32..13, address in 0u64..1 << 40) {
            let map = map(IndexFunction::IPoly, partitions, 1 << bits);
            let (partition, local) = (map.partition(address), map.local(address));
            prop_assert!(u32::from(partition) < partitions);
            prop_assert_eq!(map.global(partition, local), address);
        }

        #[test]
        fn partitions_are_those_that_the_hardware_computes(block in 0u32..) {
            for function in HASHES {
                let expected = function.index(block, 16) as u16;
                prop_assert_eq!(map(function, 16, 256).partition(u64::from(block) * 256), expected);
            }
        }
    }
}
