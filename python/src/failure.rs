//! Failures as exceptions of Python.
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use selvedge_embed::{Failure, Kind, one_line};
use std::fmt::Display;

create_exception!(
    selvedge,
    SimulationError,
    PyRuntimeError,
    "The simulation cannot continue, or its results are wrong.\n\n\
     The attribute `result` has the statistics up to this point, or is None."
);

/// Returns the exception for a failure.
pub fn exception(failure: Failure) -> PyErr {
    match failure.kind {
        Kind::Invalid => PyValueError::new_err(failure.line),
        Kind::Fault => SimulationError::new_err(failure.line),
    }
}

/// Returns the exception for an invalid argument.
pub fn invalid(why: impl Display) -> PyErr {
    PyValueError::new_err(one_line(&why.to_string()))
}
