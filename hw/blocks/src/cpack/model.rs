//! Golden models of compressor and decompressor, cycle by cycle: four words per cycle with the dictionary of 16, the pure codec
//! behind one register in CABA's variant.
use super::codec::{Compressed, Decompressed, Variant, compress, cut, decompress, word};
use super::fifo::{DECODED_AT_ONCE, Decoder, Encoder};
use super::{CompressorIn, CompressorOut, CpackParams, DecompressorIn, DecompressorOut};
use crate::line::Line;
use selvedge_hw::block::Clocked;
use selvedge_hw::pipeline::Pipeline;
use selvedge_state::State;

/// When an engine that takes several cycles for each item works, and when it takes and gives items.
#[derive(Clone, Copy, Debug, Default, State)]
struct Turn {
    busy: bool,
    done: bool,
    /// Cycles of the item at hand that are over.
    cycle: usize,
}

impl Turn {
    fn ready(&self, downstream_ready: bool) -> bool {
        !self.busy && (downstream_ready || !self.done)
    }

    /// The clock edge. `work` is called in each cycle of work: with whether it is the item's first and its last.
    fn clock(&mut self, downstream_ready: bool, valid: bool, cycles: usize, work: impl FnOnce(bool, bool)) {
        let first = !self.busy;
        if first && !(valid && self.ready(downstream_ready)) {
            self.done &= !downstream_ready;
            return;
        }
        let cycle = if first { 0 } else { self.cycle };
        let last = cycle + 1 == cycles;
        work(first, last);
        *self = Turn { busy: !last, done: last, cycle: cycle + 1 };
    }
}

/// The compressor with the dictionary of 16.
#[derive(Clone, Copy, Debug, Default, State)]
struct FifoCompressor {
    turn: Turn,
    line: Line,
    next_word: usize,
    encoder: Encoder,
    /// What the output registers hold: the string so far, while there is no result.
    shown: Compressed,
}

impl FifoCompressor {
    fn step(&mut self, inputs: &CompressorIn, line_bytes: usize) -> CompressorOut {
        let outputs = outputs(&self.shown, self.turn.ready(inputs.ready_i), self.turn.done);
        let FifoCompressor { turn, line, next_word, encoder, shown } = self;
        turn.clock(inputs.ready_i, inputs.valid_i, line_bytes / 4 / DECODED_AT_ONCE, |first, last| {
            if first {
                (*line, *next_word, *encoder) = (cut(&inputs.line_i, line_bytes), 0, Encoder::default());
            }
            for _ in 0..DECODED_AT_ONCE {
                encoder.encode(word(line, *next_word));
                *next_word += 1;
            }
            let so_far = encoder.so_far(line_bytes);
            *shown = if last {
                encoder.finish(line, line_bytes)
            } else {
                Compressed { encoding: shown.encoding, ..so_far }
            };
        });
        outputs
    }
}

fn outputs(shown: &Compressed, ready_o: bool, valid_o: bool) -> CompressorOut {
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
    Fifo(Box<FifoCompressor>),
    Small(Box<Pipeline<Compressed>>),
}

/// Golden model of the compressor.
#[derive(Clone, Debug, State)]
pub struct CompressorModel {
    line_bytes: usize,
    kind: CompressorKind,
}

impl CompressorModel {
    /// The model in its reset state. The parameters must be valid.
    pub fn new(params: &CpackParams) -> Self {
        let kind = match params.variant() {
            Variant::Fifo16 => CompressorKind::Fifo(Box::default()),
            Variant::Small4 => CompressorKind::Small(Box::new(Pipeline::new(1))),
        };
        CompressorModel { line_bytes: params.line_bytes, kind }
    }
}

impl Clocked<CompressorIn, CompressorOut> for CompressorModel {
    fn step(&mut self, inputs: &CompressorIn) -> CompressorOut {
        let line_bytes = self.line_bytes;
        match &mut self.kind {
            CompressorKind::Fifo(fifo) => fifo.step(inputs, line_bytes),
            CompressorKind::Small(pipeline) => {
                let outputs = outputs(pipeline.shown(), pipeline.ready(inputs.ready_i), pipeline.valid());
                pipeline.clock(inputs.ready_i, inputs.valid_i, || {
                    compress(&inputs.line_i, line_bytes, Variant::Small4)
                });
                outputs
            }
        }
    }

    fn reset(&mut self) {
        match &mut self.kind {
            CompressorKind::Fifo(fifo) => **fifo = FifoCompressor::default(),
            CompressorKind::Small(pipeline) => pipeline.reset(),
        }
    }
}

/// The decompressor with the dictionary of 16.
#[derive(Clone, Copy, Debug, Default, State)]
struct FifoDecompressor {
    turn: Turn,
    decoder: Decoder,
    /// What the output registers hold: the words so far, while there is no line.
    shown: Decompressed,
}

impl FifoDecompressor {
    fn step(&mut self, inputs: &DecompressorIn, line_bytes: usize) -> DecompressorOut {
        let outputs = DecompressorOut {
            ready_o: self.turn.ready(inputs.ready_i),
            valid_o: self.turn.done,
            error_o: self.shown.error,
            line_o: self.shown.line,
        };
        let FifoDecompressor { turn, decoder, shown } = self;
        turn.clock(inputs.ready_i, inputs.valid_i, line_bytes / 4 / DECODED_AT_ONCE, |first, last| {
            if first {
                *decoder = Decoder::new(inputs.encoding_i, cut(&inputs.payload_i, line_bytes));
            }
            decoder.decode_some();
            *shown = if last {
                decoder.finish()
            } else {
                Decompressed { line: decoder.so_far(), error: shown.error }
            };
        });
        outputs
    }
}

#[derive(Clone, Debug, State)]
enum DecompressorKind {
    Fifo(Box<FifoDecompressor>),
    Small(Box<Pipeline<Decompressed>>),
}

/// Golden model of the decompressor.
#[derive(Clone, Debug, State)]
pub struct DecompressorModel {
    line_bytes: usize,
    kind: DecompressorKind,
}

impl DecompressorModel {
    /// The model in its reset state. The parameters must be valid.
    pub fn new(params: &CpackParams) -> Self {
        let kind = match params.variant() {
            Variant::Fifo16 => DecompressorKind::Fifo(Box::default()),
            Variant::Small4 => DecompressorKind::Small(Box::new(Pipeline::new(1))),
        };
        DecompressorModel { line_bytes: params.line_bytes, kind }
    }
}

impl Clocked<DecompressorIn, DecompressorOut> for DecompressorModel {
    fn step(&mut self, inputs: &DecompressorIn) -> DecompressorOut {
        let line_bytes = self.line_bytes;
        match &mut self.kind {
            DecompressorKind::Fifo(fifo) => fifo.step(inputs, line_bytes),
            DecompressorKind::Small(pipeline) => {
                let outputs = DecompressorOut {
                    ready_o: pipeline.ready(inputs.ready_i),
                    valid_o: pipeline.valid(),
                    error_o: pipeline.shown().error,
                    line_o: pipeline.shown().line,
                };
                pipeline.clock(inputs.ready_i, inputs.valid_i, || {
                    decompress(inputs.encoding_i, &inputs.payload_i, line_bytes, Variant::Small4)
                });
                outputs
            }
        }
    }

    fn reset(&mut self) {
        match &mut self.kind {
            DecompressorKind::Fifo(fifo) => **fifo = FifoDecompressor::default(),
            DecompressorKind::Small(pipeline) => pipeline.reset(),
        }
    }
}
