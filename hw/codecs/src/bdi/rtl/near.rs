//! The trials of the compressor: they find the encodings that can represent the line, and select one of them.

use super::choose::tag;
use crate::bdi::encoding::BdiEncoding;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Compares words with a base: finds the words that are deltas of half their bits from it.
    ///
    /// DELTA is the number of bits of a delta, WIDE of a word. STRIDE is the number of bits from one word of the line to the
    /// next. A word is a delta from the base if it is one of the 2^DELTA values from base - 2^(DELTA-1) on. Full
    /// subtractions would take twice the gates, and only their last bit would be used.
    #[require(WIDE == 2 * DELTA)]
    pub struct BdiNear<
        const DELTA: usize, const WIDE: usize, const STRIDE: usize, const WORDS: usize, const LINE: usize, const LW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// the base
        pub base_i: Signal<In, U<WIDE>>,
        /// one bit per word: the word is a delta from the base
        pub near_o: Signal<Out, U<WORDS>>,
        high_half: Signal<Local, Bit>,
        lowest: Signal<Local, U<DELTA>>,
        above: Signal<Local, U<DELTA>>,
        /// upper bits through which a carry or a borrow propagates
        passes: Signal<Local, U<DELTA>>,
        word: Signal<Local, U<WIDE>>,
        /// upper bits in which the word differs from the base
        differs: Signal<Local, U<DELTA>>,
        /// upper bits in which a word in the range differs from the base
        changes: Signal<Local, U<DELTA>>,
        near: Signal<Local, U<WORDS>>,
    }
}

#[hdl_gen]
impl Logic for BdiNear {
    fn update(&mut self) {
        comment!("low bits of the smallest word in range: the base's low bits minus half the range");
        self.high_half.next = self.base_i.val().get_bit(DELTA - 1);
        self.lowest.next = self.base_i.val().get_bits::<DELTA>(0);
        self.lowest.next[DELTA - 1] = !self.high_half.val();

        comment!("the range extends into the block of 2^DELTA values above or below the base's block");
        self.above.next = self.base_i.val().get_bits::<DELTA>(DELTA);
        comment!(
            "a carry propagates through ones and a borrow through zeros; both invert each bit that they reach"
        );
        self.passes.next = !self.above.val();
        if self.high_half.val() {
            self.passes.next = self.above.val();
        }

        drive!(self; word: 0, differs: 0, changes: 0, near: 0);
        for i in 0..WORDS {
            self.word.next = self.line_i.val().get_bits::<WIDE>(i * STRIDE);
            self.differs.next = self.word.val().get_bits::<DELTA>(DELTA) ^ self.above.val();
            comment!("compare bit by bit, so that the path contains no carry chain");
            self.changes.next = (self.differs.val() & self.passes.val()) << 1;
            self.changes.next[0] =
                (self.word.val().get_bits::<DELTA>(0) < self.lowest.val()) == self.high_half.val();
            self.near.next[i] = self.differs.val() == self.changes.val();
        }
        self.near_o.next = self.near.val();
    }
}

rtl_block! {
    /// Compares the upper bits of words with a sign: finds the words whose upper bits are all copies of it.
    ///
    /// UP is the number of bits that are compared, the highest ones of each STRIDE bits.
    pub struct BdiSigns<
        const UP: usize, const STRIDE: usize, const WORDS: usize, const LINE: usize, const LW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// the sign
        pub sign_i: Signal<In, Bit>,
        /// one bit per word: its upper bits all equal the sign
        pub same_o: Signal<Out, U<WORDS>>,
        upper: Signal<Local, U<UP>>,
        same: Signal<Local, U<WORDS>>,
    }
}

#[hdl_gen]
impl Logic for BdiSigns {
    fn update(&mut self) {
        drive!(self; upper: 0, same: 0);
        for i in 0..WORDS {
            self.upper.next = self.line_i.val().get_bits::<UP>(i * STRIDE + STRIDE - UP);
            self.same.next[i] =
                (self.upper.val().all() & self.sign_i.val()) | (!self.upper.val().any() & !self.sign_i.val());
        }
        self.same_o.next = self.same.val();
    }
}

rtl_block! {
    /// Tries all encodings and selects the one with the smallest payload; ties go to the wider base.
    ///
    /// A word is a 1-byte delta from an 8-byte base if three conditions hold. It is a 4-byte delta from the base, the lower
    /// halves differ by a 2-byte delta, and the lowest quarters differ by a 1-byte delta. So no two encodings with the same
    /// base compare the same bits. If the bases differ, the base of the narrower delta has only copies of its sign in its
    /// upper bits. Every word that is a delta from it has the same upper bits.
    #[require(NEAR == FIRST + 13)]
    pub struct BdiNears<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const FIRST: usize, const FW: usize, const NEAR: usize, const NW: usize,
    > {
        /// the line, bases and masks, in the layout of [`BdiFirsts`](super::first::BdiFirsts)
        pub first_i: Signal<In, W<FIRST, FW>>,
        /// the same; then the tag of the encoding, and one bit for each tag from 2 to 10: the tag is selected
        pub near_o: Signal<Out, W<NEAR, NW>>,
        near_b8d4: Once<BdiNear<32, 64, 64, N8, LINE, LW>>,
        near_b8d2: Once<BdiNear<16, 32, 64, N8, LINE, LW>>,
        near_b8d1: Once<BdiNear<8, 16, 64, N8, LINE, LW>>,
        near_b4d2: Once<BdiNear<16, 32, 32, N4, LINE, LW>>,
        near_b4d1: Once<BdiNear<8, 16, 32, N4, LINE, LW>>,
        near_b2d1: Once<BdiNear<8, 16, 16, N2, LINE, LW>>,
        signs_b8d2: Once<BdiSigns<32, 64, N8, LINE, LW>>,
        signs_b8d1: Once<BdiSigns<48, 64, N8, LINE, LW>>,
        signs_b4d1: Once<BdiSigns<16, 32, N4, LINE, LW>>,
        line: Signal<Local, W<LINE, LW>>,
        near_8: Signal<Local, U<N8>>,
        near_4: Signal<Local, U<N4>>,
        /// tags of the encodings with deltas, smallest payload first
        order: Constant<U<24>> = Constant::new(order(LINE / 8)),
        uncompressed: Constant<U<4>> = tag(BdiEncoding::Uncompressed),
        zeros: Constant<U<4>> = tag(BdiEncoding::Zeros),
        b8d0: Constant<U<4>> = tag(BdiEncoding::B8D0),
        b4d0: Constant<U<4>> = tag(BdiEncoding::B4D0),
        b2d0: Constant<U<4>> = tag(BdiEncoding::B2D0),
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
        one: Constant<U<16>> = Constant::new(U::new(1)),
        /// bit of the selected tag
        takes: Signal<Local, U<16>>,
        near: Signal<Local, W<NEAR, NW>>,
    }
}

/// Returns the tags of the six encodings with deltas, the preferred one in the lowest four bits.
fn order(line_bytes: usize) -> U<24> {
    let with_deltas =
        BdiEncoding::by_size(line_bytes).into_iter().filter(|encoding| encoding.delta_bytes() > 0);
    U::new(
        with_deltas
            .enumerate()
            .fold(0, |order, (rank, encoding)| order | u64::from(encoding.tag()) << (4 * rank)),
    )
}

#[hdl_gen(search_layout!(first_i), search_layout!(near; tag: 4; takes: 9))]
impl Logic for BdiNears {
    fn update(&mut self) {
        self.line.next = bit_cast_to::<W<LINE, LW>>(self.first_i.val());
        self.near_b8d4.line_i.next = self.line.val();
        self.near_b8d4.base_i.next = self.first_i.val().get_bits::<64>(LINE);
        self.near_b8d2.line_i.next = self.line.val();
        self.near_b8d2.base_i.next = self.first_i.val().get_bits::<32>(LINE + 64);
        self.signs_b8d2.line_i.next = self.line.val();
        self.signs_b8d2.sign_i.next = self.first_i.val().get_bit(LINE + 95);
        self.near_b8d1.line_i.next = self.line.val();
        self.near_b8d1.base_i.next = self.first_i.val().get_bits::<16>(LINE + 96);
        self.signs_b8d1.line_i.next = self.line.val();
        self.signs_b8d1.sign_i.next = self.first_i.val().get_bit(LINE + 111);
        self.near_b4d2.line_i.next = self.line.val();
        self.near_b4d2.base_i.next = self.first_i.val().get_bits::<32>(LINE + 112);
        self.near_b4d1.line_i.next = self.line.val();
        self.near_b4d1.base_i.next = self.first_i.val().get_bits::<16>(LINE + 144);
        self.signs_b4d1.line_i.next = self.line.val();
        self.signs_b4d1.sign_i.next = self.first_i.val().get_bit(LINE + 159);
        self.near_b2d1.line_i.next = self.line.val();
        self.near_b2d1.base_i.next = self.first_i.val().get_bits::<16>(LINE + 160);

        comment!("an encoding fits if each word is a delta from zero or from the base");
        drive!(self; fits: 0, near_8: near_b8d4.near_o);
        self.fits.next[5] =
            (self.near_8.val() | self.first_i.val().get_bits::<N8>(LINE + 179 + 2 * N8)).all();
        if self.first_i.val().get_bit(LINE + 176) {
            self.near_8.next = self.signs_b8d2.same_o.val();
        }
        self.near_8.next = self.near_8.val() & self.near_b8d2.near_o.val();
        self.fits.next[4] = (self.near_8.val() | self.first_i.val().get_bits::<N8>(LINE + 179 + N8)).all();
        if self.first_i.val().get_bit(LINE + 177) {
            self.near_8.next = self.signs_b8d1.same_o.val();
        }
        self.near_8.next = self.near_8.val() & self.near_b8d1.near_o.val();
        self.fits.next[3] = (self.near_8.val() | self.first_i.val().get_bits::<N8>(LINE + 179)).all();
        self.near_4.next = self.near_b4d2.near_o.val();
        self.fits.next[8] =
            (self.near_4.val() | self.first_i.val().get_bits::<N4>(LINE + 179 + 3 * N8 + N4)).all();
        if self.first_i.val().get_bit(LINE + 178) {
            self.near_4.next = self.signs_b4d1.same_o.val();
        }
        self.near_4.next = self.near_4.val() & self.near_b4d1.near_o.val();
        self.fits.next[7] =
            (self.near_4.val() | self.first_i.val().get_bits::<N4>(LINE + 179 + 3 * N8)).all();
        self.fits.next[10] = (self.near_b2d1.near_o.val()
            | self.first_i.val().get_bits::<N2>(LINE + 179 + 3 * N8 + 2 * N4))
        .all();

        comment!("of the encodings with deltas, select the first that fits, smallest payload first");
        drive!(self; tag: uncompressed, candidate: 0, found: false, takes: 0);
        for rank in 0..6 {
            self.candidate.next = self.order.val().get_bits::<4>(rank * 4);
            if self.fits.val().get_bit(self.candidate.val().index()) & !self.found.val() {
                self.tag.next = self.candidate.val();
                self.takes.next = self.one.val() << self.candidate.val();
                self.found.next = true;
            }
        }

        comment!("a line of equal words has a shorter payload than any with deltas");
        self.first.next = self.line.val().get_bits::<64>(0);
        self.all_equal.next = true;
        for i in 1..N8 {
            if self.line.val().get_bits::<64>(i * 64) != self.first.val() {
                self.all_equal.next = false;
            }
        }
        self.halves_equal.next = self.first.val().get_bits::<32>(0) == self.first.val().get_bits::<32>(32);
        self.quarters_equal.next = self.halves_equal.val()
            & (self.first.val().get_bits::<16>(0) == self.first.val().get_bits::<16>(16));
        if self.all_equal.val() {
            self.takes.next = 0.into();
            if !self.first.val().any() {
                self.tag.next = self.zeros.val();
            } else if self.quarters_equal.val() {
                self.tag.next = self.b2d0.val();
                self.takes.next = self.one.val() << self.b2d0.val();
            } else if self.halves_equal.val() {
                self.tag.next = self.b4d0.val();
                self.takes.next = self.one.val() << self.b4d0.val();
            } else {
                self.tag.next = self.b8d0.val();
                self.takes.next = self.one.val() << self.b8d0.val();
            }
        }
        self.near.next = bit_cast_to::<W<NEAR, NW>>(self.first_i.val());
        self.near.next[FIRST..] = self.tag.val();
        self.near.next[FIRST + 4..] = self.takes.val().get_bits::<9>(2);
        self.near_o.next = self.near.val();
    }
}
