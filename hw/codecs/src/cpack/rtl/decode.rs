//! The decompressor's two steps: find the lengths of four codes, then rebuild their words.

use super::encode::{DICT, DICTW, half_length};
use crate::cpack::fifo::{DECODED_AT_ONCE, FifoCode};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Finds the kinds and lengths of four consecutive codes. No other step goes from code to code.
    #[require(DECODED_AT_ONCE == 4)]
    pub struct CpackLengths {
        /// the codes from bit 0 up
        pub string_i: Signal<In, W<136, 3>>,
        /// half of the bits before the codes
        pub start_i: Signal<In, U<6>>,
        /// kind of each code, one-hot in seven bits: zzzz, xxxx, mmmm, mmxx, zzzx, mmmx, or invalid
        pub kinds_o: Signal<Out, U<28>>,
        /// half of the bits up to the end of the codes
        pub end_o: Signal<Out, U<8>>,
        half_zzzz: Constant<U<5>> = half_length(FifoCode::Zzzz),
        half_xxxx: Constant<U<5>> = half_length(FifoCode::Xxxx),
        half_mmmm: Constant<U<5>> = half_length(FifoCode::Mmmm),
        half_mmxx: Constant<U<5>> = half_length(FifoCode::Mmxx),
        half_zzzx: Constant<U<5>> = half_length(FifoCode::Zzzx),
        half_mmmx: Constant<U<5>> = half_length(FifoCode::Mmmx),
        rest: Signal<Local, W<136, 3>>,
        behind: Signal<Local, W<136, 3>>,
        kind: Signal<Local, U<7>>,
        half: Signal<Local, U<5>>,
        kinds: Signal<Local, U<28>>,
        /// half of the bits up to the current code; the last code's length passes only one adder
        sum: Signal<Local, U<8>>,
    }
}

#[hdl_gen]
impl Logic for CpackLengths {
    fn update(&mut self) {
        drive!(self; rest: string_i, behind: 0, kind: 0, half: 0, kinds: 0);
        self.sum.next = bit_cast::<8, 6>(self.start_i.val());
        for k in 0..4 {
            drive!(self; kind: 0, half: 0, behind: 0);
            comment!("AND-OR selection: shorter paths than a priority chain");
            if !self.rest.val().get_bit(0) & !self.rest.val().get_bit(1) {
                self.kind.next = 1.into();
                self.half.next = self.half.val() | self.half_zzzz.val();
                self.behind.next = self.behind.val() | (self.rest.val() >> 2);
            }
            if self.rest.val().get_bit(0) & !self.rest.val().get_bit(1) {
                self.kind.next = self.kind.val() | 2;
                self.half.next = self.half.val() | self.half_xxxx.val();
                self.behind.next = self.behind.val() | (self.rest.val() >> 34);
            }
            if !self.rest.val().get_bit(0) & self.rest.val().get_bit(1) {
                self.kind.next = self.kind.val() | 4;
                self.half.next = self.half.val() | self.half_mmmm.val();
                self.behind.next = self.behind.val() | (self.rest.val() >> 6);
            }
            if self.rest.val().get_bits::<4>(0) == 3 {
                self.kind.next = self.kind.val() | 8;
                self.half.next = self.half.val() | self.half_mmxx.val();
                self.behind.next = self.behind.val() | (self.rest.val() >> 24);
            }
            if self.rest.val().get_bits::<4>(0) == 7 {
                self.kind.next = self.kind.val() | 16;
                self.half.next = self.half.val() | self.half_zzzx.val();
                self.behind.next = self.behind.val() | (self.rest.val() >> 12);
            }
            if self.rest.val().get_bits::<4>(0) == 11 {
                self.kind.next = self.kind.val() | 32;
            }
            if self.rest.val().get_bits::<4>(0) == 15 {
                self.kind.next = self.kind.val() | 64;
            }
            comment!("without a code, the length is undefined");
            if self.rest.val().get_bit(0) & self.rest.val().get_bit(1) & self.rest.val().get_bit(3) {
                self.half.next = self.half.val() | self.half_mmmx.val();
                self.behind.next = self.behind.val() | (self.rest.val() >> 16);
            }
            self.kinds.next[k * 7..] = self.kind.val();
            self.sum.next = self.sum.val() + bit_cast::<8, 5>(self.half.val());
            self.rest.next = self.behind.val();
        }
        drive!(self; kinds_o: kinds, end_o: sum);
    }
}

rtl_block! {
    /// Rebuilds four words from their codes, and enters new words into the dictionary.
    ///
    /// The kinds decide which words enter and at which positions. A code may refer to an earlier word of the same four.
    #[require(DECODED_AT_ONCE == 4 && D == DICT && DW == DICTW)]
    pub struct CpackRebuild<const D: usize, const DW: usize> {
        /// the codes from bit 0 up, or four uncompressed words
        pub string_i: Signal<In, W<136, 3>>,
        /// kind of each code, one-hot in seven bits
        pub kinds_i: Signal<In, U<28>>,
        /// 0: uncompressed words; 1: codes; 2: zeros; 3: invalid
        pub encoding_i: Signal<In, U<2>>,
        /// the dictionary before these words
        pub dictionary_i: Signal<In, W<D, DW>>,
        /// positions that hold a word, one bit each
        pub known_i: Signal<In, U<16>>,
        /// position of the next word, one-hot
        pub next_i: Signal<In, U<16>>,
        /// the words, the first in the low bits
        pub words_o: Signal<Out, W<128, 2>>,
        /// the encoding, a code or an index into the dictionary is invalid
        pub error_o: Signal<Out, Bit>,
        /// the dictionary after these words
        pub dictionary_o: Signal<Out, W<D, DW>>,
        /// positions that hold a word after these words
        pub known_o: Signal<Out, U<16>>,
        /// position of the next word after these words
        pub next_o: Signal<Out, U<16>>,
        rest: Signal<Local, W<136, 3>>,
        behind: Signal<Local, W<136, 3>>,
        kind: Signal<Local, U<7>>,
        /// the code's index into the dictionary, and the same index one-hot
        index: Signal<Local, U<4>>,
        named: Signal<Local, U<16>>,
        uses: Signal<Local, Bit>,
        entry: Signal<Local, U<32>>,
        literal: Signal<Local, U<32>>,
        word: Signal<Local, U<32>>,
        words: Signal<Local, W<128, 2>>,
        /// positions that hold a word, the position of the next word, and the positions that the four words entered
        known: Signal<Local, U<16>>,
        place: Signal<Local, U<16>>,
        entered: Signal<Local, U<64>>,
        enters: Signal<Local, U<16>>,
        error: Signal<Local, Bit>,
        dictionary: Signal<Local, W<D, DW>>,
    }
}

#[hdl_gen]
impl Logic for CpackRebuild {
    fn update(&mut self) {
        drive!(self; rest: string_i, behind: 0, kind: 0, index: 0, named: 0, uses: false, entry: 0,
            literal: 0, word: 0, words: 0, known: known_i, place: next_i, entered: 0, enters: 0);
        self.error.next = self.encoding_i.val().all();
        for k in 0..4 {
            self.kind.next = 0.into();
            if self.encoding_i.val() == 1 {
                self.kind.next = self.kinds_i.val().get_bits::<7>(k * 7);
            }
            comment!("literal bits, and the named dictionary position");
            self.literal.next = 0.into();
            if self.encoding_i.val() == 0 {
                self.literal.next = self.string_i.val().get_bits::<32>(k * 32);
            }
            if self.kind.val().get_bit(1) {
                self.literal.next = self.literal.val() | self.rest.val().get_bits::<32>(2);
            }
            if self.kind.val().get_bit(3) {
                self.literal.next =
                    self.literal.val() | bit_cast::<32, 16>(self.rest.val().get_bits::<16>(8));
            }
            if self.kind.val().get_bit(4) {
                self.literal.next = self.literal.val() | bit_cast::<32, 8>(self.rest.val().get_bits::<8>(4));
            }
            if self.kind.val().get_bit(5) {
                self.literal.next = self.literal.val() | bit_cast::<32, 8>(self.rest.val().get_bits::<8>(8));
            }
            self.uses.next =
                self.kind.val().get_bit(2) | self.kind.val().get_bit(3) | self.kind.val().get_bit(5);
            self.index.next = self.rest.val().get_bits::<4>(4);
            if self.kind.val().get_bit(2) {
                self.index.next = self.rest.val().get_bits::<4>(2);
            }
            self.named.next = 0.into();
            for i in 0..16 {
                if self.uses.val() & (self.index.val() == i.to_bits::<4>()) {
                    self.named.next[i] = true;
                }
            }
            self.error.next = self.error.val()
                | self.kind.val().get_bit(6)
                | (self.uses.val() & !(self.named.val() & self.known.val()).any());

            comment!("the named word: an earlier word of this group, or the dictionary entry");
            self.entry.next = 0.into();
            for i in 0..16 {
                if self.named.val().get_bit(i) & !self.enters.val().get_bit(i) {
                    self.entry.next = self.entry.val() | self.dictionary_i.val().get_bits::<32>(i * 32);
                }
            }
            for j in 0..3 {
                if (self.named.val() & self.entered.val().get_bits::<16>(j * 16)).any() {
                    self.entry.next = self.entry.val() | self.words.val().get_bits::<32>(j * 32);
                }
            }
            self.word.next = self.literal.val();
            if self.kind.val().get_bit(2) {
                self.word.next = self.entry.val();
            }
            if self.kind.val().get_bit(3) | self.kind.val().get_bit(5) {
                self.word.next[16..] = self.entry.val().get_bits::<16>(16);
            }
            if self.kind.val().get_bit(5) {
                self.word.next[8..] = self.entry.val().get_bits::<8>(8);
            }
            self.words.next[k * 32..] = self.word.val();

            comment!("words coded as xxxx, mmxx and mmmx enter the dictionary");
            if self.kind.val().get_bit(1) | self.kind.val().get_bit(3) | self.kind.val().get_bit(5) {
                self.entered.next[k * 16..] = self.place.val();
                self.enters.next = self.enters.val() | self.place.val();
                self.known.next = self.known.val() | self.place.val();
                self.place.next = (self.place.val() << 1) | (self.place.val() >> 15);
            }

            comment!("bits after the code");
            self.behind.next = 0.into();
            if self.kind.val().get_bit(0) {
                self.behind.next = self.behind.val() | (self.rest.val() >> 2);
            }
            if self.kind.val().get_bit(1) {
                self.behind.next = self.behind.val() | (self.rest.val() >> 34);
            }
            if self.kind.val().get_bit(2) {
                self.behind.next = self.behind.val() | (self.rest.val() >> 6);
            }
            if self.kind.val().get_bit(3) {
                self.behind.next = self.behind.val() | (self.rest.val() >> 24);
            }
            if self.kind.val().get_bit(4) {
                self.behind.next = self.behind.val() | (self.rest.val() >> 12);
            }
            if self.kind.val().get_bit(5) {
                self.behind.next = self.behind.val() | (self.rest.val() >> 16);
            }
            self.rest.next = self.behind.val();
        }
        drive!(self; words_o: words, error_o: error, known_o: known, next_o: place);

        self.dictionary.next = self.dictionary_i.val();
        for i in 0..16 {
            for k in 0..4 {
                if self.entered.val().get_bit(k * 16 + i) {
                    self.dictionary.next[i * 32..] = self.words.val().get_bits::<32>(k * 32);
                }
            }
        }
        self.dictionary_o.next = self.dictionary.val();
    }
}
