//! Names of a port's values, as viewers of waveforms show them in place of numbers.

/// The names of the values that some ports of a block have.
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
    /// What the values are, in lower_snake_case: `bdi_encoding`. Blocks whose ports have the same values use the same word.
    pub what: &'static str,
    /// The ports.
    pub ports: &'static [&'static str],
    /// Each value that has a name, with its name: one word.
    pub names: &'static [(u64, &'static str)],
}
