//! Corner cases of the QBMI, observed at its ports. A separate model gives the averages behind a set.
use super::model::{QbmiModel, average};
use super::params::{COUNT_BITS, MOST_REQUESTS, QbmiParams};
use super::rtl::{QbmiIn, QbmiOut};
use selvedge_hw::block::Clocked;
use selvedge_hw::corners::{Corner, Corners};

/// Names and demanded counts, in the order of [`QbmiCorners::times`].
const CORNERS: [(&str, u64); 11] = [
    ("equal quotas", 1000),
    ("issue out of turn", 1000),
    ("set added", 1000),
    ("set computed", 20),
    ("set computed of coprime averages", 3),
    ("set computed of an average of 32", 3),
    ("computation started over", 3),
    ("quota saturates", 1),
    ("interval without instructions", 1),
    ("set computed before every kernel has an average", 1),
    ("average decided by the last cycle of the interval before", 1),
];

/// Counts corner cases in the stimulus. An operation is a cycle.
pub(super) struct QbmiCorners {
    params: QbmiParams,
    model: QbmiModel,
    cycles: u64,
    times: [u64; CORNERS.len()],
    /// Requests and instructions of each kernel in its current interval.
    interval: [(u32, u32); 4],
    /// Kernels whose current interval has an instruction of the last cycle of the interval before.
    has_carried: [bool; 4],
    /// Kernels that have completed an interval since the last reset.
    has_average: [bool; 4],
}

impl QbmiCorners {
    pub(super) fn new(params: &QbmiParams) -> Self {
        QbmiCorners {
            params: *params,
            model: QbmiModel::new(params),
            cycles: 0,
            times: [0; CORNERS.len()],
            interval: [(0, 0); 4],
            has_carried: [false; 4],
            has_average: [false; 4],
        }
    }

    /// Counts requests and instructions. Returns whether an interval without instructions ends, and whether an interval ends
    /// whose average the instruction of the last cycle before it decides.
    fn ends(&mut self, inputs: &QbmiIn) -> [bool; 2] {
        let mut found = [false; 2];
        if inputs.request_i {
            let kernel = usize::from(inputs.request_kernel_i);
            let (requests, instructions) = &mut self.interval[kernel];
            *requests += 1;
            if *requests == 1 << COUNT_BITS {
                let has_carried = self.has_carried[kernel];
                found =
                    [*instructions == 0, has_carried && average(*instructions) != average(*instructions - 1)];
                (*requests, *instructions) = (0, 0);
                self.has_average[kernel] = true;
                self.has_carried[kernel] = inputs.issue_i && inputs.issue_kernel_i == inputs.request_kernel_i;
            }
        }
        if inputs.issue_i {
            self.interval[usize::from(inputs.issue_kernel_i)].1 += 1;
        }
        found
    }
}

impl Corners<QbmiIn, QbmiOut> for QbmiCorners {
    fn reset(&mut self) {
        self.model.reset();
        self.interval = [(0, 0); 4];
        (self.has_carried, self.has_average) = ([false; 4], [false; 4]);
    }

    fn clock(&mut self, inputs: &QbmiIn, outputs: &QbmiOut) {
        self.cycles += 1;
        let early = self.has_average[..self.params.kernels as usize].contains(&false);
        let [is_empty, is_decided] = self.ends(inputs);
        let quotas: Vec<u32> =
            (0..self.params.kernels).map(|kernel| outputs.quota(&self.params, kernel)).collect();
        let issuing = u32::from(inputs.issue_kernel_i);
        let out_of_turn =
            issuing < self.params.kernels && outputs.rank(&self.params, issuing) > 0 && inputs.issue_i;
        let averages = self.model.requests_per_instruction();
        let product: u32 = averages.iter().product();
        let coprime = averages.iter().zip(self.model.set()).all(|(r, quota)| *r > 1 && r * quota == product);
        let seen = [
            quotas[0] == quotas[1],
            out_of_turn,
            outputs.replenish_o,
            outputs.update_o,
            outputs.update_o && coprime,
            outputs.update_o && averages.contains(&MOST_REQUESTS),
            self.model.starts_over(),
            quotas.contains(&self.params.most_quota()),
            is_empty,
            outputs.update_o && early,
            is_decided,
        ];
        self.times.iter_mut().zip(seen).for_each(|(times, seen)| *times += u64::from(seen));
        self.model.step(inputs);
    }

    fn operations(&self) -> u64 {
        self.cycles
    }

    fn seen(&self) -> Vec<Corner> {
        let corners = CORNERS.iter().zip(self.times);
        corners.map(|((name, demanded), times)| Corner { name, times, demanded: *demanded }).collect()
    }
}
