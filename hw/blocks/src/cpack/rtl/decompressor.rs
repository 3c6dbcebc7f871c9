//! The decompressor's tops: four words per cycle with the dictionary of 16, all at once with CABA's dictionary.

use super::decode::CpackDecode;
use super::encode::{DICT, DICTW};
use super::small::CpackSmallDecompress;
use crate::cpack::{DecompressorIn, DecompressorOut};
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::RtlTop;

rtl_block! {
    /// Decompresses cache lines of C-Pack+Z with a first-in-first-out dictionary of 16 words, four words per cycle.
    ///
    /// The first four words are decoded in the cycle in which the payload is taken. The dictionary starts empty with each line.
    #[derive(LogicBlock)]
    pub struct CpackDecompressor<const LINE: usize, const LW: usize, const GROUPS: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// a payload is offered
        pub valid_i: Signal<In, Bit>,
        /// 0: the line as it was; 1: compressed; 2: a line of zeros
        pub encoding_i: Signal<In, U<2>>,
        /// the payload from bit 0 up
        pub payload_i: Signal<In, W<LINE, LW>>,
        /// the payload is taken in this cycle
        pub ready_o: Signal<Out, Bit>,
        /// a line is offered
        pub valid_o: Signal<Out, Bit>,
        /// the payload is none that a compressor makes; the line is zero
        pub error_o: Signal<Out, Bit>,
        /// the line: byte 0 in bits 7 to 0
        pub line_o: Signal<Out, W<LINE, LW>>,
        /// the consumer takes the line in this cycle
        pub ready_i: Signal<In, Bit>,
        decode: Gate<CpackDecode<DICT, DICTW>>,
        /// a payload is being decoded
        busy: Reg<Bit>,
        done: Reg<Bit>,
        /// groups of four words that are decoded
        group: Reg<U<3>>,
        encoding: Reg<U<2>>,
        /// what is left of the payload
        string: Reg<W<LINE, LW>>,
        dictionary: Reg<W<DICT, DICTW>>,
        count: Reg<U<5>>,
        place: Reg<U<4>>,
        /// something was wrong so far
        wrong: Reg<Bit>,
        line: Reg<W<LINE, LW>>,
        error: Reg<Bit>,
        last_group: Constant<U<3>>,
        working: Signal<Local, Bit>,
        ready: Signal<Local, Bit>,
        source: Signal<Local, W<LINE, LW>>,
        kind: Signal<Local, U<2>>,
        at: Signal<Local, U<3>>,
        words: Signal<Local, W<128, 2>>,
        seen_wrong: Signal<Local, Bit>,
        decoded: Signal<Local, W<LINE, LW>>,
    }
}

impl<const LINE: usize, const LW: usize, const GROUPS: usize> Default
    for CpackDecompressor<LINE, LW, GROUPS>
{
    fn default() -> Self {
        const { assert!(GROUPS * 128 == LINE && GROUPS >= 2 && GROUPS <= 8) };
        CpackDecompressor {
            clk_i: Default::default(),
            rst_ni: Default::default(),
            valid_i: Default::default(),
            encoding_i: Default::default(),
            payload_i: Default::default(),
            ready_o: Default::default(),
            valid_o: Default::default(),
            error_o: Default::default(),
            line_o: Default::default(),
            ready_i: Default::default(),
            decode: Default::default(),
            busy: Default::default(),
            done: Default::default(),
            group: Default::default(),
            encoding: Default::default(),
            string: Default::default(),
            dictionary: Default::default(),
            count: Default::default(),
            place: Default::default(),
            wrong: Default::default(),
            line: Default::default(),
            error: Default::default(),
            last_group: Constant::new(U::new(GROUPS as u64 - 1)),
            working: Default::default(),
            ready: Default::default(),
            source: Default::default(),
            kind: Default::default(),
            at: Default::default(),
            words: Default::default(),
            seen_wrong: Default::default(),
            decoded: Default::default(),
        }
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

impl<const LINE: usize, const LW: usize, const GROUPS: usize> RtlTop for CpackDecompressor<LINE, LW, GROUPS> {
    type In = DecompressorIn;
    type Out = DecompressorOut;

    fn drive(&mut self, inputs: &DecompressorIn) {
        self.valid_i.next = inputs.valid_i;
        self.encoding_i.next = U::new(u64::from(inputs.encoding_i));
        self.payload_i.next = W::from_words(std::array::from_fn(|word| inputs.payload_i[word]));
        self.ready_i.next = inputs.ready_i;
    }

    fn sample(&self) -> DecompressorOut {
        let mut line_o = [0; LINE_WORDS];
        line_o[..LW].copy_from_slice(self.line_o.val().words());
        DecompressorOut {
            ready_o: self.ready_o.val(),
            valid_o: self.valid_o.val(),
            error_o: self.error_o.val(),
            line_o,
        }
    }

    fn upset(&mut self, bit: usize) {
        match bit % (1 + LINE) {
            0 => self.error.q.next = !self.error.q.val(),
            place => {
                let (register, place) = (&mut self.line.q, place - 1);
                register.next = register.val().replace_bit(place, !register.val().get_bit(place));
            }
        }
    }
}

rtl_block! {
    /// Decompresses cache lines of CABA's C-Pack, with at most four dictionary values: one line per cycle, one cycle each.
    #[derive(LogicBlock)]
    pub struct CpackSmallDecompressor<
        const LINE: usize, const LW: usize, const WORDS: usize, const RESULT: usize, const RW: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// a payload is offered
        pub valid_i: Signal<In, Bit>,
        /// 0: the line as it was; 1: compressed; 2: a line of zeros
        pub encoding_i: Signal<In, U<2>>,
        /// the payload from bit 0 up
        pub payload_i: Signal<In, W<LINE, LW>>,
        /// the payload is taken in this cycle
        pub ready_o: Signal<Out, Bit>,
        /// a line is offered
        pub valid_o: Signal<Out, Bit>,
        /// the payload is none that a compressor makes; the line is zero
        pub error_o: Signal<Out, Bit>,
        /// the line: byte 0 in bits 7 to 0
        pub line_o: Signal<Out, W<LINE, LW>>,
        /// the consumer takes the line in this cycle
        pub ready_i: Signal<In, Bit>,
        decompress: Gate<CpackSmallDecompress<LINE, LW, WORDS>>,
        results: ElasticPipe<W<RESULT, RW>>,
        result: Signal<Local, W<RESULT, RW>>,
    }
}

impl<const LINE: usize, const LW: usize, const WORDS: usize, const RESULT: usize, const RW: usize> Default
    for CpackSmallDecompressor<LINE, LW, WORDS, RESULT, RW>
{
    fn default() -> Self {
        const { assert!(RESULT == LINE + 1) };
        CpackSmallDecompressor {
            clk_i: Default::default(),
            rst_ni: Default::default(),
            valid_i: Default::default(),
            encoding_i: Default::default(),
            payload_i: Default::default(),
            ready_o: Default::default(),
            valid_o: Default::default(),
            error_o: Default::default(),
            line_o: Default::default(),
            ready_i: Default::default(),
            decompress: Gate::default(),
            results: ElasticPipe::new(1),
            result: Signal::default(),
        }
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

impl<const LINE: usize, const LW: usize, const WORDS: usize, const RESULT: usize, const RW: usize> RtlTop
    for CpackSmallDecompressor<LINE, LW, WORDS, RESULT, RW>
{
    type In = DecompressorIn;
    type Out = DecompressorOut;

    fn drive(&mut self, inputs: &DecompressorIn) {
        self.valid_i.next = inputs.valid_i;
        self.encoding_i.next = U::new(u64::from(inputs.encoding_i));
        self.payload_i.next = W::from_words(std::array::from_fn(|word| inputs.payload_i[word]));
        self.ready_i.next = inputs.ready_i;
    }

    fn sample(&self) -> DecompressorOut {
        let mut line_o = [0; LINE_WORDS];
        line_o[..LW].copy_from_slice(self.line_o.val().words());
        DecompressorOut {
            ready_o: self.ready_o.val(),
            valid_o: self.valid_o.val(),
            error_o: self.error_o.val(),
            line_o,
        }
    }

    fn upset(&mut self, bit: usize) {
        // Ports in order are error, line; in the register the line comes first.
        let place = (bit % RESULT + LINE) % RESULT;
        let register = &mut self.results.last_mut().q;
        register.next = register.val().replace_bit(place, !register.val().get_bit(place));
    }
}
