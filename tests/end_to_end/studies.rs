//! Studies: every point is computed once, stored completely and found again, even if the process is killed.
use crate::command::{selvedge_in, start_in};
use serde_json::Value;
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// A study of points that take tens of milliseconds each. Two points are refused.
const STUDY: &str = r#"
size = "tiny"
workloads = ["vecadd", "atax", "bfs", "scan"]
mechanisms = ["base", "dmil", { mechanism = "hw-bdi", config = "gtx480" }]
[[point]]
workload = "vecadd"
mechanism = "bgp"
config = "gtx480-latte-cc"
[[point]]
workload = "bfs"
mechanism = "bgp"
config = "gtx480-latte-cc"
"#;
const POINTS: usize = 14;

/// Creates a folder with the study as `s.toml`.
fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("s.toml"), text).expect("written");
    folder
}

fn study(here: &Path, words: &[&str]) -> Output {
    selvedge_in(here, &[&["study"][..], words].concat())
}

/// Runs a study command that must succeed, and returns standard output.
fn printed(here: &Path, words: &[&str]) -> String {
    let output = study(here, words);
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the table as CSV, without values that differ between runs.
fn collected(here: &Path, store: &str) -> String {
    printed(here, &["collect", "s.toml", "--store", store, "--reproducible"])
}

/// Returns the number of computed points that the command reports.
fn computed(output: &Output) -> usize {
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.split(", ").last()?.strip_suffix(" computed now"));
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no count: {output:?}"))
}

/// Returns the entries of a store by path.
fn entries(store: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in fs::read_dir(store).into_iter().flatten().map(|entry| entry.expect("an entry").path()) {
        // Points are in folders with names of two digits. Other files are not results.
        if folder.file_name().is_some_and(|name| name.len() == 2) {
            for file in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                if file.extension().is_some_and(|end| end == "json") {
                    found.insert(file.clone(), fs::read(file).expect("there"));
                }
            }
        }
    }
    found
}

#[test]
fn a_study_runs_once_and_a_pair_that_does_not_suit_stops_nothing() {
    let folder = folder(STUDY);
    let here = folder.path();
    let shown = printed(here, &["show", "s.toml", "--store", "st"]);
    assert!(
        shown.starts_with(&format!("s: {POINTS} points, {POINTS} of them different: 0 done, 2 unsupported"))
    );
    assert!(shown.contains("about ") && shown.contains("from counts of instructions"), "{shown}");
    let first = study(here, &["s.toml", "--store", "st"]);
    assert!(first.status.success(), "{first:?}");
    assert_eq!(computed(&first), POINTS);
    let table = String::from_utf8(first.stdout.clone()).expect("text");
    assert_eq!(table.lines().filter(|line| line.ends_with("pass")).count(), POINTS - 2, "{table}");
    assert!(
        table.lines().any(|line| line.contains("gtx480-latte-cc") && line.ends_with("-  unsupported")),
        "{table}"
    );
    assert!(
        table.contains("unsupported: vecadd gtx480-latte-cc bgp and 1 more: mechanism bgp: dram."),
        "{table}"
    );
    let second = study(here, &["run", "s.toml", "--store", "st"]);
    assert_eq!((computed(&second), &second.stdout), (0, &first.stdout));
    assert!(printed(here, &["show", "s.toml", "--store", "st"]).ends_with("nothing is left to simulate\n"));
}

#[test]
fn a_row_has_what_run_and_compare_report_in_the_same_columns() {
    let folder = folder("size = \"tiny\"\nworkloads = [\"bfs\"]\nmechanisms = [\"base\", \"dmil\"]\n");
    let here = folder.path();
    printed(here, &["s.toml", "--store", "st"]);
    printed(here, &["collect", "s.toml", "--store", "st", "-o", "s.csv", "-o", "s.jsonl", "-o", "s.parquet"]);
    let csv = |name: &str| -> Vec<BTreeMap<String, String>> {
        let text = fs::read_to_string(here.join(name)).expect("there");
        let mut rows = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
        let head = rows.next().expect("a header");
        rows.map(|row| head.iter().cloned().zip(row).collect()).collect()
    };
    let study = csv("s.csv");
    let words = ["--size", "tiny", "--engine", "model", "--csv", "c.csv"];
    let compare = [&["compare", "bfs", "--mechanisms", "base,dmil"][..], &words].concat();
    assert!(selvedge_in(here, &compare).status.success());
    let run =
        ["run", "bfs", "--mechanism", "dmil", "--engine", "model", "--csv", "r.csv", "--json", "r.json"];
    assert!(selvedge_in(here, &run).status.success());
    let is_of_host = |name: &str| name.starts_with("host.");
    let known = |row: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        row.iter().filter(|(name, _)| !is_of_host(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
    };
    let mut compared = csv("c.csv");
    for (row, compared) in study.iter().zip(&compared) {
        for (name, value) in known(compared) {
            assert_eq!(row.get(&name), Some(&value), "{name} of compare");
        }
    }
    assert_eq!(known(&csv("r.csv")[0]), known(&compared.remove(1)));
    let json: Value = serde_json::from_slice(&fs::read(here.join("r.json")).expect("there")).expect("JSON");
    let counters = json["mechanism_counters"].as_object().expect("counters");
    assert!(!counters.is_empty());
    for (name, value) in counters {
        assert_eq!(study[1][&format!("mechanism_counters.{name}")], value.to_string(), "{name}");
    }
    assert_eq!(study[1]["totals.l1d.misses"], json["totals"]["l1d"]["misses"].to_string());
    let command = &study[1]["command"];
    assert_eq!(command, "selvedge run bfs --size tiny --config gtx480 --mechanism dmil --engine model");
    let lines = fs::read_to_string(here.join("s.jsonl")).expect("there");
    let row: Value = serde_json::from_str(lines.lines().nth(1).expect("two rows")).expect("JSON");
    assert_eq!(row["totals.l1d.misses"], json["totals"]["l1d"]["misses"]);
    let parquet = fs::read(here.join("s.parquet")).expect("there");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}

#[test]
fn the_collected_bytes_do_not_depend_on_jobs_order_or_process() {
    let folder = folder(STUDY);
    let here = folder.path();
    printed(here, &["s.toml", "--store", "many", "--jobs", "4"]);
    printed(here, &["s.toml", "--store", "one", "--jobs", "1"]);
    for point in (0..POINTS).rev().step_by(2) {
        let first = (point - 1).to_string();
        printed(here, &["point", "s.toml", "--store", "points", "--index", &first, "--count", "2"]);
    }
    let expected = collected(here, "many");
    assert_eq!(expected.lines().count(), POINTS + 1);
    assert!(!expected.contains("missing"));
    assert_eq!(collected(here, "one"), expected);
    assert_eq!(collected(here, "points"), expected);
}

#[test]
fn damaged_entries_are_computed_again() {
    let folder = folder(STUDY);
    let here = folder.path();
    printed(here, &["s.toml", "--store", "st"]);
    let expected = collected(here, "st");
    let paths: Vec<PathBuf> = entries(&here.join("st")).into_keys().collect();
    assert_eq!(paths.len(), POINTS);
    let bytes = |at: usize| fs::read(&paths[at]).expect("there");
    let mut flipped = bytes(0);
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for (at, damage) in
        [flipped, bytes(1)[..100].to_vec(), Vec::new(), bytes(4), b"{}\n".to_vec()].iter().enumerate()
    {
        fs::write(&paths[at], damage).expect("written");
    }
    let again = study(here, &["s.toml", "--store", "st"]);
    let error = String::from_utf8_lossy(&again.stderr);
    assert_eq!(computed(&again), 5, "{error}");
    assert!(error.contains("5 damaged and computed again"), "{error}");
    assert_eq!(error.matches("its checksum must be that of its contents: it is computed again").count(), 4);
    assert_eq!(error.matches("it must be of the point of its name: it is computed again").count(), 1);
    assert_eq!(collected(here, "st"), expected);
}

/// Returns a random number from 0 to 1.
fn random() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

/// Kills a study twenty times at random moments. No finished point may be lost or damaged.
#[test]
fn a_study_that_is_killed_at_any_moment_keeps_what_has_ended() {
    let folder = folder(STUDY);
    let here = folder.path();
    let start = Instant::now();
    printed(here, &["s.toml", "--store", "fresh"]);
    let whole = start.elapsed();
    let expected = collected(here, "fresh");
    let mut kept: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    let (mut kills, mut round, mut survived) = (0, 0, 0);
    while kills < 20 {
        let store = format!("st{round}");
        let mut run = start_in(here, &["study", "s.toml", "--store", &store, "--jobs", "2"]);
        std::thread::sleep(whole.mul_f64(random()));
        let is_killed = run.try_wait().expect("a child").is_none();
        run.kill().expect("SIGKILL");
        run.wait().expect("it ends");
        let now = entries(&here.join(&store));
        for (path, bytes) in &kept {
            assert_eq!(now.get(path), Some(bytes), "kill {kills}: {} has ended before", path.display());
        }
        if is_killed {
            kills += 1;
            survived += now.len() - kept.len();
            kept = now;
        } else {
            // The study has finished: the next kills hit a new one.
            assert_eq!(collected(here, &store), expected);
            round += 1;
            kept.clear();
        }
    }
    assert!(survived > 0, "no kill came after the end of a point");
    let store = format!("st{round}");
    let rest = study(here, &["s.toml", "--store", &store]);
    assert!(rest.status.success(), "{rest:?}");
    assert!(!String::from_utf8_lossy(&rest.stderr).contains("damaged"), "{rest:?}");
    assert_eq!(computed(&rest), POINTS - kept.len());
    assert_eq!(collected(here, &store), expected);
}

#[test]
fn two_studies_with_one_store_compute_each_point_once() {
    let folder = folder(STUDY);
    let here = folder.path();
    let words = ["study", "s.toml", "--store", "st", "--jobs", "2"];
    let runs = [start_in(here, &words), start_in(here, &words)];
    let outputs = runs.map(|run| run.wait_with_output().expect("it ends"));
    assert!(outputs.iter().all(|output| output.status.success()), "{outputs:?}");
    assert_eq!(outputs.iter().map(computed).sum::<usize>(), POINTS);
    assert_eq!(outputs[0].stdout, outputs[1].stdout);
}

#[test]
fn an_interrupted_study_reports_what_is_left_and_continues() {
    let text = "size = \"paper\"\nworkloads = [\"kmeans\", \"srad\"]\nmechanisms = [\"base\"]\n\
                [[point]]\nworkload = { workload = \"vecadd\", size = \"tiny\" }\nmechanism = \"base\"\n";
    let folder = folder(text);
    let here = folder.path();
    printed(here, &["point", "s.toml", "--store", "st", "--index", "2"]);
    let run = start_in(here, &["study", "s.toml", "--store", "st", "--jobs", "1"]);
    while !here.join("st").read_dir().expect("a folder").any(|entry| {
        let folder = entry.expect("an entry").path();
        folder
            .read_dir()
            .into_iter()
            .flatten()
            .any(|file| file.expect("a file").path().extension().is_some_and(|e| e == "lock"))
    }) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = run.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    let output = run.wait_with_output().expect("it ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.ends_with("selvedge: interrupted: 2 points are left\n"), "{error}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(table.lines().filter(|line| line.ends_with("missing")).count(), 2, "{table}");
    let status = printed(here, &["status", "s.toml", "--store", "st"]);
    assert!(status.contains("1 done, 0 unsupported, 0 failed, 2 missing"), "{status}");
}

#[test]
fn a_point_that_fails_has_its_reason_and_the_others_run() {
    let text = "size = \"tiny\"\ntimeout = \"1ms\"\nworkloads = [\"kmeans\"]\nmechanisms = [\"base\"]\n";
    let folder = folder(text);
    let here = folder.path();
    let output = study(here, &["s.toml", "--store", "st"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("failed: kmeans gtx480 base: "), "{table}");
    assert_eq!(computed(&study(here, &["s.toml", "--store", "st"])), 0, "it is not tried again");
    fs::write(here.join("s.toml"), text.replace("1ms", "1h")).expect("written");
    let again = study(here, &["s.toml", "--store", "st", "--retry"]);
    assert!(again.status.success() && computed(&again) == 1, "{again:?}");
    let going = ["point", "s.toml", "--store", "other", "--index", "0", "--keep-going"];
    fs::write(here.join("s.toml"), text).expect("written");
    assert!(study(here, &going).status.success());
}

#[test]
fn points_by_intervals_have_the_estimate_of_their_command_at_any_number_of_jobs() {
    let trace = fs::canonicalize("tests/traces/kernelslist.g").expect("there");
    let folder = folder(&format!(
        "size = \"small\"\nintervals = 2\nerror = \"2%\"\nworkloads = [\"conv2d\", {trace:?}]\nmechanisms = [\"base\", \"hw-bdi\"]\n\
         configs = [{{ config = \"gtx480\", set = {{ \"sm.count\" = 2 }} }}]\n"
    ));
    let here = folder.path();
    printed(here, &["s.toml", "--store", "st", "--jobs", "1"]);
    printed(here, &["s.toml", "--store", "other", "--jobs", "4"]);
    assert_eq!(collected(here, "st"), collected(here, "other"));
    printed(here, &["collect", "s.toml", "--store", "st", "-o", "s.jsonl"]);
    let lines = fs::read_to_string(here.join("s.jsonl")).expect("there");
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for row in &rows[..2] {
        let command = row["command"].as_str().expect("text");
        let words: Vec<&str> = command.split(' ').skip(1).chain(["--json", "r.json"]).collect();
        assert!(words.contains(&"--intervals") && words.contains(&"--error"), "{command}");
        assert!(selvedge_in(here, &words).status.success(), "{command}");
        let json: Value =
            serde_json::from_slice(&fs::read(here.join("r.json")).expect("there")).expect("JSON");
        assert_eq!(row["estimate.cycles"], json["estimate"]["cycles"], "{command}");
        assert_eq!(row["totals.l1d.misses"], json["totals"]["l1d"]["misses"], "{command}");
    }
    let number = |row: &Value, column: &str| row[column].as_f64().expect("a number");
    for row in &rows[..2] {
        assert_eq!(row["error_percent"], 2.0, "{row}");
        let within = number(row, "estimate.cycles_within");
        assert!(within <= 0.02 * number(row, "estimate.cycles"), "{row}");
    }
    let intervals = |row: &Value| number(row, "estimate.intervals");
    assert!(intervals(&rows[1]) > intervals(&rows[0]), "one repeats its run: {} {}", rows[0], rows[1]);
    for row in &rows[2..] {
        assert_eq!(row["status"], "unsupported", "a trace has nothing to execute: {row}");
    }
}

#[test]
fn a_mistake_is_one_line_and_exit_code_2() {
    let folder = folder("workloads = [\"vecadd\"]\nmechanisms = [\"base\",\n\"bass\"]\n");
    let here = folder.path();
    fs::write(here.join("good.toml"), STUDY).expect("written");
    for (words, says) in [
        (&["s.toml"][..], "selvedge: s.toml:3: unknown mechanism"),
        (&["none.toml"], "selvedge: none.toml: cannot read it: "),
        (
            &["point", "good.toml", "--store", "st", "--index", "14"],
            "selvedge: --index 14: must be a point of the study, 0 to 13",
        ),
        (
            &["collect", "good.toml", "--store", "st", "-o", "a.txt"],
            "selvedge: --output a.txt: must be NAME.csv, NAME.jsonl or",
        ),
        (
            &["collect", "good.toml", "--store", "st", "-o", "good.toml.csv", "-o", "good.toml.csv"],
            "selvedge: ",
        ),
        (&["good.toml", "--store", "s.toml"], "selvedge: s.toml: cannot make the folder: "),
    ] {
        let output = study(here, words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{words:?}: {error}");
        assert!(error.starts_with(says), "{words:?}: {error}");
    }
}

/// Runs the array job by hand like Slurm does, then the job that collects.
#[test]
fn exported_jobs_give_the_bytes_of_a_local_run() {
    let folder = folder(STUDY);
    let here = folder.path();
    printed(
        here,
        &["export", "slurm", "s.toml", "--store", "shared", "--output", "jobs", "--points-per-task", "5"],
    );
    let job = |file: &str, task: &str| {
        let mut shell = std::process::Command::new("sh");
        let output =
            shell.arg(here.join(file)).env("SLURM_ARRAY_TASK_ID", task).stdin(Stdio::null()).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{file} {task}: {output:?}");
    };
    ["2", "0", "1"].iter().for_each(|task| job("jobs/points.sbatch", task));
    job("jobs/collect.sbatch", "");
    assert!(here.join("jobs/results.csv").is_file() && here.join("jobs/results.parquet").is_file());
    printed(here, &["s.toml", "--store", "local"]);
    assert_eq!(collected(here, "shared"), collected(here, "local"));
}
