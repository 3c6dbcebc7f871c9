//! Golden models of compressor and decompressor, cycle by cycle: the pure codec with the cycles of the blocks. With the
//! dictionary of 16 a line takes one cycle per four words and one more. CABA's variant has one register.
use super::codec::{CpackCompressed, CpackVariant, compress, decompress};
use super::fifo::DECODED_AT_ONCE;
use super::params::CpackParams;
use super::rtl::{CompressorIn, CompressorOut, DecompressorIn, DecompressorOut};
use crate::line::Decompressed;
use selvedge_hw::block::Clocked;
use selvedge_hw::pipeline::Pipeline;
use selvedge_state::State;

/// Cycles between the first and the second step of a group of four words.
const STEPS_APART: usize = 1;

/// An engine that works on a line for some cycles. It takes the next line while the last four words are in the second step.
#[derive(Clone, Copy, Debug, Default, State)]
struct FifoEngine<T: State> {
    /// Cycles until the first step takes another line.
    busy: usize,
    /// Lines in progress, each with the cycles until it is done: at most one in the first step and one in the second.
    work: [Option<(usize, T)>; 2],
    done: bool,
    /// Contents of the output registers. They have no meaning until the first result.
    shown: T,
}

impl<T: State + Copy> FifoEngine<T> {
    /// Returns whether the engine moves in this cycle. It stalls while a result is not taken.
    fn moves(&self, downstream_ready: bool) -> bool {
        downstream_ready || !self.done
    }

    fn ready(&self, downstream_ready: bool) -> bool {
        self.moves(downstream_ready) && self.busy == 0
    }

    /// Steps by one cycle. If an item is taken, the first step works on it for `cycles`, and `result` gives its outputs.
    fn clock(&mut self, downstream_ready: bool, valid: bool, cycles: usize, result: impl FnOnce() -> T) {
        if !self.moves(downstream_ready) {
            return;
        }
        if self.busy > 0 {
            self.busy -= 1;
        } else if valid {
            self.busy = cycles - 1;
            let free = self.work.iter_mut().find(|work| work.is_none());
            *free.expect("a line in each step at most") = Some((cycles + STEPS_APART, result()));
        }
        self.done = false;
        for work in &mut self.work {
            *work = match *work {
                Some((1, result)) => {
                    (self.done, self.shown) = (true, result);
                    None
                }
                other => other.map(|(cycles, result)| (cycles - 1, result)),
            };
        }
    }
}

/// Returns the cycles in which the first step works on a line.
fn cycles(line_bytes: usize) -> usize {
    line_bytes / 4 / DECODED_AT_ONCE
}

fn outputs(shown: &CpackCompressed, ready_o: bool, valid_o: bool) -> CompressorOut {
    CompressorOut {
        ready_o,
        valid_o,
        encoding_o: shown.encoding.tag(),
        size_o: shown.bits,
        payload_o: shown.payload,
    }
}

#[derive(Clone, Debug, State)]
enum CompressorKind {
    Fifo(Box<FifoEngine<CpackCompressed>>),
    Small(Box<Pipeline<CpackCompressed>>),
}

/// Golden model of the compressor.
#[derive(Clone, Debug, State)]
pub struct CpackCompressorModel {
    line_bytes: usize,
    kind: CompressorKind,
}

impl CpackCompressorModel {
    /// Returns a model in its reset state. The parameters must be valid.
    pub fn new(params: &CpackParams) -> Self {
        let kind = match params.variant() {
            CpackVariant::Fifo16 => CompressorKind::Fifo(Box::default()),
            CpackVariant::Small4 => CompressorKind::Small(Box::new(Pipeline::new(1))),
        };
        CpackCompressorModel { line_bytes: params.line_bytes, kind }
    }
}

impl Clocked<CompressorIn, CompressorOut> for CpackCompressorModel {
    fn step(&mut self, inputs: &CompressorIn) -> CompressorOut {
        let line_bytes = self.line_bytes;
        match &mut self.kind {
            CompressorKind::Fifo(engine) => {
                let outputs = outputs(&engine.shown, engine.ready(inputs.ready_i), engine.done);
                engine.clock(inputs.ready_i, inputs.valid_i, cycles(line_bytes), || {
                    compress(&inputs.line_i, line_bytes, CpackVariant::Fifo16)
                });
                outputs
            }
            CompressorKind::Small(pipeline) => {
                let outputs = outputs(pipeline.shown(), pipeline.ready(inputs.ready_i), pipeline.valid());
                pipeline.clock(inputs.ready_i, inputs.valid_i, || {
                    compress(&inputs.line_i, line_bytes, CpackVariant::Small4)
                });
                outputs
            }
        }
    }

    fn reset(&mut self) {
        match &mut self.kind {
            CompressorKind::Fifo(engine) => **engine = FifoEngine::default(),
            CompressorKind::Small(pipeline) => pipeline.reset(),
        }
    }
}

fn decompressed(shown: &Decompressed, ready_o: bool, valid_o: bool) -> DecompressorOut {
    DecompressorOut { ready_o, valid_o, error_o: shown.error, line_o: shown.line }
}

#[derive(Clone, Debug, State)]
enum DecompressorKind {
    Fifo(Box<FifoEngine<Decompressed>>),
    Small(Box<Pipeline<Decompressed>>),
}

/// Golden model of the decompressor.
#[derive(Clone, Debug, State)]
pub struct CpackDecompressorModel {
    line_bytes: usize,
    kind: DecompressorKind,
}

impl CpackDecompressorModel {
    /// Returns a model in its reset state. The parameters must be valid.
    pub fn new(params: &CpackParams) -> Self {
        let kind = match params.variant() {
            CpackVariant::Fifo16 => DecompressorKind::Fifo(Box::default()),
            CpackVariant::Small4 => DecompressorKind::Small(Box::new(Pipeline::new(1))),
        };
        CpackDecompressorModel { line_bytes: params.line_bytes, kind }
    }
}

impl Clocked<DecompressorIn, DecompressorOut> for CpackDecompressorModel {
    fn step(&mut self, inputs: &DecompressorIn) -> DecompressorOut {
        let line_bytes = self.line_bytes;
        match &mut self.kind {
            DecompressorKind::Fifo(engine) => {
                let outputs = decompressed(&engine.shown, engine.ready(inputs.ready_i), engine.done);
                engine.clock(inputs.ready_i, inputs.valid_i, cycles(line_bytes), || {
                    decompress(inputs.encoding_i, &inputs.payload_i, line_bytes, CpackVariant::Fifo16)
                });
                outputs
            }
            DecompressorKind::Small(pipeline) => {
                let outputs =
                    decompressed(pipeline.shown(), pipeline.ready(inputs.ready_i), pipeline.valid());
                pipeline.clock(inputs.ready_i, inputs.valid_i, || {
                    decompress(inputs.encoding_i, &inputs.payload_i, line_bytes, CpackVariant::Small4)
                });
                outputs
            }
        }
    }

    fn reset(&mut self) {
        match &mut self.kind {
            DecompressorKind::Fifo(engine) => **engine = FifoEngine::default(),
            DecompressorKind::Small(pipeline) => pipeline.reset(),
        }
    }
}
