//! A mistake in a launch file or in a file that it names, in one line.
use std::path::Path;

/// A mistake in a launch file, in one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaunchFileError {
    /// The file or one that it names cannot be read.
    #[error("{file}: cannot read it: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        why: String,
    },
    /// A value is not what the format allows there.
    #[error("{file}:{line}: {message}")]
    Bad {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// A result is not the expected one. The run went to its end.
    #[error("{file}:{line}: {message}")]
    Unexpected {
        /// The launch file.
        file: String,
        /// The line that states the expectation, from 1.
        line: usize,
        /// The first wrong value, and what was expected.
        message: String,
    },
}

impl LaunchFileError {
    /// `path` cannot be read.
    pub(super) fn unreadable(path: &Path, why: impl ToString) -> Self {
        Self::Unreadable { file: path.display().to_string(), why: why.to_string() }
    }

    /// The mistake `message` at byte `at` of `text`, which is what `file` holds.
    pub(super) fn at(file: &str, text: &[u8], at: usize, message: String) -> Self {
        // What a message quotes may have several lines.
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        Self::Bad { file: file.to_owned(), line: line_of(text, at), message }
    }
}

/// The line of byte `at`, from 1.
pub(super) fn line_of(text: &[u8], at: usize) -> usize {
    text[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}
