//! Packing in the compressor: base, mask and deltas, one after the other in the payload.

use super::choose::tag;
use crate::bdi::encoding::BdiEncoding;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Packs a line under one encoding: the base, the mask in whole bytes, then the deltas in the order of the words.
    ///
    /// BASE is the number of bits of a word, DELTA of a delta, and HEAD of base and mask together.
    pub struct BdiPackOne<
        const BASE: usize, const DELTA: usize, const WORDS: usize, const HEAD: usize, const LINE: usize, const LW: usize,
    > {
        /// the deltas, each in the low bits of its word
        pub deltas_i: Signal<In, W<LINE, LW>>,
        /// the base
        pub base_i: Signal<In, U<BASE>>,
        /// one bit per word: it is a delta from zero
        pub mask_i: Signal<In, U<WORDS>>,
        /// the payload; zero beyond the last delta
        pub payload_o: Signal<Out, W<LINE, LW>>,
        delta: Signal<Local, U<DELTA>>,
        payload: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for BdiPackOne {
    fn update(&mut self) {
        drive!(self; delta: 0, payload: 0);
        self.payload.next[0..] = self.base_i.val();
        self.payload.next[BASE..] = self.mask_i.val();
        for i in 0..WORDS {
            self.delta.next = self.deltas_i.val().get_bits::<DELTA>(i * BASE);
            self.payload.next[HEAD + i * DELTA..] = self.delta.val();
        }
        self.payload_o.next = self.payload.val();
    }
}

rtl_block! {
    /// Makes the payload of the chosen encoding. For each width of words, H8, H4 and H2 are the numbers of bits of base and
    /// mask.
    #[require(H8 == 64 + N8.next_multiple_of(8))]
    #[require(H4 == 32 + N4.next_multiple_of(8) && H2 == 16 + N2.next_multiple_of(8))]
    #[require(LINE / 8 < 1 << SIZE)]
    pub struct BdiPack<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const H8: usize, const H4: usize, const H2: usize, const SIZE: usize,
    > {
        /// the deltas, each in the low bits of its word; the line itself if it stays uncompressed
        pub deltas_i: Signal<In, W<LINE, LW>>,
        /// tag of the encoding
        pub tag_i: Signal<In, U<4>>,
        /// base of the encoding
        pub base_i: Signal<In, U<64>>,
        /// mask of the encoding
        pub mask_i: Signal<In, U<N2>>,
        /// the payload; zero beyond its size
        pub payload_o: Signal<Out, W<LINE, LW>>,
        /// size of the payload in bytes
        pub size_o: Signal<Out, U<SIZE>>,
        pack_b8d1: Once<BdiPackOne<64, 8, N8, H8, LINE, LW>>,
        pack_b8d2: Once<BdiPackOne<64, 16, N8, H8, LINE, LW>>,
        pack_b8d4: Once<BdiPackOne<64, 32, N8, H8, LINE, LW>>,
        pack_b4d1: Once<BdiPackOne<32, 8, N4, H4, LINE, LW>>,
        pack_b4d2: Once<BdiPackOne<32, 16, N4, H4, LINE, LW>>,
        pack_b2d1: Once<BdiPackOne<16, 8, N2, H2, LINE, LW>>,
        zeros: Constant<U<4>> = tag(BdiEncoding::Zeros),
        b8d0: Constant<U<4>> = tag(BdiEncoding::B8D0),
        b8d1: Constant<U<4>> = tag(BdiEncoding::B8D1),
        b8d2: Constant<U<4>> = tag(BdiEncoding::B8D2),
        b8d4: Constant<U<4>> = tag(BdiEncoding::B8D4),
        b4d0: Constant<U<4>> = tag(BdiEncoding::B4D0),
        b4d1: Constant<U<4>> = tag(BdiEncoding::B4D1),
        b4d2: Constant<U<4>> = tag(BdiEncoding::B4D2),
        b2d0: Constant<U<4>> = tag(BdiEncoding::B2D0),
        b2d1: Constant<U<4>> = tag(BdiEncoding::B2D1),
        line_bytes: Constant<U<SIZE>> = bytes(BdiEncoding::Uncompressed, LINE),
        b8d1_bytes: Constant<U<SIZE>> = bytes(BdiEncoding::B8D1, LINE),
        b8d2_bytes: Constant<U<SIZE>> = bytes(BdiEncoding::B8D2, LINE),
        b8d4_bytes: Constant<U<SIZE>> = bytes(BdiEncoding::B8D4, LINE),
        b4d1_bytes: Constant<U<SIZE>> = bytes(BdiEncoding::B4D1, LINE),
        b4d2_bytes: Constant<U<SIZE>> = bytes(BdiEncoding::B4D2, LINE),
        b2d1_bytes: Constant<U<SIZE>> = bytes(BdiEncoding::B2D1, LINE),
    }
}

/// Returns the payload bytes of an encoding as a named constant.
fn bytes<const SIZE: usize>(encoding: BdiEncoding, line_bits: usize) -> Constant<U<SIZE>> {
    Constant::new(U::new(encoding.size(line_bits / 8) as u64))
}

#[hdl_gen]
impl Logic for BdiPack {
    fn update(&mut self) {
        drive!(self.pack_b8d1; deltas_i, base_i);
        self.pack_b8d1.mask_i.next = bit_cast::<N8, N2>(self.mask_i.val());
        drive!(self.pack_b8d2; deltas_i, base_i);
        self.pack_b8d2.mask_i.next = bit_cast::<N8, N2>(self.mask_i.val());
        drive!(self.pack_b8d4; deltas_i, base_i);
        self.pack_b8d4.mask_i.next = bit_cast::<N8, N2>(self.mask_i.val());
        self.pack_b4d1.deltas_i.next = self.deltas_i.val();
        self.pack_b4d1.base_i.next = bit_cast::<32, 64>(self.base_i.val());
        self.pack_b4d1.mask_i.next = bit_cast::<N4, N2>(self.mask_i.val());
        self.pack_b4d2.deltas_i.next = self.deltas_i.val();
        self.pack_b4d2.base_i.next = bit_cast::<32, 64>(self.base_i.val());
        self.pack_b4d2.mask_i.next = bit_cast::<N4, N2>(self.mask_i.val());
        self.pack_b2d1.deltas_i.next = self.deltas_i.val();
        self.pack_b2d1.base_i.next = bit_cast::<16, 64>(self.base_i.val());
        self.pack_b2d1.mask_i.next = self.mask_i.val();

        drive!(self; payload_o: deltas_i, size_o: line_bytes);
        if self.tag_i.val() == self.zeros.val() {
            drive!(self; payload_o: 0, size_o: 0);
        } else if self.tag_i.val() == self.b8d0.val() {
            self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.base_i.val());
            self.size_o.next = 8.into();
        } else if self.tag_i.val() == self.b4d0.val() {
            self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.base_i.val());
            self.size_o.next = 4.into();
        } else if self.tag_i.val() == self.b2d0.val() {
            self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.base_i.val());
            self.size_o.next = 2.into();
        } else if self.tag_i.val() == self.b8d1.val() {
            drive!(self; pack_b8d1.payload_o, size_o: b8d1_bytes);
        } else if self.tag_i.val() == self.b8d2.val() {
            drive!(self; pack_b8d2.payload_o, size_o: b8d2_bytes);
        } else if self.tag_i.val() == self.b8d4.val() {
            drive!(self; pack_b8d4.payload_o, size_o: b8d4_bytes);
        } else if self.tag_i.val() == self.b4d1.val() {
            drive!(self; pack_b4d1.payload_o, size_o: b4d1_bytes);
        } else if self.tag_i.val() == self.b4d2.val() {
            drive!(self; pack_b4d2.payload_o, size_o: b4d2_bytes);
        } else if self.tag_i.val() == self.b2d1.val() {
            drive!(self; pack_b2d1.payload_o, size_o: b2d1_bytes);
        }
    }
}
