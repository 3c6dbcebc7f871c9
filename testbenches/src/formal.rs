//! Proves properties of emitted Verilog. A property is a Verilog module. Yosys translates it and the block into an
//! and-inverter graph. ABC proves that the output of the property is never 1, or returns inputs that make it 1.
//!
//! A property is a top module with the single output `bad_o`, which is 1 in a cycle that violates the property. It can also
//! have assertions and no output. Its inputs are free in every cycle, except that an input `clk_i` is the clock. A register
//! without a reset or an `initial` may start with any value. A property of a block with a reset must therefore reset the
//! block first: see [`round_trip`]. The properties of single blocks are declared in [`properties`](crate::properties): see
//! [`invariant`].
//!
//! ```text
//! proof.v ────┐ yosys: flatten, asynchronous resets     abc: unroll, merge equal   Proved
//! block.v ... ┴ to synchronous, gates ──> proof.aig ──── nodes, prove; or IC3 ───> Counterexample
//! ```
use crate::emitted::{Emitted, VerilogFile};
use crate::properties::{self, Properties, Reach};
use crate::tool::{self, ABC, ToolError, YOSYS};
use selvedge_gen::Language;
use selvedge_hw::Direction;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A property to be proved.
#[derive(Clone, Debug)]
pub struct ProofTask {
    /// Name of the top module.
    pub top: String,
    /// Verilog of the top module.
    pub text: String,
    /// The modules that it instantiates.
    pub sources: Vec<VerilogFile>,
    /// Pairs of a signal and the signal that drives it, by their paths in the top module.
    pub connections: Vec<(String, String)>,
}

/// The result of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofResult {
    /// The property holds.
    Proved,
    /// The property does not hold.
    Counterexample(Counterexample),
    /// The prover gave up, with its output.
    Unknown(String),
}

/// Inputs that violate a property in the last cycle or earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counterexample {
    /// The inputs of each cycle, by name, in words with bit 0 of word 0 first.
    pub cycles: Vec<BTreeMap<String, Vec<u64>>>,
}

impl Counterexample {
    /// Returns the value of an input in a cycle, or `None` if the input or the cycle does not exist.
    pub fn value(&self, cycle: usize, input: &str) -> Option<&[u64]> {
        Some(self.cycles.get(cycle)?.get(input)?)
    }

    /// Parses the output of ABC's `write_cex -n`: `name[bit]@cycle=value`, or after unrolling `name[bit]_cycle@0=value`.
    fn parse(text: &str, unrolled: bool) -> Option<Self> {
        let mut found = Counterexample::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (place, value) = line.split_once('=')?;
            let (name, cycle) = place.split_once('@')?;
            let (name, cycle) = if unrolled { name.rsplit_once('_')? } else { (name, cycle) };
            let (name, bit) = match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
                Some((name, bit)) => (name, bit.parse::<usize>().ok()?),
                None => (name, 0),
            };
            let cycle: usize = cycle.parse().ok()?;
            if found.cycles.len() <= cycle {
                found.cycles.resize_with(cycle + 1, BTreeMap::new);
            }
            let words = found.cycles[cycle].entry(name.to_string()).or_default();
            if words.len() <= bit / 64 {
                words.resize(bit / 64 + 1, 0);
            }
            words[bit / 64] |= u64::from(value == "1") << (bit % 64);
        }
        (!found.cycles.is_empty()).then_some(found)
    }
}

impl fmt::Display for Counterexample {
    /// Writes one line per cycle with the inputs that are not zero, in hexadecimal. Omits free values of registers without a
    /// start value, which are not inputs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (cycle, inputs) in self.cycles.iter().enumerate() {
            write!(f, "cycle {cycle}:")?;
            for (name, words) in inputs.iter().filter(|(name, _)| name.ends_with("_i")) {
                if let Some(top) = words.iter().rposition(|word| *word != 0) {
                    write!(f, " {name}={:x}", words[top])?;
                    words[..top].iter().rev().try_for_each(|word| write!(f, "{word:016x}"))?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Returns Yosys' script that makes an and-inverter graph. It optimizes before signals become single bits, because the same
/// passes take minutes on single bits. `-mux_undef` removes branches that no condition selects, which the Verilog reader
/// fills with x. A remaining x becomes a free input, so that a proof holds for each of its values. Mapping to gates adds
/// further x values, for indices beyond the end of a vector.
pub(crate) fn yosys_script(files: &[String], top: &str, connections: &[(String, String)]) -> String {
    let connect: String =
        connections.iter().map(|(to, from)| format!("connect -set {to} {from}\n")).collect();
    let connect = if connect.is_empty() { connect } else { format!("cd {top}\n{connect}cd ..\n") };
    let system = if files.iter().any(|file| file.ends_with(".sv")) { "-sv " } else { "" };
    format!(
        "read_verilog -formal {system}{files}
hierarchy -check -top {top}
# words
proc
opt_expr -mux_undef
opt_clean -purge
flatten
{connect}memory -nomap
memory_map
async2sync
dffunmap
opt_expr -mux_undef -fine
opt_merge
opt_muxtree
opt_clean -purge
# bits; an x is a free input
setundef -anyseq
simplemap
techmap
setundef -anyseq
aigmap
write_aiger -symbols -zinit {top}.aig
",
        files = files.join(" ")
    )
}

/// Returns ABC's commands that prove the properties in `<top>.aig`, for a user to run.
pub(crate) fn abc_script(reach: Reach, top: &str) -> String {
    let base = match reach {
        Reach::Induction { steps } => abc_commands(Reach::Cycles(steps), top),
        Reach::Each { .. } => abc_commands(Reach::Cycles(STEPS), top),
        _ => String::new(),
    };
    base + &abc_commands(reach, top)
}

/// Number of cycles of the base and of the step of [`Reach::Each`].
const STEPS: u32 = 2;

/// Returns ABC's commands for one verdict, or for one of each claim. An unrolled proof is about combinational logic: SAT sweeping (`&fraig -y`) merges
/// equal nodes from the inputs up, which leaves little for the last step. A proof for all states uses IC3 (`pdr`). A diagram
/// that is not constant becomes multiplexers (`muxes`), because its sum of products may be too large. The induction step of
/// a lemma about words of memories is unrolled from any state, because SAT sweeping is faster than `ind` on equal words.
fn abc_commands(reach: Reach, top: &str) -> String {
    let prove = match reach {
        Reach::Cycles(cycles) => format!("frames -i -F {cycles}\norpos\n&get -n\n&fraig -y\n&put\niprove"),
        Reach::Diagrams { cycles } => {
            format!("frames -i -F {cycles}\norpos\ncollapse\nmuxes\nstrash\niprove")
        }
        Reach::AllStates { seconds } => format!("orpos\npdr -T {seconds}"),
        Reach::Induction { steps } => format!("orpos\nind -F {steps}"),
        Reach::Each { claims, lemmas } => {
            let of = |assertion| {
                let prove = if assertion < claims {
                    format!("ind -F {STEPS}")
                } else {
                    let last = STEPS - 1;
                    format!("frames -F {STEPS}\ncomb\ncone -O {last}\n&get -n\n&fraig -y\n&put\niprove")
                };
                format!("read {top}.aig\ncone -s -O {assertion}\n{prove}\nprint_status\n")
            };
            return (0..claims + lemmas).map(of).collect();
        }
    };
    format!("read {top}.aig\n{prove}\nprint_status\n")
}

/// Proves a property or finds a counterexample. Writes its files to `folder`.
///
/// # Errors
/// [`ToolError`] if a program is missing, refuses the Verilog, or prints an unknown output.
pub fn prove(property: &ProofTask, reach: Reach, folder: &Path) -> Result<ProofResult, ToolError> {
    let top = &property.top;
    let own = VerilogFile { module: top.clone(), language: Language::Verilog, text: property.text.clone() };
    let mut files = Vec::new();
    for source in property.sources.iter().chain([&own]) {
        let name = source.file();
        tool::write(&folder.join(&name), &source.text)?;
        files.push(name);
    }
    let script = format!("{top}.ys");
    tool::write(&folder.join(&script), yosys_script(&files, top, &property.connections))?;
    YOSYS.run(folder, ["-q", "-s", &script])?;
    let base = match reach {
        Reach::Induction { steps } => Some(steps),
        Reach::Each { .. } => Some(STEPS),
        _ => None,
    };
    if let Some(steps) = base {
        let base = run_abc(Reach::Cycles(steps), top, folder)?;
        if base != ProofResult::Proved {
            return Ok(base);
        }
    }
    run_abc(reach, top, folder)
}

fn run_abc(reach: Reach, top: &str, folder: &Path) -> Result<ProofResult, ToolError> {
    let script = format!("{top}.abc");
    tool::write(&folder.join(&script), abc_commands(reach, top) + "write_cex -n cex.txt\n")?;
    let said = ABC.run(folder, ["-f", &script])?;
    verdict(&said, reach, folder)
}

/// Returns the verdict from ABC's output and the counterexample file.
fn verdict(said: &str, reach: Reach, folder: &Path) -> Result<ProofResult, ToolError> {
    let refusal = || ToolError::Failed { program: ABC.program, message: said.trim_end().to_string() };
    let (_, status) = said.rsplit_once("Status = ").ok_or_else(refusal)?;
    if let Reach::Each { claims, lemmas } = reach {
        let proved = said.matches("Status = 1").count() == (claims + lemmas) as usize;
        return Ok(if proved {
            ProofResult::Proved
        } else {
            ProofResult::Unknown(said.trim_end().to_string())
        });
    }
    match status.split_whitespace().next() {
        Some("1") => Ok(ProofResult::Proved),
        // The start state of an induction step may be unreachable, so this is not a counterexample.
        Some("0") if matches!(reach, Reach::Induction { .. }) => {
            Ok(ProofResult::Unknown(said.trim_end().to_string()))
        }
        Some("-1") => Ok(ProofResult::Unknown(said.trim_end().to_string())),
        Some("0") => {
            let path = folder.join("cex.txt");
            let text = std::fs::read_to_string(&path).map_err(ToolError::at(&path))?;
            let found =
                Counterexample::parse(&text, matches!(reach, Reach::Cycles(_) | Reach::Diagrams { .. }));
            found.map(ProofResult::Counterexample).ok_or_else(refusal)
        }
        _ => Err(refusal()),
    }
}

/// The cycle in which [`round_trip`] offers the line. The cycle before is in reset.
pub const OFFERED: usize = 1;

/// Returns the property that every line passes unchanged through a compressor and a decompressor, by cycle `last`. Both
/// blocks have an asynchronous reset, active low. The output must be the line without an error, and must be valid by then.
/// Output ports of the compressor are connected to the decompressor's inputs with the same stem. Prove the property for
/// `last + 1` cycles. In a counterexample, the line is the input `line_i` in cycle [`OFFERED`].
///
/// # Panics
/// If an input of the decompressor has no matching output of the compressor.
pub fn round_trip(compressor: &Emitted, decompressor: &Emitted, last: u32) -> ProofTask {
    let line_bits = compressor.ports.iter().find(|port| port.name == "line_i").expect("a compressor").bits;
    let wide = |bits: usize, name: &str| format!("  wire [{}:0] {name};\n", bits - 1);
    let (mut wires, mut compressor_pins, mut decompressor_pins) =
        (String::new(), String::new(), String::new());
    for port in compressor.ports.iter().filter(|port| port.direction == Direction::Output) {
        if !["valid_o", "ready_o"].contains(&port.name) {
            wires += &wide(port.bits, &format!("between_{}", stem(port.name)));
            compressor_pins += &format!(", .{}(between_{})", port.name, stem(port.name));
        }
    }
    for port in decompressor.ports.iter().filter(|port| port.direction == Direction::Input) {
        if !["valid_i", "ready_i"].contains(&port.name) {
            let source = compressor
                .ports
                .iter()
                .find(|output| output.direction == Direction::Output && stem(output.name) == stem(port.name));
            let source =
                source.unwrap_or_else(|| panic!("nothing of {} drives {}", compressor.name, port.name));
            assert_eq!(source.bits, port.bits, "widths of {} and {}", source.name, port.name);
            decompressor_pins += &format!(", .{}(between_{})", port.name, stem(port.name));
        }
    }
    let text = format!(
        "\
// Every line comes back unchanged.
module proof (input wire clk_i, input wire [{top}:0] line_i, output wire bad_o);
  reg [7:0] cycle = 8'd0;
  reg [{top}:0] line = {line_bits}'d0;
  reg waiting = 1'b0;
  wire rst_n = cycle != 8'd0;
  wire offered = cycle == 8'd{OFFERED};
  wire compressor_ready, between_valid, between_ready, valid, error;
{wires}  wire [{top}:0] result;
  {} compressor (.clk_i(clk_i), .rst_ni(rst_n), .valid_i(offered), .line_i(line_i),
    .ready_o(compressor_ready), .valid_o(between_valid), .ready_i(between_ready){compressor_pins});
  {} decompressor (.clk_i(clk_i), .rst_ni(rst_n), .valid_i(between_valid), .ready_o(between_ready),
    .valid_o(valid), .ready_i(1'b1), .error_o(error), .line_o(result){decompressor_pins});
  always @(posedge clk_i) begin
    cycle <= cycle + 8'd1;
    if (offered) begin
      line <= line_i;
      waiting <= 1'b1;
    end else if (valid) begin
      waiting <= 1'b0;
    end
  end
  assign bad_o = (offered & !compressor_ready)
    | (valid & (!waiting | error | (result != line)))
    | ((cycle == 8'd{last}) & waiting & !valid);
endmodule
",
        compressor.name,
        decompressor.name,
        top = line_bits - 1,
    );
    // Both blocks may use the same cells.
    let other = decompressor.sources.iter().filter(|source| !compressor.sources.contains(source));
    let sources = compressor.sources.iter().chain(other).cloned().collect();
    ProofTask { top: "proof".to_string(), text, sources, connections: Vec::new() }
}

/// Returns a port's name without its direction.
fn stem(port: &str) -> &str {
    port.trim_end_matches("_i").trim_end_matches("_o")
}

/// Returns the property that every assertion in a block holds in every cycle, for any inputs and resets.
/// [`Emitted::with_properties`] adds the assertions of [`properties`](crate::properties).
pub fn invariant(block: &Emitted, properties: &Properties) -> ProofTask {
    let replaced = |source: &&VerilogFile| !properties::is_replaced(properties, &source.module);
    ProofTask {
        top: properties::proof_module(&block.name),
        text: properties::proof_text(&block.name, properties, &block.ports, block.reset),
        sources: block.sources.iter().filter(replaced).cloned().collect(),
        connections: properties::connections(properties),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a counter that stops at `top`, with the property that it stays below 5.
    fn counter(top: u32) -> ProofTask {
        let text = format!(
            "module proof (input wire clk_i, input wire [65:0] step_i, output wire bad_o);\n\
             reg [2:0] count = 0;\n\
             always @(posedge clk_i) if (step_i[65] & count != {top}) count <= count + 1;\n\
             assign bad_o = count == 5;\nendmodule\n"
        );
        ProofTask { top: "proof".to_string(), text, sources: Vec::new(), connections: Vec::new() }
    }

    fn verdict_of(property: &ProofTask, reach: Reach) -> Result<ProofResult, ToolError> {
        prove(property, reach, tempfile::tempdir().unwrap().path())
    }

    const ALL: Reach = Reach::AllStates { seconds: 30 };

    #[test]
    fn a_property_that_holds_is_proved() {
        assert_eq!(verdict_of(&counter(4), ALL).unwrap(), ProofResult::Proved);
        assert_eq!(verdict_of(&counter(4), Reach::Cycles(9)).unwrap(), ProofResult::Proved);
        assert_eq!(
            verdict_of(&counter(6), Reach::Cycles(5)).unwrap(),
            ProofResult::Proved,
            "5 comes in cycle 5"
        );
    }

    #[test]
    fn a_counterexample_gives_every_cycles_inputs() {
        for reach in [ALL, Reach::Cycles(6)] {
            let ProofResult::Counterexample(found) = verdict_of(&counter(6), reach).unwrap() else {
                panic!("5 is reached")
            };
            for cycle in 0..5 {
                let step = found.value(cycle, "step_i").unwrap();
                assert!(step.len() == 2 && step[1] >> 1 == 1, "cycle {cycle} of {found}");
            }
            assert!(found.to_string().starts_with("cycle 0: step_i=2"), "{found}");
        }
    }

    #[test]
    fn registers_without_a_start_value_may_hold_anything() {
        let text = "module proof (input wire clk_i, input wire d_i, output wire bad_o);\nreg q;\nreg start = 1;\n\
                    always @(posedge clk_i) begin q <= d_i; start <= 0; end\nassign bad_o = q & start;\nendmodule\n";
        let free = ProofTask {
            top: "proof".to_string(),
            text: text.to_string(),
            sources: Vec::new(),
            connections: Vec::new(),
        };
        assert!(matches!(verdict_of(&free, ALL).unwrap(), ProofResult::Counterexample(_)));
    }

    #[test]
    fn what_is_not_verilog_is_refused_by_yosys() {
        let broken = ProofTask {
            top: "proof".to_string(),
            text: "module proof (".to_string(),
            sources: Vec::new(),
            connections: Vec::new(),
        };
        let error = verdict_of(&broken, ALL).unwrap_err().to_string();
        assert!(error.starts_with("`yosys` failed: "), "{error}");
    }

    #[test]
    fn what_abc_says_is_read_or_refused() {
        let read = |said| verdict(said, ALL, Path::new("/no/such/folder"));
        assert_eq!(read("x\nStatus = 1  Frames = 3").unwrap(), ProofResult::Proved);
        let undecided = read("timeout\nStatus = -1  Frames = 3\n").unwrap();
        assert_eq!(undecided, ProofResult::Unknown("timeout\nStatus = -1  Frames = 3".to_string()));
        assert!(read("Error: Empty network.").unwrap_err().to_string().contains("Empty network"));
        assert!(read("Status = 0").unwrap_err().to_string().contains("cex.txt"));
    }
}
