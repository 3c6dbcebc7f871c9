//! A study of one block: all tools in turn, in a folder of their own.
use crate::asic::{self, Goal, MemoryStyle};
use crate::energy::EnergyReport;
use crate::error::AreaError;
use crate::figure::Figure;
use crate::fpga::{self, Family, FpgaReport};
use crate::liberty::Liberty;
use crate::memory::{self, MemoryReport};
use crate::sram::Cacti;
use crate::technology::Technology;
use crate::timing;
use crate::tool::{Found, OPENSTA, YOSYS};
use schemars::JsonSchema;
use selvedge_gen::Design;
use selvedge_gen::EmitOptions;
use selvedge_gen::files::synth_wrapper;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The programs of a standard-cell study, its library, and what it is asked for.
#[derive(Clone, Debug)]
pub struct AsicSetup {
    /// Yosys.
    pub yosys: Found,
    /// OpenSTA.
    pub sta: Found,
    /// The library.
    pub library: Liberty,
    /// What is known of the library.
    pub technology: Option<Technology>,
    /// Where areas are carried to, beside.
    pub scale_to: Option<Technology>,
    /// ABC's target for the delay script, ps.
    pub target_ps: Option<u32>,
    /// What becomes of memories.
    pub memories: MemoryStyle,
    /// The tool that prices listed memories.
    pub sram: Option<Cacti>,
}

impl AsicSetup {
    /// Finds the programs; the rest is as usual: no technology, no target, and memories listed without a price.
    ///
    /// # Errors
    /// When Yosys or OpenSTA is missing or too old.
    pub fn find(library: Liberty) -> Result<Self, AreaError> {
        Ok(AsicSetup {
            yosys: YOSYS.find()?,
            sta: OPENSTA.find()?,
            library,
            technology: None,
            scale_to: None,
            target_ps: None,
            memories: MemoryStyle::Listed,
            sram: None,
        })
    }

    /// Area of a gate equivalent, um2: the technology table's, or else the library's own.
    pub fn nand2_um2(&self) -> f64 {
        self.technology.as_ref().map_or_else(|| self.library.nand2_um2(), |known| known.nand2_um2)
    }

    /// Returns the period of the clock that a mapping must reach, ps: the target, or else that of the technology table.
    pub fn period_ps(&self) -> Option<u32> {
        let usual = || Some(1_000_000 / self.technology.as_ref()?.clock_mhz?);
        self.target_ps.or_else(usual)
    }
}

/// What one of ABC's scripts made of a block.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Mapping {
    /// What was mapped for: area, clock or delay.
    pub goal: &'static str,
    /// The clock that the mapping `clock` was to reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Figure>,
    /// Area in NAND gates of two inputs.
    pub area_kge: Figure,
    /// Area of all cells.
    pub area: Figure,
    /// Area of cells without state.
    pub combinational_area: Figure,
    /// Area of flip-flops and latches.
    pub sequential_area: Figure,
    /// Area at another node, by its library's NAND gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaled_area: Option<Figure>,
    /// Standard cells.
    pub cells: Figure,
    /// Flip-flops and latches among them.
    pub flip_flops: Figure,
    /// The critical path from register to register, launch and setup included.
    pub critical_path: Figure,
    /// Cells on it.
    pub logic_depth: Figure,
    /// The fastest clock.
    pub fmax: Figure,
    /// The block's latency at that clock; of a combinational block, the critical path.
    pub latency: Figure,
    /// Energy of an operation, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyReport>,
}

impl Mapping {
    /// Returns what it was mapped for in words: `area`, `delay`, or a clock such as `150 MHz`.
    pub fn wanted(&self) -> String {
        self.clock.map_or(self.goal.into(), |clock| format!("{:.0} MHz", clock.value))
    }
}

/// What is known of a block.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct BlockReport {
    /// Its name.
    pub block: String,
    /// Its parameters.
    pub parameters: Value,
    /// asic, or an FPGA family.
    pub target: &'static str,
    /// Cycles from an input to its output.
    pub latency_cycles: Figure,
    /// Registers and memories, as the block states them.
    pub storage: Figure,
    /// What the paper claims of them, bits.
    #[serde(skip)]
    pub claimed_bits: Option<usize>,
    /// Standard cells by each script; empty for an FPGA.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mappings: Vec<Mapping>,
    /// Resources of an FPGA.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fpga: Option<FpgaReport>,
    /// Memories outside the cells; with `memories_in_flip_flops`, those within.
    pub memories: Vec<MemoryReport>,
    /// Whether the memories were turned into flip-flops.
    pub memories_in_flip_flops: bool,
}

impl BlockReport {
    /// Returns the storage as the block states it, with the paper's claim beside.
    pub fn storage_beside_claim(&self) -> String {
        match self.claimed_bits {
            Some(claimed) => format!("{:.0} (paper: {claimed})", self.storage.value),
            None => format!("{:.0}", self.storage.value),
        }
    }

    /// Returns the memory bits outside the cells.
    pub fn listed_bits(&self) -> usize {
        self.memory_bits(|_| true)
    }

    /// Returns those of them that nobody has priced.
    pub fn unpriced_bits(&self) -> usize {
        self.memory_bits(|memory| memory.price.is_none())
    }

    fn memory_bits(&self, counts: impl Fn(&MemoryReport) -> bool) -> usize {
        if self.memories_in_flip_flops {
            return 0;
        }
        self.memories.iter().filter(|memory| counts(memory)).map(|memory| memory.words * memory.width).sum()
    }

    /// Returns the area of the memories that have a price, um2.
    pub fn priced_um2(&self) -> f64 {
        let prices = self.memories.iter().filter_map(|memory| memory.price.as_ref());
        prices.map(|price| price.area.value).sum()
    }
}

/// A block to be studied.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Its Verilog.
    pub design: &'a Design,
    /// How that was emitted.
    pub options: &'a EmitOptions,
    /// Its parameters.
    pub parameters: &'a Value,
    /// Cycles from an input to its output; 0 is combinational.
    pub latency: u32,
    /// Registers and memories, bits.
    pub storage_bits: usize,
}

impl Subject<'_> {
    fn name(&self) -> &str {
        &self.design.top().name
    }

    /// The port of its reset, where it has one.
    pub(crate) fn reset_port(&self) -> Option<&'static str> {
        let is_there = |port: &&str| self.design.top().ports.iter().any(|own| own.name == *port);
        self.options.reset.port().filter(is_there)
    }

    /// Writes all its files, and returns the names of those without the wrapper.
    fn write(&self, folder: &Path) -> Result<Vec<String>, AreaError> {
        let wrapper = synth_wrapper(self.design, self.options);
        put(folder, &wrapper.file(), &wrapper.text)?;
        let write = |module: &selvedge_gen::Module| {
            let name = module.file();
            put(folder, &name, &module.text).map(|()| name)
        };
        self.design.modules.iter().map(write).collect()
    }

    fn report(&self, target: &'static str) -> BlockReport {
        BlockReport {
            block: self.name().into(),
            parameters: self.parameters.clone(),
            target,
            latency_cycles: Figure::count(self.latency as usize, "cycles"),
            storage: Figure::count(self.storage_bits, "bits"),
            claimed_bits: None,
            mappings: Vec::new(),
            fpga: None,
            memories: Vec::new(),
            memories_in_flip_flops: false,
        }
    }
}

pub(crate) fn put(folder: &Path, name: &str, text: &str) -> Result<(), AreaError> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(AreaError::at(&path))
}

pub(crate) fn get(folder: &Path, name: &str) -> Result<String, AreaError> {
    let path = folder.join(name);
    std::fs::read_to_string(&path).map_err(AreaError::at(&path))
}

/// Synthesizes a block until its logic and memories are known, and returns the memories.
fn coarse(
    subject: &Subject<'_>,
    yosys: &Found,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Vec<memory::Memory>, AreaError> {
    let files = subject.write(folder)?;
    put(folder, "coarse.ys", &asic::coarse(&files, subject.name()))?;
    yosys.run(folder, &["-q", "coarse.ys"], &format!("{}: synthesis", subject.name()), stop)?;
    let fail = |e: serde_json::Error| AreaError::NoAnswer {
        work: format!("{}: synthesis", subject.name()),
        message: format!("Yosys' JSON cannot be read: {e}"),
    };
    let design: Value = serde_json::from_str(&get(folder, "coarse.json")?).map_err(fail)?;
    Ok(memory::find(&design, subject.name()))
}

/// Area and timing in standard cells. `folder` is empty or new to this block; scripts and netlists are left there.
///
/// # Errors
/// When a tool fails, or `stop` is set.
pub fn asic(
    subject: &Subject<'_>,
    setup: &AsicSetup,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<BlockReport, AreaError> {
    let name = subject.name();
    let memories = coarse(subject, &setup.yosys, folder, stop)?;
    std::fs::copy(&setup.library.path, folder.join("cells.lib"))
        .map_err(AreaError::at(&setup.library.path))?;
    put(folder, "constraints", &setup.library.constraints())?;
    put(folder, "memories.v", &memory::to_ports(&memories).1)?;
    let goals = Goal::all(setup.period_ps().is_some());
    for goal in goals {
        put(folder, &format!("{}.abc", goal.name()), &goal.abc_script(setup.period_ps()))?;
    }
    put(folder, "map.ys", &asic::map(name, goals, &memories, setup.memories))?;
    setup.yosys.run(
        folder,
        &["-q", "map.ys"],
        &format!("{name}: mapping to {}", setup.library.name),
        stop,
    )?;
    let mut report = subject.report("asic");
    for memory in &memories {
        let price = setup.sram.as_ref().map(|cacti| cacti.price(memory, name, folder, stop)).transpose()?;
        report.memories.push(memory.report(price));
    }
    report.memories_in_flip_flops = !memories.is_empty() && setup.memories == MemoryStyle::FlipFlops;
    for goal in goals {
        report.mappings.push(mapping(subject, setup, *goal, folder, stop)?);
    }
    if let Some(ps) = setup.period_ps() {
        choose_for_clock(&mut report.mappings, f64::from(ps) / 1000.0, folder)?;
    }
    Ok(report)
}

/// Makes the mapping for a clock the smallest one that reaches the period, or else the fastest: cells that were mapped for area may be
/// fast enough, and those for delay alone may be. Its files in `folder` become those of the chosen mapping.
fn choose_for_clock(mappings: &mut [Mapping], period_ns: f64, folder: &Path) -> Result<(), AreaError> {
    let by = |value: fn(&Mapping) -> f64| move |a: &&Mapping, b: &&Mapping| value(a).total_cmp(&value(b));
    let reach =
        mappings.iter().filter(|one| one.critical_path.value <= period_ns).min_by(by(|one| one.area.value));
    let chosen = reach.or_else(|| mappings.iter().min_by(by(|one| one.critical_path.value))).cloned();
    let (Some(chosen), name) = (chosen, Goal::Clock.name()) else { return Ok(()) };
    if chosen.goal != name {
        for end in [".json", ".il", ".v", "_timing.v"] {
            let from = folder.join(format!("{}{end}", chosen.goal));
            std::fs::copy(&from, folder.join(format!("{name}{end}"))).map_err(AreaError::at(&from))?;
        }
    }
    let clock = Some(Figure::new(1000.0 / period_ns, "MHz"));
    if let Some(one) = mappings.iter_mut().find(|one| one.goal == name) {
        *one = Mapping { goal: name, clock, ..chosen };
    }
    Ok(())
}

fn mapping(
    subject: &Subject<'_>,
    setup: &AsicSetup,
    goal: Goal,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Mapping, AreaError> {
    let (name, goal) = (subject.name(), goal.name());
    let count = asic::count(&get(folder, &format!("{goal}.json"))?, &setup.library, name)?;
    let netlist = format!("{goal}_timing.v");
    put(folder, &netlist, &timing::plain_names(&get(folder, &netlist)?))?;
    let script = timing::script(goal, &format!("{name}_synth_wrapper"), subject.reset_port());
    put(folder, &format!("{goal}.tcl"), &script)?;
    let work = format!("{name}: timing");
    let said = setup.sta.run(folder, &["-exit", &format!("{goal}.tcl")], &work, stop)?;
    let path = timing::parse(&said, &setup.library, &work)?;
    let kge = count.area_um2() / setup.nand2_um2() / 1000.0;
    let cycles = f64::from(subject.latency.max(1));
    Ok(Mapping {
        goal,
        clock: None,
        area_kge: Figure::new(kge, "kGE"),
        area: Figure::new(count.area_um2(), "um2"),
        combinational_area: Figure::new(count.combinational_um2, "um2"),
        sequential_area: Figure::new(count.sequential_um2, "um2"),
        scaled_area: setup.scale_to.as_ref().map(|to| Figure::new(kge * 1000.0 * to.nand2_um2, "um2")),
        cells: Figure::count(count.cells, "cells"),
        flip_flops: Figure::count(count.flip_flops, "cells"),
        critical_path: Figure::new(path.period_ns, "ns"),
        logic_depth: Figure::count(path.depth, "cells"),
        fmax: Figure::new(1000.0 / path.period_ns, "MHz"),
        latency: Figure::new(cycles * path.period_ns, "ns"),
        energy: None,
    })
}

/// Resources of an FPGA.
///
/// # Errors
/// When a tool fails, or `stop` is set.
pub fn fpga(
    subject: &Subject<'_>,
    yosys: &Found,
    family: Family,
    placer: Option<&Found>,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<BlockReport, AreaError> {
    let mut report = subject.report(family.name());
    report.memories =
        coarse(subject, yosys, folder, stop)?.iter().map(|memory| memory.report(None)).collect();
    report.fpga = Some(fpga::study(subject.design, yosys, family, placer, folder, stop)?);
    Ok(report)
}
