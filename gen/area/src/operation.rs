//! Measures the energy of an operation: simulates the mapped netlist with the block's own or a recorded stimulus.
use crate::activity::{Simulator, measure};
use crate::asic::Goal;
use crate::energy::{OperationEnergy, PaperEnergy, RecordedStimulus};
use crate::energy_study::{prepare, tables};
use crate::error::AreaError;
use crate::figure::Figure;
use crate::power_table::PowerLibrary;
use crate::study::{AsicSetup, BlockReport, Subject};
use crate::table::Table;
use crate::technology::Technology;
use crate::tool::{Found, IVERILOG, VVP};
use selvedge_hw::ports::first_difference;
use selvedge_hw::{BlockEntry, Direction};
use selvedge_testbenches::vectors::{Vector, Vectors};
use selvedge_testbenches::{recorded, testbench};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Seed of the block's own stimulus.
const SEED: u64 = 1;

/// Default number of simulated clocks of the block's own stimulus.
const VECTORS: u64 = 500;

/// The method and its limits, as reports print them.
pub const METHOD: &str = "energy: changes of settled values from clock to clock under the stimulus, times the library's tables; an order \
     of magnitude: no wires, no clock tree, no glitches, no memories, no charging of the block's inputs and clock";

/// The energy that a paper states for a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperOperation {
    /// The block.
    pub block: &'static str,
    /// Energy of an operation, nJ.
    pub nj: f64,
    /// The paper and the section that states it.
    pub source: &'static str,
}

/// The stimulus, and the figures for comparison.
#[derive(Clone, Debug, Default)]
pub struct EnergyOptions {
    /// Max number of simulated clocks. Default: 500 of the block's own stimulus, or all of a recorded one.
    pub vectors: Option<u64>,
    /// The first counted clock.
    pub from: u64,
    /// A waveform with the stimulus.
    pub waveform: Option<PathBuf>,
    /// The instance in it. Default: the only one with the block's ports.
    pub instance: Option<String>,
    /// Energies stated by papers.
    pub papers: Vec<PaperOperation>,
}

/// The tools and data that a study of energy needs in addition to area and timing.
#[derive(Clone, Debug)]
pub struct EnergySetup {
    iverilog: Found,
    vvp: Found,
    library: PowerLibrary,
    /// Max number of simulated clocks.
    vectors: usize,
    /// The first counted clock.
    from: u64,
    /// A waveform with the stimulus, and the instance in it.
    recorded: Option<(PathBuf, Option<String>)>,
    /// Clock period for leakage, ns. Default: the min period of each mapping.
    period_ns: Option<f64>,
    papers: Vec<PaperOperation>,
}

impl EnergySetup {
    /// Finds the simulator and reads the library's tables.
    ///
    /// # Errors
    /// [`AreaError`] if the simulator or the tables are missing.
    pub fn find(setup: &AsicSetup, options: EnergyOptions) -> Result<Self, AreaError> {
        let recorded = options.waveform.map(|path| (path, options.instance));
        let vectors = options.vectors.unwrap_or(if recorded.is_some() { u64::MAX } else { VECTORS });
        Ok(EnergySetup {
            iverilog: IVERILOG.find()?,
            vvp: VVP.find()?,
            library: tables(setup)?,
            vectors: usize::try_from(vectors).unwrap_or(usize::MAX),
            from: options.from,
            recorded,
            period_ns: setup.target_ps.map(|ps| f64::from(ps) / 1000.0),
            papers: options.papers,
        })
    }

    /// Returns the simulator.
    pub fn simulator(&self) -> &Found {
        &self.iverilog
    }

    /// Adds the energy to each mapping of the block that a study has left in `folder`.
    ///
    /// # Errors
    /// [`AreaError`] if a netlist does not pass its vectors, if a tool fails, or if `stop` is set.
    pub fn study(
        &self,
        entry: &dyn BlockEntry,
        subject: &Subject<'_>,
        setup: &AsicSetup,
        report: &mut BlockReport,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<(), AreaError> {
        let (name, params) = (entry.name(), subject.parameters);
        let (vectors, recorded) = self.stimulus(entry, params)?;
        let operations = operations(entry, params, &vectors, self.from)?;
        let source = recorded.as_ref().map_or(format!("its stimulus, seed {SEED}"), |from| {
            format!("what {} got in a recording", from.instance)
        });
        let bench = testbench::of_vectors(entry, params, &vectors, &source, subject.options.reset)?;
        let bench = if subject.has_gates() { bench.with_test_enable(false) } else { bench };
        let reset = subject.reset_port();
        let simulator = Simulator { iverilog: &self.iverilog, vvp: &self.vvp };
        let goals = Goal::all(setup.period_ps().is_some());
        for (goal, mapping) in goals.iter().zip(&mut report.mappings) {
            let prepared = prepare(name, reset, *goal, setup, folder, stop)?;
            let pulses = prepared.clock_network(&self.library);
            let activity = measure(&bench, &prepared.files, (self.from, &pulses), simulator, folder, stop)?;
            let period_ns = self.period_ns.unwrap_or(mapping.critical_path.value);
            let energy = prepared.energy(&self.library, &activity, period_ns)?;
            let mut one = OperationEnergy::new(&energy, operations, (self.from, activity.clocks), period_ns);
            let dynamic = one.internal.value + one.switching.value;
            one.scaled = scale(setup).map(|factor| Figure::new(factor * dynamic, "nJ"));
            let paper = self.papers.iter().find(|paper| paper.block == name);
            one.paper = paper.map(|paper| PaperEnergy {
                per_operation: Figure::new(paper.nj, "nJ"),
                source: paper.source,
            });
            one.recorded.clone_from(&recorded);
            mapping.energy = Some(one);
        }
        Ok(())
    }

    /// Checks that the block has a stimulus with at least one operation.
    ///
    /// # Errors
    /// [`AreaError`] if the stimulus is missing or contains no operation.
    pub fn check(&self, entry: &dyn BlockEntry, params: &Value) -> Result<(), AreaError> {
        let refused = || AreaError::BadFile {
            path: self.recorded.as_ref().map(|(path, _)| path.clone()).unwrap_or_default(),
            problem: format!("inputs were recorded that {} may never get", entry.name()),
        };
        let (vectors, _) = quietly(|| self.stimulus(entry, params)).ok_or_else(refused)??;
        if operations(entry, params, &vectors, self.from)? > 0 {
            return Ok(());
        }
        let from = if self.from > 0 { format!(" from clock {} on", self.from) } else { String::new() };
        Err(AreaError::NoAnswer {
            work: format!("{}: energy", entry.name()),
            message: format!(
                "no operation comes to its end in {} clocks{from}: the stimulus must have one",
                vectors.len()
            ),
        })
    }

    /// Returns the block's own stimulus, or the recorded one with its source.
    fn stimulus(
        &self,
        entry: &dyn BlockEntry,
        params: &Value,
    ) -> Result<(Vec<Vector>, Option<RecordedStimulus>), AreaError> {
        let Some((path, instance)) = &self.recorded else {
            return Ok((Vectors::new(entry, params, SEED)?.take(self.vectors).collect(), None));
        };
        let recorded = recorded::read(path, instance.as_deref(), &entry.ports(params)?, self.vectors)?;
        let stimulus: Vec<_> = recorded.clocks.iter().map(|clock| clock.stimulus.clone()).collect();
        let vectors: Vec<Vector> = Vectors::of(entry, params, Box::new(stimulus.into_iter()))?.collect();
        let ports = entry.ports(params)?;
        let outputs = ports.iter().filter(|port| port.direction == Direction::Output);
        let both = |(vector, clock): (&Vector, &recorded::RecordedClock)| {
            let (ours, theirs) = vector.outputs.as_ref().zip(clock.outputs.as_ref())?;
            Some(first_difference(outputs.clone(), ours, theirs).is_some())
        };
        let differs: Vec<bool> = vectors.iter().zip(&recorded.clocks).filter_map(both).collect();
        let clocks = |count: usize| Figure { value: count as f64, unit: "clocks" };
        let from = RecordedStimulus {
            file: path.display().to_string(),
            instance: recorded.instance,
            compared: clocks(differs.len()),
            other_outputs: clocks(differs.iter().filter(|differs| **differs).count()),
        };
        Ok((vectors, Some(from)))
    }
}

/// Runs `work`, and returns `None` if it panics, without a message. A golden model panics on inputs that a block must never
/// get, and a recording may contain such inputs. Must be called before other threads start, because it silences their panics
/// too.
fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    std::panic::set_hook(hook);
    outcome.ok()
}

/// Counts the operations that end in vector `from` or later, with the block's own counter.
fn operations(
    entry: &dyn BlockEntry,
    params: &Value,
    vectors: &[Vector],
    from: u64,
) -> Result<u64, AreaError> {
    let mut corners = entry.corners(params)?;
    let mut earlier = 0;
    for (clock, vector) in vectors.iter().enumerate() {
        if clock as u64 == from {
            earlier = corners.operations();
        }
        match &vector.outputs {
            Some(outputs) => corners.clock(&vector.inputs, outputs),
            None => corners.reset(),
        }
    }
    let all = corners.operations();
    Ok(if from < vectors.len() as u64 { all - earlier } else { 0 })
}

/// Returns the scaling factor of energies from the library's node to the target node, if both are known.
fn scale(setup: &AsicSetup) -> Option<f64> {
    let (from, to) = (setup.technology.as_ref()?, setup.scale_to.as_ref()?);
    Some(f64::from(to.node_nm) / f64::from(from.node_nm) * (to.vdd / from.vdd).powi(2))
}

/// Returns the rule of [`scale`] as text.
pub fn scale_rule(from: &Technology, to: &Technology) -> String {
    format!(
        "scaled energy = internal and switching x {} nm / {} nm x ({} V / {} V)^2; leakage is not scaled",
        to.node_nm, from.node_nm, to.vdd, from.vdd
    )
}

/// Returns a line for each recorded stimulus, and for each that does not count from its first clock.
pub(crate) fn stimulus_lines(blocks: &[BlockReport]) -> String {
    let of = |block: &BlockReport| {
        let energy = block.mappings.first()?.energy.as_ref()?;
        let from = energy.recorded.as_ref()?;
        Some(format!(
            "{}: {} clocks of {} in {}, begun in reset; of {} with known outputs, {} have others than it gives\n",
            block.block,
            energy.earlier.value + energy.vectors.value,
            from.instance,
            from.file,
            from.compared.value,
            from.other_outputs.value
        ))
    };
    let later = |block: &BlockReport| {
        let earlier = block.mappings.first()?.energy.as_ref()?.earlier.value;
        (earlier > 0.0)
            .then(|| format!("{}: energy and operations count from clock {earlier} on\n", block.block))
    };
    blocks.iter().flat_map(|block| of(block).into_iter().chain(later(block))).collect()
}

/// Returns a row for each block and mapping with an energy, or `None` without any. `name` returns the row's name of a block.
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
                mapping.wanted(),
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

/// Column titles of [`csv`].
pub const CSV_HEAD: &str = "energy_nj_per_operation,internal_nj,switching_nj,leakage_nj,scaled_nj,paper_nj,clock_mhz,vectors,operations,earlier_vectors";

/// Returns the columns of one mapping. They are empty if its energy is unknown.
pub fn csv(energy: Option<&OperationEnergy>) -> String {
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
        one.earlier.value.to_string(),
    ]
    .join(",")
}
