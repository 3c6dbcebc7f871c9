//! The L1 data caches.
use super::check::Checker;
use super::index;
use crate::cache::SECTOR_BYTES;
use crate::cache::sectors::MOST_LINE_BYTES;
use documented::DocumentedFields;
use selvedge_hw::index_function::IndexFunction;
use selvedge_state::State;
use serde::{Deserialize, Serialize};

/// Sizes that shared memory may have where it shares its memory with the L1D.
pub const SHARED_CHOICES: usize = 8;

/// Most ways of a cache.
pub(super) const MOST_WAYS: u32 = 512;

/// When a miss takes its line slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocate {
    /// When the miss is sent; the slot is reserved until the data comes.
    OnMiss,
    /// When the data comes.
    OnFill,
}

/// What a miss fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fetch {
    /// The sectors that were asked for (LAMAR's fine granularity).
    Requested,
    /// All sectors of the line that are not there (LAMAR's coarse granularity).
    Line,
}

/// What a store does in the L1D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, State)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// The sectors that a store hits are evicted, with the last one the line; the store goes to the L2; a miss does not allocate.
    #[default]
    WriteEvict,
    /// The sectors that a store hits stay, the store goes to the L2; a miss does not allocate.
    WriteThrough,
    /// A store that hits all its sectors stays in the L1D, which writes them back when they leave; another goes to the L2 as with
    /// write-through. A fence does not write back.
    WriteBack,
    /// Write-back for local memory, write-evict for global memory: that of Fermi.
    LocalWriteBack,
}

impl WritePolicy {
    /// Its name in a configuration's TOML.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WritePolicy::WriteEvict => "write-evict",
            WritePolicy::WriteThrough => "write-through",
            WritePolicy::WriteBack => "write-back",
            WritePolicy::LocalWriteBack => "local-write-back",
        }
    }

    /// Returns whether sectors may stay that the L2 does not know.
    #[must_use]
    pub fn writes_back(self) -> bool {
        matches!(self, WritePolicy::WriteBack | WritePolicy::LocalWriteBack)
    }
}

/// Which loads bypass the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bypass {
    /// Volatile and cache-global ones, and those that a mechanism chooses.
    Marked,
    /// All.
    All,
}

/// The L1 data cache of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct L1d {
    /// Sets, a power of two.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Line size, bytes.
    pub line_bytes: u32,
    /// Sector size, bytes; the line size when the cache is not sectored.
    pub sector_bytes: u32,
    /// What a miss fetches; without sectors always the line.
    pub fetch: Fetch,
    /// Set index function.
    #[serde(with = "index")]
    pub index: IndexFunction,
    /// Cycles in front of the tags, which loads, stores and atomics pass one after the other, hits and misses alike. Who is
    /// blocked at their end stops those behind it. 0: the tags come at once.
    pub front_latency: u32,
    /// Tags to data for a hit, cycles.
    pub hit_latency: u32,
    /// Tags for each way's worth of data. With more than one the data of a set are given out in sub-blocks of 32 bytes, so
    /// that a mechanism can keep compressed lines.
    pub tags_per_way: u32,
    /// Misses in flight.
    pub mshr_entries: u32,
    /// Requests merged into one miss, the first one included.
    pub mshr_merges: u32,
    /// Requests that wait for the crossbar.
    pub miss_queue: u32,
    /// Store policy.
    pub write_policy: WritePolicy,
    /// Line allocation policy.
    pub allocate: Allocate,
    /// Which loads bypass the L1D.
    pub bypass: Bypass,
    /// Loads that bypass the L1D at the same time; 0 for no limit.
    pub bypass_slots: u32,
    /// Bytes of a memory that the L1D shares with shared memory; it has what a kernel's CTAs leave of it, in as many ways as that
    /// gives. 0: the L1D has `ways` always.
    pub unified_bytes: u32,
    /// The sizes that shared memory may have in it, ascending; those that are not needed repeat the last.
    pub shared_choices: [u32; SHARED_CHOICES],
    /// Bytes of the segments that a load which bypasses the cache moves: those of the line that it touches. At most a line.
    pub bypass_bytes: u32,
}

impl L1d {
    /// Returns the ways beside so many bytes of shared memory: those of the least choice that holds them, rounded.
    pub fn ways_beside(&self, shared_bytes: u32) -> u32 {
        let choice = self.shared_choices.into_iter().find(|choice| shared_bytes <= *choice);
        let left = choice.map_or(0, |choice| self.unified_bytes.saturating_sub(choice));
        let way = self.sets * self.line_bytes;
        ((left + way / 2) / way).clamp(1, MOST_WAYS)
    }

    pub(super) fn check(&self, check: &mut Checker<'_>) {
        check.power("l1d.sets", self.sets, 1, 4096);
        index::check(check, "l1d.index", self.index, self.sets, "sets");
        check.range("l1d.ways", self.ways, 1, MOST_WAYS);
        check.power("l1d.line_bytes", self.line_bytes, SECTOR_BYTES, MOST_LINE_BYTES);
        check.power("l1d.sector_bytes", self.sector_bytes, SECTOR_BYTES, self.line_bytes);
        self.check_unified(check);
        check.range("l1d.front_latency", self.front_latency, 0, 1000);
        check.range("l1d.hit_latency", self.hit_latency, 1, 1000);
        check.range("l1d.mshr_entries", self.mshr_entries, 1, 1024);
        check.range("l1d.mshr_merges", self.mshr_merges, 1, 1024);
        check.range("l1d.miss_queue", self.miss_queue, 1, 1024);
        check.range("l1d.bypass_slots", self.bypass_slots, 0, 1 << 16);
        check.power("l1d.bypass_bytes", self.bypass_bytes, SECTOR_BYTES, self.line_bytes);
        check.range("l1d.tags_per_way", self.tags_per_way, 1, 8);
        if self.tags_per_way > 1 && self.sector_bytes != self.line_bytes {
            let allowed = "allowed with sectors is 1: compressed lines are whole";
            check.fail("l1d.tags_per_way", self.tags_per_way, allowed.into());
        }
        if self.tags_per_way > 1 && self.write_policy.writes_back() {
            let allowed = "allowed with a policy that writes back is 1: a compressed line does not change";
            check.fail("l1d.tags_per_way", self.tags_per_way, allowed.into());
        }
    }

    fn check_unified(&self, check: &mut Checker<'_>) {
        if self.unified_bytes == 0 {
            return;
        }
        check.range(
            "l1d.unified_bytes",
            self.unified_bytes,
            self.sets.saturating_mul(self.line_bytes),
            1 << 24,
        );
        let last = self.shared_choices[SHARED_CHOICES - 1];
        if !self.shared_choices.is_sorted() || last > self.unified_bytes {
            let must = format!("must be {SHARED_CHOICES} ascending sizes up to l1d.unified_bytes");
            check.fail("l1d.shared_choices", format!("{:?}", self.shared_choices), must);
        }
    }
}
