//! A measured value, its expected value, and the errors of a measurement.

/// Reasons for which a configuration cannot be measured, each in one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FidelityError {
    /// The configuration does not support a microbenchmark.
    #[error("a microbenchmark does not fit the configuration: {0}")]
    Unfit(String),
    /// A microbenchmark stopped with a fault, or a DRAM command violated a timing constraint.
    #[error("{0}")]
    Fault(String),
}

/// An expected value and the measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Name of the measured quantity.
    pub name: String,
    /// Unit of both values.
    pub unit: &'static str,
    /// Value of the formula.
    pub expected: f64,
    /// Value from the simulator.
    pub measured: f64,
    /// Min and max value that agree with the formula.
    pub allowed: (f64, f64),
}

impl Measurement {
    /// Creates a measurement that must be equal to the expected value.
    pub(super) fn exact(name: impl Into<String>, unit: &'static str, expected: f64, measured: f64) -> Self {
        // Allows for the rounding error of a division of cycles by instructions.
        Self::within(name, unit, (expected, 1e-9), measured)
    }

    /// Creates a measurement that may differ from the expected value by `distance`.
    pub(super) fn within(
        name: impl Into<String>,
        unit: &'static str,
        (expected, distance): (f64, f64),
        measured: f64,
    ) -> Self {
        let allowed = (expected - distance, expected + distance);
        Measurement { name: name.into(), unit, expected, measured, allowed }
    }

    /// Creates a measurement that may fall below `peak` by `share` of it, but not exceed it.
    pub(super) fn below(
        name: impl Into<String>,
        unit: &'static str,
        (peak, share): (f64, f64),
        measured: f64,
    ) -> Self {
        // Queues that fill and drain at the ends of a run can add one thousandth.
        let allowed = (peak * (1.0 - share), peak * 1.001);
        Measurement { name: name.into(), unit, expected: peak, measured, allowed }
    }

    /// Returns whether the measured value agrees with the formula.
    pub fn agrees(&self) -> bool {
        (self.allowed.0..=self.allowed.1).contains(&self.measured)
    }

    /// Returns the relative error: (measured - expected) / expected.
    pub fn error(&self) -> f64 {
        self.measured / self.expected - 1.0
    }
}
