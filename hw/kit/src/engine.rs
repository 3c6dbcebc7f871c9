//! Engines: a block instance that runs as golden model, as RTL, as compiled Verilog, or as two of these in lockstep.
use crate::block::{Clocked, HwBlock, RtlBlock};
use crate::clock::Clock;
use crate::compiled::{BlockCompiler, ComparisonPace, CompileError, Compiled, Ended};
use crate::coverage::{TrafficCorners, TrafficCoverage};
use crate::items::Items;
use crate::params::ParamError;
use crate::ports::{Ports, first_difference};
use crate::recorder::CircuitRecorder;
use crate::registry::Entry;
use crate::rtl::layout::SignalLayout;
use crate::wave::{self, CycleSample, Trace};
use selvedge_state::{Reader, State, StateError, Writer};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use strum::{Display, EnumString, VariantNames};

/// Max cycles of port history in a [`Divergence`].
pub const HISTORY_CYCLES: usize = 64;

/// The forms of a block inside an [`Instance`].
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
    /// The RTL alone: the simulated design is the synthesized one.
    #[default]
    Rtl,
    /// The block's Verilog alone, compiled by a [`BlockCompiler`].
    Verilog,
    /// Model and RTL, compared in every cycle at every port whose value is valid in that cycle.
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
    /// Returns the forms that run: the first one, and one that is compared with it.
    pub fn sides(self) -> (BlockForm, Option<BlockForm>) {
        match self {
            Engine::Model => (BlockForm::Model, None),
            Engine::Rtl => (BlockForm::Rtl, None),
            Engine::Verilog => (BlockForm::Verilog, None),
            Engine::Lockstep => (BlockForm::Model, Some(BlockForm::Rtl)),
            Engine::ModelVerilog => (BlockForm::Model, Some(BlockForm::Verilog)),
            Engine::RtlVerilog => (BlockForm::Rtl, Some(BlockForm::Verilog)),
        }
    }

    /// Returns whether one of its sides is `side`.
    pub fn has(self, side: BlockForm) -> bool {
        let (first, second) = self.sides();
        first == side || second == Some(side)
    }

    /// Returns the engine of a block that Verilog replaces. The replacement takes the only side, or the second one.
    fn replaced(self) -> Self {
        match self {
            Engine::Model | Engine::Rtl | Engine::Verilog => Engine::Verilog,
            Engine::Lockstep | Engine::ModelVerilog => Engine::ModelVerilog,
            Engine::RtlVerilog => Engine::RtlVerilog,
        }
    }

    /// Returns the engine that compares two sides, which are given in any order.
    ///
    /// # Errors
    /// If the text is not two different sides.
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

/// A form of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
pub enum BlockForm {
    /// The golden model.
    #[strum(serialize = "model")]
    Model,
    /// The RTL.
    #[strum(serialize = "RTL")]
    Rtl,
    /// Verilog that a [`BlockCompiler`] has compiled.
    Verilog,
}

/// The error of a text that is not two forms of a block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}': must be two of model, rtl and verilog with a comma between them, as in rtl,verilog")]
pub struct BadPair(pub String);

/// The error of a word that is not an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine '{0}'; engines: {engines}", engines = Engine::VARIANTS.join(", "))]
pub struct UnknownEngine(pub String);

impl UnknownEngine {
    fn new(text: &str) -> Self {
        UnknownEngine(text.into())
    }
}

/// A single-event upset to be planted in an instance's RTL, to prove that the checkers detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlantedUpset {
    /// The bit is inverted as this cycle begins, so that this cycle's outputs show it.
    pub cycle: u64,
    /// Bit of the output registers; see [`RtlBlock::upset`].
    pub bit: usize,
}

/// The error of a text that is not a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a fault; write CYCLE:BIT, two integers")]
pub struct BadFault(pub String);

impl FromStr for PlantedUpset {
    type Err = BadFault;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (cycle, bit) = text.split_once(':')?;
            Some(PlantedUpset { cycle: cycle.parse().ok()?, bit: bit.parse().ok()? })
        };
        parse().ok_or_else(|| BadFault(text.to_string()))
    }
}

/// The error of a fault or of recorded registers under an engine without RTL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{instance}: {what}, but the engine is {engine}; use rtl, lockstep or rtl+verilog")]
pub struct NoRtl {
    /// The instance.
    pub instance: String,
    /// The purpose that needs RTL.
    pub what: &'static str,
    /// The instance's engine.
    pub engine: Engine,
}

/// The error of an instance that could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The parameters are invalid.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// The block cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A replacement has another latency, but the block is not a stream.
    #[error(
        "{0}: a latency can be stated for blocks that give their items in order, whatever the cycles: the codecs bdi, fpc, bpc and cpack"
    )]
    NoStream(&'static str),
    /// The program has no compiler of Verilog.
    #[error("the engine {0} needs a compiler of Verilog, which only the command selvedge brings along")]
    NoCompiler(Engine),
}

/// The first difference between two forms of a block. Displays as one line.
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
    /// The two forms. The values of the first one are expected.
    pub sides: [BlockForm; 2],
    /// The first one's value of the port, in hexadecimal.
    pub expected: String,
    /// The second one's value of the port, in hexadecimal.
    pub got: String,
    /// The last [`HISTORY_CYCLES`] cycles up to this one at the ports of both forms.
    pub history: Vec<Trace>,
}

impl Divergence {
    /// Writes the history as a VCD file, the ports of each side under `<instance>.<side>`, such as `<instance>.model`.
    ///
    /// # Errors
    /// If the file cannot be written.
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

/// The error of a clock that gave no outputs. Displays as one line.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// Two forms of the block differ.
    #[error(transparent)]
    Differs(#[from] Divergence),
    /// The block's Verilog has ended.
    #[error("{instance} ({block}): cycle {cycle}: {why}")]
    Ended {
        /// The block's name.
        block: &'static str,
        /// The instance's name.
        instance: String,
        /// The cycle.
        cycle: u64,
        /// The reason.
        why: Ended,
    },
}

impl StepError {
    /// Returns the difference between the forms, if the error is one.
    pub fn divergence(&self) -> Option<&Divergence> {
        match self {
            StepError::Differs(divergence) => Some(divergence),
            StepError::Ended { .. } => None,
        }
    }
}

/// One cycle at an instance's ports.
pub(crate) struct CycleRecord<B: HwBlock> {
    pub cycle: u64,
    /// Inputs, and the outputs of both sides (equal if only one runs); none in reset.
    pub inputs: B::In,
    pub outputs: Option<(B::Out, B::Out)>,
}

// The derive macros would require `B: Clone` and `B: Copy`.
impl<B: HwBlock> Clone for CycleRecord<B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B: HwBlock> Copy for CycleRecord<B> {}

impl<B: HwBlock> CycleRecord<B> {
    fn sample(&self, params: &B::Params, side: impl Fn(&(B::Out, B::Out)) -> B::Out) -> CycleSample {
        let mut values = self.inputs.to_bits(params);
        values.extend(self.outputs.as_ref().map(side).unwrap_or_default().to_bits(params));
        CycleSample { cycle: self.cycle, reset: self.outputs.is_none(), values, registers: Vec::new() }
    }
}

/// The last cycles of a run in lockstep. The oldest is overwritten.
struct Ring<B: HwBlock> {
    records: Vec<CycleRecord<B>>,
    next: usize,
}

impl<B: HwBlock> Ring<B> {
    fn new() -> Self {
        Ring { records: Vec::with_capacity(HISTORY_CYCLES), next: 0 }
    }

    fn push(&mut self, record: CycleRecord<B>) {
        if self.records.len() < HISTORY_CYCLES {
            self.records.push(record);
        } else {
            self.records[self.next] = record;
            self.next = (self.next + 1) % HISTORY_CYCLES;
        }
    }

    fn in_order(&self) -> impl Iterator<Item = &CycleRecord<B>> {
        let (newer, older) = self.records.split_at(self.next);
        older.iter().chain(newer)
    }
}

/// One form of the block.
pub(crate) enum Core<B: HwBlock> {
    Model(B::Model),
    Rtl(Box<dyn RtlBlock<B::In, B::Out>>),
    Verilog(Box<Compiled<B>>),
}

impl<B: HwBlock> Core<B> {
    fn new(
        side: BlockForm,
        params: &B::Params,
        compile: impl FnOnce() -> Compile<B>,
    ) -> Result<Self, BuildError> {
        Ok(match side {
            BlockForm::Model => Core::Model(B::model(params)?),
            BlockForm::Rtl => Core::Rtl(B::rtl(params)?),
            BlockForm::Verilog => Core::Verilog(Box::new(compile()?)),
        })
    }

    /// Clocks once.
    ///
    /// # Errors
    /// If compiled Verilog ends.
    #[inline]
    pub(crate) fn step(&mut self, inputs: &B::In) -> Result<B::Out, Box<Ended>> {
        match self {
            Core::Model(model) => Ok(model.step(inputs)),
            Core::Rtl(rtl) => Ok(rtl.step(inputs)),
            Core::Verilog(verilog) => verilog.step(inputs),
        }
    }

    /// Clocks as [`Self::step`], and returns whether the clock left the state unchanged. Verilog reports that only from the
    /// second clock with the same inputs on.
    pub(crate) fn step_and_compare(&mut self, inputs: &B::In) -> Result<(B::Out, bool), Box<Ended>> {
        if let Core::Verilog(verilog) = self {
            let outputs = verilog.step(inputs)?;
            return Ok((outputs, verilog.is_steady()));
        }
        let saved = |core: &Self| {
            let mut to = Writer::default();
            core.save(&mut to);
            to.into_bytes()
        };
        let before = saved(self);
        let outputs = self.step(inputs)?;
        Ok((outputs, saved(self) == before))
    }

    /// Returns another circuit of this form in the same state. A circuit of Verilog is returned in the reset state.
    fn twin(&self, params: &B::Params) -> Result<Self, Ended> {
        let mut twin = match self {
            Core::Model(_) => B::model(params).map(Core::Model),
            Core::Rtl(_) => B::rtl(params).map(Core::Rtl),
            Core::Verilog(verilog) => return Ok(Core::Verilog(Box::new(verilog.silent_twin(params)?))),
        }
        .map_err(|error| Ended(error.to_string()))?;
        let mut saved = Writer::default();
        self.save(&mut saved);
        twin.load(&mut Reader::new(saved.bytes())).map_err(|error| Ended(error.to_string()))?;
        Ok(twin)
    }

    /// Returns the RTL, if this is RTL.
    pub(crate) fn rtl(&self) -> Option<&dyn RtlBlock<B::In, B::Out>> {
        match self {
            Core::Rtl(rtl) => Some(&**rtl),
            Core::Model(_) | Core::Verilog(_) => None,
        }
    }

    pub(crate) fn reset(&mut self) {
        match self {
            Core::Model(model) => model.reset(),
            Core::Rtl(rtl) => rtl.reset(),
            Core::Verilog(verilog) => verilog.reset(),
        }
    }
}

/// A compiled block, or the reason for which none exists.
type Compile<B> = Result<Compiled<B>, BuildError>;

impl<B: HwBlock> State for Core<B> {
    /// Saves nothing of compiled Verilog, whose state is unknown. Runs with checkpoints reject it.
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

/// A second form of the block, which is compared with the first one.
struct Beside<B: HwBlock> {
    core: Core<B>,
    sides: [BlockForm; 2],
    ring: Ring<B>,
    /// Compares items instead of cycles, if the replacement has another latency.
    items: Option<Items<B>>,
}

impl<B: HwBlock> Beside<B> {
    /// Clocks both forms, and returns the outputs of the first and of the second. If items are compared, the first outputs equal
    /// the second ones, except for an item that the second form gives in this cycle.
    ///
    /// # Errors
    /// If compiled Verilog ends.
    fn step(&mut self, first: &mut Core<B>, inputs: &B::In) -> Result<(B::Out, B::Out), Box<Ended>> {
        let Some(items) = &mut self.items else { return Ok((first.step(inputs)?, self.core.step(inputs)?)) };
        let outputs = self.core.step(inputs)?;
        let mut ended = None;
        let expected = items.follow(inputs, &outputs, |inputs| {
            first.step(inputs).unwrap_or_else(|why| {
                ended = Some(why);
                B::Out::default()
            })
        });
        ended.map_or(Ok((expected.unwrap_or(outputs), outputs)), Err)
    }
}

/// A named instance of a block under an engine.
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
    fault: Option<PlantedUpset>,
    /// A mutex, because `trace` takes `&self`. No thread ever waits for it.
    recorder: Option<Box<Mutex<CircuitRecorder<B>>>>,
    /// Counts of corner cases. A mutex, because the counts are read while the instance exists.
    traffic: Option<Arc<Mutex<TrafficCorners<B>>>>,
    /// `true` if one form runs without a recorder, a fault or counts.
    is_plain: bool,
}

impl<B: HwBlock> Instance<B> {
    /// Returns an instance in its reset state, at cycle 0, under an engine without Verilog.
    ///
    /// # Errors
    /// If the parameters are invalid.
    ///
    /// # Panics
    /// If the engine has Verilog; [`Self::with`] takes a compiler for it.
    pub fn new(name: impl Into<String>, params: &B::Params, engine: Engine) -> Result<Self, ParamError> {
        match Self::with(name, params, engine, None) {
            Err(BuildError::Params(error)) => Err(error),
            other => Ok(other.expect("engines without Verilog need no compiler")),
        }
    }

    /// Returns an instance in its reset state, at cycle 0. `compiler` compiles its Verilog.
    ///
    /// # Errors
    /// If the parameters are invalid, or the engine has Verilog that cannot be compiled.
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
        if pace == Some(ComparisonPace::Items) && items.is_none() {
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
                items: items.filter(|_| pace == Some(ComparisonPace::Items)),
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
            traffic: None,
        })
    }

    /// Returns the instance's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the parameters of the instance.
    pub fn params(&self) -> &B::Params {
        &self.params
    }

    /// Returns the engine of the instance.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns the golden model, if it is the engine's first side.
    pub fn model(&self) -> Option<&B::Model> {
        match &self.core {
            Core::Model(model) => Some(model),
            _ => None,
        }
    }

    /// Returns the number of the cycle that the next step simulates.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Advances the cycle number to `cycle` without a clock, for a caller that clocks the block only on events. It never
    /// decreases the number.
    pub fn advance_to(&mut self, cycle: u64) {
        self.cycle = self.cycle.max(cycle);
    }

    /// Plants a fault in the RTL.
    ///
    /// # Errors
    /// If the engine has no RTL.
    pub fn inject(&mut self, fault: PlantedUpset) -> Result<(), NoRtl> {
        if !self.engine.has(BlockForm::Rtl) {
            let what = "a fault needs RTL to strike";
            return Err(NoRtl { instance: self.name.clone(), what, engine: self.engine });
        }
        self.fault = Some(fault);
        self.is_plain = false;
        Ok(())
    }

    /// Counts the corner cases that the instance reaches, and adds the counts to `coverage`. Must be called before the first
    /// clock.
    pub fn count_corners(&mut self, coverage: &TrafficCoverage) {
        let traffic = Arc::new(Mutex::new(TrafficCorners::new(&self.params)));
        coverage.add(&traffic);
        self.traffic = Some(traffic);
        self.is_plain = false;
    }

    /// Changes the counts of corner cases, if the instance has some.
    fn count(&self, change: impl FnOnce(&mut TrafficCorners<B>)) {
        if let Some(traffic) = &self.traffic {
            change(&mut traffic.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Records the ports in up to `cycles` cycles from cycle `from` on; see [`Self::trace`]. Under an engine with Verilog it
    /// must be called before the first clock, because the state of compiled Verilog is unknown.
    pub fn watch(&mut self, from: u64, cycles: u64) {
        let watched = self.beside.as_ref().map_or(&self.core, |beside| &beside.core);
        // A circuit that ends in its reset is not recorded; the next step returns the error.
        let twin = watched.twin(&self.params).ok();
        self.record(twin, (from, cycles), false);
    }

    /// Records the ports as [`Self::watch`], and the registers of the RTL.
    ///
    /// # Errors
    /// If the engine has no RTL.
    pub fn watch_inside(&mut self, from: u64, cycles: u64) -> Result<(), NoRtl> {
        let cores = [Some(&self.core), self.beside.as_deref().map(|beside| &beside.core)];
        let Some(rtl) = cores.into_iter().flatten().find(|core| matches!(core, Core::Rtl(_))) else {
            let what = "only RTL has registers";
            return Err(NoRtl { instance: self.name.clone(), what, engine: self.engine });
        };
        let twin = rtl.twin(&self.params).ok();
        self.record(twin, (from, cycles), true);
        Ok(())
    }

    fn record(&mut self, circuit: Option<Core<B>>, window: (u64, u64), inside: bool) {
        let recorder = circuit.map(|circuit| CircuitRecorder::new(circuit, self.cycle, window, inside));
        self.recorder = recorder.map(|recorder| Box::new(Mutex::new(recorder)));
        self.is_plain = false;
    }

    /// Ends the recording, and returns the cycles since [`Self::watch`] and some after the last clock. Returns nothing if
    /// nothing is recorded. The clock is [`Clock::default`] and runs in every cycle.
    pub fn trace(&self) -> Option<Trace> {
        let mut recorder = self.recorder.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        recorder.finish();
        let mut trace = trace::<B>(self.name.clone(), &self.params, recorder.records.iter(), |pair| pair.1);
        trace.is_gated = false;
        if let Some(inside) = &recorder.inside {
            trace.registers = inside.registers.list().to_vec();
            for (sample, values) in trace.samples.iter_mut().zip(&inside.values) {
                sample.registers.clone_from(values);
            }
        }
        Some(trace)
    }

    /// Clocks once: applies `inputs`, computes the outputs before the clock edge, and takes the edge. Returns these outputs.
    ///
    /// # Errors
    /// The first difference between the engine's two sides, or the end of Verilog. The instance is unusable after an error.
    #[inline]
    pub fn step(&mut self, inputs: &B::In) -> Result<B::Out, Box<StepError>> {
        if self.is_plain {
            let outputs = self.core.step(inputs).map_err(|why| self.ended(*why))?;
            self.cycle += 1;
            return Ok(outputs);
        }
        self.step_watched(inputs)
    }

    /// Clocks as [`Self::step`], if two forms are compared, or the instance has a recorder, a fault or counts.
    #[inline(never)]
    fn step_watched(&mut self, inputs: &B::In) -> Result<B::Out, Box<StepError>> {
        let upset = self.strike();
        let stepped = match &mut self.beside {
            None => self.core.step(inputs).map(|outputs| (outputs, outputs)),
            Some(beside) => beside.step(&mut self.core, inputs),
        };
        let (expected, outputs) = stepped.map_err(|why| self.ended(*why))?;
        if let Some(beside) = &mut self.beside {
            let pair = (expected, outputs);
            beside.ring.push(CycleRecord { cycle: self.cycle, inputs: *inputs, outputs: Some(pair) });
        }
        if let Some(recorder) = &mut self.recorder {
            let recorder = recorder.get_mut().unwrap_or_else(PoisonError::into_inner);
            recorder.step(self.cycle, inputs, upset);
        }
        if expected != outputs
            && let Some(divergence) = self.divergence(&expected, &outputs)
        {
            return Err(Box::new(StepError::Differs(divergence)));
        }
        self.count(|traffic| traffic.clock(inputs, &outputs));
        self.cycle += 1;
        Ok(outputs)
    }

    /// Returns the error for Verilog that has ended.
    #[cold]
    fn ended(&self, why: Ended) -> Box<StepError> {
        let (instance, cycle) = (self.name.clone(), self.cycle);
        Box::new(StepError::Ended { block: B::NAME, instance, cycle, why })
    }

    /// Clocks once with reset active and all inputs zero.
    pub fn reset(&mut self) {
        let record = CycleRecord { cycle: self.cycle, inputs: B::In::default(), outputs: None };
        self.core.reset();
        if let Some(beside) = &mut self.beside {
            beside.core.reset();
            beside.items.iter_mut().for_each(Items::clear);
            beside.ring.push(record);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.get_mut().unwrap_or_else(PoisonError::into_inner).reset(self.cycle);
        }
        self.count(TrafficCorners::reset);
        self.cycle += 1;
    }

    /// Inverts the bit of a fault whose cycle has come, and returns its number.
    fn strike(&mut self) -> Option<usize> {
        let fault = self.fault.take_if(|fault| fault.cycle <= self.cycle)?;
        let cores = [Some(&mut self.core), self.beside.as_mut().map(|beside| &mut beside.core)];
        for core in cores.into_iter().flatten() {
            if let Core::Rtl(rtl) = core {
                rtl.upset(fault.bit);
            }
        }
        Some(fault.bit)
    }

    /// Returns the difference between the outputs, unless all differing values are invalid.
    #[cold]
    fn divergence(&self, expected: &B::Out, got: &B::Out) -> Option<Divergence> {
        let beside = self.beside.as_ref().expect("what runs alone differs from nothing");
        let (expected, got) = (expected.to_bits(&self.params), got.to_bits(&self.params));
        // A difference beyond a port's width is not visible in the words, but it is a difference: report port 0.
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
        Some(Divergence {
            block: B::NAME,
            instance: self.name.clone(),
            cycle: self.cycle,
            port: B::Out::NAMES[port],
            sides: beside.sides,
            expected: hex(&expected[port]),
            got: hex(&got[port]),
            history: history.into(),
        })
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
    /// Clears the history in lockstep, ends the counts of corner cases, and restarts the recording.
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.cycle.load(from)?;
        if !bool::read(from)? {
            self.fault = None;
        }
        self.core.load(from)?;
        self.count(TrafficCorners::end);
        if let Some(beside) = &mut self.beside {
            beside.ring = Ring::new();
            beside.core.load(from)?;
        }
        let Some(recorder) = &mut self.recorder else { return Ok(()) };
        let recorder = recorder.get_mut().unwrap_or_else(PoisonError::into_inner);
        let second = self.beside.as_ref().map(|beside| &beside.core);
        recorder.restart([second, Some(&self.core)].into_iter().flatten(), self.cycle)
    }
}

/// Returns the trace of an instance with the cycles of these records. Its clock is gated.
fn trace<'a, B: HwBlock>(
    instance: String,
    params: &B::Params,
    records: impl Iterator<Item = &'a CycleRecord<B>>,
    side: impl Fn(&(B::Out, B::Out)) -> B::Out + Copy,
) -> Trace {
    let samples = records.map(|record| record.sample(params, side)).collect();
    let (ports, names, events) = (B::ports(params), B::VALUE_NAMES, B::EVENTS);
    let fields = B::rtl(params).map(|rtl| SignalLayout::of_ports(rtl.as_block(), &ports)).unwrap_or_default();
    let (clock, registers) = (Clock::default(), Vec::new());
    Trace { instance, clock, is_gated: true, ports, names, events, fields, registers, samples }
}

/// Returns a value in hexadecimal without leading zeros.
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
            "unknown engine 'fpga'; engines: model, rtl, verilog, lockstep, model+verilog, rtl+verilog"
        );
        assert_eq!(Engine::lockstep("verilog,rtl"), Ok(Engine::RtlVerilog));
        assert_eq!(Engine::lockstep("model, rtl"), Ok(Engine::Lockstep));
        assert!(Engine::lockstep("rtl,rtl").is_err() && Engine::lockstep("rtl").is_err());
        assert_eq!("12:3".parse(), Ok(PlantedUpset { cycle: 12, bit: 3 }));
        assert_eq!(
            "12".parse::<PlantedUpset>().unwrap_err().to_string(),
            "'12' is not a fault; write CYCLE:BIT, two integers"
        );
    }
}
