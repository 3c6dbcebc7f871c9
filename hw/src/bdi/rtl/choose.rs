//! First half of the compressor: which encoding, and with which base and mask.

use crate::bdi::Encoding;
use crate::rtl::prelude::*;

rtl_block! {
    /// Tries one encoding: are all words of the line deltas from zero or from one common base?
    ///
    /// BASE and DELTA are the bits of a word and of a delta, UP those of a word above a delta. A word is a delta of DELTA
    /// bits from zero when its upper bits, from the delta's sign on (SIGN = UP + 1 of them), are all equal. The base is the
    /// first word that is none. A word is a delta from the base when it is one of the 2^DELTA from base - 2^(DELTA-1) on:
    /// whole differences, of which no bit but the last is wanted here, would be twice the gates.
    #[derive(LogicBlock, Default)]
    pub struct BdiFit<
        const BASE: usize, const DELTA: usize, const UP: usize, const SIGN: usize, const WORDS: usize,
        const LINE: usize, const LW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// the encoding can represent the line
        pub fits_o: Signal<Out, Bit>,
        /// the base; zero when no word needs one
        pub base_o: Signal<Out, U<BASE>>,
        /// one bit per word: it is a delta from zero
        pub mask_o: Signal<Out, U<WORDS>>,
        candidate: Signal<Local, U<BASE>>,
        sign: Signal<Local, U<SIGN>>,
        immediate: Signal<Local, Bit>,
        found: Signal<Local, Bit>,
        base: Signal<Local, U<BASE>>,
        mask: Signal<Local, U<WORDS>>,
        lowest: Signal<Local, U<BASE>>,
        above: Signal<Local, U<UP>>,
        wrapped: Signal<Local, U<UP>>,
        word: Signal<Local, U<BASE>>,
        wanted: Signal<Local, U<UP>>,
        fits: Signal<Local, Bit>,
    }
}

impl<
    const BASE: usize,
    const DELTA: usize,
    const UP: usize,
    const SIGN: usize,
    const WORDS: usize,
    const LINE: usize,
    const LW: usize,
> Logic for BdiFit<BASE, DELTA, UP, SIGN, WORDS, LINE, LW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.candidate.next = 0.into();
        self.sign.next = 0.into();
        self.immediate.next = false;
        self.found.next = false;
        self.base.next = 0.into();
        self.mask.next = 0.into();
        for i in 0..WORDS {
            self.sign.next = self.line_i.val().get_bits::<SIGN>(i * BASE + DELTA - 1);
            self.immediate.next = self.sign.val().all() | !self.sign.val().any();
            self.mask.next = self.mask.val().replace_bit(i, self.immediate.val());
            self.candidate.next = 0.into();
            if !self.immediate.val() & !self.found.val() {
                self.candidate.next = self.line_i.val().get_bits::<BASE>(i * BASE);
                self.found.next = true;
            }
            self.base.next = self.base.val() | self.candidate.val();
        }

        comment!("the lowest word that is a delta from the base; it wraps around in the width of the word");
        self.lowest.next = 0.into();
        self.lowest.next = self.lowest.val().replace_bit(DELTA - 1, true);
        self.lowest.next = self.base.val() - self.lowest.val();
        self.above.next = self.lowest.val().get_bits::<UP>(DELTA);
        self.wrapped.next = 0.into();
        self.wrapped.next = self.wrapped.val().replace_bit(0, true);
        self.wrapped.next = self.above.val() + self.wrapped.val();

        comment!(
            "the bits above the delta are those of the lowest word, or one more where the delta's bits have wrapped"
        );
        self.word.next = 0.into();
        self.wanted.next = 0.into();
        self.fits.next = true;
        for i in 0..WORDS {
            self.word.next = self.line_i.val().get_bits::<BASE>(i * BASE);
            self.wanted.next = self.above.val();
            if self.word.val().get_bits::<DELTA>(0) < self.lowest.val().get_bits::<DELTA>(0) {
                self.wanted.next = self.wrapped.val();
            }
            if !self.mask.val().get_bit(i) & (self.word.val().get_bits::<UP>(DELTA) != self.wanted.val()) {
                self.fits.next = false;
            }
        }
        self.fits_o.next = self.fits.val();
        self.base_o.next = self.base.val();
        self.mask_o.next = self.mask.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const BASE: usize,
    const DELTA: usize,
    const UP: usize,
    const SIGN: usize,
    const WORDS: usize,
    const LINE: usize,
    const LW: usize,
> PureLogic for BdiFit<BASE, DELTA, UP, SIGN, WORDS, LINE, LW>
{
    #[inline]
    fn take_inputs(&mut self) {
        self.line_i.update_all();
    }
}

rtl_block! {
    /// Chooses the encoding with the smallest payload; ties go to the wider base.
    #[derive(LogicBlock)]
    pub struct BdiChoose<const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize> {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// tag of the encoding
        pub tag_o: Signal<Out, U<4>>,
        /// the base, zero-extended; for equal words the word itself
        pub base_o: Signal<Out, U<64>>,
        /// one bit per word: it is a delta from zero
        pub mask_o: Signal<Out, U<N2>>,
        fit_b8d1: Once<BdiFit<64, 8, 56, 57, N8, LINE, LW>>,
        fit_b8d2: Once<BdiFit<64, 16, 48, 49, N8, LINE, LW>>,
        fit_b8d4: Once<BdiFit<64, 32, 32, 33, N8, LINE, LW>>,
        fit_b4d1: Once<BdiFit<32, 8, 24, 25, N4, LINE, LW>>,
        fit_b4d2: Once<BdiFit<32, 16, 16, 17, N4, LINE, LW>>,
        fit_b2d1: Once<BdiFit<16, 8, 8, 9, N2, LINE, LW>>,
        /// tags of the encodings with deltas, smallest payload first
        order: Constant<U<24>>,
        uncompressed: Constant<U<4>>,
        zeros: Constant<U<4>>,
        b8d0: Constant<U<4>>,
        b8d1: Constant<U<4>>,
        b8d2: Constant<U<4>>,
        b8d4: Constant<U<4>>,
        b4d0: Constant<U<4>>,
        b4d1: Constant<U<4>>,
        b4d2: Constant<U<4>>,
        b2d0: Constant<U<4>>,
        b2d1: Constant<U<4>>,
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

impl<const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize> Default
    for BdiChoose<LINE, LW, N8, N4, N2>
{
    fn default() -> Self {
        const { assert!(N8 * 64 == LINE && N4 * 32 == LINE && N2 * 16 == LINE) };
        BdiChoose {
            line_i: Signal::default(),
            tag_o: Signal::default(),
            base_o: Signal::default(),
            mask_o: Signal::default(),
            fit_b8d1: Once::default(),
            fit_b8d2: Once::default(),
            fit_b8d4: Once::default(),
            fit_b4d1: Once::default(),
            fit_b4d2: Once::default(),
            fit_b2d1: Once::default(),
            order: Constant::new(order(LINE / 8)),
            uncompressed: tag(Encoding::Uncompressed),
            zeros: tag(Encoding::Zeros),
            b8d0: tag(Encoding::B8D0),
            b8d1: tag(Encoding::B8D1),
            b8d2: tag(Encoding::B8D2),
            b8d4: tag(Encoding::B8D4),
            b4d0: tag(Encoding::B4D0),
            b4d1: tag(Encoding::B4D1),
            b4d2: tag(Encoding::B4D2),
            b2d0: tag(Encoding::B2D0),
            b2d1: tag(Encoding::B2D1),
            first: Signal::default(),
            all_equal: Signal::default(),
            halves_equal: Signal::default(),
            quarters_equal: Signal::default(),
            fits: Signal::default(),
            candidate: Signal::default(),
            found: Signal::default(),
            tag: Signal::default(),
        }
    }
}

impl<const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize> Logic
    for BdiChoose<LINE, LW, N8, N4, N2>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.fit_b8d1.line_i.next = self.line_i.val();
        self.fit_b8d2.line_i.next = self.line_i.val();
        self.fit_b8d4.line_i.next = self.line_i.val();
        self.fit_b4d1.line_i.next = self.line_i.val();
        self.fit_b4d2.line_i.next = self.line_i.val();
        self.fit_b2d1.line_i.next = self.line_i.val();

        comment!("the encodings with deltas: the first in order of payload size that fits");
        self.fits.next = 0.into();
        self.fits.next = self.fits.val().replace_bit(3, self.fit_b8d1.fits_o.val());
        self.fits.next = self.fits.val().replace_bit(4, self.fit_b8d2.fits_o.val());
        self.fits.next = self.fits.val().replace_bit(5, self.fit_b8d4.fits_o.val());
        self.fits.next = self.fits.val().replace_bit(7, self.fit_b4d1.fits_o.val());
        self.fits.next = self.fits.val().replace_bit(8, self.fit_b4d2.fits_o.val());
        self.fits.next = self.fits.val().replace_bit(10, self.fit_b2d1.fits_o.val());
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
        self.first.next = self.line_i.val().get_bits::<64>(0);
        self.all_equal.next = true;
        for i in 1..N8 {
            if self.line_i.val().get_bits::<64>(i * 64) != self.first.val() {
                self.all_equal.next = false;
            }
        }
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
            self.base_o.next = self.fit_b8d1.base_o.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.fit_b8d1.mask_o.val());
        } else if self.tag.val() == self.b8d2.val() {
            self.base_o.next = self.fit_b8d2.base_o.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.fit_b8d2.mask_o.val());
        } else if self.tag.val() == self.b8d4.val() {
            self.base_o.next = self.fit_b8d4.base_o.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.fit_b8d4.mask_o.val());
        } else if self.tag.val() == self.b4d1.val() {
            self.base_o.next = bit_cast::<64, 32>(self.fit_b4d1.base_o.val());
            self.mask_o.next = bit_cast::<N2, N4>(self.fit_b4d1.mask_o.val());
        } else if self.tag.val() == self.b4d2.val() {
            self.base_o.next = bit_cast::<64, 32>(self.fit_b4d2.base_o.val());
            self.mask_o.next = bit_cast::<N2, N4>(self.fit_b4d2.mask_o.val());
        } else if self.tag.val() == self.b2d1.val() {
            self.base_o.next = bit_cast::<64, 16>(self.fit_b2d1.base_o.val());
            self.mask_o.next = self.fit_b2d1.mask_o.val();
        }
        self.tag_o.next = self.tag.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
