//! The pages of `docs/`: every link leads somewhere, the book has every page; and what shells and `man` are given.
use crate::command::{selvedge, selvedge_in};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the Markdown files below a folder.
pub fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

/// Returns the targets of a page's links to files, without their anchors.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files =
        targets.filter(|target| !target.contains("://") && !target.starts_with('#') && !target.contains(' '));
    files.filter_map(|target| target.split('#').next()).collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut all = pages(Path::new("docs"));
    all.extend(["README.md", "CONTRIBUTING.md"].map(PathBuf::from));
    let mut count = 0;
    for page in &all {
        let text = fs::read_to_string(page).expect("the page is there");
        let folder = page.parent().expect("a folder");
        for link in links(&text) {
            count += 1;
            assert!(folder.join(link).exists(), "{}: {link}", page.display());
        }
    }
    assert!(count > 100, "{count} links in {} pages", all.len());
}

#[test]
fn a_link_is_found_with_its_anchor_cut_off() {
    assert_eq!(links("[a](b.md#c) and [d](https://e) [f](#g) ![h](i.svg)"), ["b.md", "i.svg"]);
}

#[test]
fn the_book_has_every_page_of_docs() {
    let text = fs::read_to_string("docs/SUMMARY.md").expect("the summary is there");
    let listed: Vec<PathBuf> = links(&text).into_iter().map(|link| Path::new("docs").join(link)).collect();
    for page in pages(Path::new("docs")) {
        let is_summary = page.ends_with("SUMMARY.md");
        assert!(is_summary || listed.contains(&page), "docs/SUMMARY.md lacks {}", page.display());
    }
}

#[test]
fn every_command_has_a_manual_page_and_completions() {
    let folder = tempfile::tempdir().expect("a folder");
    let help = selvedge(&["--help"]);
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"run") && names.contains(&"config"), "{help}");
    assert!(selvedge_in(folder.path(), &["man", "-o", "man"]).status.success());
    let completions = selvedge(&["completions", "bash"]);
    for name in names.into_iter().filter(|name| *name != "help") {
        let page =
            fs::read_to_string(folder.path().join(format!("man/selvedge-{name}.1"))).unwrap_or_default();
        assert!(page.contains(".TH"), "{name} has no page");
        assert!(completions.contains(&format!("selvedge__subcmd__{name}")), "{name}");
    }
}

#[test]
fn the_doctor_knows_what_for_each_tool_is() {
    let table = selvedge(&["doctor"]);
    for (tool, serves) in [("yosys", "area: synthesis"), ("valgrind", "bench --instructions")] {
        let row = table.lines().find(|line| line.starts_with(tool)).unwrap_or_default();
        assert!(row.contains(serves), "{table}");
    }
}

#[test]
fn a_key_is_explained_with_what_it_must_be() {
    let text = selvedge(&["config", "explain", "l1d.mshr_entries"]);
    assert!(text.contains("default  32\n") && text.contains("must be  1 to "), "{text}");
    let output = selvedge_in(Path::new("."), &["config", "explain", "l1d.mshr"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("l1d.mshr_entries") && error.lines().count() == 1, "{error}");
}
