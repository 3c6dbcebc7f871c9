//! Rebuilds each word from its data.

use super::classify::prefix;
use super::split::FpcLengths;
use crate::fpc::pattern::Pattern;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Splits strings of a few words into the data of each word, and rebuilds the word by its prefix.
    #[require(WORDS * 32 == LINE && GROUPS * GROUP == WORDS && PRE == 3 * GROUPS)]
    pub struct FpcExpand<
        const LINE: usize, const LW: usize, const WORDS: usize, const LEVELS: usize, const GROUPS: usize,
        const GROUP: usize, const PRE: usize, const PREW: usize,
    > {
        /// 1: data of words; 0: uncompressed line
        pub encoding_i: Signal<In, U<1>>,
        /// strings of equal width, each beginning with the data of its first word; or the line
        pub strings_i: Signal<In, W<LINE, LW>>,
        /// a prefix for each group
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// the head is invalid: the line is zero
        pub error_i: Signal<In, Bit>,
        /// the line
        pub line_o: Signal<Out, W<LINE, LW>>,
        lengths: Once<FpcLengths<WORDS, GROUPS, GROUP, PRE, PREW>>,
        data: Once<BitUnpacker<WORDS, 32, 6, LINE, LW, LEVELS>>,
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        sign16: Constant<U<3>> = prefix(Pattern::Sign16),
        upper16: Constant<U<3>> = prefix(Pattern::Upper16),
        two_bytes: Constant<U<3>> = prefix(Pattern::TwoBytes),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        /// ones above a sign-extended field
        above4: Constant<U<32>> = Constant::new(U::new(u64::MAX << 4)),
        above8: Constant<U<32>> = Constant::new(U::new(u64::MAX << 8)),
        above16: Constant<U<32>> = Constant::new(U::new(u64::MAX << 16)),
        ones: Constant<U<8>> = Constant::new(U::new(0xff)),
        pattern: Signal<Local, U<3>>,
        kept: Signal<Local, U<32>>,
        word: Signal<Local, U<32>>,
        line: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for FpcExpand {
    fn update(&mut self) {
        drive!(self; lengths.prefixes_i: prefixes_i, data.string_i: strings_i);
        for w in 0..WORDS {
            self.data.length_i[w].next = self.lengths.length_o[w].val();
        }
        drive!(self; pattern: 0, kept: 0, word: 0, line: 0);
        for g in 0..GROUPS {
            self.pattern.next = self.prefixes_i.val().get_bits::<3>(g * 3);
            for w in 0..GROUP {
                comment!("what is kept of a word is zero from its length on");
                drive!(self; kept: data.field_o[g * GROUP + w], word: kept);
                if (self.pattern.val() == self.sign4.val()) & self.kept.val().get_bit(3) {
                    self.word.next = self.kept.val() | self.above4.val();
                } else if (self.pattern.val() == self.sign8.val()) & self.kept.val().get_bit(7) {
                    self.word.next = self.kept.val() | self.above8.val();
                } else if (self.pattern.val() == self.sign16.val()) & self.kept.val().get_bit(15) {
                    self.word.next = self.kept.val() | self.above16.val();
                } else if self.pattern.val() == self.upper16.val() {
                    self.word.next = self.kept.val() << 16;
                } else if self.pattern.val() == self.two_bytes.val() {
                    self.word.next = 0.into();
                    self.word.next[16..] = self.kept.val().get_bits::<8>(8);
                    self.word.next[0..] = self.kept.val().get_bits::<8>(0);
                    if self.kept.val().get_bit(15) {
                        self.word.next[24..] = self.ones.val();
                    }
                    if self.kept.val().get_bit(7) {
                        self.word.next[8..] = self.ones.val();
                    }
                } else if self.pattern.val() == self.repeated.val() {
                    self.word.next[8..] = self.kept.val().get_bits::<8>(0);
                    self.word.next[16..] = self.word.val().get_bits::<16>(0);
                }
                self.line.next[(g * GROUP + w) * 32..] = self.word.val();
            }
        }
        self.line_o.next = self.line.val();
        if self.error_i.val() {
            self.line_o.next = 0.into();
        } else if !self.encoding_i.val().get_bit(0) {
            self.line_o.next = self.strings_i.val();
        }
    }
}
