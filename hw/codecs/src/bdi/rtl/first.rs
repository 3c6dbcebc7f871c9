//! First step of the compressor: for each encoding, the words that are deltas from zero, and the base.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Finds the base and the mask of one encoding.
    ///
    /// BASE is the number of bits of a word, DELTA of a delta, and LOW of the part of the base that is selected here. A
    /// word is a delta of DELTA bits from zero if its SIGN = BASE - DELTA + 1 upper bits are all equal. These are the bits
    /// from the delta's sign up. If SEARCH is 1, the base is the first word that is not a delta from zero. If SEARCH is 0,
    /// it is the line's first word.
    pub struct BdiFirst<
        const BASE: usize, const DELTA: usize, const SIGN: usize, const LOW: usize, const WORDS: usize,
        const SEARCH: usize, const LINE: usize, const LW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// low bits of the base; zero if no word needs a base
        pub base_o: Signal<Out, U<LOW>>,
        /// one bit per word: it is a delta from zero
        pub mask_o: Signal<Out, U<WORDS>>,
        /// one bit per word: the word is the base
        pub first_o: Signal<Out, U<WORDS>>,
        candidate: Signal<Local, U<LOW>>,
        sign: Signal<Local, U<SIGN>>,
        mask: Signal<Local, U<WORDS>>,
        /// marks the first word that is not a delta from zero, and all words after it
        seen: Signal<Local, U<WORDS>>,
        /// marks that first word
        first: Signal<Local, U<WORDS>>,
        base: Signal<Local, U<LOW>>,
    }
}

#[hdl_gen]
impl Logic for BdiFirst {
    fn update(&mut self) {
        drive!(self; sign: 0, mask: 0);
        for i in 0..WORDS {
            self.sign.next = self.line_i.val().get_bits::<SIGN>(i * BASE + DELTA - 1);
            self.mask.next[i] = self.sign.val().all() | !self.sign.val().any();
        }

        self.first.next = 0.into();
        self.first.next[0] = true;
        self.seen.next = 0.into();
        for _search in 0..SEARCH {
            comment!("find the first zero of the mask in log2 steps: a chain over 64 words is too slow");
            self.seen.next = !self.mask.val();
            self.seen.next = self.seen.val() | (self.seen.val() << 1);
            self.seen.next = self.seen.val() | (self.seen.val() << 2);
            self.seen.next = self.seen.val() | (self.seen.val() << 4);
            self.seen.next = self.seen.val() | (self.seen.val() << 8);
            self.seen.next = self.seen.val() | (self.seen.val() << 16);
            self.seen.next = self.seen.val() | (self.seen.val() << 32);
            self.first.next = !self.mask.val() & !(self.seen.val() << 1);
        }
        drive!(self; candidate: 0, base: 0);
        for i in 0..WORDS {
            self.candidate.next = 0.into();
            if self.first.val().get_bit(i) {
                self.candidate.next = self.line_i.val().get_bits::<LOW>(i * BASE);
            }
            self.base.next = self.base.val() | self.candidate.val();
        }
        drive!(self; base_o: base, mask_o: mask, first_o: first);
    }
}

rtl_block! {
    /// Puts bases and masks of all encodings with deltas above the line.
    ///
    /// From bit LINE up, first come the bases as [`BdiNears`](super::near::BdiNears) needs them: 64 bits for B8D4, 32 for
    /// B8D2, 16 for B8D1, 32 for B4D2, 16 for B4D1, and 16 for B2D1. Then come three bits, for B8D2, B8D1 and B4D1. Each is
    /// set if the upper bits of that base are copies of its sign. Then come the masks, in order of the tags. If one of the
    /// three bits is clear, the base has the same upper bits as the base with the next wider delta. Both bases are then the same
    /// word: the words before it are deltas from zero for the narrower delta, and so also for the wider one.
    #[require(N8 * 64 == LINE && N4 * 32 == LINE && N2 * 16 == LINE)]
    #[require(FIRST == LINE + 179 + 3 * N8 + 2 * N4 + N2)]
    pub struct BdiFirsts<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const SEARCH: usize, const FIRST: usize, const FW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// the line, bases and masks
        pub first_o: Signal<Out, W<FIRST, FW>>,
        first_b8d1: Once<BdiFirst<64, 8, 57, 16, N8, SEARCH, LINE, LW>>,
        first_b8d2: Once<BdiFirst<64, 16, 49, 32, N8, SEARCH, LINE, LW>>,
        first_b8d4: Once<BdiFirst<64, 32, 33, 64, N8, SEARCH, LINE, LW>>,
        first_b4d1: Once<BdiFirst<32, 8, 25, 16, N4, SEARCH, LINE, LW>>,
        first_b4d2: Once<BdiFirst<32, 16, 17, 32, N4, SEARCH, LINE, LW>>,
        first_b2d1: Once<BdiFirst<16, 8, 9, 16, N2, SEARCH, LINE, LW>>,
        first: Signal<Local, W<FIRST, FW>>,
    }
}

#[hdl_gen(search_layout!(first))]
impl Logic for BdiFirsts {
    fn update(&mut self) {
        drive!(self; first_b8d1.line_i: line_i, first_b8d2.line_i: line_i, first_b8d4.line_i: line_i,
            first_b4d1.line_i: line_i, first_b4d2.line_i: line_i, first_b2d1.line_i: line_i);
        self.first.next = bit_cast_to::<W<FIRST, FW>>(self.line_i.val());
        self.first.next[LINE..] = self.first_b8d4.base_o.val();
        self.first.next[LINE + 64..] = self.first_b8d2.base_o.val();
        self.first.next[LINE + 96..] = self.first_b8d1.base_o.val();
        self.first.next[LINE + 112..] = self.first_b4d2.base_o.val();
        self.first.next[LINE + 144..] = self.first_b4d1.base_o.val();
        self.first.next[LINE + 160..] = self.first_b2d1.base_o.val();
        comment!("the base is a delta from zero of the next wider kind");
        for _search in 0..SEARCH {
            self.first.next[LINE + 176] =
                (self.first_b8d2.first_o.val() & self.first_b8d4.mask_o.val()).any();
            self.first.next[LINE + 177] =
                (self.first_b8d1.first_o.val() & self.first_b8d2.mask_o.val()).any();
            self.first.next[LINE + 178] =
                (self.first_b4d1.first_o.val() & self.first_b4d2.mask_o.val()).any();
        }
        self.first.next[LINE + 179..] = self.first_b8d1.mask_o.val();
        self.first.next[LINE + 179 + N8..] = self.first_b8d2.mask_o.val();
        self.first.next[LINE + 179 + 2 * N8..] = self.first_b8d4.mask_o.val();
        self.first.next[LINE + 179 + 3 * N8..] = self.first_b4d1.mask_o.val();
        self.first.next[LINE + 179 + 3 * N8 + N4..] = self.first_b4d2.mask_o.val();
        self.first.next[LINE + 179 + 3 * N8 + 2 * N4..] = self.first_b2d1.mask_o.val();
        self.first_o.next = self.first.val();
    }
}
