//! First step of the compressor: the bit planes of a line's differences, and the code of its base word.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Computes the differences of neighbouring words and arranges them as bit planes.
    ///
    /// P is the number of bits of a plane, one per difference. ALL is the number of bits of all 33 planes. Plane 0 of the
    /// output is the highest plane, which holds the signs.
    pub struct BpcPlanes<const LINE: usize, const LW: usize, const P: usize, const ALL: usize, const AW: usize> {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// the planes before the exclusive-or
        pub planes_o: Signal<Out, W<ALL, AW>>,
        word: Signal<Local, U<32>>,
        last: Signal<Local, U<32>>,
        delta: Signal<Local, U<33>>,
        planes: Signal<Local, W<ALL, AW>>,
    }
}

#[hdl_gen]
impl Logic for BpcPlanes {
    fn update(&mut self) {
        drive!(self; word: 0, last: 0, delta: 0, planes: 0);
        for i in 0..P {
            self.word.next = self.line_i.val().get_bits::<32>(i * 32 + 32);
            self.last.next = self.line_i.val().get_bits::<32>(i * 32);
            self.delta.next = bit_cast::<33, 32>(self.word.val()) - bit_cast::<33, 32>(self.last.val());
            for j in 0..33 {
                self.planes.next[(32 - j) * P + i] = self.delta.val().get_bit(j);
            }
        }
        self.planes_o.next = self.planes.val();
    }
}

rtl_block! {
    /// Encodes a base word by the shortest field of 0, 4, 8 or 16 bits whose sign-extension is the word, or by all 32 bits.
    pub struct BpcBase {
        /// the base word
        pub base_i: Signal<In, U<32>>,
        /// code of the word, its first bit in bit 0
        pub code_o: Signal<Out, U<33>>,
        /// number of bits of the code
        pub length_o: Signal<Out, U<6>>,
        /// bits of the word from the sign of 4, 8 and 16 bits up
        upper_4: Signal<Local, U<29>>,
        upper_8: Signal<Local, U<25>>,
        upper_16: Signal<Local, U<17>>,
    }
}

#[hdl_gen]
impl Logic for BpcBase {
    fn update(&mut self) {
        self.upper_4.next = self.base_i.val().get_bits::<29>(3);
        self.upper_8.next = self.base_i.val().get_bits::<25>(7);
        self.upper_16.next = self.base_i.val().get_bits::<17>(15);
        if !self.base_i.val().any() {
            drive!(self; code_o: 0, length_o: 3);
        } else if self.upper_4.val().all() | !self.upper_4.val().any() {
            self.code_o.next = (bit_cast::<33, 4>(self.base_i.val().get_bits::<4>(0)) << 3) | 4;
            self.length_o.next = 7.into();
        } else if self.upper_8.val().all() | !self.upper_8.val().any() {
            self.code_o.next = (bit_cast::<33, 8>(self.base_i.val().get_bits::<8>(0)) << 3) | 2;
            self.length_o.next = 11.into();
        } else if self.upper_16.val().all() | !self.upper_16.val().any() {
            self.code_o.next = (bit_cast::<33, 16>(self.base_i.val().get_bits::<16>(0)) << 3) | 6;
            self.length_o.next = 19.into();
        } else {
            self.code_o.next = (bit_cast::<33, 32>(self.base_i.val()) << 1) | 1;
            self.length_o.next = 33.into();
        }
    }
}
