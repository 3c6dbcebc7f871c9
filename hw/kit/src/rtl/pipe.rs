//! Pipeline stages: data and a valid bit, a given number of cycles later. Data registers move only with valid data.
//!
//! ```text
//! clk_i    __/--\__/--\__/--\__/--\__     two stages
//! valid_i  __/-----\_________________
//! data_i   ==< A  >==================
//! valid_o  ______________/-----\_____
//! data_o   ==============< A >=======     keeps A until the next valid data
//! ```

use super::elastic::stages_of;
use crate::rtl::prelude::*;

rtl_block! {
    /// A pipeline of any number of stages, including zero.
    #[new(stages: usize)]
    pub struct Pipe<T: Synth> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low; empties the pipeline
        pub rst_ni: Signal<In, Bit>,
        /// data enters this cycle
        pub valid_i: Signal<In, Bit>,
        /// data that enters
        pub data_i: Signal<In, T>,
        /// data leaves this cycle
        pub valid_o: Signal<Out, Bit>,
        /// data that leaves; undefined before the first data has left
        pub data_o: Signal<Out, T>,
        stage_valid: Vec<Reg<Bit>> = stages_of(stages),
        stage_data: Vec<DataReg<T>> = stages_of(stages),
        valid: Signal<Local, Bit>,
        data: Signal<Local, T>,
        _stages: usize = stages,
    }
}

impl<T: Synth> Default for Pipe<T> {
    /// Returns a pipeline of one stage.
    fn default() -> Self {
        Pipe::new(1)
    }
}

#[hdl_gen(sizes(&[("STAGES", self._stages)]))]
impl Logic for Pipe {
    fn update(&mut self) {
        for i in 0..self._stages {
            dff_setup!(self, clk_i, stage_valid[i], stage_data[i]);
        }
        comment!("from stage to stage; what a stage holds is the input of the next one");
        drive!(self; valid: valid_i, data: data_i);
        for i in 0..self._stages {
            self.stage_valid[i].d.next = self.valid.val();
            if self.valid.val() {
                self.stage_data[i].d.next = self.data.val();
            }
            drive!(self; valid: stage_valid[i].q, data: stage_data[i].q);
        }
        drive!(self; valid_o: valid, data_o: data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_leaves_after_as_many_cycles_as_there_are_stages() {
        for stages in 0..5 {
            let mut pipe = Stepper::new(Pipe::<U<8>>::new(stages)).unwrap();
            let arrival = (0..10).find(|cycle| {
                pipe.step(
                    |p| {
                        p.valid_i.next = *cycle == 0;
                        p.data_i.next = U::new(40 + cycle);
                    },
                    |p| p.valid_o.val() && p.data_o.val() == 40,
                )
                .unwrap()
            });
            assert_eq!(arrival, Some(stages as u64));
        }
    }

    #[test]
    fn one_item_enters_and_leaves_per_cycle() {
        let mut pipe = Stepper::new(Pipe::<U<8>>::new(3)).unwrap();
        let seen: Vec<Option<u64>> = (0..8)
            .map(|cycle| {
                pipe.step(
                    |p| {
                        p.valid_i.next = cycle != 2;
                        p.data_i.next = U::new(cycle);
                    },
                    |p| p.valid_o.val().then(|| p.data_o.val().to_u64()),
                )
                .unwrap()
            })
            .collect();
        assert_eq!(seen, [None, None, None, Some(0), Some(1), None, Some(3), Some(4)]);
    }
}
