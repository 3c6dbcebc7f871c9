//! Corner cases that the controller's stimulus must reach, observed at the ports.
use super::params::LatteControllerParams;
use super::rtl::{LatteControllerIn, LatteControllerOut};
use selvedge_hw::corners::{Corner, Corners};

/// Counts accesses, and the corner cases of EPs, decisions and look-ups.
pub(super) struct LatteCorners {
    params: LatteControllerParams,
    accesses: u64,
    /// EPs since the period began.
    ep: u32,
    /// Hits of this period in each mode's dedicated sets; `misses` counts the insertions.
    hits: [u32; 3],
    misses: [u32; 3],
    /// Schedules that ended in this EP; `mode` is the chosen mode.
    schedules: u32,
    mode: u8,
    decided: [u64; 3],
    changes: u64,
    full_hits: u64,
    full_misses: u64,
    without_evidence: u64,
    without_schedule: u64,
    many_schedules: u64,
    tolerant: u64,
    dedicated: u64,
    own_mode: u64,
    first_codes: u64,
    new_codes: u64,
}

impl LatteCorners {
    pub fn new(params: &LatteControllerParams) -> Self {
        LatteCorners {
            params: *params,
            accesses: 0,
            ep: 0,
            hits: [0; 3],
            misses: [0; 3],
            schedules: 0,
            mode: 0,
            decided: [0; 3],
            changes: 0,
            full_hits: 0,
            full_misses: 0,
            without_evidence: 0,
            without_schedule: 0,
            many_schedules: 0,
            tolerant: 0,
            dedicated: 0,
            own_mode: 0,
            first_codes: 0,
            new_codes: 0,
        }
    }

    /// Evaluates the EP that has ended, in the first cycle of the next EP.
    fn ep_ended(&mut self, outputs: &LatteControllerOut) {
        let most = self.params.ep_accesses;
        self.full_hits += u64::from(self.ep == 1 && self.hits.contains(&(2 * most)));
        self.full_misses += u64::from(self.ep == 0 && self.misses.contains(&most));
        let nothing = |mode: usize| self.hits[mode] + self.misses[mode] == 0;
        self.without_evidence += u64::from((0..3).any(nothing));
        self.without_schedule += u64::from(self.schedules == 0);
        self.many_schedules += u64::from(self.schedules > self.params.full());
        self.first_codes += u64::from(outputs.new_codes_o && !outputs.learning_o);
        self.new_codes += u64::from(outputs.new_codes_o && outputs.learning_o);
        self.schedules = 0;
        self.ep += 1;
        if outputs.learning_o {
            (self.ep, self.hits, self.misses) = (0, [0; 3], [0; 3]);
        }
    }
}

impl Corners<LatteControllerIn, LatteControllerOut> for LatteCorners {
    fn reset(&mut self) {
        (self.ep, self.hits, self.misses) = (0, [0; 3], [0; 3]);
        (self.schedules, self.mode) = (0, 0);
    }

    fn clock(&mut self, inputs: &LatteControllerIn, outputs: &LatteControllerOut) {
        if outputs.ep_end_o {
            self.ep_ended(outputs);
        }
        if outputs.decided_o {
            self.decided[usize::from(outputs.mode_o)] += 1;
            self.changes += u64::from(outputs.mode_o != self.mode);
            self.tolerant += u64::from(outputs.tolerance_o >= 14);
            self.mode = outputs.mode_o;
        }
        self.dedicated += u64::from(outputs.lookup_dedicated_o);
        self.own_mode += u64::from(outputs.lookup_dedicated_o && outputs.lookup_mode_o != outputs.mode_o);
        self.schedules += inputs.schedule_i.count_ones();
        self.accesses += u64::from(inputs.access_i);
        if let Some(mode) = self.params.dedicated(u32::from(inputs.set_i)).filter(|_| inputs.access_i) {
            self.hits[mode as usize] += u32::from(inputs.hit_i && self.ep < 2);
            self.misses[mode as usize] += u32::from(!inputs.hit_i && inputs.insert_i && self.ep == 0);
        }
    }

    fn operations(&self) -> u64 {
        self.accesses
    }

    fn seen(&self) -> Vec<Corner> {
        [
            ("no compression is chosen", self.decided[0], 20),
            ("the low-latency mode is chosen", self.decided[1], 20),
            ("the high-capacity mode is chosen", self.decided[2], 20),
            ("the mode changes", self.changes, 20),
            ("a hit counter reaches its largest count", self.full_hits, 1),
            ("an insertion counter reaches its largest count", self.full_misses, 1),
            ("a mode's dedicated sets saw nothing", self.without_evidence, 5),
            ("an EP without a schedule", self.without_schedule, 5),
            ("an EP with so many schedules that their sums are halved", self.many_schedules, 5),
            ("the tolerance hides SC's latency", self.tolerant, 20),
            ("a dedicated set is looked up while learning", self.dedicated, 100),
            ("it has another mode than the chosen one", self.own_mode, 100),
            ("the first codes are ready after the first EP", self.first_codes, 2),
            ("codes are renewed with a period", self.new_codes, 10),
        ]
        .map(|(name, times, demanded)| Corner { name, times, demanded })
        .to_vec()
    }
}
