//! CABA's C-Pack with at most four dictionary values, as combinational logic.

use crate::cpack::small::VALUES;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Compresses a line with at most four dictionary values: a line in, its payload out.
    ///
    /// A value is the first word that needs one: it has more than one byte, and no earlier value matches its upper three bytes.
    /// The payload is a head of four bits per word (kind, value), the values, and, if any word needs one, a byte per word.
    #[require(WORDS * 32 == LINE && WORDS <= 32 && LINE < 1 << SIZE && VALUES == 4)]
    // A compressed line is always shorter than the line.
    #[require(WORDS * 4 + VALUES * 32 + WORDS * 8 < LINE)]
    pub struct CpackSmallCompress<const LINE: usize, const LW: usize, const WORDS: usize, const SIZE: usize> {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// 0: uncompressed line; 1: compressed
        pub encoding_o: Signal<Out, U<2>>,
        /// size of the payload in bits
        pub size_o: Signal<Out, U<SIZE>>,
        /// the payload; zero beyond its size
        pub payload_o: Signal<Out, W<LINE, LW>>,
        line_bits: Constant<U<SIZE>> = Constant::new(U::new(LINE as u64)),
        head_bits: Constant<U<SIZE>> = Constant::new(U::new(4 * WORDS as u64)),
        byte_bits: Constant<U<SIZE>> = Constant::new(U::new(8 * WORDS as u64)),
        word: Signal<Local, U<32>>,
        value: Signal<Local, U<32>>,
        /// index of the current value
        place: Signal<Local, U<2>>,
        found: Signal<Local, Bit>,
        /// words that need no further value
        covered: Signal<Local, U<WORDS>>,
        needs_bytes: Signal<Local, Bit>,
        head: Signal<Local, W<128, 2>>,
        values: Signal<Local, W<128, 2>>,
        bytes: Signal<Local, W<256, 4>>,
        size: Signal<Local, U<SIZE>>,
        payload: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for CpackSmallCompress {
    fn update(&mut self) {
        drive!(self; word: 0, value: 0, place: 0, found: false, covered: 0, needs_bytes: false, head: 0,
            values: 0, bytes: 0, size: head_bits);
        comment!("kind 0: zero; kind 1: a byte above zeros");
        for i in 0..WORDS {
            self.word.next = self.line_i.val().get_bits::<32>(i * 32);
            if !self.word.val().get_bits::<24>(8).any() {
                self.covered.next[i] = true;
                if self.word.val().any() {
                    self.head.next[i * 4] = true;
                    self.bytes.next[i * 8..] = self.word.val().get_bits::<8>(0);
                    self.needs_bytes.next = true;
                }
            }
        }
        for v in 0..4 {
            comment!("the first word that is not covered becomes a value");
            self.place.next = v.to_bits::<2>();
            drive!(self; value: 0, found: false);
            for i in 0..WORDS {
                if !self.covered.val().get_bit(i) & !self.found.val() {
                    self.value.next = self.line_i.val().get_bits::<32>(i * 32);
                    self.found.next = true;
                }
            }
            if self.found.val() {
                self.values.next[v * 32..] = self.value.val();
                self.size.next = self.size.val() + 32;
            }
            comment!("kind 2: this value; kind 3: this value but for the last byte");
            for i in 0..WORDS {
                self.word.next = self.line_i.val().get_bits::<32>(i * 32);
                if !self.covered.val().get_bit(i)
                    & (self.word.val().get_bits::<24>(8) == self.value.val().get_bits::<24>(8))
                {
                    self.covered.next[i] = true;
                    self.head.next[i * 4 + 1] = true;
                    self.head.next[i * 4 + 2..] = self.place.val();
                    if self.word.val() != self.value.val() {
                        self.head.next[i * 4] = true;
                        self.bytes.next[i * 8..] = self.word.val().get_bits::<8>(0);
                        self.needs_bytes.next = true;
                    }
                }
            }
        }

        self.payload.next = bit_cast_to::<W<LINE, LW>>(self.head.val())
            | (bit_cast_to::<W<LINE, LW>>(self.values.val()) << self.head_bits.val())
            | (bit_cast_to::<W<LINE, LW>>(self.bytes.val()) << self.size.val());
        if self.needs_bytes.val() {
            self.size.next = self.size.val() + self.byte_bits.val();
        }
        drive!(self; encoding_o: 1, size_o: size, payload_o: payload);
        if !self.covered.val().all() {
            drive!(self; encoding_o: 0, size_o: line_bits, payload_o: line_i);
        }
    }
}

rtl_block! {
    /// Decompresses a line with at most four dictionary values: a payload in, the line out.
    #[require(WORDS * 32 == LINE && WORDS <= 32 && VALUES == 4)]
    pub struct CpackSmallDecompress<const LINE: usize, const LW: usize, const WORDS: usize> {
        /// 0: uncompressed line; 1: compressed; others are invalid
        pub encoding_i: Signal<In, U<2>>,
        /// the payload
        pub payload_i: Signal<In, W<LINE, LW>>,
        /// the line
        pub line_o: Signal<Out, W<LINE, LW>>,
        /// the encoding is invalid; the line is zero
        pub error_o: Signal<Out, Bit>,
        head_bits: Constant<U<10>> = Constant::new(U::new(4 * WORDS as u64)),
        kind: Signal<Local, U<2>>,
        place: Signal<Local, U<2>>,
        /// bits of the values up to the highest one that the head uses
        value_bits: Signal<Local, U<10>>,
        values: Signal<Local, W<128, 2>>,
        bytes: Signal<Local, W<256, 4>>,
        word: Signal<Local, U<32>>,
        line: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for CpackSmallDecompress {
    fn update(&mut self) {
        drive!(self; kind: 0, place: 0, word: 0, line: 0);
        comment!("the bytes follow the highest value that is used");
        self.value_bits.next = 0.into();
        for v in 0..4 {
            for i in 0..WORDS {
                self.place.next = self.payload_i.val().get_bits::<2>(i * 4 + 2);
                if self.payload_i.val().get_bit(i * 4 + 1) & (self.place.val() == v.to_bits::<2>()) {
                    self.value_bits.next = (v * 32 + 32).to_bits::<10>();
                }
            }
        }
        self.values.next = bit_cast_to::<W<128, 2>>(self.payload_i.val() >> self.head_bits.val());
        self.bytes.next =
            bit_cast_to::<W<256, 4>>(self.payload_i.val() >> (self.head_bits.val() + self.value_bits.val()));
        for i in 0..WORDS {
            self.kind.next = self.payload_i.val().get_bits::<2>(i * 4);
            self.place.next = self.payload_i.val().get_bits::<2>(i * 4 + 2);
            self.word.next = 0.into();
            if self.kind.val().get_bit(1) {
                for v in 0..4 {
                    if self.place.val() == v.to_bits::<2>() {
                        self.word.next = self.values.val().get_bits::<32>(v * 32);
                    }
                }
            }
            if self.kind.val().get_bit(0) {
                self.word.next[0..] = self.bytes.val().get_bits::<8>(i * 8);
            }
            self.line.next[i * 32..] = self.word.val();
        }
        drive!(self; error_o: false, line_o: line);
        if self.encoding_i.val() == 0 {
            self.line_o.next = self.payload_i.val();
        } else if self.encoding_i.val() != 1 {
            drive!(self; line_o: 0, error_o: true);
        }
    }
}
