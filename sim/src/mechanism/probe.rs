//! Building block instances by name, so that any of them can be recorded or struck by a planted fault.
use crate::mechanism::MechanismError;
use selvedge_hw::{Engine, Fault, HwBlock, Instance};
use std::cell::RefCell;

/// What to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeSpec {
    /// Names of block instances.
    pub instances: Vec<String>,
    /// First core cycle (for blocks at an L2 partition: L2 cycle) to record.
    pub from: u64,
    /// Cycles to record.
    pub cycles: u64,
    /// Faults to plant into the RTL of named instances, for verification.
    pub faults: Vec<(String, Fault)>,
}

/// The maker of a mechanism's block instances.
pub struct Probes {
    spec: ProbeSpec,
    engine: Engine,
    known: RefCell<Vec<String>>,
}

impl Probes {
    /// A maker of instances under `engine`.
    pub fn new(spec: ProbeSpec, engine: Engine) -> Self {
        Probes { spec, engine, known: RefCell::new(Vec::new()) }
    }

    /// Builds the instance called `name`, recorded or struck when asked for. The mechanism has validated `params`.
    pub fn instance<B: HwBlock>(&self, name: String, params: &B::Params) -> Instance<B> {
        let mut instance =
            Instance::new(name.clone(), params, self.engine).expect("the mechanism's options were validated");
        if self.spec.instances.contains(&name) {
            instance.watch(self.spec.from, self.spec.cycles);
        }
        for (_, fault) in self.spec.faults.iter().filter(|(target, _)| *target == name) {
            instance.inject(*fault).expect("check() refuses faults under the model engine");
        }
        self.known.borrow_mut().push(name);
        instance
    }

    /// Refuses faults without RTL; call before building.
    ///
    /// # Errors
    /// [`MechanismError::Probe`].
    pub fn check_engine(&self) -> Result<(), MechanismError> {
        match self.spec.faults.first() {
            Some((name, _)) if self.engine == Engine::Model => Err(MechanismError::Probe {
                name: name.clone(),
                allowed: "a fault strikes RTL, so the engines rtl and lockstep".into(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that every asked-for instance was built.
    ///
    /// # Errors
    /// [`MechanismError::Probe`] names the instances there are.
    pub fn check_names(&self) -> Result<(), MechanismError> {
        let known = self.known.borrow();
        let wanted = self.spec.instances.iter().chain(self.spec.faults.iter().map(|(name, _)| name));
        for name in wanted {
            if !known.contains(name) {
                let allowed = if known.is_empty() {
                    "none, the mechanism has no blocks".into()
                } else {
                    known.join(", ")
                };
                return Err(MechanismError::Probe { name: name.clone(), allowed });
            }
        }
        Ok(())
    }

    /// Names of every instance that was built.
    pub fn names(&self) -> Vec<String> {
        self.known.borrow().clone()
    }
}
