//! Writes the results of a command. A failed output does not prevent the others.
use super::whole::{write_set, write_whole};
use super::{Plan, is_standard_output, print, say};
use crate::error::Failure;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes all of `files` or none, and prints their names.
pub fn write_files(files: &[(PathBuf, impl AsRef<[u8]>)]) -> Result<(), Failure> {
    let mut plan = Plan::default();
    files.iter().for_each(|(path, _)| plan.write("--output", path));
    let mut outputs = plan.check()?;
    if outputs.note(write_set(files)).is_some() {
        outputs.show(&files.iter().map(|(path, _)| format!("{}\n", path.display())).collect::<String>());
    }
    outputs.finish(None)
}

/// The outputs of a checked [`Plan`].
pub struct Outputs {
    plan: Arc<Plan>,
    interrupted: bool,
    /// Files `NAME.partial` that were written instead of outputs.
    partial: Vec<PathBuf>,
    failures: Vec<Failure>,
}

impl Outputs {
    pub(super) fn new(plan: Plan) -> Self {
        Outputs { plan: Arc::new(plan), interrupted: false, partial: Vec::new(), failures: Vec::new() }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// From now on, writes to `NAME.partial` instead of the file `NAME`, which holds only complete results.
    pub fn interrupted(&mut self) {
        self.interrupted = true;
    }

    /// Writes a file of the plan.
    pub fn write(&mut self, path: &Path, bytes: impl AsRef<[u8]>) {
        let is_file = path.metadata().map_or(true, |there| there.is_file());
        if !(self.interrupted && is_file) {
            self.note(write_whole(path, bytes.as_ref()));
            return;
        }
        let mut name = OsString::from(path);
        name.push(".partial");
        let beside = PathBuf::from(name);
        if self.write_late("what an interrupted command has:", &beside, bytes) {
            self.partial.push(beside);
        }
    }

    /// Writes a file that is not in the plan, and returns whether that succeeded.
    pub fn write_late(&mut self, what: &str, path: &Path, bytes: impl AsRef<[u8]>) -> bool {
        let written = self.plan.check_late(what, path).and_then(|()| write_whole(path, bytes.as_ref()));
        self.note(written).is_some()
    }

    /// Writes a file of the plan, or prints to standard output if the target is `-`.
    pub fn write_or_print(&mut self, target: &str, text: &str) {
        if is_standard_output(Path::new(target)) {
            self.note(print(text));
        } else {
            self.write(Path::new(target), text);
        }
    }

    /// Prints a table, unless an output goes to standard output.
    pub fn show(&mut self, table: &str) {
        if !self.plan.takes_standard_output() {
            self.note(print(table));
        }
    }

    /// Returns the value of a success, and records a failure.
    pub fn note<T>(&mut self, outcome: Result<T, Failure>) -> Option<T> {
        outcome.map_err(|failure| self.failures.push(failure)).ok()
    }

    /// Ends the command with `verdict` and the failures of outputs.
    ///
    /// # Errors
    /// Fails if `verdict` is given or an output failed. The exit code is that of `verdict` if given.
    pub fn finish(mut self, verdict: Option<Failure>) -> Result<(), Failure> {
        if !self.partial.is_empty() {
            let names: Vec<String> = self.partial.iter().map(|path| path.display().to_string()).collect();
            say(format!("selvedge: partial results are in {}\n", names.join(", ")));
        }
        match verdict.or_else(|| self.failures.pop()) {
            None => Ok(()),
            Some(last) => Err(last.after(self.failures)),
        }
    }
}
