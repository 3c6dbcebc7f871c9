//! Measures DRAM: round trips for each state of the bank, and the bandwidth of all channels and of one.
use super::bench::FidelityBench;
use super::cores::memory_issue;
use super::measurement::{FidelityError, Measurement};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::dram::Timing;
use selvedge_gpu::partition::closed_form;
use std::sync::Arc;

pub fn measure(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let mut found = round_trips(config)?;
    found.push(stream(config)?);
    found.push(camping(config)?);
    Ok(found)
}

/// Function from the index of a line in the chain to its bank, row and column.
type LinePlace = fn(n: u32, line_bytes: u32) -> (u32, u64, u32);

/// Follows a chain of uncached lines of one partition. Expects the L2's round trip and, in DRAM cycles, tCL and the bursts for an
/// open row. A closed bank adds tRCD; another open row also adds tRP.
fn round_trips(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let dram = &config.dram;
    let timing = Timing::new(dram);
    let bursts = u64::from(closed_form::line_bursts(config));
    let front = memory_issue(config) + config.l1d.front_latency;
    let closed = closed_form::dram_read_round_trip(config) + f64::from(front);
    let period = f64::from(config.clock.core_mhz) / f64::from(config.clock.dram_mhz);
    let row_lines = dram.row_bytes / config.l2.line_bytes;
    let cases: [(&str, u64, u32, LinePlace); 3] = [
        ("DRAM read, open row", timing.row_hit_latency(bursts), row_lines, |n, line| (0, 0, n * line)),
        ("DRAM read, closed bank", timing.row_empty_latency(bursts), dram.banks, |n, _| (n, 0, 0)),
        ("DRAM read, other row open", timing.row_conflict_latency(bursts), 16, |n, _| (0, u64::from(n), 0)),
    ];
    let mut found = Vec::new();
    for (name, latency, most, place) in cases {
        let long = most.min(14);
        if long < 4 {
            continue; // too few lines per row, or too few banks, for a chain
        }
        let time = |count: u32| {
            let mut bench = FidelityBench::new(config);
            let rows = bench.rows(16)?;
            let place = |n| {
                let (bank, row, column) = place(n, config.l2.line_bytes);
                rows.address(bank, row, column)
            };
            let places: Vec<u64> = (0..most.min(16)).map(place).collect();
            bench.chain(&places)?;
            bench.run(&"ld.global.cg.u64 %rd1, [%rd1];\n".repeat(count as usize), 1, 1, places[0])
        };
        let step = (time(long)? - time(2)?) as f64 / f64::from(long - 2);
        let expected = closed + (latency as f64 - timing.row_empty_latency(bursts) as f64) * period;
        let distance = closed_form::dram_read_spread(config) + 0.5;
        found.push(Measurement::within(name, "cycles", (expected, distance), step));
    }
    Ok(found)
}

/// Reads a word of each line of a buffer with the whole GPU. Whole rows are read, and the next bank's row opens during the
/// transfer: the DRAM buses are busy except at the start and the end. The L2's reply ports are the bound if they carry less than
/// the buses.
///
/// Input queues without virtual channels lose 1 - (2 - sqrt(2)) of the ports to head-of-line blocking if packets have independent
/// destinations (Karol, Hluchyj and Morgan 1987). Here the loss is larger, because consecutive lines of one block go to the same
/// port. The bound allows for a loss of half of the ports.
fn stream(config: &Arc<GpuConfig>) -> Result<Measurement, FidelityError> {
    let buses =
        closed_form::dram_peak_bytes_per_core_cycle(config) * (1.0 - closed_form::refresh_overhead(config));
    // The buses are idle for about a round trip at the start.
    let long = 16.0 * buses * closed_form::dram_read_round_trip(config);
    let size = (long as u32).next_power_of_two().clamp(4 << 20, 64 << 20);
    let mut bench = FidelityBench::new(config);
    let buffer = bench.buffer(u64::from(size))?;
    // A CTA reads 2 KiB in one piece: two distant streams could conflict in different rows of the same banks.
    let body = "mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd1, %rd1, %rd2;\n\
                ld.global.u32 %r10, [%rd1];\nld.global.u32 %r11, [%rd1+1024];";
    let cycles = bench.run(body, size / 2048, 256, buffer)?;
    let rate = f64::from(size) / cycles as f64;
    let ports = closed_form::l2_peak_bytes_per_core_cycle(config);
    let count = config.sm.count / config.interconnect.sms_per_port;
    let sm_ports = ports / f64::from(config.l2.all_slices()) * f64::from(count);
    let ports = ports.min(sm_ports);
    // Partitions with more blocks than others are busy longer than the mean.
    let least = (0.8 * buses).min(0.5 * ports) * closed_form::evenness(config);
    let peak = buses.min(ports);
    Ok(Measurement::below("DRAM stream, rate", "bytes per cycle", (peak, 1.0 - least / peak), rate))
}

/// Lets all SMs read lines of one partition only, row after row. The bound is the bus of its channel.
fn camping(config: &Arc<GpuConfig>) -> Result<Measurement, FidelityError> {
    const CTA: u32 = 256;
    let mut bench = FidelityBench::new(config);
    let row_lines = config.dram.row_bytes / config.l2.line_bytes;
    let lines = 4096u32;
    let banks = config.dram.banks;
    let rows = bench.rows(u64::from(lines / row_lines / banks + 1))?;
    let table = bench.buffer(u64::from(8 * lines))?;
    for n in 0..lines {
        // CTAs run concurrently: threads of the same index in different CTAs read adjacent lines.
        let (cta, thread) = (n / CTA, n % CTA);
        let number = thread * (lines / CTA) + cta;
        let (row_number, column) = (number / row_lines, number % row_lines * config.l2.line_bytes);
        let place = rows.address(row_number % banks, u64::from(row_number / banks), column);
        bench.point(table + 8 * u64::from(n), place)?;
    }
    // A warp reads 32 addresses of the table, then a word of each of these 32 lines with an L1D bypass.
    let lanes = "mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd1, %rd1, %rd2;\nld.global.u64 %rd3, [%rd1];\nld.global.cg.u32 %r10, [%rd3];";
    let cycles = bench.run(lanes, lines / CTA, CTA, table)?;
    let bytes = f64::from(lines * config.l2.line_bytes);
    let channel = closed_form::dram_peak_bytes_per_core_cycle(config) / f64::from(config.l2.partitions);
    let channel = channel * (1.0 - closed_form::refresh_overhead(config));
    let port = closed_form::l2_peak_bytes_per_core_cycle(config) / f64::from(config.l2.partitions);
    // Each burst of a split request waits separately for its bank.
    let share = if config.l2.split_requests { 0.3 } else { 0.25 };
    Ok(Measurement::below(
        "DRAM stream in one partition",
        "bytes per cycle",
        (channel.min(port), share),
        bytes / cycles as f64,
    ))
}
