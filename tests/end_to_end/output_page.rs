//! JSON output of the commands: every key is in the published schemas and on the page, and every required key is
//! written.
//!
//! Python's jsonschema is in `target/python` (`tests/run`).
use crate::command::{selvedge, selvedge_in};
use crate::python::python;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of the schemas.
const NAMES: [&str; 15] = [
    "run",
    "together",
    "functional",
    "study",
    "classify",
    "workloads",
    "mechanisms",
    "configurations",
    "blocks",
    "suite",
    "suite-programs",
    "area",
    "verify",
    "bench",
    "bench-peers",
];

/// Commands that write JSON to a file, with the schema of the file.
const WRITERS: [(&str, &str); 11] = [
    ("run", "run vecadd --size tiny --mechanism hw-bdi --engine model --json FILE"),
    ("run", "run vecadd --size tiny --max-cycles 100 --json FILE"),
    ("run", "run atax --size tiny --intervals 2 --json FILE"),
    ("run", "compare vecadd --size tiny --engine model --mechanisms base,mdb-local,latte-cc --json FILE"),
    ("together", "run vecadd+atax --size tiny --share sm:3,5 --alone --json FILE"),
    ("functional", "run vecadd --size tiny --functional --json FILE"),
    ("study", "study collect s.toml --store st -o FILE"),
    ("workloads", "list workloads --json"),
    ("mechanisms", "list mechanisms --json"),
    ("configurations", "list configurations --json"),
    ("blocks", "list blocks milg --json"),
];

/// A study with all kinds of points.
const STUDY: &str = "size = \"tiny\"\nworkloads = [\"vecadd\", \"vecadd+atax\"]\nmechanisms = [\"base\", \"hw-bdi\"]\n\
                     share = [\"left-over\"]\n[[point]]\nworkload = \"vecadd\"\nmechanism = \"bgp\"\nconfig = \"gtx480-latte-cc\"\n\
                     [[point]]\nworkload = \"atax\"\nmechanism = \"base\"\nset = { \"l1d.ways\" = 2 }\n";

/// Runs every writer in a folder. Returns the files with their schemas.
fn written(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    fs::write(folder.join("s.toml"), STUDY).expect("written");
    let output = selvedge_in(folder, &["study", "s.toml", "--store", "st"]);
    assert!(output.status.success(), "{output:?}");
    let write = |(at, (name, command)): (usize, &(&'static str, &str))| {
        let file = format!("{at}.{}", if *name == "study" { "jsonl" } else { "json" });
        let command = command.replace("FILE", &file);
        let output = selvedge_in(folder, &command.split(' ').collect::<Vec<_>>());
        // A run that a limit ends also writes its report.
        assert!(output.status.code().is_some_and(|code| code != 2), "{command}: {output:?}");
        if !command.contains(&file) {
            fs::write(folder.join(&file), output.stdout).expect("written");
        }
        (*name, folder.join(file))
    };
    WRITERS.iter().enumerate().map(write).collect()
}

/// Returns the values in a file of JSON or JSON Lines.
fn values(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("there");
    if file.extension().is_some_and(|end| end == "jsonl") {
        return text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    }
    vec![serde_json::from_str(&text).expect("JSON")]
}

/// Collects the keys of all objects in a value.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                found.insert(key.clone());
                // Names of counters, blocks and parameters are data.
                if !["mechanism_counters", "blocks", "parameters"].contains(&key.as_str()) || value.is_array()
                {
                    keys(value, found);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn the_page_and_the_schemas_are_those_of_the_program() {
    assert_eq!(
        fs::read_to_string("docs/reference/output.md").expect("there"),
        selvedge(&["schema", "--page"])
    );
    let list = selvedge(&["schema"]);
    for name in NAMES {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name}: {list}");
        let file = fs::read_to_string(format!("docs/reference/schemas/{name}.json")).expect("there");
        assert_eq!(file, selvedge(&["schema", name]), "{name}");
    }
    assert_eq!(fs::read_dir("docs/reference/schemas").expect("there").count(), NAMES.len());
    let output = selvedge_in(Path::new("."), &["schema", "runs"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.starts_with("selvedge: schema runs: must be run, together,"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn every_key_that_is_written_is_on_the_page() {
    let page = fs::read_to_string("docs/reference/output.md").expect("there");
    let folder = tempfile::tempdir().expect("a folder");
    let mut found = BTreeSet::new();
    for (name, file) in written(folder.path()) {
        for value in values(&file) {
            match &value {
                // Columns are keys joined by dots; numbers are indices of lists.
                Value::Object(row) if name == "study" => {
                    for column in row.keys() {
                        let is_data = ["mechanism_counters.", "totals.blocks."];
                        let is_data = is_data.iter().any(|start| column.starts_with(start));
                        let words = column.split('.').filter(|word| word.parse::<u64>().is_err());
                        found.extend(words.take(if is_data { 1 } else { 9 }).map(str::to_owned));
                    }
                }
                value => keys(value, &mut found),
            }
        }
    }
    assert!(found.len() > 200, "{}", found.len());
    // `ways` is a key of the configuration that the study sets.
    let missing: Vec<_> =
        found.iter().filter(|key| *key != "ways" && !page.contains(&format!("| `{key}` |"))).collect();
    assert!(missing.is_empty(), "docs/reference/output.md lacks {missing:?}");
}

#[test]
fn a_validator_accepts_what_is_written() {
    let Some(python) = python("a_validator_accepts_what_is_written") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(python);
    command.arg("tests/validate.py");
    for (name, file) in written(folder.path()) {
        command.arg(format!("docs/reference/schemas/{name}.json")).arg(file);
    }
    let output = command.output().expect("Python starts");
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{error}");
    assert_eq!(out.lines().count(), WRITERS.len(), "{out}");
}
