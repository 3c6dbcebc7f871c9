//! The compressor's work per cycle: it makes the codes of four planes, and one cycle later it places them in the payload.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Encodes four planes.
    ///
    /// P is the number of bits of a plane, PLACE of a position in it, F of the longest code (P + 1). FIVE is five times P,
    /// and CHUNK is four times F. The code of a run of zero planes is given with the last plane of the run.
    #[require(F == P + 1 && F == 1 << PLACE && FIVE == 5 * P && CHUNK == 4 * F)]
    pub struct BpcEncode<
        const P: usize, const PLACE: usize, const F: usize,
        const FIVE: usize, const FW: usize, const CHUNK: usize, const CW: usize,
    > {
        /// the four planes before the exclusive-or, and the next one
        pub planes_i: Signal<In, W<FIVE, FW>>,
        /// the plane above them
        pub above_i: Signal<In, U<P>>,
        /// only the first one of the planes belongs to the line
        pub last_i: Signal<In, Bit>,
        /// number of zero planes just before these
        pub run_i: Signal<In, U<6>>,
        /// the codes, F bits each
        pub codes_o: Signal<Out, W<CHUNK, CW>>,
        /// number of bits of each code, 6 bits each; 0 if a plane has no code
        pub lengths_o: Signal<Out, U<24>>,
        /// number of zero planes at the end that have no code yet
        pub run_o: Signal<Out, U<6>>,
        with_place: Constant<U<6>> = Constant::new(U::new(5 + PLACE as u64)),
        raw: Constant<U<6>> = Constant::new(U::new(F as u64)),
        above: Signal<Local, U<P>>,
        dbp: Signal<Local, U<P>>,
        plane: Signal<Local, U<P>>,
        /// one bit per plane: the plane is zero after the exclusive-or
        zero: Signal<Local, U<5>>,
        /// ones whose upper neighbour is a one
        pairs: Signal<Local, U<P>>,
        /// ones without a neighbouring one
        alone: Signal<Local, U<P>>,
        marked: Signal<Local, U<P>>,
        /// bits that are set in the position of at least one marked bit
        place: Signal<Local, U<PLACE>>,
        /// bits that are clear in the position of at least one marked bit
        not_place: Signal<Local, U<PLACE>>,
        one_marked: Signal<Local, Bit>,
        /// number of successive zero planes among the four, up to this one
        here: Signal<Local, U<6>>,
        /// all planes so far are zero
        all_zero: Signal<Local, Bit>,
        run: Signal<Local, U<6>>,
        code: Signal<Local, U<F>>,
        length: Signal<Local, U<6>>,
        codes: Signal<Local, W<CHUNK, CW>>,
        lengths: Signal<Local, U<24>>,
    }
}

#[hdl_gen]
impl Logic for BpcEncode {
    fn update(&mut self) {
        comment!("planes beyond the line do not count as zero, so that a run ends there");
        drive!(self; above: above_i, dbp: 0, zero: 0);
        for k in 0..5 {
            self.dbp.next = self.planes_i.val().get_bits::<P>(k * P);
            if k.to_bits::<3>() == 0 {
                self.zero.next[k] = self.dbp.val() == self.above.val();
            } else {
                self.zero.next[k] = (self.dbp.val() == self.above.val()) & !self.last_i.val();
            }
            self.above.next = self.dbp.val();
        }

        drive!(self; above: above_i, plane: 0, pairs: 0, alone: 0, marked: 0, place: 0, not_place: 0,
            one_marked: false, here: 0, all_zero: true, run: 0, code: 0, length: 0, codes: 0, lengths: 0);
        for k in 0..4 {
            self.dbp.next = self.planes_i.val().get_bits::<P>(k * P);
            self.plane.next = self.dbp.val() ^ self.above.val();
            self.above.next = self.dbp.val();
            comment!(
                "the position is used if exactly one bit is marked: a single one, or the lower of two neighbours"
            );
            self.pairs.next = self.plane.val() & (self.plane.val() >> 1);
            self.alone.next = self.plane.val() & !(self.pairs.val() | (self.pairs.val() << 1));
            self.marked.next = self.plane.val();
            if self.pairs.val().any() {
                self.marked.next = self.pairs.val();
            }
            comment!("two marked positions differ in a bit: set in one, clear in the other");
            drive!(self; place: 0, not_place: 0);
            for i in 0..P {
                if self.marked.val().get_bit(i) {
                    self.place.next = self.place.val() | i.to_bits::<PLACE>();
                    self.not_place.next = self.not_place.val() | !i.to_bits::<PLACE>();
                }
            }
            self.one_marked.next = !(self.place.val() & self.not_place.val()).any();

            comment!("a run from the previous planes continues while all planes so far are zero");
            self.run.next = 0.into();
            if self.zero.val().get_bit(k) {
                self.here.next = self.here.val() + 1;
                self.run.next = self.here.val();
                if self.all_zero.val() {
                    self.run.next = self.here.val() + self.run_i.val();
                }
            } else {
                drive!(self; here: 0, all_zero: false);
            }

            drive!(self; code: 0, length: 0);
            if self.zero.val().get_bit(k) {
                if !self.zero.val().get_bit(k + 1) {
                    if self.run.val() == 1 {
                        drive!(self; code: 4, length: 3);
                    } else {
                        self.code.next = (bit_cast::<F, 6>(self.run.val() - 2) << 2) | 2;
                        self.length.next = 7.into();
                    }
                }
            } else if self.plane.val().all() {
                self.length.next = 5.into();
            } else if !self.dbp.val().any() {
                drive!(self; code: 16, length: 5);
            } else if self.one_marked.val() & !self.pairs.val().any() {
                self.code.next = (bit_cast::<F, PLACE>(self.place.val()) << 5) | 24;
                self.length.next = self.with_place.val();
            } else if self.one_marked.val() & !self.alone.val().any() {
                self.code.next = (bit_cast::<F, PLACE>(self.place.val()) << 5) | 8;
                self.length.next = self.with_place.val();
            } else {
                self.code.next = (bit_cast::<F, P>(self.plane.val()) << 1) | 1;
                self.length.next = self.raw.val();
            }
            if (k.to_bits::<3>() > 0) & self.last_i.val() {
                drive!(self; code: 0, length: 0);
            }
            self.codes.next[k * F..] = self.code.val();
            self.lengths.next[k * 6..] = self.length.val();
        }
        drive!(self; codes_o: codes, lengths_o: lengths, run_o: 0);
        if self.zero.val().get_bit(4) {
            self.run_o.next = self.run.val();
        }
    }
}

rtl_block! {
    /// Appends four codes without gaps to the bits that a block of the payload has so far.
    ///
    /// F is the number of bits of the longest code, and CHUNK is four times that. BLOCK is the number of bits of a block,
    /// and BOTH of two blocks.
    #[require(CHUNK == 4 * F && CHUNK <= BLOCK && BOTH == 2 * BLOCK && BLOCK <= 128)]
    pub struct BpcMerge<
        const F: usize, const CHUNK: usize, const CW: usize, const BLOCK: usize, const BW: usize,
        const BOTH: usize, const BOW: usize,
    > {
        /// the codes, F bits each, zero beyond their lengths
        pub codes_i: Signal<In, W<CHUNK, CW>>,
        /// number of bits of each code, 6 bits each
        pub lengths_i: Signal<In, U<24>>,
        /// bits that the block has so far
        pub tail_i: Signal<In, W<BLOCK, BW>>,
        /// number of these bits
        pub filled_i: Signal<In, U<7>>,
        /// this block and the next one
        pub merged_o: Signal<Out, W<BOTH, BOW>>,
        /// number of bits of the four codes
        pub length_o: Signal<Out, U<8>>,
        code: Signal<Local, U<F>>,
        low_length: Signal<Local, U<8>>,
        high_length: Signal<Local, U<8>>,
        low: Signal<Local, W<CHUNK, CW>>,
        high: Signal<Local, W<CHUNK, CW>>,
        second: Signal<Local, W<CHUNK, CW>>,
        four: Signal<Local, W<BOTH, BOW>>,
    }
}

#[hdl_gen]
impl Logic for BpcMerge {
    fn update(&mut self) {
        comment!("merge pairs, then both pairs: each sum of lengths depends on one other sum only");
        self.low_length.next = bit_cast::<8, 6>(self.lengths_i.val().get_bits::<6>(0))
            + bit_cast::<8, 6>(self.lengths_i.val().get_bits::<6>(6));
        self.high_length.next = bit_cast::<8, 6>(self.lengths_i.val().get_bits::<6>(12))
            + bit_cast::<8, 6>(self.lengths_i.val().get_bits::<6>(18));
        self.code.next = self.codes_i.val().get_bits::<F>(0);
        self.low.next = 0.into();
        self.low.next[0..] = self.code.val();
        self.code.next = self.codes_i.val().get_bits::<F>(F);
        self.second.next = 0.into();
        self.second.next[0..] = self.code.val();
        self.low.next = self.low.val() | (self.second.val() << self.lengths_i.val().get_bits::<6>(0));
        self.code.next = self.codes_i.val().get_bits::<F>(2 * F);
        self.high.next = 0.into();
        self.high.next[0..] = self.code.val();
        self.code.next = self.codes_i.val().get_bits::<F>(3 * F);
        self.second.next = 0.into();
        self.second.next[0..] = self.code.val();
        self.high.next = self.high.val() | (self.second.val() << self.lengths_i.val().get_bits::<6>(12));
        self.low.next = self.low.val() | (self.high.val() << self.low_length.val());
        self.four.next = bit_cast_to::<W<BOTH, BOW>>(self.low.val());
        self.merged_o.next =
            bit_cast_to::<W<BOTH, BOW>>(self.tail_i.val()) | (self.four.val() << self.filled_i.val());
        self.length_o.next = self.low_length.val() + self.high_length.val();
    }
}
