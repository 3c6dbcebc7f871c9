//! The compiled module of the Python package `selvedge`. The files of the package around it are in `python/selvedge`.
mod block;
mod failure;
mod memory;
mod run;

use pyo3::prelude::*;

/// The compiled part of the package `selvedge`.
#[pymodule]
mod _selvedge {
    use pyo3::prelude::*;
    use selvedge_sim::config::BUILT_IN;
    use selvedge_sim::{mechanism, workload};

    #[pymodule_export]
    use crate::block::{Block, Port};
    #[pymodule_export]
    use crate::failure::SimulationError;
    #[pymodule_export]
    use crate::memory::{Memory, Reply};
    #[pymodule_export]
    use crate::run::run;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Returns the names of the built-in workloads.
    #[pyfunction]
    fn workloads() -> Vec<&'static str> {
        workload::all().iter().map(|workload| workload.name()).collect()
    }

    /// Returns the names of the mechanisms. "base" is the GPU without a mechanism.
    #[pyfunction]
    fn mechanisms() -> Vec<&'static str> {
        mechanism::all().iter().map(|info| info.name).collect()
    }

    /// Returns the names of the hardware blocks.
    #[pyfunction]
    fn blocks() -> Vec<&'static str> {
        selvedge_blocks::all().iter().map(|block| block.name()).collect()
    }

    /// Returns the names of the built-in configurations.
    #[pyfunction]
    fn configurations() -> Vec<&'static str> {
        BUILT_IN.iter().map(|config| config.name).collect()
    }
}

/// Returns the object that a JSON text describes.
fn from_json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}
