//! Parts of the compressor: the lookup of one word, and the place of a group's bits behind the payload.

use selvedge_hw::rtl::prelude::*;

/// A set of the table: its ways side by side, each of tag (24 bits), reversed code (16) and length (5; 0: no entry).
pub(super) type Set = W<180, 3>;

rtl_block! {
    /// Finds the code of a word among the ways of its set; without one, the code is the escape's, and the word follows it.
    #[derive(LogicBlock, Default)]
    pub struct ScEncodeWord {
        /// the word
        pub word_i: Signal<In, U<32>>,
        /// its set: per way 24 bits of tag, 16 of code (first bit lowest) and 5 of length, which is 0 for no entry
        pub set_i: Signal<In, Set>,
        /// code of the escape symbol, first bit lowest
        pub escape_code_i: Signal<In, U<16>>,
        /// its length; 0: there is none
        pub escape_length_i: Signal<In, U<5>>,
        /// the bits for the word, the first one lowest
        pub field_o: Signal<Out, U<48>>,
        /// how many they are; 0: the word cannot be coded
        pub length_o: Signal<Out, U<6>>,
        entry: Signal<Local, U<45>>,
        field: Signal<Local, U<48>>,
        length: Signal<Local, U<6>>,
    }
}

impl PureLogic for ScEncodeWord {
    #[inline]
    fn take_inputs(&mut self) {
        self.word_i.update_all();
        self.set_i.update_all();
        self.escape_code_i.update_all();
        self.escape_length_i.update_all();
    }
}

impl Logic for ScEncodeWord {
    #[hdl_gen]
    fn update(&mut self) {
        self.field.next = 0.into();
        self.length.next = 0.into();
        if self.escape_length_i.val().any() {
            self.field.next = bit_cast::<48, 16>(self.escape_code_i.val())
                | (bit_cast::<48, 32>(self.word_i.val()) << self.escape_length_i.val());
            self.length.next = bit_cast::<6, 5>(self.escape_length_i.val()) + 32;
        }
        self.entry.next = 0.into();
        for way in 0..4 {
            self.entry.next = self.set_i.val().get_bits::<45>(way * 45);
            if self.entry.val().get_bits::<5>(40).any()
                & (self.entry.val().get_bits::<24>(0) == self.word_i.val().get_bits::<24>(8))
            {
                self.field.next = bit_cast::<48, 16>(self.entry.val().get_bits::<16>(24));
                self.length.next = bit_cast::<6, 5>(self.entry.val().get_bits::<5>(40));
            }
        }
        self.field_o.next = self.field.val();
        self.length_o.next = self.length.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// Puts the bits of a group of words behind a payload.
    ///
    /// GROUP is the most bits that a group has, SUM the bits of their number.
    #[derive(LogicBlock, Default)]
    pub struct ScAppend<const GROUP: usize, const GW: usize, const SUM: usize> {
        /// the bits of the group
        pub group_i: Signal<In, W<GROUP, GW>>,
        /// how many they are
        pub group_bits_i: Signal<In, U<SUM>>,
        /// the group is the first of its line
        pub first_i: Signal<In, Bit>,
        /// the payload so far
        pub payload_i: Signal<In, W<1024, 16>>,
        /// its bits
        pub bits_i: Signal<In, U<11>>,
        /// the payload with the group; what it cannot hold is lost
        pub payload_o: Signal<Out, W<1024, 16>>,
        /// its bits, those that it cannot hold included
        pub bits_o: Signal<Out, U<11>>,
        payload: Signal<Local, W<1024, 16>>,
        bits: Signal<Local, U<11>>,
    }
}

impl<const GROUP: usize, const GW: usize, const SUM: usize> Logic for ScAppend<GROUP, GW, SUM> {
    #[hdl_gen]
    fn update(&mut self) {
        self.payload.next = 0.into();
        self.bits.next = 0.into();
        if !self.first_i.val() {
            self.payload.next = self.payload_i.val();
            self.bits.next = self.bits_i.val();
        }
        self.payload_o.next =
            self.payload.val() | (bit_cast_to::<W<1024, 16>>(self.group_i.val()) << self.bits.val());
        self.bits_o.next = self.bits.val() + bit_cast::<11, SUM>(self.group_bits_i.val());
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const GROUP: usize, const GW: usize, const SUM: usize> PureLogic for ScAppend<GROUP, GW, SUM> {
    #[inline]
    fn take_inputs(&mut self) {
        self.group_i.update_all();
        self.group_bits_i.update_all();
        self.first_i.update_all();
        self.payload_i.update_all();
        self.bits_i.update_all();
    }
}
