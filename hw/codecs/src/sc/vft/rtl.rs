//! RTL of the value-frequency table: the set of a value, the update of a set by a word, and the two stages around the
//! memory.

use super::params::{COUNT_BITS, LOST_BITS, VftParams};
use crate::sc::{WAYS, WORD_BITS};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Computes the four entries of a set after a word is counted.
    ///
    /// An entry is a tag above a 12-bit count; it exists if the count is not zero. TAG is the width of a tag, ENTRY of an
    /// entry, and SET of a set. The simulation keeps a set in K words.
    pub struct SetUpdate<const TAG: usize, const ENTRY: usize, const SET: usize, const K: usize> {
        /// the set has entries; if low, all counts are taken as zero
        pub valid_i: Signal<In, Bit>,
        /// the set, way 0 lowest
        pub set_i: Signal<In, W<SET, K>>,
        /// tag of the word
        pub tag_i: Signal<In, U<TAG>>,
        /// the set after the word is counted
        pub set_o: Signal<Out, W<SET, K>>,
        /// count of the replaced entry; zero if none is replaced
        pub lost_o: Signal<Out, U<COUNT_BITS>>,
        entry: Signal<Local, U<ENTRY>>,
        tag: [Signal<Local, U<TAG>>; 4],
        count: [Signal<Local, U<COUNT_BITS>>; 4],
        hit: [Signal<Local, Bit>; 4],
        any_hit: Signal<Local, Bit>,
        /// the word's entry has the maximum count
        full: Signal<Local, Bit>,
        /// smaller count of ways 0 and 1, and smaller count of ways 2 and 3
        smaller: [Signal<Local, U<COUNT_BITS>>; 2],
        /// the upper way of the pair has that count
        upper_way: [Signal<Local, Bit>; 2],
        smallest: Signal<Local, U<COUNT_BITS>>,
        victim: Signal<Local, U<2>>,
        next_tag: Signal<Local, U<TAG>>,
        next_count: Signal<Local, U<COUNT_BITS>>,
        next_set: Signal<Local, W<SET, K>>,
    }
}

#[hdl_gen]
impl Logic for SetUpdate {
    fn update(&mut self) {
        drive!(self; any_hit: false, full: false);
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

        comment!("entry to replace: smallest count, lowest way; compared in pairs");
        for pair in 0..2 {
            self.smaller[pair].next = self.count[2 * pair].val();
            self.upper_way[pair].next = self.count[2 * pair + 1].val() < self.count[2 * pair].val();
            if self.upper_way[pair].val() {
                self.smaller[pair].next = self.count[2 * pair + 1].val();
            }
        }
        drive!(self; smallest: smaller[0], victim: 0);
        self.victim.next[0] = self.upper_way[0].val();
        if self.smaller[1].val() < self.smaller[0].val() {
            drive!(self; smallest: smaller[1], victim: 2);
            self.victim.next[0] = self.upper_way[1].val();
        }
        self.lost_o.next = 0.into();
        if !self.any_hit.val() {
            self.lost_o.next = self.smallest.val();
        }

        comment!("if the entry is full, halve all counts of the set before counting");
        self.next_set.next = self.set_i.val();
        for way in 0..4 {
            drive!(self; next_tag: tag[way], next_count: count[way]);
            if self.full.val() {
                self.next_count.next = self.count[way].val() >> 1;
            }
            self.next_count.next = self.next_count.val() + self.hit[way].val();
            if !self.any_hit.val() & (self.victim.val() == way.to_bits::<2>()) {
                drive!(self; next_tag: tag_i, next_count: 1);
            }
            self.next_set.next[way * ENTRY..] = self.next_count.val();
            self.next_set.next[way * ENTRY + 12..] = self.next_tag.val();
        }
        self.set_o.next = self.next_set.val();
    }
}

rtl_module! {
    /// Counts how often 32-bit values occur, for the codes of statistical compression.
    ///
    /// LATTE-CC, section IV.C.2. INDEX is the width of an entry's index, and A the width of a set index. A value has SLICES
    /// slices, and their XOR is the set. TAG is the width of a tag, ENTRY of an entry, and SET of a set, which is kept in K
    /// words.
    #[require(INDEX == A + 2 && SLICES * A == 32 && TAG == 32 - A)]
    pub struct ScVftTop<
        const INDEX: usize, const A: usize, const SLICES: usize,
        const TAG: usize, const ENTRY: usize, const SET: usize, const K: usize,
    > for VftParams as p {
        reset "asynchronous reset, active low: nothing is counted";
        inputs VftIn {
            /// a word is offered for counting
            train_valid_i: bool as Bit = 1,
            /// the word to count
            train_value_i: u32 as U<32> = WORD_BITS,
            /// reads an entry; has priority over a word
            read_i: bool as Bit = 1,
            /// index of the entry to read
            read_index_i: u16 as U<INDEX> = p.index_bits(),
            /// clears the table and drops words in flight
            clear_i: bool as Bit = 1,
        }
        outputs VftOut {
            /// the word is taken in this cycle
            train_ready_o: bool as Bit = 1,
            /// the reply to the read of two cycles ago is given
            read_valid_o: bool as Bit = 1,
            /// value of the entry; zero if the entry does not exist
            read_value_o: u32 as U<32> = WORD_BITS,
            /// count of the entry; zero if the entry does not exist
            read_count_o: u16 as U<COUNT_BITS> = COUNT_BITS,
            /// sum of the counts of all replaced entries; saturates
            lost_o: u16 as U<LOST_BITS> = LOST_BITS,
            /// the number of words since the last clear has reached the number of sets: enough for new codes
            enough_o: bool as Bit = 1,
        }
        parts {
            memory: SyncMem<W<SET, K>, A>,
            /// sets that have entries
            valid: BitArray<A>,
            /// a word is in the second stage
            training: Reg<Bit>,
            /// a read is in the second stage
            reading: Reg<Bit>,
            set: DataReg<U<A>>,
            tag: DataReg<U<TAG>>,
            way: DataReg<U<2>>,
            /// the set was written while the memory was read; its new content is in `written`
            forward: Reg<Bit>,
            written: DataReg<W<SET, K>>,
            update: Gate<SetUpdate<TAG, ENTRY, SET, K>>,
            lost: Reg<U<LOST_BITS>>,
            /// words since the last clear, up to the number of sets
            words: Reg<U<A>>,
            enough: Reg<Bit>,
            read_valid: Reg<Bit>,
            read_value: DataReg<U<32>>,
            read_count: DataReg<U<COUNT_BITS>>,
            next_set: Signal<Local, U<A>>,
            content: Signal<Local, W<SET, K>>,
            entry: Signal<Local, U<ENTRY>>,
            /// value of the entry that is read: its tag, and the lowest slice, computed from the set
            value: Signal<Local, U<32>>,
            upper: Signal<Local, U<TAG>>,
            lowest: Signal<Local, U<A>>,
            sum: Signal<Local, U<15>>,
        }
        upset { read_valid, read_value, read_count, lost, enough }
    }
}

#[hdl_gen(layouts! { entry: { count: 12, tag: TAG } })]
impl Logic for ScVftTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, training, reading, set, tag, way, forward, written);
        dff_setup!(self, clk_i, lost, words, enough, read_valid, read_value, read_count);
        self.memory.clk_i.next = self.clk_i.val();
        drive!(self.valid; clk_i, rst_ni);

        comment!("first stage: read the set of one operation, and detect a write to the same set");
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
        drive!(self; memory.read_address_i: next_set, set.d: next_set);
        self.tag.d.next = self.train_value_i.val().get_bits::<TAG>(A);
        self.way.d.next = self.read_index_i.val().get_bits::<2>(0);
        self.forward.d.next = self.training.q.val() & (self.next_set.val() == self.set.q.val());

        comment!("second stage: update the set for a word");
        self.content.next = self.memory.read_data_o.val();
        if self.forward.q.val() {
            self.content.next = self.written.q.val();
        }
        drive!(self.valid; address_i: set.q, set_i: training.q, clear_i);
        drive!(self.update; valid_i: valid.bit_o, set_i: content, tag_i: tag.q);
        drive!(self.memory; write_i: training.q, write_address_i: set.q, write_data_i: update.set_o);
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

        comment!("count the words since the last clear, up to the number of sets");
        if self.clear_i.val() {
            drive!(self; words.d: 0, enough.d: false);
        } else if self.training.q.val() & !self.enough.q.val() {
            self.words.d.next = self.words.q.val() + 1;
            self.enough.d.next = self.words.q.val().all();
        }

        comment!("second stage: select the way for a read");
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
        self.value.next[0..] = self.lowest.val();
        self.value.next[A..] = self.upper.val();
        self.read_valid.d.next = self.reading.q.val();
        if self.reading.q.val() {
            drive!(self; read_count.d: 0, read_value.d: 0);
            if self.valid.bit_o.val() & self.entry.val().get_bits::<12>(0).any() {
                self.read_count.d.next = self.entry.val().get_bits::<12>(0);
                self.read_value.d.next = self.value.val();
            }
        }

        drive!(self; read_valid_o: read_valid.q, read_value_o: read_value.q, read_count_o: read_count.q,
            lost_o: lost.q, enough_o: enough.q);
    }
}

elaborate! {
    /// Returns the table for valid parameters.
    pub(super) fn vft(params: &VftParams as PARAMS) -> Box<dyn RtlBlock<VftIn, VftOut>> {
        for entries in [64, 1024] {
            ScVftTop {
                INDEX = PARAMS.index_bits(),
                A = PARAMS.set_bits(),
                SLICES = WORD_BITS / A,
                TAG = PARAMS.tag_bits(),
                ENTRY = TAG + COUNT_BITS,
                SET = WAYS * ENTRY,
                K = word_count(SET),
            }
        }
    }
}
