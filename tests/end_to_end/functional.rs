//! `run --functional` and `run --sample`: they report what they have done, refuse what they cannot do, and end when stopped.
use crate::command::selvedge_in;
use serde_json::Value;
use std::path::Path;

/// Runs; the exit code, standard output and standard error.
fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let output = selvedge_in(Path::new("."), &[&["run"], words].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_functional_run_executes_what_the_timed_run_issues() {
    let report = |words: &[&str]| -> Value {
        let (code, json, error) = run(&[&["bfs", "--json", "-"], words].concat());
        assert_eq!(code, Some(0), "{error}");
        serde_json::from_str(&json).expect("a report")
    };
    let (functional, timed) = (report(&["--functional"]), report(&[]));
    assert_eq!(functional["result"], "pass");
    for key in ["warp_instructions", "thread_instructions"] {
        assert_eq!(functional[key], timed["totals"][key], "{key}");
    }
}

#[test]
fn a_launch_file_runs_without_timing() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["reverse.toml", "reverse.ptx", "reverse.in.txt"] {
        std::fs::copy(Path::new("tests/data").join(name), folder.path().join(name)).expect("copied");
    }
    let file = folder.path().join("reverse.toml").display().to_string();
    let (code, table, error) = run(&[&file, "--functional"]);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{table}");
    assert!(table.lines().nth(1).is_some_and(|row| row.contains("reverse.toml ")), "{table}");
}

#[test]
fn an_endless_kernel_ends_by_its_timeout() {
    let (code, table, error) = run(&["tests/data/forever.toml", "--functional", "--timeout", "1s"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(table.contains("timeout") && error.contains("--timeout has passed"), "{table}{error}");
}

#[test]
fn what_needs_timing_is_refused_in_a_line() {
    let refused = [
        (
            &["bfs", "--functional", "--mechanism", "bgp"][..],
            "'--functional' cannot be used with '--mechanism",
        ),
        (&["bfs", "--functional", "--series", "-"], "'--functional' cannot be used with '--series"),
        (&["bfs", "--functional", "--max-cycles", "9"], "'--functional' cannot be used with '--max-cycles"),
        (&["bfs", "--functional", "--threads", "2"], "'--functional' cannot be used with '--threads"),
        (&["bfs", "--functional", "--resume", "bfs.ckpt"], "'--functional' cannot be used with '--resume"),
        (&["bfs", "--sample", "detailed=9,skip=9", "--resume", "bfs.ckpt"], "cannot be used with '--resume"),
        (&["bfs+atax", "--functional"], "--functional bfs+atax: must be one workload or launch file"),
        (&["tests/traces/kernelslist.g", "--functional"], "must be a workload or a launch file"),
        (&["bfs", "--sample", "detailed=1"], "must be detailed=N,skip=M"),
        (
            &["bfs", "--sample", "detailed=9,skip=9", "--mechanism", "bgp"],
            "--sample: bgp: must be the mechanism base",
        ),
        (
            &["bfs+atax", "--sample", "detailed=9,skip=9"],
            "--sample bfs+atax: must be one workload or launch file",
        ),
        (
            &["tests/traces/kernelslist.g", "--sample", "detailed=9,skip=9"],
            "must be a workload or a launch file",
        ),
    ];
    for (words, line) in refused {
        let (code, output, error) = run(words);
        assert_eq!((code, output.as_str(), error.lines().count()), (Some(2), "", 1), "{words:?}: {error}");
        assert!(error.contains(line), "{words:?}: {error}");
    }
}

#[test]
fn a_sampled_run_says_what_it_estimates_or_that_it_skips_nothing() {
    let (code, table, error) = run(&["conv2d", "--size", "small", "--sample", "detailed=10000,skip=30000"]);
    assert_eq!(code, Some(0), "{error}");
    let line = table.lines().last().unwrap_or_default();
    assert!(line.starts_with("sampled: ") && line.contains("with 95% confidence"), "{line}");
    let (code, table, error) = run(&["bfs", "--sample", "detailed=10000,skip=30000"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(table.contains("sampled: bfs: nothing is skipped"), "{table}");
}
