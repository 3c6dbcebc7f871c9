//! Structs of the GPU. One with many fields has several responsibilities.
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const SOURCE: &str = "sim/gpu/src";

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

#[test]
fn no_struct_has_many_fields() {
    let modules = modules(SOURCE);
    // The structs of the configuration are tables of a TOML file, with a field for each key.
    let structs = modules.iter().filter(|(module, _)| module.first().is_none_or(|name| name != "config"));
    let mut most = 0;
    for (module, code) in structs {
        for text in code.split("struct ").skip(1) {
            let Some((head, rest)) = text.split_once('{') else { continue };
            let body = rest.split("\n}").next().unwrap_or_default();
            let is_field = |line: &&str| {
                let line = line.trim_start();
                let name = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub(super) "));
                let name = name.or(line.strip_prefix("pub ")).unwrap_or(line).split(": ").next();
                name.is_some_and(|name| {
                    name != line
                        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
                })
            };
            let fields = if head.contains([';', '(']) { 0 } else { body.lines().filter(is_field).count() };
            let name = format!("{}::{}", module.join("::"), head.trim());
            assert!(fields <= MOST_FIELDS, "{name} has {fields} fields");
            most = most.max(fields);
        }
    }
    assert!(most > MOST_FIELDS / 2, "the largest struct has {most} fields");
}
