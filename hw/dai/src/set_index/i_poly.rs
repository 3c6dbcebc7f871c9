//! I-Poly, irreducible polynomial mapping: the line address modulo a polynomial over the field of two elements.
//!
//! Source: Dai, section 3.4.1: R(x) = A(x) mod P(x), with precomputed R_i(x) = x^i mod P(x); section 3.7 gives
//! P = 19 (x^4 + x + 1) for 16 partitions.
//!
//! ```text
//! line_i[i] --> AND R_i --\
//!    ...                  XOR --> register --> index_o
//! line_i[j] --> AND R_j --/
//! ```
//!
//! The index depends on every bit of the address. R_0 to R_(k-1) are the powers of two themselves: the low bits enter the index
//! unchanged, and 2^k aligned consecutive lines map to 2^k sets.
//!
//! The source does not give the polynomials for other numbers of sets. Here each is the irreducible polynomial with the smallest
//! number:
//!
//! | sets | polynomial | number |
//! |---|---|---|
//! | 16 | x^4 + x + 1 | 19 |
//! | 32 | x^5 + x^2 + 1 | 37 |
//! | 64 | x^6 + x + 1 | 67 |
//! | 128 | x^7 + x + 1 | 131 |
//! | 256 (function only) | x^8 + x^4 + x^3 + x + 1 | 283 |
//! | 512 (function only) | x^9 + x + 1 | 515 |
//! | 1024 (function only) | x^10 + x^3 + 1 | 1033 |
//!
//! | parameter | default | allowed | meaning |
//! |---|---|---|---|
//! | `sets` | 32 | 16, 32, 64, 128 | cache sets or memory partitions: 2^k |
//!
//! The [family](super) shares ports, timing and storage.

use super::top::set_index_top;
use super::{IndexFunction, SetHash, SetIndexBlock, SetIndexIn, SetIndexOut, SetsParams};
use selvedge_hw::index_function::{polynomial, power_residue};
use selvedge_hw::params::ParamSpec;
use selvedge_hw::rtl::prelude::*;

/// The block; see the [module](self).
pub type SetIndexIPoly = SetIndexBlock<IPoly>;

/// The irreducible polynomial mapping.
pub struct IPoly;

impl SetHash for IPoly {
    const NAME: &'static str = "set_index_i_poly";
    const SUMMARY: &'static str = "maps a line to a set by its address modulo an irreducible polynomial";
    const MODULE: &'static str = concat!(include_str!("i_poly.rs"), include_str!("mod.rs"));
    const PARAMS: &'static [ParamSpec] = SetsParams::SPECS;
    type Params = SetsParams;
    type In = SetIndexIn;
    type Out = SetIndexOut;

    fn sets(params: &SetsParams) -> u32 {
        params.sets
    }
    fn function(_: &SetsParams) -> IndexFunction {
        IndexFunction::IPoly
    }
    elaborate! {
        fn rtl(params: &SetsParams as PARAMS) -> Box<dyn RtlBlock<SetIndexIn, SetIndexOut>> {
            for sets in [16, 32, 64, 128] {
                IPolyTop { K = PARAMS.sets.ilog2() as usize }
            }
        }
    }
}

rtl_block! {
    /// The residue of a line address modulo a polynomial over the field of two elements. Each set bit adds, without carry, the
    /// residue of its power of x.
    #[new(polynomial: u32)]
    pub struct PolynomialResidue<const K: usize> {
        /// the line address
        pub line_i: Signal<In, U<32>>,
        /// residue of the address
        pub residue_o: Signal<Out, U<K>>,
        /// x^i modulo the polynomial
        power: [Constant<U<K>>; 32] =
            std::array::from_fn(|i| { Constant::new(U::new(u64::from(power_residue(i as u32, polynomial)))) }),
        residue: Signal<Local, U<K>>,
    }
}

#[hdl_gen]
impl Logic for PolynomialResidue {
    fn update(&mut self) {
        self.residue.next = 0.into();
        for i in 0..32 {
            if self.line_i.val().get_bit(i) {
                self.residue.next = self.residue.val() ^ self.power[i].val();
            }
        }
        self.residue_o.next = self.residue.val();
    }
}

set_index_top! {
    /// Maps a line to a set by its address modulo an irreducible polynomial.
    ///
    /// Dai, section 3.4.1, I-Poly. K is the width of an index.
    IPolyTop<K>, K, SetIndexIn => SetIndexOut, new(p: &SetsParams) {
        hash: Gate<PolynomialResidue<K>> = Gate::new(PolynomialResidue::new(polynomial(p.sets))),
    }
}

#[hdl_gen]
impl Logic for IPolyTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, index);
        drive!(self; valid.d: valid_i, hash.line_i: line_i);
        if self.valid_i.val() {
            self.index.d.next = self.hash.residue_o.val();
        }
        drive!(self; valid_o: valid.q, index_o: index.q);
    }
}
