//! `selvedge list`: one entry in full, JSON, and tables that fit the terminal.
use crate::command::{selvedge, selvedge_in};
use selvedge_blocks::built_in;
use selvedge_sim::config::BUILT_IN;
use selvedge_sim::mechanism;
use selvedge_sim::workload::all;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&selvedge(words)).expect("JSON")
}

/// Returns the names in the JSON of a whole list.
fn names(what: &str) -> Vec<String> {
    let list = json(&["list", what, "--json"]);
    let entries = list.as_array().expect("an array");
    entries.iter().map(|entry| entry["name"].as_str().expect("a name").to_string()).collect()
}

#[test]
fn the_json_has_everything_that_there_is() {
    assert_eq!(names("mechanisms"), mechanism::built_in().iter().map(|of| of.name).collect::<Vec<_>>());
    assert_eq!(names("blocks"), built_in().iter().map(|of| of.name()).collect::<Vec<_>>());
    assert_eq!(names("configurations"), BUILT_IN.iter().map(|of| of.name).collect::<Vec<_>>());
    assert_eq!(names("workloads"), all().iter().map(|of| of.name()).collect::<Vec<_>>());
}

#[test]
fn the_page_of_a_mechanism_has_every_option() {
    for info in mechanism::built_in() {
        let page = selvedge(&["list", "mechanisms", info.name]);
        assert!(page.starts_with(&format!("{}: {}\n", info.name, info.summary)), "{page}");
        for option in info.options {
            let row = page.lines().find(|line| line.starts_with(&format!("{} ", option.name)));
            assert!(row.is_some_and(|row| row.contains(&option.default_text())), "{}: {page}", option.name);
        }
    }
}

#[test]
fn the_page_of_a_block_has_every_port_and_parameter() {
    for entry in built_in() {
        let page = selvedge(&["list", "blocks", entry.name()]);
        let ports = entry.ports(&entry.defaults()).expect("valid").into_iter().map(|port| port.name);
        for name in ports.chain(entry.schema().iter().map(|spec| spec.name)) {
            assert!(page.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}: {page}");
        }
    }
}

#[test]
fn every_block_has_its_page_in_the_documentation() {
    let summary = fs::read_to_string("docs/SUMMARY.md").expect("it is there");
    for entry in built_in() {
        let name = entry.name();
        let page = fs::read_to_string(format!("docs/reference/blocks/{name}.md")).unwrap_or_default();
        assert_eq!(
            page,
            selvedge(&["list", "blocks", name, "--markdown"]),
            "docs/reference/blocks/{name}.md"
        );
        assert!(summary.contains(&format!("(reference/blocks/{name}.md)")), "{name} is in docs/SUMMARY.md");
    }
    let pages = fs::read_dir("docs/reference/blocks").expect("a folder").count();
    assert_eq!(pages, built_in().len(), "docs/reference/blocks has pages of blocks alone");
}

#[test]
fn the_pages_of_areas_have_a_row_for_each_block() {
    for (name, columns) in [("area.md", 15), ("area-sg13g2.md", 8)] {
        let page = fs::read_to_string(format!("docs/reference/{name}")).expect("it is there");
        for entry in built_in() {
            let begin = format!("| {} |", entry.name());
            let is_row = |line: &&str| line.starts_with(&begin) && line.matches('|').count() == columns + 1;
            assert!(page.lines().any(|line| is_row(&line)), "docs/reference/{name}: {}", entry.name());
        }
    }
}

#[test]
fn an_unknown_name_gives_the_nearest_ones_and_exit_code_2() {
    for (words, nearest) in [
        (["list", "mechanisms", "hw-bd"], "nearest hw-bdi"),
        (["list", "blocks", "milgg"], "nearest milg"),
        (["list", "workloads", "bsf"], "nearest bfs"),
        (["list", "configurations", "gtx48"], "gtx480"),
    ] {
        let output = selvedge_in(Path::new("."), &words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(error.contains(nearest) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn a_command_that_only_has_commands_prints_them() {
    for (command, one) in [("config", "explain"), ("trace", "record"), ("stats", "list")] {
        let text = selvedge(&[command]);
        assert!(text.contains(one) && text.contains("Usage: selvedge"), "{text}");
    }
    let text = selvedge(&["list"]);
    for name in ["workloads", "vecadd", "mechanisms", "hw-bdi", "configurations", "gtx480", "blocks", "milg"]
    {
        assert!(text.contains(name), "{name}: {text}");
    }
}

#[test]
fn a_chart_is_never_written_under_the_name_of_another_kind_of_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for words in [
        &["compare", "vecadd", "--size", "tiny", "--mechanisms", "base", "--plot", "x.pdf"][..],
        &["reproduce", "lamar-11", "--plot", "x.png"],
        &["area", "milg", "--sweep", "inflight_bits=6,7", "--plot", "x.pdf"],
    ] {
        let output = selvedge_in(folder.path(), words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(error.contains("must be a name that ends in .svg") && error.lines().count() == 1, "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "{words:?}");
    }
}

#[test]
fn no_table_is_wider_than_the_terminal() {
    let commands: [&[&str]; 11] = [
        &["list"],
        &["list", "mechanisms"],
        &["list", "blocks"],
        &["list", "workloads"],
        &["list", "workloads", "--size", "small"],
        &["list", "configurations"],
        &["config", "explain"],
        &["stats", "list"],
        &["run", "bfs", "--mechanism", "hw-bdi", "--engine", "model"],
        &["run", "vecadd+bfs", "--size", "tiny"],
        &["compare", "vecadd", "bfs", "--size", "tiny", "--mechanisms", "base,hw-bdi", "--engine", "model"],
    ];
    for words in commands {
        for columns in [80, 100, 140] {
            let output = Command::new(env!("CARGO_BIN_EXE_selvedge"))
                .args(words)
                .env("COLUMNS", columns.to_string())
                .output()
                .expect("the command runs");
            let text = String::from_utf8(output.stdout).expect("text");
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(output.status.success() && widest > 20, "{words:?}: {text}");
            assert!(widest <= columns, "{words:?} is {widest} columns wide for {columns}:\n{text}");
        }
    }
}
