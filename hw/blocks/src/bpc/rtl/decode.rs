//! One cycle's work of the decompressor: up to four codes.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Reads up to four codes of planes.
    ///
    /// P is the bits of a plane, PLACE those of a place in it, F those of the longest code (P + 1); CHUNK is four times F
    /// and DATA the bits of the 32 planes that words need: all but the first, which is that of the signs. A plane also
    /// goes to all planes behind it, which is right for a run of zeros and otherwise written over later.
    #[derive(LogicBlock, Default)]
    #[require(F == P + 1 && F == 1 << PLACE && CHUNK == 4 * F && DATA == 32 * P)]
    pub struct BpcDecode<
        const P: usize, const PLACE: usize, const F: usize,
        const CHUNK: usize, const CW: usize, const DATA: usize, const DW: usize,
    > {
        /// the next bits of the payload
        pub codes_i: Signal<In, W<CHUNK, CW>>,
        /// planes that have been read, 0 to 33
        pub next_i: Signal<In, U<6>>,
        /// the last plane, before the exclusive-or
        pub above_i: Signal<In, U<P>>,
        /// the planes before the exclusive-or
        pub planes_i: Signal<In, W<DATA, DW>>,
        /// bits of the codes that were read
        pub length_o: Signal<Out, U<8>>,
        /// planes that have been read now
        pub next_o: Signal<Out, U<6>>,
        /// the last plane now
        pub above_o: Signal<Out, U<P>>,
        /// the planes now
        pub planes_o: Signal<Out, W<DATA, DW>>,
        /// a run goes beyond the last plane
        pub error_o: Signal<Out, Bit>,
        with_place: Constant<U<8>> = Constant::new(U::new(5 + PLACE as u64)),
        raw: Constant<U<8>> = Constant::new(U::new(F as u64)),
        one: Constant<U<P>> = Constant::new(U::new(1)),
        two_ones: Constant<U<P>> = Constant::new(U::new(3)),
        all_ones: Constant<U<P>> = Constant::new(U::new(U::<P>::MAX)),
        codes: Signal<Local, W<CHUNK, CW>>,
        code: Signal<Local, U<F>>,
        place: Signal<Local, U<PLACE>>,
        plane: Signal<Local, U<P>>,
        count: Signal<Local, U<7>>,
        length: Signal<Local, U<8>>,
        total: Signal<Local, U<8>>,
        above: Signal<Local, U<P>>,
        planes: Signal<Local, W<DATA, DW>>,
        next_plane: Signal<Local, U<7>>,
        error: Signal<Local, Bit>,
    }
}

impl<
    const P: usize,
    const PLACE: usize,
    const F: usize,
    const CHUNK: usize,
    const CW: usize,
    const DATA: usize,
    const DW: usize,
> Logic for BpcDecode<P, PLACE, F, CHUNK, CW, DATA, DW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.codes.next = self.codes_i.val();
        self.next_plane.next = bit_cast::<7, 6>(self.next_i.val());
        self.above.next = self.above_i.val();
        self.planes.next = self.planes_i.val();
        self.total.next = 0.into();
        self.error.next = false;
        self.code.next = 0.into();
        self.place.next = 0.into();
        self.plane.next = 0.into();
        self.count.next = 0.into();
        self.length.next = 0.into();
        for _turn in 0..4 {
            if self.next_plane.val() < 33 {
                self.code.next = self.codes.val().get_bits::<F>(0);
                self.place.next = self.code.val().get_bits::<PLACE>(5);
                self.plane.next = 0.into();
                self.count.next = 1.into();
                self.length.next = 5.into();
                if self.code.val().get_bit(0) {
                    self.plane.next = self.code.val().get_bits::<P>(1);
                    self.length.next = self.raw.val();
                } else if self.code.val().get_bit(1) {
                    self.count.next = bit_cast::<7, 5>(self.code.val().get_bits::<5>(2)) + 2;
                    self.length.next = 7.into();
                } else if self.code.val().get_bit(2) {
                    self.length.next = 3.into();
                } else if self.code.val().get_bit(4) & self.code.val().get_bit(3) {
                    self.plane.next = self.one.val() << self.place.val();
                    self.length.next = self.with_place.val();
                } else if self.code.val().get_bit(4) {
                    comment!("zero before the exclusive-or");
                    self.plane.next = self.above.val();
                } else if self.code.val().get_bit(3) {
                    self.plane.next = self.two_ones.val() << self.place.val();
                    self.length.next = self.with_place.val();
                } else {
                    self.plane.next = self.all_ones.val();
                }
                self.above.next = self.above.val() ^ self.plane.val();
                for i in 1..33 {
                    if self.next_plane.val() <= i.to_bits::<7>() {
                        self.planes.next = self.planes.val().replace_bit((i - 1) * P, self.above.val());
                    }
                }
                self.next_plane.next = self.next_plane.val() + self.count.val();
                if self.next_plane.val() > 33 {
                    self.error.next = true;
                    self.next_plane.next = 33.into();
                }
                self.codes.next = self.codes.val() >> self.length.val();
                self.total.next = self.total.val() + self.length.val();
            }
        }
        self.length_o.next = self.total.val();
        self.next_o.next = bit_cast::<6, 7>(self.next_plane.val());
        self.above_o.next = self.above.val();
        self.planes_o.next = self.planes.val();
        self.error_o.next = self.error.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// The line of a base word and the bit planes of the differences.
    ///
    /// P is the bits of a plane, GROUPS a quarter of the words. Sums are taken in groups of four words first, so that
    /// three additions, one per group and one more lie behind each other, not one per word.
    #[derive(LogicBlock, Default)]
    pub struct BpcRebuild<
        const LINE: usize, const LW: usize, const P: usize, const GROUPS: usize, const DATA: usize, const DW: usize,
    > {
        /// the first word
        pub base_i: Signal<In, U<32>>,
        /// the planes, the highest first, without that of the signs
        pub planes_i: Signal<In, W<DATA, DW>>,
        /// the line
        pub line_o: Signal<Out, W<LINE, LW>>,
        word: Signal<Local, U<32>>,
        sums: Signal<Local, W<LINE, LW>>,
        offset: Signal<Local, U<32>>,
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const P: usize,
    const GROUPS: usize,
    const DATA: usize,
    const DW: usize,
> Logic for BpcRebuild<LINE, LW, P, GROUPS, DATA, DW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.word.next = self.base_i.val();
        self.sums.next = 0.into();
        self.sums.next = self.sums.val().replace_bit(0, self.base_i.val());
        comment!("the differences");
        for i in 0..P {
            for j in 0..32 {
                self.word.next =
                    self.word.val().replace_bit(j, self.planes_i.val().get_bit((31 - j) * P + i));
            }
            self.sums.next = self.sums.val().replace_bit(i * 32 + 32, self.word.val());
        }
        comment!("their sums inside each group, then over the groups");
        for g in 0..GROUPS {
            for j in 1..4 {
                self.word.next = self.sums.val().get_bits::<32>(g * 128 + j * 32)
                    + self.sums.val().get_bits::<32>(g * 128 + j * 32 - 32);
                self.sums.next = self.sums.val().replace_bit(g * 128 + j * 32, self.word.val());
            }
        }
        self.offset.next = 0.into();
        for g in 0..GROUPS {
            for j in 0..4 {
                self.word.next = self.sums.val().get_bits::<32>(g * 128 + j * 32) + self.offset.val();
                self.sums.next = self.sums.val().replace_bit(g * 128 + j * 32, self.word.val());
            }
            self.offset.next = self.word.val();
        }
        self.line_o.next = self.sums.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
