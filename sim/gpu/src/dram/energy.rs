//! DRAM energy, computed from command counts with the formula of LAMAR, section 4.2:
//!
//! ```text
//! P = P_PRE_STBY + P_ACT_STBY + P_REF + P_ACT_PRE + P_RD_BANK + P_RD_IO + P_WR_BANK + P_WR_IO
//!     (background           )                       (read              ) (write             )
//! ```
//! Each part is a count times an energy. The energy follows from the currents in the chip's data sheet: the current of the
//! activity minus the standby current. Currents are per chip; a sub-rank has an equal part of the chips.
//!
//! | part | one | energy of one, per chip |
//! |---|---|---|
//! | standby | a cycle without / with an open row | IDD2N, IDD3N x VDD x tCK |
//! | refresh | a refresh of all banks | (IDD5 - IDD2N) x VDD x tRFC |
//! | activate and precharge | a row's opening and closing | (IDD0 x tRC - IDD3N x tRAS - IDD2N x (tRC - tRAS)) x VDD |
//! | bank, read / write | a burst | (IDD4R, IDD4W - IDD3N) x VDD x the burst's time |
//! | pins, read / write | a bit | VDDQ^2 / (driver + termination) x the bit's time, half of the bits low |
//!
//! Pseudo-open-drain pins draw current only while they are low. The model assumes that half of the bits are low, and no data bus
//! inversion (DBI). Rows stay open until another row or a refresh closes them. A chip with closed rows stays in precharge
//! standby: the model has no power-down.
use super::counters::DramCounters;
use crate::config::{DramConfig, GpuConfig};
use schemars::JsonSchema;
use selvedge_state::State;
use serde::Serialize;

/// Energy by its parts, nanojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, State)]
pub struct Energy {
    /// Background while no row is open.
    pub precharge_standby_nj: f64,
    /// Background while a row is open.
    pub active_standby_nj: f64,
    /// Refreshes.
    pub refresh_nj: f64,
    /// Rows opened and closed.
    pub activate_precharge_nj: f64,
    /// Reading bursts out of the banks.
    pub read_bank_nj: f64,
    /// Sending them over the pins.
    pub read_io_nj: f64,
    /// Writing bursts into the banks.
    pub write_bank_nj: f64,
    /// Receiving them over the pins.
    pub write_io_nj: f64,
}

impl Energy {
    /// Returns the parts, in the order of the formula.
    pub fn parts(&self) -> [f64; 8] {
        [
            self.precharge_standby_nj,
            self.active_standby_nj,
            self.refresh_nj,
            self.activate_precharge_nj,
            self.read_bank_nj,
            self.read_io_nj,
            self.write_bank_nj,
            self.write_io_nj,
        ]
    }

    /// Returns the sum of all parts in nanojoules.
    pub fn total_nj(&self) -> f64 {
        self.parts().iter().sum()
    }

    /// Returns the background energy, with open rows and without, in nanojoules.
    pub fn background_nj(&self) -> f64 {
        self.precharge_standby_nj + self.active_standby_nj
    }
}

/// Energy of each activity in nanojoules, and the conversion of counted cycles to time.
#[derive(Clone, Copy, Debug, Default, PartialEq, State)]
pub struct EnergyModel {
    precharged_cycle: f64,
    active_cycle: f64,
    refresh: f64,
    activate: f64,
    read_bank: f64,
    write_bank: f64,
    burst_io: f64,
    channel_cycle_us: f64,
    sub_ranks: u64,
}

impl EnergyModel {
    /// Creates the energy model of a configuration's channels.
    pub fn new(config: &GpuConfig) -> Self {
        let (dram, e) = (&config.dram, &config.dram.energy);
        let mhz = f64::from(config.clock.dram_mhz);
        // mA times mV is microwatts; divided by MHz it is picojoules per cycle.
        let chip = |milliamperes: f64| milliamperes * f64::from(e.vdd_mv) / mhz * 1e-3;
        let [idd0, idd2n, idd3n, idd4r, idd4w, idd5] =
            [e.idd0_ma, e.idd2n_ma, e.idd3n_ma, e.idd4r_ma, e.idd4w_ma, e.idd5_ma].map(f64::from);
        let chips = f64::from(e.chips) / f64::from(dram.sub_ranks);
        let (trc, tras) = (f64::from(dram.trc), f64::from(dram.tras));
        let opening = idd0 * trc - idd3n * tras - idd2n * (trc - tras);
        let burst_cycles = f64::from(dram.burst_cycles());
        Self {
            precharged_cycle: chips * chip(idd2n),
            active_cycle: chips * chip(idd3n),
            refresh: f64::from(e.chips) * chip((idd5 - idd2n) * f64::from(dram.trfc)),
            activate: chips * chip(opening.max(0.0)),
            read_bank: chips * chip((idd4r - idd3n) * burst_cycles),
            write_bank: chips * chip((idd4w - idd3n) * burst_cycles),
            burst_io: f64::from(dram.burst_bytes * 8) * bit_nj(dram, mhz),
            channel_cycle_us: 1.0 / (f64::from(config.l2.partitions) * mhz),
            sub_ranks: u64::from(dram.sub_ranks),
        }
    }

    /// Returns the energy of the counted activities.
    pub fn energy(&self, c: &DramCounters) -> Energy {
        let times = |count: u64, one: f64| count as f64 * one;
        Energy {
            precharge_standby_nj: times(c.precharged_cycles, self.precharged_cycle),
            active_standby_nj: times(c.active_cycles, self.active_cycle),
            refresh_nj: times(c.refreshes, self.refresh),
            activate_precharge_nj: times(c.sub_rank_activates, self.activate),
            read_bank_nj: times(c.read_bursts, self.read_bank),
            read_io_nj: times(c.read_bursts, self.burst_io),
            write_bank_nj: times(c.write_bursts, self.write_bank),
            write_io_nj: times(c.write_bursts, self.burst_io),
        }
    }

    /// Returns the mean power of all channels over the counted time in milliwatts; 0 if no cycle was counted.
    pub fn mean_power_mw(&self, c: &DramCounters) -> f64 {
        let microseconds = c.cycles as f64 * self.channel_cycle_us;
        if microseconds > 0.0 { self.energy(c).total_nj() / microseconds } else { 0.0 }
    }

    /// Returns the number of sub-ranks of a channel.
    pub fn sub_ranks(&self) -> u64 {
        self.sub_ranks
    }
}

/// Returns the energy of one bit on a pin in nanojoules.
fn bit_nj(dram: &DramConfig, mhz: f64) -> f64 {
    let e = &dram.energy;
    let low_uw = f64::from(e.vddq_mv).powi(2) / f64::from(e.driver_ohm + e.termination_ohm);
    low_uw / 2.0 / (f64::from(dram.data_rate) * mhz) * 1e-3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> GpuConfig {
        GpuConfig::load("gtx480").expect("built in")
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-3, "{value}, expected {expected}");
    }

    /// The expected values are computed by hand for gtx480: two chips at 1.5 V, a cycle of 1 / 924 MHz = 1.0823 ns.
    #[test]
    fn one_of_each_costs_what_the_data_sheets_currents_say() {
        let one = DramCounters {
            precharged_cycles: 1,
            active_cycles: 1,
            refreshes: 1,
            sub_rank_activates: 1,
            read_bursts: 1,
            write_bursts: 1,
            ..DramCounters::default()
        };
        let e = EnergyModel::new(&config()).energy(&one);
        near(e.precharge_standby_nj, 2.0 * 0.250 * 1.5 * 1.0823);
        near(e.active_standby_nj, 2.0 * 0.450 * 1.5 * 1.0823);
        // The refresh current is 200 mA above standby, for 61 cycles.
        near(e.refresh_nj, 2.0 * 0.200 * 1.5 * 61.0 * 1.0823);
        // 490 mA x 40 - 450 mA x 28 - 250 mA x 12 = 4 A cycles.
        near(e.activate_precharge_nj, 2.0 * 4.0 * 1.5 * 1.0823);
        near(e.read_bank_nj, 2.0 * 0.630 * 1.5 * 1.0823);
        near(e.write_bank_nj, 2.0 * 0.710 * 1.5 * 1.0823);
        // 1.5 V over 100 ohm is 22.5 mW on a low pin. Half of 256 bits at 3.696 Gbit/s are low: 3.04 pJ per bit.
        near(e.read_io_nj, 256.0 * 22.5e-3 / 2.0 / 3.696);
        assert_eq!(e.read_io_nj, e.write_io_nj);
    }

    #[test]
    fn an_idle_channel_draws_the_precharge_standby_power() {
        let config = config();
        let cycles = 1000 * u64::from(config.l2.partitions);
        let idle = DramCounters { cycles, precharged_cycles: cycles, ..DramCounters::default() };
        let model = EnergyModel::new(&config);
        // Six channels with two chips each draw 250 mA at 1.5 V per chip.
        near(model.mean_power_mw(&idle), 6.0 * 2.0 * 250.0 * 1.5);
        assert_eq!(model.mean_power_mw(&DramCounters::default()), 0.0);
    }

    /// A sector of one sub-rank opens half a row, and moves its data on half the pins for twice the time (LAMAR).
    #[test]
    fn a_sub_rank_opens_its_part_of_a_row_and_moves_a_burst_for_the_same_energy() {
        let mut halves = config();
        halves.dram.sub_ranks = 2;
        let one = DramCounters { sub_rank_activates: 1, read_bursts: 1, ..DramCounters::default() };
        let [whole, half] = [config(), halves].map(|c| EnergyModel::new(&c).energy(&one));
        near(half.activate_precharge_nj, whole.activate_precharge_nj / 2.0);
        near(half.read_bank_nj, whole.read_bank_nj);
        near(half.read_io_nj, whole.read_io_nj);
    }
}
