//! State of containers.
//!
//! A container of values may change its length when it is loaded. A container of parts, which are built from the
//! options, must keep its length.
use crate::{Reader, State, StateError, Writer};
use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

/// Loads parts. Their number must equal the saved number.
fn load_parts<'a, T: State + 'a>(
    count: usize,
    parts: impl ExactSizeIterator<Item = &'a mut T>,
    from: &mut Reader,
) -> Result<(), StateError> {
    if parts.len() != count {
        return Err(from.shape(type_name::<T>()));
    }
    for part in parts {
        part.load(from)?;
    }
    Ok(())
}

/// Reads the length and the values of a list.
fn read_list<T: State>(from: &mut Reader) -> Result<Vec<T>, StateError> {
    let count = if size_of::<T>() == 0 { usize::read(from)? } else { from.length()? };
    T::read_all(count, from)
}

/// Implements [`State`] for lists that are slices.
macro_rules! slice_state {
    ($($list:ty),+) => {
        $(impl<T: State> State for $list {
            fn save(&self, to: &mut Writer) {
                self.len().save(to);
                T::save_all(self, to);
            }
            fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
                if T::is_value() {
                    *self = Self::read(from)?;
                    return Ok(());
                }
                let count = usize::read(from)?;
                load_parts(count, self.iter_mut(), from)
            }
            fn read(from: &mut Reader) -> Result<Self, StateError> {
                read_list(from).map(Into::into)
            }
            fn is_value() -> bool {
                T::is_value()
            }
        })+
    };
}

slice_state!(Vec<T>, Box<[T]>);

impl<T: State> State for VecDeque<T> {
    fn save(&self, to: &mut Writer) {
        self.len().save(to);
        let (first, last) = self.as_slices();
        T::save_all(first, to);
        T::save_all(last, to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        if T::is_value() {
            // Reuse the allocation, so that a queue of fixed capacity keeps it.
            let read = Vec::read(from)?;
            self.clear();
            self.extend(read);
            return Ok(());
        }
        let count = usize::read(from)?;
        load_parts(count, self.iter_mut(), from)
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(Vec::read(from)?.into())
    }
    fn is_value() -> bool {
        T::is_value()
    }
}

impl<T: State> State for Option<T> {
    fn save(&self, to: &mut Writer) {
        self.is_some().save(to);
        if let Some(value) = self {
            value.save(to);
        }
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        match (bool::read(from)?, &mut *self) {
            (true, Some(part)) => return part.load(from),
            (false, None) => {}
            (true, None) if T::is_value() => *self = Some(T::read(from)?),
            (false, Some(_)) if T::is_value() => *self = None,
            _ => return Err(from.shape(type_name::<T>())),
        }
        Ok(())
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }
    fn is_value() -> bool {
        T::is_value()
    }
}

impl<T: State> State for Box<T> {
    fn save(&self, to: &mut Writer) {
        T::save(self, to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        T::load(self, from)
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(Box::new(T::read(from)?))
    }
    fn is_value() -> bool {
        T::is_value()
    }
}

impl<T: State> State for Reverse<T> {
    fn save(&self, to: &mut Writer) {
        self.0.save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.0.load(from)
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(Reverse(T::read(from)?))
    }
    fn is_value() -> bool {
        T::is_value()
    }
}

impl<T: State + Copy> State for Cell<T> {
    fn save(&self, to: &mut Writer) {
        self.get().save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.get_mut().load(from)
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(Cell::new(T::read(from)?))
    }
    fn is_value() -> bool {
        T::is_value()
    }
}

impl<T: State> State for RefCell<T> {
    fn save(&self, to: &mut Writer) {
        self.borrow().save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.get_mut().load(from)
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(RefCell::new(T::read(from)?))
    }
    fn is_value() -> bool {
        T::is_value()
    }
}

/// Implements the state of a collection, which is saved item by item and refilled on load.
macro_rules! collection {
    ([$($generics:tt)*] $collection:ty, $item:ty, |$it:ident, $to:ident| $save:expr, is_value $value:expr) => {
        impl<$($generics)*> State for $collection {
            fn save(&self, $to: &mut Writer) {
                self.len().save($to);
                for $it in self {
                    $save
                }
            }
            fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
                *self = Self::read(from)?;
                Ok(())
            }
            fn read(from: &mut Reader) -> Result<Self, StateError> {
                let count = from.length()?;
                (0..count).map(|_| <$item>::read(from)).collect()
            }
            fn is_value() -> bool {
                $value
            }
        }
    };
}

collection!([K: State + Eq + Hash, V: State, S: BuildHasher + Default] HashMap<K, V, S>, (K, V), |it, to| {
    it.0.save(to);
    it.1.save(to);
}, is_value K::is_value() && V::is_value());
collection!([K: State + Ord, V: State] BTreeMap<K, V>, (K, V), |it, to| {
    it.0.save(to);
    it.1.save(to);
}, is_value K::is_value() && V::is_value());
collection!([T: State + Eq + Hash, S: BuildHasher + Default] HashSet<T, S>, T, |it, to| it.save(to), is_value T::is_value());
collection!([T: State + Ord] BTreeSet<T>, T, |it, to| it.save(to), is_value T::is_value());

/// A heap is saved in its internal order. This is already a heap, so rebuilding it moves no item.
impl<T: State + Ord> State for BinaryHeap<T> {
    fn save(&self, to: &mut Writer) {
        self.len().save(to);
        T::save_all(self.as_slice(), to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        *self = Self::read(from)?;
        Ok(())
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(Vec::read(from)?.into())
    }
    fn is_value() -> bool {
        T::is_value()
    }
}
