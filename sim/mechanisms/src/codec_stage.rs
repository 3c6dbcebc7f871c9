//! A queue of lines before a compressor or decompressor: real values, the block's own latency and throughput.
//!
//! Every line that comes out is compared with what the codec's definition gives, whatever the engine: a wrong value
//! stops the simulation.
use selvedge_blocks::bdi::{
    BdiCompressor, BdiDecompressor, BdiParams, Compressed, CompressorIn, CompressorOut, DecompressorIn,
    DecompressorOut, compress_words,
};
use selvedge_blocks::line::{LINE_WORDS, Line};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_hw::{HwBlock, Instance};
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

/// A line in both of its forms, for BDI.
#[derive(Clone, Copy)]
pub struct Forms {
    /// Compressed.
    pub form: Compressed,
    /// Uncompressed.
    pub values: Line,
}

/// What a stage needs to know of its block's ports.
pub trait Codec: HwBlock {
    /// A line in both of its forms.
    type Forms: Copy;

    /// Inputs that offer a line, or none, and say whether the output is taken.
    fn inputs(offered: Option<&Self::Forms>, ready: bool) -> Self::In;
    /// Did the block take what was offered?
    fn took(out: &Self::Out) -> bool;
    /// Does the block give a line?
    fn gives(out: &Self::Out) -> bool;
    /// Is the line that it gives the one that was put in?
    fn is_right(out: &Self::Out, line: &Self::Forms) -> bool;
}

impl Codec for BdiCompressor {
    type Forms = Forms;

    fn inputs(offered: Option<&Forms>, ready: bool) -> CompressorIn {
        let line_i = offered.map_or([0; LINE_WORDS], |line| line.values);
        CompressorIn { valid_i: offered.is_some(), line_i, ready_i: ready }
    }

    fn took(out: &CompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &CompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &CompressorOut, line: &Forms) -> bool {
        let Compressed { encoding, size, payload } = line.form;
        (out.encoding_o, out.size_o, out.payload_o) == (encoding.tag(), size, payload)
    }
}

impl Codec for BdiDecompressor {
    type Forms = Forms;

    fn inputs(offered: Option<&Forms>, ready: bool) -> DecompressorIn {
        DecompressorIn {
            valid_i: offered.is_some(),
            encoding_i: offered.map_or(0, |line| line.form.encoding.tag()),
            payload_i: offered.map_or([0; LINE_WORDS], |line| line.form.payload),
            ready_i: ready,
        }
    }

    fn took(out: &DecompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &DecompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &DecompressorOut, line: &Forms) -> bool {
        !out.error_o && out.line_o == line.values
    }
}

/// Something on its way through a codec, with its line.
struct Item<T, F> {
    what: T,
    address: u64,
    line: F,
}

/// A codec with its queues.
pub struct CodecStage<B: Codec, T> {
    block: Instance<B>,
    waiting: VecDeque<Item<T, B::Forms>>,
    inside: VecDeque<Item<T, B::Forms>>,
    done: VecDeque<Item<T, B::Forms>>,
    /// Lines that came out.
    pub lines: u64,
}

impl<B: Codec<Params = BdiParams>, T> CodecStage<B, T> {
    /// An idle BDI codec of `depth` cycles for lines of `line_bytes` bytes.
    pub fn new(name: String, line_bytes: u32, depth: u32, probes: &Probes) -> Self {
        let params = BdiParams { line_bytes: line_bytes as usize, pipeline_depth: depth as usize };
        Self::with_params(name, &params, probes)
    }
}

impl<B: Codec, T> CodecStage<B, T> {
    /// An idle codec.
    pub fn with_params(name: String, params: &B::Params, probes: &Probes) -> Self {
        let queue = || VecDeque::with_capacity(2 * QUEUE);
        CodecStage {
            block: probes.instance(name, params),
            waiting: queue(),
            inside: queue(),
            done: queue(),
            lines: 0,
        }
    }

    /// Can a line be put in?
    pub fn has_room(&self) -> bool {
        self.waiting.len() < QUEUE
    }

    /// Puts a line in; the caller has checked [`CodecStage::has_room`].
    pub fn push(&mut self, what: T, address: u64, line: B::Forms) {
        self.waiting.push_back(Item { what, address, line });
    }

    /// Is anything waiting, inside or done?
    pub fn is_busy(&self) -> bool {
        !(self.waiting.is_empty() && self.inside.is_empty() && self.done.is_empty())
    }

    /// One clock.
    ///
    /// # Errors
    /// Model and RTL differ, or a wrong value came out.
    pub fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.clock(now, |_| ()).map(|_| ())
    }

    /// One clock, with `others` setting the inputs that have nothing to do with the stream of lines; gives the outputs.
    ///
    /// # Errors
    /// As [`CodecStage::tick`].
    pub fn clock(&mut self, now: u64, others: impl FnOnce(&mut B::In)) -> Result<B::Out, MechanismFault> {
        self.block.advance_to(now);
        let ready = self.done.len() < QUEUE;
        let offered = self.waiting.front().map(|item| &item.line);
        let mut inputs = B::inputs(offered, ready);
        others(&mut inputs);
        let out = self.block.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        if B::gives(&out) && ready {
            let item = self.inside.pop_front().expect("a block gives out only what was put in");
            if !B::is_right(&out, &item.line) {
                return Err(Box::new(WrongValue { instance: self.block.name().into(), line: item.address }));
            }
            self.lines += 1;
            self.done.push_back(item);
        }
        if B::took(&out)
            && let Some(item) = self.waiting.pop_front()
        {
            self.inside.push_back(item);
        }
        Ok(out)
    }

    /// Takes what is done: the thing, its line's address and the line.
    pub fn pop(&mut self) -> Option<(T, u64, B::Forms)> {
        self.done.pop_front().map(|item| (item.what, item.address, item.line))
    }

    /// What was recorded.
    pub fn trace(&self) -> Option<Trace> {
        self.block.trace()
    }
}

/// A line's two forms, from its values.
pub fn compressed(values: Line, line_bytes: u32) -> Forms {
    Forms { form: compress_words(&values, line_bytes as usize), values }
}
