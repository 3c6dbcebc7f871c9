//! The decompressor's tops: four words per cycle with the dictionary of 16, all at once with CABA's dictionary.

use super::decode::CpackDecode;
use super::encode::{DICT, DICTW};
use super::small::CpackSmallDecompress;
use crate::cpack::CpackParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Decompresses cache lines of C-Pack+Z with a first-in-first-out dictionary of 16 words, four words per cycle.
    ///
    /// The first four words are decoded in the cycle in which the payload is taken. The dictionary starts empty with each line.
    #[require(GROUPS * 128 == LINE && GROUPS >= 2 && GROUPS <= 8)]
    pub struct CpackDecompressor<
        const LINE: usize, const LW: usize, const GROUPS: usize,
    > for CpackParams as p {
        inputs DecompressorIn {
            /// a payload is offered
            valid_i: bool as Bit = 1,
            /// 0: the line as it was; 1: compressed; 2: a line of zeros
            encoding_i: u8 as U<2> = 2,
            /// the payload from bit 0 up
            payload_i: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        outputs DecompressorOut {
            /// the payload is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a line is offered
            valid_o: bool as Bit = 1,
            /// the payload is none that a compressor makes; the line is zero
            error_o: bool as Bit = 1,
            /// the line: byte 0 in bits 7 to 0
            line_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the line in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            decode: Gate<CpackDecode<DICT, DICTW>>,
            /// a payload is being decoded
            busy: Reg<Bit>,
            done: Reg<Bit>,
            /// groups of four words that are decoded
            group: Reg<U<3>>,
            encoding: DataReg<U<2>>,
            /// what is left of the payload
            string: DataReg<W<LINE, LW>>,
            dictionary: DataReg<W<DICT, DICTW>>,
            count: DataReg<U<5>>,
            place: DataReg<U<4>>,
            /// something was wrong so far
            wrong: DataReg<Bit>,
            line: DataReg<W<LINE, LW>>,
            error: DataReg<Bit>,
            last_group: Constant<U<3>> = Constant::new(U::new(GROUPS as u64 - 1)),
            working: Signal<Local, Bit>,
            ready: Signal<Local, Bit>,
            source: Signal<Local, W<LINE, LW>>,
            kind: Signal<Local, U<2>>,
            at: Signal<Local, U<3>>,
            words: Signal<Local, W<128, 2>>,
            seen_wrong: Signal<Local, Bit>,
            decoded: Signal<Local, W<LINE, LW>>,
        }
        upset { error, line }
    }

    /// Decompresses cache lines of CABA's C-Pack, with at most four dictionary values: one line per cycle, one cycle each.
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

impl<const LINE: usize, const LW: usize, const GROUPS: usize> Logic for CpackDecompressor<LINE, LW, GROUPS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clk_i, busy, done, group, encoding, string, dictionary, count, place, wrong, line, error
        );
        self.ready.next = !self.busy.q.val() & (self.ready_i.val() | !self.done.q.val());
        self.working.next = self.busy.q.val() | (self.ready.val() & self.valid_i.val());

        comment!("a new payload starts with an empty dictionary and an empty line");
        self.source.next = self.payload_i.val();
        self.kind.next = self.encoding_i.val();
        self.at.next = 0.into();
        self.decode.dictionary_i.next = 0.into();
        self.decode.count_i.next = 0.into();
        self.decode.next_i.next = 0.into();
        if self.busy.q.val() {
            self.source.next = self.string.q.val();
            self.kind.next = self.encoding.q.val();
            self.at.next = self.group.q.val();
            self.decode.dictionary_i.next = self.dictionary.q.val();
            self.decode.count_i.next = self.count.q.val();
            self.decode.next_i.next = self.place.q.val();
        }
        self.decode.encoding_i.next = self.kind.val();
        self.decode.string_i.next = bit_cast_to::<W<136, 3>>(self.source.val());

        self.words.next = self.decode.words_o.val();
        self.seen_wrong.next = self.encoding_i.val().all();
        self.decoded.next = 0.into();
        if self.busy.q.val() {
            self.seen_wrong.next = self.wrong.q.val();
            self.decoded.next = self.line.q.val();
        }
        self.seen_wrong.next = self.seen_wrong.val() | self.decode.error_o.val();
        for g in 0..GROUPS {
            if self.at.val() == g.to_bits::<3>() {
                self.decoded.next =
                    self.decoded.val().replace_bit(g * 128, self.words.val().get_bits::<64>(0));
                self.decoded.next =
                    self.decoded.val().replace_bit(g * 128 + 64, self.words.val().get_bits::<64>(64));
            }
        }

        if self.working.val() {
            self.busy.d.next = true;
            self.done.d.next = false;
            self.group.d.next = self.at.val() + 1;
            self.encoding.d.next = self.kind.val();
            self.string.d.next = self.source.val() >> self.decode.length_o.val();
            self.dictionary.d.next = self.decode.dictionary_o.val();
            self.count.d.next = self.decode.count_o.val();
            self.place.d.next = self.decode.next_o.val();
            self.wrong.d.next = self.seen_wrong.val();
            self.line.d.next = self.decoded.val();
            if self.at.val() == self.last_group.val() {
                self.busy.d.next = false;
                self.done.d.next = true;
                self.error.d.next = self.seen_wrong.val();
                if self.seen_wrong.val() {
                    self.line.d.next = 0.into();
                }
            }
        } else if self.ready_i.val() {
            self.done.d.next = false;
        }

        self.ready_o.next = self.ready.val();
        self.valid_o.next = self.done.q.val();
        self.error_o.next = self.error.q.val();
        self.line_o.next = self.line.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const LINE: usize, const LW: usize, const WORDS: usize, const RESULT: usize, const RW: usize> Logic
    for CpackSmallDecompressor<LINE, LW, WORDS, RESULT, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();
        self.decompress.encoding_i.next = self.encoding_i.val();
        self.decompress.payload_i.next = self.payload_i.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.decompress.line_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.decompress.error_o.val());
        self.results.valid_i.next = self.valid_i.val();
        self.results.data_i.next = self.result.val();
        self.ready_o.next = self.results.ready_o.val();
        self.valid_o.next = self.results.valid_o.val();
        self.line_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.error_o.next = self.results.data_o.val().get_bit(LINE);
        self.results.ready_i.next = self.ready_i.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
