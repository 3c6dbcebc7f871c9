//! Writes the report of all studies as JSON, CSV and text tables.
use crate::batch::AreaTarget;
use crate::depth::{self, FoundDepth};
use crate::operation::{self, EnergySetup};
use crate::sram::{Cacti, Price};
use crate::study::{AsicSetup, BlockReport, Mapping};
use crate::system::{self, System, SystemReport};
use crate::table::Table;
use crate::tool::Found;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

/// Version of the JSON form. A change of a field's meaning increments it.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// Library of a study.
#[derive(JsonSchema, Serialize)]
struct Library {
    /// Name of the library.
    name: String,
    /// File of the library.
    file: String,
    /// Hash of the file.
    sha256: String,
    /// Technology of the cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    technology: Option<String>,
    /// Technology node, nm.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_nm: Option<u32>,
    /// Area of a NAND gate of two inputs, um2.
    nand2_um2: f64,
}

/// Report of all studies of one call.
#[derive(JsonSchema, Serialize)]
pub struct AreaReport {
    /// Version of the format. A change of meaning or the removal of a key increases it.
    format_version: u32,
    /// Version of the simulator.
    selvedge: &'static str,
    /// The tools that were used.
    tools: Vec<Found>,
    /// The library of standard cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<Library>,
    /// Rule for scaling areas to another node.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale_rule: Option<String>,
    /// Method of computing energies.
    #[serde(skip_serializing_if = "Option::is_none")]
    energy_method: Option<&'static str>,
    /// Rule for scaling energies to another node.
    #[serde(skip_serializing_if = "Option::is_none")]
    energy_scale_rule: Option<String>,
    /// Method of computing areas, times and energies of memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_method: Option<String>,
    /// Sums over the block instances of each mechanism whose blocks were all studied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    systems: Vec<SystemReport>,
    /// Pipeline depths that reach a clock, if they were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    found_depths: Vec<FoundDepth>,
    /// The blocks.
    blocks: Vec<BlockReport>,
}

impl AreaReport {
    /// Returns a report of any studies, without tools and library.
    pub fn new(blocks: Vec<BlockReport>) -> Self {
        AreaReport {
            format_version: FORMAT_VERSION,
            selvedge: env!("CARGO_PKG_VERSION"),
            tools: Vec::new(),
            library: None,
            scale_rule: None,
            energy_method: None,
            energy_scale_rule: None,
            memory_method: None,
            systems: Vec::new(),
            found_depths: Vec::new(),
            blocks,
        }
    }

    /// Adds the tools and library of a target.
    #[must_use]
    pub fn with_target(self, target: &AreaTarget) -> Self {
        match target {
            AreaTarget::Asic(setup, energy) => {
                self.with_cells(setup, energy.as_deref().map(EnergySetup::simulator))
            }
            AreaTarget::Fpga { yosys, placer, .. } => self.with_tools([yosys].into_iter().chain(placer)),
        }
    }

    /// Adds the tools, library and scaling rules of a standard-cell study. Energies require a simulator.
    fn with_cells(self, setup: &AsicSetup, simulator: Option<&Found>) -> Self {
        let known = setup.technology.as_ref();
        let library = Library {
            name: setup.library.name.clone(),
            file: setup.library.path.display().to_string(),
            sha256: setup.library.sha256.clone(),
            technology: known.map(|known| known.name.clone()),
            node_nm: known.map(|known| known.node_nm),
            nand2_um2: setup.nand2_um2(),
        };
        let scale_rule = setup.scale_to.as_ref().map(|to| {
            format!(
                "scaled area = gate equivalents x {} um2, the NAND gate of {}; delays are not scaled",
                to.nand2_um2, to.name
            )
        });
        let report = AreaReport {
            library: Some(library),
            scale_rule,
            energy_method: simulator.map(|_| operation::METHOD),
            energy_scale_rule: simulator
                .and(known.zip(setup.scale_to.as_ref()))
                .map(|(from, to)| operation::scale_rule(from, to)),
            memory_method: setup.sram.as_ref().map(Cacti::method),
            ..self
        };
        report.with_tools([&setup.yosys, &setup.sta].into_iter().chain(simulator))
    }

    /// Adds programs that are not in the report yet.
    fn with_tools<'a>(mut self, tools: impl Iterator<Item = &'a Found>) -> Self {
        for tool in tools {
            if self.tools.iter().all(|known| known.program != tool.program) {
                self.tools.push(tool.clone());
            }
        }
        self
    }

    /// Adds the sums over the mechanisms' block instances.
    #[must_use]
    pub fn with_systems(self, systems: &[System]) -> Self {
        AreaReport {
            systems: systems.iter().filter_map(|system| system.report(&self.blocks)).collect(),
            ..self
        }
    }

    /// Adds the min pipeline depth of each block that reaches a period of `period_ps`.
    #[must_use]
    pub fn with_depths(self, period_ps: u32) -> Self {
        AreaReport { found_depths: depth::found(&self.blocks, period_ps), ..self }
    }

    /// Returns whether the report contains the block with different parameters for the same target.
    fn varies(&self, block: &BlockReport) -> bool {
        let is_other = |one: &BlockReport| {
            one.block == block.block && one.target == block.target && one.parameters != block.parameters
        };
        self.blocks.iter().any(is_other)
    }
}

/// Returns a block's name, with its parameters if they vary.
fn name(report: &AreaReport, block: &BlockReport) -> String {
    if report.varies(block) { format!("{} {}", block.block, parameters(block)) } else { block.block.clone() }
}

fn parameters(block: &BlockReport) -> String {
    let Some(all) = block.parameters.as_object() else { return String::new() };
    all.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Returns the figures as a Markdown page. The first line of `text` is the title. It is followed by `words`, the command
/// that wrote the page, and by the rest of `text`, which explains the figures.
pub fn page(report: &AreaReport, text: &str, words: &str) -> String {
    let (title, text) = text.split_once('\n').unwrap_or((text, ""));
    let mut page = format!("{title}\n\n`{words}`\n{text}");
    if !report.systems.is_empty() {
        page += &format!("\n{}", system::sums(&report.systems).markdown());
        for system in &report.systems {
            page += &format!("\n`{}`:\n\n{}", system.mechanism(), system.table().markdown());
        }
        page += "\nThe blocks, each studied once:\n";
    }
    for table in figures(report) {
        page += &format!("\n{}", table.markdown());
    }
    if let Some(table) = operation::table(&report.blocks, |block| name(report, block)) {
        page += &format!("\n{}", table.markdown());
    }
    if let Some(table) = memories(report) {
        page += &format!("\n{}", table.markdown());
    }
    if !report.found_depths.is_empty() {
        page += &format!("\n{}", depth::table(&report.found_depths).markdown());
    }
    for line in footer(report).lines() {
        page += &format!("\n{line}\n");
    }
    page
}

/// Returns the tables and the notes that explain them. Lines have at most `width` characters if it is given.
pub fn table(report: &AreaReport, width: Option<usize>) -> String {
    let mut text =
        figures(report).iter().map(|table| table.render_within(width)).collect::<Vec<_>>().join("\n");
    if let Some(table) = operation::table(&report.blocks, |block| name(report, block)) {
        text += &format!("\n{}", table.render_within(width));
    }
    if let Some(table) = memories(report) {
        text += &format!("\n{}", table.render_within(width));
    }
    for system in &report.systems {
        text += &format!("\n{}\n{}", system.table().render_within(width), system.summary());
    }
    if !report.found_depths.is_empty() {
        text += &format!("\n{}", depth::table(&report.found_depths).render_within(width));
    }
    text.push('\n');
    text + &footer(report)
}

/// Returns a table of the blocks in standard cells and a table of those on FPGAs. Omits an empty table.
fn figures(report: &AreaReport) -> Vec<Table> {
    let on_fpga = report.blocks.iter().filter(|block| block.fpga.is_some()).count();
    let in_cells = (on_fpga < report.blocks.len()).then(|| asic_table(report));
    in_cells.into_iter().chain((on_fpga > 0).then(|| fpga_table(report))).collect()
}

/// Returns library, scaling rule and tools, one line each.
fn footer(report: &AreaReport) -> String {
    let mut text = String::new();
    if let Some(library) = &report.library {
        let name = library.technology.as_ref().unwrap_or(&library.name);
        writeln!(
            text,
            "{name}; 1 GE = {} um2; no wires, no clock tree, no scan; delays between registers on all ports",
            library.nand2_um2
        )
        .expect("writing to a string cannot fail");
    }
    text += &operation::stimulus_lines(&report.blocks);
    let rules = [
        report.scale_rule.as_deref(),
        report.energy_method,
        report.energy_scale_rule.as_deref(),
        report.memory_method.as_deref(),
    ];
    for rule in rules.into_iter().flatten() {
        writeln!(text, "{rule}").expect("writing to a string cannot fail");
    }
    let tools: Vec<String> =
        report.tools.iter().map(|tool| format!("{} {}", tool.program, tool.version)).collect();
    text += &tools.join(", ");
    text.push('\n');
    text
}

fn asic_table(report: &AreaReport) -> Table {
    let scaled = report.scale_rule.is_some();
    let mut head = vec![
        "block",
        "mapped for",
        "kGE",
        "um2",
        "comb um2",
        "seq um2",
        "cells",
        "flip-flops",
        "memory bits",
        "storage bits",
        "path ns",
        "depth",
        "MHz",
        "cycles",
        "latency ns",
    ];
    if scaled {
        head.push("scaled um2");
    }
    let mut table =
        Table::new(&head).dispensable(&["comb um2", "seq um2", "um2", "cells", "depth", "latency ns"]);
    for block in &report.blocks {
        for one in &block.mappings {
            let mut cells = vec![name(report, block), one.wanted()];
            cells.extend(numbers(block, one));
            if scaled {
                cells.push(one.scaled_area.map_or("-".into(), |area| format!("{:.0}", area.value)));
            }
            table.row(cells);
        }
    }
    table
}

/// Returns the cells of a row after block and goal.
fn numbers(block: &BlockReport, one: &Mapping) -> Vec<String> {
    let whole = |value: f64| format!("{value:.0}");
    vec![
        format!("{:.2}", one.area_kge.value),
        whole(one.area.value),
        whole(one.combinational_area.value),
        whole(one.sequential_area.value),
        whole(one.cells.value),
        whole(one.flip_flops.value),
        block.listed_bits().to_string(),
        block.storage_beside_claim(),
        format!("{:.2}", one.critical_path.value),
        whole(one.logic_depth.value),
        whole(one.fmax.value),
        whole(block.latency_cycles.value),
        format!("{:.2}", one.latency.value),
    ]
}

fn fpga_table(report: &AreaReport) -> Table {
    let mut table =
        Table::new(&["block", "target", "LUTs", "flip-flops", "block RAMs", "LUT RAMs", "carries", "MHz"]);
    for block in &report.blocks {
        let Some(one) = &block.fpga else { continue };
        let whole = |value: f64| format!("{value:.0}");
        table.row(vec![
            name(report, block),
            block.target.into(),
            whole(one.luts.value),
            whole(one.flip_flops.value),
            whole(one.block_rams.value),
            whole(one.lut_rams.value),
            whole(one.carries.value),
            one.fmax.map_or("-".into(), |fmax| format!("{:.1}", fmax.value)),
        ]);
    }
    table
}

/// Returns a table of the memories of all blocks, or `None` if there are none.
fn memories(report: &AreaReport) -> Option<Table> {
    let mut head = vec![
        "memory of",
        "name",
        "words",
        "width",
        "bits",
        "read ports",
        "clocked",
        "write ports",
        "made of",
    ];
    if report.memory_method.is_some() {
        head.extend(PRICE_HEAD);
    }
    let mut table = Table::new(&head);
    let mut any = false;
    // The memories of a block that is studied for both targets are listed once.
    let listed = |block: &&BlockReport| block.fpga.is_none() || report.library.is_none();
    for block in report.blocks.iter().filter(listed) {
        for memory in &block.memories {
            any = true;
            let made_of = match (report.library.is_some(), block.memories_in_flip_flops, &memory.price) {
                (false, _, _) => "what the family has",
                (true, true, _) => "flip-flops",
                (true, false, None) => "unpriced",
                (true, false, Some(_)) => "CACTI's RAM",
            };
            let mut cells = vec![
                name(report, block),
                memory.name.clone(),
                memory.words.to_string(),
                memory.width.to_string(),
                (memory.words * memory.width).to_string(),
                memory.read_ports.to_string(),
                memory.clocked_read_ports.to_string(),
                memory.write_ports.to_string(),
                made_of.into(),
            ];
            cells.extend(memory.price.iter().flat_map(price_cells));
            table.row(cells);
        }
    }
    any.then_some(table)
}

/// Titles of the columns that only `--sram` fills.
const PRICE_HEAD: [&str; 7] =
    ["modelled", "um2", "access ns", "cycle ns", "read nJ", "write nJ", "leakage mW"];

fn price_cells(price: &Price) -> [String; 7] {
    [
        format!("{} x {}", price.modelled_words, price.modelled_width),
        format!("{:.0}", price.area.value),
        format!("{:.3}", price.access_time.value),
        format!("{:.3}", price.cycle_time.value),
        format!("{:.5}", price.read_energy.value),
        price.write_energy.map_or("-".into(), |energy| format!("{:.5}", energy.value)),
        format!("{:.4}", price.leakage.value),
    ]
}

/// One point of a sweep: the value of the parameter, the area in kGE, and the critical path in ns.
type SweepPoint = (f64, f64, f64);

/// A line of one block and mapping in a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend: block and goal.
    pub name: String,
    /// Points of parameter value and measured value, in order of the parameter.
    pub points: Vec<(f64, f64)>,
}

/// Returns the curves of area and of critical path over a parameter, one for each block and mapping.
pub fn curves(report: &AreaReport, parameter: &str) -> (Vec<Curve>, Vec<Curve>) {
    let mut curves: Vec<(String, Vec<SweepPoint>)> = Vec::new();
    for block in &report.blocks {
        let Some(at) = block.parameters[parameter].as_f64() else { continue };
        for one in &block.mappings {
            let name = format!("{}, for {}", block.block, one.goal);
            let place = curves.iter().position(|curve| curve.0 == name).unwrap_or_else(|| {
                curves.push((name, Vec::new()));
                curves.len() - 1
            });
            curves[place].1.push((at, one.area_kge.value, one.critical_path.value));
        }
    }
    let curve = |of: fn(&SweepPoint) -> (f64, f64)| {
        let mut all: Vec<Curve> = curves
            .iter()
            .map(|(name, points)| Curve { name: name.clone(), points: points.iter().map(of).collect() })
            .collect();
        all.iter_mut().for_each(|one| one.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        all
    };
    (curve(|point| (point.0, point.1)), curve(|point| (point.0, point.2)))
}

/// Returns the report as CSV: a row for each block and mapping, or for each block on an FPGA.
pub fn csv(report: &AreaReport) -> String {
    let mut text = String::new();
    if report.library.is_some() {
        text += "block,parameters,goal,area_kge,area_um2,combinational_um2,sequential_um2,cells,flip_flops,memory_bits,\
                 critical_path_ns,logic_depth,fmax_mhz,latency_cycles,latency_ns,scaled_um2";
        // Columns that only --energy fills are present only with it.
        let with_energy = report.energy_method.is_some();
        text += &if with_energy { format!(",{}", operation::CSV_HEAD) } else { String::new() };
        // The same applies to the column of --sram.
        let with_memories = report.memory_method.is_some();
        text += if with_memories { ",memories_um2\n" } else { "\n" };
        for block in &report.blocks {
            for one in &block.mappings {
                let scaled = one.scaled_area.map(|area| area.value.to_string()).unwrap_or_default();
                let energy = one.energy.as_ref();
                let energy = if with_energy { format!(",{}", operation::csv(energy)) } else { String::new() };
                let memories = if with_memories { format!(",{}", block.priced_um2()) } else { String::new() };
                writeln!(
                    text,
                    "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{scaled}{energy}{memories}",
                    block.block,
                    parameters(block),
                    one.goal,
                    one.area_kge.value,
                    one.area.value,
                    one.combinational_area.value,
                    one.sequential_area.value,
                    one.cells.value,
                    one.flip_flops.value,
                    block.listed_bits(),
                    one.critical_path.value,
                    one.logic_depth.value,
                    one.fmax.value,
                    block.latency_cycles.value,
                    one.latency.value,
                )
                .expect("writing to a string cannot fail");
            }
        }
        return text;
    }
    text += "block,parameters,target,luts,flip_flops,block_rams,lut_rams,carries,fmax_mhz\n";
    for block in &report.blocks {
        let Some(one) = &block.fpga else { continue };
        let fmax = one.fmax.map(|fmax| fmax.value.to_string()).unwrap_or_default();
        writeln!(
            text,
            "{},{},{},{},{},{},{},{},{fmax}",
            block.block,
            parameters(block),
            block.target,
            one.luts.value,
            one.flip_flops.value,
            one.block_rams.value,
            one.lut_rams.value,
            one.carries.value,
        )
        .expect("writing to a string cannot fail");
    }
    text
}
