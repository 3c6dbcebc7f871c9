//! Every mechanism runs on every built-in configuration, except where `list mechanisms` prints a reason.
use crate::command::{selvedge, selvedge_in};
use selvedge_sim::config::{BUILT_IN, BuiltIn};
use selvedge_testbenches::parallel;
use serde_json::Value;
use std::path::Path;

/// Runs a tiny workload on two SMs, which have the blocks of all SMs. Returns the result, or the error of a refusal.
fn result_of(workload: &str, words: &[&str]) -> Result<String, String> {
    let words =
        [&["run", workload, "--size", "tiny", "--set", "sm.count=2", "--json", "-"][..], words].concat();
    let output = selvedge_in(Path::new("."), &words);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => {
            let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            Ok(report["result"].as_str().expect("a result").into())
        }
        Some(2) => Err(error),
        _ => panic!("{words:?}: {error}"),
    }
}

#[test]
fn every_mechanism_runs_on_every_gpu_that_the_list_does_not_name_as_refused() {
    let list: Value = serde_json::from_str(&selvedge(&["list", "mechanisms", "--json"])).expect("JSON");
    let mut pairs = Vec::new();
    for mechanism in list.as_array().expect("an array") {
        let name = mechanism["name"].as_str().expect("a name");
        let refused = mechanism["refused"].as_array().expect("an array");
        for BuiltIn { name: config, .. } in BUILT_IN {
            let reason = refused.iter().find(|refusal| refusal["configuration"] == config);
            pairs.push((name, config, reason.map(|refusal| refusal["reason"].as_str().expect("text"))));
        }
    }
    assert!(pairs.len() > 400, "{}", pairs.len());
    let is_physical = |reason: &str| reason.ends_with("DRAM fetches whole bursts");
    let others: Vec<_> =
        pairs.iter().filter(|(.., reason)| reason.is_some_and(|reason| !is_physical(reason))).collect();
    assert!(others.is_empty(), "refused without a physical reason: {others:?}");
    parallel::each(&pairs, |(name, config, reason)| {
        // `swl` has no default limit.
        let mechanism = if *name == "swl" { "swl=4" } else { *name };
        let words = ["--config", config, "--mechanism", mechanism, "--engine", "rtl"];
        match (result_of("vecadd", &words), reason) {
            (Ok(result), None) => assert_eq!(result, "pass", "{name} on {config}"),
            (Err(error), Some(reason)) => assert!(error.contains(reason), "{name} on {config}: {error}"),
            (Ok(_), Some(reason)) => panic!("{name} runs on {config}, but the list has: {reason}"),
            (Err(error), None) => panic!("{name} on {config}, without a reason in the list: {error}"),
        }
    });
}

#[test]
fn lamar_runs_on_bursts_of_64_bytes_with_sectors_of_64_bytes() {
    for name in ["bgp", "bgp-inf", "spp", "cg-only", "fg-only", "static-gdu"] {
        let mechanism = format!("{name},granularity=64");
        let words = ["--config", "gtx480-latte-cc", "--mechanism", &mechanism, "--engine", "rtl"];
        assert_eq!(result_of("vecadd", &words).as_deref(), Ok("pass"), "{name}");
    }
}

/// The natural first study: L1D sizes from 16 to 128 KB. Model and RTL of the blocks agree in every cycle.
#[test]
fn a_sweep_of_the_l1ds_size_has_no_gap() {
    let sets = ["l1d.sets=32", "l1d.sets=64", "l1d.sets=128", "l1d.sets=256"];
    let mechanisms = ["base", "latte-cc", "mdb-local", "hw-bdi"];
    let points: Vec<_> =
        sets.iter().flat_map(|sets| mechanisms.map(|mechanism| (*sets, mechanism))).collect();
    parallel::each(&points, |(sets, mechanism)| {
        let words = ["--set", sets, "--mechanism", mechanism, "--lockstep", "model,rtl"];
        assert_eq!(result_of("atax", &words).as_deref(), Ok("pass"), "{sets} {mechanism}");
    });
}

/// Model and RTL agree where blocks have the sets, ways and schedulers of newer GPUs, and where an SM has two controllers.
#[test]
fn blocks_agree_in_lockstep_on_newer_gpus() {
    let points: Vec<_> = ["maxwell-dai-ch4", "titan-v", "rtx3070", "a100", "h100"]
        .iter()
        .flat_map(|config| {
            ["latte-cc", "mdb-local", "caba-best", "hw-bdi"].map(|mechanism| (*config, mechanism))
        })
        .collect();
    parallel::each(&points, |(config, mechanism)| {
        let words = ["--config", config, "--mechanism", mechanism, "--lockstep", "model,rtl"];
        assert_eq!(result_of("bfs", &words).as_deref(), Ok("pass"), "{config} {mechanism}");
    });
}
