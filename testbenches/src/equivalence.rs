//! Runs golden model, RTL and Verilator in lockstep with the same vectors. Compares every valid output port in every cycle.
use crate::emitted::Emitted;
use crate::literal::sized;
use crate::tool::ToolError;
use crate::vectors::{Vector, Vectors, side};
use crate::verilator::Verilated;
use selvedge_gen::ResetStyle;
use selvedge_hw::ports::first_difference;
use selvedge_hw::{BlockEntry, ClockedBits, Direction, ParamError, Port};
use serde_json::Value;
use std::path::Path;

/// The result of a run without differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EquivalenceReport {
    /// Number of clocks in which outputs were compared.
    pub vectors: u64,
    /// Number of clocks in reset.
    pub resets: u64,
    /// Coverage of every port, inputs first.
    pub coverage: Vec<PortCoverage>,
}

/// The bits of a value that were 0 and 1 during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BitCoverage {
    bits: usize,
    /// Bits that were 1.
    ones: Vec<u64>,
    /// Bits that were 0.
    zeros: Vec<u64>,
}

impl BitCoverage {
    pub(crate) fn new(bits: usize) -> Self {
        let none = vec![0; bits.div_ceil(64)];
        BitCoverage { bits, ones: none.clone(), zeros: none }
    }

    pub(crate) fn see(&mut self, words: &[u64]) {
        for (index, word) in words.iter().enumerate() {
            self.ones[index] |= word;
            self.zeros[index] |= !word;
        }
    }

    /// Returns the number of bits that were both 0 and 1.
    pub(crate) fn toggled(&self) -> usize {
        let seen = |bit: usize| self.ones[bit / 64] & self.zeros[bit / 64] & (1 << (bit % 64)) != 0;
        (0..self.bits).filter(|bit| seen(*bit)).count()
    }
}

/// The coverage of a port during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortCoverage {
    /// The port.
    pub port: Port,
    bits: BitCoverage,
}

impl PortCoverage {
    pub(crate) fn new(port: &Port) -> Self {
        PortCoverage { port: port.clone(), bits: BitCoverage::new(port.bits) }
    }

    pub(crate) fn see(&mut self, words: &[u64]) {
        self.bits.see(words);
    }

    /// Returns the number of the port's bits that were both 0 and 1.
    pub fn toggled(&self) -> usize {
        self.bits.toggled()
    }
}

/// The first difference from the golden model. The message is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{block}: {implementation} differs from the model in clock {clock} at port {port}: expected {expected}, got {got}"
)]
pub struct PortDifference {
    /// The block.
    pub block: &'static str,
    /// The implementation that differs: "RTL" or "Verilator".
    pub implementation: &'static str,
    /// Number of the clock. Clock 0 is the reset at the beginning.
    pub clock: u64,
    /// The first port that differs.
    pub port: &'static str,
    /// The model's value, as a Verilog literal.
    pub expected: String,
    /// The other value, as a Verilog literal.
    pub got: String,
}

/// A reason why equivalence was not shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EquivalenceError {
    /// The parameters are not valid.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// A program is missing or refused the Verilog.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// An implementation differs from the golden model.
    #[error(transparent)]
    Difference(#[from] PortDifference),
}

/// Runs `clocks` clocks of a block's stimulus through golden model, RTL and the Verilog under Verilator. Verilator compiles
/// in the folder `cache`; see [`Verilated::build`]. If the Verilog has no reset, all implementations run without resets.
///
/// # Errors
/// [`EquivalenceError`] with the first difference, or with the reason why the run is impossible.
pub fn equivalence(
    entry: &dyn BlockEntry,
    params: &Value,
    emitted: &Emitted,
    clocks: u64,
    seed: u64,
    cache: &Path,
) -> Result<EquivalenceReport, EquivalenceError> {
    let mut vectors = Vectors::new(entry, params, seed)?;
    if emitted.reset == ResetStyle::None {
        vectors = vectors.without_resets();
    }
    let mut rtl = entry.rtl(params)?;
    let mut verilated = Verilated::build(emitted, cache)?;
    let vectors = vectors.take(usize::try_from(clocks).unwrap_or(usize::MAX));
    Ok(lockstep(
        entry.name(),
        &emitted.ports,
        vectors,
        &mut [("RTL", &mut *rtl), ("Verilator", &mut verilated)],
    )?)
}

/// Runs the vectors through every implementation, and compares the outputs with the expected ones.
///
/// # Errors
/// The first [`PortDifference`].
pub fn lockstep(
    block: &'static str,
    ports: &[Port],
    vectors: impl IntoIterator<Item = Vector>,
    implementations: &mut [(&'static str, &mut dyn ClockedBits)],
) -> Result<EquivalenceReport, PortDifference> {
    let mut report =
        EquivalenceReport { vectors: 0, resets: 0, coverage: ports.iter().map(PortCoverage::new).collect() };
    for (clock, Vector { inputs, outputs, .. }) in (0..).zip(vectors) {
        let Some(expected) = outputs else {
            implementations.iter_mut().for_each(|(_, dut)| dut.reset());
            report.resets += 1;
            continue;
        };
        for (implementation, dut) in implementations.iter_mut() {
            let got = dut.step(&inputs);
            let outputs: Vec<&Port> = side(ports, Direction::Output).collect();
            if let Some(at) = first_difference(outputs.iter().copied(), &expected, &got) {
                let (port, expected, got) = (outputs[at], &expected[at], &got[at]);
                return Err(PortDifference {
                    block,
                    implementation,
                    clock,
                    port: port.name,
                    expected: sized(expected, port.bits),
                    got: sized(got, port.bits),
                });
            }
        }
        report.vectors += 1;
        for (coverage, value) in report.coverage.iter_mut().zip(inputs.iter().chain(&expected)) {
            coverage.see(value);
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::{Accumulator, cache, verilog};

    fn check(reset: ResetStyle, next: &str) -> Result<EquivalenceReport, EquivalenceError> {
        equivalence(&Accumulator, &Value::Null, &verilog(reset, next), 1000, 5, &cache())
    }

    #[test]
    fn equal_implementations_agree_and_every_bit_toggles() {
        let report = check(ResetStyle::AsyncLow, "sum_q + addend_i").unwrap();
        assert_eq!(report.vectors + report.resets, 1000);
        assert!(report.resets > 1);
        assert_eq!(report.coverage.len(), 4, "two inputs and two outputs");
        assert!(report.coverage.iter().all(|coverage| coverage.toggled() == coverage.port.bits));
    }

    #[test]
    fn verilog_without_reset_is_compared_without_resets() {
        let report = check(ResetStyle::None, "sum_q + addend_i").unwrap();
        assert_eq!((report.vectors, report.resets), (1000, 0));
    }

    #[test]
    fn a_bit_that_never_moves_does_not_count_as_covered() {
        let mut coverage = PortCoverage::new(&Accumulator.ports(&Value::Null).unwrap()[1]);
        coverage.see(&[0b01, 0]);
        coverage.see(&[0b11, 0]);
        assert_eq!(coverage.toggled(), 1);
    }

    #[test]
    fn the_first_difference_is_named() {
        let mut vectors = Vectors::new(&Accumulator, &Value::Null, 5).unwrap();
        let first = vectors.position(|vector| vector.inputs[0][0] == 1).unwrap() as u64;
        let error = check(ResetStyle::AsyncLow, "(sum_q + addend_i) ^ 100'd4").unwrap_err();
        let EquivalenceError::Difference(difference) = error else { panic!("{error}") };
        assert_eq!(
            (difference.implementation, difference.clock, difference.port),
            ("Verilator", first + 1, "sum_o")
        );
        assert_ne!(difference.expected, difference.got);
    }
}
