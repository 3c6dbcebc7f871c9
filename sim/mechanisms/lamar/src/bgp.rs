//! A GDU with the bi-modal granularity predictor (LAMAR, section 3.4).
//!
//! The block only reacts to events, and is clocked only for them: once for an eviction, twice for a query, whose answer is in a
//! register. The miss queue holds a request for a longer time than these clocks.
use super::gdu::{FetchChoice, Gdu};
use super::level::{CacheLevel, CounterName};
use selvedge_gpu::mechanism::{Counter, MechanismCounters};
use selvedge_hw::wave::Trace;
use selvedge_hw::{Instance, StepError};
use selvedge_hw_lamar::bgp::{Bgp, BgpIn, BgpOut};
use selvedge_state::State;

/// Counters of the bi-modal predictors.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("l1d_fine_defaults", "L1D predictors whose default is fine-grained at the end"),
    Counter::new("l1d_flips", "changes of the default of the L1Ds' predictors"),
    Counter::new("l1d_insertions", "blocks evicted from L1Ds that the predictor's filter recorded"),
    Counter::new("l2_fine_defaults", "L2 predictors whose default is fine-grained at the end"),
    Counter::new("l2_flips", "changes of the default of the L2's predictors"),
    Counter::new("l2_insertions", "blocks evicted from the L2 that the predictor's filter recorded"),
];

/// Counters of evicted blocks whose locality contradicted the default.
pub const INSERTIONS: CounterName = ["l1d_insertions", "l2_insertions"];
/// Counters of changes of the default.
pub const FLIPS: CounterName = ["l1d_flips", "l2_flips"];
/// Counters of GDUs whose default was fine-grained at their last clock.
pub const FINE_DEFAULTS: CounterName = ["l1d_fine_defaults", "l2_fine_defaults"];

#[derive(State)]
pub struct BgpGdu {
    bgp: Instance<Bgp>,
    insertions: u64,
    flips: u64,
    default_coarse: bool,
}

impl BgpGdu {
    /// Returns a GDU with the block `bgp`, which must be in its reset state.
    pub fn new(bgp: Instance<Bgp>) -> Self {
        BgpGdu { bgp, insertions: 0, flips: 0, default_coarse: true }
    }

    /// Clocks the block once, and returns its outputs before the clock edge.
    fn clock(&mut self, inputs: &BgpIn) -> Result<BgpOut, Box<StepError>> {
        let outputs = self.bgp.step(inputs)?;
        self.flips += u64::from(outputs.flip_o);
        self.default_coarse = outputs.default_coarse_o;
        Ok(outputs)
    }
}

impl Gdu for BgpGdu {
    fn choose(&mut self, now: u64, block: u32, _: u32) -> Result<FetchChoice, Box<StepError>> {
        self.bgp.advance_to(now);
        let query = BgpIn { query_i: true, address_i: block, ..BgpIn::default() };
        self.clock(&query)?;
        // The address port keeps its value, so that the logic behind it does not switch.
        let answer = self.clock(&BgpIn { query_i: false, ..query })?;
        debug_assert!(answer.valid_o, "a query is answered in the cycle after it");
        Ok(if answer.coarse_o { FetchChoice::Coarse } else { FetchChoice::Fine })
    }

    fn evicted(&mut self, now: u64, block: u32, used: u32) -> Result<(), Box<StepError>> {
        self.bgp.advance_to(now);
        let inputs = BgpIn { evict_i: true, address_i: block, used_i: used as u8, ..BgpIn::default() };
        let default_coarse = self.clock(&inputs)?.default_coarse_o;
        // The block has no port that shows an insertion.
        let is_low = used.count_ones() < self.bgp.params().fg_threshold;
        self.insertions += u64::from(is_low == default_coarse);
        Ok(())
    }

    fn counters(&self, level: CacheLevel, out: &mut MechanismCounters) {
        level.count(out, INSERTIONS, self.insertions);
        level.count(out, FLIPS, self.flips);
        level.count(out, FINE_DEFAULTS, u64::from(!self.default_coarse));
    }

    fn trace(&self) -> Option<Trace> {
        self.bgp.trace()
    }
}
