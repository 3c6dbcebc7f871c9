//! Encoding with the first-in-first-out dictionary: one word, and four words in a row.

use crate::cpack::fifo::{Code, DECODED_AT_ONCE, DICTIONARY};
use selvedge_hw::rtl::prelude::*;

/// Bits of the dictionary, and 64-bit words that hold them.
pub const DICT: usize = 32 * DICTIONARY;
/// See [`DICT`].
pub const DICTW: usize = DICT / 64;

/// The bits of a code's tag, as a named constant: two, or 11 and two more above them.
pub fn tag(code: Code) -> Constant<U<4>> {
    Constant::new(U::new(code.tag().0))
}

rtl_block! {
    /// Encodes one word: the code with the fewest bits, and the dictionary with the word in it if it is new.
    ///
    /// A letter of a code's name stands for a byte: z for zero, m for a match with a word of the dictionary, x for neither.
    #[derive(LogicBlock, Default)]
    #[require(D == DICT && DW == DICTW)]
    pub struct CpackEncodeWord<const D: usize, const DW: usize> {
        /// the word
        pub word_i: Signal<In, U<32>>,
        /// the dictionary before this word
        pub dictionary_i: Signal<In, W<D, DW>>,
        /// words in it
        pub count_i: Signal<In, U<5>>,
        /// the place of the next one
        pub next_i: Signal<In, U<4>>,
        /// tag, index and literal bytes from bit 0 up
        pub code_o: Signal<Out, U<34>>,
        /// bits of the code
        pub length_o: Signal<Out, U<6>>,
        /// the dictionary after this word
        pub dictionary_o: Signal<Out, W<D, DW>>,
        /// words in it
        pub count_o: Signal<Out, U<5>>,
        /// the place of the next one
        pub next_o: Signal<Out, U<4>>,
        xxxx: Constant<U<4>> = tag(Code::Xxxx),
        mmmm: Constant<U<4>> = tag(Code::Mmmm),
        mmxx: Constant<U<4>> = tag(Code::Mmxx),
        zzzx: Constant<U<4>> = tag(Code::Zzzx),
        mmmx: Constant<U<4>> = tag(Code::Mmmx),
        entry: Signal<Local, U<32>>,
        /// the lowest places whose four, three or two upper bytes match
        match4: Signal<Local, Bit>,
        match3: Signal<Local, Bit>,
        match2: Signal<Local, Bit>,
        place4: Signal<Local, U<4>>,
        place3: Signal<Local, U<4>>,
        place2: Signal<Local, U<4>>,
        enters: Signal<Local, Bit>,
        code: Signal<Local, U<34>>,
        dictionary: Signal<Local, W<D, DW>>,
    }
}

impl<const D: usize, const DW: usize> Logic for CpackEncodeWord<D, DW> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("from the highest place down, so that the lowest match stays");
        self.entry.next = 0.into();
        self.match4.next = false;
        self.match3.next = false;
        self.match2.next = false;
        self.place4.next = 0.into();
        self.place3.next = 0.into();
        self.place2.next = 0.into();
        for i in 0..16 {
            self.entry.next = self.dictionary_i.val().get_bits::<32>((15 - i) * 32);
            if self.count_i.val() > (15 - i).to_bits::<5>() {
                if self.entry.val() == self.word_i.val() {
                    self.match4.next = true;
                    self.place4.next = (15 - i).to_bits::<4>();
                }
                if self.entry.val().get_bits::<24>(8) == self.word_i.val().get_bits::<24>(8) {
                    self.match3.next = true;
                    self.place3.next = (15 - i).to_bits::<4>();
                }
                if self.entry.val().get_bits::<16>(16) == self.word_i.val().get_bits::<16>(16) {
                    self.match2.next = true;
                    self.place2.next = (15 - i).to_bits::<4>();
                }
            }
        }

        comment!("the fewest bits first");
        self.code.next = 0.into();
        self.length_o.next = 2.into();
        self.enters.next = false;
        if self.word_i.val().any() {
            if self.match4.val() {
                self.code.next = self.code.val().replace_bit(0, self.mmmm.val());
                self.code.next = self.code.val().replace_bit(2, self.place4.val());
                self.length_o.next = 6.into();
            } else if !self.word_i.val().get_bits::<24>(8).any() {
                self.code.next = self.code.val().replace_bit(0, self.zzzx.val());
                self.code.next = self.code.val().replace_bit(4, self.word_i.val().get_bits::<8>(0));
                self.length_o.next = 12.into();
            } else if self.match3.val() {
                self.code.next = self.code.val().replace_bit(0, self.mmmx.val());
                self.code.next = self.code.val().replace_bit(4, self.place3.val());
                self.code.next = self.code.val().replace_bit(8, self.word_i.val().get_bits::<8>(0));
                self.length_o.next = 16.into();
                self.enters.next = true;
            } else if self.match2.val() {
                self.code.next = self.code.val().replace_bit(0, self.mmxx.val());
                self.code.next = self.code.val().replace_bit(4, self.place2.val());
                self.code.next = self.code.val().replace_bit(8, self.word_i.val().get_bits::<16>(0));
                self.length_o.next = 24.into();
                self.enters.next = true;
            } else {
                self.code.next = self.code.val().replace_bit(0, self.xxxx.val());
                self.code.next = self.code.val().replace_bit(2, self.word_i.val());
                self.length_o.next = 34.into();
                self.enters.next = true;
            }
        }
        self.code_o.next = self.code.val();

        self.dictionary.next = self.dictionary_i.val();
        self.count_o.next = self.count_i.val();
        self.next_o.next = self.next_i.val();
        if self.enters.val() {
            for i in 0..16 {
                if self.next_i.val() == i.to_bits::<4>() {
                    self.dictionary.next = self.dictionary.val().replace_bit(i * 32, self.word_i.val());
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

impl<const D: usize, const DW: usize> PureLogic for CpackEncodeWord<D, DW> {
    #[inline]
    fn take_inputs(&mut self) {
        self.word_i.update_all();
        self.dictionary_i.update_all();
        self.count_i.update_all();
        self.next_i.update_all();
    }
}

rtl_block! {
    /// Encodes four words, each with the dictionary that the one before leaves, and packs their codes.
    #[derive(LogicBlock, Default)]
    #[require(DECODED_AT_ONCE == 4)]
    pub struct CpackEncode<const D: usize, const DW: usize> {
        /// the words, the first in the low bits
        pub words_i: Signal<In, W<128, 2>>,
        /// the dictionary before these words
        pub dictionary_i: Signal<In, W<D, DW>>,
        /// words in it
        pub count_i: Signal<In, U<5>>,
        /// the place of the next one
        pub next_i: Signal<In, U<4>>,
        /// the four codes, the first in the low bits
        pub string_o: Signal<Out, W<136, 3>>,
        /// bits of the codes
        pub length_o: Signal<Out, U<8>>,
        /// the dictionary after these words
        pub dictionary_o: Signal<Out, W<D, DW>>,
        /// words in it
        pub count_o: Signal<Out, U<5>>,
        /// the place of the next one
        pub next_o: Signal<Out, U<4>>,
        first: Once<CpackEncodeWord<D, DW>>,
        second: Once<CpackEncodeWord<D, DW>>,
        third: Once<CpackEncodeWord<D, DW>>,
        fourth: Once<CpackEncodeWord<D, DW>>,
        pack: Once<BitPacker<4, 34, 6, 136, 3, 8>>,
    }
}

impl<const D: usize, const DW: usize> Logic for CpackEncode<D, DW> {
    #[hdl_gen]
    fn update(&mut self) {
        self.first.word_i.next = self.words_i.val().get_bits::<32>(0);
        self.first.dictionary_i.next = self.dictionary_i.val();
        self.first.count_i.next = self.count_i.val();
        self.first.next_i.next = self.next_i.val();
        self.second.word_i.next = self.words_i.val().get_bits::<32>(32);
        self.second.dictionary_i.next = self.first.dictionary_o.val();
        self.second.count_i.next = self.first.count_o.val();
        self.second.next_i.next = self.first.next_o.val();
        self.third.word_i.next = self.words_i.val().get_bits::<32>(64);
        self.third.dictionary_i.next = self.second.dictionary_o.val();
        self.third.count_i.next = self.second.count_o.val();
        self.third.next_i.next = self.second.next_o.val();
        self.fourth.word_i.next = self.words_i.val().get_bits::<32>(96);
        self.fourth.dictionary_i.next = self.third.dictionary_o.val();
        self.fourth.count_i.next = self.third.count_o.val();
        self.fourth.next_i.next = self.third.next_o.val();
        self.pack.field_i[0].next = self.first.code_o.val();
        self.pack.length_i[0].next = self.first.length_o.val();
        self.pack.field_i[1].next = self.second.code_o.val();
        self.pack.length_i[1].next = self.second.length_o.val();
        self.pack.field_i[2].next = self.third.code_o.val();
        self.pack.length_i[2].next = self.third.length_o.val();
        self.pack.field_i[3].next = self.fourth.code_o.val();
        self.pack.length_i[3].next = self.fourth.length_o.val();
        self.string_o.next = self.pack.string_o.val();
        self.length_o.next = self.pack.length_o.val();
        self.dictionary_o.next = self.fourth.dictionary_o.val();
        self.count_o.next = self.fourth.count_o.val();
        self.next_o.next = self.fourth.next_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
