//! Sets the fingerprints of the simulator: hashes of the sources that affect results, and their commit.
//!
//! Changes of commands, reports or pages do not change the fingerprints. Stored results stay valid.
#[path = "build/fingerprint.rs"]
mod fingerprint;

use fingerprint::{SOURCES, VERILOG, fingerprint};
use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    for place in SOURCES.iter().chain(&VERILOG).chain(&["Cargo.lock"]).map(|place| root.join(place)) {
        if place.exists() {
            println!("cargo::rerun-if-changed={}", place.display());
        }
    }
    println!("cargo::rustc-env=SELVEDGE_FINGERPRINT={}", fingerprint(&root, &SOURCES));
    println!("cargo::rustc-env=SELVEDGE_VERILOG_FINGERPRINT={}", fingerprint(&root, &VERILOG));
    println!("cargo::rustc-env=SELVEDGE_COMMIT={}", commit(&root));
}

/// Returns the commit of the sources, with the suffix `-changed` if they differ from it; `unknown` without git.
fn commit(root: &Path) -> String {
    let git = |words: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "HEAD"]) else { return "unknown".into() };
    // Git appends a line to this log whenever HEAD changes.
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
