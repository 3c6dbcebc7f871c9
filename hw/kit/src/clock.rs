//! The clock of a block in a waveform: its domain, its frequency, and the times of its edges.

/// Picoseconds in a microsecond, in which a clock of N MHz has N rising edges.
const MICROSECOND: u128 = 1_000_000;

/// A clock with an integer number of megahertz. Its cycle 0 begins at time 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The clock domain, such as `core`; empty if there is only one clock.
    pub domain: &'static str,
    /// Frequency in MHz, at least 1.
    pub mhz: u32,
}

impl Default for Clock {
    /// Returns a clock of 1 GHz, for a block whose clock is unknown.
    fn default() -> Self {
        Clock { domain: "", mhz: 1000 }
    }
}

impl Clock {
    /// Returns the picosecond of the rising edge with which `cycle` begins. Every edge is computed from cycle 0 and rounded
    /// down, so rounding errors do not add up.
    pub fn rise(&self, cycle: u64) -> u64 {
        (u128::from(cycle) * MICROSECOND / u128::from(self.mhz)) as u64
    }

    /// Returns the picosecond of the falling edge, in the middle of `cycle`.
    pub fn fall(&self, cycle: u64) -> u64 {
        let (rise, next) = (self.rise(cycle), self.rise(cycle + 1));
        rise + (next - rise) / 2
    }

    /// Returns the cycle that contains picosecond `ps`.
    pub fn cycle_at(&self, ps: u64) -> u64 {
        (((u128::from(ps) + 1) * u128::from(self.mhz) - 1) / MICROSECOND) as u64
    }

    /// Returns the length of a cycle in picoseconds.
    pub fn period(&self) -> f64 {
        MICROSECOND as f64 / f64::from(self.mhz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_do_not_drift() {
        let core = Clock { domain: "core", mhz: 1400 };
        assert_eq!([0, 1, 2, 3, 7].map(|cycle| core.rise(cycle)), [0, 714, 1428, 2142, 5000]);
        assert_eq!(core.rise(1_400_000_000), 1_000_000_000_000, "a second of cycles takes a second");
        assert_eq!(core.fall(0), 357);
        assert_eq!(Clock::default().rise(12), 12_000);
    }

    #[test]
    fn a_cycle_lasts_up_to_the_next_edge() {
        for mhz in [1, 333, 700, 924, 1400, 10_000] {
            let clock = Clock { domain: "", mhz };
            for cycle in [0, 1, 2, 1000, 123_456_789] {
                let (rise, next) = (clock.rise(cycle), clock.rise(cycle + 1));
                assert!(rise < clock.fall(cycle) && clock.fall(cycle) < next, "{mhz} MHz, {cycle}");
                assert_eq!([rise, next - 1, next].map(|ps| clock.cycle_at(ps)), [cycle, cycle, cycle + 1]);
            }
        }
    }
}
