//! A small seeded generator of pseudo-random numbers for stimuli: the same seed gives the same stimulus everywhere.

use selvedge_state::State;

/// SplitMix64. Every seed, also zero, gives a sequence with the full period.
#[derive(Clone, Debug, State)]
pub struct Prng(u64);

impl Prng {
    /// Returns a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Prng(seed)
    }

    /// Returns the next 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which must be at least 1. The bias is below 2^-32 for the small bounds used here.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns `true` with probability `percent` / 100.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_sequence() {
        let draw = |seed| {
            let mut prng = Prng::new(seed);
            (0..8).map(|_| prng.bits()).collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut prng = Prng::new(0);
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[prng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
    }
}
