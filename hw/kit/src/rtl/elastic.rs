//! An elastic pipeline: registers that close gaps while the output is stalled.

use crate::rtl::prelude::*;

rtl_block! {
    /// One or more registers in series between valid/ready partners.
    ///
    /// A register takes a new item if it is empty or if its own item moves on. A stall at the output therefore reaches the input
    /// only when every register is full. The throughput is one item per cycle; valid_o never drops before ready_i.
    #[new(stages: usize)]
    pub struct ElasticPipe<T: Synth> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low; empties the pipeline
        pub rst_ni: Signal<In, Bit>,
        /// an item is offered
        pub valid_i: Signal<In, Bit>,
        /// offered item
        pub data_i: Signal<In, T>,
        /// the item is accepted in this cycle
        pub ready_o: Signal<Out, Bit>,
        /// an item is available
        pub valid_o: Signal<Out, Bit>,
        /// available item; undefined while valid_o is low
        pub data_o: Signal<Out, T>,
        /// the available item is accepted in this cycle
        pub ready_i: Signal<In, Bit>,
        stage_valid: Vec<Reg<Bit>> = stages_of(stages),
        stage_data: Vec<DataReg<T>> = stages_of(stages),
        /// empty registers, one bit per stage
        holes: Signal<Local, U<5>>,
        /// empty registers, shifted so that bit 0 is the current stage
        holes_ahead: Signal<Local, U<5>>,
        /// an item is offered to the current stage
        valid: Signal<Local, Bit>,
        data: Signal<Local, T>,
        last_valid: Signal<Local, Bit>,
        last_data: Signal<Local, T>,
        _stages: usize = stages,
    }
}

/// Returns the registers of a pipeline.
pub(super) fn stages_of<T: Synth, const RESET: bool>(stages: usize) -> Vec<Reg<T, RESET>> {
    let mut registers = Vec::with_capacity(stages);
    for _ in 0..stages {
        registers.push(Reg::default());
    }
    registers
}

impl<T: Synth> ElasticPipe<T> {
    /// Returns `count` pipelines of one register each. A block uses them where 0 or 1 pipelines may exist.
    pub fn ones(count: usize) -> Vec<Self> {
        let mut pipes = Vec::with_capacity(count);
        for _ in 0..count {
            pipes.push(ElasticPipe::new(1));
        }
        pipes
    }

    /// Returns the register at the output.
    pub fn last_mut(&mut self) -> &mut DataReg<T> {
        let last = self._stages - 1;
        &mut self.stage_data[last]
    }

    /// Evaluates with the same effect as the body, but copies an item only to the register that takes it and to the output. The signals
    /// within a cycle keep their values.
    fn evaluates_itself(&mut self) -> bool {
        let mut moves = self.ready_i.next;
        for i in (0..self._stages).rev() {
            moves |= !self.stage_valid[i].q.next;
            let (before, stage) = self.stage_data.split_at_mut(i);
            let stage = &mut stage[0];
            let (valid, data) = match before.last() {
                Some(last) => (self.stage_valid[i - 1].q.next, &last.q.next),
                None => (self.valid_i.next, &self.data_i.next),
            };
            stage.clock.next = self.clk_i.next;
            stage.reset_n.next = self.rst_ni.next;
            if moves && valid {
                stage.d.next = *data;
            } else if stage.d.next != stage.q.next {
                stage.d.next = stage.q.next;
            }
            let stage_valid = &mut self.stage_valid[i];
            stage_valid.clock.next = self.clk_i.next;
            stage_valid.reset_n.next = self.rst_ni.next;
            stage_valid.d.next = if moves { valid } else { stage_valid.q.next };
        }
        self.ready_o.next = moves;
        let last = self._stages - 1;
        self.valid_o.next = self.stage_valid[last].q.next;
        self.data_o.next = self.stage_data[last].q.next;
        true
    }
}

#[hdl_gen(sizes(&[("STAGES", self._stages)]))]
impl Logic for ElasticPipe {
    fn update(&mut self) {
        for i in 0..self._stages {
            dff_setup!(self, clk_i, stage_valid[i], stage_data[i]);
        }
        self.holes.next = 0.into();
        for i in 0..self._stages {
            self.holes.next[i] = !self.stage_valid[i].q.val();
        }
        self.ready_o.next = self.ready_i.val() | self.holes.val().any();
        comment!("an item moves if this stage or a later one is empty");
        drive!(self; holes_ahead: holes, valid: valid_i, data: data_i);
        for i in 0..self._stages {
            if self.ready_i.val() | self.holes_ahead.val().any() {
                self.stage_valid[i].d.next = self.valid.val();
                if self.valid.val() {
                    self.stage_data[i].d.next = self.data.val();
                }
            }
            self.holes_ahead.next = self.holes_ahead.val() >> 1;
            drive!(self; valid: stage_valid[i].q, data: stage_data[i].q);
        }
        comment!("the outputs depend on the last register only: no path from ready_i to them");
        drive!(self; last_valid: false, last_data: stage_data[0].q);
        for i in 0..self._stages {
            drive!(self; last_valid: stage_valid[i].q, last_data: stage_data[i].q);
        }
        drive!(self; valid_o: last_valid, data_o: last_data);
    }
}

#[cfg(test)]
mod tests {
    use crate::rtl::circuit::{self, Part};
    use crate::rtl::prelude::*;
    use proptest::prelude::*;

    proptest! {
        /// Evaluation without the body gives the same outputs as the body in rust-hdl's rounds, even if a cycle is evaluated
        /// twice.
        #[test]
        fn a_pipeline_evaluates_itself_as_its_body_does(
            stages in 1usize..6,
            cycles in prop::collection::vec((any::<bool>(), any::<u64>(), any::<bool>(), 0u8..40), 1..80),
        ) {
            type Item = W<130, 3>;
            let item = |bits: u64| W::<130, 3>::default().replace_bit(66, U::<64>::new(bits));
            let mut rounds = Stepper::new(ElasticPipe::<Item>::new(stages)).unwrap();
            let mut pipe = ElasticPipe::<Item>::new(stages);
            pipe.connect_all();
            circuit::reset(&mut pipe);
            for (valid, bits, ready, event) in cycles {
                if event == 0 {
                    rounds.reset().unwrap();
                    circuit::reset(&mut pipe);
                }
                // An item that is accepted first and then is not.
                if event % 4 == 1 {
                    (pipe.valid_i.next, pipe.data_i.next, pipe.ready_i.next) = (true, item(!bits), true);
                    circuit::run(&mut pipe);
                }
                let set = |pipe: &mut ElasticPipe<Item>| {
                    (pipe.valid_i.next, pipe.data_i.next, pipe.ready_i.next) = (valid, item(bits), ready);
                };
                set(&mut pipe);
                circuit::run(&mut pipe);
                let shown = |pipe: &ElasticPipe<Item>| (pipe.valid_o.val(), pipe.data_o.val(), pipe.ready_o.val());
                let expected = rounds.step(set, shown).unwrap();
                let found = (pipe.valid_o.next, pipe.data_o.next, pipe.ready_o.next);
                prop_assert_eq!(found.0, expected.0);
                prop_assert_eq!(found.2, expected.2);
                if found.0 {
                    prop_assert_eq!(found.1, expected.1);
                }
                pipe.edge();
            }
        }
    }
}
