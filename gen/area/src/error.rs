//! The errors of a study. Each message is one line.
use selvedge_gen::EmitError;
use selvedge_hw::ParamError;
use selvedge_testbenches::recorded::RecordedError;
use std::io;
use std::path::{Path, PathBuf};

/// A reason for a study without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AreaError {
    /// A program is not installed.
    #[error("`{program}` was not found; install {package}")]
    Missing {
        /// The program that was not found.
        program: &'static str,
        /// The package that contains it.
        package: &'static str,
    },
    /// A program is older than the oldest supported version.
    #[error("`{program}` is version {found}; at least {needed} is needed: install {package}")]
    TooOld {
        /// The program.
        program: String,
        /// Its version.
        found: String,
        /// The oldest supported version.
        needed: String,
        /// The package that contains it.
        package: &'static str,
    },
    /// A program failed.
    #[error("{work}: `{program}` failed: {message}")]
    Failed {
        /// The block and the step of the study.
        work: String,
        /// The program.
        program: String,
        /// Its first error, or the last line that it wrote.
        message: String,
    },
    /// A program ended without the expected result.
    #[error("{work}: {message}")]
    NoAnswer {
        /// The block and the step of the study.
        work: String,
        /// The missing result.
        message: String,
    },
    /// A liberty file or technology table is invalid.
    #[error("{path}: {problem}", path = path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// The problem with the contents of the file.
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
        /// The system's error.
        source: io::Error,
    },
    /// A folder for scripts and netlists cannot be made.
    #[error("cannot write {path}: {source}", path = path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A temporary folder cannot be made.
    #[error("cannot make a temporary folder: {0}")]
    NoTemporaryFolder(io::Error),
    /// A waveform does not contain a usable stimulus.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
    /// The caller's stop flag was set.
    #[error("interrupted")]
    Interrupted,
}

impl AreaError {
    /// Returns a function that turns an I/O error into the error of an operation on `path`.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> AreaError {
        let path = path.to_path_buf();
        move |source| AreaError::Io { path, source }
    }
}
