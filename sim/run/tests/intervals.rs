//! Tests of runs by intervals: the same report for any number of jobs, exact beginnings, and small errors.
use selvedge_sim::gpu::{Bounds, Control};
use selvedge_sim::intervals::{Estimate, IntervalSpec, run_by_intervals};
use selvedge_sim::overrides::Override;
use selvedge_sim::report::{HostReport, Outcome, RunReport};
use selvedge_sim::run::run;
use selvedge_sim::simulation::Simulation;
use selvedge_sim::workload::Size;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Returns a simulation of `workload` on two SMs, which need many sets of resident CTAs for it.
fn simulation(workload: &str, mechanism: &str) -> Simulation {
    let two_sms = vec![set("sm.count", 2)];
    Simulation::builder().workload(workload).mechanism(mechanism).size(Size::Small).set(two_sms)
}

fn set(key: &str, value: i64) -> Override {
    Override { key: key.into(), value: value.into() }
}

/// Runs `workload` by at most `most` intervals per launch.
fn by_intervals(workload: &str, mechanism: &str, most: u64, jobs: usize) -> RunReport {
    let simulation = simulation(workload, mechanism).intervals(IntervalSpec { most, error: None, jobs });
    simulation.run().expect("it runs")
}

fn estimate(report: &RunReport) -> Estimate {
    report.estimate.clone().expect("it is estimated")
}

#[test]
fn the_report_is_the_same_for_any_number_of_jobs() {
    for mechanism in ["base", "bgp", "latte-cc"] {
        let report = |jobs| {
            let report = by_intervals("conv2d", mechanism, 3, jobs);
            let host = HostReport { wall_s: 0.0, cycles_per_s: 0.0, warp_instructions_per_s: 0.0 };
            serde_json::to_string(&RunReport { host, ..report }).expect("it has a JSON form")
        };
        let one = report(1);
        assert!(one == report(2) && one == report(8), "{mechanism}");
    }
}

#[test]
fn a_launch_without_rest_is_simulated_whole_and_exactly() {
    // The launches are short. The first one begins with empty caches in both runs.
    for mechanism in ["base", "mdb-local", "hw-bdi"] {
        let tiny = || simulation("atax", mechanism).size(Size::Tiny);
        let part = tiny().intervals(IntervalSpec { most: 4, error: None, jobs: 2 }).run().expect("it runs");
        let all = tiny().run().expect("it runs");
        assert_eq!(part.kernels[0], all.kernels[0], "{mechanism}");
        let estimate = estimate(&part);
        assert_eq!((estimate.intervals, estimate.detailed_share), (2, 1.0), "{mechanism}");
        assert_eq!(
            estimate.cycles_within, None,
            "the second launch starts in the state that the pass has left"
        );
    }
    let one =
        simulation("dct", "base").set(Vec::new()).intervals(IntervalSpec { most: 4, error: None, jobs: 2 });
    assert_eq!(estimate(&one.run().expect("it runs")).cycles_within, Some(0.0), "nothing is estimated");
}

#[test]
fn a_launch_starts_with_what_the_launch_before_has_learned() {
    let simulation = || simulation("srad_tiled", "mdb-local").set(Vec::new());
    let cycles = |simulation: Simulation| simulation.run().expect("it runs").kernels[1].totals.cycles as f64;
    let part = cycles(simulation().intervals(IntervalSpec { most: 4, error: None, jobs: 2 }));
    let all = cycles(simulation());
    assert!((part / all - 1.0).abs() < 0.04, "{part} {all}");
}

#[test]
fn estimated_counters_are_those_of_all_instructions() {
    let (part, all) =
        (by_intervals("conv2d", "base", 3, 2), simulation("conv2d", "base").run().expect("it runs"));
    assert_eq!(part.result, Outcome::Pass);
    // Each launch is rounded once.
    let launches = part.kernels.len() as u64;
    let (estimated, true_count) = (part.totals.warp_instructions, all.totals.warp_instructions);
    assert!(estimated.abs_diff(true_count) <= launches, "{estimated} {true_count}");
    assert!(estimate(&part).intervals > 3 && estimate(&part).detailed_share < 1.0, "{:?}", part.estimate);
}

#[test]
fn intervals_of_ctas_that_run_in_step_end_in_the_phase_in_which_they_begin() {
    // The CTAs load first and compute later. Few SMs share one memory partition, so that the CTAs wait for it together.
    let few = || {
        let settings = [("sm.count", 1), ("sm.ctas", 3), ("l2.partitions", 1)];
        simulation("srad_tiled", "base").set(settings.map(|(key, value)| set(key, value)).to_vec())
    };
    let part = few().intervals(IntervalSpec { most: 3, error: None, jobs: 2 }).run().expect("it runs");
    let within = estimate(&part).cycles_within.expect("six launches of three intervals");
    assert!(within < 0.02 * part.totals.cycles as f64, "intervals of different phases differ: {within}");
    let all = few().run().expect("it runs");
    let (part, all) = (part.kernels[0].totals.cycles as f64, all.kernels[0].totals.cycles as f64);
    assert!((part / all - 1.0).abs() < 0.04, "{part} {all}");
}

#[test]
fn estimated_cycles_are_near_those_of_the_full_run() {
    for workload in ["conv2d", "hotspot", "btree", "dct"] {
        let part = by_intervals(workload, "base", 4, 2);
        let all = simulation(workload, "base").run().expect("it runs").totals;
        let error = part.totals.cycles as f64 / all.cycles as f64 - 1.0;
        assert!(error.abs() < 0.05, "{workload}: {error:.3}");
    }
}

/// Runs `simulation` to `most` thread instructions, in full and by at most `intervals` intervals per launch.
fn limited(simulation: Simulation, most: u64, intervals: u64) -> [RunReport; 2] {
    let limit = Bounds { cycles: None, instructions: Some(most) };
    let spec = simulation.bounds(limit).spec().expect("valid");
    let control = || Arc::new(Control::default());
    let full = run(&spec, control()).expect("it starts");
    let part = run_by_intervals(&spec, IntervalSpec { most: intervals, error: None, jobs: 2 }, control())
        .expect("it starts");
    [full.report, part.report]
}

#[test]
fn a_limit_in_a_whole_launch_ends_it_exactly() {
    for mechanism in ["base", "hw-bdi"] {
        let [full, part] = limited(simulation("atax", mechanism), 500_000, 4);
        assert_eq!((part.totals, part.limit), (full.totals, full.limit), "{mechanism}");
        assert_eq!((part.result, part.kernels), (full.result, full.kernels), "{mechanism}");
    }
}

#[test]
fn a_limit_between_the_edges_of_a_launch_ends_the_estimate_there() {
    let all = simulation("conv2d", "base").run().expect("it runs").totals;
    for share in [0.5, 0.9] {
        let most = (all.thread_instructions as f64 * share) as u64;
        let [full, part] = limited(simulation("conv2d", "base"), most, 3);
        assert_eq!((part.result, part.limit), (full.result, full.limit), "{share}");
        let of = |counted: u64, estimated: u64| (estimated as f64 / counted as f64 - 1.0).abs();
        let threads = of(most, part.totals.thread_instructions);
        let cycles = of(full.totals.cycles, part.totals.cycles);
        assert!(threads < 1e-3 && cycles < 0.04, "{share}: {threads} {cycles}");
        assert!(estimate(&part).detailed_share < 0.9, "{:?}", part.estimate);
    }
}

/// Returns a simulation of launches that are long for their few resident warps, with fewer sets of resident CTAs than intervals need.
fn few_warps(mechanism: &str) -> Simulation {
    simulation("atax", mechanism).set(vec![set("sm.count", 1), set("sm.ctas", 1)])
}

#[test]
fn a_launch_of_few_ctas_is_estimated_from_windows() {
    for mechanism in ["base", "hw-bdi", "caba-bdi", "latte-cc"] {
        let part = few_warps(mechanism)
            .intervals(IntervalSpec { most: 4, error: None, jobs: 1 })
            .run()
            .expect("it runs");
        let all = few_warps(mechanism).run().expect("it runs").totals;
        let (estimated, estimate) = (&part.totals, estimate(&part));
        assert!(estimate.detailed_share < 0.7, "{mechanism}: {estimate:?}");
        assert!(estimated.warp_instructions.abs_diff(all.warp_instructions) <= 2, "{mechanism}");
        let error = estimated.cycles as f64 / all.cycles as f64 - 1.0;
        assert!(error.abs() < 0.04, "{mechanism}: {error:.3}");
        assert!(estimate.cycles_within.is_some_and(|within| within < 0.1 * all.cycles as f64), "{mechanism}");
        let other = few_warps(mechanism)
            .intervals(IntervalSpec { most: 4, error: None, jobs: 8 })
            .run()
            .expect("it runs");
        assert!(RunReport { host: part.host, ..other } == part, "{mechanism}: 8 jobs");
    }
}

#[test]
fn a_launch_of_few_ctas_is_simulated_whole_if_the_mechanism_learns_from_timing() {
    let part = few_warps("mdb-local")
        .intervals(IntervalSpec { most: 4, error: None, jobs: 2 })
        .run()
        .expect("it runs");
    let all = few_warps("mdb-local").run().expect("it runs");
    assert_eq!(part.kernels[0], all.kernels[0]);
}

#[test]
fn a_limit_in_a_launch_of_few_ctas_ends_its_windows_there() {
    // The second launch is longer than the first one, and the limit cuts it.
    let all = few_warps("base").run().expect("it runs");
    let most = all.totals.thread_instructions * 9 / 10;
    let [full, part] = limited(few_warps("base"), most, 4);
    assert_eq!((part.result, &part.limit), (full.result, &full.limit));
    let error = part.totals.cycles as f64 / full.totals.cycles as f64 - 1.0;
    assert!(error.abs() < 0.04 && estimate(&part).detailed_share < 0.8, "{error:.3} {:?}", part.estimate);
    let threads = part.totals.thread_instructions as f64 / most as f64 - 1.0;
    assert!(threads.abs() < 1e-2, "{threads:.4}");
}

#[test]
fn trials_of_a_search_run_by_intervals() {
    // Few warps have few limits to try.
    let by_intervals = |mechanism: &str| {
        few_warps(mechanism).intervals(IntervalSpec { most: 4, error: None, jobs: 2 }).run().expect("it runs")
    };
    let (best, base) = (by_intervals("swl-best"), by_intervals("base"));
    assert!(estimate(&base).detailed_share < 1.0);
    assert_eq!(best.mechanism_counters["unlimited_cycles"], base.totals.cycles);
    assert!(best.totals.cycles <= base.totals.cycles);
}

#[test]
fn a_limit_beyond_the_program_changes_nothing() {
    let [_, part] = limited(simulation("conv2d", "base"), u64::MAX, 3);
    let without = by_intervals("conv2d", "base", 3, 2);
    assert_eq!((part.totals, part.estimate, part.limit), (without.totals, without.estimate, None));
}

#[test]
fn a_run_with_a_target_is_repeated_with_more_intervals_until_it_is_reached() {
    let spec = simulation("conv2d", "base").spec().expect("valid");
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let run = |error| {
        let warnings = Arc::clone(&warnings);
        let warn = move |line: &str| warnings.lock().expect("no panic").push(line.to_owned());
        let control = Control::new(&Arc::new(AtomicBool::new(false)), None, warn);
        let intervals = IntervalSpec { most: 2, error, jobs: 2 };
        estimate(&run_by_intervals(&spec, intervals, Arc::new(control)).expect("it starts").report)
    };
    let share = |estimate: &Estimate| estimate.share_within().expect("several intervals");
    let first = run(None);
    let target = share(&first) / 4.0;
    let reached = run(Some(100.0 * target));
    assert!(share(&reached) <= target && reached.intervals > first.intervals, "{first:?} {reached:?}");
    assert_eq!(run(Some(100.0)), first, "the first run reaches it");
    assert!(warnings.lock().expect("no panic").is_empty());
    let missed = run(Some(1e-7));
    assert!(missed.intervals >= reached.intervals && share(&missed) > 1e-9, "{missed:?}");
    let line = warnings.lock().expect("no panic").join("");
    assert!(line.contains("more intervals change nothing"), "{line}");
}
