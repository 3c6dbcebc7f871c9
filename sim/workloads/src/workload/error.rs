//! Errors of the host side of a workload. Each displays as one line.
use std::path::Path;

use thiserror::Error;

use crate::launch_file::LaunchFileError;
use selvedge_ptx::memory::MemoryError;

/// Error of the selection, start or run of a workload, or of its results.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// No built-in workload has this name.
    #[error("unknown workload '{name}': {allowed}")]
    UnknownWorkload {
        /// Requested name.
        name: String,
        /// Nearest existing names.
        allowed: String,
    },
    /// No size has this name.
    #[error("unknown size '{name}': must be tiny, small, study, paper")]
    UnknownSize {
        /// Requested name.
        name: String,
    },
    /// An input file was given to a workload that reads none.
    #[error("{file}: workload '{workload}' takes no input file: allowed for {allowed}")]
    NoInput {
        /// Path of the file.
        file: String,
        /// Name of the workload.
        workload: &'static str,
        /// Workloads that read a file.
        allowed: String,
    },
    /// An input file cannot be read, or is not text.
    #[error("{file}: cannot read {what}: {why}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// Expected contents.
        what: &'static str,
        /// Error from the operating system, or a note that the file is not text.
        why: String,
    },
    /// A value in an input file is invalid.
    #[error("{file}:{line}: {what} = '{value}': must be {allowed}")]
    BadInput {
        /// Path of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Expected item.
        what: String,
        /// Text found, shortened if long.
        value: String,
        /// Valid values.
        allowed: String,
    },
    /// The host program's access to device memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A launch file is invalid, or a result differs from its expectation.
    #[error(transparent)]
    LaunchFile(#[from] LaunchFileError),
    /// Results were requested before the last launch had completed.
    #[error("workload '{workload}' has not finished: its results cannot be verified yet")]
    Unfinished {
        /// Name of the workload.
        workload: &'static str,
    },
    /// A result differs from the CPU reference.
    #[error("{workload}: {buffer}[{index}] = {got}, the CPU reference gives {expected} ({tolerance})")]
    Mismatch {
        /// Name of the workload.
        workload: &'static str,
        /// Name of the buffer that has the first wrong value.
        buffer: &'static str,
        /// Index of the element, from 0.
        index: usize,
        /// Value from the device.
        got: String,
        /// Value from the reference.
        expected: String,
        /// Description of the permitted difference.
        tolerance: String,
    },
}

impl WorkloadError {
    /// Returns the error for a value in line `line` of `file`. Truncates values after 40 characters.
    pub(super) fn bad_input(
        file: &Path,
        line: usize,
        what: impl Into<String>,
        value: &str,
        allowed: impl Into<String>,
    ) -> Self {
        const LONGEST: usize = 40;
        let mut shown: String =
            value.chars().take(LONGEST).map(|c| if c.is_control() { '?' } else { c }).collect();
        if value.chars().nth(LONGEST).is_some() {
            shown.push_str("...");
        }
        Self::BadInput {
            file: file.display().to_string(),
            line,
            what: what.into(),
            value: shown,
            allowed: allowed.into(),
        }
    }
}
