//! BXOR, bitwise XOR mapping: the low bits of the line address XOR the same number of bits above them.
//!
//! Source: Dai, section 3.4.1: Index = t xor x. According to the source, commercial GPUs use this mapping. The source chooses it
//! for both cache levels and for the partitions.
//!
//! ```text
//! line_i[k-1:0]  --\
//!                  XOR --> register --> index_o
//! line_i[2k-1:k] --/
//! ```
//!
//! The source's t is the next k bits above x, not the whole tag: lines at a distance of a multiple of 2^2k share a set.
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
pub type SetIndexBxor = SetIndexBlock<Bxor>;

/// The bitwise XOR mapping.
pub struct Bxor;

impl SetHash for Bxor {
    const NAME: &'static str = "set_index_bxor";
    const SUMMARY: &'static str =
        "maps a line to a set by the XOR of the low bits of its address with the bits above";
    const MODULE: &'static str = concat!(include_str!("bxor.rs"), include_str!("mod.rs"));
    const PARAMS: &'static [ParamSpec] = SetsParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["sets"];
    type Params = SetsParams;
    type In = SetIndexIn;
    type Out = SetIndexOut;

    fn sets(params: &SetsParams) -> u32 {
        params.sets
    }
    fn function(_: &SetsParams) -> IndexFunction {
        IndexFunction::Bxor
    }
    elaborate! {
        fn rtl(params: &SetsParams as PARAMS) -> Box<dyn RtlBlock<SetIndexIn, SetIndexOut>> {
            for sets in [16, 32, 64, 128] {
                BxorTop { K = PARAMS.sets.ilog2() as usize }
            }
        }
    }
}

set_index_top! {
    /// Maps a line to a set by the XOR of the low bits of its address with the bits above.
    ///
    /// Dai, section 3.4.1, BXOR. K is the width of an index.
    BxorTop<K>, K, SetIndexIn => SetIndexOut, new(_p: &SetsParams) {}
}

#[hdl_gen]
impl Logic for BxorTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, index);
        self.valid.d.next = self.valid_i.val();
        if self.valid_i.val() {
            self.index.d.next = self.line_i.val().get_bits::<K>(0) ^ self.line_i.val().get_bits::<K>(K);
        }
        drive!(self; valid_o: valid.q, index_o: index.q);
    }
}
