//! From a rust-hdl block to the contract: clocks it, and maps typed ports to its signals.
use crate::block::{Clocked, RtlBlock};
use crate::rtl::step::{ClockedBlock, Stepper};
use rust_hdl_core::prelude::Block;

/// The top of a block's RTL: how its signals take and give typed port values.
pub(crate) trait RtlTop: ClockedBlock + 'static {
    /// Inputs.
    type In: Default;
    /// Outputs.
    type Out;
    /// Sets every input signal.
    fn drive(&mut self, inputs: &Self::In);
    /// Reads every output signal.
    fn sample(&self) -> Self::Out;
    /// Inverts a bit of the output registers; see [`RtlBlock::upset`].
    fn upset(&mut self, bit: usize);
}

/// An elaborated top that is clocked.
pub(crate) struct RtlInstance<T> {
    stepper: Stepper<T>,
}

const SETTLES: &str = "the block has no combinational loop";

impl<T: RtlTop> RtlInstance<T> {
    /// Connects `top` and takes it through reset.
    pub fn boxed(top: T) -> Box<dyn RtlBlock<T::In, T::Out>> {
        Box::new(RtlInstance { stepper: Stepper::new(top).expect(SETTLES) })
    }
}

impl<T: RtlTop> Clocked<T::In, T::Out> for RtlInstance<T> {
    fn step(&mut self, inputs: &T::In) -> T::Out {
        self.stepper.step(|top| top.drive(inputs), T::sample).expect(SETTLES)
    }

    fn reset(&mut self) {
        self.stepper.block_mut().drive(&T::In::default());
        self.stepper.reset().expect(SETTLES);
    }
}

impl<T: RtlTop> RtlBlock<T::In, T::Out> for RtlInstance<T> {
    fn into_block(self: Box<Self>) -> Box<dyn Block> {
        Box::new(self.stepper.into_block())
    }

    fn upset(&mut self, bit: usize) {
        self.stepper.block_mut().upset(bit);
    }
}
