//! RTL of the AWC: control, store and buffer, and the wires between them.

mod control;
mod throttle;

use control::Control;

use super::{AwcParams, BUFFER, EVENT_BITS, SLOT_BITS, STORE, STORE_ADDRESS_BITS, UNITS, WORD_BITS};
use crate::awb::{AssistWarpBuffer, PAIR_BITS};
use crate::aws::AssistWarpStore;
use crate::awt::KEY_BITS;
use crate::{INST_BITS, LIVE_BITS, MASK_BITS, SR_BITS, WARP_BITS, WARPS};
use selvedge_hw::rtl::prelude::*;

const _: () = assert!(
    STORE.instructions == 1 << STORE_ADDRESS_BITS
        && STORE.instruction_bits == WORD_BITS as u32
        && BUFFER.instruction_bits == WORD_BITS as u32
);

rtl_module! {
    /// Runs assist warps on an SM: turns trigger events into instructions for the schedulers.
    ///
    /// CABA, sections 4.3 and 4.4. ENTRIES is the size of the table; ROWS, INDEX, KEYS and WORDS are parameters of the table.
    pub struct AssistWarpController<
        const ENTRIES: usize, const ROWS: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize,
    > for AwcParams as p {
        reset "asynchronous reset, active low: no event is known, no assist warp is active; the store survives it";
        inputs AwcIn {
            /// write a word of the store
            load_i: bool as Bit = 1,
            /// address of the word: SR.ID x 16 + Inst.ID
            load_address_i: u16 as U<STORE_ADDRESS_BITS> = STORE_ADDRESS_BITS,
            /// the instruction to write
            load_data_i: u64 as U<WORD_BITS> = WORD_BITS,
            /// write an event's word in the map
            map_write_i: bool as Bit = 1,
            /// the event to write
            map_event_i: u8 as U<EVENT_BITS> = EVENT_BITS,
            /// the event starts a routine; otherwise it is removed from the map
            map_enable_i: bool as Bit = 1,
            /// the assist warp has high priority
            map_high_i: bool as Bit = 1,
            /// SR.ID of the routine
            map_sr_i: u8 as U<SR_BITS> = SR_BITS,
            /// SR.End: Inst.ID of the routine's last instruction
            map_end_i: u8 as U<INST_BITS> = INST_BITS,
            /// an event triggers an assist warp
            trigger_valid_i: bool as Bit = 1,
            /// the triggering event
            trigger_event_i: u8 as U<EVENT_BITS> = EVENT_BITS,
            /// parent warp of the assist warp
            trigger_warp_i: u8 as U<WARP_BITS> = WARP_BITS,
            /// lanes of the assist warp
            trigger_mask_i: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            trigger_live_in_i: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            trigger_live_out_i: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// kill the high-priority assist warps of a warp
            kill_high_i: bool as Bit = 1,
            /// kill the low-priority assist warps of a warp
            kill_low_i: bool as Bit = 1,
            /// warp whose assist warps are killed
            kill_warp_i: u8 as U<WARP_BITS> = WARP_BITS,
            /// classes of functional units that are busy, one bit each
            busy_i: u8 as U<UNITS> = UNITS,
            /// no scheduler issues for a regular warp or at high priority
            idle_i: bool as Bit = 1,
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
        outputs AwcOut {
            /// the event is in the map
            trigger_known_o: bool as Bit = 1,
            /// the event starts a routine of high priority
            trigger_high_o: bool as Bit = 1,
            /// a valid trigger is taken in this cycle
            trigger_ready_o: bool as Bit = 1,
            /// the table has no free entry
            full_o: bool as Bit = 1,
            /// an instruction is fetched from the store
            fetch_o: bool as Bit = 1,
            /// warps with a high-priority instruction, one bit each
            high_valid_o: u64 as U<WARPS> = WARPS,
            /// the oldest instruction of the warp that scheduler 0 looks at
            issue0_instruction_o: u64 as U<WORD_BITS> = WORD_BITS,
            /// lanes of the instruction
            issue0_mask_o: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            issue0_live_in_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            issue0_live_out_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// the instruction is the last of its assist warp
            issue0_last_o: bool as Bit = 1,
            /// the oldest instruction of the warp that scheduler 1 looks at
            issue1_instruction_o: u64 as U<WORD_BITS> = WORD_BITS,
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
            low_instruction_o: u64 as U<WORD_BITS> = WORD_BITS,
            /// lanes of the instruction
            low_mask_o: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            low_live_in_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            low_live_out_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// the instruction is the last of its assist warp
            low_last_o: bool as Bit = 1,
            /// low priority is throttled in this window
            throttled_o: bool as Bit = 1,
            /// entries of the table that are in use, one bit each
            active_o: u64 as U<ENTRIES> = p.entries as usize,
        }
        parts {
            control: Control<ENTRIES, ROWS, INDEX, KEYS, WORDS> = Control::new(p),
            store: AssistWarpStore<WORD_BITS, STORE_ADDRESS_BITS, SLOT_BITS> = AssistWarpStore::new(&STORE),
            buffer: AssistWarpBuffer<WORD_BITS> = AssistWarpBuffer::new(&BUFFER),
        }
        upset { buffer.one, buffer.low_partition.front_valid, control.throttle.throttled }
    }
}

impl<const ENTRIES: usize, const ROWS: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize> Logic
    for AssistWarpController<ENTRIES, ROWS, INDEX, KEYS, WORDS>
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

elaborate! {
    /// Returns the AWC for valid parameters.
    pub(super) fn awc(params: &AwcParams as PARAMS) -> Box<dyn RtlBlock<AwcIn, AwcOut>> {
        for entries in [8, 48] {
            AssistWarpController {
                ENTRIES = PARAMS.entries as usize,
                ROWS = PARAMS.table().rows(),
                INDEX = PARAMS.table().index_bits() as usize,
                KEYS = KEY_BITS * ENTRIES,
                WORDS = word_count(KEYS),
            }
        }
    }
}
