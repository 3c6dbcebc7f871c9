//! The configuration: a TOML file, parsed and validated once into plain structs.
//!
//! Every value has a unit and a range. A file can name another configuration as its `base` and then contains only the
//! differences. Each error is one line with file, line, key, value and the allowed values.
mod check;
mod clock;
mod collector;
mod dram;
mod dram_energy;
mod error;
mod event_energy;
pub mod explain;
#[cfg(test)]
mod fuzz_tests;
pub mod import;
mod index;
mod interconnect;
mod l1d;
mod l2;
mod load;
mod mapping;
mod memory;
mod read_only;
mod sm;

pub use clock::ClockConfig;
pub use collector::{CollectorConfig, CollectorSet};
pub use dram::{BankGroupBits, DramConfig, DramScheduler, MOST_BANKS};
pub use dram_energy::DramEnergy;
pub use error::ConfigError;
pub use event_energy::EventEnergy;
pub use interconnect::Interconnect;
pub use l1d::{Allocate, BypassedLoads, Fetch, L1dConfig, MOST_L1D_BANKS, SHARED_CHOICES, WritePolicy};
pub use l2::{L2, L2WritePolicy, WriteAllocate};
pub use load::{MOST_BYTES, source};
pub use mapping::{AddressField, AddressMapping, MappedBit};
pub use memory::{GlobalMemory, OutOfBounds};
pub use read_only::{READ_ONLY_CACHES, ReadOnly, ReadOnlyCache};
pub use selvedge_hw::index_function::IndexFunction;
pub use sm::{AluConfig, ClusterConfig, LsuConfig, PipeConfig, SchedulerPolicy, SmConfig, TensorConfig};

use serde::{Deserialize, Serialize};

/// A built-in configuration.
pub struct BuiltIn {
    /// Name for `--config`.
    pub name: &'static str,
    /// Source of the configuration, in one line.
    pub summary: &'static str,
    /// Compute capability of the GPU, such as 70 for 7.0; `None` for the set-up of a paper.
    pub capability: Option<u32>,
    /// The TOML text.
    pub text: &'static str,
}

/// Creates a built-in configuration from the file of its name.
macro_rules! built_in {
    ($name:literal, $summary:literal $(, $capability:literal)?) => {
        BuiltIn {
            name: $name,
            summary: $summary,
            capability: [$($capability)?].first().copied(),
            text: include_str!(concat!("../../configs/", $name, ".toml")),
        }
    };
}

/// Built-in configurations. The first one is complete; the others are based on it.
pub const BUILT_IN: [BuiltIn; 15] = [
    built_in!("gtx480", "NVIDIA GTX480 (Fermi): the default", 20),
    built_in!("gtx480-caba", "CABA, table 1"),
    built_in!("gtx480-latte-cc", "LATTE-CC, table II"),
    built_in!("gtx480-lamar", "LAMAR, table 2: the baseline"),
    built_in!("gtx480-dai", "Dai, chapter 2, table 1"),
    built_in!("maxwell-dai-ch3", "Dai, chapter 3, table 3"),
    built_in!("maxwell-dai-ch4", "Dai, chapter 4, table 5"),
    built_in!("sound-baseline", "Dai, section 3.9: the baseline that chapter 3 recommends, 128 bypass slots"),
    built_in!("sound-baseline-32", "Dai, section 3.9: the same with 32 bypass slots"),
    built_in!("gtx480-3.2.1", "the GTX480 that GPGPU-Sim 3.2.1 brings along"),
    built_in!("gtx480-3.2.2", "the GTX480 that GPGPU-Sim 3.2.2 brings along"),
    built_in!("titan-v", "NVIDIA TITAN V (Volta) of GPGPU-Sim 4.2", 70),
    built_in!("rtx3070", "NVIDIA RTX 3070 (Ampere) of GPGPU-Sim 4.2", 86),
    built_in!("a100", "NVIDIA A100 SXM4 40 GB (Ampere), latencies as measured", 80),
    built_in!("h100", "NVIDIA H100 PCIe (Hopper), latencies as measured", 90),
];

/// Returns the text of the built-in configuration called `name`.
fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|b| b.name == name).map(|b| b.text)
}

/// Returns the oldest built-in GPU that executes PTX for a compute capability; the newest one if none does.
pub fn oldest_for(architecture: u32) -> &'static BuiltIn {
    let known = || BUILT_IN.iter().filter(|built_in| built_in.capability.is_some());
    let able = known().filter(|built_in| built_in.capability >= Some(architecture));
    able.min_by_key(|built_in| built_in.capability)
        .or_else(|| known().max_by_key(|built_in| built_in.capability))
        .unwrap_or(&BUILT_IN[0])
}

/// Returns the names of the built-in configurations, for messages.
fn names() -> String {
    BUILT_IN.map(|b| b.name).join(", ")
}

/// A complete configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Name of the configuration in reports.
    pub name: String,
    /// Clock domains.
    pub clock: ClockConfig,
    /// Streaming multiprocessors.
    pub sm: SmConfig,
    /// L1 data caches.
    pub l1d: L1dConfig,
    /// Crossbars.
    pub interconnect: Interconnect,
    /// L2 slices.
    pub l2: L2,
    /// DRAM channels, one per partition.
    pub dram: DramConfig,
    /// Rules of global memory.
    #[serde(default)]
    pub memory: GlobalMemory,
    /// Energy of events outside the DRAM.
    pub energy: EventEnergy,
}

impl GpuConfig {
    /// Returns the core clock in Hz.
    pub fn core_hz(&self) -> f64 {
        f64::from(self.clock.core_mhz) * 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        GpuConfig::parse("my.toml", text).expect_err("the configuration is wrong").to_string()
    }

    #[test]
    fn the_oldest_gpu_that_executes_a_target_is_chosen() {
        let chosen = [10, 20, 35, 60, 70, 75, 80, 86, 89, 90, 120].map(|target| oldest_for(target).name);
        let expected = [
            "gtx480", "gtx480", "titan-v", "titan-v", "titan-v", "a100", "a100", "rtx3070", "h100", "h100",
            "h100",
        ];
        assert_eq!(chosen, expected);
    }

    #[test]
    fn every_built_in_configuration_is_valid() {
        for BuiltIn { name, .. } in BUILT_IN {
            assert_eq!(GpuConfig::load(name).expect("valid").name, name);
        }
    }

    #[test]
    fn loads_out_of_bounds_are_errors_unless_the_file_says_zero() {
        assert!(!load("gtx480").memory.zero_outside());
        let zero = GpuConfig::parse("my.toml", "base = \"gtx480\"\n[memory]\nout_of_bounds = \"zero\"");
        assert!(zero.expect("valid").memory.zero_outside());
        let wrong = error("base = \"gtx480\"\n[memory]\nout_of_bounds = \"clamp\"");
        assert!(wrong.contains("my.toml:3") && wrong.contains("`error` or `zero`"), "{wrong}");
    }

    fn load(name: &str) -> GpuConfig {
        GpuConfig::load(name).expect("valid")
    }

    #[test]
    fn machines_have_their_papers_bandwidth() {
        // CABA, table 1; LAMAR, table 2; Dai, table 1 (48 bytes per cycle at 924 MHz, with four transfers each); NVIDIA's
        // whitepaper of the A100; 5120 bits at 1593 MHz.
        for (name, gigabytes) in [
            ("gtx480", "177.4"),
            ("gtx480-caba", "177.4"),
            ("gtx480-lamar", "179.2"),
            ("gtx480-dai", "177.4"),
            ("a100", "1555.2"),
            ("h100", "2039.0"),
        ] {
            let c = load(name);
            let bytes = c.l2.partitions * c.dram.bus_bytes * c.dram.data_rate;
            let rate = f64::from(bytes * c.clock.dram_mhz) * 1e6;
            assert_eq!(format!("{:.1}", rate / 1e9), gigabytes, "{name}");
        }
    }

    #[test]
    fn machines_have_their_papers_caches() {
        for (name, l1d_kb, l2_kb) in [
            ("gtx480", 16, 768),
            ("gtx480-caba", 16, 768),
            ("gtx480-latte-cc", 16, 768),
            ("gtx480-lamar", 16, 768),
            ("gtx480-dai", 16, 768),
            ("maxwell-dai-ch3", 16, 2048),
            ("maxwell-dai-ch4", 24, 2048),
            ("sound-baseline", 16, 2048),
            ("sound-baseline-32", 16, 2048),
            ("gtx480-3.2.1", 16, 768),
            ("gtx480-3.2.2", 16, 768),
            // The size in the file. The L1D has the part of the unified memory that shared memory leaves.
            ("titan-v", 32, 4608),
            ("rtx3070", 128, 4096),
            ("a100", 32, 40960),
            ("h100", 32, 51200),
        ] {
            let c = load(name);
            let l1d = c.l1d.sets * c.l1d.ways * c.l1d.line_bytes;
            let l2 = c.l2.all_slices() * c.l2.sets * c.l2.ways * c.l2.line_bytes;
            assert_eq!((l1d >> 10, l2 >> 10), (l1d_kb, l2_kb), "{name}");
        }
    }

    #[test]
    fn latte_ccs_machine_is_that_of_its_simulator_with_a_write_evict_l1d() {
        let (mut old, new) = (load("gtx480-3.2.2"), load("gtx480-latte-cc"));
        old.l1d.write_policy = WritePolicy::WriteEvict;
        // The L1D's latency in that file is of a later version.
        old.l1d.front_latency = 0;
        old.name.clone_from(&new.name);
        assert_eq!(old, new);
    }

    #[test]
    fn the_sound_baseline_is_chapter_3s_machine_as_section_3_9_changes_it() {
        let (mut old, new) = (load("maxwell-dai-ch3"), load("sound-baseline"));
        old.l1d.index = IndexFunction::Bxor;
        old.l1d.allocate = Allocate::OnFill;
        old.l1d.mshr_entries = 128;
        old.l1d.bypass_slots = 128;
        old.l2.index = IndexFunction::Bxor;
        old.l2.partition_index = IndexFunction::Bxor;
        old.name.clone_from(&new.name);
        assert_eq!(old, new);
        let few = load("sound-baseline-32");
        assert_eq!(few.l1d.bypass_slots, 32);
        assert_eq!(GpuConfig { name: new.name.clone(), l1d: new.l1d, ..few }, new);
    }

    #[test]
    fn the_two_historic_files_differ_in_the_l1d_index_alone() {
        let (mut old, new) = (load("gtx480-3.2.1"), load("gtx480-3.2.2"));
        assert_ne!(old.l1d.index, new.l1d.index);
        old.l1d.index = new.l1d.index;
        old.name.clone_from(&new.name);
        assert_eq!(old, new);
    }

    #[test]
    fn a_mapping_fits_banks_rows_lines_and_channels() {
        let check = |mapping: &str| {
            let text = format!("base = \"gtx480\"\n[dram]\nmapping = \"{mapping}\"\n");
            GpuConfig::parse("my.toml", &text).map_err(|e| e.to_string())
        };
        // gtx480 has 16 banks, rows of 2048 bytes, lines of 128 bytes, and 256 consecutive bytes per channel.
        assert!(check("dramid@8;0000RRRR.RRRRRRRR.BBBBCCCC.CSSSSSSS").is_err());
        let good = "dramid@8;0000RRRR.RRRRRRRR.RBBBCCCB.CSSSSSSS";
        assert_eq!(check(good).map(|c| c.dram.mapping.text().to_string()), Ok(good.into()));
        for (mapping, says) in [
            (
                "dramid@9;RBBBCCCB.CSSSSSSS",
                "position 8: dramid@9: must be dramid@8, for l2.interleave_bytes = 256",
            ),
            ("RRBBCCCB.CSSSSSSS", "position 8: 3 letters B: must be 4, for dram.banks = 16"),
            ("RBBBBCCC.CSSSSSSSS", "position 18: 12 letters C and S: must be 11, for dram.row_bytes = 2048"),
            ("RBBBCCCC.CBSSSSSS", "position 11: must be C or S in the lowest 7 places, since a line of 128"),
        ] {
            let error = check(mapping).expect_err("wrong");
            let start = format!("my.toml:3: dram.mapping = {mapping}: {says}");
            assert!(error.starts_with(&start), "`{error}` should begin with `{start}`");
        }
        let error = check("RRXB").expect_err("wrong");
        assert!(error.starts_with("my.toml:3: address mapping `RRXB`: position 3: `X`"), "{error}");
    }

    #[test]
    fn an_index_function_must_be_defined_for_the_number_of_sets_or_partitions() {
        let text = "base = \"gtx480\"\n[l2]\npartition_index = \"bxor\"\n";
        let says = "my.toml:3: l2.partition_index = bxor: allowed with 6 partitions is bmod; others need a power of two from 16 to 1024";
        assert_eq!(error(text), says);
        let e = error("base = \"gtx480\"\n[l1d]\nindex = \"modulo\"\n");
        assert!(e.starts_with("my.toml:3: unknown index function `modulo`: must be bmod,"), "{e}");
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
        assert_eq!(e, "my.toml:3: l1d.ways = 0: must be 1 to 512");
    }

    #[test]
    fn values_of_slices_queues_and_latencies_have_bounds() {
        for (text, says) in [
            ("[l2]\nslices = 3", "l2.slices = 3: must be a power of two from 1 to 8"),
            ("[l2]\nslice_bytes = 64", "l2.slice_bytes = 64: must be a power of two from 128 to 1048576"),
            ("[dram]\nbank_groups = 3", "dram.bank_groups = 3: must be a power of two from 1 to 16"),
            ("[dram]\nreturn_queue = 1025", "dram.return_queue = 1025: must be 0 to 1024"),
            ("[interconnect]\npacket_gap = 1001", "interconnect.packet_gap = 1001: must be 0 to 1000"),
            ("[l1d]\nfront_latency = 1001", "l1d.front_latency = 1001: must be 0 to 1000"),
            ("[l1d]\nbanks = 3", "l1d.banks = 3: must be a power of two from 1 to 32"),
            ("[l1d]\nbanks = 2", "l1d.banks = 2: must be 1, or at least the 4 sectors of a line"),
            ("[sm]\npipeline_latency = 1001", "sm.pipeline_latency = 1001: must be 0 to 1000"),
            ("[sm.lsu]\npipeline_latency = 1001", "sm.lsu.pipeline_latency = 1001: must be 0 to 1000"),
        ] {
            assert_eq!(error(&format!("base = \"gtx480\"\n{text}\n")), format!("my.toml:3: {says}"));
        }
        let groups = "base = \"gtx480\"\n[dram]\nbank_groups = 4\ntccd = 2\ntccdl = 1\n";
        assert_eq!(error(groups), "my.toml:5: dram.tccdl = 1: must be 2 to 1000");
        let both = "base = \"gtx480\"\n[dram]\nbank_groups = 4\nsub_ranks = 2\n";
        assert_eq!(error(both), "my.toml:3: dram.bank_groups = 4: allowed with sub-ranks is 1");
    }

    #[test]
    fn an_unknown_key_names_its_line() {
        let e = error("base = \"gtx480\"\n[l1d]\nwayz = 4\n");
        assert!(e.starts_with("my.toml:3: unknown field `wayz`"), "{e}");
        let text = BUILT_IN[0].text.replace("[l1d]", "[l1d]\nwayz = 4");
        let e = error(&text);
        assert!(e.contains("unknown field `wayz`") && !e.contains('\n'), "{e}");
    }

    #[test]
    fn a_wrong_type_or_name_names_its_line() {
        for (value, says) in [
            ("ways = \"four\"", "my.toml:3: l1d.ways = \"four\": must be a value of type integer"),
            ("ways = -4", "my.toml:3: l1d.ways = -4: must be 0 to 4294967295"),
            ("allocate = \"never\"", "my.toml:3: unknown variant `never`, expected `on-miss` or `on-fill`"),
        ] {
            assert_eq!(error(&format!("base = \"gtx480\"\n[l1d]\n{value}\n")), says);
        }
    }

    #[test]
    fn every_mistake_is_found_at_once() {
        let text = "base = \"gtx480\"\n[l1d]\nwayz = 4\nways = true\n[l3]\nsets = 4\n";
        let found = GpuConfig::examine("my.toml", text).expect_err("wrong");
        let lines: Vec<_> = found.iter().map(|e| e.to_string()[..10].to_string()).collect();
        assert_eq!(lines, ["my.toml:3:", "my.toml:4:", "my.toml:5:"]);
        let text = "base = \"gtx480\"\n[l1d]\nways = 0\n[dram]\nbanks = 3\n";
        assert_eq!(GpuConfig::examine("my.toml", text).expect_err("wrong").len(), 2);
    }

    #[test]
    fn broken_toml_names_its_line() {
        assert!(error("name = \"x\"\n[l1d\n").starts_with("my.toml:2: "));
        assert!(error("").contains("missing field"));
    }

    #[test]
    fn an_unknown_base_names_the_allowed_ones() {
        assert!(error("base = \"gtx999\"\n").contains("must be gtx480"));
    }
}
