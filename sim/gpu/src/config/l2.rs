//! Configuration of the L2 slices and their partitions.
use super::check::Checker;
use super::index;
use super::l1d::{Allocate, Fetch, MOST_WAYS};
use crate::cache::SECTOR_BYTES;
use crate::cache::sectors::MOST_LINE_BYTES;
use documented::DocumentedFields;
use selvedge_hw::index_function::IndexFunction;
use serde::{Deserialize, Serialize};

/// Store policy of the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum L2WritePolicy {
    /// Keeps the data. A dirty line goes to DRAM when it is evicted.
    WriteBack,
    /// Sends every store on to DRAM. Lines stay clean.
    WriteThrough,
}

/// Policy for stores that miss in the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteAllocate {
    /// Fetches the sectors first, unless the store covers them.
    Fetch,
    /// Writes at once and records the written words. An access to other words of the sector fetches them.
    Mask,
    /// Sends the store on to DRAM and fetches the line, which stays clean. The store is acknowledged when its line arrives.
    ForwardAndFetch,
    /// Sends the store on to DRAM and allocates nothing.
    None,
}

/// L2 cache and its partitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Number of memory partitions, each with a memory controller.
    pub partitions: u32,
    /// L2 slices per partition (GPGPU-Sim's sub-partitions). Each slice has its own crossbar ports, tags, MSHRs and queues;
    /// slices of a partition share the memory controller.
    pub slices: u32,
    /// Consecutive bytes of a partition in one slice, a power of two; slices follow round-robin.
    pub slice_bytes: u32,
    /// Number of sets of a slice.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Line size, bytes; at least that of the L1D.
    pub line_bytes: u32,
    /// Sector size, bytes. In a cache without sectors, the line size.
    pub sector_bytes: u32,
    /// Sectors that a miss fetches; without sectors, always the line.
    pub fetch: Fetch,
    /// Splits each request into its sectors, as GPGPU-Sim's sectored L2. Each sector then needs its own port cycle, MSHR
    /// and reply packet.
    pub split_requests: bool,
    /// Bytes that a slice's data port moves per L2 cycle, for hits and evicted dirty lines. Requests that waited for a line do
    /// not need the port. 0: every request occupies the port for one cycle, also after a wait for a line.
    pub port_bytes: u32,
    /// Set index function.
    #[serde(with = "index")]
    pub index: IndexFunction,
    /// Latency of a hit from request queue to reply queue, L2 cycles.
    pub hit_latency: u32,
    /// Operations on different words that a slice's atomic unit begins per L2 cycle.
    pub atomic_operations: u32,
    /// Cycles between two operations of the atomic unit on the same word, L2 cycles.
    pub atomic_word_cycles: u32,
    /// Store policy.
    pub write_policy: L2WritePolicy,
    /// Policy for stores that miss.
    pub write_allocate: WriteAllocate,
    /// Line allocation policy.
    pub allocate: Allocate,
    /// Number of MSHRs of a slice: misses in flight.
    pub mshr_entries: u32,
    /// Max requests per MSHR, including the first.
    pub mshr_merges: u32,
    /// Entries of a slice's request queue.
    pub request_queue: u32,
    /// Entries of a slice's reply queue: replies that wait for the crossbar.
    pub reply_queue: u32,
    /// Entries of a slice's queue to the memory controller.
    pub dram_queue: u32,
    /// Entries of a slice's eviction queue: dirty lines that wait for the memory controller.
    pub eviction_queue: u32,
    /// Keeps lines that the host copies to device memory in the L2, clean, up to the size of the L2. This is
    /// `-gpgpu_perf_sim_memcpy` of GPGPU-Sim.
    pub fill_on_copy: bool,
    /// Consecutive bytes in one partition (a block), a power of two.
    pub interleave_bytes: u32,
    /// Index function that maps a block of `interleave_bytes` to its partition.
    #[serde(with = "index")]
    pub partition_index: IndexFunction,
}

impl L2 {
    /// Returns the number of slices in all partitions, which is the number of their crossbar ports.
    #[must_use]
    pub fn all_slices(&self) -> u32 {
        self.partitions * self.slices
    }

    /// Returns the max number of parts into which a slice splits a request.
    #[must_use]
    pub fn most_parts(&self) -> u32 {
        if self.split_requests { self.line_bytes / self.sector_bytes.max(1) } else { 1 }
    }

    /// Checks the L2. Its lines must have at least the `line_bytes` bytes of the L1D's lines.
    pub(super) fn check(&self, line_bytes: u32, check: &mut Checker<'_>) {
        check.range("l2.partitions", self.partitions, 1, 64);
        check.power("l2.slices", self.slices, 1, 8);
        check.power("l2.slice_bytes", self.slice_bytes, self.line_bytes, 1 << 20);
        check.range("l2.sets", self.sets, 1, 1 << 16);
        index::check(check, "l2.index", self.index, self.sets, "sets");
        index::check(check, "l2.partition_index", self.partition_index, self.partitions, "partitions");
        check.range("l2.ways", self.ways, 1, MOST_WAYS);
        let least = line_bytes.clamp(SECTOR_BYTES, MOST_LINE_BYTES);
        check.power("l2.line_bytes", self.line_bytes, least, MOST_LINE_BYTES);
        check.power("l2.sector_bytes", self.sector_bytes, SECTOR_BYTES, self.line_bytes);
        if self.split_requests && (self.sector_bytes >= self.line_bytes || self.fetch != Fetch::Requested) {
            let must =
                "must be false unless l2.sector_bytes is below l2.line_bytes and l2.fetch is `requested`";
            check.fail("l2.split_requests", self.split_requests, must.into());
        }
        if self.port_bytes != 0 {
            check.power("l2.port_bytes", self.port_bytes, SECTOR_BYTES, self.line_bytes);
        }
        check.range("l2.hit_latency", self.hit_latency, 1, 1000);
        check.range("l2.atomic_operations", self.atomic_operations, 1, 64);
        check.range("l2.atomic_word_cycles", self.atomic_word_cycles, 1, 1000);
        check.range("l2.mshr_entries", self.mshr_entries, 1, 4096);
        check.range("l2.mshr_merges", self.mshr_merges, 1, 4096);
        check.range("l2.request_queue", self.request_queue, self.most_parts(), 4096);
        check.range("l2.reply_queue", self.reply_queue, 1, 4096);
        // An eviction with compression causes up to three requests: data, metadata and metadata write-back.
        check.range("l2.dram_queue", self.dram_queue, 3, 4096);
        check.range("l2.eviction_queue", self.eviction_queue, 1, 4096);
        check.power("l2.interleave_bytes", self.interleave_bytes, self.line_bytes, 1 << 20);
    }
}
