//! Sampled simulation: how far are its estimates from the truth, and does it leave alone what is too short to be sampled?
use selvedge_sim::gpu::{Estimate, SampleSpec};
use selvedge_sim::report::{Outcome, RunReport};
use selvedge_sim::simulation::Simulation;
use selvedge_sim::workload::Size;

/// Runs `workload` in full, or a part of it.
fn run(workload: &str, sample: Option<SampleSpec>) -> RunReport {
    let simulation = Simulation::builder().workload(workload).size(Size::Small);
    let simulation = match sample {
        Some(sample) => simulation.sample(sample),
        None => simulation,
    };
    simulation.run().expect("it runs")
}

/// The estimate for a workload whose results are right all the same, and the true cycles.
fn estimate(workload: &str, detailed: u64, skip: u64) -> (Estimate, u64) {
    let report = run(workload, Some(SampleSpec { detailed, skip }));
    assert_eq!(report.result, Outcome::Pass, "{workload}");
    (report.sampled.expect("it is sampled"), run(workload, None).totals.cycles)
}

#[test]
fn estimates_are_near_the_truth() {
    for (workload, most) in [("vecadd", 0.10), ("conv2d", 0.05), ("btree", 0.05)] {
        let (estimate, cycles) = estimate(workload, 10_000, 30_000);
        let error = estimate.cycles / cycles as f64 - 1.0;
        assert!(estimate.skipped_ctas > 0, "{workload}");
        assert!(error.abs() < most, "{workload}: {error:.3}: {estimate:?}, {cycles} cycles");
    }
}

#[test]
fn all_instructions_are_executed_in_detail_or_skipped() {
    let spec = SampleSpec { detailed: 10_000, skip: 30_000 };
    let (part, all) = (run("conv2d", Some(spec)), run("conv2d", None));
    let estimate = part.sampled.expect("it is sampled");
    let sum = part.totals.warp_instructions + estimate.skipped_warp_instructions;
    assert_eq!(sum, all.totals.warp_instructions);
    let sum = part.totals.thread_instructions + estimate.skipped_thread_instructions;
    assert_eq!(sum, all.totals.thread_instructions);
    assert!(part.totals.warp_instructions < all.totals.warp_instructions / 2);
}

#[test]
fn launches_whose_ctas_all_run_at_the_same_time_are_simulated_in_full() {
    // 1920 and 256 threads: 8 CTAs, and then one.
    let (estimate, cycles) = estimate("atax", 1_000, 1_000);
    assert_eq!((estimate.skipped_ctas, estimate.cycles), (0, cycles as f64));
}
