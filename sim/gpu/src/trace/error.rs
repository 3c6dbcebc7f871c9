//! Errors in traces.
use std::path::Path;

/// An error in a trace. The message has one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A file cannot be read.
    #[error("{file}: cannot read it: {why}")]
    Unreadable {
        /// Name of the file.
        file: String,
        /// Reason.
        why: String,
    },
    /// A trace in Selvedge's own format is truncated, damaged or of another version.
    #[error("{file}: offset {offset}: {message}")]
    Damaged {
        /// Name of the file.
        file: String,
        /// Offset of the first wrong byte.
        offset: usize,
        /// Description of the error and the allowed values.
        message: String,
    },
    /// A line of an Accel-Sim trace violates the format.
    #[error("{file}:{line}: {message}")]
    Bad {
        /// Name of the file.
        file: String,
        /// Number of the line, from 1.
        line: u64,
        /// Description of the error and the allowed values.
        message: String,
    },
    /// A launch of a kernel cannot be replayed or exported.
    #[error("{file}: kernel {kernel}: {message}")]
    Kernel {
        /// Name of the file.
        file: String,
        /// Name of the kernel.
        kernel: String,
        /// Description of the error.
        message: String,
    },
}

impl TraceError {
    /// Returns the error for a `path` that cannot be read.
    pub(super) fn unreadable(path: &Path, why: impl ToString) -> Self {
        Self::Unreadable { file: path.display().to_string(), why: why.to_string() }
    }
}
