//! A GDU with the bi-modal prediction and an exact set of a million blocks instead of the Bloom filter (LAMAR, section 4.1:
//! "unrealistically large histories (1M-entries)"). It does not model hardware and has no block.
use super::bgp::{FINE_DEFAULTS, FLIPS, INSERTIONS};
use super::gdu::{FetchChoice, Gdu};
use super::level::CacheLevel;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_hw::StepError;
use selvedge_hw_lamar::bgp::BgpParams;
use selvedge_state::State;
use std::collections::{HashSet, VecDeque};

/// Max blocks of the set. A further block evicts the oldest one.
const ENTRIES: usize = 1 << 20;

#[derive(State)]
pub struct ExactGdu {
    params: BgpParams,
    blocks: HashSet<u32>,
    /// The blocks in the order of insertion.
    order: VecDeque<u32>,
    default_coarse: bool,
    /// Evictions and insertions in the present window.
    evictions: u32,
    inserted: u32,
    insertions: u64,
    flips: u64,
}

impl ExactGdu {
    /// Returns a GDU with an empty set. The filter's parameters have no effect.
    pub fn new(params: &BgpParams) -> Self {
        ExactGdu {
            params: *params,
            blocks: HashSet::new(),
            order: VecDeque::new(),
            default_coarse: true,
            evictions: 0,
            inserted: 0,
            insertions: 0,
            flips: 0,
        }
    }

    fn insert(&mut self, block: u32) {
        if self.blocks.insert(block) {
            self.order.push_back(block);
        }
        if self.order.len() > ENTRIES
            && let Some(first) = self.order.pop_front()
        {
            self.blocks.remove(&first);
        }
    }

    /// Ends the window. With too many insertions the default changes, and the set is cleared, because its blocks contradicted the
    /// old default.
    fn evaluate(&mut self) {
        if self.inserted > self.params.skew_limit() {
            self.default_coarse = !self.default_coarse;
            self.flips += 1;
            self.blocks.clear();
            self.order.clear();
        }
        (self.evictions, self.inserted) = (0, 0);
    }
}

impl Gdu for ExactGdu {
    fn choose(&mut self, _: u64, block: u32, _: u32) -> Result<FetchChoice, Box<StepError>> {
        let coarse = self.blocks.contains(&block) != self.default_coarse;
        Ok(if coarse { FetchChoice::Coarse } else { FetchChoice::Fine })
    }

    fn evicted(&mut self, _: u64, block: u32, used: u32) -> Result<(), Box<StepError>> {
        let is_low = used.count_ones() < self.params.fg_threshold;
        if is_low == self.default_coarse {
            self.insert(block);
            self.inserted += 1;
            self.insertions += 1;
        }
        self.evictions += 1;
        if self.evictions == self.params.skew_window {
            self.evaluate();
        }
        Ok(())
    }

    fn counters(&self, level: CacheLevel, out: &mut MechanismCounters) {
        level.count(out, INSERTIONS, self.insertions);
        level.count(out, FLIPS, self.flips);
        level.count(out, FINE_DEFAULTS, u64::from(!self.default_coarse));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evicts block 0 for one window: `low` times with one used sector, then with four.
    fn after_a_window(low: u32) -> ExactGdu {
        let params = BgpParams::default();
        let mut gdu = ExactGdu::new(&params);
        for eviction in 0..params.skew_window {
            gdu.evicted(0, 0, if eviction < low { 1 } else { 15 }).expect("there is no RTL");
        }
        gdu
    }

    #[test]
    fn the_default_turns_when_more_than_seventy_percent_contradict_it() {
        assert_eq!([700, 701].map(|low| after_a_window(low).flips), [0, 1]);
        assert!(!after_a_window(701).default_coarse);
    }

    #[test]
    fn a_block_with_as_many_used_sectors_as_the_threshold_is_fetched_coarsely() {
        let params = BgpParams { fg_threshold: 3, ..BgpParams::default() };
        let mut gdu = ExactGdu::new(&params);
        for (block, used) in [(1, 0b0011), (2, 0b0111), (3, 0b1111)] {
            gdu.evicted(0, block, used).expect("there is no RTL");
        }
        let choices = [1, 2, 3].map(|block| gdu.choose(0, block, 1).expect("there is no RTL"));
        assert_eq!(choices, [FetchChoice::Fine, FetchChoice::Coarse, FetchChoice::Coarse]);
    }
}
