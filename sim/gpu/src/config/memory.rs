//! What global memory does with addresses in no buffer.
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// What a load of a kernel outside every buffer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutOfBounds {
    /// A fault that ends the run, as stores and atomics there always are.
    #[default]
    Error,
    /// A read of 0, for kernels that read around their buffers by design.
    Zero,
}

/// Rules of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct GlobalMemory {
    /// What a load outside every buffer is: a fault, or a read of 0 for kernels that read around their buffers by design.
    pub out_of_bounds: OutOfBounds,
}

impl GlobalMemory {
    /// Returns whether loads outside every buffer read 0.
    pub fn zero_outside(self) -> bool {
        self.out_of_bounds == OutOfBounds::Zero
    }
}
