//! Keeps a difference between a block's engines, for policies that cannot return an error at that point.
use crate::stage::MechanismFault;
use selvedge_hw::StepError;
use selvedge_state::{Reader, State, StateError, Writer};

/// Keeps the first difference until the policy's next `tick` reports it. The policy stays busy until then.
#[derive(Debug, Default)]
pub struct FirstDifference {
    first: Option<Box<StepError>>,
    is_broken: bool,
}

/// A run with a pending difference ends within a cycle, so such a state is never loaded.
impl State for FirstDifference {
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

impl FirstDifference {
    /// Returns the result of a block's step. On a difference, keeps it and returns `None`.
    pub fn catch<T>(&mut self, step: Result<T, Box<StepError>>) -> Option<T> {
        step.map_err(|difference| {
            if !self.is_broken {
                self.first = Some(difference);
            }
            self.is_broken = true;
        })
        .ok()
    }

    /// Returns whether a difference was found. The block must not be used any more then.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns whether a difference still has to be reported.
    pub fn is_pending(&self) -> bool {
        self.first.is_some()
    }

    /// Reports a pending difference, once.
    ///
    /// # Errors
    /// Returns the pending difference, if any.
    pub fn report(&mut self) -> Result<(), MechanismFault> {
        self.first.take().map_or(Ok(()), |difference| Err(difference as MechanismFault))
    }
}
