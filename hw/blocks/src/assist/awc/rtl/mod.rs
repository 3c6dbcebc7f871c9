//! RTL of the AWC: control, store and buffer, and the wires between them.

mod control;
mod throttle;

use control::Control;

use super::{
    AwcIn, AwcOut, AwcParams, BUFFER, EVENT_BITS, SLOT_BITS, STORE, STORE_ADDRESS_BITS, UNITS, WORD_BITS,
};
use crate::assist::awb::{AssistWarpBuffer, PAIR_BITS};
use crate::assist::aws::AssistWarpStore;
use crate::assist::{INST_BITS, LIVE_BITS, MASK_BITS, SR_BITS, WARP_BITS, WARPS};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

const _: () = assert!(
    STORE.instructions == 1 << STORE_ADDRESS_BITS
        && STORE.instruction_bits == WORD_BITS as u32
        && BUFFER.instruction_bits == WORD_BITS as u32
);

rtl_block! {
    /// Runs assist warps on an SM: trigger events in, instructions for the schedulers out.
    ///
    /// CABA, sections 4.3 and 4.4. ENTRIES is the size of the table; INDEX, KEYS and WORDS are the table's.
    #[derive(LogicBlock)]
    pub struct AssistWarpController<
        const ENTRIES: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: no event is known, no assist warp is under way; the store survives it
        pub rst_ni: Signal<In, Bit>,
        /// write a word of the store
        pub load_i: Signal<In, Bit>,
        /// where: SR.ID x 16 + Inst.ID
        pub load_address_i: Signal<In, U<STORE_ADDRESS_BITS>>,
        /// the instruction
        pub load_data_i: Signal<In, U<WORD_BITS>>,
        /// write an event's line of the map
        pub map_write_i: Signal<In, Bit>,
        /// the event
        pub map_event_i: Signal<In, U<EVENT_BITS>>,
        /// it starts a routine; otherwise it is taken out of the map
        pub map_enable_i: Signal<In, Bit>,
        /// the assist warp has high priority
        pub map_high_i: Signal<In, Bit>,
        /// SR.ID of the routine
        pub map_sr_i: Signal<In, U<SR_BITS>>,
        /// SR.End: Inst.ID of its last instruction
        pub map_end_i: Signal<In, U<INST_BITS>>,
        /// an event triggers an assist warp
        pub trigger_valid_i: Signal<In, Bit>,
        /// the event
        pub trigger_event_i: Signal<In, U<EVENT_BITS>>,
        /// the parent warp
        pub trigger_warp_i: Signal<In, U<WARP_BITS>>,
        /// the lanes
        pub trigger_mask_i: Signal<In, U<MASK_BITS>>,
        /// registers of the parent with arguments
        pub trigger_live_in_i: Signal<In, U<LIVE_BITS>>,
        /// registers of the parent for results
        pub trigger_live_out_i: Signal<In, U<LIVE_BITS>>,
        /// kill the high-priority assist warps of a warp
        pub kill_high_i: Signal<In, Bit>,
        /// kill the low-priority assist warps of a warp
        pub kill_low_i: Signal<In, Bit>,
        /// the warp whose assist warps are killed
        pub kill_warp_i: Signal<In, U<WARP_BITS>>,
        /// a class of functional units is busy
        pub busy_i: Signal<In, U<UNITS>>,
        /// no scheduler issues for a regular warp or at high priority
        pub idle_i: Signal<In, Bit>,
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
        /// the event is in the map
        pub trigger_known_o: Signal<Out, Bit>,
        /// the event starts a routine of high priority
        pub trigger_high_o: Signal<Out, Bit>,
        /// the trigger would be taken
        pub trigger_ready_o: Signal<Out, Bit>,
        /// no entry of the table is free
        pub full_o: Signal<Out, Bit>,
        /// an instruction is fetched from the store
        pub fetch_o: Signal<Out, Bit>,
        /// the warp has a high-priority instruction
        pub high_valid_o: Signal<Out, U<WARPS>>,
        /// the oldest instruction of the warp that scheduler 0 looks at
        pub issue0_instruction_o: Signal<Out, U<WORD_BITS>>,
        /// its lanes
        pub issue0_mask_o: Signal<Out, U<MASK_BITS>>,
        /// registers of the parent with arguments
        pub issue0_live_in_o: Signal<Out, U<LIVE_BITS>>,
        /// registers of the parent for results
        pub issue0_live_out_o: Signal<Out, U<LIVE_BITS>>,
        /// it is the last of its assist warp
        pub issue0_last_o: Signal<Out, Bit>,
        /// the oldest instruction of the warp that scheduler 1 looks at
        pub issue1_instruction_o: Signal<Out, U<WORD_BITS>>,
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
        pub low_instruction_o: Signal<Out, U<WORD_BITS>>,
        /// its lanes
        pub low_mask_o: Signal<Out, U<MASK_BITS>>,
        /// registers of the parent with arguments
        pub low_live_in_o: Signal<Out, U<LIVE_BITS>>,
        /// registers of the parent for results
        pub low_live_out_o: Signal<Out, U<LIVE_BITS>>,
        /// it is the last of its assist warp
        pub low_last_o: Signal<Out, Bit>,
        /// low priority is held back in this window
        pub throttled_o: Signal<Out, Bit>,
        /// the entries of the table in use
        pub active_o: Signal<Out, U<ENTRIES>>,
        control: Control<ENTRIES, INDEX, KEYS, WORDS>,
        store: AssistWarpStore<WORD_BITS, STORE_ADDRESS_BITS, SLOT_BITS>,
        buffer: AssistWarpBuffer<WORD_BITS>,
    }
}

impl<const ENTRIES: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize>
    AssistWarpController<ENTRIES, INDEX, KEYS, WORDS>
{
    fn new(params: &AwcParams) -> Self {
        AssistWarpController {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            load_i: Signal::default(),
            load_address_i: Signal::default(),
            load_data_i: Signal::default(),
            map_write_i: Signal::default(),
            map_event_i: Signal::default(),
            map_enable_i: Signal::default(),
            map_high_i: Signal::default(),
            map_sr_i: Signal::default(),
            map_end_i: Signal::default(),
            trigger_valid_i: Signal::default(),
            trigger_event_i: Signal::default(),
            trigger_warp_i: Signal::default(),
            trigger_mask_i: Signal::default(),
            trigger_live_in_i: Signal::default(),
            trigger_live_out_i: Signal::default(),
            kill_high_i: Signal::default(),
            kill_low_i: Signal::default(),
            kill_warp_i: Signal::default(),
            busy_i: Signal::default(),
            idle_i: Signal::default(),
            issue0_index_i: Signal::default(),
            issue0_pop_i: Signal::default(),
            issue1_index_i: Signal::default(),
            issue1_pop_i: Signal::default(),
            low_pop_i: Signal::default(),
            trigger_known_o: Signal::default(),
            trigger_high_o: Signal::default(),
            trigger_ready_o: Signal::default(),
            full_o: Signal::default(),
            fetch_o: Signal::default(),
            high_valid_o: Signal::default(),
            issue0_instruction_o: Signal::default(),
            issue0_mask_o: Signal::default(),
            issue0_live_in_o: Signal::default(),
            issue0_live_out_o: Signal::default(),
            issue0_last_o: Signal::default(),
            issue1_instruction_o: Signal::default(),
            issue1_mask_o: Signal::default(),
            issue1_live_in_o: Signal::default(),
            issue1_live_out_o: Signal::default(),
            issue1_last_o: Signal::default(),
            low_valid_o: Signal::default(),
            low_warp_o: Signal::default(),
            low_instruction_o: Signal::default(),
            low_mask_o: Signal::default(),
            low_live_in_o: Signal::default(),
            low_live_out_o: Signal::default(),
            low_last_o: Signal::default(),
            throttled_o: Signal::default(),
            active_o: Signal::default(),
            control: Control::new(params),
            store: AssistWarpStore::default(),
            buffer: AssistWarpBuffer::default(),
        }
    }
}

impl<const ENTRIES: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize> Logic
    for AssistWarpController<ENTRIES, INDEX, KEYS, WORDS>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.control.clk_i.next = self.clk_i.val();
        self.control.rst_ni.next = self.rst_ni.val();
        self.store.clk_i.next = self.clk_i.val();
        self.store.rst_ni.next = self.rst_ni.val();
        self.buffer.clk_i.next = self.clk_i.val();
        self.buffer.rst_ni.next = self.rst_ni.val();

        comment!("events become assist warps, which are deployed where the buffer has room");
        self.control.map_write_i.next = self.map_write_i.val();
        self.control.map_event_i.next = self.map_event_i.val();
        self.control.map_enable_i.next = self.map_enable_i.val();
        self.control.map_high_i.next = self.map_high_i.val();
        self.control.map_sr_i.next = self.map_sr_i.val();
        self.control.map_end_i.next = self.map_end_i.val();
        self.control.trigger_valid_i.next = self.trigger_valid_i.val();
        self.control.trigger_event_i.next = self.trigger_event_i.val();
        self.control.trigger_warp_i.next = self.trigger_warp_i.val();
        self.control.trigger_mask_i.next = self.trigger_mask_i.val();
        self.control.trigger_live_in_i.next = self.trigger_live_in_i.val();
        self.control.trigger_live_out_i.next = self.trigger_live_out_i.val();
        self.control.kill_high_i.next = self.kill_high_i.val();
        self.control.kill_low_i.next = self.kill_low_i.val();
        self.control.kill_warp_i.next = self.kill_warp_i.val();
        self.control.busy_i.next = self.busy_i.val();
        self.control.idle_i.next = self.idle_i.val();
        self.control.high_room_i.next = self.buffer.high_room_o.val();
        self.control.low_room_i.next = self.buffer.low_room_o.val();
        self.trigger_known_o.next = self.control.trigger_known_o.val();
        self.trigger_high_o.next = self.control.trigger_high_o.val();
        self.trigger_ready_o.next = self.control.trigger_ready_o.val();
        self.full_o.next = self.control.full_o.val();
        self.fetch_o.next = self.control.fetch_o.val();
        self.throttled_o.next = self.control.throttled_o.val();
        self.active_o.next = self.control.active_o.val();

        comment!("the store gives the instruction in the next cycle");
        self.store.write_i.next = self.load_i.val();
        self.store.write_address_i.next = self.load_address_i.val();
        self.store.write_data_i.next = self.load_data_i.val();
        self.store.fetch_i.next = self.control.fetch_o.val();
        self.store.sr_i.next = self.control.fetch_sr_o.val();
        self.store.inst_i.next = self.control.fetch_inst_o.val();

        comment!("there it goes to the buffer together with what belongs to it");
        self.buffer.stage_valid_i.next = self.store.valid_o.val();
        self.buffer.stage_instruction_i.next = self.store.instruction_o.val();
        self.buffer.stage_warp_i.next = self.control.stage_warp_o.val();
        self.buffer.stage_high_i.next = self.control.stage_high_o.val();
        self.buffer.stage_last_i.next = self.control.stage_last_o.val();
        self.buffer.stage_mask_i.next = self.control.stage_mask_o.val();
        self.buffer.stage_live_in_i.next = self.control.stage_live_in_o.val();
        self.buffer.stage_live_out_i.next = self.control.stage_live_out_o.val();
        self.buffer.flush_high_i.next = self.kill_high_i.val();
        self.buffer.flush_low_i.next = self.kill_low_i.val();
        self.buffer.flush_warp_i.next = self.kill_warp_i.val();

        comment!("the schedulers");
        self.buffer.issue0_index_i.next = self.issue0_index_i.val();
        self.buffer.issue0_pop_i.next = self.issue0_pop_i.val();
        self.buffer.issue1_index_i.next = self.issue1_index_i.val();
        self.buffer.issue1_pop_i.next = self.issue1_pop_i.val();
        self.buffer.low_pop_i.next = self.low_pop_i.val();
        self.high_valid_o.next = self.buffer.high_valid_o.val();
        self.issue0_instruction_o.next = self.buffer.issue0_instruction_o.val();
        self.issue0_mask_o.next = self.buffer.issue0_mask_o.val();
        self.issue0_live_in_o.next = self.buffer.issue0_live_in_o.val();
        self.issue0_live_out_o.next = self.buffer.issue0_live_out_o.val();
        self.issue0_last_o.next = self.buffer.issue0_last_o.val();
        self.issue1_instruction_o.next = self.buffer.issue1_instruction_o.val();
        self.issue1_mask_o.next = self.buffer.issue1_mask_o.val();
        self.issue1_live_in_o.next = self.buffer.issue1_live_in_o.val();
        self.issue1_live_out_o.next = self.buffer.issue1_live_out_o.val();
        self.issue1_last_o.next = self.buffer.issue1_last_o.val();
        self.low_valid_o.next = self.buffer.low_valid_o.val();
        self.low_warp_o.next = self.buffer.low_warp_o.val();
        self.low_instruction_o.next = self.buffer.low_instruction_o.val();
        self.low_mask_o.next = self.buffer.low_mask_o.val();
        self.low_live_in_o.next = self.buffer.low_live_in_o.val();
        self.low_live_out_o.next = self.buffer.low_live_out_o.val();
        self.low_last_o.next = self.buffer.low_last_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const ENTRIES: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize> RtlTop
    for AssistWarpController<ENTRIES, INDEX, KEYS, WORDS>
{
    type In = AwcIn;
    type Out = AwcOut;

    fn drive(&mut self, inputs: &AwcIn) {
        self.load_i.next = inputs.load_i;
        self.load_address_i.next = U::new(u64::from(inputs.load_address_i));
        self.load_data_i.next = U::new(inputs.load_data_i);
        self.map_write_i.next = inputs.map_write_i;
        self.map_event_i.next = U::new(u64::from(inputs.map_event_i));
        self.map_enable_i.next = inputs.map_enable_i;
        self.map_high_i.next = inputs.map_high_i;
        self.map_sr_i.next = U::new(u64::from(inputs.map_sr_i));
        self.map_end_i.next = U::new(u64::from(inputs.map_end_i));
        self.trigger_valid_i.next = inputs.trigger_valid_i;
        self.trigger_event_i.next = U::new(u64::from(inputs.trigger_event_i));
        self.trigger_warp_i.next = U::new(u64::from(inputs.trigger_warp_i));
        self.trigger_mask_i.next = U::new(u64::from(inputs.trigger_mask_i));
        self.trigger_live_in_i.next = U::new(u64::from(inputs.trigger_live_in_i));
        self.trigger_live_out_i.next = U::new(u64::from(inputs.trigger_live_out_i));
        self.kill_high_i.next = inputs.kill_high_i;
        self.kill_low_i.next = inputs.kill_low_i;
        self.kill_warp_i.next = U::new(u64::from(inputs.kill_warp_i));
        self.busy_i.next = U::new(u64::from(inputs.busy_i));
        self.idle_i.next = inputs.idle_i;
        self.issue0_index_i.next = U::new(u64::from(inputs.issue0_index_i));
        self.issue0_pop_i.next = inputs.issue0_pop_i;
        self.issue1_index_i.next = U::new(u64::from(inputs.issue1_index_i));
        self.issue1_pop_i.next = inputs.issue1_pop_i;
        self.low_pop_i.next = inputs.low_pop_i;
    }

    fn sample(&self) -> AwcOut {
        AwcOut {
            trigger_known_o: self.trigger_known_o.val(),
            trigger_high_o: self.trigger_high_o.val(),
            trigger_ready_o: self.trigger_ready_o.val(),
            full_o: self.full_o.val(),
            fetch_o: self.fetch_o.val(),
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
            throttled_o: self.throttled_o.val(),
            active_o: self.active_o.val().to_u64(),
        }
    }

    /// The flags of the buffer (see there), then that of the throttle.
    fn upset(&mut self, bit: usize) {
        if bit % (WARPS + 2) == WARPS + 1 {
            let throttled = &mut self.control.throttle.throttled;
            throttled.q.next = !throttled.q.val();
        } else {
            self.buffer.upset(bit);
        }
    }
}

/// The AWC for valid parameters. Widths that follow from others are spelled out, and checked by the table.
pub(super) fn awc(params: &AwcParams) -> Box<dyn RtlBlock<AwcIn, AwcOut>> {
    match params.entries {
        8 => RtlInstance::boxed(AssistWarpController::<8, 3, 88, 2>::new(params)),
        _ => RtlInstance::boxed(AssistWarpController::<48, 6, 528, 9>::new(params)),
    }
}
