//! The steps for segments of four words, whose data have 0, 16, 32, 64 or 128 bits.

use super::classify::prefix;
use crate::fpc::pattern::Pattern;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Finds the number of data bits of each segment.
    #[require(PRE == 3 * GROUPS)]
    pub struct FpcSegmentLengths<const GROUPS: usize, const PRE: usize, const PREW: usize> {
        /// a prefix for each segment
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// data bits of each segment
        pub length_o: [Signal<Out, U<8>>; GROUPS] = array(),
        zeros: Constant<U<3>> = prefix(Pattern::Zeros),
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        prefix: Signal<Local, U<3>>,
        length: Signal<Local, U<8>>,
    }
}

#[hdl_gen]
impl Logic for FpcSegmentLengths {
    fn update(&mut self) {
        drive!(self; prefix: 0, length: 0);
        for g in 0..GROUPS {
            self.prefix.next = self.prefixes_i.val().get_bits::<3>(g * 3);
            self.length.next = 64.into();
            if self.prefix.val() == self.zeros.val() {
                self.length.next = 0.into();
            } else if self.prefix.val() == self.sign4.val() {
                self.length.next = 16.into();
            } else if (self.prefix.val() == self.sign8.val()) | (self.prefix.val() == self.repeated.val()) {
                self.length.next = 32.into();
            } else if self.prefix.val() == self.raw.val() {
                self.length.next = 128.into();
            }
            self.length_o[g].next = self.length.val();
        }
    }
}

rtl_block! {
    /// Gathers the data of each segment: its four words' data without gaps, from the segment's first bit on.
    ///
    /// The data of a word are at one of four positions, so no shifter is needed.
    #[require(GROUPS * 128 == LINE && PRE == 3 * GROUPS)]
    pub struct FpcGather<
        const LINE: usize, const LW: usize, const GROUPS: usize, const PRE: usize, const PREW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// a prefix for each segment
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// the data of each segment in 128 bits, zero above the data
        pub strings_o: Signal<Out, W<LINE, LW>>,
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        sign16: Constant<U<3>> = prefix(Pattern::Sign16),
        upper16: Constant<U<3>> = prefix(Pattern::Upper16),
        two_bytes: Constant<U<3>> = prefix(Pattern::TwoBytes),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        pattern: Signal<Local, U<3>>,
        word: Signal<Local, U<32>>,
        half: Signal<Local, U<16>>,
        fours: Signal<Local, U<16>>,
        bytes: Signal<Local, U<32>>,
        halves: Signal<Local, U<64>>,
        low: Signal<Local, U<64>>,
        high: Signal<Local, U<64>>,
        strings: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for FpcGather {
    fn update(&mut self) {
        drive!(self; pattern: 0, word: 0, half: 0, fours: 0, bytes: 0, halves: 0, low: 0, high: 0,
            strings: 0);
        for g in 0..GROUPS {
            self.pattern.next = self.prefixes_i.val().get_bits::<3>(g * 3);
            comment!("the words' data with 4, 8 and 16 bits each");
            for w in 0..4 {
                self.word.next = self.line_i.val().get_bits::<32>(g * 128 + w * 32);
                self.fours.next[w * 4..] = self.word.val().get_bits::<4>(0);
                self.bytes.next[w * 8..] = self.word.val().get_bits::<8>(0);
                self.half.next = 0.into();
                if self.pattern.val() == self.sign16.val() {
                    self.half.next = self.word.val().get_bits::<16>(0);
                }
                if self.pattern.val() == self.upper16.val() {
                    self.half.next = self.half.val() | self.word.val().get_bits::<16>(16);
                }
                if self.pattern.val() == self.two_bytes.val() {
                    self.half.next = self.half.val() | bit_cast::<16, 8>(self.word.val().get_bits::<8>(0));
                    self.half.next[8..] = self.word.val().get_bits::<8>(16);
                }
                self.halves.next[w * 16..] = self.half.val();
            }
            comment!("one of them, or the words");
            drive!(self; low: halves, high: 0);
            if self.pattern.val() == self.sign4.val() {
                self.low.next = self.low.val() | bit_cast::<64, 16>(self.fours.val());
            }
            if (self.pattern.val() == self.sign8.val()) | (self.pattern.val() == self.repeated.val()) {
                self.low.next = self.low.val() | bit_cast::<64, 32>(self.bytes.val());
            }
            if self.pattern.val() == self.raw.val() {
                self.low.next = self.low.val() | self.line_i.val().get_bits::<64>(g * 128);
                self.high.next = self.line_i.val().get_bits::<64>(g * 128 + 64);
            }
            self.strings.next[g * 128..] = self.low.val();
            self.strings.next[g * 128 + 64..] = self.high.val();
        }
        self.strings_o.next = self.strings.val();
    }
}

rtl_block! {
    /// Splits pairs of segments. The right segment is at one of five positions, depending on the left segment's prefix.
    #[require(PAIRS * 256 == LINE && PRE == 6 * PAIRS)]
    pub struct FpcPairs<
        const LINE: usize, const LW: usize, const PAIRS: usize, const PRE: usize, const PREW: usize,
    > {
        /// strings of 256 bits, each beginning with the data of its first segment
        pub strings_i: Signal<In, W<LINE, LW>>,
        /// a prefix for each segment
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// strings of 128 bits, each beginning with the data of its segment
        pub strings_o: Signal<Out, W<LINE, LW>>,
        zeros: Constant<U<3>> = prefix(Pattern::Zeros),
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        sign16: Constant<U<3>> = prefix(Pattern::Sign16),
        upper16: Constant<U<3>> = prefix(Pattern::Upper16),
        two_bytes: Constant<U<3>> = prefix(Pattern::TwoBytes),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        left: Signal<Local, U<3>>,
        right: Signal<Local, U<64>>,
        strings: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for FpcPairs {
    fn update(&mut self) {
        drive!(self; left: 0, right: 0, strings: strings_i);
        for p in 0..PAIRS {
            self.left.next = self.prefixes_i.val().get_bits::<3>(p * 6);
            comment!("the lower and the upper half of the right segment");
            for h in 0..2 {
                self.right.next = 0.into();
                if self.left.val() == self.zeros.val() {
                    self.right.next = self.strings_i.val().get_bits::<64>(p * 256 + h * 64);
                }
                if self.left.val() == self.sign4.val() {
                    self.right.next =
                        self.right.val() | self.strings_i.val().get_bits::<64>(p * 256 + h * 64 + 16);
                }
                if (self.left.val() == self.sign8.val()) | (self.left.val() == self.repeated.val()) {
                    self.right.next =
                        self.right.val() | self.strings_i.val().get_bits::<64>(p * 256 + h * 64 + 32);
                }
                if (self.left.val() == self.sign16.val())
                    | (self.left.val() == self.upper16.val())
                    | (self.left.val() == self.two_bytes.val())
                {
                    self.right.next =
                        self.right.val() | self.strings_i.val().get_bits::<64>(p * 256 + h * 64 + 64);
                }
                if self.left.val() == self.raw.val() {
                    self.right.next =
                        self.right.val() | self.strings_i.val().get_bits::<64>(p * 256 + h * 64 + 128);
                }
                self.strings.next[p * 256 + 128 + h * 64..] = self.right.val();
            }
        }
        self.strings_o.next = self.strings.val();
    }
}

rtl_block! {
    /// Rebuilds the words of each segment from its data.
    #[require(GROUPS * 128 == LINE && PRE == 3 * GROUPS)]
    pub struct FpcRebuild<
        const LINE: usize, const LW: usize, const GROUPS: usize, const PRE: usize, const PREW: usize,
    > {
        /// strings of 128 bits, each beginning with the data of its segment
        pub strings_i: Signal<In, W<LINE, LW>>,
        /// a prefix for each segment
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// the line
        pub line_o: Signal<Out, W<LINE, LW>>,
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        sign16: Constant<U<3>> = prefix(Pattern::Sign16),
        upper16: Constant<U<3>> = prefix(Pattern::Upper16),
        two_bytes: Constant<U<3>> = prefix(Pattern::TwoBytes),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        ones4: Constant<U<4>> = Constant::new(U::new(0xf)),
        ones8: Constant<U<8>> = Constant::new(U::new(0xff)),
        pattern: Signal<Local, U<3>>,
        four: Signal<Local, U<4>>,
        kept_byte: Signal<Local, U<8>>,
        half: Signal<Local, U<16>>,
        /// bits 4 to 7, 8 to 15, 16 to 23 and 24 to 31 are ones
        above4: Signal<Local, Bit>,
        above8: Signal<Local, Bit>,
        above16: Signal<Local, Bit>,
        above24: Signal<Local, Bit>,
        word: Signal<Local, U<32>>,
        line: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for FpcRebuild {
    fn update(&mut self) {
        drive!(self; pattern: 0, four: 0, kept_byte: 0, half: 0, above4: false, above8: false, above16: false,
            above24: false, word: 0, line: 0);
        for g in 0..GROUPS {
            self.pattern.next = self.prefixes_i.val().get_bits::<3>(g * 3);
            for w in 0..4 {
                comment!("the word's data with 4, 8 and 16 bits");
                self.four.next = self.strings_i.val().get_bits::<4>(g * 128 + w * 4);
                self.kept_byte.next = self.strings_i.val().get_bits::<8>(g * 128 + w * 8);
                self.half.next = self.strings_i.val().get_bits::<16>(g * 128 + w * 16);
                comment!("four bits of the word at a time that take the sign's value");
                self.above4.next = (self.pattern.val() == self.sign4.val()) & self.four.val().get_bit(3);
                self.above16.next = self.above4.val()
                    | ((self.pattern.val() == self.sign8.val()) & self.kept_byte.val().get_bit(7));
                self.above8.next = self.above16.val()
                    | ((self.pattern.val() == self.two_bytes.val()) & self.half.val().get_bit(7));
                self.above16.next = self.above16.val()
                    | ((self.pattern.val() == self.sign16.val()) & self.half.val().get_bit(15));
                self.above24.next = self.above16.val()
                    | ((self.pattern.val() == self.two_bytes.val()) & self.half.val().get_bit(15));
                self.word.next = 0.into();
                if self.above4.val() {
                    self.word.next[4..] = self.ones4.val();
                }
                if self.above8.val() {
                    self.word.next[8..] = self.ones8.val();
                }
                if self.above16.val() {
                    self.word.next[16..] = self.ones8.val();
                }
                if self.above24.val() {
                    self.word.next[24..] = self.ones8.val();
                }
                comment!("the data themselves");
                if self.pattern.val() == self.sign4.val() {
                    self.word.next = self.word.val() | bit_cast::<32, 4>(self.four.val());
                }
                if (self.pattern.val() == self.sign8.val()) | (self.pattern.val() == self.repeated.val()) {
                    self.word.next = self.word.val() | bit_cast::<32, 8>(self.kept_byte.val());
                }
                if self.pattern.val() == self.repeated.val() {
                    self.word.next = self.word.val() | (bit_cast::<32, 8>(self.kept_byte.val()) << 8);
                    self.word.next = self.word.val() | (bit_cast::<32, 8>(self.kept_byte.val()) << 16);
                    self.word.next = self.word.val() | (bit_cast::<32, 8>(self.kept_byte.val()) << 24);
                }
                if self.pattern.val() == self.sign16.val() {
                    self.word.next = self.word.val() | bit_cast::<32, 16>(self.half.val());
                }
                if self.pattern.val() == self.upper16.val() {
                    self.word.next = self.word.val() | (bit_cast::<32, 16>(self.half.val()) << 16);
                }
                if self.pattern.val() == self.two_bytes.val() {
                    self.word.next = self.word.val() | bit_cast::<32, 8>(self.half.val().get_bits::<8>(0));
                    self.word.next =
                        self.word.val() | (bit_cast::<32, 8>(self.half.val().get_bits::<8>(8)) << 16);
                }
                if self.pattern.val() == self.raw.val() {
                    self.word.next = self.word.val() | self.strings_i.val().get_bits::<32>(g * 128 + w * 32);
                }
                self.line.next[g * 128 + w * 32..] = self.word.val();
            }
        }
        self.line_o.next = self.line.val();
    }
}
