//! RTL of the AWB: two memories for the warps of two schedulers, flags per warp, and the low partition.

mod low_partition;
mod slots;

use low_partition::LowPartition;
use slots::Slots;

use super::{AwbIn, AwbOut, AwbParams, CONTEXT_BITS, PAIR_BITS};
use crate::assist::{LIVE_BITS, MASK_BITS, WARP_BITS, WARPS};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

/// Lanes, live-in, live-out, last flag of an instruction.
type Context = W<65, 2>;

const _: () = assert!(CONTEXT_BITS == 65 && WARP_BITS == 6 && PAIR_BITS == 5);

rtl_block! {
    /// Holds assist-warp instructions until they issue: two per warp that beat the parent, two of low priority.
    ///
    /// CABA, section 4.3. BITS is the width of an instruction.
    #[derive(LogicBlock, Default)]
    pub struct AssistWarpBuffer<const BITS: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: nothing is held
        pub rst_ni: Signal<In, Bit>,
        /// an instruction comes
        pub stage_valid_i: Signal<In, Bit>,
        /// its warp
        pub stage_warp_i: Signal<In, U<WARP_BITS>>,
        /// it has high priority
        pub stage_high_i: Signal<In, Bit>,
        /// it is the last of its assist warp
        pub stage_last_i: Signal<In, Bit>,
        /// the instruction
        pub stage_instruction_i: Signal<In, U<BITS>>,
        /// its lanes
        pub stage_mask_i: Signal<In, U<MASK_BITS>>,
        /// registers of the parent with arguments
        pub stage_live_in_i: Signal<In, U<LIVE_BITS>>,
        /// registers of the parent for results
        pub stage_live_out_i: Signal<In, U<LIVE_BITS>>,
        /// drop the high-priority instructions of a warp
        pub flush_high_i: Signal<In, Bit>,
        /// drop the low-priority instructions of a warp
        pub flush_low_i: Signal<In, Bit>,
        /// the warp whose instructions are dropped
        pub flush_warp_i: Signal<In, U<WARP_BITS>>,
        /// the even warp that scheduler 0 looks at, divided by two
        pub issue0_index_i: Signal<In, U<PAIR_BITS>>,
        /// scheduler 0 takes its instruction
        pub issue0_pop_i: Signal<In, Bit>,
        /// the odd warp that scheduler 1 looks at, divided by two
        pub issue1_index_i: Signal<In, U<PAIR_BITS>>,
        /// scheduler 1 takes its instruction
        pub issue1_pop_i: Signal<In, Bit>,
        /// the low-priority instruction at the head is taken
        pub low_pop_i: Signal<In, Bit>,
        /// a high-priority instruction of the warp may come in the next cycle
        pub high_room_o: Signal<Out, U<WARPS>>,
        /// a low-priority instruction may come in the next cycle
        pub low_room_o: Signal<Out, Bit>,
        /// the warp has a high-priority instruction
        pub high_valid_o: Signal<Out, U<WARPS>>,
        /// the oldest instruction of the warp that scheduler 0 looks at
        pub issue0_instruction_o: Signal<Out, U<BITS>>,
        /// its lanes
        pub issue0_mask_o: Signal<Out, U<MASK_BITS>>,
        /// registers of the parent with arguments
        pub issue0_live_in_o: Signal<Out, U<LIVE_BITS>>,
        /// registers of the parent for results
        pub issue0_live_out_o: Signal<Out, U<LIVE_BITS>>,
        /// it is the last of its assist warp
        pub issue0_last_o: Signal<Out, Bit>,
        /// the oldest instruction of the warp that scheduler 1 looks at
        pub issue1_instruction_o: Signal<Out, U<BITS>>,
        /// its lanes
        pub issue1_mask_o: Signal<Out, U<MASK_BITS>>,
        /// registers of the parent with arguments
        pub issue1_live_in_o: Signal<Out, U<LIVE_BITS>>,
        /// registers of the parent for results
        pub issue1_live_out_o: Signal<Out, U<LIVE_BITS>>,
        /// it is the last of its assist warp
        pub issue1_last_o: Signal<Out, Bit>,
        /// there is a low-priority instruction
        pub low_valid_o: Signal<Out, Bit>,
        /// its warp
        pub low_warp_o: Signal<Out, U<WARP_BITS>>,
        /// the oldest one
        pub low_instruction_o: Signal<Out, U<BITS>>,
        /// its lanes
        pub low_mask_o: Signal<Out, U<MASK_BITS>>,
        /// registers of the parent with arguments
        pub low_live_in_o: Signal<Out, U<LIVE_BITS>>,
        /// registers of the parent for results
        pub low_live_out_o: Signal<Out, U<LIVE_BITS>>,
        /// it is the last of its assist warp
        pub low_last_o: Signal<Out, Bit>,
        /// the instruction that came in the last cycle had no place and is lost
        pub overflow_o: Signal<Out, Bit>,
        even: Slots<BITS>,
        odd: Slots<BITS>,
        low_partition: LowPartition<BITS>,
        /// warps with at least one instruction
        one: Reg<U<WARPS>>,
        /// warps with two
        two: Reg<U<WARPS>>,
        /// the slot of each warp's oldest instruction
        first: Reg<U<WARPS>>,
        overflow: Reg<Bit>,
        bundle: Signal<Local, Context>,
        comes: Signal<Local, U<WARPS>>,
        flushed: Signal<Local, U<WARPS>>,
        warp0: Signal<Local, U<WARP_BITS>>,
        warp1: Signal<Local, U<WARP_BITS>>,
        popped: Signal<Local, U<WARPS>>,
        placed: Signal<Local, U<WARPS>>,
        stay: Signal<Local, U<WARPS>>,
        slot: Signal<Local, Bit>,
        lost: Signal<Local, Bit>,
    }
}

impl<const BITS: usize> Logic for AssistWarpBuffer<BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, one, two, first, overflow);
        self.even.clk_i.next = self.clk_i.val();
        self.odd.clk_i.next = self.clk_i.val();
        self.low_partition.clk_i.next = self.clk_i.val();
        self.low_partition.rst_ni.next = self.rst_ni.val();
        self.bundle.next = 0.into();
        self.bundle.next = self.bundle.val().replace_bit(0, self.stage_mask_i.val());
        self.bundle.next = self.bundle.val().replace_bit(32, self.stage_live_in_i.val());
        self.bundle.next = self.bundle.val().replace_bit(48, self.stage_live_out_i.val());
        self.bundle.next = self.bundle.val().replace_bit(64, self.stage_last_i.val());

        comment!("the warp of the instruction that comes, of the flush, and those of the pops, a bit each");
        self.comes.next = 0.into();
        if self.stage_valid_i.val() & self.stage_high_i.val() {
            self.comes.next = self.comes.val().replace_bit(self.stage_warp_i.val().index(), true);
        }
        self.flushed.next = 0.into();
        if self.flush_high_i.val() {
            self.flushed.next = self.flushed.val().replace_bit(self.flush_warp_i.val().index(), true);
        }
        self.warp0.next = 0.into();
        self.warp0.next = self.warp0.val().replace_bit(1, self.issue0_index_i.val());
        self.warp1.next = 1.into();
        self.warp1.next = self.warp1.val().replace_bit(1, self.issue1_index_i.val());
        self.popped.next = 0.into();
        if self.issue0_pop_i.val() {
            self.popped.next = self.popped.val().replace_bit(self.warp0.val().index(), true);
        }
        if self.issue1_pop_i.val() {
            self.popped.next = self.popped.val().replace_bit(self.warp1.val().index(), true);
        }
        self.popped.next = self.popped.val() & self.one.q.val();

        comment!("it takes the slot behind the oldest instruction, unless two are there or it is flushed");
        self.placed.next = self.comes.val() & !self.two.q.val() & !self.flushed.val();
        self.slot.next = ((self.first.q.val() ^ self.one.q.val()) & self.comes.val()).any();
        self.even.write_i.next = self.placed.val().any() & !self.stage_warp_i.val().get_bit(0);
        self.even.write_pair_i.next = self.stage_warp_i.val().get_bits::<5>(1);
        self.even.write_slot_i.next = self.slot.val();
        self.even.instruction_i.next = self.stage_instruction_i.val();
        self.even.context_i.next = self.bundle.val();
        self.odd.write_i.next = self.placed.val().any() & self.stage_warp_i.val().get_bit(0);
        self.odd.write_pair_i.next = self.stage_warp_i.val().get_bits::<5>(1);
        self.odd.write_slot_i.next = self.slot.val();
        self.odd.instruction_i.next = self.stage_instruction_i.val();
        self.odd.context_i.next = self.bundle.val();

        comment!("counts: a pop takes one away, the new instruction adds one, a flush leaves none");
        self.stay.next = (self.one.q.val() & !self.popped.val()) | (self.two.q.val() & self.popped.val());
        self.one.d.next = (self.stay.val() | self.placed.val()) & !self.flushed.val();
        self.two.d.next = ((self.two.q.val() & !self.popped.val()) | (self.stay.val() & self.placed.val()))
            & !self.flushed.val();
        self.first.d.next = self.first.q.val() ^ self.popped.val();

        comment!("room for one more besides the one that comes now");
        self.high_room_o.next = !(self.two.q.val() | (self.one.q.val() & self.comes.val()));
        self.high_valid_o.next = self.one.q.val();

        comment!("what the schedulers look at");
        self.even.pair_i.next = self.issue0_index_i.val();
        self.even.slot_i.next = self.first.q.val().get_bit(self.warp0.val().index());
        self.issue0_instruction_o.next = self.even.instruction_o.val();
        self.issue0_mask_o.next = self.even.context_o.val().get_bits::<32>(0);
        self.issue0_live_in_o.next = self.even.context_o.val().get_bits::<16>(32);
        self.issue0_live_out_o.next = self.even.context_o.val().get_bits::<16>(48);
        self.issue0_last_o.next = self.even.context_o.val().get_bit(64);
        self.odd.pair_i.next = self.issue1_index_i.val();
        self.odd.slot_i.next = self.first.q.val().get_bit(self.warp1.val().index());
        self.issue1_instruction_o.next = self.odd.instruction_o.val();
        self.issue1_mask_o.next = self.odd.context_o.val().get_bits::<32>(0);
        self.issue1_live_in_o.next = self.odd.context_o.val().get_bits::<16>(32);
        self.issue1_live_out_o.next = self.odd.context_o.val().get_bits::<16>(48);
        self.issue1_last_o.next = self.odd.context_o.val().get_bit(64);

        comment!("low priority");
        self.low_partition.stage_i.next = self.stage_valid_i.val() & !self.stage_high_i.val();
        self.low_partition.warp_i.next = self.stage_warp_i.val();
        self.low_partition.instruction_i.next = self.stage_instruction_i.val();
        self.low_partition.context_i.next = self.bundle.val();
        self.low_partition.flush_i.next = self.flush_low_i.val();
        self.low_partition.flush_warp_i.next = self.flush_warp_i.val();
        self.low_partition.pop_i.next = self.low_pop_i.val();
        self.low_room_o.next = self.low_partition.room_o.val();
        self.low_valid_o.next = self.low_partition.valid_o.val();
        self.low_warp_o.next = self.low_partition.warp_o.val();
        self.low_instruction_o.next = self.low_partition.instruction_o.val();
        self.low_mask_o.next = self.low_partition.context_o.val().get_bits::<32>(0);
        self.low_live_in_o.next = self.low_partition.context_o.val().get_bits::<16>(32);
        self.low_live_out_o.next = self.low_partition.context_o.val().get_bits::<16>(48);
        self.low_last_o.next = self.low_partition.context_o.val().get_bit(64);

        comment!("an instruction that comes without a place is lost");
        self.lost.next = self.stage_valid_i.val()
            & self.stage_high_i.val()
            & !self.placed.val().any()
            & !(self.flush_high_i.val() & (self.stage_warp_i.val() == self.flush_warp_i.val()));
        self.overflow.d.next = self.lost.val() | self.low_partition.overflow_o.val();
        self.overflow_o.next = self.overflow.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const BITS: usize> RtlTop for AssistWarpBuffer<BITS> {
    type In = AwbIn;
    type Out = AwbOut;

    fn drive(&mut self, inputs: &AwbIn) {
        self.stage_valid_i.next = inputs.stage_valid_i;
        self.stage_warp_i.next = U::new(u64::from(inputs.stage_warp_i));
        self.stage_high_i.next = inputs.stage_high_i;
        self.stage_last_i.next = inputs.stage_last_i;
        self.stage_instruction_i.next = U::new(inputs.stage_instruction_i);
        self.stage_mask_i.next = U::new(u64::from(inputs.stage_mask_i));
        self.stage_live_in_i.next = U::new(u64::from(inputs.stage_live_in_i));
        self.stage_live_out_i.next = U::new(u64::from(inputs.stage_live_out_i));
        self.flush_high_i.next = inputs.flush_high_i;
        self.flush_low_i.next = inputs.flush_low_i;
        self.flush_warp_i.next = U::new(u64::from(inputs.flush_warp_i));
        self.issue0_index_i.next = U::new(u64::from(inputs.issue0_index_i));
        self.issue0_pop_i.next = inputs.issue0_pop_i;
        self.issue1_index_i.next = U::new(u64::from(inputs.issue1_index_i));
        self.issue1_pop_i.next = inputs.issue1_pop_i;
        self.low_pop_i.next = inputs.low_pop_i;
    }

    fn sample(&self) -> AwbOut {
        AwbOut {
            high_room_o: self.high_room_o.val().to_u64(),
            low_room_o: self.low_room_o.val(),
            high_valid_o: self.high_valid_o.val().to_u64(),
            issue0_instruction_o: self.issue0_instruction_o.val().to_u64(),
            issue0_mask_o: self.issue0_mask_o.val().to_u64() as u32,
            issue0_live_in_o: self.issue0_live_in_o.val().to_u64() as u16,
            issue0_live_out_o: self.issue0_live_out_o.val().to_u64() as u16,
            issue0_last_o: self.issue0_last_o.val(),
            issue1_instruction_o: self.issue1_instruction_o.val().to_u64(),
            issue1_mask_o: self.issue1_mask_o.val().to_u64() as u32,
            issue1_live_in_o: self.issue1_live_in_o.val().to_u64() as u16,
            issue1_live_out_o: self.issue1_live_out_o.val().to_u64() as u16,
            issue1_last_o: self.issue1_last_o.val(),
            low_valid_o: self.low_valid_o.val(),
            low_warp_o: self.low_warp_o.val().to_u64() as u8,
            low_instruction_o: self.low_instruction_o.val().to_u64(),
            low_mask_o: self.low_mask_o.val().to_u64() as u32,
            low_live_in_o: self.low_live_in_o.val().to_u64() as u16,
            low_live_out_o: self.low_live_out_o.val().to_u64() as u16,
            low_last_o: self.low_last_o.val(),
            overflow_o: self.overflow_o.val(),
        }
    }

    /// The flags `high_valid_o`, then `low_valid_o`, then `overflow_o`.
    fn upset(&mut self, bit: usize) {
        match bit % (WARPS + 2) {
            WARPS => self.low_partition.front_valid.q.next = !self.low_partition.front_valid.q.val(),
            bit if bit > WARPS => self.overflow.q.next = !self.overflow.q.val(),
            bit => {
                let one = self.one.q.val();
                self.one.q.next = one.replace_bit(bit, !one.get_bit(bit));
            }
        }
    }
}

/// The AWB for valid parameters.
pub(super) fn awb(params: &AwbParams) -> Box<dyn RtlBlock<AwbIn, AwbOut>> {
    match params.instruction_bits {
        32 => RtlInstance::boxed(AssistWarpBuffer::<32>::default()),
        _ => RtlInstance::boxed(AssistWarpBuffer::<64>::default()),
    }
}
