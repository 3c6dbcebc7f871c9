//! D_Prime, prime displacement mapping: the low bits of the line address plus a prime times the tag.
//!
//! Source: Dai, section 3.4.1: Index = (T p + x) mod 2^k; section 3.7 gives p = 11 for 16 partitions.
//!
//! ```text
//! line_i[2k-1:k] --> [x p mod 2^k] --\
//!                                    + --> register --> index_o
//! line_i[k-1:0]  --------------------/
//! ```
//!
//! Modulo 2^k, only the lowest k bits of the tag T matter: as for BXOR, lines at a distance of a multiple of 2^2k share a set.
//! Any odd p displaces 2^k consecutive tags by 2^k different amounts.
//!
//! The source does not give the prime for cache sets. The default here is 11 for every number of sets. The alternatives are 19,
//! just above half of the usual 32 sets, and 31, just below 32.
//!
//! | parameter | default | allowed | meaning |
//! |---|---|---|---|
//! | `sets` | 32 | 16, 32, 64, 128 | cache sets or memory partitions: 2^k |
//! | `prime` | 11 | 11, 19, 31 | the prime p |
//!
//! The [family](super) shares ports, timing and storage.

use super::top::set_index_top;
use super::{IndexFunction, SETS, SetHash, SetIndexBlock, set_index_ports};
use selvedge_hw::block_params;
use selvedge_hw::params::{Allowed, ParamSpec};
use selvedge_hw::rtl::prelude::*;

block_params! {
    /// Parameters of the prime displacement mapping.
    pub struct DPrimeParams {
        /// cache sets or memory partitions
        sets: u32 = 32, SETS;
        /// the prime that the tag is multiplied by
        prime: u32 = 11, Allowed::OneOf(&[11, 19, 31]);
    }
}

set_index_ports!(DPrimeParams, DPrimeIn, DPrimeOut);

/// The block; see the [module](self).
pub type SetIndexDPrime = SetIndexBlock<DPrime>;

/// The prime displacement mapping.
pub struct DPrime;

impl SetHash for DPrime {
    const NAME: &'static str = "set_index_d_prime";
    const SUMMARY: &'static str =
        "maps a line to a set by its low address bits, displaced by a prime times its tag";
    const MODULE: &'static str = concat!(include_str!("d_prime.rs"), include_str!("mod.rs"));
    const PARAMS: &'static [ParamSpec] = DPrimeParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["sets", "prime"];
    type Params = DPrimeParams;
    type In = DPrimeIn;
    type Out = DPrimeOut;

    fn sets(params: &DPrimeParams) -> u32 {
        params.sets
    }
    fn function(params: &DPrimeParams) -> IndexFunction {
        IndexFunction::DPrime { prime: params.prime }
    }
    elaborate! {
        fn rtl(params: &DPrimeParams as PARAMS) -> Box<dyn RtlBlock<DPrimeIn, DPrimeOut>> {
            for sets in [16, 32, 64, 128] {
                DPrimeTop { K = PARAMS.sets.ilog2() as usize }
            }
        }
    }
}

set_index_top! {
    /// Maps a line to a set by its low address bits, displaced by a prime times its tag.
    ///
    /// Dai, section 3.4.1, D_Prime. K is the width of an index.
    DPrimeTop<K>, K, DPrimeIn => DPrimeOut, new(p: &DPrimeParams) {
        /// the prime, modulo 2^K
        prime: Constant<U<K>> = Constant::new(U::new(u64::from(p.prime))),
        tag: Signal<Local, U<K>>,
    }
}

#[hdl_gen]
impl Logic for DPrimeTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, index);
        self.valid.d.next = self.valid_i.val();
        comment!("modulo 2^K only the lowest K bits of the tag matter");
        self.tag.next = self.line_i.val().get_bits::<K>(K);
        if self.valid_i.val() {
            self.index.d.next = self.tag.val() * self.prime.val() + self.line_i.val().get_bits::<K>(0);
        }
        drive!(self; valid_o: valid.q, index_o: index.q);
    }
}
