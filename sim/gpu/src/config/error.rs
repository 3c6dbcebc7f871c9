//! Mistakes in a configuration, each in one line.
/// A mistake in a configuration, in one line.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No built-in configuration and no file of that name.
    #[error("configuration `{name}`: neither a built-in one ({allowed}) nor a readable file: {why}")]
    NotFound {
        /// What was asked for.
        name: String,
        /// The built-in names.
        allowed: String,
        /// The operating system's answer.
        why: String,
    },
    /// The text is not TOML of the expected form.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file or built-in name.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A value is out of range or contradicts another.
    #[error("{file}:{line}: {key} = {value}: {allowed}")]
    Value {
        /// The file or built-in name.
        file: String,
        /// Line number, from 1 (0 when the value came from the base configuration).
        line: usize,
        /// The key with its section.
        key: String,
        /// The value given.
        value: String,
        /// What is allowed.
        allowed: String,
    },
}

impl ConfigError {
    /// A mistake in the form of the text at `error`'s place in `text`.
    pub(super) fn syntax(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let at = error.span().map_or(0, |s| s.start).min(text.len());
        ConfigError::Syntax {
            file: file.into(),
            line: text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1,
            message: one_line(error.message()),
        }
    }
}

/// `message` without line breaks.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
