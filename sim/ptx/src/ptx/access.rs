//! What an executed memory instruction touched, and what is wrong with one that may not touch it.

use super::instr::{AtomicOp, CacheOp, Space};
use selvedge_state::State;

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads, modifies and writes without interference.
    Atomic {
        /// What it does.
        op: AtomicOp,
        /// Whether nothing comes back (`red`).
        reduction: bool,
    },
}

/// The memory access of one warp instruction; a buffer to be reused.
#[derive(Debug, Clone, State)]
pub struct MemAccess {
    /// Where it went; never [`Space::Generic`]. Should the lanes of a generic access differ, the space of its lowest
    /// lane, and `mask` has the lanes of that space alone.
    pub space: Space,
    /// What it did.
    pub kind: AccessKind,
    /// Bytes per lane, all elements of a vector.
    pub bytes: u8,
    /// Lanes that took part.
    pub mask: u32,
    /// Address of each lane in `mask`, the others are stale. Global: device addresses. Shared, constant and parameter
    /// space: offsets in the CTA's shared memory, the constant bank and the parameters. Local: addresses above
    /// [`super::LOCAL_REGION`], interleaved over a warp's lanes in words of `bytes`, as hardware lays them out.
    pub address: [u64; 32],
    /// Cache operator.
    pub cache: CacheOp,
    /// Further addresses of the lanes, in order: the other texels of a filtered texture. Lanes and their addresses.
    pub more: Vec<(u32, [u64; 32])>,
}

impl MemAccess {
    /// An access of no lane.
    #[must_use]
    pub fn new() -> Self {
        Self {
            space: Space::Global,
            kind: AccessKind::Load,
            bytes: 4,
            mask: 0,
            address: [0; 32],
            cache: CacheOp::All,
            more: Vec::new(),
        }
    }
}

impl Default for MemAccess {
    fn default() -> Self {
        Self::new()
    }
}

/// A memory access that no GPU would survive. Displays as one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}:{line}: kernel '{kernel}', block ({},{},{}), thread ({},{},{}): `{text}` {what}",
    cta[0], cta[1], cta[2], thread[0], thread[1], thread[2]
)]
pub struct Fault {
    /// PTX file.
    pub file: String,
    /// Kernel.
    pub kernel: String,
    /// Line of the instruction in the file.
    pub line: u32,
    /// The instruction.
    pub text: String,
    /// Block of the first thread that failed.
    pub cta: [u32; 3],
    /// That thread.
    pub thread: [u32; 3],
    /// Address it used.
    pub address: u64,
    /// What is wrong, with the address and the nearest buffer.
    pub what: String,
}
