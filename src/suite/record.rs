//! Runs programs of a suite under `selvedge cuda`, checks their output, and keeps the records of those without an error.
use super::build::{Builder, Built};
use super::manifest::{Check, Program, Run};
use super::options::RecordOptions;
use super::{Outcome, Row};
use crate::error::Failure;
use crate::output::write_whole;
use selvedge_sim::source::RECORDED;
use serde::Deserialize;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Keys of the report that a row shows.
#[derive(Deserialize)]
struct Report {
    result: String,
    launches: u64,
    warp_instructions: u64,
}

/// Returns the path of a record below the folder of all records. Studies find it by this name.
fn path_of(folder: &Path, suite: &str, program: &str, size: impl std::fmt::Display) -> PathBuf {
    folder.join(suite).join(format!("{program}-{size}{RECORDED}"))
}

/// Builds, runs and checks a program, and writes its record.
pub fn record(
    options: &RecordOptions,
    suite: &str,
    builder: &Builder,
    (program, run, check): (&Program, &Run, &Check),
) -> Result<Row, Failure> {
    let size = options.build.size;
    let row = Row::new(program, size);
    if let Some(input) = super::missing_inputs(&options.build.path, run).first() {
        return Ok(row.failed(Outcome::NoInput, format!("{}: there is no such file", input.display())));
    }
    let built = match builder.build(program, run) {
        Ok(built) => built,
        Err(why) => return Ok(row.failed(Outcome::NotBuilt, why)),
    };
    let log = builder.log(program, "record");
    let draft = built.executable.with_extension(format!("draft{RECORDED}"));
    let json = built.executable.with_extension("json");
    // An interrupted run may have left a report.
    let _ = fs::remove_file(&json);
    let file = File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, error) = file.map_err(|why| Failure::usage(format!("{}: {why}", log.display())))?;
    let mut command = command(options, program, run, &built, (&draft, &json))?;
    command
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(error)
        .status()
        .map_err(|why| Failure::usage(format!("cannot run selvedge: {why}")))?;
    let text = fs::read(&log).map_err(|why| Failure::usage(format!("{}: {why}", log.display())))?;
    let text = String::from_utf8_lossy(&text);
    let report = fs::read(&json).ok().and_then(|text| serde_json::from_slice::<Report>(&text).ok());
    let see = |why: &str| format!("{why}: see {}", log.display());
    let Some(report) = report else {
        let _ = fs::remove_file(&draft);
        return Ok(row.failed(Outcome::Fail, see(last_line(&text))));
    };
    let _ = fs::remove_file(&json);
    let row = row.counts(report.launches, report.warp_instructions);
    let complaint = check.complaint(&text);
    let row = match (report.result.as_str(), complaint) {
        ("unchecked", None) if check.is_made() => row.ended(Outcome::Ok),
        ("unchecked", None) => row.ended(Outcome::Unchecked),
        ("unchecked", Some(complaint)) => row.failed(Outcome::Fail, see(&complaint)),
        ("incomplete", None) => row.failed(Outcome::Incomplete, see(last_line(&text))),
        ("incomplete", Some(complaint)) => row.failed(Outcome::Fail, see(&complaint)),
        _ => row.failed(Outcome::Fail, see(last_line(&text))),
    };
    let row = if row.outcome.is_kept() {
        let target = path_of(&options.output, suite, &program.name, size);
        let bytes = fs::read(&draft).map_err(|why| Failure::usage(format!("{}: {why}", draft.display())))?;
        write_whole(&target, &bytes)?;
        row.file(&target)
    } else {
        row
    };
    let _ = fs::remove_file(&draft);
    Ok(row)
}

/// Returns the command that runs a program without timing, in the copy of its folder.
fn command(
    options: &RecordOptions,
    program: &Program,
    run: &Run,
    built: &Built,
    (draft, json): (&Path, &Path),
) -> Result<Command, Failure> {
    let selvedge = std::env::current_exe()
        .map_err(|why| Failure::usage(format!("the path of selvedge is unknown: {why}")))?;
    let mut command = Command::new(selvedge);
    command.args(["cuda", "--functional", "--config"]).arg(config_path(&options.config));
    for set in &program.set {
        command.args(["--set", set]);
    }
    if let Some(timeout) = options.timeout {
        command.args(["--timeout", &format!("{}s", timeout.as_secs())]);
    }
    if let Some(memory) = options.max_memory {
        command.args(["--max-memory", &memory.0.to_string()]);
    }
    command.arg("--record").arg(draft).arg("--json").arg(json).arg("--").arg(&built.executable);
    command.args(&run.arguments).current_dir(&built.folder);
    Ok(command)
}

/// Returns the absolute path of a TOML file, since the program runs in another folder, or the name of a built-in configuration.
fn config_path(config: &str) -> PathBuf {
    fs::canonicalize(config).ok().filter(|_| config.ends_with(".toml")).unwrap_or_else(|| config.into())
}

/// Returns the last message of selvedge in the log, or the last line.
fn last_line(log: &str) -> &str {
    let lines = || log.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let found = lines().find_map(|line| line.strip_prefix("selvedge: "));
    found.or_else(|| lines().next()).unwrap_or("no output")
}
