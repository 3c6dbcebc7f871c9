//! PMOD, prime modulo mapping: the line address modulo the largest prime below the number of sets.
//!
//! Source: Dai, section 3.4.1: Index = A mod p, where p is the largest prime below 2^k; section 3.7 gives p = 13 for 16
//! partitions.
//!
//! ```text
//! line_i --> [fold] --> [fold] --> [subtract 2p?] --> [subtract p?] --> register --> index_o
//! ```
//!
//! The index depends on every bit of the address. The sets from p on stay empty: 3 of 16, 1 of 32, 3 of 64, 1 of 128. The residue
//! needs no divider: two folds add chunks of the address, weighted by residues. One or two subtractions remain (`prime.rs`
//! shows how). For the Mersenne primes 31 and 127, the folds are plain sums.
//!
//! | sets | prime |
//! |---|---|
//! | 16, 32, 64, 128 | 13, 31, 61, 127 |
//! | 256, 512, 1024 (function only) | 251, 509, 1021 |
//!
//! | parameter | default | allowed | meaning |
//! |---|---|---|---|
//! | `sets` | 32 | 16, 32, 64, 128 | cache sets or memory partitions: 2^k |
//!
//! The [family](super) shares ports, timing and storage.

use super::prime::{PrimeModulo, Widths, prime_top};
use super::top::set_index_top;
use super::{IndexFunction, SetHash, SetIndexBlock, SetIndexIn, SetIndexOut, SetsParams};
use selvedge_hw::index_function::prime_below;
use selvedge_hw::params::ParamSpec;
use selvedge_hw::rtl::prelude::*;

/// The block; see the [module](self).
pub type SetIndexPmod = SetIndexBlock<Pmod>;

/// The prime modulo mapping.
pub struct Pmod;

impl SetHash for Pmod {
    const NAME: &'static str = "set_index_pmod";
    const SUMMARY: &'static str =
        "maps a line to a set by its address modulo the largest prime below the number of sets";
    const MODULE: &'static str = concat!(include_str!("pmod.rs"), include_str!("mod.rs"));
    const PARAMS: &'static [ParamSpec] = SetsParams::SPECS;
    type Params = SetsParams;
    type In = SetIndexIn;
    type Out = SetIndexOut;

    fn sets(params: &SetsParams) -> u32 {
        params.sets
    }
    fn function(_: &SetsParams) -> IndexFunction {
        IndexFunction::Pmod
    }
    elaborate! {
        fn rtl(params: &SetsParams as PARAMS) -> Box<dyn RtlBlock<SetIndexIn, SetIndexOut>> {
            for sets in [16, 32, 64, 128] {
                PmodTop {
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

/// Returns the widths of the RTL's generics.
const fn widths(params: &SetsParams) -> Widths {
    Widths::of(prime_below(params.sets))
}

prime_top! {
    /// Maps a line to a set by its address modulo the largest prime below the number of sets.
    ///
    /// Dai, section 3.4.1, PMOD. K is the width of an index; the other parameters are the widths of the modulo.
    PmodTop, SetIndexIn => SetIndexOut, new(p: &SetsParams) for prime_below(p.sets)
}
