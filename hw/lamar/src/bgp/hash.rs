//! Hash functions of the BGP, as the golden model computes them. The masks configure both model and RTL.
//!
//! All are linear over the field of two elements, of the class H3 (Ramakrishna, Fu and Bahcekapili, LAMAR's reference 39): each
//! bit is the exclusive-or of some address bits.

/// Number of hash functions (LAMAR, table 1).
pub const HASHES: usize = 6;

/// Banks of a bitarray. The hashes of an address go to [`HASHES`] different banks.
pub const BANKS: usize = 8;

/// Bits of the number of a bank.
pub(super) const BANK_BITS: usize = BANKS.ilog2() as usize;

/// Maximum width of an index into a bank. Arrays of 4,096 bits use all of it, arrays of 2,048 bits all but the last bit.
pub(super) const MOST_INDEX_BITS: usize = 9;

/// Masks of address bits for each hash and each bit of its index into a bank, lowest bit first. The index bit is the exclusive-or
/// of the masked address bits.
///
/// A random search among sets of five bits found them. It minimized the false positives of the worst family of addresses:
/// consecutive, strided, tiles of a matrix, one memory partition, one parity, random. The tests measure them.
pub const TAPS: [[u32; MOST_INDEX_BITS]; HASHES] = [
    [
        0x1500_2002,
        0x0001_1091,
        0x0800_7001,
        0x0080_0e40,
        0x800e_0040,
        0x8908_2000,
        0x2000_8403,
        0x2400_4120,
        0x2c20_0010,
    ],
    [
        0x2010_1900,
        0x0009_0822,
        0x0b00_0402,
        0x4050_2040,
        0x0034_0140,
        0x0008_0720,
        0x0108_0068,
        0x2024_0003,
        0x0020_5081,
    ],
    [
        0x0408_a100,
        0x0104_0019,
        0x0800_2031,
        0x0004_2a10,
        0x2003_0084,
        0x9404_0040,
        0xa080_4100,
        0x2820_4020,
        0x4004_3010,
    ],
    [
        0x1840_8004,
        0x0466_0000,
        0x0207_1000,
        0x0c08_8400,
        0x2128_8000,
        0x0200_8013,
        0x1a00_4400,
        0x0081_2110,
        0x0809_4008,
    ],
    [
        0x0042_8210,
        0x0040_9006,
        0x0809_4040,
        0x0018_a004,
        0x0800_2441,
        0x2040_0980,
        0x0c10_4400,
        0x0941_0010,
        0x2018_8002,
    ],
    [
        0x0201_c001,
        0x3080_0420,
        0x2010_00c8,
        0x8000_8c80,
        0x1850_0020,
        0x0005_2300,
        0x1002_2042,
        0x8004_0058,
        0x2810_6000,
    ],
];

/// Masks of address bits for each bit of the skew, which is their exclusive-or. Hash `h` goes to bank `h ^ skew`.
///
/// Without the skew, each hash would have its own bank. Banks are small: 512 consecutive addresses, which a linear hash spreads
/// perfectly, would fill all of them, and every query would hit.
pub const SKEW_TAPS: [u32; BANK_BITS] = [0x0002_0226, 0x4300_1004, 0x8820_0180];

/// Width of all hashes of an address: [`MOST_INDEX_BITS`] for each index, then the skew.
const HASHED_BITS: usize = HASHES * MOST_INDEX_BITS + BANK_BITS;

/// Hashes of an address that has one nonzero byte, indexed by the byte's position and its value.
static HASHED: [[u64; 256]; 4] = hashed();

const fn hashed() -> [[u64; 256]; 4] {
    let mut table = [[0; 256]; 4];
    let mut at = 0;
    while at < 4 * 256 {
        let (byte, value) = (at / 256, at % 256);
        let address = (value as u32) << (8 * byte);
        let mut bit = 0;
        while bit < HASHED_BITS {
            let taps = match bit / MOST_INDEX_BITS {
                HASHES => SKEW_TAPS[bit % MOST_INDEX_BITS],
                hash => TAPS[hash][bit % MOST_INDEX_BITS],
            };
            table[byte][value] |= (((address & taps).count_ones() & 1) as u64) << bit;
            bit += 1;
        }
        at += 1;
    }
    table
}

/// Returns the six indices of an address into an array whose banks have `bits` index bits. The bank number is above the index
/// into the bank.
pub(super) fn indices(address: u32, bits: u32) -> [usize; HASHES] {
    let bytes = address.to_le_bytes().into_iter().zip(&HASHED);
    let hashed = bytes.fold(0, |hashed, (byte, table)| hashed ^ table[usize::from(byte)]) as usize;
    let skew = hashed >> (HASHES * MOST_INDEX_BITS);
    std::array::from_fn(|hash| {
        let index = (hashed >> (hash * MOST_INDEX_BITS)) & ((1 << bits) - 1);
        ((hash ^ skew) << bits) | index
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_hw::prng::Prng;
    use std::collections::BTreeSet;

    /// Widths of an index into a bank, for arrays of 2,048 and of 4,096 bits.
    const INDEX_BITS: [u32; 2] = [8, 9];

    /// Returns the rank, over the field of two elements, of the given hashes together with the skew.
    fn rank(hashes: &[usize], bits: u32) -> usize {
        let taps = hashes.iter().flat_map(|hash| &TAPS[*hash][..bits as usize]).chain(&SKEW_TAPS);
        let mut basis: Vec<u32> = Vec::new();
        for taps in taps {
            let row = basis.iter().fold(*taps, |row, vector| row.min(row ^ vector));
            if row != 0 {
                basis.push(row);
            }
        }
        basis.len()
    }

    #[test]
    fn every_hash_reaches_every_bit_of_every_bank() {
        for bits in INDEX_BITS {
            for hash in 0..HASHES {
                assert_eq!(rank(&[hash], bits), bits as usize + BANK_BITS, "hash {hash}, {bits} bits");
            }
        }
    }

    #[test]
    fn two_hashes_share_the_skew_and_nothing_else() {
        for bits in INDEX_BITS {
            for (one, other) in (0..HASHES).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let expected = 2 * bits as usize + BANK_BITS;
                assert_eq!(rank(&[one, other], bits), expected, "hashes {one} and {other}, {bits} bits");
            }
        }
    }

    #[test]
    fn six_hashes_tell_any_two_addresses_apart() {
        for bits in INDEX_BITS {
            assert_eq!(rank(&[0, 1, 2, 3, 4, 5], bits), 32);
        }
    }

    #[test]
    fn the_hashes_of_an_address_go_to_different_banks() {
        let mut prng = Prng::new(1);
        for address in (0..1000).map(|_| prng.bits() as u32) {
            let banks: BTreeSet<usize> = indices(address, 8).iter().map(|index| index >> 8).collect();
            assert_eq!(banks.len(), HASHES, "{address:#x}");
        }
    }

    /// Name of an address family and its function from a base and n to the n-th address.
    type Family = (&'static str, fn(u32, u32) -> u32);

    /// Moves an address to partition 0 of `1 << bits` memory partitions. The exclusive-or of all groups of `bits` address bits
    /// selects the partition.
    fn in_partition_0(upper: u32, bits: u32) -> u32 {
        let fold =
            (0..32).step_by(bits as usize).fold(0, |fold, at| fold ^ (upper >> at)) & ((1 << bits) - 1);
        (upper << bits) | fold
    }

    const FAMILIES: [Family; 22] = [
        ("consecutive", |base, n| base.wrapping_add(n)),
        ("every 2nd", |base, n| base.wrapping_add(2 * n)),
        ("every 4th", |base, n| base.wrapping_add(4 * n)),
        ("every 8th", |base, n| base.wrapping_add(8 * n)),
        ("every 16th", |base, n| base.wrapping_add(16 * n)),
        ("every 32nd", |base, n| base.wrapping_add(32 * n)),
        ("every 64th", |base, n| base.wrapping_add(64 * n)),
        ("every 256th", |base, n| base.wrapping_add(256 * n)),
        ("every 1024th", |base, n| base.wrapping_add(1024 * n)),
        ("every 3rd", |base, n| base.wrapping_add(3 * n)),
        ("every 7th", |base, n| base.wrapping_add(7 * n)),
        ("every 15th", |base, n| base.wrapping_add(15 * n)),
        ("every 17th", |base, n| base.wrapping_add(17 * n)),
        ("every 100th", |base, n| base.wrapping_add(100 * n)),
        ("tiles of rows of 32", |base, n| base.wrapping_add(n % 16 + n / 16 * 32)),
        ("tiles of rows of 100", |base, n| base.wrapping_add(n % 16 + n / 16 * 100)),
        ("partition 0 of 2", |base, n| in_partition_0((base >> 1).wrapping_add(n), 1)),
        ("partition 0 of 4", |base, n| in_partition_0((base >> 2).wrapping_add(n), 2)),
        ("partition 0 of 8", |base, n| in_partition_0((base >> 3).wrapping_add(n), 3)),
        ("partition 0 of 16", |base, n| in_partition_0((base >> 4).wrapping_add(n), 4)),
        ("random", |base, n| random(base, n)),
        ("random, of one parity", |base, n| {
            let address = random(base, n);
            address ^ (address.count_ones() & 1)
        }),
    ];

    fn random(base: u32, n: u32) -> u32 {
        Prng::new((u64::from(base) << 32) | u64::from(n)).bits() as u32
    }

    /// Returns the false-positive rate, averaged over 16 bases, in an array of `1 << (bits + BANK_BITS)` bits. The array holds
    /// the first `inserted` addresses of a family; the queries are the addresses that follow them.
    fn false_positives(family: Family, inserted: u32, bits: u32) -> f64 {
        let mut prng = Prng::new(0xb10f);
        let (mut hits, mut queries) = (0u32, 0u32);
        for base in (0..16).map(|_| prng.below(1 << 24) as u32) {
            let mut array = vec![false; BANKS << bits];
            let elements: BTreeSet<u32> = (0..inserted).map(|n| family.1(base, n)).collect();
            elements.iter().flat_map(|address| indices(*address, bits)).for_each(|index| array[index] = true);
            let others = (inserted..3 * inserted).map(|n| family.1(base, n));
            for address in others.filter(|address| !elements.contains(address)) {
                hits += u32::from(indices(address, bits).iter().all(|index| array[*index]));
                queries += 1;
            }
        }
        f64::from(hits) / f64::from(queries)
    }

    /// Returns the false-positive rate of six independent random hashes into an array of `array` bits.
    fn ideal(inserted: u32, array: u32) -> f64 {
        let untouched = (1.0 - 1.0 / f64::from(array)).powi(HASHES as i32 * inserted as i32);
        (1.0 - untouched).powi(HASHES as i32)
    }

    #[test]
    fn no_family_of_addresses_has_many_more_false_positives_than_ideal_hashes_have() {
        for (bits, period) in [(8, 512), (8, 1024), (9, 512), (9, 1024)] {
            for inserted in [period / 2, period] {
                let ideal = ideal(inserted, 1 << (bits + BANK_BITS as u32));
                for family in FAMILIES {
                    let measured = false_positives(family, inserted, bits);
                    let excess = measured - ideal;
                    assert!(
                        excess <= 0.01,
                        "{}, {inserted} insertions, {bits} index bits: {measured:.3}, ideal {ideal:.3}",
                        family.0
                    );
                }
            }
        }
    }

    #[test]
    fn random_addresses_have_as_many_false_positives_as_with_ideal_hashes() {
        let random = FAMILIES.into_iter().find(|family| family.0 == "random").unwrap();
        let measured = false_positives(random, 512, 8);
        assert!((measured - ideal(512, 2048)).abs() < 0.02, "{measured:.3}");
    }
}
