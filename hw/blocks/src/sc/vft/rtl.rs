//! RTL of the value-frequency table: where a value lies, what a word does to a set, and the two stages around the memory.

use super::{COUNT_BITS, LOST_BITS, VftIn, VftOut, VftParams};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

rtl_block! {
    /// What counting a word does to the four entries of its set.
    ///
    /// An entry is a tag above a 12-bit count; it exists if the count is not zero. TAG are the bits of a tag, ENTRY those
    /// of an entry, SET those of a set, which simulation keeps in K words.
    #[derive(LogicBlock, Default)]
    pub struct SetUpdate<const TAG: usize, const ENTRY: usize, const SET: usize, const K: usize> {
        /// the set holds entries; if not, all counts are taken as zero
        pub valid_i: Signal<In, Bit>,
        /// the set, way 0 lowest
        pub set_i: Signal<In, W<SET, K>>,
        /// the word's tag
        pub tag_i: Signal<In, U<TAG>>,
        /// the set when the word is counted
        pub set_o: Signal<Out, W<SET, K>>,
        /// count of the entry that the word replaced; zero if it replaced none
        pub lost_o: Signal<Out, U<COUNT_BITS>>,
        entry: Signal<Local, U<ENTRY>>,
        tag: [Signal<Local, U<TAG>>; 4],
        count: [Signal<Local, U<COUNT_BITS>>; 4],
        hit: [Signal<Local, Bit>; 4],
        any_hit: Signal<Local, Bit>,
        /// the word's entry cannot count further
        full: Signal<Local, Bit>,
        smallest: Signal<Local, U<COUNT_BITS>>,
        victim: Signal<Local, U<2>>,
        next_tag: Signal<Local, U<TAG>>,
        next_count: Signal<Local, U<COUNT_BITS>>,
        next_set: Signal<Local, W<SET, K>>,
    }
}

impl<const TAG: usize, const ENTRY: usize, const SET: usize, const K: usize> Logic
    for SetUpdate<TAG, ENTRY, SET, K>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.any_hit.next = false;
        self.full.next = false;
        for way in 0..4 {
            self.entry.next = self.set_i.val().get_bits::<ENTRY>(way * ENTRY);
            self.tag[way].next = self.entry.val().get_bits::<TAG>(12);
            self.count[way].next = 0.into();
            if self.valid_i.val() {
                self.count[way].next = self.entry.val().get_bits::<12>(0);
            }
            self.hit[way].next = self.count[way].val().any() & (self.tag[way].val() == self.tag_i.val());
            self.any_hit.next = self.any_hit.val() | self.hit[way].val();
            self.full.next = self.full.val() | (self.hit[way].val() & self.count[way].val().all());
        }

        comment!("the entry to replace: the smallest count, the lowest way of several");
        self.smallest.next = self.count[0].val();
        self.victim.next = 0.into();
        for way in 1..4 {
            if self.count[way].val() < self.smallest.val() {
                self.smallest.next = self.count[way].val();
                self.victim.next = way.to_bits::<2>();
            }
        }
        self.lost_o.next = 0.into();
        if !self.any_hit.val() {
            self.lost_o.next = self.smallest.val();
        }

        comment!("a full entry halves the whole set before it counts");
        self.next_set.next = self.set_i.val();
        for way in 0..4 {
            self.next_tag.next = self.tag[way].val();
            self.next_count.next = self.count[way].val();
            if self.full.val() {
                self.next_count.next = self.count[way].val() >> 1;
            }
            self.next_count.next = self.next_count.val() + self.hit[way].val();
            if !self.any_hit.val() & (self.victim.val() == way.to_bits::<2>()) {
                self.next_tag.next = self.tag_i.val();
                self.next_count.next = 1.into();
            }
            self.next_set.next = self.next_set.val().replace_bit(way * ENTRY, self.next_count.val());
            self.next_set.next = self.next_set.val().replace_bit(way * ENTRY + 12, self.next_tag.val());
        }
        self.set_o.next = self.next_set.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

rtl_block! {
    /// Counts how often 32-bit values occur, for the codes of statistical compression.
    ///
    /// LATTE-CC, section IV.C.2. INDEX are the bits of an entry's index, A those of its set, SLICES the slices of a value
    /// whose XOR is the set; TAG, ENTRY, SET and K are those of a set's entries.
    #[derive(LogicBlock)]
    pub struct ScVftTop<
        const INDEX: usize, const A: usize, const SLICES: usize,
        const TAG: usize, const ENTRY: usize, const SET: usize, const K: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: nothing is counted
        pub rst_ni: Signal<In, Bit>,
        /// a word is offered for counting
        pub train_valid_i: Signal<In, Bit>,
        /// the word
        pub train_value_i: Signal<In, U<32>>,
        /// read an entry; goes before a word
        pub read_i: Signal<In, Bit>,
        /// which entry
        pub read_index_i: Signal<In, U<INDEX>>,
        /// forget everything, words in flight included
        pub clear_i: Signal<In, Bit>,
        /// the word is taken
        pub train_ready_o: Signal<Out, Bit>,
        /// the entry asked for two cycles ago is given
        pub read_valid_o: Signal<Out, Bit>,
        /// its value; zero if there is no entry
        pub read_value_o: Signal<Out, U<32>>,
        /// its count; zero if there is no entry
        pub read_count_o: Signal<Out, U<COUNT_BITS>>,
        /// counts of all replaced entries together; saturates
        pub lost_o: Signal<Out, U<LOST_BITS>>,
        memory: SyncMem<W<SET, K>, A>,
        /// sets that hold entries
        valid: BitArray<1, A>,
        /// a word is in the second stage
        training: Reg<Bit>,
        /// a read is in the second stage
        reading: Reg<Bit>,
        set: Reg<U<A>>,
        tag: Reg<U<TAG>>,
        way: Reg<U<2>>,
        /// the set was written when the memory was read: its new content is in `written`
        forward: Reg<Bit>,
        written: Reg<W<SET, K>>,
        update: Gate<SetUpdate<TAG, ENTRY, SET, K>>,
        lost: Reg<U<LOST_BITS>>,
        read_valid: Reg<Bit>,
        read_value: Reg<U<32>>,
        read_count: Reg<U<COUNT_BITS>>,
        next_set: Signal<Local, U<A>>,
        content: Signal<Local, W<SET, K>>,
        entry: Signal<Local, U<ENTRY>>,
        /// the value of the entry that is read: its tag, and the lowest slice, which follows from the set
        value: Signal<Local, U<32>>,
        upper: Signal<Local, U<TAG>>,
        lowest: Signal<Local, U<A>>,
        sum: Signal<Local, U<15>>,
    }
}

impl<
    const INDEX: usize,
    const A: usize,
    const SLICES: usize,
    const TAG: usize,
    const ENTRY: usize,
    const SET: usize,
    const K: usize,
> Default for ScVftTop<INDEX, A, SLICES, TAG, ENTRY, SET, K>
{
    fn default() -> Self {
        const {
            assert!(INDEX == A + 2 && SLICES * A == 32 && TAG == 32 - A);
            assert!(ENTRY == TAG + COUNT_BITS && SET == 4 * ENTRY);
        }
        ScVftTop {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            train_valid_i: Signal::default(),
            train_value_i: Signal::default(),
            read_i: Signal::default(),
            read_index_i: Signal::default(),
            clear_i: Signal::default(),
            train_ready_o: Signal::default(),
            read_valid_o: Signal::default(),
            read_value_o: Signal::default(),
            read_count_o: Signal::default(),
            lost_o: Signal::default(),
            memory: SyncMem::default(),
            valid: BitArray::default(),
            training: Reg::default(),
            reading: Reg::default(),
            set: Reg::default(),
            tag: Reg::default(),
            way: Reg::default(),
            forward: Reg::default(),
            written: Reg::default(),
            update: Gate::default(),
            lost: Reg::default(),
            read_valid: Reg::default(),
            read_value: Reg::default(),
            read_count: Reg::default(),
            next_set: Signal::default(),
            content: Signal::default(),
            entry: Signal::default(),
            value: Signal::default(),
            upper: Signal::default(),
            lowest: Signal::default(),
            sum: Signal::default(),
        }
    }
}

impl<
    const INDEX: usize,
    const A: usize,
    const SLICES: usize,
    const TAG: usize,
    const ENTRY: usize,
    const SET: usize,
    const K: usize,
> Logic for ScVftTop<INDEX, A, SLICES, TAG, ENTRY, SET, K>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, training, reading, set, tag, way, forward, written);
        dff_setup!(self, clk_i, lost, read_valid, read_value, read_count);
        self.memory.clk_i.next = self.clk_i.val();
        self.valid.clk_i.next = self.clk_i.val();
        self.valid.rst_ni.next = self.rst_ni.val();

        comment!(
            "first stage: one operation per cycle reads its set, and learns whether it is being written"
        );
        self.train_ready_o.next = !self.read_i.val() & !self.clear_i.val();
        self.training.d.next = self.train_valid_i.val() & !self.read_i.val() & !self.clear_i.val();
        self.reading.d.next = self.read_i.val();
        if self.read_i.val() {
            self.next_set.next = self.read_index_i.val().get_bits::<A>(2);
        } else {
            self.next_set.next = 0.into();
            for slice in 0..SLICES {
                self.next_set.next = self.next_set.val() ^ self.train_value_i.val().get_bits::<A>(slice * A);
            }
        }
        self.memory.read_address_i.next = self.next_set.val();
        self.set.d.next = self.next_set.val();
        self.tag.d.next = self.train_value_i.val().get_bits::<TAG>(A);
        self.way.d.next = self.read_index_i.val().get_bits::<2>(0);
        self.forward.d.next = self.training.q.val() & (self.next_set.val() == self.set.q.val());

        comment!("second stage: a word changes its set");
        self.content.next = self.memory.read_data_o.val();
        if self.forward.q.val() {
            self.content.next = self.written.q.val();
        }
        self.valid.address_i[0].next = self.set.q.val();
        self.valid.set_i.next = self.training.q.val();
        self.valid.clear_i.next = self.clear_i.val();
        self.update.valid_i.next = self.valid.bit_o[0].val();
        self.update.set_i.next = self.content.val();
        self.update.tag_i.next = self.tag.q.val();
        self.memory.write_i.next = self.training.q.val();
        self.memory.write_address_i.next = self.set.q.val();
        self.memory.write_data_i.next = self.update.set_o.val();
        if self.training.q.val() {
            self.written.d.next = self.update.set_o.val();
        }

        self.sum.next = bit_cast::<15, LOST_BITS>(self.lost.q.val())
            + bit_cast::<15, COUNT_BITS>(self.update.lost_o.val());
        if self.clear_i.val() {
            self.lost.d.next = 0.into();
        } else if self.training.q.val() {
            self.lost.d.next = bit_cast::<LOST_BITS, 15>(self.sum.val());
            if self.sum.val().get_bit(14) {
                self.lost.d.next = 0x3fff.into();
            }
        }

        comment!("second stage: a read picks its way");
        self.entry.next = self.content.val().get_bits::<ENTRY>(0);
        for way in 1..4 {
            if self.way.q.val() == way.to_bits::<2>() {
                self.entry.next = self.content.val().get_bits::<ENTRY>(way * ENTRY);
            }
        }
        self.upper.next = self.entry.val().get_bits::<TAG>(12);
        self.lowest.next = self.set.q.val();
        for slice in 1..SLICES {
            self.lowest.next = self.lowest.val() ^ self.upper.val().get_bits::<A>((slice - 1) * A);
        }
        self.value.next = 0.into();
        self.value.next = self.value.val().replace_bit(0, self.lowest.val());
        self.value.next = self.value.val().replace_bit(A, self.upper.val());
        self.read_valid.d.next = self.reading.q.val();
        if self.reading.q.val() {
            self.read_count.d.next = 0.into();
            self.read_value.d.next = 0.into();
            if self.valid.bit_o[0].val() & self.entry.val().get_bits::<12>(0).any() {
                self.read_count.d.next = self.entry.val().get_bits::<12>(0);
                self.read_value.d.next = self.value.val();
            }
        }

        self.read_valid_o.next = self.read_valid.q.val();
        self.read_value_o.next = self.read_value.q.val();
        self.read_count_o.next = self.read_count.q.val();
        self.lost_o.next = self.lost.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const INDEX: usize,
    const A: usize,
    const SLICES: usize,
    const TAG: usize,
    const ENTRY: usize,
    const SET: usize,
    const K: usize,
> RtlTop for ScVftTop<INDEX, A, SLICES, TAG, ENTRY, SET, K>
{
    type In = VftIn;
    type Out = VftOut;

    fn drive(&mut self, inputs: &VftIn) {
        self.train_valid_i.next = inputs.train_valid_i;
        self.train_value_i.next = U::new(u64::from(inputs.train_value_i));
        self.read_i.next = inputs.read_i;
        self.read_index_i.next = U::new(u64::from(inputs.read_index_i));
        self.clear_i.next = inputs.clear_i;
    }

    fn sample(&self) -> VftOut {
        VftOut {
            train_ready_o: self.train_ready_o.val(),
            read_valid_o: self.read_valid_o.val(),
            read_value_o: self.read_value_o.val().to_u64() as u32,
            read_count_o: self.read_count_o.val().to_u64() as u16,
            lost_o: self.lost_o.val().to_u64() as u16,
        }
    }

    fn upset(&mut self, bit: usize) {
        fn flip<const N: usize>(register: &mut Reg<U<N>>, bit: usize) {
            let value = register.q.val();
            register.q.next = value.replace_bit(bit, !value.get_bit(bit));
        }
        let bit = bit % (1 + 32 + COUNT_BITS + LOST_BITS);
        match bit {
            0 => self.read_valid.q.next = !self.read_valid.q.val(),
            1..33 => flip(&mut self.read_value, bit - 1),
            33..45 => flip(&mut self.read_count, bit - 33),
            _ => flip(&mut self.lost, bit - 45),
        }
    }
}

/// The table for valid parameters. Widths that follow from others are spelled out, and checked by the block.
pub(super) fn vft(params: &VftParams) -> Box<dyn RtlBlock<VftIn, VftOut>> {
    match params.entries {
        64 => RtlInstance::boxed(ScVftTop::<6, 4, 8, 28, 40, 160, 3>::default()),
        _ => RtlInstance::boxed(ScVftTop::<10, 8, 4, 24, 36, 144, 3>::default()),
    }
}
