//! Does Ctrl-C end a long run with what it has?

use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn an_interrupted_run_reports_what_it_has() {
    // Minutes long when it is let alone; where in it the interrupt falls does not matter.
    let run = Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["run", "kmeans", "--size", "paper", "--json", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(Duration::from_secs(5));
    let id = run.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    let output = run.wait_with_output().expect("the run ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("interrupted at cycle"), "{error}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(report["result"], "fail");
    assert!(report["totals"]["warp_instructions"].as_u64().expect("a number") > 0);
}
