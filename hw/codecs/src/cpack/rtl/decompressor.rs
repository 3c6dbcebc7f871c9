//! Top modules of the decompressor: four words per cycle with the dictionary of 16, a whole line per cycle with CABA's
//! dictionary.

use super::decode::{CpackLengths, CpackRebuild};
use super::encode::{DICT, DICTW};
use super::small::CpackSmallDecompress;
use crate::cpack::params::CpackParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Decompresses cache lines of C-Pack+Z with a first-in-first-out dictionary of 16 words. Four codes per cycle pass two
    /// steps: measurement and decoding.
    ///
    /// The first four codes are measured in the cycle in which the payload is taken. Positions in the dictionary are one-hot.
    #[require(GROUPS * 128 == LINE && GROUPS >= 2 && GROUPS <= 8)]
    pub struct CpackDecompressorTop<
        const LINE: usize, const LW: usize, const GROUPS: usize,
    > for CpackParams as p {
        inputs DecompressorIn {
            /// a payload is offered
            valid_i: bool as Bit = 1,
            /// 0: uncompressed line; 1: compressed; 2: line of zeros
            encoding_i: u8 as U<2> = 2,
            /// the payload from bit 0 up
            payload_i: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        outputs DecompressorOut {
            /// the payload is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a line is offered
            valid_o: bool as Bit = 1,
            /// the payload is invalid; the line is zero
            error_o: bool as Bit = 1,
            /// the line: byte 0 in bits 7 to 0
            line_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the line in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            lengths: Gate<CpackLengths>,
            rebuild: Gate<CpackRebuild<DICT, DICTW>>,
            /// codes of a payload are left to measure
            busy: Reg<Bit>,
            /// number of groups of four codes already measured
            group: Reg<U<3>>,
            encoding: DataReg<U<2>>,
            /// the payload, from the 128-bit block of the next code on
            payload: DataReg<W<LINE, LW>>,
            /// half of the bits of that block that are already measured
            used: DataReg<U<6>>,
            /// four codes have been measured
            measured: Reg<Bit>,
            /// the measured codes are the line's first, or its last
            first: DataReg<Bit>,
            last: DataReg<Bit>,
            /// the measured codes and their kinds
            rest: DataReg<W<136, 3>>,
            kinds: DataReg<U<28>>,
            dictionary: DataReg<W<DICT, DICTW>>,
            /// positions of the dictionary that hold a word, and the position of the next word
            known: Reg<U<16>>,
            next: Reg<U<16>> = Reg::new(U::new(1)),
            done: Reg<Bit>,
            /// the line has an error so far
            wrong: DataReg<Bit>,
            /// words decoded so far, the latest in the highest bits
            line: DataReg<W<LINE, LW>>,
            last_group: Constant<U<3>> = Constant::new(U::new(GROUPS as u64 - 1)),
            /// shift from the low 128 bits to the top of the line
            to_top: Constant<U<11>> = Constant::new(U::new(LINE as u64 - 128)),
            moves: Signal<Local, Bit>,
            is_last: Signal<Local, Bit>,
            source: Signal<Local, W<LINE, LW>>,
            kind: Signal<Local, U<2>>,
            string_here: Signal<Local, W<136, 3>>,
            start: Signal<Local, U<6>>,
            reach: Signal<Local, U<8>>,
            seen_wrong: Signal<Local, Bit>,
        }
        upset { wrong, line }
    }

    /// Decompresses cache lines of CABA's C-Pack, with at most four dictionary values: one line per cycle, with a latency of
    /// one cycle.
    #[require(RESULT == LINE + 1)]
    pub struct CpackSmallDecompressor<
        const LINE: usize, const LW: usize, const WORDS: usize, const RESULT: usize, const RW: usize,
    > {
        parts {
            decompress: Gate<CpackSmallDecompress<LINE, LW, WORDS>>,
            results: ElasticPipe<W<RESULT, RW>> = ElasticPipe::new(1),
            result: Signal<Local, W<RESULT, RW>>,
        }
        upset { results from LINE }
    }
}

#[hdl_gen]
impl Logic for CpackDecompressorTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, busy, group, encoding, payload, used, measured, first, last, rest, kinds);
        dff_setup!(self, clk_i, dictionary, known, next, done, wrong, line);
        comment!("a stalled result stalls both stages");
        self.moves.next = self.ready_i.val() | !self.done.q.val();
        self.is_last.next = self.group.q.val() == self.last_group.val();
        drive!(self; source: payload_i, kind: encoding_i);
        self.string_here.next = bit_cast_to::<W<136, 3>>(self.payload_i.val());
        if self.busy.q.val() {
            drive!(self; source: payload.q, kind: encoding.q);
            self.string_here.next = bit_cast_to::<W<136, 3>>(
                bit_cast_to::<W<264, 5>>(self.payload.q.val()) >> (bit_cast::<7, 6>(self.used.q.val()) << 1),
            );
        }
        drive!(self; lengths.string_i: string_here, start: 0);
        if self.busy.q.val() {
            self.start.next = self.used.q.val();
        }
        drive!(self; lengths.start_i: start, reach: lengths.end_o);
        if self.kind.val() == 0 {
            comment!("an uncompressed line has 128 bits per four words");
            self.reach.next = 64.into();
        }

        drive!(self.rebuild; string_i: rest.q, kinds_i: kinds.q, encoding_i: encoding.q,
            dictionary_i: dictionary.q, known_i: known.q, next_i: next.q);
        self.seen_wrong.next = self.rebuild.error_o.val();
        if !self.first.q.val() {
            self.seen_wrong.next = self.seen_wrong.val() | self.wrong.q.val();
        }

        if self.moves.val() {
            self.measured.d.next = self.busy.q.val() | self.valid_i.val();
            if self.busy.q.val() | self.valid_i.val() {
                self.busy.d.next = !self.is_last.val();
                self.group.d.next = self.group.q.val() + 1;
                drive!(self; encoding.d: kind, payload.d: source);
                if self.reach.val().get_bit(6) {
                    self.payload.d.next = self.source.val() >> 128;
                }
                if self.reach.val().get_bit(7) {
                    self.payload.d.next = self.source.val() >> 256;
                }
                self.used.d.next = self.reach.val().get_bits::<6>(0);
                if self.is_last.val() {
                    self.group.d.next = 0.into();
                }
                self.first.d.next = !self.busy.q.val();
                drive!(self; last.d: is_last, rest.d: string_here, kinds.d: lengths.kinds_o);
            }
            self.done.d.next = self.measured.q.val() & self.last.q.val();
            if self.measured.q.val() {
                drive!(self; dictionary.d: rebuild.dictionary_o, known.d: rebuild.known_o,
                    next.d: rebuild.next_o);
                if self.last.q.val() {
                    comment!("reset the dictionary for the next payload");
                    drive!(self; known.d: 0, next.d: 1);
                }
                self.wrong.d.next = self.seen_wrong.val();
                self.line.d.next = (self.line.q.val() >> 128)
                    | (bit_cast_to::<W<LINE, LW>>(self.rebuild.words_o.val()) << self.to_top.val());
            }
        }

        self.ready_o.next = self.moves.val() & !self.busy.q.val();
        drive!(self; valid_o: done.q, error_o: wrong.q, line_o: line.q);
        if self.wrong.q.val() {
            self.line_o.next = 0.into();
        }
    }
}

#[hdl_gen(layouts! { result, results.data_o: { line: LINE, error: 1 } })]
impl Logic for CpackSmallDecompressor {
    fn update(&mut self) {
        drive!(self.results; clk_i, rst_ni);
        drive!(self.decompress; encoding_i, payload_i);
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.decompress.line_o.val());
        self.result.next[LINE] = self.decompress.error_o.val();
        drive!(self.results; valid_i, data_i: result);
        drive!(self; results.ready_o, results.valid_o);
        self.line_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.error_o.next = self.results.data_o.val().get_bit(LINE);
        self.results.ready_i.next = self.ready_i.val();
    }
}
