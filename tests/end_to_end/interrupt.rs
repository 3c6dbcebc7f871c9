//! A signal ends every command with its partial results, one line, and the exit code that shells use.
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Signals, with the exit codes of commands that they end.
const SIGNALS: [(&str, i32); 3] = [("-INT", 130), ("-TERM", 143), ("-HUP", 129)];

fn start(folder: &Path, words: &[&str]) -> Child {
    // Under `nohup` the command would ignore SIGHUP; reset its disposition.
    Command::new("env")
        .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_selvedge")])
        .args(words)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Runs the command, which would take minutes, and sends it a signal. The exact time of the signal does not matter.
fn ended_by(signal: &str, folder: &Path, words: &[&str]) -> Output {
    let run = start(folder, words);
    std::thread::sleep(Duration::from_secs(3));
    end(run, signal)
}

fn end(run: Child, signal: &str) -> Output {
    let id = run.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
    run.wait_with_output().expect("the run ends")
}

/// Checks the exit code and that standard error has one line, and returns the line.
fn line(output: &Output, code: i32, words: &[&str]) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {error}");
    let lines: Vec<&str> = error.lines().filter(|line| !line.starts_with("selvedge: warning: ")).collect();
    assert_eq!(lines.len(), 1, "{words:?}: {error}");
    lines[0].to_owned()
}

#[test]
fn an_interrupted_run_reports_what_it_has() {
    for (signal, code) in SIGNALS {
        let words = ["run", "kmeans", "--size", "paper", "--json", "-"];
        let output = ended_by(signal, Path::new("."), &words);
        let error = line(&output, code, &words);
        assert!(error.contains("interrupted at cycle"), "{error}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
        assert_eq!(report["result"], "interrupted");
        assert!(report["totals"]["warp_instructions"].as_u64().expect("a number") > 0);
    }
}

#[test]
fn an_interrupted_run_by_intervals_ends_with_one_line() {
    for (jobs, (signal, code)) in ["1", "2", "8"].into_iter().zip(SIGNALS) {
        let words = ["run", "kmeans", "--size", "paper", "--intervals", "4", "--jobs", jobs, "--json", "-"];
        let output = ended_by(signal, Path::new("."), &words);
        let error = line(&output, code, &words);
        assert!(error.contains("interrupted at cycle"), "{error}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
        assert_eq!(report["result"], "interrupted");
    }
}

#[test]
fn an_interrupted_comparison_reports_the_runs_that_have_ended() {
    let runs = ["vecadd", "tests/data/forever.toml", "atax", "--mechanisms", "base", "--jobs", "1"];
    let words = [&["compare", "--size", "tiny"], &runs[..]].concat();
    let output = ended_by("-TERM", Path::new("."), &words);
    let error = line(&output, 143, &words);
    assert!(error.contains("forever.toml base: interrupted at cycle"), "{error}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("vecadd") && !table.contains("forever") && !table.contains("atax"), "{table}");
}

#[test]
fn an_interrupted_classification_shows_what_was_measured() {
    let words = ["classify", "vecadd", "kmeans", "--size", "paper", "--jobs", "1"];
    let run = start(Path::new("."), &words);
    // vecadd takes seconds, kmeans minutes.
    std::thread::sleep(Duration::from_secs(15));
    let output = end(run, "-INT");
    let error = line(&output, 130, &words);
    assert!(error.contains("measurements are left"), "{error}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.lines().any(|line| line.starts_with("vecadd") && line.contains("LCC")), "{table}");
}

#[test]
fn commands_that_report_at_their_end_leave_nothing_behind_and_no_torn_file() {
    for (at, words) in [
        &["fidelity", "--output", "page.md"][..],
        &["wave", "bdi_compressor", "--cycles", "100000000", "--output", "a.vcd"],
        &["trace", "record", "kmeans", "--size", "paper", "--output", "a.strace"],
    ]
    .into_iter()
    .enumerate()
    {
        let folder = tempfile::tempdir().expect("a folder");
        let (signal, code) = SIGNALS[at % SIGNALS.len()];
        let output = ended_by(signal, folder.path(), words);
        let error = line(&output, code, words);
        assert!(error.contains("interrupted"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "{words:?}");
    }
}

#[test]
fn files_that_belong_together_are_all_there_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = || -> Vec<String> {
        let files = std::fs::read_dir(folder.path().join("out")).into_iter().flatten();
        files.map(|file| file.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    };
    let run = start(folder.path(), &["gen", "--all", "--output", "out"]);
    // Two temporary files at once belong to the set. The check that the folder is writable creates one at a time.
    while names().len() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    line(&end(run, "-TERM"), 143, &["gen"]);
    let names = names();
    assert!(!names.is_empty());
    for name in names.iter().filter_map(|name| name.strip_suffix(".core")) {
        // A cell that blocks share is not synthesized separately.
        let ends = if name.starts_with("selvedge_") { &["v"][..] } else { &["v", "f", "sdc", "ys"] };
        for end in ends {
            assert!(names.contains(&format!("{name}.{end}")), "{name}.{end} of {names:?}");
        }
    }
}
