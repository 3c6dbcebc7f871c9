//! Clocking a block by hand: set inputs while the clock is low, let everything settle, read outputs, raise the clock.
//!
//! ```text
//! clk_i    ____/----\____/----\____
//! inputs   =< A      >< B      >===     set at the start of the cycle, with the clock low
//! outputs  ==< f(A)   >< f(B)   >==     read before the rising edge
//! ```

use super::circuit::Part;
use rust_hdl_core::prelude::Block;
use selvedge_state::State;
use thiserror::Error;

/// Rounds of evaluation after which a block that still changes counts as oscillating.
///
/// A signal crosses one level of hierarchy per round; no sensible block is that deep.
pub const MAX_ROUNDS: u32 = 200;

/// The reason that a block could not be stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RtlStepError {
    /// The block feeds a signal back into itself without a register.
    #[error("cycle {cycle}: the block does not settle within {MAX_ROUNDS} rounds (a combinational loop)")]
    NoConvergence {
        /// Number of the cycle, counted from the end of reset; 0 also for a block that is settled without a stepper.
        cycle: u64,
    },
}

/// Evaluates `block` until nothing changes. Returns the number of rounds.
///
/// # Errors
/// [`RtlStepError::NoConvergence`] if it still changes after [`MAX_ROUNDS`].
#[inline]
pub fn settle<B: Block + ?Sized>(block: &mut B) -> Result<u32, RtlStepError> {
    for round in 1..=MAX_ROUNDS {
        block.update_all();
        if !block.has_changed() {
            return Ok(round);
        }
    }
    Err(RtlStepError::NoConvergence { cycle: 0 })
}

/// A block with `clk_i` and `rst_ni`; implemented by [`rtl_block!`](crate::rtl_block).
pub trait ClockedBlock: Block + Part {
    /// Sets the level of `clk_i`.
    fn set_clock(&mut self, level: bool);
    /// Returns the next and the current level of `clk_i`.
    fn clock(&self) -> (bool, bool);
    /// Sets the level of `rst_ni`.
    fn set_reset_n(&mut self, level: bool);
}

/// Owns a block and clocks it.
#[derive(Clone, Debug, State)]
#[state(in_place)]
pub struct Stepper<B> {
    block: B,
    cycle: u64,
}

impl<B: ClockedBlock> Stepper<B> {
    /// Steps `block` through one cycle of reset.
    ///
    /// # Errors
    /// [`RtlStepError::NoConvergence`] if the block has a combinational loop.
    pub fn new(block: B) -> Result<Self, RtlStepError> {
        let mut stepper = Stepper::unconnected(block);
        stepper.connect()?;
        Ok(stepper)
    }

    /// Owns a block that is not connected yet.
    pub(super) fn unconnected(block: B) -> Self {
        Stepper { block, cycle: 0 }
    }

    /// Connects the block and steps it through one cycle of reset.
    pub(super) fn connect(&mut self) -> Result<(), RtlStepError> {
        self.block.connect_all();
        self.reset()
    }

    /// Steps one cycle with reset low. Afterwards the clock is low, reset is high and the cycle count is zero.
    ///
    /// # Errors
    /// As for [`Stepper::new`].
    pub fn reset(&mut self) -> Result<(), RtlStepError> {
        reset(&mut self.block, &mut self.cycle)
    }

    /// Steps one clock cycle: `set` assigns inputs (`port.next = value`), the block settles, `read` reads the outputs, and the
    /// clock rises.
    ///
    /// # Errors
    /// As for [`Stepper::new`].
    #[inline]
    pub fn step<R>(
        &mut self,
        set: impl FnOnce(&mut B),
        read: impl FnOnce(&B) -> R,
    ) -> Result<R, RtlStepError> {
        set(&mut self.block);
        self.settle_low()?;
        let result = read(&self.block);
        self.end_cycle()?;
        Ok(result)
    }

    /// Settles the first half of a cycle, after the inputs are set. The outputs then belong to this cycle.
    pub(super) fn settle_low(&mut self) -> Result<(), RtlStepError> {
        settle_at(&mut self.block, false, self.cycle)
    }

    /// Completes the second half of a cycle: the clock rises.
    pub(super) fn end_cycle(&mut self) -> Result<(), RtlStepError> {
        edge(&mut self.block, &mut self.cycle)
    }

    /// Returns the cycles since the last reset.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Returns the block, to read.
    pub fn block(&self) -> &B {
        &self.block
    }

    /// Returns the block, to set a port or plant a fault. Call [`settle`] before reading its outputs.
    pub fn block_mut(&mut self) -> &mut B {
        &mut self.block
    }

    /// Returns the owned block.
    pub fn into_block(self) -> B {
        self.block
    }
}

// The work is done without the block's type: a copy for each of more than a hundred tops takes the compiler seconds.

/// Settles a block in `cycle` with the clock at `level`.
fn settle_at(block: &mut dyn ClockedBlock, level: bool, cycle: u64) -> Result<(), RtlStepError> {
    block.set_clock(level);
    match settle(block) {
        Ok(_) => Ok(()),
        Err(RtlStepError::NoConvergence { .. }) => Err(RtlStepError::NoConvergence { cycle }),
    }
}

/// Raises the clock, which ends a cycle.
fn edge(block: &mut dyn ClockedBlock, cycle: &mut u64) -> Result<(), RtlStepError> {
    settle_at(block, true, *cycle)?;
    *cycle += 1;
    Ok(())
}

/// Steps a block through a cycle of reset.
fn reset(block: &mut dyn ClockedBlock, cycle: &mut u64) -> Result<(), RtlStepError> {
    block.set_reset_n(false);
    for level in [false, true, false] {
        settle_at(block, level, *cycle)?;
    }
    block.set_reset_n(true);
    settle_at(block, false, *cycle)?;
    *cycle = 0;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::rtl::prelude::*;

    rtl_block! {
        /// Feeds its output back through an inverter while `loop_i` is high.
        pub struct Ring {
            /// clock
            pub clk_i: Signal<In, Clock>,
            /// reset
            pub rst_ni: Signal<In, Bit>,
            /// close the ring
            pub loop_i: Signal<In, Bit>,
            inner: Inverter,
        }
    }
    rtl_block! {
        /// An inverter.
        pub struct Inverter {
            /// input
            pub x_i: Signal<In, Bit>,
            /// output
            pub y_o: Signal<Out, Bit>,
        }
    }
    #[hdl_gen]
    impl Logic for Inverter {
        fn update(&mut self) {
            self.y_o.next = !self.x_i.val();
        }
    }
    #[hdl_gen]
    impl Logic for Ring {
        fn update(&mut self) {
            self.inner.x_i.next = self.inner.y_o.val() & self.loop_i.val();
        }
    }

    #[test]
    fn a_combinational_loop_is_an_error_that_names_the_cycle() {
        let mut ring = Stepper::new(Ring::default()).unwrap();
        for _ in 0..5 {
            ring.step(|_| (), |_| ()).unwrap();
        }
        let error = ring.step(|r| r.loop_i.next = true, |_| ()).unwrap_err();
        assert_eq!(error, RtlStepError::NoConvergence { cycle: 5 });
        assert!(error.to_string().starts_with("cycle 5: the block does not settle"));
    }
}
