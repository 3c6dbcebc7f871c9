//! Decoding with the first-in-first-out dictionary: one word, and four words in a row.

use super::encode::{DICT, DICTW};
use crate::cpack::fifo::DECODED_AT_ONCE;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Decodes one word, and takes its bits off the string.
    ///
    /// A letter of a code's name stands for a byte: z for zero, m for a match with a word of the dictionary, x for neither.
    #[derive(LogicBlock, Default)]
    #[require(D == DICT && DW == DICTW)]
    pub struct CpackDecodeWord<const D: usize, const DW: usize> {
        /// 0: the string is words as they were; 1: codes; else all words are zero
        pub encoding_i: Signal<In, U<2>>,
        /// the string
        pub string_i: Signal<In, W<136, 3>>,
        /// the dictionary before this word
        pub dictionary_i: Signal<In, W<D, DW>>,
        /// words in it
        pub count_i: Signal<In, U<5>>,
        /// the place of the next one
        pub next_i: Signal<In, U<4>>,
        /// the word
        pub word_o: Signal<Out, U<32>>,
        /// bits that it took
        pub length_o: Signal<Out, U<6>>,
        /// no such code, or no such place in the dictionary
        pub error_o: Signal<Out, Bit>,
        /// the string behind the word
        pub string_o: Signal<Out, W<136, 3>>,
        /// the dictionary after this word
        pub dictionary_o: Signal<Out, W<D, DW>>,
        /// words in it
        pub count_o: Signal<Out, U<5>>,
        /// the place of the next one
        pub next_o: Signal<Out, U<4>>,
        code: Signal<Local, U<34>>,
        /// the two bits of the code and the two above, which count when the first are 11
        kind: Signal<Local, U<2>>,
        kind_above: Signal<Local, U<2>>,
        place: Signal<Local, U<4>>,
        entry: Signal<Local, U<32>>,
        word: Signal<Local, U<32>>,
        length: Signal<Local, U<6>>,
        uses: Signal<Local, Bit>,
        enters: Signal<Local, Bit>,
        invalid: Signal<Local, Bit>,
        dictionary: Signal<Local, W<D, DW>>,
    }
}

impl<const D: usize, const DW: usize> Logic for CpackDecodeWord<D, DW> {
    #[hdl_gen]
    fn update(&mut self) {
        self.code.next = self.string_i.val().get_bits::<34>(0);
        self.kind.next = self.code.val().get_bits::<2>(0);
        self.kind_above.next = self.code.val().get_bits::<2>(2);
        comment!("the index follows the code's own two or four bits");
        self.place.next = self.code.val().get_bits::<4>(4);
        if self.kind.val() == 2 {
            self.place.next = self.code.val().get_bits::<4>(2);
        }
        self.entry.next = 0.into();
        for i in 0..16 {
            if self.place.val() == i.to_bits::<4>() {
                self.entry.next = self.dictionary_i.val().get_bits::<32>(i * 32);
            }
        }

        self.word.next = 0.into();
        self.length.next = 0.into();
        self.uses.next = false;
        self.enters.next = false;
        self.invalid.next = false;
        if self.encoding_i.val() == 0 {
            self.word.next = self.code.val().get_bits::<32>(0);
            self.length.next = 32.into();
        } else if self.encoding_i.val() == 1 {
            if self.kind.val() == 0 {
                comment!("zzzz");
                self.length.next = 2.into();
            } else if self.kind.val() == 1 {
                comment!("xxxx");
                self.word.next = self.code.val().get_bits::<32>(2);
                self.length.next = 34.into();
                self.enters.next = true;
            } else if self.kind.val() == 2 {
                comment!("mmmm");
                self.word.next = self.entry.val();
                self.length.next = 6.into();
                self.uses.next = true;
            } else if self.kind_above.val() == 0 {
                comment!("mmxx");
                self.word.next = self.entry.val();
                self.word.next = self.word.val().replace_bit(0, self.code.val().get_bits::<16>(8));
                self.length.next = 24.into();
                self.uses.next = true;
                self.enters.next = true;
            } else if self.kind_above.val() == 1 {
                comment!("zzzx");
                self.word.next = self.word.val().replace_bit(0, self.code.val().get_bits::<8>(4));
                self.length.next = 12.into();
            } else if self.kind_above.val() == 2 {
                comment!("mmmx");
                self.word.next = self.entry.val();
                self.word.next = self.word.val().replace_bit(0, self.code.val().get_bits::<8>(8));
                self.length.next = 16.into();
                self.uses.next = true;
                self.enters.next = true;
            } else {
                self.length.next = 4.into();
                self.invalid.next = true;
            }
        }
        self.word_o.next = self.word.val();
        self.length_o.next = self.length.val();
        self.error_o.next = self.invalid.val()
            | (self.uses.val() & (bit_cast::<5, 4>(self.place.val()) >= self.count_i.val()));
        self.string_o.next = self.string_i.val() >> self.length.val();

        self.dictionary.next = self.dictionary_i.val();
        self.count_o.next = self.count_i.val();
        self.next_o.next = self.next_i.val();
        if self.enters.val() {
            for i in 0..16 {
                if self.next_i.val() == i.to_bits::<4>() {
                    self.dictionary.next = self.dictionary.val().replace_bit(i * 32, self.word.val());
                }
            }
            self.next_o.next = self.next_i.val() + 1;
            if !self.count_i.val().get_bit(4) {
                self.count_o.next = self.count_i.val() + 1;
            }
        }
        self.dictionary_o.next = self.dictionary.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const D: usize, const DW: usize> PureLogic for CpackDecodeWord<D, DW> {
    #[inline]
    fn take_inputs(&mut self) {
        self.encoding_i.update_all();
        self.string_i.update_all();
        self.dictionary_i.update_all();
        self.count_i.update_all();
        self.next_i.update_all();
    }
}

rtl_block! {
    /// Decodes four words, each with the string and the dictionary that the one before leaves.
    #[derive(LogicBlock, Default)]
    #[require(DECODED_AT_ONCE == 4)]
    pub struct CpackDecode<const D: usize, const DW: usize> {
        /// 0: the string is words as they were; 1: codes; else all words are zero
        pub encoding_i: Signal<In, U<2>>,
        /// the string
        pub string_i: Signal<In, W<136, 3>>,
        /// the dictionary before these words
        pub dictionary_i: Signal<In, W<D, DW>>,
        /// words in it
        pub count_i: Signal<In, U<5>>,
        /// the place of the next one
        pub next_i: Signal<In, U<4>>,
        /// the words, the first in the low bits
        pub words_o: Signal<Out, W<128, 2>>,
        /// bits that they took
        pub length_o: Signal<Out, U<8>>,
        /// no such code, or no such place in the dictionary
        pub error_o: Signal<Out, Bit>,
        /// the dictionary after these words
        pub dictionary_o: Signal<Out, W<D, DW>>,
        /// words in it
        pub count_o: Signal<Out, U<5>>,
        /// the place of the next one
        pub next_o: Signal<Out, U<4>>,
        first: Once<CpackDecodeWord<D, DW>>,
        second: Once<CpackDecodeWord<D, DW>>,
        third: Once<CpackDecodeWord<D, DW>>,
        fourth: Once<CpackDecodeWord<D, DW>>,
        words: Signal<Local, W<128, 2>>,
    }
}

impl<const D: usize, const DW: usize> Logic for CpackDecode<D, DW> {
    #[hdl_gen]
    fn update(&mut self) {
        self.first.encoding_i.next = self.encoding_i.val();
        self.first.string_i.next = self.string_i.val();
        self.first.dictionary_i.next = self.dictionary_i.val();
        self.first.count_i.next = self.count_i.val();
        self.first.next_i.next = self.next_i.val();
        self.second.encoding_i.next = self.encoding_i.val();
        self.second.string_i.next = self.first.string_o.val();
        self.second.dictionary_i.next = self.first.dictionary_o.val();
        self.second.count_i.next = self.first.count_o.val();
        self.second.next_i.next = self.first.next_o.val();
        self.third.encoding_i.next = self.encoding_i.val();
        self.third.string_i.next = self.second.string_o.val();
        self.third.dictionary_i.next = self.second.dictionary_o.val();
        self.third.count_i.next = self.second.count_o.val();
        self.third.next_i.next = self.second.next_o.val();
        self.fourth.encoding_i.next = self.encoding_i.val();
        self.fourth.string_i.next = self.third.string_o.val();
        self.fourth.dictionary_i.next = self.third.dictionary_o.val();
        self.fourth.count_i.next = self.third.count_o.val();
        self.fourth.next_i.next = self.third.next_o.val();
        self.words.next = 0.into();
        self.words.next = self.words.val().replace_bit(0, self.first.word_o.val());
        self.words.next = self.words.val().replace_bit(32, self.second.word_o.val());
        self.words.next = self.words.val().replace_bit(64, self.third.word_o.val());
        self.words.next = self.words.val().replace_bit(96, self.fourth.word_o.val());
        self.words_o.next = self.words.val();
        self.length_o.next = bit_cast::<8, 6>(self.first.length_o.val())
            + bit_cast::<8, 6>(self.second.length_o.val())
            + bit_cast::<8, 6>(self.third.length_o.val())
            + bit_cast::<8, 6>(self.fourth.length_o.val());
        self.error_o.next = self.first.error_o.val()
            | self.second.error_o.val()
            | self.third.error_o.val()
            | self.fourth.error_o.val();
        self.dictionary_o.next = self.fourth.dictionary_o.val();
        self.count_o.next = self.fourth.count_o.val();
        self.next_o.next = self.fourth.next_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
