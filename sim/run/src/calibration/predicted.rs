//! Cycles per unit of a kernel, as formulas of the configuration. A fit inverts them.
use crate::fidelity::cores::{memory_issue, result_after};
use selvedge_gpu::config::{Fetch, GpuConfig};
use selvedge_gpu::dram::Timing;
use selvedge_gpu::partition::closed_form;

/// Cycles from an instruction of this latency to one that needs its result.
pub fn chain(config: &GpuConfig, latency: u32) -> f64 {
    f64::from(result_after(config, latency))
}

/// Min cycles per instruction of an SM's pipes. An instruction occupies a pipe for `interval` cycles.
pub fn pipes(config: &GpuConfig, pipes: u32, interval: u32) -> f64 {
    (f64::from(interval) / f64::from(pipes)).max(1.0 / f64::from(config.sm.schedulers))
}

/// Cycles of a shared-memory load without conflicts.
pub fn shared(config: &GpuConfig) -> f64 {
    // With fewer than 32 banks, a row of words has conflicts.
    let degree = (32 / config.sm.lsu.shared_banks).max(1);
    f64::from(memory_issue(config) + config.sm.lsu.shared_latency + degree - 1)
}

/// Cycles in front of the L1D's tags.
fn front(config: &GpuConfig) -> f64 {
    f64::from(memory_issue(config) + config.l1d.front_latency)
}

/// Cycles of an L1D hit.
pub fn l1d_hit(config: &GpuConfig) -> f64 {
    front(config) + f64::from(config.l1d.hit_latency)
}

/// Returns the configuration in which a line is what a load of one word transfers past the L1D.
fn one_word(config: &GpuConfig) -> GpuConfig {
    let mut config = config.clone();
    config.l2.split_requests = false;
    config.l2.line_bytes = config.l1d.bypass_bytes;
    config
}

/// Cycles of a load of one word that bypasses the L1D and hits in the L2.
pub fn l2_hit(config: &GpuConfig) -> f64 {
    front(config) + closed_form::l2_hit_round_trip(&one_word(config))
}

/// Cycles of a load of one word that bypasses the L1D and misses in the L2, while another row of its bank is open.
pub fn dram_read(config: &GpuConfig) -> f64 {
    let l2 = &config.l2;
    let fetched = if l2.fetch == Fetch::Line { l2.line_bytes } else { l2.sector_bytes };
    let bursts = u64::from(config.dram.sub_rank_bursts(fetched.div_ceil(config.dram.burst_bytes)));
    let timing = Timing::new(&config.dram);
    let word = one_word(config);
    let period = f64::from(config.clock.core_mhz) / f64::from(config.clock.dram_mhz);
    let closed = timing.row_empty_latency(closed_form::line_bursts(&word).into()) as f64;
    let other_row = timing.row_conflict_latency(bursts) as f64;
    front(config) + closed_form::dram_read_round_trip(&word) + (other_row - closed) * period
}

/// Core cycles per L2 cycle.
fn l2_period(config: &GpuConfig) -> f64 {
    f64::from(config.clock.core_mhz) / f64::from(config.clock.l2_mhz)
}

/// Min cycles between two atomics on one word.
pub fn atomic_word(config: &GpuConfig) -> f64 {
    f64::from(config.l2.atomic_word_cycles) * l2_period(config)
}

/// Min cycles per operation of atomics on all words of a line.
pub fn atomic_line(config: &GpuConfig) -> f64 {
    let words = 32 / config.l2.most_parts();
    f64::from(words.div_ceil(config.l2.atomic_operations)) / f64::from(words) * l2_period(config)
}
