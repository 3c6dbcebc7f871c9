//! An activity gate for leaves of pure logic: evaluates them once when an input has changed, and never otherwise.
//!
//! The kit's gate evaluates a block until it no longer changes, which takes three evaluations per new input. Logic without
//! registers and sub-blocks has settled after one evaluation. `Once<B>` has the fields, the hierarchy and the Verilog of `B`.

use super::circuit::Part;
use super::wrapper::wrapper;
use crate::rtl::prelude::*;
use selvedge_state::State;

/// A block of pure logic that is evaluated once per change of its inputs: it has no register and no sub-block.
#[derive(Default, State)]
#[state(in_place)]
pub struct Once<B> {
    inner: B,
    settled: bool,
    changed: bool,
}

wrapper!(Once);

impl<B: Block + Part + Pending> Block for Once<B> {
    /// # Panics
    /// If the block has a register or a sub-block.
    fn connect_all(&mut self) {
        assert!(
            self.inner.is_leaf() && !self.inner.has_state(),
            "`Once` is for logic without registers and sub-blocks"
        );
        self.inner.connect_all();
    }
    #[inline]
    fn update_all(&mut self) {
        self.changed = !self.settled || self.inner.pending();
        if self.changed {
            self.inner.take_inputs();
            self.inner.update_all();
            self.settled = true;
        }
    }
    #[inline]
    fn has_changed(&self) -> bool {
        self.changed
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        self.inner.accept(name, probe);
    }
}
