//! Operand collection: register banks, collector units, their ports, and the registers between the stages.
use super::options::Opt;
use super::reader::{Reader, list};
use crate::config::ConfigError;

/// Kinds of pipe that have collector units and registers of their own there, with GPGPU-Sim's own defaults of units.
const KINDS: [(&str, &str, u32); 4] = [
    ("sp", "sm.collector.alu", 4),
    ("dp", "sm.collector.fp64", 0),
    ("sfu", "sm.collector.sfu", 4),
    ("mem", "sm.collector.memory", 2),
];

/// Takes operand collection.
pub fn collector(reader: &mut Reader, has_sub_cores: bool) -> Result<(), ConfigError> {
    let Some((banks, option)) = reader.take_number("-gpgpu_num_reg_banks")? else { return Ok(()) };
    reader.set("sm.collector", "banks", banks, &option);
    reader.set_flag("sm.collector", "sub_cores", has_sub_cores, &option);
    if let Some((steps, option)) = reader.take_number("-gpgpu_reg_file_port_throughput")? {
        reader.set("sm.collector", "steps", steps, &option);
    }
    let widths = widths(reader)?;
    let is_specialized =
        reader.take_number("-gpgpu_enable_specialized_operand_collector")?.is_none_or(|(n, _)| n != 0);
    let (general, places, _) = units(reader, "gen", 0, &option)?;
    if general > 0 {
        reader.set("sm.collector.shared", "units", general, &option);
        reader.set("sm.collector.shared", "ports", places, &option);
    }
    let mut memory_units = general;
    let mut special = (0, 0);
    for (kind, section, default) in KINDS {
        let (mut count, ports, source) = units(reader, kind, default, &option)?;
        if !is_specialized {
            count = 0;
        }
        if kind == "sfu" {
            special = (count, ports);
        }
        if kind == "mem" && count > 0 {
            memory_units = count;
        }
        reader.set(section, "units", count, &source);
        reader.set(section, "ports", ports, &source);
        reader.set(section, "registers", widths.of(kind).max(1), &source);
    }
    if widths.of("dp") == 0 {
        // Without pipes of its own double precision executes in the special-function units, by way of their collectors.
        for (key, value) in
            [("units", special.0), ("ports", special.1), ("registers", widths.of("sfu").max(1))]
        {
            reader.set("sm.collector.fp64", key, value, &option);
        }
    }
    // What waits between issue and the caches: both registers, the units, and the unit's own register.
    reader.set("sm.lsu", "queue", (2 * widths.of("mem").max(1) + memory_units + 1).min(64), &option);
    Ok(())
}

/// Units, ports and the option that states the units.
fn units(reader: &mut Reader, kind: &str, default: u32, base: &Opt) -> Result<(u32, u32, Opt), ConfigError> {
    let mut number = |what: &str| reader.take_number(&format!("-gpgpu_operand_collector_num_{what}_{kind}"));
    let (units, source) = number("units")?.unwrap_or((default, base.clone()));
    let [into, out] = [number("in_ports")?, number("out_ports")?];
    // GPGPU-Sim's own default is a port of each.
    let ports = [into, out].into_iter().flatten().map(|(ports, _)| ports).min().unwrap_or(1);
    Ok((units, ports.max(u32::from(units > 0)), source))
}

/// Instructions that the registers in front of each kind's units hold.
struct Widths {
    sp: u32,
    dp: u32,
    int: u32,
    sfu: u32,
    mem: u32,
}

impl Widths {
    fn of(&self, kind: &str) -> u32 {
        match kind {
            "sp" => self.sp + self.int,
            "dp" => self.dp,
            "sfu" => self.sfu,
            _ => self.mem,
        }
    }
}

/// `-gpgpu_pipeline_widths`: of 4.x SP, DP, INT, SFU and MEM first, of 3.x SP, SFU and MEM.
fn widths(reader: &mut Reader) -> Result<Widths, ConfigError> {
    let Some(option) = reader.take("-gpgpu_pipeline_widths") else {
        return Ok(Widths { sp: 1, dp: 0, int: 0, sfu: 1, mem: 1 });
    };
    Ok(match list(&option, ',', 7)?[..] {
        [sp, dp, int, sfu, mem, _, _, _, ..] => Widths { sp, dp, int, sfu, mem },
        [sp, sfu, mem, ..] => Widths { sp, dp: 0, int: 0, sfu, mem },
        _ => unreachable!("seven numbers were asked for"),
    })
}
