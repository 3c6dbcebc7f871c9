//! Import of the DRAM channels.
use super::cores::ImportedClocks;
use super::options::Opt;
use super::reader::{OptionReader, list, whole, wrong};
use crate::config::{AddressField, AddressMapping, ConfigError};

/// `true` if a file sets the bank bits of an address. Otherwise the mapping of the base applies, which fits only 16 banks.
#[derive(Clone, Copy)]
pub struct HasMapping(bool);

/// Imports bus, queue and address mapping of a channel.
pub fn channel(reader: &mut OptionReader, clocks: ImportedClocks) -> Result<HasMapping, ConfigError> {
    if let Some((cycles, option)) = reader.take_number("-dram_latency")? {
        reader.set("dram", "controller_latency", clocks.dram_cycles(cycles), &option);
    }
    if let Some((number, option)) = reader.take_number("-gpgpu_dram_scheduler")? {
        match number {
            0 => reader.set_name("dram", "scheduler", "fcfs", &option),
            1 => reader.set_name("dram", "scheduler", "fr-fcfs", &option),
            _ => reader.note(
                &option,
                "no counterpart; there are 0 (first come, first served) and 1 (row hits first)",
            ),
        }
    }
    for name in ["-gpgpu_dram_sched_queue_size", "-gpgpu_frfcfs_dram_sched_queue_size"] {
        if let Some((size, option)) = reader.take_number(name)? {
            queue(reader, size, &option);
        }
    }
    other_queues(reader)?;
    reader.copy("-dram_data_command_freq_ratio", "dram", "data_rate")?;
    bus(reader)?;
    address_mapping(reader)
}

/// Imports the size of the scheduler's queue, which holds reads and writes.
fn queue(reader: &mut OptionReader, size: u32, option: &Opt) {
    const LARGEST: u32 = 1024;
    let size = if size == 0 {
        reader.note(option, "no queue is unlimited: taken as 1024");
        LARGEST
    } else {
        size
    };
    reader.set("dram", "queue", size, option);
}

/// Imports the reply queue, and the separate write queue `SIZE:HIGH:LOW`, if there is one.
fn other_queues(reader: &mut OptionReader) -> Result<(), ConfigError> {
    if let Some((size, option)) = reader.take_number("-gpgpu_dram_return_queue_size")? {
        // In GPGPU-Sim 0 means unlimited.
        reader.set("dram", "return_queue", if size == 0 { 1024 } else { size }, &option);
    }
    let apart = reader.take_number("-dram_seperate_write_queue_enable")?;
    let writes = ["-dram_write_queue_size", "-gpgpu_dram_write_queue_size"].map(|name| reader.take(name));
    if let (Some((1.., apart)), Some(option)) = (apart, writes.into_iter().flatten().next()) {
        let sizes = list(&option, ':', 3)?;
        reader.set("dram", "write_queue", sizes[0], &option);
        reader.add_source("dram", "write_queue", &apart);
        reader.set("dram", "write_high", sizes[1], &option);
        reader.set("dram", "write_low", sizes[2], &option);
    }
    Ok(())
}

/// Imports the data bus, which consists of parallel chips, and the burst, which is a number of transfers on the bus.
fn bus(reader: &mut OptionReader) -> Result<(), ConfigError> {
    let chips = reader.take_number("-gpgpu_n_mem_per_ctrlr")?;
    let width = reader.take_number("-gpgpu_dram_buswidth")?;
    let length = reader.take_number("-gpgpu_dram_burst_length")?;
    let Some((_, option)) = [&width, &chips, &length].into_iter().flatten().next() else { return Ok(()) };
    // GPGPU-Sim's defaults are one chip of 4 bytes and bursts of 4 transfers.
    let [side_by_side, bytes_each, transfers] = [(&chips, 1), (&width, 4), (&length, 4)]
        .map(|(given, default)| given.as_ref().map_or(default, |(n, _)| *n));
    let bytes = side_by_side.saturating_mul(bytes_each);
    reader.set("dram", "bus_bytes", bytes, option);
    let source = length.as_ref().map_or(option, |(_, o)| o);
    reader.set("dram", "burst_bytes", bytes.saturating_mul(transfers), source);
    [&width, &chips].into_iter().flatten().for_each(|(_, o)| reader.add_source("dram", "bus_bytes", o));
    Ok(())
}

/// Imports `dramid@8;...RRRR.BBBCCCCB.CCSSSSSS`: the position of the channel bits in the address, and a letter per remaining bit.
fn address_mapping(reader: &mut OptionReader) -> Result<HasMapping, ConfigError> {
    let Some(option) = reader.take("-gpgpu_mem_addr_mapping") else { return Ok(HasMapping(false)) };
    let Some((place, _)) = option.value.split_once(';') else {
        reader.note(&option, "no counterpart without dramid@BIT");
        return Ok(HasMapping(false));
    };
    let bit = whole(&option, place.trim_start_matches("dramid@"))?;
    let power = |bits: u32| {
        1u32.checked_shl(bits).ok_or_else(|| wrong(&option, &option.value, "must be fewer than 32 bits"))
    };
    let interleave = power(bit)?;
    let mapping = AddressMapping::parse(&option.value)
        .map_err(|why| wrong(&option, &option.value, &why.to_string()))?;
    let column_bits = mapping.bits().iter().filter(|b| b.field == AddressField::Column).count() as u32;
    // The lowest bits of the bank number select the sub-partition of a channel.
    if let Some(lowest) = mapping.bits().iter().rev().find(|b| b.field == AddressField::Bank) {
        reader.set("l2", "slice_bytes", power(lowest.bit)?, &option);
    }
    reader.set("l2", "interleave_bytes", interleave, &option);
    reader.set("dram", "row_bytes", power(column_bits)?, &option);
    reader.set_name("dram", "mapping", &option.value, &option);
    Ok(HasMapping(true))
}

/// Names of the timings, in the order of the form without names.
const TIMINGS: [&str; 14] =
    ["nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR", "nbkgrp", "CCDL", "RTPL"];

/// Returns the key of a timing.
fn key(name: &str) -> Option<&'static str> {
    Some(match name {
        "nbk" => "banks",
        "CCD" => "tccd",
        "RRD" => "trrd",
        "RCD" => "trcd",
        "RAS" => "tras",
        "RP" => "trp",
        "RC" => "trc",
        "CL" => "tcl",
        "WL" => "tcwl",
        "CDLR" => "tcdlr",
        "WR" => "twr",
        "RTPL" => "trtp",
        "nbkgrp" => "bank_groups",
        "CCDL" => "tccdl",
        _ => return None,
    })
}

/// Imports the timing, given with names or in order.
pub fn timing(reader: &mut OptionReader, HasMapping(has_mapping): HasMapping) -> Result<(), ConfigError> {
    let Some(option) = reader.take("-gpgpu_dram_timing_opt") else { return Ok(()) };
    let mut pairs = Vec::new();
    if option.value.contains('=') {
        for part in option.value.split(':').map(str::trim).filter(|p| !p.is_empty()) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| wrong(&option, part, "must be NAME=CYCLES"))?;
            pairs.push((name.trim(), whole(&option, value)?));
        }
    } else {
        pairs.extend(TIMINGS.into_iter().zip(list(&option, ':', 11)?));
    }
    let mut is_whole = true;
    for (name, cycles) in pairs {
        match key(name) {
            // Without bank groups, GPGPU-Sim's time from read to precharge is 0. The min here is one cycle.
            Some("trtp") => reader.set("dram", "trtp", cycles.max(1), &option),
            Some(key) => reader.set("dram", key, cycles, &option),
            None => is_whole = false,
        }
        if name == "nbk" && !has_mapping {
            reader.set_name("dram", "mapping", "", &option);
        }
    }
    if !is_whole {
        reader.note(&option, "there are names that have no counterpart");
    }
    Ok(())
}

/// Imports which bits of a bank's number are its group.
pub fn bank_groups(reader: &mut OptionReader) -> Result<(), ConfigError> {
    if let Some((policy, option)) = reader.take_number("-dram_bnkgrp_indexing_policy")? {
        match policy {
            0 => reader.set_name("dram", "bank_group_bits", "high", &option),
            1 => reader.set_name("dram", "bank_group_bits", "low", &option),
            _ => reader
                .note(&option, "no counterpart; there are 0 (the bank's high bits) and 1 (its low bits)"),
        }
    }
    Ok(())
}
