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
    assert!(lines.len() == 3 && lines.iter().all(|cells| cells.len() == 26), "{csv}");
    assert_eq!(lines[2][1], rows[1]["cycles"].to_string());
}

#[test]
fn a_paper_chooses_its_workloads_and_its_gpu() {
    let words = ["classify", "vecadd", "gesummv", "scan", "--size", "tiny", "--paper", "dai-2"];
    let table = selvedge(&words);
    let names: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!((names[0], names.last()), ("gesummv", Some(&"dai-2:")), "{table}");
    assert_eq!(table, selvedge(&[&words[..], &["--config", "gtx480-dai"]].concat()));
}

/// Each warp of vecadd issues 22 instructions, three of them accesses of one line each that no other warp accesses.
#[test]
fn the_behavior_of_vecadd_follows_from_its_code() {
    let words = ["classify", "vecadd", "--size", "tiny", "--json", "-"];
    let rows: Value = serde_json::from_str(&selvedge(&words)).expect("rows");
    let value = |key: &str| rows[0]["behavior"][key].as_f64().expect("a number");
    assert_eq!(value("compute_per_memory"), 19.0 / 3.0);
    assert_eq!(value("requests_per_memory"), 1.0);
    assert_eq!(value("l1d_miss_rate"), 1.0);
    // A branch beyond the end has no lane.
    assert!((value("l1d_mpki") - 3000.0 / (21.0 * 32.0)).abs() < 1e-9);
    // An SM of 1536 threads and 32768 registers is full, with 8 registers per thread.
    assert_eq!(["registers_percent", "shared_percent", "threads_percent"].map(value), [37.5, 0.0, 100.0]);
}

#[test]
fn a_papers_values_are_next_to_the_measured_ones() {
    let words = ["classify", "hotspot", "--size", "tiny", "--paper", "dai-4"];
    let table = selvedge(&words);
    let rows: Value =
        serde_json::from_str(&selvedge(&[&words[..], &["--json", "-"]].concat())).expect("rows");
    let printed = rows[0]["printed"].as_array().expect("a list");
    let of_paper: Vec<&Value> = printed.iter().filter(|one| one["paper"] == "dai-4").collect();
    assert_eq!(of_paper.len(), 9);
    for one in of_paper {
        let value = one["value"].as_str().expect("a text");
        let measured = one["measured"].as_f64().expect("a number");
        if let Ok(theirs) = value.parse::<f64>() {
            let decimals = value.split_once('.').map_or(0, |(_, digits)| digits.len());
            let agrees =
                (measured - theirs).abs() <= 0.2 * theirs || format!("{measured:.decimals$}") == value;
            assert_eq!(one["agrees"], agrees, "{one}");
        }
        let line =
            table.lines().find(|line| line.contains(&format!(" {measured:.2} ")) && line.contains(value));
        let answer = if one["agrees"] == true { "yes" } else { "no" };
        assert!(line.is_some_and(|line| line.ends_with(answer)), "{one}: {table}");
    }
    let csv = selvedge(&[&words[..], &["--csv", "-"]].concat());
    assert_eq!(csv.lines().count(), 10, "{csv}");
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
