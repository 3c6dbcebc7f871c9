//! The second half of the compressor: packs head and data into one string.

use super::classify::prefix;
use crate::fpc::pattern::Pattern;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Packs the symbols into the head, and the data of the words after it. If the result is not shorter than the line, the
    /// payload is the line.
    ///
    /// HEAD is the bits of the longest head. HSUM and SIZE are the widths of the lengths of head and payload.
    #[require(WORDS * 32 == LINE && GROUPS * GROUP == WORDS && SYM == 9 * GROUPS)]
    // A run of one word takes 6 bits and a nonzero word takes 3; no two words take more.
    #[require(HEAD == if GROUP == 1 { 9 * WORDS / 2 } else { 3 * GROUPS })]
    #[require(LINE + HEAD < 1 << SIZE)]
    pub struct FpcPack<
        const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
        const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize, const SIZE: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// prefix, run and length for each group
        pub symbols_i: Signal<In, W<SYM, SYMW>>,
        /// 1: head and data; 0: uncompressed line
        pub encoding_o: Signal<Out, U<1>>,
        /// size of the payload in bits
        pub size_o: Signal<Out, U<SIZE>>,
        /// the payload; zero beyond its size
        pub payload_o: Signal<Out, W<LINE, LW>>,
        head: Once<BitPacker<GROUPS, 6, 3, HEAD, HEADW, HSUM>>,
        data: Once<BitPacker<WORDS, 32, 6, LINE, LW, SIZE>>,
        zeros: Constant<U<3>> = prefix(Pattern::Zeros),
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        upper16: Constant<U<3>> = prefix(Pattern::Upper16),
        two_bytes: Constant<U<3>> = prefix(Pattern::TwoBytes),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        line_bits: Constant<U<SIZE>> = Constant::new(U::new(LINE as u64)),
        prefix: Signal<Local, U<3>>,
        length: Signal<Local, U<6>>,
        word: Signal<Local, U<32>>,
        kept: Signal<Local, U<32>>,
        size: Signal<Local, U<SIZE>>,
    }
}

#[hdl_gen]
impl Logic for FpcPack {
    fn update(&mut self) {
        drive!(self; prefix: 0, length: 0, word: 0, kept: 0);
        for g in 0..GROUPS {
            self.head.field_i[g].next = self.symbols_i.val().get_bits::<6>(g * 9);
            self.head.length_i[g].next = self.symbols_i.val().get_bits::<3>(g * 9 + 6);
            self.prefix.next = self.symbols_i.val().get_bits::<3>(g * 9);
            comment!("bits that are kept of each word");
            self.length.next = 16.into();
            if self.prefix.val() == self.zeros.val() {
                self.length.next = 0.into();
            } else if self.prefix.val() == self.sign4.val() {
                self.length.next = 4.into();
            } else if (self.prefix.val() == self.sign8.val()) | (self.prefix.val() == self.repeated.val()) {
                self.length.next = 8.into();
            } else if self.prefix.val() == self.raw.val() {
                self.length.next = 32.into();
            }
            for w in 0..GROUP {
                self.word.next = self.line_i.val().get_bits::<32>((g * GROUP + w) * 32);
                self.kept.next = self.word.val();
                if self.prefix.val() == self.upper16.val() {
                    self.kept.next = self.word.val() >> 16;
                } else if self.prefix.val() == self.two_bytes.val() {
                    self.kept.next[8..] = self.word.val().get_bits::<8>(16);
                }
                drive!(self.data; field_i[g * GROUP + w]: kept, length_i[g * GROUP + w]: length);
            }
        }
        self.size.next = bit_cast::<SIZE, HSUM>(self.head.length_o.val()) + self.data.length_o.val();
        drive!(self; encoding_o: 1, size_o: size);
        self.payload_o.next = (self.data.string_o.val() << self.head.length_o.val())
            | bit_cast_to::<W<LINE, LW>>(self.head.string_o.val());
        if self.size.val() >= self.line_bits.val() {
            drive!(self; encoding_o: 0, size_o: line_bits, payload_o: line_i);
        }
    }
}
