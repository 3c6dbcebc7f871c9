//! The lowest bit that is set: which entry is free, and whose turn it is.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// The lowest of the bits that are set.
    #[derive(LogicBlock, Default)]
    pub struct FirstSet<const N: usize, const INDEX: usize> {
        /// bits
        pub bits_i: Signal<In, U<N>>,
        /// the lowest one alone; none if none is set
        pub first_o: Signal<Out, U<N>>,
        /// its number; 0 if none is set
        pub index_o: Signal<Out, U<INDEX>>,
        first: Signal<Local, U<N>>,
        index: Signal<Local, U<INDEX>>,
    }
}

impl<const N: usize, const INDEX: usize> Logic for FirstSet<N, INDEX> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("a number and its negative have the lowest one in common, and nothing above it");
        self.first.next = self.bits_i.val() & (!self.bits_i.val() + 1);
        self.index.next = 0.into();
        for i in 0..N {
            if self.first.val().get_bit(i) {
                self.index.next = self.index.val() | i.to_bits::<INDEX>();
            }
        }
        self.first_o.next = self.first.val();
        self.index_o.next = self.index.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
