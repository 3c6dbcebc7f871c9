//! Outputs of a command: files, each written completely or not at all, standard output and standard error.
//!
//! A command first collects the files that it reads and writes in a [`Plan`]. [`Plan::check`] refuses an output that is
//! an input or another output, or that cannot be written, before anything runs. It returns the [`Outputs`], which write
//! each result even if others fail.
mod outputs;
mod plan;
mod stream;
mod whole;

pub use outputs::{Outputs, write_files};
pub use plan::Plan;
pub use stream::{be_quiet, is_quiet, print, print_table, printed, say, width};
pub use whole::{write_new, write_whole};

use std::path::Path;

/// Returns whether the name of an output means standard output.
fn is_standard_output(target: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].into_iter().any(|name| target == Path::new(name))
}
