//! Replays the corpus of the fuzzers: each file must be read, or refused in one line.
#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use lzma_rust2::XzReader;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tar::Archive;
use targets::TARGETS;

/// Max size of the whole corpus in bytes.
const MAX_BYTES: usize = 500_000;

struct Input {
    /// Name of the fuzz target that reads the file.
    target: String,
    name: String,
    bytes: Vec<u8>,
}

/// Files of `fuzz/corpus.tar.xz`, each named `corpus/TARGET/FILE`.
static CORPUS: LazyLock<Vec<Input>> = LazyLock::new(|| {
    let file = File::open(fuzz_folder().join("corpus.tar.xz")).expect("the archive is in the repository");
    let mut archive = Archive::new(XzReader::new(file, false));
    let entries = archive.entries().expect("a tar archive").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.header().entry_type().is_file());
    files.map(read).collect()
});

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn read(mut entry: tar::Entry<'_, impl Read>) -> Input {
    let path = entry.path().expect("a path").into_owned();
    let names: Vec<String> = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let [folder, target, name] = names.as_slice() else {
        panic!("{}: must be corpus/TARGET/FILE", path.display());
    };
    assert_eq!(folder, "corpus");
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).expect("the entry is complete");
    Input { target: target.clone(), name: name.clone(), bytes }
}

/// Returns the files of one target.
fn corpus(target: &str) -> impl Iterator<Item = &'static Input> {
    CORPUS.iter().filter(move |input| input.target == target)
}

#[test]
fn every_file_of_the_corpus_is_read_or_refused_in_one_line() {
    for (name, target) in TARGETS {
        assert!(corpus(name).count() > 2, "{name}: {} files", corpus(name).count());
        for input in corpus(name) {
            let outcome = std::panic::catch_unwind(|| target(&input.bytes));
            assert!(outcome.is_ok(), "{name}/{}: see above", input.name);
        }
    }
}

#[test]
fn the_corpus_is_small() {
    let bytes: usize = CORPUS.iter().map(|input| input.bytes.len()).sum();
    assert!(bytes < MAX_BYTES, "{bytes} bytes");
}

#[test]
fn every_target_has_its_fuzzer_and_every_corpus_its_target() {
    let entries = fs::read_dir(fuzz_folder().join("fuzz_targets")).expect("the folder is there");
    let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut fuzzers: Vec<String> = entries.map(|entry| stem(entry.expect("an entry").path())).collect();
    fuzzers.sort();
    let mut corpora: Vec<&str> = CORPUS.iter().map(|input| input.target.as_str()).collect();
    corpora.sort_unstable();
    corpora.dedup();
    let targets = TARGETS.map(|(name, _)| name);
    assert_eq!(fuzzers, targets);
    assert_eq!(corpora, targets);
}
