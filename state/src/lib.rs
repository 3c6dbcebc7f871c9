//! State of a simulation as bytes: the trait of everything in a checkpoint.
//!
//! A checkpoint is loaded into a simulator that was built again from the same options. Configuration, programs and the
//! parts of mechanisms need not be in it: each struct loads only its changing fields, in place. Plain values can also
//! be read from the bytes alone, so a container of them may have any length.
//!
//! [`State`](selvedge_macros::State) derives the trait over all fields. `#[state(skip = "why")]` leaves out a field
//! that follows from the options.
//!
//! ```
//! use selvedge_state::{Reader, State, Writer};
//!
//! #[derive(State, Default, PartialEq, Debug)]
//! struct Queue {
//!     entries: Vec<u32>,
//!     #[state(skip = "the configuration states it")]
//!     most: usize,
//! }
//!
//! let full = Queue { entries: vec![1, 2], most: 2 };
//! let mut writer = Writer::default();
//! full.save(&mut writer);
//! let mut fresh = Queue { entries: vec![], most: 2 };
//! let mut reader = Reader::new(writer.bytes());
//! fresh.load(&mut reader)?;
//! reader.end()?;
//! assert_eq!(fresh, full);
//! # Ok::<(), selvedge_state::StateError>(())
//! ```
mod cells;
mod containers;
#[cfg(feature = "rtl")]
mod signals;
mod values;

pub use selvedge_macros::State;

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::Arc;

/// Error for bytes that do not match the loading object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes end too early.
    #[error("it ends at byte {0}, in the middle of the state")]
    End(usize),
    /// Bytes remain after the state.
    #[error("{0} bytes are left behind the state")]
    Left(usize),
    /// A number that is invalid for the type.
    #[error("{value} at byte {at}: must be a {what}")]
    Value {
        /// Number that was read.
        value: u64,
        /// Offset after the number, bytes.
        at: usize,
        /// Name of the type.
        what: &'static str,
    },
    /// An object that is built from the options has another size or shape.
    #[error("byte {at}: {what} has another shape than the run's options give it")]
    Shape {
        /// Offset in the bytes.
        at: usize,
        /// Type of the object.
        what: &'static str,
    },
    /// A shared object that the run does not have.
    #[error("byte {at}: the run has no {what} number {key}")]
    Unknown {
        /// Offset in the bytes.
        at: usize,
        /// Type of the object.
        what: &'static str,
        /// Key of the object.
        key: u64,
    },
}

/// Writes state as bytes.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// Numbers of the shared cells that were saved, by address.
    cells: HashMap<*const (), u64>,
}

impl Writer {
    /// Returns an empty writer that uses the memory of `bytes`.
    #[must_use]
    pub fn reusing(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Writer { bytes, ..Writer::default() }
    }

    /// Appends bytes unchanged.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends zeros, and returns them for changes.
    fn extend(&mut self, bytes: usize) -> &mut [u8] {
        let before = self.bytes.len();
        self.bytes.resize(before + bytes, 0);
        &mut self.bytes[before..]
    }

    /// Returns the number of the shared cell at this address, and `true` if the cell is new.
    fn cell(&mut self, address: *const ()) -> (u64, bool) {
        let next = self.cells.len() as u64;
        let number = *self.cells.entry(address).or_insert(next);
        (number, number == next)
    }

    /// Returns the bytes written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes written so far, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads state in the order in which it was written.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    shared: HashMap<(TypeId, u64), Arc<dyn Any + Send + Sync>>,
    /// Shared cells that were loaded, by number.
    cells: HashMap<u64, Box<dyn Any>>,
}

impl<'a> Reader<'a> {
    /// Returns a reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0, shared: HashMap::new(), cells: HashMap::new() }
    }

    /// Consumes the next `count` bytes.
    ///
    /// # Errors
    /// Fails if fewer bytes remain.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], StateError> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(StateError::End(self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Returns the next byte without consuming it.
    ///
    /// # Errors
    /// Fails at the end of the bytes.
    pub fn peek(&self) -> Result<u8, StateError> {
        self.bytes.get(self.at).copied().ok_or(StateError::End(self.bytes.len()))
    }

    /// Reads the length of a sequence whose items take at least a byte each.
    ///
    /// # Errors
    /// Fails if fewer bytes remain.
    pub fn length(&mut self) -> Result<usize, StateError> {
        let length = usize::read(self)?;
        if length > self.bytes.len() - self.at {
            return Err(StateError::End(self.bytes.len()));
        }
        Ok(length)
    }

    /// Registers `value`, so that loaded state can refer to it by its key.
    pub fn share<T: SharedObject>(&mut self, value: &Arc<T>) {
        let value = Arc::clone(value);
        self.shared.insert((TypeId::of::<T>(), value.key()), value);
    }

    /// Returns the number of bytes read so far.
    pub fn at(&self) -> usize {
        self.at
    }

    fn shared<T: SharedObject>(&self, key: u64) -> Result<Arc<T>, StateError> {
        let found = self.shared.get(&(TypeId::of::<T>(), key)).cloned();
        let found = found.and_then(|found| found.downcast::<T>().ok());
        found.ok_or(StateError::Unknown { at: self.at, what: type_name::<T>(), key })
    }

    /// Checks that all bytes were read.
    ///
    /// # Errors
    /// Fails if bytes remain.
    pub fn end(&self) -> Result<(), StateError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            left => Err(StateError::Left(left)),
        }
    }

    /// Returns the error for a `what` of another shape.
    pub fn shape(&self, what: &'static str) -> StateError {
        StateError::Shape { at: self.at, what }
    }

    /// Returns the error for the last read `value`, which is not a `what`.
    pub fn not(&self, value: u64, what: &'static str) -> StateError {
        StateError::Value { value, at: self.at, what }
    }
}

/// An object that exists before the state of a run is loaded, and to which many parts refer.
pub trait SharedObject: Any + Send + Sync {
    /// Returns the key of the object, unique within its type.
    fn key(&self) -> u64;
}

/// State that a checkpoint contains.
pub trait State {
    /// Writes the state.
    fn save(&self, to: &mut Writer);

    /// Replaces the state by the saved one.
    ///
    /// # Errors
    /// Fails if the bytes do not match this object.
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError>;

    /// Reads a value from the bytes alone, without anything built from the options.
    ///
    /// # Errors
    /// Fails if the bytes are not a valid value, or if the type is not a value.
    fn read(from: &mut Reader) -> Result<Self, StateError>
    where
        Self: Sized,
    {
        Err(from.shape(type_name::<Self>()))
    }

    /// Returns whether the type is a value, which [`State::read`] supports.
    fn is_value() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Writes several items without their number.
    fn save_all(all: &[Self], to: &mut Writer)
    where
        Self: Sized,
    {
        all.iter().for_each(|one| one.save(to));
    }

    /// Reads `count` values.
    ///
    /// # Errors
    /// Fails like [`State::read`].
    fn read_all(count: usize, from: &mut Reader) -> Result<Vec<Self>, StateError>
    where
        Self: Sized,
    {
        (0..count).map(|_| Self::read(from)).collect()
    }
}

/// Implements the state of a boxed trait object. The trait must have [`State`] as a supertrait.
#[macro_export]
macro_rules! boxed_state {
    ($($part:tt)+) => {
        impl $crate::State for Box<$($part)+> {
            fn save(&self, to: &mut $crate::Writer) {
                (**self).save(to);
            }
            fn load(&mut self, from: &mut $crate::Reader) -> Result<(), $crate::StateError> {
                (**self).load(from)
            }
        }
    };
}
