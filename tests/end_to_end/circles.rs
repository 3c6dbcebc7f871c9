//! Circles of files that import each other. A file in a large circle cannot be understood, tested or moved by itself.
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Max files of a circle.
const MOST: usize = 3;

/// Names from the crate's root to a module or an item.
type Names = Vec<String>;

/// A module of a crate.
#[derive(Default)]
struct Module {
    file: PathBuf,
    items: BTreeSet<String>,
    /// Imported names, with their paths as written. The name of a glob import is `*`.
    imports: Vec<(String, Names)>,
    /// As `imports`, for reexports.
    reexports: Vec<(String, Names)>,
    /// Further paths in the code, as written.
    paths: Vec<Names>,
}

/// The modules of a crate, without its tests.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Names, Module>,
}

impl Crate {
    /// Reads the crate with this root file.
    fn read(root: &Path) -> Self {
        let mut all = Crate::default();
        all.read_file(root, &[], root.parent().expect("a folder"));
        all
    }

    /// Reads the file of a module. `folder` has the files of its submodules.
    fn read_file(&mut self, file: &Path, module: &[String], folder: &Path) {
        let text = fs::read_to_string(file).expect("a source file");
        self.modules.entry(module.to_vec()).or_default().file = file.to_owned();
        self.read_tokens(text.parse().expect("Rust"), module, folder);
    }

    fn read_tokens(&mut self, tokens: TokenStream, module: &[String], folder: &Path) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let word = tokens[at].to_string();
            let next = tokens.get(at + 1).map(ToString::to_string).unwrap_or_default();
            match (word.as_str(), &tokens[at]) {
                ("#", _) if matches!(next.replace(' ', "").as_str(), "[cfg(test)]" | "[cfg(doctest)]") => {
                    at += 2;
                    while !ends_item(&tokens[at]) {
                        at += 1;
                    }
                }
                ("mod", _) => {
                    let inner = [module, std::slice::from_ref(&next)].concat();
                    let inside = folder.join(&next);
                    if let Some(TokenTree::Group(body)) = tokens.get(at + 2) {
                        let file = self.of(module).file.clone();
                        self.modules.entry(inner.clone()).or_default().file = file;
                        self.read_tokens(body.stream(), &inner, &inside);
                    } else {
                        let files = [inside.with_extension("rs"), inside.join("mod.rs")];
                        if let Some(file) = files.iter().find(|file| file.exists()) {
                            self.read_file(file, &inner, &inside);
                        }
                    }
                    at += 2;
                }
                ("use", _) if next != "<" => {
                    let length = tokens[at..].iter().position(|token| token.to_string() == ";");
                    let end = at + length.expect("the end of an import");
                    let before =
                        &tokens[..at].iter().rev().take(2).map(ToString::to_string).collect::<Vec<_>>();
                    let own = self.of(module);
                    let names = if before.iter().any(|word| word == "pub") {
                        &mut own.reexports
                    } else {
                        &mut own.imports
                    };
                    expand(&tokens[at + 1..end], &[], names);
                    at = end;
                }
                ("struct" | "enum" | "fn" | "trait" | "type" | "const" | "static" | "union", _) => {
                    self.of(module).items.insert(next);
                }
                ("macro_rules", _) => {
                    self.of(module).items.insert(tokens[at + 2].to_string());
                }
                (_, TokenTree::Group(group)) => self.read_tokens(group.stream(), module, folder),
                (_, TokenTree::Ident(_)) if next == ":" => {
                    let path = path(&tokens[at..]);
                    at += 3 * (path.len() - 1);
                    if path.len() > 1 {
                        self.of(module).paths.push(path);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns the path of an imported or reexported name.
    fn import(&self, module: &[String], name: &str) -> impl Iterator<Item = &Names> {
        let Module { imports, reexports, .. } = &self.modules[module];
        imports.iter().chain(reexports).filter(move |(import, _)| import == name).map(|(_, path)| path)
    }

    fn of(&mut self, module: &[String]) -> &mut Module {
        self.modules.get_mut(module).expect("a module that is read")
    }

    /// Returns a path as seen from the crate's root; `None` for a path of another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Names> {
        let (head, rest) = path.split_first()?;
        let parent = module.split_last().map(|(_, parent)| parent);
        match head.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" if rest.first().is_some_and(|next| next == "super") => self.absolute(parent?, rest),
            "super" => Some([parent?, rest].concat()),
            _ if self.modules.contains_key(&[module, std::slice::from_ref(head)].concat()) => {
                Some([module, path].concat())
            }
            _ => {
                let import = self.import(module, head).find(|import| import[0] != *head)?;
                Some([self.absolute(module, import)?, rest.to_vec()].concat())
            }
        }
    }

    /// Returns the module that defines what an absolute path names; `None` for a reexport of another crate. Follows at most
    /// `depth` reexports.
    fn definition(&self, path: &[String], depth: usize) -> Option<Names> {
        let length = (0..=path.len()).rev().find(|length| self.modules.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let Some(name) = rest.first().filter(|name| !self.modules[module].items.contains(*name) && depth > 0)
        else {
            return Some(module.to_vec());
        };
        if let Some(import) = self.import(module, name).next() {
            return self.definition(&self.absolute(module, import)?, depth - 1);
        }
        let globs =
            self.import(module, "*").filter_map(|import| self.absolute(module, &import[..import.len() - 1]));
        let mut found =
            globs.filter_map(|glob| self.definition(&[glob, vec![name.clone()]].concat(), depth - 1));
        Some(found.find(|found| self.modules[found].items.contains(name)).unwrap_or_else(|| module.to_vec()))
    }

    /// Returns the files that each file imports from. A reexport imports nothing: who uses it imports from the definition.
    fn imports(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut all: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (name, module) in &self.modules {
            let paths = module.imports.iter().map(|(_, path)| path).chain(&module.paths);
            let absolute = paths.filter_map(|path| self.absolute(name, path));
            let defined = absolute.filter_map(|path| self.definition(&path, 8));
            let files = defined.map(|module| self.modules[&module].file.as_path());
            all.entry(&module.file).or_default().extend(files);
        }
        all
    }

    /// Returns the largest set of files each of which imports, over others, from each of the set.
    fn largest_circle(&self) -> Vec<&Path> {
        let imports = self.imports();
        let reached: BTreeMap<&Path, BTreeSet<&Path>> = imports
            .keys()
            .map(|start| {
                let (mut reached, mut left) = (BTreeSet::new(), vec![*start]);
                while let Some(file) = left.pop() {
                    left.extend(imports[file].iter().filter(|next| reached.insert(**next)));
                }
                (*start, reached)
            })
            .collect();
        let circle = |file: &Path| -> Vec<&Path> {
            reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect()
        };
        reached.keys().map(|file| circle(file)).max_by_key(Vec::len).unwrap_or_default()
    }
}

/// Returns whether an item without a value ends with this token.
pub fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        other => other.to_string() == ";",
    }
}

/// Returns the path that the tokens begin with.
fn path(tokens: &[TokenTree]) -> Names {
    let mut names = vec![tokens[0].to_string()];
    let mut rest = &tokens[1..];
    while let [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(name), ..] = rest
        && (a.as_char(), b.as_char()) == (':', ':')
    {
        names.push(name.to_string());
        rest = &rest[3..];
    }
    names
}

/// Adds the names that a tree of imports declares, and their paths.
fn expand(tree: &[TokenTree], before: &[String], imports: &mut Vec<(String, Names)>) {
    for one in tree.split(|token| token.to_string() == ",").filter(|one| !one.is_empty()) {
        let mut names = before.to_vec();
        let mut words = one.iter().filter(|token| token.to_string() != ":");
        let name = loop {
            match words.next() {
                Some(TokenTree::Group(group)) => {
                    expand(&group.stream().into_iter().collect::<Vec<_>>(), &names, imports);
                    break None;
                }
                Some(TokenTree::Ident(word)) if word == "as" => break words.next().map(ToString::to_string),
                Some(TokenTree::Ident(word)) if word == "self" && !names.is_empty() => {}
                Some(other) => names.push(other.to_string()),
                None => break names.last().cloned(),
            }
        };
        imports.extend(name.map(|name| (name, names)));
    }
}

#[test]
fn no_circle_of_files_is_large() {
    let manifest: toml::Table = fs::read_to_string("Cargo.toml").expect("a manifest").parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("a list");
    let folders = members.iter().map(|folder| folder.as_str().expect("a path")).chain(["."]);
    for folder in folders {
        let root = Path::new(folder).join("src/lib.rs");
        let all = Crate::read(&root);
        let circle = all.largest_circle();
        let message =
            format!("{folder}: {} files import each other, at most {MOST} may: {circle:#?}", circle.len());
        assert!(circle.len() <= MOST, "{message}");
    }
}

#[test]
fn a_planted_circle_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is written");
    write("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\npub use a::A;\npub struct E;\nfn f(_: d::D) {}\n");
    write("a.rs", "use super::b::{self, B as Other};\npub struct A;\n");
    write("b.rs", "pub struct B;\npub fn f() { crate::c::g(crate::d::D(crate::E)) }\n");
    write("c.rs", "use crate::A;\npub fn g(_: A) {}\n");
    write("d.rs", "pub struct D(super::E);\n#[cfg(test)]\nmod tests { use crate::c::g; }\n");
    let circle = || -> Vec<String> {
        let all = Crate::read(&folder.path().join("lib.rs"));
        let files = all.largest_circle().into_iter();
        files.map(|file| file.file_name().expect("a name").to_string_lossy().into_owned()).collect()
    };
    assert_eq!(circle(), ["a.rs", "b.rs", "c.rs"]);
    write("c.rs", "pub fn g() {}\n");
    assert_eq!(circle(), ["d.rs", "lib.rs"]);
}
