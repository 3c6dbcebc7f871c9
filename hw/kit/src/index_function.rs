//! The six index functions of caches in plain arithmetic (Dai, section 3.4.1). The blocks' golden models and the simulated
//! caches use them.

use selvedge_state::State;

/// Base-2 logarithm of the min number of sets in the tables of primes and polynomials.
const LEAST_BITS: u32 = 4;

/// Largest primes below 16, 32, ... 1024 sets.
const PRIME_BELOW: [u32; 7] = [13, 31, 61, 127, 251, 509, 1021];

/// Smallest primes above 16, 32, ... 1024 sets.
const PRIME_ABOVE: [u32; 7] = [17, 37, 67, 131, 257, 521, 1031];

/// Smallest Mersenne primes above 16, 32, ... 1024 sets.
const MERSENNE_ABOVE: [u32; 7] = [31, 127, 127, 8191, 8191, 8191, 8191];

/// Irreducible polynomials over the field of two elements of degree 4, 5, ... 10, bit i for x^i.
const POLYNOMIAL: [u32; 7] = [0x13, 0x25, 0x43, 0x83, 0x11b, 0x203, 0x409];

/// A function from line addresses to the sets of a cache or to memory partitions. The number of sets is a power of two,
/// 16 to 1024.
///
/// ```
/// use selvedge_hw::index_function::IndexFunction;
/// // Lines 32 apart all fall on one of 32 sets, unless the tag takes part.
/// let sets = |function: IndexFunction| (0..4).map(|i| function.index(32 * i, 32)).collect::<Vec<_>>();
/// assert_eq!(sets(IndexFunction::Bmod), [0, 0, 0, 0]);
/// assert_eq!(sets(IndexFunction::Bxor), [0, 1, 2, 3]);
/// assert_eq!(sets(IndexFunction::Pmod), [0, 1, 2, 3]);
/// assert_eq!(sets(IndexFunction::IPoly), [0, 5, 10, 15]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, State)]
pub enum IndexFunction {
    /// The line address modulo the number of sets.
    Bmod,
    /// The index of `Bmod`, XORed with the same number of address bits above it.
    Bxor,
    /// The line address modulo the largest prime below the number of sets.
    Pmod,
    /// The line address modulo a prime above the number of sets, and then modulo the number of sets.
    APrime {
        /// `true` for the smallest Mersenne prime above the number of sets, `false` for the smallest prime.
        mersenne: bool,
    },
    /// A prime times the tag, plus the line address, modulo the number of sets.
    DPrime {
        /// The prime. Every odd number spreads tags over all sets.
        prime: u32,
    },
    /// The line address modulo an irreducible polynomial over the field of two elements.
    IPoly,
    /// The measured hash of Fermi's L1D (Nugteren et al., HPCA 2014), for 32 or 64 sets and lines of 128 bytes. The index is
    /// five bits of the line address, XORed with address bits 13, 14, 15, 17 and 19. With 64 sets, address bit 12 is its
    /// highest bit.
    Fermi,
}

impl IndexFunction {
    /// Returns the set of a line.
    ///
    /// # Panics
    /// If `sets` is not a power of two from 16 to 1024.
    #[inline]
    pub fn index(self, line: u32, sets: u32) -> u32 {
        let bits = index_bits(sets);
        match self {
            IndexFunction::Bmod => line & (sets - 1),
            IndexFunction::Bxor => (line ^ (line >> bits)) & (sets - 1),
            IndexFunction::Pmod => line % prime_below(sets),
            IndexFunction::APrime { mersenne } => (line % prime_above(sets, mersenne)) & (sets - 1),
            IndexFunction::DPrime { prime } => {
                (line >> bits).wrapping_mul(prime).wrapping_add(line) & (sets - 1)
            }
            IndexFunction::IPoly => polynomial_residue(line, bits),
            IndexFunction::Fermi => fermi(line) & (sets - 1),
        }
    }

    /// Returns the prime modulus, if the function has one.
    pub fn prime(self, sets: u32) -> Option<u32> {
        match self {
            IndexFunction::Pmod => Some(prime_below(sets)),
            IndexFunction::APrime { mersenne } => Some(prime_above(sets, mersenne)),
            _ => None,
        }
    }

    /// Returns the highest set that any line maps to. All functions except the prime modulo use every set.
    pub fn highest(self, sets: u32) -> u32 {
        match self {
            IndexFunction::Pmod => prime_below(sets) - 1,
            _ => sets - 1,
        }
    }
}

/// Returns Fermi's hash for 64 sets. The hash for 32 sets lacks its highest bit.
fn fermi(line: u32) -> u32 {
    let hash = line & 0x1f ^ line >> 6 & 7 ^ line >> 7 & 8 ^ line >> 8 & 0x10;
    hash | line & 0x20
}

/// Returns the number of bits of an index.
const fn index_bits(sets: u32) -> u32 {
    assert!(
        sets.is_power_of_two() && 16 <= sets && sets <= 1024,
        "the number of sets must be a power of two, 16 to 1024"
    );
    sets.ilog2()
}

/// Returns the largest prime below the number of sets.
pub const fn prime_below(sets: u32) -> u32 {
    PRIME_BELOW[(index_bits(sets) - LEAST_BITS) as usize]
}

/// Returns the smallest prime, or Mersenne prime, above the number of sets.
pub const fn prime_above(sets: u32, mersenne: bool) -> u32 {
    let table = if mersenne { &MERSENNE_ABOVE } else { &PRIME_ABOVE };
    table[(index_bits(sets) - LEAST_BITS) as usize]
}

/// Returns the irreducible polynomial whose degree is the width of an index.
pub fn polynomial(sets: u32) -> u32 {
    POLYNOMIAL[(index_bits(sets) - LEAST_BITS) as usize]
}

/// Returns x^i modulo a polynomial.
pub const fn power_residue(i: u32, polynomial: u32) -> u32 {
    let degree = polynomial.ilog2();
    let (mut residue, mut turn) = (1, 0);
    while turn < i {
        residue <<= 1;
        if residue >> degree != 0 {
            residue ^= polynomial;
        }
        turn += 1;
    }
    residue
}

/// Residues by polynomial, by byte of the address and by value of that byte.
static RESIDUES: [[[u16; 256]; 4]; POLYNOMIAL.len()] = residues();

const fn residues() -> [[[u16; 256]; 4]; POLYNOMIAL.len()] {
    let mut table = [[[0; 256]; 4]; POLYNOMIAL.len()];
    let mut which = 0;
    while which < POLYNOMIAL.len() {
        let mut bit = 0;
        while bit < 32 {
            let residue = power_residue(bit, POLYNOMIAL[which]) as u16;
            let mut value = 0;
            while value < 256 {
                if (value >> (bit % 8)) & 1 != 0 {
                    table[which][(bit / 8) as usize][value] ^= residue;
                }
                value += 1;
            }
            bit += 1;
        }
        which += 1;
    }
    table
}

#[inline]
fn polynomial_residue(line: u32, bits: u32) -> u32 {
    let table = &RESIDUES[(bits - LEAST_BITS) as usize];
    let share = |byte: usize| table[byte][((line >> (8 * byte)) & 0xff) as usize];
    u32::from(share(0) ^ share(1) ^ share(2) ^ share(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETS: [u32; 7] = [16, 32, 64, 128, 256, 512, 1024];

    fn is_prime(number: u32) -> bool {
        number > 1
            && (2..number)
                .take_while(|factor| factor * factor <= number)
                .all(|factor| !number.is_multiple_of(factor))
    }

    /// Returns the remainder of a division of polynomials over the field of two elements.
    fn remainder(mut dividend: u64, divisor: u64) -> u64 {
        while dividend != 0 && dividend.ilog2() >= divisor.ilog2() {
            dividend ^= divisor << (dividend.ilog2() - divisor.ilog2());
        }
        dividend
    }

    #[test]
    fn fermis_hash_takes_the_address_bits_that_were_measured() {
        let set = |address: u32, sets| IndexFunction::Fermi.index(address >> 7, sets);
        for (bit, place) in [(7, 0), (11, 4), (13, 0), (14, 1), (15, 2), (17, 3), (19, 4)] {
            assert_eq!([32, 64].map(|sets| set(1 << bit, sets)), [1 << place; 2], "bit {bit}");
        }
        assert_eq!([32, 64].map(|sets| set(1 << 12, sets)), [0, 32]);
        assert!([16, 18, 20, 31].iter().all(|bit| set(1 << bit, 64) == 0));
    }

    #[test]
    fn primes_are_the_nearest_ones() {
        for sets in SETS {
            assert_eq!((2..sets).rev().find(|n| is_prime(*n)), Some(prime_below(sets)));
            assert_eq!((sets + 1..).find(|n| is_prime(*n)), Some(prime_above(sets, false)));
            let mersenne = (sets + 1..).find(|n| (n + 1).is_power_of_two() && is_prime(*n));
            assert_eq!(mersenne, Some(prime_above(sets, true)));
        }
    }

    #[test]
    fn polynomials_have_the_degree_of_the_index_and_no_divisor() {
        for sets in SETS {
            let polynomial = u64::from(polynomial(sets));
            assert_eq!(polynomial.ilog2(), sets.ilog2());
            let divisors = 2..1u64 << (polynomial.ilog2() / 2 + 1);
            assert_eq!(
                { divisors }.find(|divisor| remainder(polynomial, *divisor) == 0),
                None,
                "{polynomial:#x}"
            );
        }
    }

    #[test]
    fn the_tables_give_the_remainder_of_the_long_division() {
        for sets in SETS {
            let lines = (0..2000u32).chain((0..2000u32).map(|i| i.wrapping_mul(0x9e37_79b9)));
            for line in lines {
                let expected = remainder(u64::from(line), u64::from(polynomial(sets)));
                assert_eq!(
                    u64::from(IndexFunction::IPoly.index(line, sets)),
                    expected,
                    "{line:#x}, {sets} sets"
                );
            }
        }
    }

    #[test]
    fn indices_agree_with_the_formulas_worked_by_hand() {
        // 0b1011_00110_10101: x = 21, t = 6 for 32 sets.
        let line = 0b1011_00110_10101;
        assert_eq!(IndexFunction::Bmod.index(line, 32), 21);
        assert_eq!(IndexFunction::Bxor.index(line, 32), 21 ^ 6);
        assert_eq!(IndexFunction::DPrime { prime: 11 }.index(line, 32), (6 * 11 + 21) % 32);
        assert_eq!(IndexFunction::Pmod.index(line, 32), line % 31);
        assert_eq!(IndexFunction::APrime { mersenne: false }.index(line, 32), line % 37 % 32);
        assert_eq!(IndexFunction::APrime { mersenne: true }.index(line, 16), line % 31 % 16);
        // x^5 = x^2 + 1 modulo x^5 + x^2 + 1.
        assert_eq!(IndexFunction::IPoly.index(32, 32), 5);
    }
}
