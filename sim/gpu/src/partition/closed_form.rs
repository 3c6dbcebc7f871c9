//! The memory system's latencies and bandwidths without load, as formulas of the configuration alone.
//!
//! Tests hold the simulator against them. Where a request enters another clock domain it waits for that clock's
//! next edge, so a round trip is given as its mean over all phases of the clocks with the largest distance from
//! it. In a core cycle the domains run from memory to SM: DRAM, L2, crossbar, SMs. What goes down therefore waits
//! for the next core cycle at least; what comes up may pass several domains in one.
use crate::config::{Clock, GpuConfig};
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
    fn new(clock: &Clock) -> Self {
        let period = |mhz: u32| f64::from(clock.core_mhz) / f64::from(mhz);
        Self {
            interconnect: period(clock.interconnect_mhz),
            l2: period(clock.l2_mhz),
            dram: period(clock.dram_mhz),
        }
    }
}

/// Flits of a packet with `data_bytes` bytes beside its header.
fn flits(config: &GpuConfig, data_bytes: u32) -> u32 {
    (HEADER_BYTES + data_bytes).div_ceil(config.interconnect.flit_bytes).max(1)
}

/// Crossbar cycles from sending a packet of `data_bytes` bytes beside its header to receiving it, in an empty
/// network.
pub fn crossbar_latency(config: &GpuConfig, data_bytes: u32) -> u64 {
    u64::from(config.interconnect.latency + flits(config, data_bytes) - 1)
}

/// Mean core cycles from an SM's sending a read of a whole line that hits in the L2 to its receiving the answer.
pub fn l2_hit_round_trip(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    // Parts of a request that is split follow each other in L2 cycles; the last one counts.
    let parts = config.l2.most_parts();
    let network = crossbar_latency(config, 0) + crossbar_latency(config, config.l2.line_bytes / parts);
    // The crossbar's part down to SM and up from L2 ends or begins on average as far from its edges, which cancels;
    // the L2's next edge lies 1 to p cycles after the request's arrival; and the answer enters the crossbar in the
    // very cycle in which it leaves the L2, one crossbar cycle earlier than a packet from an SM.
    let phases = (p.l2 + 1.0) / 2.0 - p.interconnect;
    network as f64 * p.interconnect + f64::from(config.l2.hit_latency + parts - 1) * p.l2 + phases
}

/// Largest distance of a round trip from [`l2_hit_round_trip`], core cycles.
pub fn l2_hit_spread(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    (p.interconnect - 1.0) + (p.l2 - 1.0) / 2.0
}

/// Mean core cycles from an SM's sending a read of a whole line to its receiving the answer, when the line comes
/// from a closed bank of the DRAM.
pub fn dram_read_round_trip(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    let dram = Timing::new(&config.dram).row_empty_latency(u64::from(line_bursts(config))) as f64;
    // Parts of a request that is split come to the DRAM while it still serves those before them.
    let parts = f64::from(config.l2.most_parts() - 1) * p.l2;
    l2_hit_round_trip(config) - parts + (dram + 0.5) * p.dram + p.l2 / 2.0
}

/// Bursts of a whole line that follow each other in a sub-rank; of a request that is split each part has its own.
pub fn line_bursts(config: &GpuConfig) -> u32 {
    let bursts = config.dram.sub_rank_bursts(config.l2.line_bytes.div_ceil(config.dram.burst_bytes));
    bursts.max(config.l2.most_parts())
}

/// What the partition with most blocks gets of a round's, against an even share: 1 where all get as many.
pub fn evenness(config: &GpuConfig) -> f64 {
    let partitions = u64::from(config.l2.partitions);
    let round = AddressMap::new(&config.l2).round();
    round as f64 / (round.div_ceil(partitions) * partitions) as f64
}

/// Largest distance of a round trip from [`dram_read_round_trip`], core cycles.
pub fn dram_read_spread(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    l2_hit_spread(config) + (p.dram + p.l2) / 2.0
}

/// Bytes per core cycle that L2 hits deliver at most: one line per slice and L2 cycle, and one flit per reply port
/// and crossbar cycle, headers included, with the gap between packets. Answers to few SMs stay below it: they wait for each other in the queues.
pub fn l2_peak_bytes_per_core_cycle(config: &GpuConfig) -> f64 {
    let p = Periods::new(&config.clock);
    let parts = config.l2.most_parts();
    let packet = flits(config, config.l2.line_bytes / parts) + config.interconnect.packet_gap;
    let reply_cycles = f64::from(packet * parts) * p.interconnect;
    let moves = config.l2.line_bytes.checked_div(config.l2.port_bytes).unwrap_or(1);
    f64::from(config.l2.all_slices() * config.l2.line_bytes)
        / reply_cycles.max(f64::from(parts.max(moves)) * p.l2)
}

/// Bytes per core cycle that the DRAM buses carry at most.
pub fn dram_peak_bytes_per_core_cycle(config: &GpuConfig) -> f64 {
    let step = config.dram.burst_cycles().max(config.dram.tccd);
    let burst_cycles = f64::from(step) * Periods::new(&config.clock).dram;
    f64::from(config.l2.partitions * config.dram.sub_ranks * config.dram.burst_bytes) / burst_cycles
}

/// Share of the time that refreshes take from a busy channel at least: tRFC of each tREFI.
pub fn refresh_overhead(config: &GpuConfig) -> f64 {
    let dram = &config.dram;
    if dram.trefi == 0 { 0.0 } else { f64::from(dram.trfc) / f64::from(dram.trefi) }
}
