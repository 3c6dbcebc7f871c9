//! The memories of the high-priority instructions.

use super::{Context, PAIR_BITS};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Holds the high-priority instructions of every second warp, in two slots per warp.
    #[derive(LogicBlock, Default)]
    pub struct Slots<const BITS: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// write an instruction
        pub write_i: Signal<In, Bit>,
        /// warp of the instruction to write, without its lowest bit
        pub write_pair_i: Signal<In, U<PAIR_BITS>>,
        /// slot of the instruction to write
        pub write_slot_i: Signal<In, Bit>,
        /// the instruction to write
        pub instruction_i: Signal<In, U<BITS>>,
        /// its lanes, live-in and live-out registers, and last flag
        pub context_i: Signal<In, Context>,
        /// warp to read, without its lowest bit
        pub pair_i: Signal<In, U<PAIR_BITS>>,
        /// slot to read
        pub slot_i: Signal<In, Bit>,
        /// the instruction in that slot
        pub instruction_o: Signal<Out, U<BITS>>,
        /// its lanes, live-in and live-out registers, and last flag
        pub context_o: Signal<Out, Context>,
        instructions: Mem<U<BITS>, 6>,
        contexts: Mem<Context, 6>,
        write_address: Signal<Local, U<6>>,
        read_address: Signal<Local, U<6>>,
    }
}

impl<const BITS: usize> Logic for Slots<BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.instructions.clk_i.next = self.clk_i.val();
        self.contexts.clk_i.next = self.clk_i.val();
        self.write_address.next = bit_cast_to::<U<6>>(self.write_slot_i.val());
        self.write_address.next = self.write_address.val().replace_bit(1, self.write_pair_i.val());
        self.read_address.next = bit_cast_to::<U<6>>(self.slot_i.val());
        self.read_address.next = self.read_address.val().replace_bit(1, self.pair_i.val());
        self.instructions.write_i.next = self.write_i.val();
        self.instructions.write_address_i.next = self.write_address.val();
        self.instructions.write_data_i.next = self.instruction_i.val();
        self.instructions.read_address_i.next = self.read_address.val();
        self.contexts.write_i.next = self.write_i.val();
        self.contexts.write_address_i.next = self.write_address.val();
        self.contexts.write_data_i.next = self.context_i.val();
        self.contexts.read_address_i.next = self.read_address.val();
        self.instruction_o.next = self.instructions.read_data_o.val();
        self.context_o.next = self.contexts.read_data_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
