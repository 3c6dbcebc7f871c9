//! Pages of docs/mechanisms: their commands run, and print the output on the pages.
use crate::guide::{blocks, follow_page, shell};
use selvedge_sim::mechanism::{self, MechanismInfo};
use selvedge_testbenches::skipped::skip;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Returns the pages of docs/mechanisms, sorted by path.
fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir("docs/mechanisms").expect("the folder is there");
    let mut pages: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// Returns the mechanisms that have a page.
fn with_page() -> impl Iterator<Item = &'static MechanismInfo> {
    mechanism::built_in().iter().filter(|info| info.name != "base")
}

/// Returns the text of a mechanism's page.
fn page(name: &str) -> String {
    fs::read_to_string(format!("docs/mechanisms/{name}.md")).unwrap_or_default()
}

/// Returns the commands of a page: the lines of its `sh` blocks.
fn commands(text: &str) -> Vec<String> {
    let shown = blocks(text).into_iter().filter(|block| block.kind == "sh");
    shown.flat_map(|block| block.text.lines().map(String::from).collect::<Vec<_>>()).collect()
}

#[test]
fn every_page_can_be_followed_to_the_letter() {
    for page in pages() {
        follow_page("every_page_can_be_followed_to_the_letter", &page.display().to_string());
    }
}

#[test]
fn a_page_names_only_mechanisms_that_there_are() {
    for page in pages() {
        let text = fs::read_to_string(&page).expect("the page is there");
        let named = text.split("--mechanism ").skip(1).filter_map(|rest| rest.split_whitespace().next());
        for part in named.flat_map(|spec| spec.trim_matches('`').split('+')) {
            let name = part.split([',', '=']).next().unwrap_or_default();
            let known = mechanism::built_in().iter().any(|info| info.name == name);
            assert!(known || ["NAME", "A", "B"].contains(&name), "{}: {part}", page.display());
        }
    }
}

/// Returns the drawings of a page that are files.
fn drawings(text: &str) -> usize {
    let links = text.split("![").skip(1).filter_map(|rest| rest.split("](").nth(1)?.split(')').next());
    links.filter(|link| fs::exists(format!("docs/mechanisms/{link}")).is_ok_and(|there| there)).count()
}

#[test]
fn every_mechanism_has_a_page_with_a_drawing_its_counters_and_a_run_of_its_own() {
    for info in with_page() {
        let name = info.name;
        let text = page(name);
        let title = text.lines().next().unwrap_or_default();
        assert!(title.starts_with(&format!("# {name}: ")), "{name}: {title:?}");
        assert!(drawings(&with_links(&text)) > 0, "{name} or a page that it links to has a drawing");
        for part in ["## When to use it", "## How it works", "ounter", "Source: `sim/mechanisms/"] {
            assert!(text.contains(part) || with_links(&text).contains(part), "{name}: {part}");
        }
        let runs = commands(&text);
        let is_run = |line: &&String| {
            let options = line.split_once("--mechanism").map(|(_, rest)| rest);
            let list = options.and_then(|rest| rest.trim_start_matches('s').split_whitespace().next());
            list.is_some_and(|list| list.split([',', '+', '=']).any(|part| part == name))
        };
        assert!(runs.iter().any(|line| is_run(&line)), "{name}: none of {runs:?}");
    }
}

#[test]
fn the_source_of_a_mechanism_is_where_its_page_says() {
    for info in with_page() {
        let text = page(info.name);
        let path = text.split_once("Source: `").and_then(|(_, rest)| rest.split('`').next());
        assert!(
            path.is_some_and(|path| fs::exists(path).is_ok_and(|there| there)),
            "{}: {path:?}",
            info.name
        );
    }
}

/// Returns a page and the pages of mechanisms that it links to.
fn with_links(text: &str) -> String {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let linked = links.filter_map(|link| fs::read_to_string(format!("docs/mechanisms/{link}")).ok());
    linked.fold(text.to_owned(), |all, page| all + &page)
}

#[test]
fn every_option_is_explained_on_its_mechanisms_page_or_on_a_page_it_links_to() {
    for info in with_page() {
        let text = with_links(&page(info.name));
        for option in info.options {
            assert!(text.contains(&format!("`{}`", option.name)), "{}: {}", info.name, option.name);
        }
    }
}

#[test]
fn every_counter_is_explained_on_its_mechanisms_page_or_on_a_page_it_links_to() {
    for info in with_page() {
        let text = with_links(&page(info.name));
        for counter in info.counters.iter().copied().flatten() {
            let name = counter.name;
            let short = name.strip_prefix("l1d_").or_else(|| name.strip_prefix("l2_")).unwrap_or(name);
            let named = [name, short].iter().any(|name| text.contains(&format!("`{name}`")));
            assert!(named, "{}: {name}", info.name);
        }
    }
}

#[test]
fn the_timelines_show_the_runs_of_their_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut python = Command::new("python3");
    python.arg("docs/images/timelines.py").args([folder.path(), folder.path()]);
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("the_timelines_show_the_runs_of_their_pages", "no python3");
    }
    let names = ["latte-cc", "bgp", "caba", "mdb", "dmil"];
    for name in names {
        let mut lines = commands(&page(name)).into_iter();
        let run = lines.find(|line| line.contains(" --vcd ")).expect("the run of the picture");
        assert!(shell(folder.path(), &run).status.success(), "{run}");
    }
    let drawn = python.output().expect("it starts");
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    for name in names {
        let picture = format!("{name}-timeline.svg");
        let drawn = fs::read_to_string(folder.path().join(&picture)).expect("it was drawn");
        let shown = fs::read_to_string(format!("docs/images/mechanisms/{picture}")).unwrap_or_default();
        assert!(drawn == shown, "docs/images/mechanisms/{picture} is not what its run shows");
    }
}
