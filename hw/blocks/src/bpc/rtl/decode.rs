//! The decompressor's steps: four codes taken apart, planes of them, and the line of all planes.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Takes four codes apart, whatever they mean.
    ///
    /// PLACE is the bits of a place in a plane, F those of the longest code; CHUNK is four times F and REACH five times. A code can
    /// begin in few places only, as there are five lengths. What bit a code begins at is one bit of so many, which is a gate or two
    /// from one code to the next.
    #[derive(LogicBlock, Default)]
    #[require(F == 1 << PLACE && CHUNK == 4 * F && REACH == 5 * F)]
    pub struct BpcSplit<
        const PLACE: usize, const F: usize, const CHUNK: usize, const CW: usize, const REACH: usize, const RW: usize,
    > {
        /// the next bits of the payload
        pub window_i: Signal<In, W<CHUNK, CW>>,
        /// four codes, F bits from the first bit of each
        pub codes_o: Signal<Out, W<CHUNK, CW>>,
        /// bits of the four codes
        pub length_o: Signal<Out, U<8>>,
        one: Constant<U<3>> = Constant::new(U::new(1)),
        two: Constant<U<3>> = Constant::new(U::new(2)),
        three: Constant<U<3>> = Constant::new(U::new(3)),
        five: Constant<U<3>> = Constant::new(U::new(5)),
        seven: Constant<U<3>> = Constant::new(U::new(7)),
        with_place: Constant<U<6>> = Constant::new(U::new(5 + PLACE as u64)),
        raw: Constant<U<6>> = Constant::new(U::new(F as u64)),
        window: Signal<Local, W<REACH, RW>>,
        /// for each bit, if a code begins there: it is a run
        is_run: Signal<Local, W<REACH, RW>>,
        /// it is one zero plane
        is_zero: Signal<Local, W<REACH, RW>>,
        /// it has a place
        has_place: Signal<Local, W<REACH, RW>>,
        /// it is a prefix of five bits
        is_short: Signal<Local, W<REACH, RW>>,
        /// the bit at which a code begins
        start: Signal<Local, W<REACH, RW>>,
        code: Signal<Local, U<F>>,
        codes: Signal<Local, W<CHUNK, CW>>,
        length: Signal<Local, U<8>>,
    }
}

impl<
    const PLACE: usize,
    const F: usize,
    const CHUNK: usize,
    const CW: usize,
    const REACH: usize,
    const RW: usize,
> Logic for BpcSplit<PLACE, F, CHUNK, CW, REACH, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.window.next = bit_cast_to::<W<REACH, RW>>(self.window_i.val());
        self.is_run.next = !self.window.val() & (self.window.val() >> self.one.val());
        self.is_zero.next = !self.window.val()
            & !(self.window.val() >> self.one.val())
            & (self.window.val() >> self.two.val());
        self.is_short.next = !self.window.val()
            & !(self.window.val() >> self.one.val())
            & !(self.window.val() >> self.two.val());
        self.has_place.next = self.is_short.val() & (self.window.val() >> self.three.val());
        self.is_short.next = self.is_short.val() & !(self.window.val() >> self.three.val());

        self.start.next = 0.into();
        self.start.next = self.start.val().replace_bit(0, true);
        self.codes.next = 0.into();
        self.code.next = 0.into();
        for k in 0..4 {
            self.code.next = 0.into();
            for i in 0..3 * F + 1 {
                if self.start.val().get_bit(i) {
                    self.code.next = self.code.val() | self.window.val().get_bits::<F>(i);
                }
            }
            self.codes.next = self.codes.val().replace_bit(k * F, self.code.val());
            self.start.next = ((self.start.val() & self.is_zero.val()) << self.three.val())
                | ((self.start.val() & self.is_short.val()) << self.five.val())
                | ((self.start.val() & self.is_run.val()) << self.seven.val())
                | ((self.start.val() & self.has_place.val()) << self.with_place.val())
                | ((self.start.val() & self.window.val()) << self.raw.val());
        }
        self.length.next = 0.into();
        for i in 0..CHUNK + 1 {
            if self.start.val().get_bit(i) {
                self.length.next = self.length.val() | i.to_bits::<8>();
            }
        }
        self.codes_o.next = self.codes.val();
        self.length_o.next = self.length.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// Makes planes of up to four codes: those that are left when all planes are there are none.
    ///
    /// P is the bits of a plane, PLACE those of a place in it, F those of the longest code (P + 1); CHUNK is four times F
    /// and DATA the bits of the 32 planes that words need: all but the first, which is that of the signs. The last plane also
    /// goes to all planes behind it, which is right for a run of zeros and otherwise written over later.
    #[derive(LogicBlock, Default)]
    #[require(F == P + 1 && F == 1 << PLACE && CHUNK == 4 * F && DATA == 32 * P)]
    pub struct BpcDecode<
        const P: usize, const PLACE: usize, const F: usize,
        const CHUNK: usize, const CW: usize, const DATA: usize, const DW: usize,
    > {
        /// four codes, F bits each
        pub codes_i: Signal<In, W<CHUNK, CW>>,
        /// planes that have been read, 0 to 32
        pub next_i: Signal<In, U<6>>,
        /// the last plane, before the exclusive-or
        pub above_i: Signal<In, U<P>>,
        /// the planes before the exclusive-or
        pub planes_i: Signal<In, W<DATA, DW>>,
        /// bits of the codes that are some
        pub length_o: Signal<Out, U<8>>,
        /// planes that have been read now, unless all have
        pub next_o: Signal<Out, U<6>>,
        /// all planes have been read
        pub done_o: Signal<Out, Bit>,
        /// the last plane now
        pub above_o: Signal<Out, U<P>>,
        /// the planes now
        pub planes_o: Signal<Out, W<DATA, DW>>,
        /// a run goes beyond the last plane
        pub error_o: Signal<Out, Bit>,
        with_place: Constant<U<8>> = Constant::new(U::new(5 + PLACE as u64)),
        raw: Constant<U<8>> = Constant::new(U::new(F as u64)),
        all_ones: Constant<U<P>> = Constant::new(U::new(U::<P>::MAX)),
        code: Signal<Local, U<F>>,
        place: Signal<Local, U<PLACE>>,
        /// the bit at that place
        mark: Signal<Local, U<P>>,
        plane: Signal<Local, U<P>>,
        count: Signal<Local, U<8>>,
        counted: Signal<Local, U<8>>,
        length: Signal<Local, U<8>>,
        total: Signal<Local, U<8>>,
        above: Signal<Local, U<P>>,
        old: Signal<Local, U<P>>,
        planes: Signal<Local, W<DATA, DW>>,
        /// planes before this code, and behind it
        start: Signal<Local, U<8>>,
        behind: Signal<Local, U<8>>,
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
        self.start.next = bit_cast::<8, 6>(self.next_i.val());
        self.behind.next = 0.into();
        self.counted.next = 0.into();
        self.above.next = self.above_i.val();
        self.planes.next = 0.into();
        self.old.next = 0.into();
        for i in 1..33 {
            if i.to_bits::<8>() < self.start.val() {
                self.old.next = self.planes_i.val().get_bits::<P>((i - 1) * P);
                self.planes.next = self.planes.val().replace_bit((i - 1) * P, self.old.val());
            }
        }
        self.total.next = 0.into();
        self.error.next = false;
        self.code.next = 0.into();
        self.place.next = 0.into();
        self.plane.next = 0.into();
        self.count.next = 0.into();
        self.length.next = 0.into();
        for k in 0..4 {
            self.code.next = self.codes_i.val().get_bits::<F>(k * F);
            self.place.next = self.code.val().get_bits::<PLACE>(5);
            self.mark.next = 0.into();
            for i in 0..P {
                if self.place.val() == i.to_bits::<PLACE>() {
                    self.mark.next = self.mark.val().replace_bit(i, true);
                }
            }
            self.plane.next = self.above.val();
            self.count.next = 1.into();
            self.length.next = 5.into();
            if self.code.val().get_bit(0) {
                self.plane.next = self.above.val() ^ self.code.val().get_bits::<P>(1);
                self.length.next = self.raw.val();
            } else if self.code.val().get_bit(1) {
                self.count.next = bit_cast::<8, 5>(self.code.val().get_bits::<5>(2)) + 2;
                self.length.next = 7.into();
            } else if self.code.val().get_bit(2) {
                self.length.next = 3.into();
            } else if self.code.val().get_bit(4) & self.code.val().get_bit(3) {
                self.plane.next = self.above.val() ^ self.mark.val();
                self.length.next = self.with_place.val();
            } else if self.code.val().get_bit(4) {
                comment!("zero before the exclusive-or");
                self.plane.next = 0.into();
            } else if self.code.val().get_bit(3) {
                self.plane.next = self.above.val() ^ (self.mark.val() | (self.mark.val() << 1));
                self.length.next = self.with_place.val();
            } else {
                self.plane.next = self.above.val() ^ self.all_ones.val();
            }
            self.above.next = self.plane.val();
            self.counted.next = self.counted.val() + self.count.val();
            self.behind.next = bit_cast::<8, 6>(self.next_i.val()) + self.counted.val();
            for i in 1..33 {
                if (self.start.val() <= i.to_bits::<8>())
                    & ((i.to_bits::<8>() < self.behind.val()) | (k.to_bits::<3>() == 3))
                {
                    self.old.next = self.planes.val().get_bits::<P>((i - 1) * P);
                    self.planes.next =
                        self.planes.val().replace_bit((i - 1) * P, self.old.val() | self.above.val());
                }
            }
            if self.start.val() < 33 {
                self.total.next = self.total.val() + self.length.val();
                if self.behind.val() > 33 {
                    self.error.next = true;
                }
            }
            self.start.next = self.behind.val();
        }
        self.length_o.next = self.total.val();
        self.next_o.next = bit_cast::<6, 8>(self.behind.val());
        self.done_o.next = self.behind.val() >= 33;
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
    /// P is the bits of a plane, GROUPS a quarter of the words. Sums are taken in groups of four words first, then over the
    /// groups in a tree, then over all words: six additions lie behind each other for 32 words.
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
        pair: Signal<Local, U<32>>,
        sums: Signal<Local, W<LINE, LW>>,
        /// sums of all words up to those of each group
        groups: Signal<Local, W<LINE, LW>>,
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
        self.pair.next = 0.into();
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
        comment!("their sums inside each group");
        self.groups.next = 0.into();
        for g in 0..GROUPS {
            self.pair.next =
                self.sums.val().get_bits::<32>(g * 128) + self.sums.val().get_bits::<32>(g * 128 + 32);
            self.sums.next = self.sums.val().replace_bit(g * 128 + 32, self.pair.val());
            self.word.next =
                self.sums.val().get_bits::<32>(g * 128 + 64) + self.sums.val().get_bits::<32>(g * 128 + 96);
            self.sums.next = self.sums.val().replace_bit(g * 128 + 96, self.pair.val() + self.word.val());
            self.word.next = self.pair.val() + self.sums.val().get_bits::<32>(g * 128 + 64);
            self.sums.next = self.sums.val().replace_bit(g * 128 + 64, self.word.val());
            self.groups.next =
                self.groups.val().replace_bit(g * 32, self.sums.val().get_bits::<32>(g * 128 + 96));
        }
        comment!("sums over the groups: in each step twice as many have all that is below them");
        for h in 0..GROUPS >> 1 {
            self.word.next =
                self.groups.val().get_bits::<32>(h * 64 + 32) + self.groups.val().get_bits::<32>(h * 64);
            self.groups.next = self.groups.val().replace_bit(h * 64 + 32, self.word.val());
        }
        for h in 0..GROUPS >> 2 {
            for g in 2..4 {
                self.word.next = self.groups.val().get_bits::<32>(h * 128 + g * 32)
                    + self.groups.val().get_bits::<32>(h * 128 + 32);
                self.groups.next = self.groups.val().replace_bit(h * 128 + g * 32, self.word.val());
            }
        }
        for h in 0..GROUPS >> 3 {
            for g in 4..8 {
                self.word.next = self.groups.val().get_bits::<32>(h * 256 + g * 32)
                    + self.groups.val().get_bits::<32>(h * 256 + 96);
                self.groups.next = self.groups.val().replace_bit(h * 256 + g * 32, self.word.val());
            }
        }
        comment!("the words");
        self.offset.next = 0.into();
        for g in 0..GROUPS {
            for j in 0..4 {
                self.word.next = self.sums.val().get_bits::<32>(g * 128 + j * 32) + self.offset.val();
                self.sums.next = self.sums.val().replace_bit(g * 128 + j * 32, self.word.val());
            }
            self.offset.next = self.groups.val().get_bits::<32>(g * 32);
        }
        self.line_o.next = self.sums.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
