//! State that several parts of a mechanism share.
use selvedge_state::{Reader, State, StateError, Writer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// State that several parts share. A clone refers to the same state. All parts of a GPU run on one thread, so no part waits for
/// another one.
#[derive(Debug, Default)]
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T> Shared<T> {
    /// Creates shared state; clones of the result refer to it.
    pub fn new(state: T) -> Self {
        Shared(Arc::new(Mutex::new(state)))
    }

    /// Locks the state. The thread must not hold the lock already.
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
