//! Golden models of compressor and decompressor: the pure codec behind an elastic pipeline, cycle by cycle.
use super::codec::{FpcCompressed, FpcVariant, compress, decompress};
use super::params::{FpcCompressorParams, FpcDecompressorParams};
use super::rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};
use crate::line::Decompressed;
use selvedge_hw::block::Clocked;
use selvedge_hw::pipeline::Pipeline;
use selvedge_state::State;

/// Golden model of the compressor.
#[derive(Clone, Debug, State)]
pub struct FpcCompressorModel {
    line_bytes: usize,
    variant: FpcVariant,
    pipeline: Pipeline<FpcCompressed>,
}

impl FpcCompressorModel {
    /// Returns a model in its reset state. The parameters must be valid.
    pub fn new(params: &FpcCompressorParams) -> Self {
        let pipeline = Pipeline::new(params.pipeline_depth);
        FpcCompressorModel { line_bytes: params.line_bytes, variant: params.lines().variant(), pipeline }
    }
}

impl Clocked<CompressorIn, CompressorOut> for FpcCompressorModel {
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
pub struct FpcDecompressorModel {
    line_bytes: usize,
    variant: FpcVariant,
    pipeline: Pipeline<Decompressed>,
}

impl FpcDecompressorModel {
    /// Returns a model in its reset state. The parameters must be valid.
    pub fn new(params: &FpcDecompressorParams) -> Self {
        let pipeline = Pipeline::new(params.pipeline_depth);
        FpcDecompressorModel { line_bytes: params.line_bytes, variant: params.lines().variant(), pipeline }
    }
}

impl Clocked<DecompressorIn, DecompressorOut> for FpcDecompressorModel {
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
                &FpcCompressed { compressed: inputs.encoding_i != 0, bits: 0, payload },
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
