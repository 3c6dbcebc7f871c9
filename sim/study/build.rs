//! Gives the crate the fingerprint of the simulator: a hash of the sources that decide results, and the commit they are of.
//!
//! A change of a command, a report or a page leaves the fingerprint as it is, so that results that are kept stay valid.
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders of the crates that decide results, from the root of the workspace.
const SOURCES: [&str; 9] = [
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

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in SOURCES.map(|folder| root.join(folder)) {
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            gather(&folder, &mut files);
        }
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let bytes = fs::read(file).unwrap_or_default();
        hash.update(format!("{name} {}\n", bytes.len()));
        hash.update(&bytes);
    }
    // A crate from the registry stands alone: its version states which sources the others have.
    hash.update(env!("CARGO_PKG_VERSION"));
    let text = hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes it");
        text
    });
    println!("cargo::rustc-env=SELVEDGE_FINGERPRINT={}", &text[..32]);
    println!("cargo::rustc-env=SELVEDGE_COMMIT={}", commit(&root));
}

/// Adds the sources in `folder`: Rust, kernels, configurations and manifests.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            // Tests, benchmarks and examples decide nothing.
            if !["target", "tests", "benches", "examples"].contains(&&*name) && !name.starts_with('.') {
                gather(&path, files);
            }
        } else if ["rs", "toml", "ptx", "cu"].iter().any(|end| path.extension().is_some_and(|e| e == *end)) {
            files.push(path);
        }
    }
}

/// Returns the commit of the sources, marked where they differ from it; `unknown` without git.
fn commit(root: &Path) -> String {
    let git = |words: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "HEAD"]) else { return "unknown".into() };
    // Git adds a line there whenever HEAD changes.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(SOURCES);
    match git(&status) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit}-changed"),
    }
}
