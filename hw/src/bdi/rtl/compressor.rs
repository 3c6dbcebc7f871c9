//! The compressor's top: choice and packing between the registers of an elastic pipeline.

use super::choose::BdiChoose;
use super::pack::BdiPack;
use crate::bdi::{CompressorIn, CompressorOut, LINE_WORDS};
use crate::rtl::prelude::*;
use crate::rtl_instance::RtlTop;

/// Declares a top of the compressor: with or without a register between the two halves of the logic.
macro_rules! compressor_top {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $($(#[doc = $field_doc:literal])* $field:ident : $type:ty = $value:expr),* $(,)? }
    ) => {
        rtl_block! {
            $(#[doc = $doc])*
            #[derive(LogicBlock)]
            pub struct $name<
                const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
                const H8: usize, const H4: usize, const H2: usize, const SIZE: usize,
                const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
            > {
                /// clock
                pub clk_i: Signal<In, Clock>,
                /// asynchronous reset, active low; empties the pipeline
                pub rst_ni: Signal<In, Bit>,
                /// a line is offered
                pub valid_i: Signal<In, Bit>,
                /// the line: byte 0 in bits 7 to 0
                pub line_i: Signal<In, W<LINE, LW>>,
                /// the line is taken in this cycle
                pub ready_o: Signal<Out, Bit>,
                /// a payload is offered
                pub valid_o: Signal<Out, Bit>,
                /// its encoding's tag
                pub encoding_o: Signal<Out, U<4>>,
                /// its size in bytes
                pub size_o: Signal<Out, U<SIZE>>,
                /// base, mask and deltas from bit 0 up; zero beyond the size
                pub payload_o: Signal<Out, W<LINE, LW>>,
                /// the consumer takes the payload in this cycle
                pub ready_i: Signal<In, Bit>,
                choose: Gate<BdiChoose<LINE, LW, N8, N4, N2>>,
                pack: Gate<BdiPack<LINE, LW, N8, N4, N2, H8, H4, H2, SIZE>>,
                results: ElasticPipe<W<RESULT, RW>>,
                result: Signal<Local, W<RESULT, RW>>,
                $($(#[doc = $field_doc])* $field: $type),*
            }
        }

        impl<
            const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
            const H8: usize, const H4: usize, const H2: usize, const SIZE: usize,
            const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
        > $name<LINE, LW, N8, N4, N2, H8, H4, H2, SIZE, MID, MW, RESULT, RW>
        {
            /// A compressor with `result_stages` registers behind the packing.
            pub fn new(result_stages: usize) -> Self {
                const { assert!(MID == LINE + 4 + 64 + N2 && RESULT == LINE + 4 + SIZE) };
                $name {
                    clk_i: Signal::default(),
                    rst_ni: Signal::default(),
                    valid_i: Signal::default(),
                    line_i: Signal::default(),
                    ready_o: Signal::default(),
                    valid_o: Signal::default(),
                    encoding_o: Signal::default(),
                    size_o: Signal::default(),
                    payload_o: Signal::default(),
                    ready_i: Signal::default(),
                    choose: Gate::default(),
                    pack: Gate::default(),
                    results: ElasticPipe::new(result_stages),
                    result: Signal::default(),
                    $($field: $value),*
                }
            }
        }

        impl<
            const LINE: usize, const LW: usize, const N8: usize, const N4: usize, const N2: usize,
            const H8: usize, const H4: usize, const H2: usize, const SIZE: usize,
            const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
        > RtlTop for $name<LINE, LW, N8, N4, N2, H8, H4, H2, SIZE, MID, MW, RESULT, RW>
        {
            type In = CompressorIn;
            type Out = CompressorOut;

            fn drive(&mut self, inputs: &CompressorIn) {
                self.valid_i.next = inputs.valid_i;
                self.line_i.next = W::from_words(std::array::from_fn(|word| inputs.line_i[word]));
                self.ready_i.next = inputs.ready_i;
            }

            fn sample(&self) -> CompressorOut {
                let mut payload_o = [0; LINE_WORDS];
                payload_o[..LW].copy_from_slice(self.payload_o.val().words());
                CompressorOut {
                    ready_o: self.ready_o.val(),
                    valid_o: self.valid_o.val(),
                    encoding_o: self.encoding_o.val().to_u64() as u8,
                    size_o: self.size_o.val().to_u64() as u8,
                    payload_o,
                }
            }

            fn upset(&mut self, bit: usize) {
                // Ports in order are tag, size, payload; in the register the payload comes first.
                let place = (bit % RESULT + LINE) % RESULT;
                let register = &mut self.results.last_mut().q;
                register.next = register.val().replace_bit(place, !register.val().get_bit(place));
            }
        }
    };
}

compressor_top! {
    /// Compresses cache lines by base-delta-immediate: one line per cycle, two or more cycles each.
    ///
    /// CABA, section 5.1; LATTE-CC, section IV.C.1. The payload is the smallest of eleven encodings, ties to the wider base.
    BdiCompressor {
        /// between choice and packing: line, tag, base and mask
        middle: ElasticPipe<W<MID, MW>> = ElasticPipe::new(1),
        chosen: Signal<Local, W<MID, MW>> = Signal::default(),
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
    const SIZE: usize,
    const MID: usize,
    const MW: usize,
    const RESULT: usize,
    const RW: usize,
> Logic for BdiCompressor<LINE, LW, N8, N4, N2, H8, H4, H2, SIZE, MID, MW, RESULT, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.middle.clk_i.next = self.clk_i.val();
        self.middle.rst_ni.next = self.rst_ni.val();
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();

        comment!("choose encoding, base and mask");
        self.choose.line_i.next = self.line_i.val();
        self.chosen.next = bit_cast_to::<W<MID, MW>>(self.line_i.val());
        self.chosen.next = self.chosen.val().replace_bit(LINE, self.choose.tag_o.val());
        self.chosen.next = self.chosen.val().replace_bit(LINE + 4, self.choose.base_o.val());
        self.chosen.next = self.chosen.val().replace_bit(LINE + 68, self.choose.mask_o.val());
        self.middle.valid_i.next = self.valid_i.val();
        self.middle.data_i.next = self.chosen.val();
        self.ready_o.next = self.middle.ready_o.val();

        comment!("pack the deltas");
        self.pack.line_i.next = bit_cast_to::<W<LINE, LW>>(self.middle.data_o.val());
        self.pack.tag_i.next = self.middle.data_o.val().get_bits::<4>(LINE);
        self.pack.base_i.next = self.middle.data_o.val().get_bits::<64>(LINE + 4);
        self.pack.mask_i.next = self.middle.data_o.val().get_bits::<N2>(LINE + 68);
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.pack.payload_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.middle.data_o.val().get_bits::<4>(LINE));
        self.result.next = self.result.val().replace_bit(LINE + 4, self.pack.size_o.val());
        self.results.valid_i.next = self.middle.valid_o.val();
        self.results.data_i.next = self.result.val();
        self.middle.ready_i.next = self.results.ready_o.val();

        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<4>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 4);
        self.results.ready_i.next = self.ready_i.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

compressor_top! {
    /// Compresses cache lines by base-delta-immediate: one line per cycle, one cycle each.
    ///
    /// CABA, section 5.1; LATTE-CC, section IV.C.1. The payload is the smallest of eleven encodings, ties to the wider base.
    BdiCompressorOneCycle {}
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
    const SIZE: usize,
    const MID: usize,
    const MW: usize,
    const RESULT: usize,
    const RW: usize,
> Logic for BdiCompressorOneCycle<LINE, LW, N8, N4, N2, H8, H4, H2, SIZE, MID, MW, RESULT, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();

        comment!("choose encoding, base and mask");
        self.choose.line_i.next = self.line_i.val();

        comment!("pack the deltas");
        self.pack.line_i.next = self.line_i.val();
        self.pack.tag_i.next = self.choose.tag_o.val();
        self.pack.base_i.next = self.choose.base_o.val();
        self.pack.mask_i.next = self.choose.mask_o.val();
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.pack.payload_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.choose.tag_o.val());
        self.result.next = self.result.val().replace_bit(LINE + 4, self.pack.size_o.val());
        self.results.valid_i.next = self.valid_i.val();
        self.results.data_i.next = self.result.val();
        self.ready_o.next = self.results.ready_o.val();

        self.valid_o.next = self.results.valid_o.val();
        self.payload_o.next = bit_cast_to::<W<LINE, LW>>(self.results.data_o.val());
        self.encoding_o.next = self.results.data_o.val().get_bits::<4>(LINE);
        self.size_o.next = self.results.data_o.val().get_bits::<SIZE>(LINE + 4);
        self.results.ready_i.next = self.ready_i.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
