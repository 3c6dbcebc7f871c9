//! The compressor's two steps: find the kinds of four words, then append their codes to the earlier ones.

use crate::cpack::fifo::{DECODED_AT_ONCE, DICTIONARY, FifoCode};
use selvedge_hw::rtl::prelude::*;

/// Bits of the dictionary.
pub const DICT: usize = 32 * DICTIONARY;
/// 64-bit words that hold the dictionary.
pub const DICTW: usize = DICT / 64;

/// Returns the prefix of a code as a named constant: two bits, or 0b11 and two more bits above it.
pub fn tag(code: FifoCode) -> Constant<U<4>> {
    Constant::new(U::new(code.tag().0))
}

/// Returns half of a code's bits as a named constant. All codes have an even number of bits.
pub fn half_length(code: FifoCode) -> Constant<U<5>> {
    assert!(code.bits().is_multiple_of(2), "every code has an even number of bits");
    Constant::new(U::new(code.bits() as u64 / 2))
}

rtl_block! {
    /// Compares one word with all positions of the dictionary, empty or not.
    #[require(D == DICT && DW == DICTW)]
    pub struct CpackCompare<const D: usize, const DW: usize> {
        /// the word to compare
        pub word_i: Signal<In, U<32>>,
        /// the dictionary
        pub dictionary_i: Signal<In, W<D, DW>>,
        /// positions that are equal in all four bytes, one bit each
        pub four_o: Signal<Out, U<16>>,
        /// positions that are equal in the upper three bytes
        pub three_o: Signal<Out, U<16>>,
        /// positions that are equal in the upper two bytes
        pub two_o: Signal<Out, U<16>>,
        difference: Signal<Local, U<32>>,
        two: Signal<Local, Bit>,
        three: Signal<Local, Bit>,
        four: Signal<Local, Bit>,
        twos: Signal<Local, U<16>>,
        threes: Signal<Local, U<16>>,
        fours: Signal<Local, U<16>>,
    }
}

#[hdl_gen]
impl Logic for CpackCompare {
    fn update(&mut self) {
        drive!(self; difference: 0, two: false, three: false, four: false, twos: 0, threes: 0, fours: 0);
        for i in 0..16 {
            self.difference.next = self.dictionary_i.val().get_bits::<32>(i * 32) ^ self.word_i.val();
            self.two.next = !self.difference.val().get_bits::<16>(16).any();
            self.three.next = self.two.val() & !self.difference.val().get_bits::<8>(8).any();
            self.four.next = self.three.val() & !self.difference.val().get_bits::<8>(0).any();
            self.twos.next[i] = self.two.val();
            self.threes.next[i] = self.three.val();
            self.fours.next[i] = self.four.val();
        }
        drive!(self; two_o: twos, three_o: threes, four_o: fours);
    }
}

rtl_block! {
    /// Compares four words with the dictionary before them and with each other, and enters the new words.
    ///
    /// A word that enters replaces the oldest word, which a later word of the four then no longer matches. So each word is
    /// compared for every number of words that may have entered before it. Only that number is computed word by word.
    // The registers of the second step are written from these outputs. Positions are one-hot, so that no path has a decoder.
    #[require(DECODED_AT_ONCE == 4 && D == DICT && DW == DICTW)]
    pub struct CpackMatch<const D: usize, const DW: usize> {
        /// the words, the first in the low bits
        pub words_i: Signal<In, W<128, 2>>,
        /// the dictionary before these words
        pub dictionary_i: Signal<In, W<D, DW>>,
        /// positions that hold a word, one bit each
        pub known_i: Signal<In, U<16>>,
        /// position of the next word, one-hot
        pub next_i: Signal<In, U<16>>,
        /// kind of each word, one-hot in five bits: zero, single byte, equal to a dictionary word in four, three or two bytes;
        /// 0 if none
        pub kinds_o: Signal<Out, U<20>>,
        /// positions that match each word
        pub places_o: Signal<Out, U<64>>,
        /// the dictionary after these words
        pub dictionary_o: Signal<Out, W<D, DW>>,
        /// positions that hold a word after these words
        pub known_o: Signal<Out, U<16>>,
        /// position of the next word after these words
        pub next_o: Signal<Out, U<16>>,
        compare: [Once<CpackCompare<D, DW>>; 4],
        /// position of the next word after one, two, three and four entries
        next1: Signal<Local, U<16>>,
        next2: Signal<Local, U<16>>,
        next3: Signal<Local, U<16>>,
        next4: Signal<Local, U<16>>,
        /// positions that still hold their word after one, two and three entries
        known1: Signal<Local, U<16>>,
        known2: Signal<Local, U<16>>,
        known3: Signal<Local, U<16>>,
        /// words that are more than a byte, one bit each
        wide: Signal<Local, U<4>>,
        /// words that enter the dictionary
        enters0: Signal<Local, Bit>,
        enters1: Signal<Local, Bit>,
        enters2: Signal<Local, Bit>,
        enters3: Signal<Local, Bit>,
        /// position of each word if it enters the dictionary
        place0: Signal<Local, U<16>>,
        place1: Signal<Local, U<16>>,
        place2: Signal<Local, U<16>>,
        place3: Signal<Local, U<16>>,
        /// positions that still hold their word before words 1, 2 and 3
        left1: Signal<Local, U<16>>,
        left2: Signal<Local, U<16>>,
        left3: Signal<Local, U<16>>,
        found0: Signal<Local, Bit>,
        found1: Signal<Local, Bit>,
        found2: Signal<Local, Bit>,
        found3: Signal<Local, Bit>,
        /// positions that match each word in four, three and two bytes
        fours: Signal<Local, U<64>>,
        threes: Signal<Local, U<64>>,
        twos: Signal<Local, U<64>>,
        word: Signal<Local, U<32>>,
        four: Signal<Local, U<16>>,
        three: Signal<Local, U<16>>,
        two: Signal<Local, U<16>>,
        /// position that each of the four words entered, one-hot; 0 if it did not enter
        entered0: Signal<Local, U<16>>,
        entered1: Signal<Local, U<16>>,
        entered2: Signal<Local, U<16>>,
        entered3: Signal<Local, U<16>>,
        difference: Signal<Local, U<32>>,
        /// pairs of the four words that are equal
        equal: Signal<Local, U<16>>,
        kinds: Signal<Local, U<20>>,
        places: Signal<Local, U<64>>,
        dictionary: Signal<Local, W<D, DW>>,
        entry: Signal<Local, U<32>>,
    }
}

#[hdl_gen]
impl Logic for CpackMatch {
    fn update(&mut self) {
        for k in 0..4 {
            self.compare[k].word_i.next = self.words_i.val().get_bits::<32>(k * 32);
            self.compare[k].dictionary_i.next = self.dictionary_i.val();
        }
        comment!("positions that the four words take, and the entries that remain");
        self.next1.next = (self.next_i.val() << 1) | (self.next_i.val() >> 15);
        self.next2.next = (self.next_i.val() << 2) | (self.next_i.val() >> 14);
        self.next3.next = (self.next_i.val() << 3) | (self.next_i.val() >> 13);
        self.next4.next = (self.next_i.val() << 4) | (self.next_i.val() >> 12);
        self.known1.next = self.known_i.val() & !self.next_i.val();
        self.known2.next = self.known1.val() & !self.next1.val();
        self.known3.next = self.known2.val() & !self.next2.val();

        comment!("bit 4k + j: word k is equal to word j before it");
        drive!(self; wide: 0, equal: 0, word: 0);
        for k in 0..4 {
            self.word.next = self.words_i.val().get_bits::<32>(k * 32);
            self.wide.next[k] = self.word.val().get_bits::<24>(8).any();
            for j in 0..4 {
                self.equal.next[k * 4 + j] = self.word.val() == self.words_i.val().get_bits::<32>(j * 32);
            }
        }

        comment!("words that enter the dictionary: the only dependence from word to word");
        self.found0.next = (self.compare[0].four_o.val() & self.known_i.val()).any();
        self.enters0.next = self.wide.val().get_bit(0) & !self.found0.val();
        self.found1.next = (self.compare[1].four_o.val() & self.known_i.val()).any();
        if self.enters0.val() {
            self.found1.next =
                (self.compare[1].four_o.val() & self.known1.val()).any() | self.equal.val().get_bit(4);
        }
        self.enters1.next = self.wide.val().get_bit(1) & !self.found1.val();
        self.found2.next = (self.compare[2].four_o.val() & self.known_i.val()).any();
        if self.enters0.val() ^ self.enters1.val() {
            self.found2.next = (self.compare[2].four_o.val() & self.known1.val()).any();
        }
        if self.enters0.val() & self.enters1.val() {
            self.found2.next = (self.compare[2].four_o.val() & self.known2.val()).any();
        }
        self.found2.next = self.found2.val()
            | (self.enters0.val() & self.equal.val().get_bit(8))
            | (self.enters1.val() & self.equal.val().get_bit(9));
        self.enters2.next = self.wide.val().get_bit(2) & !self.found2.val();

        comment!("position of each word, and the entries that remain before it");
        drive!(self; place0: next_i, place1: next_i, left1: known_i);
        if self.enters0.val() {
            drive!(self; place1: next1, left1: known1);
        }
        drive!(self; place2: next_i, left2: known_i);
        if self.enters0.val() ^ self.enters1.val() {
            drive!(self; place2: next1, left2: known1);
        }
        if self.enters0.val() & self.enters1.val() {
            drive!(self; place2: next2, left2: known2);
        }
        drive!(self; place3: next_i, left3: known_i);
        self.found3.next = (self.compare[3].four_o.val() & self.known_i.val()).any();
        if self.enters0.val() ^ self.enters1.val() ^ self.enters2.val() {
            drive!(self; place3: next1, left3: known1);
            self.found3.next = (self.compare[3].four_o.val() & self.known1.val()).any();
        }
        if (self.enters0.val() & self.enters1.val())
            | (self.enters0.val() & self.enters2.val())
            | (self.enters1.val() & self.enters2.val())
        {
            drive!(self; place3: next2, left3: known2);
            self.found3.next = (self.compare[3].four_o.val() & self.known2.val()).any();
        }
        if self.enters0.val() & self.enters1.val() & self.enters2.val() {
            drive!(self; place3: next3, left3: known3);
            self.found3.next = (self.compare[3].four_o.val() & self.known3.val()).any();
        }
        self.found3.next = self.found3.val()
            | (self.enters0.val() & self.equal.val().get_bit(12))
            | (self.enters1.val() & self.equal.val().get_bit(13))
            | (self.enters2.val() & self.equal.val().get_bit(14));
        self.enters3.next = self.wide.val().get_bit(3) & !self.found3.val();

        self.entered0.next = 0.into();
        if self.enters0.val() {
            self.entered0.next = self.place0.val();
        }
        self.entered1.next = 0.into();
        if self.enters1.val() {
            self.entered1.next = self.place1.val();
        }
        self.entered2.next = 0.into();
        if self.enters2.val() {
            self.entered2.next = self.place2.val();
        }
        self.entered3.next = 0.into();
        if self.enters3.val() {
            self.entered3.next = self.place3.val();
        }

        comment!("matches of each word with the remaining entries of the dictionary");
        drive!(self; fours: 0, threes: 0, twos: 0);
        self.fours.next[0..] = self.compare[0].four_o.val() & self.known_i.val();
        self.threes.next[0..] = self.compare[0].three_o.val() & self.known_i.val();
        self.twos.next[0..] = self.compare[0].two_o.val() & self.known_i.val();
        self.fours.next[16..] = self.compare[1].four_o.val() & self.left1.val();
        self.threes.next[16..] = self.compare[1].three_o.val() & self.left1.val();
        self.twos.next[16..] = self.compare[1].two_o.val() & self.left1.val();
        self.fours.next[32..] = self.compare[2].four_o.val() & self.left2.val();
        self.threes.next[32..] = self.compare[2].three_o.val() & self.left2.val();
        self.twos.next[32..] = self.compare[2].two_o.val() & self.left2.val();
        self.fours.next[48..] = self.compare[3].four_o.val() & self.left3.val();
        self.threes.next[48..] = self.compare[3].three_o.val() & self.left3.val();
        self.twos.next[48..] = self.compare[3].two_o.val() & self.left3.val();

        comment!("matches with the earlier words of this group");
        drive!(self; four: 0, three: 0, two: 0, difference: 0, kinds: 0, places: 0, entry: 0);
        for k in 0..4 {
            self.word.next = self.words_i.val().get_bits::<32>(k * 32);
            self.four.next = self.fours.val().get_bits::<16>(k * 16);
            self.three.next = self.threes.val().get_bits::<16>(k * 16);
            self.two.next = self.twos.val().get_bits::<16>(k * 16);
            for j in 0..3 {
                if j.to_bits::<2>() < k.to_bits::<2>() {
                    self.entry.next = bit_cast::<32, 16>(self.entered0.val());
                    if j.to_bits::<2>() == 1 {
                        self.entry.next = bit_cast::<32, 16>(self.entered1.val());
                    } else if j.to_bits::<2>() == 2 {
                        self.entry.next = bit_cast::<32, 16>(self.entered2.val());
                    }
                    self.difference.next = self.word.val() ^ self.words_i.val().get_bits::<32>(j * 32);
                    if !self.difference.val().get_bits::<16>(16).any() {
                        self.two.next = self.two.val() | bit_cast::<16, 32>(self.entry.val());
                        if !self.difference.val().get_bits::<8>(8).any() {
                            self.three.next = self.three.val() | bit_cast::<16, 32>(self.entry.val());
                            if !self.difference.val().get_bits::<8>(0).any() {
                                self.four.next = self.four.val() | bit_cast::<16, 32>(self.entry.val());
                            }
                        }
                    }
                }
            }
            if !self.wide.val().get_bit(k) {
                comment!("words of one byte do not enter the dictionary");
                self.kinds.next[k * 5] = !self.word.val().any();
                self.kinds.next[k * 5 + 1] = self.word.val().any();
            } else if self.four.val().any() {
                self.kinds.next[k * 5 + 2] = true;
                self.places.next[k * 16..] = self.four.val();
            } else if self.three.val().any() {
                self.kinds.next[k * 5 + 3] = true;
                self.places.next[k * 16..] = self.three.val();
            } else {
                self.kinds.next[k * 5 + 4] = self.two.val().any();
                self.places.next[k * 16..] = self.two.val();
            }
        }
        drive!(self; kinds_o: kinds, places_o: places);

        self.dictionary.next = self.dictionary_i.val();
        for i in 0..16 {
            if self.entered0.val().get_bit(i) {
                self.dictionary.next[i * 32..] = self.words_i.val().get_bits::<32>(0);
            }
            if self.entered1.val().get_bit(i) {
                self.dictionary.next[i * 32..] = self.words_i.val().get_bits::<32>(32);
            }
            if self.entered2.val().get_bit(i) {
                self.dictionary.next[i * 32..] = self.words_i.val().get_bits::<32>(64);
            }
            if self.entered3.val().get_bit(i) {
                self.dictionary.next[i * 32..] = self.words_i.val().get_bits::<32>(96);
            }
        }
        self.dictionary_o.next = self.dictionary.val();
        self.known_o.next = self.known_i.val()
            | self.entered0.val()
            | self.entered1.val()
            | self.entered2.val()
            | self.entered3.val();
        self.next_o.next = self.place3.val();
        if self.enters3.val() {
            self.next_o.next = (self.place3.val() << 1) | (self.place3.val() >> 15);
        }
    }
}

rtl_block! {
    /// Writes the code of one word.
    ///
    /// Each letter of a code's name is a byte: z for zero, m for a match with a word of the dictionary, x for neither.
    pub struct CpackCode {
        /// the word to encode
        pub word_i: Signal<In, U<32>>,
        /// kind of the word, one-hot: zero, single byte, equal in four, three or two bytes; 0 if none
        pub kind_i: Signal<In, U<5>>,
        /// positions that match, one bit each; the lowest counts
        pub places_i: Signal<In, U<16>>,
        /// prefix, index and literal bytes from bit 0 up
        pub code_o: Signal<Out, U<34>>,
        /// half of the code's bits
        pub half_o: Signal<Out, U<5>>,
        xxxx: Constant<U<4>> = tag(FifoCode::Xxxx),
        mmmm: Constant<U<4>> = tag(FifoCode::Mmmm),
        mmxx: Constant<U<4>> = tag(FifoCode::Mmxx),
        zzzx: Constant<U<4>> = tag(FifoCode::Zzzx),
        mmmx: Constant<U<4>> = tag(FifoCode::Mmmx),
        half_zzzz: Constant<U<5>> = half_length(FifoCode::Zzzz),
        half_xxxx: Constant<U<5>> = half_length(FifoCode::Xxxx),
        half_mmmm: Constant<U<5>> = half_length(FifoCode::Mmmm),
        half_mmxx: Constant<U<5>> = half_length(FifoCode::Mmxx),
        half_zzzx: Constant<U<5>> = half_length(FifoCode::Zzzx),
        half_mmmx: Constant<U<5>> = half_length(FifoCode::Mmmx),
        place: Signal<Local, U<4>>,
        found: Signal<Local, Bit>,
        coded: Signal<Local, U<34>>,
    }
}

#[hdl_gen]
impl Logic for CpackCode {
    fn update(&mut self) {
        drive!(self; place: 0, found: false);
        for i in 0..16 {
            if self.places_i.val().get_bit(i) & !self.found.val() {
                self.place.next = i.to_bits::<4>();
                self.found.next = true;
            }
        }
        self.coded.next = 0.into();
        if self.kind_i.val().get_bit(0) {
            self.half_o.next = self.half_zzzz.val();
        } else if self.kind_i.val().get_bit(1) {
            self.coded.next[0..] = self.zzzx.val();
            self.coded.next[4..] = self.word_i.val().get_bits::<8>(0);
            self.half_o.next = self.half_zzzx.val();
        } else if self.kind_i.val().get_bit(2) {
            self.coded.next[0..] = self.mmmm.val();
            self.coded.next[2..] = self.place.val();
            self.half_o.next = self.half_mmmm.val();
        } else if self.kind_i.val().get_bit(3) {
            self.coded.next[0..] = self.mmmx.val();
            self.coded.next[4..] = self.place.val();
            self.coded.next[8..] = self.word_i.val().get_bits::<8>(0);
            self.half_o.next = self.half_mmmx.val();
        } else if self.kind_i.val().get_bit(4) {
            self.coded.next[0..] = self.mmxx.val();
            self.coded.next[4..] = self.place.val();
            self.coded.next[8..] = self.word_i.val().get_bits::<16>(0);
            self.half_o.next = self.half_mmxx.val();
        } else {
            self.coded.next[0..] = self.xxxx.val();
            self.coded.next[2..] = self.word_i.val();
            self.half_o.next = self.half_xxxx.val();
        }
        self.code_o.next = self.coded.val();
    }
}

rtl_block! {
    /// Writes the codes of four words after the used bits of a block of 128.
    ///
    /// The second pair of words is packed in parallel with the shift of the first pair.
    #[require(DECODED_AT_ONCE == 4)]
    pub struct CpackPack {
        /// the words, the first in the low bits
        pub words_i: Signal<In, W<128, 2>>,
        /// kinds of the words, five bits each
        pub kinds_i: Signal<In, U<20>>,
        /// positions that match the words, 16 bits each
        pub places_i: Signal<In, U<64>>,
        /// half of the used bits
        pub used_i: Signal<In, U<6>>,
        /// the codes after the used bits; zero below and above
        pub string_o: Signal<Out, W<264, 5>>,
        /// half of the bits of the codes
        pub half_o: Signal<Out, U<7>>,
        code: [Once<CpackCode>; 4],
        low: Signal<Local, W<264, 5>>,
        high: Signal<Local, W<264, 5>>,
        low_half: Signal<Local, U<8>>,
    }
}

#[hdl_gen]
impl Logic for CpackPack {
    fn update(&mut self) {
        for k in 0..4 {
            self.code[k].word_i.next = self.words_i.val().get_bits::<32>(k * 32);
            self.code[k].kind_i.next = self.kinds_i.val().get_bits::<5>(k * 5);
            self.code[k].places_i.next = self.places_i.val().get_bits::<16>(k * 16);
        }
        self.low.next = 0.into();
        self.low.next[0..] = self.code[1].code_o.val();
        self.low.next = self.low.val() << (bit_cast::<6, 5>(self.code[0].half_o.val()) << 1);
        self.low.next[0..] = self.low.val().get_bits::<34>(0) | self.code[0].code_o.val();
        self.high.next = 0.into();
        self.high.next[0..] = self.code[3].code_o.val();
        self.high.next = self.high.val() << (bit_cast::<6, 5>(self.code[2].half_o.val()) << 1);
        self.high.next[0..] = self.high.val().get_bits::<34>(0) | self.code[2].code_o.val();
        self.low_half.next =
            bit_cast::<8, 5>(self.code[0].half_o.val()) + bit_cast::<8, 5>(self.code[1].half_o.val());
        self.string_o.next = (self.low.val() << (bit_cast::<7, 6>(self.used_i.val()) << 1))
            | (self.high.val() << ((bit_cast::<8, 6>(self.used_i.val()) + self.low_half.val()) << 1));
        self.half_o.next = bit_cast::<7, 8>(self.low_half.val())
            + bit_cast::<7, 5>(self.code[2].half_o.val())
            + bit_cast::<7, 5>(self.code[3].half_o.val());
    }
}
