//! Guides in `docs/`: their fenced blocks, and the lines that a reader would type.
use std::path::Path;
use std::process::{Command, Output};

/// A fenced block of a guide, with its language word and text.
pub struct Block {
    pub kind: String,
    pub text: String,
}

/// Returns the fenced blocks of a guide, in order.
pub fn blocks(guide: &str) -> Vec<Block> {
    let parts = guide.split("\n```").skip(1).step_by(2);
    parts
        .map(|part| {
            let (kind, text) = part.split_once('\n').unwrap_or((part, ""));
            Block { kind: kind.into(), text: text.into() }
        })
        .collect()
}

/// Runs a line in `folder` as a shell does, with the command under test in the search path.
pub fn shell(folder: &Path, line: &str) -> Output {
    let command = Path::new(env!("CARGO_BIN_EXE_selvedge"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let first = command.parent().map(Path::to_path_buf);
    let path = std::env::join_paths(first.into_iter().chain(std::env::split_paths(&paths)));
    Command::new("sh")
        .args(["-c", line])
        .env("PATH", path.expect("a path"))
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .current_dir(folder)
        .output()
        .expect("a shell")
}
