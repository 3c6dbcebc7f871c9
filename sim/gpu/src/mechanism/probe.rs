//! Building block instances by name, so that any of them can be recorded, struck by a planted fault or compiled by others.
use crate::mechanism::MechanismError;
use selvedge_hw::{BlockCompiler, Direction, Engine, Fault, HwBlock, Instance, Ports, Side};
use serde_json::Value;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// What to record, and who compiles Verilog.
#[derive(Clone, Debug, Default)]
pub struct ProbeSpec {
    /// Names of block instances.
    pub instances: Vec<String>,
    /// Record a timeline, too.
    pub timeline: bool,
    /// First core cycle (for blocks at an L2 partition: L2 cycle) to record.
    pub from: u64,
    /// Cycles to record.
    pub cycles: u64,
    /// Record the registers of the instances' RTL, too.
    pub inside: bool,
    /// Faults to plant into the RTL of named instances, for verification.
    pub faults: Vec<(String, Fault)>,
    /// What compiles the Verilog of blocks, for the engines that run it.
    pub compiler: Option<Arc<dyn BlockCompiler>>,
}

impl ProbeSpec {
    /// Returns what blocks run as, for reports: the engine, and what stands in place of blocks.
    pub fn engine_name(&self, engine: Engine) -> String {
        let own = self.compiler.as_ref().map(|compiler| compiler.replacements()).unwrap_or_default();
        [vec![engine.to_string()], own].concat().join("; ")
    }

    /// Returns whether Verilog runs: by the engine, or in place of blocks.
    pub fn runs_verilog(&self, engine: Engine) -> bool {
        engine.has(Side::Verilog)
            || self.compiler.as_ref().is_some_and(|compiler| !compiler.replacements().is_empty())
    }
}

impl ProbeSpec {
    /// Returns the core cycles of the timeline, if one is to be recorded.
    pub fn timeline_cycles(&self) -> Option<Range<u64>> {
        self.timeline.then(|| self.from..self.from.saturating_add(self.cycles))
    }
}

/// A block instance of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockInstance {
    /// Its name, such as `sm3.compressor`.
    pub name: String,
    /// The block.
    pub block: &'static str,
    /// Every parameter of the block.
    pub parameters: Value,
}

/// The maker of a mechanism's block instances.
pub struct Probes {
    spec: ProbeSpec,
    engine: Engine,
    known: RefCell<Vec<BlockInstance>>,
    /// The first fault that strikes beyond its block's outputs: as it was asked for, and the last bit.
    beyond: RefCell<Option<(String, usize)>>,
    /// The first instance that could not be built as it was asked for, and why.
    failed: RefCell<Option<(String, String)>>,
}

impl Probes {
    /// A maker of instances under `engine`.
    pub fn new(spec: ProbeSpec, engine: Engine) -> Self {
        Probes {
            spec,
            engine,
            known: RefCell::default(),
            beyond: RefCell::default(),
            failed: RefCell::default(),
        }
    }

    /// Builds the instance called `name`, recorded or struck when asked for. The mechanism has validated `params`. Where its
    /// Verilog cannot be compiled, [`Self::check_names`] says why, and the instance is a model.
    pub fn instance<B: HwBlock>(&self, name: String, params: &B::Params) -> Instance<B> {
        let mut instance = self.build(name.clone(), params).unwrap_or_else(|why| {
            self.failed.borrow_mut().get_or_insert((name.clone(), why));
            Instance::new(name.clone(), params, Engine::Model)
                .expect("the mechanism's options were validated")
        });
        if self.spec.instances.contains(&name) {
            let (from, cycles) = (self.spec.from, self.spec.cycles);
            if !self.spec.inside {
                instance.watch(from, cycles);
            } else if let Err(why) = instance.watch_inside(from, cycles) {
                // An instance that could not be built is reported as that.
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
                // An instance that could not be built is reported as that.
                self.failed.borrow_mut().get_or_insert((format!("--inject {name}"), why.to_string()));
            }
        }
        let parameters = serde_json::to_value(params).expect("parameters have a JSON form");
        self.known.borrow_mut().push(BlockInstance { name, block: B::NAME, parameters });
        instance
    }

    /// Builds an instance under the engine, unless one before it could not be built.
    fn build<B: HwBlock>(&self, name: String, params: &B::Params) -> Result<Instance<B>, String> {
        if let Some((_, why)) = &*self.failed.borrow() {
            return Err(why.clone());
        }
        let compiler = self.spec.compiler.as_deref();
        Instance::with(name, params, self.engine, compiler).map_err(|error| error.to_string())
    }

    /// Refuses faults and recorded registers without RTL; call before building.
    ///
    /// # Errors
    /// [`MechanismError::Probe`], [`MechanismError::Inside`].
    pub fn check_engine(&self) -> Result<(), MechanismError> {
        if self.spec.inside && !self.engine.has(Side::Rtl) {
            return Err(MechanismError::Inside);
        }
        match self.spec.faults.first() {
            Some((name, _)) if !self.engine.has(Side::Rtl) => Err(MechanismError::Probe {
                name: name.clone(),
                allowed: "a fault strikes RTL, so the engines rtl, lockstep and rtl+verilog".into(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that every instance was built as asked for, that there is every one that was named, and that every fault strikes a
    /// bit that its outputs have.
    ///
    /// # Errors
    /// [`MechanismError::Instance`] says what could not be built, [`MechanismError::Probe`] names the instances there are,
    /// [`MechanismError::Fault`] the bits.
    pub fn check_names(&self) -> Result<(), MechanismError> {
        if let Some((instance, why)) = self.failed.borrow().clone() {
            return Err(MechanismError::Instance { instance, why });
        }
        let known = self.known.borrow();
        let wanted = self.spec.instances.iter().chain(self.spec.faults.iter().map(|(name, _)| name));
        for name in wanted {
            if !known.iter().any(|one| one.name == *name) {
                let allowed = if known.is_empty() {
                    "none, the mechanism has no blocks".into()
                } else {
                    self.names().join(", ")
                };
                return Err(MechanismError::Probe { name: name.clone(), allowed });
            }
        }
        match self.beyond.borrow().clone() {
            Some((fault, last)) => Err(MechanismError::Fault { fault, last }),
            None => Ok(()),
        }
    }

    /// Names of every instance that was built.
    pub fn names(&self) -> Vec<String> {
        self.known.borrow().iter().map(|one| one.name.clone()).collect()
    }

    /// Every instance that was built, in that order.
    pub fn into_instances(self) -> Vec<BlockInstance> {
        self.known.into_inner()
    }
}
