//! BMOD, baseline modulo mapping: the low bits of the line address.
//!
//! Source: Dai, section 3.4.1: Index = x = A mod 2^k, the usual mapping and the baseline for the others.
//!
//! ```text
//! line_i[k-1:0] --> register --> index_o
//! ```
//!
//! Lines at a distance of a multiple of 2^k share a set.
//!
//! | parameter | default | allowed | meaning |
//! |---|---|---|---|
//! | `sets` | 32 | 16, 32, 64, 128 | cache sets or memory partitions: 2^k |
//!
//! The [family](super) shares ports, timing and storage.

use super::top::set_index_top;
use super::{IndexFunction, SetHash, SetIndexBlock, SetIndexIn, SetIndexOut, SetsParams};
use selvedge_hw::params::ParamSpec;
use selvedge_hw::rtl::prelude::*;

/// The block; see the [module](self).
pub type SetIndexBmod = SetIndexBlock<Bmod>;

/// The baseline modulo mapping.
pub struct Bmod;

impl SetHash for Bmod {
    const NAME: &'static str = "set_index_bmod";
    const SUMMARY: &'static str = "maps a line to a set by the low bits of its address";
    const MODULE: &'static str = concat!(include_str!("bmod.rs"), include_str!("mod.rs"));
    const PARAMS: &'static [ParamSpec] = SetsParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["sets"];
    type Params = SetsParams;
    type In = SetIndexIn;
    type Out = SetIndexOut;

    fn sets(params: &SetsParams) -> u32 {
        params.sets
    }
    fn function(_: &SetsParams) -> IndexFunction {
        IndexFunction::Bmod
    }
    elaborate! {
        fn rtl(params: &SetsParams as PARAMS) -> Box<dyn RtlBlock<SetIndexIn, SetIndexOut>> {
            for sets in [16, 32, 64, 128] {
                BmodTop { K = PARAMS.sets.ilog2() as usize }
            }
        }
    }
}

set_index_top! {
    /// Maps a line to a set by the low bits of its address.
    ///
    /// Dai, section 3.4.1, BMOD. K is the width of an index.
    BmodTop<K>, K, SetIndexIn => SetIndexOut, new(_p: &SetsParams) {}
}

#[hdl_gen]
impl Logic for BmodTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, index);
        self.valid.d.next = self.valid_i.val();
        if self.valid_i.val() {
            self.index.d.next = self.line_i.val().get_bits::<K>(0);
        }
        drive!(self; valid_o: valid.q, index_o: index.q);
    }
}
