//! The test suite: skipped tests are counted as skipped, the stated oldest compiler is old enough, and licenses are
//! allowed.
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the output of `tests/count` for the log of `cargo test` and the list of skipped tests.
fn count(log: &str, skipped: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [("log", log), ("skipped", skipped)].map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path
    });
    let output = Command::new("tests/count").args(files).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

const LOG: &str = "running 3 tests\ntest a ... ok\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\
                   test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";

#[test]
fn all_tests_are_counted() {
    assert_eq!(count(LOG, ""), "8 passed, 2 failed, 0 skipped\n");
}

#[test]
fn a_skipped_test_is_named_and_not_counted_as_passed() {
    let skipped = "slow: long runs only\nguide: no compiler\nslow: long runs only\n";
    let printed =
        "skipped: guide: no compiler\nskipped: slow: long runs only\n6 passed, 2 failed, 2 skipped\n";
    assert_eq!(count(LOG, skipped), printed);
}

#[test]
fn steps_are_counted_like_tests() {
    let log = format!("{LOG}step passed\nstep failed\nstep skipped\n");
    assert_eq!(
        count(&log, "Miri: not installed\n"),
        "skipped: Miri: not installed\n9 passed, 3 failed, 1 skipped\n"
    );
}

/// Runs `tests/run` with substitutes for its programs, which do nothing; `cargo` is the given script. Returns exit code
/// and last two lines.
fn run_with(cargo: &str) -> (Option<i32>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = [
        "verilator",
        "iverilog",
        "yosys",
        "berkeley-abc",
        "g++",
        "sta",
        "clang++-19",
        "valgrind",
        "chromium",
        "apt-get",
        "sudo",
        "rustup",
    ];
    for (name, text) in programs.map(|name| (name, "exit 0")).into_iter().chain([("cargo", cargo)]) {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    }
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let mut command = Command::new("tests/run");
    command.env("PATH", path).env("SELVEDGE_OFFLINE", "1").env_remove("SELVEDGE_VECTORS");
    let output = command.output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    (output.status.code(), lines[lines.len().saturating_sub(2)..].to_vec())
}

#[test]
fn the_suites_last_line_counts_what_was_skipped() {
    let result = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'";
    let skips = r#"[ "$1" = test ] && echo 'slow: long runs only' >>"$SELVEDGE_SKIPPED""#;
    let (code, lines) = run_with(&format!("{skips}\n{result}"));
    assert_eq!(
        (code, lines),
        (
            Some(0),
            ["skipped: slow: long runs only", "2 passed, 0 failed, 1 skipped"].map(str::to_owned).to_vec()
        )
    );
}

#[test]
fn a_failed_test_fails_the_suite_and_is_counted() {
    let (code, lines) = run_with(
        "[ \"$1\" = test ] || exit 0\necho 'test result: FAILED. 3 passed; 1 failed; 0 ignored'\nexit 101",
    );
    assert_eq!((code, lines.last().map(String::as_str)), (Some(1), Some("3 passed, 1 failed, 0 skipped")));
}

#[test]
fn an_unknown_option_of_the_suite_is_one_line_and_exit_code_2() {
    let output = Command::new("tests/run").arg("--quick").output().expect("it starts");
    let error = String::from_utf8(output.stderr).expect("text");
    assert_eq!(
        (output.status.code(), &*error),
        (Some(2), "tests/run: unknown option '--quick': must be --long\n")
    );
}

/// Collects all Rust files of the tests.
fn test_sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            test_sources(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") {
            out.push(path);
        }
    }
}

/// A line in the list of skipped tests must name the test.
#[test]
fn a_test_that_may_be_skipped_gives_its_own_name() {
    let mut files = Vec::new();
    for folder in
        ["tests", "capi/tests", "sim/run/tests", "hw/kit/tests", "hw/blocks/tests", "gen/verilog/tests"]
    {
        test_sources(Path::new(folder), &mut files);
    }
    let mut seen = 0;
    for file in files {
        let text = fs::read_to_string(&file).expect("a file");
        for call in ["is_long_run(\"", " skip(\""] {
            for (at, _) in text.match_indices(call) {
                let name = text[at + call.len()..].split('"').next().expect("a name");
                let before = text[..at].rfind("fn ").expect("a function");
                let function = text[before + 3..].split('(').next().expect("a name");
                // Strings of this test are not calls.
                if function != "a_test_that_may_be_skipped_gives_its_own_name" {
                    assert_eq!(name, function, "{}", file.display());
                    seen += 1;
                }
            }
        }
    }
    assert!(seen >= 6, "{seen} tests may be skipped");
}

/// Returns every package of a build or test for this host, as `cargo metadata` lists them.
fn packages() -> Vec<Value> {
    let version = Command::new("rustc").arg("-vV").output().expect("rustc starts");
    let version = String::from_utf8(version.stdout).expect("text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let cargo = std::env::var("CARGO").expect("cargo runs this test");
    let words = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let output = Command::new(cargo).args(words).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// Returns the numbers of a version such as `1.90` or `1.90.0`.
fn numbers(version: &str) -> [u32; 3] {
    let mut parts = version.split('.').map(|part| part.parse().expect("a number"));
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

#[test]
fn the_oldest_compiler_that_is_stated_can_build_every_package() {
    let packages = packages();
    let is_own = |package: &&Value| package["name"] == "selvedge";
    let own = packages.iter().find(is_own).and_then(|package| package["rust_version"].as_str());
    let stated = numbers(own.expect("selvedge states one"));
    for package in &packages {
        if let Some(needed) = package["rust_version"].as_str() {
            assert!(numbers(needed) <= stated, "{} needs Rust {needed}", package["id"]);
        }
    }
}

#[test]
fn the_toolchain_has_a_version_that_is_new_enough() {
    let text = fs::read_to_string("rust-toolchain.toml").expect("the file is there");
    let file: toml::Table = text.parse().expect("TOML");
    let channel = file["toolchain"]["channel"].as_str().expect("a channel");
    let manifest: toml::Table = fs::read_to_string("Cargo.toml").expect("there").parse().expect("TOML");
    let stated = manifest["workspace"]["package"]["rust-version"].as_str().expect("a version");
    assert!(numbers(channel) >= numbers(stated), "{channel} is older than {stated}");
}

/// `cargo deny` checks license expressions, but may not be installed. This test checks that every package has a license
/// and comes from the registry.
#[test]
fn every_package_is_from_the_registry_and_names_its_license() {
    for package in packages() {
        let name = package["name"].as_str().expect("a name");
        assert!(package["license"].is_string(), "{name} names no license");
        match package["source"].as_str() {
            Some(source) => {
                assert!(source.starts_with("registry+https://github.com/rust-lang/crates.io-index"), "{name}")
            }
            None => assert!(name.starts_with("selvedge") || name == "svg", "{name} is not in the registry"),
        }
    }
}
