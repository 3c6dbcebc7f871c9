//! Golden model of every set index block: the function with an output register and a valid flag.
use super::{IndexFunction, LineIn, SetOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;
use std::marker::PhantomData;

/// Golden model of a set index block with the ports `I` and `O`.
#[derive(Clone, Debug, State)]
pub struct SetIndexModel<I, O> {
    function: IndexFunction,
    sets: u32,
    valid: bool,
    index: u32,
    ports: PhantomData<fn(I) -> O>,
}

impl<I, O> SetIndexModel<I, O> {
    /// Returns the model in its reset state. The function must support the number of sets.
    pub(super) fn new(function: IndexFunction, sets: u32) -> Self {
        SetIndexModel { function, sets, valid: false, index: 0, ports: PhantomData }
    }
}

impl<I: LineIn, O: SetOut> Clocked<I, O> for SetIndexModel<I, O> {
    #[inline]
    fn step(&mut self, inputs: &I) -> O {
        let outputs = O::of(self.valid, self.index);
        self.valid = inputs.line().is_some();
        if let Some(line) = inputs.line() {
            self.index = self.function.index(line, self.sets);
        }
        outputs
    }

    fn reset(&mut self) {
        *self = SetIndexModel::new(self.function, self.sets);
    }
}
