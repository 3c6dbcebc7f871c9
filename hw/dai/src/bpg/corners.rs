//! Corner cases of the BPG, observed at its ports. A separate model gives the counters behind a choice.
use super::model::BpgModel;
use super::params::{BpgParams, HIT_BITS, LEVELS, RSFAIL_BITS};
use super::rtl::{BpgIn, BpgOut};
use selvedge_hw::block::Clocked;
use selvedge_hw::corners::{Corner, Corners};

/// Names of the choices of L.
const CHOICES: [&str; LEVELS] = ["L = 1", "L = 2", "L = 3", "L = 4", "L = 5", "L = 6", "L = 7", "L = 8"];

/// Names of the other corners, in the order of [`BpgCorners::times`].
const CORNERS: [&str; 6] = [
    "hits saturate",
    "failures saturate",
    "hit in the last access of an interval",
    "failure with the last access of an interval",
    "sampled access of a warp from 8 on",
    "interval with failures and without a hit",
];

/// Counts corner cases in the stimulus. An operation is an access.
pub(super) struct BpgCorners {
    params: BpgParams,
    model: BpgModel,
    accesses: u64,
    /// Accesses in the current interval.
    in_interval: u32,
    choices: [u64; LEVELS],
    times: [u64; CORNERS.len()],
}

impl BpgCorners {
    pub(super) fn new(params: &BpgParams) -> Self {
        BpgCorners {
            params: *params,
            model: BpgModel::new(params),
            accesses: 0,
            in_interval: 0,
            choices: [0; LEVELS],
            times: [0; CORNERS.len()],
        }
    }

    /// Counts an access. Returns whether it is the last access of an interval.
    fn interval_ends(&mut self) -> bool {
        self.accesses += 1;
        self.in_interval = (self.in_interval + 1) % self.params.interval;
        self.in_interval == 0
    }
}

impl Corners<BpgIn, BpgOut> for BpgCorners {
    fn reset(&mut self) {
        self.model.reset();
        self.in_interval = 0;
    }

    fn clock(&mut self, inputs: &BpgIn, outputs: &BpgOut) {
        if outputs.update_o {
            self.choices[usize::from(outputs.l_max_o) - 1] += 1;
        }
        let last = inputs.access_i && self.interval_ends();
        let unwatched = inputs.access_i
            && usize::from(inputs.warp_i) >= LEVELS
            && self.params.sampled(inputs.line_i % u64::from(self.params.sets)).is_some();
        let before = self.model.hits();
        self.model.step(inputs);
        let hits = self.model.hits();
        let seen = [
            hits.contains(&((1 << HIT_BITS) - 1)),
            self.model.rsfails() == (1 << RSFAIL_BITS) - 1,
            last && hits.iter().zip(before).any(|(after, before)| *after > before / 2),
            last && inputs.rsfail_i,
            unwatched,
            last && outputs.l_max_o > 1 && self.model.rsfails() > 1 && hits.iter().all(|hits| *hits == 0),
        ];
        self.times.iter_mut().zip(seen).for_each(|(times, seen)| *times += u64::from(seen));
    }

    fn operations(&self) -> u64 {
        self.accesses
    }

    fn seen(&self) -> Vec<Corner> {
        let names = CHOICES.iter().chain(&CORNERS);
        let times = self.choices.iter().chain(&self.times);
        names.zip(times).map(|(name, times)| Corner { name, times: *times, demanded: 1 }).collect()
    }
}
