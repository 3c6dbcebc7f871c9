//! The memory system's latencies and bandwidths without load, as formulas of the configuration alone.
//!
//! Tests hold the simulator against them. Where a request changes its clock it waits for the next edge, so a
//! latency over several domains is a range: each crossing adds up to one period of the clock that is entered.
use crate::config::{Clock, GpuConfig};
use crate::dram::Timing;
use crate::packet::{HEADER_BYTES, Packet};

/// A latency whose exact value depends on the phase of the clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least, core cycles.
    pub min: f64,
    /// Most, core cycles.
    pub max: f64,
}

/// Core cycles per cycle of each domain.
struct Periods {
    interconnect: f64,
    l2: f64,
    dram: f64,
}

impl Periods {
    fn new(clock: &Clock) -> Self {
        let period = |mhz: u32| f64::from(clock.core_mhz) / f64::from(mhz);
        Self {
            interconnect: period(clock.interconnect_mhz),
            l2: period(clock.l2_mhz),
            dram: period(clock.dram_mhz),
        }
    }
}

/// Crossbar cycles from sending a packet of `data_bytes` bytes beside its header to receiving it, in an empty
/// network.
pub fn crossbar_latency(config: &GpuConfig, data_bytes: u32) -> u64 {
    let flits = (HEADER_BYTES + data_bytes).div_ceil(config.interconnect.flit_bytes).max(1);
    u64::from(config.interconnect.latency + flits - 1)
}

/// Core cycles from sending a read of a whole line that hits in the L2 to receiving its answer.
pub fn l2_hit(config: &GpuConfig, request_bytes: u32, reply_bytes: u32) -> Bounds {
    let p = Periods::new(&config.clock);
    let network = crossbar_latency(config, request_bytes) + crossbar_latency(config, reply_bytes);
    let exact = network as f64 * p.interconnect + f64::from(config.l2.hit_latency) * p.l2;
    // Crossings: SM to crossbar, crossbar to L2, L2 to crossbar, crossbar to SM.
    Bounds { min: exact - p.interconnect, max: exact + 2.0 * p.interconnect + p.l2 + 1.0 }
}

/// Core cycles from sending a read of a whole line to receiving its answer, when DRAM reads `bursts` bursts of a
/// closed bank.
pub fn dram_read(config: &GpuConfig, request_bytes: u32, reply_bytes: u32, bursts: u32) -> Bounds {
    let p = Periods::new(&config.clock);
    let hit = l2_hit(config, request_bytes, reply_bytes);
    let dram = Timing::new(&config.dram).row_empty_latency(u64::from(bursts)) as f64 * p.dram;
    // Two crossings more: L2 to DRAM and back.
    Bounds { min: hit.min + dram, max: hit.max + dram + p.dram + p.l2 }
}

/// Flits of a packet with `data_bytes` bytes beside its header.
pub fn flits(config: &GpuConfig, packet: &Packet) -> u32 {
    packet.flits(config.interconnect.flit_bytes)
}

/// Bytes per core cycle that the partitions' reply ports deliver at most, in answers of `data_bytes` bytes.
pub fn reply_bandwidth(config: &GpuConfig, data_bytes: u32) -> f64 {
    let flits = (HEADER_BYTES + data_bytes).div_ceil(config.interconnect.flit_bytes).max(1);
    let period = Periods::new(&config.clock).interconnect;
    f64::from(config.l2.partitions * data_bytes) / (f64::from(flits) * period)
}

/// Bytes per core cycle that the L2 slices' ports deliver at most: one line per slice and L2 cycle.
pub fn l2_bandwidth(config: &GpuConfig) -> f64 {
    f64::from(config.l2.partitions * config.l2.line_bytes) / Periods::new(&config.clock).l2
}

/// Bytes per core cycle that the DRAM buses carry at most.
pub fn dram_bandwidth(config: &GpuConfig) -> f64 {
    let step = config.dram.burst_cycles().max(config.dram.tccd);
    f64::from(config.l2.partitions * config.dram.burst_bytes)
        / (f64::from(step) * Periods::new(&config.clock).dram)
}
