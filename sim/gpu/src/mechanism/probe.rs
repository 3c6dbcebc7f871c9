//! Builds block instances by name, so that each can be recorded, receive planted faults or run compiled Verilog.
use super::error::MechanismError;
use selvedge_hw::{
    BlockCompiler, BlockForm, Direction, Engine, HwBlock, Instance, PlantedUpset, Ports, TrafficCoverage,
};
use serde_json::Value;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// Instances to record, faults to plant, and the compiler of Verilog.
#[derive(Clone, Debug, Default)]
pub struct ProbeSpec {
    /// Names of the block instances to record.
    pub instances: Vec<String>,
    /// Records a timeline as well.
    pub timeline: bool,
    /// First cycle to record, in core cycles; in L2 cycles for blocks at an L2 partition.
    pub from: u64,
    /// Number of cycles to record.
    pub cycles: u64,
    /// Records the registers of the instances' RTL as well.
    pub inside: bool,
    /// Faults to plant in the RTL of named instances, for verification.
    pub faults: Vec<(String, PlantedUpset)>,
    /// Counts the corner cases that each instance reaches. Engines that compare two forms always count them.
    pub corners: bool,
    /// Compiler for the Verilog of blocks, for engines that run Verilog.
    pub compiler: Option<Arc<dyn BlockCompiler>>,
}

impl ProbeSpec {
    /// Returns the engine as text for reports, with the blocks that user Verilog replaces.
    pub fn engine_name(&self, engine: Engine) -> String {
        let own = self.compiler.as_ref().map(|compiler| compiler.replacements()).unwrap_or_default();
        [vec![engine.to_string()], own].concat().join("; ")
    }

    /// Returns whether Verilog runs, because of the engine or because it replaces blocks.
    pub fn runs_verilog(&self, engine: Engine) -> bool {
        engine.has(BlockForm::Verilog)
            || self.compiler.as_ref().is_some_and(|compiler| !compiler.replacements().is_empty())
    }
}

impl ProbeSpec {
    /// Returns the core cycles of the timeline, if a timeline is recorded.
    pub fn timeline_cycles(&self) -> Option<Range<u64>> {
        self.timeline.then(|| self.from..self.from.saturating_add(self.cycles))
    }
}

/// A block instance of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockInstance {
    /// Name of the instance, such as `sm3.compressor`.
    pub name: String,
    /// Name of the block.
    pub block: &'static str,
    /// Values of all parameters of the block.
    pub parameters: Value,
}

/// Builds the block instances of a mechanism.
pub struct Probes {
    spec: ProbeSpec,
    engine: Engine,
    coverage: TrafficCoverage,
    known: RefCell<Vec<BlockInstance>>,
    /// The first planted fault beyond the output bits of its block: the fault as given, and the highest bit.
    beyond: RefCell<Option<(String, usize)>>,
    /// The first instance that could not be built, and the reason.
    failed: RefCell<Option<(String, String)>>,
}

impl Probes {
    /// Creates a builder of instances under `engine`.
    pub fn new(spec: ProbeSpec, engine: Engine) -> Self {
        Probes {
            spec,
            engine,
            coverage: TrafficCoverage::default(),
            known: RefCell::default(),
            beyond: RefCell::default(),
            failed: RefCell::default(),
        }
    }

    /// Builds the instance called `name`, with its recording and its faults. The mechanism must have validated `params`. If the
    /// Verilog of the block cannot be compiled, the instance is a model, and [`Self::check_names`] returns the reason.
    pub fn instance<B: HwBlock>(&self, name: String, params: &B::Params) -> Instance<B> {
        let mut instance = self.build(name.clone(), params).unwrap_or_else(|why| {
            self.failed.borrow_mut().get_or_insert((name.clone(), why));
            Instance::new(name.clone(), params, Engine::Model)
                .expect("the mechanism's options were validated")
        });
        if self.spec.corners || instance.engine().sides().1.is_some() {
            instance.count_corners(&self.coverage);
        }
        if self.spec.instances.contains(&name) {
            let (from, cycles) = (self.spec.from, self.spec.cycles);
            if !self.spec.inside {
                instance.watch(from, cycles);
            } else if let Err(why) = instance.watch_inside(from, cycles) {
                // An instance that could not be built is reported as such.
                self.failed.borrow_mut().get_or_insert((format!("--inside {name}"), why.to_string()));
            }
        }
        for (_, fault) in self.spec.faults.iter().filter(|(target, _)| *target == name) {
            let bits: usize = B::Out::describe(params, Direction::Output).iter().map(|port| port.bits).sum();
            if fault.bit >= bits {
                let asked = format!("{name}:{}:{}", fault.cycle, fault.bit);
                self.beyond.borrow_mut().get_or_insert((asked, bits.saturating_sub(1)));
            }
            if let Err(why) = instance.inject(*fault) {
                // An instance that could not be built is reported as such.
                self.failed.borrow_mut().get_or_insert((format!("--inject {name}"), why.to_string()));
            }
        }
        let parameters = serde_json::to_value(params).expect("parameters have a JSON form");
        self.known.borrow_mut().push(BlockInstance { name, block: B::NAME, parameters });
        instance
    }

    /// Returns the counts of corner cases, which grow while the instances run.
    pub fn coverage(&self) -> TrafficCoverage {
        self.coverage.clone()
    }

    /// Builds an instance under the engine. Fails at once if an earlier instance could not be built.
    fn build<B: HwBlock>(&self, name: String, params: &B::Params) -> Result<Instance<B>, String> {
        if let Some((_, why)) = &*self.failed.borrow() {
            return Err(why.clone());
        }
        let compiler = self.spec.compiler.as_deref();
        Instance::with(name, params, self.engine, compiler).map_err(|error| error.to_string())
    }

    /// Rejects planted faults and recorded registers under an engine without RTL. Call it before building instances.
    ///
    /// # Errors
    /// Returns [`MechanismError::Probe`] for a fault and [`MechanismError::Inside`] for registers.
    pub fn check_engine(&self) -> Result<(), MechanismError> {
        if self.spec.inside && !self.engine.has(BlockForm::Rtl) {
            return Err(MechanismError::Inside);
        }
        match self.spec.faults.first() {
            Some((name, _)) if !self.engine.has(BlockForm::Rtl) => Err(MechanismError::Probe {
                name: name.clone(),
                allowed: "the engine must be rtl, lockstep or rtl+verilog, since a fault strikes RTL".into(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that every instance could be built and that every named instance exists. Every fault must address an output bit of
    /// its block.
    ///
    /// # Errors
    /// Returns [`MechanismError::Instance`] for an instance that could not be built. Returns [`MechanismError::Probe`] for a name
    /// that does not exist, and [`MechanismError::Fault`] for a fault in a missing bit.
    pub fn check_names(&self) -> Result<(), MechanismError> {
        if let Some((instance, why)) = self.failed.borrow().clone() {
            return Err(MechanismError::Instance { instance, why });
        }
        let known = self.known.borrow();
        let wanted = self.spec.instances.iter().chain(self.spec.faults.iter().map(|(name, _)| name));
        for name in wanted {
            if !known.iter().any(|one| one.name == *name) {
                let allowed = if known.is_empty() {
                    "the mechanism has no blocks".into()
                } else {
                    let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
                    selvedge_hw::names::allowed(
                        name,
                        names,
                        "selvedge run WORKLOAD --mechanism NAME --list-probes",
                    )
                };
                return Err(MechanismError::Probe { name: name.clone(), allowed });
            }
        }
        match self.beyond.borrow().clone() {
            Some((fault, last)) => Err(MechanismError::Fault { fault, last }),
            None => Ok(()),
        }
    }

    /// Returns the names of all built instances.
    pub fn names(&self) -> Vec<String> {
        self.known.borrow().iter().map(|one| one.name.clone()).collect()
    }

    /// Returns all built instances, in the order in which they were built.
    pub fn into_instances(self) -> Vec<BlockInstance> {
        self.known.into_inner()
    }
}
