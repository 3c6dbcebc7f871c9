//! RTL of the compressor: the table with a copy per lookup, the lookups, the packing of their codes, and the loading.

mod parts;

use super::{CompressorParams, GROUPS_BITS};
use crate::line::Line;
use crate::sc::{LINE_BITS, WAYS};
use parts::{ScAppend, ScEncodeWord, Set};
use selvedge_hw::rtl::prelude::*;

/// What the compressor does with its tables.
mod phase {
    use rust_hdl_core::prelude::*;
    /// The states of loading.
    #[derive(Copy, Clone, Debug, PartialEq, LogicState, selvedge_state::State)]
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

rtl_module! {
    /// Compresses cache lines to the Huffman codes of their words, K words per cycle.
    ///
    /// LATTE-CC, section IV.C.2. A line whose codes are longer than the line is given as it is. GROUP is the most bits of K
    /// words, 48 each, and SUM the bits of their number.
    #[require(GROUP == 48 * K && 32 % K == 0 && K < 32 && WAYS == 4)]
    pub struct ScCompressorTop<
        const K: usize, const GROUP: usize, const GW: usize, const SUM: usize,
    > for CompressorParams as _p {
        reset "asynchronous reset, active low: no codes are loaded, nothing is in flight";
        inputs CompressorIn {
            /// a line is offered
            valid_i: bool as Bit = 1,
            /// the line: word 0 in bits 31 to 0
            line_i: Line as W<1024, 16> = LINE_BITS,
            /// the consumer takes the payload in this cycle
            ready_i: bool as Bit = 1,
            /// a code is offered
            load_valid_i: bool as Bit = 1,
            /// it is the first one: clear the table
            load_first_i: bool as Bit = 1,
            /// it is the last one: lines may be compressed
            load_last_i: bool as Bit = 1,
            /// the table entry that it is for: set and way
            load_index_i: u16 as U<10> = 10,
            /// it is the escape symbol's
            load_escape_i: bool as Bit = 1,
            /// the value that it stands for
            load_value_i: u32 as U<32> = 32,
            /// the code, right-aligned, its most significant bit first in the payload
            load_code_i: u16 as U<16> = 16,
            /// its length in bits
            load_length_i: u8 as U<5> = 5,
        }
        outputs CompressorOut {
            /// the line is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a payload is offered
            valid_o: bool as Bit = 1,
            /// it is a row of codes, not the line itself
            compressed_o: bool as Bit = 1,
            /// its bits
            bits_o: u16 as U<11> = 11,
            /// the payload, first bit lowest; still incomplete while valid_o is low
            payload_o: Line as W<1024, 16> = LINE_BITS,
            /// the code is taken in this cycle
            load_ready_o: bool as Bit = 1,
        }
        parts {
            tables: ReplicatedMem<Set, 8, K>,
            encode: [Once<ScEncodeWord>; K] = array(),
            pack_group: Once<BitPacker<K, 48, 6, GROUP, GW, SUM>>,
            append: Once<ScAppend<GROUP, GW, SUM>>,
            phase: Reg<Phase> = Reg::new(Phase::Run),
            /// next set to clear
            clear_set: Reg<U<8>>,
            /// the table is clear
            fresh: Reg<Bit>,
            /// all codes are there
            loaded: Reg<Bit>,
            /// first bit lowest
            escape_code: DataReg<U<16>>,
            escape_length: Reg<U<5>>,
            /// the line, turned so that the next words to look up are the lowest
            line: DataReg<W<1024, 16>>,
            looking: Reg<Bit>,
            /// groups of words that were looked up
            groups: Reg<U<GROUPS_BITS>>,
            /// fields and lengths are those of a group that is to be packed
            packing: Reg<Bit>,
            packing_first: Reg<Bit>,
            packing_last: Reg<Bit>,
            /// each of its words can be coded
            packing_coded: Reg<Bit>,
            fields: [DataReg<U<48>>; K] = array(),
            lengths: [DataReg<U<6>>; K] = array(),
            payload: DataReg<W<1024, 16>>,
            bits: DataReg<U<11>>,
            /// a word of the groups so far cannot be coded
            uncoded: DataReg<Bit>,
            valid: Reg<Bit>,
            compressed: DataReg<Bit>,
            line_bits: Constant<U<11>> = Constant::new(U::new(1024)),
            last_group: Constant<U<GROUPS_BITS>> = Constant::new(U::new(32 / K as u64 - 1)),
            /// bits of the words that are looked up in a cycle, and of the others
            turn: Constant<U<11>> = Constant::new(U::new(32 * K as u64)),
            turn_back: Constant<U<11>> = Constant::new(U::new(1024 - 32 * K as u64)),
            code_bits: Constant<U<5>> = Constant::new(U::new(16)),
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
        upset { valid, compressed, bits, payload }
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

elaborate! {
    /// Returns the compressor for valid parameters.
    pub(super) fn compressor(params: &CompressorParams as PARAMS) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
        for symbols_per_cycle in [4, 8, 16] {
            ScCompressorTop {
                K = PARAMS.symbols_per_cycle as usize,
                GROUP = 48 * K,
                GW = word_count(GROUP),
                SUM = width_of(GROUP),
            }
        }
    }
}
