//! A queue of lines before a BDI compressor or decompressor: real values, the block's own latency and throughput.
//!
//! Every line that comes out is compared with what the codec's definition gives, whatever the engine: a wrong value
//! stops the simulation.
use crate::mechanism::probe::Probes;
use crate::partition::MechanismFault;
use selvedge_hw::Instance;
use selvedge_hw::bdi::{
    BdiCompressor, BdiDecompressor, BdiParams, Compressed, CompressorIn, DecompressorIn, LINE_WORDS, Line,
    compress_words,
};
use std::collections::VecDeque;

/// Lines that wait before a codec.
const QUEUE: usize = 4;

/// A codec gave a wrong value: an error of the block under both engines.
#[derive(Debug, thiserror::Error)]
#[error("{instance}: line {line:#x}: the codec's output is not what was put in")]
pub struct WrongValue {
    /// The block instance.
    pub instance: String,
    /// Byte address of the line.
    pub line: u64,
}

/// Something on its way through a codec, with the line's address and its values.
struct Item<T> {
    what: T,
    line: u64,
    values: Line,
    form: Compressed,
}

/// The queues around a block.
struct Queues<T> {
    waiting: VecDeque<Item<T>>,
    inside: VecDeque<Item<T>>,
    done: VecDeque<Item<T>>,
}

impl<T> Queues<T> {
    fn new() -> Self {
        let queue = || VecDeque::with_capacity(2 * QUEUE);
        Queues { waiting: queue(), inside: queue(), done: queue() }
    }

    fn has_room(&self) -> bool {
        self.waiting.len() < QUEUE
    }

    fn is_busy(&self) -> bool {
        !(self.waiting.is_empty() && self.inside.is_empty() && self.done.is_empty())
    }

    /// May the block give its output in this cycle?
    fn takes_output(&self) -> bool {
        self.done.len() < QUEUE
    }

    /// The line that came out of the block is the oldest inside.
    fn out(&mut self) -> Item<T> {
        self.inside.pop_front().expect("a block gives out only what was put in")
    }
}

/// A compressor with its queues.
pub struct CompressorStage<T> {
    block: Instance<BdiCompressor>,
    queues: Queues<T>,
    /// Lines that came out.
    pub lines: u64,
}

impl<T> CompressorStage<T> {
    /// An idle compressor of `depth` cycles.
    pub fn new(name: String, line_bytes: u32, depth: u32, probes: &Probes) -> Self {
        let block = probes
            .instance(name, &BdiParams { line_bytes: line_bytes as usize, pipeline_depth: depth as usize });
        CompressorStage { block, queues: Queues::new(), lines: 0 }
    }

    /// Can a line be put in?
    pub fn has_room(&self) -> bool {
        self.queues.has_room()
    }

    /// Puts a line in; the caller has checked [`CompressorStage::has_room`].
    pub fn push(&mut self, what: T, line: u64, values: Line) {
        self.queues.waiting.push_back(Item {
            what,
            line,
            form: compress_words(&values, self.block.params().line_bytes),
            values,
        });
    }

    /// Is anything waiting, inside or done?
    pub fn is_busy(&self) -> bool {
        self.queues.is_busy()
    }

    /// One clock.
    ///
    /// # Errors
    /// Model and RTL differ, or a wrong value came out.
    pub fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.block.advance_to(now);
        let head = self.queues.waiting.front();
        let out = self.block.step(&CompressorIn {
            valid_i: head.is_some(),
            line_i: head.map_or([0; LINE_WORDS], |item| item.values),
            ready_i: self.queues.takes_output(),
        });
        let out = out.map_err(|divergence| divergence as MechanismFault)?;
        if out.valid_o && self.queues.takes_output() {
            let item = self.queues.out();
            if (out.encoding_o, out.payload_o) != (item.form.encoding.tag(), item.form.payload) {
                return Err(Box::new(WrongValue { instance: self.block.name().into(), line: item.line }));
            }
            self.lines += 1;
            self.queues.done.push_back(item);
        }
        if out.ready_o
            && let Some(item) = self.queues.waiting.pop_front()
        {
            self.queues.inside.push_back(item);
        }
        Ok(())
    }

    /// Takes what is done: the thing, its line and its compressed form.
    pub fn pop(&mut self) -> Option<(T, u64, Compressed)> {
        self.queues.done.pop_front().map(|item| (item.what, item.line, item.form))
    }

    /// What was recorded.
    pub fn trace(&self) -> Option<selvedge_hw::wave::Trace> {
        self.block.trace()
    }
}

/// A decompressor with its queues.
pub struct DecompressorStage<T> {
    block: Instance<BdiDecompressor>,
    queues: Queues<T>,
    /// Lines that came out.
    pub lines: u64,
}

impl<T> DecompressorStage<T> {
    /// An idle decompressor of `depth` cycles.
    pub fn new(name: String, line_bytes: u32, depth: u32, probes: &Probes) -> Self {
        let block = probes
            .instance(name, &BdiParams { line_bytes: line_bytes as usize, pipeline_depth: depth as usize });
        DecompressorStage { block, queues: Queues::new(), lines: 0 }
    }

    /// Can a line be put in?
    pub fn has_room(&self) -> bool {
        self.queues.has_room()
    }

    /// Puts the compressed `form` of `values` in; the caller has checked [`DecompressorStage::has_room`].
    pub fn push(&mut self, what: T, line: u64, form: Compressed, values: Line) {
        self.queues.waiting.push_back(Item { what, line, values, form });
    }

    /// Is anything waiting, inside or done?
    pub fn is_busy(&self) -> bool {
        self.queues.is_busy()
    }

    /// One clock.
    ///
    /// # Errors
    /// Model and RTL differ, or a wrong value came out.
    pub fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.block.advance_to(now);
        let head = self.queues.waiting.front();
        let out = self.block.step(&DecompressorIn {
            valid_i: head.is_some(),
            encoding_i: head.map_or(0, |item| item.form.encoding.tag()),
            payload_i: head.map_or([0; LINE_WORDS], |item| item.form.payload),
            ready_i: self.queues.takes_output(),
        });
        let out = out.map_err(|divergence| divergence as MechanismFault)?;
        if out.valid_o && self.queues.takes_output() {
            let item = self.queues.out();
            if out.line_o != item.values {
                return Err(Box::new(WrongValue { instance: self.block.name().into(), line: item.line }));
            }
            self.lines += 1;
            self.queues.done.push_back(item);
        }
        if out.ready_o
            && let Some(item) = self.queues.waiting.pop_front()
        {
            self.queues.inside.push_back(item);
        }
        Ok(())
    }

    /// Takes what is done: the thing and its line.
    pub fn pop(&mut self) -> Option<(T, u64)> {
        self.queues.done.pop_front().map(|item| (item.what, item.line))
    }

    /// What was recorded.
    pub fn trace(&self) -> Option<selvedge_hw::wave::Trace> {
        self.block.trace()
    }
}
