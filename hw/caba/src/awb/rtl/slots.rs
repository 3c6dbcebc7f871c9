//! The memories of the high-priority instructions.

use super::{AwbContext, PAIR_BITS};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Holds the high-priority instructions of every second warp, in two slots per warp.
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
        pub context_i: Signal<In, AwbContext>,
        /// warp to read, without its lowest bit
        pub pair_i: Signal<In, U<PAIR_BITS>>,
        /// slot to read
        pub slot_i: Signal<In, Bit>,
        /// the warp has an instruction; without one, the outputs are zero
        pub valid_i: Signal<In, Bit>,
        /// the instruction in that slot
        pub instruction_o: Signal<Out, U<BITS>>,
        /// its lanes, live-in and live-out registers, and last flag
        pub context_o: Signal<Out, AwbContext>,
        instructions: Mem<U<BITS>, 6>,
        contexts: Mem<AwbContext, 6>,
        write_address: Signal<Local, U<6>>,
        read_address: Signal<Local, U<6>>,
    }
}

#[hdl_gen]
impl Logic for Slots {
    fn update(&mut self) {
        drive!(self; instructions.clk_i: clk_i, contexts.clk_i: clk_i);
        self.write_address.next = bit_cast_to::<U<6>>(self.write_slot_i.val());
        self.write_address.next[1..] = self.write_pair_i.val();
        self.read_address.next = bit_cast_to::<U<6>>(self.slot_i.val());
        self.read_address.next[1..] = self.pair_i.val();
        drive!(self.instructions; write_i, write_address_i: write_address, write_data_i: instruction_i,
            read_address_i: read_address);
        drive!(self.contexts; write_i, write_address_i: write_address, write_data_i: context_i,
            read_address_i: read_address);
        comment!("slots without an instruction read as zero");
        drive!(self; instruction_o: 0, context_o: 0);
        if self.valid_i.val() {
            drive!(self; instruction_o: instructions.read_data_o, context_o: contexts.read_data_o);
        }
    }
}
