//! `selvedge classify`: its table equals single runs for any number of jobs, and mistakes are refused.
use crate::command::{selvedge, selvedge_in};
use serde_json::Value;
use std::path::Path;

const WORDS: [&str; 5] = ["classify", "kmeans", "bfs", "--size", "tiny"];

fn report(words: &[&str]) -> Value {
    let words = [&["run"], words, &["--size", "tiny", "--engine", "model", "--json", "-"]].concat();
    serde_json::from_str(&selvedge(&words)).expect("a report")
}

/// Writes a configuration like gtx480 with the given number of sets in its L1Ds.
fn machine(folder: &Path, sets: u32) -> String {
    let path = folder.join(format!("{sets}.toml"));
    std::fs::write(&path, format!("base = \"gtx480\"\nname = \"sets\"\n[l1d]\nsets = {sets}\n"))
        .expect("written");
    path.display().to_string()
}

#[test]
fn the_rows_are_those_of_single_runs_at_any_number_of_jobs() {
    let table = selvedge(&[&WORDS[..], &["--jobs", "1"]].concat());
    assert_eq!(table, selvedge(&[&WORDS[..], &["--jobs", "3"]].concat()));
    let folder = tempfile::tempdir().expect("a folder");
    let cycles = |report: &Value| report["totals"]["cycles"].as_f64().expect("a number");
    let base = report(&["kmeans"]);
    let speedup =
        |sets| cycles(&base) / cycles(&report(&["kmeans", "--config", &machine(folder.path(), sets)]));
    let counters =
        &report(&["kmeans", "--config", "gtx480-lamar", "--mechanism", "cg-only"])["mechanism_counters"];
    let counter = |name: &str| counters[name].as_f64().expect("a number");
    let sectors = counter("l1d_evicted_sectors_used") / counter("l1d_evictions");
    let busy = base["totals"]["dram"]["bandwidth_utilization"].as_f64().expect("a number");
    let row = table.lines().find(|line| line.starts_with("kmeans")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[1], base["totals"]["cycles"].to_string());
    assert_eq!(cells[2], format!("{:.1}", 100.0 * busy));
    assert_eq!(cells[3], format!("{:.2}", speedup(128)));
    assert_eq!(cells[6], format!("{sectors:.2}"));
    assert_eq!(cells[9], format!("{:.2}", speedup(4096)));
    assert_eq!([cells[5], cells[8], cells[11]], ["C-Sens", "-", "HCC"], "what the papers print");
}

#[test]
fn json_and_csv_have_the_rows_of_the_table() {
    let rows: Value =
        serde_json::from_str(&selvedge(&[&WORDS[..], &["--json", "-"]].concat())).expect("rows");
    assert_eq!(rows[1]["workload"], "bfs");
    assert_eq!(rows[1]["printed"][0]["source"], "Table III");
    let csv = selvedge(&[&WORDS[..], &["--csv", "-"]].concat());
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(lines.len() == 3 && lines.iter().all(|cells| cells.len() == 17), "{csv}");
    assert_eq!(lines[2][1], rows[1]["cycles"].to_string());
}

#[test]
fn a_paper_chooses_its_workloads() {
    let table = selvedge(&["classify", "vecadd", "gesummv", "scan", "--size", "tiny", "--paper", "dai-2"]);
    let names: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["gesummv", "Dai:"]);
}

#[test]
fn mistakes_are_reported_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let wide = machine(folder.path(), 2048);
    for (words, what) in [
        (&["classify", "bsf"][..], "unknown workload 'bsf'"),
        (&["classify", "--size", "large"], "--size"),
        (&["classify", "--paper", "dai-5"], "--paper"),
        (&["classify", "vecadd", "--paper", "caba"], "--paper caba: it has none of the workloads named"),
        (&["classify", "bfs", "--config", "gtx481"], "gtx481"),
        (&["classify", "bfs", "--config", &wide], "l1d.sets = 2048: must be at most 1024"),
        (&["classify", "bfs", "--jobs", "0"], "--jobs"),
        (&["classify", "bfs", "--json", "Cargo.toml/rows.json"], "Cargo.toml/rows.json"),
    ] {
        let output = selvedge_in(Path::new("."), words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.contains(what) && error.trim_end().lines().count() == 1, "{words:?}: {error}");
    }
}
