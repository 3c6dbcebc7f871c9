//! The block contract: a hardware block that exists as a golden model and as RTL with the same ports and the same cycles.
use crate::corners::Corners;
use crate::params::{ParamError, ParamSpec, Schema};
use crate::ports::{Direction, Payload, Port, Ports};
use crate::value_names::ValueNames;
use rust_hdl_core::prelude::Block;
use selvedge_state::State;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Something that advances one clock at a time.
pub trait Clocked<I, O> {
    /// One clock: applies `inputs`, returns the outputs of this cycle (before the clock edge, combinational paths from
    /// the inputs included), then takes the clock edge.
    fn step(&mut self, inputs: &I) -> O;

    /// One clock with `rst_ni` low and every input zero. Afterwards all registers hold their reset values.
    fn reset(&mut self);
}

/// The RTL of a block, built for one choice of parameters.
pub trait RtlBlock<I, O>: Clocked<I, O> + State + Send {
    /// The elaborated rust-hdl block, connected and never yet clocked, for emission as Verilog. Its top-level signals are
    /// `clk_i`, `rst_ni` and the ports of `I` and `O` by name.
    fn into_block(self: Box<Self>) -> Box<dyn Block>;

    /// Inverts bit `bit` of the block's output registers, laid end to end in the order of the output ports (those that
    /// come straight from registers): a single-event upset, for verification of the checkers. `bit` counts modulo the number of register bits.
    fn upset(&mut self, bit: usize);

    /// Returns the elaborated block as it stands, for [`Registers`](crate::rtl::registers::Registers).
    fn as_block(&self) -> &dyn Block;
}

/// A memory or register of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// What it holds.
    pub name: &'static str,
    /// Its size in bits.
    pub bits: usize,
}

/// Facts about a block under given parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Every register and memory.
    pub storage: Vec<Storage>,
    /// Cycles from an input to the output that it causes, when nothing stalls. 0 is combinational.
    pub latency: u32,
    /// Cycles from one accepted input to the next, when nothing stalls.
    pub interval: u32,
}

impl Facts {
    /// All state bits.
    pub fn storage_bits(&self) -> usize {
        self.storage.iter().map(|part| part.bits).sum()
    }
}

/// The storage that a paper claims for its mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// State bits.
    pub bits: usize,
    /// The paper and section that states them.
    pub source: &'static str,
}

/// What one clock of a stimulus does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stimulus<I> {
    /// The input values; all zero when `reset` is set.
    pub inputs: I,
    /// `rst_ni` is low for this clock: [`Clocked::reset`] in place of [`Clocked::step`].
    pub reset: bool,
}

impl<I: Default> Stimulus<I> {
    /// A clock with these inputs.
    pub fn step(inputs: I) -> Self {
        Stimulus { inputs, reset: false }
    }

    /// A clock in reset.
    pub fn reset() -> Self {
        Stimulus { inputs: I::default(), reset: true }
    }
}

/// An endless stimulus; take as many clocks as are wanted.
pub type StimulusIter<I> = Box<dyn Iterator<Item = Stimulus<I>>>;

/// A hardware block. Implemented by a marker type per block.
pub trait HwBlock: Sized + 'static {
    /// Name of the block and of its Verilog module, in lower_snake_case.
    const NAME: &'static str;
    /// What it does, in one line.
    const SUMMARY: &'static str;
    /// The paper and section that it comes from.
    const SOURCE: &'static str;
    /// Every field of [`Self::Params`].
    const PARAMS: &'static [ParamSpec];
    /// Names of the parameters that are parameters of the Verilog module, too: widths and depths that change nothing but numbers which
    /// follow from them. The others are fixed in the text.
    const VERILOG_PARAMETERS: &'static [&'static str] = &[];
    /// The storage that the paper claims for the default parameters; the block's module explains a difference.
    const CLAIM: Option<Claim> = None;
    /// The outputs that mean something only while another one is high.
    const PAYLOADS: &'static [Payload] = &[];
    /// Operations that model, RTL and Verilog are compared over at the default parameters: 100,000, or 20,000 for a block
    /// that is very large. Their unit is that of [`Corners::operations`].
    const OPERATIONS: u64 = 100_000;
    /// States that it is a stream: items go in at `valid_i` and `ready_o` and come out in order at `valid_o` and `ready_i`, whatever
    /// the cycles, and what comes out depends on the item alone. A circuit of another latency can be compared with it.
    const IS_STREAM: bool = false;
    /// Names of its ports' values, for viewers of waveforms.
    const VALUE_NAMES: &'static [ValueNames] = &[];
    /// The source text of its module, `include_str!("mod.rs")`: the module's documentation, the lines that begin with `//!`, is the
    /// block's page.
    const MODULE: &'static str = "";

    /// Elaboration parameters. The default is the configuration of the checked-in Verilog.
    type Params: Serialize + DeserializeOwned + Default + Clone + PartialEq + Send + std::fmt::Debug;
    /// Inputs, without clock and reset.
    type In: Ports<Params = Self::Params>;
    /// Outputs.
    type Out: Ports<Params = Self::Params>;
    /// The golden model, cycle-exact at the ports.
    type Model: Clocked<Self::In, Self::Out> + State + Send;

    /// The golden model in its reset state.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn model(params: &Self::Params) -> Result<Self::Model, ParamError>;

    /// The RTL in its reset state.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn rtl(params: &Self::Params) -> Result<Box<dyn RtlBlock<Self::In, Self::Out>>, ParamError>;

    /// Storage, latency and throughput under valid parameters.
    fn facts(params: &Self::Params) -> Facts;

    /// An endless stimulus that reaches every corner of the block under valid parameters; the same for the same seed.
    fn stimulus(params: &Self::Params, seed: u64) -> StimulusIter<Self::In>;

    /// Counts the operations of a stimulus and watches for the corner cases that [`Self::OPERATIONS`] of them must reach.
    fn corners(params: &Self::Params) -> Box<dyn Corners<Self::In, Self::Out>>;

    /// Demands on parameters beyond those that [`Self::PARAMS`] states one by one.
    ///
    /// # Errors
    /// [`ParamError::Conflict`], naming the parameters, their values and what is required.
    fn conflicts(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }

    /// Checks every parameter against [`Self::PARAMS`] and [`Self::conflicts`].
    ///
    /// # Errors
    /// The first parameter that is not allowed.
    fn validate(params: &Self::Params) -> Result<(), ParamError> {
        let object = serde_json::to_value(params).expect("parameters are plain numbers and switches");
        Schema { block: Self::NAME, specs: Self::PARAMS }.check(&object)?;
        Self::conflicts(params)
    }

    /// Every port but clock and reset: inputs first, then outputs, each in the order of its struct.
    fn ports(params: &Self::Params) -> Vec<Port> {
        let mut ports = Self::In::describe(params, Direction::Input);
        ports.extend(Self::outputs(params));
        ports
    }

    /// Every output, in order.
    ///
    /// # Panics
    /// When [`Self::PAYLOADS`] names a port that is none: the block's bug.
    fn outputs(params: &Self::Params) -> Vec<Port> {
        let mut ports = Self::Out::describe(params, Direction::Output);
        for Payload { valid, ports: names } in Self::PAYLOADS {
            for name in *names {
                let port = ports.iter_mut().find(|port| port.name == *name);
                port.expect("a payload is an output of its block").valid = Some(valid);
            }
        }
        ports
    }
}
