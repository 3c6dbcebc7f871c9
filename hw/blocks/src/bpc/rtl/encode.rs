//! One cycle's work of the compressor: the codes of four planes in a row.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Codes four planes and packs their codes, first plane lowest.
    ///
    /// P is the bits of a plane, PLACE those of a place in it, F those of the longest code (P + 1); FOUR and CHUNK are
    /// four times P and F. The code of a run of zero planes comes with its last plane.
    #[derive(LogicBlock, Default)]
    #[require(F == P + 1 && F == 1 << PLACE && FOUR == 4 * P && CHUNK == 4 * F)]
    pub struct BpcEncode<
        const P: usize, const PLACE: usize, const F: usize,
        const FOUR: usize, const FW: usize, const CHUNK: usize, const CW: usize,
    > {
        /// the planes after the exclusive-or
        pub planes_i: Signal<In, W<FOUR, FW>>,
        /// one bit for each of these planes and the next one: it is zero
        pub zero_i: Signal<In, U<5>>,
        /// one bit per plane: it is zero before the exclusive-or
        pub dbp_zero_i: Signal<In, U<4>>,
        /// planes of the line that are left, these included
        pub left_i: Signal<In, U<6>>,
        /// zero planes just before these
        pub run_i: Signal<In, U<6>>,
        /// the codes
        pub codes_o: Signal<Out, W<CHUNK, CW>>,
        /// bits of all codes
        pub length_o: Signal<Out, U<8>>,
        /// zero planes at the end that have no code yet
        pub run_o: Signal<Out, U<6>>,
        with_place: Constant<U<8>> = Constant::new(U::new(5 + PLACE as u64)),
        raw: Constant<U<8>> = Constant::new(U::new(F as u64)),
        plane: Signal<Local, U<P>>,
        /// ones that have a one as their upper neighbour
        pairs: Signal<Local, U<P>>,
        marked: Signal<Local, U<P>>,
        ones: Signal<Local, U<6>>,
        place: Signal<Local, U<PLACE>>,
        code: Signal<Local, U<F>>,
        wide_code: Signal<Local, W<CHUNK, CW>>,
        length: Signal<Local, U<8>>,
        run: Signal<Local, U<6>>,
        codes: Signal<Local, W<CHUNK, CW>>,
        total: Signal<Local, U<8>>,
    }
}

impl<
    const P: usize,
    const PLACE: usize,
    const F: usize,
    const FOUR: usize,
    const FW: usize,
    const CHUNK: usize,
    const CW: usize,
> Logic for BpcEncode<P, PLACE, F, FOUR, FW, CHUNK, CW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.plane.next = 0.into();
        self.pairs.next = 0.into();
        self.marked.next = 0.into();
        self.ones.next = 0.into();
        self.place.next = 0.into();
        self.code.next = 0.into();
        self.wide_code.next = 0.into();
        self.length.next = 0.into();
        self.run.next = self.run_i.val();
        self.codes.next = 0.into();
        self.total.next = 0.into();
        for k in 0..4 {
            self.plane.next = self.planes_i.val().get_bits::<P>(k * P);
            self.pairs.next = self.plane.val() & (self.plane.val() >> 1);
            self.ones.next = 0.into();
            self.place.next = 0.into();
            comment!(
                "the place is used where one bit is marked: the single one, or the lower of two neighbours"
            );
            self.marked.next = self.plane.val();
            if self.pairs.val().any() {
                self.marked.next = self.pairs.val();
            }
            for i in 0..P {
                self.ones.next = self.ones.val() + self.plane.val().get_bit(i);
                if self.marked.val().get_bit(i) {
                    self.place.next = i.to_bits::<PLACE>();
                }
            }
            self.code.next = 0.into();
            self.length.next = 0.into();
            if k.to_bits::<6>() < self.left_i.val() {
                if self.zero_i.val().get_bit(k) {
                    self.run.next = self.run.val() + 1;
                    if !self.zero_i.val().get_bit(k + 1) {
                        if self.run.val() == 1 {
                            self.code.next = 4.into();
                            self.length.next = 3.into();
                        } else {
                            self.code.next = (bit_cast::<F, 6>(self.run.val() - 2) << 2) | 2;
                            self.length.next = 7.into();
                        }
                        self.run.next = 0.into();
                    }
                } else if self.plane.val().all() {
                    self.length.next = 5.into();
                } else if self.dbp_zero_i.val().get_bit(k) {
                    self.code.next = 16.into();
                    self.length.next = 5.into();
                } else if (self.ones.val() == 2) & self.pairs.val().any() {
                    self.code.next = (bit_cast::<F, PLACE>(self.place.val()) << 5) | 8;
                    self.length.next = self.with_place.val();
                } else if self.ones.val() == 1 {
                    self.code.next = (bit_cast::<F, PLACE>(self.place.val()) << 5) | 24;
                    self.length.next = self.with_place.val();
                } else {
                    self.code.next = (bit_cast::<F, P>(self.plane.val()) << 1) | 1;
                    self.length.next = self.raw.val();
                }
            }
            self.wide_code.next = self.wide_code.val().replace_bit(0, self.code.val());
            self.codes.next = self.codes.val() | (self.wide_code.val() << self.total.val());
            self.total.next = self.total.val() + self.length.val();
        }
        self.codes_o.next = self.codes.val();
        self.length_o.next = self.total.val();
        self.run_o.next = self.run.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
