//! The decompressor's top: spreading and adding between the registers of an elastic pipeline.

use super::rebuild::{BdiRebuild, BdiSpread};
use crate::bdi::{DecompressorIn, DecompressorOut, LINE_WORDS};
use crate::rtl::prelude::*;
use crate::rtl_instance::RtlTop;

/// Declares a top of the decompressor: with or without a register between the two halves of the logic.
macro_rules! decompressor_top {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $($(#[doc = $field_doc:literal])* $field:ident : $type:ty = $value:expr),* $(,)? }
    ) => {
        rtl_block! {
            $(#[doc = $doc])*
            #[derive(LogicBlock)]
            pub struct $name<
                const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
                const H8: usize, const H4: usize, const H2: usize,
                const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
            > {
                /// clock
                pub clk_i: Signal<In, Clock>,
                /// asynchronous reset, active low; empties the pipeline
                pub rst_ni: Signal<In, Bit>,
                /// a payload is offered
                pub valid_i: Signal<In, Bit>,
                /// its encoding's tag
                pub encoding_i: Signal<In, U<4>>,
                /// base, mask and deltas from bit 0 up
                pub payload_i: Signal<In, W<LINE, LW>>,
                /// the payload is taken in this cycle
                pub ready_o: Signal<Out, Bit>,
                /// a line is offered
                pub valid_o: Signal<Out, Bit>,
                /// the tag meant nothing; the line is zero
                pub error_o: Signal<Out, Bit>,
                /// the line: byte 0 in bits 7 to 0
                pub line_o: Signal<Out, W<LINE, LW>>,
                /// the consumer takes the line in this cycle
                pub ready_i: Signal<In, Bit>,
                spread: Gate<BdiSpread<LINE, LW, N8, N4, N2, H8, H4, H2>>,
                rebuild: Gate<BdiRebuild<LINE, LW, N8, N4, N2>>,
                results: ElasticPipe<W<RESULT, RW>>,
                result: Signal<Local, W<RESULT, RW>>,
                $($(#[doc = $field_doc])* $field: $type),*
            }
        }

        impl<
            const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
            const H8: usize, const H4: usize, const H2: usize,
            const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
        > $name<LINE, LW, N8, N4, N2, H8, H4, H2, MID, MW, RESULT, RW>
        {
            /// A decompressor with `result_stages` registers behind the addition.
            pub fn new(result_stages: usize) -> Self {
                const { assert!(MID == LINE + 4 + 64 + N2 && RESULT == LINE + 1) };
                $name {
                    clk_i: Signal::default(),
                    rst_ni: Signal::default(),
                    valid_i: Signal::default(),
                    encoding_i: Signal::default(),
                    payload_i: Signal::default(),
                    ready_o: Signal::default(),
                    valid_o: Signal::default(),
                    error_o: Signal::default(),
                    line_o: Signal::default(),
                    ready_i: Signal::default(),
                    spread: Gate::default(),
                    rebuild: Gate::default(),
                    results: ElasticPipe::new(result_stages),
                    result: Signal::default(),
                    $($field: $value),*
                }
            }
        }

        impl<
            const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
            const H8: usize, const H4: usize, const H2: usize,
            const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
        > RtlTop for $name<LINE, LW, N8, N4, N2, H8, H4, H2, MID, MW, RESULT, RW>
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
    };
}

decompressor_top! {
    /// Rebuilds cache lines from base-delta-immediate payloads: one line per cycle, two or more cycles each.
    ///
    /// CABA, section 5.1; LATTE-CC, section IV.C.1. A tag that means nothing gives a line of zeros and error_o.
    BdiDecompressor {
        /// between spreading and adding: deltas, tag, base and mask
        middle: ElasticPipe<W<MID, MW>> = ElasticPipe::new(1),
        parts: Signal<Local, W<MID, MW>> = Signal::default(),
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const N8: usize,
    const N4: usize,
    const N2: usize,
    const H8: usize,
    const H4: usize,
    const H2: usize,
    const MID: usize,
    const MW: usize,
    const RESULT: usize,
    const RW: usize,
> Logic for BdiDecompressor<LINE, LW, N8, N4, N2, H8, H4, H2, MID, MW, RESULT, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.middle.clk_i.next = self.clk_i.val();
        self.middle.rst_ni.next = self.rst_ni.val();
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();

        comment!("take the payload apart; whatever the encoding, its base is in the lowest bits");
        self.spread.payload_i.next = self.payload_i.val();
        self.spread.tag_i.next = self.encoding_i.val();
        self.parts.next = bit_cast_to::<W<MID, MW>>(self.spread.deltas_o.val());
        self.parts.next = self.parts.val().replace_bit(LINE, self.encoding_i.val());
        self.parts.next = self.parts.val().replace_bit(LINE + 4, self.payload_i.val().get_bits::<64>(0));
        self.parts.next = self.parts.val().replace_bit(LINE + 68, self.spread.mask_o.val());
        self.middle.valid_i.next = self.valid_i.val();
        self.middle.data_i.next = self.parts.val();
        self.ready_o.next = self.middle.ready_o.val();

        comment!("add the bases");
        self.rebuild.deltas_i.next = bit_cast_to::<W<LINE, LW>>(self.middle.data_o.val());
        self.rebuild.tag_i.next = self.middle.data_o.val().get_bits::<4>(LINE);
        self.rebuild.base_i.next = self.middle.data_o.val().get_bits::<64>(LINE + 4);
        self.rebuild.mask_i.next = self.middle.data_o.val().get_bits::<N2>(LINE + 68);
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.rebuild.line_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.rebuild.error_o.val());
        self.results.valid_i.next = self.middle.valid_o.val();
        self.results.data_i.next = self.result.val();
        self.middle.ready_i.next = self.results.ready_o.val();

        self.valid_o.next = self.results.valid_o.val();
        self.line_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.error_o.next = self.results.data_o.val().get_bit(LINE);
        self.results.ready_i.next = self.ready_i.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

decompressor_top! {
    /// Rebuilds cache lines from base-delta-immediate payloads: one line per cycle, one cycle each.
    ///
    /// CABA, section 5.1; LATTE-CC, section IV.C.1. A tag that means nothing gives a line of zeros and error_o.
    BdiDecompressorOneCycle {}
}

impl<
    const LINE: usize,
    const LW: usize,
    const N8: usize,
    const N4: usize,
    const N2: usize,
    const H8: usize,
    const H4: usize,
    const H2: usize,
    const MID: usize,
    const MW: usize,
    const RESULT: usize,
    const RW: usize,
> Logic for BdiDecompressorOneCycle<LINE, LW, N8, N4, N2, H8, H4, H2, MID, MW, RESULT, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();

        comment!("take the payload apart; whatever the encoding, its base is in the lowest bits");
        self.spread.payload_i.next = self.payload_i.val();
        self.spread.tag_i.next = self.encoding_i.val();

        comment!("add the bases");
        self.rebuild.deltas_i.next = self.spread.deltas_o.val();
        self.rebuild.tag_i.next = self.encoding_i.val();
        self.rebuild.base_i.next = self.payload_i.val().get_bits::<64>(0);
        self.rebuild.mask_i.next = self.spread.mask_o.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.rebuild.line_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.rebuild.error_o.val());
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
