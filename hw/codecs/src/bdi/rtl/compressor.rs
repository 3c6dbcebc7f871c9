//! The top module of the compressor: five steps of logic with registers between them.

use super::choose::BdiChoose;
use super::first::BdiFirsts;
use super::near::BdiNears;
use super::pack::BdiPack;
use super::subtract::BdiSubtract;
use crate::bdi::params::BdiCompressorParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

/// Number of registers after each of the compressor's steps, none or one. The last step always has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressorCuts {
    /// After the search for bases and masks.
    pub firsts: usize,
    /// After the trials, which select the encoding.
    pub nears: usize,
    /// After the choice of its base and its mask.
    pub choice: usize,
    /// After the subtraction.
    pub deltas: usize,
}

fn cuts(params: &BdiCompressorParams) -> CompressorCuts {
    super::compressor_cuts(params.pipeline_depth)
}

rtl_module! {
    /// Compresses cache lines by base-delta-immediate: one line per cycle.
    ///
    /// CABA, section 5.1; LATTE-CC, section IV.C.1. The payload is the smallest of eleven encodings; ties go to the wider
    /// base.
    #[require(MID == LINE + 4 + 64 + N2 && RESULT == LINE + 4 + SIZE)]
    pub struct BdiCompressorTop<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const H8: usize, const H4: usize, const H2: usize, const SIZE: usize, const SEARCH: usize,
        const FIRST: usize, const FW: usize, const NEAR: usize, const NW: usize,
        const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
    > for BdiCompressorParams as p {
        reset "asynchronous reset, active low; empties the pipeline";
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
            /// tag of the payload's encoding
            encoding_o: u8 as U<4> = 4,
            /// size of the payload in bytes
            size_o: u8 as U<SIZE> = p.size_bits(),
            /// base, mask and deltas from bit 0 up; zero beyond the size
            payload_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the payload in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            firsts: Gate<BdiFirsts<LINE, LW, N8, N4, N2, SEARCH, FIRST, FW>>,
            nears: Gate<BdiNears<LINE, LW, N8, N4, N2, FIRST, FW, NEAR, NW>>,
            choose: Gate<BdiChoose<LINE, LW, N8, N4, N2, FIRST, NEAR, NW>>,
            subtract: Gate<BdiSubtract<LINE, LW, N8, N2>>,
            pack: Gate<BdiPack<LINE, LW, N8, N4, N2, H8, H4, H2, SIZE>>,
            /// the line, bases and masks
            after_firsts: Vec<ElasticPipe<W<FIRST, FW>>> = ElasticPipe::ones(cuts(p).firsts),
            /// the same, and the tag
            after_nears: Vec<ElasticPipe<W<NEAR, NW>>> = ElasticPipe::ones(cuts(p).nears),
            /// line, tag, base and mask
            after_choice: Vec<ElasticPipe<W<MID, MW>>> = ElasticPipe::ones(cuts(p).choice),
            /// deltas, tag, base and mask
            after_subtraction: Vec<ElasticPipe<W<MID, MW>>> = ElasticPipe::ones(cuts(p).deltas),
            results: ElasticPipe<W<RESULT, RW>> = ElasticPipe::new(1),
            first: Signal<Local, W<FIRST, FW>>,
            first_valid: Signal<Local, Bit>,
            near: Signal<Local, W<NEAR, NW>>,
            near_valid: Signal<Local, Bit>,
            chosen: Signal<Local, W<MID, MW>>,
            chosen_valid: Signal<Local, Bit>,
            deltas: Signal<Local, W<MID, MW>>,
            deltas_valid: Signal<Local, Bit>,
            result: Signal<Local, W<RESULT, RW>>,
            deltas_ready: Signal<Local, Bit>,
            chosen_ready: Signal<Local, Bit>,
            near_ready: Signal<Local, Bit>,
            _firsts_registers: usize = cuts(p).firsts,
            _nears_registers: usize = cuts(p).nears,
            _choice_registers: usize = cuts(p).choice,
            _deltas_registers: usize = cuts(p).deltas,
        }
        upset { results from LINE }
    }
}

#[hdl_gen(search_layout!(near; tag: 4; takes: 9), layouts! { chosen, deltas: { words: LINE, tag: 4, base: 64, mask: N2 }, result, results.data_o: { payload: LINE, tag: 4, size: SIZE } })]
impl Logic for BdiCompressorTop {
    fn update(&mut self) {
        comment!("a base and a mask for each encoding");
        drive!(self; firsts.line_i: line_i, first: firsts.first_o, first_valid: valid_i);
        for i in 0..self._firsts_registers {
            drive!(self.after_firsts[i]; clk_i, rst_ni, valid_i: first_valid, data_i: first);
            drive!(self; first_valid: after_firsts[i].valid_o, first: after_firsts[i].data_o);
        }

        comment!("the encoding");
        drive!(self; nears.first_i: first, near: nears.near_o, near_valid: first_valid);
        for i in 0..self._nears_registers {
            drive!(self.after_nears[i]; clk_i, rst_ni, valid_i: near_valid, data_i: near);
            drive!(self; near_valid: after_nears[i].valid_o, near: after_nears[i].data_o);
        }

        comment!("its base and its mask");
        self.choose.near_i.next = self.near.val();
        self.chosen.next = bit_cast_to::<W<MID, MW>>(bit_cast_to::<W<LINE, LW>>(self.near.val()));
        self.chosen.next[LINE..] = self.near.val().get_bits::<4>(FIRST);
        self.chosen.next[LINE + 4..] = self.choose.base_o.val();
        self.chosen.next[LINE + 68..] = self.choose.mask_o.val();
        self.chosen_valid.next = self.near_valid.val();
        for i in 0..self._choice_registers {
            drive!(self.after_choice[i]; clk_i, rst_ni, valid_i: chosen_valid, data_i: chosen);
            drive!(self; chosen_valid: after_choice[i].valid_o, chosen: after_choice[i].data_o);
        }

        comment!("the deltas, where the line was");
        self.subtract.line_i.next = bit_cast_to::<W<LINE, LW>>(self.chosen.val());
        self.subtract.tag_i.next = self.chosen.val().get_bits::<4>(LINE);
        self.subtract.base_i.next = self.chosen.val().get_bits::<64>(LINE + 4);
        self.subtract.mask_i.next = self.chosen.val().get_bits::<N2>(LINE + 68);
        self.deltas.next = bit_cast_to::<W<MID, MW>>(self.subtract.deltas_o.val());
        self.deltas.next[LINE..] = self.chosen.val().get_bits::<4>(LINE);
        self.deltas.next[LINE + 4..] = self.chosen.val().get_bits::<64>(LINE + 4);
        self.deltas.next[LINE + 68..] = self.chosen.val().get_bits::<N2>(LINE + 68);
        self.deltas_valid.next = self.chosen_valid.val();
        for i in 0..self._deltas_registers {
            drive!(self.after_subtraction[i]; clk_i, rst_ni, valid_i: deltas_valid, data_i: deltas);
            drive!(self; deltas_valid: after_subtraction[i].valid_o, deltas: after_subtraction[i].data_o);
        }

        comment!("the payload");
        self.pack.deltas_i.next = bit_cast_to::<W<LINE, LW>>(self.deltas.val());
        self.pack.tag_i.next = self.deltas.val().get_bits::<4>(LINE);
        self.pack.base_i.next = self.deltas.val().get_bits::<64>(LINE + 4);
        self.pack.mask_i.next = self.deltas.val().get_bits::<N2>(LINE + 68);
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.pack.payload_o.val());
        self.result.next[LINE..] = self.deltas.val().get_bits::<4>(LINE);
        self.result.next[LINE + 4..] = self.pack.size_o.val();
        drive!(self.results; clk_i, rst_ni, valid_i: deltas_valid, data_i: result, ready_i);

        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<4>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 4);

        comment!("from the last register to the first: ready if empty or if the next one is ready");
        self.deltas_ready.next = self.results.ready_o.val();
        for i in 0..self._deltas_registers {
            self.after_subtraction[i].ready_i.next = self.results.ready_o.val();
        }
        for i in 0..self._deltas_registers {
            self.deltas_ready.next = self.after_subtraction[i].ready_o.val();
        }
        self.chosen_ready.next = self.deltas_ready.val();
        for i in 0..self._choice_registers {
            self.after_choice[i].ready_i.next = self.deltas_ready.val();
        }
        for i in 0..self._choice_registers {
            self.chosen_ready.next = self.after_choice[i].ready_o.val();
        }
        self.near_ready.next = self.chosen_ready.val();
        for i in 0..self._nears_registers {
            self.after_nears[i].ready_i.next = self.chosen_ready.val();
        }
        for i in 0..self._nears_registers {
            self.near_ready.next = self.after_nears[i].ready_o.val();
        }
        self.ready_o.next = self.near_ready.val();
        for i in 0..self._firsts_registers {
            self.after_firsts[i].ready_i.next = self.near_ready.val();
        }
        for i in 0..self._firsts_registers {
            self.ready_o.next = self.after_firsts[i].ready_o.val();
        }
    }
}
