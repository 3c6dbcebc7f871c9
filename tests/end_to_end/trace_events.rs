//! `--trace-events`: the file contains the interval in Perfetto's format.
use crate::command::{selvedge, selvedge_in};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Runs a command that must be refused, and returns standard error.
fn refused(words: &[&str]) -> String {
    let output = selvedge_in(Path::new("."), words);
    assert_eq!(output.status.code(), Some(2), "{}", words.join(" "));
    String::from_utf8(output.stderr).expect("the output is UTF-8")
}

/// Returns the events that a run writes.
fn events(options: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("events.json");
    selvedge(&[options, &["--trace-events", &path.to_string_lossy()]].concat());
    let file: Value = serde_json::from_slice(&std::fs::read(path).expect("it is written")).expect("JSON");
    file["traceEvents"].as_array().expect("a list of events").clone()
}

#[test]
fn events_lie_in_the_interval_on_tracks_with_names() {
    let events = events(&[
        "run",
        "bfs",
        "--mechanism",
        "hw-bdi",
        "--probe",
        "sm0.decompressor",
        "--from",
        "1500",
        "--cycles",
        "500",
    ]);
    let place = |event: &Value| (event["pid"].as_u64(), event["tid"].as_u64());
    let mut named = BTreeSet::new();
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for event in &events {
        match event["ph"].as_str() {
            Some("M") if event["name"] == "process_name" => {
                let name = event["args"]["name"].as_str().expect("a name").to_owned();
                names.insert(event["pid"].as_u64(), name);
            }
            Some("M") => {
                named.insert(place(event));
            }
            Some("X" | "C") => {
                let from = event["ts"].as_f64().expect("a time");
                let until = from + event["dur"].as_f64().unwrap_or(0.0);
                assert!((1500.0..=2000.0).contains(&from) && until <= 2000.0, "{event}");
                assert!(
                    event["ph"] == "C" || named.contains(&place(event)),
                    "{event}: a track without a name"
                );
                *groups.entry(names[&event["pid"].as_u64()].clone()).or_default() += 1;
            }
            _ => panic!("{event}"),
        }
    }
    for group in ["launches", "SM 0", "SM 14", "L2 slice 0", "DRAM channel 0", "sm0.decompressor"] {
        assert!(groups.contains_key(group), "no {group} in {groups:?}");
    }
}

#[test]
fn kernels_that_run_together_have_tracks_of_their_own() {
    let events = events(&["run", "bfs+kmeans", "--share", "sm:2,2", "--cycles", "3000"]);
    let launches: BTreeSet<&str> = events
        .iter()
        .filter(|event| event["ph"] == "X" && event["args"]["first_cycle_of_ctas"].is_u64())
        .filter_map(|event| event["name"].as_str())
        .collect();
    assert!(launches.len() >= 2, "{launches:?}");
}

#[test]
fn trace_events_are_of_one_timed_run() {
    let error = refused(&["run", "--trace-events", "x.json"]);
    assert!(error.contains("--trace-events: must be given with a workload"), "{error}");
    let error = refused(&["run", "bfs", "--functional", "--trace-events", "x.json"]);
    assert!(error.contains("--trace-events"), "{error}");
    let error = refused(&["run", "bfs", "--probe", "sm0.milg"]);
    assert!(error.contains("--vcd") && error.contains("--trace-events"), "{error}");
}
