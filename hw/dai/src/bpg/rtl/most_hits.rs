//! The choice of the best calculator.

use crate::bpg::params::{L_BITS, LEVELS};
use selvedge_hw::rtl::prelude::*;

/// Number of nodes of the comparison tree, with node 0 unused: 1 is the root, the children of n are 2n and 2n + 1.
const NODES: usize = 2 * LEVELS;

rtl_block! {
    /// The L with the most adjusted hits; among equals, the largest L. A tree of comparisons finds it.
    ///
    /// ADJUSTED is the width of adjusted hits.
    pub struct MostHits<const ADJUSTED: usize> {
        /// adjusted hits for L = 1 to 8
        pub adjusted_i: [Signal<In, U<ADJUSTED>>; LEVELS],
        /// the L with the most adjusted hits
        pub l_o: Signal<Out, U<L_BITS>>,
        /// maximum adjusted hits below each node of the tree; 1 is the root, the children of n are 2n and 2n + 1
        most: [Signal<Local, U<ADJUSTED>>; NODES],
        /// L of that maximum
        l: [Signal<Local, U<L_BITS>>; NODES],
    }
}

#[hdl_gen]
impl Logic for MostHits {
    fn update(&mut self) {
        drive!(self; most[0]: 0, l[0]: 0);
        for i in 0..8 {
            self.most[i + 8].next = self.adjusted_i[i].val();
            self.l[i + 8].next = (i + 1).to_bits();
        }
        for i in 0..7 {
            if self.most[15 - i * 2].val() >= self.most[14 - i * 2].val() {
                drive!(self; most[7 - i]: most[15 - i * 2], l[7 - i]: l[15 - i * 2]);
            } else {
                drive!(self; most[7 - i]: most[14 - i * 2], l[7 - i]: l[14 - i * 2]);
            }
        }
        self.l_o.next = self.l[1].val();
    }
}
