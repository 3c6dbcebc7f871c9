//! Blocks seen without their types, as every tool walks them, and the list of those that a program adds.
use crate::block::{Claim, Clocked, Facts, HwBlock, RtlBlock};
use crate::corners::{Corner, Corners};
use crate::documentation;
use crate::params::{ParamError, ParamSpec, Schema};
use crate::ports::{Port, Ports};
use crate::value_names::ValueNames;
use rust_hdl_core::prelude::Block;
use serde_json::Value;
use std::marker::PhantomData;
use std::sync::{PoisonError, RwLock};

/// The blocks that were added.
static ADDED: RwLock<Vec<&'static dyn BlockEntry>> = RwLock::new(Vec::new());

/// Adds a block to those that [`added`] returns.
///
/// # Errors
/// A block of that name was added before. The built-in blocks are not known here: `selvedge_blocks::add` refuses their names.
pub fn add(block: &'static dyn BlockEntry) -> Result<(), NameTaken> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if added.iter().any(|other| other.name() == block.name()) {
        return Err(NameTaken { what: "block", name: block.name() });
    }
    added.push(block);
    Ok(())
}

/// Returns the blocks that were added, in their order.
pub fn added() -> Vec<&'static dyn BlockEntry> {
    ADDED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A name that two blocks, or two mechanisms, have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{name}`: the name is taken by another {what}")]
pub struct NameTaken {
    /// What has the name.
    pub what: &'static str,
    /// The name.
    pub name: &'static str,
}

/// Values of several ports, each as little-endian 64-bit words (as many as its width needs), ports in order.
pub type PortBits = Vec<Vec<u64>>;

/// One clock of a stimulus, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StimulusBits {
    /// Value of every input port.
    pub inputs: PortBits,
    /// `rst_ni` is low for this clock; the inputs are zero then.
    pub reset: bool,
}

/// A golden model or an RTL simulation seen as bits; see [`Clocked`].
pub trait ClockedBits {
    /// One clock: the value of every input port in, the value of every output port before the clock edge out.
    ///
    /// # Panics
    /// When `inputs` does not have one value of the right number of words per input port.
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits;
    /// One clock with `rst_ni` low and every input zero.
    fn reset(&mut self);
    /// Returns the elaborated block as it stands; nothing but RTL has one.
    fn block(&self) -> Option<&dyn Block> {
        None
    }
}

/// Watches a stimulus as bits; see [`Corners`].
pub trait CornersBits {
    /// A clock in reset.
    fn reset(&mut self);
    /// A clock out of reset: the value of every input port, the value of every output port.
    fn clock(&mut self, inputs: &[Vec<u64>], outputs: &[Vec<u64>]);
    /// Operations that have gone through the block.
    fn operations(&self) -> u64;
    /// Every corner case.
    fn seen(&self) -> Vec<Corner>;
}

/// A block without its types. Parameters are a JSON object with every parameter, as [`BlockEntry::params`] gives it;
/// a missing parameter has its default.
pub trait BlockEntry: Sync {
    /// Name of the block and of its Verilog module.
    fn name(&self) -> &'static str;
    /// What it does, in one line.
    fn summary(&self) -> &'static str;
    /// The paper and section that it comes from.
    fn source(&self) -> &'static str;
    /// Its parameters, in order.
    fn schema(&self) -> &'static [ParamSpec];
    /// Names of the parameters that its Verilog module has; see [`HwBlock::VERILOG_PARAMETERS`].
    fn verilog_parameters(&self) -> &'static [&'static str] {
        &[]
    }
    /// The documentation of its module in Markdown, or an empty text.
    fn documentation(&self) -> String {
        String::new()
    }
    /// The storage that the paper claims.
    fn claim(&self) -> Option<Claim>;
    /// Names of its ports' values.
    fn value_names(&self) -> &'static [ValueNames] {
        &[]
    }
    /// Operations of a full comparison; see [`HwBlock::OPERATIONS`].
    fn operations(&self) -> u64;
    /// Returns whether it is a stream; see [`HwBlock::IS_STREAM`].
    fn is_stream(&self) -> bool {
        false
    }
    /// The default of every parameter.
    fn defaults(&self) -> Value;
    /// Parses `(name, value)` pairs into the complete object of parameters.
    ///
    /// # Errors
    /// An unknown name or a value that is not allowed.
    fn params(&self, pairs: &[(String, String)]) -> Result<Value, ParamError>;
    /// Completes and checks an object of parameters.
    ///
    /// # Errors
    /// An unknown name or a value that is not allowed.
    fn check(&self, params: &Value) -> Result<Value, ParamError>;
    /// Every port but `clk_i` and `rst_ni`: inputs first.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn ports(&self, params: &Value) -> Result<Vec<Port>, ParamError>;
    /// Storage, latency and throughput.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn facts(&self, params: &Value) -> Result<Facts, ParamError>;
    /// The golden model.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn model(&self, params: &Value) -> Result<Box<dyn ClockedBits>, ParamError>;
    /// The RTL, to be stepped.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn rtl(&self, params: &Value) -> Result<Box<dyn ClockedBits>, ParamError>;
    /// The RTL as an elaborated rust-hdl block, to be emitted.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn elaborate(&self, params: &Value) -> Result<Box<dyn Block>, ParamError>;
    /// The block's endless stimulus.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn stimulus(
        &self,
        params: &Value,
        seed: u64,
    ) -> Result<Box<dyn Iterator<Item = StimulusBits>>, ParamError>;
    /// What the stimulus must reach.
    ///
    /// # Errors
    /// When the parameters are not valid.
    fn corners(&self, params: &Value) -> Result<Box<dyn CornersBits>, ParamError>;
}

impl dyn BlockEntry + '_ {
    /// Its storage in bits, with the paper's claim beside where there is one: "4130 (paper: 4096)".
    ///
    /// # Errors
    /// When the parameters are not valid.
    pub fn storage(&self, params: &Value) -> Result<String, ParamError> {
        let bits = self.facts(params)?.storage_bits();
        Ok(match self.claim() {
            Some(claim) => format!("{bits} (paper: {})", claim.bits),
            None => bits.to_string(),
        })
    }

    /// Every object of parameters in which one parameter differs from its default; of a long range only the ends.
    pub fn variants(&self) -> Vec<Value> {
        let defaults = self.defaults();
        let mut variants = Vec::new();
        for spec in self.schema() {
            for value in spec.allowed.samples().into_iter().filter(|value| *value != defaults[spec.name]) {
                let mut params = defaults.clone();
                params[spec.name] = value;
                // What does not go together with the other defaults is no variant.
                variants.extend(self.check(&params));
            }
        }
        variants
    }
}

/// The registry's view of the block `B`.
pub struct Entry<B>(PhantomData<fn() -> B>);

impl<B> Entry<B> {
    /// The entry.
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
    fn claim(&self) -> Option<Claim> {
        B::CLAIM
    }
    fn value_names(&self) -> &'static [ValueNames] {
        B::VALUE_NAMES
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
