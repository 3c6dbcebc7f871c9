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
use selvedge_hw_lamar::spp::{Spp, SppIn};
use selvedge_state::State;

/// Counters of `spp`.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("l1d_known", "misses of the L1Ds for which the pattern history table had a pattern"),
    Counter::new("l2_known", "misses of the L2 for which the pattern history table had a pattern"),
];

/// Counters of queries that found a pattern.
const KNOWN: CounterName = ["l1d_known", "l2_known"];

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
        let sectors = u32::from(answer.sectors_o) & self.all;
        Ok(match sectors {
            all if all == self.all => FetchChoice::Coarse,
            sectors if sectors == requested => FetchChoice::Fine,
            sectors => FetchChoice::Pattern(sectors),
        })
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
