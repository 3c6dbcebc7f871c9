//! Blocks that another crate compiles and steps: emitted Verilog, or a user's Verilog. This crate contains no Verilog.
//!
//! The command gives a [`BlockCompiler`] to [`Instance::with`](crate::Instance::with). The compiled block is another form of
//! the block, like model and RTL.
use crate::block::HwBlock;
use crate::ports::Ports;
use crate::registry::BlockEntry;
use serde_json::Value;
use std::fmt::Debug;
use std::ops::Range;

/// A compiled block that is stepped with words.
pub trait CompiledBlock: Send {
    /// Clocks once. `inputs` has the values of the input ports in order, each in whole 64-bit words. `outputs` receives the values of
    /// the output ports before the clock edge. If `compare` is set, returns `true` if the cycle ends in the same state as the
    /// cycle before it. Then the same inputs give the same outputs in every following cycle.
    ///
    /// # Errors
    /// If the block ends. It then fails in every later clock, too.
    fn step(&mut self, inputs: &[u64], outputs: &mut [u64], compare: bool) -> Result<bool, Ended>;

    /// Clocks once in reset, with every input zero.
    ///
    /// # Errors
    /// As [`Self::step`].
    fn reset(&mut self) -> Result<(), Ended>;

    /// Returns another instance in its reset state, which prints nothing, for a recorder.
    ///
    /// # Errors
    /// If the instance ends in its reset.
    fn silent_twin(&self) -> Result<Box<dyn CompiledBlock>, Ended>;
}

/// The reason for the end of a compiled block: it has called `$finish`, `$stop`, `$fatal` or `$error`, or it cannot be
/// evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Ended(pub String);

/// Compiles blocks for the engines with Verilog.
pub trait BlockCompiler: Debug + Send + Sync {
    /// Compiles a block for one instance.
    ///
    /// # Errors
    /// The reason for a failure, in one line.
    fn compile(&self, block: &dyn BlockEntry, params: &Value)
    -> Result<Box<dyn CompiledBlock>, CompileError>;

    /// Returns everything that determines the behavior of compiled blocks: tools, versions, options, and Verilog that replaces
    /// blocks.
    fn identity(&self) -> String;

    /// Returns how a block is compared with the Verilog that replaces it under every engine, or nothing if none replaces it.
    fn replaces(&self, _block: &str) -> Option<ComparisonPace> {
        None
    }

    /// Returns the replacements of blocks, for reports.
    fn replacements(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The comparison of a block with its replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonPace {
    /// Compares every port in every cycle.
    Cycles,
    /// Compares the output items in their order, for a replacement with another latency. See [`HwBlock::IS_STREAM`].
    Items,
}

/// The reason for which a block cannot be compiled, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CompileError(pub String);

/// A compiled block with the typed ports of `B`. A cycle that repeats the last one is not evaluated again.
pub(crate) struct Compiled<B: HwBlock> {
    block: Box<dyn CompiledBlock>,
    /// The words of each input and each output.
    places: [Vec<Range<usize>>; 2],
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    /// Inputs and outputs of the last cycle.
    last: Option<(B::In, B::Out)>,
    /// `true` if the last cycle has changed no state.
    is_steady: bool,
    /// The error of its reset, which the next step returns.
    ended: Option<Ended>,
}

impl<B: HwBlock> Compiled<B> {
    pub fn new(block: Box<dyn CompiledBlock>, params: &B::Params) -> Self {
        let places = [
            places(B::In::NAMES.len(), &|index| B::In::width(params, index)),
            places(B::Out::NAMES.len(), &|index| B::Out::width(params, index)),
        ];
        let [inputs, outputs] = [0, 1].map(|side| vec![0; places[side].last().map_or(0, |last| last.end)]);
        Compiled { block, places, inputs, outputs, last: None, is_steady: false, ended: None }
    }

    /// Clocks once.
    ///
    /// # Errors
    /// If the block ends.
    pub fn step(&mut self, inputs: &B::In) -> Result<B::Out, Box<Ended>> {
        let repeats = self.last.as_ref().filter(|(last, _)| last == inputs);
        if let Some((_, outputs)) = repeats
            && self.is_steady
        {
            return Ok(*outputs);
        }
        if let Some(ended) = &self.ended {
            return Err(Box::new(ended.clone()));
        }
        let repeats = repeats.is_some();
        if !repeats {
            for (index, place) in self.places[0].iter().enumerate() {
                inputs.store(index, &mut self.inputs[place.clone()]);
            }
        }
        self.is_steady = self.block.step(&self.inputs, &mut self.outputs, repeats)?;
        let mut outputs = B::Out::default();
        for (index, place) in self.places[1].iter().enumerate() {
            outputs.load(index, &self.outputs[place.clone()]);
        }
        self.last = Some((*inputs, outputs));
        Ok(outputs)
    }

    /// Returns whether the last cycle was compared and has changed no state.
    pub fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// Clocks once in reset. The next step returns its error.
    pub fn reset(&mut self) {
        (self.last, self.is_steady) = (None, false);
        self.ended = self.block.reset().err();
    }

    /// Returns another instance in its reset state, which prints nothing.
    ///
    /// # Errors
    /// If the instance ends in its reset.
    pub fn silent_twin(&self, params: &B::Params) -> Result<Self, Ended> {
        Ok(Self::new(self.block.silent_twin()?, params))
    }
}

/// Returns the words of each port, for ports with these widths one after the other.
fn places(ports: usize, width: &dyn Fn(usize) -> usize) -> Vec<Range<usize>> {
    let mut end = 0;
    let mut place = |index| {
        let begin = end;
        end += width(index).div_ceil(64);
        begin..end
    };
    (0..ports).map(&mut place).collect()
}
