//! The choice of the compressor: base and mask of the selected encoding.

use crate::bdi::encoding::BdiEncoding;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Selects base and mask of the encoding that the trials found, with AND and OR gates: at most one select bit is set.
    #[require(N8 * 64 == LINE && N4 * 32 == LINE && N2 * 16 == LINE && NEAR == FIRST + 13)]
    pub struct BdiChoose<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const FIRST: usize, const NEAR: usize, const NW: usize,
    > {
        /// the line, bases, masks and tag, in the layout of [`BdiNears`](super::near::BdiNears)
        pub near_i: Signal<In, W<NEAR, NW>>,
        /// the base, zero-extended; for equal words the word itself
        pub base_o: Signal<Out, U<64>>,
        /// one bit per word: it is a delta from zero
        pub mask_o: Signal<Out, U<N2>>,
        /// one bit for each tag from 2 on
        takes: Signal<Local, U<9>>,
        eight: Signal<Local, U<64>>,
        eight_mask: Signal<Local, U<N8>>,
        four: Signal<Local, U<32>>,
        four_mask: Signal<Local, U<N4>>,
        base: Signal<Local, U<64>>,
        mask: Signal<Local, U<N2>>,
    }
}

/// Returns the tag of an encoding as a named constant.
pub fn tag(encoding: BdiEncoding) -> Constant<U<4>> {
    Constant::new(U::new(u64::from(encoding.tag())))
}

#[hdl_gen(search_layout!(near_i; tag: 4; takes: 9))]
impl Logic for BdiChoose {
    fn update(&mut self) {
        self.takes.next = self.near_i.val().get_bits::<9>(FIRST + 4);
        drive!(self; base: 0, mask: 0);
        comment!("equal words: the first one");
        if self.takes.val().get_bit(0) {
            self.base.next = self.near_i.val().get_bits::<64>(0);
        }
        if self.takes.val().get_bit(4) {
            self.base.next = self.base.val() | bit_cast::<64, 32>(self.near_i.val().get_bits::<32>(0));
        }
        if self.takes.val().get_bit(7) {
            self.base.next = self.base.val() | bit_cast::<64, 16>(self.near_i.val().get_bits::<16>(0));
        }
        comment!("8-byte words; the upper bits of a base come from the next wider delta, or copy the sign");
        self.eight.next = self.near_i.val().get_bits::<64>(LINE);
        self.eight_mask.next = self.near_i.val().get_bits::<N8>(LINE + 179 + 2 * N8);
        if self.takes.val().get_bit(3) {
            self.base.next = self.base.val() | self.eight.val();
            self.mask.next = self.mask.val() | bit_cast::<N2, N8>(self.eight_mask.val());
        }
        if self.near_i.val().get_bit(LINE + 176) {
            self.eight.next = 0.into();
            if self.near_i.val().get_bit(LINE + 95) {
                self.eight.next = !self.eight.val();
            }
        }
        self.eight.next[0..] = self.near_i.val().get_bits::<32>(LINE + 64);
        self.eight_mask.next = self.near_i.val().get_bits::<N8>(LINE + 179 + N8);
        if self.takes.val().get_bit(2) {
            self.base.next = self.base.val() | self.eight.val();
            self.mask.next = self.mask.val() | bit_cast::<N2, N8>(self.eight_mask.val());
        }
        if self.near_i.val().get_bit(LINE + 177) {
            self.eight.next = 0.into();
            if self.near_i.val().get_bit(LINE + 111) {
                self.eight.next = !self.eight.val();
            }
        }
        self.eight.next[0..] = self.near_i.val().get_bits::<16>(LINE + 96);
        self.eight_mask.next = self.near_i.val().get_bits::<N8>(LINE + 179);
        if self.takes.val().get_bit(1) {
            self.base.next = self.base.val() | self.eight.val();
            self.mask.next = self.mask.val() | bit_cast::<N2, N8>(self.eight_mask.val());
        }
        comment!("4-byte words");
        self.four.next = self.near_i.val().get_bits::<32>(LINE + 112);
        self.four_mask.next = self.near_i.val().get_bits::<N4>(LINE + 179 + 3 * N8 + N4);
        if self.takes.val().get_bit(6) {
            self.base.next = self.base.val() | bit_cast::<64, 32>(self.four.val());
            self.mask.next = self.mask.val() | bit_cast::<N2, N4>(self.four_mask.val());
        }
        if self.near_i.val().get_bit(LINE + 178) {
            self.four.next = 0.into();
            if self.near_i.val().get_bit(LINE + 159) {
                self.four.next = !self.four.val();
            }
        }
        self.four.next[0..] = self.near_i.val().get_bits::<16>(LINE + 144);
        self.four_mask.next = self.near_i.val().get_bits::<N4>(LINE + 179 + 3 * N8);
        if self.takes.val().get_bit(5) {
            self.base.next = self.base.val() | bit_cast::<64, 32>(self.four.val());
            self.mask.next = self.mask.val() | bit_cast::<N2, N4>(self.four_mask.val());
        }
        comment!("2-byte words");
        if self.takes.val().get_bit(8) {
            self.base.next =
                self.base.val() | bit_cast::<64, 16>(self.near_i.val().get_bits::<16>(LINE + 160));
            self.mask.next = self.mask.val() | self.near_i.val().get_bits::<N2>(LINE + 179 + 3 * N8 + 2 * N4);
        }
        drive!(self; base_o: base, mask_o: mask);
    }
}
