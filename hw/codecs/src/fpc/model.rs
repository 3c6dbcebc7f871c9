//! Golden models of compressor and decompressor: the pure codec behind an elastic pipeline, cycle by cycle.
use super::codec::{Compressed, Decompressed, Variant, compress, decompress};
use super::params::{CompressorParams, DecompressorParams};
use super::rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};
use selvedge_hw::block::Clocked;
use selvedge_hw::pipeline::Pipeline;
use selvedge_state::State;

/// Golden model of the compressor.
#[derive(Clone, Debug, State)]
pub struct CompressorModel {
    line_bytes: usize,
    variant: Variant,
    pipeline: Pipeline<Compressed>,
}

impl CompressorModel {
    /// Returns a model in its reset state. The parameters must be valid.
    pub fn new(params: &CompressorParams) -> Self {
        let pipeline = Pipeline::new(params.pipeline_depth);
        CompressorModel { line_bytes: params.line_bytes, variant: params.lines().variant(), pipeline }
    }
}

impl Clocked<CompressorIn, CompressorOut> for CompressorModel {
    #[inline]
    fn step(&mut self, inputs: &CompressorIn) -> CompressorOut {
        let shown = self.pipeline.shown();
        let outputs = CompressorOut {
            ready_o: self.pipeline.ready(inputs.ready_i),
            valid_o: self.pipeline.valid(),
            encoding_o: u8::from(shown.compressed),
            size_o: shown.bits,
            payload_o: shown.payload,
        };
        let (line_bytes, variant) = (self.line_bytes, self.variant);
        self.pipeline.clock(inputs.ready_i, inputs.valid_i, || compress(&inputs.line_i, line_bytes, variant));
        outputs
    }

    fn reset(&mut self) {
        self.pipeline.reset();
    }
}

/// Golden model of the decompressor.
#[derive(Clone, Debug, State)]
pub struct DecompressorModel {
    line_bytes: usize,
    variant: Variant,
    pipeline: Pipeline<Decompressed>,
}

impl DecompressorModel {
    /// Returns a model in its reset state. The parameters must be valid.
    pub fn new(params: &DecompressorParams) -> Self {
        let pipeline = Pipeline::new(params.pipeline_depth);
        DecompressorModel { line_bytes: params.line_bytes, variant: params.lines().variant(), pipeline }
    }
}

impl Clocked<DecompressorIn, DecompressorOut> for DecompressorModel {
    #[inline]
    fn step(&mut self, inputs: &DecompressorIn) -> DecompressorOut {
        let shown = self.pipeline.shown();
        let outputs = DecompressorOut {
            ready_o: self.pipeline.ready(inputs.ready_i),
            valid_o: self.pipeline.valid(),
            error_o: shown.error,
            line_o: shown.line,
        };
        let (line_bytes, variant) = (self.line_bytes, self.variant);
        self.pipeline.clock(inputs.ready_i, inputs.valid_i, || {
            let payload = inputs.payload_i;
            decompress(
                &Compressed { compressed: inputs.encoding_i != 0, bits: 0, payload },
                line_bytes,
                variant,
            )
        });
        outputs
    }

    fn reset(&mut self) {
        self.pipeline.reset();
    }
}
