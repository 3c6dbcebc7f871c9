//! Counters per SM and per partition, summed for reports, with their conservation laws.
use crate::events::SmEvents;
use selvedge_ptx::memory::within_program;
use selvedge_ptx::ptx::{CODE_REGION, CONST_REGION, LOCAL_REGION};
use selvedge_state::State;
use serde::Serialize;
use std::collections::BTreeMap;

/// Returns whether a counter is zero. Reports leave out zero counters of features that few configurations have.
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A count, or a struct of counts, that can be scaled.
pub(crate) trait Scale {
    /// Returns the counts times `factor`, rounded.
    fn scaled(self, factor: f64) -> Self;
}

impl Scale for u64 {
    fn scaled(self, factor: f64) -> Self {
        (self as f64 * factor).round() as u64
    }
}

/// Declares a struct of counters with field-wise addition, subtraction and scaling.
macro_rules! counters {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, schemars::JsonSchema, serde::Serialize, selvedge_state::State)]
        pub struct $name { $($(#[$doc])* pub $field: $type,)* }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, o: Self) {
                $(self.$field += o.$field;)*
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, o: Self) -> Self {
                $name { $($field: self.$field - o.$field,)* }
            }
        }

        impl $crate::stats::Scale for $name {
            fn scaled(self, factor: f64) -> Self {
                $name { $($field: $crate::stats::Scale::scaled(self.$field, factor),)* }
            }
        }
    };
}
pub(crate) use counters;

/// Reason for which a cache cannot accept an access in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, State)]
#[serde(rename_all = "snake_case")]
pub enum FailCause {
    /// No free MSHR.
    MshrEntry,
    /// The MSHR of the line is full.
    MshrMerge,
    /// Every way of the set is reserved.
    Line,
    /// The queue to the next level is full.
    MissQueue,
    /// All bypass slots are in use.
    BypassSlot,
}

counters! {
/// Reservation failures by cause. Each cycle in which an access fails counts once.
pub struct FailCounters {
    /// No free MSHR.
    pub mshr_entry: u64,
    /// The MSHR of the line is full.
    pub mshr_merge: u64,
    /// Every way of the set is reserved.
    pub line: u64,
    /// The queue to the next level is full.
    pub miss_queue: u64,
    /// All bypass slots are in use.
    pub bypass_slot: u64,
}
}

impl FailCounters {
    /// Counts `cycles` failures of one cause.
    pub fn add(&mut self, cause: FailCause, cycles: u64) {
        match cause {
            FailCause::MshrEntry => self.mshr_entry += cycles,
            FailCause::MshrMerge => self.mshr_merge += cycles,
            FailCause::Line => self.line += cycles,
            FailCause::MissQueue => self.miss_queue += cycles,
            FailCause::BypassSlot => self.bypass_slot += cycles,
        }
    }

    /// Returns the number of failures of all causes.
    pub fn total(&self) -> u64 {
        self.mshr_entry + self.mshr_merge + self.line + self.miss_queue + self.bypass_slot
    }
}

/// Result of a cache access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum AccessResult {
    /// The line is present.
    Hit,
    /// The line is in flight.
    Pending,
    /// The line is absent.
    Miss,
    /// A miss: the line is present or in flight, but without a needed sector.
    SectorMiss,
}

counters! {
/// Accesses by outcome.
pub struct DecisionCounters {
    /// Accesses that hit.
    pub hits: u64,
    /// Accesses merged into a miss in flight.
    pub pending_hits: u64,
    /// Accesses that missed.
    pub misses: u64,
    /// Misses that found their line, but not a needed sector.
    pub sector_misses: u64,
}
}

impl DecisionCounters {
    fn count(&mut self, decision: AccessResult) {
        match decision {
            AccessResult::Hit => self.hits += 1,
            AccessResult::Pending => self.pending_hits += 1,
            AccessResult::Miss => self.misses += 1,
            AccessResult::SectorMiss => {
                self.misses += 1;
                self.sector_misses += 1;
            }
        }
    }

    /// Returns the number of misses whose line was absent.
    pub fn line_misses(&self) -> u64 {
        self.misses - self.sector_misses
    }
}

counters! {
/// Outcomes of a cache's accesses. Conserved: accesses = hits + misses + pending_hits.
pub struct CacheCounters {
    /// Line transactions that were decided, loads and stores.
    pub accesses: u64,
    /// Accesses that hit.
    pub hits: u64,
    /// Accesses that missed.
    pub misses: u64,
    /// Accesses merged into a miss in flight.
    pub pending_hits: u64,
    /// Stores and atomics among the hits.
    pub write_hits: u64,
    /// Stores and atomics among the pending hits.
    pub write_pending_hits: u64,
    /// Stores and atomics among the misses.
    pub write_misses: u64,
    /// Misses that found their line, but not a needed sector.
    pub sector_misses: u64,
    /// Stores and atomics among the sector misses.
    pub write_sector_misses: u64,
    /// Loads of local memory among the accesses, by outcome.
    pub local_reads: DecisionCounters,
    /// Stores to local memory among the accesses, by outcome.
    pub local_writes: DecisionCounters,
    /// Reads of constants and parameters among the accesses, by outcome.
    pub constant_reads: DecisionCounters,
    /// Reads of instructions among the accesses, by outcome.
    pub instruction_reads: DecisionCounters,
    /// Loads that bypassed the cache, not included in the accesses.
    pub bypasses: u64,
    /// Sectors of 32 bytes requested from the next level for storage in the cache.
    pub sectors_fetched: u64,
    /// Sectors of 32 bytes received from the next level and stored.
    pub sectors_filled: u64,
    /// Cycles in which an access could not be decided, by cause.
    pub reservation_fails: FailCounters,
}
}

impl CacheCounters {
    /// Counts an access to `line`.
    pub fn decide(&mut self, decision: AccessResult, is_write: bool, line: u64) {
        self.accesses += 1;
        let (all, writes) = match decision {
            AccessResult::Hit => (&mut self.hits, &mut self.write_hits),
            AccessResult::Pending => (&mut self.pending_hits, &mut self.write_pending_hits),
            AccessResult::Miss | AccessResult::SectorMiss => (&mut self.misses, &mut self.write_misses),
        };
        *all += 1;
        *writes += u64::from(is_write);
        let is_sector_miss = decision == AccessResult::SectorMiss;
        self.sector_misses += u64::from(is_sector_miss);
        self.write_sector_misses += u64::from(is_sector_miss && is_write);
        match within_program(line) {
            CODE_REGION.. => self.instruction_reads.count(decision),
            CONST_REGION.. => self.constant_reads.count(decision),
            LOCAL_REGION.. if is_write => self.local_writes.count(decision),
            LOCAL_REGION.. => self.local_reads.count(decision),
            _ => {}
        }
    }

    /// Returns whether the conservation laws hold.
    pub fn is_conserved(&self) -> bool {
        self.accesses == self.hits + self.misses + self.pending_hits && self.sector_misses <= self.misses
    }

    /// Returns the loads of global memory by result.
    pub fn global_reads(&self) -> DecisionCounters {
        let reads = DecisionCounters {
            hits: self.hits - self.write_hits,
            pending_hits: self.pending_hits - self.write_pending_hits,
            misses: self.misses - self.write_misses,
            sector_misses: self.sector_misses - self.write_sector_misses,
        };
        reads - self.local_reads - self.constant_reads - self.instruction_reads
    }

    /// Returns the stores to global memory and the atomics by result.
    pub fn global_writes(&self) -> DecisionCounters {
        let writes = DecisionCounters {
            hits: self.write_hits,
            pending_hits: self.write_pending_hits,
            misses: self.write_misses,
            sector_misses: self.write_sector_misses,
        };
        writes - self.local_writes
    }
}

/// Use of a scheduler's cycle; see [`SchedulerCycles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum IssueCycle {
    /// An instruction issued.
    Active,
    /// A memory instruction had its operands, but was not accepted.
    Memory,
    /// Another instruction had its operands, but no pipe was free.
    Compute,
    /// Instructions waited for operands in flight.
    DataDependence,
    /// The next instructions were missing in the instruction cache and in flight.
    Fetch,
    /// No warp had an instruction to issue.
    Idle,
}

/// Number of kinds of [`IssueCycle`].
pub const ISSUE_CYCLES: usize = 6;

counters! {
/// Cycles of warp schedulers by activity (CABA, figure 2). Their sum is cycles times schedulers.
pub struct SchedulerCycles {
    /// Cycles in which an instruction issued.
    pub active: u64,
    /// Memory stalls: a memory instruction had its operands, but was not accepted.
    pub memory: u64,
    /// Compute stalls: another instruction had its operands, but no pipe was free.
    pub compute: u64,
    /// Data-dependence stalls: operands were in flight.
    pub data_dependence: u64,
    /// Fetch stalls: the next instructions were missing in the instruction cache and in flight.
    pub fetch: u64,
    /// Cycles in which no warp had an instruction to issue.
    pub idle: u64,
}
}

impl SchedulerCycles {
    /// Creates the counters from the cycles of each kind, in the order of [`IssueCycle`].
    pub fn of([active, memory, compute, data_dependence, fetch, idle]: [u64; ISSUE_CYCLES]) -> Self {
        SchedulerCycles { active, memory, compute, data_dependence, fetch, idle }
    }

    /// Returns the number of cycles of all kinds.
    pub fn total(&self) -> u64 {
        self.active + self.memory + self.compute + self.data_dependence + self.fetch + self.idle
    }
}

counters! {
/// Counters of one SM.
pub struct SmCounters {
    /// Warp instructions issued.
    pub warp_instructions: u64,
    /// Thread instructions: active lanes of the issued warp instructions.
    pub thread_instructions: u64,
    /// Memory instructions issued to the load/store unit.
    pub memory_instructions: u64,
    /// Line transactions after coalescing.
    pub transactions: u64,
    /// Extra cycles of shared-memory accesses because of bank conflicts.
    pub bank_conflict_cycles: u64,
    /// CTAs completed.
    pub ctas: u64,
    /// Cycles in which at least one warp was resident.
    pub resident_cycles: u64,
    /// Cycles in which at least one instruction issued.
    pub issue_cycles: u64,
    /// Lines that the L1D received for its misses.
    pub misses_returned: u64,
    /// Core cycles from these misses to the arrival of their lines, summed.
    pub miss_latency_cycles: u64,
    /// Core cycles from the arrival of these misses' loads at the L1D to the arrival of their lines, summed. Includes the
    /// pipeline in front of the tags and reservation failures.
    pub load_latency_cycles: u64,
    /// Misses that the L1D sent for prefetches, not included in its accesses.
    pub prefetches_sent: u64,
    /// Lines that the L1D received for prefetches.
    pub prefetches_returned: u64,
    /// Stores kept in the L1D.
    pub stores_kept: u64,
    /// Line transactions of atomics. The L2 executes them, and the L1D does not count them.
    pub atomics_sent: u64,
    /// Writes of stored data from lines that left the L1D.
    pub l1d_writebacks: u64,
    /// Cycles of the SM's schedulers by activity.
    pub scheduler_cycles: SchedulerCycles,
    /// Work of the SM's instructions, from which the energy is computed.
    pub events: SmEvents,
}
}

/// Instructions that launches in a kernel slot have issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotWork {
    /// Warp instructions.
    pub warp_instructions: u64,
    /// Thread instructions.
    pub thread_instructions: u64,
}

counters! {
/// Counters of one of the kernels that share the GPU. All except the resident cycles, which overlap, add up to the counters
/// of the SMs.
pub struct KernelCounters {
    /// Warp instructions issued.
    pub warp_instructions: u64,
    /// Thread instructions: active lanes of the issued warp instructions.
    pub thread_instructions: u64,
    /// Memory instructions issued to the load/store units.
    pub memory_instructions: u64,
    /// Requests: line transactions after coalescing.
    pub transactions: u64,
    /// CTAs completed.
    pub ctas: u64,
    /// Cycles in which a CTA of the kernel was resident, summed over SMs.
    pub resident_cycles: u64,
    /// Accesses of the kernel to the L1Ds.
    pub l1d: CacheCounters,
}
}

/// Counters that a mechanism adds to the report, by name.
pub type MechanismCounters = BTreeMap<&'static str, u64>;

/// Adds `value` to a mechanism's counter.
pub fn count(counters: &mut MechanismCounters, name: &'static str, value: u64) {
    *counters.entry(name).or_default() += value;
}
