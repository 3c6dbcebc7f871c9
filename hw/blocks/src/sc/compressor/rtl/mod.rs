//! RTL of the compressor: the table with a copy per lookup, the lookups, the packing of their codes, and the loading.

mod parts;
mod ports;

pub(super) use ports::compressor;

use super::GROUPS_BITS;
use crate::sc::WAYS;
use parts::{ScAppend, ScEncodeWord, Set};
use selvedge_hw::rtl::prelude::*;

/// What the compressor does with its tables.
mod phase {
    use rust_hdl_core::prelude::*;
    /// The states of loading.
    #[derive(Copy, Clone, Debug, PartialEq, LogicState)]
    pub enum Phase {
        /// Lines are taken.
        Run,
        /// Codes wait until the lines in flight have left.
        Drain,
        /// The table is cleared, a set per cycle.
        Clear,
        /// Codes are taken.
        Load,
    }
}
use phase::Phase;

rtl_block! {
    /// Compresses cache lines to the Huffman codes of their words, K words per cycle.
    ///
    /// LATTE-CC, section IV.C.2. A line whose codes are longer than the line is given as it is. GROUP is the most bits of K
    /// words, 48 each, and SUM the bits of their number.
    #[derive(LogicBlock)]
    pub struct ScCompressorTop<const K: usize, const GROUP: usize, const GW: usize, const SUM: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: no codes are loaded, nothing is in flight
        pub rst_ni: Signal<In, Bit>,
        /// a line is offered
        pub valid_i: Signal<In, Bit>,
        /// the line: word 0 in bits 31 to 0
        pub line_i: Signal<In, W<1024, 16>>,
        /// the consumer takes the payload in this cycle
        pub ready_i: Signal<In, Bit>,
        /// a code is offered
        pub load_valid_i: Signal<In, Bit>,
        /// it is the first one: clear the table
        pub load_first_i: Signal<In, Bit>,
        /// it is the last one: lines may be compressed
        pub load_last_i: Signal<In, Bit>,
        /// the table entry that it is for: set and way
        pub load_index_i: Signal<In, U<10>>,
        /// it is the escape symbol's
        pub load_escape_i: Signal<In, Bit>,
        /// the value that it stands for
        pub load_value_i: Signal<In, U<32>>,
        /// the code, right-aligned, its most significant bit first in the payload
        pub load_code_i: Signal<In, U<16>>,
        /// its length in bits
        pub load_length_i: Signal<In, U<5>>,
        /// the line is taken in this cycle
        pub ready_o: Signal<Out, Bit>,
        /// a payload is offered
        pub valid_o: Signal<Out, Bit>,
        /// it is a row of codes, not the line itself
        pub compressed_o: Signal<Out, Bit>,
        /// its bits
        pub bits_o: Signal<Out, U<11>>,
        /// the payload, first bit lowest; still incomplete while valid_o is low
        pub payload_o: Signal<Out, W<1024, 16>>,
        /// the code is taken in this cycle
        pub load_ready_o: Signal<Out, Bit>,
        tables: ReplicatedMem<Set, 8, K>,
        encode: [Once<ScEncodeWord>; K],
        pack_group: Once<BitPacker<K, 48, 6, GROUP, GW, SUM>>,
        append: Once<ScAppend<GROUP, GW, SUM>>,

        phase: Reg<Phase>,
        /// next set to clear
        clear_set: Reg<U<8>>,
        /// the table is clear
        fresh: Reg<Bit>,
        /// all codes are there
        loaded: Reg<Bit>,
        /// first bit lowest
        escape_code: Reg<U<16>>,
        escape_length: Reg<U<5>>,

        /// the line, turned so that the next words to look up are the lowest
        line: Reg<W<1024, 16>>,
        looking: Reg<Bit>,
        /// groups of words that were looked up
        groups: Reg<U<GROUPS_BITS>>,
        /// fields and lengths are those of a group that is to be packed
        packing: Reg<Bit>,
        packing_first: Reg<Bit>,
        packing_last: Reg<Bit>,
        /// each of its words can be coded
        packing_coded: Reg<Bit>,
        fields: [Reg<U<48>>; K],
        lengths: [Reg<U<6>>; K],
        payload: Reg<W<1024, 16>>,
        bits: Reg<U<11>>,
        /// a word of the groups so far cannot be coded
        uncoded: Reg<Bit>,
        valid: Reg<Bit>,
        compressed: Reg<Bit>,

        line_bits: Constant<U<11>>,
        last_group: Constant<U<GROUPS_BITS>>,
        /// bits of the words that are looked up in a cycle, and of the others
        turn: Constant<U<11>>,
        turn_back: Constant<U<11>>,
        code_bits: Constant<U<5>>,

        take_code: Signal<Local, Bit>,
        reversed: Signal<Local, U<16>>,
        code: Signal<Local, U<16>>,
        entry: Signal<Local, U<45>>,
        set: Signal<Local, Set>,
        pack: Signal<Local, Bit>,
        look: Signal<Local, Bit>,
        take_line: Signal<Local, Bit>,
        word: Signal<Local, U<32>>,
        word_set: Signal<Local, U<8>>,
        coded: Signal<Local, Bit>,
        next_uncoded: Signal<Local, Bit>,
        fits: Signal<Local, Bit>,
        ready: Signal<Local, Bit>,
        load_ready: Signal<Local, Bit>,
    }
}

impl<const K: usize, const GROUP: usize, const GW: usize, const SUM: usize> Default
    for ScCompressorTop<K, GROUP, GW, SUM>
{
    fn default() -> Self {
        const { assert!(GROUP == 48 * K && 32 % K == 0 && K < 32 && WAYS == 4) };
        ScCompressorTop {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            valid_i: Signal::default(),
            line_i: Signal::default(),
            ready_i: Signal::default(),
            load_valid_i: Signal::default(),
            load_first_i: Signal::default(),
            load_last_i: Signal::default(),
            load_index_i: Signal::default(),
            load_escape_i: Signal::default(),
            load_value_i: Signal::default(),
            load_code_i: Signal::default(),
            load_length_i: Signal::default(),
            ready_o: Signal::default(),
            valid_o: Signal::default(),
            compressed_o: Signal::default(),
            bits_o: Signal::default(),
            payload_o: Signal::default(),
            load_ready_o: Signal::default(),
            tables: ReplicatedMem::default(),
            encode: array(),
            pack_group: Once::default(),
            append: Once::default(),
            phase: Reg::new(Phase::Run),
            clear_set: Reg::default(),
            fresh: Reg::default(),
            loaded: Reg::default(),
            escape_code: Reg::default(),
            escape_length: Reg::default(),
            line: Reg::default(),
            looking: Reg::default(),
            groups: Reg::default(),
            packing: Reg::default(),
            packing_first: Reg::default(),
            packing_last: Reg::default(),
            packing_coded: Reg::default(),
            fields: array(),
            lengths: array(),
            payload: Reg::default(),
            bits: Reg::default(),
            uncoded: Reg::default(),
            valid: Reg::default(),
            compressed: Reg::default(),
            line_bits: Constant::new(U::new(1024)),
            last_group: Constant::new(U::new(32 / K as u64 - 1)),
            turn: Constant::new(U::new(32 * K as u64)),
            turn_back: Constant::new(U::new(1024 - 32 * K as u64)),
            code_bits: Constant::new(U::new(16)),
            take_code: Signal::default(),
            reversed: Signal::default(),
            code: Signal::default(),
            entry: Signal::default(),
            set: Signal::default(),
            pack: Signal::default(),
            look: Signal::default(),
            take_line: Signal::default(),
            word: Signal::default(),
            word_set: Signal::default(),
            coded: Signal::default(),
            next_uncoded: Signal::default(),
            fits: Signal::default(),
            ready: Signal::default(),
            load_ready: Signal::default(),
        }
    }
}

impl<const K: usize, const GROUP: usize, const GW: usize, const SUM: usize> Logic
    for ScCompressorTop<K, GROUP, GW, SUM>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, phase, clear_set, fresh, loaded, escape_code, escape_length);
        dff_setup!(self, clk_i, line, looking, groups, packing, packing_first, packing_last, packing_coded);
        for i in 0..K {
            dff_setup!(self, clk_i, fields[i], lengths[i]);
        }
        dff_setup!(self, clk_i, payload, bits, uncoded, valid, compressed);
        self.tables.clk_i.next = self.clk_i.val();

        comment!("codes wait for the lines in flight, then for a clear table");
        self.ready.next = (self.phase.q.val() == Phase::Run) & !self.looking.q.val();
        self.load_ready.next =
            (self.phase.q.val() == Phase::Load) & (self.fresh.q.val() | !self.load_first_i.val());
        self.take_code.next = self.load_valid_i.val() & self.load_ready.val();
        match self.phase.q.val() {
            Phase::Run => {
                if self.load_valid_i.val() {
                    self.phase.d.next = Phase::Drain;
                }
            }
            Phase::Drain => {
                if !(self.looking.q.val() | self.packing.q.val() | self.valid.q.val()) {
                    self.phase.d.next = Phase::Clear;
                }
            }
            Phase::Clear => {
                self.loaded.d.next = false;
                self.fresh.d.next = true;
                self.escape_length.d.next = 0.into();
                self.clear_set.d.next = self.clear_set.q.val() + 1;
                if self.clear_set.q.val().all() {
                    self.phase.d.next = Phase::Load;
                }
            }
            Phase::Load => {
                if self.take_code.val() {
                    self.fresh.d.next = false;
                    if self.load_last_i.val() {
                        self.loaded.d.next = true;
                        self.phase.d.next = Phase::Run;
                    }
                } else if self.load_valid_i.val() {
                    self.phase.d.next = Phase::Clear;
                }
            }
        }

        comment!("the first bit of a code goes to the lowest place");
        self.reversed.next = 0.into();
        for i in 0..16 {
            self.reversed.next = self.reversed.val().replace_bit(i, self.load_code_i.val().get_bit(15 - i));
        }
        self.code.next = self.reversed.val() >> (self.code_bits.val() - self.load_length_i.val());
        self.entry.next = bit_cast::<45, 24>(self.load_value_i.val().get_bits::<24>(8));
        self.entry.next = self.entry.val().replace_bit(24, self.code.val());
        self.entry.next = self.entry.val().replace_bit(40, self.load_length_i.val());
        comment!("an entry goes into the set that is there; the first lookup's port reads it");
        self.set.next = self.tables.read_data_o[0].val();
        for way in 0..4 {
            if self.load_index_i.val().get_bits::<2>(0) == way.to_bits() {
                self.set.next = self.set.val().replace_bit(way * 45, self.entry.val());
            }
        }
        self.tables.write_i.next = self.take_code.val() & !self.load_escape_i.val();
        self.tables.write_address_i.next = self.load_index_i.val().get_bits::<8>(2);
        self.tables.write_data_i.next = self.set.val();
        if self.phase.q.val() == Phase::Clear {
            self.tables.write_i.next = true;
            self.tables.write_address_i.next = self.clear_set.q.val();
            self.tables.write_data_i.next = 0.into();
        }
        if self.take_code.val() & self.load_escape_i.val() {
            self.escape_code.d.next = self.code.val();
            self.escape_length.d.next = self.load_length_i.val();
        }

        comment!(
            "a group is packed when its payload's place is free, and looked up when its fields' place is"
        );
        self.pack.next = self.packing.q.val() & (!self.valid.q.val() | self.ready_i.val());
        self.look.next = self.looking.q.val() & (!self.packing.q.val() | self.pack.val());
        self.take_line.next = self.valid_i.val() & self.ready.val();

        comment!("look up the codes of a group of words");
        self.word.next = 0.into();
        self.word_set.next = 0.into();
        for i in 0..K {
            self.word.next = self.line.q.val().get_bits::<32>(i * 32);
            self.word_set.next = self.word.val().get_bits::<8>(0)
                ^ self.word.val().get_bits::<8>(8)
                ^ self.word.val().get_bits::<8>(16)
                ^ self.word.val().get_bits::<8>(24);
            self.tables.read_address_i[i].next = self.word_set.val();
            self.encode[i].word_i.next = self.word.val();
        }
        if self.phase.q.val() == Phase::Load {
            self.tables.read_address_i[0].next = self.load_index_i.val().get_bits::<8>(2);
        }
        self.coded.next = true;
        for i in 0..K {
            self.encode[i].set_i.next = self.tables.read_data_o[i].val();
            self.encode[i].escape_code_i.next = self.escape_code.q.val();
            self.encode[i].escape_length_i.next = self.escape_length.q.val();
            self.coded.next = self.coded.val() & self.encode[i].length_o.val().any();
            if self.look.val() {
                self.fields[i].d.next = self.encode[i].field_o.val();
                self.lengths[i].d.next = self.encode[i].length_o.val();
            }
        }
        if self.look.val() {
            self.packing_coded.d.next = self.coded.val();
            self.packing_first.d.next = !self.groups.q.val().any();
            self.packing_last.d.next = self.groups.q.val() == self.last_group.val();
            self.line.d.next =
                (self.line.q.val() >> self.turn.val()) | (self.line.q.val() << self.turn_back.val());
            self.groups.d.next = self.groups.q.val() + 1;
            if self.groups.q.val() == self.last_group.val() {
                self.looking.d.next = false;
            }
        }
        self.packing.d.next = self.look.val() | (self.packing.q.val() & !self.pack.val());

        comment!(
            "pack them; after the last group the line has turned once around, and stays if its codes are too long"
        );
        for i in 0..K {
            self.pack_group.field_i[i].next = self.fields[i].q.val();
            self.pack_group.length_i[i].next = self.lengths[i].q.val();
        }
        self.append.group_i.next = self.pack_group.string_o.val();
        self.append.group_bits_i.next = self.pack_group.length_o.val();
        self.append.first_i.next = self.packing_first.q.val();
        self.append.payload_i.next = self.payload.q.val();
        self.append.bits_i.next = self.bits.q.val();
        self.next_uncoded.next =
            (self.uncoded.q.val() & !self.packing_first.q.val()) | !self.packing_coded.q.val();
        self.fits.next = self.loaded.q.val()
            & !self.next_uncoded.val()
            & (self.append.bits_o.val() <= self.line_bits.val());
        if self.valid.q.val() & self.ready_i.val() {
            self.valid.d.next = false;
        }
        if self.pack.val() {
            self.payload.d.next = self.append.payload_o.val();
            self.bits.d.next = self.append.bits_o.val();
            self.uncoded.d.next = self.next_uncoded.val();
            if self.packing_last.q.val() {
                self.valid.d.next = true;
                self.compressed.d.next = self.fits.val();
                if !self.fits.val() {
                    self.payload.d.next = self.line.q.val();
                    self.bits.d.next = self.line_bits.val();
                }
            }
        }

        if self.take_line.val() {
            self.line.d.next = self.line_i.val();
            self.looking.d.next = true;
            self.groups.d.next = 0.into();
        }

        self.ready_o.next = self.ready.val();
        self.load_ready_o.next = self.load_ready.val();
        self.valid_o.next = self.valid.q.val();
        self.compressed_o.next = self.compressed.q.val();
        self.bits_o.next = self.bits.q.val();
        self.payload_o.next = self.payload.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
