//! The machine's description: a TOML file, parsed and validated once into plain structs.
//!
//! Every value has a unit and a range. A file may name another configuration as its `base` and then states only
//! what differs. Mistakes are reported as one line: file, line, key, value and what is allowed.
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The configurations that are built in: name and TOML text.
pub const BUILT_IN: [(&str, &str); 1] = [("gtx480", include_str!("../configs/gtx480.toml"))];

/// A mistake in a configuration, in one line.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No built-in configuration and no file of that name.
    #[error("configuration `{name}`: neither a built-in one ({allowed}) nor a readable file: {why}")]
    NotFound {
        /// What was asked for.
        name: String,
        /// The built-in names.
        allowed: String,
        /// The operating system's answer.
        why: String,
    },
    /// The text is not TOML of the expected form.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file or built-in name.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A value is out of range or contradicts another.
    #[error("{file}:{line}: {key} = {value}: {allowed}")]
    Value {
        /// The file or built-in name.
        file: String,
        /// Line number, from 1 (0 when the value came from the base configuration).
        line: usize,
        /// The key with its section.
        key: String,
        /// The value given.
        value: String,
        /// What is allowed.
        allowed: String,
    },
}

/// Clock domains in MHz.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// The SMs' clock; simulated cycles are cycles of this clock.
    pub core_mhz: u32,
    /// The crossbar's clock.
    pub interconnect_mhz: u32,
    /// The L2 partitions' clock.
    pub l2_mhz: u32,
    /// The DRAM's command clock.
    pub dram_mhz: u32,
}

/// A warp scheduler's policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerPolicy {
    /// Greedy then oldest: the warp that issued last goes on until it stalls, then the oldest ready one.
    Gto,
    /// Loose round-robin.
    Lrr,
}

/// The integer and single-precision pipes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alu {
    /// Number of pipes.
    pub pipes: u32,
    /// Lanes of one pipe: it accepts a warp every 32/lanes cycles.
    pub lanes: u32,
    /// Issue to result of integer, logic, move and conversion instructions, cycles.
    pub int_latency: u32,
    /// Issue to result of single-precision instructions, cycles.
    pub fp32_latency: u32,
    /// Issue to result of integer multiplication, cycles.
    pub int_mul_latency: u32,
}

/// A group of equal pipes with one latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipe {
    /// Number of pipes.
    pub pipes: u32,
    /// Lanes of one pipe: it accepts a warp every 32/lanes cycles.
    pub lanes: u32,
    /// Issue to result, cycles.
    pub latency: u32,
    /// Issue to result of a division or square root, cycles: what the instruction sequence takes that hardware
    /// executes for it. Single-precision and integer division run in the special-function pipes.
    pub div_latency: u32,
}

/// The load/store unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lsu {
    /// Lanes: an instruction occupies address generation for 32/lanes cycles.
    pub lanes: u32,
    /// Shared-memory banks of 4 bytes.
    pub shared_banks: u32,
    /// Issue to result of a conflict-free shared-memory load, cycles.
    pub shared_latency: u32,
    /// Issue to result of a constant or parameter load, cycles (constant cache always hits).
    pub const_latency: u32,
    /// Memory instructions that wait for the L1D or shared memory.
    pub queue: u32,
}

/// One streaming multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sm {
    /// Number of SMs in the GPU.
    pub count: u32,
    /// Warp slots of an SM.
    pub warps: u32,
    /// CTA slots of an SM.
    pub ctas: u32,
    /// Threads resident in an SM.
    pub threads: u32,
    /// 32-bit registers of an SM.
    pub registers: u32,
    /// Shared memory of an SM, bytes.
    pub shared_bytes: u32,
    /// Warp schedulers; warp w belongs to scheduler w mod schedulers.
    pub schedulers: u32,
    /// The schedulers' policy.
    pub scheduler: SchedulerPolicy,
    /// Issue of a branch, barrier or fence to the earliest issue of the warp's next instruction, cycles.
    pub branch_latency: u32,
    /// Integer and fp32 pipes.
    pub alu: Alu,
    /// Double-precision pipes.
    pub fp64: Pipe,
    /// Special-function pipes.
    pub sfu: Pipe,
    /// Load/store unit.
    pub lsu: Lsu,
}

/// Which line maps to which set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexFunction {
    /// Line number modulo the number of sets (BMOD).
    Modulo,
}

/// When a miss takes its line slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocate {
    /// When the miss is sent; the slot is reserved until the data comes.
    OnMiss,
    /// When the data comes.
    OnFill,
}

/// What a store does in the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// A hit line is evicted, the store goes to the L2; a miss does not allocate.
    WriteEvict,
}

/// The L1 data cache of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1d {
    /// Sets, a power of two.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Line size, bytes.
    pub line_bytes: u32,
    /// Sector size, bytes; the line size when the cache is not sectored.
    pub sector_bytes: u32,
    /// Set index function.
    pub index: IndexFunction,
    /// Access to data for a hit, cycles.
    pub hit_latency: u32,
    /// Misses in flight.
    pub mshr_entries: u32,
    /// Requests merged into one miss, the first one included.
    pub mshr_merges: u32,
    /// Requests that wait for the crossbar.
    pub miss_queue: u32,
    /// Store policy.
    pub write_policy: WritePolicy,
    /// Line allocation policy.
    pub allocate: Allocate,
}

/// The two crossbars, one per direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interconnect {
    /// Flit size, bytes; a port moves one flit each crossbar cycle.
    pub flit_bytes: u32,
    /// Capacity of each input queue, flits.
    pub input_flits: u32,
    /// Capacity of each ejection queue, flits.
    pub output_flits: u32,
    /// Head flit, input to ejection queue, in an empty network, crossbar cycles.
    pub latency: u32,
}

/// The L2 cache and its partitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Partitions; each has a slice of the L2 and a memory controller.
    pub partitions: u32,
    /// Sets of a slice, a power of two.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Line size, bytes.
    pub line_bytes: u32,
    /// Set index function.
    pub index: IndexFunction,
    /// Request queue to reply queue for a hit, L2 cycles.
    pub hit_latency: u32,
    /// Misses in flight of a slice.
    pub mshr_entries: u32,
    /// Requests merged into one miss, the first one included.
    pub mshr_merges: u32,
    /// Requests that wait for the slice.
    pub request_queue: u32,
    /// Answers that wait for the crossbar.
    pub reply_queue: u32,
    /// Requests that wait for the memory controller.
    pub dram_queue: u32,
    /// Dirty lines that wait to leave for the memory controller.
    pub eviction_queue: u32,
    /// Consecutive bytes that lie in one partition, a power of two.
    pub interleave_bytes: u32,
}

/// How the memory controller chooses the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DramScheduler {
    /// Row hits first, then the oldest, with a bound on starvation.
    FrFcfs,
    /// Strictly the oldest.
    Fcfs,
}

/// A partition's DRAM channel. Times are in command-clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Banks of a channel.
    pub banks: u32,
    /// Bytes of a row (page) of one bank.
    pub row_bytes: u32,
    /// Bytes of one burst: the unit of transfer.
    pub burst_bytes: u32,
    /// Width of the data bus, bytes.
    pub bus_bytes: u32,
    /// Transfers per command clock.
    pub data_rate: u32,
    /// Fixed latency of the controller and the pads, in and out together.
    pub controller_latency: u32,
    /// Scheduling policy.
    pub scheduler: DramScheduler,
    /// Requests the scheduler chooses from.
    pub queue: u32,
    /// Age from which a request is served before any row hit.
    pub starvation_cycles: u32,
    /// Waiting writes that start a write drain.
    pub write_high: u32,
    /// Waiting writes that end it.
    pub write_low: u32,
    /// Read command to first data.
    pub tcl: u32,
    /// Precharge to activate.
    pub trp: u32,
    /// Activate to activate, same bank.
    pub trc: u32,
    /// Activate to precharge.
    pub tras: u32,
    /// Activate to read or write.
    pub trcd: u32,
    /// Activate to activate, different banks.
    pub trrd: u32,
    /// End of write data to read command.
    pub tcdlr: u32,
    /// End of write data to precharge.
    pub twr: u32,
    /// Write command to first data.
    pub tcwl: u32,
    /// Column command to column command.
    pub tccd: u32,
    /// Read command to precharge.
    pub trtp: u32,
    /// Read command to write command; 0 derives it so that the bus turns around with one idle cycle.
    pub trtw: u32,
}

impl Dram {
    /// Command-clock cycles that one burst occupies the data bus.
    pub fn burst_cycles(&self) -> u32 {
        (self.burst_bytes).div_ceil(self.bus_bytes * self.data_rate)
    }

    /// Read command to write command: given, or derived from latencies and one cycle of bus turn-around.
    pub fn read_to_write(&self) -> u32 {
        if self.trtw > 0 {
            self.trtw
        } else {
            (self.tcl + self.burst_cycles() + 1).saturating_sub(self.tcwl).max(1)
        }
    }
}

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// The machine's name in reports.
    pub name: String,
    /// Clock domains.
    pub clock: Clock,
    /// Streaming multiprocessors.
    pub sm: Sm,
    /// L1 data caches.
    pub l1d: L1d,
    /// Crossbars.
    pub interconnect: Interconnect,
    /// L2 slices.
    pub l2: L2,
    /// DRAM channels, one per partition.
    pub dram: Dram,
}

impl GpuConfig {
    /// The built-in configuration or the file called `name`.
    ///
    /// # Errors
    /// [`ConfigError`] in one line.
    pub fn load(name: &str) -> Result<Self, ConfigError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(n, _)| *n == name) {
            return Self::parse(name, text);
        }
        let text = std::fs::read_to_string(Path::new(name)).map_err(|e| ConfigError::NotFound {
            name: name.into(),
            allowed: BUILT_IN.map(|(n, _)| n).join(", "),
            why: e.to_string(),
        })?;
        Self::parse(name, &text)
    }

    /// Parses and validates `text`; `file` names it in errors.
    ///
    /// # Errors
    /// [`ConfigError`] in one line.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        let mut table: toml::Table = toml::from_str(text).map_err(|e| syntax(file, text, &e))?;
        if let Some(base) = table.remove("base") {
            let name = base.as_str().unwrap_or_default().to_string();
            let (_, base_text) =
                BUILT_IN.iter().find(|(n, _)| *n == name).ok_or_else(|| ConfigError::Value {
                    file: file.into(),
                    line: line_of(text, "base"),
                    key: "base".into(),
                    value: base.to_string(),
                    allowed: format!("allowed are {}", BUILT_IN.map(|(n, _)| n).join(", ")),
                })?;
            let mut merged: toml::Table =
                toml::from_str(base_text).map_err(|e| syntax(&name, base_text, &e))?;
            merge(&mut merged, table);
            // An unknown key is only found while the merged table is read: the line is looked up by the key's name.
            let config: Self =
                toml::Value::Table(merged).try_into().map_err(|e: toml::de::Error| ConfigError::Syntax {
                    file: file.into(),
                    line: quoted(e.message()).map_or(0, |key| line_of(text, key)),
                    message: one_line(e.message()),
                })?;
            return config.validated(file, text);
        }
        let config: Self = toml::from_str(text).map_err(|e| syntax(file, text, &e))?;
        config.validated(file, text)
    }

    /// Cycles of the core clock per second.
    pub fn core_hz(&self) -> f64 {
        f64::from(self.clock.core_mhz) * 1e6
    }

    fn validated(self, file: &str, text: &str) -> Result<Self, ConfigError> {
        let check = Checker { file, text };
        let (c, s, i, l2, d) = (&self.clock, &self.sm, &self.interconnect, &self.l2, &self.dram);
        for (key, value) in [
            ("clock.core_mhz", c.core_mhz),
            ("clock.interconnect_mhz", c.interconnect_mhz),
            ("clock.l2_mhz", c.l2_mhz),
            ("clock.dram_mhz", c.dram_mhz),
        ] {
            check.range(key, value, 1, 10_000)?;
        }
        check.range("sm.count", s.count, 1, 256)?;
        check.range("sm.warps", s.warps, 1, 128)?;
        check.range("sm.ctas", s.ctas, 1, 64)?;
        check.range("sm.threads", s.threads, 32, 4096)?;
        check.range("sm.registers", s.registers, 1, 1 << 20)?;
        check.range("sm.shared_bytes", s.shared_bytes, 0, 1 << 20)?;
        check.range("sm.schedulers", s.schedulers, 1, 8)?;
        check.range("sm.alu.pipes", s.alu.pipes, 1, 8)?;
        check.lanes("sm.alu.lanes", s.alu.lanes)?;
        for (key, value) in [
            ("sm.branch_latency", s.branch_latency),
            ("sm.alu.int_latency", s.alu.int_latency),
            ("sm.alu.fp32_latency", s.alu.fp32_latency),
            ("sm.alu.int_mul_latency", s.alu.int_mul_latency),
            ("sm.fp64.latency", s.fp64.latency),
            ("sm.fp64.div_latency", s.fp64.div_latency),
            ("sm.sfu.latency", s.sfu.latency),
            ("sm.sfu.div_latency", s.sfu.div_latency),
            ("sm.lsu.shared_latency", s.lsu.shared_latency),
            ("sm.lsu.const_latency", s.lsu.const_latency),
            ("l1d.hit_latency", self.l1d.hit_latency),
        ] {
            check.range(key, value, 1, 1000)?;
        }
        check.range("sm.fp64.pipes", s.fp64.pipes, 1, 8)?;
        check.lanes("sm.fp64.lanes", s.fp64.lanes)?;
        check.range("sm.sfu.pipes", s.sfu.pipes, 1, 8)?;
        check.lanes("sm.sfu.lanes", s.sfu.lanes)?;
        check.lanes("sm.lsu.lanes", s.lsu.lanes)?;
        check.power("sm.lsu.shared_banks", s.lsu.shared_banks, 1, 64)?;
        check.range("sm.lsu.queue", s.lsu.queue, 1, 64)?;
        let l1 = &self.l1d;
        check.power("l1d.sets", l1.sets, 1, 4096)?;
        check.range("l1d.ways", l1.ways, 1, 64)?;
        check.range("l1d.line_bytes", l1.line_bytes, 128, 128)?;
        check.range("l1d.sector_bytes", l1.sector_bytes, 128, 128)?;
        check.range("l1d.mshr_entries", l1.mshr_entries, 1, 1024)?;
        check.range("l1d.mshr_merges", l1.mshr_merges, 1, 1024)?;
        check.range("l1d.miss_queue", l1.miss_queue, 1, 1024)?;
        check.power("interconnect.flit_bytes", i.flit_bytes, 8, 256)?;
        let packet = (l1.line_bytes + crate::packet::HEADER_BYTES).div_ceil(i.flit_bytes);
        check.range("interconnect.input_flits", i.input_flits, packet, 4096)?;
        check.range("interconnect.output_flits", i.output_flits, packet, 4096)?;
        check.range("interconnect.latency", i.latency, 1, 1000)?;
        check.range("l2.partitions", l2.partitions, 1, 32)?;
        check.power("l2.sets", l2.sets, 1, 1 << 16)?;
        check.range("l2.ways", l2.ways, 1, 64)?;
        check.range("l2.line_bytes", l2.line_bytes, l1.line_bytes, l1.line_bytes)?;
        check.range("l2.hit_latency", l2.hit_latency, 1, 1000)?;
        check.range("l2.mshr_entries", l2.mshr_entries, 1, 4096)?;
        check.range("l2.mshr_merges", l2.mshr_merges, 1, 4096)?;
        check.range("l2.request_queue", l2.request_queue, 1, 4096)?;
        check.range("l2.reply_queue", l2.reply_queue, 1, 4096)?;
        // An eviction under compression makes up to three requests: data, metadata, metadata write-back.
        check.range("l2.dram_queue", l2.dram_queue, 3, 4096)?;
        check.range("l2.eviction_queue", l2.eviction_queue, 1, 4096)?;
        check.power("l2.interleave_bytes", l2.interleave_bytes, l2.line_bytes, 1 << 20)?;
        check.power("dram.banks", d.banks, 1, 64)?;
        check.power("dram.row_bytes", d.row_bytes, l2.line_bytes, 1 << 16)?;
        check.power("dram.burst_bytes", d.burst_bytes, 32, l2.line_bytes)?;
        check.power("dram.bus_bytes", d.bus_bytes, 1, 64)?;
        check.power("dram.data_rate", d.data_rate, 1, 16)?;
        check.range("dram.controller_latency", d.controller_latency, 1, 1000)?;
        check.range("dram.queue", d.queue, 1, 1024)?;
        check.range("dram.starvation_cycles", d.starvation_cycles, 1, 1 << 30)?;
        check.range("dram.write_high", d.write_high, 1, d.queue)?;
        check.range("dram.write_low", d.write_low, 0, d.write_high - 1)?;
        for (key, value) in [
            ("dram.tcl", d.tcl),
            ("dram.trp", d.trp),
            ("dram.tras", d.tras),
            ("dram.trcd", d.trcd),
            ("dram.trrd", d.trrd),
            ("dram.tcdlr", d.tcdlr),
            ("dram.twr", d.twr),
            ("dram.tcwl", d.tcwl),
            ("dram.tccd", d.tccd),
            ("dram.trtp", d.trtp),
        ] {
            check.range(key, value, 1, 1000)?;
        }
        check.range("dram.trc", d.trc, d.tras + d.trp, 1000)?;
        check.range("dram.trtw", d.trtw, 0, 1000)?;
        Ok(self)
    }
}

/// Range checks that know the file's text, to name the line of a bad value.
struct Checker<'a> {
    file: &'a str,
    text: &'a str,
}

impl Checker<'_> {
    fn fail(&self, key: &str, value: u32, allowed: String) -> ConfigError {
        ConfigError::Value {
            file: self.file.into(),
            line: line_of(self.text, key),
            key: key.into(),
            value: value.to_string(),
            allowed,
        }
    }

    fn range(&self, key: &str, value: u32, low: u32, high: u32) -> Result<(), ConfigError> {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let allowed =
            if low == high { format!("allowed is {low}") } else { format!("allowed are {low} to {high}") };
        Err(self.fail(key, value, allowed))
    }

    fn power(&self, key: &str, value: u32, low: u32, high: u32) -> Result<(), ConfigError> {
        if value.is_power_of_two() && (low..=high).contains(&value) {
            return Ok(());
        }
        Err(self.fail(key, value, format!("allowed are powers of two from {low} to {high}")))
    }

    fn lanes(&self, key: &str, value: u32) -> Result<(), ConfigError> {
        if value.is_power_of_two() && value <= 32 {
            return Ok(());
        }
        Err(self.fail(key, value, "allowed are 1, 2, 4, 8, 16, 32".into()))
    }
}

/// Line (from 1) on which `section.key` is set in `text`; 0 when it is not.
fn line_of(text: &str, key: &str) -> usize {
    let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut current = String::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            current = header.split(']').next().unwrap_or_default().trim().to_string();
        }
        let is_key = line.split('=').next().is_some_and(|k| k.trim() == name) && line.contains('=');
        if is_key && (current == section || section.is_empty()) {
            return number + 1;
        }
    }
    0
}

/// The first word in backquotes of an error message.
fn quoted(message: &str) -> Option<&str> {
    message.split('`').nth(1)
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn syntax(file: &str, text: &str, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |s| s.start).min(text.len());
    ConfigError::Syntax {
        file: file.into(),
        line: text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1,
        message: one_line(error.message()),
    }
}

/// Overwrites `base` with what `over` states, table by table.
fn merge(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => merge(old, new),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        GpuConfig::parse("my.toml", text).expect_err("the configuration is wrong").to_string()
    }

    #[test]
    fn every_built_in_configuration_is_valid() {
        for (name, _) in BUILT_IN {
            assert_eq!(GpuConfig::load(name).expect("valid").name, name);
        }
    }

    #[test]
    fn gtx480_has_the_papers_bandwidth() {
        let c = GpuConfig::load("gtx480").expect("valid");
        let bytes = f64::from(c.l2.partitions * c.dram.bus_bytes * c.dram.data_rate * c.clock.dram_mhz) * 1e6;
        assert_eq!(format!("{:.1}", bytes / 1e9), "177.4"); // CABA, table 1
    }

    #[test]
    fn a_base_is_overridden_key_by_key() {
        let c = GpuConfig::parse("my.toml", "base = \"gtx480\"\nname = \"mine\"\n[l1d]\nways = 8\n")
            .expect("valid");
        assert_eq!((c.l1d.ways, c.l1d.sets, c.name.as_str()), (8, 32, "mine"));
    }

    #[test]
    fn zero_ways_names_file_line_value_and_range() {
        let e = error("base = \"gtx480\"\n[l1d]\nways = 0\n");
        assert_eq!(e, "my.toml:3: l1d.ways = 0: allowed are 1 to 64");
    }

    #[test]
    fn an_unknown_key_names_its_line() {
        let e = error("base = \"gtx480\"\n[l1d]\nwayz = 4\n");
        assert!(e.starts_with("my.toml:3: unknown field `wayz`"), "{e}");
        let text = BUILT_IN[0].1.replace("[l1d]", "[l1d]\nwayz = 4");
        let e = error(&text);
        assert!(e.contains("unknown field `wayz`") && !e.contains('\n'), "{e}");
    }

    #[test]
    fn broken_toml_names_its_line() {
        assert!(error("name = \"x\"\n[l1d\n").starts_with("my.toml:2: "));
        assert!(error("").contains("missing field"));
    }

    #[test]
    fn an_unknown_base_names_the_allowed_ones() {
        assert!(error("base = \"gtx999\"\n").contains("allowed are gtx480"));
    }
}
