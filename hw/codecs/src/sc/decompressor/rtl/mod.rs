//! RTL of the decompressor: from code lengths to codes, ranks, values and the line, stage by stage, and the loading of
//! codes.

mod parts;

use super::params::ScDecompressorParams;
use crate::line::Line;
use crate::sc::LINE_BITS;
use parts::{Bases, Ends, Mark, ScChase, ScLengths, ScPlaces, ScPut, ScSchedule};
use selvedge_hw::rtl::prelude::*;

/// Phase of the loading of codes.
mod phase {
    use rust_hdl_core::prelude::*;
    /// Phases of the loading of codes.
    #[derive(Copy, Clone, Debug, PartialEq, LogicState, selvedge_state::State)]
    pub enum Phase {
        /// Payloads are taken.
        Run,
        /// Codes wait until the payloads in flight have left.
        Drain,
        /// Codes are taken.
        Load,
    }
}
use phase::Phase;

rtl_module! {
    /// Rebuilds cache lines from the Huffman codes of their words, up to K codes per cycle.
    ///
    /// LATTE-CC, section IV.C.2.
    pub struct ScDecompressorTop<const K: usize> for ScDecompressorParams as _p {
        reset "asynchronous reset, active low: no codes are loaded, nothing is in flight";
        inputs DecompressorIn {
            /// a payload is offered
            valid_i: bool as Bit = 1,
            /// the payload consists of codes; if low, it is the line itself
            compressed_i: bool as Bit = 1,
            /// number of bits of the payload; bits beyond them are no code
            bits_i: u16 as U<11> = 11,
            /// the payload, first bit lowest
            payload_i: Line as W<1024, 16> = LINE_BITS,
            /// the consumer takes the line in this cycle
            ready_i: bool as Bit = 1,
            /// a code is offered
            load_valid_i: bool as Bit = 1,
            /// the code is the first one of a stream: it removes all previous codes
            load_first_i: bool as Bit = 1,
            /// the code is the last one of a stream: payloads may be decompressed
            load_last_i: bool as Bit = 1,
            /// the code is that of the escape symbol
            load_escape_i: bool as Bit = 1,
            /// value that has the code
            load_value_i: u32 as U<32> = 32,
            /// the code, right-aligned; its most significant bit comes first in the payload
            load_code_i: u16 as U<16> = 16,
            /// length of the code in bits
            load_length_i: u8 as U<5> = 5,
        }
        outputs DecompressorOut {
            /// the payload is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a line is offered
            valid_o: bool as Bit = 1,
            /// the payload is not a sequence of codes, or it ends early; the line is zero
            error_o: bool as Bit = 1,
            /// the line: word 0 in bits 31 to 0; incomplete while valid_o is low
            line_o: Line as W<1024, 16> = LINE_BITS,
            /// the code is taken in this cycle
            load_ready_o: bool as Bit = 1,
        }
        parts {
            values: [SyncMem<U<32>, 7>; 8] = array(),
            lengths: Once<ScLengths>,
            chase: Once<ScChase<K>>,
            find_places: Once<ScPlaces<K>>,
            schedule: Once<ScSchedule<K>>,
            put: Once<ScPut<K>>,
            phase: Reg<Phase> = Reg::new(Phase::Run),
            /// end of the codes of each length, left-aligned
            ends: Reg<Ends>,
            /// rank of a code minus the code, for each length
            bases: DataReg<Bases>,
            escape_known: Reg<Bit>,
            /// code of the escape symbol, first bit lowest
            escape_code: DataReg<U<16>>,
            /// mask of the bits of that code
            escape_mask: DataReg<U<16>>,
            /// reset to zero, because a shift by an unknown length gives unknown bits
            escape_length: Reg<U<5>>,
            escape_place: Reg<U<10>>,
            /// rank of the next code
            rank: Reg<U<11>>,
            /// blocks of 32 bits after the two blocks with known code lengths
            payload: DataReg<W<1024, 16>>,
            bits: DataReg<U<11>>,
            /// the payload is the uncompressed line
            plain: DataReg<Bit>,
            busy: Reg<Bit>,
            /// the two blocks with known code lengths
            blocks: DataReg<U<64>>,
            /// length of the code at each bit of the blocks, less one: one vector per bit of the length
            block_lengths: [DataReg<U<64>>; 4] = array(),
            block_values: DataReg<U<64>>,
            block_escapes: DataReg<U<64>>,
            /// one-hot position at which the next code begins
            start: DataReg<Mark>,
            /// number of blocks that are consumed
            used: DataReg<U<6>>,
            /// number of words that are left to decode
            left: DataReg<U<6>>,
            /// codes that were found
            found: Reg<Bit>,
            found_bits: DataReg<W<112, 2>>,
            found_begin: DataReg<U<7>>,
            found_ends: [DataReg<U<7>>; K] = array(),
            found_taken: DataReg<U<K>>,
            found_escaped: DataReg<Bit>,
            found_last: DataReg<Bit>,
            found_invalid: DataReg<Bit>,
            found_used: DataReg<U<6>>,
            found_at: DataReg<U<5>>,
            found_size: DataReg<U<11>>,
            /// words with known addresses
            placed: Reg<Bit>,
            places: [DataReg<U<10>>; K] = array(),
            pending: DataReg<U<K>>,
            raw: DataReg<U<K>>,
            placed_word: DataReg<U<32>>,
            placed_at: DataReg<U<5>>,
            placed_last: DataReg<Bit>,
            placed_error: DataReg<Bit>,
            /// words that the memory gives
            read: Reg<Bit>,
            served: DataReg<U<K>>,
            banks: [DataReg<U<3>>; K] = array(),
            read_raw: DataReg<U<K>>,
            read_word: DataReg<U<32>>,
            read_at: DataReg<U<5>>,
            read_last: DataReg<Bit>,
            read_error: DataReg<Bit>,
            line: DataReg<W<1024, 16>>,
            valid: Reg<Bit>,
            error: DataReg<Bit>,
            line_bits: Constant<U<11>> = Constant::new(U::new(1024)),
            code_bits: Constant<U<5>> = Constant::new(U::new(16)),
            first_start: Constant<Mark> = Constant::new(Mark::from_words([1 << 32, 0])),
            all_code_bits: Constant<U<16>> = Constant::new(U::new(0xffff)),
            /// mask of the bits that an end of each length can have
            end_masks: [Constant<U<17>>; 16] =
                std::array::from_fn(|l| Constant::new(U::new(0x1_ffff & !((1 << (15 - l)) - 1)))),
            ready: Signal<Local, Bit>,
            load_ready: Signal<Local, Bit>,
            take_code: Signal<Local, Bit>,
            first_ends: Signal<Local, Ends>,
            code_end: Signal<Local, U<17>>,
            next_ends: Signal<Local, Ends>,
            next_bases: Signal<Local, Bases>,
            code_rank: Signal<Local, U<11>>,
            value_place: Signal<Local, U<10>>,
            reversed: Signal<Local, U<16>>,
            take: Signal<Local, Bit>,
            free: Signal<Local, Bit>,
            issue: Signal<Local, Bit>,
            placed_done: Signal<Local, Bit>,
            found_goes: Signal<Local, Bit>,
            step: Signal<Local, Bit>,
            group: Signal<Local, Bit>,
            next_left: Signal<Local, U<6>>,
            last: Signal<Local, Bit>,
            code_end_at: Signal<Local, U<11>>,
            still: Signal<Local, U<K>>,
            word: Signal<Local, U<32>>,
        }
        upset { valid, error, line }
    }
}

#[hdl_gen]
impl Logic for ScDecompressorTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, phase, ends, bases, escape_known, escape_code, escape_mask, escape_length);
        dff_setup!(self, clk_i, escape_place, rank, payload, bits, plain, busy, blocks);
        for p in 0..4 {
            dff_setup!(self, clk_i, block_lengths[p]);
        }
        dff_setup!(self, clk_i, block_values, block_escapes, start, used, left);
        dff_setup!(self, clk_i, found, found_bits, found_begin, found_taken, found_escaped, found_last);
        dff_setup!(self, clk_i, found_invalid, found_used, found_at, found_size);
        dff_setup!(self, clk_i, placed, pending, raw, placed_word, placed_at, placed_last, placed_error);
        dff_setup!(self, clk_i, read, served, read_raw, read_word, read_at, read_last, read_error);
        for i in 0..K {
            dff_setup!(self, clk_i, found_ends[i], places[i], banks[i]);
        }
        dff_setup!(self, clk_i, line, valid, error);

        comment!("accept codes when no payload is in flight");
        self.ready.next = (self.phase.q.val() == Phase::Run) & !self.busy.q.val();
        self.load_ready.next = self.phase.q.val() == Phase::Load;
        self.take_code.next = self.load_valid_i.val() & self.load_ready.val();
        match self.phase.q.val() {
            Phase::Run => {
                if self.load_valid_i.val() {
                    self.phase.d.next = Phase::Drain;
                }
            }
            Phase::Drain => {
                if !(self.busy.q.val()
                    | self.found.q.val()
                    | self.placed.q.val()
                    | self.read.q.val()
                    | self.valid.q.val())
                {
                    self.phase.d.next = Phase::Load;
                }
            }
            Phase::Load => {
                if self.take_code.val() & self.load_last_i.val() {
                    self.phase.d.next = Phase::Run;
                }
            }
        }

        comment!(
            "codes arrive in canonical order: each one updates the end of its length and of all longer lengths"
        );
        drive!(self; first_ends: ends.q, code_rank: rank.q);
        if self.load_first_i.val() {
            drive!(self; first_ends: 0, code_rank: 0);
        }
        self.code_end.next = (bit_cast::<17, 16>(self.load_code_i.val()) + 1)
            << (self.code_bits.val() - self.load_length_i.val());
        drive!(self; next_ends: first_ends, next_bases: bases.q);
        for l in 0..16 {
            if self.load_length_i.val() <= (l + 1).to_bits() {
                self.next_ends.next[l * 17..] = self.code_end.val() & self.end_masks[l].val();
            }
            if self.load_length_i.val() == (l + 1).to_bits() {
                self.next_bases.next = self
                    .next_bases
                    .val()
                    .replace_bit(l * 11, self.code_rank.val() - bit_cast::<11, 16>(self.load_code_i.val()));
            }
        }
        self.value_place.next = bit_cast::<10, 11>(self.code_rank.val());
        if self.code_rank.val().get_bit(10) {
            self.value_place.next = self.escape_place.q.val();
        }
        self.reversed.next = 0.into();
        for i in 0..16 {
            self.reversed.next[i] = self.load_code_i.val().get_bit(15 - i);
        }
        if self.take_code.val() {
            drive!(self; ends.d: next_ends, bases.d: next_bases);
            self.rank.d.next = self.code_rank.val() + 1;
            if self.load_first_i.val() {
                drive!(self; escape_known.d: false, escape_place.d: 0);
            }
            if self.load_escape_i.val() {
                self.escape_known.d.next = true;
                self.escape_place.d.next = bit_cast::<10, 11>(self.code_rank.val());
                self.escape_length.d.next = self.load_length_i.val();
                self.escape_code.d.next =
                    self.reversed.val() >> (self.code_bits.val() - self.load_length_i.val());
                self.escape_mask.d.next =
                    self.all_code_bits.val() >> (self.code_bits.val() - self.load_length_i.val());
            }
        }

        comment!(
            "a stage advances when the next one is free or advances; words are read when the line is free"
        );
        self.free.next = !self.valid.q.val() | self.ready_i.val();
        self.issue.next =
            self.placed.q.val() & self.free.val() & !(self.read.q.val() & self.read_last.q.val());
        self.still.next = self.pending.q.val() & !self.schedule.served_o.val();
        self.placed_done.next = self.issue.val() & !self.still.val().any();
        self.found_goes.next = self.found.q.val() & (!self.placed.q.val() | self.placed_done.val());
        self.step.next =
            self.busy.q.val() & !self.plain.q.val() & (!self.found.q.val() | self.found_goes.val());
        self.take.next = self.valid_i.val() & self.ready.val();

        comment!("code lengths at every bit of the next block");
        self.lengths.bits_i.next = self.payload.q.val().get_bits::<48>(0);
        if self.ready.val() {
            self.lengths.bits_i.next = self.payload_i.val().get_bits::<48>(0);
        }
        drive!(self.lengths; ends_i: ends.q, escape_code_i: escape_code.q, escape_mask_i: escape_mask.q,
            escape_known_i: escape_known.q);

        comment!("find codes");
        for p in 0..4 {
            self.chase.lengths_i[p].next = self.block_lengths[p].q.val();
        }
        drive!(self.chase; values_i: block_values.q, escapes_i: block_escapes.q,
            escape_length_i: escape_length.q, start_i: start.q, left_i: left.q);
        self.next_left.next = self.left.q.val();
        for i in 0..K {
            if self.chase.taken_o.val().get_bit(i) {
                self.next_left.next = self.left.q.val() - (i + 1).to_bits();
            }
        }
        self.last.next = !self.next_left.val().any() | self.chase.invalid_o.val();
        self.group.next = self.chase.taken_o.val().get_bit(0) | self.chase.invalid_o.val();
        self.found.d.next =
            (self.step.val() & self.group.val()) | (self.found.q.val() & !self.found_goes.val());
        if self.step.val() {
            drive!(self; start.d: chase.start_o, left.d: next_left);
            self.busy.d.next = !self.last.val();
            self.found_bits.d.next = bit_cast_to::<W<112, 2>>(self.blocks.q.val())
                | (bit_cast_to::<W<112, 2>>(self.payload.q.val()) << 64);
            self.found_begin.d.next = self.chase.begin_o.val();
            for i in 0..K {
                self.found_ends[i].d.next = self.chase.ends_o[i].val();
            }
            drive!(self; found_taken.d: chase.taken_o, found_escaped.d: chase.escaped_o, found_last.d: last,
                found_invalid.d: chase.invalid_o, found_used.d: used.q);
            self.found_at.d.next = !bit_cast::<5, 6>(self.left.q.val() - 1);
            self.found_size.d.next = self.bits.q.val();
        }
        if self.take.val() | (self.step.val() & self.chase.advance_o.val()) {
            for p in 0..4 {
                self.block_lengths[p].d.next = (self.block_lengths[p].q.val() >> 32)
                    | (bit_cast::<64, 32>(self.lengths.lengths_o[p].val()) << 32);
            }
            self.block_values.d.next =
                (self.block_values.q.val() >> 32) | (bit_cast::<64, 32>(self.lengths.values_o.val()) << 32);
            self.block_escapes.d.next =
                (self.block_escapes.q.val() >> 32) | (bit_cast::<64, 32>(self.lengths.escapes_o.val()) << 32);
            self.blocks.d.next = (self.blocks.q.val() >> 32)
                | (bit_cast::<64, 32>(self.lengths.bits_i.val().get_bits::<32>(0)) << 32);
            self.payload.d.next = self.payload.q.val() >> 32;
            self.used.d.next = self.used.q.val() + 1;
        }

        comment!("find the places of their values, and whether the last code ends within the payload");
        drive!(self.find_places; bits_i: found_bits.q, begin_i: found_begin.q, taken_i: found_taken.q,
            bases_i: bases.q, escape_place_i: escape_place.q);
        self.code_end_at.next = (bit_cast::<11, 6>(self.found_used.q.val()) << 5)
            + bit_cast::<11, 7>(self.find_places.end_o.val());
        if self.found_escaped.q.val() {
            self.code_end_at.next = self.code_end_at.val() + 32;
        }
        for i in 0..K {
            self.find_places.ends_i[i].next = self.found_ends[i].q.val();
        }
        if self.placed_done.val() {
            self.placed.d.next = false;
        }
        if self.issue.val() {
            self.pending.d.next = self.still.val();
        }
        if self.found_goes.val() {
            self.placed.d.next = true;
            for i in 0..K {
                self.places[i].d.next = self.find_places.places_o[i].val();
            }
            self.pending.d.next = self.found_taken.q.val();
            comment!("the last code can be an escape");
            self.raw.d.next = 0.into();
            if self.found_escaped.q.val() {
                self.raw.d.next = self.found_taken.q.val() & !(self.found_taken.q.val() >> 1);
            }
            drive!(self; placed_word.d: find_places.word_o, placed_at.d: found_at.q,
                placed_last.d: found_last.q);
            comment!("positions count the empty block before the payload");
            self.placed_error.d.next =
                self.found_invalid.q.val() | (self.code_end_at.val() > (self.found_size.q.val() + 32));
        }

        comment!("read them");
        for i in 0..K {
            self.schedule.places_i[i].next = self.places[i].q.val();
            self.banks[i].d.next = self.places[i].q.val().get_bits::<3>(0);
        }
        drive!(self.schedule; pending_i: pending.q, raw_i: raw.q);
        for bank in 0..8 {
            drive!(self.values[bank]; clk_i, read_address_i: schedule.rows_o[bank]);
            self.values[bank].write_i.next = self.take_code.val()
                & !self.load_escape_i.val()
                & (self.value_place.val().get_bits::<3>(0) == bank.to_bits());
            self.values[bank].write_address_i.next = self.value_place.val().get_bits::<7>(3);
            self.values[bank].write_data_i.next = self.load_value_i.val();
        }
        drive!(self; read.d: issue, served.d: schedule.served_o, read_raw.d: raw.q,
            read_word.d: placed_word.q, read_at.d: placed_at.q);
        self.read_last.d.next = self.placed_last.q.val() & !self.still.val().any();
        self.read_error.d.next = self.placed_error.q.val();

        comment!("insert the words into the line");
        self.word.next = 0.into();
        for i in 0..K {
            self.word.next = 0.into();
            for bank in 0..8 {
                if self.banks[i].q.val() == bank.to_bits() {
                    self.word.next = self.values[bank].read_data_o.val();
                }
            }
            if self.read_raw.q.val().get_bit(i) {
                self.word.next = self.read_word.q.val();
            }
            self.put.words_i[i].next = self.word.val();
        }
        drive!(self.put; line_i: line.q, served_i: served.q, at_i: read_at.q);
        if self.valid.q.val() & self.ready_i.val() {
            self.valid.d.next = false;
        }
        if self.read.q.val() {
            self.line.d.next = self.put.line_o.val();
            if self.read_last.q.val() {
                drive!(self; valid.d: true, error.d: read_error.q);
                if self.read_error.q.val() {
                    self.line.d.next = 0.into();
                }
            }
        }
        if self.busy.q.val()
            & self.plain.q.val()
            & self.free.val()
            & !(self.found.q.val() | self.placed.q.val() | self.read.q.val())
        {
            comment!("remove the first block from the payload");
            self.line.d.next = (self.payload.q.val() << 32)
                | bit_cast_to::<W<1024, 16>>(self.blocks.q.val().get_bits::<32>(32));
            drive!(self; valid.d: true, error.d: false, busy.d: false);
        }

        if self.take.val() {
            self.payload.d.next = self.payload_i.val() >> 32;
            self.plain.d.next = !self.compressed_i.val();
            drive!(self; busy.d: true, start.d: first_start, used.d: 0, left.d: 32);
            comment!("a payload is not longer than the line");
            self.bits.d.next = self.bits_i.val();
            if self.bits_i.val() > self.line_bits.val() {
                self.bits.d.next = self.line_bits.val();
            }
        }

        drive!(self; ready_o: ready, load_ready_o: load_ready, valid_o: valid.q, error_o: error.q,
            line_o: line.q);
    }
}

elaborate! {
    /// Returns the decompressor for valid parameters.
    pub(super) fn decompressor(
        params: &ScDecompressorParams as PARAMS
    ) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
        for symbols_per_cycle in [1, 2, 4] {
            ScDecompressorTop {
                K = PARAMS.symbols_per_cycle as usize,
            }
        }
    }
}
