//! Is the README true? Every command in it runs, and its table of blocks is the registry's.

use crate::command::selvedge_in;
use selvedge_blocks::BLOCKS;
use std::collections::BTreeMap;
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

/// The rows of the Markdown table under a heading, each by the names of its columns; of the whole text when there is none.
fn rows(text: &str, heading: Option<&str>) -> Vec<BTreeMap<String, String>> {
    let section = heading.map_or(text, |heading| {
        text.split("\n## ").find(|section| section.starts_with(heading)).expect("the section")
    });
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_string()).collect()
    };
    let mut lines =
        section.lines().skip_while(|line| !line.starts_with("| block")).take_while(|l| !l.is_empty());
    let head = cells(lines.next().expect("a table"));
    lines.skip(1).map(|line| head.iter().cloned().zip(cells(line)).collect()).collect()
}

#[test]
fn the_areas_are_those_of_their_page() {
    let page = fs::read_to_string("docs/area.md").expect("the page is there");
    let (page, readme) = (rows(&page, None), readme());
    let shown = rows(&readme, Some("Area"));
    assert_eq!(shown.len(), 6);
    for row in shown {
        let same = |known: &&BTreeMap<String, String>| {
            known["block"] == row["block"] && known["mapped for"] == "area"
        };
        let known = page.iter().find(same).unwrap_or_else(|| panic!("{} is not on the page", row["block"]));
        for (column, value) in &row {
            assert_eq!(&known[column], value, "{} of {}", column, row["block"]);
        }
    }
}
