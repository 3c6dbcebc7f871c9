//! The kinds of pipe of an SM.

use selvedge_state::State;

/// Number of [`PipeKind`]s.
pub const PIPE_KINDS: usize = 5;

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
    /// Branches, barriers, fences and exits: the issue stage itself.
    Control = 4,
}

impl PipeKind {
    /// All kinds, by number.
    pub const ALL: [PipeKind; PIPE_KINDS] =
        [PipeKind::Alu, PipeKind::Fp64, PipeKind::Sfu, PipeKind::Memory, PipeKind::Control];

    /// Returns whether it is a pipe that all schedulers of an SM compete for.
    pub fn is_single(self) -> bool {
        matches!(self, PipeKind::Fp64 | PipeKind::Sfu | PipeKind::Memory)
    }
}
