//! RTL of the decompressor: the codes of a cycle, the values' table with a copy for each of them, and the loading.

mod parts;

use super::DecompressorParams;
use crate::line::Line;
use crate::sc::{LINE_BITS, MAX_CODE_BITS, WORD_BITS};
use parts::{Bases, Ends, ScAssemble, ScDecodeGroup};
use selvedge_hw::rtl::prelude::*;

/// What the decompressor does with its tables.
mod phase {
    use rust_hdl_core::prelude::*;
    /// The states of loading.
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
    /// LATTE-CC, section IV.C.2. WINDOW is the bits of K codes and a word, BOTH those of a line and K
    /// words.
    pub struct ScDecompressorTop<
        const K: usize, const WINDOW: usize, const WW: usize, const BOTH: usize, const BW: usize,
    > for DecompressorParams as _p {
        reset "asynchronous reset, active low: no codes are loaded, nothing is in flight";
        inputs DecompressorIn {
            /// a payload is offered
            valid_i: bool as Bit = 1,
            /// it is a row of codes, not the line itself
            compressed_i: bool as Bit = 1,
            /// its bits: what lies behind them is no code
            bits_i: u16 as U<11> = 11,
            /// the payload, first bit lowest
            payload_i: Line as W<1024, 16> = LINE_BITS,
            /// the consumer takes the line in this cycle
            ready_i: bool as Bit = 1,
            /// a code is offered
            load_valid_i: bool as Bit = 1,
            /// it is the first one: forget the others
            load_first_i: bool as Bit = 1,
            /// it is the last one: payloads may be decompressed
            load_last_i: bool as Bit = 1,
            /// it is the escape symbol's
            load_escape_i: bool as Bit = 1,
            /// the value that it stands for
            load_value_i: u32 as U<32> = 32,
            /// the code, right-aligned, its most significant bit first in the payload
            load_code_i: u16 as U<16> = 16,
            /// its length in bits
            load_length_i: u8 as U<5> = 5,
        }
        outputs DecompressorOut {
            /// the payload is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a line is offered
            valid_o: bool as Bit = 1,
            /// the payload was no row of codes, or ended early; the line is zero
            error_o: bool as Bit = 1,
            /// the line: word 0 in bits 31 to 0; still incomplete while valid_o is low
            line_o: Line as W<1024, 16> = LINE_BITS,
            /// the code is taken in this cycle
            load_ready_o: bool as Bit = 1,
        }
        parts {
            values: ReplicatedMem<U<32>, 10, K>,
            decode: Once<ScDecodeGroup<K, WINDOW, WW>>,
            assemble: Once<ScAssemble<K, BOTH, BW>>,
            phase: Reg<Phase> = Reg::new(Phase::Run),
            /// where the codes of each length end, left-aligned
            ends: Reg<Ends>,
            /// rank of a code less the code, per length
            bases: Reg<Bases>,
            /// all ones: there is no escape
            escape_rank: Reg<U<11>> = Reg::new(U::new(U::<11>::MAX)),
            /// rank of the next code
            rank: Reg<U<11>>,
            /// where the next value goes
            value_place: Reg<U<10>>,
            payload: DataReg<W<1024, 16>>,
            bits: DataReg<U<11>>,
            /// the payload is the line itself
            plain: Reg<Bit>,
            busy: Reg<Bit>,
            /// bits of the payload that were decoded
            position: DataReg<U<11>>,
            /// words that are still to be decoded
            left: Reg<U<6>>,
            /// codes that were taken wait for their values
            waiting: Reg<Bit>,
            waiting_last: Reg<Bit>,
            /// the codes are none, or end behind the payload
            waiting_error: Reg<Bit>,
            places: [DataReg<U<10>>; K] = array(),
            taken: DataReg<U<3>>,
            escaped: DataReg<Bit>,
            word: DataReg<U<32>>,
            line: DataReg<W<1024, 16>>,
            valid: Reg<Bit>,
            error: DataReg<Bit>,
            line_bits: Constant<U<11>> = Constant::new(U::new(1024)),
            code_bits: Constant<U<5>> = Constant::new(U::new(16)),
            no_rank: Constant<U<11>> = Constant::new(U::new(U::<11>::MAX)),
            ready: Signal<Local, Bit>,
            load_ready: Signal<Local, Bit>,
            take_code: Signal<Local, Bit>,
            first_ends: Signal<Local, Ends>,
            code_end: Signal<Local, U<17>>,
            next_ends: Signal<Local, Ends>,
            next_bases: Signal<Local, Bases>,
            code_rank: Signal<Local, U<11>>,
            code_place: Signal<Local, U<10>>,
            free: Signal<Local, Bit>,
            write: Signal<Local, Bit>,
            step: Signal<Local, Bit>,
            fault: Signal<Local, Bit>,
            next_left: Signal<Local, U<6>>,
        }
        upset { valid, error, line }
    }
}

impl<const K: usize, const WINDOW: usize, const WW: usize, const BOTH: usize, const BW: usize> Logic
    for ScDecompressorTop<K, WINDOW, WW, BOTH, BW>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, phase, ends, bases, escape_rank, rank, value_place);
        dff_setup!(self, clk_i, payload, bits, plain, busy, position, left);
        dff_setup!(self, clk_i, waiting, waiting_last, waiting_error, taken, escaped, word);
        for i in 0..K {
            dff_setup!(self, clk_i, places[i]);
        }
        dff_setup!(self, clk_i, line, valid, error);
        self.values.clk_i.next = self.clk_i.val();

        comment!("codes wait for the payloads in flight");
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
                if !(self.busy.q.val() | self.waiting.q.val() | self.valid.q.val()) {
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
            "codes come in canonical order: each one's end is that of its length, and of all longer ones so far"
        );
        self.first_ends.next = self.ends.q.val();
        self.code_rank.next = self.rank.q.val();
        self.code_place.next = self.value_place.q.val();
        if self.load_first_i.val() {
            self.first_ends.next = 0.into();
            self.code_rank.next = 0.into();
            self.code_place.next = 0.into();
        }
        self.code_end.next = (bit_cast::<17, 16>(self.load_code_i.val()) + 1)
            << (self.code_bits.val() - self.load_length_i.val());
        self.next_ends.next = self.first_ends.val();
        self.next_bases.next = self.bases.q.val();
        for l in 0..16 {
            if self.load_length_i.val() <= (l + 1).to_bits() {
                self.next_ends.next = self.next_ends.val().replace_bit(l * 17, self.code_end.val());
            }
            if self.load_length_i.val() == (l + 1).to_bits() {
                self.next_bases.next = self
                    .next_bases
                    .val()
                    .replace_bit(l * 11, self.code_rank.val() - bit_cast::<11, 16>(self.load_code_i.val()));
            }
        }
        self.values.write_i.next = self.take_code.val() & !self.load_escape_i.val();
        self.values.write_address_i.next = self.code_place.val();
        self.values.write_data_i.next = self.load_value_i.val();
        if self.take_code.val() {
            self.ends.d.next = self.next_ends.val();
            self.bases.d.next = self.next_bases.val();
            self.rank.d.next = self.code_rank.val() + 1;
            if self.load_first_i.val() {
                self.escape_rank.d.next = self.no_rank.val();
            }
            if self.load_escape_i.val() {
                self.escape_rank.d.next = self.code_rank.val();
                self.value_place.d.next = self.code_place.val();
            } else {
                self.value_place.d.next = self.code_place.val() + 1;
            }
        }

        comment!("values move to the line when it is free, and codes are taken when their place is");
        self.free.next = !self.valid.q.val() | self.ready_i.val();
        self.write.next = self.waiting.q.val() & self.free.val();
        self.step.next = self.busy.q.val() & !self.plain.q.val() & (!self.waiting.q.val() | self.write.val());
        self.waiting.d.next = self.step.val() | (self.waiting.q.val() & !self.write.val());

        comment!("take codes");
        self.decode.payload_i.next = self.payload.q.val();
        self.decode.position_i.next = self.position.q.val();
        self.decode.left_i.next = self.left.q.val();
        self.decode.ends_i.next = self.ends.q.val();
        self.decode.bases_i.next = self.bases.q.val();
        self.decode.escape_rank_i.next = self.escape_rank.q.val();
        self.fault.next = self.decode.invalid_o.val() | (self.decode.position_o.val() > self.bits.q.val());
        self.next_left.next = self.left.q.val() - bit_cast::<6, 3>(self.decode.taken_o.val());
        if self.step.val() {
            self.position.d.next = self.decode.position_o.val();
            self.left.d.next = self.next_left.val();
            self.busy.d.next = self.next_left.val().any() & !self.fault.val();
            self.waiting_last.d.next = !self.next_left.val().any() | self.fault.val();
            self.waiting_error.d.next = self.fault.val();
            for i in 0..K {
                self.places[i].d.next = self.decode.places_o[i].val();
            }
            self.taken.d.next = self.decode.taken_o.val();
            self.escaped.d.next = self.decode.escaped_o.val();
            self.word.d.next = self.decode.word_o.val();
        }

        comment!("look up their values");
        for i in 0..K {
            self.values.read_address_i[i].next = self.places[i].q.val();
            self.assemble.values_i[i].next = self.values.read_data_o[i].val();
        }
        self.assemble.line_i.next = self.line.q.val();
        self.assemble.taken_i.next = self.taken.q.val();
        self.assemble.escaped_i.next = self.escaped.q.val();
        self.assemble.word_i.next = self.word.q.val();
        if self.valid.q.val() & self.ready_i.val() {
            self.valid.d.next = false;
        }
        if self.write.val() {
            self.line.d.next = self.assemble.line_o.val();
            self.valid.d.next = self.waiting_last.q.val();
            self.error.d.next = self.waiting_error.q.val();
            if self.waiting_error.q.val() {
                self.line.d.next = 0.into();
            }
        }
        if self.busy.q.val() & self.plain.q.val() & !self.waiting.q.val() & self.free.val() {
            self.line.d.next = self.payload.q.val();
            self.valid.d.next = true;
            self.error.d.next = false;
            self.busy.d.next = false;
        }

        if self.valid_i.val() & self.ready.val() {
            self.payload.d.next = self.payload_i.val();
            self.plain.d.next = !self.compressed_i.val();
            self.busy.d.next = true;
            self.position.d.next = 0.into();
            self.left.d.next = 32.into();
            comment!("a payload has no more bits than the line");
            self.bits.d.next = self.bits_i.val();
            if self.bits_i.val() > self.line_bits.val() {
                self.bits.d.next = self.line_bits.val();
            }
        }

        self.ready_o.next = self.ready.val();
        self.load_ready_o.next = self.load_ready.val();
        self.valid_o.next = self.valid.q.val();
        self.error_o.next = self.error.q.val();
        self.line_o.next = self.line.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

elaborate! {
    /// Returns the decompressor for valid parameters.
    pub(super) fn decompressor(
        params: &DecompressorParams as PARAMS
    ) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
        for symbols_per_cycle in [1, 2, 4] {
            ScDecompressorTop {
                K = PARAMS.symbols_per_cycle as usize,
                WINDOW = MAX_CODE_BITS * K + WORD_BITS,
                WW = word_count(WINDOW),
                BOTH = LINE_BITS + WORD_BITS * K,
                BW = word_count(BOTH),
            }
        }
    }
}
