//! Traces: a replay reports the same as the execution, and wrong files are refused with one line.
use crate::command::selvedge_in;
use std::fs;
use std::path::Path;

/// Copies tests/traces to a temporary folder.
fn copy_of_the_traces() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("tests/traces");
    fs::create_dir_all(&folder).expect("a folder");
    for file in ["kernelslist.g", "kernel-1.traceg", "kernel-2.traceg.xz"] {
        fs::copy(Path::new("tests/traces").join(file), folder.join(file)).expect(file);
    }
    root
}

/// Returns the JSON report of a run, without its source's name and values that depend on the host.
fn report(folder: &Path, words: &[&str]) -> String {
    let output = selvedge_in(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let map = json.as_object_mut().expect("an object");
    map.remove("workload").expect("a name");
    map.remove("races").expect("whether it races, which a replay does not");
    map.remove("host").expect("measurements");
    serde_json::to_string_pretty(&json).expect("it was JSON")
}

#[test]
fn a_replay_reports_what_the_execution_did() {
    let folder = tempfile::tempdir().expect("a folder");
    for mechanism in ["base", "hw-bdi+dmil"] {
        let recorded = ["trace", "record", "bfs", "--mechanism", mechanism, "-o", "bfs.strace"];
        let output = selvedge_in(folder.path(), &recorded);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let run = |source| report(folder.path(), &["run", source, "--mechanism", mechanism, "--json", "-"]);
        assert_eq!(run("bfs.strace"), run("bfs"), "{mechanism}");
    }
}

#[test]
fn wrong_traces_and_options_get_one_line_and_exit_code_2() {
    let root = copy_of_the_traces();
    let folder = root.path().join("tests/traces");
    let whole = fs::read_to_string(folder.join("kernel-1.traceg")).expect("there");
    fs::write(folder.join("cut.traceg"), &whole[..whole.len() / 2]).expect("written");
    fs::write(folder.join("foreign.strace"), "PK and so on").expect("written");
    let cases: [(&[&str], &str); 9] = [
        (&["run", "none.strace"], "none.strace: cannot read it"),
        (&["run", "foreign.strace"], "foreign.strace: offset 0: not a trace"),
        (&["run", "cut.traceg"], "cut.traceg:"),
        (&["trace", "info", "cut.traceg"], "cut.traceg:"),
        (&["trace", "info", "kernel.txt"], "kernel.txt: no name of a trace: must be NAME.strace"),
        (&["run", "kernel-1.traceg", "--size", "tiny"], "--size: allowed with workloads, not with traces"),
        (&["run", "kernel-1.traceg+bfs"], "kernel-1.traceg: a trace runs alone"),
        (&["trace", "record", "kernel-1.traceg", "-o", "x.strace"], "kernel-1.traceg: a trace runs alone"),
        (&["trace", "record", "vecadd", "-o", "x.json"], "x.json: must be a name that ends in .strace"),
    ];
    for (words, says) in cases {
        let output = selvedge_in(&folder, words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(
            error.lines().count() == 1 && error.contains(says),
            "{words:?}: `{error}` should say `{says}`"
        );
        assert!(output.stdout.is_empty(), "{words:?}");
    }
    assert!(!folder.join("x.strace").exists());
}
