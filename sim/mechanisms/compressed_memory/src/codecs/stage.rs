//! A queue of lines before a compressor or decompressor, with the latency and throughput of the block.
//!
//! The GPU uses the outputs of the block, so a line is compressed only once. The outputs are checked under every engine: a
//! decompressor must give the original line. The form from a compressor that runs without its model is compared with the
//! codec's definition. A wrong value stops the simulation.
use super::{Codec, Handshake};
use selvedge_gpu::events::BlockOperations;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_hw::{HwBlock, Instance};
use selvedge_hw_codecs::line::Line;
use selvedge_state::State;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Max lines that wait before a codec.
const QUEUE: usize = 4;

/// A codec gave a wrong value: an error of the block, under any engine.
#[derive(Debug, thiserror::Error, State)]
#[error("{instance}: line {line:#x}: the codec's output is not what was put in")]
pub struct WrongValue {
    /// The block instance.
    pub instance: String,
    /// Byte address of the line.
    pub line: u64,
}

/// One of a codec's two blocks.
pub trait CodecBlock {
    /// The block.
    type Block: HwBlock;
    /// The input: a line or a form.
    type Input: Copy;
    /// The output: a form or a line.
    type Output: Copy + PartialEq;
    /// `true` if a block that runs as a model is not checked. A decompressor is always checked, as its line is known.
    const MODEL_IS_RIGHT: bool;

    /// Returns the inputs: the data, `valid` if they are offered, and `ready` if the output is taken.
    fn inputs(data: Option<&Self::Input>, valid: bool, ready: bool) -> <Self::Block as HwBlock>::In;

    /// Returns the outputs in the common form.
    fn outputs(out: &<Self::Block as HwBlock>::Out) -> Handshake<Self::Output>;
}

/// The compressor of a codec.
pub struct Compressing<C>(PhantomData<C>);

/// The decompressor of a codec.
pub struct Decompressing<C>(PhantomData<C>);

impl<C: Codec> CodecBlock for Compressing<C> {
    type Block = C::Compressor;
    type Input = Line;
    type Output = C::Form;
    const MODEL_IS_RIGHT: bool = true;

    fn inputs(data: Option<&Line>, valid: bool, ready: bool) -> <C::Compressor as HwBlock>::In {
        C::compressor_in(data, valid, ready)
    }

    fn outputs(out: &<C::Compressor as HwBlock>::Out) -> Handshake<C::Form> {
        C::compressor_out(out)
    }
}

impl<C: Codec> CodecBlock for Decompressing<C> {
    type Block = C::Decompressor;
    type Input = C::Form;
    type Output = Line;
    const MODEL_IS_RIGHT: bool = false;

    fn inputs(data: Option<&C::Form>, valid: bool, ready: bool) -> <C::Decompressor as HwBlock>::In {
        C::decompressor_in(data, valid, ready)
    }

    fn outputs(out: &<C::Decompressor as HwBlock>::Out) -> Handshake<Line> {
        C::decompressor_out(out)
    }
}

/// A line in the codec.
#[derive(State)]
struct LineInCodec<D: CodecBlock, T> {
    what: T,
    address: u64,
    input: D::Input,
    /// The expected output; none if the block's model defines it.
    expected: Option<D::Output>,
}

/// A line that left a codec.
#[derive(State)]
pub struct CodecOutput<D: CodecBlock, T> {
    /// The caller's data that were put in with the line.
    pub what: T,
    /// Byte address of the line.
    pub address: u64,
    /// The input of the block.
    pub input: D::Input,
    /// The output of the block.
    pub output: D::Output,
}

/// A codec's block with its queues.
#[derive(State)]
pub struct CodecStage<D: CodecBlock, T> {
    block: Instance<D::Block>,
    waiting: VecDeque<LineInCodec<D, T>>,
    inside: VecDeque<LineInCodec<D, T>>,
    done: VecDeque<CodecOutput<D, T>>,
    /// The last input. The data ports keep it while no line is offered, so that the block's logic does not switch.
    offered: Option<D::Input>,
    lines: u64,
}

impl<D: CodecBlock, T> CodecStage<D, T> {
    /// Returns an idle codec.
    pub fn new(name: String, params: &<D::Block as HwBlock>::Params, probes: &Probes) -> Self {
        CodecStage {
            block: probes.instance(name, params),
            waiting: VecDeque::with_capacity(2 * QUEUE),
            inside: VecDeque::with_capacity(2 * QUEUE),
            done: VecDeque::with_capacity(2 * QUEUE),
            offered: None,
            lines: 0,
        }
    }

    /// Returns whether the queue has a free entry.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < QUEUE
    }

    /// Puts a line into the queue. The caller must have checked [`CodecStage::has_room`]. The output must be `expected`.
    pub fn push(&mut self, what: T, address: u64, input: D::Input, expected: impl FnOnce() -> D::Output) {
        let is_defined_by_model = D::MODEL_IS_RIGHT && self.block.model().is_some();
        let expected = (!is_defined_by_model).then(expected);
        self.waiting.push_back(LineInCodec { what, address, input, expected });
    }

    /// Returns whether a line is in the queue, in the block or done.
    pub fn is_busy(&self) -> bool {
        !(self.waiting.is_empty() && self.inside.is_empty() && self.done.is_empty())
    }

    /// Returns whether the line of an address is in the queue, in the block or done.
    pub fn holds(&self, address: u64) -> bool {
        let has = |items: &VecDeque<LineInCodec<D, T>>| items.iter().any(|item| item.address == address);
        has(&self.waiting) || has(&self.inside) || self.done.iter().any(|done| done.address == address)
    }

    /// Advances the block by one cycle, if any line is in the stage.
    ///
    /// # Errors
    /// If the engines differ, or a wrong value came out.
    pub fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        if self.is_busy() { self.clock(now, |_| ()).map(|_| ()) } else { Ok(()) }
    }

    /// Advances the block by one cycle and returns its outputs. `others` sets the inputs that do not belong to the stream of
    /// lines.
    ///
    /// # Errors
    /// As [`CodecStage::tick`].
    pub fn clock(
        &mut self,
        now: u64,
        others: impl FnOnce(&mut <D::Block as HwBlock>::In),
    ) -> Result<<D::Block as HwBlock>::Out, MechanismFault> {
        self.block.advance_to(now);
        let ready = self.done.len() < QUEUE;
        let next = self.waiting.front();
        if let Some(item) = next {
            self.offered = Some(item.input);
        }
        let mut inputs = D::inputs(self.offered.as_ref(), next.is_some(), ready);
        others(&mut inputs);
        let out = self.block.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        let Handshake { takes, gives, value } = D::outputs(&out);
        if gives && ready {
            let LineInCodec { what, address, input, expected } =
                self.inside.pop_front().expect("a block gives only what was put in");
            let Some(output) = value.filter(|value| expected.is_none_or(|expected| *value == expected))
            else {
                return Err(Box::new(WrongValue { instance: self.block.name().into(), line: address }));
            };
            self.lines += 1;
            self.done.push_back(CodecOutput { what, address, input, output });
        }
        if takes && let Some(item) = self.waiting.pop_front() {
            self.inside.push_back(item);
        }
        Ok(out)
    }

    /// Removes and returns the first line that is done.
    pub fn pop(&mut self) -> Option<CodecOutput<D, T>> {
        self.done.pop_front()
    }

    /// Returns the number of lines that came out.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Adds the number of lines that came out to the block's operations.
    pub fn operations(&self, out: &mut BlockOperations) {
        out.add(<D::Block as HwBlock>::NAME, self.lines);
    }

    /// Returns the recorded ports of the block, if it is probed.
    pub fn trace(&self) -> Option<Trace> {
        self.block.trace()
    }
}
