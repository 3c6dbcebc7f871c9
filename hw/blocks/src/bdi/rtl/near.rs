//! The compressor's trials: which encodings can represent the line.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Tries one encoding: are all words that are no delta from zero deltas from the base?
    ///
    /// BASE and DELTA are the bits of a word and of a delta, UP those of a word above a delta. A word is a delta from the base
    /// when it is one of the 2^DELTA from base - 2^(DELTA-1) on: whole differences, of which no bit but the last is wanted
    /// here, would be twice the gates.
    #[derive(LogicBlock, Default)]
    pub struct BdiNear<
        const BASE: usize, const DELTA: usize, const UP: usize, const WORDS: usize, const LINE: usize, const LW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// the base
        pub base_i: Signal<In, U<BASE>>,
        /// one bit per word: it is a delta from zero
        pub mask_i: Signal<In, U<WORDS>>,
        /// the encoding can represent the line
        pub fits_o: Signal<Out, Bit>,
        high_half: Signal<Local, Bit>,
        lowest: Signal<Local, U<DELTA>>,
        flip: Signal<Local, U<UP>>,
        above: Signal<Local, U<UP>>,
        beside: Signal<Local, U<UP>>,
        word: Signal<Local, U<BASE>>,
        wanted: Signal<Local, U<UP>>,
        fits: Signal<Local, Bit>,
    }
}

impl<
    const BASE: usize,
    const DELTA: usize,
    const UP: usize,
    const WORDS: usize,
    const LINE: usize,
    const LW: usize,
> Logic for BdiNear<BASE, DELTA, UP, WORDS, LINE, LW>
{
    #[hdl_gen]
    fn update(&mut self) {
        comment!(
            "the low bits of the lowest word that is a delta from the base: those of the base, half a range below"
        );
        self.high_half.next = self.base_i.val().get_bit(DELTA - 1);
        self.lowest.next = self.base_i.val().get_bits::<DELTA>(0);
        self.lowest.next = self.lowest.val().replace_bit(DELTA - 1, !self.high_half.val());

        comment!(
            "the range reaches into the block of 2^DELTA words next to the base's: above it, or below it"
        );
        self.flip.next = 0.into();
        if !self.high_half.val() {
            self.flip.next = !self.flip.val();
        }
        self.above.next = self.base_i.val().get_bits::<UP>(DELTA);
        self.beside.next = 0.into();
        self.beside.next = self.beside.val().replace_bit(0, true);
        self.beside.next = ((self.above.val() ^ self.flip.val()) + self.beside.val()) ^ self.flip.val();

        self.word.next = 0.into();
        self.wanted.next = 0.into();
        self.fits.next = true;
        for i in 0..WORDS {
            self.word.next = self.line_i.val().get_bits::<BASE>(i * BASE);
            self.wanted.next = self.above.val();
            if (self.word.val().get_bits::<DELTA>(0) < self.lowest.val()) == self.high_half.val() {
                self.wanted.next = self.beside.val();
            }
            if !self.mask_i.val().get_bit(i) & (self.word.val().get_bits::<UP>(DELTA) != self.wanted.val()) {
                self.fits.next = false;
            }
        }
        self.fits_o.next = self.fits.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const BASE: usize,
    const DELTA: usize,
    const UP: usize,
    const WORDS: usize,
    const LINE: usize,
    const LW: usize,
> PureLogic for BdiNear<BASE, DELTA, UP, WORDS, LINE, LW>
{
    #[inline]
    fn take_inputs(&mut self) {
        self.line_i.update_all();
        self.base_i.update_all();
        self.mask_i.update_all();
    }
}

rtl_block! {
    /// Tries all encodings: above what is known of the line, a bit for each with deltas, and whether all 8-byte words are equal.
    #[derive(LogicBlock, Default)]
    #[require(NEAR == FIRST + 7)]
    pub struct BdiNears<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const FIRST: usize, const FW: usize, const NEAR: usize, const NW: usize,
    > {
        /// the line, bases and masks, as [`BdiFirsts`](super::first::BdiFirsts) lays them out
        pub first_i: Signal<In, W<FIRST, FW>>,
        /// the same; then six bits in the order of the bases: the encoding fits; then one: all words are equal
        pub near_o: Signal<Out, W<NEAR, NW>>,
        near_b8d1: Once<BdiNear<64, 8, 56, N8, LINE, LW>>,
        near_b8d2: Once<BdiNear<64, 16, 48, N8, LINE, LW>>,
        near_b8d4: Once<BdiNear<64, 32, 32, N8, LINE, LW>>,
        near_b4d1: Once<BdiNear<32, 8, 24, N4, LINE, LW>>,
        near_b4d2: Once<BdiNear<32, 16, 16, N4, LINE, LW>>,
        near_b2d1: Once<BdiNear<16, 8, 8, N2, LINE, LW>>,
        line: Signal<Local, W<LINE, LW>>,
        /// the first 8-byte word
        first: Signal<Local, U<64>>,
        all_equal: Signal<Local, Bit>,
        near: Signal<Local, W<NEAR, NW>>,
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const N8: usize,
    const N4: usize,
    const N2: usize,
    const FIRST: usize,
    const FW: usize,
    const NEAR: usize,
    const NW: usize,
> Logic for BdiNears<LINE, LW, N8, N4, N2, FIRST, FW, NEAR, NW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.line.next = bit_cast_to::<W<LINE, LW>>(self.first_i.val());
        self.near_b8d1.line_i.next = self.line.val();
        self.near_b8d1.base_i.next = self.first_i.val().get_bits::<64>(LINE);
        self.near_b8d1.mask_i.next = self.first_i.val().get_bits::<N8>(LINE + 272);
        self.near_b8d2.line_i.next = self.line.val();
        self.near_b8d2.base_i.next = self.first_i.val().get_bits::<64>(LINE + 64);
        self.near_b8d2.mask_i.next = self.first_i.val().get_bits::<N8>(LINE + 272 + N8);
        self.near_b8d4.line_i.next = self.line.val();
        self.near_b8d4.base_i.next = self.first_i.val().get_bits::<64>(LINE + 128);
        self.near_b8d4.mask_i.next = self.first_i.val().get_bits::<N8>(LINE + 272 + 2 * N8);
        self.near_b4d1.line_i.next = self.line.val();
        self.near_b4d1.base_i.next = self.first_i.val().get_bits::<32>(LINE + 192);
        self.near_b4d1.mask_i.next = self.first_i.val().get_bits::<N4>(LINE + 272 + 3 * N8);
        self.near_b4d2.line_i.next = self.line.val();
        self.near_b4d2.base_i.next = self.first_i.val().get_bits::<32>(LINE + 224);
        self.near_b4d2.mask_i.next = self.first_i.val().get_bits::<N4>(LINE + 272 + 3 * N8 + N4);
        self.near_b2d1.line_i.next = self.line.val();
        self.near_b2d1.base_i.next = self.first_i.val().get_bits::<16>(LINE + 256);
        self.near_b2d1.mask_i.next = self.first_i.val().get_bits::<N2>(LINE + 272 + 3 * N8 + 2 * N4);

        self.first.next = self.line.val().get_bits::<64>(0);
        self.all_equal.next = true;
        for i in 1..N8 {
            if self.line.val().get_bits::<64>(i * 64) != self.first.val() {
                self.all_equal.next = false;
            }
        }
        self.near.next = bit_cast_to::<W<NEAR, NW>>(self.first_i.val());
        self.near.next = self.near.val().replace_bit(FIRST, self.near_b8d1.fits_o.val());
        self.near.next = self.near.val().replace_bit(FIRST + 1, self.near_b8d2.fits_o.val());
        self.near.next = self.near.val().replace_bit(FIRST + 2, self.near_b8d4.fits_o.val());
        self.near.next = self.near.val().replace_bit(FIRST + 3, self.near_b4d1.fits_o.val());
        self.near.next = self.near.val().replace_bit(FIRST + 4, self.near_b4d2.fits_o.val());
        self.near.next = self.near.val().replace_bit(FIRST + 5, self.near_b2d1.fits_o.val());
        self.near.next = self.near.val().replace_bit(FIRST + 6, self.all_equal.val());
        self.near_o.next = self.near.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
