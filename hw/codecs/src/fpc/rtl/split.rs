//! The data of the words: their lengths, and the upper half of the tree that splits them.

use super::classify::prefix;
use crate::fpc::pattern::Pattern;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Finds the number of data bits of each word, by the prefix of its group.
    #[require(GROUPS * GROUP == WORDS && PRE == 3 * GROUPS)]
    pub struct FpcLengths<
        const WORDS: usize, const GROUPS: usize, const GROUP: usize, const PRE: usize, const PREW: usize,
    > {
        /// a prefix for each group
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// data bits of each word
        pub length_o: [Signal<Out, U<6>>; WORDS] = array(),
        zeros: Constant<U<3>> = prefix(Pattern::Zeros),
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        prefix: Signal<Local, U<3>>,
        length: Signal<Local, U<6>>,
    }
}

#[hdl_gen]
impl Logic for FpcLengths {
    fn update(&mut self) {
        drive!(self; prefix: 0, length: 0);
        for g in 0..GROUPS {
            self.prefix.next = self.prefixes_i.val().get_bits::<3>(g * 3);
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
                self.length_o[g * GROUP + w].next = self.length.val();
            }
        }
    }
}

rtl_block! {
    /// Splits the data into strings of a few words each, with LEVELS levels of the tree.
    pub struct FpcSplit<
        const LINE: usize, const LW: usize, const WORDS: usize, const LEVELS: usize, const GROUPS: usize,
        const GROUP: usize, const PRE: usize, const PREW: usize,
    > {
        /// 1: data of words; 0: uncompressed line
        pub encoding_i: Signal<In, U<1>>,
        /// the data from bit 0 up, or the line
        pub string_i: Signal<In, W<LINE, LW>>,
        /// a prefix for each group
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// strings of equal width, each beginning with the data of its first word; or the line
        pub strings_o: Signal<Out, W<LINE, LW>>,
        lengths: Once<FpcLengths<WORDS, GROUPS, GROUP, PRE, PREW>>,
        split: Once<BitSplitter<WORDS, 32, 6, LINE, LW, LEVELS>>,
    }
}

#[hdl_gen]
impl Logic for FpcSplit {
    fn update(&mut self) {
        drive!(self; lengths.prefixes_i: prefixes_i, split.string_i: string_i);
        for w in 0..WORDS {
            self.split.length_i[w].next = self.lengths.length_o[w].val();
        }
        self.strings_o.next = self.string_i.val();
        if self.encoding_i.val().get_bit(0) {
            self.strings_o.next = self.split.strings_o.val();
        }
    }
}
