//! The machine's description: a TOML file, parsed and validated once into plain structs.
//!
//! Every value has a unit and a range. A file may name another configuration as its `base` and then states only
//! what differs. Mistakes are reported as one line: file, line, key, value and what is allowed.
mod check;
mod clock;
mod dram;
mod error;
mod index;
mod interconnect;
mod l1d;
mod l2;
mod load;
mod sm;

pub use clock::Clock;
pub use dram::{Dram, DramScheduler};
pub use error::ConfigError;
pub use interconnect::Interconnect;
pub use l1d::{Allocate, L1d, WritePolicy};
pub use l2::L2;
pub use load::source;
pub use selvedge_hw::set_index::IndexFunction;
pub use sm::{Alu, Lsu, Pipe, SchedulerPolicy, Sm};

use serde::{Deserialize, Serialize};

/// The configurations that are built in: name and TOML text. The first one is complete.
pub const BUILT_IN: [(&str, &str); 1] = [("gtx480", include_str!("../../configs/gtx480.toml"))];

/// The text of the built-in configuration called `name`.
fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The names of the built-in configurations, for messages.
fn names() -> String {
    BUILT_IN.map(|(name, _)| name).join(", ")
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
    /// Cycles of the core clock per second.
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
    fn a_wrong_type_or_name_names_its_line() {
        for (value, says) in [
            ("ways = \"four\"", "my.toml:3: l1d.ways = \"four\": allowed is a value of type integer"),
            ("ways = -4", "my.toml:3: l1d.ways = -4: allowed are 0 to 4294967295"),
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
        assert!(error("base = \"gtx999\"\n").contains("allowed are gtx480"));
    }
}
