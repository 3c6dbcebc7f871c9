//! The compressor's tops: its logic between the registers of an elastic pipeline.

use super::classify::FpcClassify;
use super::pack::FpcPack;
use super::whole::FpcCompress;
use crate::fpc::{CompressorIn, CompressorOut};
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::RtlTop;

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
                const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
                const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize,
                const SIZE: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
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
                /// 1: head and data; 0: the line as it was
                pub encoding_o: Signal<Out, U<1>>,
                /// its size in bits
                pub size_o: Signal<Out, U<SIZE>>,
                /// head and data from bit 0 up; zero beyond the size
                pub payload_o: Signal<Out, W<LINE, LW>>,
                /// the consumer takes the payload in this cycle
                pub ready_i: Signal<In, Bit>,
                results: ElasticPipe<W<RESULT, RW>>,
                result: Signal<Local, W<RESULT, RW>>,
                $($(#[doc = $field_doc])* $field: $type),*
            }
        }

        impl<
            const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
            const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize,
            const SIZE: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
        > $name<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE, MID, MW, RESULT, RW>
        {
            /// A compressor with `result_stages` registers behind the packing.
            pub fn new(result_stages: usize) -> Self {
                const { assert!(MID == LINE + SYM && RESULT == LINE + 1 + SIZE) };
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
                    results: ElasticPipe::new(result_stages),
                    result: Signal::default(),
                    $($field: $value),*
                }
            }
        }

        impl<
            const LINE: usize, const LW: usize, const WORDS: usize, const GROUPS: usize, const GROUP: usize,
            const SYM: usize, const SYMW: usize, const HEAD: usize, const HEADW: usize, const HSUM: usize,
            const SIZE: usize, const MID: usize, const MW: usize, const RESULT: usize, const RW: usize,
        > RtlTop for $name<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE, MID, MW, RESULT, RW>
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
                    size_o: self.size_o.val().to_u64() as u16,
                    payload_o,
                }
            }

            fn upset(&mut self, bit: usize) {
                // Ports in order are encoding, size, payload; in the register the payload comes first.
                let place = (bit % RESULT + LINE) % RESULT;
                let register = &mut self.results.last_mut().q;
                register.next = register.val().replace_bit(place, !register.val().get_bit(place));
            }
        }
    };
}

compressor_top! {
    /// Compresses cache lines by frequent patterns: one line per cycle, two or more cycles each.
    ///
    /// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of CABA.
    FpcCompressor {
        classify: Once<FpcClassify<LINE, LW, GROUPS, GROUP, SYM, SYMW>> = Once::default(),
        /// between the two halves of the logic: line and symbols
        middle: ElasticPipe<W<MID, MW>> = ElasticPipe::new(1),
        pack: Gate<FpcPack<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE>> = Gate::default(),
        classified: Signal<Local, W<MID, MW>> = Signal::default(),
        symbols: Signal<Local, W<SYM, SYMW>> = Signal::default(),
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

compressor_top! {
    /// Compresses cache lines by frequent patterns: one line per cycle, one cycle each.
    ///
    /// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of CABA.
    FpcCompressorOneCycle {
        compress: Gate<FpcCompress<LINE, LW, WORDS, GROUPS, GROUP, SYM, SYMW, HEAD, HEADW, HSUM, SIZE>> =
            Gate::default(),
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
