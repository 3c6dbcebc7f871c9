//! A block instance that a policy clocks for events, also where it cannot return an error.
use super::difference::Difference;
use super::probe::Probes;
use crate::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_hw::{HwBlock, Instance};
use selvedge_state::State;

/// An instance with the difference that it may have shown.
#[derive(State)]
pub struct Stepped<B: HwBlock> {
    instance: Instance<B>,
    difference: Difference,
}

impl<B: HwBlock> Stepped<B> {
    /// Builds the instance called `name`; the parameters must be valid.
    pub fn new(name: String, params: &B::Params, probes: &Probes) -> Self {
        Stepped { instance: probes.instance(name, params), difference: Difference::default() }
    }

    /// Clocks the block once, in cycle `now` or in the one after its last clock, whichever is later. Returns its outputs before
    /// the clock edge; nothing once its engines have differed.
    pub fn clock(&mut self, now: u64, inputs: &B::In) -> Option<B::Out> {
        if self.difference.is_broken() {
            return None;
        }
        self.instance.advance_to(now);
        self.difference.catch(self.instance.step(inputs))
    }

    /// Returns whether a difference is still to be reported: the policy must be busy until then.
    pub fn is_pending(&self) -> bool {
        self.difference.is_pending()
    }

    /// Reports a difference, once; for the policy's `tick`.
    ///
    /// # Errors
    /// The engines have differed.
    pub fn report(&mut self) -> Result<(), MechanismFault> {
        self.difference.report()
    }

    /// Returns what was recorded of it.
    pub fn trace(&self) -> Option<Trace> {
        self.instance.trace()
    }
}
