//! A cache with a GDU: conversion to the cache's sectors and blocks, and counters of the quality of the GDU's choices.
use super::gdu::{FetchChoice, Gdu};
use selvedge_gpu::cache::{Fetched, Sectors};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::difference::FirstDifference;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_hw::wave::Trace;
use selvedge_state::State;

/// Counters of all GDUs.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("l1d_coarse", "misses of the L1Ds that fetched the whole block"),
    Counter::new("l1d_demand", "sectors fetched by the L1Ds because the access that missed requested them"),
    Counter::new("l1d_evicted_sectors_used", "sectors of evicted L1D lines that an access had requested"),
    Counter::new("l1d_evictions", "lines evicted from the L1Ds"),
    Counter::new("l1d_fine", "misses of the L1Ds that fetched the requested sectors alone"),
    Counter::new(
        "l1d_npred_ref",
        "requested sectors of lines that were present without them: an earlier fetch left them out",
    ),
    Counter::new("l1d_patterns", "misses of the L1Ds that fetched the requested sectors and some others"),
    Counter::new(
        "l1d_pred_nref",
        "sectors that the L1Ds fetched beside the requested ones, and no access requested",
    ),
    Counter::new(
        "l1d_pred_ref",
        "sectors that the L1Ds fetched beside the requested ones, and an access requested later",
    ),
    Counter::new("l1d_queries", "misses of the L1Ds for which a granularity was chosen"),
    Counter::new("l2_coarse", "misses of the L2 that fetched the whole block"),
    Counter::new("l2_demand", "sectors fetched by the L2 because the access that missed requested them"),
    Counter::new("l2_evicted_sectors_used", "sectors of evicted L2 lines that an access had requested"),
    Counter::new("l2_evictions", "lines evicted from the L2"),
    Counter::new("l2_fine", "misses of the L2 that fetched the requested sectors alone"),
    Counter::new(
        "l2_npred_ref",
        "requested sectors of L2 lines that were present without them: an earlier fetch left them out",
    ),
    Counter::new("l2_patterns", "misses of the L2 that fetched the requested sectors and some others"),
    Counter::new(
        "l2_pred_nref",
        "sectors that the L2 fetched beside the requested ones, and no access requested",
    ),
    Counter::new(
        "l2_pred_ref",
        "sectors that the L2 fetched beside the requested ones, and an access requested later",
    ),
    Counter::new("l2_queries", "misses of the L2 for which a granularity was chosen"),
];

/// The cache of a GDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum CacheLevel {
    /// An L1D.
    L1d,
    /// A slice of the L2.
    L2,
}

impl CacheLevel {
    /// Returns how the lines of the caches at this level are divided.
    pub fn sectors(self, config: &GpuConfig) -> Sectors {
        let (l1d, l2) = (&config.l1d, &config.l2);
        match self {
            CacheLevel::L1d => Sectors::new(l1d.line_bytes, l1d.sector_bytes),
            CacheLevel::L2 => Sectors::new(l2.line_bytes, l2.sector_bytes),
        }
    }

    fn line_bytes(self, config: &GpuConfig) -> u32 {
        match self {
            CacheLevel::L1d => config.l1d.line_bytes,
            CacheLevel::L2 => config.l2.line_bytes,
        }
    }

    /// Adds `value` to the counter of this level.
    pub fn count(self, out: &mut MechanismCounters, name: CounterName, value: u64) {
        count(out, name[self as usize], value);
    }
}

/// The names of a counter at the L1D and at the L2.
pub type CounterName = [&'static str; 2];

const QUERIES: CounterName = ["l1d_queries", "l2_queries"];
const COARSE: CounterName = ["l1d_coarse", "l2_coarse"];
const FINE: CounterName = ["l1d_fine", "l2_fine"];
const PATTERNS: CounterName = ["l1d_patterns", "l2_patterns"];
const EVICTIONS: CounterName = ["l1d_evictions", "l2_evictions"];
const USED: CounterName = ["l1d_evicted_sectors_used", "l2_evicted_sectors_used"];
const DEMAND: CounterName = ["l1d_demand", "l2_demand"];
const PRED_REF: CounterName = ["l1d_pred_ref", "l2_pred_ref"];
const PRED_NREF: CounterName = ["l1d_pred_nref", "l2_pred_nref"];
const NPRED_REF: CounterName = ["l1d_npred_ref", "l2_npred_ref"];

/// Counters of every GDU. Sectors are 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
struct GduCounts {
    queries: u64,
    coarse: u64,
    fine: u64,
    patterns: u64,
    evictions: u64,
    /// Requested sectors of the evicted blocks.
    used: u64,
    /// Fetched sectors, by the reason of the fetch.
    demand: u64,
    not_predicted: u64,
    predicted: u64,
    /// Predicted sectors that were requested later.
    predicted_used: u64,
}

/// A GDU and its cache.
#[derive(State)]
pub struct Level {
    level: CacheLevel,
    sectors: Sectors,
    /// Binary logarithm of the block size.
    block_shift: u32,
    gdu: Box<dyn Gdu>,
    counts: GduCounts,
    difference: FirstDifference,
}

impl Level {
    /// Returns the GDU of a cache of this level.
    pub fn new(level: CacheLevel, config: &GpuConfig, gdu: Box<dyn Gdu>) -> Self {
        Level {
            level,
            sectors: level.sectors(config),
            block_shift: level.line_bytes(config).trailing_zeros(),
            gdu,
            counts: GduCounts::default(),
            difference: FirstDifference::default(),
        }
    }

    /// Returns the first difference between the engines of the unit's block, if any.
    pub fn difference(&mut self) -> &mut FirstDifference {
        &mut self.difference
    }

    /// Returns whether a difference is not yet reported.
    pub fn has_difference(&self) -> bool {
        self.difference.is_pending()
    }

    /// Returns the number of the block at `line`. Bits above 32, which local memory and further programs have, are folded in.
    fn block(&self, line: u64) -> u32 {
        let block = line >> self.block_shift;
        (block ^ block >> u32::BITS) as u32
    }

    /// Returns the 32-byte sectors that a miss fetches if it requests the sectors `missing`.
    pub fn fetch(&mut self, now: u64, line: u64, missing: u32) -> u32 {
        if self.difference.is_broken() {
            return missing;
        }
        let block = self.block(line);
        let choice = self.gdu.choose(now, block, self.sectors.to_own(missing));
        let Some(choice) = self.difference.catch(choice) else { return missing };
        self.counts.queries += 1;
        match choice {
            FetchChoice::Coarse => {
                self.counts.coarse += 1;
                self.sectors.all()
            }
            FetchChoice::Fine => {
                self.counts.fine += 1;
                missing
            }
            FetchChoice::Pattern(own) => {
                self.counts.patterns += 1;
                self.sectors.from_own(own) | missing
            }
        }
    }

    /// Informs the unit that a line was evicted, and that its 32-byte sectors `used` had been requested.
    pub fn evicted(&mut self, now: u64, line: u64, used: u32) {
        debug_assert_eq!(used & !self.sectors.all(), 0, "sectors that no line has");
        self.counts.evictions += 1;
        self.counts.used += u64::from(used.count_ones());
        if !self.difference.is_broken() {
            let told = self.gdu.evicted(now, self.block(line), self.sectors.to_own(used));
            self.difference.catch(told);
        }
    }

    /// Counts fetched sectors.
    pub fn fetched(&mut self, fetched: Fetched) {
        self.counts.demand += u64::from(fetched.demand);
        self.counts.not_predicted += u64::from(fetched.not_predicted);
        self.counts.predicted += u64::from(fetched.predicted);
    }

    /// Counts predicted sectors that were requested for the first time.
    pub fn prediction_used(&mut self, sectors: u32) {
        self.counts.predicted_used += u64::from(sectors);
        debug_assert!(self.counts.predicted_used <= self.counts.predicted, "more used than predicted");
    }

    /// Adds the counters to `out`.
    pub fn counters(&self, out: &mut MechanismCounters) {
        let c = &self.counts;
        debug_assert_eq!(c.queries, c.coarse + c.fine + c.patterns);
        for (name, value) in [
            (QUERIES, c.queries),
            (COARSE, c.coarse),
            (FINE, c.fine),
            (PATTERNS, c.patterns),
            (EVICTIONS, c.evictions),
            (USED, c.used),
            (DEMAND, c.demand),
            (PRED_REF, c.predicted_used),
            (PRED_NREF, c.predicted - c.predicted_used),
            (NPRED_REF, c.not_predicted),
        ] {
            self.level.count(out, name, value);
        }
        self.gdu.counters(self.level, out);
    }

    /// Returns the recorded ports of the unit's block, if it is probed.
    pub fn trace(&self) -> Option<Trace> {
        self.gdu.trace()
    }
}
