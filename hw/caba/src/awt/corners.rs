//! Corner cases of the AWT.
use super::params::AwtParams;
use super::rtl::{AwtIn, AwtOut};
use selvedge_hw::corners::{Corner, Corners};

/// Counts full tables, refusals, kills and ends of routines. An operation is a deployed instruction.
pub(super) struct AwtCorners {
    params: AwtParams,
    operations: u64,
    /// Entries in use in the last cycle since reset, and whether a routine ended in that cycle.
    before: Option<(u64, bool)>,
    full_refuses: u64,
    only_high_fits: u64,
    high_takes_the_rest: u64,
    same_routine_refused: u64,
    free_and_taken: u64,
    young_trigger: u64,
    kills: u64,
    kills_of_several: u64,
    shortest: u64,
    longest: u64,
}

impl AwtCorners {
    pub(super) fn new(params: &AwtParams) -> Self {
        AwtCorners {
            params: *params,
            operations: 0,
            before: None,
            full_refuses: 0,
            only_high_fits: 0,
            high_takes_the_rest: 0,
            same_routine_refused: 0,
            free_and_taken: 0,
            young_trigger: 0,
            kills: 0,
            kills_of_several: 0,
            shortest: 0,
            longest: 0,
        }
    }

    fn trigger(&mut self, inputs: &AwtIn, outputs: &AwtOut) {
        let others = u64::MAX << self.params.high_only();
        let all = u64::MAX >> (64 - self.params.entries);
        let rest_only = !outputs.full_o && (outputs.active_o & others) == (all & others);
        let taken = outputs.trigger_ready_o;
        self.full_refuses += u64::from(!taken && outputs.full_o);
        self.only_high_fits += u64::from(!taken && rest_only && !inputs.trigger_high_i);
        self.high_takes_the_rest += u64::from(taken && rest_only);
        self.same_routine_refused += u64::from(!taken && !outputs.full_o && !rest_only);
        self.free_and_taken += u64::from(taken && outputs.deploy_last_o);
        let kill = if inputs.trigger_high_i { inputs.kill_high_i } else { inputs.kill_low_i };
        self.young_trigger += u64::from(taken && kill && inputs.kill_warp_i == inputs.trigger_warp_i);
    }
}

impl Corners<AwtIn, AwtOut> for AwtCorners {
    fn reset(&mut self) {
        self.before = None;
    }
    fn clock(&mut self, inputs: &AwtIn, outputs: &AwtOut) {
        self.operations += u64::from(outputs.deploy_valid_o);
        if inputs.trigger_valid_i {
            self.trigger(inputs, outputs);
        }
        if let Some((active, ended)) = self.before {
            let killed = (active & !outputs.active_o).count_ones() - u32::from(ended);
            self.kills += u64::from(killed > 0);
            self.kills_of_several += u64::from(killed > 1);
        }
        self.before = Some((outputs.active_o, outputs.deploy_last_o));
        self.shortest += u64::from(outputs.deploy_last_o && outputs.deploy_inst_o == 0);
        self.longest += u64::from(outputs.deploy_last_o && outputs.deploy_inst_o == 127);
    }
    fn operations(&self) -> u64 {
        self.operations
    }
    fn seen(&self) -> Vec<Corner> {
        [
            ("a full table refuses a trigger", self.full_refuses, 100),
            ("low priority is refused what is left to high", self.only_high_fits, 100),
            ("high priority takes what is left to it", self.high_takes_the_rest, 100),
            ("a routine that the warp runs is refused", self.same_routine_refused, 100),
            ("one entry ends as another is taken", self.free_and_taken, 100),
            ("a trigger in the cycle of its warp's kill stays", self.young_trigger, 10),
            ("a kill takes an entry", self.kills, 100),
            ("a kill takes several entries", self.kills_of_several, 10),
            ("a routine of one instruction ends", self.shortest, 100),
            ("a routine of 128 instructions ends", self.longest, 1),
        ]
        .map(|(name, times, demanded)| Corner { name, times, demanded })
        .to_vec()
    }
}
