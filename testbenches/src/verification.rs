//! Verification of a block's forms: compares RTL, emitted Verilog and custom Verilog with the golden model in every cycle, and
//! measures the coverage of the stimulus.
use crate::covered::{CoveredVectors, StimulusError};
use crate::equivalence::{BitCoverage, PortCoverage};
use crate::vectors::{Vector, side};
use crate::verilator::Verilated;
use selvedge_hw::ports::first_difference;
use selvedge_hw::rtl::layout::SignalLayout;
use selvedge_hw::rtl::registers::{BlockRegisters, Register};
use selvedge_hw::wave::{CycleSample, Trace};
use selvedge_hw::{BlockEntry, Clock, ClockedBits, Corner, Direction, Ended, Port, PortBits};
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;

/// Max cycles of the waveform before a difference, and after it.
const AROUND: [usize; 2] = [64, 16];

/// A form of a block that is compared with the golden model.
pub struct VerifiedForm {
    /// The form in messages: "RTL", for example.
    pub name: String,
    /// Its scope in waveforms: "rtl", for example.
    pub scope: &'static str,
    /// The circuit in its reset state.
    pub circuit: FormCircuit,
}

/// The circuit of a form.
pub enum FormCircuit {
    /// RTL, which never ends.
    Rtl(Box<dyn ClockedBits>),
    /// Compiled Verilog.
    Verilog(Verilated),
}

impl FormCircuit {
    /// Clocks once.
    ///
    /// # Errors
    /// [`Ended`] if Verilog ends.
    fn step(&mut self, inputs: &[Vec<u64>]) -> Result<PortBits, Ended> {
        match self {
            FormCircuit::Rtl(rtl) => Ok(rtl.step(inputs)),
            FormCircuit::Verilog(verilog) => {
                let outputs = verilog.step(inputs);
                verilog.ended().map_or(Ok(outputs), |why| Err(why.clone()))
            }
        }
    }

    fn rtl(&self) -> Option<&dyn ClockedBits> {
        match self {
            FormCircuit::Rtl(rtl) => Some(&**rtl),
            FormCircuit::Verilog(_) => None,
        }
    }

    fn reset(&mut self) {
        match self {
            FormCircuit::Rtl(rtl) => rtl.reset(),
            FormCircuit::Verilog(verilog) => verilog.reset(),
        }
    }
}

/// The result of a verification: the coverage, and the first difference from the golden model.
#[derive(Debug)]
pub struct Verified {
    /// Number of cycles in which outputs were compared.
    pub cycles: u64,
    /// Number of cycles in reset.
    pub resets: u64,
    /// Number of operations.
    pub operations: u64,
    /// All corner cases of the block with the number of times that each was reached.
    pub corners: Vec<Corner>,
    /// Coverage of every port, inputs first.
    pub ports: Vec<PortCoverage>,
    /// Coverage of every register of the RTL; empty without RTL.
    pub registers: Vec<RegisterCoverage>,
    /// The first difference. The coverage then ends before its cycle.
    pub difference: Option<FormDifference>,
}

/// The coverage of a register during a run, reset included.
#[derive(Debug)]
pub struct RegisterCoverage {
    /// The register.
    pub register: Register,
    bits: BitCoverage,
    /// Values of a register whose values have names.
    values: BTreeSet<u64>,
}

impl RegisterCoverage {
    fn new(register: &Register) -> Self {
        let bits = BitCoverage::new(register.bits);
        RegisterCoverage { register: register.clone(), bits, values: BTreeSet::new() }
    }

    fn see(&mut self, words: &[u64]) {
        self.bits.see(words);
        if !self.register.values.is_empty() {
            self.values.insert(words[0]);
        }
    }

    /// Returns the number of bits that were both 0 and 1.
    pub fn toggled(&self) -> usize {
        self.bits.toggled()
    }

    /// Returns the named states, each with whether it was reached. Registers without names of values have none.
    pub fn states(&self) -> impl Iterator<Item = (&str, bool)> {
        self.register.values.iter().map(|(value, name)| (name.as_str(), self.values.contains(value)))
    }
}

/// Reads the registers of the RTL among the forms.
struct RegisterProbe {
    /// The form, by its index.
    form: usize,
    registers: BlockRegisters,
    coverage: Vec<RegisterCoverage>,
}

impl RegisterProbe {
    /// Returns the probe, or `None` if no form is RTL.
    fn new(forms: &[VerifiedForm]) -> Option<Self> {
        let found = forms.iter().enumerate().find_map(|(form, one)| Some((form, one.circuit.rtl()?)));
        let (form, rtl) = found?;
        let registers = BlockRegisters::of(rtl.block()?);
        let coverage = registers.list().iter().map(RegisterCoverage::new).collect();
        Some(RegisterProbe { form, registers, coverage })
    }

    fn see(&mut self, forms: &[VerifiedForm]) {
        let Some(rtl) = forms[self.form].circuit.rtl().and_then(ClockedBits::block) else { return };
        let values = self.registers.read(rtl);
        self.coverage.iter_mut().zip(&values).for_each(|(coverage, words)| coverage.see(words));
    }
}

/// The first difference of a form from the golden model. Displays as a phrase.
#[derive(Clone, Debug)]
pub struct FormDifference {
    /// The form.
    pub form: String,
    /// The cycle. Cycle 0 is the reset at the beginning.
    pub cycle: u64,
    /// The difference.
    pub what: Mismatch,
    /// The cycles around the difference: a trace of the model, and one of each form.
    pub traces: Vec<Trace>,
}

/// A difference in one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A port has another value.
    Port {
        /// The first port that differs.
        port: &'static str,
        /// The model's value, in hexadecimal.
        expected: String,
        /// The form's value, in hexadecimal.
        got: String,
    },
    /// The Verilog ends.
    Ended(Ended),
}

impl fmt::Display for FormDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FormDifference { form, cycle, what, .. } = self;
        match what {
            Mismatch::Port { port, expected, got } => write!(
                f,
                "model and {form} differ in cycle {cycle} at port {port}: model {expected}, {form} {got}"
            ),
            Mismatch::Ended(why) => write!(f, "{form} ends in cycle {cycle}: {why}"),
        }
    }
}

/// Runs the vectors through every form, until they end or a form differs from the golden model.
///
/// # Errors
/// [`StimulusError`] if the parameters are invalid or the stimulus makes no progress.
pub fn verify(
    entry: &dyn BlockEntry,
    params: &Value,
    vectors: &mut CoveredVectors,
    forms: &mut [VerifiedForm],
) -> Result<Verified, StimulusError> {
    let ports = entry.ports(params)?;
    let mut coverage: Vec<PortCoverage> = ports.iter().map(PortCoverage::new).collect();
    let mut probe = RegisterProbe::new(forms);
    let mut history = CycleHistory::default();
    let (mut cycles, mut resets) = (0, 0);
    let mut difference = None;
    for cycle in 0.. {
        let Some(vector) = vectors.next_vector()? else { break };
        let found = step(&ports, &vector, forms, &mut history, cycle);
        if let Some((form, what)) = found {
            for later in 1..=AROUND[1] as u64 {
                step(&ports, &vectors.beyond(), forms, &mut history, cycle + later);
            }
            let traces = history.traces(entry, params, &ports, forms);
            difference = Some(FormDifference { form: forms[form].name.clone(), cycle, what, traces });
            break;
        }
        if let Some(probe) = &mut probe {
            probe.see(forms);
        }
        match &vector.outputs {
            None => resets += 1,
            Some(outputs) => {
                cycles += 1;
                for (coverage, value) in coverage.iter_mut().zip(vector.inputs.iter().chain(outputs)) {
                    coverage.see(value);
                }
            }
        }
    }
    let (operations, corners) = (vectors.operations(), vectors.seen());
    let registers = probe.map(|probe| probe.coverage).unwrap_or_default();
    Ok(Verified { cycles, resets, operations, corners, ports: coverage, registers, difference })
}

/// Clocks every form once. Returns the first form that differs, by its index, and the difference.
fn step(
    ports: &[Port],
    vector: &Vector,
    forms: &mut [VerifiedForm],
    history: &mut CycleHistory,
    cycle: u64,
) -> Option<(usize, Mismatch)> {
    let outputs: Vec<&Port> = side(ports, Direction::Output).collect();
    let zeros = || outputs.iter().map(|port| vec![0; port.words()]).collect::<PortBits>();
    let expected = vector.outputs.clone().unwrap_or_else(zeros);
    let mut seen = vec![expected.clone()];
    let mut found = None;
    for (at, form) in forms.iter_mut().enumerate() {
        if vector.reset {
            form.circuit.reset();
            seen.push(zeros());
            continue;
        }
        let mismatch = match form.circuit.step(&vector.inputs) {
            Err(why) => {
                seen.push(zeros());
                Some(Mismatch::Ended(why))
            }
            Ok(got) => {
                let mismatch = Mismatch::between(&outputs, &expected, &got);
                seen.push(got);
                mismatch
            }
        };
        found = found.or(mismatch.map(|mismatch| (at, mismatch)));
    }
    history.push(CyclePorts { cycle, reset: vector.reset, inputs: vector.inputs.clone(), outputs: seen });
    found
}

/// Returns the first cycle in which a circuit differs from the vectors.
pub fn first_mismatch(
    ports: &[Port],
    vectors: &[Vector],
    circuit: &mut Verilated,
) -> Option<(u64, Mismatch)> {
    let outputs: Vec<&Port> = side(ports, Direction::Output).collect();
    for (cycle, vector) in (0..).zip(vectors) {
        let Some(expected) = &vector.outputs else {
            circuit.reset();
            continue;
        };
        let got = circuit.step(&vector.inputs);
        if let Some(why) = circuit.ended() {
            return Some((cycle, Mismatch::Ended(why.clone())));
        }
        if let Some(mismatch) = Mismatch::between(&outputs, expected, &got) {
            return Some((cycle, mismatch));
        }
    }
    None
}

impl Mismatch {
    /// Returns the first output with another value than the expected one.
    fn between(outputs: &[&Port], expected: &[Vec<u64>], got: &[Vec<u64>]) -> Option<Self> {
        let at = first_difference(outputs.iter().copied(), expected, got)?;
        Some(Mismatch::Port { port: outputs[at].name, expected: hex(&expected[at]), got: hex(&got[at]) })
    }
}

/// Returns a value in hexadecimal without leading zeros.
fn hex(words: &[u64]) -> String {
    let digits: String = words.iter().rev().map(|word| format!("{word:016x}")).collect();
    format!("0x{}", Some(digits.trim_start_matches('0')).filter(|rest| !rest.is_empty()).unwrap_or("0"))
}

/// The ports of the model and of all forms in one cycle.
struct CyclePorts {
    cycle: u64,
    reset: bool,
    inputs: PortBits,
    /// Outputs of the model, then of each form.
    outputs: Vec<PortBits>,
}

/// The last cycles.
#[derive(Default)]
struct CycleHistory(VecDeque<CyclePorts>);

impl CycleHistory {
    fn push(&mut self, cycle: CyclePorts) {
        if self.0.len() > AROUND[0] + AROUND[1] {
            self.0.pop_front();
        }
        self.0.push_back(cycle);
    }

    /// Returns a trace of the model, and one of each form.
    fn traces(
        &self,
        entry: &dyn BlockEntry,
        params: &Value,
        ports: &[Port],
        forms: &[VerifiedForm],
    ) -> Vec<Trace> {
        let fields =
            entry.elaborate(params).map(|block| SignalLayout::of_ports(&*block, ports)).unwrap_or_default();
        let scopes = std::iter::once("model").chain(forms.iter().map(|form| form.scope));
        let trace = |(at, scope): (usize, &str)| Trace {
            instance: format!("{}.{scope}", entry.name()),
            clock: Clock::default(),
            is_gated: false,
            ports: ports.to_vec(),
            names: entry.value_names(),
            events: entry.events(),
            fields: fields.clone(),
            registers: Vec::new(),
            samples: self.0.iter().map(|cycle| cycle.sample(at)).collect(),
        };
        scopes.enumerate().map(trace).collect()
    }
}

impl CyclePorts {
    fn sample(&self, form: usize) -> CycleSample {
        let values = self.inputs.iter().chain(&self.outputs[form]).cloned().collect();
        CycleSample { cycle: self.cycle, reset: self.reset, values, registers: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::{Accumulator, cache, verilog};
    use selvedge_gen::ResetStyle;

    /// Verifies the accumulator's Verilog over 300 operations. Each operation takes one cycle.
    fn verified(next: &str) -> Verified {
        let circuit = Verilated::build(&verilog(ResetStyle::AsyncLow, next), &cache()).unwrap();
        let rtl = FormCircuit::Rtl(Accumulator.rtl(&Value::Null).unwrap());
        let mut forms = [
            VerifiedForm { name: "RTL".into(), scope: "rtl", circuit: rtl },
            VerifiedForm { name: "my.v".into(), scope: "custom", circuit: FormCircuit::Verilog(circuit) },
        ];
        let mut vectors = CoveredVectors::new(&Accumulator, &Value::Null, Some(300), 5).unwrap();
        verify(&Accumulator, &Value::Null, &mut vectors, &mut forms).unwrap()
    }

    #[test]
    fn equal_forms_have_no_difference_and_the_coverage_is_that_of_the_vectors() {
        let verified = verified("sum_q + addend_i");
        assert!(verified.difference.is_none());
        // Counted by hand: the same vectors, cycle by cycle.
        let mut vectors = CoveredVectors::new(&Accumulator, &Value::Null, Some(300), 5).unwrap();
        let (mut cycles, mut resets, mut ones, mut zeros) = (0, 0, 0u128, 0u128);
        while let Some(vector) = vectors.next_vector().unwrap() {
            let Some(outputs) = vector.outputs else {
                resets += 1;
                continue;
            };
            cycles += 1;
            let sum = u128::from(outputs[0][0]) | u128::from(outputs[0][1]) << 64;
            ones |= sum;
            zeros |= !sum;
        }
        assert_eq!((verified.cycles, verified.resets), (cycles, resets));
        let sum = verified.ports.iter().find(|coverage| coverage.port.name == "sum_o").unwrap();
        assert_eq!(sum.toggled(), (ones & zeros).count_ones() as usize);
        assert!(resets > 0 && sum.toggled() > 50);
    }

    #[test]
    fn the_first_difference_has_cycles_before_and_after_it() {
        let verified = verified("sum_q + addend_i + {99'd0, sum_q[2:0] == 3'd5}");
        let difference = verified.difference.expect("it is wrong");
        assert_eq!(difference.form, "my.v");
        assert!(difference.to_string().starts_with("model and my.v differ in cycle "), "{difference}");
        let cycles: Vec<u64> = difference.traces[0].samples.iter().map(|sample| sample.cycle).collect();
        assert_eq!(cycles.last(), Some(&(difference.cycle + 16)));
        assert!(cycles.len() <= 81 && cycles[0] == difference.cycle.saturating_sub(64));
        let scopes: Vec<&str> = difference.traces.iter().map(|trace| trace.instance.as_str()).collect();
        assert_eq!(scopes, ["accumulator.model", "accumulator.rtl", "accumulator.custom"]);
        let at = |trace: usize| {
            difference.traces[trace].samples.iter().find(|sample| sample.cycle == difference.cycle).unwrap()
        };
        assert_eq!(at(0).values, at(1).values);
        assert_ne!(at(0).values, at(2).values);
    }

    #[test]
    fn values_are_in_hexadecimal() {
        assert_eq!([hex(&[0, 0]), hex(&[0x1f, 0xa, 0])], ["0x0", "0xa000000000000001f"]);
    }
}
