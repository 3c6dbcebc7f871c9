//! The README, the page of commands and the tables of blocks and mechanisms: every command runs, every table is the registry's.

use crate::command::selvedge_in;
use selvedge_blocks::BLOCKS;
use selvedge_sim::mechanism::ALL;
use selvedge_sim::workload::all;
use std::fs;

fn readme() -> String {
    fs::read_to_string("README.md").expect("the README is there")
}

/// Returns the words after `$ ` of every command line in a page's code blocks.
fn commands(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.map(|line| line.split_whitespace().map(String::from).collect()).collect()
}

/// Runs every command of a page in a folder of its own, in order, and returns how many there are.
fn follow(text: &str) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ptx = "docs/own-kernels/jacobi.ptx";
    fs::create_dir_all(folder.path().join("docs/own-kernels")).expect("a folder");
    fs::copy(ptx, folder.path().join(ptx)).expect("the PTX is there");
    let mut run = 0;
    for words in commands(text) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            // The demonstration is what `selvedge` does without words; the suite is what runs this test.
            ["cargo", "run", "--release"] => check(folder.path(), &[]),
            ["./tests/run"] => continue,
            ["cargo", "run", "--release", "--", rest @ ..] | ["selvedge", rest @ ..] => {
                check(folder.path(), rest);
            }
            other => panic!("a command that this test does not know: {other:?}"),
        }
        run += 1;
    }
    run
}

#[test]
fn every_command_of_the_readme_runs() {
    assert!(follow(&readme()) >= 5, "the README shows at least five commands");
}

#[test]
fn every_command_of_the_page_of_commands_runs() {
    let page = fs::read_to_string("docs/commands.md").expect("the page is there");
    assert!(follow(&page) >= 20, "the page shows the commands");
}

#[test]
fn every_command_of_the_page_of_waveforms_runs() {
    let page = fs::read_to_string("docs/waveforms.md").expect("the page is there");
    assert!(follow(&page) >= 5, "the page shows the commands");
}

fn check(folder: &std::path::Path, words: &[&str]) {
    let output = selvedge_in(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_table_of_blocks_is_the_registrys() {
    let text = fs::read_to_string("docs/blocks.md").expect("the page is there");
    for entry in BLOCKS {
        let facts = entry.facts(&entry.defaults()).expect("the defaults are valid");
        let row = format!(
            "| [`{0}`](blocks/{0}.md) | {1} | {2} | {3} | {4} | {5} |",
            entry.name(),
            entry.summary(),
            entry.source(),
            entry.storage(&entry.defaults()).expect("the defaults are valid"),
            facts.latency,
            facts.interval
        );
        assert!(text.contains(&row), "docs/blocks.md must have this row:\n{row}");
    }
    let rows = text.lines().filter(|line| line.starts_with("| [`")).count();
    assert_eq!(rows, BLOCKS.len(), "a row per block");
}

#[test]
fn the_table_of_mechanisms_is_the_registrys() {
    let text = fs::read_to_string("docs/mechanisms/index.md").expect("the page is there");
    for info in ALL {
        let cells = format!(" | {} | {} |", info.summary, info.source);
        let row = text.lines().find(|line| line.contains(&format!("`{}`", info.name)));
        assert!(
            row.is_some_and(|row| row.ends_with(&cells)),
            "the row of {} must end with{cells}",
            info.name
        );
    }
    let rows = text.lines().filter(|line| line.starts_with("| `") || line.starts_with("| [`")).count();
    assert_eq!(rows, ALL.len(), "a row per mechanism");
}

#[test]
fn the_readme_counts_what_there_is() {
    let text = readme().replace('\n', " ");
    let (mechanisms, blocks, workloads) = (ALL.len(), BLOCKS.len(), all().len());
    let counts =
        format!("{mechanisms} mechanisms built from {blocks} hardware blocks, and {workloads} workloads");
    assert!(text.contains(&counts), "the README must say: {counts}");
}

#[test]
fn the_shown_table_is_what_the_main_job_prints() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = selvedge_in(folder.path(), &[]);
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(readme().contains(printed.trim_end()), "the README should show:\n{printed}");
}
