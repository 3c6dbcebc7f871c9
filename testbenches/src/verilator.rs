//! Emitted Verilog compiled by Verilator and stepped in this process by the values of its ports.
use crate::emitted::Emitted;
use crate::library::{Circuit, Loaded, TESTS, Tools};
use crate::tool::ToolError;
use selvedge_hw::{ClockedBits, CompiledBlock, Port, PortBits};
use std::path::Path;
use std::sync::Arc;

/// A block's Verilog, compiled and loaded. Steps like a golden model.
///
/// Registers that neither reset nor an initial value reaches begin with random bits, the same in every run.
pub struct Verilated {
    circuit: Circuit,
    ports: Vec<Port>,
}

impl Verilated {
    /// Compiles the Verilog and loads the result. `cache` is a folder that keeps what was compiled: the same Verilog with
    /// the same ports and the same Verilator is compiled once. It may be shared by threads and processes.
    ///
    /// # Errors
    /// When Verilator or g++ is missing or refuses the Verilog, or the folder cannot be used.
    pub fn build(emitted: &Emitted, cache: &Path) -> Result<Self, ToolError> {
        let path = Tools::new(cache, TESTS)?.compiled(emitted, || ())?;
        Ok(Self::of(Circuit::new(Arc::new(Loaded::open(&path)?)), emitted.ports.clone()))
    }

    /// Returns a circuit whose ports are `ports`, to be stepped by their values.
    pub(crate) fn of(circuit: Circuit, ports: Vec<Port>) -> Self {
        Verilated { circuit, ports }
    }
}

impl ClockedBits for Verilated {
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits {
        self.circuit.step_ports(inputs, &self.ports)
    }

    /// Without a reset port: the block is powered up anew.
    fn reset(&mut self) {
        self.circuit.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator;
    use selvedge_gen::ResetStyle;

    fn build(reset: ResetStyle) -> Verilated {
        Verilated::build(&accumulator::verilog(reset, "sum_q + addend_i"), &accumulator::cache()).unwrap()
    }

    #[test]
    fn values_wider_than_a_word_go_in_and_out() {
        let mut dut = build(ResetStyle::AsyncLow);
        dut.reset();
        let addend = vec![u64::MAX, 0x3_0000_0001];
        assert_eq!(dut.step(&[vec![1], addend.clone()]), vec![vec![0, 0], vec![1]]);
        assert_eq!(dut.step(&[vec![1], vec![1, 0]])[0], addend);
        assert_eq!(dut.step(&[vec![0], vec![0, 0]])[0], vec![0, 0x3_0000_0002]);
    }

    #[test]
    fn each_reset_style_leads_back_to_the_reset_state() {
        for reset in [ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None] {
            let mut dut = build(reset);
            dut.reset();
            dut.step(&[vec![1], vec![7, 0]]);
            assert_eq!(dut.step(&[vec![0], vec![0, 0]])[0], vec![7, 0], "{reset:?}");
            dut.reset();
            assert_eq!(dut.step(&[vec![0], vec![0, 0]])[0], vec![0, 0], "{reset:?}");
        }
    }

    #[test]
    #[should_panic(expected = "in whole words")]
    fn a_value_of_too_few_words_is_refused() {
        build(ResetStyle::AsyncLow).step(&[vec![1], vec![1]]);
    }
}
