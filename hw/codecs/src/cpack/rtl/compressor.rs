//! Top modules of the compressor: four words per cycle with the dictionary of 16, a whole line per cycle with CABA's
//! dictionary.

use super::encode::{CpackMatch, CpackPack, DICT, DICTW};
use super::small::CpackSmallCompress;
use crate::cpack::params::CpackParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Compresses cache lines by C-Pack+Z with a first-in-first-out dictionary of 16 words. Four words per cycle pass two
    /// steps: comparison and coding.
    ///
    /// The first four words are compared in the cycle in which the line is taken. Positions in the dictionary are one-hot.
    // The longest string has 34 bits for each 32 bits of the line. The top bit of a length is set if the string is not shorter
    // than the line.
    #[require(LINE / 32 * 34 < 1 << SIZE && LINE == 1 << (SIZE - 1) && HALF == SIZE - 1)]
    #[require(BLOCKS * 128 == LINE && BLOCKS >= 2 && BLOCKS <= 8)]
    pub struct CpackCompressorTop<
        const LINE: usize, const LW: usize, const BLOCKS: usize, const SIZE: usize, const HALF: usize,
    > for CpackParams as p {
        inputs CompressorIn {
            /// a line is offered
            valid_i: bool as Bit = 1,
            /// the line: byte 0 in bits 7 to 0
            line_i: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        outputs CompressorOut {
            /// the line is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a payload is offered
            valid_o: bool as Bit = 1,
            /// 0: uncompressed line; 1: compressed; 2: line of zeros
            encoding_o: u8 as U<2> = 2,
            /// size of the payload in bits
            size_o: u16 as U<SIZE> = p.size_bits(),
            /// the payload from bit 0 up
            payload_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the payload in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            compare: Gate<CpackMatch<DICT, DICTW>>,
            pack: Gate<CpackPack>,
            /// words of a line are left to compare
            busy: Reg<Bit>,
            /// number of groups of four words already compared
            group: Reg<U<3>>,
            /// the line, with the next words in the low bits; in its original order after the last group
            line: DataReg<W<LINE, LW>>,
            dictionary: DataReg<W<DICT, DICTW>>,
            /// positions of the dictionary that hold a word, and the position of the next word
            known: Reg<U<16>>,
            next: Reg<U<16>> = Reg::new(U::new(1)),
            /// four words have been compared
            compared: Reg<Bit>,
            /// the compared words are the line's first, or its last
            first: DataReg<Bit>,
            last: DataReg<Bit>,
            kinds: DataReg<U<20>>,
            places: DataReg<U<64>>,
            done: Reg<Bit>,
            nonzero: DataReg<Bit>,
            payload: DataReg<W<LINE, LW>>,
            /// half of the payload's bits
            half: DataReg<U<HALF>>,
            encoding: DataReg<U<2>>,
            half_line: Constant<U<HALF>> = Constant::new(U::new(LINE as u64 / 2)),
            /// shift from the low 128 bits to the top of the line
            to_top: Constant<U<SIZE>> = Constant::new(U::new(LINE as u64 - 128)),
            last_group: Constant<U<3>> = Constant::new(U::new(LINE as u64 / 128 - 1)),
            moves: Signal<Local, Bit>,
            is_last: Signal<Local, Bit>,
            source: Signal<Local, W<LINE, LW>>,
            group_words: Signal<Local, W<128, 2>>,
            /// the compared words, which are at the top of the line
            words: Signal<Local, W<128, 2>>,
            used: Signal<Local, U<HALF>>,
            block: Signal<Local, U<4>>,
            codes: Signal<Local, W<LINE, LW>>,
            length: Signal<Local, U<HALF>>,
            seen_nonzero: Signal<Local, Bit>,
        }
        upset { encoding, half, payload }
    }

    /// Compresses cache lines by CABA's C-Pack, with at most four dictionary values: one line per cycle, with a latency of one
    /// cycle.
    #[require(RESULT == LINE + 2 + SIZE)]
    pub struct CpackSmallCompressor<
        const LINE: usize, const LW: usize, const WORDS: usize, const SIZE: usize, const RESULT: usize, const RW: usize,
    > {
        parts {
            compress: Gate<CpackSmallCompress<LINE, LW, WORDS, SIZE>>,
            results: ElasticPipe<W<RESULT, RW>> = ElasticPipe::new(1),
            result: Signal<Local, W<RESULT, RW>>,
        }
        upset { results from LINE }
    }
}

#[hdl_gen]
impl Logic for CpackCompressorTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, busy, group, line, dictionary, known, next, compared, first, last);
        dff_setup!(self, clk_i, kinds, places, done, nonzero, payload, half, encoding);
        comment!("a stalled result stalls both stages");
        self.moves.next = self.ready_i.val() | !self.done.q.val();
        self.is_last.next = self.group.q.val() == self.last_group.val();
        self.source.next = self.line_i.val();
        if self.busy.q.val() {
            self.source.next = self.line.q.val();
        }
        self.group_words.next = bit_cast_to::<W<128, 2>>(self.source.val());
        drive!(self.compare; words_i: group_words, dictionary_i: dictionary.q, known_i: known.q,
            next_i: next.q);

        comment!("append the codes to the payload");
        self.words.next = bit_cast_to::<W<128, 2>>(self.line.q.val() >> self.to_top.val());
        drive!(self.pack; words_i: words, kinds_i: kinds.q, places_i: places.q);
        drive!(self; used: half.q, codes: payload.q, seen_nonzero: nonzero.q);
        if self.first.q.val() {
            self.used.next = 0.into();
        }
        if self.first.q.val() {
            drive!(self; codes: 0, seen_nonzero: false);
        }
        self.pack.used_i.next = self.used.val().get_bits::<6>(0);
        self.block.next = bit_cast::<4, HALF>(self.used.val() >> 6);
        self.length.next = self.used.val() + bit_cast::<HALF, 7>(self.pack.half_o.val());
        for b in 0..BLOCKS {
            if self.block.val() == b.to_bits::<4>() {
                self.codes.next[b * 128..] =
                    self.codes.val().get_bits::<64>(b * 128) | self.pack.string_o.val().get_bits::<64>(0);
                self.codes.next[b * 128 + 64..] = self.codes.val().get_bits::<64>(b * 128 + 64)
                    | self.pack.string_o.val().get_bits::<64>(64);
            }
            if self.block.val() + 1 == b.to_bits::<4>() {
                self.codes.next[b * 128..] =
                    self.codes.val().get_bits::<64>(b * 128) | self.pack.string_o.val().get_bits::<64>(128);
                self.codes.next[b * 128 + 64..] = self.codes.val().get_bits::<64>(b * 128 + 64)
                    | self.pack.string_o.val().get_bits::<64>(192);
            }
            if self.block.val() + 2 == b.to_bits::<4>() {
                self.codes.next[b * 128..] =
                    self.codes.val().get_bits::<8>(b * 128) | self.pack.string_o.val().get_bits::<8>(256);
            }
        }
        self.seen_nonzero.next = self.seen_nonzero.val() | self.words.val().any();

        if self.moves.val() {
            self.compared.d.next = self.busy.q.val() | self.valid_i.val();
            if self.busy.q.val() | self.valid_i.val() {
                self.busy.d.next = !self.is_last.val();
                self.group.d.next = self.group.q.val() + 1;
                comment!("rotate by four words");
                self.line.d.next = (self.source.val() >> 128)
                    | (bit_cast_to::<W<LINE, LW>>(self.group_words.val()) << self.to_top.val());
                drive!(self; dictionary.d: compare.dictionary_o, known.d: compare.known_o,
                    next.d: compare.next_o);
                if self.is_last.val() {
                    comment!("reset the dictionary for the next line");
                    drive!(self; group.d: 0, known.d: 0, next.d: 1);
                }
                self.first.d.next = !self.busy.q.val();
                drive!(self; last.d: is_last, kinds.d: compare.kinds_o, places.d: compare.places_o);
            }
            self.done.d.next = self.compared.q.val() & self.last.q.val();
            if self.compared.q.val() {
                drive!(self; nonzero.d: seen_nonzero, payload.d: codes, half.d: length, encoding.d: 1);
                if self.last.q.val() {
                    if !self.seen_nonzero.val() {
                        comment!("a line of zeros needs no payload: its codes are zero");
                        drive!(self; encoding.d: 2, half.d: 0);
                    } else if self.length.val().get_bit(HALF - 1) {
                        drive!(self; encoding.d: 0, payload.d: line.q, half.d: half_line);
                    }
                }
            }
        }

        self.ready_o.next = self.moves.val() & !self.busy.q.val();
        drive!(self; valid_o: done.q, encoding_o: encoding.q);
        self.size_o.next = bit_cast::<SIZE, HALF>(self.half.q.val()) << 1;
        self.payload_o.next = self.payload.q.val();
    }
}

#[hdl_gen(layouts! { result, results.data_o: { payload: LINE, encoding: 2, size: SIZE } })]
impl Logic for CpackSmallCompressor {
    fn update(&mut self) {
        drive!(self.results; clk_i, rst_ni);
        self.compress.line_i.next = self.line_i.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.compress.payload_o.val());
        self.result.next[LINE..] = self.compress.encoding_o.val();
        self.result.next[LINE + 2..] = self.compress.size_o.val();
        drive!(self.results; valid_i, data_i: result);
        drive!(self; results.ready_o, results.valid_o);
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<2>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 2);
        self.results.ready_i.next = self.ready_i.val();
    }
}
