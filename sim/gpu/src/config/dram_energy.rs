//! Configuration of the DRAM energy: currents and voltages of a chip, and resistances of the pins.
use super::check::Checker;
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// Coefficients of a channel's energy, with the names of DRAM data sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct DramEnergy {
    /// Number of chips of a channel, divided equally among its sub-ranks.
    pub chips: u32,
    /// Supply voltage of the core, mV.
    pub vdd_mv: u32,
    /// Current while a bank is activated and precharged every tRC, mA per chip.
    pub idd0_ma: u32,
    /// Current in precharge standby (clocked, all rows closed), mA per chip.
    pub idd2n_ma: u32,
    /// Current in active standby (clocked, a row open), mA per chip.
    pub idd3n_ma: u32,
    /// Current during uninterrupted reads, mA per chip.
    pub idd4r_ma: u32,
    /// Current during uninterrupted writes, mA per chip.
    pub idd4w_ma: u32,
    /// Current during uninterrupted refreshes, mA per chip.
    pub idd5_ma: u32,
    /// Supply voltage of the pins, mV.
    pub vddq_mv: u32,
    /// Output resistance of a driver, ohms.
    pub driver_ohm: u32,
    /// Termination resistance at the receiver, to the supply, ohms.
    pub termination_ohm: u32,
}

impl DramEnergy {
    pub(super) fn check(&self, check: &mut Checker<'_>) {
        const MOST_MA: u32 = 10_000;
        check.range("dram.energy.chips", self.chips, 1, 64);
        check.range("dram.energy.vdd_mv", self.vdd_mv, 1, 5000);
        check.range("dram.energy.idd2n_ma", self.idd2n_ma, 0, MOST_MA);
        // An activity must not draw less current than standby.
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
