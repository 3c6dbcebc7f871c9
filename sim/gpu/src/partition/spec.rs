//! The configuration of an L2 slice.
use super::address::AddressMap;
use crate::cache::Sectors;
use crate::config::{Allocate, Fetch, GpuConfig, L2WritePolicy, WriteAllocate};

/// The configuration of an L2 slice, with its number over all partitions.
pub struct SliceSpec {
    pub number: u16,
    pub map: AddressMap,
    pub line_bytes: u32,
    /// The division of a line into bursts.
    pub bursts: Sectors,
    pub sectors: Sectors,
    pub fetch: Fetch,
    pub writes_back: bool,
    pub write_allocate: WriteAllocate,
    pub allocate: Allocate,
    pub hit_latency: u64,
    pub request_capacity: usize,
    pub reply_capacity: usize,
    pub eviction_capacity: usize,
    pub dram_capacity: usize,
    pub burst_bytes: u32,
    /// Bytes that the data port moves in a cycle; 0 if it moves a line.
    pub port_bytes: u32,
}

impl SliceSpec {
    /// Returns the configuration of slice `number`.
    pub fn new(config: &GpuConfig, number: u16) -> Self {
        let l2 = &config.l2;
        SliceSpec {
            number,
            map: AddressMap::new(l2),
            line_bytes: l2.line_bytes,
            bursts: Sectors::new(l2.line_bytes, config.dram.burst_bytes),
            sectors: Sectors::new(l2.line_bytes, l2.sector_bytes),
            fetch: l2.fetch,
            writes_back: l2.write_policy == L2WritePolicy::WriteBack,
            write_allocate: l2.write_allocate,
            allocate: l2.allocate,
            hit_latency: u64::from(l2.hit_latency),
            // Reserves the entries that the parts of one more packet may need.
            request_capacity: l2.request_queue as usize + 1 - l2.most_parts() as usize,
            reply_capacity: l2.reply_queue as usize,
            eviction_capacity: l2.eviction_queue as usize,
            dram_capacity: l2.dram_queue as usize,
            burst_bytes: config.dram.burst_bytes,
            port_bytes: l2.port_bytes,
        }
    }
}
