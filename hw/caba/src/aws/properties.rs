//! The assist warp store is a memory: a fetch returns the last written value.
use crate::aws::{Aws, AwsIn, AwsParams};
use crate::deployment::lockstep;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fetch_gives_what_was_written_last(
        traffic in prop::collection::vec((any::<bool>(), 0u16..40, any::<u64>(), 0u8..3, 0u8..40), 1..600),
        large: bool,
    ) {
        let params = AwsParams { instructions: if large { 1024 } else { 512 }, ..AwsParams::default() };
        let mut store = lockstep::<Aws>(&params);
        let mut words = vec![0; params.instructions as usize];
        let mut expected = None;
        for (write_i, write_address_i, write_data_i, sr_i, inst_i) in traffic {
            let inputs = AwsIn { write_i, write_address_i, write_data_i, fetch_i: true, sr_i, inst_i };
            let outputs = store.step(&inputs).unwrap();
            prop_assert_eq!(outputs.valid_o.then_some(outputs.instruction_o), expected);
            expected = Some(words[usize::from(sr_i) * params.slot() as usize + usize::from(inst_i)]);
            if write_i {
                words[usize::from(write_address_i)] = write_data_i;
            }
        }
    }
}
