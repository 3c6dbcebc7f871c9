//! Top modules of the compressor: its logic between the registers of an elastic pipeline.

use super::classify::FpcClassify;
use super::pack::FpcPack;
use super::segments::{FpcClose, FpcFreeLanes, FpcGather};
use super::whole::FpcCompress;
use crate::fpc::params::FpcCompressorParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Compresses cache lines by frequent patterns: one line per cycle, with a latency of two or more cycles.
    ///
    /// GROUPS prefixes for GROUP words each: one word is the original algorithm with zero runs, four words are a segment of
    /// CABA.
    #[require(MID == LINE + SYM && RESULT == LINE + 1 + SIZE)]
    pub struct FpcCompressorTop<
        const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
        const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize,
        const SIZE: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
    > for FpcCompressorParams as p {
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
            /// 1: head and data; 0: uncompressed line
            encoding_o: u8 as U<1> = 1,
            /// size of the payload in bits
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
            /// register between the two halves of the logic: line and symbols
            middle: ElasticPipe<W<MID, MW>> = ElasticPipe::new(1),
            pack: Gate<FpcPack<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE>>,
            classified: Signal<Local, W<MID, MW>>,
            symbols: Signal<Local, W<SYM, SYMW>>,

        }
        upset { results from LINE }
    }

    /// Compresses cache lines by frequent patterns: one line per cycle, with a latency of one cycle.
    ///
    /// GROUPS prefixes for GROUP words each: one word is the original algorithm with zero runs, four words are a segment of
    /// CABA.
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

    /// Compresses cache lines by frequent patterns of segments: one line per cycle.
    ///
    /// Each of the GROUPS segments of four words has one prefix. The head has the same length for all lines. A line becomes
    /// shorter unless all its segments are raw; then no segment moves.
    #[require(GROUPS * 128 == LINE && SYM == 9 * GROUPS && PRE == 3 * GROUPS && DISTANCES == BITS * GROUPS - BITS)]
    // Each segment that is not raw saves more bits than the head takes.
    #[require(PRE < 64)]
    #[require(MID == LINE + PRE + ALL && RESULT == LINE + 1 + SIZE)]
    pub struct FpcSegmentCompressor<
        const LINE: usize, const LW: usize, const GROUPS: usize, const SYM: usize, const SYMW: usize,
        const PRE: usize, const PREW: usize, const PAIRS: usize, const G16: usize, const G32: usize, const BITS: usize,
        const ALL: usize, const DISTANCES: usize, const MOVES: usize, const MOVESW: usize, const SIZE: usize,
        const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
    > {
        reset "asynchronous reset, active low; empties the pipeline";
        parts {
            classify: Once<FpcClassify<LINE, LW, GROUPS, 4, SYM, SYMW>>,
            gather: Once<FpcGather<LINE, LW, GROUPS, PRE, PREW>>,
            free_lanes: Once<FpcFreeLanes<GROUPS, PAIRS, BITS, ALL, PRE, PREW>>,
            /// register of the segments' data, prefixes, and free lanes
            middle: Vec<ElasticPipe<W<MID, MW>>> = ElasticPipe::ones((p.pipeline_depth > 1) as usize),
            close: Once<FpcClose<LINE, LW, GROUPS, G16, G32, BITS, DISTANCES, MOVES, MOVESW>>,
            results: ElasticPipe<W<RESULT, RW>> = ElasticPipe::new(p.pipeline_depth.saturating_sub(1).max(1)),
            line_bits: Constant<U<SIZE>> = Constant::new(U::new(LINE as u64)),
            head_bits: Constant<U<SIZE>> = Constant::new(U::new(PRE as u64)),
            first_prefixes: Signal<Local, W<PRE, PREW>>,
            gathered: Signal<Local, W<MID, MW>>,
            gathered_valid: Signal<Local, Bit>,
            gathered_ready: Signal<Local, Bit>,
            prefixes: Signal<Local, W<PRE, PREW>>,
            /// free lanes of the line; 0 also if all are free
            free: Signal<Local, U<BITS>>,
            payload: Signal<Local, W<LINE, LW>>,
            size: Signal<Local, U<SIZE>>,
            result: Signal<Local, W<RESULT, RW>>,
            _middle_registers: usize = (p.pipeline_depth > 1) as usize,
        }
        upset { results from LINE }
    }
}

#[hdl_gen(layouts! { result, results.data_o: { payload: LINE, encoding: 1, size: SIZE } })]
impl Logic for FpcCompressorTop {
    fn update(&mut self) {
        drive!(self.middle; clk_i, rst_ni);
        drive!(self.results; clk_i, rst_ni);

        comment!("the pattern of each word");
        self.classify.line_i.next = self.line_i.val();
        self.classified.next = bit_cast_to::<W<MID, MW>>(self.line_i.val());
        for g in 0..GROUPS {
            self.classified.next[LINE + g * 9..] = self.classify.symbols_o.val().get_bits::<9>(g * 9);
        }
        drive!(self.middle; valid_i, data_i: classified);
        self.ready_o.next = self.middle.ready_o.val();

        comment!("head and data");
        self.pack.line_i.next = bit_cast_to::<W<LINE, LW>>(self.middle.data_o.val());
        self.symbols.next = 0.into();
        for g in 0..GROUPS {
            self.symbols.next[g * 9..] = self.middle.data_o.val().get_bits::<9>(LINE + g * 9);
        }
        self.pack.symbols_i.next = self.symbols.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.pack.payload_o.val());
        self.result.next[LINE..] = self.pack.encoding_o.val();
        self.result.next[LINE + 1..] = self.pack.size_o.val();
        drive!(self.results; valid_i: middle.valid_o, data_i: result);
        self.middle.ready_i.next = self.results.ready_o.val();

        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<1>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 1);
        self.results.ready_i.next = self.ready_i.val();
    }
}

#[hdl_gen(layouts! { result, results.data_o: { payload: LINE, encoding: 1, size: SIZE } })]
impl Logic for FpcCompressorOneCycle {
    fn update(&mut self) {
        drive!(self.results; clk_i, rst_ni);

        self.compress.line_i.next = self.line_i.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.compress.payload_o.val());
        self.result.next[LINE..] = self.compress.encoding_o.val();
        self.result.next[LINE + 1..] = self.compress.size_o.val();
        drive!(self.results; valid_i, data_i: result);
        self.ready_o.next = self.results.ready_o.val();

        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<1>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 1);
        self.results.ready_i.next = self.ready_i.val();
    }
}

#[hdl_gen(layouts! { result, results.data_o: { payload: LINE, encoding: 1, size: SIZE } })]
impl Logic for FpcSegmentCompressor {
    fn update(&mut self) {
        comment!("the pattern of each segment, and what it keeps");
        drive!(self; classify.line_i: line_i, first_prefixes: 0);
        for g in 0..GROUPS {
            self.first_prefixes.next[g * 3..] = self.classify.symbols_o.val().get_bits::<3>(g * 9);
        }
        drive!(self; gather.line_i: line_i, gather.prefixes_i: first_prefixes, free_lanes.prefixes_i: first_prefixes);
        self.gathered.next = bit_cast_to::<W<MID, MW>>(self.gather.strings_o.val());
        for g in 0..GROUPS {
            self.gathered.next[LINE + g * 3..] = self.first_prefixes.val().get_bits::<3>(g * 3);
        }
        self.gathered.next[LINE + PRE..] = self.free_lanes.counts_o.val();
        self.gathered_valid.next = self.valid_i.val();
        for i in 0..self._middle_registers {
            drive!(self.middle[i]; clk_i, rst_ni, valid_i: gathered_valid, data_i: gathered);
            drive!(self; gathered_valid: middle[i].valid_o, gathered: middle[i].data_o);
        }

        comment!("data without gaps, after the head; an uncompressed line has no head");
        self.prefixes.next = 0.into();
        for g in 0..GROUPS {
            self.prefixes.next[g * 3..] = self.gathered.val().get_bits::<3>(LINE + g * 3);
        }
        self.close.lanes_i.next = bit_cast_to::<W<LINE, LW>>(self.gathered.val());
        self.close.distances_i.next = self.gathered.val().get_bits::<DISTANCES>(LINE + PRE);
        self.free.next = self.gathered.val().get_bits::<BITS>(LINE + PRE + DISTANCES);
        drive!(self; payload: close.lanes_o, size: line_bits);
        if !self.prefixes.val().all() {
            self.payload.next = (self.close.lanes_o.val() << self.head_bits.val())
                | bit_cast_to::<W<LINE, LW>>(self.prefixes.val());
            self.size.next = (bit_cast::<SIZE, BITS>(!self.free.val() + 1) << 4) + self.head_bits.val();
        }
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.payload.val());
        self.result.next[LINE] = !self.prefixes.val().all();
        self.result.next[LINE + 1..] = self.size.val();
        drive!(self.results; clk_i, rst_ni, valid_i: gathered_valid, data_i: result, ready_i);

        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<1>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 1);

        self.gathered_ready.next = self.results.ready_o.val();
        for i in 0..self._middle_registers {
            self.middle[i].ready_i.next = self.results.ready_o.val();
        }
        for i in 0..self._middle_registers {
            self.gathered_ready.next = self.middle[i].ready_o.val();
        }
        self.ready_o.next = self.gathered_ready.val();
    }
}
