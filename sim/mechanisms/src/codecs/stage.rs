//! A queue of lines before a compressor or decompressor: real values, the block's own latency and throughput.
//!
//! A block works on what is put in, and what it gives is what the GPU goes on with: a line is compressed once. What comes out is
//! checked whatever the engine: a decompressor must give the line, and a compressor in RTL alone the form that the codec's
//! definition has. A wrong value stops the simulation.
use super::{Codec, Handshake};
use selvedge_blocks::line::Line;
use selvedge_gpu::events::BlockOperations;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_hw::{HwBlock, Instance};
use selvedge_state::State;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Lines that wait before a codec.
const QUEUE: usize = 4;

/// A codec gave a wrong value: an error of the block under every engine.
#[derive(Debug, thiserror::Error, State)]
#[error("{instance}: line {line:#x}: the codec's output is not what was put in")]
pub struct WrongValue {
    /// The block instance.
    pub instance: String,
    /// Byte address of the line.
    pub line: u64,
}

/// One of a codec's two blocks.
pub trait Direction {
    /// The block.
    type Block: HwBlock;
    /// What is put in.
    type Input: Copy;
    /// What comes out.
    type Output: Copy + PartialEq;
    /// Whether a block that runs as a model alone needs no check. What a decompressor gives is compared with the line for nothing.
    const MODEL_IS_RIGHT: bool;

    /// Returns the inputs: the data, whether they are offered, and whether the output is taken.
    fn inputs(data: Option<&Self::Input>, valid: bool, ready: bool) -> <Self::Block as HwBlock>::In;

    /// Returns what the outputs say.
    fn outputs(out: &<Self::Block as HwBlock>::Out) -> Handshake<Self::Output>;
}

/// The compressor of a codec.
pub struct Compressing<C>(PhantomData<C>);

/// The decompressor of a codec.
pub struct Decompressing<C>(PhantomData<C>);

impl<C: Codec> Direction for Compressing<C> {
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

impl<C: Codec> Direction for Decompressing<C> {
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

/// Something in flight through a codec, with its line.
#[derive(State)]
struct Item<D: Direction, T> {
    what: T,
    address: u64,
    input: D::Input,
    /// None: the block's model defines it.
    expected: Option<D::Output>,
}

/// What left a codec.
#[derive(State)]
pub struct Done<D: Direction, T> {
    /// What was put in with the line.
    pub what: T,
    /// Byte address of the line.
    pub address: u64,
    /// What was put in.
    pub input: D::Input,
    /// What came out.
    pub output: D::Output,
}

/// A codec's block with its queues.
#[derive(State)]
pub struct CodecStage<D: Direction, T> {
    block: Instance<D::Block>,
    waiting: VecDeque<Item<D, T>>,
    inside: VecDeque<Item<D, T>>,
    done: VecDeque<Done<D, T>>,
    /// What was offered last: the data ports keep it, so that the block's logic rests while nothing is offered.
    offered: Option<D::Input>,
    lines: u64,
}

impl<D: Direction, T> CodecStage<D, T> {
    /// Makes an idle codec.
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

    /// Returns whether a line can be put in.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < QUEUE
    }

    /// Puts a line in; the caller has checked [`CodecStage::has_room`]. `expected` is what must come out.
    pub fn push(&mut self, what: T, address: u64, input: D::Input, expected: impl FnOnce() -> D::Output) {
        let is_defined_by_model = D::MODEL_IS_RIGHT && self.block.model().is_some();
        let expected = (!is_defined_by_model).then(expected);
        self.waiting.push_back(Item { what, address, input, expected });
    }

    /// Returns whether anything is waiting, inside or done.
    pub fn is_busy(&self) -> bool {
        !(self.waiting.is_empty() && self.inside.is_empty() && self.done.is_empty())
    }

    /// Advances the block by one cycle, if anything is in it.
    ///
    /// # Errors
    /// Model and RTL differ, or a wrong value came out.
    pub fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        if self.is_busy() { self.clock(now, |_| ()).map(|_| ()) } else { Ok(()) }
    }

    /// Advances the block by one cycle, with `others` setting the inputs that have nothing to do with the stream of lines; returns
    /// the outputs.
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
            let Item { what, address, input, expected } =
                self.inside.pop_front().expect("a block gives only what was put in");
            let Some(output) = value.filter(|value| expected.is_none_or(|expected| *value == expected))
            else {
                return Err(Box::new(WrongValue { instance: self.block.name().into(), line: address }));
            };
            self.lines += 1;
            self.done.push_back(Done { what, address, input, output });
        }
        if takes && let Some(item) = self.waiting.pop_front() {
            self.inside.push_back(item);
        }
        Ok(out)
    }

    /// Takes what is done.
    pub fn pop(&mut self) -> Option<Done<D, T>> {
        self.done.pop_front()
    }

    /// Returns the lines that came out.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Adds the lines that came out to the block's operations.
    pub fn operations(&self, out: &mut BlockOperations) {
        out.add(<D::Block as HwBlock>::NAME, self.lines);
    }

    /// Returns what was recorded.
    pub fn trace(&self) -> Option<Trace> {
        self.block.trace()
    }
}
