//! `selvedge reproduce`: a figure equals single runs and is kept, its files are written, and mistakes are refused.
use crate::command::{selvedge, selvedge_in};
use serde_json::Value;
use std::path::Path;

fn reproduce(folder: &Path, words: &[&str]) -> String {
    let store = folder.join("store").display().to_string();
    selvedge(&[&["reproduce", "tiny", "--store", &store], words].concat())
}

/// Returns the cycles of a separate run.
fn cycles(mechanism: &str) -> f64 {
    let words = ["run", "bfs", "--size", "tiny", "--config", "gtx480-latte-cc", "--mechanism", mechanism];
    let report = selvedge(&[&words[..], &["--engine", "model", "--json", "-"]].concat());
    let report: Value = serde_json::from_str(&report).expect("a report");
    report["totals"]["cycles"].as_f64().expect("a number")
}

#[test]
fn a_figure_is_that_of_single_runs_and_comes_again_without_any() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out");
    let table = reproduce(folder.path(), &["-o", output.to_str().expect("text")]);
    let row = table.lines().find(|line| line.starts_with("BFS")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    let speedup = cycles("base") / cycles("static-bdi");
    assert_eq!(cells[1..3], ["1.000", &format!("{speedup:.3}")]);
    assert_eq!(table, reproduce(folder.path(), &["--stored"]));
    let csv = std::fs::read_to_string(output.join("tiny.csv")).expect("CSV");
    assert_eq!(csv, reproduce(folder.path(), &["--stored", "--csv", "-"]));
    let row = csv.lines().find_map(|line| line.strip_prefix("tiny,speedup,BFS,application,static-bdi,"));
    let value: f64 = row.and_then(|row| row.strip_suffix(",,")).expect("a row").parse().expect("a number");
    assert!((value - speedup).abs() < 1e-12, "{csv}");
    let chart = std::fs::read_to_string(output.join("tiny.svg")).expect("a chart");
    assert!(chart.starts_with("<svg") && chart.contains("latte-cc"));
}

#[test]
fn what_is_not_run_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = reproduce(folder.path(), &["--stored"]);
    assert!(table.contains("- BFS base; BFS static-bdi; BFS latte-cc and 3 more: not run\n"), "{table}");
}

#[test]
fn the_list_has_points_or_reasons() {
    let list = selvedge(&["reproduce", "--list"]);
    let row = |name: &str| {
        let line = list.lines().find(|line| line.starts_with(&format!("{name} "))).expect("a row");
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("latte-cc-11").iter().rev().take(2).collect::<Vec<_>>(), ["12", "88"]);
    assert_eq!(row("dai-32").iter().rev().take(2).collect::<Vec<_>>(), ["0", "-"]);
    assert!(list.contains("\ndai-32: A curve over time"), "{list}");
}

#[test]
fn mistakes_are_one_line_and_exit_code_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let mistake = |words: &[&str]| {
        let output = selvedge_in(folder.path(), &[&["reproduce"], words].concat());
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert_eq!(error.lines().count(), 1, "{words:?}: {error}");
        error
    };
    let unknown = mistake(&["latte-cc-111"]);
    assert!(unknown.contains("nearest latte-cc-11, ") && unknown.contains("reproduce --list"), "{unknown}");
    assert!(mistake(&["dai-32"]).contains("cannot express it: A curve over time"));
    assert!(mistake(&["tiny", "lamar-9", "--plot", "a.svg"]).contains("must be given with one figure"));
    mistake(&[]);
    mistake(&["tiny", "--headlines"]);
    mistake(&["tiny", "--jobs", "0"]);
    std::fs::write(folder.path().join("file"), "").expect("written");
    assert!(mistake(&["tiny", "--stored", "--store", "file"]).contains("file"));
    assert!(mistake(&["tiny", "-o", "file"]).contains("--output file"));
}
