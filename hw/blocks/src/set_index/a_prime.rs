//! A_Prime, prime modulo mapping that uses every set: the line address modulo a prime above the number of sets, then modulo
//! the number of sets.
//!
//! Source: Dai, section 3.4.1: Index = (A mod p) mod 2^k, p the prime closest to but above the number of sets.
//!
//! ```text
//! line_i --> [fold] --> [fold] --> [subtract 2p?] --> [subtract p?] --> low k bits --> register --> index_o
//! ```
//!
//! Every bit of the address takes part. The residues from 2^k on fall back on the first p - 2^k sets, which are used twice as
//! often as the others. The residue is computed as for [PMOD](super::pmod).
//!
//! The source contradicts itself: by section 3.4.1 the prime for 16 would be 17, but section 3.7 takes p = 31 for the 16
//! partitions, a Mersenne prime, whose folds are plain sums. Both are here: `mersenne` takes the smallest Mersenne prime above
//! the number of sets. The price of 31 is that 15 of the 16 partitions are used twice as often as the last one. For cache
//! sets the Mersenne primes lie so far above that they defeat the purpose: modulo 2^m - 1 the stride 2^k is a rotation of m
//! bits, and 2^k lines at that stride fall on 2^(2k - m) sets only (8 of 16, 8 of 32, 32 of 64, 2 of 128).
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
//! Ports, timing and storage: see the [family](super).

use super::prime::{PrimeModulo, for_prime, prime_top};
use super::top::set_index_top;
use super::{Hash, IndexFunction, SETS_PARAM, SetIndex, set_index_ports};
use selvedge_hw::index_function::prime_above;
use selvedge_hw::params::{Allowed, ParamSpec};
use selvedge_hw::rtl::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of the prime modulo mapping that uses every set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct APrimeParams {
    /// Cache sets or memory partitions.
    pub sets: u32,
    /// The prime is the smallest Mersenne prime above the number of sets, not the smallest prime.
    pub mersenne: bool,
}

impl Default for APrimeParams {
    fn default() -> Self {
        APrimeParams { sets: 32, mersenne: false }
    }
}

set_index_ports!(APrimeParams, APrimeIn, APrimeOut);

/// The block; see the [module](self).
pub type SetIndexAPrime = SetIndex<APrime>;

/// The prime modulo mapping that uses every set.
pub struct APrime;

impl Hash for APrime {
    const NAME: &'static str = "set_index_a_prime";
    const SUMMARY: &'static str =
        "maps a line to a set by its address modulo a prime above the number of sets, cut to the index";
    const PARAMS: &'static [ParamSpec] = &[
        SETS_PARAM,
        ParamSpec {
            name: "mersenne",
            allowed: Allowed::Switch,
            doc: "the prime is the smallest Mersenne prime above the number of sets",
        },
    ];
    type Params = APrimeParams;
    type In = APrimeIn;
    type Out = APrimeOut;

    fn sets(params: &APrimeParams) -> u32 {
        params.sets
    }
    fn function(params: &APrimeParams) -> IndexFunction {
        IndexFunction::APrime { mersenne: params.mersenne }
    }
    fn rtl(params: &APrimeParams) -> Box<dyn RtlBlock<APrimeIn, APrimeOut>> {
        match (params.sets, params.mersenne) {
            (16, false) => RtlInstance::boxed(<for_prime!(APrimeTop, 17, 4)>::new(params)),
            (16, true) => RtlInstance::boxed(<for_prime!(APrimeTop, 31, 4)>::new(params)),
            (32, false) => RtlInstance::boxed(<for_prime!(APrimeTop, 37, 5)>::new(params)),
            (32, true) => RtlInstance::boxed(<for_prime!(APrimeTop, 127, 5)>::new(params)),
            (64, false) => RtlInstance::boxed(<for_prime!(APrimeTop, 67, 6)>::new(params)),
            (64, true) => RtlInstance::boxed(<for_prime!(APrimeTop, 127, 6)>::new(params)),
            (_, false) => RtlInstance::boxed(<for_prime!(APrimeTop, 131, 7)>::new(params)),
            (_, true) => RtlInstance::boxed(<for_prime!(APrimeTop, 8191, 7)>::new(params)),
        }
    }
}

prime_top! {
    /// Maps a line to a set by its address modulo a prime above the number of sets, cut to the index.
    ///
    /// Dai, section 3.4.1, A_Prime. K is the width of an index; the others are those of the modulo.
    APrimeTop, APrimeIn => APrimeOut, new(p: &APrimeParams) for prime_above(p.sets, p.mersenne)
}
