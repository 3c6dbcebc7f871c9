//! Predictors of the fetch granularity: the engines agree on them, and lockstep detects an error in their RTL.

use crate::command::selvedge_in;
use crate::engines::report;

/// A stream, and two searches whose predictors store blocks.
const WORKLOADS: [&str; 3] = ["vecadd", "bfs", "bfs_worklist"];

fn engines_agree(mechanism: &str) {
    for workload in WORKLOADS {
        let model = report(workload, mechanism, "model");
        assert_eq!(model, report(workload, mechanism, "rtl"), "{workload}: the RTL differs");
        assert_eq!(model, report(workload, mechanism, "lockstep"), "{workload}: lockstep differs");
    }
}

#[test]
fn bgp_gives_the_same_report_under_every_engine() {
    engines_agree("bgp");
}

#[test]
fn spp_gives_the_same_report_under_every_engine() {
    engines_agree("spp");
}

#[test]
fn a_flipped_bit_of_a_prediction_is_caught_in_an_l1d_and_in_a_partition() {
    // Bit 1 of the outputs is coarse_o.
    for (instance, cycle) in [("sm3.l1d.bgp", 2000), ("l2.p1.bgp", 1000)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fault = format!("{instance}:{cycle}:1");
        let words = ["run", "bfs", "--mechanism", "bgp", "--engine", "lockstep", "--inject", &fault];
        let output = selvedge_in(folder.path(), &words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(
            error.contains(&format!("{instance} (bgp)")) && error.contains("at port coarse_o"),
            "{error}"
        );
    }
}
