//! `selvedge compare`: its table equals single runs for any number of jobs, and mistakes are refused.
use crate::command::{selvedge, selvedge_in};
use selvedge_sim::config::GpuConfig;
use selvedge_sim::{best, mechanism};
use serde_json::Value;
use std::path::Path;

const WORDS: [&str; 7] =
    ["compare", "gesummv", "bfs", "--size", "tiny", "--mechanisms", "base,hw-bdi,static-bdi,latency=0"];

/// Returns the table's row of a workload under a mechanism.
fn row(table: &str, workload: &str, mechanism: &str) -> Vec<String> {
    let words = table.lines().map(|line| line.split_whitespace().map(String::from).collect::<Vec<_>>());
    let mut rows = words.filter(|row| row.len() > 1 && row[0] == workload && row[1] == mechanism);
    rows.next().unwrap_or_else(|| panic!("no row {workload} {mechanism} in\n{table}"))
}

#[test]
fn the_rows_are_those_of_single_runs_at_any_number_of_jobs() {
    let table = selvedge(&[&WORDS[..], &["--jobs", "1"]].concat());
    assert_eq!(table, selvedge(&[&WORDS[..], &["--jobs", "3"]].concat()));
    let mut speedups = Vec::new();
    for workload in ["gesummv", "bfs"] {
        let run = |mechanism: &str| -> Value {
            let words = ["run", workload, "--size", "tiny", "--mechanism", mechanism, "--json", "-"];
            serde_json::from_str(&selvedge(&words)).expect("a report")
        };
        let (base, other) = (run("base"), run("static-bdi,latency=0"));
        let found = row(&table, workload, "static-bdi,latency=0");
        assert_eq!(found[2], other["totals"]["cycles"].to_string());
        assert_eq!(found[4], other["totals"]["l1d"]["misses"].to_string());
        let energy = other["totals"]["energy"]["total_nj"].as_f64().expect("a number");
        assert_eq!(found[8], format!("{:.1}", energy / 1000.0));
        let cycles = |report: &Value| report["totals"]["cycles"].as_f64().expect("a number");
        let speedup = cycles(&base) / cycles(&other);
        assert_eq!(found[3], format!("{speedup:.3}"));
        speedups.push(speedup);
    }
    let mean = (speedups[0] * speedups[1]).sqrt();
    let line = table.lines().find(|line| line.starts_with("geometric mean") && line.contains("latency=0"));
    assert!(line.is_some_and(|line| line.contains(&format!("{mean:.3}"))), "{table}");
}

#[test]
fn the_chart_and_the_reports_are_written_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["--size", "tiny", "--mechanisms", "base,hw-bdi", "--plot", "a.svg", "--json", "a.json"];
    let output = selvedge_in(folder.path(), &[&["compare", "gesummv"][..], &words].concat());
    assert!(output.status.success());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
    assert!(read("a.svg").contains("hw-bdi"));
    let reports: Vec<Value> = serde_json::from_str(&read("a.json")).expect("reports");
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[1]["mechanism"], "hw-bdi");
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    for (words, what) in [
        (&["compare", "bfs", "--mechanisms", "base,hw-bdy"][..], "unknown mechanism 'hw-bdy'"),
        (&["compare", "bfs", "--mechanisms", "base,base"], "base is given twice"),
        (&["compare", "nothing", "--mechanisms", "base"], "nothing"),
        (&["compare", "bfs", "--mechanisms", "base", "--jobs", "0"], "--jobs"),
        (&["compare", "--mechanisms", "base"], "WORKLOADS"),
    ] {
        let output = selvedge_in(Path::new("."), words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.contains(what) && error.trim_end().lines().count() == 1, "{words:?}: {error}");
    }
}

/// Returns the names of the mechanisms that run trials of a workload to choose a setting.
fn searches() -> Vec<&'static str> {
    let config = GpuConfig::load("gtx480-dai").expect("built in");
    let names = mechanism::built_in().iter().map(|info| info.name);
    names.filter(|name| name.parse().is_ok_and(|spec| best::searches(&spec, &config))).collect()
}

#[test]
fn searches_beside_each_other_find_what_they_find_alone() {
    let searches = searches();
    assert!(searches.len() >= 3, "{searches:?}");
    let mechanisms = format!("base,{}", searches.join(","));
    // The trials differ in length. A bound shared by searches would cut trials of the others short.
    let workloads = ["vecadd", "scan", "atax", "syrk", "btree"];
    let reports = |jobs: &str| -> Value {
        let options = ["--size", "tiny", "--config", "gtx480-dai", "--engine", "model", "--json", "-"];
        let search = ["--mechanisms", &mechanisms, "--jobs", jobs];
        let text = selvedge(&[&["compare"], &workloads[..], &options, &search].concat());
        let mut reports: Value = serde_json::from_str(&text).expect("reports");
        for report in reports.as_array_mut().expect("a list") {
            report.as_object_mut().expect("an object").remove("host").expect("measurements");
        }
        reports
    };
    let one = reports("1");
    assert_eq!(one.as_array().map(Vec::len), Some(workloads.len() * (1 + searches.len())));
    assert_eq!(one, reports("8"));
}

#[test]
fn workloads_that_run_at_the_same_time_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = [
        "compare",
        "vecadd+bfs",
        "bfs",
        "--mechanisms",
        "base,dmil",
        "--engine",
        "model",
        "--share",
        "smk-p",
    ];
    let outputs = ["--json", "all.json", "--csv", "all.csv", "--plot", "all.svg"];
    let done = selvedge_in(folder.path(), &[&words[..], &outputs].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let table = String::from_utf8(done.stdout).expect("text");
    let is_joined = |line: &&str| line.starts_with("vecadd+bfs ") && line.contains(" dmil ");
    let cells: Vec<&str> = table.lines().find(is_joined).expect("a row").split_whitespace().collect();
    let text = std::fs::read_to_string(folder.path().join("all.json")).expect("written");
    let reports: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    assert_eq!((reports.len(), &reports[1]["share"]), (4, &"smk-p".into()));
    let cycles = |at: usize| reports[at]["totals"]["cycles"].as_f64().expect("a number");
    assert_eq!(cells[2], format!("{}", cycles(1)));
    assert_eq!(cells[3], format!("{:.3}", cycles(0) / cycles(1)));
    let alone = selvedge_in(
        folder.path(),
        &["run", "vecadd+bfs", "--mechanism", "dmil", "--engine", "model", "--share", "smk-p", "--json", "-"],
    );
    let alone: serde_json::Value = serde_json::from_slice(&alone.stdout).expect("JSON");
    assert_eq!(alone["totals"], reports[1]["totals"], "the run of `run`");
    let csv = std::fs::read_to_string(folder.path().join("all.csv")).expect("written");
    assert!(csv.lines().count() == 5 && csv.contains("vecadd+bfs,tiny,gtx480,dmil,model,smk-p,"), "{csv}");
    let share = ["compare", "bfs", "--mechanisms", "base", "--share", "smk-p"];
    let refused = selvedge_in(folder.path(), &share);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("--share: must be given with several workloads")
    );
}
