//! Limits end endless runs in the same cycle every time, with a report that says so.
use crate::command::selvedge_in;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

const FOREVER: &str = "tests/data/forever.toml";

fn selvedge(words: &[&str]) -> Output {
    selvedge_in(Path::new("."), words)
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs with `--json -` until a limit, and returns the report.
fn limited(words: &[&str]) -> Value {
    let output = selvedge(&[words, &["--json", "-"]].concat());
    let error = error(&output);
    assert_eq!(output.status.code(), Some(3), "{words:?}: {error}");
    assert_eq!(error.lines().filter(|line| !line.contains("warning")).count(), 1, "{error}");
    serde_json::from_slice(&output.stdout).expect("a report")
}

#[test]
fn a_run_ends_in_the_last_cycle_that_is_allowed() {
    let report = limited(&["run", FOREVER, "--max-cycles", "123457"]);
    assert_eq!((&report["result"], &report["limit"]["max_cycles"]), (&"max-cycles".into(), &123_457.into()));
    assert_eq!(report["totals"]["cycles"], 123_457);
    assert_eq!(report["error"], "max-cycles 123457 reached at cycle 123457");
}

#[test]
fn a_run_that_ends_within_its_limits_is_as_without() {
    let run = |words: &[&str]| {
        let output = selvedge(&[&["run", "vecadd", "--json", "-"], words].concat());
        assert!(output.status.success(), "{}", error(&output));
        let mut report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        report.as_object_mut().expect("an object").remove("host").expect("measurements");
        report
    };
    let plain = run(&[]);
    let totals = &plain["totals"];
    let (cycles, threads) =
        (totals["cycles"].to_string(), totals["thread_instructions"].as_u64().expect("a number"));
    assert_eq!(plain["result"], "pass");
    assert_eq!(run(&["--max-cycles", &cycles, "--timeout", "2h"]), plain);
    assert_eq!(run(&["--max-instructions", &(threads + 1).to_string()]), plain);
    let less = (cycles.parse::<u64>().expect("a number") - 1).to_string();
    assert_eq!(limited(&["run", "vecadd", "--max-cycles", &less])["totals"]["cycles"].to_string(), less);
}

#[test]
fn instructions_of_threads_are_limited_to_the_cycle() {
    let words = ["run", "kmeans", "--max-instructions", "100000"];
    let report = limited(&words);
    assert_eq!(report["result"], "max-instructions");
    let issued = report["totals"]["thread_instructions"].as_u64().expect("a number");
    // This configuration issues at most 15 x 2 warp instructions per cycle.
    assert!((100_000..100_000 + 15 * 2 * 32).contains(&issued), "{issued}");
    assert_eq!(limited(&words)["totals"], report["totals"]);
}

#[test]
fn time_ends_a_run_and_the_trials_before_it() {
    for mechanism in ["base", "swl-best"] {
        let report = limited(&["run", FOREVER, "--mechanism", mechanism, "--timeout", "2s"]);
        assert_eq!((&report["result"], &report["limit"]["timeout_s"]), (&"timeout".into(), &2.0.into()));
    }
}

#[test]
fn a_livelock_is_named_while_the_run_goes_on() {
    let output = selvedge(&["run", FOREVER, "--max-cycles", "3000000"]);
    let text = error(&output);
    let named = "selvedge: warning: tests/data/forever.toml tiny base: livelock at cycle 2097152: sm0 warp 0 (kernel wait, CTA 0,0,0) \
                 repeats PTX lines 12 to 14\n";
    assert!(text.starts_with(named), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("3000000"), "the run went on");
}

#[test]
fn each_run_of_a_comparison_has_the_limits_for_itself_at_any_number_of_jobs() {
    let words = [
        "compare",
        "vecadd",
        "atax",
        "--size",
        "tiny",
        "--mechanisms",
        "base,swl-best",
        "--max-cycles",
        "2000",
    ];
    let one = limited(&[&words[..], &["--jobs", "1"]].concat());
    let results: Vec<_> =
        one.as_array().expect("a list").iter().map(|report| report["result"].clone()).collect();
    assert_eq!(results, ["pass", "pass", "max-cycles", "max-cycles"]);
    let totals = |reports: &Value| -> Vec<Value> {
        reports.as_array().expect("a list").iter().map(|report| report["totals"].clone()).collect()
    };
    assert_eq!(totals(&one), totals(&limited(&[&words[..], &["--jobs", "4"]].concat())));
    let table = selvedge(&words);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    let cut =
        table.lines().find(|line| line.starts_with("atax") && line.contains("swl-best")).expect("a row");
    assert_eq!(cut.split_whitespace().nth(3), Some("-"), "no speedup of runs that were cut: {cut}");
}

#[test]
fn workloads_together_end_together() {
    let report = limited(&["run", &format!("{FOREVER}+vecadd"), "--max-cycles", "40000"]);
    assert_eq!(report["limit"]["max_cycles"], 40_000);
    assert_eq!(report["totals"]["cycles"], 40_000);
    let results: Vec<_> =
        report["programs"].as_array().expect("a list").iter().map(|one| &one["result"]).collect();
    assert_eq!(results, ["unfinished", "pass"]);
}

#[test]
fn a_run_that_a_limit_ends_leaves_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["trace", "record", "atax", "--output", "a.strace", "--max-cycles", "2000"];
    let output = selvedge_in(folder.path(), &words);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    assert!(!folder.path().join("a.strace").exists());
}

#[test]
fn limits_that_are_none_are_refused_in_one_line() {
    for (words, what) in [
        (["--max-cycles", "0"], "--max-cycles"),
        (["--max-instructions", "many"], "--max-instructions"),
        (["--timeout", "90"], "must be an integer with s, m or h, such as 90s, 10m or 2h"),
    ] {
        let output = selvedge(&[&["run", "vecadd"][..], &words].concat());
        let error = error(&output);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(what) && error.lines().count() == 1, "{error}");
    }
}
