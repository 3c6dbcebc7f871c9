//! The compressor's subtraction: each word of the line becomes its delta.

use super::bases::{BdiBases, BdiStops};
use super::choose::tag;
use crate::bdi::encoding::Encoding;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Takes from each word the chosen base, or zero. A line that stays uncompressed passes.
    ///
    /// It has base zero, so that the subtraction alone would do, too; but a solver then has to find that out.
    #[derive(LogicBlock, Default)]
    pub struct BdiSubtract<const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize> {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// tag of the encoding
        pub tag_i: Signal<In, U<4>>,
        /// its base
        pub base_i: Signal<In, U<64>>,
        /// its mask
        pub mask_i: Signal<In, U<N2>>,
        /// the deltas, each in the low bits of its word
        pub deltas_o: Signal<Out, W<LINE, LW>>,
        widths: Once<BdiStops>,
        word_bases: Once<BdiBases<LINE, LW, N8, N4, N2>>,
        uncompressed: Constant<U<4>> = tag(Encoding::Uncompressed),
        word: Signal<Local, U<64>>,
        base: Signal<Local, U<64>>,
        stops: Signal<Local, U<64>>,
        difference: Signal<Local, U<64>>,
        deltas: Signal<Local, W<LINE, LW>>,
    }
}

impl<const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize> Logic
    for BdiSubtract<LINE, LW, N8, N4, N2>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.word_bases.base_i.next = self.base_i.val();
        self.word_bases.mask_i.next = self.mask_i.val();
        self.widths.tag_i.next = self.tag_i.val();
        self.word_bases.b8_i.next = self.widths.b8_o.val();
        self.word_bases.b4_i.next = self.widths.b4_o.val();

        comment!("one row of subtractors for words of every width: at the highest bit of each a borrow ends");
        self.stops.next = self.widths.stops_o.val();
        self.word.next = 0.into();
        self.base.next = 0.into();
        self.difference.next = 0.into();
        self.deltas.next = 0.into();
        for i in 0..N8 {
            self.word.next = self.line_i.val().get_bits::<64>(i * 64);
            self.base.next = self.word_bases.bases_o.val().get_bits::<64>(i * 64);
            self.difference.next =
                (self.word.val() | self.stops.val()) - (self.base.val() & !self.stops.val());
            self.difference.next =
                self.difference.val() ^ (!(self.word.val() ^ self.base.val()) & self.stops.val());
            self.deltas.next = self.deltas.val().replace_bit(i * 64, self.difference.val());
        }
        self.deltas_o.next = self.deltas.val();
        if self.tag_i.val() == self.uncompressed.val() {
            self.deltas_o.next = self.line_i.val();
        }
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
