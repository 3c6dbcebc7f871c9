//! Runs a binary as a child process and measures its resources.
use crate::error::Failure;
use nix::errno::Errno;
use nix::libc;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Resources that a run used, and totals of its report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// CPU seconds in user mode.
    pub user_s: f64,
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// Max resident memory, bytes.
    pub resident_bytes: u64,
    /// Totals of the run's report.
    pub report: Simulated,
}

/// Totals of a run's report that figures need. Totals that the run does not report are zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulated {
    /// Core cycles.
    pub cycles: u64,
    /// Warp instructions.
    pub warp_instructions: u64,
    /// Active lanes of the warp instructions.
    pub thread_instructions: u64,
    /// Bytes of device memory, which only `--functional` reports.
    pub device_bytes: u64,
    /// Half the width of the confidence interval of the cycles, if `--intervals` estimates it.
    pub cycles_within: Option<f64>,
    /// Share of the instructions that were simulated in detail, which only `--intervals` reports.
    pub detailed_share: f64,
}

/// Keys of a report. The reports of timed and of functional runs have some of them each.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    totals: ReportedTotals,
    warp_instructions: u64,
    device_bytes: u64,
    estimate: ReportedEstimate,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReportedEstimate {
    cycles_within: Option<f64>,
    detailed_share: f64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReportedTotals {
    cycles: u64,
    warp_instructions: u64,
    thread_instructions: u64,
}

/// Runs `binary` in `folder`, where the run may leave `report.json`.
///
/// # Errors
/// Fails with one line if the binary does not start or the run fails.
pub fn measure(binary: &Path, arguments: &[String], folder: &Path) -> Result<Sample, Failure> {
    let report = folder.join("report.json");
    let log = folder.join("errors.txt");
    let (is_success, used) = resources(&mut command(binary, arguments, folder, &log)?, binary)?;
    if !is_success {
        return Err(failed(binary, arguments, &log));
    }
    let simulated =
        if arguments.iter().any(|word| word == REPORT) { read(&report)? } else { Simulated::default() };
    Ok(Sample { report: simulated, ..used })
}

/// Runs a command of `program`. Returns whether it succeeded, and the resources that it used.
///
/// # Errors
/// Fails with one line if the program does not start.
pub fn resources(command: &mut Command, program: &Path) -> Result<(bool, Sample), Failure> {
    let cannot = |e: &dyn std::fmt::Display| Failure::usage(format!("{}: {e}", program.display()));
    let begun = Instant::now();
    let child = command.spawn().map_err(|e| cannot(&e))?;
    let (status, usage) = wait(child.id()).map_err(|e| cannot(&e))?;
    let wall_s = begun.elapsed().as_secs_f64();
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    // Kilobytes, except on Apple's systems, which report bytes.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let resident_bytes = usage.ru_maxrss as u64 * unit;
    let (user_s, report) = (seconds(usage.ru_utime), Simulated::default());
    Ok((status == 0, Sample { user_s, wall_s, resident_bytes, report }))
}

/// Returns the instructions that the run executes in user mode, as valgrind's callgrind counts them.
///
/// # Errors
/// Fails like [`measure`], or if valgrind is not installed.
pub fn instructions(binary: &Path, arguments: &[String], folder: &Path) -> Result<u64, Failure> {
    let log = folder.join("errors.txt");
    let words = ["--tool=callgrind", "--callgrind-out-file=/dev/null"].map(str::to_owned);
    let words: Vec<String> =
        words.into_iter().chain([binary.display().to_string()]).chain(arguments.iter().cloned()).collect();
    let status = command(Path::new("valgrind"), &words, folder, &log)?
        .status()
        .map_err(|e| Failure::usage(format!("--instructions: valgrind: {e}: must be installed")))?;
    if !status.success() {
        return Err(failed(binary, arguments, &log));
    }
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    collected(&text).ok_or_else(|| Failure::usage("--instructions: valgrind printed no count"))
}

/// Finds the count in the output of callgrind.
fn collected(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

/// Name of a run's report in its folder.
pub const REPORT: &str = "report.json";

fn command(program: &Path, arguments: &[String], folder: &Path, log: &Path) -> Result<Command, Failure> {
    let errors = std::fs::File::create(log).map_err(|e| Failure::usage(format!("{}: {e}", log.display())))?;
    // A relative path would be resolved in the new folder.
    let program: PathBuf = if program.components().count() > 1 {
        std::path::absolute(program).map_err(|e| Failure::usage(format!("{}: {e}", program.display())))?
    } else {
        program.into()
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    Ok(command)
}

fn failed(binary: &Path, arguments: &[String], log: &Path) -> Failure {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let why = text.lines().rev().find(|line| line.starts_with("selvedge: ")).unwrap_or("it failed");
    Failure::simulation(format!("{} {}: {why}", binary.display(), arguments.join(" ")))
}

fn read(report: &Path) -> Result<Simulated, Failure> {
    let wrong = |e: &dyn std::fmt::Display| Failure::simulation(format!("{}: {e}", report.display()));
    let text = std::fs::read_to_string(report).map_err(|e| wrong(&e))?;
    let found: Report = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
    Ok(Simulated {
        cycles: found.totals.cycles,
        warp_instructions: found.totals.warp_instructions.max(found.warp_instructions),
        thread_instructions: found.totals.thread_instructions,
        device_bytes: found.device_bytes,
        cycles_within: found.estimate.cycles_within,
        detailed_share: found.estimate.detailed_share,
    })
}

/// Waits until a child ends, and returns its status and resource usage.
fn wait(id: u32) -> Result<(i32, libc::rusage), Errno> {
    let mut status = 0;
    // SAFETY: all zeros are a value of the plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers point to variables of this function. The child belongs to this process, and only this
        // call waits for it.
        let ended = unsafe { libc::wait4(id as libc::pid_t, &raw mut status, 0, &raw mut usage) };
        match Errno::result(ended) {
            Ok(_) => return Ok((status, usage)),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_charged_with_its_own_time_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |loops: &str| {
            let text = format!("i=0; while [ $i -lt {loops} ]; do i=$((i+1)); done");
            measure(Path::new("/bin/sh"), &["-c".into(), text], folder.path()).expect("it runs")
        };
        let (long, short) = (run("200000"), run("1"));
        assert!(long.user_s > short.user_s, "{long:?} {short:?}");
        assert!(short.resident_bytes > 100_000, "{short:?}");
    }

    #[test]
    fn a_run_that_fails_is_one_line_with_its_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = ["-c".to_owned(), "echo 'selvedge: no such thing' >&2; exit 2".to_owned()];
        let failure = measure(Path::new("/bin/sh"), &arguments, folder.path()).expect_err("it fails");
        assert!(format!("{failure:?}").contains("selvedge: no such thing"), "{failure:?}");
        assert!(measure(Path::new("/nowhere/selvedge"), &[], folder.path()).is_err());
    }

    #[test]
    fn the_count_is_callgrinds_total() {
        let text =
            "==1== Events    : Ir\n==1== Collected : 30427964\n==1== \n==1== I   refs:      30,427,964\n";
        assert_eq!(collected(text), Some(30_427_964));
        assert_eq!(collected("valgrind: no\n"), None);
    }
}
