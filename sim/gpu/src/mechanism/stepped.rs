//! A block instance that a policy clocks on events, even at points where the policy cannot return an error.
use super::difference::FirstDifference;
use super::probe::Probes;
use crate::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_hw::{HwBlock, Instance};
use selvedge_state::State;

/// An instance with the first difference between its engines, if any.
#[derive(State)]
pub struct Stepped<B: HwBlock> {
    instance: Instance<B>,
    difference: FirstDifference,
}

impl<B: HwBlock> Stepped<B> {
    /// Builds the instance called `name`. The parameters must be valid.
    pub fn new(name: String, params: &B::Params, probes: &Probes) -> Self {
        Stepped { instance: probes.instance(name, params), difference: FirstDifference::default() }
    }

    /// Clocks the block once, in cycle `now` or in the cycle after its last clock, whichever is later. Returns the outputs before
    /// the clock edge, or `None` once its engines have differed.
    pub fn clock(&mut self, now: u64, inputs: &B::In) -> Option<B::Out> {
        if self.difference.is_broken() {
            return None;
        }
        self.instance.advance_to(now);
        self.difference.catch(self.instance.step(inputs))
    }

    /// Returns whether a difference still has to be reported. The policy must stay busy until then.
    pub fn is_pending(&self) -> bool {
        self.difference.is_pending()
    }

    /// Reports a pending difference, once. The policy's `tick` calls it.
    ///
    /// # Errors
    /// Returns the pending difference, if any.
    pub fn report(&mut self) -> Result<(), MechanismFault> {
        self.difference.report()
    }

    /// Returns the recording of the instance, if it was recorded.
    pub fn trace(&self) -> Option<Trace> {
        self.instance.trace()
    }
}
