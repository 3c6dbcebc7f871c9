//! Configuration of the clock domains.
use super::check::Checker;
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// Clock domains in MHz.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct ClockConfig {
    /// Clock of the SMs, MHz. Simulated cycles are cycles of this clock.
    pub core_mhz: u32,
    /// Clock of the crossbars, MHz.
    pub interconnect_mhz: u32,
    /// Clock of the L2 slices, MHz.
    pub l2_mhz: u32,
    /// Command clock of the DRAM, MHz.
    pub dram_mhz: u32,
}

impl ClockConfig {
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
