//! What can be wrong with PTX text, its arguments or its run; each error is one line.

use thiserror::Error;

/// PTX text that was refused, with the place: `file:line: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct PtxError {
    /// Name of the file, as it was given to the parser.
    pub file: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// What is wrong and what would be allowed.
    pub message: String,
}

/// Longest piece of input that a message quotes, in characters.
const QUOTE_LENGTH: usize = 60;

/// `text` made fit for one line of a message: control characters and runs of blanks become a blank, the rest is cut.
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
