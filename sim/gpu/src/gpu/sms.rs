//! The SMs of a GPU, any of which a thread may take away for a while.
use crate::sm::Sm;
use selvedge_state::{Reader, State, StateError, Writer};
use std::ops::{Index, IndexMut};

/// The SMs of a GPU, by number.
pub(super) struct Sms(Vec<Option<Box<Sm>>>);

impl State for Sms {
    fn save(&self, to: &mut Writer) {
        self.iter().for_each(|sm| sm.save(to));
    }

    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        self.iter_mut().try_for_each(|sm| sm.load(from))
    }
}

/// Why an SM is there: a window has all back when it has been opened.
const BACK: &str = "the threads have given all SMs back";

impl Sms {
    /// Returns how many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns all.
    pub fn iter(&self) -> impl Iterator<Item = &Sm> {
        self.0.iter().map(|sm| sm.as_deref().expect(BACK))
    }

    /// Returns all, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Sm> {
        self.0.iter_mut().map(|sm| sm.as_deref_mut().expect(BACK))
    }

    /// Takes one away.
    pub fn take(&mut self, id: usize) -> Box<Sm> {
        self.0[id].take().expect(BACK)
    }

    /// Puts one back.
    pub fn put(&mut self, id: usize, sm: Box<Sm>) {
        self.0[id] = Some(sm);
    }
}

impl Index<usize> for Sms {
    type Output = Sm;

    #[inline]
    fn index(&self, id: usize) -> &Sm {
        self.0[id].as_deref().expect(BACK)
    }
}

impl IndexMut<usize> for Sms {
    #[inline]
    fn index_mut(&mut self, id: usize) -> &mut Sm {
        self.0[id].as_deref_mut().expect(BACK)
    }
}

impl FromIterator<Sm> for Sms {
    fn from_iter<I: IntoIterator<Item = Sm>>(sms: I) -> Self {
        Sms(sms.into_iter().map(|sm| Some(Box::new(sm))).collect())
    }
}
