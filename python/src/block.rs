//! Hardware blocks, clocked one cycle at a time.
use crate::failure::{exception, invalid};
use crate::from_json;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt};
use selvedge_embed::block::{self, too_large};
use selvedge_hw::Direction;

/// A port of a block.
#[pyclass(module = "selvedge", frozen, get_all)]
#[derive(Clone)]
pub struct Port {
    /// Name of the port.
    name: String,
    /// Width in bits.
    bits: usize,
    /// True for an output, False for an input.
    is_output: bool,
}

#[pymethods]
impl Port {
    fn __repr__(&self) -> String {
        let direction = if self.is_output { "output" } else { "input" };
        format!("<Port {}: {direction} of {} bits>", self.name, self.bits)
    }
}

/// A hardware block as its golden model or as its RTL.
///
/// `parameters` has the parameters that differ from their defaults. `engine` is "model" or "rtl".
/// Only the thread that creates a block may use it.
#[pyclass(module = "selvedge", unsendable)]
pub struct Block {
    name: String,
    engine: String,
    inner: block::Block,
}

#[pymethods]
impl Block {
    #[new]
    #[pyo3(signature = (name, parameters=None, *, engine="model"))]
    fn new(name: &str, parameters: Option<&Bound<'_, PyDict>>, engine: &str) -> PyResult<Self> {
        let text = match parameters {
            Some(given) => {
                Some(given.py().import("json")?.call_method1("dumps", (given,))?.extract::<String>()?)
            }
            None => None,
        };
        let inner = block::Block::new(name, text.as_deref(), engine).map_err(exception)?;
        Ok(Block { name: name.to_owned(), engine: engine.to_owned(), inner })
    }

    /// Name of the block.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Engine of the block: "model" or "rtl".
    #[getter]
    fn engine(&self) -> &str {
        &self.engine
    }

    /// All parameters with their values.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.inner.parameters().to_string())
    }

    /// Ports without clock and reset, inputs first.
    #[getter]
    fn ports(&self) -> Vec<Port> {
        let port = |port: &selvedge_hw::Port| Port {
            name: port.name.into(),
            bits: port.bits,
            is_output: port.direction == Direction::Output,
        };
        self.inner.ports().iter().map(port).collect()
    }

    /// Runs one clock cycle and returns the value of each output before the clock edge.
    ///
    /// `inputs` sets inputs by name. They keep their values for the following cycles, and are 0 until they are set.
    /// Values are non-negative integers.
    #[pyo3(signature = (inputs=None))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        inputs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        // A call that fails must not set some of the inputs.
        let mut set = Vec::new();
        for (name, value) in inputs.into_iter().flatten() {
            let index = self.inner.index(&name.extract::<String>()?).map_err(exception)?;
            set.push((index, self.words(index, &value)?));
        }
        for (index, words) in &set {
            self.inner.check(*index, words).map_err(exception)?;
        }
        for (index, words) in &set {
            self.inner.set(*index, words).map_err(exception)?;
        }
        self.inner.step();
        let outputs = PyDict::new(py);
        for (index, port) in self.inner.ports().iter().enumerate() {
            if port.direction == Direction::Output {
                outputs.set_item(port.name, integer(py, self.inner.get(index).map_err(exception)?)?)?;
            }
        }
        Ok(outputs)
    }

    /// Runs one clock cycle in reset. Inputs keep their values for the following cycles.
    fn reset(&mut self) {
        self.inner.reset();
    }

    fn __repr__(&self) -> String {
        format!("<Block {} ({})>", self.name, self.engine)
    }
}

impl Block {
    /// Returns the words of an integer for the port `index`.
    fn words(&self, index: usize, value: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let port = self.inner.port(index).map_err(exception)?;
        let Ok(value) = value.cast::<PyInt>() else {
            return Err(invalid(format!("port {}: the value must be an integer", port.name)));
        };
        let bytes = value.call_method1("to_bytes", (port.words() * 8, "little")).map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(value.py()) {
                exception(too_large(port))
            } else {
                error
            }
        })?;
        let bytes: &[u8] = bytes.extract()?;
        let words = bytes.as_chunks::<8>().0.iter();
        Ok(words.map(|word| u64::from_le_bytes(*word)).collect())
    }
}

/// Returns the integer with these words, the lowest bits first.
fn integer<'py>(py: Python<'py>, words: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    if let [word] = words {
        return Ok(word.into_pyobject(py)?.into_any());
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    py.get_type::<PyInt>().call_method1("from_bytes", (PyBytes::new(py, &bytes), "little"))
}
