//! Standard cells: Yosys' scripts for a block, and what its statistics say.
//!
//! The block is synthesized without its memories, mapped by ABC for area, for a clock and for delay, and counted alone. For
//! timing it then stands in its `_synth_wrapper`, between registers; memories have become ports of that.
use crate::error::AreaError;
use crate::liberty::Liberty;
use crate::memory::{self, Memory};
use serde_json::Value;
use std::collections::BTreeMap;

/// What ABC maps for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Few cells; sizes are raised only where a load is too much for a cell.
    Area,
    /// The fewest cells that reach a clock.
    Clock,
    /// A short critical path, whatever it takes.
    Delay,
}

impl Goal {
    /// Returns what a study maps for: without a clock to reach, for area and for delay alone.
    pub fn all(has_clock: bool) -> &'static [Goal] {
        if has_clock { &[Goal::Area, Goal::Clock, Goal::Delay] } else { &[Goal::Area, Goal::Delay] }
    }

    /// Its name in reports and file names.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Area => "area",
            Goal::Clock => "clock",
            Goal::Delay => "delay",
        }
    }

    /// Returns ABC's script; `period_ps` is the clock's period that [`Goal::Clock`] sizes cells for. It does without the search for equal
    /// and alternative nodes (`fraig`, `dch`), which takes many minutes of a block with lines of 128 bytes. For a clock and for delay,
    /// rewriting must keep the number of levels: `dc2` makes ripple chains of the adders' trees.
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

/// Rewriting of logic that lengthens no path.
const LEVEL_KEEPING: &str =
    "balance; rewrite; refactor; balance; rewrite; rewrite -z; balance; refactor -z; rewrite -z; balance";

/// First script: reads the files of a block, and leaves logic and `$mem_v2` in `coarse.il` and `coarse.json`.
pub fn coarse(files: &[String], top: &str) -> String {
    format!(
        "read_verilog {}\nsynth -flatten -run begin:fine -top {top}\ncheck -assert\nwrite_json coarse.json\n\
         write_rtlil coarse.il\n",
        files.join(" ")
    )
}

/// Where a study's memories go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryStyle {
    /// Out of the cells, into a list.
    #[default]
    Listed,
    /// Into flip-flops, and reports say so.
    FlipFlops,
}

/// Second script: maps `coarse.il` for each of the goals, with `GOAL.json` as statistics, `GOAL.v` and `GOAL.il` as netlist of the
/// block, and `GOAL_timing.v` as netlist of the wrapper.
pub fn map(top: &str, goals: &[Goal], memories: &[Memory], style: MemoryStyle) -> String {
    let wrapper = format!("{top}_synth_wrapper");
    let flops = if style == MemoryStyle::FlipFlops { "memory_map\n" } else { "" };
    let ports = if style == MemoryStyle::Listed { memory::to_ports(memories).0 } else { String::new() };
    let mut script = format!(
        "read_rtlil coarse.il\nread_liberty -lib -ignore_miss_func cells.lib\nopt -fast -full\n{flops}opt -full\ntechmap\n\
         opt -fast\ndfflibmap -liberty cells.lib\nopt\ndesign -save mapped\n"
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

/// What a netlist consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Standard cells.
    pub cells: usize,
    /// Flip-flops and latches among them.
    pub flip_flops: usize,
    /// Area of the other cells, um2.
    pub combinational_um2: f64,
    /// Area of flip-flops and latches, um2.
    pub sequential_um2: f64,
}

impl Count {
    /// Area of all cells, um2.
    pub fn area_um2(&self) -> f64 {
        self.combinational_um2 + self.sequential_um2
    }
}

/// Counts the cells in Yosys' statistics by the areas of the library; memories count elsewhere.
///
/// # Errors
/// A cell that the library does not have, or statistics of another form.
pub fn count(statistics: &str, library: &Liberty, work: &str) -> Result<Count, AreaError> {
    let fail = |message: String| AreaError::NoAnswer { work: work.into(), message };
    let value: Value = serde_json::from_str(statistics)
        .map_err(|e| fail(format!("Yosys' statistics cannot be read: {e}")))?;
    let types: BTreeMap<String, usize> = serde_json::from_value(value["design"]["num_cells_by_type"].clone())
        .map_err(|e| fail(format!("Yosys' statistics have no count of cells: {e}")))?;
    let mut count = Count::default();
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
