//! RTL of the AWC: control, store and buffer, and the wires between them.

mod control;
mod throttle;

use control::Control;

use super::params::{AwcParams, BUFFER, EVENT_BITS, SLOT_BITS, STORE, STORE_ADDRESS_BITS, UNITS, WORD_BITS};
use crate::awb::{AssistWarpBuffer, PAIR_BITS};
use crate::aws::AssistWarpStore;
use crate::awt::KEY_BITS;
use crate::widths::{INST_BITS, LIVE_BITS, MASK_BITS, SR_BITS, WARP_BITS, WARPS};
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
            /// the oldest instruction of the warp that scheduler 0 looks at, zero if it has none
            issue0_instruction_o: u64 as U<WORD_BITS> = WORD_BITS,
            /// lanes of the instruction
            issue0_mask_o: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            issue0_live_in_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            issue0_live_out_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// the instruction is the last of its assist warp
            issue0_last_o: bool as Bit = 1,
            /// the oldest instruction of the warp that scheduler 1 looks at, zero if it has none
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

#[hdl_gen]
impl Logic for AssistWarpController {
    fn update(&mut self) {
        drive!(self.control; clk_i, rst_ni);
        drive!(self.store; clk_i, rst_ni);
        drive!(self.buffer; clk_i, rst_ni);

        comment!("events become assist warps, which are deployed where the buffer has room");
        drive!(self.control; map_write_i, map_event_i, map_enable_i, map_high_i, map_sr_i, map_end_i,
            trigger_valid_i, trigger_event_i, trigger_warp_i, trigger_mask_i, trigger_live_in_i,
            trigger_live_out_i, kill_high_i, kill_low_i, kill_warp_i, busy_i, idle_i,
            high_room_i: buffer.high_room_o, low_room_i: buffer.low_room_o);
        drive!(self; control.trigger_known_o, control.trigger_high_o, control.trigger_ready_o, control.full_o,
            control.fetch_o, control.throttled_o, control.active_o);

        comment!("the store gives the instruction in the next cycle");
        drive!(self.store; write_i: load_i, write_address_i: load_address_i, write_data_i: load_data_i,
            fetch_i: control.fetch_o, sr_i: control.fetch_sr_o, inst_i: control.fetch_inst_o);

        comment!("there it goes to the buffer together with what belongs to it");
        drive!(self.buffer; stage_valid_i: store.valid_o, stage_instruction_i: store.instruction_o,
            stage_warp_i: control.stage_warp_o, stage_high_i: control.stage_high_o,
            stage_last_i: control.stage_last_o, stage_mask_i: control.stage_mask_o,
            stage_live_in_i: control.stage_live_in_o, stage_live_out_i: control.stage_live_out_o,
            flush_high_i: kill_high_i, flush_low_i: kill_low_i, flush_warp_i: kill_warp_i);

        comment!("the schedulers");
        drive!(self.buffer; issue0_index_i, issue0_pop_i, issue1_index_i, issue1_pop_i, low_pop_i);
        drive!(self; buffer.high_valid_o, buffer.issue0_instruction_o, buffer.issue0_mask_o,
            buffer.issue0_live_in_o, buffer.issue0_live_out_o, buffer.issue0_last_o,
            buffer.issue1_instruction_o, buffer.issue1_mask_o, buffer.issue1_live_in_o,
            buffer.issue1_live_out_o, buffer.issue1_last_o, buffer.low_valid_o, buffer.low_warp_o,
            buffer.low_instruction_o, buffer.low_mask_o, buffer.low_live_in_o, buffer.low_live_out_o,
            buffer.low_last_o);
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
