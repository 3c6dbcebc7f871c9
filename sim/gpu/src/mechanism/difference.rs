//! A difference between a block's engines that shows where a policy cannot return an error.
use crate::stage::MechanismFault;
use selvedge_hw::Divergence;
use selvedge_state::{Reader, State, StateError, Writer};

/// Keeps the first difference until the policy's next `tick` reports it; the policy stays busy until then.
#[derive(Debug, Default)]
pub struct Difference {
    first: Option<Box<Divergence>>,
    is_broken: bool,
}

/// A run with a difference to be reported ends within a cycle: its state is not loaded.
impl State for Difference {
    fn save(&self, to: &mut Writer) {
        self.is_pending().save(to);
        self.is_broken.save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        if bool::read(from)? {
            return Err(from.shape("a difference between engines"));
        }
        self.is_broken.load(from)
    }
}

impl Difference {
    /// Returns the value of a block's step, or keeps its difference.
    pub fn catch<T>(&mut self, step: Result<T, Box<Divergence>>) -> Option<T> {
        step.map_err(|difference| {
            if !self.is_broken {
                self.first = Some(difference);
            }
            self.is_broken = true;
        })
        .ok()
    }

    /// Returns whether a difference has shown: the block is of no further use then.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns whether a difference is still to be reported.
    pub fn is_pending(&self) -> bool {
        self.first.is_some()
    }

    /// Reports the difference, once.
    ///
    /// # Errors
    /// There is one.
    pub fn report(&mut self) -> Result<(), MechanismFault> {
        self.first.take().map_or(Ok(()), |difference| Err(difference as MechanismFault))
    }
}
