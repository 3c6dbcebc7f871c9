//! Parts of the decompressor: the chain that finds the codes of a cycle, and the place of their words in the line.

use selvedge_hw::rtl::prelude::*;

/// Ends of the codes of each length, 1 to 16, as left-aligned 17-bit numbers.
pub(super) type Ends = W<272, 5>;

/// What added to a code of each length gives its rank: 11 bits each.
pub(super) type Bases = W<176, 3>;

rtl_block! {
    /// Takes up to K codes from a payload: as many as there are before an escape, whose word ends the cycle's codes.
    ///
    /// WINDOW is the bits of K codes and a word.
    #[derive(LogicBlock, Default)]
    #[require(WINDOW == 16 * K + 32 && K <= 4)]
    pub struct ScDecodeGroup<const K: usize, const WINDOW: usize, const WW: usize> {
        /// the payload
        pub payload_i: Signal<In, W<1024, 16>>,
        /// its bits that were taken already
        pub position_i: Signal<In, U<11>>,
        /// words that are still to be decoded
        pub left_i: Signal<In, U<6>>,
        /// where the codes of each length end, left-aligned
        pub ends_i: Signal<In, Ends>,
        /// rank of a code less the code, per length
        pub bases_i: Signal<In, Bases>,
        /// rank of the escape symbol
        pub escape_rank_i: Signal<In, U<11>>,
        /// address of each value
        pub places_o: [Signal<Out, U<10>>; K] = array(),
        /// how many codes there are
        pub taken_o: Signal<Out, U<3>>,
        /// the last of them is the escape
        pub escaped_o: Signal<Out, Bit>,
        /// the word behind it
        pub word_o: Signal<Out, U<32>>,
        /// where the next cycle's codes begin
        pub position_o: Signal<Out, U<11>>,
        /// the bits are no code
        pub invalid_o: Signal<Out, Bit>,
        code_bits: Constant<U<5>> = Constant::new(U::new(16)),
        rest: Signal<Local, W<WINDOW, WW>>,
        head: Signal<Local, U<16>>,
        code: Signal<Local, U<16>>,
        below_end: Signal<Local, Bit>,
        found: Signal<Local, Bit>,
        length: Signal<Local, U<5>>,
        base: Signal<Local, U<11>>,
        rank: Signal<Local, U<11>>,
        place: Signal<Local, U<10>>,
        stop: Signal<Local, Bit>,
        taken: Signal<Local, U<3>>,
        escaped: Signal<Local, Bit>,
        position: Signal<Local, U<11>>,
        invalid: Signal<Local, Bit>,
    }
}

impl<const K: usize, const WINDOW: usize, const WW: usize> PureLogic for ScDecodeGroup<K, WINDOW, WW> {
    #[inline]
    fn take_inputs(&mut self) {
        self.payload_i.update_all();
        self.position_i.update_all();
        self.left_i.update_all();
        self.ends_i.update_all();
        self.bases_i.update_all();
        self.escape_rank_i.update_all();
    }
}

impl<const K: usize, const WINDOW: usize, const WW: usize> Logic for ScDecodeGroup<K, WINDOW, WW> {
    #[hdl_gen]
    fn update(&mut self) {
        self.rest.next = bit_cast_to::<W<WINDOW, WW>>(self.payload_i.val() >> self.position_i.val());
        self.position.next = self.position_i.val();
        self.head.next = 0.into();
        self.code.next = 0.into();
        self.below_end.next = false;
        self.found.next = false;
        self.length.next = 0.into();
        self.base.next = 0.into();
        self.rank.next = 0.into();
        self.place.next = 0.into();
        self.stop.next = false;
        self.taken.next = 0.into();
        self.escaped.next = false;
        self.invalid.next = false;
        for i in 0..K {
            comment!("a code's first bit is its most significant one");
            for bit in 0..16 {
                self.head.next = self.head.val().replace_bit(15 - bit, self.rest.val().get_bit(bit));
            }
            comment!(
                "the ends never fall from length to length: the length is that of the first end above the bits"
            );
            self.found.next = false;
            self.length.next = 0.into();
            self.base.next = 0.into();
            for l in 0..16 {
                self.below_end.next =
                    bit_cast::<17, 16>(self.head.val()) < self.ends_i.val().get_bits::<17>(l * 17);
                if self.below_end.val() & !self.found.val() {
                    self.length.next = (l + 1).to_bits();
                    self.base.next = self.bases_i.val().get_bits::<11>(l * 11);
                }
                self.found.next = self.below_end.val();
            }
            comment!("the values lie by rank; the escape has a rank but no value");
            self.code.next = self.head.val() >> (self.code_bits.val() - self.length.val());
            self.rank.next = self.base.val() + bit_cast::<11, 16>(self.code.val());
            self.place.next = bit_cast::<10, 11>(self.rank.val());
            if self.rank.val() > self.escape_rank_i.val() {
                self.place.next = self.place.val() - 1;
            }
            self.places_o[i].next = self.place.val();
            if !self.stop.val() & (self.left_i.val() > i.to_bits()) {
                if self.found.val() {
                    self.taken.next = self.taken.val() + 1;
                    self.rest.next = self.rest.val() >> self.length.val();
                    self.position.next = self.position.val() + bit_cast::<11, 5>(self.length.val());
                    self.escaped.next = self.rank.val() == self.escape_rank_i.val();
                    self.stop.next = self.rank.val() == self.escape_rank_i.val();
                } else {
                    self.invalid.next = true;
                    self.stop.next = true;
                }
            }
        }
        self.word_o.next = self.rest.val().get_bits::<32>(0);
        self.position_o.next = self.position.val();
        if self.escaped.val() {
            self.position_o.next = self.position.val() + 32;
        }
        self.taken_o.next = self.taken.val();
        self.escaped_o.next = self.escaped.val();
        self.invalid_o.next = self.invalid.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// Moves up to K words in at the top of a line, the first one lowest; BOTH is the bits of a line and K words.
    #[derive(LogicBlock, Default)]
    #[require(BOTH == 1024 + 32 * K)]
    pub struct ScAssemble<const K: usize, const BOTH: usize, const BW: usize> {
        /// the line so far
        pub line_i: Signal<In, W<1024, 16>>,
        /// values from the table
        pub values_i: [Signal<In, U<32>>; K] = array(),
        /// how many words there are
        pub taken_i: Signal<In, U<3>>,
        /// the last one is not from the table
        pub escaped_i: Signal<In, Bit>,
        /// but this one
        pub word_i: Signal<In, U<32>>,
        /// the line with the words
        pub line_o: Signal<Out, W<1024, 16>>,
        both: Signal<Local, W<BOTH, BW>>,
    }
}

impl<const K: usize, const BOTH: usize, const BW: usize> PureLogic for ScAssemble<K, BOTH, BW> {
    #[inline]
    fn take_inputs(&mut self) {
        self.line_i.update_all();
        for value in &mut self.values_i {
            value.update_all();
        }
        self.taken_i.update_all();
        self.escaped_i.update_all();
        self.word_i.update_all();
    }
}

impl<const K: usize, const BOTH: usize, const BW: usize> Logic for ScAssemble<K, BOTH, BW> {
    #[hdl_gen]
    fn update(&mut self) {
        self.both.next = bit_cast_to::<W<BOTH, BW>>(self.line_i.val());
        for i in 0..K {
            self.both.next = self.both.val().replace_bit(1024 + i * 32, self.values_i[i].val());
            if self.escaped_i.val() & (self.taken_i.val() == (i + 1).to_bits()) {
                self.both.next = self.both.val().replace_bit(1024 + i * 32, self.word_i.val());
            }
        }
        self.line_o.next =
            bit_cast_to::<W<1024, 16>>(self.both.val() >> (bit_cast::<8, 3>(self.taken_i.val()) << 5));
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
