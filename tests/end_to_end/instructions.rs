//! Guard of the simulator's speed: fixed runs execute the recorded number of instructions, and the script reports a
//! difference.
use selvedge_testbenches::skipped::skip;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Environment variable of `tests/run`, which marks the build that the recorded counts belong to.
const COUNTS: &str = "SELVEDGE_COUNTS";

/// Runs `script` with this binary.
fn instructions(script: &Path) -> Output {
    let mut command = Command::new(script);
    command.env("SELVEDGE_BINARY", env!("CARGO_BIN_EXE_selvedge")).output().expect("it starts")
}

#[test]
fn fixed_runs_take_as_many_instructions_as_recorded() {
    if std::env::var_os(COUNTS).is_none() {
        return skip(
            "fixed_runs_take_as_many_instructions_as_recorded",
            "the build is not that of tests/run",
        );
    }
    let output = instructions(Path::new("tests/instructions"));
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(3) {
        return skip("fixed_runs_take_as_many_instructions_as_recorded", error.trim());
    }
    assert!(output.status.success(), "{}{error}", String::from_utf8_lossy(&output.stdout));
}

/// Runs a copy of the script with a table of one run. A fake valgrind counts `counted` instructions.
fn judged(recorded: &str, counted: u64, option: Option<&str>) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let (tests, programs) = (folder.path().join("tests"), folder.path().join("programs"));
    for path in [&tests, &programs] {
        fs::create_dir(path).expect("created");
    }
    fs::copy("tests/instructions", tests.join("instructions")).expect("copied");
    let table = tests.join("instructions.tsv");
    fs::write(&table, format!("# rustc 1.0.0\nrun\tinstructions\targuments\none\t{recorded}\tlist\n"))
        .expect("written");
    let valgrind = format!("#!/bin/sh\necho '==1== Collected : {counted}' >&2\n");
    for (name, text) in [("valgrind", &*valgrind), ("rustc", "#!/bin/sh\necho 'rustc 1.0.0 (x)'\n")] {
        let path = programs.join(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    }
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let output = Command::new(tests.join("instructions"))
        .args(option)
        .env("PATH", path)
        .env("SELVEDGE_BINARY", "/bin/true")
        .output()
        .expect("it starts");
    (output.status.code(), fs::read_to_string(table).expect("there"))
}

#[test]
fn more_than_two_percent_more_or_fewer_fail_until_they_are_recorded() {
    if !fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains(" avx2 ")) {
        return skip(
            "more_than_two_percent_more_or_fewer_fail_until_they_are_recorded",
            "the counts are of a processor with AVX2",
        );
    }
    for (counted, code) in [(1000, 0), (1020, 0), (980, 0), (1021, 1), (979, 1)] {
        assert_eq!(judged("1000", counted, None).0, Some(code), "{counted}");
    }
    let (code, table) = judged("1000", 1500, Some("--write"));
    assert_eq!(code, Some(0));
    assert!(table.ends_with("one\t1500\tlist\n") && table.contains("rustc 1.0.0\n"), "{table}");
}
