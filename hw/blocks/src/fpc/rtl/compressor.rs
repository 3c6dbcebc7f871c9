//! The compressor's tops: its logic between the registers of an elastic pipeline.

use super::classify::FpcClassify;
use super::pack::FpcPack;
use super::whole::FpcCompress;
use crate::fpc::CompressorParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Compresses cache lines by frequent patterns: one line per cycle, two or more cycles each.
    ///
    /// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of CABA.
    #[require(MID == LINE + SYM && RESULT == LINE + 1 + SIZE)]
    pub struct FpcCompressor<
        const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
        const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize,
        const SIZE: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
    > for CompressorParams as p {
        reset "asynchronous reset, active low; empties the pipeline";
        inputs CompressorIn {
            /// a line is offered
            valid_i: bool as Bit = 1,
            /// the line: byte 0 in bits 7 to 0
            line_i: [u64; LINE_WORDS] as W<LINE, LW> = p.lines().bits(),
        }
        outputs CompressorOut {
            /// the line is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a payload is offered
            valid_o: bool as Bit = 1,
            /// 1: head and data; 0: the line as it was
            encoding_o: u8 as U<1> = 1,
            /// its size in bits
            size_o: u16 as U<SIZE> = p.size_bits(),
            /// head and data from bit 0 up; zero beyond the size
            payload_o: [u64; LINE_WORDS] as W<LINE, LW> = p.lines().bits(),
        }
        inputs {
            /// the consumer takes the payload in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            results: ElasticPipe<W<RESULT, RW>> = ElasticPipe::new(p.pipeline_depth - 1),
            result: Signal<Local, W<RESULT, RW>>,
            classify: Once<FpcClassify<LINE, LW, GROUPS, GROUP, SYM, SYMW>>,
            /// between the two halves of the logic: line and symbols
            middle: ElasticPipe<W<MID, MW>> = ElasticPipe::new(1),
            pack: Gate<FpcPack<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE>>,
            classified: Signal<Local, W<MID, MW>>,
            symbols: Signal<Local, W<SYM, SYMW>>,

        }
        upset { results from LINE }
    }

    /// Compresses cache lines by frequent patterns: one line per cycle, one cycle each.
    ///
    /// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of CABA.
    #[require(MID == LINE + SYM && RESULT == LINE + 1 + SIZE)]
    pub struct FpcCompressorOneCycle<
        const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
        const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize,
        const SIZE: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
    > {
        reset "asynchronous reset, active low; empties the pipeline";
        parts {
            results: ElasticPipe<W<RESULT, RW>> = ElasticPipe::new(1),
            result: Signal<Local, W<RESULT, RW>>,
            compress: Gate<FpcCompress<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE>>,

        }
        upset { results from LINE }
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const WORDS: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const SYM: usize,
    const SYMW: usize,
    const HEAD: usize,
    const HEADW: usize,
    const HSUM: usize,
    const SIZE: usize,
    const MID: usize,
    const MW: usize,
    const RESULT: usize,
    const RW: usize,
> Logic
    for FpcCompressor<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE, MID, MW, RESULT, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.middle.clk_i.next = self.clk_i.val();
        self.middle.rst_ni.next = self.rst_ni.val();
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();

        comment!("the pattern of each word");
        self.classify.line_i.next = self.line_i.val();
        self.classified.next = bit_cast_to::<W<MID, MW>>(self.line_i.val());
        for g in 0..GROUPS {
            self.classified.next = self
                .classified
                .val()
                .replace_bit(LINE + g * 9, self.classify.symbols_o.val().get_bits::<9>(g * 9));
        }
        self.middle.valid_i.next = self.valid_i.val();
        self.middle.data_i.next = self.classified.val();
        self.ready_o.next = self.middle.ready_o.val();

        comment!("head and data");
        self.pack.line_i.next = bit_cast_to::<W<LINE, LW>>(self.middle.data_o.val());
        self.symbols.next = 0.into();
        for g in 0..GROUPS {
            self.symbols.next =
                self.symbols.val().replace_bit(g * 9, self.middle.data_o.val().get_bits::<9>(LINE + g * 9));
        }
        self.pack.symbols_i.next = self.symbols.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.pack.payload_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.pack.encoding_o.val());
        self.result.next = self.result.val().replace_bit(LINE + 1, self.pack.size_o.val());
        self.results.valid_i.next = self.middle.valid_o.val();
        self.results.data_i.next = self.result.val();
        self.middle.ready_i.next = self.results.ready_o.val();

        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<1>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 1);
        self.results.ready_i.next = self.ready_i.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const WORDS: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const SYM: usize,
    const SYMW: usize,
    const HEAD: usize,
    const HEADW: usize,
    const HSUM: usize,
    const SIZE: usize,
    const MID: usize,
    const MW: usize,
    const RESULT: usize,
    const RW: usize,
> Logic
    for FpcCompressorOneCycle<
        LINE,
        LW,
        WORDS,
        GROUPS,
        GROUP,
        SYM,
        SYMW,
        HEAD,
        HEADW,
        HSUM,
        SIZE,
        MID,
        MW,
        RESULT,
        RW,
    >
{
    #[hdl_gen]
    fn update(&mut self) {
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();

        self.compress.line_i.next = self.line_i.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.compress.payload_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.compress.encoding_o.val());
        self.result.next = self.result.val().replace_bit(LINE + 1, self.compress.size_o.val());
        self.results.valid_i.next = self.valid_i.val();
        self.results.data_i.next = self.result.val();
        self.ready_o.next = self.results.ready_o.val();

        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<1>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 1);
        self.results.ready_i.next = self.ready_i.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
