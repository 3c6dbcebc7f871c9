//! Tests that cocotb accepts the Verilog of blocks, and that it reports a planted error with its signal and cycle.
//!
//! `tests/run` installs cocotb to `target/python`. The tests are skipped if it is missing.
use selvedge_blocks::find;
use selvedge_gen::files::file_list;
use selvedge_gen::{EmitOptions, Language, ResetStyle, emit};
use selvedge_testbenches::cocotb;
use selvedge_testbenches::skipped::skip;
use selvedge_testbenches::vector_file::{self, VectorExtent};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Returns the folder of programs in the tests' Python environment.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python/bin")
}

/// Returns whether cocotb is installed. If it is missing, records that `test` is skipped.
fn has_cocotb(test: &str) -> bool {
    let asked = Command::new(programs().join("python3")).args(["-c", "import cocotb"]).output();
    let is_there = asked.is_ok_and(|output| output.status.success());
    if !is_there {
        skip(test, "cocotb is not installed in target/python");
    }
    is_there
}

/// Writes a block with its cocotb files. `change` may plant an error in a file.
fn kit(block: &str, reset: ResetStyle, operations: u64, change: impl Fn(&str) -> String) -> TempDir {
    let entry = find(block).expect("the block is there");
    let params = entry.defaults();
    let options = EmitOptions { reset, ..EmitOptions::default() };
    let design = emit(&*entry.elaborate(&params).unwrap(), block, &options).unwrap();
    assert_eq!(design.top().language, Language::Verilog);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for module in &design.modules {
        write(&module.file(), &change(&module.text));
    }
    write(&format!("{block}.f"), &file_list(&design));
    let extent = VectorExtent { operations: Some(operations), seed: 1, reset };
    let vectors = vector_file::write(entry, &params, extent).unwrap();
    write(&vector_file::file_name(block), &vectors.text);
    cocotb::files(block).iter().for_each(|(name, text)| write(name, text));
    folder
}

/// Runs a program of the environment in the folder. Returns whether it succeeds, and its output.
fn run(folder: &Path, simulator: &str, program: &str, words: &[&str]) -> (bool, String) {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(programs()).chain(std::env::split_paths(&paths))).unwrap();
    let output = Command::new(program)
        .args(words)
        .current_dir(folder)
        .env("PATH", path)
        .env("SIM", simulator)
        .output()
        .expect("the program starts");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), text.concat())
}

#[test]
fn blocks_pass_in_icarus_by_make_and_by_the_runner() {
    if !has_cocotb("blocks_pass_in_icarus_by_make_and_by_the_runner") {
        return;
    }
    for (block, reset) in [
        ("milg", ResetStyle::Control),
        ("bdi_decompressor", ResetStyle::SyncHigh),
        ("decompression_queue", ResetStyle::None),
    ] {
        let folder = kit(block, reset, 300, str::to_string);
        let (passed, said) = run(folder.path(), "icarus", "make", &[]);
        assert!(passed && said.contains("outputs compared"), "{block}: {said}");
        let (passed, said) = run(folder.path(), "icarus", "python3", &[&format!("test_{block}.py")]);
        assert!(passed && said.contains("outputs compared"), "{block}: {said}");
    }
}

#[test]
fn a_block_passes_in_verilator() {
    if !has_cocotb("a_block_passes_in_verilator") {
        return;
    }
    let folder = kit("milg", ResetStyle::Control, 300, str::to_string);
    let (passed, said) = run(folder.path(), "verilator", "make", &["COVERAGE=1"]);
    assert!(passed && said.contains("outputs compared"), "{said}");
    let lines = std::fs::read_to_string(folder.path().join("coverage/milg.v")).expect("the coverage");
    assert!(said.contains("Total coverage") && lines.contains("%00"), "{said}\n{lines}");
    let (passed, said) = run(folder.path(), "icarus", "make", &["COVERAGE=1"]);
    assert!(!passed && said.contains("COVERAGE=1 needs SIM=verilator"), "{said}");
}

#[test]
fn a_planted_error_is_found_with_signal_and_cycle() {
    if !has_cocotb("a_planted_error_is_found_with_signal_and_cycle") {
        return;
    }
    let folder = kit("milg", ResetStyle::Control, 300, |text| {
        text.replace("limit_q <= 7'd127;", "limit_q <= 7'd126;")
    });
    for (program, words) in [("make", vec![]), ("python3", vec!["test_milg.py"])] {
        let (passed, said) = run(folder.path(), "icarus", program, &words);
        // The first cycle is in reset.
        assert!(!passed && said.contains("cycle 1: limit_o is 0x7e, expected 0x7f"), "{program}: {said}");
    }
}
