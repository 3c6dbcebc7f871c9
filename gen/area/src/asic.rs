//! Writes Yosys scripts that map a block to standard cells, and reads Yosys statistics.
//!
//! The block is synthesized without its memories. ABC maps it for area, for a clock and for delay, and its cells are
//! counted. For timing, the block is placed inside its `_synth_wrapper`, between registers. Its memories become ports of the
//! wrapper.
use crate::error::AreaError;
use crate::liberty::Liberty;
use crate::memory::{self, CompiledMemory};
use serde_json::Value;
use std::collections::BTreeMap;

/// The goal of ABC's mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Small area. Cells become larger only if their load requires it.
    Area,
    /// The smallest area that reaches a clock.
    Clock,
    /// A short critical path, at any area.
    Delay,
}

impl Goal {
    /// Returns the goals of a study: area and delay, and also the clock if there is one.
    pub fn all(has_clock: bool) -> &'static [Goal] {
        if has_clock { &[Goal::Area, Goal::Clock, Goal::Delay] } else { &[Goal::Area, Goal::Delay] }
    }

    /// Returns the name in reports and file names.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Area => "area",
            Goal::Clock => "clock",
            Goal::Delay => "delay",
        }
    }

    /// Returns ABC's script. [`Goal::Clock`] sizes cells for `period_ps`, the period of the clock. The script omits the
    /// search for equal and alternative nodes (`fraig`, `dch`), which needs many minutes for a block with lines of 128
    /// bytes. For a clock and for delay, rewriting must keep the number of levels: `dc2` turns the trees of adders into
    /// ripple chains.
    pub fn abc_script(self, period_ps: Option<u32>) -> String {
        let (rewriting, mapping, sizing) = match (self, period_ps) {
            (Goal::Area, _) => ("dc2; dc2", "map -a", "dnsize".into()),
            (Goal::Clock, Some(ps)) => (LEVEL_KEEPING, "map -a", format!("upsize -D {ps}; dnsize -D {ps}")),
            (Goal::Clock, None) => (LEVEL_KEEPING, "map -a", "upsize; dnsize".into()),
            (Goal::Delay, _) => (LEVEL_KEEPING, "map -B 0.9", "upsize; dnsize".into()),
        };
        format!("strash; {rewriting}; {mapping}; topo; buffer -c -p -N 16; topo; {sizing}; stime -p")
    }
}

/// ABC commands that rewrite logic without lengthening a path.
const LEVEL_KEEPING: &str =
    "balance; rewrite; refactor; balance; rewrite; rewrite -z; balance; refactor -z; rewrite -z; balance";

/// Returns the first script. It reads the files of a block, and writes logic and `$mem_v2` to `coarse.il` and `coarse.json`.
pub fn coarse(files: &[String], top: &str) -> String {
    format!(
        "read_verilog {}\nsynth -flatten -run begin:fine -top {top}\ncheck -assert\nwrite_json coarse.json\n\
         write_rtlil coarse.il\n",
        files.join(" ")
    )
}

/// Treatment of memories in a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryStyle {
    /// Removed from the netlist and reported in a list.
    #[default]
    Listed,
    /// Mapped to flip-flops, which reports state.
    FlipFlops,
}

/// Returns the second script, which maps `coarse.il` for each goal. It writes statistics to `GOAL.json`, the netlist of the
/// block to `GOAL.v` and `GOAL.il`, and the netlist of the wrapper to `GOAL_timing.v`. `latches.v` maps latches, if the block
/// has any.
pub fn map(
    top: &str,
    goals: &[Goal],
    memories: &[CompiledMemory],
    style: MemoryStyle,
    has_latches: bool,
) -> String {
    let wrapper = format!("{top}_synth_wrapper");
    let flops = if style == MemoryStyle::FlipFlops { "memory_map\n" } else { "" };
    let ports = if style == MemoryStyle::Listed { memory::to_ports(memories).0 } else { String::new() };
    let latches = if has_latches { "techmap -map latches.v\nsimplemap\n" } else { "" };
    let mut script = format!(
        "read_rtlil coarse.il\nread_liberty -lib -ignore_miss_func cells.lib\nopt -fast -full\n{flops}opt -full\ntechmap\n\
         opt -fast\n{latches}dfflibmap -liberty cells.lib\nopt\ndesign -save mapped\n"
    );
    for goal in goals {
        let goal = goal.name();
        script += &format!(
            "design -load mapped\nabc -liberty cells.lib -constr constraints -script {goal}.abc\nsetundef -zero\nopt_clean -purge\n\
             check -mapped\nselect -assert-none t:$_*\ntee -q -o {goal}.json stat -json\nwrite_verilog -noattr -noexpr {goal}.v\n\
             write_rtlil {goal}.il\nread_verilog {wrapper}.v\nhierarchy -check -top {wrapper}\nproc\nflatten\nopt_expr\ntechmap\n\
             dfflibmap -liberty cells.lib\n{ports}splitnets -ports\nopt_clean -purge\nsetundef -zero\n\
             write_verilog -noattr -noexpr {goal}_timing.v\n"
        );
    }
    script
}

/// The number and area of a netlist's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellCount {
    /// Number of standard cells.
    pub cells: usize,
    /// Number of flip-flops and latches among `cells`.
    pub flip_flops: usize,
    /// Area of cells without state, um2.
    pub combinational_um2: f64,
    /// Area of flip-flops and latches, um2.
    pub sequential_um2: f64,
}

impl CellCount {
    /// Returns the area of all cells, um2.
    pub(crate) fn area_um2(&self) -> f64 {
        self.combinational_um2 + self.sequential_um2
    }
}

/// Counts the cells in Yosys statistics, with the areas of the library. Omits memories.
///
/// # Errors
/// [`AreaError::NoAnswer`] if the library lacks a cell, or if the statistics have an unknown form.
pub fn count(statistics: &str, library: &Liberty, work: &str) -> Result<CellCount, AreaError> {
    let fail = |message: String| AreaError::NoAnswer { work: work.into(), message };
    let value: Value = serde_json::from_str(statistics)
        .map_err(|e| fail(format!("Yosys' statistics cannot be read: {e}")))?;
    let types: BTreeMap<String, usize> = serde_json::from_value(value["design"]["num_cells_by_type"].clone())
        .map_err(|e| fail(format!("Yosys' statistics have no count of cells: {e}")))?;
    let mut count = CellCount::default();
    for (name, number) in types.iter().filter(|(name, _)| *name != "$mem_v2") {
        let cell = library.cells.get(name).ok_or_else(|| fail(format!("a `{name}` was left unmapped")))?;
        count.cells += number;
        if cell.sequential {
            count.flip_flops += number;
            count.sequential_um2 += cell.area * *number as f64;
        } else {
            count.combinational_um2 += cell.area * *number as f64;
        }
    }
    Ok(count)
}
