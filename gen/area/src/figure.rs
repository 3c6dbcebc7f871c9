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
    /// A number of that unit, to six digits behind the point: what comes after is noise of the arithmetic.
    pub fn new(value: f64, unit: &'static str) -> Self {
        Figure { value: (value * 1e6).round() / 1e6, unit }
    }

    /// A count.
    pub fn count(value: usize, unit: &'static str) -> Self {
        Figure { value: value as f64, unit }
    }
}
