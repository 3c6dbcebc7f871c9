//! `selvedge area --energy`: energy of an operation, from the block's own stimulus in a simulation of its mapped netlist.
use crate::error::Failure;
use crate::table::Table;
use selvedge_gen::area::asic::Goal;
use selvedge_gen::area::energy::{EnergyReport, PaperEnergy};
use selvedge_gen::area::energy_study::{prepare, tables};
use selvedge_gen::area::power_table::PowerLibrary;
use selvedge_gen::area::study::{AsicSetup, BlockReport};
use selvedge_gen::area::technology::Technology;
use selvedge_gen::area::tool::{Found, IVERILOG, VVP};
use selvedge_gen::area::{AreaError, Figure};
use selvedge_gen::{EmitOptions, ResetStyle};
use selvedge_hw::BlockEntry;
use selvedge_testbenches::activity::{Simulator, measure};
use selvedge_testbenches::testbench;
use selvedge_testbenches::vectors::{Vector, Vectors};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The stimulus' seed.
const SEED: u64 = 1;

/// How the figures came about, and what is not in them.
pub const METHOD: &str = "energy: changes of settled values from clock to clock under the block's own stimulus, times the library's \
     tables; an order of magnitude: no wires, no clock tree nor the charging of clock pins, no glitches, no memories, no charging \
     of the block's inputs";

/// What papers state of an operation, nJ.
const PAPERS: [(&str, f64, &str); 4] = [
    ("bdi_compressor", 0.192, "LATTE-CC, section IV.C.1"),
    ("bdi_decompressor", 0.056, "LATTE-CC, section IV.C.1"),
    ("sc_compressor", 0.42, "LATTE-CC, section IV.C.2"),
    ("sc_decompressor", 0.336, "LATTE-CC, section IV.C.2"),
];

/// What energy needs beside area and timing.
pub struct EnergySetup {
    iverilog: Found,
    vvp: Found,
    library: PowerLibrary,
    vectors: u64,
    /// The clock that leakage goes by, ns; unless given, each mapping's fastest.
    period_ns: Option<f64>,
}

/// A block with what it was emitted by.
pub struct EnergySubject<'a> {
    /// The block.
    pub entry: &'static dyn BlockEntry,
    /// Its parameters.
    pub params: &'a Value,
    /// How it was emitted.
    pub options: &'a EmitOptions,
    /// Has it the port of its reset?
    pub has_reset: bool,
}

impl EnergySetup {
    /// Finds the simulator and reads the library's tables.
    ///
    /// # Errors
    /// When one of them is missing.
    pub fn find(setup: &AsicSetup, vectors: u64) -> Result<Self, Failure> {
        Ok(EnergySetup {
            iverilog: IVERILOG.find().map_err(Failure::usage)?,
            vvp: VVP.find().map_err(Failure::usage)?,
            library: tables(setup).map_err(Failure::usage)?,
            vectors,
            period_ns: setup.target_ps.map(|ps| f64::from(ps) / 1000.0),
        })
    }

    /// The simulator.
    pub fn simulator(&self) -> &Found {
        &self.iverilog
    }

    /// Adds the energy of each mapping that a study has left in `folder`.
    ///
    /// # Errors
    /// When a netlist does not pass its vectors, no operation is among them, a tool fails, or `stop` is set.
    pub fn study(
        &self,
        subject: &EnergySubject<'_>,
        setup: &AsicSetup,
        report: &mut BlockReport,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<(), AreaError> {
        let EnergySubject { entry, params, options, has_reset } = *subject;
        let name = entry.name();
        let count = usize::try_from(self.vectors).unwrap_or(usize::MAX);
        let vectors: Vec<Vector> = Vectors::new(entry, params, SEED)?.take(count).collect();
        let operations = operations(entry, params, &vectors)?;
        if operations == 0 {
            return Err(AreaError::NoAnswer {
                work: format!("{name}: energy"),
                message: format!("--vectors {count}: no operation comes to its end in them, give more"),
            });
        }
        let bench = testbench::of_vectors(entry, params, &vectors, SEED, ResetStyle::AsyncLow)?;
        let reset = options.reset.port().filter(|_| has_reset);
        let simulator = Simulator { iverilog: &self.iverilog, vvp: &self.vvp };
        for (goal, mapping) in Goal::ALL.into_iter().zip(&mut report.mappings) {
            let prepared = prepare(name, reset, goal, setup, folder, stop)?;
            let activity = measure(&bench, &prepared.files, simulator, folder, stop)?;
            let period_ns = self.period_ns.unwrap_or(mapping.critical_path.value);
            let energy = prepared.energy(&self.library, &activity, period_ns)?;
            let mut one = EnergyReport::new(&energy, operations, activity.clocks, period_ns);
            let dynamic = one.internal.value + one.switching.value;
            one.scaled = scale(setup).map(|factor| Figure::new(factor * dynamic, "nJ"));
            let paper = PAPERS.iter().find(|(block, _, _)| *block == name);
            one.paper =
                paper.map(|(_, nj, source)| PaperEnergy { per_operation: Figure::new(*nj, "nJ"), source });
            mapping.energy = Some(one);
        }
        Ok(())
    }
}

/// Operations among the vectors, as the block itself counts them.
fn operations(entry: &dyn BlockEntry, params: &Value, vectors: &[Vector]) -> Result<u64, AreaError> {
    let mut corners = entry.corners(params)?;
    for vector in vectors {
        match &vector.outputs {
            Some(outputs) => corners.clock(&vector.inputs, outputs),
            None => corners.reset(),
        }
    }
    Ok(corners.operations())
}

/// The factor from the library's node to the one that `--scale-to` names, where both are known.
fn scale(setup: &AsicSetup) -> Option<f64> {
    let (from, to) = (setup.technology.as_ref()?, setup.scale_to.as_ref()?);
    Some(f64::from(to.node_nm) / f64::from(from.node_nm) * (to.vdd / from.vdd).powi(2))
}

/// The rule of [`scale`] in words.
pub fn scale_rule(from: &Technology, to: &Technology) -> String {
    format!(
        "scaled energy = internal and switching x {} nm / {} nm x ({} V / {} V)^2; leakage is not scaled",
        to.node_nm, from.node_nm, to.vdd, from.vdd
    )
}

/// A row for each block and mapping whose energy is known; `name` tells blocks apart.
pub fn table(blocks: &[BlockReport], name: impl Fn(&BlockReport) -> String) -> Option<Table> {
    let mut table = Table::new(&[
        "energy of",
        "mapped for",
        "nJ/operation",
        "internal",
        "switching",
        "leakage",
        "scaled nJ",
        "paper's nJ",
        "clock MHz",
        "vectors",
        "operations",
    ]);
    let mut any = false;
    let nj = |figure: &Figure| {
        if figure.value < 1e-5 { format!("{:.1e}", figure.value) } else { format!("{:.5}", figure.value) }
    };
    for block in blocks {
        for (mapping, one) in block.mappings.iter().filter_map(|one| Some((one, one.energy.as_ref()?))) {
            any = true;
            table.row(vec![
                name(block),
                mapping.goal.into(),
                nj(&one.per_operation),
                nj(&one.internal),
                nj(&one.switching),
                nj(&one.leakage),
                one.scaled.as_ref().map_or("-".into(), nj),
                one.paper.as_ref().map_or("-".into(), |paper| format!("{}", paper.per_operation.value)),
                format!("{:.0}", one.clock.value),
                format!("{:.0}", one.vectors.value),
                format!("{:.0}", one.operations.value),
            ]);
        }
    }
    any.then_some(table)
}

/// The heads of [`csv`]'s columns.
pub const CSV_HEAD: &str = "energy_nj_per_operation,internal_nj,switching_nj,leakage_nj,scaled_nj,paper_nj,clock_mhz,vectors,operations";

/// The columns of one mapping; empty ones where its energy is not known.
pub fn csv(energy: Option<&EnergyReport>) -> String {
    let Some(one) = energy else { return ",".repeat(CSV_HEAD.matches(',').count()) };
    let or_empty = |figure: Option<f64>| figure.map(|value| value.to_string()).unwrap_or_default();
    [
        one.per_operation.value.to_string(),
        one.internal.value.to_string(),
        one.switching.value.to_string(),
        one.leakage.value.to_string(),
        or_empty(one.scaled.map(|scaled| scaled.value)),
        or_empty(one.paper.as_ref().map(|paper| paper.per_operation.value)),
        one.clock.value.to_string(),
        one.vectors.value.to_string(),
        one.operations.value.to_string(),
    ]
    .join(",")
}
