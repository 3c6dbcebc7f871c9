//! Tests that a run resumed from a checkpoint ends like one that was never stopped.
//!
//! A limit stops each case at a random cycle, and leaves a checkpoint. A fresh GPU resumes from it, is stopped and resumes again.
//! Its report must then be equal to that of the plain run, except for host times.
use selvedge_hw::Engine;
use selvedge_sim::checkpoint::Checkpoints;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::gpu::{Bounds, Control};
use selvedge_sim::run::{RunOutcome, RunSpec, Source, run, run_with_checkpoints};
use selvedge_sim::together::{self, TogetherSpec};
use selvedge_sim::workload::{self};
use selvedge_sim::{best, mechanism};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

fn spec(workload: &str, mechanism: &str, engine: Engine) -> RunSpec {
    RunSpec {
        engine,
        check_dram: true,
        sample_cycles: Some(1000),
        ..RunSpec::new(
            Source::find(workload).expect("it exists"),
            Arc::new(GpuConfig::load("gtx480").expect("built in")),
            mechanism.parse().expect("it exists"),
        )
    }
}

/// Returns the report without the fields that depend on the host, and the printed text. A resumed run does not count corner
/// cases.
fn result(outcome: RunOutcome) -> (String, String) {
    let mut report = serde_json::to_value(&outcome.report).expect("a report has a JSON form");
    let fields = report.as_object_mut().expect("an object");
    fields.remove("host");
    fields.remove("coverage");
    (report.to_string(), outcome.printed.text)
}

/// Returns a pseudorandom number below `bound`, the same in each run of the test.
fn random(seed: u64, bound: u64) -> u64 {
    selvedge_hw::Prng::new(seed).below(bound.max(1))
}

/// Stops the run twice, and compares its end with that of the plain run.
fn continues(workload: &str, mechanism: &str, engine: Engine, seed: u64) {
    ends_alike(&format!("{workload} {mechanism} {engine}"), &spec(workload, mechanism, engine), seed);
}

/// Runs [`continues`] for the run of a `case`.
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
        // A limit would affect a search. A run with a search is therefore not stopped, and resumes from its last checkpoint.
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

/// Returns the mechanisms, with their mandatory options.
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

/// A run whose first checkpoint cannot be written: a folder has its name until the first warning.
struct Obstructed {
    folder: tempfile::TempDir,
    file: PathBuf,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl Obstructed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.ckpt");
        std::fs::create_dir(&file).expect("made");
        Obstructed { folder, file, warnings: Arc::default() }
    }

    fn control(&self) -> Arc<Control> {
        let (noted, place) = (Arc::clone(&self.warnings), self.file.clone());
        Arc::new(Control::new(&Arc::new(AtomicBool::new(false)), None, move |line| {
            noted.lock().expect("nobody panics").push(line.to_owned());
            std::fs::remove_dir(&place).expect("removed");
        }))
    }

    fn checkpoints(&self) -> Checkpoints {
        Checkpoints { file: Some(self.file.clone()), every: 500, resume: None }
    }

    /// Asserts that there is one warning, a later checkpoint, and no temporary file.
    fn has_written_the_next_one(&self) {
        let warnings = self.warnings.lock().expect("nobody panics");
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].starts_with("no checkpoint at cycle 500: ") && warnings[0].contains("run.ckpt"),
            "{warnings:?}"
        );
        assert!(self.file.is_file());
        assert_eq!(std::fs::read_dir(self.folder.path()).expect("a folder").count(), 1, "a draft is left");
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_warns_and_the_next_one_is_tried() {
    let whole = spec("bfs", "base", Engine::Model);
    let here = Obstructed::new();
    let outcome = run_with_checkpoints(&whole, &here.checkpoints(), here.control()).expect("it starts");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    here.has_written_the_next_one();
    let plain = run(&whole, Arc::new(Control::default())).expect("it starts");
    assert_eq!(result(outcome), result(plain));
    let resume = Checkpoints { resume: Some(here.file.clone()), ..Checkpoints::default() };
    let continued = run_with_checkpoints(&whole, &resume, Arc::new(Control::default())).expect("it is whole");
    assert!(continued.fault.is_none(), "{:?}", continued.fault);
}

#[test]
fn so_does_one_of_kernels_side_by_side() {
    let RunSpec { size, config, mechanism, engine, probes, check_dram, max_memory, bounds, .. } =
        spec("bfs", "base", Engine::Model);
    let spec = TogetherSpec {
        workloads: ["bfs", "atax"].map(|name| Source::find(name).expect("it exists")).into(),
        size,
        config,
        share: "left-over".parse().expect("valid"),
        cycles: Some(3000),
        alone: false,
        isolated: None,
        mechanism,
        engine,
        probes,
        check_dram,
        max_memory,
        bounds,
    };
    let here = Obstructed::new();
    let outcome =
        together::run_with_checkpoints(&spec, &here.checkpoints(), here.control()).expect("it starts");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    here.has_written_the_next_one();
}
