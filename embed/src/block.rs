//! Hardware blocks as golden model or as RTL, clocked one cycle at a time.
use crate::Failure;
use selvedge_hw::{ClockedBits, Direction, Engine, Port, PortBits};
use serde_json::{Map, Value};

/// A block under an engine. Ports have numbers, inputs first. A value is 64-bit words, the lowest bits first.
pub struct Block {
    clocked: Box<dyn ClockedBits>,
    parameters: Value,
    ports: Vec<Port>,
    /// Values of the inputs, which come first among the ports.
    inputs: PortBits,
    /// `None` before the first clock and after a reset.
    outputs: Option<PortBits>,
}

impl Block {
    /// Creates a block in its reset state. `parameters` is a JSON object with the parameters that differ from their
    /// defaults. `engine` is `model` or `rtl`.
    ///
    /// # Errors
    /// An unknown block, parameter, value or engine.
    pub fn new(name: &str, parameters: Option<&str>, engine: &str) -> Result<Self, Failure> {
        let entry = selvedge_blocks::find(name).map_err(Failure::invalid)?;
        let given = match parameters {
            None => Value::Object(Map::new()),
            Some(text) => serde_json::from_str(text)
                .map_err(|error| Failure::invalid(format!("parameters: {error}")))?,
        };
        if !given.is_object() {
            return Err(Failure::invalid(format!("parameters: {given}: must be a JSON object")));
        }
        let parameters = entry.check(&given).map_err(Failure::invalid)?;
        let clocked = match engine.parse().map_err(Failure::invalid)? {
            Engine::Model => entry.model(&parameters),
            Engine::Rtl => entry.rtl(&parameters),
            other => return Err(Failure::invalid(format!("engine '{other}': must be model or rtl"))),
        };
        let clocked = clocked.map_err(Failure::invalid)?;
        let ports = entry.ports(&parameters).map_err(Failure::invalid)?;
        let inputs = ports.iter().filter(|port| port.direction == Direction::Input);
        let inputs = inputs.map(|port| vec![0; port.words()]).collect();
        Ok(Block { clocked, parameters, ports, inputs, outputs: None })
    }

    /// Returns all parameters.
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// Returns the ports without clock and reset.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Returns the port `index`.
    ///
    /// # Errors
    /// No port has this number.
    pub fn port(&self, index: usize) -> Result<&Port, Failure> {
        self.ports.get(index).ok_or_else(|| {
            Failure::invalid(format!(
                "port {index}: must be below {}, as many as there are",
                self.ports.len()
            ))
        })
    }

    /// Returns the number of the port with this name.
    ///
    /// # Errors
    /// No port has this name.
    pub fn index(&self, name: &str) -> Result<usize, Failure> {
        self.ports.iter().position(|port| port.name == name).ok_or_else(|| {
            let all: Vec<&str> = self.ports.iter().map(|port| port.name).collect();
            Failure::invalid(format!("no port '{name}': must be one of {}", all.join(", ")))
        })
    }

    /// Returns the port `index`, whose values must have `count` words.
    ///
    /// # Errors
    /// No port has this number, or its values have another number of words.
    pub fn port_of(&self, index: usize, count: usize) -> Result<&Port, Failure> {
        let port = self.port(index)?;
        if count == port.words() {
            return Ok(port);
        }
        Err(Failure::invalid(format!("port {}: {count} words: must be {}", port.name, port.words())))
    }

    /// Checks that [`Self::set`] accepts a value.
    ///
    /// # Errors
    /// The errors of [`Self::port_of`], an output, or a value that is too large.
    pub fn check(&self, index: usize, words: &[u64]) -> Result<(), Failure> {
        let port = self.port_of(index, words.len())?;
        if port.direction == Direction::Output {
            return Err(Failure::invalid(format!("port {}: must be an input", port.name)));
        }
        let unused = words.len() * 64 - port.bits;
        if words.last().is_some_and(|last| u64::from(last.leading_zeros()) < unused as u64) {
            return Err(too_large(port));
        }
        Ok(())
    }

    /// Sets an input for the following cycles. Inputs are 0 until they are set.
    ///
    /// # Errors
    /// The errors of [`Self::check`].
    pub fn set(&mut self, index: usize, words: &[u64]) -> Result<(), Failure> {
        self.check(index, words)?;
        self.inputs[index].copy_from_slice(words);
        Ok(())
    }

    /// Returns the value of a port. The value of an output is from the last cycle, before the clock edge.
    ///
    /// # Errors
    /// No port has this number, or an output before the first cycle.
    pub fn get(&self, index: usize) -> Result<&[u64], Failure> {
        let port = self.port(index)?;
        let value = match index.checked_sub(self.inputs.len()) {
            None => &self.inputs[index],
            Some(output) => match &self.outputs {
                Some(outputs) => &outputs[output],
                None => {
                    let name = port.name;
                    return Err(Failure::invalid(format!(
                        "port {name}: an output has no value before a cycle"
                    )));
                }
            },
        };
        Ok(value)
    }

    /// Runs one clock cycle: computes the outputs from the inputs, then applies the clock edge.
    pub fn step(&mut self) {
        self.outputs = Some(self.clocked.step(&self.inputs));
    }

    /// Runs one clock cycle in reset. Inputs keep their values for the following cycles.
    pub fn reset(&mut self) {
        self.clocked.reset();
        self.outputs = None;
    }
}

/// Returns the failure for a value with more bits than its port.
pub fn too_large(port: &Port) -> Failure {
    Failure::invalid(format!("port {}: the value must have {} bits", port.name, port.bits))
}
