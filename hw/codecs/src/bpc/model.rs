//! Golden models of compressor and decompressor: the pure codec, and the cycles that the hardware takes.
use super::codec::{BpcCompressed, BpcDecompressed, compress_words, decompress};
use super::params::{BpcParams, HALVES, PACK_CYCLES};
use super::rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};
use crate::line::Line;
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Works on one item at a time: takes it, works for some cycles, and shows the result until it is taken.
#[derive(Clone, Debug, Default, State)]
struct Worker<T> {
    /// Cycles of work that are left.
    left: usize,
    next: T,
    /// Content of the result register, also while it is not valid.
    shown: T,
    valid: bool,
}

impl<T: Copy> Worker<T> {
    fn ready(&self, downstream_ready: bool) -> bool {
        self.left == 0 && (!self.valid || downstream_ready)
    }

    /// Clocks the worker. If it takes an item, it calls `offered`, which returns the result and the cycles of work after
    /// this one.
    fn clock(&mut self, downstream_ready: bool, valid: bool, offered: impl FnOnce() -> (T, usize)) {
        if self.left > 0 {
            self.left -= 1;
            if self.left == 0 {
                (self.shown, self.valid) = (self.next, true);
            }
        } else if self.ready(downstream_ready) {
            self.valid = false;
            if valid {
                (self.next, self.left) = offered();
            }
        }
    }
}

/// Golden model of the compressor.
#[derive(Clone, Debug, State)]
pub struct BpcCompressorModel {
    line_bytes: usize,
    worker: Worker<BpcCompressed>,
}

impl BpcCompressorModel {
    /// Returns the model in its reset state. The parameters must be valid.
    pub fn new(params: &BpcParams) -> Self {
        BpcCompressorModel { line_bytes: params.line_bytes, worker: Worker::default() }
    }
}

impl Clocked<CompressorIn, CompressorOut> for BpcCompressorModel {
    fn step(&mut self, inputs: &CompressorIn) -> CompressorOut {
        let BpcCompressed { compressed, size, payload } = self.worker.shown;
        let outputs = CompressorOut {
            ready_o: self.worker.ready(inputs.ready_i),
            valid_o: self.worker.valid,
            compressed_o: compressed,
            size_o: size,
            payload_o: payload,
        };
        let line_bytes = self.line_bytes;
        self.worker.clock(inputs.ready_i, inputs.valid_i, || {
            (compress_words(&inputs.line_i, line_bytes), PACK_CYCLES + 1)
        });
        outputs
    }

    fn reset(&mut self) {
        self.worker = Worker::default();
    }
}

/// Golden model of the decompressor.
#[derive(Clone, Debug, State)]
pub struct BpcDecompressorModel {
    line_bytes: usize,
    worker: Worker<(Line, bool)>,
}

impl BpcDecompressorModel {
    /// Returns the model in its reset state. The parameters must be valid.
    pub fn new(params: &BpcParams) -> Self {
        BpcDecompressorModel { line_bytes: params.line_bytes, worker: Worker::default() }
    }
}

impl Clocked<DecompressorIn, DecompressorOut> for BpcDecompressorModel {
    fn step(&mut self, inputs: &DecompressorIn) -> DecompressorOut {
        let (line_o, error_o) = self.worker.shown;
        let outputs = DecompressorOut {
            ready_o: self.worker.ready(inputs.ready_i),
            valid_o: self.worker.valid,
            error_o,
            line_o,
        };
        let line_bytes = self.line_bytes;
        self.worker.clock(inputs.ready_i, inputs.valid_i, || {
            let compressed =
                BpcCompressed { compressed: inputs.compressed_i, size: 0, payload: inputs.payload_i };
            let BpcDecompressed { line, error, cycles } = decompress(&compressed, line_bytes);
            ((line, error), cycles + if inputs.compressed_i { HALVES } else { 1 })
        });
        outputs
    }

    fn reset(&mut self) {
        self.worker = Worker::default();
    }
}
