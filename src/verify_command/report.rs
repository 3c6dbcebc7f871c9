//! The report of `selvedge verify`: its JSON and its tables.
use crate::output::width;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_hw::rtl::registers::Register;
use selvedge_hw::{BlockEntry, Direction};
use selvedge_testbenches::mutation::VerilogMutation;
use selvedge_testbenches::verification::{FormDifference, Mismatch, RegisterCoverage, Verified};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// Verification of blocks.
#[derive(JsonSchema, Serialize)]
pub struct VerifyReport {
    /// Seed of the stimulus and of the planted faults.
    pub seed: u64,
    /// The blocks.
    pub blocks: Vec<BlockVerification>,
}

/// Verification of one block.
#[derive(JsonSchema, Serialize)]
pub struct BlockVerification {
    /// Name of the block.
    pub block: String,
    /// Values of all parameters.
    pub parameters: Value,
    /// Forms that were compared with the golden model.
    pub forms: Vec<String>,
    /// Cycles in which all outputs were compared.
    pub cycles: u64,
    /// Cycles in reset.
    pub resets: u64,
    /// Operations, in the block's unit: lines, accesses or cycles.
    pub operations: u64,
    /// Corner cases of the block.
    pub corners: Vec<VerifiedCorner>,
    /// Ports of the block, inputs first.
    pub ports: Vec<PortToggles>,
    /// Registers of the RTL. Memories are not included.
    pub registers: Vec<RegisterToggles>,
    /// First difference; absent if all forms are equal. The other values end before its cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Differs>,
    /// Planted faults; absent without `--mutate`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<Mutant>,
}

/// A corner case of a block.
#[derive(JsonSchema, Serialize)]
pub struct VerifiedCorner {
    /// The event.
    pub name: &'static str,
    /// Number of times that the stimulus reached it.
    pub times: u64,
}

/// Toggle coverage of a port.
#[derive(JsonSchema, Serialize)]
pub struct PortToggles {
    /// Name of the port.
    pub name: &'static str,
    /// `in` or `out`.
    pub direction: &'static str,
    /// Width in bits.
    pub bits: usize,
    /// Bits that were both 0 and 1.
    pub toggled: usize,
}

/// Coverage of a register.
#[derive(JsonSchema, Serialize)]
pub struct RegisterToggles {
    /// Sub-blocks and name, joined by dots.
    pub name: String,
    /// Width in bits.
    pub bits: usize,
    /// Bits that were both 0 and 1.
    pub toggled: usize,
    /// States of a register whose values have names; absent for others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<ReachedState>,
}

/// A named state.
#[derive(JsonSchema, Serialize)]
pub struct ReachedState {
    /// Name.
    pub name: String,
    /// `true` if the register had this value.
    pub reached: bool,
}

impl RegisterToggles {
    fn new(coverage: &RegisterCoverage) -> Self {
        let Register { scope, name, bits, .. } = &coverage.register;
        let state = |(name, reached): (&str, bool)| ReachedState { name: name.into(), reached };
        RegisterToggles {
            name: [scope.as_slice(), std::slice::from_ref(name)].concat().join("."),
            bits: *bits,
            toggled: coverage.toggled(),
            states: coverage.states().map(state).collect(),
        }
    }
}

/// First difference from the golden model.
#[derive(JsonSchema, Serialize)]
pub struct Differs {
    /// Form that differs.
    pub form: String,
    /// Cycle of the difference. Cycle 0 is the reset at the beginning.
    pub cycle: u64,
    /// First port that differs; absent if the Verilog ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<&'static str>,
    /// Value of the model, in hexadecimal; absent if the Verilog ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Value of the form, in hexadecimal; absent if the Verilog ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// Difference in one line.
    pub message: String,
    /// Waveform of the cycles around the difference.
    pub waveform: String,
}

/// A fault that was planted in the Verilog.
#[derive(JsonSchema, Serialize)]
pub struct Mutant {
    /// File of the Verilog.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Changed token, and the token that replaces it.
    pub change: String,
    /// `true` if the stimulus finds the fault.
    pub found: bool,
    /// Cycle of the first difference; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u64>,
    /// First port that differs; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<&'static str>,
}

impl Differs {
    /// Returns the entry of a difference with its waveform.
    pub fn new(difference: &FormDifference, waveform: &Path) -> Self {
        let FormDifference { form, cycle, what, .. } = difference;
        let (port, expected, got) = match what {
            Mismatch::Port { port, expected, got } => {
                (Some(*port), Some(expected.clone()), Some(got.clone()))
            }
            Mismatch::Ended(_) => (None, None, None),
        };
        let (message, waveform) = (difference.to_string(), waveform.display().to_string());
        Differs { form: form.clone(), cycle: *cycle, port, expected, got, message, waveform }
    }
}

impl Mutant {
    /// Returns the entry of a mutation with the first difference.
    pub fn new(file: &str, mutation: &VerilogMutation, mismatch: Option<(u64, Mismatch)>) -> Self {
        let port = match &mismatch {
            Some((_, Mismatch::Port { port, .. })) => Some(*port),
            _ => None,
        };
        Mutant {
            file: file.into(),
            line: mutation.line,
            column: mutation.column,
            change: mutation.to_string(),
            found: mismatch.is_some(),
            cycle: mismatch.map(|(cycle, _)| cycle),
            port,
        }
    }
}

impl BlockVerification {
    /// Returns the entry of a block without its difference and mutants.
    pub fn new(entry: &dyn BlockEntry, params: &Value, forms: Vec<String>, verified: &Verified) -> Self {
        let corners = verified.corners.iter();
        let ports = verified.ports.iter().map(|coverage| PortToggles {
            name: coverage.port.name,
            direction: if coverage.port.direction == Direction::Input { "in" } else { "out" },
            bits: coverage.port.bits,
            toggled: coverage.toggled(),
        });
        BlockVerification {
            block: entry.name().into(),
            parameters: params.clone(),
            forms,
            cycles: verified.cycles,
            resets: verified.resets,
            operations: verified.operations,
            corners: corners
                .map(|corner| VerifiedCorner { name: corner.name, times: corner.times })
                .collect(),
            ports: ports.collect(),
            registers: verified.registers.iter().map(RegisterToggles::new).collect(),
            difference: None,
            mutants: Vec::new(),
        }
    }

    /// Returns the toggled bits and all bits of the ports in one direction.
    fn toggled(&self, direction: &str) -> String {
        let ports = self.ports.iter().filter(|port| port.direction == direction);
        let (toggled, bits) =
            ports.fold((0, 0), |(toggled, bits), port| (toggled + port.toggled, bits + port.bits));
        format!("{toggled}/{bits}")
    }

    /// Returns the toggled bits and all bits of the registers.
    fn register_bits(&self) -> String {
        let count = |(toggled, bits), one: &RegisterToggles| (toggled + one.toggled, bits + one.bits);
        let (toggled, bits) = self.registers.iter().fold((0, 0), count);
        format!("{toggled}/{bits}")
    }

    /// Returns the reached and all named states, or a dash without named states.
    fn states(&self) -> String {
        let states: Vec<&ReachedState> = self.registers.iter().flat_map(|one| &one.states).collect();
        let reached = states.iter().filter(|state| state.reached).count();
        if states.is_empty() { "-".into() } else { format!("{reached}/{}", states.len()) }
    }

    fn row(&self) -> Vec<String> {
        let reached = self.corners.iter().filter(|corner| corner.times > 0).count();
        let result = match &self.difference {
            None => "equal".into(),
            Some(difference) => format!("{} differs", difference.form),
        };
        vec![
            self.block.clone(),
            self.forms.join(", "),
            self.cycles.to_string(),
            self.operations.to_string(),
            format!("{reached}/{}", self.corners.len()),
            self.toggled("in"),
            self.toggled("out"),
            self.register_bits(),
            self.states(),
            result,
        ]
    }

    /// Returns the corner cases with their counts.
    fn corner_table(&self) -> String {
        let mut table = Table::new(&["corner case", "times"]);
        for corner in &self.corners {
            table.row(vec![corner.name.into(), corner.times.to_string()]);
        }
        table.render_within(width())
    }

    /// Returns a line for each part of the coverage that is not complete.
    fn gaps(&self) -> String {
        let mut text = String::new();
        let mut line = |what: &str, names: Vec<String>| {
            if !names.is_empty() {
                text += &format!("{}: {what}: {}\n", self.block, names.join("; "));
            }
        };
        let unreached = self.corners.iter().filter(|corner| corner.times == 0);
        line("corner cases not reached", unreached.map(|corner| corner.name.to_string()).collect());
        let still = self.ports.iter().filter(|port| port.toggled < port.bits);
        let of_bits =
            |port: &PortToggles| format!("{} {} of {}", port.name, port.bits - port.toggled, port.bits);
        line("bits not toggled", still.map(of_bits).collect());
        let still = self.registers.iter().filter(|one| one.toggled < one.bits);
        let of_bits =
            |one: &RegisterToggles| format!("{} {} of {}", one.name, one.bits - one.toggled, one.bits);
        line("register bits not toggled", still.map(of_bits).collect());
        let unreached = self.registers.iter().flat_map(|one| {
            let states = one.states.iter().filter(|state| !state.reached);
            states.map(move |state| format!("{} {}", one.name, state.name))
        });
        line("states not reached", unreached.collect());
        text
    }

    /// Returns the planted faults and their number.
    fn mutant_table(&self) -> String {
        let mut table = Table::new(&["place", "fault", "result"]);
        for Mutant { file, line, column, change, found, cycle, port } in &self.mutants {
            let cycle = cycle.map(|cycle| cycle.to_string()).unwrap_or_default();
            let result = match port {
                Some(port) => format!("found in cycle {cycle} at {port}"),
                None if *found => format!("ends in cycle {cycle}"),
                None => "not found".into(),
            };
            table.row(vec![format!("{file}:{line}:{column}"), change.clone(), result]);
        }
        let found = self.mutants.iter().filter(|mutant| mutant.found).count();
        table.render_within(width())
            + &format!("{}: {found} of {} faults found\n", self.block, self.mutants.len())
    }
}

impl VerifyReport {
    /// Returns the tables.
    pub fn text(&self) -> String {
        let head = [
            "block",
            "forms",
            "cycles",
            "operations",
            "corner cases",
            "input bits",
            "output bits",
            "register bits",
            "states",
            "result",
        ];
        let mut table = Table::new(&head).dispensable(&["operations", "forms"]);
        self.blocks.iter().for_each(|block| table.row(block.row()));
        let mut text = table.render_within(width());
        // The coverage of a block with a difference ends too early to show gaps.
        let equal = || self.blocks.iter().filter(|block| block.difference.is_none());
        if let ([block], Some(_)) = (self.blocks.as_slice(), equal().next()) {
            text += &format!("\n{}", block.corner_table());
        }
        text += &equal().map(BlockVerification::gaps).collect::<String>();
        for block in self.blocks.iter().filter(|block| !block.mutants.is_empty()) {
            text += &format!("\n{}", block.mutant_table());
        }
        text
    }
}
