//! Lockstep stops the GPU when a bit of a block's RTL is wrong, and reports block, cycle and port.

use crate::command::selvedge_in;
use selvedge_sim::mechanism;

/// A core cycle in which the decompressor of SM 0 outputs a line.
const LINE_CYCLE: u64 = 1065;

/// Injects a fault into a run of bfs. Returns exit code, standard error and the waveform of the difference.
fn strike(instance: &str, cycle: u64, bit: u32, engine: &str) -> (Option<i32>, String, Option<String>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fault = format!("{instance}:{cycle}:{bit}");
    let words =
        ["run", "bfs", "--size", "tiny", "--mechanism", "hw-bdi", "--engine", engine, "--inject", &fault];
    let output = selvedge_in(folder.path(), &words);
    let waveform = std::fs::read_to_string(folder.path().join(format!("divergence-{instance}.vcd"))).ok();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), waveform)
}

/// Returns the core cycle that a difference names.
fn cycle_of(error: &str) -> u64 {
    let words = error.split("in cycle ").nth(1).expect("a cycle is named");
    words.split_whitespace().next().and_then(|w| w.parse().ok()).expect("the cycle is a number")
}

#[test]
fn a_flipped_bit_of_a_delta_is_caught_at_its_port_in_its_cycle() {
    let (code, error, waveform) = strike("sm0.decompressor", LINE_CYCLE, 300, "lockstep");
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("sm0.decompressor (bdi_decompressor)"), "{error}");
    assert!(error.contains("at port line_o"), "{error}");
    assert_eq!(cycle_of(&error), LINE_CYCLE, "{error}");
    let waveform = waveform.expect("the last cycles are in a waveform");
    assert!(waveform.contains("line_o") && waveform.contains("$scope module model"), "a VCD of both sides");
}

#[test]
fn a_flipped_bit_of_a_line_that_is_not_valid_means_nothing() {
    // The block is clocked only while it has a line, so the fault strikes in the cycle before the next line is valid.
    let (code, error, waveform) = strike("sm0.decompressor", LINE_CYCLE - 1, 300, "lockstep");
    assert_eq!(code, Some(0), "{error}");
    assert!(waveform.is_none(), "nothing differs");
}

#[test]
fn a_flipped_bit_in_a_partitions_decompressor_is_caught_too() {
    let (code, error, _) = strike("l2.p0.decompressor", 1906, 77, "lockstep");
    assert_eq!(code, Some(3), "{error}");
    assert!(
        error.contains("l2.p0.decompressor (bdi_decompressor)") && error.contains("at port line_o"),
        "{error}"
    );
}

#[test]
fn a_fault_without_rtl_to_strike_is_a_mistake_of_the_user() {
    let (code, error, _) = strike("sm0.decompressor", 1, 1, "model");
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("rtl, lockstep"), "{error}");
}

#[test]
fn a_difference_is_told_even_where_its_waveform_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("divergence-sm0.decompressor.vcd")).expect("a folder in the way");
    let words = ["run", "bfs", "--size", "tiny", "--mechanism", "hw-bdi", "--engine", "lockstep"];
    let output =
        selvedge_in(folder.path(), &[words.as_slice(), &["--inject", "sm0.decompressor:1065:300"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("cannot write") && error.contains("model and RTL differ"), "{error}");
}

/// Uses the fastest workload at this size, or the one that a mechanism targets. After a few thousand cycles, blocks
/// have seen refills, full queues and new intervals, which `tiny` does not reach.
#[test]
fn lockstep_finds_no_difference_on_a_small_workload() {
    for mechanism in mechanism::built_in().iter().filter(|info| !info.blocks.is_empty()).map(|info| info.name)
    {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let workload = if mechanism == "caba-memo" { "tone_map" } else { "vecadd" };
        let words = ["run", workload, "--size", "small", "--mechanism", mechanism, "--engine", "lockstep"];
        let output = selvedge_in(folder.path(), &words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mechanism}: {error}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("  pass\n"), "{mechanism}: {text}");
    }
}
