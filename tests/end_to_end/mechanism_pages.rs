//! Pages of docs/mechanisms: their commands run, and print the output on the pages.
use crate::guide::{blocks, shell};
use selvedge_sim::mechanism;
use std::fs;
use std::path::PathBuf;

/// Returns the pages, sorted by path.
fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir("docs/mechanisms").expect("the folder is there");
    let mut pages: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// Runs the lines of a page that begin with `$`, and compares their output with the output block that follows.
fn follow(page: &PathBuf) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(page).expect("the page is there");
    let (mut printed, mut commands) = (String::new(), 0);
    for block in blocks(&text) {
        if block.kind == "output" {
            let name = page.display();
            assert_eq!(printed.trim_end(), block.text.trim_end(), "{name} shows something else");
        }
        for line in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            commands += 1;
            let output = shell(folder.path(), line);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {line}: {error}", page.display());
            printed = String::from_utf8_lossy(&output.stdout).into_owned();
        }
    }
    commands
}

#[test]
fn every_page_can_be_followed_to_the_letter() {
    for page in pages() {
        assert!(follow(&page) > 0, "{} shows a run", page.display());
    }
}

#[test]
fn a_page_names_only_mechanisms_that_there_are() {
    for page in pages() {
        let text = fs::read_to_string(&page).expect("the page is there");
        let named = text.split("--mechanism ").skip(1).filter_map(|rest| rest.split_whitespace().next());
        for part in named.flat_map(|spec| spec.trim_matches('`').split('+')) {
            let name = part.split([',', '=']).next().unwrap_or_default();
            assert!(mechanism::built_in().iter().any(|info| info.name == name), "{}: {part}", page.display());
        }
    }
}

/// Returns the diagram of a page: its first block without a language word, unless that contains a command.
fn diagram(text: &str) -> Option<String> {
    let first = blocks(text).into_iter().find(|block| block.kind.is_empty())?;
    (!first.text.contains("$ ")).then_some(first.text)
}

#[test]
fn every_mechanism_has_a_page_with_a_diagram_its_counters_and_a_run_of_its_own() {
    for info in mechanism::built_in().iter().filter(|info| info.name != "base") {
        let name = info.name;
        let text = fs::read_to_string(format!("docs/mechanisms/{name}.md")).unwrap_or_default();
        let title = text.lines().next().unwrap_or_default();
        assert!(title.starts_with("# ") && title.to_lowercase().contains(name), "{name}: {title:?}");
        assert!(diagram(&text).is_some(), "{name} has a diagram");
        assert!(text.contains("counter"), "{name} says what it counts");
        let runs = text.lines().filter(|line| line.starts_with("$ selvedge ")).collect::<Vec<_>>();
        let is_run = |line: &&str| {
            let options = line.split_once("--mechanism").map(|(_, rest)| rest);
            let list = options.and_then(|rest| rest.trim_start_matches('s').split_whitespace().next());
            list.is_some_and(|list| list.split([',', '+', '=']).any(|part| part == name))
        };
        assert!(runs.iter().any(is_run), "{name}: none of {runs:?}");
    }
}

/// Returns the text of a mechanism's page, and of the pages of mechanisms that it links to.
fn with_links(page: &str) -> String {
    let text = fs::read_to_string(page).expect("the page is there");
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let linked = links.filter_map(|link| fs::read_to_string(format!("docs/mechanisms/{link}")).ok());
    linked.fold(text.clone(), |all, page| all + &page)
}

#[test]
fn every_option_is_explained_on_its_mechanisms_page_or_on_a_page_it_links_to() {
    for info in mechanism::built_in().iter().filter(|info| info.name != "base") {
        let text = with_links(&format!("docs/mechanisms/{}.md", info.name));
        for option in info.options {
            assert!(text.contains(&format!("`{}`", option.name)), "{}: {}", info.name, option.name);
        }
    }
}
