//! The compressor's choice: which encoding, and with which base and mask.

use crate::bdi::encoding::Encoding;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Chooses the encoding with the smallest payload; ties go to the wider base.
    #[derive(LogicBlock, Default)]
    #[require(N8 * 64 == LINE && N4 * 32 == LINE && N2 * 16 == LINE)]
    pub struct BdiChoose<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const FIRST: usize, const NEAR: usize, const NW: usize,
    > {
        /// the line, bases, masks and what fits, as [`BdiNears`](super::near::BdiNears) lays them out
        pub near_i: Signal<In, W<NEAR, NW>>,
        /// tag of the encoding
        pub tag_o: Signal<Out, U<4>>,
        /// the base, zero-extended; for equal words the word itself
        pub base_o: Signal<Out, U<64>>,
        /// one bit per word: it is a delta from zero
        pub mask_o: Signal<Out, U<N2>>,
        base_b8d1: Signal<Local, U<64>>,
        mask_b8d1: Signal<Local, U<N8>>,
        base_b8d2: Signal<Local, U<64>>,
        mask_b8d2: Signal<Local, U<N8>>,
        base_b8d4: Signal<Local, U<64>>,
        mask_b8d4: Signal<Local, U<N8>>,
        base_b4d1: Signal<Local, U<32>>,
        mask_b4d1: Signal<Local, U<N4>>,
        base_b4d2: Signal<Local, U<32>>,
        mask_b4d2: Signal<Local, U<N4>>,
        base_b2d1: Signal<Local, U<16>>,
        mask_b2d1: Signal<Local, U<N2>>,
        /// tags of the encodings with deltas, smallest payload first
        order: Constant<U<24>> = Constant::new(order(LINE / 8)),
        uncompressed: Constant<U<4>> = tag(Encoding::Uncompressed),
        zeros: Constant<U<4>> = tag(Encoding::Zeros),
        b8d0: Constant<U<4>> = tag(Encoding::B8D0),
        b8d1: Constant<U<4>> = tag(Encoding::B8D1),
        b8d2: Constant<U<4>> = tag(Encoding::B8D2),
        b8d4: Constant<U<4>> = tag(Encoding::B8D4),
        b4d0: Constant<U<4>> = tag(Encoding::B4D0),
        b4d1: Constant<U<4>> = tag(Encoding::B4D1),
        b4d2: Constant<U<4>> = tag(Encoding::B4D2),
        b2d0: Constant<U<4>> = tag(Encoding::B2D0),
        b2d1: Constant<U<4>> = tag(Encoding::B2D1),
        /// the first 8-byte word
        first: Signal<Local, U<64>>,
        all_equal: Signal<Local, Bit>,
        halves_equal: Signal<Local, Bit>,
        quarters_equal: Signal<Local, Bit>,
        /// one bit per tag: the encoding can represent the line
        fits: Signal<Local, U<16>>,
        candidate: Signal<Local, U<4>>,
        found: Signal<Local, Bit>,
        tag: Signal<Local, U<4>>,
    }
}

/// The tag of an encoding as a named constant.
pub fn tag(encoding: Encoding) -> Constant<U<4>> {
    Constant::new(U::new(u64::from(encoding.tag())))
}

/// The tags of the six encodings with deltas, the preferred one in the lowest four bits.
fn order(line_bytes: usize) -> U<24> {
    let with_deltas = Encoding::by_size(line_bytes).into_iter().filter(|encoding| encoding.delta_bytes() > 0);
    U::new(
        with_deltas
            .enumerate()
            .fold(0, |order, (rank, encoding)| order | u64::from(encoding.tag()) << (4 * rank)),
    )
}

impl<
    const LINE: usize,
    const LW: usize,
    const N8: usize,
    const N4: usize,
    const N2: usize,
    const FIRST: usize,
    const NEAR: usize,
    const NW: usize,
> Logic for BdiChoose<LINE, LW, N8, N4, N2, FIRST, NEAR, NW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.base_b8d1.next = self.near_i.val().get_bits::<64>(LINE);
        self.mask_b8d1.next = self.near_i.val().get_bits::<N8>(LINE + 272);
        self.base_b8d2.next = self.near_i.val().get_bits::<64>(LINE + 64);
        self.mask_b8d2.next = self.near_i.val().get_bits::<N8>(LINE + 272 + N8);
        self.base_b8d4.next = self.near_i.val().get_bits::<64>(LINE + 128);
        self.mask_b8d4.next = self.near_i.val().get_bits::<N8>(LINE + 272 + 2 * N8);
        self.base_b4d1.next = self.near_i.val().get_bits::<32>(LINE + 192);
        self.mask_b4d1.next = self.near_i.val().get_bits::<N4>(LINE + 272 + 3 * N8);
        self.base_b4d2.next = self.near_i.val().get_bits::<32>(LINE + 224);
        self.mask_b4d2.next = self.near_i.val().get_bits::<N4>(LINE + 272 + 3 * N8 + N4);
        self.base_b2d1.next = self.near_i.val().get_bits::<16>(LINE + 256);
        self.mask_b2d1.next = self.near_i.val().get_bits::<N2>(LINE + 272 + 3 * N8 + 2 * N4);

        comment!("the encodings with deltas: the first in order of payload size that fits");
        self.fits.next = 0.into();
        self.fits.next = self.fits.val().replace_bit(3, self.near_i.val().get_bit(FIRST));
        self.fits.next = self.fits.val().replace_bit(4, self.near_i.val().get_bit(FIRST + 1));
        self.fits.next = self.fits.val().replace_bit(5, self.near_i.val().get_bit(FIRST + 2));
        self.fits.next = self.fits.val().replace_bit(7, self.near_i.val().get_bit(FIRST + 3));
        self.fits.next = self.fits.val().replace_bit(8, self.near_i.val().get_bit(FIRST + 4));
        self.fits.next = self.fits.val().replace_bit(10, self.near_i.val().get_bit(FIRST + 5));
        self.tag.next = self.uncompressed.val();
        self.candidate.next = 0.into();
        self.found.next = false;
        for rank in 0..6 {
            self.candidate.next = self.order.val().get_bits::<4>(rank * 4);
            if self.fits.val().get_bit(self.candidate.val().index()) & !self.found.val() {
                self.tag.next = self.candidate.val();
                self.found.next = true;
            }
        }

        comment!("a line of equal words has a shorter payload than any with deltas");
        self.first.next = self.near_i.val().get_bits::<64>(0);
        self.all_equal.next = self.near_i.val().get_bit(FIRST + 6);
        self.halves_equal.next = self.first.val().get_bits::<32>(0) == self.first.val().get_bits::<32>(32);
        self.quarters_equal.next = self.halves_equal.val()
            & (self.first.val().get_bits::<16>(0) == self.first.val().get_bits::<16>(16));
        if self.all_equal.val() {
            if !self.first.val().any() {
                self.tag.next = self.zeros.val();
            } else if self.quarters_equal.val() {
                self.tag.next = self.b2d0.val();
            } else if self.halves_equal.val() {
                self.tag.next = self.b4d0.val();
            } else {
                self.tag.next = self.b8d0.val();
            }
        }

        comment!("base and mask of the chosen encoding");
        self.base_o.next = 0.into();
        self.mask_o.next = 0.into();
        if self.tag.val() == self.b8d0.val() {
            self.base_o.next = self.first.val();
        } else if self.tag.val() == self.b4d0.val() {
            self.base_o.next = bit_cast::<64, 32>(self.first.val().get_bits::<32>(0));
        } else if self.tag.val() == self.b2d0.val() {
            self.base_o.next = bit_cast::<64, 16>(self.first.val().get_bits::<16>(0));
        } else if self.tag.val() == self.b8d1.val() {
            self.base_o.next = self.base_b8d1.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.mask_b8d1.val());
        } else if self.tag.val() == self.b8d2.val() {
            self.base_o.next = self.base_b8d2.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.mask_b8d2.val());
        } else if self.tag.val() == self.b8d4.val() {
            self.base_o.next = self.base_b8d4.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.mask_b8d4.val());
        } else if self.tag.val() == self.b4d1.val() {
            self.base_o.next = bit_cast::<64, 32>(self.base_b4d1.val());
            self.mask_o.next = bit_cast::<N2, N4>(self.mask_b4d1.val());
        } else if self.tag.val() == self.b4d2.val() {
            self.base_o.next = bit_cast::<64, 32>(self.base_b4d2.val());
            self.mask_o.next = bit_cast::<N2, N4>(self.mask_b4d2.val());
        } else if self.tag.val() == self.b2d1.val() {
            self.base_o.next = bit_cast::<64, 16>(self.base_b2d1.val());
            self.mask_o.next = self.mask_b2d1.val();
        }
        self.tag_o.next = self.tag.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
