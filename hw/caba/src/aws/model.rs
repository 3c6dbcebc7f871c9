//! Golden model of the AWS: an array that is read in every cycle.
use super::params::AwsParams;
use super::rtl::{AwsIn, AwsOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Golden model of the AWS.
#[derive(Clone, Debug, State)]
pub struct AwsModel {
    params: AwsParams,
    words: Vec<u64>,
    outputs: AwsOut,
}

impl AwsModel {
    /// Returns a model with an empty store. The parameters must be valid.
    pub fn new(params: &AwsParams) -> Self {
        AwsModel { params: *params, words: vec![0; params.instructions as usize], outputs: AwsOut::default() }
    }

    /// Returns the word at the output in this cycle.
    pub(crate) fn fetched(&self) -> u64 {
        self.outputs.instruction_o
    }
}

impl Clocked<AwsIn, AwsOut> for AwsModel {
    #[inline]
    fn step(&mut self, inputs: &AwsIn) -> AwsOut {
        let address = self.params.address(inputs.sr_i, inputs.inst_i);
        let next = AwsOut { valid_o: inputs.fetch_i, instruction_o: self.words[usize::from(address)] };
        if inputs.write_i {
            self.words[usize::from(inputs.write_address_i)] = inputs.write_data_i;
        }
        std::mem::replace(&mut self.outputs, next)
    }

    /// Resets the outputs. The memory has no reset; with all inputs zero it reads its first word.
    fn reset(&mut self) {
        self.outputs = AwsOut { valid_o: false, instruction_o: self.words[0] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_routine_may_be_longer_than_its_slot_and_the_store_is_a_ring() {
        let params = AwsParams::default();
        assert_eq!((params.address(3, 0), params.address(3, 20)), (48, 68));
        assert_eq!(params.address(31, 16), 0);
        assert_eq!(AwsParams { instructions: 1024, ..params }.address(3, 1), 97);
    }

    #[test]
    fn a_word_that_is_written_while_it_is_read_gives_its_old_value() {
        let mut aws = AwsModel::new(&AwsParams::default());
        let fetch = AwsIn { fetch_i: true, sr_i: 1, ..AwsIn::default() };
        aws.step(&AwsIn { write_i: true, write_address_i: 16, write_data_i: 7, ..fetch });
        assert_eq!(aws.step(&fetch), AwsOut { valid_o: true, instruction_o: 0 });
        assert_eq!(aws.step(&fetch), AwsOut { valid_o: true, instruction_o: 7 });
    }

    #[test]
    fn routines_survive_reset() {
        let mut aws = AwsModel::new(&AwsParams::default());
        aws.step(&AwsIn { write_i: true, write_address_i: 5, write_data_i: 9, ..AwsIn::default() });
        aws.reset();
        assert!(!aws.step(&AwsIn { fetch_i: true, inst_i: 5, ..AwsIn::default() }).valid_o);
        assert_eq!(aws.step(&AwsIn::default()), AwsOut { valid_o: true, instruction_o: 9 });
    }
}
