//! Does a run give the same, to the bit, on any number of threads?
use crate::command::selvedge_in;
use selvedge_hw::Engine;
use selvedge_hw::wave::Trace;
use selvedge_sim::best;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::gpu::{Bounds, Control};
use selvedge_sim::mechanism::ALL;
use selvedge_sim::mechanism::probe::ProbeSpec;
use selvedge_sim::run::{RunSpec, Source, run as simulate};
use selvedge_sim::workload::{Size, all};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// A run of a workload at `tiny` under the golden models, with nothing recorded.
fn spec(workload: &str, mechanism: &str, config: &Arc<GpuConfig>) -> RunSpec {
    RunSpec {
        workload: Source::find(workload).expect("built in"),
        size: Size::Tiny,
        input: None,
        config: Arc::clone(config),
        mechanism: mechanism.parse().expect("a mechanism"),
        engine: Engine::Model,
        probes: ProbeSpec::default(),
        check_dram: false,
        threads: 1,
        sample_cycles: Some(1000),
        max_memory: selvedge_sim::limits::Limits::default().memory,
        bounds: Bounds::default(),
    }
}

fn gtx480() -> Arc<GpuConfig> {
    Arc::new(GpuConfig::load("gtx480").expect("built in"))
}

/// The report of a run on the given number of threads, but for what the host took, and what was recorded; or why it failed.
fn outcome(spec: &RunSpec, threads: usize) -> (Value, Vec<Trace>) {
    let spec = RunSpec { threads, ..spec.clone() };
    let outcome = match simulate(&spec, Arc::new(Control::default())) {
        Ok(outcome) => outcome,
        Err(error) => return (error.to_string().into(), Vec::new()),
    };
    let mut report = serde_json::to_value(&outcome.report).expect("a report has a JSON form");
    report.as_object_mut().expect("an object").remove("host");
    (report, outcome.traces)
}

/// Fails unless several numbers of threads give the same.
fn assert_same(spec: &RunSpec, numbers: &[usize]) {
    let one = outcome(spec, 1);
    for threads in numbers {
        let name = spec.workload.name();
        assert!(outcome(spec, *threads) == one, "{name} under {} on {threads} threads", spec.mechanism.text);
    }
}

#[test]
fn every_workload_is_the_same_on_two_and_three_threads() {
    for workload in all() {
        assert_same(&spec(workload.name(), "base", &gtx480()), &[2, 3]);
    }
}

#[test]
fn every_mechanism_is_the_same_on_three_threads() {
    let names = ALL.iter().map(|info| if info.name == "swl" { "swl=4" } else { info.name });
    for name in names.filter(|name| !best::searches(&name.parse().expect("a mechanism"), &gtx480())) {
        for workload in ["bfs", "word_count"] {
            assert_same(&spec(workload, name, &gtx480()), &[3]);
        }
    }
}

#[test]
fn more_threads_than_processors_give_the_same() {
    for workload in ["bfs_worklist", "mst"] {
        assert_same(&spec(workload, "base", &gtx480()), &[8, 40]);
    }
}

#[test]
fn what_lies_between_sms_and_memory_may_be_fast_or_narrow() {
    // How far an SM may run ahead, and how often it must stop.
    for lines in [
        "[interconnect]\nlatency = 1\n",
        "[interconnect]\nlatency = 40\n",
        "[interconnect]\ninput_flits = 5\n",
        "[interconnect]\nlatency = 3\npacket_gap = 1\n[clock]\ninterconnect_mhz = 2800\n",
        "[clock]\ninterconnect_mhz = 700\n",
        "[l1d]\nhit_latency = 2\n",
        "[l1d]\nwrite_policy = \"write-back\"\n",
        "[l1d]\nsector_bytes = 32\nallocate = \"on-fill\"\n",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("own.toml");
        std::fs::write(&file, format!("base = \"gtx480\"\n{lines}")).expect("written");
        let config =
            GpuConfig::load(&file.display().to_string()).unwrap_or_else(|why| panic!("{lines}: {why}"));
        for workload in ["sssp", "vecadd"] {
            assert_same(&spec(workload, "base", &Arc::new(config.clone())), &[3]);
        }
    }
}

#[test]
fn blocks_show_the_same_waveform_under_every_engine() {
    for engine in [Engine::Rtl, Engine::Lockstep] {
        let probes =
            ProbeSpec { instances: vec!["sm3.milg".into()], from: 0, cycles: 500, ..ProbeSpec::default() };
        let spec = RunSpec { engine, probes, ..spec("bfs", "dmil", &gtx480()) };
        assert!(!outcome(&spec, 1).1.is_empty(), "the block is recorded");
        assert_same(&spec, &[2]);
    }
}

#[test]
fn checks_find_nothing_more_on_two_threads() {
    assert_same(&RunSpec { check_dram: true, ..spec("mis", "base", &gtx480()) }, &[2]);
}

#[test]
fn a_limit_ends_a_run_in_the_same_cycle() {
    for bounds in [
        Bounds { cycles: Some(5003), instructions: None },
        Bounds { cycles: None, instructions: Some(12_345) },
    ] {
        assert_same(&RunSpec { bounds, ..spec("bfs", "base", &gtx480()) }, &[2]);
    }
}

#[test]
fn the_first_fault_of_many_sms_is_the_same() {
    // Threads of 40 blocks spin for a time of their own, then write behind the buffer.
    let ptx = ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %p1;\n.reg .b32 %r<4>;\n\
               .reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\nxor.b32 %r1, %r1, 21;\nadd.u32 %r1, %r1, 9;\n\
               L: sub.u32 %r1, %r1, 1;\nld.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n\
               st.global.u32 [%rd1+4096], %r2;\nret;\n}\n";
    let launch =
        "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [40]\nblock = [64]\n[[arg]]\ntype = \"u32\"\ncount = 32\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.ptx"), ptx).expect("written");
    std::fs::write(folder.path().join("k.toml"), launch).expect("written");
    let printed = |threads: &str| {
        let output = selvedge_in(folder.path(), &["run", "k.toml", "--threads", threads]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let one = printed("1");
    assert!(one.0 == Some(3) && one.1.contains("writes 4 bytes at global address"), "{one:?}");
    assert_eq!([printed("2"), printed("5")], [one.clone(), one]);
}

#[test]
fn no_thread_at_all_is_refused() {
    let output = selvedge_in(Path::new("."), &["run", "vecadd", "--threads", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--threads"));
}
