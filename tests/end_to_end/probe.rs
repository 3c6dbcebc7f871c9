//! Does a probe record the block it names, in the cycles it is asked for?

use crate::command::selvedge;
use selvedge_sim::mechanism::ALL;
use std::collections::BTreeMap;
use wellen::simple;

#[test]
fn a_probes_waveform_holds_the_asked_for_cycles_of_the_asked_for_instance() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.vcd");
    let vcd = path.to_string_lossy().into_owned();
    selvedge(&[
        "run",
        "bfs",
        "--mechanism",
        "dmil",
        "--vcd",
        &vcd,
        "--probe",
        "sm0.milg",
        "--from",
        "400",
        "--cycles",
        "2000",
    ]);
    let mut wave = simple::read(&path).expect("the VCD reads back");
    let id = wave
        .hierarchy()
        .all_vars()
        .map(|id| (id, wave.hierarchy()[id].full_name(wave.hierarchy()), wave.hierarchy()[id].signal_ref()))
        .find(|(_, name, _)| name.ends_with("sm0.milg.inflight_o"))
        .expect("the instance's port is there")
        .2;
    // Five nanoseconds are seven cycles of the core clock, 1.4 GHz.
    let times: Vec<u64> = wave.time_table().iter().map(|picoseconds| picoseconds * 7 / 5000).collect();
    assert!(*times.first().expect("some cycles") >= 400, "recorded too early");
    assert!(*times.last().expect("some cycles") <= 2400, "recorded too late");
    wave.load_signals(&[id]);
    let signal = wave.get_signal(id).expect("it was loaded");
    let highest = signal
        .iter_changes()
        .filter_map(|(_, v)| v.to_bit_string())
        .map(|bits| u64::from_str_radix(&bits.replace('x', "0"), 2).expect("bits"));
    // Each of the SM's warps has at most one load of a node's mask in flight before it branches on it.
    let highest = highest.max().expect("the counter changes");
    assert!((1..=127).contains(&highest), "{highest} memory instructions in flight");
}

/// The block instances of a run, one of each kind: those whose names differ in numbers alone are of one kind.
fn one_of_each_kind(words: &[&str]) -> Vec<String> {
    let list = selvedge(&[words, &["--list-probes"]].concat());
    let kind = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let kinds: BTreeMap<String, String> = list.lines().map(|name| (kind(name), name.to_owned())).collect();
    kinds.into_values().collect()
}

#[test]
fn every_block_of_every_mechanism_is_listed_and_can_be_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.vcd");
    let vcd = path.to_string_lossy().into_owned();
    for info in ALL {
        let mechanism = match info.name {
            "swl" => "swl=4",
            "ideal-bdi" => "ideal-bdi,metadata=cached",
            name => name,
        };
        // Of some, there is nothing to do with one kernel.
        let programs = if matches!(info.name, "qbmi" | "rbmi" | "smil" | "ucp") { "bfs+atax" } else { "bfs" };
        let words = ["run", programs, "--mechanism", mechanism, "--engine", "model"];
        let names = one_of_each_kind(&words);
        assert_eq!(names.is_empty(), info.blocks.is_empty(), "{mechanism}: {names:?}");
        if names.is_empty() {
            continue;
        }
        let probes: Vec<&str> = names.iter().flat_map(|name| ["--probe", name.as_str()]).collect();
        selvedge(&[&words[..], &["--vcd", &vcd, "--cycles", "5000"], &probes].concat());
        let wave = simple::read(&path).expect("the VCD reads back");
        let signals: Vec<String> =
            wave.hierarchy().all_vars().map(|id| wave.hierarchy()[id].full_name(wave.hierarchy())).collect();
        for name in names {
            let inside = format!("{name}.");
            let has_signals = signals
                .iter()
                .any(|signal| signal.starts_with(&inside) || signal.contains(&format!(".{inside}")));
            assert!(has_signals, "{mechanism}: no signal of {name}");
        }
    }
}

#[test]
fn a_run_without_blocks_lists_none() {
    assert_eq!(selvedge(&["run", "bfs", "--list-probes"]), "");
    let list = selvedge(&["run", "bfs+atax", "--mechanism", "dmil", "--list-probes"]);
    assert_eq!(list.lines().take(3).collect::<Vec<_>>(), ["sm0.milg", "sm0.milg1", "sm1.milg"]);
}
