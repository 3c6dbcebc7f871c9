//! A program executes the same instructions under every mechanism, unless its report says that it races.
use crate::command::selvedge;
use selvedge_sim::{mechanism, workload};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Mechanisms with very different timing. Each racing workload differs under one of them.
const SOME: [&str; 4] = ["base", "fg-only", "hw-bdi-mem", "caba-best"];

/// Excluded mechanisms: three choose a setting by trials, and the last skips instructions whose results are in its
/// table.
const OTHERS: [&str; 4] = ["swl-best", "cbwt-best", "kernel-opt", "caba-memo"];

/// Prefix of the counters of assist warps.
const ASSIST: &str = "assist_";

fn mechanisms() -> Vec<&'static str> {
    let is_long = selvedge_testbenches::skipped::is_long();
    if !is_long {
        return SOME.to_vec();
    }
    mechanism::built_in().iter().map(|info| info.name).filter(|name| !OTHERS.contains(name)).collect()
}

/// Returns the counts of the program's execution that do not depend on timing.
fn executed(totals: &Value) -> Vec<(String, u64)> {
    let sm = ["memory_instructions", "transactions", "ctas"].map(|name| (name, &totals["sm"][name]));
    let all = ["warp_instructions", "thread_instructions"].map(|name| (name, &totals[name]));
    let events = totals["sm"]["events"].as_object().expect("counters");
    let own = events.iter().filter(|(name, _)| !name.starts_with(ASSIST));
    let counts = sm.into_iter().chain(all).chain(own.map(|(name, count)| (name.as_str(), count)));
    counts.map(|(name, count)| (name.into(), count.as_u64().expect("a count"))).collect()
}

/// Returns the workloads whose counts differ between the mechanisms, each with its first difference.
fn differing(workloads: &[&str], size: &str, mechanisms: &[&str]) -> BTreeMap<String, String> {
    let mechanisms = mechanisms.join(",");
    let options = ["--size", size, "--mechanisms", &mechanisms, "--engine", "model", "--json", "-"];
    let text = selvedge(&[&["compare"], workloads, &options].concat());
    let reports: Vec<Value> = serde_json::from_str(&text).expect("reports");
    let mut first: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    let mut differing = BTreeMap::new();
    for report in reports {
        let name = report["workload"].as_str().expect("a name").to_string();
        let (counts, mechanism) = (executed(&report["totals"]), &report["mechanism"]);
        assert_eq!(report["result"], "pass", "{name} {mechanism}");
        let of_first = first.entry(name.clone()).or_insert_with(|| counts.clone());
        if let Some((one, other)) = of_first.iter().zip(&counts).find(|(one, other)| one != other) {
            differing.entry(name).or_insert(format!("{mechanism}: {other:?} for {one:?}"));
        }
    }
    differing
}

#[test]
fn exactly_the_workloads_that_race_execute_other_instructions_under_other_mechanisms() {
    let names = |races: bool| -> Vec<&str> {
        let all = workload::all().iter().filter(|workload| workload.races() == races);
        all.map(|workload| workload.name()).collect()
    };
    assert_eq!(differing(&names(false), "tiny", &mechanisms()), BTreeMap::new(), "they do not race");
    let (tiny, small): (Vec<&str>, Vec<&str>) =
        names(true).iter().partition(|name| !["mis", "word_count"].contains(name));
    let found = [differing(&tiny, "tiny", &SOME), differing(&small, "small", &SOME[..2])];
    let found: BTreeSet<String> = found.into_iter().flat_map(BTreeMap::into_keys).collect();
    assert_eq!(found, names(true).iter().map(ToString::to_string).collect(), "they race");
}

#[test]
fn compare_names_the_workloads_that_race() {
    let words = ["compare", "vecadd", "mis", "--size", "tiny", "--engine", "model", "--mechanisms"];
    let table = selvedge(&[&words[..], &["base,dmil"]].concat());
    let note = "note: mis races: the order of accesses changes what is executed";
    assert_eq!(table.lines().last(), Some(note));
    let alone = selvedge(&[&words[..], &["base"]].concat());
    assert!(!alone.contains("note"), "there is nothing to compare it with: {alone}");
    let reports: Vec<Value> =
        serde_json::from_str(&selvedge(&[&words[..], &["base", "--json", "-"]].concat())).expect("reports");
    assert_eq!((&reports[0]["races"], &reports[1]["races"]), (&Value::Bool(false), &Value::Bool(true)));
}
