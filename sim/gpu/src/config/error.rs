//! Errors in a configuration.
/// An error in a configuration. The message has one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The name is neither a built-in configuration nor a readable file.
    #[error("configuration '{name}': neither a built-in one ({allowed}) nor a readable file: {why}")]
    NotFound {
        /// Name as given.
        name: String,
        /// Names of the built-in configurations.
        allowed: String,
        /// Error of the operating system.
        why: String,
    },
    /// The text is not TOML of the expected form.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// Name of the file or built-in configuration.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// Description of the error.
        message: String,
    },
    /// A value is out of range or contradicts another value.
    #[error("{file}:{line}: {key} = {value}: {allowed}")]
    Value {
        /// Name of the file or built-in configuration.
        file: String,
        /// Line number, from 1; 0 if the value comes from the base configuration.
        line: usize,
        /// Key with its section.
        key: String,
        /// Value as given.
        value: String,
        /// Allowed values.
        allowed: String,
    },
}

impl ConfigError {
    /// Returns the error for the text at the position of `error` in `text`.
    pub(super) fn syntax(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let at = error.span().map_or(0, |s| s.start).min(text.len());
        ConfigError::Syntax {
            file: file.into(),
            line: text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1,
            message: one_line(error.message()),
        }
    }
}

/// Returns `message` without line breaks.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
