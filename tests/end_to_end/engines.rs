//! Model, RTL and lockstep give the same statistics, also when they run twice.

use crate::command::selvedge;

const WORKLOADS: [&str; 5] = ["vecadd", "atax", "bfs", "hotspot", "kmeans"];

/// Returns the JSON report without the engine's name and the host's measurements, which may differ.
pub fn report(workload: &str, mechanism: &str, engine: &str) -> String {
    let text = selvedge(&[
        "run",
        workload,
        "--size",
        "tiny",
        "--mechanism",
        mechanism,
        "--engine",
        engine,
        "--check",
        "--json",
        "-",
    ]);
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("the report is JSON");
    assert_eq!(json["format_version"], 2);
    assert_eq!(json["result"], "pass", "{workload} {mechanism} {engine}");
    assert_eq!(json["engine"], engine);
    let map = json.as_object_mut().expect("the report is an object");
    map.remove("engine");
    map.remove("coverage");
    map.remove("host");
    serde_json::to_string_pretty(&json).expect("it was JSON")
}

/// Returns the counts of corner cases in a run's report, without the mark of a comparison.
fn coverage(words: &[&str]) -> serde_json::Value {
    let text = selvedge(&[&["run", "bfs", "--mechanism", "dmil", "--json", "-"], words].concat());
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("the report is JSON");
    for block in json["coverage"].as_array_mut().into_iter().flatten() {
        assert_eq!(block["compared"], words.contains(&"lockstep"));
        block.as_object_mut().expect("an object").remove("compared");
    }
    json["coverage"].clone()
}

#[test]
fn corner_cases_are_counted_on_the_traffic_of_a_run() {
    let lockstep = coverage(&["--engine", "lockstep"]);
    let milg = &lockstep[0];
    assert_eq!(milg["block"], "milg");
    assert!(milg["cycles"].as_u64() > Some(1000) && milg["operations"] == milg["cycles"], "{milg}");
    assert_eq!(coverage(&["--engine", "rtl", "--corners"]), lockstep);
    assert_eq!(coverage(&["--engine", "model", "--corners"]), lockstep);
    assert!(coverage(&["--engine", "rtl"]).is_null(), "a run counts only what was requested");
    let text = selvedge(&["run", "bfs", "--mechanism", "dmil", "--engine", "lockstep"]);
    let corners = milg["corners"].as_array().expect("a list");
    let reached = corners.iter().filter(|corner| corner["times"].as_u64() > Some(0)).count();
    let line = format!(
        "milg: {} cycles compared, {reached} of {} corner cases reached",
        milg["cycles"],
        corners.len()
    );
    assert!(text.contains(&line), "{line}: {text}");
}

/// Like [`engines_agree`] on fewer workloads, because the codecs of SC are slow to simulate.
fn engines_agree_on_three(mechanism: &str) {
    for workload in ["bfs", "kmeans", "gesummv"] {
        let model = report(workload, mechanism, "model");
        assert_eq!(model, report(workload, mechanism, "rtl"), "{workload}: the RTL differs");
        assert_eq!(model, report(workload, mechanism, "lockstep"), "{workload}: lockstep differs");
    }
}

fn engines_agree(mechanism: &str) {
    for workload in WORKLOADS {
        let model = report(workload, mechanism, "model");
        assert_eq!(model, report(workload, mechanism, "model"), "{workload}: a second run differs");
        assert_eq!(model, report(workload, mechanism, "rtl"), "{workload}: the RTL differs");
        assert_eq!(model, report(workload, mechanism, "lockstep"), "{workload}: lockstep differs");
    }
}

#[test]
fn hw_bdi_gives_the_same_report_under_every_engine() {
    engines_agree("hw-bdi");
}

#[test]
fn hw_bdi_mem_gives_the_same_report_under_every_engine() {
    engines_agree("hw-bdi-mem");
}

#[test]
fn dmil_gives_the_same_report_under_every_engine() {
    engines_agree("dmil");
}

#[test]
fn mdb_local_gives_the_same_report_under_every_engine() {
    engines_agree("mdb-local");
}

#[test]
fn mdb_global_gives_the_same_report_under_every_engine() {
    engines_agree("mdb-global");
}

#[test]
fn combined_mechanisms_give_the_same_report_under_every_engine() {
    engines_agree("hw-bdi+dmil");
}

#[test]
fn latte_cc_gives_the_same_report_under_every_engine() {
    engines_agree_on_three("latte-cc");
}

#[test]
fn the_rivals_of_latte_cc_give_the_same_report_under_every_engine() {
    for mechanism in [
        "static-bdi",
        "static-sc,codes=instant",
        "static-bpc",
        "adaptive-hit-count,high=bpc",
        "adaptive-cmp,codes=instant",
        "kernel-opt",
    ] {
        engines_agree_on_three(mechanism);
    }
}
