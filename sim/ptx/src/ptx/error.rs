//! Error of PTX text that cannot be read or decoded. It displays as one line.

use thiserror::Error;

/// Rejected PTX text, displayed as `file:line: message`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct PtxError {
    /// Name of the file, as passed to the parser.
    pub file: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Description of the error, with valid alternatives.
    pub message: String,
}

/// Max characters of input that a message quotes.
const QUOTE_LENGTH: usize = 60;

/// Fits `text` into one line of a message. Control characters and runs of blanks become one blank; the rest is cut.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::new();
    let mut kept = 0;
    for c in text.chars() {
        let blank = c.is_whitespace() || c.is_control();
        if blank && (out.is_empty() || out.ends_with(' ')) {
            continue;
        }
        if kept == QUOTE_LENGTH {
            out.push_str("...");
            break;
        }
        out.push(if blank { ' ' } else { c });
        kept += 1;
    }
    out.trim_end().to_owned()
}
