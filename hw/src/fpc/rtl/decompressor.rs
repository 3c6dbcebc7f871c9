//! The decompressor's tops: its logic between the registers of an elastic pipeline.

use super::expand::FpcExpand;
use super::parse::FpcParse;
use super::whole::FpcDecompress;
use crate::bdi::LINE_WORDS;
use crate::fpc::{DecompressorIn, DecompressorOut};
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
                const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize, const HEAD: usize, const HEADW: usize, const PRE: usize, const PREW: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
            > {
                /// clock
                pub clk_i: Signal<In, Clock>,
                /// asynchronous reset, active low; empties the pipeline
                pub rst_ni: Signal<In, Bit>,
                /// a payload is offered
                pub valid_i: Signal<In, Bit>,
                /// 1: head and data; 0: the line as it was
                pub encoding_i: Signal<In, U<1>>,
                /// head and data from bit 0 up
                pub payload_i: Signal<In, W<LINE, LW>>,
                /// the payload is taken in this cycle
                pub ready_o: Signal<Out, Bit>,
                /// a line is offered
                pub valid_o: Signal<Out, Bit>,
                /// a zero run reached beyond the line; the line is zero
                pub error_o: Signal<Out, Bit>,
                /// the line: byte 0 in bits 7 to 0
                pub line_o: Signal<Out, W<LINE, LW>>,
                /// the consumer takes the line in this cycle
                pub ready_i: Signal<In, Bit>,
                results: ElasticPipe<W<RESULT, RW>>,
                result: Signal<Local, W<RESULT, RW>>,
                $($(#[doc = $field_doc])* $field: $type),*
            }
        }

        impl<
            const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize, const HEAD: usize, const HEADW: usize, const PRE: usize, const PREW: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
        > $name<LINE, LW, WORDS, GROUPS, GROUP, HEAD, HEADW, PRE, PREW, MID, MW, RESULT, RW>
        {
            /// A decompressor with `result_stages` registers behind the logic.
            pub fn new(result_stages: usize) -> Self {
                const { assert!(MID == LINE + PRE + 8 + 1 + 1 && RESULT == LINE + 1) };
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
                    results: ElasticPipe::new(result_stages),
                    result: Signal::default(),
                    $($field: $value),*
                }
            }
        }

        impl<
            const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize, const HEAD: usize, const HEADW: usize, const PRE: usize, const PREW: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
        > RtlTop for $name<LINE, LW, WORDS, GROUPS, GROUP, HEAD, HEADW, PRE, PREW, MID, MW, RESULT, RW>
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
    /// Decompresses cache lines of frequent patterns: one line per cycle, two or more cycles each.
    ///
    /// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of CABA.
    FpcDecompressor {
        parse: Once<FpcParse<LINE, LW, GROUPS, GROUP, HEAD, HEADW, PRE, PREW>> = Once::default(),
        /// between the two halves of the logic: payload, prefixes, end of the head, error, encoding
        middle: ElasticPipe<W<MID, MW>> = ElasticPipe::new(1),
        expand: Gate<FpcExpand<LINE, LW, WORDS, GROUPS, GROUP, PRE, PREW>> = Gate::default(),
        parsed: Signal<Local, W<MID, MW>> = Signal::default(),
        prefixes: Signal<Local, W<PRE, PREW>> = Signal::default(),
        error: Signal<Local, Bit> = Signal::default(),
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const WORDS: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const HEAD: usize,
    const HEADW: usize,
    const PRE: usize,
    const PREW: usize,
    const MID: usize,
    const MW: usize,
    const RESULT: usize,
    const RW: usize,
> Logic for FpcDecompressor<LINE, LW, WORDS, GROUPS, GROUP, HEAD, HEADW, PRE, PREW, MID, MW, RESULT, RW>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.middle.clk_i.next = self.clk_i.val();
        self.middle.rst_ni.next = self.rst_ni.val();
        self.results.clk_i.next = self.clk_i.val();
        self.results.rst_ni.next = self.rst_ni.val();

        comment!("prefixes and end of the head");
        self.parse.encoding_i.next = self.encoding_i.val();
        self.parse.payload_i.next = self.payload_i.val();
        self.parsed.next = bit_cast_to::<W<MID, MW>>(self.payload_i.val());
        for g in 0..GROUPS {
            self.parsed.next =
                self.parsed.val().replace_bit(LINE + g * 3, self.parse.prefixes_o.val().get_bits::<3>(g * 3));
        }
        self.parsed.next = self.parsed.val().replace_bit(LINE + PRE, self.parse.start_o.val());
        self.parsed.next = self.parsed.val().replace_bit(LINE + PRE + 8, self.parse.error_o.val());
        self.parsed.next = self.parsed.val().replace_bit(LINE + PRE + 9, self.encoding_i.val());
        self.middle.valid_i.next = self.valid_i.val();
        self.middle.data_i.next = self.parsed.val();
        self.ready_o.next = self.middle.ready_o.val();

        comment!("words from their data");
        self.prefixes.next = 0.into();
        for g in 0..GROUPS {
            self.prefixes.next =
                self.prefixes.val().replace_bit(g * 3, self.middle.data_o.val().get_bits::<3>(LINE + g * 3));
        }
        self.error.next = self.middle.data_o.val().get_bit(LINE + PRE + 8);
        self.expand.payload_i.next = bit_cast_to::<W<LINE, LW>>(self.middle.data_o.val());
        self.expand.prefixes_i.next = self.prefixes.val();
        self.expand.start_i.next = self.middle.data_o.val().get_bits::<8>(LINE + PRE);
        self.expand.error_i.next = self.error.val();
        self.expand.encoding_i.next = self.middle.data_o.val().get_bits::<1>(LINE + PRE + 9);
        self.result.next = bit_cast_to::<W<RESULT, RW>>(self.expand.line_o.val());
        self.result.next = self.result.val().replace_bit(LINE, self.error.val());
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
    /// Decompresses cache lines of frequent patterns: one line per cycle, one cycle each.
    ///
    /// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of CABA.
    FpcDecompressorOneCycle {
        decompress: Gate<FpcDecompress<LINE, LW, WORDS, GROUPS, GROUP, HEAD, HEADW, PRE, PREW>> = Gate::default(),
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const WORDS: usize,
    const GROUPS: usize,
    const GROUP: usize,
    const HEAD: usize,
    const HEADW: usize,
    const PRE: usize,
    const PREW: usize,
    const MID: usize,
    const MW: usize,
    const RESULT: usize,
    const RW: usize,
> Logic
    for FpcDecompressorOneCycle<LINE, LW, WORDS, GROUPS, GROUP, HEAD, HEADW, PRE, PREW, MID, MW, RESULT, RW>
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
