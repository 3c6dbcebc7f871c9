//! Errors of a launch file, and of the files that it names.
use std::path::Path;

/// An error of a launch file. Displays as one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchFileError {
    /// The launch file, or a file that it names, cannot be read.
    #[error("{file}: cannot read it: {why}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// Error from the operating system, or another reason.
        why: String,
    },
    /// A value is invalid.
    #[error("{file}:{line}: {message}")]
    Bad {
        /// Path of the file.
        file: String,
        /// Line in the file, from 1.
        line: usize,
        /// Description of the error, with the valid values.
        message: String,
    },
    /// A result differs from the expectation. The run completed.
    #[error("{file}:{line}: {message}")]
    Unexpected {
        /// Path of the launch file.
        file: String,
        /// Line that states the expectation, from 1.
        line: usize,
        /// The first wrong value, and the expected value.
        message: String,
    },
}

impl LaunchFileError {
    /// Returns the error that `path` cannot be read.
    pub(super) fn unreadable(path: &Path, why: impl ToString) -> Self {
        Self::Unreadable { file: path.display().to_string(), why: why.to_string() }
    }

    /// Returns the error `message` at byte `at` of `text`, the contents of `file`.
    pub(super) fn at(file: &str, text: &[u8], at: usize, message: String) -> Self {
        // Quoted text may have several lines.
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        Self::Bad { file: file.to_owned(), line: line_of(text, at), message }
    }
}

/// Returns the line of byte `at`, from 1.
pub(super) fn line_of(text: &[u8], at: usize) -> usize {
    text[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}
