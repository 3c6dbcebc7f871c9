//! A GDU that asks the bi-modal granularity predictor (LAMAR, section 3.4).
//!
//! The block reacts to events only and is clocked for them alone: once for an eviction, twice for a query, whose answer is in a
//! register. The miss queue holds a request for longer than that.
use super::gdu::{Choice, Gdu};
use super::level::{CacheLevel, CounterName};
use selvedge_blocks::bgp::{Bgp, BgpIn, BgpOut};
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_hw::wave::Trace;
use selvedge_hw::{Divergence, Instance};
use selvedge_state::State;

/// Blocks of which the locality contradicted the default.
pub const INSERTIONS: CounterName = ["l1d_insertions", "l2_insertions"];
/// Turns of the default.
pub const FLIPS: CounterName = ["l1d_flips", "l2_flips"];
/// GDUs of which the default was fine when they were last clocked.
pub const FINE_DEFAULTS: CounterName = ["l1d_fine_defaults", "l2_fine_defaults"];

/// The GDU.
#[derive(State)]
pub struct BgpGdu {
    bgp: Instance<Bgp>,
    insertions: u64,
    flips: u64,
    default_coarse: bool,
}

impl BgpGdu {
    /// A GDU around a block in its reset state.
    pub fn new(bgp: Instance<Bgp>) -> Self {
        BgpGdu { bgp, insertions: 0, flips: 0, default_coarse: true }
    }

    /// One clock; gives what stood in the registers before.
    fn clock(&mut self, inputs: &BgpIn) -> Result<BgpOut, Box<Divergence>> {
        let outputs = self.bgp.step(inputs)?;
        self.flips += u64::from(outputs.flip_o);
        self.default_coarse = outputs.default_coarse_o;
        Ok(outputs)
    }
}

impl Gdu for BgpGdu {
    fn choose(&mut self, now: u64, block: u32, _: u32) -> Result<Choice, Box<Divergence>> {
        self.bgp.advance_to(now);
        let query = BgpIn { query_i: true, address_i: block, ..BgpIn::default() };
        self.clock(&query)?;
        // The address stays at the port, so that the logic behind it rests.
        let answer = self.clock(&BgpIn { query_i: false, ..query })?;
        debug_assert!(answer.valid_o, "a query is answered in the cycle after it");
        Ok(if answer.coarse_o { Choice::Coarse } else { Choice::Fine })
    }

    fn evicted(&mut self, now: u64, block: u32, used: u32) -> Result<(), Box<Divergence>> {
        self.bgp.advance_to(now);
        let inputs = BgpIn { evict_i: true, address_i: block, used_i: used as u8, ..BgpIn::default() };
        let default_coarse = self.clock(&inputs)?.default_coarse_o;
        // The block has no port that tells of an insertion.
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
