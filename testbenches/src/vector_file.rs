//! Writes a block's vectors as a text file for testbenches of other tools, such as cocotb and UVM, and for chip testers.
//!
//! The file has a head, whose lines begin with `#`, and a line for each cycle. A line has a word for each field, in
//! hexadecimal with all its digits. Words are separated by a space. The head names the fields in order:
//!
//! ```text
//! # field reset rst_ni 1                 the level of the reset pin
//! # field input valid_i 1                name and bits of an input
//! # field output line_o 1024 valid_o     of an output; the output that qualifies it, if there is one
//! ```
//!
//! Inputs are stable from one rising edge of the clock to the next. Outputs are those just before the rising edge that ends
//! the cycle. A word of `x` digits marks an output that is not compared: all outputs in reset, and each output whose valid
//! output is 0. SystemVerilog's `actual ==? expected` treats x in the same way.
use crate::covered::{CoveredVectors, StimulusError};
use crate::emitted::reset_level;
use crate::literal::Wide;
use crate::vectors::{Vector, side};
use selvedge_gen::ResetStyle;
use selvedge_hw::{BlockEntry, Corner, Direction, Port};
use serde_json::Value;
use std::fmt::Write;

/// The length of the vectors, and the reset style of their Verilog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorExtent {
    /// Number of operations, as the block's corner cases count them. `None` for the number that reaches every corner case.
    /// The cycles of the block's latency follow.
    pub operations: Option<u64>,
    /// Seed of the stimulus.
    pub seed: u64,
    /// Reset style of the Verilog. Without a reset pin, cycles in reset are omitted.
    pub reset: ResetStyle,
}

/// The vectors of a block, and the corner cases that they reach.
#[derive(Clone, Debug)]
pub struct VectorFile {
    /// Text of the file.
    pub text: String,
    /// The vector of each cycle.
    pub vectors: Vec<Vector>,
    /// Number of operations.
    pub operations: u64,
    /// All corner cases of the block with the number of times that each is reached.
    pub corners: Vec<Corner>,
}

impl VectorFile {
    /// Returns the names of the corner cases that are not reached.
    pub fn unreached(&self) -> Vec<&'static str> {
        self.corners.iter().filter(|corner| corner.times == 0).map(|corner| corner.name).collect()
    }
}

/// Returns the name of the file for the block's module.
pub fn file_name(module: &str) -> String {
    format!("{module}_vectors.txt")
}

/// Returns the file: the block's stimulus, the outputs that its golden model expects, and the reached corner cases. Without
/// a number of operations, the vectors continue until each corner case is reached. They contain at most the block's full
/// count of operations ([`BlockEntry::operations`]), because some parameters make a case unreachable.
///
/// # Errors
/// [`StimulusError`] if the parameters are invalid, or if the stimulus does not complete the operations.
pub fn write(
    entry: &dyn BlockEntry,
    params: &Value,
    extent: VectorExtent,
) -> Result<VectorFile, StimulusError> {
    let mut file = vectors(entry, params, extent)?;
    file.text = text(&entry.ports(params)?, &head(entry, params, extent, &file), extent.reset, &file.vectors);
    Ok(file)
}

/// Returns the lines with block, parameters and corner cases.
fn head(entry: &dyn BlockEntry, params: &Value, extent: VectorExtent, file: &VectorFile) -> String {
    let (block, cycles, operations, seed) = (entry.name(), file.vectors.len(), file.operations, extent.seed);
    let mut head = format!(
        "# Vectors of {block}: {cycles} cycles with {operations} operations, seed {seed}\n# Parameters: {params}\n"
    );
    for Corner { name, times, .. } in file.corners.iter().filter(|corner| corner.times > 0) {
        head += &format!("# reached {times} times: {name}\n");
    }
    for name in file.unreached() {
        head += &format!("# NOT reached: {name}\n");
    }
    head
}

/// Returns the text of the file.
fn text(ports: &[Port], head: &str, reset: ResetStyle, vectors: &[Vector]) -> String {
    let mut text = format!("{head}# A line is a cycle, a word a field in hexadecimal; x: not compared\n");
    let mut field = |words: std::fmt::Arguments<'_>| {
        writeln!(text, "# field {words}").expect("writing to a string cannot fail");
    };
    if let Some(pin) = reset.port() {
        field(format_args!("reset {pin} 1"));
    }
    for Port { name, bits, .. } in side(ports, Direction::Input) {
        field(format_args!("input {name} {bits}"));
    }
    for Port { name, bits, valid, .. } in side(ports, Direction::Output) {
        match valid {
            Some(valid) => field(format_args!("output {name} {bits} {valid}")),
            None => field(format_args!("output {name} {bits}")),
        }
    }
    for vector in vectors {
        text += &line(ports, vector, reset);
        text.push('\n');
    }
    text
}

/// Returns the vectors up to the latency after the last operation, without the text.
fn vectors(
    entry: &dyn BlockEntry,
    params: &Value,
    extent: VectorExtent,
) -> Result<VectorFile, StimulusError> {
    let mut all = CoveredVectors::new(entry, params, extent.operations, extent.seed)?;
    if extent.reset == ResetStyle::None {
        all = all.without_resets();
    }
    let mut vectors: Vec<Vector> = Vec::new();
    while let Some(vector) = all.next_vector()? {
        vectors.push(vector);
    }
    Ok(VectorFile { text: String::new(), vectors, operations: all.operations(), corners: all.seen() })
}

/// Returns the words of a cycle.
fn line(ports: &[Port], vector: &Vector, reset: ResetStyle) -> String {
    let mut words = Vec::new();
    if reset.port().is_some() {
        words.push(u8::from(reset_level(reset, vector.reset)).to_string());
    }
    let inputs = side(ports, Direction::Input).zip(&vector.inputs);
    words.extend(inputs.map(|(port, value)| hex(value, port.bits)));
    let outputs: Vec<&Port> = side(ports, Direction::Output).collect();
    let is_high = |values: &[Vec<u64>], name: &str| {
        let valid = outputs.iter().position(|port| port.name == name);
        valid.is_none_or(|valid| values[valid][0] & 1 != 0)
    };
    for (index, port) in outputs.iter().enumerate() {
        let meant = vector
            .outputs
            .as_ref()
            .filter(|values| port.valid.is_none_or(|valid| is_high(values, valid)))
            .map(|values| hex(&values[index], port.bits));
        words.push(meant.unwrap_or_else(|| "x".repeat(port.bits.div_ceil(4))));
    }
    words.join(" ")
}

/// Returns a value with all digits of its width.
fn hex(value: &[u64], bits: usize) -> String {
    let mut wide = Wide::default();
    wide.append(value, bits);
    wide.hex()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::Accumulator;

    fn text(operations: u64, reset: ResetStyle) -> String {
        let extent = VectorExtent { operations: Some(operations), seed: 3, reset };
        write(&Accumulator, &Value::Null, extent).unwrap().text
    }

    /// Returns the lines of the head, and the words of the cycles.
    fn parts(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
        let (head, cycles): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
        (head, cycles.into_iter().map(|line| line.split(' ').collect()).collect())
    }

    #[test]
    fn the_head_names_the_fields_and_each_cycle_has_them_with_all_digits() {
        let text = text(40, ResetStyle::AsyncLow);
        let (head, cycles) = parts(&text);
        let fields: Vec<&str> = head.iter().filter_map(|line| line.strip_prefix("# field ")).collect();
        assert_eq!(
            fields,
            [
                "reset rst_ni 1",
                "input enable_i 1",
                "input addend_i 100",
                "output sum_o 100",
                "output parity_o 1"
            ]
        );
        let digits = |words: &Vec<&str>| words.iter().map(|word| word.len()).collect::<Vec<_>>();
        assert!(cycles.iter().all(|words| digits(words) == [1, 1, 25, 25, 1]), "{text}");
    }

    #[test]
    fn outputs_in_reset_are_not_compared() {
        let text = text(200, ResetStyle::SyncHigh);
        let (_, cycles) = parts(&text);
        assert_eq!(cycles[0][0], "1", "the first cycle is in reset");
        assert!(cycles.iter().any(|words| words[0] == "0"));
        for words in cycles {
            assert_eq!(words[0] == "1", words[4] == "x" && words[3] == "x".repeat(25), "{words:?}");
        }
    }

    #[test]
    fn an_output_is_compared_while_its_valid_is_high() {
        let port = |name, bits, valid| Port { name, bits, direction: Direction::Output, doc: "", valid };
        let ports = [port("valid_o", 1, None), port("data_o", 6, Some("valid_o"))];
        let words = |valid| {
            let vector =
                Vector { reset: false, inputs: Vec::new(), outputs: Some(vec![vec![valid], vec![0x2a]]) };
            line(&ports, &vector, ResetStyle::None)
        };
        assert_eq!([words(1), words(0)], ["1 2a", "0 xx"]);
    }

    #[test]
    fn the_cycles_end_with_the_latency_behind_the_last_operation() {
        let text = text(40, ResetStyle::None);
        let (head, cycles) = parts(&text);
        assert!(!head.iter().any(|line| line.contains("field reset")));
        // Every cycle is an operation of the accumulator, whose latency is 1.
        assert_eq!(cycles.len(), 41);
    }
}
