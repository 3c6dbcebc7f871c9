//! Golden models of compressor and decompressor: the pure codec in an elastic pipeline, cycle by cycle.
use super::codec::{BaseRule, BdiCompressed, compress_words_from, decompress};
use super::encoding::BdiEncoding;
use super::params::{BdiCompressorParams, BdiDecompressorParams};
use super::rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};
use crate::line::{Decompressed, Line};
use selvedge_hw::block::Clocked;
use selvedge_hw::pipeline::Pipeline;
use selvedge_state::State;

/// Golden model of the compressor.
#[derive(Clone, Debug, State)]
pub struct BdiCompressorModel {
    line_bytes: usize,
    base: BaseRule,
    pipeline: Pipeline<BdiCompressed>,
}

impl BdiCompressorModel {
    /// Returns the model in its reset state. The parameters must be valid.
    pub fn new(params: &BdiCompressorParams) -> Self {
        let BdiCompressorParams { line_bytes, pipeline_depth, .. } = *params;
        BdiCompressorModel { line_bytes, base: params.base(), pipeline: Pipeline::new(pipeline_depth) }
    }
}

impl Clocked<CompressorIn, CompressorOut> for BdiCompressorModel {
    #[inline]
    fn step(&mut self, inputs: &CompressorIn) -> CompressorOut {
        let shown = self.pipeline.shown();
        let outputs = CompressorOut {
            ready_o: self.pipeline.ready(inputs.ready_i),
            valid_o: self.pipeline.valid(),
            encoding_o: shown.encoding.tag(),
            size_o: shown.size,
            payload_o: shown.payload,
        };
        let (line_bytes, base) = (self.line_bytes, self.base);
        self.pipeline
            .clock(inputs.ready_i, inputs.valid_i, || compress_words_from(&inputs.line_i, line_bytes, base));
        outputs
    }

    fn reset(&mut self) {
        self.pipeline.reset();
    }
}

/// Golden model of the decompressor.
#[derive(Clone, Debug, State)]
pub struct BdiDecompressorModel {
    line_bytes: usize,
    pipeline: Pipeline<Decompressed>,
}

impl BdiDecompressorModel {
    /// Returns the model in its reset state. The parameters must be valid.
    pub fn new(params: &BdiDecompressorParams) -> Self {
        BdiDecompressorModel { line_bytes: params.line_bytes, pipeline: Pipeline::new(params.pipeline_depth) }
    }
}

impl Clocked<DecompressorIn, DecompressorOut> for BdiDecompressorModel {
    #[inline]
    fn step(&mut self, inputs: &DecompressorIn) -> DecompressorOut {
        let outputs = DecompressorOut {
            ready_o: self.pipeline.ready(inputs.ready_i),
            valid_o: self.pipeline.valid(),
            error_o: self.pipeline.shown().error,
            line_o: self.pipeline.shown().line,
        };
        let line_bytes = self.line_bytes;
        self.pipeline.clock(inputs.ready_i, inputs.valid_i, || {
            match BdiEncoding::from_tag(inputs.encoding_i) {
                Some(encoding) => {
                    let compressed = BdiCompressed { encoding, size: 0, payload: inputs.payload_i };
                    Decompressed { line: decompress(&compressed, line_bytes), error: false }
                }
                None => Decompressed { line: Line::default(), error: true },
            }
        });
        outputs
    }

    fn reset(&mut self) {
        self.pipeline.reset();
    }
}
