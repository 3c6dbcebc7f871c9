//! The read-only caches of an SM: constants, textures, instructions.
use super::check::Checker;
use super::l1d::{Allocate, Bypass, Fetch, L1d, MOST_WAYS, SHARED_CHOICES, WritePolicy};
use crate::cache::SECTOR_BYTES;
use documented::DocumentedFields;
use selvedge_hw::index_function::IndexFunction;
use selvedge_state::State;
use serde::{Deserialize, Serialize};

/// One read-only cache; its set index is the plain modulo and its lines have no sectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct ReadOnly {
    /// Sets, a power of two; 0 for no such cache.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Line size, bytes.
    pub line_bytes: u32,
    /// Access to data for a hit, cycles.
    pub hit_latency: u32,
    /// Misses in flight.
    pub mshr_entries: u32,
    /// Requests merged into one miss, the first one included.
    pub mshr_merges: u32,
    /// Misses that wait for the crossbar.
    pub miss_queue: u32,
}

impl ReadOnly {
    /// Returns whether there is such a cache.
    pub fn is_there(&self) -> bool {
        self.sets > 0
    }

    /// The cache as an L1D that nobody writes to.
    pub fn as_l1d(&self) -> L1d {
        L1d {
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
            bypass: Bypass::Marked,
            bypass_slots: 0,
            bypass_bytes: self.line_bytes,
            unified_bytes: 0,
            shared_choices: [0; SHARED_CHOICES],
        }
    }

    /// Its lines are lines of the L2, of `l2_line_bytes` bytes, or parts of them.
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
/// Which read-only cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Side {
    /// Constants and parameters.
    Constant = 0,
    /// Textures.
    Texture = 1,
    /// Instructions.
    Instruction = 2,
}

/// All of them.
pub const SIDES: [Side; 3] = [Side::Constant, Side::Texture, Side::Instruction];
