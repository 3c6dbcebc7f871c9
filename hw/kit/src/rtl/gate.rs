//! An activity gate: a settled sub-block with unchanged inputs is not evaluated again.
//!
//! `Gate<B>` behaves as `B` everywhere: the same fields, the same hierarchy, the same Verilog. If none of a block's six
//! encoders has a new input, they cost nothing in that cycle.

use super::wrapper::wrapper;
use rust_hdl_core::prelude::{Block, In, Logic, Probe, Signal, Synth, TimingInfo, Verilog};
use selvedge_state::State;

/// Detection of input values that a block has not seen.
///
/// [`rtl_block!`](crate::rtl_block) implements it for a block from its fields. Ports must be plain `Signal<In, _>`, or arrays or
/// `Vec`s of them: ports inside a `LogicInterface` would not be detected.
pub trait Pending {
    /// Returns whether an input has changed since the last evaluation.
    fn pending(&self) -> bool;
}

/// A field of a block, as a possible input port; used by [`rtl_block!`](crate::rtl_block).
///
/// The inherent methods exist only for input ports. For all other fields, the method of [`NotAnInput`] applies.
pub struct FieldOf<'a, T>(pub &'a T);

impl<T: Synth> FieldOf<'_, Signal<In, T>> {
    /// Returns whether the port has a new value.
    #[inline(always)]
    pub fn pending(&self) -> bool {
        self.0.next != self.0.val()
    }
}

impl<T: Synth, const N: usize> FieldOf<'_, [Signal<In, T>; N]> {
    /// Returns whether one of the ports has a new value.
    #[inline(always)]
    pub fn pending(&self) -> bool {
        self.0.iter().any(|port| port.next != port.val())
    }
}

impl<T: Synth> FieldOf<'_, Vec<Signal<In, T>>> {
    /// Returns whether one of the ports has a new value.
    #[inline(always)]
    pub fn pending(&self) -> bool {
        self.0.iter().any(|port| port.next != port.val())
    }
}

/// The fallback of [`FieldOf`] for a field that is not an input.
pub trait NotAnInput {
    /// Returns `false`: only inputs can be pending.
    #[inline(always)]
    fn pending(&self) -> bool {
        false
    }
}

impl<T> NotAnInput for FieldOf<'_, T> {}

/// A block that is evaluated only when one of its inputs changed or when it has not settled yet.
#[derive(Clone, Debug, State)]
#[state(in_place)]
pub struct Gate<B> {
    inner: B,
    active: bool,
}

impl<B> Gate<B> {
    /// Returns `inner` in a gate.
    pub fn new(inner: B) -> Self {
        Gate { inner, active: true }
    }
}

impl<B: Default> Default for Gate<B> {
    fn default() -> Self {
        Gate::new(B::default())
    }
}

wrapper!(Gate);

impl<B: Block + Pending> Block for Gate<B> {
    fn connect_all(&mut self) {
        self.inner.connect_all();
    }
    #[inline]
    fn update_all(&mut self) {
        if self.active || self.inner.pending() {
            self.inner.update_all();
            self.active = self.inner.has_changed();
        }
    }
    #[inline]
    fn has_changed(&self) -> bool {
        self.active
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        self.inner.accept(name, probe);
    }
}

#[cfg(test)]
mod tests {
    use crate::rtl::prelude::*;

    rtl_block! {
        /// Counts its own evaluations.
        pub struct Counted {
            /// an input
            pub x_i: [Signal<In, U<8>>; 2],
            /// the sum
            pub y_o: Signal<Out, U<8>>,
            _evaluations: usize,
        }
    }
    impl Logic for Counted {
        fn update(&mut self) {
            self._evaluations += 1;
            self.y_o.next = self.x_i[0].val() + self.x_i[1].val();
        }
    }

    rtl_block! {
        /// A gated block inside another one.
        pub struct Outer {
            /// input of the gated block
            pub x_i: Signal<In, U<8>>,
            /// input outside the gated block
            pub z_i: Signal<In, U<8>>,
            /// the sum
            pub y_o: Signal<Out, U<8>>,
            inner: Gate<Counted>,
        }
    }
    impl Logic for Outer {
        fn update(&mut self) {
            self.inner.x_i[1].next = self.x_i.val();
            self.y_o.next = self.inner.y_o.val() + self.z_i.val();
        }
    }

    #[test]
    fn a_gated_block_sleeps_until_an_input_changes() {
        let mut outer = Outer::default();
        settle(&mut outer).unwrap();
        let before = outer.inner._evaluations;
        outer.z_i.next = 7.into();
        settle(&mut outer).unwrap();
        assert_eq!((outer.y_o.val().to_u64(), outer.inner._evaluations), (7, before));
        outer.x_i.next = 5.into();
        settle(&mut outer).unwrap();
        assert_eq!(outer.y_o.val().to_u64(), 12);
        assert!(outer.inner._evaluations > before);
    }
}
