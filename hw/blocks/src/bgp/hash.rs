//! The six hashes of the BGP, as the golden model computes them and as both model and RTL are configured.

/// Number of hash functions (LAMAR, table 1).
pub const HASHES: usize = 6;

/// Bytes of a block address.
pub(super) const BYTES: usize = 4;

/// How far each hash rotates each byte of the address, lowest byte first, within an index of 11 or 12 bits.
///
/// Found by random search for independence, which the tests measure: every hash alone has full rank over the field of two
/// elements, every two hashes one less than twice that (all share the address's parity), and all six together rank 32.
pub const ROTATION: [[u32; BYTES]; HASHES] =
    [[2, 7, 5, 4], [7, 5, 0, 0], [1, 2, 10, 10], [6, 6, 2, 10], [0, 4, 8, 3], [10, 7, 4, 8]];

/// Rotates the low `bits` bits of a value left; `by` is less than `bits`.
fn rotate(value: u32, by: u32, bits: u32) -> u32 {
    ((value << by) | (value >> (bits - by))) & ((1 << bits) - 1)
}

/// The six indices, each of `bits` bits (at least 11), of a block address.
pub(super) fn indices(address: u32, bits: u32) -> [usize; HASHES] {
    ROTATION.map(|rotation| {
        let bytes = address.to_le_bytes().into_iter().zip(rotation);
        bytes.fold(0, |index, (byte, by)| index ^ rotate(u32::from(byte), by, bits)) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rank over the field of two elements of some of the hashes taken together.
    fn rank(hashes: &[usize], bits: u32) -> usize {
        let mut basis: Vec<u128> = Vec::new();
        for bit in 0..32 {
            let all = indices(1 << bit, bits);
            let mut row = hashes.iter().fold(0u128, |row, hash| (row << bits) | all[*hash] as u128);
            for vector in &basis {
                row = row.min(row ^ vector);
            }
            if row != 0 {
                basis.push(row);
            }
        }
        basis.len()
    }

    #[test]
    fn every_hash_reaches_every_index() {
        for bits in [11, 12] {
            for hash in 0..HASHES {
                assert_eq!(rank(&[hash], bits), bits as usize, "hash {hash}, {bits} bits");
            }
        }
    }

    #[test]
    fn two_hashes_share_the_parity_and_nothing_else() {
        for bits in [11, 12] {
            for (one, other) in (0..HASHES).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let expected = 2 * bits as usize - 1;
                assert_eq!(rank(&[one, other], bits), expected, "hashes {one} and {other}, {bits} bits");
            }
        }
    }

    #[test]
    fn six_hashes_tell_any_two_addresses_apart() {
        for bits in [11, 12] {
            assert_eq!(rank(&[0, 1, 2, 3, 4, 5], bits), 32);
        }
    }
}
