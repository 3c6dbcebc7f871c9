//! Measures the SMs: latencies and rates of arithmetic, shared memory and the coalescer.
//!
//! Each measurement is the difference between two lengths of a kernel. Fixed costs (launch, parameters, exit) cancel.
use super::bench::FidelityBench;
use super::measurement::{FidelityError, Measurement};
use selvedge_gpu::cache::SECTOR_BYTES;
use selvedge_gpu::config::GpuConfig;
use std::sync::Arc;

/// Cycles for which an instruction occupies address generation.
pub fn address_generation(config: &GpuConfig) -> u32 {
    32 / config.sm.lsu.lanes
}

/// Cycles from the issue of a memory instruction to the end of address generation.
pub fn memory_issue(config: &GpuConfig) -> u32 {
    (config.sm.lsu.pipeline_latency + address_generation(config)).saturating_sub(sooner(config))
}

/// Cycles by which operands arrive earlier than the pipeline latency states. A collector with several steps per cycle reads
/// operands in the cycle of its allocation.
fn sooner(config: &GpuConfig) -> u32 {
    let collector = &config.sm.collector;
    u32::from(collector.is_there() && collector.steps > 1)
}

/// Returns the cycles from the issue of an instruction of this latency to the issue of one that needs its result.
pub fn result_after(config: &GpuConfig, latency: u32) -> u32 {
    latency + config.sm.pipeline_latency - sooner(config)
}

/// Returns the share of the peak that an instruction rate may lack: `collected` with operand collectors, `exact` without. In
/// collectors, reads conflict with each other and with writes of results to the same bank.
pub fn shortfall(config: &GpuConfig, exact: f64, collected: f64) -> f64 {
    if config.sm.collector.is_there() { collected } else { exact }
}

/// Returns the core cycles per `unit`, measured on a chain of dependent instructions in one warp of `threads` threads after
/// `head`.
pub fn chain_step(
    bench: &mut FidelityBench,
    head: &str,
    unit: &str,
    (threads, pointer): (u32, u64),
    (short, long): (usize, usize),
) -> Result<f64, FidelityError> {
    let mut time = |count| bench.run(&format!("{head}{}", unit.repeat(count)), 1, threads, pointer);
    // The first run fills the caches for the others.
    time(1)?;
    let (short_time, long_time) = (time(short)?, time(long)?);
    Ok((long_time as f64 - short_time as f64) / (long - short) as f64)
}

pub fn measure(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let mut found = latencies(config)?;
    found.push(peak_rate(config)?);
    found.extend(bank_conflicts(config)?);
    found.extend(strides(config)?);
    Ok(found)
}

/// Expects an instruction to issue as soon as the result it depends on is ready: exactly the latency of the pipe plus that of the
/// pipeline registers.
fn latencies(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let sm = &config.sm;
    let chains = [
        ("integer addition", "add.s32 %r1, %r1, 7;\n", sm.alu.int_latency),
        ("integer multiplication", "mul.lo.s32 %r1, %r1, 7;\n", sm.alu.int_mul_latency),
        ("single-precision addition", "add.f32 %f1, %f1, 0f3f800000;\n", sm.alu.fp32_latency),
        ("special function", "ex2.approx.f32 %f1, %f1;\n", sm.sfu.latency),
        ("single-precision division", "div.rn.f32 %f1, %f1, 0f40000000;\n", sm.sfu.div_latency),
        ("double-precision addition", "add.f64 %fd1, %fd1, 0d3ff0000000000000;\n", sm.fp64.latency),
        ("double-precision division", "div.rn.f64 %fd1, %fd1, 0d4000000000000000;\n", sm.fp64.div_latency),
    ];
    let chains = chains.map(|(name, unit, latency)| (name, unit, result_after(config, latency)));
    let fence = ("fence without stores", "membar.gl;\n", sm.branch_latency);
    let measured = chains.into_iter().chain([fence]).map(|(name, unit, latency)| {
        let step = chain_step(&mut FidelityBench::new(config), "", unit, (1, 0), (8, 24))?;
        Ok(Measurement::exact(name, "cycles", f64::from(latency), step))
    });
    measured.collect()
}

/// Runs independent instructions of many warps. Expects one instruction per scheduler and cycle, up to the rate of the pipes. A
/// pipe with L lanes takes L / 32 warps per cycle.
fn peak_rate(config: &Arc<GpuConfig>) -> Result<Measurement, FidelityError> {
    let sm = &config.sm;
    let body: String = (8..56).map(|r| format!("add.s32 %r{r}, %r1, {r};\n")).collect();
    let mut bench = FidelityBench::new(config);
    let (grid, block) = (sm.count * 4, 256);
    let mut time = |repeat: usize| bench.run(&body.repeat(repeat), grid, block, 0);
    let (short, long) = (time(4)?, time(12)?);
    let instructions = f64::from(4 * block / 32 * 48 * 8);
    let peak = f64::from(sm.schedulers).min(sm.alu.integer_rate());
    let rate = instructions / (long - short) as f64;
    let share = shortfall(config, 0.01, 0.2);
    Ok(Measurement::below("integer additions, rate", "warps per cycle and SM", (peak, share), rate))
}

/// Lets lanes access words that are k apart. With 32 banks and k a power of 2, k lanes meet in a bank. The banks then need k
/// cycles: k - 1 more than the shared-memory latency includes. The result of each load is the address of the next.
fn bank_conflicts(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let lsu = &config.sm.lsu;
    let mut found = Vec::new();
    for ways in [1, 2, 4, 8, 16, 32] {
        let bytes = 4 * ways;
        let head = format!(
            ".shared .align 4 .b8 s[4096];\nmul.lo.s32 %r4, %r1, {bytes};\nmov.u32 %r5, s;\nadd.s32 %r4, %r4, %r5;\n\
             st.shared.u32 [%r4], %r4;\n"
        );
        let unit = "ld.shared.u32 %r4, [%r4];\n";
        let step = chain_step(&mut FidelityBench::new(config), &head, unit, (32, 0), (8, 40))?;
        // With fewer than 32 banks the conflicts have more ways. They have at most 32.
        let degree = (ways * 32 / lsu.shared_banks).clamp(1, 32);
        let expected = memory_issue(config) + lsu.shared_latency + degree - 1;
        found.push(Measurement::exact(
            format!("shared memory, {ways}-way conflict"),
            "cycles",
            f64::from(expected),
            step,
        ));
    }
    Ok(found)
}

/// Returns the lines that 32 lanes touch, `bytes` bytes apart, and the cycles in which the L1D takes them. With banks, it takes lines
/// in order until one has a sector in a bank that is taken in this cycle.
pub fn lines_and_cycles(config: &GpuConfig, bytes: u32) -> (u32, u32) {
    let line_bytes = config.l1d.line_bytes;
    let mut lines: Vec<(u32, u64)> = Vec::new();
    for address in (0..32).map(|lane| lane * bytes) {
        let (line, sector) = (address / line_bytes, address % line_bytes / SECTOR_BYTES);
        match lines.last_mut().filter(|last| last.0 == line) {
            Some((_, sectors)) => *sectors |= 1 << sector,
            None => lines.push((line, 1 << sector)),
        }
    }
    let (mut taken, mut cycles) = (u64::MAX, 0);
    for (line, sectors) in &lines {
        let first_bank = line * (line_bytes / SECTOR_BYTES) % config.l1d.banks;
        let banks = if config.l1d.banks == 1 { 1 } else { sectors << first_bank };
        if taken & banks != 0 {
            (taken, cycles) = (0, cycles + 1);
        }
        taken |= banks;
    }
    (lines.len() as u32, cycles)
}

/// Lets lanes access words that are s apart: a load touches 32 x 4 x s bytes. All lines hit in the L1D, which takes them in the cycles of
/// its banks unless address generation takes longer.
fn strides(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let mut found = Vec::new();
    for stride in [1u32, 2, 4, 8, 16, 32, 40] {
        let mut bench = FidelityBench::new(config);
        let buffer = bench.buffer(8192)?;
        let bytes = 4 * stride;
        let head =
            format!("mov.u32 %r4, %laneid;\nmul.wide.u32 %rd2, %r4, {bytes};\nadd.s64 %rd1, %rd1, %rd2;\n");
        let body: String = (8..40).map(|r| format!("ld.global.u32 %r{r}, [%rd1];\n")).collect();
        let warps = 8;
        let mut time = |repeat: usize| {
            let before = bench.snapshot();
            let cycles = bench.run(&format!("{head}{}", body.repeat(repeat)), 1, 32 * warps, buffer)?;
            let share = &bench.snapshot() - &before;
            Ok::<_, FidelityError>((cycles, share.sm.transactions, share.sm.memory_instructions))
        };
        time(1)?;
        let (short, long) = (time(2)?, time(6)?);
        let (lines, taken) = lines_and_cycles(config, bytes);
        let per_load = (long.1 - short.1) as f64 / (long.2 - short.2) as f64;
        let name = format!("stride of {stride} words, lines");
        found.push(Measurement::exact(name, "per load", f64::from(lines), per_load));
        let cycles = (long.0 - short.0) as f64 / (long.2 - short.2) as f64;
        let expected = f64::from(taken.max(address_generation(config)));
        let name = format!("stride of {stride} words, L1D hits");
        found.push(Measurement::within(
            name,
            "cycles per load",
            (expected, shortfall(config, 0.02, 0.1) * expected),
            cycles,
        ));
    }
    Ok(found)
}
