//! State that several parts of a mechanism share.
use selvedge_state::{Reader, State, StateError, Writer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// State that several parts share; a clone is one more handle on it. Parts whose state is shared beyond their SM never run on
/// several threads at the same time ([`crate::sm::part::SmPart::stands_alone`]), so that nobody waits for it.
#[derive(Debug, Default)]
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T> Shared<T> {
    /// Returns the first handle on `state`.
    pub fn new(state: T) -> Self {
        Shared(Arc::new(Mutex::new(state)))
    }

    /// Borrows the state, which the same thread must not have borrowed already.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: State + 'static> State for Shared<T> {
    fn save(&self, to: &mut Writer) {
        self.0.save(to);
    }

    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.0.load(from)
    }

    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Arc::read(from).map(Shared)
    }

    fn is_value() -> bool {
        true
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}
