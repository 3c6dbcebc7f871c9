//! `selvedge area --mechanism`: what a whole GPU needs of a mechanism, as the sum over its block instances.
use crate::area_report::{priced_um2, storage, unpriced_bits};
use crate::cli::AreaOptions;
use crate::error::Failure;
use crate::table::Table;
use selvedge_gen::area::study::{BlockReport, Mapping};
use selvedge_hw::{BlockEntry, find};
use selvedge_sim::config::GpuConfig;
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::mechanism::probe::BlockInstance;
use selvedge_sim::run::instances;
use serde::Serialize;
use serde_json::Value;

/// Bits beside the address of a line that is kept compressed: its encoding, and its 32-byte sub-blocks.
const COMPRESSED_BITS: u32 = 4 + 3;
/// Bits of an address.
const ADDRESS_BITS: u32 = 32;

/// What papers say of a whole mechanism's storage or area.
const CLAIMS: [(&str, &str); 9] = [
    ("static-sc", "LATTE-CC: 15.5 KB for tables of SC, 6.45% of the L1"),
    ("latte-cc", "LATTE-CC: 134 B for the controller, and SC's 15.5 KB, 6.45% of the L1"),
    ("bgp", "LAMAR: 4 Kbit for each predictor"),
    ("mdb-local", "Dai: 0.087 mm2 for 15 SMs at 45 nm, 0.001 nJ per access, 0.27 mW leakage"),
    ("mdb-global", "Dai: 0.087 mm2 for 15 SMs at 45 nm, 0.001 nJ per access, 0.27 mW leakage"),
    ("dmil", "Dai: 7 + 12 + 10 bits for each kernel of an SM"),
    ("hw-bdi", "CABA: an 8 KB metadata cache at each memory controller"),
    ("hw-bdi-mem", "CABA: an 8 KB metadata cache at each memory controller"),
    ("caba-bdi", "CABA: tables of the assist warps, and an 8 KB metadata cache at each memory controller"),
];

/// A mechanism in a machine.
pub struct System {
    mechanism: MechanismSpec,
    base: GpuConfig,
    machine: GpuConfig,
    parts: Vec<Part>,
}

/// Instances of one block with the same parameters.
pub struct Part {
    /// The block.
    pub entry: &'static dyn BlockEntry,
    /// Its parameters.
    pub parameters: Value,
    instances: usize,
}

/// All of a system's figures.
#[derive(Serialize)]
pub struct SystemReport {
    mechanism: String,
    config: String,
    parts: Vec<PartReport>,
    /// Bits of registers and memories in all blocks.
    block_bits: usize,
    /// Bits that the tags of the L1Ds grow by.
    added_tag_bits: usize,
    /// The same two, as a share of the data of all L1Ds and of the L2.
    percent_of_l1d: f64,
    percent_of_l2: f64,
    /// Area of all cells, um2, by the area-driven script; memories are not in it.
    cells_um2: f64,
    cells_kge: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    scaled_um2: Option<f64>,
    /// Bits of memories outside the cells.
    unpriced_memory_bits: usize,
    /// Area of the memories that have a price, um2.
    #[serde(skip_serializing_if = "Option::is_none")]
    memories_um2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'static str>,
}

#[derive(Serialize)]
struct PartReport {
    block: String,
    parameters: Value,
    instances: usize,
    storage: String,
    bits: usize,
    kge: f64,
    um2: f64,
    scaled_um2: Option<f64>,
    memory_bits: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    memories_um2: Option<f64>,
}

impl System {
    /// The mechanism that the options name, if they name one.
    ///
    /// # Errors
    /// An unknown mechanism or machine, or one that does not suit the other.
    pub fn of(options: &AreaOptions) -> Result<Option<Self>, Failure> {
        let Some(text) = &options.mechanism else { return Ok(None) };
        let mechanism: MechanismSpec = text.parse().map_err(Failure::usage)?;
        let base = GpuConfig::load(&options.config).map_err(Failure::usage)?;
        let machine = mechanism.machine(&base).map_err(Failure::usage)?;
        let built = instances(&mechanism, &base, options.kernels as usize).map_err(Failure::usage)?;
        let parts = parts(&built)?;
        if parts.is_empty() {
            return Err(Failure::usage(format!("--mechanism {text}: it has no blocks in {}", base.name)));
        }
        Ok(Some(System { mechanism, base, machine, parts }))
    }

    /// Its blocks, in the order of their first instances.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The sum, from the studies of its parts in order.
    pub fn report(&self, blocks: &[BlockReport]) -> SystemReport {
        let parts: Vec<PartReport> =
            self.parts.iter().zip(blocks).map(|(part, block)| part.report(block)).collect();
        let sum = |of: fn(&PartReport) -> f64| parts.iter().map(|p| p.instances as f64 * of(p)).sum::<f64>();
        let count = |of: fn(&PartReport) -> usize| parts.iter().map(|p| p.instances * of(p)).sum::<usize>();
        let block_bits = count(|part| part.bits);
        let tags = |machine| l1d_tag_bits(machine) * machine.sm.count as usize;
        let added_tag_bits = tags(&self.machine).saturating_sub(tags(&self.base));
        let percent = |data: usize| 100.0 * (block_bits + added_tag_bits) as f64 / data as f64;
        let (l1d, l2) = (&self.base.l1d, &self.base.l2);
        let l1d_bits = 8 * (l1d.sets * l1d.ways * l1d.line_bytes * self.base.sm.count) as usize;
        let l2_bits = 8 * (l2.sets * l2.ways * l2.line_bytes * l2.partitions) as usize;
        let scaled = parts.iter().all(|part| part.scaled_um2.is_some());
        SystemReport {
            mechanism: self.mechanism.text.clone(),
            config: self.base.name.clone(),
            block_bits,
            added_tag_bits,
            percent_of_l1d: percent(l1d_bits),
            percent_of_l2: percent(l2_bits),
            cells_um2: sum(|part| part.um2),
            cells_kge: sum(|part| part.kge),
            scaled_um2: scaled.then(|| sum(|part| part.scaled_um2.unwrap_or_default())),
            unpriced_memory_bits: count(|part| part.memory_bits),
            memories_um2: parts
                .iter()
                .any(|part| part.memories_um2.is_some())
                .then(|| sum(|part| part.memories_um2.unwrap_or_default())),
            claim: CLAIMS.iter().find(|(name, _)| *name == self.name()).map(|(_, claim)| *claim),
            parts,
        }
    }

    /// The mechanism without its options.
    fn name(&self) -> &str {
        self.mechanism.text.split(',').next().unwrap_or_default()
    }
}

/// Equal instances together.
fn parts(built: &[BlockInstance]) -> Result<Vec<Part>, Failure> {
    let mut parts: Vec<Part> = Vec::new();
    for one in built {
        let same = |part: &&mut Part| part.entry.name() == one.block && part.parameters == one.parameters;
        match parts.iter_mut().find(same) {
            Some(part) => part.instances += 1,
            None => {
                let entry = find(one.block).map_err(Failure::usage)?;
                parts.push(Part { entry, parameters: one.parameters.clone(), instances: 1 });
            }
        }
    }
    Ok(parts)
}

/// Bits of the tags of an L1D: address and valid bit, and with more than one for a way what a compressed line adds.
fn l1d_tag_bits(machine: &GpuConfig) -> usize {
    let l1d = &machine.l1d;
    let address = ADDRESS_BITS - l1d.sets.ilog2() - l1d.line_bytes.ilog2();
    let compressed = if l1d.tags_per_way > 1 { COMPRESSED_BITS } else { 0 };
    (l1d.sets * l1d.ways * l1d.tags_per_way * (address + 1 + compressed)) as usize
}

impl Part {
    fn report(&self, block: &BlockReport) -> PartReport {
        let area: Option<&Mapping> = block.mappings.first();
        PartReport {
            block: block.block.clone(),
            parameters: self.parameters.clone(),
            instances: self.instances,
            storage: storage(block),
            bits: block.storage.value as usize,
            kge: area.map_or(0.0, |one| one.area_kge.value),
            um2: area.map_or(0.0, |one| one.area.value),
            scaled_um2: area.and_then(|one| one.scaled_area).map(|scaled| scaled.value),
            memory_bits: unpriced_bits(block),
            memories_um2: Some(priced_um2(block)).filter(|um2| *um2 > 0.0),
        }
    }
}

impl SystemReport {
    /// A row for each part, and the sums.
    pub fn table(&self) -> Table {
        let mut table = Table::new(&[
            "block",
            "instances",
            "storage bits of one",
            "in all",
            "kGE of one",
            "in all",
            "um2 of one",
            "in all",
            "unpriced memory bits",
        ]);
        for part in &self.parts {
            let all = part.instances as f64;
            table.row(vec![
                part.block.clone(),
                part.instances.to_string(),
                part.storage.clone(),
                (part.instances * part.bits).to_string(),
                format!("{:.2}", part.kge),
                format!("{:.1}", all * part.kge),
                format!("{:.0}", part.um2),
                format!("{:.0}", all * part.um2),
                (part.instances * part.memory_bits).to_string(),
            ]);
        }
        table
    }

    /// What stands below the table.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} in {}: {} bits in blocks and {} more bits of L1D tags, together {:.2}% of the L1Ds' data and {:.2}% of the L2's\n",
            self.mechanism,
            self.config,
            self.block_bits,
            self.added_tag_bits,
            self.percent_of_l1d,
            self.percent_of_l2
        );
        text += &format!(
            "cells: {:.1} kGE, {:.3} mm2; {} bits of memories are not in it\n",
            self.cells_kge,
            self.cells_um2 / 1e6,
            self.unpriced_memory_bits
        );
        if let Some(um2) = self.memories_um2 {
            text += &format!("priced memories: {:.3} mm2\n", um2 / 1e6);
        }
        if let Some(scaled) = self.scaled_um2 {
            text += &format!("cells, scaled: {:.4} mm2\n", scaled / 1e6);
        }
        if let Some(claim) = self.claim {
            text += &format!("the paper's claim: {claim}\n");
        }
        text
    }
}
