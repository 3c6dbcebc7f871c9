//! Import of clocks, SMs and their pipes.
use super::options::Opt;
use super::reader::{OptionReader, list, whole, wrong};
use crate::config::ConfigError;

const WARP: u32 = 32;

/// Multiply-adds of a matrix product in GPGPU-Sim's PTX.
const PRODUCT_MULTIPLY_ADDS: u32 = 16 * 16 * 16;

/// GPGPU-Sim's default latency and initiation interval of a matrix product.
const DEFAULT_TENSOR_CYCLES: u32 = 64;

/// First compute capability, times ten, in which each sector is a transaction (`-gpgpu_coalesce_arch`).
const SECTORED_GENERATION: u32 = 40;

/// Clocks in MHz, for the conversion of latencies.
#[derive(Clone, Copy)]
pub struct ImportedClocks {
    core: f64,
    l2: f64,
    dram: f64,
}

impl ImportedClocks {
    /// Converts core cycles to L2 cycles, rounded.
    pub fn l2_cycles(&self, cycles: u32) -> u32 {
        (f64::from(cycles) * self.l2 / self.core).round() as u32
    }

    /// Converts core cycles to DRAM command cycles, rounded.
    pub fn dram_cycles(&self, cycles: u32) -> u32 {
        (f64::from(cycles) * self.dram / self.core).round() as u32
    }
}

/// Imports the clock domains. Returns the clocks of the base configuration if the option is absent.
pub fn clocks(reader: &mut OptionReader) -> Result<ImportedClocks, ConfigError> {
    let Some(option) = reader.take("-gpgpu_clock_domains") else {
        return Ok(ImportedClocks { core: 700.0, l2: 700.0, dram: 924.0 });
    };
    let allowed = "must be four frequencies of 1 to 10000 MHz, separated by :";
    let megahertz = |text: &str| {
        let value = text.trim().parse::<f64>().ok().filter(|f| (0.5..10_000.5).contains(f));
        value.ok_or_else(|| wrong(&option, text, allowed))
    };
    let given = option.value.split(':').map(megahertz).collect::<Result<Vec<_>, _>>()?;
    let [core, interconnect, l2, dram] = given[..] else {
        return Err(wrong(&option, &option.value, allowed));
    };
    for (key, value) in
        [("core_mhz", core), ("interconnect_mhz", interconnect), ("l2_mhz", l2), ("dram_mhz", dram)]
    {
        reader.set("clock", key, value.round() as u32, &option);
    }
    Ok(ImportedClocks { core, l2, dram })
}

/// Imports number, slots and schedulers of the SMs.
pub fn cores(reader: &mut OptionReader) -> Result<(), ConfigError> {
    let clusters = reader.take_number("-gpgpu_n_clusters")?;
    let per_cluster = reader.take_number("-gpgpu_n_cores_per_cluster")?;
    if let Some((_, option)) = clusters.as_ref().or(per_cluster.as_ref()) {
        // GPGPU-Sim's defaults are ten clusters of three cores.
        let [clusters, cores] = [(&clusters, 10), (&per_cluster, 3)]
            .map(|(given, default)| given.as_ref().map_or(default, |(n, _)| *n));
        reader.set("sm", "count", clusters.saturating_mul(cores), option);
        let option = per_cluster.as_ref().map_or(option, |(_, option)| option);
        reader.add_source("sm", "count", option);
        if cores.is_power_of_two() && cores <= 8 {
            reader.set("interconnect", "sms_per_port", cores, option);
        } else {
            reader.note(option, "the SMs of a cluster share a port in powers of two: each has its own here");
        }
    }
    if let Some(option) = reader.take("-gpgpu_shader_core_pipeline") {
        let [threads, warp] = list(&option, ':', 2)?[..2] else { unreachable!("two numbers were asked for") };
        if warp != WARP {
            return Err(wrong(&option, &option.value, "must be warps of 32 threads"));
        }
        reader.set("sm", "threads", threads, &option);
        reader.set("sm", "warps", threads / WARP, &option);
    }
    reader.copy("-gpgpu_shader_registers", "sm", "registers")?;
    reader.copy("-gpgpu_shader_cta", "sm", "ctas")?;
    reader.copy("-gpgpu_shmem_size", "sm", "shared_bytes")?;
    reader.copy("-gpgpu_num_sched_per_core", "sm", "schedulers")?;
    reader.copy("-gpgpu_kernel_launch_latency", "sm", "launch_latency")?;
    reader.copy("-gpgpu_max_concurrent_kernel", "sm", "concurrent_launches")?;
    reader.copy("-gpgpu_shmem_num_banks", "sm.lsu", "shared_banks")?;
    for name in ["-smem_latency", "-gpgpu_smem_latency"] {
        reader.copy(name, "sm.lsu", "shared_latency")?;
    }
    if let Some((parts, option)) = reader.take_number("-gpgpu_shmem_warp_parts")? {
        let lanes = WARP / parts.clamp(1, WARP).next_power_of_two();
        if lanes * parts != WARP {
            reader.note(&option, "not a power of two up to 32: taken as the next larger one");
        }
        reader.set("sm.lsu", "lanes", lanes, &option);
    }
    if let Some((generation, option)) = reader.take_number("-gpgpu_coalesce_arch")? {
        if generation >= SECTORED_GENERATION {
            reader.note(
                &option,
                "each sector of 32 bytes would be a transaction; here a line is one, with its sectors",
            );
        }
        reader.set_flag("sm.lsu", "segments", generation < SECTORED_GENERATION, &option);
    }
    scheduler(reader)
}

fn scheduler(reader: &mut OptionReader) -> Result<(), ConfigError> {
    let Some(option) = reader.take("-gpgpu_scheduler") else { return Ok(()) };
    let mut parts = option.value.split(':');
    match parts.next().unwrap_or_default() {
        "lrr" => reader.set_name("sm", "scheduler", "lrr", &option),
        "gto" => reader.set_name("sm", "scheduler", "gto", &option),
        "two_level_active" => {
            reader.set_name("sm", "scheduler", "two-level", &option);
            let active = whole(&option, parts.next().unwrap_or_default())?;
            reader.set("sm", "active_warps", active, &option);
        }
        "warp_limiting" => {
            let limit = whole(&option, parts.nth(1).unwrap_or_default())?;
            reader.set_name("sm", "scheduler", "gto", &option);
            reader.set("sm", "wavefront_limit", limit, &option);
        }
        _ => reader.note(&option, "no counterpart; there are lrr, gto, two_level_active and warp_limiting"),
    }
    Ok(())
}

/// Imports number, latencies and initiation intervals of the pipes. The lists have the order addition, maximum, multiplication,
/// multiply-add, division. Returns whether integers have their own pipes.
pub fn pipes(reader: &mut OptionReader) -> Result<bool, ConfigError> {
    reader.copy("-gpgpu_num_sp_units", "sm.alu", "pipes")?;
    let int = reader.take_number("-gpgpu_num_int_units")?;
    if let Some((units, option)) = &int {
        reader.set("sm.alu", "int_pipes", *units, option);
    }
    let has_integer_pipes = int.is_some_and(|(units, _)| units > 0);
    let special = reader.take_number("-gpgpu_num_sfu_units")?;
    if let Some((units, option)) = &special {
        reader.set("sm.sfu", "pipes", *units, option);
    }
    // Without double-precision pipes, the special-function units execute double precision.
    let double = reader.take_number("-gpgpu_num_dp_units")?;
    let own = double.as_ref().filter(|(units, _)| *units > 0);
    if let Some((units, option)) = own.or(special.as_ref()) {
        reader.set("sm.fp64", "pipes", *units, option);
        double.iter().for_each(|(_, option)| reader.add_source("sm.fp64", "pipes", option));
    }
    if let Some(option) = reader.take("-ptx_opcode_latency_int") {
        let latency = list(&option, ',', 5)?;
        reader.set("sm.alu", "int_latency", latency[0], &option);
        reader.set("sm.alu", "int_mul_latency", latency[2].max(latency[3]), &option);
        reader.set("sm.alu", "int_div_latency", latency[4], &option);
        reader.note(&option, "maximum has no counterpart");
    }
    if let Some(option) = reader.take("-ptx_opcode_latency_fp") {
        let latency = list(&option, ',', 5)?;
        reader.set("sm.alu", "fp32_latency", latency[0], &option);
        reader.set("sm.sfu", "latency", latency[4], &option);
        reader.set("sm.sfu", "div_latency", latency[4], &option);
        reader.note(&option, "maximum, multiplication and multiply-add have no counterpart");
    }
    if let Some(option) = reader.take("-ptx_opcode_latency_dp") {
        let latency = list(&option, ',', 5)?;
        reader.set("sm.fp64", "latency", latency[0], &option);
        reader.set("sm.fp64", "div_latency", latency[4], &option);
        reader.note(&option, "maximum, multiplication and multiply-add have no counterpart");
    }
    reader.copy("-ptx_opcode_latency_sfu", "sm.sfu", "latency")?;
    initiation(reader, has_integer_pipes)?;
    traced(reader, has_integer_pipes)?;
    Ok(has_integer_pipes)
}

/// Key of the interval of integers.
fn integer_interval(has_integer_pipes: bool) -> &'static str {
    if has_integer_pipes { "int_interval" } else { "interval" }
}

/// Imports the tensor cores. A product of GPGPU-Sim's PTX is a 16 x 16 x 16 one of 16-bit factors. Returns whether there are tensor
/// cores.
pub fn tensor(reader: &mut OptionReader) -> Result<bool, ConfigError> {
    let available = reader.take_number("-gpgpu_tensor_core_avail")?;
    let units = reader.take_number("-gpgpu_num_tensor_core_units")?;
    let initiation = reader.take_number("-ptx_opcode_initiation_tensor")?;
    // GPGPU-Sim's own spelling is the first.
    let [own, corrected] =
        ["-ptx_opcode_latency_tesnor", "-ptx_opcode_latency_tensor"].map(|name| reader.take_number(name));
    let latency = own?.or(corrected?);
    let (Some((1.., available)), Some((count @ 1.., option))) = (available, units) else { return Ok(false) };
    reader.set("sm.tensor", "pipes", count, &option);
    reader.add_source("sm.tensor", "pipes", &available);
    let stated =
        |given: &Option<(u32, Opt)>| given.as_ref().map_or(DEFAULT_TENSOR_CYCLES, |(n, _)| (*n).max(1));
    let (cycles, result) = (stated(&initiation), stated(&latency));
    let (rate_source, latency_source) =
        [&initiation, &latency].map(|given| given.as_ref().map_or(&option, |(_, option)| option)).into();
    reader.set("sm.tensor", "macs", PRODUCT_MULTIPLY_ADDS.div_ceil(cycles), rate_source);
    reader.set(
        "sm.tensor",
        "latency",
        result.saturating_add(1).saturating_sub(cycles).max(1),
        latency_source,
    );
    initiation.iter().for_each(|(_, option)| reader.add_source("sm.tensor", "latency", option));
    if result < cycles {
        reader.note(
            latency_source,
            "a product here has its result after the cycles of its tensor core at the earliest",
        );
    }
    Ok(true)
}

/// Imports `LATENCY,INITIATION` of GPGPU-Sim's trace front end, one pair per kind of pipe. They replace the values for PTX.
fn traced(reader: &mut OptionReader, has_integer_pipes: bool) -> Result<(), ConfigError> {
    for (kind, section, keys, interval_key) in [
        ("sp", "sm.alu", &["fp32_latency"][..], "interval"),
        ("int", "sm.alu", &["int_latency", "int_mul_latency"], integer_interval(has_integer_pipes)),
        ("dp", "sm.fp64", &["latency"], "interval"),
        ("sfu", "sm.sfu", &["latency", "div_latency"], "interval"),
    ] {
        let Some(option) = reader.take(&format!("-trace_opcode_latency_initiation_{kind}")) else { continue };
        let [latency, interval] = list(&option, ',', 2)?[..2] else {
            unreachable!("two numbers were asked for")
        };
        keys.iter().for_each(|key| reader.set(section, key, latency, &option));
        reader.note(&option, "taken for PTX, too, in place of its own");
        reader.set(section, interval_key, interval, &option);
    }
    Ok(())
}

fn initiation(reader: &mut OptionReader, has_integer_pipes: bool) -> Result<(), ConfigError> {
    if let Some(option) = reader.take("-ptx_opcode_initiation_int") {
        reader.set("sm.alu", integer_interval(has_integer_pipes), list(&option, ',', 1)?[0], &option);
    }
    if let Some(option) = reader.take("-ptx_opcode_initiation_fp") {
        let intervals = list(&option, ',', 5)?;
        if has_integer_pipes {
            reader.set("sm.alu", "interval", intervals[0], &option);
        }
        reader.set("sm.sfu", "interval", intervals[4], &option);
        reader.set("sm.sfu", "div_interval", intervals[4], &option);
    }
    if let Some(option) = reader.take("-ptx_opcode_initiation_dp") {
        let intervals = list(&option, ',', 5)?;
        reader.set("sm.fp64", "interval", intervals[0], &option);
        reader.set("sm.fp64", "div_interval", intervals[4], &option);
    }
    reader.copy("-ptx_opcode_initiation_sfu", "sm.sfu", "interval")
}
