//! What a command puts out: to files, each whole or not at all, and to standard output and standard error.
//!
//! A command first collects the files that it reads and writes in a [`Plan`]. [`Plan::check`] refuses an output that is an
//! input or another output, or cannot be written, before anything runs. The [`Outputs`] that it gives then write what the
//! command has found: each whatever becomes of the others.
mod outputs;
mod plan;
mod stream;
mod whole;

pub use outputs::{Outputs, write_files};
pub use plan::Plan;
pub use stream::{print, print_table, printed, say, width};
pub use whole::{write_new, write_whole};

use std::path::Path;

/// Returns whether an output's name stands for standard output.
fn is_standard_output(target: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].into_iter().any(|name| target == Path::new(name))
}
