//! The clock domains.
use super::check::Checker;
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// Clock domains in MHz.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// The SMs' clock; simulated cycles are cycles of this clock.
    pub core_mhz: u32,
    /// The crossbar's clock.
    pub interconnect_mhz: u32,
    /// The L2 partitions' clock.
    pub l2_mhz: u32,
    /// The DRAM's command clock.
    pub dram_mhz: u32,
}

impl Clock {
    pub(super) fn check(&self, check: &mut Checker<'_>) {
        for (key, value) in [
            ("clock.core_mhz", self.core_mhz),
            ("clock.interconnect_mhz", self.interconnect_mhz),
            ("clock.l2_mhz", self.l2_mhz),
            ("clock.dram_mhz", self.dram_mhz),
        ] {
            check.range(key, value, 1, 10_000);
        }
    }
}
