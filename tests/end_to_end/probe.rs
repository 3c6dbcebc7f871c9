//! A probe records the block that it names, in the requested cycles.

use crate::command::selvedge;
use selvedge_sim::mechanism;
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
    // Five nanoseconds are seven cycles of the core clock, 1.4 GHz. Edges are rounded down to a picosecond.
    let times: Vec<u64> =
        wave.time_table().iter().map(|picoseconds| (picoseconds * 7).div_ceil(5000)).collect();
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

/// Returns the levels of an instance's one-bit signals in each cycle, sampled just before the next clock edge. Unknown
/// levels are low.
fn in_each_cycle<const N: usize>(
    wave: &mut simple::Waveform,
    instance: &str,
    names: [&str; N],
) -> Vec<[bool; N]> {
    let mut changes = |name: &str| -> Vec<(u32, bool)> {
        let whole = format!("selvedge.{instance}.{name}");
        let hierarchy = wave.hierarchy();
        let id = hierarchy.all_vars().find(|id| hierarchy[*id].full_name(hierarchy) == whole);
        let signal = hierarchy[id.expect("it is declared")].signal_ref();
        wave.load_signals(&[signal]);
        let changes = wave.get_signal(signal).expect("it was loaded").iter_changes();
        changes.map(|(at, value)| (at, value.to_bit_string().as_deref() == Some("1"))).collect()
    };
    let levels = names.map(&mut changes);
    let clock = changes("clk_i");
    let mut next = [0; N];
    let rises = clock.iter().filter(|(_, is_high)| *is_high).skip(1).map(|(at, _)| *at);
    let mut level_before = |at: u32| {
        std::array::from_fn(|signal| {
            let levels = &levels[signal];
            while levels.get(next[signal]).is_some_and(|(from, _)| *from < at) {
                next[signal] += 1;
            }
            next[signal] > 0 && levels[next[signal] - 1].1
        })
    };
    rises.chain([u32::MAX]).map(&mut level_before).collect()
}

#[test]
fn valid_o_is_high_in_as_many_cycles_as_items_leave_under_every_engine() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (engine, ending) in [("model", "vcd"), ("rtl", "fst"), ("lockstep", "vcd"), ("verilog", "vcd")] {
        let (path, report) = (folder.path().join(format!("x.{ending}")), folder.path().join("x.json"));
        let (vcd, json) = (path.to_string_lossy(), report.to_string_lossy());
        let words = ["run", "bfs", "--size", "tiny", "--mechanism", "hw-bdi", "--engine", engine];
        let names = selvedge(&[&words[..], &["--list-probes"]].concat());
        let names: Vec<&str> = names.lines().filter(|name| name.ends_with(".decompressor")).collect();
        let probes: Vec<&str> = names.iter().flat_map(|name| ["--probe", name]).collect();
        let files = ["--vcd", &vcd, "--json", &json, "--cycles", "1000000"];
        selvedge(&[&words[..], &files, &probes].concat());
        let mut wave = simple::read(&path).expect("the waveform reads back");
        let items = |name: &&str| {
            let cycles = in_each_cycle(&mut wave, name, ["valid_o", "ready_i"]);
            assert!(cycles.last().is_some_and(|[valid, _]| !valid), "{engine} {name}: valid_o has fallen");
            cycles.iter().filter(|cycle| **cycle == [true, true]).count() as u64
        };
        let report = std::fs::read(&report).expect("the report");
        let report: serde_json::Value = serde_json::from_slice(&report).expect("it is JSON");
        let lines = report["totals"]["blocks"]["bdi_decompressor"].as_u64().expect("a counter");
        assert_eq!(names.iter().map(items).sum::<u64>(), lines, "{engine}");
        assert!(lines > 1000, "{lines} lines");
    }
}

/// Returns one block instance of each kind in a run. Instances whose names differ only in numbers are of one kind.
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
    for info in mechanism::built_in() {
        let mechanism = match info.name {
            "swl" => "swl=4",
            "ideal-bdi" => "ideal-bdi,metadata=cached",
            name => name,
        };
        // Some mechanisms have no effect on a single kernel.
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
