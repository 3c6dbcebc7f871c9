//! Set index functions by their names.
use serde::{Deserialize, Serialize};

/// Which line maps to which set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexFunction {
    /// Line number modulo the number of sets (BMOD).
    Modulo,
}
