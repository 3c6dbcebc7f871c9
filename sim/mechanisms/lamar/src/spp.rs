//! A GDU with the spatial-pattern predictor, indexed by the block's address (LAMAR, section 3.3.1).
//!
//! In its first cycles the block clears its table. After that it only reacts to events, and is clocked only for them: once for
//! an eviction, twice for a query, whose answer is in a register. The miss queue holds a request for a longer time than these
//! clocks.
use super::gdu::{FetchChoice, Gdu};
use super::level::{CacheLevel, CounterName};
use selvedge_gpu::mechanism::{Counter, MechanismCounters};
use selvedge_hw::wave::Trace;
use selvedge_hw::{Instance, StepError};
use selvedge_hw_lamar::spp::{Spp, SppIn, SppParams};
use selvedge_state::State;
use std::collections::HashMap;

/// Counters of `spp`.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("l1d_known", "misses of the L1Ds for which the pattern history table had a pattern"),
    Counter::new("l2_known", "misses of the L2 for which the pattern history table had a pattern"),
];

/// Counters of queries that found a pattern.
const KNOWN: CounterName = ["l1d_known", "l2_known"];

/// Entries of the table with which LAMAR simulates the SPP (section 4.1: "unrealistically large histories (1M-entries)").
pub(crate) const UNREALISTIC: u32 = 1 << 20;

/// Returns the choice that fetches `sectors` of the sectors `all`.
fn choice(sectors: u32, requested: u32, all: u32) -> FetchChoice {
    match sectors & all {
        sectors if sectors == all => FetchChoice::Coarse,
        sectors if sectors == requested => FetchChoice::Fine,
        sectors => FetchChoice::Pattern(sectors),
    }
}

/// A GDU with the table of [`UNREALISTIC`] entries. It does not model hardware and has no block.
#[derive(State)]
pub struct LargeSppGdu {
    params: SppParams,
    /// The entries with a pattern.
    patterns: HashMap<u32, u8>,
    /// All sectors of the cache's blocks.
    all: u32,
    known: u64,
}

impl LargeSppGdu {
    /// Returns a GDU with an empty table for cache blocks of `sectors` sectors.
    pub fn new(params: &SppParams, sectors: u32) -> Self {
        let all = u32::MAX >> (u32::BITS - sectors);
        LargeSppGdu { params: *params, patterns: HashMap::new(), all, known: 0 }
    }
}

impl Gdu for LargeSppGdu {
    fn choose(&mut self, _: u64, block: u32, requested: u32) -> Result<FetchChoice, Box<StepError>> {
        let pattern = self.patterns.get(&(self.params.index(block) as u32));
        self.known += u64::from(pattern.is_some());
        let predicted = pattern.copied().unwrap_or(self.params.unknown_pattern());
        Ok(choice(u32::from(predicted) | requested, requested, self.all))
    }

    fn evicted(&mut self, _: u64, block: u32, used: u32) -> Result<(), Box<StepError>> {
        self.patterns.insert(self.params.index(block) as u32, used as u8);
        Ok(())
    }

    fn counters(&self, level: CacheLevel, out: &mut MechanismCounters) {
        level.count(out, KNOWN, self.known);
    }
}

#[derive(State)]
pub struct SppGdu {
    spp: Instance<Spp>,
    /// First cycle after the clearing of the table.
    swept: u64,
    /// All sectors of the cache's blocks.
    all: u32,
    known: u64,
}

impl SppGdu {
    /// Returns a GDU with the block `spp`, which must be in its reset state, for cache blocks of `sectors` sectors.
    pub fn new(spp: Instance<Spp>, sectors: u32) -> Self {
        let swept = u64::from(spp.params().entries);
        SppGdu { spp, swept, all: u32::MAX >> (u32::BITS - sectors), known: 0 }
    }

    /// Advances the block to cycle `now`. It is clocked in every cycle in which it clears its table; later cycles are skipped.
    fn advance_to(&mut self, now: u64) -> Result<(), Box<StepError>> {
        while self.spp.cycle() < now.min(self.swept) {
            self.spp.step(&SppIn::default())?;
        }
        self.spp.advance_to(now);
        Ok(())
    }
}

impl Gdu for SppGdu {
    fn choose(&mut self, now: u64, block: u32, requested: u32) -> Result<FetchChoice, Box<StepError>> {
        self.advance_to(now)?;
        let query =
            SppIn { query_i: true, query_address_i: block, requested_i: requested as u8, ..SppIn::default() };
        self.spp.step(&query)?;
        let answer = self.spp.step(&SppIn::default())?;
        debug_assert!(answer.valid_o, "a query is answered in the cycle after it");
        self.known += u64::from(answer.known_o);
        // The ports may have more sectors than the cache's blocks.
        Ok(choice(u32::from(answer.sectors_o), requested, self.all))
    }

    fn evicted(&mut self, now: u64, block: u32, used: u32) -> Result<(), Box<StepError>> {
        self.advance_to(now)?;
        let commit = SppIn { evict_i: true, evict_address_i: block, used_i: used as u8, ..SppIn::default() };
        self.spp.step(&commit)?;
        Ok(())
    }

    fn counters(&self, level: CacheLevel, out: &mut MechanismCounters) {
        level.count(out, KNOWN, self.known);
    }

    fn trace(&self) -> Option<Trace> {
        self.spp.trace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_table_keeps_blocks_apart_that_the_small_one_confuses() {
        let params = SppParams { entries: UNREALISTIC, ..SppParams::default() };
        let mut gdu = LargeSppGdu::new(&params, 4);
        let mut choose = |block, requested| gdu.choose(0, block, requested).expect("there is no RTL");
        assert_eq!(choose(1, 1), FetchChoice::Coarse, "unknown");
        // Both blocks have entry 1 of a table of 256.
        let (one, other) = (1, 1 << 8);
        assert_eq!(SppParams::default().index(one), SppParams::default().index(other));
        gdu.evicted(0, one, 0b0001).expect("there is no RTL");
        gdu.evicted(0, other, 0b0110).expect("there is no RTL");
        let mut choose = |block, requested| gdu.choose(0, block, requested).expect("there is no RTL");
        assert_eq!(choose(one, 1), FetchChoice::Fine);
        assert_eq!(choose(other, 1), FetchChoice::Pattern(0b0111));
        assert_eq!(gdu.known, 2);
    }
}
