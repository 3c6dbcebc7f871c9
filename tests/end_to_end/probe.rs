//! Does a probe record the block it names, in the cycles it is asked for?

use crate::command::selvedge;
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
    let times: Vec<u64> = wave.time_table().iter().map(|t| t / selvedge_hw::wave::CYCLE_NS).collect();
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
