//! Kinds of SM pipes.

use selvedge_state::State;

/// Number of [`PipeKind`]s.
pub const PIPE_KINDS: usize = 6;

/// Number of kinds with pipes: all but [`PipeKind::Control`].
pub const EXECUTING: usize = PIPE_KINDS - 1;

/// The kinds of pipe that the issue stage distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum PipeKind {
    /// Integer and single precision.
    Alu = 0,
    /// Double precision.
    Fp64 = 1,
    /// Special functions.
    Sfu = 2,
    /// Load/store unit.
    Memory = 3,
    /// Tensor cores.
    Tensor = 4,
    /// Branches, barriers, fences and exits, which the issue stage executes itself.
    Control = 5,
}

impl PipeKind {
    /// All kinds, in order of their numbers.
    pub const ALL: [PipeKind; PIPE_KINDS] =
        [PipeKind::Alu, PipeKind::Fp64, PipeKind::Sfu, PipeKind::Memory, PipeKind::Tensor, PipeKind::Control];

    /// Returns whether all schedulers of an SM share a single pipe of this kind.
    pub fn is_single(self) -> bool {
        matches!(self, PipeKind::Fp64 | PipeKind::Sfu | PipeKind::Memory | PipeKind::Tensor)
    }
}
