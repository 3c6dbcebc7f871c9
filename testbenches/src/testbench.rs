//! Writes the self-checking testbench: Verilog-2005 around a block, with stimulus and expected outputs in a vectors file.
//!
//! ```text
//! clk_i     \____/----\____/----\____
//! inputs    < 0 ><  vector 1  ><  vector 2     reset and inputs change as the clock rises
//! check         ^         ^                    outputs are compared just before it rises
//! ```
//!
//! Reset and inputs change together with the block's registers, as if registers drove them. All logic then settles once per
//! clock. If they changed at the falling edge, a simulator would evaluate the logic twice, and outputs of gates could change
//! twice.
//!
//! A line of the vectors file is one clock in hexadecimal: `{reset, inputs, expected outputs}`. Ports are in order, with the
//! first one in the highest bits. In each clock, the testbench resets the block or checks every output. An output that
//! another output qualifies is checked only while the expected value of the other one is 1. If all clocks pass, the
//! testbench prints `PASS <n> vectors`. At the first difference, it prints `FAIL` with clock, port and both values and
//! stops: `vvp -N` and Verilator then return a non-zero exit status.
use crate::literal::Wide;
use crate::vectors::{Vector, Vectors, side};
use selvedge_gen::{ResetStyle, TEST_ENABLE};
use selvedge_hw::{BlockEntry, Direction, ParamError, Port};
use serde_json::Value;
use std::fmt::Write;

/// A testbench and its vectors.
#[derive(Clone, Debug)]
pub struct Testbench {
    /// Name of the block; the testbench's module is `<block>_tb`.
    pub block: String,
    /// Text of `<block>_tb.v`.
    pub verilog: String,
    /// Text of `<block>_tb.hex`, which the testbench reads from the folder that it runs in.
    pub vectors: String,
}

impl Testbench {
    /// Returns the name of the testbench's module.
    pub fn module(&self) -> String {
        format!("{}_tb", self.block)
    }

    /// Returns the testbench for a block with clock gates, whose test enable has this level.
    ///
    /// # Panics
    /// If the testbench does not instantiate the block as `dut`, which is a bug of this module.
    #[must_use]
    pub fn with_test_enable(mut self, level: bool) -> Self {
        let start = format!("  {} dut (\n", self.block);
        assert!(self.verilog.contains(&start), "{} has no dut", self.module());
        let pin = format!("{start}    .{TEST_ENABLE}(1'b{}),\n", u8::from(level));
        self.verilog = self.verilog.replacen(&start, &pin, 1);
        self
    }

    /// Returns the name of the file for [`Self::verilog`].
    pub fn verilog_file(&self) -> String {
        format!("{}_tb.v", self.block)
    }

    /// Returns the name of the file for [`Self::vectors`].
    pub fn vectors_file(&self) -> String {
        format!("{}_tb.hex", self.block)
    }
}

/// Writes the testbench of a block for Verilog with the given reset. It contains the first `cycles` clocks (at least one) of
/// the block's stimulus, and the first clock is in reset. For Verilog without reset, clocks in reset are omitted.
///
/// # Errors
/// [`ParamError`] if the parameters are invalid.
pub fn write(
    entry: &dyn BlockEntry,
    params: &Value,
    cycles: u64,
    seed: u64,
    reset: ResetStyle,
) -> Result<Testbench, ParamError> {
    write_named(entry.name(), entry, params, cycles, seed, reset)
}

/// Writes the testbench of [`write()`] for a module of another name, such as a block with other parameters than the defaults.
///
/// # Errors
/// [`ParamError`] if the parameters are invalid.
pub fn write_named(
    module: &str,
    entry: &dyn BlockEntry,
    params: &Value,
    cycles: u64,
    seed: u64,
    reset: ResetStyle,
) -> Result<Testbench, ParamError> {
    let mut vectors = Vectors::new(entry, params, seed)?;
    if reset == ResetStyle::None {
        vectors = vectors.without_resets();
    }
    let cycles = cycles.max(1);
    let vectors: Vec<Vector> = vectors.take(usize::try_from(cycles).unwrap_or(usize::MAX)).collect();
    let source = format!("its stimulus, seed {seed}");
    of_ports(module, entry, params, &vectors, &source, reset, &|_| true)
}

/// Writes the testbench for given vectors. `source` describes their origin in one line.
///
/// # Errors
/// [`ParamError`] if the parameters are invalid.
pub fn of_vectors(
    entry: &dyn BlockEntry,
    params: &Value,
    vectors: &[Vector],
    source: &str,
    reset: ResetStyle,
) -> Result<Testbench, ParamError> {
    of_ports(entry.name(), entry, params, vectors, source, reset, &|_| true)
}

/// Writes the testbench of [`write()`] that checks no outputs, for Verilog with assertions.
///
/// # Errors
/// [`ParamError`] if the parameters are invalid.
pub fn write_stimulus(
    entry: &dyn BlockEntry,
    params: &Value,
    cycles: usize,
    seed: u64,
) -> Result<Testbench, ParamError> {
    let vectors: Vec<Vector> = Vectors::new(entry, params, seed)?.take(cycles.max(1)).collect();
    let source = format!("its stimulus, seed {seed}; no output is checked");
    of_ports(entry.name(), entry, params, &vectors, &source, ResetStyle::Control, &|_| false)
}

/// Writes the testbench that checks the outputs for which `is_checked` returns `true`.
fn of_ports(
    module: &str,
    entry: &dyn BlockEntry,
    params: &Value,
    vectors: &[Vector],
    source: &str,
    reset: ResetStyle,
    is_checked: &dyn Fn(&Port) -> bool,
) -> Result<Testbench, ParamError> {
    let ports = entry.ports(params)?;
    let text = vectors.iter().map(|vector| line(&ports, vector) + "\n").collect();
    Ok(Testbench {
        block: module.to_string(),
        verilog: verilog(module, params, &ports, vectors.len() as u64, source, reset, is_checked),
        vectors: text,
    })
}

/// Returns a line of the vectors file.
fn line(ports: &[Port], vector: &Vector) -> String {
    let mut wide = Wide::default();
    // `Wide` takes the lowest bits first, so the loops run in reverse order.
    let outputs: Vec<&Port> = side(ports, Direction::Output).collect();
    for (index, port) in outputs.iter().enumerate().rev() {
        match &vector.outputs {
            Some(values) => wide.append(&values[index], port.bits),
            None => wide.append(&vec![0; port.words()], port.bits),
        }
    }
    let inputs: Vec<&Port> = side(ports, Direction::Input).collect();
    for (port, value) in inputs.iter().zip(&vector.inputs).rev() {
        wide.append(value, port.bits);
    }
    wide.append(&[u64::from(vector.reset)], 1);
    wide.hex()
}

/// Writes a declaration: kind, range and name.
fn declare(text: &mut String, kind: &str, bits: usize, name: &str) {
    let range = if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) };
    writeln!(text, "  {kind} {range}{name};").expect("writing to a string cannot fail");
}

fn verilog(
    block: &str,
    params: &Value,
    ports: &[Port],
    cycles: u64,
    source: &str,
    reset: ResetStyle,
    is_checked: &dyn Fn(&Port) -> bool,
) -> String {
    let width = 1 + ports.iter().map(|port| port.bits).sum::<usize>();
    let inputs = || side(ports, Direction::Input);
    let outputs = || side(ports, Direction::Output);

    let mut declarations = String::new();
    inputs().for_each(|port| declare(&mut declarations, "reg ", port.bits, port.name));
    for port in outputs() {
        declare(&mut declarations, "wire", port.bits, port.name);
        declare(&mut declarations, "reg ", port.bits, &format!("expected_{}", port.name));
    }
    let (reset_wire, reset_pin) = match reset {
        ResetStyle::Control | ResetStyle::AsyncLow => ("  wire rst_ni = ~reset;\n", Some("rst_ni")),
        ResetStyle::SyncHigh => ("  wire rst_i = reset;\n", Some("rst_i")),
        ResetStyle::None => ("", None),
    };
    let pins = std::iter::once("clk_i").chain(reset_pin).chain(ports.iter().map(|port| port.name));
    let pins: Vec<String> = pins.map(|pin| format!("    .{pin}({pin})")).collect();
    let fields = std::iter::once("reset".to_string())
        .chain(inputs().map(|port| port.name.to_string()))
        .chain(outputs().map(|port| format!("expected_{}", port.name)));
    let fields: Vec<String> = fields.collect();
    let listed = |indent: usize| {
        let lines: Vec<String> = fields.iter().map(|field| format!("{:indent$}{field}", "")).collect();
        lines.join(",\n")
    };
    let mut checks = String::new();
    for Port { name, valid, .. } in outputs().filter(|port| is_checked(port)) {
        let when = valid.map_or(String::new(), |valid| format!("expected_{valid} && "));
        writeln!(
            checks,
            "        if ({when}{name} !== expected_{name}) begin
          $display(\"FAIL {block} at clock %0d: {name} is %h, expected %h\", clock, {name}, expected_{name});
          $stop;
        end"
        )
        .expect("writing to a string cannot fail");
    }
    format!(
        "// Self-checking testbench of {block}: {cycles} clocks of {source}.
// Parameters: {params}
// Reads {block}_tb.hex from the current folder; a line is {{reset, inputs, expected outputs}} of one clock.
`timescale 1ns / 1ps
module {block}_tb;
  localparam CLOCKS = {cycles};
  localparam WIDTH = {width};

  reg [WIDTH-1:0] vectors [0:CLOCKS-1];
  integer clock;
  reg reset;
  reg clk_i;
{reset_wire}{declarations}
  {block} dut (
{pins}
  );

  initial begin
    $readmemh(\"{block}_tb.hex\", vectors);
    // Unknown vectors would agree with unknown outputs.
    if ((^vectors[0] === 1'bx) || (^vectors[CLOCKS-1] === 1'bx)) begin
      $display(\"FAIL {block}: {block}_tb.hex is missing or short\");
      $stop;
    end
    clk_i = 1'b0;
    {{
{first}
    }} = vectors[0];
    for (clock = 0; clock < CLOCKS; clock = clock + 1) begin
      #4;
      // Outputs in reset are not looked at.
      if (reset !== 1'b1) begin
{checks}      end
      #1 clk_i = 1'b1;
      if (clock + 1 < CLOCKS) begin
        {{
{next}
        }} <= vectors[clock+1];
      end
      #5 clk_i = 1'b0;
    end
    $display(\"PASS %0d vectors\", CLOCKS);
    $finish;
  end
endmodule
",
        pins = pins.join(",\n"),
        first = listed(6),
        next = listed(10),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::Accumulator;

    #[test]
    fn a_line_holds_reset_inputs_and_outputs_from_the_highest_bit_down() {
        let ports = Accumulator.ports(&Value::Null).unwrap();
        let vector = Vector {
            reset: false,
            inputs: vec![vec![1], vec![5, 0]],
            outputs: Some(vec![vec![2, 0], vec![1]]),
        };
        // {1'b0, 1'b1, 100'd5, 100'd2, 1'b1} is 203 bits.
        let digits = line(&ports, &vector);
        assert_eq!(digits.len(), 51);
        let low = u128::from_str_radix(&digits[26..], 16).unwrap();
        let high = u128::from_str_radix(&digits[..26], 16).unwrap();
        assert_eq!(low, 2 << 1 | 1);
        assert_eq!(high, (1 << 100 | 5) << 1);
    }

    #[test]
    fn there_is_a_line_per_clock_and_one_clock_at_least() {
        let lines =
            |cycles| write(&Accumulator, &Value::Null, cycles, 3, ResetStyle::AsyncLow).unwrap().vectors;
        assert_eq!(lines(40).lines().count(), 40);
        assert_eq!(lines(0).lines().count(), 1);
    }
}
