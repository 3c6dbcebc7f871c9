//! State of plain values.
use crate::{Reader, SharedObject, State, StateError, Writer};
use std::any::type_name;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Mutex, PoisonError};

macro_rules! numbers {
    ($($number:ty)+) => {$(
        impl State for $number {
            fn save(&self, to: &mut Writer) {
                to.put(&self.to_le_bytes());
            }
            fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
                *self = Self::read(from)?;
                Ok(())
            }
            fn read(from: &mut Reader) -> Result<Self, StateError> {
                let bytes = from.take(size_of::<Self>())?;
                Ok(Self::from_le_bytes(bytes.try_into().expect("as many were taken")))
            }
            fn is_value() -> bool {
                true
            }
            // Caches have millions of numbers.
            fn save_all(all: &[Self], to: &mut Writer) {
                let places = to.extend(size_of_val(all)).as_chunks_mut().0;
                places.iter_mut().zip(all).for_each(|(place, number)| *place = number.to_le_bytes());
            }
            fn read_all(count: usize, from: &mut Reader) -> Result<Vec<Self>, StateError> {
                let bytes = count.checked_mul(size_of::<Self>()).unwrap_or(usize::MAX);
                let places = from.take(bytes)?.as_chunks().0;
                Ok(places.iter().map(|place| Self::from_le_bytes(*place)).collect())
            }
        }
    )+};
}
numbers!(u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

impl State for u8 {
    fn save(&self, to: &mut Writer) {
        to.put(&[*self]);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        *self = Self::read(from)?;
        Ok(())
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        Ok(from.take(1)?[0])
    }
    fn is_value() -> bool {
        true
    }
    fn save_all(all: &[Self], to: &mut Writer) {
        to.put(all);
    }
    fn read_all(count: usize, from: &mut Reader) -> Result<Vec<Self>, StateError> {
        Ok(from.take(count)?.to_vec())
    }
}

/// Names that were read. A program has few, so each is leaked once.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Returns the name with a static lifetime.
fn name(text: String) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(text.as_str()) {
        return known;
    }
    let name = String::leak(text);
    names.insert(name);
    name
}

/// Implements the state of a value from expressions that save and read it.
macro_rules! value {
    ([$($generics:tt)*] $value:ty, |$it:ident, $to:ident| $save:expr, |$from:ident| $read:expr) => {
        impl<$($generics)*> State for $value {
            fn save(&self, $to: &mut Writer) {
                let $it = self;
                $save
            }
            fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
                *self = Self::read(from)?;
                Ok(())
            }
            fn read($from: &mut Reader) -> Result<Self, StateError> {
                $read
            }
            fn is_value() -> bool {
                true
            }
        }
    };
}

value!([] usize, |it, to| (*it as u64).save(to), |from| {
    let number = u64::read(from)?;
    usize::try_from(number).map_err(|_| from.not(number, "usize"))
});
value!([] bool, |it, to| u8::from(*it).save(to), |from| match u8::read(from)? {
    0 => Ok(false),
    1 => Ok(true),
    other => Err(from.not(other.into(), "bool")),
});
value!([] char, |it, to| u32::from(*it).save(to), |from| {
    let number = u32::read(from)?;
    char::from_u32(number).ok_or_else(|| from.not(number.into(), "char"))
});
value!([](), |_it, _to| (), |_from| Ok(()));
value!([] String, |it, to| {
    it.len().save(to);
    to.put(it.as_bytes());
}, |from| {
    let length = from.length()?;
    let bytes = from.take(length)?.to_vec();
    String::from_utf8(bytes).map_err(|_| from.shape("text"))
});
value!([] &'static str, |it, to| {
    it.len().save(to);
    to.put(it.as_bytes());
}, |from| Ok(name(String::read(from)?)));
value!([T] PhantomData<T>, |_it, _to| (), |_from| Ok(PhantomData));
value!([T: State] Range<T>, |it, to| {
    it.start.save(to);
    it.end.save(to);
}, |from| Ok(T::read(from)?..T::read(from)?));
value!([T: State] RangeInclusive<T>, |it, to| {
    it.start().save(to);
    it.end().save(to);
}, |from| Ok(T::read(from)?..=T::read(from)?));

// A shared object exists already in the run, so only its key is saved.
value!([T: SharedObject] Arc<T>, |it, to| it.key().save(to), |from| {
    let key = u64::read(from)?;
    from.shared(key)
});

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))+) => {$(
        impl<$($name: State),+> State for ($($name,)+) {
            fn save(&self, to: &mut Writer) {
                $(self.$index.save(to);)+
            }
            fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
                $(self.$index.load(from)?;)+
                Ok(())
            }
            fn read(from: &mut Reader) -> Result<Self, StateError> {
                Ok(($($name::read(from)?,)+))
            }
            fn is_value() -> bool {
                $($name::is_value())&&+
            }
        }
    )+};
}
tuples!((A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4));

impl<T: State, const N: usize> State for [T; N] {
    fn save(&self, to: &mut Writer) {
        T::save_all(self, to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.iter_mut().try_for_each(|one| one.load(from))
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        T::read_all(N, from)?.try_into().map_err(|_| from.shape(type_name::<Self>()))
    }
    fn is_value() -> bool {
        T::is_value()
    }
}

/// A fault ends the run, so a state with an unreported fault is not loaded.
impl State for Box<dyn std::error::Error + Send + Sync> {
    fn save(&self, _: &mut Writer) {}
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        Err(from.shape("a fault of the run"))
    }
    fn is_value() -> bool {
        true
    }
}
