//! The list of blocks.
use super::block_page;
use super::page::{Listed, Page, Selection, Setting, plain, show};
use crate::arguments::ListBlocks;
use crate::error::Failure;
use crate::output::print;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_hw::{BlockEntry, Direction};
use serde::Serialize;

/// A port of a block at its default parameters.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Port")]
struct PortEntry {
    /// Name of the port.
    name: &'static str,
    /// `in` or `out`.
    direction: &'static str,
    /// Width in bits.
    bits: usize,
    /// Meaning of the port.
    meaning: &'static str,
}

/// A block at its default parameters.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Block")]
pub(crate) struct ListedBlock {
    /// Name of the block.
    name: &'static str,
    /// Summary in one line.
    summary: &'static str,
    /// Paper and section that describe the block.
    source: &'static str,
    /// Bits of storage, and the paper's claim.
    storage_bits: String,
    /// Cycles from an input to its output.
    latency: u64,
    /// Cycles from one input to the next.
    interval: u64,
    /// Parameters of the block.
    parameters: Vec<Setting>,
    /// Parameters of the Verilog module. The others are fixed in its text.
    verilog_parameters: Vec<String>,
    /// Ports of the block.
    ports: Vec<PortEntry>,
}

/// Panic message. The kit checks the defaults when a block is declared.
const VALID: &str = "the default parameters are valid";

impl ListedBlock {
    fn new(entry: &dyn BlockEntry) -> Self {
        let defaults = entry.defaults();
        let facts = entry.facts(&defaults).expect(VALID);
        let port = |port: selvedge_hw::Port| PortEntry {
            name: port.name,
            direction: if port.direction == Direction::Input { "in" } else { "out" },
            bits: port.bits,
            meaning: port.doc,
        };
        ListedBlock {
            name: entry.name(),
            summary: entry.summary(),
            source: entry.source(),
            storage_bits: entry.storage(&defaults).expect(VALID),
            latency: facts.latency.into(),
            interval: facts.interval.into(),
            parameters: (entry.schema().iter())
                .map(|spec| Setting {
                    name: spec.name,
                    default: plain(&defaults[spec.name]),
                    values: spec.allowed.to_string(),
                    meaning: spec.doc,
                })
                .collect(),
            verilog_parameters: verilog_parameters(entry),
            ports: entry.ports(&defaults).expect(VALID).into_iter().map(port).collect(),
        }
    }
}

/// Returns the names of the parameters of the block's Verilog module.
pub(super) fn verilog_parameters(entry: &dyn BlockEntry) -> Vec<String> {
    entry.verilog_parameters().iter().map(|name| name.to_ascii_uppercase()).collect()
}

/// Prints the list of blocks, or one block in full.
pub(super) fn run(list: &ListBlocks) -> Result<(), Failure> {
    match &list.of.name {
        Some(name) if list.markdown => {
            print(&block_page::of(selvedge_blocks::find(name).map_err(Failure::usage)?))
        }
        name => show(&select(name.as_deref())?, list.of.json),
    }
}

/// Returns all blocks, or the block `name`.
///
/// # Errors
/// Fails if no block has this name.
fn select(name: Option<&str>) -> Result<Selection<ListedBlock>, Failure> {
    let entries = match name {
        Some(name) => vec![selvedge_blocks::find(name).map_err(Failure::usage)?],
        None => selvedge_blocks::all(),
    };
    Ok(Selection { entries: entries.into_iter().map(ListedBlock::new).collect(), is_one: name.is_some() })
}

impl Listed for ListedBlock {
    fn table(entries: &[Self]) -> Table {
        let mut table = Table::new(&["block", "what", "source", "storage bits", "latency", "interval"])
            .dispensable(&["interval", "source"]);
        for of in entries {
            table.row(vec![
                of.name.into(),
                of.summary.into(),
                of.source.into(),
                of.storage_bits.clone(),
                of.latency.to_string(),
                of.interval.to_string(),
            ]);
        }
        table
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line(format!("{}: {}", self.name, self.summary));
        page.fact("source", self.source);
        page.fact("storage", &format!("{} bits", self.storage_bits));
        page.fact("latency", &format!("{} cycles", self.latency));
        page.fact("interval", &format!("{} cycles", self.interval));
        if !self.verilog_parameters.is_empty() {
            page.fact("parameters of the Verilog module", &self.verilog_parameters.join(", "));
        }
        page.table(Setting::table("parameter", &self.parameters));
        let mut ports = Table::new(&["port", "direction", "bits", "meaning"]);
        for of in &self.ports {
            ports.row(vec![of.name.into(), of.direction.into(), of.bits.to_string(), of.meaning.into()]);
        }
        page.table(ports);
        page
    }
}
