//! Configuration of an SM's read-only caches: constants, textures, instructions.
use super::check::Checker;
use super::l1d::{Allocate, BypassedLoads, Fetch, L1dConfig, MOST_WAYS, SHARED_CHOICES, WritePolicy};
use crate::cache::SECTOR_BYTES;
use documented::DocumentedFields;
use selvedge_hw::index_function::IndexFunction;
use selvedge_state::State;
use serde::{Deserialize, Serialize};

/// A read-only cache. Its set index is the plain modulo, and its lines have no sectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct ReadOnly {
    /// Number of sets, a power of two. 0: no such cache.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Line size, bytes.
    pub line_bytes: u32,
    /// Latency of a hit from access to data, core cycles.
    pub hit_latency: u32,
    /// Number of MSHRs: misses in flight.
    pub mshr_entries: u32,
    /// Max requests per MSHR, including the first.
    pub mshr_merges: u32,
    /// Entries of the miss queue: misses that wait for the crossbar.
    pub miss_queue: u32,
}

impl ReadOnly {
    /// Returns whether the SM has this cache.
    pub fn is_there(&self) -> bool {
        self.sets > 0
    }

    /// Returns the cache as the configuration of an L1D without stores.
    pub fn as_l1d(&self) -> L1dConfig {
        L1dConfig {
            banks: 1,
            front_latency: 0,
            sets: self.sets,
            ways: self.ways,
            line_bytes: self.line_bytes,
            sector_bytes: self.line_bytes,
            fetch: Fetch::Requested,
            index: IndexFunction::Bmod,
            hit_latency: self.hit_latency,
            tags_per_way: 1,
            mshr_entries: self.mshr_entries,
            mshr_merges: self.mshr_merges,
            miss_queue: self.miss_queue,
            write_policy: WritePolicy::WriteEvict,
            allocate: Allocate::OnFill,
            bypass: BypassedLoads::Marked,
            bypass_slots: 0,
            bypass_bytes: self.line_bytes,
            unified_bytes: 0,
            shared_choices: [0; SHARED_CHOICES],
        }
    }

    /// Checks the cache `name`. Its lines must have at most the `l2_line_bytes` bytes of the L2's lines.
    pub(super) fn check(&self, name: &str, l2_line_bytes: u32, check: &mut Checker<'_>) {
        let key = |key: &str| format!("sm.{name}.{key}");
        if self.sets > 0 {
            check.power(&key("sets"), self.sets, 1, 4096);
        }
        check.range(&key("ways"), self.ways, 1, MOST_WAYS);
        check.power(&key("line_bytes"), self.line_bytes, SECTOR_BYTES, l2_line_bytes);
        check.range(&key("hit_latency"), self.hit_latency, 1, 1000);
        check.range(&key("mshr_entries"), self.mshr_entries, 1, 1024);
        check.range(&key("mshr_merges"), self.mshr_merges, 1, 1024);
        check.range(&key("miss_queue"), self.miss_queue, 1, 1024);
    }
}
/// Kind of a read-only cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum ReadOnlyCache {
    /// Constants and parameters.
    Constant = 0,
    /// Textures.
    Texture = 1,
    /// Instructions.
    Instruction = 2,
}

/// All kinds, in order of their numbers.
pub const READ_ONLY_CACHES: [ReadOnlyCache; 3] =
    [ReadOnlyCache::Constant, ReadOnlyCache::Texture, ReadOnlyCache::Instruction];
