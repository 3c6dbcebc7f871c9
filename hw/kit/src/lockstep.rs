//! Golden model and RTL of a block in lockstep, for property tests: each property holds for both.
use crate::rtl::reserved::reserved_name_of;
use crate::verify::Unverified;
use crate::{Clocked, Engine, HwBlock, Instance};
use std::ops::Deref;

/// Inputs of successive cycles; `None` is a reset.
pub type CycleInputs<B> = Vec<Option<<B as HwBlock>::In>>;

/// Steps model and RTL with the same inputs, and panics at the first output that differs. Dereferences to the model.
pub struct Lockstep<B: HwBlock>(Instance<B>);

impl<B: HwBlock> Lockstep<B> {
    /// Returns model and RTL in their reset states.
    ///
    /// # Panics
    /// The block does not allow the parameters, or its RTL has a name that is reserved in Verilog.
    pub fn new(params: &B::Params) -> Self {
        let rtl = B::rtl(params).expect("valid parameters");
        if let Some(name) = reserved_name_of(B::NAME, rtl.as_block()) {
            panic!("{}", Unverified::Reserved { block: B::NAME, name });
        }
        Lockstep(Instance::new(B::NAME, params, Engine::Lockstep).expect("valid parameters"))
    }
}

impl<B: HwBlock> Clocked<B::In, B::Out> for Lockstep<B> {
    fn step(&mut self, inputs: &B::In) -> B::Out {
        self.0.step(inputs).unwrap_or_else(|divergence| panic!("{divergence}"))
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

impl<B: HwBlock> Deref for Lockstep<B> {
    type Target = B::Model;

    fn deref(&self) -> &B::Model {
        self.0.model().expect("lock-step has a model")
    }
}

/// Steps model and RTL through `traffic`. `None` stands for a clock in reset.
///
/// # Panics
/// The outputs differ, or [`Lockstep::new`] panics.
pub fn assert_agree<B: HwBlock>(params: &B::Params, traffic: &[Option<B::In>]) {
    let mut block = Lockstep::<B>::new(params);
    for inputs in traffic {
        match inputs {
            Some(inputs) => _ = block.step(inputs),
            None => block.reset(),
        }
    }
}
