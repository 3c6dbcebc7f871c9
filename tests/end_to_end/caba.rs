//! CABA: the engines agree on its assist warps, and lockstep detects an error in their controller.
use crate::command::selvedge_in;
use crate::engines::report;

/// Full-line stores, a matrix, and lines that many warps read.
const WORKLOADS: [&str; 3] = ["vecadd", "atax", "bfs"];

fn engines_agree(mechanism: &str) {
    for workload in WORKLOADS {
        let model = report(workload, mechanism, "model");
        assert_eq!(model, report(workload, mechanism, "rtl"), "{workload}: the RTL differs");
        assert_eq!(model, report(workload, mechanism, "lockstep"), "{workload}: lockstep differs");
    }
}

#[test]
fn caba_bdi_gives_the_same_report_under_every_engine() {
    engines_agree("caba-bdi");
}

#[test]
fn caba_fpc_gives_the_same_report_under_every_engine() {
    engines_agree("caba-fpc");
}

#[test]
fn caba_cpack_gives_the_same_report_under_every_engine() {
    engines_agree("caba-cpack");
}

#[test]
fn caba_best_gives_the_same_report_under_every_engine() {
    engines_agree("caba-best");
}

#[test]
fn compressed_caches_give_the_same_report_under_every_engine() {
    engines_agree("caba-bdi,l1_tags=2,l2_tags=4");
}

#[test]
fn direct_load_gives_the_same_report_under_every_engine() {
    engines_agree("caba-bdi,direct_load=on");
}

#[test]
fn an_uncompressed_l2_gives_the_same_report_under_every_engine() {
    engines_agree("caba-best,l2=uncompressed");
}

#[test]
fn caba_prefetch_gives_the_same_report_under_every_engine() {
    engines_agree("caba-prefetch");
    // pathfinder prefetches many lines, unlike the other workloads.
    let [model, rtl, lockstep] =
        ["model", "rtl", "lockstep"].map(|engine| report("pathfinder", "caba-prefetch", engine));
    assert!(!model.contains("\"prefetched_lines_useful\": 0,"), "it prefetches");
    assert_eq!(model, rtl, "the RTL differs");
    assert_eq!(model, lockstep, "lockstep differs");
}

#[test]
fn caba_memo_gives_the_same_report_under_every_engine() {
    engines_agree("caba-memo");
    // Only tone_map has a function to memoize.
    let [model, rtl, lockstep] =
        ["model", "rtl", "lockstep"].map(|engine| report("tone_map", "caba-memo", engine));
    assert!(!model.contains("\"regions_found\": 0,"), "it finds results");
    assert_eq!(model, rtl, "the RTL differs");
    assert_eq!(model, lockstep, "lockstep differs");
}

#[test]
fn memoization_is_refused_where_a_trace_is_replayed_or_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let record = |mechanism| {
        let words =
            ["trace", "record", "tone_map", "--size", "tiny", "-o", "t.strace", "--mechanism", mechanism];
        selvedge_in(folder.path(), &words)
    };
    let refused = |output: std::process::Output| {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("mechanism caba-memo: it looks at the values in registers"), "{error}");
        assert!(error.contains("caba-bdi"), "those that can are named: {error}");
    };
    refused(record("caba-memo"));
    assert!(record("caba-bdi").status.success());
    refused(selvedge_in(folder.path(), &["run", "t.strace", "--mechanism", "caba-memo"]));
}

#[test]
fn a_flipped_bit_of_the_controller_is_caught() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words =
        ["run", "bfs", "--size", "tiny", "--mechanism", "caba-bdi", "--engine", "lockstep", "--inject"];
    let output = selvedge_in(folder.path(), &[&words[..], &["sm3.awc:600:20"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("sm3.awc (awc)") && error.contains("at port high_valid_o"), "{error}");
}
