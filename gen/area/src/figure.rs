//! A number with its unit.
use schemars::JsonSchema;
use serde::Serialize;

/// A measured number with its unit, as the JSON report has it.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// Its unit: um2, kGE, ns, MHz, bits, cells ...
    pub unit: &'static str,
}

impl Figure {
    /// Returns a number, rounded to six decimal places to remove arithmetic noise.
    pub fn new(value: f64, unit: &'static str) -> Self {
        Figure { value: (value * 1e6).round() / 1e6, unit }
    }

    /// Returns a count.
    pub fn count(value: usize, unit: &'static str) -> Self {
        Figure { value: value as f64, unit }
    }
}
