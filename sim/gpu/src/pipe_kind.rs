//! Kinds of SM pipes.

use selvedge_state::State;

/// Number of [`PipeKind`]s.
pub const PIPE_KINDS: usize = 7;

/// Number of kinds with pipes: all but [`PipeKind::Control`].
pub const EXECUTING: usize = PIPE_KINDS - 1;

/// The kinds of pipe that the issue stage distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum PipeKind {
    /// Single precision. Also integers, unless they have their own pipes.
    Alu = 0,
    /// Double precision.
    Fp64 = 1,
    /// Special functions.
    Sfu = 2,
    /// Load/store unit.
    Memory = 3,
    /// Tensor cores.
    Tensor = 4,
    /// Integers in their own pipes.
    Int = 5,
    /// Branches, barriers, fences and exits, which the issue stage executes itself.
    Control = 6,
}

impl PipeKind {
    /// All kinds, in order of their numbers.
    pub const ALL: [PipeKind; PIPE_KINDS] = [
        PipeKind::Alu,
        PipeKind::Fp64,
        PipeKind::Sfu,
        PipeKind::Memory,
        PipeKind::Tensor,
        PipeKind::Int,
        PipeKind::Control,
    ];

    /// The kinds that some SMs lack.
    pub const OPTIONAL: [PipeKind; 2] = [PipeKind::Tensor, PipeKind::Int];

    /// The kinds of arithmetic pipe.
    pub const ARITHMETIC: [PipeKind; EXECUTING - 1] =
        [PipeKind::Alu, PipeKind::Fp64, PipeKind::Sfu, PipeKind::Tensor, PipeKind::Int];

    /// Returns whether all schedulers of an SM share a single pipe of this kind.
    pub fn is_single(self) -> bool {
        matches!(self, PipeKind::Fp64 | PipeKind::Sfu | PipeKind::Memory | PipeKind::Tensor)
    }
}
