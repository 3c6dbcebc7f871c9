//! Runs the command as a user does.
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Runs `selvedge` with these words in `folder`.
pub fn selvedge_in(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(words)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

/// Starts `selvedge` with these words in `folder`, with its output in pipes.
pub fn start_in(folder: &Path, words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(words)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Runs `selvedge` with these words, checks that it succeeds, and returns standard output.
pub fn selvedge(words: &[&str]) -> String {
    let output = selvedge_in(Path::new("."), words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "selvedge {}: {error}", words.join(" "));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}
