//! Computes the energy of a mapped block from its netlist, the changes of its pins, and the library's tables.
//!
//! ```text
//! GOAL.il ─ Yosys ─┬─> GOAL_sim.v, with the library's cells as Verilog ─ a simulation ─> changes of every pin
//!                  ├─> GOAL_power.v, memories as ports ─ OpenSTA ─> slew of every pin
//!                  └─> GOAL_power.json ─> cells and nets
//! ```
//!
//! OpenSTA 2.0.17's own power report is not used. For each change of a clock pin or of a gate with one input, it adds the
//! energies of rise and fall, which is twice the tables' energy. At data pins of flip-flops it uses their mean.
use crate::asic::{Goal, MemoryStyle};
use crate::error::AreaError;
use crate::figure::Figure;
use crate::memory::{self, CompiledMemory};
use crate::power_table::{Internal, PowerCell, PowerLibrary, PowerPin};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Returns a Yosys script that writes the netlists `GOAL_sim.v`, `GOAL_power.v` and `GOAL_power.json` from `GOAL.il`. All
/// netlists use the same names of cells.
pub fn netlists(goal: Goal, top: &str, memories: &[CompiledMemory], style: MemoryStyle) -> String {
    let goal = goal.name();
    let ports = if style == MemoryStyle::Listed { memory::to_ports(memories).0 } else { String::new() };
    // The names contain no character that one of the readers escapes.
    format!(
        "read_liberty -lib -ignore_miss_func cells.lib\nread_rtlil {goal}.il\nhierarchy -top {top}\nsplitnets\n\
         opt_clean -purge\nrename -hide\nrename -enumerate -pattern n%\nwrite_verilog -noattr -noexpr {goal}_sim.v\n{ports}\
         splitnets -ports\nopt_clean -purge\nsetundef -zero\nwrite_verilog -noattr -noexpr {goal}_power.v\n\
         write_json {goal}_power.json\n"
    )
}

/// Yosys script that writes `cells_sim.v`: the library's cells as Verilog without delays.
pub const CELL_MODELS: &str =
    "read_liberty -ignore_miss_func cells.lib\nproc\nwrite_verilog -noattr cells_sim.v\n";

/// Gives every register of the cells a random value at power-up. An unknown value would spread through gates that compute
/// `x | ~x`: mapping creates such gates, and an output would stay unknown that no register decides.
pub(crate) fn with_power_up(cells: &str) -> String {
    let registers =
        cells.lines().map(|line| match line.strip_prefix("  reg ").and_then(|rest| rest.strip_suffix(';')) {
            Some(name) => format!("{line}\n  initial {name} = $random;\n"),
            None => format!("{line}\n"),
        });
    registers.collect()
}

/// Returns an OpenSTA script that prints the slew of every pin of `GOAL_power.v`. Inputs have the same drivers and outputs
/// the same loads as in mapping. Clock and reset have no slew.
pub(crate) fn slews(goal: Goal, top: &str, ideal: &[&str], driver: &str, load: f64) -> String {
    format!(
        "set sta_report_default_digits 5\nread_liberty cells.lib\nread_verilog {goal}_power.v\nlink_design {top}\n\
         set_load {load} [all_outputs]\n\
         foreach port [all_inputs] {{\n  if {{ [lsearch {{{ideal}}} [get_name $port]] < 0 }} {{\n    \
         set_driving_cell -lib_cell {driver} $port\n  }}\n}}\n\
         create_clock -name clk -period 1000 [get_ports clk_i]\n\
         foreach pin [get_pins */*] {{ report_slews $pin }}\nexit\n",
        goal = goal.name(),
        ideal = ideal.join(" ")
    )
}

/// Returns the slew of each pin in the library's unit of time: the mean of the slowest rise and the slowest fall.
///
/// # Errors
/// [`AreaError::NoAnswer`] with OpenSTA's error message.
pub(crate) fn parse_slews(report: &str, work: &str) -> Result<BTreeMap<String, f64>, AreaError> {
    if let Some(error) = report.lines().find(|line| line.starts_with("Error")) {
        let message = format!("OpenSTA: {error}");
        return Err(AreaError::NoAnswer { work: work.into(), message });
    }
    let slowest = |range: &str| range.rsplit(':').next()?.parse::<f64>().ok().filter(|slew| slew.is_finite());
    let pin = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [pin, "^", rise, "v", fall] = words.as_slice() else { return None };
        Some(((*pin).to_string(), (slowest(rise)? + slowest(fall)?) / 2.0))
    };
    Ok(report.lines().filter_map(pin).collect())
}

/// A cell of a netlist: its type, and the net of each pin.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NetlistCell {
    cell: String,
    /// Net by pin; `None` for a constant.
    pins: BTreeMap<String, Option<u64>>,
}

/// The cells and nets of a block.
#[derive(Clone, Debug, Default)]
pub struct Netlist {
    instances: BTreeMap<String, NetlistCell>,
    /// Nets at output ports.
    outputs: Vec<u64>,
    /// The net of the clock input.
    clock: Option<u64>,
}

impl Netlist {
    /// Returns the pins (`cell/pin`) in the network of gated clocks: clock pins of registers, and pins of all gates before
    /// them up to a register or an input of the block.
    pub fn clock_network(&self, library: &PowerLibrary) -> BTreeSet<String> {
        let known = |one: &NetlistCell, pin: &str| library.cells.get(&one.cell)?.pins.get(pin);
        let is_register =
            |one: &NetlistCell| one.pins.keys().any(|pin| known(one, pin).is_some_and(|known| known.clock));
        let nets = |one: &NetlistCell, wanted: &dyn Fn(&PowerPin) -> bool| -> Vec<u64> {
            let pins = one.pins.iter().filter(|(pin, _)| known(one, pin).is_some_and(wanted));
            pins.filter_map(|(_, net)| *net).collect()
        };
        let mut network: BTreeSet<u64> =
            self.instances.values().flat_map(|one| nets(one, &|pin| pin.clock)).collect();
        loop {
            let drives =
                |one: &&NetlistCell| nets(one, &|pin| pin.output).iter().any(|net| network.contains(net));
            let gates = self.instances.values().filter(|one| !is_register(one)).filter(drives);
            let before: BTreeSet<u64> = gates.flat_map(|one| nets(one, &|pin| !pin.output)).collect();
            if before.is_subset(&network) {
                break;
            }
            network.extend(before);
        }
        let pins = self.instances.iter().flat_map(|(name, one)| one.pins.iter().map(move |pin| (name, pin)));
        pins.filter(|(_, (_, net))| net.is_some_and(|net| network.contains(&net)))
            .map(|(name, (pin, _))| format!("{name}/{pin}"))
            .collect()
    }

    /// Reads Yosys' JSON.
    ///
    /// # Errors
    /// [`AreaError::NoAnswer`] if the JSON has an unknown form.
    pub fn parse(text: &str, top: &str, work: &str) -> Result<Self, AreaError> {
        let fail = |message: &str| AreaError::NoAnswer { work: work.into(), message: message.into() };
        let design: Value =
            serde_json::from_str(text).map_err(|e| fail(&format!("Yosys' JSON cannot be read: {e}")))?;
        let module = &design["modules"][top];
        let cells = module["cells"].as_object().ok_or_else(|| fail("Yosys' JSON has no cells"))?;
        let net = |bits: &Value| bits[0].as_u64();
        let instance = |one: &Value| NetlistCell {
            cell: one["type"].as_str().unwrap_or_default().into(),
            pins: one["connections"]
                .as_object()
                .map(|pins| pins.iter().map(|(pin, bits)| (pin.clone(), net(bits))).collect())
                .unwrap_or_default(),
        };
        let ports = module["ports"].as_object().ok_or_else(|| fail("Yosys' JSON has no ports"))?;
        Ok(Netlist {
            instances: cells.iter().map(|(name, one)| (name.clone(), instance(one))).collect(),
            outputs: ports
                .values()
                .filter(|port| port["direction"] == "output")
                .filter_map(|port| net(&port["bits"]))
                .collect(),
            clock: ports.get("clk_i").and_then(|port| net(&port["bits"])),
        })
    }
}

/// The changes that a simulation recorded.
#[derive(Clone, Debug, Default)]
pub struct RecordedActivity {
    /// Number of counted clocks.
    pub clocks: u64,
    /// Number of changes of each pin, by `cell/pin`. A clock pin changes twice per clock.
    pub changes: BTreeMap<String, u64>,
}

/// Energy over all counted clocks, picojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimulatedEnergy {
    /// Energy inside cells when their pins change.
    pub internal_pj: f64,
    /// Energy to charge the nets that cells drive.
    pub switching_pj: f64,
    /// Leakage over all counted clocks.
    pub leakage_pj: f64,
    /// Energy to charge the pins at the block's clock input, whose driver is outside the block. It is not in the other
    /// energies.
    pub clock_input_pj: f64,
}

/// Sums the energy of a simulated netlist. The clock has a period of `period_ns`. Each output has an additional load of
/// `load_pf`.
///
/// # Errors
/// [`AreaError::NoAnswer`] if the library lacks a cell, or if the simulation did not show a pin.
pub fn energy(
    netlist: &Netlist,
    library: &PowerLibrary,
    slews: &BTreeMap<String, f64>,
    activity: &RecordedActivity,
    (period_ns, load_pf): (f64, f64),
    work: &str,
) -> Result<SimulatedEnergy, AreaError> {
    let fail = |message: String| AreaError::NoAnswer { work: work.into(), message };
    let cell_of = |one: &NetlistCell| {
        library.cells.get(&one.cell).ok_or_else(|| fail(format!("no energy is known of a `{}`", one.cell)))
    };
    let mut loads: BTreeMap<u64, f64> = BTreeMap::new();
    netlist.outputs.iter().for_each(|net| *loads.entry(*net).or_default() += load_pf);
    for one in netlist.instances.values() {
        let cell = cell_of(one)?;
        for (pin, net) in &one.pins {
            let known = cell.pins.get(pin).filter(|known| !known.output);
            if let (Some(known), Some(net)) = (known, net) {
                *loads.entry(*net).or_default() += known.capacitance_pf;
            }
        }
    }
    let mut sum = SimulatedEnergy::default();
    let charge = netlist.clock.and_then(|net| loads.get(&net)).copied().unwrap_or(0.0);
    sum.clock_input_pj = activity.clocks as f64 * charge * library.voltage * library.voltage;
    for (name, one) in &netlist.instances {
        let cell = cell_of(one)?;
        sum.leakage_pj += cell.leakage_w * 1e3 * period_ns * activity.clocks as f64;
        let here = PlacedCell { name, cell, slews, activity };
        for (pin, net) in one.pins.iter().filter_map(|(pin, net)| Some((pin, (*net)?))) {
            let Some(known) = cell.pins.get(pin) else { continue };
            let changes = here.changes(pin).ok_or_else(|| {
                fail(format!("the simulation did not show pin `{pin}` of a `{}`", one.cell))
            })?;
            let load = if known.output { loads.get(&net).copied().unwrap_or(0.0) } else { 0.0 };
            sum.internal_pj += changes as f64 * here.internal_pj(pin, known, load);
            sum.switching_pj += changes as f64 * load * library.voltage * library.voltage / 2.0;
        }
    }
    Ok(sum)
}

/// An instance with its slews and activity.
struct PlacedCell<'a> {
    name: &'a str,
    cell: &'a PowerCell,
    slews: &'a BTreeMap<String, f64>,
    activity: &'a RecordedActivity,
}

impl PlacedCell<'_> {
    fn changes(&self, pin: &str) -> Option<u64> {
        self.activity.changes.get(&format!("{}/{pin}", self.name)).copied()
    }

    fn slew(&self, pin: &str) -> f64 {
        self.slews.get(&format!("{}/{pin}", self.name)).copied().unwrap_or(0.0)
    }

    /// Returns the energy of one change of a pin. The groups of one supply are weighted by the changes of their inputs, and
    /// the energies of several supplies are added. Groups for different states of other inputs have the same weight.
    fn internal_pj(&self, pin: &str, known: &PowerPin, load: f64) -> f64 {
        let mut supplies: Vec<&str> = known.internal.iter().map(|one| one.supply.as_str()).collect();
        supplies.sort_unstable();
        supplies.dedup();
        let of = |supply: &str| {
            let groups: Vec<&Internal> = known.internal.iter().filter(|one| one.supply == supply).collect();
            let weights: Vec<f64> = groups.iter().map(|one| self.weight(one)).collect();
            let all: f64 = weights.iter().sum();
            let share = |weight: f64| if all > 0.0 { weight / all } else { 1.0 / groups.len() as f64 };
            let energy = |one: &Internal| one.energy_pj(self.slew_of(pin, one), load);
            groups.iter().zip(&weights).map(|(one, weight)| share(*weight) * energy(one)).sum::<f64>()
        };
        supplies.into_iter().map(of).sum()
    }

    fn weight(&self, group: &Internal) -> f64 {
        let changes = group.related.iter().filter(|pin| self.cell.pins.contains_key(*pin));
        changes.map(|pin| self.changes(pin).unwrap_or(0) as f64).sum()
    }

    /// Returns the slew with which a group's tables are read: the mean of the inputs that it names, or that of the pin.
    fn slew_of(&self, pin: &str, group: &Internal) -> f64 {
        let slews: Vec<f64> = group.related.iter().map(|pin| self.slew(pin)).collect();
        if slews.is_empty() { self.slew(pin) } else { slews.iter().sum::<f64>() / slews.len() as f64 }
    }
}

/// Energy of a block in reports.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct OperationEnergy {
    /// Total energy of an operation.
    pub per_operation: Figure,
    /// Energy within cells.
    pub internal: Figure,
    /// Energy of charging nets.
    pub switching: Figure,
    /// Leakage energy.
    pub leakage: Figure,
    /// Energy of charging the pins at the block's clock input; not part of `per_operation`.
    pub clock_input: Figure,
    /// Clock for which the leakage is computed.
    pub clock: Figure,
    /// Counted clock cycles of the stimulus.
    pub vectors: Figure,
    /// Clock cycles that are simulated before the counted ones.
    pub earlier: Figure,
    /// Operations in the counted cycles, as the block counts them.
    pub operations: Figure,
    /// Internal and switching energy, scaled to another node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaled: Option<Figure>,
    /// Energy that a paper states for the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<PaperEnergy>,
    /// Source of a recorded stimulus; absent for the block's own stimulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedStimulus>,
}

/// A stimulus from a waveform.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RecordedStimulus {
    /// Waveform file.
    pub file: String,
    /// Block instance in the waveform.
    pub instance: String,
    /// Clock cycles whose outputs were compared: the waveform has a known value of every output in them.
    pub compared: Figure,
    /// Compared cycles in which the outputs of the instance and the block differ. The block begins in reset; the instance
    /// may not.
    pub other_outputs: Figure,
}

/// Energy that a paper states.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PaperEnergy {
    /// Energy of an operation.
    pub per_operation: Figure,
    /// Place in the paper.
    pub source: &'static str,
}

impl OperationEnergy {
    /// Returns the energy of one of `operations`, in `vectors` clock cycles that follow `earlier` ones.
    pub fn new(
        energy: &SimulatedEnergy,
        operations: u64,
        (earlier, vectors): (u64, u64),
        period_ns: f64,
    ) -> Self {
        // Rounds to a zeptojoule: the leakage of a small block is far below the six digits of other figures.
        let nj = |picojoules: f64| {
            let value = picojoules / operations.max(1) as f64 / 1000.0;
            Figure { value: (value * 1e12).round() / 1e12, unit: "nJ" }
        };
        OperationEnergy {
            per_operation: nj(energy.internal_pj + energy.switching_pj + energy.leakage_pj),
            internal: nj(energy.internal_pj),
            switching: nj(energy.switching_pj),
            leakage: nj(energy.leakage_pj),
            clock_input: nj(energy.clock_input_pj),
            clock: Figure::new(1000.0 / period_ns, "MHz"),
            vectors: Figure { value: vectors as f64, unit: "clocks" },
            earlier: Figure { value: earlier as f64, unit: "clocks" },
            operations: Figure { value: operations as f64, unit: "operations" },
            scaled: None,
            paper: None,
            recorded: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flip-flop that drives a NAND gate, with tables of one value.
    const LIBRARY: &str = "library (l) { nom_voltage : 2; capacitive_load_unit (1,pf); leakage_power_unit : \"1mW\";
        cell (DFF) { cell_leakage_power : 1; pin(C) { direction : input; capacitance : 0.5;
            internal_power () { rise_power(scalar) { values (\"1\"); } fall_power(scalar) { values (\"3\"); } } }
          pin(D) { direction : input; capacitance : 0.25; }
          pin(Q) { direction : output; internal_power () { related_pin : \"C\"; power(scalar) { values (\"10\"); } } } }
        cell (NAND) { cell_leakage_power : 0.5; pin(A) { direction : input; capacitance : 0.25; }
          pin(B) { direction : input; capacitance : 0.25; }
          pin(Y) { direction : output; internal_power () { related_pin : \"A\"; power(scalar) { values (\"100\"); } }
            internal_power () { related_pin : \"B\"; power(scalar) { values (\"200\"); } } } } }";
    const NETLIST: &str = r#"{"modules": {"t": {
        "ports": {"clk_i": {"direction": "input", "bits": [2]}, "y_o": {"direction": "output", "bits": [4]}},
        "cells": {"f": {"type": "DFF", "connections": {"C": [2], "D": [4], "Q": [3]}},
                  "g": {"type": "NAND", "connections": {"A": [3], "B": [5], "Y": [4]}}}}}}"#;

    fn sum(changes: &[(&str, u64)]) -> Result<SimulatedEnergy, AreaError> {
        let library = PowerLibrary::parse(LIBRARY).expect("a library");
        let netlist = Netlist::parse(NETLIST, "t", "t")?;
        let changes = changes.iter().map(|(pin, count)| ((*pin).to_string(), *count)).collect();
        let activity = RecordedActivity { clocks: 10, changes };
        energy(&netlist, &library, &BTreeMap::new(), &activity, (2.0, 0.5), "t")
    }

    #[test]
    fn registers_of_cells_start_with_a_value() {
        let cells = "module dff(C, Q);\n  reg IQ;\n  wire d;\nendmodule\n";
        let wanted = "module dff(C, Q);\n  reg IQ;\n  initial IQ = $random;\n  wire d;\nendmodule\n";
        assert_eq!(with_power_up(cells), wanted);
    }

    #[test]
    fn the_sum_is_what_a_hand_would_add() {
        let changes = [("f/C", 20), ("f/D", 4), ("f/Q", 6), ("g/A", 6), ("g/B", 2), ("g/Y", 4)];
        let got = sum(&changes).expect("a sum");
        // Clock pin: 2 pJ per change. Q: 10. Y: input A causes three quarters of the changes.
        assert_eq!(got.internal_pj, 20.0 * 2.0 + 6.0 * 10.0 + 4.0 * 125.0);
        // Half of C V2: Q drives 0.25 pF, Y drives 0.25 pF and the output's 0.5 pF. The clock's driver is outside the block.
        assert_eq!(got.switching_pj, 2.0 * (6.0 * 0.25 + 4.0 * 0.75));
        // The clock input has 0.5 pF at 2 V for 10 clocks.
        assert_eq!(got.clock_input_pj, 20.0);
        // 1.5 mW for 20 ns.
        assert!((got.leakage_pj - 30.0).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn the_clock_network_ends_at_registers() {
        // A latch and an AND gate drive the clock pin of a flip-flop. The network excludes the latch's data.
        let library = PowerLibrary::parse(
            &LIBRARY.replace("pin(C) { direction : input;", "pin(C) { direction : input; clock : true;"),
        );
        let gated = NETLIST.replace(
            r#""f": {"#,
            r#""l": {"type": "DFF", "connections": {"C": [2], "D": [5], "Q": [6]}},
               "a": {"type": "NAND", "connections": {"A": [2], "B": [6], "Y": [7]}},
               "h": {"type": "DFF", "connections": {"C": [7], "D": [4], "Q": [9]}},
               "f": {"#,
        );
        let netlist = Netlist::parse(&gated, "t", "t").expect("a netlist");
        let network: Vec<String> = netlist.clock_network(&library.expect("a library")).into_iter().collect();
        assert_eq!(network, ["a/A", "a/B", "a/Y", "f/C", "h/C", "l/C", "l/Q"]);
    }

    #[test]
    fn a_pin_that_was_not_seen_is_no_zero() {
        let error = sum(&[("f/C", 20)]).expect_err("pins are missing").to_string();
        assert_eq!(error, "t: the simulation did not show pin `D` of a `DFF`");
    }

    #[test]
    fn slews_are_the_mean_of_the_slowest() {
        let report = "OpenSTA\nn1/Q ^ 0.10:0.20 v 0.30:0.40\nn2/D ^ 1.0:1.0 v 1.0:1.0\n";
        let slews = parse_slews(report, "t").expect("slews");
        assert!((slews["n1/Q"] - 0.3).abs() < 1e-12 && slews.len() == 2);
        assert!(parse_slews("Error: x.tcl, 3 no such cell", "t").is_err());
    }
}
