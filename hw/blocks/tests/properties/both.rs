//! A block under test as golden model and RTL in lock-step: whatever a property says of the one, it says of the other.
use selvedge_hw::{Clocked, Engine, HwBlock, Instance};
use std::ops::Deref;

/// Steps model and RTL alike and panics at the first output that differs. What the model alone shows is read through it.
pub struct Both<B: HwBlock>(Instance<B>);

impl<B: HwBlock> Both<B> {
    /// Model and RTL in their reset states.
    pub fn new(params: &B::Params) -> Self {
        Both(Instance::new(B::NAME, params, Engine::Lockstep).expect("valid parameters"))
    }
}

impl<B: HwBlock> Clocked<B::In, B::Out> for Both<B> {
    fn step(&mut self, inputs: &B::In) -> B::Out {
        self.0.step(inputs).unwrap_or_else(|divergence| panic!("{divergence}"))
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

impl<B: HwBlock> Deref for Both<B> {
    type Target = B::Model;

    fn deref(&self) -> &B::Model {
        self.0.model().expect("lock-step has a model")
    }
}

/// Steps a block through random traffic, in which nothing is a reset: model and RTL must agree.
pub fn assert_agree<B: HwBlock>(params: &B::Params, traffic: &[Option<B::In>]) {
    let mut block = Both::<B>::new(params);
    for inputs in traffic {
        match inputs {
            Some(inputs) => _ = block.step(inputs),
            None => block.reset(),
        }
    }
}
