//! Import of operand collection: register banks, collector units, their ports, and the registers between the stages.
use super::options::Opt;
use super::reader::{OptionReader, list};
use crate::config::ConfigError;

/// Kinds of pipe with their own collector units in GPGPU-Sim: name, section here, and GPGPU-Sim's default number of units.
const KINDS: [(&str, &str, u32); 6] = [
    ("sp", "sm.collector.alu", 4),
    ("dp", "sm.collector.fp64", 0),
    ("sfu", "sm.collector.sfu", 4),
    ("mem", "sm.collector.memory", 2),
    ("tensor_core", "sm.collector.tensor", 4),
    ("int", "sm.collector.int", 0),
];

/// Imports operand collection.
pub fn collector(
    reader: &mut OptionReader,
    has_integer_pipes: bool,
    has_tensor_cores: bool,
) -> Result<(), ConfigError> {
    let Some((banks, option)) = reader.take_number("-gpgpu_num_reg_banks")? else { return Ok(()) };
    reader.set("sm.collector", "banks", banks, &option);
    // Without sub-cores, the registers of each scheduler serve every pipe.
    let sub_cores = reader.take_number("-gpgpu_sub_core_model")?;
    let (has_sub_cores, source) =
        sub_cores.as_ref().map_or((false, &option), |(number, source)| (*number != 0, source));
    reader.set_flag("sm.collector", "sub_cores", has_sub_cores, source);
    if let Some((steps, option)) = reader.take_number("-gpgpu_reg_file_port_throughput")? {
        reader.set("sm.collector", "steps", steps, &option);
    }
    let widths = widths(reader)?;
    let specialized = reader.take_number("-gpgpu_enable_specialized_operand_collector")?;
    let is_specialized = specialized.as_ref().is_none_or(|(n, _)| *n != 0);
    let general = units(reader, "gen", 0, &option)?;
    if general.count > 0 {
        general.set(reader, "sm.collector.shared", general.count);
    }
    let mut memory_units = general.count;
    let mut special = (0, 0);
    for (kind, section, default) in KINDS {
        if kind == "tensor_core" && !has_tensor_cores || kind == "int" && !has_integer_pipes {
            continue;
        }
        let own = units(reader, kind, default, &option)?;
        let count = if is_specialized { own.count } else { 0 };
        if kind == "sfu" {
            special = (count, own.ports);
        }
        if kind == "mem" && count > 0 {
            memory_units = count;
        }
        own.set(reader, section, count);
        specialized.iter().for_each(|(_, option)| reader.add_source(section, "units", option));
        reader.set(section, "registers", widths.of(kind).max(1), widths.source(&option));
    }
    if widths.of("dp") == 0 {
        // Without double-precision pipes, the special-function units and their collectors execute double precision.
        for (key, value) in
            [("units", special.0), ("ports", special.1), ("registers", widths.of("sfu").max(1))]
        {
            reader.set("sm.collector.fp64", key, value, &option);
        }
    }
    // Instructions between issue and the caches: in the registers before and behind the units, the units, and the load/store
    // unit's own register.
    let queue = 2u32.saturating_mul(widths.of("mem").max(1)).saturating_add(memory_units).saturating_add(1);
    reader.set("sm.lsu", "queue", queue.min(64), widths.source(&option));
    Ok(())
}

/// Collector units of a kind of pipe.
struct PipeUnits {
    count: u32,
    ports: u32,
    /// Option that sets the number of units.
    source: Opt,
    /// Options that set the number of ports.
    port_sources: Vec<Opt>,
}

impl PipeUnits {
    /// Sets the ports and `count` units. `count` may be lower than the imported number.
    fn set(&self, reader: &mut OptionReader, section: &'static str, count: u32) {
        reader.set(section, "units", count, &self.source);
        let source = self.port_sources.first().unwrap_or(&self.source);
        reader.set(section, "ports", self.ports, source);
        self.port_sources.iter().for_each(|option| reader.add_source(section, "ports", option));
    }
}

/// Imports the units of a kind and their ports.
fn units(reader: &mut OptionReader, kind: &str, default: u32, base: &Opt) -> Result<PipeUnits, ConfigError> {
    let mut number = |what: &str| reader.take_number(&format!("-gpgpu_operand_collector_num_{what}_{kind}"));
    let (count, source) = number("units")?.unwrap_or((default, base.clone()));
    let ports = [number("in_ports")?, number("out_ports")?].into_iter().flatten();
    let (ports, port_sources): (Vec<u32>, Vec<Opt>) = ports.unzip();
    // GPGPU-Sim's default is one port of each direction.
    let ports = ports.into_iter().min().unwrap_or(1).max(u32::from(count > 0));
    Ok(PipeUnits { count, ports, source, port_sources })
}

/// Instructions that the registers in front of each kind's units hold.
struct RegisterWidths {
    /// Option that sets the widths, if given.
    option: Option<Opt>,
    sp: u32,
    dp: u32,
    int: u32,
    sfu: u32,
    mem: u32,
    tensor: u32,
}

impl RegisterWidths {
    /// Returns the option that sets the widths, or `other`.
    fn source<'a>(&'a self, other: &'a Opt) -> &'a Opt {
        self.option.as_ref().unwrap_or(other)
    }

    fn of(&self, kind: &str) -> u32 {
        match kind {
            "sp" => self.sp,
            "int" => self.int,
            "dp" => self.dp,
            "sfu" => self.sfu,
            "tensor_core" => self.tensor,
            _ => self.mem,
        }
    }
}

/// Imports `-gpgpu_pipeline_widths`. In 4.x it begins with SP, DP, INT, SFU and MEM, and the tensor cores are twelfth; in 3.x it begins
/// with SP, SFU and MEM.
fn widths(reader: &mut OptionReader) -> Result<RegisterWidths, ConfigError> {
    let Some(option) = reader.take("-gpgpu_pipeline_widths") else {
        return Ok(RegisterWidths { option: None, sp: 1, dp: 0, int: 0, sfu: 1, mem: 1, tensor: 1 });
    };
    let widths = list(&option, ',', 7)?;
    let (sp, dp, int, sfu, mem) = match widths[..] {
        [sp, dp, int, sfu, mem, _, _, _, ..] => (sp, dp, int, sfu, mem),
        [sp, sfu, mem, ..] => (sp, 0, 0, sfu, mem),
        _ => unreachable!("seven numbers were asked for"),
    };
    let tensor = widths.get(11).copied().unwrap_or(1);
    Ok(RegisterWidths { option: Some(option), sp, dp, int, sfu, mem, tensor })
}
