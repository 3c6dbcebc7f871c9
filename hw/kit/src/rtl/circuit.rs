//! Fast evaluation of a block: only what changed, in the order of its data, once per clock.
//!
//! rust-hdl evaluates a whole block in rounds until nothing changes, once with the clock low and once with the clock high.
//! [`Part`] evaluates the same `update` functions otherwise:
//!
//! - A block is evaluated when an input or one of its registers has changed, and not otherwise.
//! - `#[hdl_gen]` has a body evaluate a sub-block between the statements that drive it and those that read it. A body in the
//!   order of its data settles in one pass; any other takes further passes, until nothing that was read has changed since.
//! - Logic without state is evaluated where it is read: one of several encoders that is not chosen costs nothing.
//! - The rising edge goes to the registers and memories themselves. What they change is evaluated in the next cycle, together
//!   with its inputs. There is no falling edge.
//!
//! [`Stepper`](super::step::Stepper) evaluates in rust-hdl's way: tests compare the two.

use super::step::MAX_ROUNDS;
use rust_hdl_core::prelude::{Block, Constant, In, Local, Out, Signal, Synth};
pub use selvedge_macros::Part;
use std::cell::Cell;

thread_local! {
    /// Do the bodies on this thread evaluate their sub-blocks themselves?
    static IN_ORDER: Cell<bool> = const { Cell::new(false) };
    /// Has a value changed that the body at work had read before?
    static STALE: Cell<bool> = const { Cell::new(false) };
    /// Has the body at work evaluated everything that it drives?
    static COMPLETE: Cell<bool> = const { Cell::new(false) };
    /// Is there more to evaluate than what is driven or was clocked: registers in reset, parts that were changed by hand?
    static THOROUGH: Cell<bool> = const { Cell::new(false) };
}

/// What a block has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The block's signals follow from its inputs and its registers.
    settled: bool,
    /// The block was evaluated since an edge that changed none of its registers.
    armed: bool,
}

impl Activity {
    /// Returns whether the block must be evaluated, given whether an input has changed, and takes it for evaluated.
    #[inline(always)]
    pub fn begin(&mut self, has_input: bool) -> bool {
        let is_due = has_input || !self.settled;
        *self = Activity { settled: true, armed: self.armed || is_due };
        is_due
    }

    /// Returns whether an edge may change a register of the block.
    #[inline(always)]
    pub fn is_armed(&self) -> bool {
        self.armed
    }

    /// Notes whether the edge changed a register.
    #[inline(always)]
    pub fn end(&mut self, changed: bool) {
        *self = Activity { settled: self.settled && !changed, armed: changed };
    }
}

/// A part of a block that can be evaluated: a signal, a register, a block, or several of them.
pub trait Part {
    /// Can a clock edge change anything in it? Logic without state is evaluated where it is read, and not where it is not.
    #[inline(always)]
    fn has_state(&mut self) -> bool {
        false
    }
    /// Lets an input take its new value; returns whether it differs from the last one. Anything else is no input.
    #[inline(always)]
    fn take_input(&mut self) -> bool {
        false
    }
    /// Takes new inputs of a block; returns whether it must be evaluated.
    #[inline(always)]
    fn is_due(&mut self) -> bool {
        false
    }
    /// Evaluates a block that is due.
    #[inline(always)]
    fn evaluate(&mut self) {}
    /// Takes the rising edge of the clock; returns whether a register or memory has changed.
    #[inline(always)]
    fn edge(&mut self) -> bool {
        false
    }
    /// Has the part evaluated whatever its inputs: a register was changed by hand.
    #[inline(always)]
    fn wake(&mut self) {}
}

impl<T: Synth> Part for Signal<In, T> {
    #[inline(always)]
    fn take_input(&mut self) -> bool {
        let changed = self.next != self.val();
        if changed {
            self.update_all();
        }
        changed
    }
}

impl<T: Synth> Part for Signal<Out, T> {}
impl<T: Synth> Part for Signal<Local, T> {}
impl<T: Synth> Part for Constant<T> {}

impl<P: Part> Part for [P] {
    #[inline]
    fn has_state(&mut self) -> bool {
        self.iter_mut().any(Part::has_state)
    }
    #[inline]
    fn take_input(&mut self) -> bool {
        self.iter_mut().fold(false, |changed, part| changed | part.take_input())
    }
    #[inline]
    fn is_due(&mut self) -> bool {
        self.iter_mut().fold(false, |due, part| {
            let is_due = part.is_due();
            if is_due {
                part.evaluate();
            }
            due | is_due
        })
    }
    #[inline]
    fn edge(&mut self) -> bool {
        self.iter_mut().fold(false, |changed, part| changed | part.edge())
    }
    #[inline]
    fn wake(&mut self) {
        self.iter_mut().for_each(Part::wake);
    }
}

/// Passes everything on to what is inside.
macro_rules! passes_on {
    ($([$($generics:tt)*] $type:ty => $inner:expr;)*) => { $(
        impl<$($generics)*> Part for $type {
            #[inline(always)]
            fn has_state(&mut self) -> bool {
                $inner(self).has_state()
            }
            #[inline(always)]
            fn take_input(&mut self) -> bool {
                $inner(self).take_input()
            }
            #[inline(always)]
            fn is_due(&mut self) -> bool {
                $inner(self).is_due()
            }
            #[inline(always)]
            fn evaluate(&mut self) {
                $inner(self).evaluate();
            }
            #[inline(always)]
            fn edge(&mut self) -> bool {
                $inner(self).edge()
            }
            #[inline(always)]
            fn wake(&mut self) {
                $inner(self).wake();
            }
        }
    )* };
}
passes_on! {
    [P: Part, const N: usize] [P; N] => <[P; N]>::as_mut_slice;
    [P: Part] Vec<P> => Vec::as_mut_slice;
    [B: Part] super::gate::Gate<B> => <super::gate::Gate<B> as std::ops::DerefMut>::deref_mut;
    [B: Part] super::once::Once<B> => <super::once::Once<B> as std::ops::DerefMut>::deref_mut;
    [B: Part] super::idle::Idle<B> => <super::idle::Idle<B> as std::ops::DerefMut>::deref_mut;
}

/// A field of a block. Its methods are those of [`Part`] where its type is one; otherwise those of [`Foreign`].
pub struct Field<'a, P: ?Sized>(pub &'a mut P);

impl<P: Part + ?Sized> Field<'_, P> {
    /// See [`Part::has_state`].
    #[inline(always)]
    pub fn has_state(&mut self) -> bool {
        self.0.has_state()
    }
    /// See [`Part::take_input`].
    #[inline(always)]
    pub fn take_input(&mut self) -> bool {
        self.0.take_input()
    }
    /// See [`Part::is_due`].
    #[inline(always)]
    pub fn is_due(&mut self) -> bool {
        self.0.is_due()
    }
    /// See [`Part::evaluate`].
    #[inline(always)]
    pub fn evaluate(&mut self) {
        self.0.evaluate();
    }
    /// See [`Part::edge`].
    #[inline(always)]
    pub fn edge(&mut self) -> bool {
        self.0.edge()
    }
    /// See [`Part::wake`].
    #[inline(always)]
    pub fn wake(&mut self) {
        self.0.wake();
    }
}

/// A block that is not made of the kit's parts, which only [`Stepper`](super::step::Stepper) can evaluate.
pub trait Foreign {
    /// Foreign blocks may have state.
    fn has_state(&mut self) -> bool {
        true
    }
    /// Foreign blocks have no inputs of the block that holds them.
    fn take_input(&mut self) -> bool {
        false
    }
    /// Ends the evaluation.
    ///
    /// # Panics
    /// Always.
    fn is_due(&mut self) -> bool {
        panic!("a block must consist of parts of the kit to be evaluated in order")
    }
    /// Never reached: see [`Foreign::is_due`].
    fn evaluate(&mut self) {}
    /// Never reached: see [`Foreign::is_due`].
    fn edge(&mut self) -> bool {
        false
    }
    /// Nothing to do before the first evaluation.
    fn wake(&mut self) {}
}

impl<P: ?Sized> Foreign for Field<'_, P> {}

/// What the edge does in a block without state of its own, beside that of its parts: nothing. A memory has a function of its
/// own of that name, which is found first.
pub trait Stateless {
    /// A memory has one of its own that says otherwise.
    #[inline(always)]
    fn has_own_state(&mut self) -> bool {
        false
    }
    /// Takes the rising edge of the clock; returns whether the block's own state has changed.
    #[inline(always)]
    fn take_edge(&mut self) -> bool {
        false
    }
}

impl<B: ?Sized> Stateless for B {}

/// Returns whether bodies evaluate their sub-blocks themselves; used by `#[hdl_gen]`.
#[inline(always)]
pub fn in_order() -> bool {
    IN_ORDER.get()
}

/// Notes that a value has changed that the body had read before; used by `#[hdl_gen]`.
#[inline(always)]
pub fn note_stale(changed: bool) {
    if changed {
        STALE.set(true);
    }
}

/// Notes that the body at work has evaluated every sub-block that it drives; used by `#[hdl_gen]`.
#[inline(always)]
pub fn note_complete() {
    COMPLETE.set(true);
}

/// Evaluates a block in passes of its `body` until all that a pass has read is what its `parts` say after it. `parts` evaluates
/// those that the body did not, and returns whether there were any.
///
/// # Panics
/// When there is no end to it, as with a combinational loop.
#[inline]
pub fn settle<B>(block: &mut B, body: impl Fn(&mut B), parts: impl Fn(&mut B) -> bool) {
    let before = STALE.get();
    for _ in 0..MAX_ROUNDS {
        STALE.set(false);
        COMPLETE.set(false);
        body(block);
        let is_complete = COMPLETE.get() && !THOROUGH.get();
        if !(STALE.get() || !is_complete && parts(block)) {
            STALE.set(before);
            return;
        }
    }
    panic!("a block must settle within {MAX_ROUNDS} passes: it has a combinational loop");
}

/// Evaluates `block` in order, if it is due. `thorough`: it is in reset, or was woken.
#[inline]
pub fn run<B: Part + ?Sized>(block: &mut B, thorough: bool) {
    IN_ORDER.set(true);
    THOROUGH.set(thorough);
    if block.is_due() {
        block.evaluate();
    }
    IN_ORDER.set(false);
}
