//! What can go wrong on the host side of a workload, each as one line.
use std::path::Path;

use thiserror::Error;

use crate::launch_file::LaunchFileError;
use selvedge_ptx::memory::MemoryError;

/// Why a workload cannot be found, started or carried on, or that its result is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// No built-in workload has this name.
    #[error("unknown workload '{name}': {allowed}")]
    UnknownWorkload {
        /// The name that was asked for.
        name: String,
        /// The nearest names that exist.
        allowed: String,
    },
    /// No size has this name.
    #[error("unknown size '{name}': must be tiny, small, study, paper")]
    UnknownSize {
        /// The name that was asked for.
        name: String,
    },
    /// An input file was given to a workload that reads none.
    #[error("{file}: workload '{workload}' takes no input file: allowed for {allowed}")]
    NoInput {
        /// The file that was given.
        file: String,
        /// The workload it was given to.
        workload: &'static str,
        /// The workloads that read a file.
        allowed: String,
    },
    /// An input file cannot be read, or is not text.
    #[error("{file}: cannot read {what}: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What it should hold.
        what: &'static str,
        /// The operating system's reason, or that it is not text.
        why: String,
    },
    /// A value in an input file is not what the format allows there.
    #[error("{file}:{line}: {what} = '{value}': must be {allowed}")]
    BadInput {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What stands there.
        what: String,
        /// The text found (shortened when long).
        value: String,
        /// What is allowed instead.
        allowed: String,
    },
    /// The host's own access to device memory was refused.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A launch file, or a result that is not the one it expects.
    #[error(transparent)]
    LaunchFile(#[from] LaunchFileError),
    /// The results were asked for before the last launch had completed.
    #[error("workload '{workload}' has not finished: its results cannot be verified yet")]
    Unfinished {
        /// The workload.
        workload: &'static str,
    },
    /// A result differs from the CPU reference.
    #[error("{workload}: {buffer}[{index}] = {got}, the CPU reference gives {expected} ({tolerance})")]
    Mismatch {
        /// The workload.
        workload: &'static str,
        /// The buffer that holds the first wrong value.
        buffer: &'static str,
        /// Its element, counted from 0.
        index: usize,
        /// The device's value.
        got: String,
        /// The reference's value.
        expected: String,
        /// How far apart the two may be, in words.
        tolerance: String,
    },
}

impl WorkloadError {
    /// The error for a value in line `line` of `file`. Long values are cut after 40 characters.
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
