//! A trace that cannot be used, in one line.
use std::path::Path;

/// A trace that cannot be used, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A file cannot be read.
    #[error("{file}: cannot read it: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        why: String,
    },
    /// An own trace is cut off, damaged or of another kind.
    #[error("{file}: offset {offset}: {message}")]
    Damaged {
        /// The file.
        file: String,
        /// First byte of what is wrong.
        offset: usize,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// A line of an Accel-Sim trace is not what the format allows there.
    #[error("{file}:{line}: {message}")]
    Bad {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// A replay could not do to memory what the trace says.
    #[error("{file}: kernel {kernel}: {message}")]
    Replay {
        /// The file.
        file: String,
        /// The kernel.
        kernel: String,
        /// What could not be done.
        message: String,
    },
}

impl TraceError {
    /// `path` cannot be read.
    pub(super) fn unreadable(path: &Path, why: impl ToString) -> Self {
        Self::Unreadable { file: path.display().to_string(), why: why.to_string() }
    }
}
