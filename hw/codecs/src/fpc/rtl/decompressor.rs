//! Top modules of the decompressor: five steps of logic with registers between them.

use super::expand::FpcExpand;
use super::parse::FpcParse;
use super::segments::{FpcFar, FpcFreeLanes, FpcNear, FpcRebuild};
use super::split::FpcSplit;
use crate::fpc::params::FpcDecompressorParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

/// Number of registers, 0 or 1, after each step of the decompressor of words.
///
/// One more register, after the last step, holds the block's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FpcDecompressorCuts {
    /// After the first half of the prefixes.
    pub half: usize,
    /// After all prefixes.
    pub parsed: usize,
    /// After the shift of the data to the lowest bits.
    pub aligned: usize,
    /// After the upper half of the tree that splits the data.
    pub split: usize,
}

fn cuts(params: &FpcDecompressorParams) -> FpcDecompressorCuts {
    super::decompressor_cuts(params.pipeline_depth)
}

/// Number of registers, 0 or 1, after each step of the decompressor of segments. One more register, after the last step, holds
/// the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentCuts {
    /// After the inputs.
    pub input: usize,
    /// After the shift of the data to the lowest bits.
    pub aligned: usize,
    /// After the moves by 32, 16 and 8 lanes.
    pub far: usize,
    /// After the moves by 4, 2 and 1 lanes.
    pub near: usize,
}

fn segment_cuts(params: &FpcDecompressorParams) -> SegmentCuts {
    super::segment_cuts(params.pipeline_depth)
}

rtl_module! {
    /// Decompresses cache lines of frequent patterns: one line per cycle.
    ///
    /// GROUPS prefixes for GROUP words each: one word is the original algorithm with zero runs, four words are a segment of
    /// CABA.
    #[require(WORDS * 32 == LINE && GROUPS * GROUP == WORDS && 2 * HALF == GROUPS)]
    #[require(SYMBOL == 3 * (1 + RUNS) && HEAD == SYMBOL * GROUPS)]
    #[require(FIRST == LINE + HALF * (SYMBOL + 3) + 3 + 8 + 1 && PART == 3 * HALF)]
    #[require(MID == LINE + PRE + 8 + 1 + 1 && CUT == LINE + PRE + 2 && RESULT == LINE + 1)]
    pub struct FpcDecompressorTop<
        const LINE: usize, const LW: usize, const WORDS: usize, const LEVELS: usize, const GROUPS: usize,
        const GROUP: usize, const HALF: usize, const RUNS: usize, const SYMBOL: usize, const HEAD: usize, const HEADW: usize,
        const PRE: usize, const PREW: usize, const PART: usize, const PARTW: usize, const FIRST: usize, const FW: usize,
        const MID: usize, const MW: usize, const CUT: usize, const CW: usize, const RESULT: usize, const RW: usize,
    > for FpcDecompressorParams as p {
        reset "asynchronous reset, active low; empties the pipeline";
        inputs DecompressorIn {
            /// a payload is offered
            valid_i: bool as Bit = 1,
            /// 1: head and data; 0: uncompressed line
            encoding_i: u8 as U<1> = 1,
            /// head and data from bit 0 up
            payload_i: [u64; LINE_WORDS] as W<LINE, LW> = p.lines().bits(),
        }
        outputs DecompressorOut {
            /// the payload is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a line is offered
            valid_o: bool as Bit = 1,
            /// a zero run exceeds the line; the line is zero
            error_o: bool as Bit = 1,
            /// the line: byte 0 in bits 7 to 0
            line_o: [u64; LINE_WORDS] as W<LINE, LW> = p.lines().bits(),
        }
        inputs {
            /// the consumer takes the line in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            parse_low: Once<FpcParse<HALF, RUNS, HEAD, HEADW, PART, PARTW>>,
            parse_high: Once<FpcParse<HALF, RUNS, HEAD, HEADW, PART, PARTW>>,
            split: Gate<FpcSplit<LINE, LW, WORDS, LEVELS, GROUPS, GROUP, PRE, PREW>>,
            expand: Gate<FpcExpand<LINE, LW, WORDS, LEVELS, GROUPS, GROUP, PRE, PREW>>,
            /// payload, rest of the head, prefixes of the first half, run, bits of the head so far, encoding
            after_half: Vec<ElasticPipe<W<FIRST, FW>>> = ElasticPipe::ones(cuts(p).half),
            /// payload, prefixes, end of the head, error, encoding
            after_parse: Vec<ElasticPipe<W<MID, MW>>> = ElasticPipe::ones(cuts(p).parsed),
            /// data, prefixes, error, encoding
            after_align: Vec<ElasticPipe<W<CUT, CW>>> = ElasticPipe::ones(cuts(p).aligned),
            /// strings, prefixes, error, encoding
            after_split: Vec<ElasticPipe<W<CUT, CW>>> = ElasticPipe::ones(cuts(p).split),
            results: ElasticPipe<W<RESULT, RW>> = ElasticPipe::new(1),
            first: Signal<Local, W<FIRST, FW>>,
            first_valid: Signal<Local, Bit>,
            first_ready: Signal<Local, Bit>,
            rest: Signal<Local, W<HEAD, HEADW>>,
            parsed: Signal<Local, W<MID, MW>>,
            parsed_valid: Signal<Local, Bit>,
            parsed_ready: Signal<Local, Bit>,
            error: Signal<Local, Bit>,
            data: Signal<Local, W<LINE, LW>>,
            aligned: Signal<Local, W<CUT, CW>>,
            aligned_valid: Signal<Local, Bit>,
            aligned_ready: Signal<Local, Bit>,
            strings: Signal<Local, W<CUT, CW>>,
            strings_valid: Signal<Local, Bit>,
            strings_ready: Signal<Local, Bit>,
            prefixes: Signal<Local, W<PRE, PREW>>,
            last_prefixes: Signal<Local, W<PRE, PREW>>,
            result: Signal<Local, W<RESULT, RW>>,
            _half_registers: usize = cuts(p).half,
            _parse_registers: usize = cuts(p).parsed,
            _align_registers: usize = cuts(p).aligned,
            _split_registers: usize = cuts(p).split,
        }
        upset { results from LINE }
    }

    /// Decompresses cache lines of frequent patterns of segments: one line per cycle.
    ///
    /// Each of the GROUPS segments of four words has one prefix, and the head consists of these prefixes. An uncompressed line
    /// is treated as raw segments. Every payload is valid, so there are no errors.
    #[require(GROUPS * 128 == LINE && DISTANCES == BITS * GROUPS - BITS && NEARS == 3 * GROUPS - 3)]
    #[require(FIRST == LINE + 1 && ALIGNED == LINE + PRE + DISTANCES && MOVED == LINE + PRE + NEARS && PLACED == LINE + PRE)]
    pub struct FpcSegmentDecompressor<
        const LINE: usize, const LW: usize, const GROUPS: usize, const PAIRS: usize, const PRE: usize, const PREW: usize,
        const BITS: usize, const ALL: usize, const DISTANCES: usize, const FAR: usize,
        const FARW: usize, const NEARS: usize, const NEAR: usize, const FIRST: usize, const FW: usize, const ALIGNED: usize, const AW: usize,
        const MOVED: usize, const MW: usize, const PLACED: usize, const PW: usize,
    > {
        reset "asynchronous reset, active low; empties the pipeline";
        parts {
            /// payload, encoding
            after_input: Vec<ElasticPipe<W<FIRST, FW>>> = ElasticPipe::ones(segment_cuts(p).input),
            free_lanes: Once<FpcFreeLanes<GROUPS, PAIRS, BITS, ALL, PRE, PREW>>,
            /// data, prefixes, distances
            after_align: Vec<ElasticPipe<W<ALIGNED, AW>>> = ElasticPipe::ones(segment_cuts(p).aligned),
            far: Once<FpcFar<LINE, LW, GROUPS, BITS, DISTANCES, FAR, FARW>>,
            /// lanes, prefixes, distances modulo eight
            after_far: Vec<ElasticPipe<W<MOVED, MW>>> = ElasticPipe::ones(segment_cuts(p).far),
            near: Once<FpcNear<LINE, LW, GROUPS, NEARS, NEAR>>,
            /// strings of segments, prefixes
            after_near: Vec<ElasticPipe<W<PLACED, PW>>> = ElasticPipe::ones(segment_cuts(p).near),
            rebuild: Once<FpcRebuild<LINE, LW, GROUPS, PRE, PREW>>,
            results: ElasticPipe<W<LINE, LW>> = ElasticPipe::new(1),
            head_bits: Constant<U<5>> = Constant::new(U::new(PRE as u64)),
            raw: Constant<W<PRE, PREW>> = Constant::new(!W::default()),
            first: Signal<Local, W<FIRST, FW>>,
            first_valid: Signal<Local, Bit>,
            first_ready: Signal<Local, Bit>,
            data: Signal<Local, W<LINE, LW>>,
            prefixes: Signal<Local, W<PRE, PREW>>,
            aligned: Signal<Local, W<ALIGNED, AW>>,
            aligned_valid: Signal<Local, Bit>,
            aligned_ready: Signal<Local, Bit>,
            moved: Signal<Local, W<MOVED, MW>>,
            moved_valid: Signal<Local, Bit>,
            moved_ready: Signal<Local, Bit>,
            placed: Signal<Local, W<PLACED, PW>>,
            placed_valid: Signal<Local, Bit>,
            placed_ready: Signal<Local, Bit>,
            last_prefixes: Signal<Local, W<PRE, PREW>>,
            _input_registers: usize = segment_cuts(p).input,
            _align_registers: usize = segment_cuts(p).aligned,
            _far_registers: usize = segment_cuts(p).far,
            _near_registers: usize = segment_cuts(p).near,
        }
        upset { results }
    }
}

#[hdl_gen]
impl Logic for FpcDecompressorTop {
    fn update(&mut self) {
        comment!("the prefixes of the first half");
        self.parse_low.head_i.next = bit_cast_to::<W<HEAD, HEADW>>(self.payload_i.val());
        drive!(self.parse_low; run_i: 0, start_i: 0);
        self.first.next = bit_cast_to::<W<FIRST, FW>>(self.payload_i.val());
        for g in 0..HALF {
            self.first.next[LINE + g * SYMBOL..] = self.parse_low.head_o.val().get_bits::<SYMBOL>(g * SYMBOL);
            self.first.next[LINE + HALF * SYMBOL + g * 3..] =
                self.parse_low.prefixes_o.val().get_bits::<3>(g * 3);
        }
        self.first.next[LINE + HALF * (SYMBOL + 3)..] = self.parse_low.run_o.val();
        self.first.next[LINE + HALF * (SYMBOL + 3) + 3..] = self.parse_low.start_o.val();
        self.first.next[LINE + HALF * (SYMBOL + 3) + 11..] = self.encoding_i.val();
        self.first_valid.next = self.valid_i.val();
        for i in 0..self._half_registers {
            drive!(self.after_half[i]; clk_i, rst_ni, valid_i: first_valid, data_i: first);
            drive!(self; first_valid: after_half[i].valid_o, first: after_half[i].data_o);
        }

        comment!("those of the second half, and where the data begin");
        self.rest.next = 0.into();
        for g in 0..HALF {
            self.rest.next[g * SYMBOL..] = self.first.val().get_bits::<SYMBOL>(LINE + g * SYMBOL);
        }
        self.parse_high.head_i.next = self.rest.val();
        self.parse_high.run_i.next = self.first.val().get_bits::<3>(LINE + HALF * (SYMBOL + 3));
        self.parse_high.start_i.next = self.first.val().get_bits::<8>(LINE + HALF * (SYMBOL + 3) + 3);
        self.error.next =
            self.parse_high.run_o.val().any() & self.first.val().get_bit(LINE + HALF * (SYMBOL + 3) + 11);
        self.parsed.next = bit_cast_to::<W<MID, MW>>(bit_cast_to::<W<LINE, LW>>(self.first.val()));
        for g in 0..HALF {
            self.parsed.next[LINE + g * 3..] = self.first.val().get_bits::<3>(LINE + HALF * SYMBOL + g * 3);
            self.parsed.next[LINE + (HALF + g) * 3..] = self.parse_high.prefixes_o.val().get_bits::<3>(g * 3);
        }
        self.parsed.next[LINE + PRE..] = self.parse_high.start_o.val();
        self.parsed.next[LINE + PRE + 8] = self.error.val();
        self.parsed.next[LINE + PRE + 9] = self.first.val().get_bit(LINE + HALF * (SYMBOL + 3) + 11);
        self.parsed_valid.next = self.first_valid.val();
        for i in 0..self._parse_registers {
            drive!(self.after_parse[i]; clk_i, rst_ni, valid_i: parsed_valid, data_i: parsed);
            drive!(self; parsed_valid: after_parse[i].valid_o, parsed: after_parse[i].data_o);
        }

        comment!("the data from bit 0 up; a line as it was stays where it is");
        self.data.next = bit_cast_to::<W<LINE, LW>>(self.parsed.val());
        if self.parsed.val().get_bit(LINE + PRE + 9) {
            self.data.next = self.data.val() >> self.parsed.val().get_bits::<8>(LINE + PRE);
        }
        self.aligned.next = bit_cast_to::<W<CUT, CW>>(self.data.val());
        for g in 0..GROUPS {
            self.aligned.next[LINE + g * 3..] = self.parsed.val().get_bits::<3>(LINE + g * 3);
        }
        self.aligned.next[LINE + PRE..] = self.parsed.val().get_bits::<2>(LINE + PRE + 8);
        self.aligned_valid.next = self.parsed_valid.val();
        for i in 0..self._align_registers {
            drive!(self.after_align[i]; clk_i, rst_ni, valid_i: aligned_valid, data_i: aligned);
            drive!(self; aligned_valid: after_align[i].valid_o, aligned: after_align[i].data_o);
        }

        comment!("strings of a few words");
        self.prefixes.next = 0.into();
        for g in 0..GROUPS {
            self.prefixes.next[g * 3..] = self.aligned.val().get_bits::<3>(LINE + g * 3);
        }
        self.split.encoding_i.next = self.aligned.val().get_bits::<1>(LINE + PRE + 1);
        self.split.string_i.next = bit_cast_to::<W<LINE, LW>>(self.aligned.val());
        self.split.prefixes_i.next = self.prefixes.val();
        self.strings.next = bit_cast_to::<W<CUT, CW>>(self.split.strings_o.val());
        for g in 0..GROUPS {
            self.strings.next[LINE + g * 3..] = self.prefixes.val().get_bits::<3>(g * 3);
        }
        self.strings.next[LINE + PRE..] = self.aligned.val().get_bits::<2>(LINE + PRE);
        self.strings_valid.next = self.aligned_valid.val();
        for i in 0..self._split_registers {
            drive!(self.after_split[i]; clk_i, rst_ni, valid_i: strings_valid, data_i: strings);
            drive!(self; strings_valid: after_split[i].valid_o, strings: after_split[i].data_o);
        }

        comment!("rebuild words from their data");
        self.last_prefixes.next = 0.into();
        for g in 0..GROUPS {
            self.last_prefixes.next[g * 3..] = self.strings.val().get_bits::<3>(LINE + g * 3);
        }
        self.expand.strings_i.next = bit_cast_to::<W<LINE, LW>>(self.strings.val());
        self.expand.prefixes_i.next = self.last_prefixes.val();
        self.expand.error_i.next = self.strings.val().get_bit(LINE + PRE);
        self.expand.encoding_i.next = self.strings.val().get_bits::<1>(LINE + PRE + 1);
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.expand.line_o.val());
        self.result.next[LINE] = self.strings.val().get_bit(LINE + PRE);
        drive!(self.results; clk_i, rst_ni, valid_i: strings_valid, data_i: result, ready_i);

        self.valid_o.next = self.results.valid_o.val();
        self.line_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.error_o.next = self.results.data_o.val().get_bit(LINE);

        comment!("from the last register to the first: ready if empty or if the next one is ready");
        self.strings_ready.next = self.results.ready_o.val();
        for i in 0..self._split_registers {
            self.after_split[i].ready_i.next = self.results.ready_o.val();
        }
        for i in 0..self._split_registers {
            self.strings_ready.next = self.after_split[i].ready_o.val();
        }
        self.aligned_ready.next = self.strings_ready.val();
        for i in 0..self._align_registers {
            self.after_align[i].ready_i.next = self.strings_ready.val();
        }
        for i in 0..self._align_registers {
            self.aligned_ready.next = self.after_align[i].ready_o.val();
        }
        self.parsed_ready.next = self.aligned_ready.val();
        for i in 0..self._parse_registers {
            self.after_parse[i].ready_i.next = self.aligned_ready.val();
        }
        for i in 0..self._parse_registers {
            self.parsed_ready.next = self.after_parse[i].ready_o.val();
        }
        self.first_ready.next = self.parsed_ready.val();
        for i in 0..self._half_registers {
            self.after_half[i].ready_i.next = self.parsed_ready.val();
        }
        for i in 0..self._half_registers {
            self.first_ready.next = self.after_half[i].ready_o.val();
        }
        self.ready_o.next = self.first_ready.val();
    }
}

#[hdl_gen]
impl Logic for FpcSegmentDecompressor {
    fn update(&mut self) {
        self.first.next = bit_cast_to::<W<FIRST, FW>>(self.payload_i.val());
        self.first.next[LINE..] = self.encoding_i.val();
        self.first_valid.next = self.valid_i.val();
        for i in 0..self._input_registers {
            drive!(self.after_input[i]; clk_i, rst_ni, valid_i: first_valid, data_i: first);
            drive!(self; first_valid: after_input[i].valid_o, first: after_input[i].data_o);
        }

        comment!("data from bit 0; an uncompressed line consists of raw segments");
        self.data.next = bit_cast_to::<W<LINE, LW>>(self.first.val());
        self.prefixes.next = self.raw.val();
        if self.first.val().get_bit(LINE) {
            self.prefixes.next = bit_cast_to::<W<PRE, PREW>>(self.data.val());
            self.data.next = self.data.val() >> self.head_bits.val();
        }
        self.free_lanes.prefixes_i.next = self.prefixes.val();
        self.aligned.next = bit_cast_to::<W<ALIGNED, AW>>(self.data.val());
        for g in 0..GROUPS {
            self.aligned.next[LINE + g * 3..] = self.prefixes.val().get_bits::<3>(g * 3);
        }
        self.aligned.next[LINE + PRE..] = self.free_lanes.counts_o.val().get_bits::<DISTANCES>(0);
        self.aligned_valid.next = self.first_valid.val();
        for i in 0..self._align_registers {
            drive!(self.after_align[i]; clk_i, rst_ni, valid_i: aligned_valid, data_i: aligned);
            drive!(self; aligned_valid: after_align[i].valid_o, aligned: after_align[i].data_o);
        }

        comment!("each segment less than eight lanes below its place");
        self.far.lanes_i.next = bit_cast_to::<W<LINE, LW>>(self.aligned.val());
        self.far.distances_i.next = self.aligned.val().get_bits::<DISTANCES>(LINE + PRE);
        self.moved.next = bit_cast_to::<W<MOVED, MW>>(self.far.lanes_o.val());
        for g in 0..GROUPS {
            self.moved.next[LINE + g * 3..] = self.aligned.val().get_bits::<3>(LINE + g * 3);
        }
        for g in 0..GROUPS - 1 {
            self.moved.next[LINE + PRE + g * 3..] = self.aligned.val().get_bits::<3>(LINE + PRE + g * BITS);
        }
        self.moved_valid.next = self.aligned_valid.val();
        for i in 0..self._far_registers {
            drive!(self.after_far[i]; clk_i, rst_ni, valid_i: moved_valid, data_i: moved);
            drive!(self; moved_valid: after_far[i].valid_o, moved: after_far[i].data_o);
        }

        comment!("each segment at its place");
        self.near.lanes_i.next = bit_cast_to::<W<LINE, LW>>(self.moved.val());
        self.near.distances_i.next = self.moved.val().get_bits::<NEARS>(LINE + PRE);
        self.placed.next = bit_cast_to::<W<PLACED, PW>>(self.near.strings_o.val());
        for g in 0..GROUPS {
            self.placed.next[LINE + g * 3..] = self.moved.val().get_bits::<3>(LINE + g * 3);
        }
        self.placed_valid.next = self.moved_valid.val();
        for i in 0..self._near_registers {
            drive!(self.after_near[i]; clk_i, rst_ni, valid_i: placed_valid, data_i: placed);
            drive!(self; placed_valid: after_near[i].valid_o, placed: after_near[i].data_o);
        }

        comment!("rebuild words from their data");
        self.last_prefixes.next = 0.into();
        for g in 0..GROUPS {
            self.last_prefixes.next[g * 3..] = self.placed.val().get_bits::<3>(LINE + g * 3);
        }
        self.rebuild.strings_i.next = bit_cast_to::<W<LINE, LW>>(self.placed.val());
        self.rebuild.prefixes_i.next = self.last_prefixes.val();
        drive!(self.results; clk_i, rst_ni, valid_i: placed_valid, data_i: rebuild.line_o, ready_i);

        drive!(self; results.valid_o, line_o: results.data_o, error_o: false);

        comment!("from the last register to the first: ready if empty or if the next one is ready");
        self.placed_ready.next = self.results.ready_o.val();
        for i in 0..self._near_registers {
            self.after_near[i].ready_i.next = self.results.ready_o.val();
        }
        for i in 0..self._near_registers {
            self.placed_ready.next = self.after_near[i].ready_o.val();
        }
        self.moved_ready.next = self.placed_ready.val();
        for i in 0..self._far_registers {
            self.after_far[i].ready_i.next = self.placed_ready.val();
        }
        for i in 0..self._far_registers {
            self.moved_ready.next = self.after_far[i].ready_o.val();
        }
        self.aligned_ready.next = self.moved_ready.val();
        for i in 0..self._align_registers {
            self.after_align[i].ready_i.next = self.moved_ready.val();
        }
        for i in 0..self._align_registers {
            self.aligned_ready.next = self.after_align[i].ready_o.val();
        }
        self.first_ready.next = self.aligned_ready.val();
        for i in 0..self._input_registers {
            self.after_input[i].ready_i.next = self.aligned_ready.val();
        }
        for i in 0..self._input_registers {
            self.first_ready.next = self.after_input[i].ready_o.val();
        }
        self.ready_o.next = self.first_ready.val();
    }
}
