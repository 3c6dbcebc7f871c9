//! Clocks, SMs and their pipes.
use super::options::Opt;
use super::reader::{Reader, list, whole, wrong};
use crate::config::ConfigError;

/// Threads of a warp.
const WARP: u32 = 32;

/// Clocks that latencies are converted by, MHz.
#[derive(Clone, Copy)]
pub struct Clocks {
    core: f64,
    l2: f64,
    dram: f64,
}

impl Clocks {
    /// L2 cycles of as much time as `cycles` core cycles.
    pub fn l2_cycles(&self, cycles: u32) -> u32 {
        (f64::from(cycles) * self.l2 / self.core).round() as u32
    }

    /// DRAM cycles of as much time as `cycles` core cycles.
    pub fn dram_cycles(&self, cycles: u32) -> u32 {
        (f64::from(cycles) * self.dram / self.core).round() as u32
    }
}

/// Takes the clock domains; without them those of the base.
pub fn clocks(reader: &mut Reader) -> Result<Clocks, ConfigError> {
    let Some(option) = reader.take("-gpgpu_clock_domains") else {
        return Ok(Clocks { core: 700.0, l2: 700.0, dram: 924.0 });
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
    Ok(Clocks { core, l2, dram })
}

/// Takes the SMs' number, slots and schedulers.
pub fn cores(reader: &mut Reader) -> Result<(), ConfigError> {
    let clusters = reader.take_number("-gpgpu_n_clusters")?;
    let per_cluster = reader.take_number("-gpgpu_n_cores_per_cluster")?;
    if let Some((_, option)) = clusters.as_ref().or(per_cluster.as_ref()) {
        // GPGPU-Sim's own defaults: ten clusters of three cores.
        let [clusters, cores] = [(&clusters, 10), (&per_cluster, 3)]
            .map(|(given, default)| given.as_ref().map_or(default, |(n, _)| *n));
        reader.set("sm", "count", clusters.saturating_mul(cores), &option.clone());
        if cores.is_power_of_two() && cores <= 8 {
            reader.set("interconnect", "sms_per_port", cores, &option.clone());
        } else {
            reader.note(
                &option.clone(),
                "the SMs of a cluster share a port in powers of two: each has its own here",
            );
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
    reader.copy("-gpgpu_shmem_num_banks", "sm.lsu", "shared_banks")?;
    for name in ["-smem_latency", "-gpgpu_smem_latency"] {
        reader.copy(name, "sm.lsu", "shared_latency")?;
    }
    if let Some((parts, option)) = reader.take_number("-gpgpu_shmem_warp_parts")? {
        lanes(reader, "sm.lsu", parts, &option);
    }
    scheduler(reader)
}

fn scheduler(reader: &mut Reader) -> Result<(), ConfigError> {
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

/// Takes the pipes' numbers, latencies and initiation intervals. Lists are of addition, maximum, multiplication,
/// multiply-add and division.
/// Reports whether each scheduler has its own.
pub fn pipes(reader: &mut Reader) -> Result<bool, ConfigError> {
    if let Some((sp, option)) = reader.take_number("-gpgpu_num_sp_units")? {
        // Integer instructions have pipes of their own there, or share the others'; here all are of one kind.
        let int = reader.take_number("-gpgpu_num_int_units")?.map_or(0, |(n, _)| n);
        reader.set("sm.alu", "pipes", sp.saturating_add(int), &option);
    }
    let special = reader.take_number("-gpgpu_num_sfu_units")?;
    if let Some((units, option)) = &special {
        reader.set("sm.sfu", "pipes", *units, option);
    }
    // Without pipes of its own double precision executes in the special-function units.
    let double = reader.take_number("-gpgpu_num_dp_units")?.filter(|(units, _)| *units > 0);
    if let Some((units, option)) = double.or(special) {
        reader.set("sm.fp64", "pipes", units, &option);
    }
    if let Some(option) = reader.take("-ptx_opcode_latency_int") {
        let latency = list(&option, ',', 5)?;
        reader.set("sm.alu", "int_latency", latency[0], &option);
        reader.set("sm.alu", "int_mul_latency", latency[2].max(latency[3]), &option);
        reader.note(&option, "maximum and division have no counterpart");
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
    initiation(reader)?;
    traced(reader)?;
    Ok(reader.take_number("-gpgpu_sub_core_model")?.is_some_and(|(n, _)| n != 0))
}

/// Takes `LATENCY,INITIATION` of the front end of traces, which has one of each kind; they go before those of PTX.
fn traced(reader: &mut Reader) -> Result<(), ConfigError> {
    for (kind, section, keys) in [
        ("sp", "sm.alu", &["fp32_latency"][..]),
        ("int", "sm.alu", &["int_latency", "int_mul_latency"]),
        ("dp", "sm.fp64", &["latency"]),
        ("sfu", "sm.sfu", &["latency", "div_latency"]),
    ] {
        let Some(option) = reader.take(&format!("-trace_opcode_latency_initiation_{kind}")) else { continue };
        let [latency, interval] = list(&option, ',', 2)?[..2] else {
            unreachable!("two numbers were asked for")
        };
        keys.iter().for_each(|key| reader.set(section, key, latency, &option));
        reader.note(&option, "taken for PTX, too, in place of its own");
        lanes(reader, section, interval, &option);
    }
    Ok(())
}

fn initiation(reader: &mut Reader) -> Result<(), ConfigError> {
    for (name, section, place) in [
        ("-ptx_opcode_initiation_int", "sm.alu", 0),
        ("-ptx_opcode_initiation_fp", "sm.sfu", 4),
        ("-ptx_opcode_initiation_dp", "sm.fp64", 0),
        ("-ptx_opcode_initiation_sfu", "sm.sfu", 0),
    ] {
        if let Some(option) = reader.take(name) {
            let interval = list(&option, ',', place + 1)?[place];
            lanes(reader, section, interval, &option);
        }
    }
    Ok(())
}

/// A pipe that takes a warp every `interval` cycles has 32/interval lanes; lanes are a power of two.
fn lanes(reader: &mut Reader, section: &'static str, interval: u32, option: &Opt) {
    let lanes = WARP / interval.clamp(1, WARP).next_power_of_two();
    if lanes * interval != WARP {
        reader.note(option, "not 32 over a power of two: taken as the next slower one");
    }
    reader.set(section, "lanes", lanes, option);
}
