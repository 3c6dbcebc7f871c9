//! Golden models of compressor and decompressor: the pure codec behind an elastic pipeline, cycle by cycle.
use super::codec::{Compressed, Line, compress_words, decompress};
use super::{BdiParams, CompressorIn, CompressorOut, DecompressorIn, DecompressorOut, Encoding, MAX_DEPTH};
use crate::block::Clocked;

/// An elastic pipeline: `depth` registers, each of which takes a new item when it is empty or passes its own on.
///
/// Items keep their order, so they wait in a ring while only their places move. `shown` is what the last register
/// holds: it stays after the item is gone, as a register's contents do.
#[derive(Clone, Debug)]
struct Pipeline<T> {
    depth: usize,
    /// Bit `s`: register `s` holds an item. The last register is bit `depth - 1`.
    occupied: u32,
    ring: [T; MAX_DEPTH],
    /// Ring slot of the next item to enter the last register, and of the next to be accepted.
    head: usize,
    tail: usize,
    shown: T,
}

impl<T: Copy + Default> Pipeline<T> {
    fn new(depth: usize) -> Self {
        let empty = T::default();
        Pipeline { depth, occupied: 0, ring: [empty; MAX_DEPTH], head: 0, tail: 0, shown: empty }
    }

    fn last(&self) -> u32 {
        1 << (self.depth - 1)
    }

    fn valid(&self) -> bool {
        self.occupied & self.last() != 0
    }

    /// Can the first register take an item in this cycle? Yes, unless all are full and the last one is stuck.
    fn ready(&self, downstream_ready: bool) -> bool {
        downstream_ready || self.occupied != (self.last() << 1) - 1
    }

    /// The clock edge; `offered` makes the item, and is called only when the first register takes one.
    #[inline]
    fn clock(&mut self, downstream_ready: bool, valid: bool, offered: impl FnOnce() -> T) {
        if self.occupied == 0 && !valid {
            return;
        }
        let accept = valid && self.ready(downstream_ready);
        // A register moves its item on when the place after it is free or becomes free: when some register from
        // there on is empty or the last one is drained. Those below the highest hole move; those above stay.
        let all = (self.last() << 1) - 1;
        let moving = if downstream_ready {
            all
        } else {
            match !self.occupied & all {
                0 => 0,
                holes => (2 << holes.ilog2()) - 1,
            }
        };
        let stays = self.occupied & !moving;
        let moved = (self.occupied & moving) << 1 | u32::from(accept);
        let enters_last = moved & self.last() != 0 && moving & self.last() != 0;
        self.occupied = (stays | moved) & all;
        if self.depth == 1 {
            if accept {
                self.shown = offered();
            }
            return;
        }
        if enters_last {
            self.shown = self.ring[self.head];
            self.head = (self.head + 1) % MAX_DEPTH;
        }
        if accept {
            self.ring[self.tail] = offered();
            self.tail = (self.tail + 1) % MAX_DEPTH;
        }
    }
}

/// Golden model of the compressor.
#[derive(Clone, Debug)]
pub struct CompressorModel {
    line_bytes: usize,
    pipeline: Pipeline<Compressed>,
}

impl CompressorModel {
    /// The model in its reset state. The parameters must be valid.
    pub fn new(params: &BdiParams) -> Self {
        CompressorModel { line_bytes: params.line_bytes, pipeline: Pipeline::new(params.pipeline_depth) }
    }
}

impl Clocked<CompressorIn, CompressorOut> for CompressorModel {
    #[inline]
    fn step(&mut self, inputs: &CompressorIn) -> CompressorOut {
        let shown = &self.pipeline.shown;
        let outputs = CompressorOut {
            ready_o: self.pipeline.ready(inputs.ready_i),
            valid_o: self.pipeline.valid(),
            encoding_o: shown.encoding.tag(),
            size_o: shown.size,
            payload_o: shown.payload,
        };
        let line_bytes = self.line_bytes;
        self.pipeline.clock(inputs.ready_i, inputs.valid_i, || compress_words(&inputs.line_i, line_bytes));
        outputs
    }

    fn reset(&mut self) {
        self.pipeline = Pipeline::new(self.pipeline.depth);
    }
}

/// What the decompressor's last register holds.
#[derive(Clone, Copy, Debug, Default)]
struct Decompressed {
    line: Line,
    error: bool,
}

/// Golden model of the decompressor.
#[derive(Clone, Debug)]
pub struct DecompressorModel {
    line_bytes: usize,
    pipeline: Pipeline<Decompressed>,
}

impl DecompressorModel {
    /// The model in its reset state. The parameters must be valid.
    pub fn new(params: &BdiParams) -> Self {
        DecompressorModel { line_bytes: params.line_bytes, pipeline: Pipeline::new(params.pipeline_depth) }
    }
}

impl Clocked<DecompressorIn, DecompressorOut> for DecompressorModel {
    #[inline]
    fn step(&mut self, inputs: &DecompressorIn) -> DecompressorOut {
        let outputs = DecompressorOut {
            ready_o: self.pipeline.ready(inputs.ready_i),
            valid_o: self.pipeline.valid(),
            error_o: self.pipeline.shown.error,
            line_o: self.pipeline.shown.line,
        };
        let line_bytes = self.line_bytes;
        self.pipeline.clock(inputs.ready_i, inputs.valid_i, || match Encoding::from_tag(inputs.encoding_i) {
            Some(encoding) => {
                let compressed = Compressed { encoding, size: 0, payload: inputs.payload_i };
                Decompressed { line: decompress(&compressed, line_bytes), error: false }
            }
            None => Decompressed { line: Line::default(), error: true },
        });
        outputs
    }

    fn reset(&mut self) {
        self.pipeline = Pipeline::new(self.pipeline.depth);
    }
}
