//! A GDU that asks the spatial-pattern predictor (LAMAR, section 3.3.1) by the block's address.
//!
//! After the sweep of its first cycles the block reacts to events only and is clocked for them alone: once for a commit, twice
//! for a query, whose answer is in a register. The miss queue holds a request for longer than that.
use super::gdu::{Choice, Gdu};
use super::level::{CacheLevel, CounterName};
use selvedge_blocks::spp::{Spp, SppIn};
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_hw::wave::Trace;
use selvedge_hw::{Divergence, Instance};
use selvedge_state::State;

/// Queries that found a pattern.
const KNOWN: CounterName = ["l1d_known", "l2_known"];

/// The GDU.
#[derive(State)]
pub struct SppGdu {
    spp: Instance<Spp>,
    /// The cycle in which the block's sweep is over.
    swept: u64,
    /// All sectors of the cache's blocks.
    all: u32,
    known: u64,
}

impl SppGdu {
    /// A GDU around a block in its reset state, for blocks of the given number of sectors.
    pub fn new(spp: Instance<Spp>, sectors: u32) -> Self {
        let swept = u64::from(spp.params().entries);
        SppGdu { spp, swept, all: u32::MAX >> (u32::BITS - sectors), known: 0 }
    }

    /// Brings the block to a cycle: through each one of the sweep, past those after it.
    fn advance_to(&mut self, now: u64) -> Result<(), Box<Divergence>> {
        while self.spp.cycle() < now.min(self.swept) {
            self.spp.step(&SppIn::default())?;
        }
        self.spp.advance_to(now);
        Ok(())
    }
}

impl Gdu for SppGdu {
    fn choose(&mut self, now: u64, block: u32, requested: u32) -> Result<Choice, Box<Divergence>> {
        self.advance_to(now)?;
        let query =
            SppIn { query_i: true, query_address_i: block, requested_i: requested as u8, ..SppIn::default() };
        self.spp.step(&query)?;
        let answer = self.spp.step(&SppIn::default())?;
        debug_assert!(answer.valid_o, "a query is answered in the cycle after it");
        self.known += u64::from(answer.known_o);
        // The ports may be wider than the block.
        let sectors = u32::from(answer.sectors_o) & self.all;
        Ok(match sectors {
            all if all == self.all => Choice::Coarse,
            sectors if sectors == requested => Choice::Fine,
            sectors => Choice::Pattern(sectors),
        })
    }

    fn evicted(&mut self, now: u64, block: u32, used: u32) -> Result<(), Box<Divergence>> {
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
