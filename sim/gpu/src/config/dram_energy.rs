//! What the DRAM's energy is computed from: currents and voltages of a chip, and the pins' resistances.
use super::check::Checker;
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// Coefficients of a channel's energy, by the names of DRAM data sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct DramEnergy {
    /// Chips of a channel; each sub-rank has its part of them.
    pub chips: u32,
    /// Supply voltage of the core, millivolts.
    pub vdd_mv: u32,
    /// Current while one bank is opened and closed every tRC, milliamperes per chip, like all currents.
    pub idd0_ma: u32,
    /// Precharge standby: clocked, no row open.
    pub idd2n_ma: u32,
    /// Active standby: clocked, a row open.
    pub idd3n_ma: u32,
    /// Reads without a break.
    pub idd4r_ma: u32,
    /// Writes without a break.
    pub idd4w_ma: u32,
    /// Refreshes without a break.
    pub idd5_ma: u32,
    /// Supply voltage of the pins, millivolts.
    pub vddq_mv: u32,
    /// Output resistance of a driver, ohms.
    pub driver_ohm: u32,
    /// Termination at the receiver, to the supply, ohms.
    pub termination_ohm: u32,
}

impl DramEnergy {
    pub(super) fn check(&self, check: &mut Checker<'_>) {
        const MOST_MA: u32 = 10_000;
        check.range("dram.energy.chips", self.chips, 1, 64);
        check.range("dram.energy.vdd_mv", self.vdd_mv, 1, 5000);
        check.range("dram.energy.idd2n_ma", self.idd2n_ma, 0, MOST_MA);
        // What a command adds to standby is no less than nothing.
        check.range("dram.energy.idd3n_ma", self.idd3n_ma, self.idd2n_ma, MOST_MA);
        check.range("dram.energy.idd0_ma", self.idd0_ma, self.idd3n_ma, MOST_MA);
        check.range("dram.energy.idd4r_ma", self.idd4r_ma, self.idd3n_ma, MOST_MA);
        check.range("dram.energy.idd4w_ma", self.idd4w_ma, self.idd3n_ma, MOST_MA);
        check.range("dram.energy.idd5_ma", self.idd5_ma, self.idd2n_ma, MOST_MA);
        check.range("dram.energy.vddq_mv", self.vddq_mv, 0, 5000);
        check.range("dram.energy.driver_ohm", self.driver_ohm, 1, 1000);
        check.range("dram.energy.termination_ohm", self.termination_ohm, 1, 1000);
    }
}
