//! What can go wrong in a study; each reads as one line.
use selvedge_gen::EmitError;
use selvedge_hw::ParamError;
use selvedge_testbenches::recorded::RecordedError;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AreaError {
    /// A program is not installed.
    #[error("`{program}` was not found; install {package}")]
    Missing {
        /// The program.
        program: &'static str,
        /// Whose package has it.
        package: &'static str,
    },
    /// A program is older than any that this was tried with.
    #[error("`{program}` is version {found}; at least {needed} is needed: install {package}")]
    TooOld {
        /// The program.
        program: String,
        /// Its version.
        found: String,
        /// The oldest version that does.
        needed: String,
        /// Whose package has it.
        package: &'static str,
    },
    /// A program failed.
    #[error("{work}: `{program}` failed: {message}")]
    Failed {
        /// What it was to do.
        work: String,
        /// The program.
        program: String,
        /// Its first error, or the last line that it wrote.
        message: String,
    },
    /// A program ended without what it was run for.
    #[error("{work}: {message}")]
    NoAnswer {
        /// What was to be done.
        work: String,
        /// What is missing.
        message: String,
    },
    /// A liberty file or technology table that cannot be used.
    #[error("{path}: {problem}", path = path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Parameters that a block does not allow.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// A block that cannot be written as Verilog.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A file or folder cannot be written or read.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder for scripts and netlists cannot be made.
    #[error("cannot write {path}: {source}", path = path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no room for a temporary folder.
    #[error("cannot make a temporary folder: {0}")]
    NoTemporaryFolder(io::Error),
    /// A waveform that gives no stimulus.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
    /// Stopped from outside.
    #[error("interrupted")]
    Interrupted,
}

impl AreaError {
    /// Makes the error of an operation on `path`.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> AreaError {
        let path = path.to_path_buf();
        move |source| AreaError::Io { path, source }
    }
}
