//! Engines: a block instance that runs as golden model, as RTL, as compiled Verilog, or as two of these in lock-step.
use crate::block::{Clocked, HwBlock, RtlBlock};
use crate::clock::Clock;
use crate::compiled::{BlockCompiler, CompileError, Compiled, Pace};
use crate::items::Items;
use crate::params::ParamError;
use crate::ports::{Ports, first_difference};
use crate::registry::{Entry, PortBits};
use crate::rtl::registers::Registers;
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
    /// The block's Verilog alone, compiled by a [`BlockCompiler`].
    Verilog,
    /// Model and RTL, compared in every cycle at every port whose value means something then.
    Lockstep,
    /// Model and Verilog, compared in the same way.
    #[serde(rename = "model+verilog")]
    #[strum(serialize = "model+verilog")]
    ModelVerilog,
    /// RTL and Verilog, compared in the same way.
    #[serde(rename = "rtl+verilog")]
    #[strum(serialize = "rtl+verilog")]
    RtlVerilog,
}

impl Engine {
    /// Returns what runs, and what runs beside it.
    pub fn sides(self) -> (Side, Option<Side>) {
        match self {
            Engine::Model => (Side::Model, None),
            Engine::Rtl => (Side::Rtl, None),
            Engine::Verilog => (Side::Verilog, None),
            Engine::Lockstep => (Side::Model, Some(Side::Rtl)),
            Engine::ModelVerilog => (Side::Model, Some(Side::Verilog)),
            Engine::RtlVerilog => (Side::Rtl, Some(Side::Verilog)),
        }
    }

    /// Returns whether one of its sides is `side`.
    pub fn has(self, side: Side) -> bool {
        let (first, second) = self.sides();
        first == side || second == Some(side)
    }

    /// Returns the engine of a block in whose place something compiled stands: that instead of the one side, or of the second.
    fn replaced(self) -> Self {
        match self {
            Engine::Model | Engine::Rtl | Engine::Verilog => Engine::Verilog,
            Engine::Lockstep | Engine::ModelVerilog => Engine::ModelVerilog,
            Engine::RtlVerilog => Engine::RtlVerilog,
        }
    }

    /// Returns the engine that runs two sides, in whichever order, and compares them.
    ///
    /// # Errors
    /// Text that does not name two different sides.
    pub fn lockstep(pair: &str) -> Result<Self, BadPair> {
        let (first, second) = pair.split_once(',').unwrap_or((pair, ""));
        match [first.trim(), second.trim()] {
            ["model", "rtl"] | ["rtl", "model"] => Ok(Engine::Lockstep),
            ["model", "verilog"] | ["verilog", "model"] => Ok(Engine::ModelVerilog),
            ["rtl", "verilog"] | ["verilog", "rtl"] => Ok(Engine::RtlVerilog),
            _ => Err(BadPair(pair.into())),
        }
    }
}

/// One form of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
pub enum Side {
    /// The golden model.
    #[strum(serialize = "model")]
    Model,
    /// The RTL.
    #[strum(serialize = "RTL")]
    Rtl,
    /// Verilog that a [`BlockCompiler`] has compiled.
    Verilog,
}

/// Text that does not name two forms of a block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: must be two of model, rtl and verilog with a comma between them, as in rtl,verilog")]
pub struct BadPair(pub String);

/// A word that names no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine `{0}`; engines: {engines}", engines = Engine::VARIANTS.join(", "))]
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

/// A fault cannot be planted, or registers cannot be recorded, because no RTL runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{instance}: {what}, but the engine is {engine}; use rtl, lockstep or rtl+verilog")]
pub struct NoRtl {
    /// The instance.
    pub instance: String,
    /// What needs RTL.
    pub what: &'static str,
    /// The instance's engine.
    pub engine: Engine,
}

/// An instance could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The parameters are not valid.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// The block has no compiled form.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Something of another latency stands in place of a block that is no stream.
    #[error(
        "{0}: a latency can be stated for blocks that give their items in order, whatever the cycles: the codecs bdi, fpc, bpc and cpack"
    )]
    NoStream(&'static str),
    /// Nothing compiles blocks.
    #[error("the engine {0} needs a compiler of Verilog, which only the command selvedge brings along")]
    NoCompiler(Engine),
}

/// The first difference between two forms of a block. Reads as one line.
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
    /// The two forms; what the first one gives is expected.
    pub sides: [Side; 2],
    /// The first one's value of the port, in hexadecimal.
    pub expected: String,
    /// The second one's value of the port, in hexadecimal.
    pub got: String,
    /// The last [`HISTORY_CYCLES`] cycles up to this one, as seen at the ports of both.
    pub history: Vec<Trace>,
}

impl Divergence {
    /// Writes the history as a VCD file, the ports of each side under `<instance>.<side>`, such as `<instance>.model`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_vcd(&self, path: &Path) -> io::Result<()> {
        wave::write_vcd_file(path, &self.history)
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence { block, instance, cycle, port, sides: [first, second], expected, got, .. } = self;
        write!(
            f,
            "{instance} ({block}): {first} and {second} differ in cycle {cycle} at port {port}: {first} {expected}, {second} {got}"
        )
    }
}

impl std::error::Error for Divergence {}

/// One cycle at an instance's ports.
struct Record<B: HwBlock> {
    cycle: u64,
    /// Inputs, and the outputs of both sides (the same where one runs alone); none in reset.
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
        Sample { cycle: self.cycle, reset: self.outputs.is_none(), values, registers: Vec::new() }
    }
}

/// The last cycles of a lock-step run; the oldest is overwritten.
struct Ring<B: HwBlock> {
    records: Vec<Record<B>>,
    next: usize,
}

impl<B: HwBlock> Ring<B> {
    fn new() -> Self {
        Ring { records: Vec::with_capacity(HISTORY_CYCLES), next: 0 }
    }

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
    inside: Option<Inside>,
}

/// The registers of an instance's RTL, and what they held.
struct Inside {
    registers: Registers,
    /// In the cycle that is running.
    present: PortBits,
    /// In each recorded cycle.
    values: Vec<PortBits>,
}

/// One form of the block.
enum Core<B: HwBlock> {
    Model(B::Model),
    Rtl(Box<dyn RtlBlock<B::In, B::Out>>),
    Verilog(Box<Compiled<B>>),
}

impl<B: HwBlock> Core<B> {
    fn new(side: Side, params: &B::Params, compile: impl FnOnce() -> Compile<B>) -> Result<Self, BuildError> {
        Ok(match side {
            Side::Model => Core::Model(B::model(params)?),
            Side::Rtl => Core::Rtl(B::rtl(params)?),
            Side::Verilog => Core::Verilog(Box::new(compile()?)),
        })
    }

    #[inline]
    fn step(&mut self, inputs: &B::In) -> B::Out {
        match self {
            Core::Model(model) => model.step(inputs),
            Core::Rtl(rtl) => rtl.step(inputs),
            Core::Verilog(verilog) => verilog.step(inputs),
        }
    }

    fn reset(&mut self) {
        match self {
            Core::Model(model) => model.reset(),
            Core::Rtl(rtl) => rtl.reset(),
            Core::Verilog(verilog) => verilog.reset(),
        }
    }
}

/// A compiled block, or why there is none.
type Compile<B> = Result<Compiled<B>, BuildError>;

impl<B: HwBlock> State for Core<B> {
    /// Of compiled Verilog nothing is known that could be saved; runs with checkpoints refuse it.
    fn save(&self, to: &mut Writer) {
        match self {
            Core::Model(model) => model.save(to),
            Core::Rtl(rtl) => rtl.save(to),
            Core::Verilog(_) => {}
        }
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        match self {
            Core::Model(model) => model.load(from),
            Core::Rtl(rtl) => rtl.load(from),
            Core::Verilog(_) => Err(from.shape("compiled Verilog, which no checkpoint holds")),
        }
    }
}

/// Returns the RTL among the forms of an instance, if it is there.
fn rtl_of<'a, B: HwBlock>(
    core: &'a Core<B>,
    beside: Option<&'a Beside<B>>,
) -> Option<&'a dyn RtlBlock<B::In, B::Out>> {
    [Some(core), beside.map(|beside| &beside.core)].into_iter().flatten().find_map(|core| match core {
        Core::Rtl(rtl) => Some(&**rtl),
        _ => None,
    })
}

/// What runs beside the first form, and is compared with it.
struct Beside<B: HwBlock> {
    core: Core<B>,
    sides: [Side; 2],
    ring: Ring<B>,
    /// Where items are compared and not cycles.
    items: Option<Items<B>>,
}

impl<B: HwBlock> Beside<B> {
    /// Steps both; returns what the first one gives, and the second. Where items are compared, the first one gives what the
    /// second one does, except for the items that this gives.
    fn step(&mut self, first: &mut Core<B>, inputs: &B::In) -> (B::Out, B::Out) {
        let Some(items) = &mut self.items else { return (first.step(inputs), self.core.step(inputs)) };
        let outputs = self.core.step(inputs);
        let expected = items.follow(inputs, &outputs, |inputs| first.step(inputs));
        (expected.unwrap_or(outputs), outputs)
    }
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
    engine: Engine,
    core: Core<B>,
    beside: Option<Box<Beside<B>>>,
    fault: Option<Fault>,
    recorder: Option<Box<Recorder<B>>>,
    /// One form runs, and nobody records it or plants a fault.
    is_plain: bool,
    /// There is something to do before a step: a fault to plant, or registers to read.
    is_attended: bool,
}

impl<B: HwBlock> Instance<B> {
    /// An instance in its reset state, at cycle 0, under an engine without Verilog.
    ///
    /// # Errors
    /// When the parameters are not valid.
    ///
    /// # Panics
    /// Under an engine with Verilog, for which [`Self::with`] takes a compiler.
    pub fn new(name: impl Into<String>, params: &B::Params, engine: Engine) -> Result<Self, ParamError> {
        match Self::with(name, params, engine, None) {
            Err(BuildError::Params(error)) => Err(error),
            other => Ok(other.expect("engines without Verilog need no compiler")),
        }
    }

    /// An instance in its reset state, at cycle 0, whose Verilog `compiler` compiles.
    ///
    /// # Errors
    /// When the parameters are not valid, or the engine has a side of Verilog that cannot be compiled.
    pub fn with(
        name: impl Into<String>,
        params: &B::Params,
        engine: Engine,
        compiler: Option<&dyn BlockCompiler>,
    ) -> Result<Self, BuildError> {
        B::validate(params)?;
        let compile = || {
            let compiler = compiler.ok_or(BuildError::NoCompiler(engine))?;
            let values = serde_json::to_value(params).expect("parameters are plain numbers and switches");
            Ok(Compiled::new(compiler.compile(&Entry::<B>::NEW, &values)?, params))
        };
        let pace = compiler.and_then(|compiler| compiler.replaces(B::NAME));
        let engine = if pace.is_some() { engine.replaced() } else { engine };
        let items = Items::new();
        if pace == Some(Pace::Items) && items.is_none() {
            return Err(BuildError::NoStream(B::NAME));
        }
        let (first, second) = engine.sides();
        let core = Core::new(first, params, compile)?;
        let beside = match second {
            None => None,
            Some(second) => Some(Box::new(Beside {
                core: Core::new(second, params, compile)?,
                sides: [first, second],
                ring: Ring::new(),
                items: items.filter(|_| pace == Some(Pace::Items)),
            })),
        };
        Ok(Instance {
            name: name.into(),
            params: params.clone(),
            cycle: 0,
            engine,
            core,
            is_plain: beside.is_none(),
            beside,
            fault: None,
            recorder: None,
            is_attended: false,
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
        self.engine
    }

    /// The golden model, where one runs.
    pub fn model(&self) -> Option<&B::Model> {
        match &self.core {
            Core::Model(model) => Some(model),
            _ => None,
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
    /// When no RTL runs.
    pub fn inject(&mut self, fault: Fault) -> Result<(), NoRtl> {
        if !self.engine.has(Side::Rtl) {
            let what = "a fault needs RTL to strike";
            return Err(NoRtl { instance: self.name.clone(), what, engine: self.engine });
        }
        self.fault = Some(fault);
        self.is_plain = false;
        self.is_attended = true;
        Ok(())
    }

    /// Records the ports of up to `cycles` cycles from cycle `from` on; see [`Self::trace`].
    pub fn watch(&mut self, from: u64, cycles: u64) {
        self.recorder = Some(Box::new(Recorder { from, cycles, records: Vec::new(), inside: None }));
        self.is_plain = false;
        self.is_attended = self.fault.is_some();
    }

    /// As [`Self::watch`], and records the registers of the RTL.
    ///
    /// # Errors
    /// When no RTL runs.
    pub fn watch_inside(&mut self, from: u64, cycles: u64) -> Result<(), NoRtl> {
        let Some(rtl) = rtl_of(&self.core, self.beside.as_deref()) else {
            let what = "only RTL has registers";
            return Err(NoRtl { instance: self.name.clone(), what, engine: self.engine });
        };
        let registers = Registers::of(rtl.as_block());
        let inside = Some(Inside { registers, present: Vec::new(), values: Vec::new() });
        self.recorder = Some(Box::new(Recorder { from, cycles, records: Vec::new(), inside }));
        self.is_plain = false;
        self.is_attended = true;
        Ok(())
    }

    /// What was recorded since [`Self::watch`]; none when nothing is watched. The clock is [`Clock::default`].
    pub fn trace(&self) -> Option<Trace> {
        let recorder = self.recorder.as_ref()?;
        let mut trace = trace::<B>(self.name.clone(), &self.params, recorder.records.iter(), |pair| pair.1);
        if let Some(inside) = &recorder.inside {
            trace.registers = inside.registers.list().to_vec();
            for (sample, values) in trace.samples.iter_mut().zip(&inside.values) {
                sample.registers.clone_from(values);
            }
        }
        Some(trace)
    }

    /// One clock: applies `inputs`, returns the outputs before the clock edge, takes the edge.
    ///
    /// # Errors
    /// The first difference between two sides, when the engine has two. The instance is of no further use then.
    #[inline]
    pub fn step(&mut self, inputs: &B::In) -> Result<B::Out, Box<Divergence>> {
        if self.is_plain {
            self.cycle += 1;
            return Ok(self.core.step(inputs));
        }
        self.step_watched(inputs)
    }

    /// As [`Self::step`], where two forms are compared, or one is recorded or struck.
    #[inline(never)]
    fn step_watched(&mut self, inputs: &B::In) -> Result<B::Out, Box<Divergence>> {
        if self.is_attended {
            self.attend();
        }
        let (expected, outputs) = match &mut self.beside {
            None => {
                let outputs = self.core.step(inputs);
                (outputs, outputs)
            }
            Some(beside) => {
                let pair = beside.step(&mut self.core, inputs);
                beside.ring.push(Record { cycle: self.cycle, inputs: *inputs, outputs: Some(pair) });
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
        self.core.reset();
        if let Some(beside) = &mut self.beside {
            beside.core.reset();
            beside.items.iter_mut().for_each(Items::clear);
            beside.ring.push(record);
        }
        self.look_inside();
        if let Some(recorder) = &mut self.recorder {
            recorder.see(record);
        }
        self.cycle += 1;
    }

    /// Does what there is to do before a step.
    #[cold]
    fn attend(&mut self) {
        self.strike();
        self.look_inside();
        let is_inside = self.recorder.as_ref().is_some_and(|recorder| recorder.inside.is_some());
        self.is_attended = self.fault.is_some() || is_inside;
    }

    /// Reads the registers if they are to be recorded in this cycle.
    fn look_inside(&mut self) {
        let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.wants(self.cycle)) else {
            return;
        };
        let rtl = rtl_of(&self.core, self.beside.as_deref());
        if let (Some(inside), Some(rtl)) = (&mut recorder.inside, rtl) {
            inside.present = inside.registers.read(rtl.as_block());
        }
    }

    fn strike(&mut self) {
        if self.fault.is_none_or(|fault| fault.cycle > self.cycle) {
            return;
        }
        let Some(fault) = self.fault.take() else { return };
        let cores = [Some(&mut self.core), self.beside.as_mut().map(|beside| &mut beside.core)];
        for core in cores.into_iter().flatten() {
            if let Core::Rtl(rtl) = core {
                rtl.upset(fault.bit);
            }
        }
    }

    /// Returns what differs, unless it is all without meaning.
    #[cold]
    fn divergence(&self, expected: &B::Out, got: &B::Out) -> Option<Box<Divergence>> {
        let beside = self.beside.as_ref().expect("what runs alone differs from nothing");
        let (expected, got) = (expected.to_bits(&self.params), got.to_bits(&self.params));
        // A difference beyond a port's width would be invisible in the words, but is a difference still: blame port 0.
        let port = match first_difference(B::outputs(&self.params).iter(), &expected, &got) {
            Some(port) => port,
            None if expected == got => 0,
            None => return None,
        };
        let history = [0, 1].map(|at| {
            let name = format!("{}.{}", self.name, beside.sides[at].to_string().to_lowercase());
            let side = move |pair: &(B::Out, B::Out)| if at == 0 { pair.0 } else { pair.1 };
            trace::<B>(name, &self.params, beside.ring.in_order(), side)
        });
        Some(Box::new(Divergence {
            block: B::NAME,
            instance: self.name.clone(),
            cycle: self.cycle,
            port: B::Out::NAMES[port],
            sides: beside.sides,
            expected: hex(&expected[port]),
            got: hex(&got[port]),
            history: history.into(),
        }))
    }
}

impl<B: HwBlock> State for Instance<B> {
    fn save(&self, to: &mut Writer) {
        self.cycle.save(to);
        self.fault.is_some().save(to);
        self.core.save(to);
        if let Some(beside) = &self.beside {
            beside.core.save(to);
        }
    }
    /// The history that a difference shows begins anew, as does what is recorded.
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.cycle.load(from)?;
        if !bool::read(from)? {
            self.fault = None;
        }
        self.core.load(from)?;
        self.beside.as_mut().map_or(Ok(()), |beside| {
            beside.ring = Ring::new();
            beside.core.load(from)
        })
    }
}

impl<B: HwBlock> Recorder<B> {
    fn wants(&self, cycle: u64) -> bool {
        cycle >= self.from && cycle - self.from < self.cycles
    }

    fn see(&mut self, record: Record<B>) {
        if self.wants(record.cycle) {
            self.records.push(record);
            if let Some(inside) = &mut self.inside {
                inside.values.push(std::mem::take(&mut inside.present));
            }
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
    let (ports, names) = (B::ports(params), B::VALUE_NAMES);
    Trace { instance, clock: Clock::default(), ports, names, registers: Vec::new(), samples }
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
            "unknown engine `fpga`; engines: model, rtl, verilog, lockstep, model+verilog, rtl+verilog"
        );
        assert_eq!(Engine::lockstep("verilog,rtl"), Ok(Engine::RtlVerilog));
        assert_eq!(Engine::lockstep("model, rtl"), Ok(Engine::Lockstep));
        assert!(Engine::lockstep("rtl,rtl").is_err() && Engine::lockstep("rtl").is_err());
        assert_eq!("12:3".parse(), Ok(Fault { cycle: 12, bit: 3 }));
        assert_eq!(
            "12".parse::<Fault>().unwrap_err().to_string(),
            "`12` is not a fault; write CYCLE:BIT, two whole numbers"
        );
    }
}
