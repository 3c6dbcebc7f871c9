//! Compiles programs of a suite in copies of their folders.
use super::manifest::{Compiler, Manifest, Program, Run};
use super::options::BuildOptions;
use super::tree;
use crate::error::Failure;
use crate::isolated::caches_of_user;
use selvedge_sim::workload::Size;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Default compilers for C and CUDA, in order of preference. The drivers for C++ would compile `.c` files as C++.
const CLANGS: [&str; 2] = ["clang-19", "clang"];

/// Folders and compilers of a build.
pub struct Builder<'a> {
    suite: &'a Manifest,
    path: &'a Path,
    size: Size,
    /// Folder for executables and logs.
    folder: PathBuf,
    nvcc: Option<PathBuf>,
    /// Toolkit for clang.
    headers: Option<PathBuf>,
    clang: Option<PathBuf>,
}

/// A program that was compiled.
pub struct Built {
    /// Path of the executable.
    pub executable: PathBuf,
    /// Folder in which it runs: the copy of the program's folder.
    pub folder: PathBuf,
}

impl<'a> Builder<'a> {
    /// Returns a builder with the folders and compilers of the options.
    ///
    /// # Errors
    /// A folder or toolkit is absent.
    pub fn new(suite: &'a Manifest, options: &'a BuildOptions) -> Result<Self, Failure> {
        super::check_path(&options.path)?;
        let usual = || caches_of_user().map(|caches| caches.join("selvedge").join("suites"));
        let folder = options.build.clone().or_else(usual).ok_or_else(|| {
            Failure::usage("--build: must be given, since neither XDG_CACHE_HOME nor HOME is set")
        })?;
        let folder = folder.join(&suite.name);
        fs::create_dir_all(folder.join("log"))
            .map_err(|why| Failure::usage(format!("--build: {}: {why}", folder.display())))?;
        // Programs run in other folders.
        let folder = absolute(&folder)?;
        let (nvcc, headers) = toolkits(options.toolkit.as_deref())?;
        Ok(Builder {
            suite,
            path: &options.path,
            size: options.size,
            folder,
            nvcc,
            headers,
            clang: options.clang.clone(),
        })
    }

    /// Returns the path of a program's log of one `step`.
    pub fn log(&self, program: &Program, step: &str) -> PathBuf {
        self.folder.join("log").join(format!("{}-{}.{step}.txt", program.name, self.size))
    }

    /// Copies a program's folder and compiles the program.
    ///
    /// # Errors
    /// The reason in one line, with the path of the log if a compiler has written one.
    pub fn build(&self, program: &Program, run: &Run) -> Result<Built, String> {
        let missing = super::missing_sources(self.path, program);
        if let Some(first) = missing.first() {
            return Err(format!("{}: there is no such file", first.display()));
        }
        let root = self.folder.join("tree").join(format!("{}-{}", program.name, self.size));
        let folder = tree::copy(self.path, Path::new(&program.folder), &root)
            .map_err(|why| format!("cannot copy its folder to {}: {why}", root.display()))?;
        let bin = self.folder.join("bin").join(self.size.to_string());
        fs::create_dir_all(&bin).map_err(|why| format!("{}: {why}", bin.display()))?;
        let executable = bin.join(&program.name);
        let log = self.log(program, "build");
        let wrong = |why: String| format!("{why}: see {}", log.display());
        let mut command = self.compiler(program)?;
        command.args(self.suite.flags.iter().chain(&program.flags).chain(&run.flags));
        command.args(&program.sources).arg("-o").arg(&executable);
        if let (Compiler::Clang, Some(headers)) = (program.compiler, &self.headers) {
            for library in ["lib64", "lib"].map(|name| headers.join(name)).iter().filter(|path| path.is_dir())
            {
                command.arg("-L").arg(library);
            }
            command.args(["-lcudart", "-lstdc++", "-lm", "-pthread"]);
        }
        command.current_dir(&folder).stdin(Stdio::null());
        let mut file = File::create(&log).map_err(|why| format!("{}: {why}", log.display()))?;
        // The log begins with the command.
        writeln!(file, "{command:?}").map_err(|why| wrong(why.to_string()))?;
        let other = file.try_clone().map_err(|why| wrong(why.to_string()))?;
        let status = command
            .stdout(other)
            .stderr(file)
            .status()
            .map_err(|why| format!("cannot run {}: {why}", command.get_program().to_string_lossy()))?;
        if !status.success() {
            return Err(wrong("the compiler reports errors".into()));
        }
        Ok(Built { executable, folder })
    }

    /// Returns the compiler with the flags of every suite.
    fn compiler(&self, program: &Program) -> Result<Command, String> {
        match program.compiler {
            Compiler::Nvcc => {
                let nvcc = self.nvcc.as_ref().ok_or("it needs nvcc: the toolkit has none")?;
                let mut command = Command::new(nvcc);
                command.args([
                    "-cudart",
                    "shared",
                    "-gencode",
                    "arch=compute_75,code=compute_75",
                    "-O2",
                    "-w",
                ]);
                Ok(command)
            }
            Compiler::Clang => {
                let headers = self.headers.as_ref().ok_or("it needs clang and a CUDA toolkit for it")?;
                let mut command = Command::new(clang(self.clang.as_deref())?);
                command.arg(format!("--cuda-path={}", headers.display()));
                command.args(["--cuda-gpu-arch=sm_60", "-O2", "-w"]);
                // clang knows the headers only for CUDA files, not for C++ files that include them.
                command.arg("-idirafter").arg(headers.join("include"));
                Ok(command)
            }
        }
    }
}

/// Returns the given clang, or the first installed one.
fn clang(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(given) = given {
        return Ok(given.to_path_buf());
    }
    let is_there = |name: &&&str| {
        let version =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        !matches!(version, Err(why) if why.kind() == ErrorKind::NotFound)
    };
    let found = CLANGS.iter().find(is_there).map(PathBuf::from);
    found.ok_or_else(|| format!("it needs clang: there is none of {} (--clang)", CLANGS.join(", ")))
}

/// Returns nvcc and the toolkit for clang, from a CUDA toolkit, from a folder of `docs/cuda/toolkit`, or from the nvcc in `PATH`.
fn toolkits(given: Option<&Path>) -> Result<(Option<PathBuf>, Option<PathBuf>), Failure> {
    let nvcc_of = |folder: &Path| Some(folder.join("bin").join("nvcc")).filter(|nvcc| nvcc.is_file());
    if let Some(folder) = given {
        let folder = absolute(folder)?;
        if let Some(nvcc) = nvcc_of(&folder) {
            return Ok((Some(nvcc), Some(folder)));
        }
        let (nvcc, headers) = (nvcc_of(&folder.join("cuda13")), folder.join("cuda11"));
        let headers = Some(headers).filter(|headers| headers.is_dir());
        if nvcc.is_none() && headers.is_none() {
            return Err(Failure::usage(format!(
                "--toolkit {}: must be a CUDA toolkit, or a folder that docs/cuda/toolkit has made",
                folder.display()
            )));
        }
        return Ok((nvcc, headers));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let nvcc = std::env::split_paths(&path).map(|folder| folder.join("nvcc")).find(|nvcc| nvcc.is_file());
    let nvcc = nvcc.and_then(|nvcc| fs::canonicalize(nvcc).ok()).ok_or_else(|| {
        Failure::usage(
            "--toolkit: must be given, since PATH has no nvcc (`docs/cuda/toolkit FOLDER` makes a toolkit)",
        )
    })?;
    let headers = nvcc.parent().and_then(Path::parent).map(Path::to_path_buf);
    Ok((Some(nvcc), headers))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    fs::canonicalize(path).map_err(|why| Failure::usage(format!("{}: {why}", path.display())))
}
