//! Compiles emitted Verilog with Verilator and steps it in this process by the values of its ports.
use crate::emitted::Emitted;
use crate::library::{Circuit, LoadedLibrary, TESTS, Tools};
use crate::tool::ToolError;
use crate::vectors::side;
use selvedge_hw::{ClockedBits, CompiledBlock, Direction, Ended, Port, PortBits};
use std::path::Path;
use std::sync::Arc;

/// A block's compiled and loaded Verilog. It steps like a golden model.
///
/// Registers with neither a reset nor an initial value start with random bits, the same in every run.
pub struct Verilated {
    circuit: Circuit,
    ports: Vec<Port>,
    ended: Option<Ended>,
}

impl Verilated {
    /// Compiles the Verilog and loads the result. The folder `cache` keeps compiled libraries: the same Verilog with the
    /// same ports and the same Verilator is compiled once. Threads and processes may share the folder.
    ///
    /// # Errors
    /// [`ToolError`] if Verilator or g++ is missing or refuses the Verilog, or if the folder cannot be used.
    pub fn build(emitted: &Emitted, cache: &Path) -> Result<Self, ToolError> {
        let path = Tools::new(cache, TESTS)?.compiled(emitted, || ())?;
        let circuit = Circuit::new(Arc::new(LoadedLibrary::open(&path)?), false).map_err(ToolError::Ended)?;
        Ok(Self::of(circuit, emitted.ports.clone()))
    }

    /// Returns a circuit with the ports `ports`, to be stepped by their values.
    pub(crate) fn of(circuit: Circuit, ports: Vec<Port>) -> Self {
        Verilated { circuit, ports, ended: None }
    }

    /// Returns the reason why the Verilog has ended, if it has. All outputs are zero from then on.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }
}

impl ClockedBits for Verilated {
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits {
        self.circuit.step_ports(inputs, &self.ports).unwrap_or_else(|why| {
            self.ended = Some(why);
            side(&self.ports, Direction::Output).map(|port| vec![0; port.words()]).collect()
        })
    }

    /// Resets the block. Without a reset port, repeats the power-up.
    fn reset(&mut self) {
        if let Err(why) = self.circuit.reset() {
            self.ended = Some(why);
        }
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
