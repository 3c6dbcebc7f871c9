//! The clock domains of a GPU.
use crate::config::ClockConfig;
use selvedge_state::State;
use std::ops::Range;

/// A clock domain with a fixed integer ratio of its frequency to that of the core clock.
#[derive(Clone, Copy, Debug, State)]
pub struct ClockDomain {
    mhz: u64,
    core_mhz: u64,
    phase: u64,
    cycle: u64,
}

impl ClockDomain {
    /// Returns a domain of `mhz` MHz in a GPU whose core clock runs at `core_mhz` MHz.
    pub fn new(mhz: u32, core_mhz: u32) -> Self {
        ClockDomain { mhz: u64::from(mhz), core_mhz: u64::from(core_mhz), phase: 0, cycle: 0 }
    }

    /// Advances by `core_cycles` core cycles and returns the numbers of this domain's cycles that have passed. The range is empty
    /// if no cycle of this clock has ended; it can have several numbers if this clock is faster than the core.
    #[inline(always)]
    pub fn advance(&mut self, core_cycles: u64) -> Range<u64> {
        let first = self.cycle + 1;
        self.phase += self.mhz * core_cycles;
        self.cycle += self.phase / self.core_mhz;
        self.phase %= self.core_mhz;
        first..self.cycle + 1
    }

    /// Advances by one core cycle and calls `run` with the number of each cycle of this domain that has passed. Needs no
    /// division, unlike [`Self::advance`].
    ///
    /// # Errors
    /// Returns the first error of `run`.
    #[inline(always)]
    pub fn step<E>(&mut self, mut run: impl FnMut(u64) -> Result<(), E>) -> Result<(), E> {
        self.phase += self.mhz;
        while self.phase >= self.core_mhz {
            self.phase -= self.core_mhz;
            self.cycle += 1;
            run(self.cycle)?;
        }
        Ok(())
    }

    /// Returns the cycles of this domain so far.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }
}

/// The clock domains besides the core clock.
#[derive(Clone, Copy, Debug, State)]
pub struct ClockDomains {
    pub interconnect: ClockDomain,
    pub l2: ClockDomain,
    pub dram: ClockDomain,
}

impl ClockDomains {
    /// Returns the domains in their first cycle.
    pub fn new(clock: &ClockConfig) -> Self {
        ClockDomains {
            interconnect: ClockDomain::new(clock.interconnect_mhz, clock.core_mhz),
            l2: ClockDomain::new(clock.l2_mhz, clock.core_mhz),
            dram: ClockDomain::new(clock.dram_mhz, clock.core_mhz),
        }
    }

    /// Advances all domains by `core_cycles` core cycles.
    pub fn advance(&mut self, core_cycles: u64) {
        self.dram.advance(core_cycles);
        self.l2.advance(core_cycles);
        self.interconnect.advance(core_cycles);
    }

    /// Returns the frequency of the slowest domain in MHz.
    pub fn slowest_mhz(&self) -> u64 {
        [self.interconnect, self.l2, self.dram].iter().map(|d| d.mhz).min().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_domain_keeps_its_ratio_exactly() {
        let mut domain = ClockDomain::new(924, 1400);
        let passed: usize = (0..1_400_000).map(|_| domain.advance(1).count()).sum();
        assert_eq!(passed, 924_000);
    }

    #[test]
    fn a_clock_faster_than_the_core_gives_each_of_its_cycles_a_number() {
        let mut domain = ClockDomain::new(3500, 1400);
        let numbers: Vec<u64> = (0..4).flat_map(|_| domain.advance(1)).collect();
        assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    }

    #[test]
    fn skipping_cycles_equals_stepping_them() {
        let (mut a, mut b) = (ClockDomain::new(924, 1400), ClockDomain::new(924, 1400));
        for skip in [1, 7, 1000, 3, 12345] {
            let mut stepped = Vec::new();
            for _ in 0..skip {
                let _: Result<(), ()> = a.step(|cycle| {
                    stepped.push(cycle);
                    Ok(())
                });
            }
            assert_eq!(stepped, b.advance(skip).collect::<Vec<_>>());
        }
        assert_eq!(a.cycle(), b.cycle());
    }
}
