//! What the compressor looks at first: for each encoding, which words are deltas from zero, and which is the base.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// The base and the mask of one encoding.
    ///
    /// BASE and DELTA are the bits of a word and of a delta, LOW those of the base that are chosen here. A word is a delta of DELTA
    /// bits from zero when its upper bits, from the delta's sign on (SIGN = BASE - DELTA + 1 of them), are all equal. The base is
    /// the first word that is none (SEARCH is 1), or the line's first word (SEARCH is 0).
    #[derive(LogicBlock, Default)]
    pub struct BdiFirst<
        const BASE: usize, const DELTA: usize, const SIGN: usize, const LOW: usize, const WORDS: usize,
        const SEARCH: usize, const LINE: usize, const LW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// the low bits of the base; zero when no word needs one
        pub base_o: Signal<Out, U<LOW>>,
        /// one bit per word: it is a delta from zero
        pub mask_o: Signal<Out, U<WORDS>>,
        /// the bit of the word that is the base
        pub first_o: Signal<Out, U<WORDS>>,
        candidate: Signal<Local, U<LOW>>,
        sign: Signal<Local, U<SIGN>>,
        mask: Signal<Local, U<WORDS>>,
        /// every bit from the first word on that is no delta from zero
        seen: Signal<Local, U<WORDS>>,
        /// that word's bit
        first: Signal<Local, U<WORDS>>,
        base: Signal<Local, U<LOW>>,
    }
}

impl<
    const BASE: usize,
    const DELTA: usize,
    const SIGN: usize,
    const LOW: usize,
    const WORDS: usize,
    const SEARCH: usize,
    const LINE: usize,
    const LW: usize,
> Logic for BdiFirst<BASE, DELTA, SIGN, LOW, WORDS, SEARCH, LINE, LW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.sign.next = 0.into();
        self.mask.next = 0.into();
        for i in 0..WORDS {
            self.sign.next = self.line_i.val().get_bits::<SIGN>(i * BASE + DELTA - 1);
            self.mask.next = self.mask.val().replace_bit(i, self.sign.val().all() | !self.sign.val().any());
        }

        self.first.next = 0.into();
        self.first.next = self.first.val().replace_bit(0, true);
        self.seen.next = 0.into();
        for _search in 0..SEARCH {
            comment!(
                "the first zero of the mask, in steps that double, since a chain over 64 words is a long path"
            );
            self.seen.next = !self.mask.val();
            self.seen.next = self.seen.val() | (self.seen.val() << 1);
            self.seen.next = self.seen.val() | (self.seen.val() << 2);
            self.seen.next = self.seen.val() | (self.seen.val() << 4);
            self.seen.next = self.seen.val() | (self.seen.val() << 8);
            self.seen.next = self.seen.val() | (self.seen.val() << 16);
            self.seen.next = self.seen.val() | (self.seen.val() << 32);
            self.first.next = !self.mask.val() & !(self.seen.val() << 1);
        }
        self.candidate.next = 0.into();
        self.base.next = 0.into();
        for i in 0..WORDS {
            self.candidate.next = 0.into();
            if self.first.val().get_bit(i) {
                self.candidate.next = self.line_i.val().get_bits::<LOW>(i * BASE);
            }
            self.base.next = self.base.val() | self.candidate.val();
        }
        self.base_o.next = self.base.val();
        self.mask_o.next = self.mask.val();
        self.first_o.next = self.first.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const BASE: usize,
    const DELTA: usize,
    const SIGN: usize,
    const LOW: usize,
    const WORDS: usize,
    const SEARCH: usize,
    const LINE: usize,
    const LW: usize,
> PureLogic for BdiFirst<BASE, DELTA, SIGN, LOW, WORDS, SEARCH, LINE, LW>
{
    #[inline]
    fn take_inputs(&mut self) {
        self.line_i.update_all();
    }
}

rtl_block! {
    /// Bases and masks of all encodings with deltas, side by side above the line.
    ///
    /// From bit LINE up: the bases as [`BdiNears`](super::near::BdiNears) needs them, which are the 64 bits of B8D4's, 32 of B8D2's,
    /// 16 of B8D1's, 32 of B4D2's, 16 of B4D1's and 16 of B2D1's; three bits that say of B8D2's, B8D1's and B4D1's that the bits
    /// above are copies of the sign; the masks, in order of the tags. Without such a bit, the bits above are those of the base with
    /// the next wider delta: that is the same word then, as a word that is no short delta from zero is none of the narrower ones.
    #[derive(LogicBlock, Default)]
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

impl<
    const LINE: usize,
    const LW: usize,
    const N8: usize,
    const N4: usize,
    const N2: usize,
    const SEARCH: usize,
    const FIRST: usize,
    const FW: usize,
> Logic for BdiFirsts<LINE, LW, N8, N4, N2, SEARCH, FIRST, FW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.first_b8d1.line_i.next = self.line_i.val();
        self.first_b8d2.line_i.next = self.line_i.val();
        self.first_b8d4.line_i.next = self.line_i.val();
        self.first_b4d1.line_i.next = self.line_i.val();
        self.first_b4d2.line_i.next = self.line_i.val();
        self.first_b2d1.line_i.next = self.line_i.val();
        self.first.next = bit_cast_to::<W<FIRST, FW>>(self.line_i.val());
        self.first.next = self.first.val().replace_bit(LINE, self.first_b8d4.base_o.val());
        self.first.next = self.first.val().replace_bit(LINE + 64, self.first_b8d2.base_o.val());
        self.first.next = self.first.val().replace_bit(LINE + 96, self.first_b8d1.base_o.val());
        self.first.next = self.first.val().replace_bit(LINE + 112, self.first_b4d2.base_o.val());
        self.first.next = self.first.val().replace_bit(LINE + 144, self.first_b4d1.base_o.val());
        self.first.next = self.first.val().replace_bit(LINE + 160, self.first_b2d1.base_o.val());
        comment!("is the base a delta from zero of the next longer kind?");
        for _search in 0..SEARCH {
            self.first.next = self.first.val().replace_bit(
                LINE + 176,
                (self.first_b8d2.first_o.val() & self.first_b8d4.mask_o.val()).any(),
            );
            self.first.next = self.first.val().replace_bit(
                LINE + 177,
                (self.first_b8d1.first_o.val() & self.first_b8d2.mask_o.val()).any(),
            );
            self.first.next = self.first.val().replace_bit(
                LINE + 178,
                (self.first_b4d1.first_o.val() & self.first_b4d2.mask_o.val()).any(),
            );
        }
        self.first.next = self.first.val().replace_bit(LINE + 179, self.first_b8d1.mask_o.val());
        self.first.next = self.first.val().replace_bit(LINE + 179 + N8, self.first_b8d2.mask_o.val());
        self.first.next = self.first.val().replace_bit(LINE + 179 + 2 * N8, self.first_b8d4.mask_o.val());
        self.first.next = self.first.val().replace_bit(LINE + 179 + 3 * N8, self.first_b4d1.mask_o.val());
        self.first.next =
            self.first.val().replace_bit(LINE + 179 + 3 * N8 + N4, self.first_b4d2.mask_o.val());
        self.first.next =
            self.first.val().replace_bit(LINE + 179 + 3 * N8 + 2 * N4, self.first_b2d1.mask_o.val());
        self.first_o.next = self.first.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        [self.describe(), search_layout!(first)].concat()
    }
}
