//! Measures L1D and L2: hit latencies, port rates, and the rate that MSHRs allow.
use super::bench::FidelityBench;
use super::cores::{address_generation, chain_step, memory_issue, shortfall};
use super::measurement::{FidelityError, Measurement};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::partition::closed_form;
use std::sync::Arc;

pub fn measure(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let mut found = vec![l1d_hit(config)?, l1d_rate(config)?, l2_hit(config)?, l2_port(config)?];
    for entries in [1, 2, 4, 8] {
        found.push(misses_in_flight(config, entries)?);
    }
    Ok(found)
}

/// Expects the cycles of address generation, the cycles in front of the tags, and the hit latency.
fn l1d_hit(config: &Arc<GpuConfig>) -> Result<Measurement, FidelityError> {
    let mut bench = FidelityBench::new(config);
    let line = bench.buffer(128)?;
    bench.chain(&[line])?;
    let step = chain_step(&mut bench, "", "ld.global.u64 %rd1, [%rd1];\n", (1, line), (32, 96))?;
    let expected = f64::from(memory_issue(config) + config.l1d.front_latency + config.l1d.hit_latency);
    // The first load of each run misses. The clocks' phase at this miss differs between the two runs, which adds up to twice the
    // spread.
    let distance = (2.0 * closed_form::l2_hit_spread(config) + 1.0) / 64.0;
    Ok(Measurement::within("L1D hit", "cycles", (expected, distance), step))
}

/// Lets all lanes read one line. Expects an access per cycle, unless address generation takes longer.
fn l1d_rate(config: &Arc<GpuConfig>) -> Result<Measurement, FidelityError> {
    let mut bench = FidelityBench::new(config);
    let buffer = bench.buffer(4096)?;
    let body: String = (8..40).map(|r| format!("ld.global.u32 %r{r}, [%rd1];\n")).collect();
    let (grid, block) = (config.sm.count, 512);
    let mut time = |repeat: usize| bench.run(&body.repeat(repeat), grid, block, buffer);
    let (short, long) = (time(4)?, time(36)?);
    let bytes = f64::from(block / 32 * 32 * 32 * config.l1d.line_bytes) / (long - short) as f64;
    let peak = f64::from(config.l1d.line_bytes) / f64::from(address_generation(config));
    // The first access misses, and the number of instructions that wait for it differs between the two runs.
    Ok(Measurement::within(
        "L1D hits, rate",
        "bytes per cycle and SM",
        (peak, shortfall(config, 0.02, 0.1) * peak),
        bytes,
    ))
}

/// Expects address generation, the cycles in front of the L1D, the crossbar in both directions and the L2's hit latency. Each
/// counts in its own clock. The allowed distance is the effect of the clocks' phases at the time of a request.
fn l2_hit(config: &Arc<GpuConfig>) -> Result<Measurement, FidelityError> {
    let mut bench = FidelityBench::new(config);
    let line = bench.buffer(128)?;
    bench.chain(&[line])?;
    let step = chain_step(&mut bench, "", "ld.global.cg.u64 %rd1, [%rd1];\n", (1, line), (32, 96))?;
    let front = memory_issue(config) + config.l1d.front_latency;
    let expected = closed_form::l2_hit_round_trip(config) + f64::from(front);
    let distance = closed_form::l2_hit_spread(config) + 0.5;
    Ok(Measurement::within("L2 hit, round trip", "cycles", (expected, distance), step))
}

/// Lets all SMs read resident lines of one slice. The slice's reply port sends a flit per crossbar cycle, including headers and
/// the gap between packets. The slice handles one request per L2 cycle.
fn l2_port(config: &Arc<GpuConfig>) -> Result<Measurement, FidelityError> {
    let mut bench = FidelityBench::new(config);
    let lines = 64;
    let all = lines * u64::from(config.l2.slices);
    let rows = bench.rows(all / 8)?;
    // Word n of a table holds the address of line n, because the mapping scatters a slice's lines.
    let table = bench.buffer(8 * lines)?;
    let per_row = u64::from(config.dram.row_bytes / config.l2.line_bytes).min(8);
    let place = |n: u64| {
        let column = (n % per_row) as u32 * config.l2.line_bytes;
        let bank = (n / per_row % u64::from(config.dram.banks)) as u32;
        rows.address(bank, n / per_row / u64::from(config.dram.banks), column)
    };
    let of_slice = (0..all).map(place).filter(|address| rows.is_in_first_slice(*address));
    for (n, address) in (0..lines).zip(of_slice) {
        bench.point(table + 8 * n, address)?;
    }
    let head = "shr.u32 %r4, %r1, 5;\nand.b32 %r4, %r4, 63;\nmul.wide.u32 %rd2, %r4, 8;\nadd.s64 %rd1, %rd1, %rd2;\n\
                ld.global.u64 %rd1, [%rd1];\nmov.u32 %r6, %laneid;\nmul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd1, %rd1, %rd2;\n";
    let loads: String = (8..40).map(|r| format!("ld.global.cg.u32 %r{r}, [%rd1];\n")).collect();
    let (grid, block) = (config.sm.count * 2, 512);
    let mut time = |repeat: usize| bench.run(&format!("{head}{}", loads.repeat(repeat)), grid, block, table);
    time(1)?;
    let (short, long) = (time(1)?, time(3)?);
    let bytes = f64::from(grid * block / 32 * 32 * 2 * config.l2.line_bytes) / (long - short) as f64;
    let peak = closed_form::l2_peak_bytes_per_core_cycle(config) / f64::from(config.l2.all_slices());
    Ok(Measurement::below("L2 hits in one slice, rate", "bytes per cycle", (peak, 0.02), bytes))
}

/// Runs one SM, whose L1D has `entries` MSHRs, on lines that hit in the L2. Each miss holds its MSHR for the L2's round trip.
/// Expects a rate of MSHRs / round trip, up to the rate of the SM's reply port.
fn misses_in_flight(config: &Arc<GpuConfig>, entries: u32) -> Result<Measurement, FidelityError> {
    let mut machine = GpuConfig::clone(config);
    machine.l1d.mshr_entries = entries;
    let config = &Arc::new(machine);
    let mut bench = FidelityBench::new(config);
    let (warps, line) = (8u32, config.l1d.line_bytes);
    let head = format!(
        "shr.u32 %r4, %r1, 5;\nmul.wide.u32 %rd2, %r4, {line};\nadd.s64 %rd1, %rd1, %rd2;\nmov.u32 %r6, %laneid;\n\
         mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd1, %rd1, %rd2;\n"
    );
    let loads = |count: u32| -> String {
        let load = |n: u32| format!("ld.global.u32 %r{}, [%rd1+{}];\n", 8 + n % 48, n * warps * line);
        (0..count).map(load).collect()
    };
    let (few, many) = (16, 80);
    let buffer = bench.buffer(u64::from(many * warps * line))?;
    let mut time = |count: u32| bench.run(&format!("{head}{}", loads(count)), 1, warps * 32, buffer);
    time(many)?;
    let (short, long) = (time(few)?, time(many)?);
    let rate = f64::from((many - few) * warps) / (long - short) as f64;
    let round_trip = closed_form::l2_hit_round_trip(config);
    let port = closed_form::l2_peak_bytes_per_core_cycle(config) / f64::from(config.l2.all_slices() * line);
    let expected = (f64::from(entries) / round_trip).min(port);
    // The round trip depends on the clocks' phases, and replies wait for each other at the SM's port.
    let spread = closed_form::l2_hit_spread(config) + 0.5 + f64::from((entries - 1) * config.l2.most_parts());
    let name = format!("L1D misses with {entries} MSHRs, rate");
    Ok(Measurement::within(name, "lines per cycle", (expected, expected * spread / round_trip), rate))
}
