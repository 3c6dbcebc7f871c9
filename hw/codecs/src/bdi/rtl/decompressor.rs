//! The top module of the decompressor: three steps of logic with registers between them.

use super::rebuild::{BdiAdd, BdiOperands, BdiSpread};
use crate::bdi::params::BdiDecompressorParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

/// Number of registers after each of the decompressor's steps: none or one, and at least one after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BdiDecompressorCuts {
    /// After the spreading of the deltas.
    pub spread: usize,
    /// After the choice of each word's base.
    pub operands: usize,
    /// After the addition: one or more.
    pub results: usize,
}

fn cuts(params: &BdiDecompressorParams) -> BdiDecompressorCuts {
    super::decompressor_cuts(params.pipeline_depth)
}

rtl_module! {
    /// Rebuilds cache lines from base-delta-immediate payloads: one line per cycle.
    ///
    /// CABA, section 5.1; LATTE-CC, section IV.C.1. An undefined tag gives a line of zeros with error_o high.
    #[require(MID == LINE + 4 + 64 + N2 && RESULT == LINE + 1)]
    pub struct BdiDecompressorTop<
        const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
        const H8: usize, const H4: usize, const H2: usize, const MID: usize, const MW: usize,
        const BOTH: usize, const BW: usize, const RESULT: usize, const RW: usize,
    > for BdiDecompressorParams as p {
        reset "asynchronous reset, active low; empties the pipeline";
        inputs DecompressorIn {
            /// a payload is offered
            valid_i: bool as Bit = 1,
            /// tag of the payload's encoding
            encoding_i: u8 as U<4> = 4,
            /// base, mask and deltas from bit 0 up
            payload_i: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        outputs DecompressorOut {
            /// the payload is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a line is offered
            valid_o: bool as Bit = 1,
            /// the tag is undefined; the line is zero
            error_o: bool as Bit = 1,
            /// the line: byte 0 in bits 7 to 0
            line_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the line in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            spread: Gate<BdiSpread<LINE, LW, N8, N4, N2, H8, H4, H2>>,
            operands: Gate<BdiOperands<LINE, LW, N8, N4, N2, BOTH, BW>>,
            add: Gate<BdiAdd<LINE, LW, N8, BOTH, BW>>,
            /// deltas, tag, base and mask
            after_spread: Vec<ElasticPipe<W<MID, MW>>> = ElasticPipe::ones(cuts(p).spread),
            /// deltas, the base of each, and the tag
            after_operands: Vec<ElasticPipe<W<BOTH, BW>>> = ElasticPipe::ones(cuts(p).operands),
            results: ElasticPipe<W<RESULT, RW>> = ElasticPipe::new(cuts(p).results),
            parts: Signal<Local, W<MID, MW>>,
            parts_valid: Signal<Local, Bit>,
            parts_ready: Signal<Local, Bit>,
            both: Signal<Local, W<BOTH, BW>>,
            both_valid: Signal<Local, Bit>,
            both_ready: Signal<Local, Bit>,
            result: Signal<Local, W<RESULT, RW>>,
            _spread_registers: usize = cuts(p).spread,
            _operands_registers: usize = cuts(p).operands,
        }
        upset { results from LINE }
    }
}

#[hdl_gen(layouts! { parts: { deltas: LINE, tag: 4, base: 64, mask: N2 }, result, results.data_o: { line: LINE, error: 1 } })]
impl Logic for BdiDecompressorTop {
    fn update(&mut self) {
        comment!("take the payload apart; whatever the encoding, its base is in the lowest bits");
        drive!(self.spread; payload_i, tag_i: encoding_i);
        self.parts.next = bit_cast_to::<W<MID, MW>>(self.spread.deltas_o.val());
        self.parts.next[LINE..] = self.encoding_i.val();
        self.parts.next[LINE + 4..] = self.payload_i.val().get_bits::<64>(0);
        self.parts.next[LINE + 68..] = self.spread.mask_o.val();
        self.parts_valid.next = self.valid_i.val();
        for i in 0..self._spread_registers {
            drive!(self.after_spread[i]; clk_i, rst_ni, valid_i: parts_valid, data_i: parts);
            drive!(self; parts_valid: after_spread[i].valid_o, parts: after_spread[i].data_o);
        }

        comment!("the base of each word");
        self.operands.deltas_i.next = bit_cast_to::<W<LINE, LW>>(self.parts.val());
        self.operands.tag_i.next = self.parts.val().get_bits::<4>(LINE);
        self.operands.base_i.next = self.parts.val().get_bits::<64>(LINE + 4);
        self.operands.mask_i.next = self.parts.val().get_bits::<N2>(LINE + 68);
        drive!(self; both: operands.operands_o, both_valid: parts_valid);
        for i in 0..self._operands_registers {
            drive!(self.after_operands[i]; clk_i, rst_ni, valid_i: both_valid, data_i: both);
            drive!(self; both_valid: after_operands[i].valid_o, both: after_operands[i].data_o);
        }

        comment!("the sums");
        self.add.operands_i.next = self.both.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.add.line_o.val());
        self.result.next[LINE] = self.add.error_o.val();
        drive!(self.results; clk_i, rst_ni, valid_i: both_valid, data_i: result, ready_i);

        self.valid_o.next = self.results.valid_o.val();
        self.line_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.error_o.next = self.results.data_o.val().get_bit(LINE);

        comment!("from the last register to the first: ready if empty or if the next one is ready");
        self.both_ready.next = self.results.ready_o.val();
        for i in 0..self._operands_registers {
            self.after_operands[i].ready_i.next = self.results.ready_o.val();
        }
        for i in 0..self._operands_registers {
            self.both_ready.next = self.after_operands[i].ready_o.val();
        }
        self.parts_ready.next = self.both_ready.val();
        for i in 0..self._spread_registers {
            self.after_spread[i].ready_i.next = self.both_ready.val();
        }
        for i in 0..self._spread_registers {
            self.parts_ready.next = self.after_spread[i].ready_o.val();
        }
        self.ready_o.next = self.parts_ready.val();
    }
}
