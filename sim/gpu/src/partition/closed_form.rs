//! Latencies and bandwidths of the memory system without load, as formulas of the configuration.
//!
//! Tests compare the simulator with them. A request that enters another clock domain waits for the next edge of that clock. A
//! round trip is therefore given as its mean over all clock phases and its max distance from the mean. In a core cycle the
//! domains run from memory to SM: DRAM, L2, crossbar, SMs. A request therefore enters each next domain in the next core cycle at
//! the earliest. A reply may pass several domains in one core cycle.
use crate::config::{ClockConfig, GpuConfig};
use crate::dram::Timing;
use crate::packet::HEADER_BYTES;
use crate::partition::AddressMap;

/// Core cycles per cycle of each domain.
struct Periods {
    interconnect: f64,
    l2: f64,
    dram: f64,
}

impl Periods {
    fn new(clock: &ClockConfig) -> Self {
        let period = |mhz: u32| f64::from(clock.core_mhz) / f64::from(mhz);
        Self {
            interconnect: period(clock.interconnect_mhz),
            l2: period(clock.l2_mhz),
            dram: period(clock.dram_mhz),
        }
    }
}

/// Returns the flits of a packet with a header and `data_bytes` bytes of data.
fn flits(config: &GpuConfig, data_bytes: u32) -> u32 {
    (HEADER_BYTES + data_bytes).div_ceil(config.interconnect.flit_bytes).max(1)
}

/// Returns the crossbar cycles from sending to receiving a packet with a header and `data_bytes` bytes, in an empty network.
pub fn crossbar_latency(config: &GpuConfig, data_bytes: u32) -> u64 {
    u64::from(config.interconnect.latency + flits(config, data_bytes) - 1)
}

/// Returns the mean core cycles between an SM's read of a whole line and the reply, if the line hits in the L2.
pub fn l2_hit_round_trip(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    // The parts of a split request follow each other in L2 cycles. The reply to the last part completes the read.
    let parts = config.l2.most_parts();
    let network = crossbar_latency(config, 0) + crossbar_latency(config, config.l2.line_bytes / parts);
    // A request leaves the crossbar, and a reply enters it, on average equally far from an edge of the crossbar clock: the two
    // distances cancel. The next L2 edge is 1 to p.l2 core cycles after the request's arrival. The reply enters the crossbar in
    // the same cycle in which it leaves the L2, one crossbar cycle earlier than a packet from an SM.
    let phases = (p.l2 + 1.0) / 2.0 - p.interconnect;
    network as f64 * p.interconnect + f64::from(config.l2.hit_latency + parts - 1) * p.l2 + phases
}

/// Returns the max distance of a round trip from [`l2_hit_round_trip`], in core cycles.
pub fn l2_hit_spread(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    (p.interconnect - 1.0) + (p.l2 - 1.0) / 2.0
}

/// Returns the mean core cycles between an SM's read of a whole line and the reply, if the line is in a closed bank of the DRAM.
pub fn dram_read_round_trip(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    let dram = Timing::new(&config.dram).row_empty_latency(u64::from(line_bursts(config))) as f64;
    // The parts of a split request reach the DRAM while it still serves the parts before them.
    let parts = f64::from(config.l2.most_parts() - 1) * p.l2;
    l2_hit_round_trip(config) - parts + (dram + 0.5) * p.dram + p.l2 / 2.0
}

/// Returns the bursts of a whole line that follow each other in one sub-rank. Each part of a split request has its own bursts.
pub fn line_bursts(config: &GpuConfig) -> u32 {
    let bursts = config.dram.sub_rank_bursts(config.l2.line_bytes.div_ceil(config.dram.burst_bytes));
    bursts.max(config.l2.most_parts())
}

/// Returns the mean number of blocks of a round per partition, divided by the number that the fullest partition gets. 1 if all
/// partitions get equally many.
pub fn evenness(config: &GpuConfig) -> f64 {
    let partitions = u64::from(config.l2.partitions);
    let round = AddressMap::new(&config.l2).round();
    round as f64 / (round.div_ceil(partitions) * partitions) as f64
}

/// Returns the max distance of a round trip from [`dram_read_round_trip`], in core cycles.
pub fn dram_read_spread(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    l2_hit_spread(config) + (p.dram + p.l2) / 2.0
}

/// Returns the max bytes per core cycle that L2 hits deliver. Each slice delivers one line per L2 cycle, or less with a narrow
/// port or split requests. Each reply port moves one flit per crossbar cycle, including headers and the gap between packets.
/// Replies to few SMs stay below the max because they wait for each other in the queues.
pub fn l2_peak_bytes_per_core_cycle(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    let parts = config.l2.most_parts();
    let packet = flits(config, config.l2.line_bytes / parts) + config.interconnect.packet_gap;
    let reply_cycles = f64::from(packet * parts) * p.interconnect;
    let moves = config.l2.line_bytes.checked_div(config.l2.port_bytes).unwrap_or(1);
    f64::from(config.l2.all_slices() * config.l2.line_bytes)
        / reply_cycles.max(f64::from(parts.max(moves)) * p.l2)
}

/// Returns the max bytes per core cycle of all DRAM buses.
pub fn dram_peak_bytes_per_core_cycle(config: &GpuConfig) -> f64 {
    let step = config.dram.burst_cycles().max(config.dram.tccd);
    let burst_cycles = f64::from(step) * Periods::new(&config.clock).dram;
    f64::from(config.l2.partitions * config.dram.sub_ranks * config.dram.burst_bytes) / burst_cycles
}

/// Returns the min share of time that refreshes take from a busy channel: tRFC / tREFI.
pub fn refresh_overhead(config: &GpuConfig) -> f64 {
    let dram = &config.dram;
    if dram.trefi == 0 { 0.0 } else { f64::from(dram.trfc) / f64::from(dram.trefi) }
}
