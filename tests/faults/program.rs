//! Test programs of the copy. cargo builds them, and they run without cargo.

use crate::tree::SELECTED;
use serde_json::Value;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Variable that restricts tests over all blocks to one block.
const BLOCK: &str = "SELVEDGE_BLOCK";

/// Max time of a fault's tests. After that, the fault counts as hanging.
const LONGEST: Duration = Duration::from_secs(1200);

/// A package and one of its test programs.
pub type Name<'a> = (&'a str, &'a str);

/// Outcome of a run of tests.
pub struct Outcome {
    /// Number of tests that passed.
    pub passed: usize,
    /// Names of the tests that failed.
    pub failed: Vec<String>,
    /// Error of the run as a whole, if any.
    pub broken: Option<String>,
    /// Wall-clock time of the run.
    pub time: Duration,
}

/// Builds test programs of the copy at `tree`, and returns their paths.
///
/// # Errors
/// Fails with a line if a build fails or does not produce a program.
pub fn build<'a>(
    tree: &Path,
    target: &Path,
    programs: &[Name<'a>],
) -> Result<HashMap<Name<'a>, PathBuf>, String> {
    let mut paths = HashMap::new();
    for &(package, name) in programs {
        let choice: &[&str] = if name == "lib" { &["--lib"] } else { &["--test", name] };
        let output = Command::new(env!("CARGO"))
            .args(["test", "--no-run", "--message-format=json-render-diagnostics", "--package", package])
            .args(choice)
            .current_dir(tree)
            .env("CARGO_TARGET_DIR", target)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        let messages = String::from_utf8_lossy(&output.stdout);
        let path = messages.lines().filter_map(executable).next_back();
        let path = path.filter(|_| output.status.success());
        paths.insert((package, name), path.ok_or_else(|| format!("{package}: {name} does not build"))?);
    }
    Ok(paths)
}

/// Returns the path of a test program from a message of cargo about it.
fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_test = message["profile"]["test"].as_bool()?;
    is_test.then(|| message["executable"].as_str().map(PathBuf::from))?
}

/// Selected tests of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tests<'a> {
    /// Package and test program.
    pub program: Name<'a>,
    /// Block to which tests over all blocks are restricted.
    pub block: Option<&'a str>,
    /// Texts that the names of the tests contain.
    pub names: Vec<&'a str>,
}

/// Runs tests of the program at `path` in `folder`, with a fault if given.
pub fn run(path: &Path, folder: &Path, tests: &Tests, fault: Option<&str>) -> Outcome {
    let start = Instant::now();
    let mut command = Command::new(path);
    command.args(&tests.names).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::null());
    command.env_remove(SELECTED).env_remove(BLOCK).env("RUST_BACKTRACE", "0");
    // Do not store failing cases of one fault, which the next fault would repeat.
    command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
    command.envs(fault.map(|id| (SELECTED, id)));
    command.envs(tests.block.map(|block| (BLOCK, block)));
    let mut outcome = Outcome { passed: 0, failed: Vec::new(), broken: None, time: Duration::ZERO };
    match text_of(&mut command, start + LONGEST) {
        Ok(text) => read_report(&text, &mut outcome),
        Err(line) => outcome.broken = Some(line),
    }
    outcome.time = start.elapsed();
    outcome
}

/// Returns the output of a command, or the reason if it did not end normally.
fn text_of(command: &mut Command, end: Instant) -> Result<String, String> {
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut stdout = child.stdout.take().expect("the output is piped");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(format!("the tests hang: no result after {} s", LONGEST.as_secs()));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    let bytes = reader.join().expect("the reader ends").map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses the report of a test program.
fn read_report(text: &str, outcome: &mut Outcome) {
    let lines = || text.lines().filter_map(|line| line.strip_prefix("test "));
    outcome.passed = lines().filter(|line| line.ends_with(" ... ok")).count();
    let failed = lines().filter_map(|line| line.strip_suffix(" ... FAILED"));
    outcome.failed = failed.map(str::to_owned).collect();
    if !text.lines().any(|line| line.starts_with("test result: ")) {
        outcome.broken = Some("the test program ended without a result".to_owned());
    }
}
