//! Standard output and standard error.
use crate::error::Failure;
use console::Term;
use selvedge_area::Table;
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

/// Returns the columns that a line of standard output has: those that `COLUMNS` states, or the terminal's; none where it is no
/// terminal, so that a file has every table in full width.
pub fn width() -> Option<usize> {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || {
        let out = Term::stdout();
        out.is_term().then(|| out.size_checked()).flatten().map(|(_, columns)| columns.into())
    };
    stated.or_else(terminal).filter(|columns| *columns > 0)
}

/// Prints a table to standard output, no wider than the terminal.
pub fn print_table(table: &Table) -> Result<(), Failure> {
    print(&table.render_within(width()))
}
