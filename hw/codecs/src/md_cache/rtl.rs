//! RTL of the metadata cache: the memories, the phases of an access and the write-back buffer.

use super::entry::{BlockData, MdEntry};
use super::lookup::{MdLookup, STATE_BITS};
use super::params::{BLOCK_BITS, MdCacheParams, WAYS};
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Caches the burst count of each compressed line at the memory controller.
    ///
    /// CABA, section 5.3.2. A line number is a TAG, a set of SET bits, and an OFFSET in a block with entries of ENTRY bits.
    /// BLOCK is TAG + SET. SLOT is the width of set and way, TAGS the width of four tags.
    #[require(SLOT == SET + 2 && BLOCK == TAG + SET && BLOCK + OFFSET == 32)]
    pub struct MdCacheTop<
        const ENTRY: usize, const OFFSET: usize, const SET: usize, const SLOT: usize,
        const TAG: usize, const BLOCK: usize, const TAGS: usize, const TW: usize,
    > for MdCacheParams as p {
        reset "asynchronous reset, active low: all is invalid";
        inputs MdCacheIn {
            /// a request is offered
            valid_i: bool as Bit = 1,
            /// the request updates the line's entry
            update_i: bool as Bit = 1,
            /// number of the line
            line_i: u32 as U<32> = 32,
            /// the new entry of an update
            entry_i: u8 as U<ENTRY> = p.entry_bits as usize,
            /// DRAM takes the refill request
            refill_ready_i: bool as Bit = 1,
            /// the block of the last refill request arrives
            fill_valid_i: bool as Bit = 1,
            /// the arriving block
            fill_data_i: [u64; 4] as BlockData = BLOCK_BITS,
            /// DRAM takes the write-back
            writeback_ready_i: bool as Bit = 1,
        }
        outputs MdCacheOut {
            /// the cache can take a request in this cycle
            ready_o: bool as Bit = 1,
            /// a reply is valid in this cycle
            valid_o: bool as Bit = 1,
            /// the reply is a hit
            hit_o: bool as Bit = 1,
            /// the line's entry, after the update if it is one
            entry_o: u8 as U<ENTRY> = p.entry_bits as usize,
            /// a block is requested from DRAM
            refill_valid_o: bool as Bit = 1,
            /// number of the requested block
            refill_block_o: u32 as U<BLOCK> = p.block_bits() as usize,
            /// a write-back is offered to DRAM
            writeback_valid_o: bool as Bit = 1,
            /// number of the block in the write-back
            writeback_block_o: u32 as U<BLOCK> = p.block_bits() as usize,
            /// data of the block in the write-back
            writeback_data_o: [u64; 4] as BlockData = BLOCK_BITS,
        }
        parts {
            tags: SyncMem<W<TAGS, TW>, SET>,
            /// valid bits, dirty bits and order of each set
            states: SyncMem<U<STATE_BITS>, SET>,
            data: SyncMem<BlockData, SLOT>,
            /// sets that were used since reset
            used: BitArray<SET>,
            lookup: Gate<MdLookup<TAG, TAGS, TW>>,
            entry_port: Gate<MdEntry<ENTRY, OFFSET>>,
            /// the tags of the set are available
            looking: Reg<Bit>,
            /// a hit: the block is available
            reading: Reg<Bit>,
            /// a miss: the victim is available
            evicting: Reg<Bit>,
            /// the missing block is requested
            asking: Reg<Bit>,
            /// the missing block is in flight
            awaiting: Reg<Bit>,
            line: DataReg<U<32>>,
            updates: Reg<Bit>,
            new_entry: DataReg<U<ENTRY>>,
            way: DataReg<U<2>>,
            evicts_dirty: Reg<Bit>,
            victim_tag: DataReg<U<TAG>>,
            answered: Reg<Bit>,
            hit: DataReg<Bit>,
            answer: DataReg<U<ENTRY>>,
            writeback_valid: Reg<Bit>,
            writeback_block: DataReg<U<BLOCK>>,
            writeback_data: DataReg<BlockData>,
            ready: Signal<Local, Bit>,
            accepts: Signal<Local, Bit>,
            filled: Signal<Local, Bit>,
            /// the write-back buffer is free
            buffer_free: Signal<Local, Bit>,
            set: Signal<Local, U<SET>>,
            /// way of the access, from the look-up on
            current_way: Signal<Local, U<2>>,
            slot: Signal<Local, U<SLOT>>,
            victim_block: Signal<Local, U<BLOCK>>,
        }
        upset { answered, hit, writeback_valid, answer, writeback_block, writeback_data }
    }
}

#[hdl_gen(layouts! { line: { offset: OFFSET, set_index: SET, tag: TAG } })]
impl Logic for MdCacheTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, looking, reading, evicting, asking, awaiting);
        dff_setup!(self, clk_i, line, updates, new_entry, way, evicts_dirty, victim_tag);
        dff_setup!(self, clk_i, answered, hit, answer);
        dff_setup!(self, clk_i, writeback_valid, writeback_block, writeback_data);
        drive!(self; tags.clk_i: clk_i, states.clk_i: clk_i, data.clk_i: clk_i);
        drive!(self.used; clk_i, rst_ni);

        comment!("accept a request when idle, or while a hit is read");
        self.ready.next =
            !(self.looking.q.val() | self.evicting.q.val() | self.asking.q.val() | self.awaiting.q.val());
        self.accepts.next = self.valid_i.val() & self.ready.val();
        if self.accepts.val() {
            drive!(self; line.d: line_i, updates.d: update_i, new_entry.d: entry_i);
        }
        self.tags.read_address_i.next = self.line_i.val().get_bits::<SET>(OFFSET);
        self.states.read_address_i.next = self.line_i.val().get_bits::<SET>(OFFSET);

        comment!("look-up: a set that is unused since reset is empty; ignore its memory");
        self.set.next = self.line.q.val().get_bits::<SET>(OFFSET);
        drive!(self.used; address_i: set, set_i: looking.q, clear_i: false);
        drive!(self.lookup; tags_i: tags.read_data_o, state_i: 0);
        if self.used.bit_o.val() {
            self.lookup.state_i.next = self.states.read_data_o.val();
        }
        self.lookup.tag_i.next = self.line.q.val().get_bits::<TAG>(OFFSET + SET);
        self.lookup.update_i.next = self.updates.q.val();
        drive!(self.tags; write_i: looking.q, write_address_i: set, write_data_i: lookup.tags_o);
        drive!(self.states; write_i: looking.q, write_address_i: set, write_data_i: lookup.state_o);
        self.current_way.next = self.way.q.val();
        if self.looking.q.val() {
            drive!(self; current_way: lookup.way_o, evicts_dirty.d: lookup.evicts_dirty_o,
                victim_tag.d: lookup.victim_tag_o);
        }
        self.way.d.next = self.current_way.val();

        comment!("the block: read by a hit, evicted by a miss, replaced by the fill from DRAM");
        self.filled.next = self.awaiting.q.val() & self.fill_valid_i.val();
        self.slot.next =
            (bit_cast::<SLOT, SET>(self.set.val()) << 2) | bit_cast::<SLOT, 2>(self.current_way.val());
        drive!(self; data.read_address_i: slot, entry_port.block_i: data.read_data_o);
        if self.awaiting.q.val() {
            self.entry_port.block_i.next = self.fill_data_i.val();
        }
        self.entry_port.offset_i.next = self.line.q.val().get_bits::<OFFSET>(0);
        drive!(self.entry_port; update_i: updates.q, entry_i: new_entry.q);
        self.data.write_i.next = (self.reading.q.val() & self.updates.q.val()) | self.filled.val();
        drive!(self.data; write_address_i: slot, write_data_i: entry_port.block_o);

        comment!("a dirty victim goes to the write-back buffer; the request waits until it is free");
        self.buffer_free.next = !self.writeback_valid.q.val() | self.writeback_ready_i.val();
        self.writeback_valid.d.next = !self.buffer_free.val();
        self.victim_block.next = bit_cast::<BLOCK, SET>(self.set.val());
        self.victim_block.next[SET..] = self.victim_tag.q.val();
        if self.evicting.q.val() & self.evicts_dirty.q.val() & self.buffer_free.val() {
            drive!(self; writeback_valid.d: true, writeback_block.d: victim_block,
                writeback_data.d: data.read_data_o);
        }

        comment!("phases of an access");
        self.looking.d.next = self.accepts.val();
        self.reading.d.next = self.looking.q.val() & self.lookup.hit_o.val();
        self.evicting.d.next = (self.looking.q.val() & !self.lookup.hit_o.val())
            | (self.evicting.q.val() & !self.buffer_free.val());
        self.asking.d.next = (self.evicting.q.val() & self.buffer_free.val())
            | (self.asking.q.val() & !self.refill_ready_i.val());
        self.awaiting.d.next = (self.asking.q.val() & self.refill_ready_i.val())
            | (self.awaiting.q.val() & !self.fill_valid_i.val());

        self.answered.d.next = self.reading.q.val() | self.filled.val();
        if self.reading.q.val() | self.filled.val() {
            drive!(self; hit.d: reading.q, answer.d: entry_port.entry_o);
        }

        drive!(self; ready_o: ready, valid_o: answered.q, hit_o: hit.q, entry_o: answer.q,
            refill_valid_o: asking.q);
        self.refill_block_o.next = self.line.q.val().get_bits::<BLOCK>(OFFSET);
        drive!(self; writeback_valid_o: writeback_valid.q, writeback_block_o: writeback_block.q,
            writeback_data_o: writeback_data.q);
    }
}

elaborate! {
    /// Returns the cache for valid parameters.
    pub(super) fn md_cache(params: &MdCacheParams as PARAMS) -> Box<dyn RtlBlock<MdCacheIn, MdCacheOut>> {
        for kilobytes in [4, 8, 16] {
            for entry_bits in [2, 4] {
                MdCacheTop {
                    ENTRY = PARAMS.entry_bits as usize,
                    OFFSET = PARAMS.offset_bits() as usize,
                    SET = PARAMS.sets().ilog2() as usize,
                    SLOT = SET + WAYS.ilog2() as usize,
                    TAG = PARAMS.tag_bits() as usize,
                    BLOCK = PARAMS.block_bits() as usize,
                    TAGS = WAYS * TAG,
                    TW = word_count(TAGS),
                }
            }
        }
    }
}
