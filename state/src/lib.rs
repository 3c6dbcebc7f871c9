//! The state of a simulation as bytes: the trait of everything that a checkpoint holds.
//!
//! A checkpoint is loaded into a simulator that was built anew from the same options. So configuration, programs and the
//! parts that mechanisms plug in need not be in it: each struct loads what changes, in place. Plain values, of which a container may
//! hold any number, can be read as well.
//!
//! [`State`](selvedge_macros::State) derives the trait over all fields. What follows from the options is left out by
//! `#[state(skip = "why")]`.
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

/// Bytes that are not the state of what loads them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes end too early.
    #[error("it ends at byte {0}, in the middle of the state")]
    End(usize),
    /// Bytes are left.
    #[error("{0} bytes are left behind the state")]
    Left(usize),
    /// A number that the type has no value for.
    #[error("{value} at byte {at}: must be a {what}")]
    Value {
        /// The number.
        value: u64,
        /// Where it ends.
        at: usize,
        /// The type.
        what: &'static str,
    },
    /// Something that is built from the options has another size or shape.
    #[error("byte {at}: {what} has another shape than the run's options give it")]
    Shape {
        /// Where.
        at: usize,
        /// Its type.
        what: &'static str,
    },
    /// Something shared that the run does not have.
    #[error("byte {at}: the run has no {what} number {key}")]
    Unknown {
        /// Where.
        at: usize,
        /// Its type.
        what: &'static str,
        /// Its number.
        key: u64,
    },
}

/// Writes state.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// The numbers of the shared cells that were saved, by their addresses.
    cells: HashMap<*const (), u64>,
}

impl Writer {
    /// Appends bytes as they are.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the number of the shared cell at this address, and whether it is new.
    fn cell(&mut self, address: *const ()) -> (u64, bool) {
        let next = self.cells.len() as u64;
        let number = *self.cells.entry(address).or_insert(next);
        (number, number == next)
    }

    /// Returns what was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns what was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads state, in the order in which it was written.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    shared: HashMap<(TypeId, u64), Arc<dyn Any + Send + Sync>>,
    /// The shared cells that were loaded, by their numbers.
    cells: HashMap<u64, Box<dyn Any>>,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from the first.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0, shared: HashMap::new(), cells: HashMap::new() }
    }

    /// Takes the next `count` bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], StateError> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(StateError::End(self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Returns the next byte without taking it.
    ///
    /// # Errors
    /// There is none.
    pub fn peek(&self) -> Result<u8, StateError> {
        self.bytes.get(self.at).copied().ok_or(StateError::End(self.bytes.len()))
    }

    /// Reads the length of what holds at least a byte each.
    ///
    /// # Errors
    /// There are fewer bytes.
    pub fn length(&mut self) -> Result<usize, StateError> {
        let length = usize::read(self)?;
        if length > self.bytes.len() - self.at {
            return Err(StateError::End(self.bytes.len()));
        }
        Ok(length)
    }

    /// Lets what refers to `value` find it.
    pub fn share<T: Shared>(&mut self, value: &Arc<T>) {
        let value = Arc::clone(value);
        self.shared.insert((TypeId::of::<T>(), value.key()), value);
    }

    /// Returns how many bytes were read.
    pub fn at(&self) -> usize {
        self.at
    }

    fn shared<T: Shared>(&self, key: u64) -> Result<Arc<T>, StateError> {
        let found = self.shared.get(&(TypeId::of::<T>(), key)).cloned();
        let found = found.and_then(|found| found.downcast::<T>().ok());
        found.ok_or(StateError::Unknown { at: self.at, what: type_name::<T>(), key })
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// Bytes are left.
    pub fn end(&self) -> Result<(), StateError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            left => Err(StateError::Left(left)),
        }
    }

    /// Returns the error that `what` has another shape.
    pub fn shape(&self, what: &'static str) -> StateError {
        StateError::Shape { at: self.at, what }
    }

    /// Returns the error that `value`, just read, is no `what`.
    pub fn not(&self, value: u64, what: &'static str) -> StateError {
        StateError::Value { value, at: self.at, what }
    }
}

/// Something that many refer to and that a run has before its state is loaded.
pub trait Shared: Any + Send + Sync {
    /// Returns the number by which those who refer to it find it.
    fn key(&self) -> u64;
}

/// What a checkpoint holds.
pub trait State {
    /// Writes the state.
    fn save(&self, to: &mut Writer);

    /// Replaces the state by that which was written.
    ///
    /// # Errors
    /// It is not the state of this.
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError>;

    /// Reads a value, of which nothing follows from the options.
    ///
    /// # Errors
    /// It is not the state of one, or the type is not a value.
    fn read(from: &mut Reader) -> Result<Self, StateError>
    where
        Self: Sized,
    {
        Err(from.shape(type_name::<Self>()))
    }

    /// Returns whether the type is a value: [`State::read`] gives it.
    fn is_value() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Writes many, without their number.
    fn save_all(all: &[Self], to: &mut Writer)
    where
        Self: Sized,
    {
        all.iter().for_each(|one| one.save(to));
    }

    /// Reads `count` values.
    ///
    /// # Errors
    /// As [`State::read`].
    fn read_all(count: usize, from: &mut Reader) -> Result<Vec<Self>, StateError>
    where
        Self: Sized,
    {
        (0..count).map(|_| Self::read(from)).collect()
    }
}

/// Implements the state of a part behind a trait, which must have [`State`] as a supertrait.
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
