//! From a rust-hdl block to the contract: clocks it, and maps typed ports to its signals.
use crate::block::{Clocked, RtlBlock};
use crate::rtl::activity;
use crate::rtl::step::{ClockedBlock, Stepper};
use rust_hdl_core::prelude::Block;

/// The top of a block's RTL: how its signals take and give typed port values.
pub(crate) trait RtlTop: ClockedBlock + 'static {
    /// Inputs.
    type In: Copy + Default + PartialEq;
    /// Outputs.
    type Out: Copy;
    /// Sets every input signal.
    fn drive(&mut self, inputs: &Self::In);
    /// Reads every output signal.
    fn sample(&self) -> Self::Out;
    /// Inverts a bit of the output registers; see [`RtlBlock::upset`].
    fn upset(&mut self, bit: usize);
}

/// An elaborated top that is clocked; a cycle that repeats the last one is not evaluated.
pub(crate) struct RtlInstance<T: RtlTop> {
    stepper: Stepper<T>,
    /// Inputs and outputs of the last cycle, if its clock edge changed no state.
    steady: Option<(T::In, T::Out)>,
}

const SETTLES: &str = "the block has no combinational loop";

impl<T: RtlTop> RtlInstance<T> {
    /// Connects `top` and takes it through reset.
    pub fn boxed(top: T) -> Box<dyn RtlBlock<T::In, T::Out>> {
        Box::new(RtlInstance { stepper: Stepper::new(top).expect(SETTLES), steady: None })
    }
}

impl<T: RtlTop> Clocked<T::In, T::Out> for RtlInstance<T> {
    fn step(&mut self, inputs: &T::In) -> T::Out {
        if let Some((last, outputs)) = &self.steady
            && last == inputs
        {
            return *outputs;
        }
        let (outputs, changed) =
            activity::watch(|| self.stepper.step(|top| top.drive(inputs), T::sample).expect(SETTLES));
        self.steady = (!changed).then_some((*inputs, outputs));
        outputs
    }

    fn reset(&mut self) {
        self.steady = None;
        self.stepper.block_mut().drive(&T::In::default());
        self.stepper.reset().expect(SETTLES);
    }
}

impl<T: RtlTop> RtlBlock<T::In, T::Out> for RtlInstance<T> {
    fn into_block(self: Box<Self>) -> Box<dyn Block> {
        Box::new(self.stepper.into_block())
    }

    fn upset(&mut self, bit: usize) {
        self.steady = None;
        self.stepper.block_mut().upset(bit);
    }
}

#[cfg(test)]
mod tests {
    use crate::block::HwBlock;
    use crate::milg::{Milg, MilgIn, MilgParams};

    #[test]
    fn an_idle_block_still_sees_an_upset_and_a_reset() {
        let mut milg = Milg::rtl(&MilgParams::default()).unwrap();
        let idle = MilgIn::default();
        for _ in 0..3 {
            assert_eq!(milg.step(&idle).inflight_o, 0);
        }
        milg.upset(2);
        assert_eq!(milg.step(&idle).inflight_o, 4);
        assert_eq!(milg.step(&idle).inflight_o, 4);
        milg.reset();
        assert_eq!(milg.step(&idle).inflight_o, 0);
    }
}
