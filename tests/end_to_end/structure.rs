//! The structure of the simulator's source: no struct has many fields, and few files import each other in a circle.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Source folders of the checked crates.
const SOURCES: [&str; 1] = ["sim/gpu/src"];

/// Max files in a circle of imports.
const MOST_FILES: usize = 3;

/// Max fields of a struct.
const MOST_FIELDS: usize = 20;

/// The path of a module in its crate.
type Module = Vec<String>;

/// Returns the text of each module of a crate without comments, strings and tests.
fn modules(source: &str) -> BTreeMap<Module, String> {
    let mut modules = BTreeMap::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let text = path.to_str().expect("UTF-8").to_owned();
            let is_test = text.ends_with("tests.rs") || text.ends_with("/tests");
            if path.is_dir() && !is_test {
                folders.push(text);
            } else if text.ends_with(".rs") && !is_test {
                let name = text[source.len() + 1..].trim_end_matches(".rs");
                let name = name.trim_end_matches("/mod").trim_end_matches("lib");
                let module = name.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
                modules.insert(module, code(&path));
            }
        }
    }
    modules
}

/// Returns the code of a file up to its tests, without comments and strings.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("UTF-8");
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let lines: Vec<&str> = lines.collect();
    lines.join("\n").split('"').step_by(2).collect()
}

/// Appends the paths of a `use` tree to `paths`.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return paths.push(format!("{prefix}{}", path.trim()));
    };
    let prefix = format!("{prefix}{}", head.trim());
    let inner = rest.trim_end().strip_suffix('}').expect("a closed tree");
    let (mut depth, mut from) = (0, 0);
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let item = inner[from..at].trim();
                if !item.is_empty() {
                    expand(&prefix, item, paths);
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns the paths that a module names, in `use` declarations and elsewhere.
fn paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for statement in code.split(';') {
        let Some((before, tree)) = statement.rsplit_once("use ") else { continue };
        let before = before.trim_end();
        if before.is_empty() || before.ends_with("pub") || before.ends_with(['{', '}', ']', ')']) {
            expand("", tree, &mut paths);
        }
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    paths.extend(code.split(|letter| !is_part(letter)).filter(|word| word.contains("::")).map(str::to_owned));
    paths
}

/// Returns the module that contains the item with this path; `None` if it is of another crate.
fn resolve(modules: &BTreeMap<Module, String>, from: &Module, path: &str) -> Option<Module> {
    let mut parts = path.split("::").peekable();
    let mut module = match parts.peek() {
        Some(&"crate") => Vec::new(),
        Some(&("super" | "self")) => from.clone(),
        Some(first) if modules.contains_key(&[&from[..], &[(*first).to_owned()]].concat()) => from.clone(),
        _ => return None,
    };
    for part in parts {
        match part {
            "crate" | "self" => {}
            "super" => _ = module.pop(),
            name => {
                module.push(name.to_owned());
                if !modules.contains_key(&module) {
                    module.pop();
                    break;
                }
            }
        }
    }
    Some(module)
}

/// Returns the modules that can be reached from `from` by imports.
fn reached(imports: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        for import in &imports[module] {
            if found.insert(import.clone()) {
                next.push(import);
            }
        }
    }
    found
}

/// Returns the modules that each module of a crate imports.
fn imports(source: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let modules = modules(source);
    let of = |(module, code): (&Module, &String)| {
        let all = paths(code).into_iter().filter_map(|path| resolve(&modules, module, &path));
        (module.clone(), all.filter(|import| import != module).collect())
    };
    modules.iter().map(of).collect()
}

#[test]
fn few_files_import_each_other() {
    for source in SOURCES {
        let imports = imports(source);
        let reached: BTreeMap<&Module, BTreeSet<Module>> =
            imports.keys().map(|module| (module, reached(&imports, module))).collect();
        let most = reached.values().map(BTreeSet::len).max();
        assert!(most > Some(imports.len() / 2), "{source}: no file imports most of the others");
        for (module, from_here) in &reached {
            let circle = from_here.iter().filter(|other| reached[other].contains(*module));
            let circle: Vec<String> = circle.map(|module| module.join("::")).collect();
            let (count, names) = (circle.len(), circle.join(", "));
            assert!(count <= MOST_FILES, "{source}: {count} files import each other: {names}");
        }
    }
}

/// Returns whether a line of a struct declares a field.
fn is_field(line: &str) -> bool {
    let line = line.trim_start();
    let visible = ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|start| line.strip_prefix(start));
    let Some((name, _)) = visible.unwrap_or(line).split_once(": ") else { return false };
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[test]
fn no_struct_has_many_fields() {
    for source in SOURCES {
        let mut most = 0;
        for (module, code) in modules(source) {
            // The structs of the configuration are tables of a TOML file, with a field for each key.
            if module.first().is_some_and(|name| name == "config") {
                continue;
            }
            for text in code.split("struct ").skip(1) {
                let Some((head, rest)) = text.split_once('{') else { continue };
                if head.contains([';', '(']) {
                    continue;
                }
                let body = rest.split("\n}").next().unwrap_or_default();
                let fields = body.lines().filter(|line| is_field(line)).count();
                let name = format!("{}::{}", module.join("::"), head.trim());
                assert!(fields <= MOST_FIELDS, "{source}: {name} has {fields} fields");
                most = most.max(fields);
            }
        }
        assert!(most > MOST_FIELDS / 2, "{source}: the largest struct has {most} fields");
    }
}
