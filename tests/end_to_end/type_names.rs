//! Names of types. If two types share a name, a reader must find out which one a file uses.
use crate::circles::ends_item;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Max names with several definitions.
const MOST: usize = 32;

/// Folders with the code of the workspace.
const FOLDERS: [&str; 9] = ["capi", "fuzz", "gen", "hw", "macros", "sim", "src", "state", "testbenches"];

/// A definition: its file, and whether its crate exports it or may do so.
type Definition = (PathBuf, bool);

/// Adds the types that the files of a folder define outside of tests.
fn collect(folder: &Path, names: &mut BTreeMap<String, Vec<Definition>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        if path.is_dir() {
            if !["tests", "benches", "examples", "target"].contains(&name) {
                collect(&path, names);
            }
        } else if name.ends_with(".rs") && !name.contains("test") {
            let text = fs::read_to_string(&path).expect("UTF-8");
            let mut found = Vec::new();
            defined(text.parse().expect("Rust"), true, &mut found);
            for (name, is_public) in found {
                let definitions = names.entry(name).or_default();
                // A file may define a type for each platform.
                if definitions.last().is_none_or(|(file, _)| *file != path) {
                    definitions.push((path.clone(), is_public));
                }
            }
        }
    }
}

/// Adds the types that code defines outside of tests. `Result` may be an alias in every file. An alias that is not in a module is an
/// associated type.
fn defined(code: TokenStream, is_module: bool, found: &mut Vec<(String, bool)>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let word = |at: usize| tokens.get(at).map(ToString::to_string).unwrap_or_default();
    let mut at = 0;
    while at < tokens.len() {
        match (word(at).as_str(), &tokens[at]) {
            ("#", _) if word(at + 1).replace(' ', "") == "[cfg(test)]" => {
                while !ends_item(&tokens[at]) {
                    at += 1;
                }
            }
            (kind @ ("struct" | "enum" | "trait" | "union" | "type"), TokenTree::Ident(_)) => {
                let name = word(at + 1);
                let is_type = kind != "type" || is_module && name != "Result";
                if is_type && name.starts_with(|c: char| c.is_ascii_uppercase()) {
                    found.push((name, at > 0 && word(at - 1) == "pub"));
                }
            }
            (_, TokenTree::Group(group)) => {
                defined(group.stream(), at > 1 && word(at - 2) == "mod", found);
            }
            _ => {}
        }
        at += 1;
    }
}

#[test]
fn a_name_has_one_meaning() {
    let mut names = BTreeMap::new();
    FOLDERS.into_iter().for_each(|folder| collect(Path::new(folder), &mut names));
    assert!(names.len() > 1000, "{} names", names.len());
    names.retain(|_, definitions| definitions.len() > 1);
    assert!(names.len() <= MOST, "{} names have several definitions: {names:#?}", names.len());
    // The command line exports nothing.
    for (name, definitions) in names {
        let mut crates: Vec<_> = definitions
            .iter()
            .filter(|(file, is_public)| *is_public && !file.starts_with("src"))
            .filter_map(|(file, _)| file.to_str()?.split_once("/src/"))
            .map(|(of, _)| of)
            .collect();
        let all = crates.len();
        crates.sort_unstable();
        crates.dedup();
        assert_eq!(crates.len(), all, "{name} is public several times in {crates:?}");
    }
}
