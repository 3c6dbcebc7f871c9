//! Does a run that goes on from a checkpoint end as one that was never stopped?
//!
//! Each case is stopped at a random cycle by a limit, which leaves a checkpoint; a GPU built anew continues from it, is stopped and
//! continues once more. Then its report must be, but for host times, that of the plain run.
use selvedge_hw::Engine;
use selvedge_sim::best;
use selvedge_sim::checkpoint::Checkpoints;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::gpu::{Bounds, Control};
use selvedge_sim::mechanism;
use selvedge_sim::mechanism::probe::ProbeSpec;
use selvedge_sim::run::{RunOutcome, RunSpec, Source, run, run_with_checkpoints};
use selvedge_sim::workload::{self, Size};
use std::sync::Arc;

fn spec(workload: &str, mechanism: &str, engine: Engine) -> RunSpec {
    RunSpec {
        workload: Source::find(workload).expect("it exists"),
        size: Size::Tiny,
        input: None,
        config: Arc::new(GpuConfig::load("gtx480").expect("built in")),
        mechanism: mechanism.parse().expect("it exists"),
        engine,
        probes: ProbeSpec::default(),
        check_dram: true,
        sample_cycles: Some(1000),
        threads: 1,
        max_memory: selvedge_sim::limits::Limits::default().memory,
        bounds: Bounds::default(),
    }
}

/// The report without what depends on the host, and what else the run leaves.
fn result(outcome: RunOutcome) -> (String, String) {
    let mut report = serde_json::to_value(&outcome.report).expect("a report has a JSON form");
    report.as_object_mut().expect("an object").remove("host");
    (report.to_string(), outcome.printed.text)
}

/// Numbers below `bound` that look random and are the same in each run of the test.
fn random(seed: u64, bound: u64) -> u64 {
    selvedge_hw::Prng::new(seed).below(bound.max(1))
}

/// Stops the run twice, and compares its end with that of the plain run.
fn continues(workload: &str, mechanism: &str, engine: Engine, seed: u64) {
    ends_alike(&format!("{workload} {mechanism} {engine}"), &spec(workload, mechanism, engine), seed);
}

/// As [`continues`], for the run of a `case`.
fn ends_alike(case: &str, whole: &RunSpec, seed: u64) {
    let control = || Arc::new(Control::default());
    let plain = run(whole, control()).unwrap_or_else(|error| panic!("{case}: {error}"));
    let cycles = plain.report.totals.cycles;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.ckpt");
    let mut stops = [1 + random(seed, cycles - 1), 1 + random(seed + 1000, cycles - 1)];
    stops.sort_unstable();
    let mut resume = None;
    for stop in stops {
        // A limit would decide a search. So that runs on, and continues from the last checkpoint that it has written.
        let searches = best::searches(&whole.mechanism, &whole.config);
        let bounds = Bounds { cycles: (!searches).then_some(stop), ..Bounds::default() };
        let checkpoints = Checkpoints { file: Some(file.clone()), every: stop, resume };
        let stopped = run_with_checkpoints(&RunSpec { bounds, ..whole.clone() }, &checkpoints, control());
        let stopped = stopped.unwrap_or_else(|error| panic!("{case} up to {stop}: {error}"));
        assert_eq!(stopped.fault.is_some_and(|fault| fault.is_stop()), !searches, "{case} up to {stop}");
        resume = Some(file.clone());
    }
    let checkpoints = Checkpoints { resume, ..Checkpoints::default() };
    let continued = run_with_checkpoints(whole, &checkpoints, control());
    let continued = continued.unwrap_or_else(|error| panic!("{case} from {stops:?}: {error}"));
    let (plain, continued) = (result(plain), result(continued));
    assert!(plain == continued, "{case} from {stops:?}:\n{}\n{}", plain.0, continued.0);
}

/// The mechanisms, with the options that they demand.
fn mechanisms() -> Vec<&'static str> {
    let names = mechanism::all().into_iter().map(|info| info.name);
    names.map(|name| if name == "swl" { "swl=4" } else { name }).collect()
}

#[test]
fn every_workload_continues() {
    let mechanisms = mechanisms();
    for (at, workload) in workload::all().iter().enumerate() {
        continues(workload.name(), mechanisms[7 * at % mechanisms.len()], Engine::Model, at as u64);
    }
}

#[test]
fn every_mechanism_continues_with_its_model_and_its_rtl() {
    for (at, mechanism) in mechanisms().into_iter().enumerate() {
        let workload = ["bfs", "vecadd", "atax"][at % 3];
        continues(workload, mechanism, Engine::Lockstep, 100 + at as u64);
    }
}

#[test]
fn rtl_alone_continues() {
    for (seed, mechanism) in (200..).zip(["hw-bdi", "latte-cc", "caba-bdi", "dmil", "bgp"]) {
        continues("bfs", mechanism, Engine::Rtl, seed);
    }
}

#[test]
fn runs_on_several_threads_continue() {
    for (seed, workload) in (300..).zip(["kmeans", "bfs_worklist", "hotspot"]) {
        let one = spec(workload, "base", Engine::Model);
        ends_alike(workload, &RunSpec { threads: 3, check_dram: false, ..one }, seed);
    }
}
