//! The partition of the low-priority instructions.

use super::AwbContext;
use crate::widths::WARP_BITS;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Holds two low-priority instructions, oldest first. A flush drops the instructions of one warp.
    pub struct LowPartition<const BITS: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low; empties the partition
        pub rst_ni: Signal<In, Bit>,
        /// an instruction arrives
        pub stage_i: Signal<In, Bit>,
        /// warp of the arriving instruction
        pub warp_i: Signal<In, U<WARP_BITS>>,
        /// the arriving instruction
        pub instruction_i: Signal<In, U<BITS>>,
        /// its lanes, live-in and live-out registers, and last flag
        pub context_i: Signal<In, AwbContext>,
        /// drop the instructions of a warp
        pub flush_i: Signal<In, Bit>,
        /// warp whose instructions are dropped
        pub flush_warp_i: Signal<In, U<WARP_BITS>>,
        /// the oldest instruction is popped
        pub pop_i: Signal<In, Bit>,
        /// an instruction can arrive in the next cycle
        pub room_o: Signal<Out, Bit>,
        /// the arriving instruction finds no free entry
        pub overflow_o: Signal<Out, Bit>,
        /// the partition holds an instruction
        pub valid_o: Signal<Out, Bit>,
        /// warp of the oldest instruction
        pub warp_o: Signal<Out, U<WARP_BITS>>,
        /// the oldest instruction
        pub instruction_o: Signal<Out, U<BITS>>,
        /// its lanes, live-in and live-out registers, and last flag
        pub context_o: Signal<Out, AwbContext>,
        pub(crate) front_valid: Reg<Bit>,
        front_warp: DataReg<U<WARP_BITS>>,
        front_instruction: DataReg<U<BITS>>,
        front_context: DataReg<AwbContext>,
        back_valid: Reg<Bit>,
        back_warp: DataReg<U<WARP_BITS>>,
        back_instruction: DataReg<U<BITS>>,
        back_context: DataReg<AwbContext>,
        enter: Signal<Local, Bit>,
        keep_front: Signal<Local, Bit>,
        keep_back: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for LowPartition {
    fn update(&mut self) {
        dff_setup!(self, clk_i, front_valid, front_warp, front_instruction, front_context);
        dff_setup!(self, clk_i, back_valid, back_warp, back_instruction, back_context);
        self.room_o.next = !self.back_valid.q.val() & !(self.front_valid.q.val() & self.stage_i.val());

        comment!("a flush drops the arriving instruction and the stored ones");
        self.enter.next =
            self.stage_i.val() & !(self.flush_i.val() & (self.warp_i.val() == self.flush_warp_i.val()));
        self.keep_front.next = self.front_valid.q.val()
            & !self.pop_i.val()
            & !(self.flush_i.val() & (self.front_warp.q.val() == self.flush_warp_i.val()));
        self.keep_back.next = self.back_valid.q.val()
            & !(self.flush_i.val() & (self.back_warp.q.val() == self.flush_warp_i.val()));
        self.overflow_o.next = self.enter.val() & self.keep_front.val() & self.keep_back.val();

        self.front_valid.d.next = self.keep_front.val() | self.keep_back.val() | self.enter.val();
        if !self.keep_front.val() {
            if self.keep_back.val() {
                drive!(self; front_warp.d: back_warp.q, front_instruction.d: back_instruction.q,
                    front_context.d: back_context.q);
            } else if self.enter.val() {
                drive!(self; front_warp.d: warp_i, front_instruction.d: instruction_i,
                    front_context.d: context_i);
            }
        }
        comment!("an arrival fills the back entry if one instruction stays; if both stay, it is full");
        self.back_valid.d.next = (self.keep_front.val() & self.keep_back.val())
            | (self.enter.val() & (self.keep_front.val() | self.keep_back.val()));
        if self.enter.val() & !(self.keep_front.val() & self.keep_back.val()) {
            drive!(self; back_warp.d: warp_i, back_instruction.d: instruction_i, back_context.d: context_i);
        }

        drive!(self; valid_o: front_valid.q, warp_o: front_warp.q, instruction_o: front_instruction.q,
            context_o: front_context.q);
    }
}
