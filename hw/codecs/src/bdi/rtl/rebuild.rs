//! The steps of the decompressor: spread the deltas to whole words, select the base of each word, add.

use super::bases::{BdiBases, BdiStops};
use super::choose::tag;
use crate::bdi::encoding::BdiEncoding;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Spreads the deltas of one encoding: sign-extends each delta to a whole word, at the position of that word in the
    /// line.
    ///
    /// BASE is the number of bits of a word, DELTA of a delta, and HEAD of base and mask together.
    pub struct BdiSpreadOne<
        const BASE: usize, const DELTA: usize, const WORDS: usize, const HEAD: usize, const LINE: usize, const LW: usize,
    > {
        /// the payload
        pub payload_i: Signal<In, W<LINE, LW>>,
        /// the deltas
        pub deltas_o: Signal<Out, W<LINE, LW>>,
        delta: Signal<Local, U<DELTA>>,
        word: Signal<Local, U<BASE>>,
        deltas: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for BdiSpreadOne {
    fn update(&mut self) {
        drive!(self; delta: 0, word: 0, deltas: 0);
        for i in 0..WORDS {
            self.delta.next = self.payload_i.val().get_bits::<DELTA>(HEAD + i * DELTA);
            comment!("sign-extend the delta");
            self.word.next = 0.into();
            if self.delta.val().get_bit(DELTA - 1) {
                self.word.next = !self.word.val();
            }
            self.word.next[0..] = self.delta.val();
            self.deltas.next[i * BASE..] = self.word.val();
        }
        self.deltas_o.next = self.deltas.val();
    }
}

rtl_block! {
    /// First step: splits the payload. For each width of words, H8, H4 and H2 are the numbers of bits of base and mask
    /// together.
    #[require(H8 == 64 + N8.next_multiple_of(8))]
    #[require(H4 == 32 + N4.next_multiple_of(8) && H2 == 16 + N2.next_multiple_of(8))]
    pub struct BdiSpread<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const H8: usize, const H4: usize, const H2: usize,
    > {
        /// the payload
        pub payload_i: Signal<In, W<LINE, LW>>,
        /// tag of the encoding
        pub tag_i: Signal<In, U<4>>,
        /// the deltas, spread to words; the line itself if it is uncompressed
        pub deltas_o: Signal<Out, W<LINE, LW>>,
        /// one bit per word: it is a delta from zero
        pub mask_o: Signal<Out, U<N2>>,
        spread_b8d1: Once<BdiSpreadOne<64, 8, N8, H8, LINE, LW>>,
        spread_b8d2: Once<BdiSpreadOne<64, 16, N8, H8, LINE, LW>>,
        spread_b8d4: Once<BdiSpreadOne<64, 32, N8, H8, LINE, LW>>,
        spread_b4d1: Once<BdiSpreadOne<32, 8, N4, H4, LINE, LW>>,
        spread_b4d2: Once<BdiSpreadOne<32, 16, N4, H4, LINE, LW>>,
        spread_b2d1: Once<BdiSpreadOne<16, 8, N2, H2, LINE, LW>>,
        uncompressed: Constant<U<4>> = tag(BdiEncoding::Uncompressed),
        b8d1: Constant<U<4>> = tag(BdiEncoding::B8D1),
        b8d2: Constant<U<4>> = tag(BdiEncoding::B8D2),
        b8d4: Constant<U<4>> = tag(BdiEncoding::B8D4),
        b4d1: Constant<U<4>> = tag(BdiEncoding::B4D1),
        b4d2: Constant<U<4>> = tag(BdiEncoding::B4D2),
        b2d1: Constant<U<4>> = tag(BdiEncoding::B2D1),
    }
}

#[hdl_gen]
impl Logic for BdiSpread {
    fn update(&mut self) {
        drive!(self; spread_b8d1.payload_i: payload_i, spread_b8d2.payload_i: payload_i,
            spread_b8d4.payload_i: payload_i, spread_b4d1.payload_i: payload_i,
            spread_b4d2.payload_i: payload_i, spread_b2d1.payload_i: payload_i);

        comment!("zeros and equal words have no deltas and no mask");
        drive!(self; deltas_o: 0, mask_o: 0);
        if self.tag_i.val() == self.uncompressed.val() {
            self.deltas_o.next = self.payload_i.val();
        } else if self.tag_i.val() == self.b8d1.val() {
            self.deltas_o.next = self.spread_b8d1.deltas_o.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.payload_i.val().get_bits::<N8>(64));
        } else if self.tag_i.val() == self.b8d2.val() {
            self.deltas_o.next = self.spread_b8d2.deltas_o.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.payload_i.val().get_bits::<N8>(64));
        } else if self.tag_i.val() == self.b8d4.val() {
            self.deltas_o.next = self.spread_b8d4.deltas_o.val();
            self.mask_o.next = bit_cast::<N2, N8>(self.payload_i.val().get_bits::<N8>(64));
        } else if self.tag_i.val() == self.b4d1.val() {
            self.deltas_o.next = self.spread_b4d1.deltas_o.val();
            self.mask_o.next = bit_cast::<N2, N4>(self.payload_i.val().get_bits::<N4>(32));
        } else if self.tag_i.val() == self.b4d2.val() {
            self.deltas_o.next = self.spread_b4d2.deltas_o.val();
            self.mask_o.next = bit_cast::<N2, N4>(self.payload_i.val().get_bits::<N4>(32));
        } else if self.tag_i.val() == self.b2d1.val() {
            self.deltas_o.next = self.spread_b2d1.deltas_o.val();
            self.mask_o.next = self.payload_i.val().get_bits::<N2>(16);
        }
    }
}

rtl_block! {
    /// Second step: selects the base of each word.
    #[require(N8 * 64 == LINE && N4 * 32 == LINE && N2 * 16 == LINE && BOTH == 2 * LINE + 4)]
    pub struct BdiOperands<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const BOTH: usize, const BW: usize,
    > {
        /// the deltas, spread to words; the line itself if it is uncompressed
        pub deltas_i: Signal<In, W<LINE, LW>>,
        /// tag of the encoding
        pub tag_i: Signal<In, U<4>>,
        /// the base, in the low bits
        pub base_i: Signal<In, U<64>>,
        /// one bit per word: it is a delta from zero
        pub mask_i: Signal<In, U<N2>>,
        /// from bit 0 up: the deltas, a base or zero for each delta, and the tag
        pub operands_o: Signal<Out, W<BOTH, BW>>,
        widths: Once<BdiStops>,
        word_bases: Once<BdiBases<LINE, LW, N8, N4, N2>>,
        has_base: Signal<Local, Bit>,
        pairs: Signal<Local, W<BOTH, BW>>,
        zeros: Constant<U<4>> = tag(BdiEncoding::Zeros),
        b2d1: Constant<U<4>> = tag(BdiEncoding::B2D1),
    }
}

#[hdl_gen]
impl Logic for BdiOperands {
    fn update(&mut self) {
        self.has_base.next = (self.tag_i.val() > self.zeros.val()) & (self.tag_i.val() <= self.b2d1.val());
        drive!(self; widths.tag_i: tag_i, word_bases.base_i: 0);
        if self.has_base.val() {
            self.word_bases.base_i.next = self.base_i.val();
        }
        drive!(self.word_bases; mask_i, b8_i: widths.b8_o, b4_i: widths.b4_o);

        self.pairs.next = bit_cast_to::<W<BOTH, BW>>(self.deltas_i.val());
        for i in 0..N8 {
            self.pairs.next[LINE + i * 64..] = self.word_bases.bases_o.val().get_bits::<64>(i * 64);
        }
        self.pairs.next[2 * LINE..] = self.tag_i.val();
        self.operands_o.next = self.pairs.val();
    }
}

rtl_block! {
    /// Last step: makes the line. Each word is the sum of its delta and its base.
    #[require(N8 * 64 == LINE && BOTH == 2 * LINE + 4)]
    pub struct BdiAdd<const LINE: usize, const LW: usize, const N8: usize, const BOTH: usize, const BW: usize> {
        /// deltas, bases and tag, in the layout of [`BdiOperands`]
        pub operands_i: Signal<In, W<BOTH, BW>>,
        /// the line
        pub line_o: Signal<Out, W<LINE, LW>>,
        /// the tag is undefined
        pub error_o: Signal<Out, Bit>,
        widths: Once<BdiStops>,
        word: Signal<Local, U<64>>,
        base: Signal<Local, U<64>>,
        stops: Signal<Local, U<64>>,
        sum: Signal<Local, U<64>>,
        line: Signal<Local, W<LINE, LW>>,
        b2d1: Constant<U<4>> = tag(BdiEncoding::B2D1),
    }
}

#[hdl_gen]
impl Logic for BdiAdd {
    fn update(&mut self) {
        comment!("tags above the last encoding are errors; their deltas and bases are zero");
        self.error_o.next = self.operands_i.val().get_bits::<4>(2 * LINE) > self.b2d1.val();

        comment!("one row of adders for words of every width: at the highest bit of each a carry ends");
        self.widths.tag_i.next = self.operands_i.val().get_bits::<4>(2 * LINE);
        drive!(self; stops: widths.stops_o, word: 0, base: 0, sum: 0, line: 0);
        for i in 0..N8 {
            self.word.next = self.operands_i.val().get_bits::<64>(i * 64);
            self.base.next = self.operands_i.val().get_bits::<64>(LINE + i * 64);
            self.sum.next = (self.word.val() & !self.stops.val()) + (self.base.val() & !self.stops.val());
            self.sum.next = self.sum.val() ^ ((self.word.val() ^ self.base.val()) & self.stops.val());
            self.line.next[i * 64..] = self.sum.val();
        }
        self.line_o.next = self.line.val();
    }
}
