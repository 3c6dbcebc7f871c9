//! RTL of the metadata cache: the memories, the phases of an access and the write-back buffer.

use super::entry::{BlockData, MdEntry};
use super::lookup::{MdLookup, STATE_BITS};
use super::{MdCacheIn, MdCacheOut, MdCacheParams};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

rtl_block! {
    /// Caches at the memory controller how many bursts each compressed line takes.
    ///
    /// CABA, section 5.3.2. A line number is a TAG, a set of SET bits and an OFFSET in the block of entries of ENTRY bits.
    /// BLOCK is TAG + SET, SLOT the bits of set and way, TAGS the bits of four tags.
    #[derive(LogicBlock)]
    pub struct MdCacheTop<
        const ENTRY: usize, const OFFSET: usize, const SET: usize, const SLOT: usize,
        const TAG: usize, const BLOCK: usize, const TAGS: usize, const TW: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: all is invalid
        pub rst_ni: Signal<In, Bit>,
        /// a request is there
        pub valid_i: Signal<In, Bit>,
        /// it updates the line's entry
        pub update_i: Signal<In, Bit>,
        /// number of the line
        pub line_i: Signal<In, U<32>>,
        /// the new entry of an update
        pub entry_i: Signal<In, U<ENTRY>>,
        /// DRAM takes the refill request
        pub refill_ready_i: Signal<In, Bit>,
        /// the block of the last refill request is there
        pub fill_valid_i: Signal<In, Bit>,
        /// that block
        pub fill_data_i: Signal<In, BlockData>,
        /// DRAM takes the block that is written back
        pub writeback_ready_i: Signal<In, Bit>,
        /// a request would be taken
        pub ready_o: Signal<Out, Bit>,
        /// the request is answered
        pub valid_o: Signal<Out, Bit>,
        /// it was a hit
        pub hit_o: Signal<Out, Bit>,
        /// the line's entry, after the update if it was one
        pub entry_o: Signal<Out, U<ENTRY>>,
        /// a block is asked for
        pub refill_valid_o: Signal<Out, Bit>,
        /// number of the block of the request
        pub refill_block_o: Signal<Out, U<BLOCK>>,
        /// a block is to be written back
        pub writeback_valid_o: Signal<Out, Bit>,
        /// its number
        pub writeback_block_o: Signal<Out, U<BLOCK>>,
        /// the block
        pub writeback_data_o: Signal<Out, BlockData>,

        tags: SyncMem<W<TAGS, TW>, SET>,
        /// valid bits, dirty bits and order of each set
        states: SyncMem<U<STATE_BITS>, SET>,
        data: SyncMem<BlockData, SLOT>,
        /// sets whose state is from after reset
        used: BitArray<1, SET>,
        lookup: Gate<MdLookup<TAG, TAGS, TW>>,
        entry_port: Gate<MdEntry<ENTRY, OFFSET>>,

        /// the tags of the set are there
        looking: Reg<Bit>,
        /// a hit, whose block is there
        reading: Reg<Bit>,
        /// a miss, whose victim is there
        evicting: Reg<Bit>,
        /// the missing block is asked for
        asking: Reg<Bit>,
        /// the missing block is on its way
        awaiting: Reg<Bit>,
        line: Reg<U<32>>,
        updates: Reg<Bit>,
        new_entry: Reg<U<ENTRY>>,
        way: Reg<U<2>>,
        evicts_dirty: Reg<Bit>,
        victim_tag: Reg<U<TAG>>,
        answered: Reg<Bit>,
        hit: Reg<Bit>,
        answer: Reg<U<ENTRY>>,
        writeback_valid: Reg<Bit>,
        writeback_block: Reg<U<BLOCK>>,
        writeback_data: Reg<BlockData>,

        ready: Signal<Local, Bit>,
        accepts: Signal<Local, Bit>,
        filled: Signal<Local, Bit>,
        /// the write-back buffer is free
        buffer_free: Signal<Local, Bit>,
        set: Signal<Local, U<SET>>,
        /// the way of the access, as soon as it is known
        current_way: Signal<Local, U<2>>,
        slot: Signal<Local, U<SLOT>>,
        victim_block: Signal<Local, U<BLOCK>>,
    }
}

impl<
    const ENTRY: usize,
    const OFFSET: usize,
    const SET: usize,
    const SLOT: usize,
    const TAG: usize,
    const BLOCK: usize,
    const TAGS: usize,
    const TW: usize,
> Default for MdCacheTop<ENTRY, OFFSET, SET, SLOT, TAG, BLOCK, TAGS, TW>
{
    fn default() -> Self {
        const { assert!(SLOT == SET + 2 && BLOCK == TAG + SET && BLOCK + OFFSET == 32) };
        MdCacheTop {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            valid_i: Signal::default(),
            update_i: Signal::default(),
            line_i: Signal::default(),
            entry_i: Signal::default(),
            refill_ready_i: Signal::default(),
            fill_valid_i: Signal::default(),
            fill_data_i: Signal::default(),
            writeback_ready_i: Signal::default(),
            ready_o: Signal::default(),
            valid_o: Signal::default(),
            hit_o: Signal::default(),
            entry_o: Signal::default(),
            refill_valid_o: Signal::default(),
            refill_block_o: Signal::default(),
            writeback_valid_o: Signal::default(),
            writeback_block_o: Signal::default(),
            writeback_data_o: Signal::default(),
            tags: SyncMem::default(),
            states: SyncMem::default(),
            data: SyncMem::default(),
            used: BitArray::default(),
            lookup: Gate::default(),
            entry_port: Gate::default(),
            looking: Reg::default(),
            reading: Reg::default(),
            evicting: Reg::default(),
            asking: Reg::default(),
            awaiting: Reg::default(),
            line: Reg::default(),
            updates: Reg::default(),
            new_entry: Reg::default(),
            way: Reg::default(),
            evicts_dirty: Reg::default(),
            victim_tag: Reg::default(),
            answered: Reg::default(),
            hit: Reg::default(),
            answer: Reg::default(),
            writeback_valid: Reg::default(),
            writeback_block: Reg::default(),
            writeback_data: Reg::default(),
            ready: Signal::default(),
            accepts: Signal::default(),
            filled: Signal::default(),
            buffer_free: Signal::default(),
            set: Signal::default(),
            current_way: Signal::default(),
            slot: Signal::default(),
            victim_block: Signal::default(),
        }
    }
}

impl<
    const ENTRY: usize,
    const OFFSET: usize,
    const SET: usize,
    const SLOT: usize,
    const TAG: usize,
    const BLOCK: usize,
    const TAGS: usize,
    const TW: usize,
> Logic for MdCacheTop<ENTRY, OFFSET, SET, SLOT, TAG, BLOCK, TAGS, TW>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, looking, reading, evicting, asking, awaiting);
        dff_setup!(self, clk_i, line, updates, new_entry, way, evicts_dirty, victim_tag);
        dff_setup!(self, clk_i, answered, hit, answer);
        dff_setup!(self, clk_i, writeback_valid, writeback_block, writeback_data);
        self.tags.clk_i.next = self.clk_i.val();
        self.states.clk_i.next = self.clk_i.val();
        self.data.clk_i.next = self.clk_i.val();
        self.used.clk_i.next = self.clk_i.val();
        self.used.rst_ni.next = self.rst_ni.val();

        comment!("a request is taken when nothing goes on, or a hit is just being read");
        self.ready.next =
            !(self.looking.q.val() | self.evicting.q.val() | self.asking.q.val() | self.awaiting.q.val());
        self.accepts.next = self.valid_i.val() & self.ready.val();
        if self.accepts.val() {
            self.line.d.next = self.line_i.val();
            self.updates.d.next = self.update_i.val();
            self.new_entry.d.next = self.entry_i.val();
        }
        self.tags.read_address_i.next = self.line_i.val().get_bits::<SET>(OFFSET);
        self.states.read_address_i.next = self.line_i.val().get_bits::<SET>(OFFSET);

        comment!("look-up: a set that was not used since reset is empty, whatever its memory says");
        self.set.next = self.line.q.val().get_bits::<SET>(OFFSET);
        self.used.address_i[0].next = self.set.val();
        self.used.set_i.next = self.looking.q.val();
        self.used.clear_i.next = false;
        self.lookup.tags_i.next = self.tags.read_data_o.val();
        self.lookup.state_i.next = 0.into();
        if self.used.bit_o[0].val() {
            self.lookup.state_i.next = self.states.read_data_o.val();
        }
        self.lookup.tag_i.next = self.line.q.val().get_bits::<TAG>(OFFSET + SET);
        self.lookup.update_i.next = self.updates.q.val();
        self.tags.write_i.next = self.looking.q.val();
        self.tags.write_address_i.next = self.set.val();
        self.tags.write_data_i.next = self.lookup.tags_o.val();
        self.states.write_i.next = self.looking.q.val();
        self.states.write_address_i.next = self.set.val();
        self.states.write_data_i.next = self.lookup.state_o.val();
        self.current_way.next = self.way.q.val();
        if self.looking.q.val() {
            self.current_way.next = self.lookup.way_o.val();
            self.evicts_dirty.d.next = self.lookup.evicts_dirty_o.val();
            self.victim_tag.d.next = self.lookup.victim_tag_o.val();
        }
        self.way.d.next = self.current_way.val();

        comment!("the block: read by a hit, thrown out by a miss, replaced by the one that DRAM sends");
        self.filled.next = self.awaiting.q.val() & self.fill_valid_i.val();
        self.slot.next =
            (bit_cast::<SLOT, SET>(self.set.val()) << 2) | bit_cast::<SLOT, 2>(self.current_way.val());
        self.data.read_address_i.next = self.slot.val();
        self.entry_port.block_i.next = self.data.read_data_o.val();
        if self.awaiting.q.val() {
            self.entry_port.block_i.next = self.fill_data_i.val();
        }
        self.entry_port.offset_i.next = self.line.q.val().get_bits::<OFFSET>(0);
        self.entry_port.update_i.next = self.updates.q.val();
        self.entry_port.entry_i.next = self.new_entry.q.val();
        self.data.write_i.next = (self.reading.q.val() & self.updates.q.val()) | self.filled.val();
        self.data.write_address_i.next = self.slot.val();
        self.data.write_data_i.next = self.entry_port.block_o.val();

        comment!(
            "a dirty victim goes to the write-back buffer, and nothing is asked for before that is free"
        );
        self.buffer_free.next = !self.writeback_valid.q.val() | self.writeback_ready_i.val();
        self.writeback_valid.d.next = !self.buffer_free.val();
        self.victim_block.next = bit_cast::<BLOCK, SET>(self.set.val());
        self.victim_block.next = self.victim_block.val().replace_bit(SET, self.victim_tag.q.val());
        if self.evicting.q.val() & self.evicts_dirty.q.val() & self.buffer_free.val() {
            self.writeback_valid.d.next = true;
            self.writeback_block.d.next = self.victim_block.val();
            self.writeback_data.d.next = self.data.read_data_o.val();
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
            self.hit.d.next = self.reading.q.val();
            self.answer.d.next = self.entry_port.entry_o.val();
        }

        self.ready_o.next = self.ready.val();
        self.valid_o.next = self.answered.q.val();
        self.hit_o.next = self.hit.q.val();
        self.entry_o.next = self.answer.q.val();
        self.refill_valid_o.next = self.asking.q.val();
        self.refill_block_o.next = self.line.q.val().get_bits::<BLOCK>(OFFSET);
        self.writeback_valid_o.next = self.writeback_valid.q.val();
        self.writeback_block_o.next = self.writeback_block.q.val();
        self.writeback_data_o.next = self.writeback_data.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const ENTRY: usize,
    const OFFSET: usize,
    const SET: usize,
    const SLOT: usize,
    const TAG: usize,
    const BLOCK: usize,
    const TAGS: usize,
    const TW: usize,
> RtlTop for MdCacheTop<ENTRY, OFFSET, SET, SLOT, TAG, BLOCK, TAGS, TW>
{
    type In = MdCacheIn;
    type Out = MdCacheOut;

    fn drive(&mut self, inputs: &MdCacheIn) {
        self.valid_i.next = inputs.valid_i;
        self.update_i.next = inputs.update_i;
        self.line_i.next = U::new(u64::from(inputs.line_i));
        self.entry_i.next = U::new(u64::from(inputs.entry_i));
        self.refill_ready_i.next = inputs.refill_ready_i;
        self.fill_valid_i.next = inputs.fill_valid_i;
        self.fill_data_i.next = W::from_words(inputs.fill_data_i);
        self.writeback_ready_i.next = inputs.writeback_ready_i;
    }

    fn sample(&self) -> MdCacheOut {
        MdCacheOut {
            ready_o: self.ready_o.val(),
            valid_o: self.valid_o.val(),
            hit_o: self.hit_o.val(),
            entry_o: self.entry_o.val().to_u64() as u8,
            refill_valid_o: self.refill_valid_o.val(),
            refill_block_o: self.refill_block_o.val().to_u64() as u32,
            writeback_valid_o: self.writeback_valid_o.val(),
            writeback_block_o: self.writeback_block_o.val().to_u64() as u32,
            writeback_data_o: *self.writeback_data_o.val().words(),
        }
    }

    fn upset(&mut self, bit: usize) {
        let flags = [&mut self.answered, &mut self.hit, &mut self.writeback_valid];
        let mut bit = bit % (flags.len() + ENTRY + BLOCK + 256);
        let number = flags.len();
        if let Some(flag) = flags.into_iter().nth(bit) {
            flag.q.next = !flag.q.val();
            return;
        }
        bit -= number;
        if bit < ENTRY {
            let value = self.answer.q.val();
            self.answer.q.next = value.replace_bit(bit, !value.get_bit(bit));
            return;
        }
        bit -= ENTRY;
        if bit < BLOCK {
            let value = self.writeback_block.q.val();
            self.writeback_block.q.next = value.replace_bit(bit, !value.get_bit(bit));
            return;
        }
        bit -= BLOCK;
        let value = self.writeback_data.q.val();
        self.writeback_data.q.next = value.replace_bit(bit, !value.get_bit(bit));
    }
}

/// The cache for valid parameters. Widths that follow from others are spelled out, and checked by the blocks.
pub(super) fn md_cache(params: &MdCacheParams) -> Box<dyn RtlBlock<MdCacheIn, MdCacheOut>> {
    match (params.kilobytes, params.entry_bits) {
        (4, 2) => RtlInstance::boxed(MdCacheTop::<2, 7, 5, 7, 20, 25, 80, 2>::default()),
        (4, _) => RtlInstance::boxed(MdCacheTop::<4, 6, 5, 7, 21, 26, 84, 2>::default()),
        (8, 2) => RtlInstance::boxed(MdCacheTop::<2, 7, 6, 8, 19, 25, 76, 2>::default()),
        (8, _) => RtlInstance::boxed(MdCacheTop::<4, 6, 6, 8, 20, 26, 80, 2>::default()),
        (_, 2) => RtlInstance::boxed(MdCacheTop::<2, 7, 7, 9, 18, 25, 72, 2>::default()),
        (_, _) => RtlInstance::boxed(MdCacheTop::<4, 6, 7, 9, 19, 26, 76, 2>::default()),
    }
}
