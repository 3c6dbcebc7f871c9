//! Tests of sampled simulation: accuracy of the estimates, and full simulation of launches that are too short for samples.
use selvedge_sim::gpu::{Estimate, SampleSpec};
use selvedge_sim::report::{Outcome, RunReport};
use selvedge_sim::simulation::Simulation;
use selvedge_sim::workload::Size;

/// Sampling parameters of the table in docs/reference/speed.md.
const SPEC: SampleSpec = SampleSpec { detailed: 10_000, skip: 30_000 };

/// Runs `workload` in full, or with `sample`.
fn run(workload: &str, sample: Option<SampleSpec>) -> RunReport {
    let simulation = Simulation::builder().workload(workload).size(Size::Small);
    let simulation = match sample {
        Some(sample) => simulation.sample(sample),
        None => simulation,
    };
    simulation.run().expect("it runs")
}

#[test]
fn the_page_has_the_true_errors_which_are_small() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/speed.md");
    let page = std::fs::read_to_string(page).expect("there");
    for workload in ["conv2d", "hotspot", "btree", "dct"] {
        let report = run(workload, Some(SPEC));
        assert_eq!(report.result, Outcome::Pass, "{workload}");
        let Estimate { cycles, cycles_within, skipped_warp_instructions: skipped, .. } =
            report.sampled.expect("it is sampled");
        let all = run(workload, None).totals;
        let error = cycles / all.cycles as f64 - 1.0;
        assert!(error.abs() < 0.05, "{workload}: {error:.3}");
        let row = format!(
            "| {workload} | {:.0} % | {} | {cycles:.0} | {:+.1} % | {:.1} % |\n",
            100.0 * skipped as f64 / all.warp_instructions as f64,
            all.cycles,
            100.0 * error,
            100.0 * cycles_within.expect("several windows") / cycles,
        );
        assert!(page.contains(&row), "docs/reference/speed.md lacks {row}");
    }
}

#[test]
fn all_instructions_are_executed_in_detail_or_skipped() {
    let (part, all) = (run("conv2d", Some(SPEC)), run("conv2d", None));
    let estimate = part.sampled.expect("it is sampled");
    let sum = part.totals.warp_instructions + estimate.skipped_warp_instructions;
    assert_eq!(sum, all.totals.warp_instructions);
    let sum = part.totals.thread_instructions + estimate.skipped_thread_instructions;
    assert_eq!(sum, all.totals.thread_instructions);
    assert!(estimate.skipped_ctas > 0);
}

#[test]
fn launches_whose_ctas_all_run_at_the_same_time_are_simulated_in_full() {
    // The launches have 1920 and 256 threads: 8 CTAs and one CTA.
    let (part, all) = (run("atax", Some(SampleSpec { detailed: 1_000, skip: 1_000 })), run("atax", None));
    let estimate = part.sampled.expect("it is sampled");
    assert_eq!((estimate.skipped_ctas, estimate.cycles), (0, all.totals.cycles as f64));
    assert_eq!(part.totals, all.totals);
}
