//! Is the README true? Every command in it runs, and its table of blocks is the registry's.

use crate::command::selvedge_in;
use selvedge_hw::BLOCKS;
use std::fs;

fn readme() -> String {
    fs::read_to_string("README.md").expect("the README is there")
}

/// The words after `$ ` of every command line in the README's code blocks.
fn commands() -> Vec<Vec<String>> {
    let text = readme();
    let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.map(|line| line.split_whitespace().map(String::from).collect()).collect()
}

#[test]
fn every_command_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ptx = "docs/own-kernels/jacobi.ptx";
    fs::create_dir_all(folder.path().join("docs/own-kernels")).expect("a folder");
    fs::copy(ptx, folder.path().join(ptx)).expect("the PTX is there");
    let mut run = 0;
    for words in commands() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            // The main job is what `selvedge` does without words; the suite is what runs this test.
            ["cargo", "run", "--release"] => check(folder.path(), &[]),
            ["./tests/run"] => continue,
            ["cargo", "run", "--release", "--", rest @ ..] | ["selvedge", rest @ ..] => {
                check(folder.path(), rest)
            }
            other => panic!("the README has a command that this test does not know: {other:?}"),
        }
        run += 1;
    }
    assert!(run >= 5, "the README shows at least five commands");
}

fn check(folder: &std::path::Path, words: &[&str]) {
    let output = selvedge_in(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_table_of_blocks_is_the_registrys() {
    let text = readme();
    for entry in BLOCKS {
        let facts = entry.facts(&entry.defaults()).expect("the defaults are valid");
        let row = format!(
            "| `{}` | {} | {} | {} | {} | {} |",
            entry.name(),
            entry.summary(),
            entry.source(),
            entry.storage(&entry.defaults()).expect("the defaults are valid"),
            facts.latency,
            facts.interval
        );
        assert!(text.contains(&row), "the README should have this row:\n{row}");
    }
    let section = text.split("## ").find(|s| s.starts_with("Blocks")).expect("a section of blocks");
    let rows = section.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, BLOCKS.len(), "a row per block");
}

#[test]
fn the_shown_table_is_what_the_main_job_prints() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = selvedge_in(folder.path(), &[]);
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(readme().contains(printed.trim_end()), "the README should show:\n{printed}");
}
