//! Counters: conserved, per SM and per partition, summed for reports.
use serde::Serialize;
use std::ops::AddAssign;

/// Why a cache could not take an access in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailCause {
    /// No free MSHR.
    MshrEntry,
    /// The line's MSHR has no room for one more request.
    MshrMerge,
    /// Every way of the set is reserved.
    Line,
    /// The queue to the next level is full.
    MissQueue,
}

/// Reservation failures by cause; each cycle in which an access fails counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FailCounters {
    /// No free MSHR.
    pub mshr_entry: u64,
    /// The line's MSHR has no room.
    pub mshr_merge: u64,
    /// Every way of the set is reserved.
    pub line: u64,
    /// The queue to the next level is full.
    pub miss_queue: u64,
}

impl FailCounters {
    /// Counts `cycles` failures of one cause.
    pub fn add(&mut self, cause: FailCause, cycles: u64) {
        match cause {
            FailCause::MshrEntry => self.mshr_entry += cycles,
            FailCause::MshrMerge => self.mshr_merge += cycles,
            FailCause::Line => self.line += cycles,
            FailCause::MissQueue => self.miss_queue += cycles,
        }
    }

    /// Failures of all causes.
    pub fn total(&self) -> u64 {
        self.mshr_entry + self.mshr_merge + self.line + self.miss_queue
    }
}

impl AddAssign for FailCounters {
    fn add_assign(&mut self, o: Self) {
        self.mshr_entry += o.mshr_entry;
        self.mshr_merge += o.mshr_merge;
        self.line += o.line;
        self.miss_queue += o.miss_queue;
    }
}

/// Outcomes of a cache's accesses. Conserved: accesses = hits + misses + pending_hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheCounters {
    /// Line transactions that were decided, loads and stores.
    pub accesses: u64,
    /// Found.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
    /// Found on their way: merged into a miss in flight.
    pub pending_hits: u64,
    /// Stores and atomics among the hits.
    pub write_hits: u64,
    /// Stores and atomics among the misses.
    pub write_misses: u64,
    /// Cycles in which an access could not be decided, by cause.
    pub reservation_fails: FailCounters,
}

impl CacheCounters {
    /// Does the conservation law hold?
    pub fn is_conserved(&self) -> bool {
        self.accesses == self.hits + self.misses + self.pending_hits
    }
}

impl AddAssign for CacheCounters {
    fn add_assign(&mut self, o: Self) {
        self.accesses += o.accesses;
        self.hits += o.hits;
        self.misses += o.misses;
        self.pending_hits += o.pending_hits;
        self.write_hits += o.write_hits;
        self.write_misses += o.write_misses;
        self.reservation_fails += o.reservation_fails;
    }
}

/// Counters of one SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SmCounters {
    /// Warp instructions issued.
    pub warp_instructions: u64,
    /// Thread instructions: active lanes of the issued warp instructions.
    pub thread_instructions: u64,
    /// Memory instructions issued to the load/store unit.
    pub memory_instructions: u64,
    /// Line transactions after coalescing.
    pub transactions: u64,
    /// Cycles that shared-memory accesses took beyond one each.
    pub bank_conflict_cycles: u64,
    /// CTAs completed.
    pub ctas: u64,
    /// Cycles in which at least one warp was resident.
    pub resident_cycles: u64,
    /// Cycles in which at least one instruction issued.
    pub issue_cycles: u64,
}

impl AddAssign for SmCounters {
    fn add_assign(&mut self, o: Self) {
        self.warp_instructions += o.warp_instructions;
        self.thread_instructions += o.thread_instructions;
        self.memory_instructions += o.memory_instructions;
        self.transactions += o.transactions;
        self.bank_conflict_cycles += o.bank_conflict_cycles;
        self.ctas += o.ctas;
        self.resident_cycles += o.resident_cycles;
        self.issue_cycles += o.issue_cycles;
    }
}
