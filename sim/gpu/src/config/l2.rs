//! The L2 slices and their partitions.
use super::check::Checker;
use super::index;
use super::l1d::{Allocate, Fetch, MOST_WAYS};
use crate::cache::SECTOR_BYTES;
use crate::cache::sectors::MOST_LINE_BYTES;
use documented::DocumentedFields;
use selvedge_hw::index_function::IndexFunction;
use serde::{Deserialize, Serialize};

/// What becomes of a store's data in the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum L2WritePolicy {
    /// They stay; a dirty line goes to DRAM when it is replaced.
    WriteBack,
    /// They go on to DRAM at once.
    WriteThrough,
}

/// What a store does that does not find its sectors in the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteAllocate {
    /// It fetches them, unless it covers them.
    Fetch,
    /// It is written at once under a mask of words; who reads the other words fetches.
    Mask,
    /// It goes on to DRAM at once, and the line is fetched, clean; the store is answered with its line.
    ForwardAndFetch,
    /// It goes on to DRAM and leaves the L2 as it is.
    None,
}

/// The L2 cache and its partitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Partitions; each has a memory controller.
    pub partitions: u32,
    /// Slices of the L2 in a partition, in front of its one memory controller. Each has a port of the crossbars, tags, registers
    /// and queues of its own: GPGPU-Sim's sub-partitions.
    pub slices: u32,
    /// Consecutive bytes of a partition that are in one slice, a power of two; the slices go round.
    pub slice_bytes: u32,
    /// Sets of a slice.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Line size, bytes; no smaller than the L1D's.
    pub line_bytes: u32,
    /// Sector size, bytes; the line size when the cache is not sectored.
    pub sector_bytes: u32,
    /// What a miss fetches; without sectors always the line.
    pub fetch: Fetch,
    /// Whether a slice splits each request into its sectors. Then each has its turn at the port, a miss register and a packet of the
    /// reply of its own: GPGPU-Sim's sectored L2.
    pub split_requests: bool,
    /// Bytes that a slice's data port moves in a cycle, for hits and for dirty lines that leave; requests whose line has just come
    /// have a way of their own. 0: a request takes the port for a cycle whatever it moves, and so does one whose line has come.
    pub port_bytes: u32,
    /// Set index function.
    #[serde(with = "index")]
    pub index: IndexFunction,
    /// Request queue to reply queue for a hit, L2 cycles.
    pub hit_latency: u32,
    /// What becomes of a store's data.
    pub write_policy: L2WritePolicy,
    /// What a store does that misses.
    pub write_allocate: WriteAllocate,
    /// Line allocation policy.
    pub allocate: Allocate,
    /// Misses in flight of a slice.
    pub mshr_entries: u32,
    /// Requests merged into one miss, the first one included.
    pub mshr_merges: u32,
    /// Requests that wait for the slice.
    pub request_queue: u32,
    /// Replies that wait for the crossbar.
    pub reply_queue: u32,
    /// Requests that wait for the memory controller.
    pub dram_queue: u32,
    /// Dirty lines that wait to leave for the memory controller.
    pub eviction_queue: u32,
    /// Consecutive bytes that are in one partition, a power of two.
    pub interleave_bytes: u32,
    /// Which partition such a block is in.
    #[serde(with = "index")]
    pub partition_index: IndexFunction,
}

impl L2 {
    /// Returns the slices of all partitions: ports of a crossbar.
    #[must_use]
    pub fn all_slices(&self) -> u32 {
        self.partitions * self.slices
    }

    /// Returns the most parts that a slice splits a request into.
    #[must_use]
    pub fn most_parts(&self) -> u32 {
        if self.split_requests { self.line_bytes / self.sector_bytes.max(1) } else { 1 }
    }

    /// A line of the L1D, of `line_bytes` bytes, is one line of the L2 or a part of one.
    pub(super) fn check(&self, line_bytes: u32, check: &mut Checker<'_>) {
        check.range("l2.partitions", self.partitions, 1, 32);
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
        check.range("l2.mshr_entries", self.mshr_entries, 1, 4096);
        check.range("l2.mshr_merges", self.mshr_merges, 1, 4096);
        check.range("l2.request_queue", self.request_queue, self.most_parts(), 4096);
        check.range("l2.reply_queue", self.reply_queue, 1, 4096);
        // An eviction under compression makes up to three requests: data, metadata, metadata write-back.
        check.range("l2.dram_queue", self.dram_queue, 3, 4096);
        check.range("l2.eviction_queue", self.eviction_queue, 1, 4096);
        check.power("l2.interleave_bytes", self.interleave_bytes, self.line_bytes, 1 << 20);
    }
}
