//! Fingerprints of the simulator's sources, computed by the build script and checked by a test.
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the crates that affect results, relative to the root of the workspace.
pub const SOURCES: [&str; 9] = [
    "macros",
    "state",
    "hw",
    "sim/cudart",
    "sim/ptx",
    "sim/gpu",
    "sim/mechanisms",
    "sim/workloads",
    "sim/run",
];

/// Folders of the crates that emit and compile Verilog.
pub const VERILOG: [&str; 2] = ["gen/verilog", "testbenches"];

/// Crate whose dependencies affect results, and crate that emits Verilog.
const CRATES: [&str; 2] = ["selvedge-sim", "selvedge-testbenches"];

/// Returns a hash of the sources in `folders` of the workspace `root`, and of the versions of their dependencies.
pub fn fingerprint(root: &Path, folders: &[&str]) -> String {
    let mut files = Vec::new();
    for folder in folders {
        gather(&root.join(folder), &mut files);
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let bytes = fs::read(file).unwrap_or_default();
        hash.update(format!("{name} {}\n", bytes.len()));
        hash.update(&bytes);
    }
    let own = CRATES[usize::from(folders == VERILOG)];
    for package in dependencies(&fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default(), own) {
        hash.update(package);
    }
    // A crate from a registry has no workspace: its version determines the sources of the others.
    hash.update(env!("CARGO_PKG_VERSION"));
    let text = hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes it");
        text
    });
    text[..32].into()
}

/// Adds the sources in `folder`: Rust files, kernels, configurations and manifests.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            // Tests, benchmarks and examples do not affect results.
            if !["target", "tests", "benches", "examples"].contains(&&*name) && !name.starts_with('.') {
                gather(&path, files);
            }
        } else if ["rs", "toml", "ptx", "cu"].iter().any(|end| path.extension().is_some_and(|e| e == *end)) {
            files.push(path);
        }
    }
}

/// Returns the sections of the lock file `text` for all direct and indirect dependencies of `own`.
fn dependencies<'a>(text: &'a str, own: &str) -> BTreeSet<&'a str> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for section in text.split("[[package]]").skip(1) {
        by_name.entry(value(section, "name")).or_default().push(section);
    }
    let mut found = BTreeSet::new();
    let mut waiting = vec![own];
    while let Some(dependency) = waiting.pop() {
        // The version follows the name if there are several versions.
        let mut words = dependency.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        for section in by_name.get(name).into_iter().flatten().copied() {
            let is_meant = version.is_none_or(|version| version == value(section, "version"));
            if is_meant && found.insert(section) {
                let list = section.split_once("dependencies = [").map_or("", |(_, list)| list);
                let list = list.split_once(']').map_or("", |(list, _)| list);
                waiting.extend(list.split('"').skip(1).step_by(2));
            }
        }
    }
    found
}

/// Returns the value of `key` in a section.
fn value<'a>(section: &'a str, key: &str) -> &'a str {
    let line = section.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
    line.unwrap_or_default().trim_matches('"')
}
