//! Standard output and standard error.
use crate::error::Failure;
use console::Term;
use selvedge_area::Table;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// `true` if the command prints no progress.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on, the command prints no progress.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Returns whether the command prints no progress.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints `text` to standard output. A closed pipe is not a failure: the reader needs no more.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed(done)
}

/// Converts the result of printing to standard output to the command's failure, if any.
pub fn printed(done: std::io::Result<()>) -> Result<(), Failure> {
    match done {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Prints `text` to standard error. If that fails, the command continues, because the failure cannot be reported
/// anywhere.
pub fn say(text: impl Display) {
    let _ = std::io::stderr().lock().write_all(text.to_string().as_bytes());
}

/// Returns the columns of a line of standard output: the value of `COLUMNS`, or the width of the terminal. Returns
/// `None` if neither exists, so that tables in files have full width.
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
