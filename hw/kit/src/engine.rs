//! Engines: a block instance that runs as golden model, as RTL, or as both in lock-step.
use crate::block::{Clocked, HwBlock, RtlBlock};
use crate::params::ParamError;
use crate::ports::{Ports, first_difference};
use crate::wave::{self, Sample, Trace};
use selvedge_state::{Reader, State, StateError, Writer};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};
use std::io;
use std::path::Path;
use std::str::FromStr;
use strum::{Display, EnumString, VariantNames};

/// Cycles of port history that a [`Divergence`] carries.
pub const HISTORY_CYCLES: usize = 64;

/// What runs inside an [`Instance`].
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownEngine, parse_err_fn = UnknownEngine::new)]
pub enum Engine {
    /// The golden model alone: fast.
    Model,
    /// The RTL alone: what is simulated is what is synthesized.
    #[default]
    Rtl,
    /// Both, compared in every cycle at every port whose value means something then.
    Lockstep,
}

/// A word that names no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine `{0}`; engines: model, rtl, lockstep")]
pub struct UnknownEngine(pub String);

impl UnknownEngine {
    fn new(text: &str) -> Self {
        UnknownEngine(text.into())
    }
}

/// A single-event upset to be planted in an instance's RTL: proof that the checkers see what they should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The bit is inverted as this cycle begins, so that this cycle's outputs show it.
    pub cycle: u64,
    /// Bit of the output registers; see [`RtlBlock::upset`].
    pub bit: usize,
}

/// Text that is not a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a fault; write CYCLE:BIT, two whole numbers")]
pub struct BadFault(pub String);

impl FromStr for Fault {
    type Err = BadFault;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (cycle, bit) = text.split_once(':')?;
            Some(Fault { cycle: cycle.parse().ok()?, bit: bit.parse().ok()? })
        };
        parse().ok_or_else(|| BadFault(text.to_string()))
    }
}

/// A fault cannot be planted because nothing but a golden model runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{instance}: a fault needs RTL to strike, but the engine is model; use rtl or lockstep")]
pub struct NoRtl {
    /// The instance.
    pub instance: String,
}

/// The first difference between golden model and RTL. Reads as one line.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The block's name.
    pub block: &'static str,
    /// The instance's name.
    pub instance: String,
    /// The cycle.
    pub cycle: u64,
    /// The first port that differs.
    pub port: &'static str,
    /// The model's value of the port, in hexadecimal.
    pub model: String,
    /// The RTL's value of the port, in hexadecimal.
    pub rtl: String,
    /// The last [`HISTORY_CYCLES`] cycles up to this one, as seen at the model's and at the RTL's ports.
    pub history: Vec<Trace>,
}

impl Divergence {
    /// Writes the history as a VCD file, the model's ports under `<instance>.model`, the RTL's under `<instance>.rtl`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_vcd(&self, path: &Path) -> io::Result<()> {
        wave::write_vcd_file(path, &self.history)
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}): model and RTL differ in cycle {} at port {}: model {}, RTL {}",
            self.instance, self.block, self.cycle, self.port, self.model, self.rtl
        )
    }
}

impl std::error::Error for Divergence {}

/// One cycle at an instance's ports.
struct Record<B: HwBlock> {
    cycle: u64,
    /// Inputs, and the outputs of the model (where one runs) and of the RTL; none in reset.
    inputs: B::In,
    outputs: Option<(B::Out, B::Out)>,
}

// Derived, these would demand the same of `B`.
impl<B: HwBlock> Clone for Record<B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B: HwBlock> Copy for Record<B> {}

impl<B: HwBlock> Record<B> {
    fn sample(&self, params: &B::Params, side: impl Fn(&(B::Out, B::Out)) -> B::Out) -> Sample {
        let mut values = self.inputs.to_bits(params);
        values.extend(self.outputs.as_ref().map(side).unwrap_or_default().to_bits(params));
        Sample { cycle: self.cycle, reset: self.outputs.is_none(), values }
    }
}

/// The last cycles of a lock-step run; the oldest is overwritten.
struct Ring<B: HwBlock> {
    records: Vec<Record<B>>,
    next: usize,
}

impl<B: HwBlock> Ring<B> {
    fn push(&mut self, record: Record<B>) {
        if self.records.len() < HISTORY_CYCLES {
            self.records.push(record);
        } else {
            self.records[self.next] = record;
            self.next = (self.next + 1) % HISTORY_CYCLES;
        }
    }

    fn in_order(&self) -> impl Iterator<Item = &Record<B>> {
        let (newer, older) = self.records.split_at(self.next);
        older.iter().chain(newer)
    }
}

/// Which cycles an observer wants, and what it has seen.
struct Recorder<B: HwBlock> {
    from: u64,
    cycles: u64,
    records: Vec<Record<B>>,
}

enum Core<B: HwBlock> {
    Model(B::Model),
    Rtl(Box<dyn RtlBlock<B::In, B::Out>>),
    Lockstep { model: B::Model, rtl: Box<dyn RtlBlock<B::In, B::Out>>, ring: Ring<B> },
}

/// A named instance of a block under one engine.
///
/// ```
/// use selvedge_hw::{Engine, HwBlock, Instance};
/// use std::error::Error;
///
/// /// Steps model and RTL of any block through its stimulus; the first output that differs is an error.
/// fn compare<B: HwBlock>(cycles: usize) -> Result<(), Box<dyn Error>> {
///     let params = B::Params::default();
///     let mut block = Instance::<B>::new("sm0.block", &params, Engine::Lockstep)?;
///     for cycle in B::stimulus(&params, 1).take(cycles) {
///         if cycle.reset {
///             block.reset();
///         } else {
///             block.step(&cycle.inputs)?;
///         }
///     }
///     Ok(())
/// }
/// ```
pub struct Instance<B: HwBlock> {
    name: String,
    params: B::Params,
    cycle: u64,
    core: Core<B>,
    fault: Option<Fault>,
    recorder: Option<Box<Recorder<B>>>,
}

impl<B: HwBlock> Instance<B> {
    /// An instance in its reset state, at cycle 0.
    ///
    /// # Errors
    /// When the parameters are not valid.
    pub fn new(name: impl Into<String>, params: &B::Params, engine: Engine) -> Result<Self, ParamError> {
        B::validate(params)?;
        let core = match engine {
            Engine::Model => Core::Model(B::model(params)?),
            Engine::Rtl => Core::Rtl(B::rtl(params)?),
            Engine::Lockstep => {
                let ring = Ring { records: Vec::with_capacity(HISTORY_CYCLES), next: 0 };
                Core::Lockstep { model: B::model(params)?, rtl: B::rtl(params)?, ring }
            }
        };
        Ok(Instance {
            name: name.into(),
            params: params.clone(),
            cycle: 0,
            core,
            fault: None,
            recorder: None,
        })
    }

    /// The instance's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameters it was built with.
    pub fn params(&self) -> &B::Params {
        &self.params
    }

    /// The engine that runs it.
    pub fn engine(&self) -> Engine {
        match self.core {
            Core::Model(_) => Engine::Model,
            Core::Rtl(_) => Engine::Rtl,
            Core::Lockstep { .. } => Engine::Lockstep,
        }
    }

    /// The golden model, unless the RTL runs alone.
    pub fn model(&self) -> Option<&B::Model> {
        match &self.core {
            Core::Model(model) | Core::Lockstep { model, .. } => Some(model),
            Core::Rtl(_) => None,
        }
    }

    /// Number of the cycle that the next step takes.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Moves the cycle number forward to `cycle` without clocking the block: for a caller that steps it on events only.
    /// A cycle that has passed already is ignored.
    pub fn advance_to(&mut self, cycle: u64) {
        self.cycle = self.cycle.max(cycle);
    }

    /// Plants a fault in the RTL.
    ///
    /// # Errors
    /// When the engine is `model`.
    pub fn inject(&mut self, fault: Fault) -> Result<(), NoRtl> {
        if matches!(self.core, Core::Model(_)) {
            return Err(NoRtl { instance: self.name.clone() });
        }
        self.fault = Some(fault);
        Ok(())
    }

    /// Records the ports of up to `cycles` cycles from cycle `from` on; see [`Self::trace`].
    pub fn watch(&mut self, from: u64, cycles: u64) {
        self.recorder = Some(Box::new(Recorder { from, cycles, records: Vec::new() }));
    }

    /// What was recorded since [`Self::watch`]; none when nothing is watched.
    pub fn trace(&self) -> Option<Trace> {
        let recorder = self.recorder.as_ref()?;
        Some(trace::<B>(self.name.clone(), &self.params, recorder.records.iter(), |pair| pair.1))
    }

    /// One clock: applies `inputs`, returns the outputs before the clock edge, takes the edge.
    ///
    /// # Errors
    /// The first difference between model and RTL, when the engine is `lockstep`. The instance is of no further use then.
    #[inline]
    pub fn step(&mut self, inputs: &B::In) -> Result<B::Out, Box<Divergence>> {
        if self.fault.is_some() {
            self.strike();
        }
        let (expected, outputs) = match &mut self.core {
            Core::Model(model) => {
                let outputs = model.step(inputs);
                (outputs, outputs)
            }
            Core::Rtl(rtl) => {
                let outputs = rtl.step(inputs);
                (outputs, outputs)
            }
            Core::Lockstep { model, rtl, ring } => {
                let pair = (model.step(inputs), rtl.step(inputs));
                ring.push(Record { cycle: self.cycle, inputs: *inputs, outputs: Some(pair) });
                pair
            }
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.see(Record { cycle: self.cycle, inputs: *inputs, outputs: Some((expected, outputs)) });
        }
        if expected != outputs
            && let Some(divergence) = self.divergence(&expected, &outputs)
        {
            return Err(divergence);
        }
        self.cycle += 1;
        Ok(outputs)
    }

    /// One clock with reset active and inputs zero.
    pub fn reset(&mut self) {
        let record = Record { cycle: self.cycle, inputs: B::In::default(), outputs: None };
        match &mut self.core {
            Core::Model(model) => model.reset(),
            Core::Rtl(rtl) => rtl.reset(),
            Core::Lockstep { model, rtl, ring } => {
                model.reset();
                rtl.reset();
                ring.push(record);
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.see(record);
        }
        self.cycle += 1;
    }

    #[cold]
    fn strike(&mut self) {
        if self.fault.is_some_and(|fault| fault.cycle <= self.cycle)
            && let Some(fault) = self.fault.take()
            && let Core::Rtl(rtl) | Core::Lockstep { rtl, .. } = &mut self.core
        {
            rtl.upset(fault.bit);
        }
    }

    /// Returns what differs, unless it is all without meaning.
    #[cold]
    fn divergence(&self, model: &B::Out, rtl: &B::Out) -> Option<Box<Divergence>> {
        let (model_bits, rtl_bits) = (model.to_bits(&self.params), rtl.to_bits(&self.params));
        // A difference beyond a port's width would be invisible in the words, but is a difference still: blame port 0.
        let port = match first_difference(B::outputs(&self.params).iter(), &model_bits, &rtl_bits) {
            Some(port) => port,
            None if model_bits == rtl_bits => 0,
            None => return None,
        };
        let history = match &self.core {
            Core::Lockstep { ring, .. } => vec![
                trace::<B>(format!("{}.model", self.name), &self.params, ring.in_order(), |pair| pair.0),
                trace::<B>(format!("{}.rtl", self.name), &self.params, ring.in_order(), |pair| pair.1),
            ],
            _ => Vec::new(),
        };
        Some(Box::new(Divergence {
            block: B::NAME,
            instance: self.name.clone(),
            cycle: self.cycle,
            port: B::Out::NAMES[port],
            model: hex(&model_bits[port]),
            rtl: hex(&rtl_bits[port]),
            history,
        }))
    }
}

impl<B: HwBlock> State for Instance<B> {
    fn save(&self, to: &mut Writer) {
        self.cycle.save(to);
        self.fault.is_some().save(to);
        match &self.core {
            Core::Model(model) => model.save(to),
            Core::Rtl(rtl) => rtl.save(to),
            Core::Lockstep { model, rtl, .. } => {
                model.save(to);
                rtl.save(to);
            }
        }
    }
    /// The history that a difference shows begins anew, as does what is recorded.
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.cycle.load(from)?;
        if !bool::read(from)? {
            self.fault = None;
        }
        match &mut self.core {
            Core::Model(model) => model.load(from),
            Core::Rtl(rtl) => rtl.load(from),
            Core::Lockstep { model, rtl, ring } => {
                *ring = Ring { records: Vec::with_capacity(HISTORY_CYCLES), next: 0 };
                model.load(from)?;
                rtl.load(from)
            }
        }
    }
}

impl<B: HwBlock> Recorder<B> {
    fn see(&mut self, record: Record<B>) {
        if record.cycle >= self.from && record.cycle - self.from < self.cycles {
            self.records.push(record);
        }
    }
}

fn trace<'a, B: HwBlock>(
    instance: String,
    params: &B::Params,
    records: impl Iterator<Item = &'a Record<B>>,
    side: impl Fn(&(B::Out, B::Out)) -> B::Out + Copy,
) -> Trace {
    let samples = records.map(|record| record.sample(params, side)).collect();
    Trace { instance, ports: B::ports(params), samples }
}

/// A value in hexadecimal without leading zeros.
pub(crate) fn hex(words: &[u64]) -> String {
    let top = words.iter().rposition(|word| *word != 0).unwrap_or(0);
    let mut text = format!("0x{:x}", words[top]);
    for word in words[..top].iter().rev() {
        write!(text, "{word:016x}").expect("writing to a string cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_shows_all_words_without_leading_zeros() {
        assert_eq!(hex(&[0, 0]), "0x0");
        assert_eq!(hex(&[0x1f, 0]), "0x1f");
        assert_eq!(hex(&[0x1f, 0xa, 0]), "0xa000000000000001f");
    }

    #[test]
    fn engines_and_faults_parse_and_complain() {
        for name in Engine::VARIANTS {
            assert_eq!(name.parse::<Engine>().map(|engine| engine.to_string()), Ok(name.to_string()));
        }
        assert_eq!(
            "fpga".parse::<Engine>().unwrap_err().to_string(),
            "unknown engine `fpga`; engines: model, rtl, lockstep"
        );
        assert_eq!("12:3".parse(), Ok(Fault { cycle: 12, bit: 3 }));
        assert_eq!(
            "12".parse::<Fault>().unwrap_err().to_string(),
            "`12` is not a fault; write CYCLE:BIT, two whole numbers"
        );
    }
}
