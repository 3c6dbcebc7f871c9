//! Mistakes in a study file, each in one line.
use selvedge_sim::printable::shortened;
use std::ops::Range;

/// Max length of a quoted value in a message, in characters.
const LONGEST: usize = 80;

/// A mistake in a study file, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The file cannot be read.
    #[error("{file}: cannot read it: {why}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// Reason from the operating system.
        why: String,
    },
    /// A key or value is wrong.
    #[error("{file}:{line}: {message}")]
    Bad {
        /// Path of the file.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// Mistake, and the allowed values.
        message: String,
    },
}

/// Text of a study file, for messages that name its lines.
#[derive(Clone, Copy)]
pub(crate) struct StudyText<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl StudyText<'_> {
    /// Returns the error `message` at `span`.
    pub fn bad(&self, span: &Range<usize>, message: impl Into<String>) -> StudyError {
        let at = span.start.min(self.text.len());
        let line = self.text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        StudyError::Bad { file: self.file.into(), line, message: one_line(&message.into()) }
    }

    /// Returns the text at `span` in one line.
    pub fn quote(&self, span: &Range<usize>) -> String {
        let text = self.text.get(span.clone()).unwrap_or_default();
        shortened(&one_line(text), LONGEST).into_owned()
    }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
