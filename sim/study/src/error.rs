//! Mistakes in a study file, each in one line.
use selvedge_sim::printable::shortened;
use std::ops::Range;

/// Most characters of a value that a message quotes.
const LONGEST: usize = 80;

/// A mistake in a study file, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The file cannot be read.
    #[error("{file}: cannot read it: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// The operating system's reason.
        why: String,
    },
    /// A key or value is not what the format has there.
    #[error("{file}:{line}: {message}")]
    Bad {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what it must be.
        message: String,
    },
}

/// A study file's text, for messages that name its lines.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl Text<'_> {
    /// The mistake `message` at `span`.
    pub fn bad(&self, span: &Range<usize>, message: impl Into<String>) -> StudyError {
        let at = span.start.min(self.text.len());
        let line = self.text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        StudyError::Bad { file: self.file.into(), line, message: one_line(&message.into()) }
    }

    /// What stands at `span`, in one line.
    pub fn quote(&self, span: &Range<usize>) -> String {
        let text = self.text.get(span.clone()).unwrap_or_default();
        shortened(&one_line(text), LONGEST).into_owned()
    }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
