//! Several workloads run at the same time, and wrong options for that are refused with one line.

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
fn quotas_give_the_same_report_under_every_engine() {
    for pair in ["vecadd+atax", "bfs+kmeans", "hotspot+gesummv"] {
        let [model, rtl, lockstep] = ["model", "rtl", "lockstep"].map(|engine| {
            let words = ["run", pair, "--size", "tiny", "--for", "20000", "--mechanism", "qbmi+dmil"];
            let (code, json, error) = run(&[&words[..], &["--engine", engine, "--json", "-"]].concat());
            assert_eq!(code, Some(0), "{pair} {engine}: {error}");
            let mut report: Value = serde_json::from_str(&json).expect("JSON");
            assert_eq!(report["engine"], engine);
            let map = report.as_object_mut().expect("an object");
            // Only the wall time, the engine's name and the counts of corner cases may differ.
            map.remove("host");
            map.remove("engine");
            map.remove("coverage");
            report
        });
        assert_eq!(model, rtl, "{pair}: the RTL differs");
        assert_eq!(model, lockstep, "{pair}: lockstep differs");
    }
}

#[test]
fn wrong_options_are_told_in_one_line() {
    for (words, says) in [
        (&["run", "bfs", "--share", "spatial"][..], "--share: allowed with several workloads"),
        (
            &["run", "bfs+atax", "--share", "half"],
            "share 'half': must be left-over, spatial, smk-p, smk-pw, warped-slicer,",
        ),
        (&["run", "bfs+atax", "--share", "sm:1,2,3"], "must be as many numbers as programs, which are 2"),
        (&["run", "bfs+atax", "--launches", "a.csv"], "--launches: supports one workload only"),
        (&["run", "bfs+nope"], "unknown workload 'nope'"),
        (&["run", "bfs+bfs+bfs+bfs+bfs"], "5 workloads together: must be 1 to 4"),
    ] {
        let (code, table, error) = run(words);
        assert_eq!((code, table.as_str(), error.lines().count()), (Some(2), "", 1), "{words:?}: {error}");
        assert!(error.contains(says), "{words:?}: {error}");
    }
}

/// Runs in `folder`, and returns the IPC of the first program alone and standard error.
fn alone(folder: &std::path::Path, words: &[&str]) -> (f64, String) {
    let common = ["run", "vecadd+atax", "--window", "5000", "--alone", "--json", "-"];
    let output = selvedge_in(folder, &[&common[..], words].concat());
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ipc = report["programs"][0]["ipc_alone"].as_f64().expect("a number");
    (ipc, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn runs_alone_are_kept_and_used_again_by_what_they_are_of() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path();
    let file = here.join("kept/vecadd-tiny-gtx480-5000.json");
    let cached = ["--cache", "kept"];
    let (ipc, error) = alone(here, &cached);
    assert_eq!(error, "");
    assert_eq!(
        alone(here, &["--cache", "none"]),
        (ipc, String::new()),
        "what is kept is what would be found"
    );
    // A cached run is used without a check, so a change to it shows in the result.
    let kept = std::fs::read_to_string(&file).expect("it is kept");
    let entry: Value = serde_json::from_str(&kept).expect("JSON");
    let twice = entry["run"]["thread_instructions"].as_u64().expect("a count") * 2;
    let mut changed = entry.clone();
    changed["run"]["thread_instructions"] = twice.into();
    std::fs::write(&file, changed.to_string()).expect("written");
    assert_eq!(alone(here, &cached), (2.0 * ipc, String::new()));
    // A cached run with another key, or an invalid file, is ignored with a line and replaced.
    for (field, why) in
        [("engine", "kept of another program, configuration or engine"), ("machine", "kept of another")]
    {
        let mut other = changed.clone();
        other["key"][field] = "another".into();
        std::fs::write(&file, other.to_string()).expect("written");
        let (found, error) = alone(here, &cached);
        assert_eq!((found, error.lines().count()), (ipc, 1), "{error}");
        assert!(error.contains(why) && error.trim_end().ends_with(": ignored"), "{error}");
    }
    let mut other = changed.clone();
    other["build"] = "0.0.1".into();
    for (text, why) in [(other.to_string(), "another build"), ("{".into(), "no run that was kept")] {
        std::fs::write(&file, text).expect("written");
        let (found, error) = alone(here, &cached);
        assert_eq!((found, error.lines().count()), (ipc, 1), "{error}");
        assert!(error.contains(why), "{error}");
        assert_eq!(std::fs::read_to_string(&file).expect("it is replaced"), kept);
    }
}

#[test]
fn a_launch_file_that_has_changed_is_another_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path();
    for name in ["reverse.toml", "reverse.ptx", "reverse.in.txt"] {
        std::fs::copy(format!("tests/data/{name}"), here.join(name)).expect("copied");
    }
    let run = || {
        let words = ["run", "reverse.toml+vecadd", "--window", "2000", "--alone", "--cache", "kept"];
        let output = selvedge_in(here, &words);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!((run(), run()), (String::new(), String::new()));
    let input = std::fs::read_to_string(here.join("reverse.in.txt")).expect("it is there");
    let (_, rest) = input.split_once(char::is_whitespace).expect("some numbers");
    std::fs::write(here.join("reverse.in.txt"), format!("7 {rest}")).expect("written");
    assert!(run().contains("kept of another program"), "its input has changed");
}

#[test]
fn programs_start_again_until_the_window_is_over() {
    let (code, json, error) = run(&["run", "vecadd+atax", "--window", "100000", "--json", "-"]);
    assert_eq!(code, Some(0), "{error}");
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(report["totals"]["cycles"], 100_000);
    let ends = |program: usize| report["programs"][program]["ends"].as_u64().expect("a count");
    assert!(ends(0) > 5 && ends(1) >= 1, "{} {}", ends(0), ends(1));
}
