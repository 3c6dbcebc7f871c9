//! A GDU with the bi-modal prediction and an exact set of a million blocks in place of the Bloom filter (LAMAR, section 4.1:
//! "unrealistically large histories (1M-entries)"). It is not a piece of hardware and has no block.
use super::bgp::{FINE_DEFAULTS, FLIPS, INSERTIONS};
use super::gdu::{Choice, Gdu};
use super::level::CacheLevel;
use selvedge_blocks::bgp::BgpParams;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_hw::Divergence;
use selvedge_state::State;
use std::collections::{HashSet, VecDeque};

/// Blocks that the set holds; the one that came first leaves for one more.
const ENTRIES: usize = 1 << 20;

/// The GDU.
#[derive(State)]
pub struct ExactGdu {
    params: BgpParams,
    blocks: HashSet<u32>,
    /// The blocks in the order in which they came.
    order: VecDeque<u32>,
    default_coarse: bool,
    /// Evictions and insertions in the window.
    evictions: u32,
    inserted: u32,
    insertions: u64,
    flips: u64,
}

impl ExactGdu {
    /// A GDU that knows nothing yet. The parameters of the filter do not matter.
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

    /// The window is over: too many insertions turn the default, and what contradicted the old one is forgotten.
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
    fn choose(&mut self, _: u64, block: u32, _: u32) -> Result<Choice, Box<Divergence>> {
        let coarse = self.blocks.contains(&block) != self.default_coarse;
        Ok(if coarse { Choice::Coarse } else { Choice::Fine })
    }

    fn evicted(&mut self, _: u64, block: u32, used: u32) -> Result<(), Box<Divergence>> {
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
