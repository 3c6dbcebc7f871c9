//! The compressor's tops: four words per cycle with the dictionary of 16, all at once with CABA's dictionary.

use super::encode::{CpackEncode, DICT, DICTW};
use super::small::CpackSmallCompress;
use crate::cpack::CpackParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Compresses cache lines by C-Pack+Z with a first-in-first-out dictionary of 16 words, four words per cycle.
    ///
    /// The first four words are encoded in the cycle in which the line is taken. The dictionary starts empty with each line.
    // The longest string is 34 bits for each 32 of the line.
    #[require(LINE / 32 * 34 < 1 << SIZE && LINE >= 256 && LINE / 128 <= 8)]
    pub struct CpackCompressor<const LINE: usize, const LW: usize, const SIZE: usize> for CpackParams as p {
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
            /// 0: the line as it was; 1: compressed; 2: a line of zeros
            encoding_o: u8 as U<2> = 2,
            /// its size in bits
            size_o: u16 as U<SIZE> = p.size_bits(),
            /// the payload from bit 0 up
            payload_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the payload in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            encode: Gate<CpackEncode<DICT, DICTW>>,
            /// a line is being encoded
            busy: Reg<Bit>,
            done: Reg<Bit>,
            /// groups of four words that are encoded
            group: Reg<U<3>>,
            /// the line, the next words in the low bits; whole again after the last ones
            line: DataReg<W<LINE, LW>>,
            dictionary: DataReg<W<DICT, DICTW>>,
            count: DataReg<U<5>>,
            place: DataReg<U<4>>,
            nonzero: DataReg<Bit>,
            payload: DataReg<W<LINE, LW>>,
            size: DataReg<U<SIZE>>,
            encoding: DataReg<U<2>>,
            line_bits: Constant<U<SIZE>> = Constant::new(U::new(LINE as u64)),
            /// from the place of a group's words to the top of the line
            to_top: Constant<U<SIZE>> = Constant::new(U::new(LINE as u64 - 128)),
            last_group: Constant<U<3>> = Constant::new(U::new(LINE as u64 / 128 - 1)),
            working: Signal<Local, Bit>,
            ready: Signal<Local, Bit>,
            source: Signal<Local, W<LINE, LW>>,
            rotated: Signal<Local, W<LINE, LW>>,
            words: Signal<Local, W<128, 2>>,
            at: Signal<Local, U<3>>,
            codes: Signal<Local, W<LINE, LW>>,
            length: Signal<Local, U<SIZE>>,
            seen_nonzero: Signal<Local, Bit>,
        }
        upset { encoding, size, payload }
    }

    /// Compresses cache lines by CABA's C-Pack, with at most four dictionary values: one line per cycle, one cycle each.
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

impl<const LINE: usize, const LW: usize, const SIZE: usize> Logic for CpackCompressor<LINE, LW, SIZE> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clk_i, busy, done, group, line, dictionary, count, place, nonzero, payload, size, encoding
        );
        self.ready.next = !self.busy.q.val() & (self.ready_i.val() | !self.done.q.val());
        self.working.next = self.busy.q.val() | (self.ready.val() & self.valid_i.val());

        comment!("a new line starts with an empty dictionary and no codes");
        self.source.next = self.line_i.val();
        self.at.next = 0.into();
        self.encode.dictionary_i.next = 0.into();
        self.encode.count_i.next = 0.into();
        self.encode.next_i.next = 0.into();
        if self.busy.q.val() {
            self.source.next = self.line.q.val();
            self.at.next = self.group.q.val();
            self.encode.dictionary_i.next = self.dictionary.q.val();
            self.encode.count_i.next = self.count.q.val();
            self.encode.next_i.next = self.place.q.val();
        }
        self.words.next = bit_cast_to::<W<128, 2>>(self.source.val());
        self.encode.words_i.next = self.words.val();
        comment!("four words go from the low end to the high end");
        self.rotated.next =
            (self.source.val() >> 128) | (bit_cast_to::<W<LINE, LW>>(self.words.val()) << self.to_top.val());

        comment!("their codes go behind those that are there");
        self.codes.next = 0.into();
        self.length.next = 0.into();
        self.seen_nonzero.next = false;
        if self.busy.q.val() {
            self.codes.next = self.payload.q.val();
            self.length.next = self.size.q.val();
            self.seen_nonzero.next = self.nonzero.q.val();
        }
        self.codes.next =
            self.codes.val() | (bit_cast_to::<W<LINE, LW>>(self.encode.string_o.val()) << self.length.val());
        self.length.next = self.length.val() + bit_cast::<SIZE, 8>(self.encode.length_o.val());
        self.seen_nonzero.next = self.seen_nonzero.val() | self.words.val().any();

        if self.working.val() {
            self.busy.d.next = true;
            self.done.d.next = false;
            self.group.d.next = self.at.val() + 1;
            self.line.d.next = self.rotated.val();
            self.dictionary.d.next = self.encode.dictionary_o.val();
            self.count.d.next = self.encode.count_o.val();
            self.place.d.next = self.encode.next_o.val();
            self.nonzero.d.next = self.seen_nonzero.val();
            self.payload.d.next = self.codes.val();
            self.size.d.next = self.length.val();
            if self.at.val() == self.last_group.val() {
                self.busy.d.next = false;
                self.done.d.next = true;
                self.encoding.d.next = 1.into();
                if !self.seen_nonzero.val() {
                    self.encoding.d.next = 2.into();
                    self.payload.d.next = 0.into();
                    self.size.d.next = 0.into();
                } else if self.length.val() >= self.line_bits.val() {
                    self.encoding.d.next = 0.into();
                    self.payload.d.next = self.rotated.val();
                    self.size.d.next = self.line_bits.val();
                }
            }
        } else if self.ready_i.val() {
            self.done.d.next = false;
        }

        self.ready_o.next = self.ready.val();
        self.valid_o.next = self.done.q.val();
        self.encoding_o.next = self.encoding.q.val();
        self.size_o.next = self.size.q.val();
        self.payload_o.next = self.payload.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const WORDS: usize,
    const SIZE: usize,
    const RESULT: usize,
    const RW: usize,
> Logic for CpackSmallCompressor<LINE, LW, WORDS, SIZE, RESULT, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();
        self.compress.line_i.next = self.line_i.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.compress.payload_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.compress.encoding_o.val());
        self.result.next = self.result.val().replace_bit(LINE + 2, self.compress.size_o.val());
        self.results.valid_i.next = self.valid_i.val();
        self.results.data_i.next = self.result.val();
        self.ready_o.next = self.results.ready_o.val();
        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<2>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 2);
        self.results.ready_i.next = self.ready_i.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
