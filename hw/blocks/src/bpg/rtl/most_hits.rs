//! The choice of the best calculator.

use super::L_BITS;
use crate::bpg::{ADJUSTED_BITS, LEVELS};
use selvedge_hw::rtl::prelude::*;

/// Places of the tree in which the calculators compete: 1 is the root, the children of n are 2n and 2n + 1.
const NODES: usize = 2 * LEVELS;

rtl_block! {
    /// The L with the most adjusted hits, the largest of several: a tree of comparisons.
    #[derive(LogicBlock, Default)]
    pub struct MostHits {
        /// adjusted hits for L = 1 to 8
        pub adjusted_i: [Signal<In, U<ADJUSTED_BITS>>; LEVELS],
        /// the L of the most
        pub l_o: Signal<Out, U<L_BITS>>,
        /// the most adjusted hits below each place of the tree; 1 is the root, the children of n are 2n and 2n + 1
        most: [Signal<Local, U<ADJUSTED_BITS>>; NODES],
        /// and their L
        l: [Signal<Local, U<L_BITS>>; NODES],
    }
}

impl Logic for MostHits {
    #[hdl_gen]
    fn update(&mut self) {
        self.most[0].next = 0.into();
        self.l[0].next = 0.into();
        for i in 0..8 {
            self.most[i + 8].next = self.adjusted_i[i].val();
            self.l[i + 8].next = (i + 1).to_bits();
        }
        for i in 0..7 {
            if self.most[15 - i * 2].val() >= self.most[14 - i * 2].val() {
                self.most[7 - i].next = self.most[15 - i * 2].val();
                self.l[7 - i].next = self.l[15 - i * 2].val();
            } else {
                self.most[7 - i].next = self.most[14 - i * 2].val();
                self.l[7 - i].next = self.l[14 - i * 2].val();
            }
        }
        self.l_o.next = self.l[1].val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
