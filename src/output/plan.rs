//! Files that a command reads and writes. No output may be an input or another output.
use super::whole::check_writable;
use super::{Outputs, is_standard_output};
use crate::error::Failure;
use selvedge_hw::file::real_path;
use selvedge_sim::config::BUILT_IN;
use selvedge_sim::run::Source;
use std::path::{Path, PathBuf};

/// The files that a command reads and writes.
#[derive(Default)]
pub struct Plan {
    inputs: Vec<Named>,
    outputs: Vec<Claim>,
    /// Folders in which the command may replace any file.
    folders: Vec<Claim>,
}

/// An output, and the option that requests it.
struct Claim {
    what: String,
    file: Named,
}

/// A file as the user named it, with its identity.
struct Named {
    path: PathBuf,
    identity: Identity,
}

/// Identity of the file that a path leads to, regardless of spelling.
enum Identity {
    StandardOutput,
    /// A pipe or device, to which several outputs may go.
    Stream,
    File {
        real: PathBuf,
        inode: Option<(u64, u64)>,
    },
}

impl Plan {
    /// Adds a file that the command reads.
    pub fn read(&mut self, path: &Path) {
        self.inputs.push(Named::of_file(path));
    }

    /// Adds the file of a configuration, unless it is built in.
    pub fn read_config(&mut self, name: &str) {
        if BUILT_IN.iter().all(|machine| machine.name != name) {
            self.read(Path::new(name));
        }
    }

    /// Adds the files of a workload. `input` is its real input file, if given.
    pub fn read_source(&mut self, source: &Source, input: Option<&Path>) {
        source.inputs(input).iter().for_each(|path| self.read(path));
    }

    /// Adds a file that the command writes for `what`, such as `--vcd`.
    pub fn write(&mut self, what: impl Into<String>, path: &Path) {
        self.outputs.push(Claim { what: what.into(), file: Named::of_file(path) });
    }

    /// Like [`Plan::write`], but `-` means standard output.
    pub fn write_or_print(&mut self, what: impl Into<String>, target: &str) {
        let path = Path::new(target);
        if is_standard_output(path) {
            let file = Named { path: path.into(), identity: Identity::StandardOutput };
            self.outputs.push(Claim { what: what.into(), file });
        } else {
            self.write(what, path);
        }
    }

    /// Adds the files that a workload saves.
    pub fn write_saves(&mut self, source: &Source) {
        source.outputs().iter().for_each(|path| self.write(format!("`save` of {}", source.name()), path));
    }

    /// Adds a folder in which the command may replace any file.
    pub fn write_folder(&mut self, what: impl Into<String>, path: &Path) {
        self.folders.push(Claim { what: what.into(), file: Named::of_file(path) });
    }

    /// Refuses an output that is an input or another output, or that cannot be written.
    ///
    /// # Errors
    /// Fails with the first such output.
    pub fn check(self) -> Result<Outputs, Failure> {
        for (index, output) in self.outputs.iter().enumerate() {
            self.conflict(&output.what, &output.file, index).map_or(Ok(()), Err)?;
        }
        for folder in &self.folders {
            if let Some(input) = self.inputs.iter().find(|input| input.is_in(&folder.file)) {
                let (what, input) = (&folder.what, input.path.display());
                return Err(Failure::usage(format!(
                    "{what} {} may replace the input {input}: must be another folder",
                    folder.file.path.display()
                )));
            }
        }
        for output in &self.outputs {
            if !matches!(output.file.identity, Identity::StandardOutput) {
                check_writable(&output.file.path)?;
            }
        }
        Ok(Outputs::new(self))
    }

    /// Refuses a file, found after the check, that would overwrite a file of the plan.
    ///
    /// # Errors
    /// Fails if the file is an input or an output of the plan, or in one of its folders.
    pub fn check_late(&self, what: &str, path: &Path) -> Result<(), Failure> {
        self.conflict(what, &Named::of_file(path), self.outputs.len()).map_or(Ok(()), Err)
    }

    /// Returns whether an output goes to standard output.
    pub(super) fn takes_standard_output(&self) -> bool {
        self.outputs.iter().any(|output| matches!(output.file.identity, Identity::StandardOutput))
    }

    /// Returns the conflict of an output with the inputs, the first `count` outputs or the folders, if any.
    fn conflict(&self, what: &str, file: &Named, count: usize) -> Option<Failure> {
        let named = file.path.display();
        if let Some(input) = self.inputs.iter().find(|input| input.is(file)) {
            let input = input.path.display();
            return Some(Failure::usage(format!(
                "{what} {named} is the input {input}: must be a file that is not read"
            )));
        }
        if let Some(other) = self.outputs[..count].iter().find(|other| other.file.is(file)) {
            let other = &other.what;
            return Some(Failure::usage(format!(
                "{other} and {what} name the same file {named}: each must have its own"
            )));
        }
        let folder = self.folders.iter().find(|folder| file.is_in(&folder.file))?;
        Some(Failure::usage(format!(
            "{what} {named} lies in the folder of {}: must be in another",
            folder.what
        )))
    }
}

impl Named {
    fn of_file(path: &Path) -> Self {
        Named { path: path.into(), identity: Identity::of(path) }
    }

    /// Returns whether two paths lead to the same file.
    fn is(&self, other: &Named) -> bool {
        match (&self.identity, &other.identity) {
            (Identity::StandardOutput, Identity::StandardOutput) => true,
            (Identity::File { real: a, inode: m }, Identity::File { real: b, inode: n }) => {
                a == b || m.is_some() && m == n
            }
            _ => false,
        }
    }

    fn is_in(&self, folder: &Named) -> bool {
        match (&self.identity, &folder.identity) {
            (Identity::File { real, .. }, Identity::File { real: folder, .. }) => real.starts_with(folder),
            _ => false,
        }
    }
}

impl Identity {
    fn of(path: &Path) -> Self {
        let there = path.metadata().ok();
        if there.as_ref().is_some_and(|there| !there.is_file() && !there.is_dir()) {
            return Identity::Stream;
        }
        let real = real_path(path).unwrap_or_else(|_| path.into());
        Identity::File { real, inode: there.as_ref().and_then(inode) }
    }
}

/// Returns device and inode number of a file.
#[cfg(unix)]
fn inode(of: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((of.dev(), of.ino()))
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}
