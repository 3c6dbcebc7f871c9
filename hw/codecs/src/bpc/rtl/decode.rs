//! Steps of the decompressor: splitting of four codes, planes from codes, and half of the line from all planes.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Splits four codes by their lengths. It does not decode them.
    ///
    /// PLACE is the number of bits of a position in a plane, F of the longest code. CHUNK is four times F. BLOCK is the
    /// number of bits of a block of the payload, BOTH of two blocks, and PLACES of a position in two blocks. The bits that
    /// remain after a code begin with the next code, so that its first bits show its kind at once.
    #[require(F == 1 << PLACE && CHUNK == 4 * F && BLOCK >= CHUNK && BOTH == 2 * BLOCK && BOTH == 1 << PLACES)]
    pub struct BpcSplit<
        const PLACE: usize, const F: usize, const CHUNK: usize, const CW: usize,
        const BLOCK: usize, const BW: usize, const BOTH: usize, const BOW: usize, const PLACES: usize,
    > {
        /// the next bits of the payload
        pub window_i: Signal<In, W<BOTH, BOW>>,
        /// position at which they begin
        pub place_i: Signal<In, U<PLACES>>,
        /// four codes, F bits from the first bit of each
        pub codes_o: Signal<Out, W<CHUNK, CW>>,
        /// bits after the four codes
        pub rest_o: Signal<Out, W<BLOCK, BW>>,
        /// position at which these bits begin
        pub place_o: Signal<Out, U<PLACES>>,
        /// lengths of a raw plane, a run, a single zero plane, a code with a position, and a code of five bits
        raw: Constant<U<PLACES>> = Constant::new(U::new(F as u64)),
        run: Constant<U<PLACES>> = Constant::new(U::new(7)),
        zero: Constant<U<PLACES>> = Constant::new(U::new(3)),
        placed: Constant<U<PLACES>> = Constant::new(U::new(5 + PLACE as u64)),
        short_step: Constant<U<PLACES>> = Constant::new(U::new(5)),
        /// bits that remain after a code, and the position at which they begin
        window: Signal<Local, W<BOTH, BOW>>,
        place: Signal<Local, U<PLACES>>,
        code: Signal<Local, U<F>>,
        codes: Signal<Local, W<CHUNK, CW>>,
    }
}

#[hdl_gen]
impl Logic for BpcSplit {
    fn update(&mut self) {
        drive!(self; window: window_i, place: place_i, codes: 0);
        for k in 0..4 {
            self.code.next = self.window.val().get_bits::<F>(0);
            self.codes.next[k * F..] = self.code.val();
            comment!(
                "shift for each length, then select: an addition after the selection would lengthen the path"
            );
            if self.code.val().get_bit(0) {
                self.window.next = self.window.val() >> self.raw.val();
                self.place.next = self.place.val() + self.raw.val();
            } else if self.code.val().get_bit(1) {
                self.window.next = self.window.val() >> self.run.val();
                self.place.next = self.place.val() + self.run.val();
            } else if self.code.val().get_bit(2) {
                self.window.next = self.window.val() >> self.zero.val();
                self.place.next = self.place.val() + self.zero.val();
            } else if self.code.val().get_bit(3) {
                self.window.next = self.window.val() >> self.placed.val();
                self.place.next = self.place.val() + self.placed.val();
            } else {
                self.window.next = self.window.val() >> self.short_step.val();
                self.place.next = self.place.val() + self.short_step.val();
            }
        }
        self.codes_o.next = self.codes.val();
        self.rest_o.next = bit_cast_to::<W<BLOCK, BW>>(self.window.val());
        self.place_o.next = self.place.val();
    }
}

rtl_block! {
    /// Makes planes from up to four codes. Codes after the last plane are ignored. If only the last plane is left after four
    /// codes, a fifth code is read.
    ///
    /// P is the number of bits of a plane, PLACE of a position in it, F of the longest code (P + 1). FIVE is five times F.
    /// DATA is the number of bits of the 32 planes that words need: all except the first, which holds the signs. The last
    /// plane is also copied to all planes after it. That is right for a run of zeros; otherwise later codes overwrite the
    /// copies.
    #[require(F == P + 1 && F == 1 << PLACE && FIVE == 5 * F && DATA == 32 * P)]
    pub struct BpcDecode<
        const P: usize, const PLACE: usize, const F: usize,
        const FIVE: usize, const FW: usize, const DATA: usize, const DW: usize,
    > {
        /// four codes and the code after them, F bits each
        pub codes_i: Signal<In, W<FIVE, FW>>,
        /// number of planes that have been read, 0 to 31
        pub next_i: Signal<In, U<6>>,
        /// previous plane, before the exclusive-or
        pub above_i: Signal<In, U<P>>,
        /// the planes before the exclusive-or
        pub planes_i: Signal<In, W<DATA, DW>>,
        /// number of bits of all codes that are not ignored
        pub length_o: Signal<Out, U<8>>,
        /// number of planes that have been read after these codes, unless all have been read
        pub next_o: Signal<Out, U<6>>,
        /// all planes have been read
        pub done_o: Signal<Out, Bit>,
        /// last plane after these codes, before the exclusive-or
        pub above_o: Signal<Out, U<P>>,
        /// planes after these codes
        pub planes_o: Signal<Out, W<DATA, DW>>,
        /// a run goes beyond the last plane
        pub error_o: Signal<Out, Bit>,
        with_place: Constant<U<8>> = Constant::new(U::new(5 + PLACE as u64)),
        raw: Constant<U<8>> = Constant::new(U::new(F as u64)),
        all_ones: Constant<U<P>> = Constant::new(U::new(U::<P>::MAX)),
        code: Signal<Local, U<F>>,
        place: Signal<Local, U<PLACE>>,
        /// bit at that position
        mark: Signal<Local, U<P>>,
        plane: Signal<Local, U<P>>,
        count: Signal<Local, U<8>>,
        counted: Signal<Local, U<8>>,
        length: Signal<Local, U<8>>,
        total: Signal<Local, U<8>>,
        above: Signal<Local, U<P>>,
        old: Signal<Local, U<P>>,
        planes: Signal<Local, W<DATA, DW>>,
        /// number of planes before this code, and after it
        start: Signal<Local, U<8>>,
        behind: Signal<Local, U<8>>,
        error: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for BpcDecode {
    fn update(&mut self) {
        self.start.next = bit_cast::<8, 6>(self.next_i.val());
        drive!(self; behind: 0, counted: 0, above: above_i, planes: 0, old: 0);
        for i in 1..33 {
            if i.to_bits::<8>() < self.start.val() {
                self.old.next = self.planes_i.val().get_bits::<P>((i - 1) * P);
                self.planes.next[(i - 1) * P..] = self.old.val();
            }
        }
        drive!(self; total: 0, error: false, code: 0, place: 0, plane: 0, count: 0, length: 0);
        for k in 0..5 {
            self.code.next = self.codes_i.val().get_bits::<F>(k * F);
            self.place.next = self.code.val().get_bits::<PLACE>(5);
            self.mark.next = 0.into();
            for i in 0..P {
                if self.place.val() == i.to_bits::<PLACE>() {
                    self.mark.next[i] = true;
                }
            }
            drive!(self; plane: above, count: 1, length: 5);
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
            if k.to_bits::<3>() < 4 {
                self.above.next = self.plane.val();
                self.counted.next = self.counted.val() + self.count.val();
                self.behind.next = bit_cast::<8, 6>(self.next_i.val()) + self.counted.val();
                for i in 1..33 {
                    if (self.start.val() <= i.to_bits::<8>())
                        & ((i.to_bits::<8>() < self.behind.val()) | (k.to_bits::<3>() == 3))
                    {
                        self.old.next = self.planes.val().get_bits::<P>((i - 1) * P);
                        self.planes.next[(i - 1) * P..] = self.old.val() | self.above.val();
                    }
                }
                if self.start.val() < 33 {
                    self.total.next = self.total.val() + self.length.val();
                    if self.behind.val() > 33 {
                        self.error.next = true;
                    }
                }
                self.start.next = self.behind.val();
            } else if self.start.val() == 32 {
                self.planes.next[31 * P..] = self.plane.val();
                self.total.next = self.total.val() + self.length.val();
                if self.count.val() > 1 {
                    self.error.next = true;
                }
            }
        }
        self.length_o.next = self.total.val();
        self.next_o.next = bit_cast::<6, 8>(self.behind.val());
        self.done_o.next = self.behind.val() >= 32;
        drive!(self; above_o: above, planes_o: planes, error_o: error);
    }
}

rtl_block! {
    /// Makes half of the bits of every word of a line, from halves of the base word and of the differences. The lower halves
    /// come first, then the upper halves with the carries of the lower ones.
    ///
    /// P is the number of bits of a plane, and GROUPS a quarter of the number of words. HALF is half of the line's bits, and
    /// SIXTEEN the number of bits of 16 planes. Sums are first made in groups of four words, then over the groups in a tree
    /// of TREE additions, then for the first three words of each group. For 32 words, the longest path has six additions. Each addition has its own
    /// carry.
    #[require(HALF == 64 * GROUPS && SIXTEEN == 16 * P && CARRIES == 7 * GROUPS - 3 + TREE)]
    pub struct BpcRebuild<
        const HALF: usize, const HW: usize, const P: usize, const GROUPS: usize, const SIXTEEN: usize, const SW: usize,
        const TREE: usize, const CARRIES: usize, const CW: usize,
    > {
        /// half of the first word
        pub base_i: Signal<In, U<16>>,
        /// planes of these bits, the highest one first
        pub planes_i: Signal<In, W<SIXTEEN, SW>>,
        /// carries into these halves
        pub carries_i: Signal<In, W<CARRIES, CW>>,
        /// half of each word
        pub half_o: Signal<Out, W<HALF, HW>>,
        /// carries out of these halves
        pub carries_o: Signal<Out, W<CARRIES, CW>>,
        /// operands with an extra bit below for the carry-in, and one above for the carry-out
        left: Signal<Local, U<18>>,
        right: Signal<Local, U<18>>,
        sum: Signal<Local, U<18>>,
        one: Constant<U<18>> = Constant::new(U::new(1)),
        word: Signal<Local, U<16>>,
        pair: Signal<Local, U<16>>,
        sums: Signal<Local, W<HALF, HW>>,
        /// for each group, the sum of all words up to its end
        groups: Signal<Local, W<HALF, HW>>,
        carries: Signal<Local, W<CARRIES, CW>>,
    }
}

#[hdl_gen]
impl Logic for BpcRebuild {
    fn update(&mut self) {
        drive!(self; word: 0, pair: 0, left: 0, right: 0, sum: 0, carries: 0, sums: 0);
        self.sums.next[0..] = self.base_i.val();
        comment!("differences of neighbouring words");
        for i in 0..P {
            for j in 0..16 {
                self.word.next[j] = self.planes_i.val().get_bit((15 - j) * P + i);
            }
            self.sums.next[i * 16 + 16..] = self.word.val();
        }
        comment!("prefix sums within each group");
        self.groups.next = 0.into();
        for g in 0..GROUPS {
            self.left.next = self.one.val().replace_bit(1, self.sums.val().get_bits::<16>(g * 64));
            self.right.next = 0.into();
            self.right.next[0] = self.carries_i.val().get_bit(g * 4);
            self.right.next[1..] = self.sums.val().get_bits::<16>(g * 64 + 16);
            self.sum.next = self.left.val() + self.right.val();
            self.carries.next[g * 4] = self.sum.val().get_bit(17);
            self.pair.next = self.sum.val().get_bits::<16>(1);
            self.sums.next[g * 64 + 16..] = self.pair.val();
            self.left.next = self.one.val().replace_bit(1, self.sums.val().get_bits::<16>(g * 64 + 32));
            self.right.next = 0.into();
            self.right.next[0] = self.carries_i.val().get_bit(g * 4 + 1);
            self.right.next[1..] = self.sums.val().get_bits::<16>(g * 64 + 48);
            self.sum.next = self.left.val() + self.right.val();
            self.carries.next[g * 4 + 1] = self.sum.val().get_bit(17);
            self.word.next = self.sum.val().get_bits::<16>(1);
            self.left.next = self.one.val().replace_bit(1, self.pair.val());
            self.right.next = 0.into();
            self.right.next[0] = self.carries_i.val().get_bit(g * 4 + 2);
            self.right.next[1..] = self.word.val();
            self.sum.next = self.left.val() + self.right.val();
            self.carries.next[g * 4 + 2] = self.sum.val().get_bit(17);
            self.sums.next[g * 64 + 48..] = self.sum.val().get_bits::<16>(1);
            self.groups.next[g * 16..] = self.sum.val().get_bits::<16>(1);
            self.left.next = self.one.val().replace_bit(1, self.pair.val());
            self.right.next = 0.into();
            self.right.next[0] = self.carries_i.val().get_bit(g * 4 + 3);
            self.right.next[1..] = self.sums.val().get_bits::<16>(g * 64 + 32);
            self.sum.next = self.left.val() + self.right.val();
            self.carries.next[g * 4 + 3] = self.sum.val().get_bit(17);
            self.sums.next[g * 64 + 32..] = self.sum.val().get_bits::<16>(1);
        }
        comment!("prefix sums over the groups, in steps of 1, 2 and 4 groups");
        for h in 0..GROUPS >> 1 {
            self.left.next = self.one.val().replace_bit(1, self.groups.val().get_bits::<16>(h * 32 + 16));
            self.right.next = 0.into();
            self.right.next[0] = self.carries_i.val().get_bit(GROUPS * 4 + h * 2);
            self.right.next[1..] = self.groups.val().get_bits::<16>(h * 32);
            self.sum.next = self.left.val() + self.right.val();
            self.carries.next[GROUPS * 4 + h * 2] = self.sum.val().get_bit(17);
            self.groups.next[h * 32 + 16..] = self.sum.val().get_bits::<16>(1);
        }
        for h in 0..GROUPS >> 2 {
            for g in 2..4 {
                self.left.next =
                    self.one.val().replace_bit(1, self.groups.val().get_bits::<16>(h * 64 + g * 16));
                self.right.next = 0.into();
                self.right.next[0] = self.carries_i.val().get_bit(GROUPS * 4 + h * 4 + g * 2 - 3);
                self.right.next[1..] = self.groups.val().get_bits::<16>(h * 64 + 16);
                self.sum.next = self.left.val() + self.right.val();
                self.carries.next[GROUPS * 4 + h * 4 + g * 2 - 3] = self.sum.val().get_bit(17);
                self.groups.next[h * 64 + g * 16..] = self.sum.val().get_bits::<16>(1);
            }
        }
        for h in 0..GROUPS >> 3 {
            for g in 4..8 {
                self.left.next =
                    self.one.val().replace_bit(1, self.groups.val().get_bits::<16>(h * 128 + g * 16));
                self.right.next = 0.into();
                self.right.next[0] = self.carries_i.val().get_bit(GROUPS * 4 + GROUPS + h * 4 + g - 4);
                self.right.next[1..] = self.groups.val().get_bits::<16>(h * 128 + 48);
                self.sum.next = self.left.val() + self.right.val();
                self.carries.next[GROUPS * 4 + GROUPS + h * 4 + g - 4] = self.sum.val().get_bit(17);
                self.groups.next[h * 128 + g * 16..] = self.sum.val().get_bits::<16>(1);
            }
        }
        comment!("words of the line");
        for g in 1..GROUPS {
            for j in 0..3 {
                self.left.next =
                    self.one.val().replace_bit(1, self.sums.val().get_bits::<16>(g * 64 + j * 16));
                self.right.next = 0.into();
                self.right.next[0] = self.carries_i.val().get_bit(GROUPS * 4 + TREE + g * 3 - 3 + j);
                self.right.next[1..] = self.groups.val().get_bits::<16>(g * 16 - 16);
                self.sum.next = self.left.val() + self.right.val();
                self.carries.next[GROUPS * 4 + TREE + g * 3 - 3 + j] = self.sum.val().get_bit(17);
                self.sums.next[g * 64 + j * 16..] = self.sum.val().get_bits::<16>(1);
            }
            self.word.next = self.groups.val().get_bits::<16>(g * 16);
            self.sums.next[g * 64 + 48..] = self.word.val();
        }
        drive!(self; half_o: sums, carries_o: carries);
    }
}
