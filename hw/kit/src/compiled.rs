//! Blocks that somebody else compiles and steps: emitted Verilog, or a user's own, without a word of Verilog in this crate.
//!
//! The command hands a [`BlockCompiler`] to [`Instance::with`](crate::Instance::with); what it makes stands beside model and RTL.
use crate::block::HwBlock;
use crate::ports::Ports;
use crate::registry::BlockEntry;
use serde_json::Value;
use std::fmt::Debug;
use std::ops::Range;

/// A compiled block that is stepped by words.
pub trait CompiledBlock: Send {
    /// One clock: takes the values of the input ports, end to end, each in whole 64-bit words, and gives those of the output
    /// ports before the clock edge. Returns true when the cycle has left everything as the cycle before it did, which it
    /// looks at only if `compare` says so: then the same inputs will give the same outputs in each cycle that follows.
    fn step(&mut self, inputs: &[u64], outputs: &mut [u64], compare: bool) -> bool;

    /// One clock in reset, with every input zero.
    fn reset(&mut self);
}

/// Compiles blocks for the engines that are not of this crate.
pub trait BlockCompiler: Debug + Send + Sync {
    /// Compiles a block for one instance.
    ///
    /// # Errors
    /// Why that is not possible, in one line.
    fn compile(&self, block: &dyn BlockEntry, params: &Value)
    -> Result<Box<dyn CompiledBlock>, CompileError>;

    /// Returns how a block is compared with what stands in its place under every engine; none for a block that stays.
    fn replaces(&self, _block: &str) -> Option<Pace> {
        None
    }

    /// Returns what stands in place of blocks, for reports; empty where all blocks stay.
    fn replacements(&self) -> Vec<String> {
        Vec::new()
    }
}

/// How a block and what stands in its place are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Every port in every cycle.
    Cycles,
    /// The items that come out, in their order: the latency is another one. The block is a stream; see [`HwBlock::IS_STREAM`].
    Items,
}

/// Why a block has no compiled form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CompileError(pub String);

/// A compiled block with the typed ports of `B`. A cycle that repeats the last one is not evaluated.
pub(crate) struct Compiled<B: HwBlock> {
    block: Box<dyn CompiledBlock>,
    /// Where the words of each port are.
    places: [Vec<Range<usize>>; 2],
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    /// Inputs and outputs of the last cycle.
    last: Option<(B::In, B::Out)>,
    /// The last cycle has changed nothing.
    is_steady: bool,
}

impl<B: HwBlock> Compiled<B> {
    pub fn new(block: Box<dyn CompiledBlock>, params: &B::Params) -> Self {
        let places = [
            places(B::In::NAMES.len(), &|index| B::In::width(params, index)),
            places(B::Out::NAMES.len(), &|index| B::Out::width(params, index)),
        ];
        let [inputs, outputs] = [0, 1].map(|side| vec![0; places[side].last().map_or(0, |last| last.end)]);
        Compiled { block, places, inputs, outputs, last: None, is_steady: false }
    }

    pub fn step(&mut self, inputs: &B::In) -> B::Out {
        let repeats = self.last.as_ref().filter(|(last, _)| last == inputs);
        if let Some((_, outputs)) = repeats
            && self.is_steady
        {
            return *outputs;
        }
        let repeats = repeats.is_some();
        if !repeats {
            for (index, place) in self.places[0].iter().enumerate() {
                inputs.store(index, &mut self.inputs[place.clone()]);
            }
        }
        self.is_steady = self.block.step(&self.inputs, &mut self.outputs, repeats);
        let mut outputs = B::Out::default();
        for (index, place) in self.places[1].iter().enumerate() {
            outputs.load(index, &self.outputs[place.clone()]);
        }
        self.last = Some((*inputs, outputs));
        outputs
    }

    pub fn reset(&mut self) {
        (self.last, self.is_steady) = (None, false);
        self.block.reset();
    }
}

/// Returns where the words of ports with these widths are, end to end.
fn places(ports: usize, width: &dyn Fn(usize) -> usize) -> Vec<Range<usize>> {
    let mut end = 0;
    let mut place = |index| {
        let begin = end;
        end += width(index).div_ceil(64);
        begin..end
    };
    (0..ports).map(&mut place).collect()
}
