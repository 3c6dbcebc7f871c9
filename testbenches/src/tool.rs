//! Runs external programs, and names the Debian package of a missing one.
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program and the Debian package that installs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackagedTool {
    /// Name of the program.
    pub program: &'static str,
    /// Name of the package.
    pub package: &'static str,
}

/// Compiles Verilog to C++.
pub const VERILATOR: PackagedTool = PackagedTool { program: "verilator", package: "verilator" };
/// Compiles C++.
pub const GXX: PackagedTool = PackagedTool { program: "g++", package: "g++" };
/// Collects compiled C++ in a library.
pub const AR: PackagedTool = PackagedTool { program: "ar", package: "binutils" };
/// Compiles Verilog for [`VVP`].
pub const IVERILOG: PackagedTool = PackagedTool { program: "iverilog", package: "iverilog" };
/// Runs programs that [`IVERILOG`] has compiled.
pub const VVP: PackagedTool = PackagedTool { program: "vvp", package: "iverilog" };
/// Synthesizes Verilog.
pub const YOSYS: PackagedTool = PackagedTool { program: "yosys", package: "yosys" };
/// Proves properties of and-inverter graphs.
pub const ABC: PackagedTool = PackagedTool { program: "berkeley-abc", package: "berkeley-abc" };

/// A reason why an external program did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The program is not installed.
    #[error("`{program}` was not found; install the Debian package `{package}`")]
    Missing {
        /// The program.
        program: &'static str,
        /// The package that contains it.
        package: &'static str,
    },
    /// The program returned a non-zero exit status.
    #[error("`{program}` failed: {message}")]
    Failed {
        /// The program.
        program: &'static str,
        /// The output of the program.
        message: String,
    },
    /// The ports of a user's module differ from the block's ports.
    #[error("the ports of module {top} are not the block's: {differences}")]
    Ports {
        /// The module.
        top: String,
        /// A phrase for each difference.
        differences: String,
    },
    /// A user's module acts outside the simulation.
    #[error("{file}:{line}: `{word}`: unsupported in Verilog that runs in the simulator, which may read memory images and print", file = file.display())]
    Outside {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The refused word.
        word: String,
    },
    /// Verilog ends in its reset.
    #[error("in its reset {0}")]
    Ended(selvedge_hw::Ended),
    /// The folder for compiled libraries is not safe to load them from.
    #[error("{path}: {problem}; compiled Verilog is loaded from it", path = path.display())]
    Shared {
        /// The folder.
        path: PathBuf,
        /// The problem, and the required permission.
        problem: &'static str,
    },
    /// A file or folder that the program needs cannot be written or read, or the program cannot be started.
    #[error("{path}: {source}")]
    Io {
        /// The file, folder or program.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl ToolError {
    /// Returns a function that turns an I/O error into the error of an operation on `path`.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> ToolError {
        let path = path.to_path_buf();
        move |source| ToolError::Io { path, source }
    }
}

impl PackagedTool {
    /// Runs the program in `folder` until it ends, with any exit status.
    ///
    /// # Errors
    /// [`ToolError::Missing`], or [`ToolError::Io`] if it cannot be started.
    pub fn output<A: AsRef<OsStr>>(
        self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Output, ToolError> {
        Command::new(self.program).args(arguments).current_dir(folder).output().map_err(|error| {
            match error.kind() {
                // The system reports a missing folder with the same error as a missing program.
                io::ErrorKind::NotFound if folder.is_dir() => {
                    ToolError::Missing { program: self.program, package: self.package }
                }
                io::ErrorKind::NotFound => ToolError::at(folder)(error),
                _ => ToolError::at(Path::new(self.program))(error),
            }
        })
    }

    /// Runs the program in `folder`. Returns its standard output and error.
    ///
    /// # Errors
    /// The errors of [`Self::output`], and [`ToolError::Failed`] if its exit status is not zero.
    pub fn run<A: AsRef<OsStr>>(
        self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<String, ToolError> {
        let output = self.output(folder, arguments)?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            Ok(text)
        } else {
            Err(ToolError::Failed { program: self.program, message: text.trim_end().to_string() })
        }
    }
}

/// Writes a file, and makes its folder if it is missing.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), ToolError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(ToolError::at(folder))?;
    }
    std::fs::write(path, text).map_err(ToolError::at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_names_its_package() {
        let tool = PackagedTool { program: "no-such-program", package: "no-such-package" };
        let error = tool.run(Path::new("."), ["--version"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`no-such-program` was not found; install the Debian package `no-such-package`"
        );
    }

    #[test]
    fn a_missing_folder_is_not_taken_for_a_missing_program() {
        let error = GXX.run(Path::new("/no/such/folder"), ["--version"]).unwrap_err();
        assert!(matches!(error, ToolError::Io { .. }), "{error}");
    }

    #[test]
    fn a_refusal_carries_what_the_program_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let error = GXX.run(folder.path(), ["absent.cpp"]).unwrap_err().to_string();
        assert!(error.starts_with("`g++` failed: ") && error.contains("absent.cpp"), "{error}");
    }
}
