//! Building block instances by name, so that any of them can be recorded or struck by a planted fault.
use crate::mechanism::MechanismError;
use selvedge_hw::{Direction, Engine, Fault, HwBlock, Instance, Ports};
use serde_json::Value;
use std::cell::RefCell;
use std::ops::Range;

/// What to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
}

impl Probes {
    /// A maker of instances under `engine`.
    pub fn new(spec: ProbeSpec, engine: Engine) -> Self {
        Probes { spec, engine, known: RefCell::default(), beyond: RefCell::default() }
    }

    /// Builds the instance called `name`, recorded or struck when asked for. The mechanism has validated `params`.
    pub fn instance<B: HwBlock>(&self, name: String, params: &B::Params) -> Instance<B> {
        let mut instance =
            Instance::new(name.clone(), params, self.engine).expect("the mechanism's options were validated");
        if self.spec.instances.contains(&name) {
            let (from, cycles) = (self.spec.from, self.spec.cycles);
            match self.spec.inside {
                true => {
                    instance
                        .watch_inside(from, cycles)
                        .expect("check_engine() refuses this under the model engine");
                }
                false => instance.watch(from, cycles),
            }
        }
        for (_, fault) in self.spec.faults.iter().filter(|(target, _)| *target == name) {
            let bits: usize = B::Out::describe(params, Direction::Output).iter().map(|port| port.bits).sum();
            if fault.bit >= bits {
                let asked = format!("{name}:{}:{}", fault.cycle, fault.bit);
                self.beyond.borrow_mut().get_or_insert((asked, bits.saturating_sub(1)));
            }
            instance.inject(*fault).expect("check() refuses faults under the model engine");
        }
        let parameters = serde_json::to_value(params).expect("parameters have a JSON form");
        self.known.borrow_mut().push(BlockInstance { name, block: B::NAME, parameters });
        instance
    }

    /// Refuses faults and recorded registers without RTL; call before building.
    ///
    /// # Errors
    /// [`MechanismError::Probe`], [`MechanismError::Inside`].
    pub fn check_engine(&self) -> Result<(), MechanismError> {
        if self.spec.inside && self.engine == Engine::Model {
            return Err(MechanismError::Inside);
        }
        match self.spec.faults.first() {
            Some((name, _)) if self.engine == Engine::Model => Err(MechanismError::Probe {
                name: name.clone(),
                allowed: "a fault strikes RTL, so the engines rtl and lockstep".into(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that every asked-for instance was built, and that every fault strikes a bit that its outputs have.
    ///
    /// # Errors
    /// [`MechanismError::Probe`] names the instances there are, [`MechanismError::Fault`] the bits.
    pub fn check_names(&self) -> Result<(), MechanismError> {
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
