//! The list of built-in configurations.
use super::page::{Listed, Page, Selection};
use crate::error::Failure;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::config::{BUILT_IN, BuiltIn, GpuConfig};
use serde::Serialize;

/// A configuration: its origin and size.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Configuration")]
pub(crate) struct ListedConfiguration {
    /// Name of the configuration.
    name: &'static str,
    /// Origin of the configuration, in one line.
    summary: &'static str,
    /// Number of SMs.
    sms: u32,
    /// Data of an L1D, KiB.
    l1d_kib: u32,
    /// Data of the L2, KiB.
    l2_kib: u32,
    /// Number of memory partitions.
    partitions: u32,
    /// Core clock, MHz.
    core_mhz: u32,
}

/// Panic message. A test loads each built-in configuration.
const VALID: &str = "the built-in configurations are valid";

impl ListedConfiguration {
    fn new(built_in: &BuiltIn) -> Self {
        let config = GpuConfig::load(built_in.name).expect(VALID);
        let (l1d, l2) = (&config.l1d, &config.l2);
        ListedConfiguration {
            name: built_in.name,
            summary: built_in.summary,
            sms: config.sm.count,
            l1d_kib: l1d.sets * l1d.ways * l1d.line_bytes / 1024,
            l2_kib: l2.sets * l2.ways * l2.line_bytes / 1024 * l2.partitions * l2.slices,
            partitions: l2.partitions,
            core_mhz: config.clock.core_mhz,
        }
    }
}

/// Returns all built-in configurations, or the configuration `name`.
///
/// # Errors
/// Fails if no built-in configuration has this name.
pub(super) fn select(name: Option<&str>) -> Result<Selection<ListedConfiguration>, Failure> {
    if let Some(name) = name {
        // The error of loading suggests similar names.
        GpuConfig::load(name).map_err(Failure::usage)?;
    }
    let entries: Vec<_> = BUILT_IN
        .iter()
        .filter(|of| name.is_none_or(|name| of.name == name))
        .map(ListedConfiguration::new)
        .collect();
    if let (Some(name), true) = (name, entries.is_empty()) {
        return Err(Failure::usage(format!("list configurations {name}: must be a built-in configuration")));
    }
    Ok(Selection { entries, is_one: name.is_some() })
}

impl Listed for ListedConfiguration {
    fn table(entries: &[Self]) -> Table {
        let mut table =
            Table::new(&["configuration", "what", "SMs", "L1D KiB", "L2 KiB", "partitions", "core MHz"])
                .dispensable(&["core MHz", "partitions"]);
        for of in entries {
            table.row(vec![
                of.name.into(),
                of.summary.into(),
                of.sms.to_string(),
                of.l1d_kib.to_string(),
                of.l2_kib.to_string(),
                of.partitions.to_string(),
                of.core_mhz.to_string(),
            ]);
        }
        table
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line(format!("{}: {}", self.name, self.summary));
        page.fact("SMs", &self.sms.to_string());
        page.fact("L1D", &format!("{} KiB per SM", self.l1d_kib));
        page.fact("L2", &format!("{} KiB in {} partitions", self.l2_kib, self.partitions));
        page.fact("core", &format!("{} MHz", self.core_mhz));
        page.line(format!("`selvedge config show {}` prints every value.", self.name));
        page
    }
}
