//! Import of L1D, L2, partitions and interconnect.
use super::cores::ImportedClocks;
use super::options::Opt;
use super::reader::{OptionReader, list, whole, wrong};
use crate::cache::SECTOR_BYTES;
use crate::config::{ConfigError, MOST_L1D_BANKS, SHARED_CHOICES};

/// Default flits of the interface in front of a router's input.
const INTERFACE_FLITS: u32 = 9;

/// Bytes of a line, unless a file states them.
const DEFAULT_LINE: u32 = 128;

/// Default flits of the buffer behind a router's output.
const BOUNDARY_FLITS: u32 = 16;

/// Section of the configuration that a cache option sets.
struct CacheSection {
    section: &'static str,
    /// `true` for the L1D, `false` for the L2.
    is_l1d: bool,
}

/// Imports the L1D.
pub fn l1d(reader: &mut OptionReader) -> Result<(), ConfigError> {
    let line_bytes = match reader.take("-gpgpu_cache:dl1") {
        Some(option) => cache(reader, &option, &CacheSection { section: "l1d", is_l1d: true })?,
        None => DEFAULT_LINE,
    };
    for name in ["-l1_latency", "-gpgpu_l1_latency"] {
        // The latency precedes the tag lookup of every access. The data of a hit arrives one cycle after the lookup.
        if let Some((cycles, option)) = reader.take_number(name)? {
            reader.set("l1d", "front_latency", cycles.saturating_sub(1), &option);
            reader.set("l1d", "hit_latency", 1, &option);
        }
    }
    l1d_banks(reader, line_bytes / SECTOR_BYTES)
}

/// Imports the banks of the L1D, if they are interleaved by sectors and each sector of a line is in another bank.
fn l1d_banks(reader: &mut OptionReader, sectors: u32) -> Result<(), ConfigError> {
    if let Some((banks, option)) = reader.take_number("-gpgpu_l1_banks")? {
        let is_known = banks.is_power_of_two() && (sectors..=MOST_L1D_BANKS).contains(&banks);
        if !is_known && banks != 1 {
            reader.note(
                &option,
                "taken as 1, which takes a line per cycle: here each sector of a line has a bank",
            );
        }
        reader.set("l1d", "banks", if is_known { banks } else { 1 }, &option);
    }
    for (name, only, why) in [
        (
            "-gpgpu_l1_banks_byte_interleaving",
            SECTOR_BYTES,
            "banks here are interleaved by sectors of 32 bytes",
        ),
        ("-gpgpu_l1_banks_hashing_function", 0, "the bank here is the low bits of the sector's number"),
    ] {
        match reader.take_number(name)? {
            Some((number, option)) if number == only => reader.add_source("l1d", "banks", &option),
            Some((_, option)) => reader.note(&option, why),
            None => {}
        }
    }
    Ok(())
}

/// Imports the choice of loads that bypass the L1D, and the division of the memory between L1D and shared memory.
pub fn l1d_use(reader: &mut OptionReader) -> Result<(), ConfigError> {
    if let Some((skip, option)) = reader.take_number("-gpgpu_gmem_skip_L1D")? {
        reader.set_name("l1d", "bypass", if skip == 0 { "marked" } else { "all" }, &option);
    }
    let adapts = reader.take_number("-gpgpu_adaptive_cache_config")?;
    let unified = reader.take_number("-gpgpu_unified_l1d_size")?;
    let choices = reader.take("-gpgpu_shmem_option");
    if let (Some((1.., adapts)), Some((kilobytes, option)), Some(choices)) = (adapts, unified, choices) {
        let sizes = list(&choices, ',', 1)?;
        if sizes.len() > SHARED_CHOICES {
            return Err(wrong(&choices, &choices.value, "must be at most 10 sizes"));
        }
        let bytes = |size: u32| size.saturating_mul(1024);
        reader.set("l1d", "unified_bytes", bytes(kilobytes), &option);
        reader.add_source("l1d", "unified_bytes", &adapts);
        reader.set_list("l1d", "shared_choices", sizes.into_iter().map(bytes), &choices);
    }
    Ok(())
}

/// Imports the read-only caches. If the options declare instruction and constant caches perfect, these have no sets.
pub fn read_only(reader: &mut OptionReader) -> Result<(), ConfigError> {
    let perfect = reader.take_number("-gpgpu_perfect_inst_const_cache")?;
    for (name, section, may_be_perfect) in [
        ("-gpgpu_const_cache:l1", "sm.constant", true),
        ("-gpgpu_cache:il1", "sm.instruction", true),
        ("-gpgpu_tex_cache:l1", "sm.texture", false),
    ] {
        let Some(option) = reader.take(name) else { continue };
        match &perfect {
            Some((1.., perfect)) if may_be_perfect => {
                reader.set(section, "sets", 0, perfect);
                reader.add_source(section, "sets", &option);
            }
            _ => read_only_cache(reader, &option, section)?,
        }
    }
    Ok(())
}

/// Parses `[kind:]sets:line:ways,policies,kind:entries:merges,queue[...]`. The MSHR kind of a texture cache is a queue.
fn read_only_cache(
    reader: &mut OptionReader,
    option: &Opt,
    section: &'static str,
) -> Result<(), ConfigError> {
    let form = "must be SETS:LINE:WAYS,L:R:ALLOCATE:N,A:ENTRIES:MERGES,QUEUE";
    let parts: Vec<Vec<&str>> = option.value.split(',').map(|p| p.split(':').collect()).collect();
    let [shape, policies, mshr, queue, ..] = &parts[..] else {
        return Err(wrong(option, &option.value, form));
    };
    let shape = if let ["N" | "S", rest @ ..] = &shape[..] { rest } else { &shape[..] };
    let ([sets, line, ways], [_, entries, merges], [queue, ..]) = (shape, &mshr[..], &queue[..]) else {
        return Err(wrong(option, &option.value, form));
    };
    for (key, value) in [
        ("sets", sets),
        ("ways", ways),
        ("line_bytes", line),
        ("mshr_entries", entries),
        ("mshr_merges", merges),
        ("miss_queue", queue),
    ] {
        reader.set(section, key, whole(option, value)?, option);
    }
    if policies.get(2) == Some(&"m") {
        reader.note(option, "lines here are allocated on their fill");
    }
    if policies.get(4).is_some_and(|letter| *letter != "L") {
        reader.note(option, "a read-only cache here takes the low bits of the line's number for its set");
    }
    Ok(())
}

/// Imports the L2 slices, which are the sub-partitions of a memory channel.
pub fn l2(reader: &mut OptionReader, clocks: ImportedClocks) -> Result<(), ConfigError> {
    if let Some((slices, option)) = reader.take_number("-gpgpu_n_sub_partition_per_mchannel")? {
        reader.set("l2", "slices", slices, &option);
    }
    if let Some(option) = reader.take("-gpgpu_cache:dl2") {
        cache(reader, &option, &CacheSection { section: "l2", is_l1d: false })?;
        // The kind of cache is in files of 4.x, which has this option and sets it by default.
        if option.value.starts_with(['N', 'S']) {
            reader.set_flag("l2", "fill_on_copy", true, &option);
        }
    }
    if let Some((fills, option)) = reader.take_number("-gpgpu_perf_sim_memcpy")? {
        reader.set_flag("l2", "fill_on_copy", fills != 0, &option);
    }
    // Both options state the latency before the L2 replies, in core cycles.
    for name in ["-rop_latency", "-gpgpu_l2_rop_latency"] {
        if let Some((cycles, option)) = reader.take_number(name)? {
            reader.set("l2", "hit_latency", clocks.l2_cycles(cycles), &option);
        }
    }
    Ok(())
}

/// Parses `[kind:]sets:line:ways,replacement:write:allocate:write-allocate[:index],mshr:entries:merges,queue[...]`. Returns the
/// bytes of a line.
fn cache(reader: &mut OptionReader, option: &Opt, target: &CacheSection) -> Result<u32, ConfigError> {
    let form = "must be SETS:LINE:WAYS,L:WRITE:ALLOCATE:WRITE_ALLOCATE:INDEX,A:ENTRIES:MERGES,QUEUE";
    let parts: Vec<Vec<&str>> = option.value.split(',').map(|p| p.split(':').collect()).collect();
    let [shape, policies, mshr, queue, ..] = &parts[..] else {
        return Err(wrong(option, &option.value, form));
    };
    let (shape, is_sectored) = match &shape[..] {
        ["N", rest @ ..] => (rest, false),
        ["S", rest @ ..] => (rest, true),
        all => (all, false),
    };
    let [sets, line, ways] = shape else { return Err(wrong(option, &option.value, form)) };
    let ([_, entries, merges], [_, _, allocate, _, ..]) = (&mshr[..], &policies[..]) else {
        return Err(wrong(option, &option.value, form));
    };
    let sets = whole(option, sets)?;
    reader.set(target.section, "sets", sets, option);
    let line = whole(option, line)?;
    reader.set(target.section, "line_bytes", line, option);
    reader.set(target.section, "sector_bytes", if is_sectored { SECTOR_BYTES } else { line }, option);
    reader.set(target.section, "ways", whole(option, ways)?, option);
    reader.set(target.section, "mshr_entries", whole(option, entries)?, option);
    reader.set(target.section, "mshr_merges", whole(option, merges)?, option);
    if !target.is_l1d {
        reader.set(
            "l2",
            "eviction_queue",
            whole(option, queue.first().copied().unwrap_or_default())?,
            option,
        );
        // `QUEUE[:RESULTS],PORT`
        if let Some([port]) = parts.get(4).map(|p| &p[..]) {
            reader.set("l2", "port_bytes", whole(option, port)?, option);
        }
        // A sub-partition splits requests to a sectored L2 into requests to single sectors.
        reader.set_flag("l2", "split_requests", is_sectored, option);
    }
    if target.is_l1d {
        reader.set("l1d", "miss_queue", whole(option, queue.first().copied().unwrap_or_default())?, option);
    }
    match *allocate {
        "m" => reader.set_name(target.section, "allocate", "on-miss", option),
        "f" | "s" => reader.set_name(target.section, "allocate", "on-fill", option),
        _ => reader.note(option, "no counterpart of its allocation: there are m and f"),
    }
    write_policies(reader, option, policies, target);
    fixed_policies(reader, option, policies, mshr);
    index(reader, option, target.section, "index", policies.get(4).copied().unwrap_or("L"), sets);
    Ok(line)
}

/// Imports the behavior of stores, the second and fourth of the policies.
fn write_policies(reader: &mut OptionReader, option: &Opt, policies: &[&str], target: &CacheSection) {
    let (write, why) = match (policies.get(1).copied(), target.is_l1d) {
        (Some("E"), true) => ("write-evict", None),
        // GPGPU-Sim's name of this policy contains write-through, but its global stores evict.
        (Some("L"), true) => ("local-write-back", None),
        (Some("B"), true) => ("write-back", None),
        (Some("T"), true) => ("write-through", None),
        (_, true) => ("write-evict", Some("stores here go to the L2: taken as write-evict")),
        (Some("B"), false) => ("write-back", None),
        (Some("T"), false) => ("write-through", None),
        (_, false) => ("write-back", Some("no counterpart of its write policy: taken as write-back")),
    };
    reader.set_name(target.section, "write_policy", write, option);
    why.into_iter().for_each(|why| reader.note(option, why));
    let allocate = match (policies.get(3).copied(), target.is_l1d) {
        (Some("N") | None, true) => return,
        (_, true) => return reader.note(option, "stores here allocate nothing in the L1D"),
        (Some("N"), false) => "none",
        (Some("L"), false) => "mask",
        (Some("F"), false) => "fetch",
        (Some("W"), false) => "forward-and-fetch",
        _ => {
            reader.note(option, "no counterpart of its write allocation: there are N, W, F and L");
            "fetch"
        }
    };
    reader.set_name(target.section, "write_allocate", allocate, option);
}

/// Adds a note for each policy that differs from the only one that the simulator supports.
fn fixed_policies(reader: &mut OptionReader, option: &Opt, policies: &[&str], mshr: &[&str]) {
    if policies.first() != Some(&"L") {
        reader.note(option, "replacement here is least recently used");
    }
    // S waits for all sectors of a line, as every load of a whole line does in the simulator.
    if !matches!(mshr.first(), Some(&"A" | &"S")) {
        reader.note(option, "miss-status registers here are associative");
    }
}

/// Imports an index function from its letter in GPGPU-Sim.
fn index(
    reader: &mut OptionReader,
    option: &Opt,
    section: &'static str,
    key: &'static str,
    letter: &str,
    places: u32,
) {
    let name = match letter {
        "L" => "bmod",
        "X" => "bxor",
        "P" => "i-poly",
        "H" => "fermi",
        _ => {
            reader.note(option, "no counterpart of its index function: taken as bmod");
            "bmod"
        }
    };
    let is_defined = match name {
        "fermi" => section == "l1d" && matches!(places, 32 | 64),
        "i-poly" if key == "partition_index" => (9..=64).contains(&places),
        _ => places.is_power_of_two() && (16..=1024).contains(&places),
    };
    if name != "bmod" && !is_defined {
        reader
            .note(option, "its index function is not defined for so many sets or partitions: taken as bmod");
    }
    reader.set_name(section, key, if is_defined { name } else { "bmod" }, option);
}

/// Imports the partitions: their number, the distribution of addresses, and the queues around the L2.
pub fn partitions(reader: &mut OptionReader) -> Result<(), ConfigError> {
    let mut partitions = 6;
    if let Some((number, option)) = reader.take_number("-gpgpu_n_mem")? {
        reader.set("l2", "partitions", number, &option);
        partitions = number;
    }
    if let Some((number, option)) = reader.take_number("-gpgpu_memory_partition_indexing")? {
        let letter = ["L", "X", "P"].get(number as usize).copied().unwrap_or("custom");
        index(reader, &option, "l2", "partition_index", letter, partitions);
    }
    let queues = ["-gpgpu_dram_partition_queues", "-dram_partition_queues"].map(|name| reader.take(name));
    if let Some(option) = queues.into_iter().flatten().next() {
        let lengths = list(&option, ':', 4)?;
        reader.set("l2", "request_queue", lengths[0], &option);
        reader.set("l2", "dram_queue", lengths[1], &option);
        reader.set("l2", "reply_queue", lengths[3], &option);
        reader.note(&option, "the queue from DRAM to L2 has no counterpart");
    }
    Ok(())
}

/// Imports the crossbar, from the file of the interconnect or from the options of the simulator.
pub fn interconnect(reader: &mut OptionReader, has_file: bool) -> Result<(), ConfigError> {
    if let Some(option) = reader.take("-inter_config_file") {
        let why = if has_file { "ignored: --icnt names the file" } else { "not read: name it with --icnt" };
        reader.note(&option, why);
    }
    if let Some((mode, option)) = reader.take_number("-network_mode")? {
        match mode {
            1 => reader.note(&option, "ignored: 1 is the network of a file, which --icnt names"),
            2 => return built_in_crossbar(reader, &option),
            _ => {
                reader.note(&option, "no counterpart; there are 1 (the network of a file) and 2 (a crossbar)")
            }
        }
    }
    for name in ["-icnt_flit_size", "flit_size"] {
        reader.copy(name, "interconnect", "flit_bytes")?;
    }
    let [channels, interface, boundary, ejection] =
        ["num_vcs", "input_buffer_size", "boundary_buffer_size", "ejection_buffer_size"]
            .map(|name| reader.take_number(name));
    let [channels, interface, boundary, ejection] = [channels?, interface?, boundary?, ejection?];
    let stated = |given: &Option<(u32, Opt)>| given.as_ref().map(|(n, _)| *n);
    let virtual_channels = stated(&channels).unwrap_or(1);
    if let Some((flits, option)) = reader.take_number("vc_buf_size")? {
        // A size of 0 selects the default of the interconnect simulator.
        let in_front = stated(&interface).filter(|n| *n > 0).unwrap_or(INTERFACE_FLITS);
        let behind = stated(&ejection).filter(|n| *n > 0).unwrap_or(flits);
        let input = flits.saturating_mul(virtual_channels).saturating_add(in_front);
        let output = behind.saturating_add(stated(&boundary).unwrap_or(BOUNDARY_FLITS));
        reader.set("interconnect", "input_flits", input, &option);
        reader.set("interconnect", "output_flits", output, &option);
        for (key, given) in [
            ("input_flits", &channels),
            ("input_flits", &interface),
            ("output_flits", &ejection),
            ("output_flits", &boundary),
        ] {
            given.iter().for_each(|(_, option)| reader.add_source("interconnect", key, option));
        }
    }
    packet_gap(reader, virtual_channels)
}

/// Imports GPGPU-Sim's built-in crossbar, which needs no file. Each port moves a packet per cycle.
fn built_in_crossbar(reader: &mut OptionReader, option: &Opt) -> Result<(), ConfigError> {
    reader.copy("-icnt_flit_size", "interconnect", "flit_bytes")?;
    reader.copy("-icnt_in_buffer_limit", "interconnect", "input_flits")?;
    reader.copy("-icnt_out_buffer_limit", "interconnect", "output_flits")?;
    reader.set("interconnect", "latency", 1, option);
    reader.set("interconnect", "packet_gap", 0, option);
    for name in [
        "flit_size",
        "internal_speedup",
        "num_vcs",
        "input_buffer_size",
        "boundary_buffer_size",
        "ejection_buffer_size",
        "vc_buf_size",
        "vc_alloc_delay",
    ] {
        if let Some(option) = reader.take(name) {
            reader.note(&option, "the crossbar of network mode 2 looks at no file");
        }
    }
    Ok(())
}

/// Imports the gap between packets. The only virtual channel of a port is allocated again for each packet, which stops the flits.
/// A router with a speedup or with several virtual channels hides this delay.
fn packet_gap(reader: &mut OptionReader, channels: u32) -> Result<(), ConfigError> {
    let speedup = reader.take("internal_speedup");
    let factor = speedup.as_ref().and_then(|option| option.value.parse::<f64>().ok());
    let is_faster = factor.is_some_and(|factor| factor > 1.0);
    if let Some((cycles, option)) = reader.take_number("vc_alloc_delay")? {
        let hidden = is_faster || channels > 1;
        reader.set("interconnect", "packet_gap", if hidden { 0 } else { cycles }, &option);
        speedup.iter().for_each(|option| reader.add_source("interconnect", "packet_gap", option));
    }
    Ok(())
}
