//! Standard output and standard error.
use crate::error::Failure;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Prints `text` to standard output. A reader that has gone is no failure: it has seen what it wanted.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed(done)
}

/// Judges what became of printing to standard output.
pub fn printed(done: std::io::Result<()>) -> Result<(), Failure> {
    match done {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Prints `text` to standard error. Where that cannot be, there is nobody to report it to, and the command goes on.
pub fn say(text: impl Display) {
    let _ = std::io::stderr().lock().write_all(text.to_string().as_bytes());
}
