//! Inputs for one row of 64-bit adders that serves words of every width: the base of each word, and the bits where carries
//! stop.

use super::choose::tag;
use crate::bdi::encoding::BdiEncoding;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Gives the base for every word of the line, or zero if the word's delta is from zero.
    #[require(N8 * 64 == LINE && N4 * 32 == LINE && N2 * 16 == LINE)]
    pub struct BdiBases<const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize> {
        /// the base, in the low bits
        pub base_i: Signal<In, U<64>>,
        /// one bit per word: it is a delta from zero
        pub mask_i: Signal<In, U<N2>>,
        /// words have 8 bytes
        pub b8_i: Signal<In, Bit>,
        /// words have 4 bytes; if both are low, they have 2
        pub b4_i: Signal<In, Bit>,
        /// base or zero for each word
        pub bases_o: Signal<Out, W<LINE, LW>>,
        pattern: Signal<Local, U<64>>,
        from_zero: Signal<Local, Bit>,
        part: Signal<Local, U<16>>,
        bases: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for BdiBases {
    fn update(&mut self) {
        comment!("repeat the base to fill 8 bytes");
        self.pattern.next = self.base_i.val();
        if self.b4_i.val() {
            self.pattern.next[32..] = self.base_i.val().get_bits::<32>(0);
        } else if !self.b8_i.val() {
            self.pattern.next[16..] = self.base_i.val().get_bits::<16>(0);
            self.pattern.next[32..] = self.base_i.val().get_bits::<16>(0);
            self.pattern.next[48..] = self.base_i.val().get_bits::<16>(0);
        }

        drive!(self; from_zero: false, part: 0, bases: 0);
        for w in 0..N8 {
            for h in 0..2 {
                for q in 0..2 {
                    self.from_zero.next = self.mask_i.val().get_bit(w * 4 + h * 2 + q);
                    if self.b8_i.val() {
                        self.from_zero.next = self.mask_i.val().get_bit(w);
                    } else if self.b4_i.val() {
                        self.from_zero.next = self.mask_i.val().get_bit(w * 2 + h);
                    }
                    self.part.next = 0.into();
                    if !self.from_zero.val() {
                        self.part.next = self.pattern.val().get_bits::<16>(h * 32 + q * 16);
                    }
                    self.bases.next[w * 64 + h * 32 + q * 16..] = self.part.val();
                }
            }
        }
        self.bases_o.next = self.bases.val();
    }
}

rtl_block! {
    /// Gives the highest bit of each word in 8 bytes, at which an adder's carry stops.
    pub struct BdiStops {
        /// tag of the encoding: 2 to 5 for words of 8 bytes, 6 to 8 for 4 bytes, 9 and 10 for 2 bytes
        pub tag_i: Signal<In, U<4>>,
        /// words have 8 bytes
        pub b8_o: Signal<Out, Bit>,
        /// words have 4 bytes; if both are low, they have 2
        pub b4_o: Signal<Out, Bit>,
        /// highest bit of each word
        pub stops_o: Signal<Out, U<64>>,
        b8d4: Constant<U<4>> = tag(BdiEncoding::B8D4),
        b4d2: Constant<U<4>> = tag(BdiEncoding::B4D2),
        stops_b8: Constant<U<64>> = Constant::new(U::new(0x8000_0000_0000_0000)),
        stops_b4: Constant<U<64>> = Constant::new(U::new(0x8000_0000_8000_0000)),
        stops_b2: Constant<U<64>> = Constant::new(U::new(0x8000_8000_8000_8000)),
    }
}

#[hdl_gen]
impl Logic for BdiStops {
    fn update(&mut self) {
        self.b8_o.next = self.tag_i.val() <= self.b8d4.val();
        self.b4_o.next = (self.tag_i.val() > self.b8d4.val()) & (self.tag_i.val() <= self.b4d2.val());
        self.stops_o.next = self.stops_b2.val();
        if self.tag_i.val() <= self.b8d4.val() {
            self.stops_o.next = self.stops_b8.val();
        } else if self.tag_i.val() <= self.b4d2.val() {
            self.stops_o.next = self.stops_b4.val();
        }
    }
}
