//! RTL of the AWB: two memories for the warps of two schedulers, flags per warp, and the low partition.

mod low_partition;
mod slots;

use low_partition::LowPartition;
use slots::Slots;

use super::params::{AwbParams, CONTEXT_BITS, PAIR_BITS};
use crate::widths::{LIVE_BITS, MASK_BITS, WARP_BITS, WARPS};
use selvedge_hw::rtl::prelude::*;

/// Lanes, live-in, live-out and last flag of an instruction.
type AwbContext = W<65, 2>;

const _: () = assert!(CONTEXT_BITS == 65 && WARP_BITS == 6 && PAIR_BITS == 5);

rtl_module! {
    /// Holds assist-warp instructions until they issue: two per warp that replace the parent's, and two of low priority.
    ///
    /// CABA, section 4.3. BITS is the width of an instruction.
    pub struct AssistWarpBuffer<const BITS: usize> for AwbParams as p {
        reset "asynchronous reset, active low: nothing is held";
        inputs AwbIn {
            /// an instruction arrives
            stage_valid_i: bool as Bit = 1,
            /// warp of the arriving instruction
            stage_warp_i: u8 as U<WARP_BITS> = WARP_BITS,
            /// the instruction has high priority
            stage_high_i: bool as Bit = 1,
            /// the instruction is the last of its assist warp
            stage_last_i: bool as Bit = 1,
            /// the arriving instruction
            stage_instruction_i: u64 as U<BITS> = p.instruction_bits as usize,
            /// lanes of the instruction
            stage_mask_i: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            stage_live_in_i: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            stage_live_out_i: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// drop the high-priority instructions of a warp
            flush_high_i: bool as Bit = 1,
            /// drop the low-priority instructions of a warp
            flush_low_i: bool as Bit = 1,
            /// warp whose instructions are dropped
            flush_warp_i: u8 as U<WARP_BITS> = WARP_BITS,
            /// the even warp that scheduler 0 looks at, divided by two
            issue0_index_i: u8 as U<PAIR_BITS> = PAIR_BITS,
            /// scheduler 0 pops the instruction of that warp
            issue0_pop_i: bool as Bit = 1,
            /// the odd warp that scheduler 1 looks at, divided by two
            issue1_index_i: u8 as U<PAIR_BITS> = PAIR_BITS,
            /// scheduler 1 pops the instruction of that warp
            issue1_pop_i: bool as Bit = 1,
            /// the oldest low-priority instruction is popped
            low_pop_i: bool as Bit = 1,
        }
        outputs AwbOut {
            /// warps that can take a high-priority instruction in the next cycle, one bit each
            high_room_o: u64 as U<WARPS> = WARPS,
            /// a low-priority instruction can arrive in the next cycle
            low_room_o: bool as Bit = 1,
            /// warps with a high-priority instruction, one bit each
            high_valid_o: u64 as U<WARPS> = WARPS,
            /// the oldest instruction of the warp that scheduler 0 looks at, zero if it has none
            issue0_instruction_o: u64 as U<BITS> = p.instruction_bits as usize,
            /// lanes of the instruction
            issue0_mask_o: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            issue0_live_in_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            issue0_live_out_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// the instruction is the last of its assist warp
            issue0_last_o: bool as Bit = 1,
            /// the oldest instruction of the warp that scheduler 1 looks at, zero if it has none
            issue1_instruction_o: u64 as U<BITS> = p.instruction_bits as usize,
            /// lanes of the instruction
            issue1_mask_o: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            issue1_live_in_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            issue1_live_out_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// the instruction is the last of its assist warp
            issue1_last_o: bool as Bit = 1,
            /// the buffer holds a low-priority instruction
            low_valid_o: bool as Bit = 1,
            /// warp of the oldest low-priority instruction
            low_warp_o: u8 as U<WARP_BITS> = WARP_BITS,
            /// the oldest low-priority instruction
            low_instruction_o: u64 as U<BITS> = p.instruction_bits as usize,
            /// lanes of the instruction
            low_mask_o: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            low_live_in_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            low_live_out_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// the instruction is the last of its assist warp
            low_last_o: bool as Bit = 1,
            /// the instruction of the last cycle found no free slot and is lost
            overflow_o: bool as Bit = 1,
        }
        parts {
            even: Slots<BITS>,
            odd: Slots<BITS>,
            pub(crate) low_partition: LowPartition<BITS>,
            /// warps with at least one high-priority instruction
            pub(crate) one: Reg<U<WARPS>>,
            /// warps with two high-priority instructions
            two: Reg<U<WARPS>>,
            /// slot of each warp's oldest instruction
            first: Reg<U<WARPS>>,
            overflow: Reg<Bit>,
            bundle: Signal<Local, AwbContext>,
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
        upset { one, low_partition.front_valid, overflow }
    }
}

#[hdl_gen(layouts! { bundle, even.context_o, odd.context_o, low_partition.context_o: { mask: 32, live_in: 16, live_out: 16, last: 1 } })]
impl Logic for AssistWarpBuffer {
    fn update(&mut self) {
        dff_setup!(self, clk_i, one, two, first, overflow);
        drive!(self; even.clk_i: clk_i, odd.clk_i: clk_i);
        drive!(self.low_partition; clk_i, rst_ni);
        self.bundle.next = 0.into();
        self.bundle.next[0..] = self.stage_mask_i.val();
        self.bundle.next[32..] = self.stage_live_in_i.val();
        self.bundle.next[48..] = self.stage_live_out_i.val();
        self.bundle.next[64] = self.stage_last_i.val();

        comment!("one bit per warp: the arriving instruction's, the flush's, and the pops'");
        self.comes.next = 0.into();
        if self.stage_valid_i.val() & self.stage_high_i.val() {
            self.comes.next[self.stage_warp_i.val().index()] = true;
        }
        self.flushed.next = 0.into();
        if self.flush_high_i.val() {
            self.flushed.next[self.flush_warp_i.val().index()] = true;
        }
        self.warp0.next = 0.into();
        self.warp0.next[1..] = self.issue0_index_i.val();
        self.warp1.next = 1.into();
        self.warp1.next[1..] = self.issue1_index_i.val();
        self.popped.next = 0.into();
        if self.issue0_pop_i.val() {
            self.popped.next[self.warp0.val().index()] = true;
        }
        if self.issue1_pop_i.val() {
            self.popped.next[self.warp1.val().index()] = true;
        }
        self.popped.next = self.popped.val() & self.one.q.val();

        comment!("an arriving instruction takes the free slot, unless both are full or it is flushed");
        self.placed.next = self.comes.val() & !self.two.q.val() & !self.flushed.val();
        self.slot.next = ((self.first.q.val() ^ self.one.q.val()) & self.comes.val()).any();
        self.even.write_i.next = self.placed.val().any() & !self.stage_warp_i.val().get_bit(0);
        self.even.write_pair_i.next = self.stage_warp_i.val().get_bits::<5>(1);
        drive!(self.even; write_slot_i: slot, instruction_i: stage_instruction_i, context_i: bundle);
        self.odd.write_i.next = self.placed.val().any() & self.stage_warp_i.val().get_bit(0);
        self.odd.write_pair_i.next = self.stage_warp_i.val().get_bits::<5>(1);
        drive!(self.odd; write_slot_i: slot, instruction_i: stage_instruction_i, context_i: bundle);

        comment!("instructions per warp: a pop removes one, an arrival adds one, a flush removes all");
        self.stay.next = (self.one.q.val() & !self.popped.val()) | (self.two.q.val() & self.popped.val());
        self.one.d.next = (self.stay.val() | self.placed.val()) & !self.flushed.val();
        self.two.d.next = ((self.two.q.val() & !self.popped.val()) | (self.stay.val() & self.placed.val()))
            & !self.flushed.val();
        self.first.d.next = self.first.q.val() ^ self.popped.val();

        comment!("a slot is still free after the arriving instruction has taken one");
        self.high_room_o.next = !(self.two.q.val() | (self.one.q.val() & self.comes.val()));
        self.high_valid_o.next = self.one.q.val();

        comment!("what the schedulers look at");
        self.even.pair_i.next = self.issue0_index_i.val();
        self.even.slot_i.next = self.first.q.val().get_bit(self.warp0.val().index());
        self.even.valid_i.next = self.one.q.val().get_bit(self.warp0.val().index());
        self.issue0_instruction_o.next = self.even.instruction_o.val();
        self.issue0_mask_o.next = self.even.context_o.val().get_bits::<32>(0);
        self.issue0_live_in_o.next = self.even.context_o.val().get_bits::<16>(32);
        self.issue0_live_out_o.next = self.even.context_o.val().get_bits::<16>(48);
        self.issue0_last_o.next = self.even.context_o.val().get_bit(64);
        self.odd.pair_i.next = self.issue1_index_i.val();
        self.odd.slot_i.next = self.first.q.val().get_bit(self.warp1.val().index());
        self.odd.valid_i.next = self.one.q.val().get_bit(self.warp1.val().index());
        self.issue1_instruction_o.next = self.odd.instruction_o.val();
        self.issue1_mask_o.next = self.odd.context_o.val().get_bits::<32>(0);
        self.issue1_live_in_o.next = self.odd.context_o.val().get_bits::<16>(32);
        self.issue1_live_out_o.next = self.odd.context_o.val().get_bits::<16>(48);
        self.issue1_last_o.next = self.odd.context_o.val().get_bit(64);

        comment!("low priority");
        self.low_partition.stage_i.next = self.stage_valid_i.val() & !self.stage_high_i.val();
        drive!(self.low_partition; warp_i: stage_warp_i, instruction_i: stage_instruction_i,
            context_i: bundle, flush_i: flush_low_i, flush_warp_i, pop_i: low_pop_i);
        drive!(self; low_room_o: low_partition.room_o, low_valid_o: low_partition.valid_o,
            low_warp_o: low_partition.warp_o, low_instruction_o: low_partition.instruction_o);
        self.low_mask_o.next = self.low_partition.context_o.val().get_bits::<32>(0);
        self.low_live_in_o.next = self.low_partition.context_o.val().get_bits::<16>(32);
        self.low_live_out_o.next = self.low_partition.context_o.val().get_bits::<16>(48);
        self.low_last_o.next = self.low_partition.context_o.val().get_bit(64);

        comment!("an arriving instruction without a free slot is lost");
        self.lost.next = self.stage_valid_i.val()
            & self.stage_high_i.val()
            & !self.placed.val().any()
            & !(self.flush_high_i.val() & (self.stage_warp_i.val() == self.flush_warp_i.val()));
        self.overflow.d.next = self.lost.val() | self.low_partition.overflow_o.val();
        self.overflow_o.next = self.overflow.q.val();
    }
}

elaborate! {
    /// Returns the AWB for valid parameters.
    pub(super) fn awb(params: &AwbParams as PARAMS) -> Box<dyn RtlBlock<AwbIn, AwbOut>> {
        for instruction_bits in [32, 64] {
            AssistWarpBuffer { BITS = PARAMS.instruction_bits as usize }
        }
    }
}
