//! Every workload on the timing model computes the results of its CPU reference, with and without a mechanism's RTL.
use crate::command::{selvedge, selvedge_in};
use selvedge_sim::best;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::gpu::Control;
use selvedge_sim::mechanism::{self, MechanismError};
use selvedge_sim::report::Outcome;
use selvedge_sim::run::{RunSpec, Source, run as simulate};
use selvedge_sim::workload::{Size, WorkloadWork, all, measured};
use selvedge_testbenches::parallel;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Threads that share the runs.
const THREADS: usize = 2;

/// Runs every workload at `tiny` and passes its report to `check`. The largest run first, so that no thread waits long
/// for another.
fn every_workload(mechanism: &str, check: impl Fn(&str, &Value) -> Result<(), String> + Sync) {
    let mut names: Vec<&str> = all().iter().map(|workload| workload.name()).collect();
    names.sort_by_key(|name| measured(name, Size::Tiny).map_or(0, |counts| counts.warp_instructions));
    names.reverse();
    all_pass(&names, |name| {
        run(name, mechanism).and_then(|report| check(name, &report)).map_err(|why| format!("{name}: {why}"))
    });
}

/// Runs `test` on every item, and fails with all errors together.
fn all_pass<T: Sync>(items: &[T], test: impl Fn(&T) -> Result<(), String> + Sync) {
    let outcomes = parallel::map(items, THREADS, |_, item| test(item));
    let failures: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Returns the report of one run under RTL, which must pass.
fn run(name: &str, mechanism: &str) -> Result<Value, String> {
    let words = ["run", name, "--size", "tiny", "--mechanism", mechanism, "--engine", "rtl", "--json", "-"];
    let output = selvedge_in(Path::new("."), &words);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    if report["result"] != "pass" || report["engine"] != "rtl" {
        return Err(format!("{} under {}", report["result"], report["engine"]));
    }
    Ok(report)
}

#[test]
fn every_workload_passes_on_the_baseline() {
    every_workload("base", |_, _| Ok(()));
}

#[test]
fn every_workload_passes_under_the_rtl_of_hw_bdi() {
    every_workload("hw-bdi", |_, report| {
        let lines = report["mechanism_counters"]["partition_lines_compressed"].as_u64();
        lines.map(drop).ok_or_else(|| "the mechanism was not at work".into())
    });
}

#[test]
fn every_workload_passes_under_every_mechanism() {
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    // `swl` has no default limit. Searches run a workload repeatedly, which their own tests cover.
    let names = mechanism::built_in().iter().map(|info| if info.name == "swl" { "swl=4" } else { info.name });
    let is_search = |name: &&str| best::searches(&name.parse().expect("a mechanism"), &config);
    let names: Vec<&str> = names.filter(|name| !is_search(name)).collect();
    let pairs: Vec<(&str, &str)> =
        all().iter().flat_map(|workload| names.iter().map(|name| (workload.name(), *name))).collect();
    all_pass(&pairs, |(workload, mechanism)| {
        passes(workload, mechanism, &config).map_err(|why| format!("{workload} under {mechanism}: {why}"))
    });
}

/// Runs the workload in this process with the golden models, which is faster than 1,500 processes with RTL.
fn passes(workload: &str, mechanism: &str, config: &Arc<GpuConfig>) -> Result<(), String> {
    let spec = RunSpec {
        check_dram: true,
        ..RunSpec::new(
            Source::find(workload).map_err(|e| e.to_string())?,
            Arc::clone(config),
            mechanism.parse().map_err(|e: MechanismError| e.to_string())?,
        )
    };
    let outcome = simulate(&spec, Arc::new(Control::default())).map_err(|e| e.to_string())?;
    match (outcome.fault, outcome.report.result) {
        (Some(fault), _) => Err(fault.to_string()),
        (None, Outcome::Pass) => Ok(()),
        (None, other) => Err(outcome.report.error.unwrap_or_else(|| other.word().into())),
    }
}

#[test]
fn the_list_has_the_measured_numbers_of_every_workload_at_tiny_and_small() {
    for size in [Size::Tiny, Size::Small] {
        let list = selvedge(&["list", "workloads", "--size", &size.to_string()]);
        for workload in all() {
            let counts = measured(workload.name(), size);
            assert!(counts.is_some(), "{} {size} was not measured", workload.name());
            let count =
                |of: fn(WorkloadWork) -> u64| counts.map_or("-".into(), |counts| of(counts).to_string());
            let cells = [
                workload.name().to_owned(),
                count(|counts| counts.launches),
                count(|counts| counts.warp_instructions),
                count(|counts| counts.memory_instructions),
                count(|counts| counts.lines),
            ];
            let is_it =
                |line: &&str| line.split_whitespace().take(cells.len()).eq(cells.iter().map(String::as_str));
            assert!(list.lines().any(|line| is_it(&line)), "no row {cells:?} in\n{list}");
        }
    }
}

#[test]
fn the_list_can_be_narrowed_to_a_paper_and_a_group() {
    let names = |options: &[&str]| -> Vec<String> {
        let list = selvedge(&[&["list", "workloads"], options].concat());
        list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
    };
    let of_paper = names(&["--paper", "dai-3"]);
    let expected =
        all().iter().filter(|of| of.papers().contains("Dai, chapter 3") || of.papers().contains("2 and 3"));
    assert_eq!(of_paper, expected.map(|of| of.name().to_string()).collect::<Vec<_>>());
    let of_group = names(&["--group", "graphs"]);
    assert!(of_group.contains(&"bfs".into()) && !of_group.contains(&"vecadd".into()), "{of_group:?}");
    assert!(names(&["--paper", "dai-3", "--group", "graphs"]).iter().all(|name| of_paper.contains(name)));
}
