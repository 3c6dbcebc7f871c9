//! Is each file of the fuzzers' kept corpus still read, or refused in one line?
#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use targets::TARGETS;

/// Most bytes of all corpora together.
const MOST_BYTES: usize = 500_000;

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The files of a target's corpus.
fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = fuzz_folder().join("corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn every_file_of_the_corpus_is_read_or_refused_in_one_line() {
    for (name, target) in TARGETS {
        let files = corpus(name);
        assert!(files.len() > 2, "{name}: {} files", files.len());
        for file in files {
            let bytes = fs::read(&file).expect("a file");
            let outcome = std::panic::catch_unwind(|| target(&bytes));
            assert!(outcome.is_ok(), "{}: see above", file.display());
        }
    }
}

#[test]
fn the_corpus_is_small() {
    let files = TARGETS.iter().flat_map(|(name, _)| corpus(name));
    let bytes: usize = files.map(|file| fs::read(file).expect("a file").len()).sum();
    assert!(bytes < MOST_BYTES, "{bytes} bytes");
}

#[test]
fn every_target_has_its_fuzzer_and_every_corpus_its_target() {
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(fuzz_folder().join(folder)).expect("the folder is there");
        let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| stem(entry.expect("an entry").path())).collect();
        names.sort();
        names
    };
    let targets = TARGETS.map(|(name, _)| name);
    assert_eq!(names("fuzz_targets"), targets);
    assert_eq!(names("corpus"), targets);
}
