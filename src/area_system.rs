//! `selvedge area --mechanism`: what a whole GPU needs of a mechanism, as the sum over its block instances.
use crate::area_report::{priced_um2, storage, unpriced_bits};
use crate::arguments::AreaOptions;
use crate::error::Failure;
use crate::table::Table;
use selvedge_blocks::find;
use selvedge_gen::area::study::{BlockReport, Mapping};
use selvedge_hw::BlockEntry;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::mechanism::probe::BlockInstance;
use selvedge_sim::mechanism::{self, MechanismSpec};
use selvedge_sim::run::instances;
use serde::Serialize;
use serde_json::Value;

/// Bits beside the address of a line that is kept compressed: its encoding, and its 32-byte sub-blocks.
const COMPRESSED_BITS: u32 = 4 + 3;
/// Bits of an address.
const ADDRESS_BITS: u32 = 32;
/// Bits beside the address of a line that is kept compressed in the L2: its encoding, and its 32-byte bursts.
const L2_FORM_BITS: u32 = 4 + 2;

/// What papers say of a whole mechanism's storage or area.
const CLAIMS: [(&str, &str); 10] = [
    ("static-sc", "LATTE-CC: 15.5 KB for tables of SC, 6.45% of the L1s of 15 SMs"),
    ("latte-cc", "LATTE-CC: 134 B for the controller, and SC's 15.5 KB, 6.45% of the L1s of 15 SMs"),
    ("bgp", "LAMAR: 4 Kbit for each predictor"),
    ("mdb-local", "Dai: 0.087 mm2 for 15 SMs at 45 nm, 0.001 nJ per access, 0.27 mW leakage"),
    ("mdb-global", "Dai: 0.087 mm2 for 15 SMs at 45 nm, 0.001 nJ per access, 0.27 mW leakage"),
    ("dmil", "Dai: 7 + 12 + 10 bits for each kernel of an SM"),
    ("qbmi", "Dai: 10 bits for each kernel of an SM, beside MILG"),
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
    /// Bits that the tags of the L2 grow by.
    added_l2_tag_bits: usize,
    /// All three, as a share of the data of all L1Ds and of the L2.
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
    /// The mechanisms that the options name.
    ///
    /// # Errors
    /// An unknown mechanism or machine, or one that does not suit the other.
    pub fn all(options: &AreaOptions) -> Result<Vec<Self>, Failure> {
        options.mechanisms.iter().map(|text| System::of(text, options)).collect()
    }

    fn of(text: &str, options: &AreaOptions) -> Result<Self, Failure> {
        let mechanism: MechanismSpec = text.parse().map_err(Failure::usage)?;
        let base = GpuConfig::load(&options.config).map_err(Failure::usage)?;
        let machine = mechanism.machine(&base).map_err(Failure::usage)?;
        let mut built = instances(&mechanism, &base, options.kernels as usize).map_err(Failure::usage)?;
        // A simulated SM has its policy's blocks whether this mechanism of the family uses them or not.
        built.retain(|one| mechanism.parts.iter().any(|part| part.info.blocks.contains(&one.block)));
        let parts = parts(&built)?;
        if parts.is_empty() {
            return Err(Failure::usage(format!("--mechanism {text}: it has no blocks in {}", base.name)));
        }
        Ok(System { mechanism, base, machine, parts })
    }

    /// Its blocks, in the order of their first instances.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The sum, from studies with those of its parts among them; none where one is missing.
    pub fn report(&self, blocks: &[BlockReport]) -> Option<SystemReport> {
        let parts: Vec<PartReport> = self
            .parts
            .iter()
            .map(|part| part.find(blocks).map(|block| part.report(block)))
            .collect::<Option<_>>()?;
        let sum = |of: fn(&PartReport) -> f64| parts.iter().map(|p| p.instances as f64 * of(p)).sum::<f64>();
        let count = |of: fn(&PartReport) -> usize| parts.iter().map(|p| p.instances * of(p)).sum::<usize>();
        let block_bits = count(|part| part.bits);
        let in_place = self.mechanism.parts.iter().any(mechanism::compresses_l1d_in_place);
        let tags =
            |machine: &GpuConfig, in_place| l1d_tag_bits(machine, in_place) * machine.sm.count as usize;
        let added_tag_bits = tags(&self.machine, in_place).saturating_sub(tags(&self.base, false));
        let added_l2_tag_bits =
            self.mechanism.parts.iter().map(|part| added_l2_tag_bits(part, &self.machine)).sum::<usize>();
        let all_bits = block_bits + added_tag_bits + added_l2_tag_bits;
        let percent = |data: usize| 100.0 * all_bits as f64 / data as f64;
        let (l1d, l2) = (&self.base.l1d, &self.base.l2);
        let l1d_bits = 8 * (l1d.sets * l1d.ways * l1d.line_bytes * self.base.sm.count) as usize;
        let l2_bits = 8 * (l2.sets * l2.ways * l2.line_bytes * l2.partitions) as usize;
        let scaled = parts.iter().all(|part| part.scaled_um2.is_some());
        Some(SystemReport {
            mechanism: self.mechanism.text.clone(),
            config: self.base.name.clone(),
            block_bits,
            added_tag_bits,
            added_l2_tag_bits,
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
        })
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

/// Bits of the tags of an L1D: address and valid bit, and what a compressed line adds where there are such lines: with more than
/// one tag for a way, or `in_place`.
fn l1d_tag_bits(machine: &GpuConfig, in_place: bool) -> usize {
    let l1d = &machine.l1d;
    let address = ADDRESS_BITS - l1d.sets.ilog2() - l1d.line_bytes.ilog2();
    let compressed = if l1d.tags_per_way > 1 || in_place { COMPRESSED_BITS } else { 0 };
    (l1d.sets * l1d.ways * l1d.tags_per_way * (address + 1 + compressed)) as usize
}

/// Bits that the tags of the L2 grow by where it keeps compressed lines: what says how a line is kept, and further tags.
fn added_l2_tag_bits(part: &mechanism::Part, machine: &GpuConfig) -> usize {
    let l2 = &machine.l2;
    let Some(tags_per_way) = mechanism::compressed_l2_tags(part) else { return 0 };
    let address = ADDRESS_BITS - l2.sets.ilog2() - l2.line_bytes.ilog2() - l2.partitions.ilog2();
    let ways = (l2.sets * l2.ways * l2.partitions) as usize;
    let (of_one, more) = (L2_FORM_BITS as usize, (address + 1 + L2_FORM_BITS) as usize);
    ways * (of_one + (tags_per_way as usize - 1) * more)
}

impl Part {
    /// Its study in standard cells.
    fn find<'a>(&self, blocks: &'a [BlockReport]) -> Option<&'a BlockReport> {
        blocks.iter().find(|block| block.block == self.entry.name() && block.parameters == self.parameters)
    }

    /// Is the other the same block with the same parameters?
    pub fn is_as(&self, other: &Part) -> bool {
        self.entry.name() == other.entry.name() && self.parameters == other.parameters
    }

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

/// The sums of several mechanisms, a row for each.
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
    /// The mechanism, as it was asked for.
    pub fn mechanism(&self) -> &str {
        &self.mechanism
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    fn system(mechanism: &str) -> Result<System, Failure> {
        let words = ["selvedge", "area", "--mechanism", mechanism];
        let Some(Command::Area(options)) = Arguments::try_parse_from(words).expect("valid words").command
        else {
            panic!("another command");
        };
        System::all(&options).map(|mut all| all.remove(0))
    }

    /// Block and number of instances of each part.
    fn blocks(mechanism: &str) -> Vec<(&'static str, usize)> {
        let system = system(mechanism).unwrap_or_else(|error| panic!("{mechanism}: {error:?}"));
        system.parts.iter().map(|part| (part.entry.name(), part.instances)).collect()
    }

    #[test]
    fn a_mechanism_has_the_blocks_that_it_names_and_no_others_of_its_family() {
        let names = |mechanism| blocks(mechanism).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(
            names("static-bdi"),
            ["bdi_compressor", "bdi_decompressor", "decompression_queue"],
            "no SC and no controller"
        );
        assert!(!names("static-sc").contains(&"bdi_compressor"));
        assert!(!names("latte-cc").contains(&"bpc_compressor"));
        assert!(names("latte-cc,high=bpc").contains(&"bpc_compressor"));
    }

    #[test]
    fn dedicated_codecs_have_a_metadata_cache_in_each_of_six_partitions() {
        assert_eq!(blocks("hw-bdi-mem").last(), Some(&("md_cache", 6)));
        assert!(blocks("caba-bdi").contains(&("md_cache", 6)));
        assert_eq!(blocks("ideal-bdi,metadata=cached"), [("md_cache", 6)]);
    }

    #[test]
    fn a_compressed_line_takes_bits_of_its_tag_however_many_tags_a_way_has() {
        let added = |mechanism| {
            let system = system(mechanism).expect("a mechanism");
            let in_place = mechanism::compresses_l1d_in_place(&system.mechanism.parts[0]);
            l1d_tag_bits(&system.machine, in_place) - l1d_tag_bits(&system.base, false)
        };
        // 128 lines of 16 KB; another tag has 20 bits of address and a valid bit besides.
        assert_eq!(added("caba-bdi"), 0);
        assert_eq!(added("caba-bdi,direct_load=on"), 128 * 7);
        assert_eq!(added("static-bdi"), 128 * (4 * (21 + 7) - 21));
    }

    #[test]
    fn tags_of_the_l2_grow_where_it_keeps_compressed_lines() {
        let added = |mechanism| {
            let system = system(mechanism).expect("a mechanism");
            added_l2_tag_bits(&system.mechanism.parts[0], &system.machine)
        };
        // 768 KB in lines of 128 bytes.
        let lines = 6144;
        assert_eq!(added("hw-bdi"), lines * 6);
        assert_eq!(added("hw-bdi-mem"), 0);
        assert_eq!(added("caba-bdi,l2=uncompressed"), 0);
        assert_eq!(added("bgp"), 0);
        assert_eq!(system("ideal-bdi").err().map(|_| ()), Some(()), "what costs nothing has no blocks");
        // A second tag: 32 bits of address less 7 of the line, 6 of the set and 2 of the partition; valid; what a form takes.
        assert_eq!(added("caba-bdi,l2_tags=2"), lines * (6 + 17 + 1 + 6));
    }
}
