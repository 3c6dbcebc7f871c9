//! The memory access of an executed instruction, and the fault of an invalid access.

use super::forms::{AtomicOp, CacheOp, MbarrierOp, Space};
use selvedge_state::State;

/// Effect of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads, modifies and writes atomically.
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// `true`: no value comes back (`red`).
        reduction: bool,
    },
}

impl AccessKind {
    /// Returns whether the access returns values to registers.
    #[must_use]
    pub fn returns_value(self) -> bool {
        !matches!(self, Self::Store | Self::Atomic { reduction: true, .. })
    }
}

/// Effect of a [`Completion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub(crate) enum CompletionEffect {
    /// Changes an mbarrier object.
    Mbarrier {
        /// Address of the object in the shared memory of the cluster.
        address: u32,
        op: MbarrierOp,
        /// Arrivals or bytes.
        operand: u32,
    },
    /// The waiting warps see that a phase of the cluster's barrier has ended.
    ClusterPhase,
}

/// A change of a barrier that follows an instruction later: when its asynchronous copies are complete, or when its message has
/// arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Completion {
    pub(crate) effect: CompletionEffect,
    /// Instruction and lane.
    pub(crate) pc: u32,
    pub(crate) lane: u8,
}

/// The memory access of one warp instruction. Callers reuse it as a buffer.
#[derive(Debug, Clone, State)]
pub struct MemAccess {
    /// State space, never [`Space::Generic`]. If the lanes of a generic access differ in space, this is the space of
    /// the lowest lane. `mask` then has only the lanes in that space.
    pub space: Space,
    /// Effect.
    pub kind: AccessKind,
    /// Bytes per lane, summed over the elements of a vector.
    pub bytes: u8,
    /// Lanes that took part.
    pub mask: u32,
    /// Address of each lane in `mask`; the other elements are stale. Global: device addresses. Shared, constant and
    /// parameter space: offsets in the CTA's shared memory, the constant bank and the parameters. Local: addresses
    /// above [`super::LOCAL_REGION`], interleaved over a warp's lanes in words of `bytes`, as hardware lays them out.
    pub address: [u64; 32],
    /// Cache operator.
    pub cache: CacheOp,
    /// Further accesses in order, for the other texels of a filtered texture, or the rest of a bulk copy: lanes and their
    /// addresses.
    pub more: Vec<(u32, [u64; 32])>,
    /// Changes of barriers that follow the access. Only for [`Step::Async`](super::Step::Async) and
    /// [`Step::Message`](super::Step::Message).
    pub then: Vec<Completion>,
}

impl MemAccess {
    /// Returns an access in which no lane takes part.
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
            then: Vec::new(),
        }
    }
}

impl Default for MemAccess {
    fn default() -> Self {
        Self::new()
    }
}

/// An invalid memory access. Displays as one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}:{line}: kernel '{kernel}', block ({},{},{}), thread ({},{},{}): `{text}` {what}",
    cta[0], cta[1], cta[2], thread[0], thread[1], thread[2]
)]
pub struct Fault {
    /// Name of the PTX file.
    pub file: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Line of the instruction in the file, from 1.
    pub line: u32,
    /// Text of the instruction.
    pub text: String,
    /// CTA of the first thread that failed.
    pub cta: [u32; 3],
    /// Index of that thread in its CTA.
    pub thread: [u32; 3],
    /// Address that the thread accessed.
    pub address: u64,
    /// Description of the fault, with the address and the nearest buffer.
    pub what: String,
}
