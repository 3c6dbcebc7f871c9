//! Words of help, README, pages and lists: one term per concept (docs/glossary.md), and short pages.
use crate::command::selvedge_in;
use crate::pages::pages;
use std::fs;
use std::path::{Path, PathBuf};

/// Terms that the project does not use, each with its replacement.
const BANNED: &[(&str, &str)] = &[
    ("allowed is", "must be"),
    ("allowed are", "must be"),
    ("answer", "reply, result or decision"),
    ("answers", "replies, results or decisions"),
    ("answered", "replied"),
    ("as told", "as configured"),
    ("host processor", "host"),
    ("lie in", "are in"),
    ("lies in", "is in"),
    ("not established", "unknown"),
    ("of one's own", "your own"),
    ("on its way", "in flight"),
    ("on their way to", "in flight"),
    ("pass by", "bypass"),
    ("passes by", "bypasses"),
    ("passed by", "bypassed"),
    ("so many as", "N"),
    ("stretch", "interval"),
    ("stretches", "intervals"),
    ("tell", "report or print"),
    ("tells", "reports or prints"),
    ("throw out", "evict"),
    ("thrown out", "evicted"),
];

/// Max words of a hand-written page.
const PAGE_WORDS: usize = 1_500;

/// Max words of all hand-written pages together.
const ALL_WORDS: usize = 40_000;

/// Returns the words of the text in lower case, separated by spaces. Leaves out fenced code and code between backticks.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut out = String::from(" ");
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        for span in line.split('`').step_by(2) {
            for word in
                span.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty())
            {
                out += &word.to_lowercase();
                out.push(' ');
            }
            // Words on both sides of code are not adjacent.
            out += "| ";
        }
        // A phrase may continue on the next line.
        out.truncate(out.len() - 2);
    }
    out
}

/// Returns each banned term in a text with its replacement.
fn banned(text: &str) -> Vec<String> {
    let prose = prose(text);
    let found = BANNED.iter().filter(|(term, _)| prose.contains(&format!(" {term} ")));
    found.map(|(term, instead)| format!("'{term}': write {instead}")).collect()
}

#[test]
fn a_banned_term_is_found_in_prose_and_not_in_code() {
    assert_eq!(banned("A load on its\nway."), ["'on its way': write in flight"]);
    assert_eq!(banned("`tell`\n```\ntell\n```\nstorytelling"), Vec::<String>::new());
    assert_eq!(banned("It *tells* the size.").len(), 1);
}

#[test]
fn readme_and_pages_use_the_terms_of_the_field() {
    let mut all = pages(Path::new("docs"));
    all.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(Into::into));
    let mut wrong = Vec::new();
    for page in all {
        let text = fs::read_to_string(&page).expect("the page is there");
        wrong.extend(banned(&text).into_iter().map(|what| format!("{}: {what}", page.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the hand-written pages: those of `docs/` except the reference and the list of pages, and those of the root folder.
fn hand_written() -> Vec<PathBuf> {
    let mut all = pages(Path::new("docs"));
    all.retain(|page| !page.starts_with("docs/reference") && !page.ends_with("SUMMARY.md"));
    all.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(PathBuf::from));
    all
}

/// Returns the number of words of a text outside fenced blocks, which hold commands, outputs and code. Marks of tables,
/// lists and headings are not words.
fn words(text: &str) -> usize {
    let mut fenced = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    });
    prose.flat_map(str::split_whitespace).filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[test]
fn a_word_has_a_letter_or_a_digit_and_is_outside_fenced_blocks() {
    assert_eq!(words("# Head\n\n| a | `b c` |\n|---|---|\n- 1.5 \u{2014} d"), 6);
    assert_eq!(words("one\n```sh\ntwo three\n```\nfour\n   ```text\nfive\n   ```\nsix"), 3);
}

#[test]
fn hand_written_pages_are_short() {
    let count = |page: PathBuf| {
        let text = fs::read_to_string(&page).expect("the page is there");
        (words(&text), page)
    };
    let counts: Vec<(usize, PathBuf)> = hand_written().into_iter().map(count).collect();
    let long = counts.iter().filter(|(count, _)| *count > PAGE_WORDS);
    let long: Vec<String> = long.map(|(count, page)| format!("{}: {count}", page.display())).collect();
    assert!(long.is_empty(), "pages of more than {PAGE_WORDS} words:\n{}", long.join("\n"));
    let all: usize = counts.iter().map(|(count, _)| count).sum();
    assert!(all <= ALL_WORDS, "{all} words in {} pages, more than {ALL_WORDS}", counts.len());
    assert!(counts.len() > 60, "{} pages", counts.len());
}

#[test]
fn help_and_lists_use_the_terms_of_the_field() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = selvedge_in(folder.path(), &["man", "-o", "man"]);
    assert!(made.status.success());
    let mut texts: Vec<(String, String)> = Vec::new();
    for entry in fs::read_dir(folder.path().join("man")).expect("the pages") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a manual page");
        texts.push((path.display().to_string(), text));
    }
    assert!(texts.len() > 15, "{} manual pages", texts.len());
    for kind in ["mechanisms", "blocks", "workloads", "configurations"] {
        let listed = selvedge_in(folder.path(), &["list", kind]);
        texts.push((kind.into(), String::from_utf8(listed.stdout).expect("text")));
    }
    let mut wrong = Vec::new();
    for (name, text) in texts {
        wrong.extend(banned(&text).into_iter().map(|what| format!("{name}: {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
