//! The subtraction of the compressor: each word of the line becomes its delta.

use super::choose::tag;
use crate::bdi::encoding::BdiEncoding;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Subtracts the chosen base or zero from each word. A line that stays uncompressed passes unchanged.
    ///
    /// A delta has at most half the bits of its word, so that only these bits are computed: in 8 bytes, 32 bits of one word,
    /// 16 of each of two, or 8 of each of four. The other bits are copied from the line.
    #[require(N8 * 64 == LINE && N2 * 16 == LINE)]
    pub struct BdiSubtract<const LINE: usize, const LW: usize, const N8: usize, const N2: usize> {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// tag of the encoding: 2 to 5 for words of 8 bytes, 6 to 8 for 4 bytes, 9 and 10 for 2 bytes
        pub tag_i: Signal<In, U<4>>,
        /// base of the encoding
        pub base_i: Signal<In, U<64>>,
        /// mask of the encoding
        pub mask_i: Signal<In, U<N2>>,
        /// the deltas, each in the low bits of its word
        pub deltas_o: Signal<Out, W<LINE, LW>>,
        uncompressed: Constant<U<4>> = tag(BdiEncoding::Uncompressed),
        b8d4: Constant<U<4>> = tag(BdiEncoding::B8D4),
        b4d2: Constant<U<4>> = tag(BdiEncoding::B4D2),
        b8: Signal<Local, Bit>,
        b2: Signal<Local, Bit>,
        /// a 4-byte base, or two copies of a 2-byte base
        pair: Signal<Local, U<32>>,
        /// mask bits of the words that start at each 2-byte boundary
        from_zero: Signal<Local, U<4>>,
        low_word: Signal<Local, U<32>>,
        low_base: Signal<Local, U<32>>,
        half_word: Signal<Local, U<16>>,
        half_base: Signal<Local, U<16>>,
        last_word: Signal<Local, U<8>>,
        last_base: Signal<Local, U<8>>,
        deltas: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for BdiSubtract {
    fn update(&mut self) {
        self.b8.next = self.tag_i.val() <= self.b8d4.val();
        self.b2.next = self.tag_i.val() > self.b4d2.val();
        self.pair.next = self.base_i.val().get_bits::<32>(0);
        comment!("2-byte words: the bit between two words stops the borrow; it belongs to no delta");
        if self.b2.val() {
            self.pair.next[16..] = self.base_i.val().get_bits::<16>(0);
            self.pair.next[15] = false;
        }

        drive!(self; from_zero: 0, low_word: 0, low_base: 0, half_word: 0, half_base: 0, last_word: 0,
            last_base: 0, deltas: line_i);
        for w in 0..N8 {
            self.from_zero.next = self.mask_i.val().get_bits::<4>(w * 4);
            if self.b8.val() {
                self.from_zero.next[0] = self.mask_i.val().get_bit(w);
                self.from_zero.next[1] = self.mask_i.val().get_bit(w);
            } else if !self.b2.val() {
                self.from_zero.next[0] = self.mask_i.val().get_bit(w * 2);
                self.from_zero.next[1] = self.mask_i.val().get_bit(w * 2);
                self.from_zero.next[2] = self.mask_i.val().get_bit(w * 2 + 1);
            }

            self.low_word.next = self.line_i.val().get_bits::<32>(w * 64);
            if self.b2.val() {
                self.low_word.next[15] = true;
            }
            drive!(self; low_base: 0, half_base: 0, last_base: 0);
            if !self.from_zero.val().get_bit(0) {
                self.low_base.next[0..] = self.pair.val().get_bits::<16>(0);
            }
            if !self.from_zero.val().get_bit(1) {
                self.low_base.next[16..] = self.pair.val().get_bits::<16>(16);
            }
            if !self.from_zero.val().get_bit(2) {
                self.half_base.next = self.base_i.val().get_bits::<16>(0);
            }
            if !self.from_zero.val().get_bit(3) {
                self.last_base.next = self.base_i.val().get_bits::<8>(0);
            }
            self.half_word.next = self.line_i.val().get_bits::<16>(w * 64 + 32);
            self.last_word.next = self.line_i.val().get_bits::<8>(w * 64 + 48);
            self.deltas.next[w * 64..] = self.low_word.val() - self.low_base.val();
            self.deltas.next[w * 64 + 32..] = self.half_word.val() - self.half_base.val();
            self.deltas.next[w * 64 + 48..] = self.last_word.val() - self.last_base.val();
        }
        self.deltas_o.next = self.deltas.val();
        if self.tag_i.val() == self.uncompressed.val() {
            self.deltas_o.next = self.line_i.val();
        }
    }
}
