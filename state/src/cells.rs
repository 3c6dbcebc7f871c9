//! State of cells that several parts share. The first part that refers to a cell saves it; the others save only its
//! number.
use crate::{Reader, State, StateError, Writer};
use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex, PoisonError};

/// Implements the state of a shared cell from expressions that save and load its content.
macro_rules! cell {
    ([$($generics:tt)*] $pointer:ident<$cell:ty>, |$it:ident, $to:ident| $save:expr, |$into:ident, $from:ident| $load:expr) => {
        impl<$($generics)*> State for $pointer<$cell> {
            fn save(&self, $to: &mut Writer) {
                let (number, is_first) = $to.cell($pointer::as_ptr(self).cast());
                number.save($to);
                is_first.save($to);
                if is_first {
                    let $it = &**self;
                    $save;
                }
            }
            fn load(&mut self, $from: &mut Reader) -> Result<(), StateError> {
                let number = u64::read($from)?;
                if !bool::read($from)? {
                    // The cell was built from the options and is already that of the other part.
                    return Ok(());
                }
                $from.cells.insert(number, Box::new($pointer::clone(self)));
                let $into = &**self;
                $load
            }
            fn read(from: &mut Reader) -> Result<Self, StateError> {
                let number = u64::read(from)?;
                let known = from.cells.get(&number).and_then(|known| known.downcast_ref::<Self>()).cloned();
                let unknown = StateError::Unknown { at: from.at, what: type_name::<Self>(), key: number };
                let is_first = bool::read(from)?;
                known.filter(|_| !is_first).ok_or(unknown)
            }
            fn is_value() -> bool {
                true
            }
        }
    };
}

cell!([T: State + 'static] Rc<RefCell<T>>, |it, to| it.borrow().save(to), |into, from| into.borrow_mut().load(from));
cell!([T: State + Copy + 'static] Rc<Cell<T>>, |it, to| it.get().save(to), |into, from| {
    into.set(T::read(from)?);
    Ok(())
});
cell!([T: State + 'static] Arc<Mutex<T>>, |it, to| it.lock().unwrap_or_else(PoisonError::into_inner).save(to), |into, from| {
    into.lock().unwrap_or_else(PoisonError::into_inner).load(from)
});
cell!([] Arc<AtomicU8>, |it, to| it.load(std::sync::atomic::Ordering::Relaxed).save(to), |into, from| {
    into.store(u8::read(from)?, std::sync::atomic::Ordering::Relaxed);
    Ok(())
});
