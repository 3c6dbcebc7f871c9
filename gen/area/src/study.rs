//! Studies one block: runs all tools one after the other, in a separate folder.
use crate::asic::{self, Goal, MemoryStyle};
use crate::energy::OperationEnergy;
use crate::error::AreaError;
use crate::figure::Figure;
use crate::fpga::{self, FpgaFamily, FpgaReport};
use crate::liberty::Liberty;
use crate::memory::{self, MemoryReport};
use crate::sram::Cacti;
use crate::technology::Technology;
use crate::timing;
use crate::tool::{Found, OPENSTA, YOSYS};
use schemars::JsonSchema;
use selvedge_gen::files::synth_wrapper;
use selvedge_gen::{Design, EmitOptions, TEST_ENABLE};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The programs, library and options of a standard-cell study.
#[derive(Clone, Debug)]
pub struct AsicSetup {
    /// Synthesis program.
    pub yosys: Found,
    /// Timing analyzer.
    pub sta: Found,
    /// The standard-cell library.
    pub library: Liberty,
    /// The entry of the library in the technology table.
    pub technology: Option<Technology>,
    /// The technology to which areas are scaled in addition.
    pub scale_to: Option<Technology>,
    /// The period that a mapping must reach, ps. It overrides that of the technology.
    pub target_ps: Option<u32>,
    /// Treatment of memories.
    pub memories: MemoryStyle,
    /// The tool that models listed memories.
    pub sram: Option<Cacti>,
}

impl AsicSetup {
    /// Finds the programs. All options have defaults: no technology, no target period, and memories listed without a price.
    ///
    /// # Errors
    /// [`AreaError`] if Yosys or OpenSTA is missing or too old.
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

    /// Returns the area of a gate equivalent, um2: that of the technology table, otherwise that of the library.
    pub fn nand2_um2(&self) -> f64 {
        self.technology.as_ref().map_or_else(|| self.library.nand2_um2(), |known| known.nand2_um2)
    }

    /// Returns the period that a mapping must reach, ps: the target, otherwise that of the technology table.
    pub fn period_ps(&self) -> Option<u32> {
        let usual = || Some(1_000_000 / self.technology.as_ref()?.clock_mhz?);
        self.target_ps.or_else(usual)
    }
}

/// Result of one of ABC's scripts for a block.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Mapping {
    /// Goal of the mapping: area, clock or delay.
    pub goal: &'static str,
    /// Target clock of a mapping with the goal `clock`.
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
    /// Area scaled to another node by the area of its NAND gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaled_area: Option<Figure>,
    /// Number of standard cells.
    pub cells: Figure,
    /// Number of flip-flops and latches among the cells.
    pub flip_flops: Figure,
    /// Critical path from register to register, including launch and setup.
    pub critical_path: Figure,
    /// Number of cells on the critical path.
    pub logic_depth: Figure,
    /// Highest clock.
    pub fmax: Figure,
    /// Latency of the block at the highest clock; of a combinational block, the critical path.
    pub latency: Figure,
    /// Energy of an operation, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<OperationEnergy>,
}

impl Mapping {
    /// Returns the goal as text: `area`, `delay`, or a clock such as `150 MHz`.
    pub fn wanted(&self) -> String {
        self.clock.map_or(self.goal.into(), |clock| format!("{:.0} MHz", clock.value))
    }
}

/// Results of a study of a block.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct BlockReport {
    /// Name of the block.
    pub block: String,
    /// Parameters of the block.
    pub parameters: Value,
    /// asic, or an FPGA family.
    pub target: &'static str,
    /// Cycles from an input to its output.
    pub latency_cycles: Figure,
    /// Registers and memories, as the block states them.
    pub storage: Figure,
    /// Bits of registers and memories that the paper claims.
    #[serde(skip)]
    pub claimed_bits: Option<usize>,
    /// Standard cells by each script; empty for an FPGA.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mappings: Vec<Mapping>,
    /// Resources of an FPGA.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fpga: Option<FpgaReport>,
    /// Memories outside the cells; with `memories_in_flip_flops`, memories within the cells.
    pub memories: Vec<MemoryReport>,
    /// `true` if the memories were mapped to flip-flops.
    pub memories_in_flip_flops: bool,
}

impl BlockReport {
    /// Returns the storage as the block states it, and the paper's claim.
    pub(crate) fn storage_beside_claim(&self) -> String {
        match self.claimed_bits {
            Some(claimed) => format!("{:.0} (paper: {claimed})", self.storage.value),
            None => format!("{:.0}", self.storage.value),
        }
    }

    /// Returns the number of memory bits outside the cells.
    pub(crate) fn listed_bits(&self) -> usize {
        self.memory_bits(|_| true)
    }

    /// Returns the number of memory bits outside the cells without a price.
    pub(crate) fn unpriced_bits(&self) -> usize {
        self.memory_bits(|memory| memory.price.is_none())
    }

    fn memory_bits(&self, counts: impl Fn(&MemoryReport) -> bool) -> usize {
        if self.memories_in_flip_flops {
            return 0;
        }
        self.memories.iter().filter(|memory| counts(memory)).map(|memory| memory.words * memory.width).sum()
    }

    /// Returns the area of the memories with a price, um2.
    pub(crate) fn priced_um2(&self) -> f64 {
        let prices = self.memories.iter().filter_map(|memory| memory.price.as_ref());
        prices.map(|price| price.area.value).sum()
    }
}

/// The Verilog of a block and its properties, for a study.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Its emitted modules.
    pub design: &'a Design,
    /// The options with which the modules were emitted.
    pub options: &'a EmitOptions,
    /// Its parameters.
    pub parameters: &'a Value,
    /// Cycles from an input to its output; 0 if it is combinational.
    pub latency: u32,
    /// Registers and memories, bits.
    pub storage_bits: usize,
}

impl Subject<'_> {
    fn name(&self) -> &str {
        &self.design.top().name
    }

    /// Returns the name of the reset port, if the block has one.
    pub(crate) fn reset_port(&self) -> Option<&'static str> {
        let is_there = |port: &&str| self.design.top().ports.iter().any(|own| own.name == *port);
        self.options.reset.port().filter(is_there)
    }

    /// Writes all files of the block. Returns their names, except that of the wrapper.
    fn write(&self, folder: &Path) -> Result<Vec<String>, AreaError> {
        let wrapper = synth_wrapper(self.design, self.options);
        put(folder, &wrapper.file(), &wrapper.text)?;
        let write = |module: &selvedge_gen::VerilogModule| {
            let name = module.file();
            put(folder, &name, &module.text).map(|()| name)
        };
        self.design.modules.iter().map(write).collect()
    }

    /// Returns whether the block has clock gates.
    pub(crate) fn has_gates(&self) -> bool {
        self.design.top().ports.iter().any(|port| port.name == TEST_ENABLE)
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

/// Synthesizes a block up to its logic and memories. Returns the memories.
fn coarse(
    subject: &Subject<'_>,
    yosys: &Found,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Vec<memory::CompiledMemory>, AreaError> {
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

/// Returns area and timing in standard cells. `folder` must be empty or new to this block; scripts and netlists stay there.
///
/// # Errors
/// [`AreaError`] if a tool fails, or if `stop` is set.
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
    let latches = if subject.has_gates() {
        let missing = || AreaError::BadFile {
            path: setup.library.path.clone(),
            problem: "the library has no latch without set and reset, which clock gates need".into(),
        };
        Some(setup.library.latch_map().ok_or_else(missing)?)
    } else {
        None
    };
    if let Some(map) = &latches {
        put(folder, "latches.v", map)?;
    }
    put(folder, "map.ys", &asic::map(name, goals, &memories, setup.memories, latches.is_some()))?;
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

/// Chooses the mapping for a clock: the smallest mapping that reaches the period, or else the fastest. Mappings for area or
/// for delay may be fast enough too. The files of the chosen mapping in `folder` replace the files `clock.*`.
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
    let script =
        timing::script(goal, &format!("{name}_synth_wrapper"), subject.reset_port(), subject.has_gates());
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

/// Returns the resources on an FPGA.
///
/// # Errors
/// [`AreaError`] if a tool fails, or if `stop` is set.
pub fn fpga(
    subject: &Subject<'_>,
    yosys: &Found,
    family: FpgaFamily,
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
