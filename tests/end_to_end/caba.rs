//! CABA: do engines agree on its assist warps, does lock-step catch an error in their controller, and do the pages of the
//! compressing mechanisms tell the truth?
use crate::command::selvedge_in;
use crate::engines::report;
use crate::guide::{blocks, shell};

/// Full-line stores, a matrix, and lines that many warps read.
const WORKLOADS: [&str; 3] = ["vecadd", "atax", "bfs"];

#[test]
fn caba_bdi_gives_the_same_report_under_every_engine() {
    for workload in WORKLOADS {
        let model = report(workload, "caba-bdi", "model");
        assert_eq!(model, report(workload, "caba-bdi", "rtl"), "{workload}: the RTL differs");
        assert_eq!(model, report(workload, "caba-bdi", "lockstep"), "{workload}: lockstep differs");
    }
}

#[test]
fn a_flipped_bit_of_the_controller_is_caught() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words =
        ["run", "bfs", "--size", "tiny", "--mechanism", "caba-bdi", "--engine", "lockstep", "--inject"];
    let output = selvedge_in(folder.path(), &[&words[..], &["sm3.awc:600:20"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("sm3.awc (awc)") && error.contains("at port high_valid_o"), "{error}");
}

#[test]
fn the_pages_commands_print_what_the_pages_show() {
    for page in ["hw-bdi", "ideal-bdi", "caba"] {
        let text = std::fs::read_to_string(format!("docs/mechanisms/{page}.md")).expect("the page is there");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (mut printed, mut commands) = (String::new(), 0);
        for block in blocks(&text) {
            if block.kind == "output" {
                assert_eq!(printed.trim_end(), block.text.trim_end(), "{page} shows something else");
            }
            for line in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                commands += 1;
                let output = shell(folder.path(), line);
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{page}: {line}: {error}");
                printed = String::from_utf8_lossy(&output.stdout).into_owned();
            }
        }
        assert!(commands > 0, "{page} shows a run");
    }
}
