//! Parameters and constants of the LATTE-CC controller.
use super::decision::Mode;
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Cycles from `ep_end_o` to `decided_o`.
pub const DECISION_CYCLES: u32 = 55;

/// Initial values of the running means, in cycles: hits of the two compressed modes, and misses.
pub(super) const FIRST_LATENCIES: [u32; 3] = [2, 14, 120];

block_params! {
    /// Parameters of a LATTE-CC controller.
    pub struct LatteControllerParams {
        /// L1 accesses of an experimental phase (EP).
        ep_accesses: u32 = 256, Allowed::OneOf(&[64, 256]);
        /// EPs of a period, including the learning EP.
        period_eps: u32 = 10, Allowed::OneOf(&[5, 10]);
        /// Sets of the cache; four per mode are dedicated while learning.
        sets: u32 = 32, Allowed::OneOf(&[32, 64, 128, 256]);
        /// Schedulers of the SM.
        schedulers: u32 = 2, Allowed::OneOf(&[2, 4, 8]);
        /// Rule of the decision: 0 AMAT with latency tolerance, 1 hit count, 2 AMAT without tolerance.
        policy: u32 = 0, Allowed::OneOf(&[0, 1, 2]);
    }
}

impl LatteControllerParams {
    /// Number of schedules at which the sums are halved: one more cycle would not fit into 10 bits.
    pub(super) const fn full(&self) -> u32 {
        1024 - self.schedulers
    }

    /// Returns the mode that a set is dedicated to while learning, if any.
    pub fn dedicated(&self, set: u32) -> Option<Mode> {
        let rest = self.sets / 4;
        let residue = (3 * (set % rest) + rest - set / rest) % rest;
        Mode::ALL.get(residue as usize).copied()
    }
}
