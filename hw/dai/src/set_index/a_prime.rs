//! A_Prime, prime modulo mapping that uses every set: the line address modulo a prime above the number of sets, then modulo
//! the number of sets.
//!
//! Source: Dai, section 3.4.1: Index = (A mod p) mod 2^k, where p is the smallest prime above the number of sets.
//!
//! ```text
//! line_i --> [fold] --> [fold] --> [subtract 2p?] --> [subtract p?] --> low k bits --> register --> index_o
//! ```
//!
//! The index depends on every bit of the address. The residues from 2^k on map to the first p - 2^k sets, which are used twice as
//! often as the others. The residue is computed as for [PMOD](super::pmod).
//!
//! The source contradicts itself. By section 3.4.1, the prime for 16 sets would be 17. Section 3.7 uses p = 31 for the 16
//! partitions, a Mersenne prime, whose folds are plain sums. Both are implemented: `mersenne` selects the smallest Mersenne prime
//! above the number of sets. With 31, 15 of the 16 partitions are used twice as often as the last one. For cache sets, the
//! Mersenne primes are so large that they defeat the purpose. Modulo 2^m - 1, the stride 2^k is a rotation of m bits, and 2^k
//! lines at that stride map to only 2^(2k - m) sets (8 of 16, 8 of 32, 32 of 64, 2 of 128).
//!
//! | sets | prime | Mersenne prime |
//! |---|---|---|
//! | 16, 32, 64, 128 | 17, 37, 67, 131 | 31, 127, 127, 8191 |
//! | 256, 512, 1024 (function only) | 257, 521, 1031 | 8191 |
//!
//! | parameter | default | allowed | meaning |
//! |---|---|---|---|
//! | `sets` | 32 | 16, 32, 64, 128 | cache sets or memory partitions: 2^k |
//! | `mersenne` | false | true, false | the prime is the smallest Mersenne prime above the number of sets |
//!
//! The [family](super) shares ports, timing and storage.

use super::prime::{PrimeModulo, Widths, prime_top};
use super::top::set_index_top;
use super::{IndexFunction, SETS, SetHash, SetIndexBlock, set_index_ports};
use selvedge_hw::block_params;
use selvedge_hw::index_function::prime_above;
use selvedge_hw::params::{Allowed, ParamSpec};
use selvedge_hw::rtl::prelude::*;

block_params! {
    /// Parameters of A_Prime.
    pub struct APrimeParams {
        /// cache sets or memory partitions
        sets: u32 = 32, SETS;
        /// uses the smallest Mersenne prime above the number of sets
        mersenne: bool = false, Allowed::Switch;
    }
}

set_index_ports!(APrimeParams, APrimeIn, APrimeOut);

/// The block; see the [module](self).
pub type SetIndexAPrime = SetIndexBlock<APrime>;

/// The prime modulo mapping that uses every set.
pub struct APrime;

impl SetHash for APrime {
    const NAME: &'static str = "set_index_a_prime";
    const SUMMARY: &'static str =
        "maps a line to a set by its address modulo a prime above the number of sets, cut to the index";
    const MODULE: &'static str = concat!(include_str!("a_prime.rs"), include_str!("mod.rs"));
    const PARAMS: &'static [ParamSpec] = APrimeParams::SPECS;
    type Params = APrimeParams;
    type In = APrimeIn;
    type Out = APrimeOut;

    fn sets(params: &APrimeParams) -> u32 {
        params.sets
    }
    fn function(params: &APrimeParams) -> IndexFunction {
        IndexFunction::APrime { mersenne: params.mersenne }
    }
    elaborate! {
        fn rtl(params: &APrimeParams as PARAMS) -> Box<dyn RtlBlock<APrimeIn, APrimeOut>> {
            for sets in [16, 32, 64, 128] {
                for mersenne in [false, true] {
                    APrimeTop {
                        CHUNK0 = widths(&PARAMS).chunk0,
                        COUNT0 = widths(&PARAMS).count0,
                        PADDED0 = widths(&PARAMS).padded0,
                        SUM0 = widths(&PARAMS).sum0,
                        CHUNK1 = widths(&PARAMS).chunk1,
                        COUNT1 = widths(&PARAMS).count1,
                        PADDED1 = widths(&PARAMS).padded1,
                        SUM1 = widths(&PARAMS).sum1,
                        CHUNK2 = widths(&PARAMS).chunk2,
                        COUNT2 = widths(&PARAMS).count2,
                        PADDED2 = widths(&PARAMS).padded2,
                        SUM2 = widths(&PARAMS).sum2,
                        STEPS = widths(&PARAMS).steps,
                        BITS = widths(&PARAMS).bits,
                        K = PARAMS.sets.ilog2() as usize,
                    }
                }
            }
        }
    }
}

/// Returns the widths of the RTL's generics.
const fn widths(params: &APrimeParams) -> Widths {
    Widths::of(prime_above(params.sets, params.mersenne))
}

prime_top! {
    /// Maps a line to a set by its address modulo a prime above the number of sets, reduced to the index width.
    ///
    /// Dai, section 3.4.1, A_Prime. K is the width of an index; the other parameters are the widths of the modulo.
    APrimeTop, APrimeIn => APrimeOut, new(p: &APrimeParams) for prime_above(p.sets, p.mersenne)
}
