//! The block contract: a hardware block is a golden model and RTL, with the same ports and the same cycles.
use crate::corners::Corners;
use crate::params::{ParamError, ParamSpec, Schema};
use crate::ports::{Direction, Payload, Port, Ports};
use crate::value_names::ValueNames;
use crate::wave_event::WaveEvent;
use rust_hdl_core::prelude::Block;
use selvedge_state::State;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A circuit or model that advances one clock at a time.
pub trait Clocked<I, O> {
    /// Clocks once: applies `inputs`, computes the outputs before the clock edge, with combinational paths from the inputs, and
    /// takes the edge. Returns these outputs.
    fn step(&mut self, inputs: &I) -> O;

    /// Clocks once with `rst_ni` low and every input zero. All registers then have their reset values.
    fn reset(&mut self);
}

/// The RTL of a block under given parameters.
pub trait RtlBlock<I, O>: Clocked<I, O> + State + Send {
    /// Returns the elaborated rust-hdl block, connected and not yet clocked, for emission as Verilog. Its top-level signals are
    /// `clk_i`, `rst_ni` and the ports of `I` and `O` by name.
    fn into_block(self: Box<Self>) -> Box<dyn Block>;

    /// Inverts one bit of the output registers, to verify the checkers: a single-event upset. `bit` counts the bits of the
    /// output ports that come straight from registers, in their order, modulo the number of these bits.
    fn upset(&mut self, bit: usize);

    /// Returns the elaborated block in its present state, for [`Registers`](crate::rtl::registers::BlockRegisters).
    fn as_block(&self) -> &dyn Block;
}

/// A memory or register of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The contents.
    pub name: &'static str,
    /// Size in bits.
    pub bits: usize,
}

/// Facts about a block under given parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Every register and memory.
    pub storage: Vec<Storage>,
    /// Cycles from an input to the output that it causes, if nothing stalls. 0 is combinational.
    pub latency: u32,
    /// Cycles from one accepted input to the next, if nothing stalls.
    pub interval: u32,
}

impl Facts {
    /// Returns the number of state bits.
    pub fn storage_bits(&self) -> usize {
        self.storage.iter().map(|part| part.bits).sum()
    }
}

/// The storage that a paper states for its mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedStorage {
    /// Number of state bits.
    pub bits: usize,
    /// The paper and section that states them.
    pub source: &'static str,
}

/// One clock of a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stimulus<I> {
    /// The input values; all zero when `reset` is set.
    pub inputs: I,
    /// `true` if `rst_ni` is low for this clock: [`Clocked::reset`] instead of [`Clocked::step`].
    pub reset: bool,
}

impl<I: Default> Stimulus<I> {
    /// Returns a clock with these inputs.
    pub fn step(inputs: I) -> Self {
        Stimulus { inputs, reset: false }
    }

    /// Returns a clock in reset.
    pub fn reset() -> Self {
        Stimulus { inputs: I::default(), reset: true }
    }
}

/// An endless stimulus; the user ends it.
pub type StimulusIter<I> = Box<dyn Iterator<Item = Stimulus<I>>>;

/// A hardware block. A marker type per block implements it.
pub trait HwBlock: Sized + 'static {
    /// Name of the block and of its Verilog module, in lower_snake_case.
    const NAME: &'static str;
    /// The function of the block, in one line.
    const SUMMARY: &'static str;
    /// The paper and section that the block comes from.
    const SOURCE: &'static str;
    /// Every field of [`Self::Params`].
    const PARAMS: &'static [ParamSpec];
    /// Names of the parameters that the Verilog module has, too: widths and depths that change only numbers derived from them.
    /// The other parameters are fixed in the Verilog text.
    const VERILOG_PARAMETERS: &'static [&'static str] = &[];
    /// The storage that the paper states for the default parameters. The block's module explains a difference.
    const CLAIM: Option<StatedStorage> = None;
    /// The outputs that are valid only while another one is high.
    const PAYLOADS: &'static [Payload] = &[];
    /// Operations over which model, RTL and Verilog are compared at the default parameters: 100,000, or 20,000 for a very large
    /// block. The unit is that of [`Corners::operations`].
    const OPERATIONS: u64 = 100_000;
    /// `true` for a stream. Items enter at `valid_i` and `ready_o` and leave in order at `valid_o` and `ready_i`, in any
    /// cycles. An output item depends only on its input item. A stream can be compared with a circuit of another latency.
    const IS_STREAM: bool = false;
    /// Names of port values, for waveform viewers.
    const VALUE_NAMES: &'static [ValueNames] = &[];
    /// Events at the ports: rows of a waveform. A viewer opens on the first decision.
    const EVENTS: &'static [WaveEvent] = &[];
    /// The source text of the block's module, `include_str!("mod.rs")`. Its lines that begin with `//!` become the block's
    /// page.
    const MODULE: &'static str = "";

    /// Elaboration parameters. The checked-in Verilog has the defaults.
    type Params: Serialize + DeserializeOwned + Default + Clone + PartialEq + Send + std::fmt::Debug;
    /// Inputs without clock and reset.
    type In: Ports<Params = Self::Params>;
    /// Outputs.
    type Out: Ports<Params = Self::Params>;
    /// The golden model, cycle-exact at the ports.
    type Model: Clocked<Self::In, Self::Out> + State + Send;

    /// Returns the golden model in its reset state.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn model(params: &Self::Params) -> Result<Self::Model, ParamError>;

    /// Returns the RTL in its reset state.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn rtl(params: &Self::Params) -> Result<Box<dyn RtlBlock<Self::In, Self::Out>>, ParamError>;

    /// Returns storage, latency and throughput under valid parameters.
    fn facts(params: &Self::Params) -> Facts;

    /// Returns an endless stimulus that reaches every corner of the block under valid parameters. It depends only on the seed.
    fn stimulus(params: &Self::Params, seed: u64) -> StimulusIter<Self::In>;

    /// Returns counters of a stimulus' operations and of the corner cases that [`Self::OPERATIONS`] of them must reach.
    fn corners(params: &Self::Params) -> Box<dyn Corners<Self::In, Self::Out>>;

    /// Checks demands on several parameters, beyond [`Self::PARAMS`], which has demands on each one.
    ///
    /// # Errors
    /// [`ParamError::Conflict`] with the parameters, their values and the demand.
    fn conflicts(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }

    /// Checks every parameter against [`Self::PARAMS`] and [`Self::conflicts`].
    ///
    /// # Errors
    /// The first invalid parameter.
    fn validate(params: &Self::Params) -> Result<(), ParamError> {
        let object = serde_json::to_value(params).expect("parameters are plain numbers and switches");
        Schema { block: Self::NAME, specs: Self::PARAMS }.check(&object)?;
        Self::conflicts(params)
    }

    /// Returns every port except clock and reset: inputs first, then outputs, each in the order of its struct.
    fn ports(params: &Self::Params) -> Vec<Port> {
        let mut ports = Self::In::describe(params, Direction::Input);
        ports.extend(Self::outputs(params));
        ports
    }

    /// Returns every output, in the order of its struct.
    ///
    /// # Panics
    /// If [`Self::PAYLOADS`] has a name that is not an output, which is a bug of the block.
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
