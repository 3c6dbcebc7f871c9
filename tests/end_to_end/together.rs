//! Do several workloads at the same time run, and do the wrong options for that get one line?

use crate::command::selvedge_in;
use serde_json::Value;

fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = selvedge_in(folder.path(), words);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_table_shows_each_workload_and_how_they_get_on() {
    let (code, table, error) = run(&["run", "vecadd+atax", "--share", "sm:2,2", "--alone"]);
    assert_eq!(code, Some(0), "{error}");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[1].starts_with("vecadd") && lines[1].ends_with("pass"), "{table}");
    assert!(lines[2].starts_with("atax") && lines[2].ends_with("pass"), "{table}");
    assert!(lines[3].starts_with("tiny, sm:2,2, base: "), "{table}");
    assert!(
        ["weighted speedup ", "ANTT ", "fairness "].iter().all(|word| lines[3].contains(word)),
        "{table}"
    );
}

#[test]
fn the_programs_counters_in_the_json_add_up_to_the_totals() {
    let (code, json, error) = run(&["run", "bfs+atax", "--for", "20000", "--json", "-"]);
    assert_eq!(code, Some(0), "{error}");
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(report["totals"]["cycles"], 20_000);
    for (of_program, of_all) in [
        ("/warp_instructions", "/totals/warp_instructions"),
        ("/memory_instructions", "/totals/sm/memory_instructions"),
        ("/transactions", "/totals/sm/transactions"),
        ("/l1d/accesses", "/totals/l1d/accesses"),
        ("/l1d/reservation_fails", "/totals/l1d/reservation_fails"),
    ] {
        let programs = report["programs"].as_array().expect("a list").iter();
        let sum: u64 =
            programs.map(|p| p.pointer(of_program).and_then(Value::as_u64).expect("a count")).sum();
        assert_eq!(report.pointer(of_all).and_then(Value::as_u64), Some(sum), "{of_program}");
    }
}

#[test]
fn wrong_options_are_told_in_one_line() {
    for (words, says) in [
        (&["run", "bfs", "--share", "spatial"][..], "--share: allowed with several workloads"),
        (
            &["run", "bfs+atax", "--share", "half"],
            "share `half`: allowed are left-over, spatial, smk-p, smk-pw, warped-slicer,",
        ),
        (&["run", "bfs+atax", "--share", "sm:1,2,3"], "allowed are as many numbers as programs, which are 2"),
        (&["run", "bfs+atax", "--csv", "a.csv"], "--csv: allowed with one workload only"),
        (&["run", "bfs+nope"], "unknown workload 'nope'"),
        (&["run", "bfs+bfs+bfs+bfs+bfs"], "5 workloads together: allowed are 1 to 4"),
    ] {
        let (code, table, error) = run(words);
        assert_eq!((code, table.as_str(), error.lines().count()), (Some(2), "", 1), "{words:?}: {error}");
        assert!(error.contains(says), "{words:?}: {error}");
    }
}
