//! Adds up the figures of a mechanism's block instances for a complete GPU.
use crate::batch::Job;
use crate::study::{BlockReport, Mapping};
use crate::table::Table;
use schemars::JsonSchema;
use selvedge_gen::ResetStyle;
use selvedge_hw::BlockEntry;
use serde::Serialize;
use serde_json::Value;

/// A mechanism in a configuration of the GPU.
#[derive(Clone)]
pub struct System {
    /// The mechanism with its options, as the user gave them.
    pub mechanism: String,
    /// The name of the configuration.
    pub config: String,
    /// The mechanism's blocks.
    pub parts: Vec<BlockInstances>,
    /// Bits that the mechanism adds to the tags of all L1Ds.
    pub added_l1d_tag_bits: usize,
    /// Bits that the mechanism adds to the tags of the L2.
    pub added_l2_tag_bits: usize,
    /// Data bits of all L1Ds.
    pub l1d_bits: usize,
    /// Data bits of the L2.
    pub l2_bits: usize,
    /// The storage or area that a paper states for the complete mechanism.
    pub claim: Option<&'static str>,
}

/// Instances of one block with the same parameters.
#[derive(Clone)]
pub struct BlockInstances {
    /// The block.
    pub entry: &'static dyn BlockEntry,
    /// Its parameters.
    pub parameters: Value,
    /// Number of instances in the GPU.
    pub instances: usize,
}

/// Figures of a system.
#[derive(JsonSchema, Serialize)]
pub struct SystemReport {
    /// Name of the mechanism.
    mechanism: String,
    /// Name of the configuration.
    config: String,
    /// Blocks of the mechanism.
    parts: Vec<PartReport>,
    /// Bits of registers and memories in all blocks.
    block_bits: usize,
    /// Bits added to the tags of the L1Ds.
    added_tag_bits: usize,
    /// Bits added to the tags of the L2.
    added_l2_tag_bits: usize,
    /// Bits of blocks and added tag bits together, in percent of the data of all L1Ds.
    percent_of_l1d: f64,
    /// Bits of blocks and added tag bits together, in percent of the data of the L2.
    percent_of_l2: f64,
    /// Area of all cells, without memories, by the area-driven script, um2.
    cells_um2: f64,
    /// Area of all cells, thousands of gate equivalents.
    cells_kge: f64,
    /// Area of all cells, scaled to another node, um2.
    #[serde(skip_serializing_if = "Option::is_none")]
    scaled_um2: Option<f64>,
    /// Bits of memories outside the cells.
    unpriced_memory_bits: usize,
    /// Area of the memories whose area is known, um2.
    #[serde(skip_serializing_if = "Option::is_none")]
    memories_um2: Option<f64>,
    /// Storage or area that the paper states.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'static str>,
}

/// A block of a system.
#[derive(JsonSchema, Serialize)]
struct PartReport {
    /// Name of the block.
    block: String,
    /// Parameters of the block.
    parameters: Value,
    /// Number of instances in the GPU.
    instances: usize,
    /// Registers and memories of one instance, and the paper's claim.
    storage: String,
    /// Bits of registers and memories of all instances.
    bits: usize,
    /// Area of the cells of all instances, thousands of gate equivalents.
    kge: f64,
    /// Area of the cells of all instances, um2.
    um2: f64,
    /// Area of the cells of all instances, scaled to another node, um2.
    scaled_um2: Option<f64>,
    /// Bits of memories outside the cells.
    memory_bits: usize,
    /// Area of these memories, um2, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    memories_um2: Option<f64>,
}

impl System {
    /// Returns the sums. `blocks` must contain the studies of all parts; otherwise returns `None`.
    pub fn report(&self, blocks: &[BlockReport]) -> Option<SystemReport> {
        let parts: Vec<PartReport> = self
            .parts
            .iter()
            .map(|part| part.find(blocks).map(|block| part.report(block)))
            .collect::<Option<_>>()?;
        let sum = |of: fn(&PartReport) -> f64| parts.iter().map(|p| p.instances as f64 * of(p)).sum::<f64>();
        let count = |of: fn(&PartReport) -> usize| parts.iter().map(|p| p.instances * of(p)).sum::<usize>();
        let block_bits = count(|part| part.bits);
        let all_bits = block_bits + self.added_l1d_tag_bits + self.added_l2_tag_bits;
        let percent = |data: usize| 100.0 * all_bits as f64 / data as f64;
        let scaled = parts.iter().all(|part| part.scaled_um2.is_some());
        Some(SystemReport {
            mechanism: self.mechanism.clone(),
            config: self.config.clone(),
            block_bits,
            added_tag_bits: self.added_l1d_tag_bits,
            added_l2_tag_bits: self.added_l2_tag_bits,
            percent_of_l1d: percent(self.l1d_bits),
            percent_of_l2: percent(self.l2_bits),
            cells_um2: sum(|part| part.um2),
            cells_kge: sum(|part| part.kge),
            scaled_um2: scaled.then(|| sum(|part| part.scaled_um2.unwrap_or_default())),
            unpriced_memory_bits: count(|part| part.memory_bits),
            memories_um2: parts
                .iter()
                .any(|part| part.memories_um2.is_some())
                .then(|| sum(|part| part.memories_um2.unwrap_or_default())),
            claim: self.claim,
            parts,
        })
    }
}

/// Returns one study for each distinct part of the systems.
pub fn jobs(systems: &[System]) -> Vec<Job<'static>> {
    let mut parts: Vec<&BlockInstances> = Vec::new();
    for part in systems.iter().flat_map(|system| &system.parts) {
        if parts.iter().all(|known| !known.is(part.entry, &part.parameters)) {
            parts.push(part);
        }
    }
    let job = |part: &BlockInstances| Job {
        entry: part.entry,
        params: part.parameters.clone(),
        target: 0,
        own: None,
        clock_gating: false,
        reset: ResetStyle::default(),
    };
    parts.into_iter().map(job).collect()
}

impl BlockInstances {
    /// Groups equal instances, in the order of their first instances.
    pub fn all_of(instances: impl IntoIterator<Item = (&'static dyn BlockEntry, Value)>) -> Vec<Self> {
        let mut parts: Vec<BlockInstances> = Vec::new();
        for (entry, parameters) in instances {
            match parts.iter_mut().find(|part| part.is(entry, &parameters)) {
                Some(part) => part.instances += 1,
                None => parts.push(BlockInstances { entry, parameters, instances: 1 }),
            }
        }
        parts
    }

    /// Returns the study of the part in standard cells.
    fn find<'a>(&self, blocks: &'a [BlockReport]) -> Option<&'a BlockReport> {
        blocks.iter().find(|block| block.block == self.entry.name() && block.parameters == self.parameters)
    }

    /// Returns whether the part is that block with those parameters.
    fn is(&self, entry: &dyn BlockEntry, parameters: &Value) -> bool {
        self.entry.name() == entry.name() && self.parameters == *parameters
    }

    fn report(&self, block: &BlockReport) -> PartReport {
        let area: Option<&Mapping> = block.mappings.first();
        PartReport {
            block: block.block.clone(),
            parameters: self.parameters.clone(),
            instances: self.instances,
            storage: block.storage_beside_claim(),
            bits: block.storage.value as usize,
            kge: area.map_or(0.0, |one| one.area_kge.value),
            um2: area.map_or(0.0, |one| one.area.value),
            scaled_um2: area.and_then(|one| one.scaled_area).map(|scaled| scaled.value),
            memory_bits: block.unpriced_bits(),
            memories_um2: Some(block.priced_um2()).filter(|um2| *um2 > 0.0),
        }
    }
}

/// Returns a table with the sums of several mechanisms, one row each.
pub fn sums(systems: &[SystemReport]) -> Table {
    let mut table = Table::new(&[
        "mechanism",
        "bits in blocks",
        "L1D tag bits",
        "L2 tag bits",
        "% of L1Ds",
        "% of L2",
        "kGE",
        "mm2",
        "scaled mm2",
        "memory bits, not in it",
        "priced memories mm2",
        "the paper's claim",
    ]);
    for one in systems {
        table.row(vec![
            format!("`{}`", one.mechanism),
            one.block_bits.to_string(),
            one.added_tag_bits.to_string(),
            one.added_l2_tag_bits.to_string(),
            format!("{:.2}", one.percent_of_l1d),
            format!("{:.2}", one.percent_of_l2),
            format!("{:.1}", one.cells_kge),
            format!("{:.3}", one.cells_um2 / 1e6),
            one.scaled_um2.map_or("-".into(), |um2| format!("{:.4}", um2 / 1e6)),
            one.unpriced_memory_bits.to_string(),
            one.memories_um2.map_or("-".into(), |um2| format!("{:.3}", um2 / 1e6)),
            one.claim.unwrap_or("-").into(),
        ]);
    }
    table
}

impl SystemReport {
    /// Returns the mechanism, as the user gave it.
    pub fn mechanism(&self) -> &str {
        &self.mechanism
    }

    /// Returns a table with a row for each part, and the sums.
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

    /// Returns the text below the table.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} in {}: {} bits in blocks and {} more bits of L1D tags, {} of L2 tags, together {:.2}% of the L1Ds' data and \
             {:.2}% of the L2's\n",
            self.mechanism,
            self.config,
            self.block_bits,
            self.added_tag_bits,
            self.added_l2_tag_bits,
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
