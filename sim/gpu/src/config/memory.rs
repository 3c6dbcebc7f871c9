//! Configuration of accesses to addresses outside every buffer.
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// Result of a kernel's access outside every buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutOfBounds {
    /// A fault ends the run.
    #[default]
    Error,
    /// Loads read 0, stores have no effect, atomics read 0 and change nothing. For kernels that access memory around their
    /// buffers by design.
    Zero,
}

/// Rules of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct GlobalMemory {
    /// Result of a kernel's access outside every buffer. `error`: a fault ends the run. `zero`: loads read 0, stores and
    /// atomics change nothing; for kernels that access memory around their buffers by design.
    pub out_of_bounds: OutOfBounds,
}

impl GlobalMemory {
    /// Returns whether accesses outside every buffer read 0 and change nothing.
    pub fn zero_outside(self) -> bool {
        self.out_of_bounds == OutOfBounds::Zero
    }
}
