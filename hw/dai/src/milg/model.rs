//! Golden model of the MILG: the counters and the formula, cycle by cycle.
use super::params::MilgParams;
use super::rtl::{MilgIn, MilgOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Golden model of the MILG.
#[derive(Clone, Debug, State)]
pub struct MilgModel {
    params: MilgParams,
    inflight: u16,
    max_inflight: u16,
    rsfails: u16,
    requests: u16,
    limit: u16,
    update: bool,
}

impl MilgModel {
    /// Returns the model in its reset state: nothing in flight, no limit. The parameters must be valid.
    pub fn new(params: &MilgParams) -> Self {
        let limit = params.no_limit();
        MilgModel {
            params: *params,
            inflight: 0,
            max_inflight: 0,
            rsfails: 0,
            requests: 0,
            limit,
            update: false,
        }
    }

    fn new_limit(&self) -> u16 {
        match self.rsfails >> self.params.request_bits {
            0 => self.limit,
            rsfails_per_request => (self.max_inflight.min(self.limit) / rsfails_per_request).max(1),
        }
    }
}

impl Clocked<MilgIn, MilgOut> for MilgModel {
    #[inline]
    fn step(&mut self, inputs: &MilgIn) -> MilgOut {
        let outputs = MilgOut {
            may_issue_o: self.inflight < self.limit,
            inflight_o: self.inflight,
            limit_o: self.limit,
            update_o: self.update,
        };
        let interval_ends = inputs.request_i && self.requests == (1 << self.params.request_bits) - 1;
        let issued = self.inflight + u16::from(inputs.issued_i);
        self.inflight = issued.saturating_sub(u16::from(inputs.completed_i)).min(self.params.no_limit());
        self.update = interval_ends;
        if interval_ends {
            self.limit = self.new_limit();
            self.requests = 0;
            self.rsfails = u16::from(inputs.rsfail_i);
            self.max_inflight = self.inflight;
        } else {
            self.requests += u16::from(inputs.request_i);
            let most = (1 << self.params.rsfail_bits) - 1;
            self.rsfails = (self.rsfails + u16::from(inputs.rsfail_i)).min(most);
            self.max_inflight = self.max_inflight.max(self.inflight);
        }
        outputs
    }

    fn reset(&mut self) {
        *self = MilgModel::new(&self.params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: MilgIn = MilgIn { issued_i: 0, completed_i: 0, request_i: false, rsfail_i: false };

    /// Returns the limit after one interval with at most `inflight` instructions in flight and `rsfails` failures.
    fn limit_after(inflight: u32, rsfails: u32) -> u16 {
        let mut milg = MilgModel::new(&MilgParams::default());
        for _ in 0..inflight {
            milg.step(&MilgIn { issued_i: 1, ..IDLE });
        }
        for _ in 0..inflight {
            milg.step(&MilgIn { completed_i: 1, ..IDLE });
        }
        for _ in 0..rsfails {
            milg.step(&MilgIn { rsfail_i: true, ..IDLE });
        }
        for _ in 0..1024 {
            milg.step(&MilgIn { request_i: true, ..IDLE });
        }
        let outputs = milg.step(&IDLE);
        assert!(outputs.update_o);
        outputs.limit_o
    }

    #[test]
    fn fewer_failures_than_requests_set_no_limit() {
        assert_eq!(limit_after(40, 0), 127);
        assert_eq!(limit_after(40, 1023), 127);
    }

    #[test]
    fn failures_per_request_divide_the_maximum_in_flight() {
        assert_eq!(limit_after(40, 1024), 40);
        assert_eq!(limit_after(40, 2047), 40);
        assert_eq!(limit_after(40, 2048), 20);
        assert_eq!(limit_after(41, 3072), 13);
    }

    /// Ends an interval with `rsfails` failures. Returns the new limit.
    fn end_interval(milg: &mut MilgModel, rsfails: u32) -> u16 {
        for _ in 0..rsfails {
            milg.step(&MilgIn { rsfail_i: true, ..IDLE });
        }
        for _ in 0..1024 {
            milg.step(&MilgIn { request_i: true, ..IDLE });
        }
        milg.step(&IDLE).limit_o
    }

    #[test]
    fn a_limit_that_works_stays() {
        let mut milg = MilgModel::new(&MilgParams::default());
        for _ in 0..20 {
            milg.step(&MilgIn { issued_i: 1, ..IDLE });
        }
        assert_eq!(end_interval(&mut milg, 2048), 10);
        assert_eq!(end_interval(&mut milg, 1023), 10, "less than one failure per request");
        assert_eq!(end_interval(&mut milg, 0), 10);
    }

    #[test]
    fn what_the_limit_before_left_in_flight_is_no_maximum_under_the_next() {
        let mut milg = MilgModel::new(&MilgParams::default());
        for _ in 0..60 {
            milg.step(&MilgIn { issued_i: 1, ..IDLE });
        }
        assert_eq!(end_interval(&mut milg, 3072), 20);
        // All 60 are still in flight, but only the 20 that the limit allows count.
        assert_eq!(end_interval(&mut milg, 2048), 10);
    }

    #[test]
    fn the_failure_counter_saturates_at_three_per_request() {
        assert_eq!(limit_after(90, 4095), 30);
        assert_eq!(limit_after(90, 20_000), 30);
    }

    #[test]
    fn one_instruction_is_always_allowed() {
        assert_eq!(limit_after(0, 4095), 1);
        assert_eq!(limit_after(2, 4095), 1);
    }

    #[test]
    fn issue_is_gated_at_the_limit() {
        let mut milg = MilgModel::new(&MilgParams::default());
        for issued in 0..127 {
            assert!(milg.step(&MilgIn { issued_i: 1, ..IDLE }).may_issue_o, "{issued}");
        }
        assert!(!milg.step(&MilgIn { completed_i: 1, ..IDLE }).may_issue_o);
        assert!(milg.step(&IDLE).may_issue_o);
    }

    #[test]
    fn the_in_flight_counter_saturates_at_both_ends() {
        let mut milg = MilgModel::new(&MilgParams::default());
        milg.step(&MilgIn { completed_i: 3, ..IDLE });
        assert_eq!(milg.step(&IDLE).inflight_o, 0);
        for _ in 0..50 {
            milg.step(&MilgIn { issued_i: 3, ..IDLE });
        }
        assert_eq!(milg.step(&IDLE).inflight_o, 127);
    }

    #[test]
    fn the_maximum_starts_over_from_what_is_in_flight() {
        let mut milg = MilgModel::new(&MilgParams::default());
        for _ in 0..30 {
            milg.step(&MilgIn { issued_i: 1, ..IDLE });
        }
        for _ in 0..1024 {
            milg.step(&MilgIn { request_i: true, ..IDLE });
        }
        // The second interval: 20 of the 30 complete, then one failure per request.
        for _ in 0..20 {
            milg.step(&MilgIn { completed_i: 1, ..IDLE });
        }
        for _ in 0..1024 {
            milg.step(&MilgIn { request_i: true, rsfail_i: true, ..IDLE });
        }
        // 1023 failures were counted before the cycle that ended the interval; the last one opened the next.
        assert_eq!(milg.step(&IDLE).limit_o, 127);
        for _ in 0..1024 {
            milg.step(&MilgIn { request_i: true, rsfail_i: true, ..IDLE });
        }
        assert_eq!(milg.step(&IDLE).limit_o, 10);
    }
}
