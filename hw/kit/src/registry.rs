//! Blocks without their types, for tools, and the list of blocks that a program adds.
use crate::block::{Clocked, Facts, HwBlock, RtlBlock, StatedStorage};
use crate::corners::{Corner, Corners};
use crate::documentation;
use crate::params::{ParamError, ParamSpec, Schema};
use crate::ports::{Port, Ports};
use crate::value_names::ValueNames;
use crate::wave_event::WaveEvent;
use rust_hdl_core::prelude::Block;
use serde_json::Value;
use std::marker::PhantomData;
use std::sync::{PoisonError, RwLock};

static ADDED: RwLock<Vec<&'static dyn BlockEntry>> = RwLock::new(Vec::new());

/// Adds a block to the list that [`added`] returns.
///
/// # Errors
/// If a block with this name was added before. This crate does not know the built-in blocks; `selvedge_blocks::add` rejects
/// their names.
pub fn add(block: &'static dyn BlockEntry) -> Result<(), NameTaken> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if added.iter().any(|other| other.name() == block.name()) {
        return Err(NameTaken { what: "block", name: block.name() });
    }
    added.push(block);
    Ok(())
}

/// Returns the added blocks, in the order in which they were added.
pub fn added() -> Vec<&'static dyn BlockEntry> {
    ADDED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The error of a name that two blocks, or two mechanisms, have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} '{name}': the name is taken by another {what}")]
pub struct NameTaken {
    /// The kind of thing that has the name: `block`, for example.
    pub what: &'static str,
    /// The name.
    pub name: &'static str,
}

/// Values of several ports in order. Each has the 64-bit words of its width, the lowest first.
pub type PortBits = Vec<Vec<u64>>;

/// One clock of a stimulus, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StimulusBits {
    /// The value of every input port.
    pub inputs: PortBits,
    /// `true` if `rst_ni` is low for this clock; the inputs are zero then.
    pub reset: bool,
}

/// A golden model or RTL with untyped ports; see [`Clocked`].
pub trait ClockedBits {
    /// Clocks once. `inputs` has the value of every input port. Returns the value of every output port before the clock edge.
    ///
    /// # Panics
    /// If `inputs` has not one value per input port with the words of its width.
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits;
    /// Clocks once with `rst_ni` low and every input zero.
    fn reset(&mut self);
    /// Returns the elaborated block in its present state, if this is RTL.
    fn block(&self) -> Option<&dyn Block> {
        None
    }
}

/// Counters of a stimulus with untyped ports; see [`Corners`].
pub trait CornersBits {
    /// Records a clock in reset.
    fn reset(&mut self);
    /// Records a clock out of reset, with the value of every input port and of every output port.
    fn clock(&mut self, inputs: &[Vec<u64>], outputs: &[Vec<u64>]);
    /// Returns the number of operations.
    fn operations(&self) -> u64;
    /// Returns every corner case.
    fn seen(&self) -> Vec<Corner>;
}

/// A block without its types. Parameters are a JSON object with every parameter, as [`BlockEntry::params`] returns it. A
/// missing parameter has its default.
pub trait BlockEntry: Sync {
    /// Returns the name of the block and of its Verilog module.
    fn name(&self) -> &'static str;
    /// Returns the function of the block, in one line.
    fn summary(&self) -> &'static str;
    /// Returns the paper and section that the block comes from.
    fn source(&self) -> &'static str;
    /// Returns its parameters, in order.
    fn schema(&self) -> &'static [ParamSpec];
    /// Returns the parameters of its Verilog module; see [`HwBlock::VERILOG_PARAMETERS`].
    fn verilog_parameters(&self) -> &'static [&'static str] {
        &[]
    }
    /// Returns the documentation of its module in Markdown, or an empty text.
    fn documentation(&self) -> String {
        String::new()
    }
    /// Returns the storage that the paper states.
    fn claim(&self) -> Option<StatedStorage>;
    /// Returns the names of port values.
    fn value_names(&self) -> &'static [ValueNames] {
        &[]
    }
    /// Returns the events at the ports; see [`HwBlock::EVENTS`].
    fn events(&self) -> &'static [WaveEvent] {
        &[]
    }
    /// Returns the operations of a full comparison; see [`HwBlock::OPERATIONS`].
    fn operations(&self) -> u64;
    /// Returns whether the block is a stream; see [`HwBlock::IS_STREAM`].
    fn is_stream(&self) -> bool {
        false
    }
    /// Returns the default of every parameter.
    fn defaults(&self) -> Value;
    /// Parses `(name, value)` pairs and returns the complete object of parameters.
    ///
    /// # Errors
    /// If a name is unknown or a value is invalid.
    fn params(&self, pairs: &[(String, String)]) -> Result<Value, ParamError>;
    /// Completes and checks an object of parameters.
    ///
    /// # Errors
    /// If a name is unknown or a value is invalid.
    fn check(&self, params: &Value) -> Result<Value, ParamError>;
    /// Returns every port except `clk_i` and `rst_ni`, inputs first.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn ports(&self, params: &Value) -> Result<Vec<Port>, ParamError>;
    /// Returns storage, latency and throughput.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn facts(&self, params: &Value) -> Result<Facts, ParamError>;
    /// Returns the golden model.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn model(&self, params: &Value) -> Result<Box<dyn ClockedBits>, ParamError>;
    /// Returns the RTL for simulation.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn rtl(&self, params: &Value) -> Result<Box<dyn ClockedBits>, ParamError>;
    /// Returns the RTL as an elaborated rust-hdl block for emission.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn elaborate(&self, params: &Value) -> Result<Box<dyn Block>, ParamError>;
    /// Returns the block's endless stimulus.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn stimulus(
        &self,
        params: &Value,
        seed: u64,
    ) -> Result<Box<dyn Iterator<Item = StimulusBits>>, ParamError>;
    /// Returns counters of the corner cases that the stimulus must reach.
    ///
    /// # Errors
    /// If the parameters are invalid.
    fn corners(&self, params: &Value) -> Result<Box<dyn CornersBits>, ParamError>;
}

impl dyn BlockEntry + '_ {
    /// Returns its storage in bits, and the paper's claim if there is one: "4130 (paper: 4096)".
    ///
    /// # Errors
    /// If the parameters are invalid.
    pub fn storage(&self, params: &Value) -> Result<String, ParamError> {
        let bits = self.facts(params)?.storage_bits();
        Ok(match self.claim() {
            Some(claim) => format!("{bits} (paper: {})", claim.bits),
            None => bits.to_string(),
        })
    }

    /// Returns every object of parameters in which one parameter differs from its default. A long range contributes only its
    /// ends.
    pub fn variants(&self) -> Vec<Value> {
        let defaults = self.defaults();
        let mut variants = Vec::new();
        for spec in self.schema() {
            for value in spec.allowed.samples().into_iter().filter(|value| *value != defaults[spec.name]) {
                let mut params = defaults.clone();
                params[spec.name] = value;
                // A value that conflicts with the other defaults gives no variant.
                variants.extend(self.check(&params));
            }
        }
        variants
    }
}

/// The entry of the block `B`.
pub struct Entry<B>(PhantomData<fn() -> B>);

impl<B> Entry<B> {
    /// The only value.
    pub const NEW: Self = Entry(PhantomData);
}

impl<B: HwBlock> Entry<B> {
    const SCHEMA: Schema = Schema { block: B::NAME, specs: B::PARAMS };

    fn typed(params: &Value) -> Result<B::Params, ParamError> {
        let all = Self::SCHEMA.complete(Self::object(&B::Params::default()), params)?;
        let typed = serde_json::from_value(all).expect("the schema admits only what the fields can hold");
        B::conflicts(&typed)?;
        Ok(typed)
    }

    fn object(params: &B::Params) -> Value {
        serde_json::to_value(params).expect("parameters are plain numbers and switches")
    }
}

impl<B: HwBlock> BlockEntry for Entry<B> {
    fn name(&self) -> &'static str {
        B::NAME
    }
    fn summary(&self) -> &'static str {
        B::SUMMARY
    }
    fn source(&self) -> &'static str {
        B::SOURCE
    }
    fn schema(&self) -> &'static [ParamSpec] {
        B::PARAMS
    }
    fn verilog_parameters(&self) -> &'static [&'static str] {
        B::VERILOG_PARAMETERS
    }
    fn documentation(&self) -> String {
        documentation::of_module(B::MODULE)
    }
    fn claim(&self) -> Option<StatedStorage> {
        B::CLAIM
    }
    fn value_names(&self) -> &'static [ValueNames] {
        B::VALUE_NAMES
    }
    fn events(&self) -> &'static [WaveEvent] {
        B::EVENTS
    }
    fn operations(&self) -> u64 {
        B::OPERATIONS
    }
    fn is_stream(&self) -> bool {
        B::IS_STREAM
    }
    fn defaults(&self) -> Value {
        Self::object(&B::Params::default())
    }
    fn params(&self, pairs: &[(String, String)]) -> Result<Value, ParamError> {
        let given = Self::SCHEMA.parse(pairs)?;
        self.check(&Value::Object(given))
    }
    fn check(&self, params: &Value) -> Result<Value, ParamError> {
        Ok(Self::object(&Self::typed(params)?))
    }
    fn ports(&self, params: &Value) -> Result<Vec<Port>, ParamError> {
        Ok(B::ports(&Self::typed(params)?))
    }
    fn facts(&self, params: &Value) -> Result<Facts, ParamError> {
        Ok(B::facts(&Self::typed(params)?))
    }
    fn model(&self, params: &Value) -> Result<Box<dyn ClockedBits>, ParamError> {
        let params = Self::typed(params)?;
        let model: Box<dyn Clocked<B::In, B::Out>> = Box::new(B::model(&params)?);
        Ok(Box::new(Erased::<B> { inner: model, params }))
    }
    fn rtl(&self, params: &Value) -> Result<Box<dyn ClockedBits>, ParamError> {
        let params = Self::typed(params)?;
        Ok(Box::new(ErasedRtl::<B> { inner: B::rtl(&params)?, params }))
    }
    fn elaborate(&self, params: &Value) -> Result<Box<dyn Block>, ParamError> {
        Ok(B::rtl(&Self::typed(params)?)?.into_block())
    }
    fn stimulus(
        &self,
        params: &Value,
        seed: u64,
    ) -> Result<Box<dyn Iterator<Item = StimulusBits>>, ParamError> {
        let params = Self::typed(params)?;
        let stimulus = B::stimulus(&params, seed);
        Ok(Box::new(
            stimulus.map(move |one| StimulusBits { inputs: one.inputs.to_bits(&params), reset: one.reset }),
        ))
    }
    fn corners(&self, params: &Value) -> Result<Box<dyn CornersBits>, ParamError> {
        Ok(Box::new(ErasedCorners::<B>(B::corners(&Self::typed(params)?))))
    }
}

struct ErasedCorners<B: HwBlock>(Box<dyn Corners<B::In, B::Out>>);

impl<B: HwBlock> CornersBits for ErasedCorners<B> {
    fn reset(&mut self) {
        self.0.reset();
    }
    fn clock(&mut self, inputs: &[Vec<u64>], outputs: &[Vec<u64>]) {
        self.0.clock(&B::In::from_bits(inputs), &B::Out::from_bits(outputs));
    }
    fn operations(&self) -> u64 {
        self.0.operations()
    }
    fn seen(&self) -> Vec<Corner> {
        self.0.seen()
    }
}

struct Erased<B: HwBlock> {
    inner: Box<dyn Clocked<B::In, B::Out>>,
    params: B::Params,
}

impl<B: HwBlock> ClockedBits for Erased<B> {
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits {
        self.inner.step(&B::In::from_bits(inputs)).to_bits(&self.params)
    }
    fn reset(&mut self) {
        self.inner.reset();
    }
}

struct ErasedRtl<B: HwBlock> {
    inner: Box<dyn RtlBlock<B::In, B::Out>>,
    params: B::Params,
}

impl<B: HwBlock> ClockedBits for ErasedRtl<B> {
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits {
        self.inner.step(&B::In::from_bits(inputs)).to_bits(&self.params)
    }
    fn reset(&mut self) {
        self.inner.reset();
    }
    fn block(&self) -> Option<&dyn Block> {
        Some(self.inner.as_block())
    }
}
