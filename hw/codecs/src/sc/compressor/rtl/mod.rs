//! RTL of the compressor: lookups in the banks of the table, packing of the codes, and loading of codes.

mod parts;

use super::params::{GROUPS_BITS, ScCompressorParams};
use crate::line::Line;
use crate::sc::{LINE_BITS, WAYS, WORDS};
use parts::{ScAppend, ScBank, ScEncodeWord, ScLookup, TableEntry};
use selvedge_hw::rtl::prelude::*;

/// Phase of the loading of codes.
mod phase {
    use rust_hdl_core::prelude::*;
    /// Phases of the loading of codes.
    #[derive(Copy, Clone, Debug, PartialEq, LogicState, selvedge_state::State)]
    pub enum Phase {
        /// Lines are taken.
        Run,
        /// Codes wait until the lines in flight have left.
        Drain,
        /// The table is cleared, a row per cycle.
        Clear,
        /// Codes are taken.
        Load,
    }
}
use phase::Phase;

rtl_module! {
    /// Compresses cache lines to the Huffman codes of their words, K words per cycle.
    ///
    /// LATTE-CC, section IV.C.2. A line whose codes are longer than the line stays uncompressed. GROUP is the maximum number
    /// of bits of K words, 48 each, and SUM the width of that number. GROUPS is the number of groups in a line.
    #[require(GROUP == 48 * K && GROUPS * K == 32 && K <= 8 && WAYS == 4)]
    pub struct ScCompressorTop<
        const K: usize, const GROUPS: usize, const GROUP: usize, const GW: usize, const SUM: usize,
    > for ScCompressorParams as _p {
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
            /// the code is the first one of a stream: it clears the table
            load_first_i: bool as Bit = 1,
            /// the code is the last one of a stream: lines may be compressed
            load_last_i: bool as Bit = 1,
            /// table entry that has the code: set and way
            load_index_i: u16 as U<10> = 10,
            /// the code is that of the escape symbol
            load_escape_i: bool as Bit = 1,
            /// value that has the code
            load_value_i: u32 as U<32> = 32,
            /// the code, right-aligned; its most significant bit comes first in the payload
            load_code_i: u16 as U<16> = 16,
            /// length of the code in bits
            load_length_i: u8 as U<5> = 5,
        }
        outputs CompressorOut {
            /// the line is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a payload is offered
            valid_o: bool as Bit = 1,
            /// the payload consists of codes; if low, it is the line itself
            compressed_o: bool as Bit = 1,
            /// number of bits of the payload
            bits_o: u16 as U<11> = 11,
            /// the payload, first bit lowest; incomplete while valid_o is low
            payload_o: Line as W<1024, 16> = LINE_BITS,
            /// the code is taken in this cycle
            load_ready_o: bool as Bit = 1,
        }
        parts {
            lookup: Once<ScLookup<K>>,
            banks: [ScBank; 8] = array(),
            encode: [Once<ScEncodeWord>; K] = array(),
            pack_group: Once<BitPacker<K, 48, 6, GROUP, GW, SUM>>,
            append: Once<ScAppend<GROUP, GW, SUM>>,
            phase: Reg<Phase> = Reg::new(Phase::Run),
            /// next row to clear
            clear_row: Reg<U<5>>,
            /// the table is clear
            fresh: Reg<Bit>,
            /// all codes are loaded
            loaded: Reg<Bit>,
            /// code of the escape symbol, first bit lowest
            escape_code: DataReg<U<16>>,
            escape_length: Reg<U<5>>,
            line: DataReg<W<1024, 16>>,
            looking: Reg<Bit>,
            /// group of words to look up
            group: Reg<U<GROUPS_BITS>>,
            /// words of the group that are not looked up yet
            pending: Reg<U<K>> = Reg::new(U::new((1 << K) - 1)),
            /// the banks' replies are valid in this cycle
            reading: Reg<Bit>,
            /// words that these replies belong to
            read_served: DataReg<U<K>>,
            read_banks: [DataReg<U<3>>; K] = array(),
            /// group of these words
            read_group: DataReg<U<GROUPS_BITS>>,
            /// these words complete their group
            read_done: DataReg<Bit>,
            /// the fields contain a complete group to pack
            packing: Reg<Bit>,
            packing_first: Reg<Bit>,
            packing_last: Reg<Bit>,
            fields: [DataReg<U<48>>; K] = array(),
            lengths: [DataReg<U<6>>; K] = array(),
            payload: DataReg<W<1024, 16>>,
            bits: DataReg<U<11>>,
            /// a word of the groups so far cannot be coded
            uncoded: DataReg<Bit>,
            valid: Reg<Bit>,
            compressed: DataReg<Bit>,
            line_bits: Constant<U<11>> = Constant::new(U::new(1024)),
            last_group: Constant<U<GROUPS_BITS>> = Constant::new(U::new(GROUPS as u64 - 1)),
            all_words: Constant<U<K>> = Constant::new(U::new((1 << K) - 1)),
            all_ways: Constant<U<4>> = Constant::new(U::new(15)),
            code_bits: Constant<U<5>> = Constant::new(U::new(16)),
            take_code: Signal<Local, Bit>,
            reversed: Signal<Local, U<16>>,
            code: Signal<Local, U<16>>,
            entry: Signal<Local, TableEntry>,
            load_bank: Signal<Local, U<3>>,
            row: Signal<Local, U<5>>,
            ways: Signal<Local, U<4>>,
            pack: Signal<Local, Bit>,
            next_packing: Signal<Local, Bit>,
            next_valid: Signal<Local, Bit>,
            look: Signal<Local, Bit>,
            still: Signal<Local, U<K>>,
            done: Signal<Local, Bit>,
            last: Signal<Local, Bit>,
            take_line: Signal<Local, Bit>,
            word: Signal<Local, U<32>>,
            coded: Signal<Local, Bit>,
            next_uncoded: Signal<Local, Bit>,
            fits: Signal<Local, Bit>,
            ready: Signal<Local, Bit>,
            load_ready: Signal<Local, Bit>,
        }
        upset { valid, compressed, bits, payload }
    }
}

#[hdl_gen(layouts! { entry: { tag: 24, code: 16, length: 5 } })]
impl Logic for ScCompressorTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, phase, clear_row, fresh, loaded, escape_code, escape_length);
        dff_setup!(self, clk_i, line, looking, group, pending, reading, read_served, read_group, read_done);
        dff_setup!(self, clk_i, packing, packing_first, packing_last);
        for i in 0..K {
            dff_setup!(self, clk_i, read_banks[i], fields[i], lengths[i]);
        }
        dff_setup!(self, clk_i, payload, bits, uncoded, valid, compressed);

        comment!("accept codes when no line is in flight and the table is clear");
        self.ready.next = (self.phase.q.val() == Phase::Run) & !self.looking.q.val() & !self.reading.q.val();
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
                if !(self.looking.q.val() | self.reading.q.val() | self.packing.q.val() | self.valid.q.val())
                {
                    self.phase.d.next = Phase::Clear;
                }
            }
            Phase::Clear => {
                drive!(self; loaded.d: false, fresh.d: true, escape_length.d: 0);
                self.clear_row.d.next = self.clear_row.q.val() + 1;
                if self.clear_row.q.val().all() {
                    self.phase.d.next = Phase::Load;
                }
            }
            Phase::Load => {
                if self.take_code.val() {
                    self.fresh.d.next = false;
                    if self.load_last_i.val() {
                        drive!(self; loaded.d: true, phase.d: Phase::Run);
                    }
                } else if self.load_valid_i.val() {
                    self.phase.d.next = Phase::Clear;
                }
            }
        }

        comment!("reverse each code: its first bit is bit 0");
        self.reversed.next = 0.into();
        for i in 0..16 {
            self.reversed.next[i] = self.load_code_i.val().get_bit(15 - i);
        }
        self.code.next = self.reversed.val() >> (self.code_bits.val() - self.load_length_i.val());
        self.entry.next = bit_cast::<45, 24>(self.load_value_i.val().get_bits::<24>(8));
        self.entry.next[24..] = self.code.val();
        self.entry.next[40..] = self.load_length_i.val();
        comment!("write an entry into the bank, row and way of its set");
        self.load_bank.next = self.load_index_i.val().get_bits::<3>(2)
            ^ self.load_index_i.val().get_bits::<3>(5)
            ^ bit_cast::<3, 2>(self.load_index_i.val().get_bits::<2>(8));
        self.row.next = self.load_index_i.val().get_bits::<5>(5);
        self.ways.next = 0.into();
        if self.take_code.val() & !self.load_escape_i.val() {
            self.ways.next[self.load_index_i.val().get_bits::<2>(0).index()] = true;
        }
        if self.phase.q.val() == Phase::Clear {
            drive!(self; row: clear_row.q, entry: 0);
        }
        for bank in 0..8 {
            drive!(self.banks[bank]; clk_i, rst_ni, write_i: 0);
            if self.load_bank.val() == bank.to_bits() {
                self.banks[bank].write_i.next = self.ways.val();
            }
            if self.phase.q.val() == Phase::Clear {
                self.banks[bank].write_i.next = self.all_ways.val();
            }
            drive!(self.banks[bank]; write_row_i: row, entry_i: entry);
        }
        if self.take_code.val() & self.load_escape_i.val() {
            drive!(self; escape_code.d: code, escape_length.d: load_length_i);
        }

        comment!(
            "pack a group when the payload register is free; look up words if their fields will be free"
        );
        self.pack.next = self.packing.q.val() & (!self.valid.q.val() | self.ready_i.val());
        self.next_packing.next =
            (self.reading.q.val() & self.read_done.q.val()) | (self.packing.q.val() & !self.pack.val());
        self.next_valid.next =
            (self.valid.q.val() & !self.ready_i.val()) | (self.pack.val() & self.packing_last.q.val());
        self.take_line.next = self.valid_i.val() & self.ready.val();
        self.look.next = (self.looking.q.val() | self.take_line.val())
            & !(self.next_packing.val() & self.next_valid.val());

        comment!("look up the words of a group; the first group is looked up when the line is accepted");
        self.word.next = 0.into();
        for i in 0..K {
            self.word.next = 0.into();
            for g in 0..GROUPS {
                if self.group.q.val() == g.to_bits() {
                    self.word.next = self.word.val() | self.line.q.val().get_bits::<32>((g * K + i) * 32);
                }
            }
            if self.ready.val() {
                self.word.next = self.line_i.val().get_bits::<32>(i * 32);
            }
            self.lookup.words_i[i].next = self.word.val();
        }
        self.lookup.pending_i.next = self.pending.q.val();
        for i in 0..K {
            self.read_banks[i].d.next = self.lookup.banks_o[i].val();
        }
        for bank in 0..8 {
            drive!(self.banks[bank]; row_i: lookup.rows_o[bank], tag_i: lookup.tags_o[bank]);
        }
        self.still.next = self.pending.q.val() & !self.lookup.served_o.val();
        self.done.next = !self.still.val().any();
        self.last.next = self.done.val() & (self.group.q.val() == self.last_group.val());
        drive!(self; reading.d: look, read_served.d: lookup.served_o, read_group.d: group.q,
            read_done.d: done);
        if self.look.val() {
            self.pending.d.next = self.still.val();
            if self.done.val() {
                self.pending.d.next = self.all_words.val();
                self.group.d.next = self.group.q.val() + 1;
            }
            if self.last.val() {
                self.group.d.next = 0.into();
            }
            self.looking.d.next = !self.last.val();
        }
        if self.take_line.val() {
            self.line.d.next = self.line_i.val();
        }

        comment!("the bits for the words that were looked up");
        for i in 0..K {
            self.word.next = 0.into();
            for g in 0..GROUPS {
                if self.read_group.q.val() == g.to_bits() {
                    self.word.next = self.word.val() | self.line.q.val().get_bits::<32>((g * K + i) * 32);
                }
            }
            drive!(self.encode[i]; word_i: word, bank_i: read_banks[i].q);
            for bank in 0..8 {
                self.encode[i].codes_i[bank].next = self.banks[bank].code_o.val();
            }
            drive!(self.encode[i]; escape_code_i: escape_code.q, escape_length_i: escape_length.q);
            if self.reading.q.val() & self.read_served.q.val().get_bit(i) {
                drive!(self; fields[i].d: encode[i].field_o, lengths[i].d: encode[i].length_o);
            }
        }
        self.packing.d.next = self.next_packing.val();
        if self.reading.q.val() & self.read_done.q.val() {
            self.packing_first.d.next = !self.read_group.q.val().any();
            self.packing_last.d.next = self.read_group.q.val() == self.last_group.val();
        }

        comment!("pack the codes; output the line itself if they are too long");
        self.coded.next = true;
        for i in 0..K {
            drive!(self.pack_group; field_i[i]: fields[i].q, length_i[i]: lengths[i].q);
            self.coded.next = self.coded.val() & self.lengths[i].q.val().any();
        }
        drive!(self.append; group_i: pack_group.string_o, group_bits_i: pack_group.length_o,
            first_i: packing_first.q, payload_i: payload.q, bits_i: bits.q);
        self.next_uncoded.next = (self.uncoded.q.val() & !self.packing_first.q.val()) | !self.coded.val();
        self.fits.next = self.loaded.q.val()
            & !self.next_uncoded.val()
            & (self.append.bits_o.val() <= self.line_bits.val());
        if self.valid.q.val() & self.ready_i.val() {
            self.valid.d.next = false;
        }
        if self.pack.val() {
            drive!(self; payload.d: append.payload_o, bits.d: append.bits_o, uncoded.d: next_uncoded);
            if self.packing_last.q.val() {
                drive!(self; valid.d: true, compressed.d: fits);
                if !self.fits.val() {
                    drive!(self; payload.d: line.q, bits.d: line_bits);
                }
            }
        }

        drive!(self; ready_o: ready, load_ready_o: load_ready, valid_o: valid.q, compressed_o: compressed.q,
            bits_o: bits.q, payload_o: payload.q);
    }
}

elaborate! {
    /// Returns the compressor for valid parameters.
    pub(super) fn compressor(params: &ScCompressorParams as PARAMS) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
        for symbols_per_cycle in [4, 8] {
            ScCompressorTop {
                K = PARAMS.symbols_per_cycle as usize,
                GROUPS = WORDS / K,
                GROUP = 48 * K,
                GW = word_count(GROUP),
                SUM = width_of(GROUP),
            }
        }
    }
}
