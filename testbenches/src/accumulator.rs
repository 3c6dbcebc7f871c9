//! A small block for the tests of this crate: adds up a wide input, as a golden model and as hand-written Verilog.
use crate::emitted::{Emitted, VerilogFile};
use rust_hdl_core::prelude::Block;
use selvedge_gen::{Language, ResetStyle};
use selvedge_hw::{
    BlockEntry, ClockedBits, Corner, CornersBits, Direction, Facts, ParamError, ParamSpec, Port, PortBits,
    Prng, StatedStorage, StimulusBits,
};
use serde_json::Value;
use std::path::PathBuf;

/// Adds `addend_i` to a 100-bit sum in each clock with `enable_i`; `parity_o` is combinational.
pub struct Accumulator;

const WIDTH: usize = 100;
const MASK: u128 = u128::MAX >> (128 - WIDTH);

#[derive(Default)]
struct Model {
    sum: u128,
}

fn join(words: &[u64]) -> u128 {
    u128::from(words[0]) | u128::from(words[1]) << 64
}

fn split(value: u128) -> Vec<u64> {
    vec![value as u64, (value >> 64) as u64]
}

impl ClockedBits for Model {
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits {
        let (enable, addend) = (inputs[0][0] != 0, join(&inputs[1]));
        let outputs = vec![split(self.sum), vec![u64::from(addend.count_ones() & 1)]];
        if enable {
            self.sum = self.sum.wrapping_add(addend) & MASK;
        }
        outputs
    }
    fn reset(&mut self) {
        self.sum = 0;
    }
}

impl BlockEntry for Accumulator {
    fn name(&self) -> &'static str {
        "accumulator"
    }
    fn summary(&self) -> &'static str {
        "adds up"
    }
    fn source(&self) -> &'static str {
        "none"
    }
    fn claim(&self) -> Option<StatedStorage> {
        None
    }
    fn operations(&self) -> u64 {
        1000
    }
    fn schema(&self) -> &'static [ParamSpec] {
        &[]
    }
    fn defaults(&self) -> Value {
        Value::Null
    }
    fn params(&self, _: &[(String, String)]) -> Result<Value, ParamError> {
        Ok(Value::Null)
    }
    fn check(&self, _: &Value) -> Result<Value, ParamError> {
        Ok(Value::Null)
    }
    fn ports(&self, _: &Value) -> Result<Vec<Port>, ParamError> {
        use Direction::{Input, Output};
        let port = |name, bits, direction| Port { name, bits, direction, doc: "", valid: None };
        Ok(vec![
            port("enable_i", 1, Input),
            port("addend_i", WIDTH, Input),
            port("sum_o", WIDTH, Output),
            port("parity_o", 1, Output),
        ])
    }
    fn facts(&self, _: &Value) -> Result<Facts, ParamError> {
        Ok(Facts { storage: Vec::new(), latency: 1, interval: 1 })
    }
    fn model(&self, _: &Value) -> Result<Box<dyn ClockedBits>, ParamError> {
        Ok(Box::new(Model::default()))
    }
    fn rtl(&self, _: &Value) -> Result<Box<dyn ClockedBits>, ParamError> {
        Ok(Box::new(Model::default()))
    }
    fn elaborate(&self, _: &Value) -> Result<Box<dyn Block>, ParamError> {
        let problem = "its Verilog is written by hand".to_owned();
        Err(ParamError::Conflict { block: "accumulator", problem })
    }
    fn stimulus(&self, _: &Value, seed: u64) -> Result<Box<dyn Iterator<Item = StimulusBits>>, ParamError> {
        let mut prng = Prng::new(seed);
        Ok(Box::new(std::iter::from_fn(move || {
            let reset = prng.below(50) == 0;
            let addend = u128::from(prng.bits()) << 64 | u128::from(prng.bits());
            let inputs = vec![vec![prng.below(2)], split(addend & MASK)];
            let inputs = if reset { vec![vec![0], vec![0, 0]] } else { inputs };
            Some(StimulusBits { inputs, reset })
        })))
    }
    fn corners(&self, _: &Value) -> Result<Box<dyn CornersBits>, ParamError> {
        Ok(Box::new(CycleCorners(0)))
    }
}

/// Returns the accumulator as Verilog. `next` is the next value of the register when it is enabled.
pub fn verilog(reset: ResetStyle, next: &str) -> Emitted {
    let (port, edge, guard) = match reset {
        ResetStyle::Control | ResetStyle::AsyncLow => {
            ("input wire rst_ni,", " or negedge rst_ni", "if (!rst_ni) sum_q <= 100'd0; else ")
        }
        ResetStyle::SyncHigh => ("input wire rst_i,", "", "if (rst_i) sum_q <= 100'd0; else "),
        ResetStyle::None => ("", "", ""),
    };
    let initial = if reset == ResetStyle::None { "initial sum_q = 100'd0;" } else { "" };
    let text = format!(
        "module accumulator(
  input wire clk_i, {port}
  input wire enable_i,
  input wire [99:0] addend_i,
  output wire [99:0] sum_o,
  output wire parity_o
);
  reg [99:0] sum_q;
  {initial}
  always @(posedge clk_i{edge}) {guard}if (enable_i) sum_q <= {next};
  assign sum_o = sum_q;
  assign parity_o = ^addend_i;
endmodule
"
    );
    let ports = Accumulator.ports(&Value::Null).expect("it has no parameters");
    Emitted {
        name: "accumulator".into(),
        ports,
        reset,
        sources: vec![VerilogFile { module: "accumulator".into(), language: Language::Verilog, text }],
    }
}

/// Returns the folder for files that Verilator makes in these tests, next to the test program.
pub fn cache() -> PathBuf {
    let program = std::env::current_exe().expect("the running program has a path");
    program.with_file_name("verilated")
}

/// Counts cycles; has no corner cases.
struct CycleCorners(u64);

impl CornersBits for CycleCorners {
    fn reset(&mut self) {}
    fn clock(&mut self, _: &[Vec<u64>], _: &[Vec<u64>]) {
        self.0 += 1;
    }
    fn operations(&self) -> u64 {
        self.0
    }
    fn seen(&self) -> Vec<Corner> {
        Vec::new()
    }
}
