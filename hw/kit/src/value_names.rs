//! Names of port values, which waveform viewers show instead of numbers.

/// Names for the values of some ports of a block.
///
/// ```
/// use selvedge_hw::ValueNames;
///
/// const LEVEL: ValueNames =
///     ValueNames { what: "level", ports: &["level_o"], names: &[(0, "low"), (1, "high")] };
/// assert_eq!(LEVEL.names[1].1, "high");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueNames {
    /// The type of the values, in lower_snake_case: `bdi_encoding`. Blocks whose ports have the same values use the same word.
    pub what: &'static str,
    /// The ports.
    pub ports: &'static [&'static str],
    /// The named values. A name is one word.
    pub names: &'static [(u64, &'static str)],
}
