//! Tests that traces run like the recorded executions, and that wrong files are refused.
mod accel_tests;
mod fuzz_tests;
mod value_tests;

use crate::report::Outcome;
use crate::run::{RunError, RunOutcome, RunSpec, Source, record, run};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Control;
use selvedge_gpu::trace::strace::RecordedTrace;
use selvedge_gpu::trace::{EMPTY_DIGEST, TraceContents, TraceFile, digest};
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub(super) fn spec(workload: Source, mechanism: &str) -> RunSpec {
    RunSpec {
        check_dram: true,
        ..RunSpec::new(
            workload,
            Arc::new(GpuConfig::load("gtx480").expect("built in")),
            mechanism.parse().expect("valid"),
        )
    }
}

/// Returns the report as JSON, without the fields that depend on the source or the host.
fn report(outcome: &RunOutcome) -> serde_json::Value {
    assert!(
        outcome.fault.is_none(),
        "{}",
        outcome.fault.as_ref().map(ToString::to_string).unwrap_or_default()
    );
    let mut json = serde_json::to_value(&outcome.report).expect("JSON");
    let map = json.as_object_mut().expect("an object");
    map.remove("workload").expect("a name");
    map.remove("races").expect("whether it races, which a replay does not");
    map.remove("host").expect("measurements");
    // An execution is checked by its program, a replay by its final memory; neither may fail.
    assert_eq!(outcome.report.error, None);
    map.remove("result").expect("a verdict");
    json
}

pub(super) fn source(name: &str, bytes: Vec<u8>) -> Result<Source, RunError> {
    let trace = TraceContents::Recorded(RecordedTrace::parse(name, bytes)?);
    Ok(Source::Trace(Arc::new(TraceFile { name: name.into(), inputs: Vec::new(), trace, values: None })))
}

fn recorded(workload: Source, mechanism: &str) -> (RunOutcome, Vec<u8>) {
    let (outcome, bytes) =
        record(&spec(workload, mechanism), Arc::new(Control::default())).expect("it starts");
    assert_eq!(outcome.report.error, None);
    (outcome, bytes.expect("it ended"))
}

fn replay(bytes: Vec<u8>, mechanism: &str) -> Result<RunOutcome, RunError> {
    run(&spec(source("x.strace", bytes)?, mechanism), Arc::new(Control::default()))
}

#[test]
fn a_replay_has_the_statistics_of_the_execution_that_it_was_recorded_from() {
    // Data-dependent loops (bfs), barriers and shared memory (backprop, srad_tiled), bytes (histogram), atomics (word_count).
    for workload in ["vecadd", "bfs", "backprop", "histogram", "kmeans", "srad_tiled", "word_count"] {
        for mechanism in ["base", "hw-bdi", "hw-bdi-mem", "dmil"] {
            let source = || Source::find(workload).expect("built in");
            let plain = run(&spec(source(), mechanism), Arc::new(Control::default())).expect("it starts");
            let (seen, bytes) = recorded(source(), mechanism);
            assert_eq!(report(&seen), report(&plain), "recording {workload} with {mechanism} changes it");
            let again = replay(bytes, mechanism).expect("it starts");
            assert_eq!(report(&again), report(&plain), "{workload} with {mechanism}");
        }
    }
}

#[test]
fn a_trace_of_the_baseline_serves_other_mechanisms_where_timing_decides_nothing() {
    let source = || Source::find("vecadd").expect("built in");
    let (_, bytes) = recorded(source(), "base");
    for mechanism in ["hw-bdi", "dmil"] {
        let executed = run(&spec(source(), mechanism), Arc::new(Control::default())).expect("it starts");
        let replayed = replay(bytes.clone(), mechanism).expect("it starts");
        assert_eq!(report(&replayed), report(&executed), "{mechanism}");
    }
}

#[test]
fn a_trace_is_not_recorded_again() {
    let (_, bytes) = recorded(Source::find("vecadd").expect("built in"), "base");
    let spec = spec(source("x.strace", bytes).expect("valid"), "base");
    let refused = record(&spec, Arc::new(Control::default())).err().map(|e| e.to_string());
    assert!(refused.is_some_and(|line| line.starts_with("x.strace: a trace runs alone")));
}

/// Returns the PTX of the small program.
fn small_program_ptx() -> String {
    let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n\
                ld.global.u32 %r2, [%rd2];\nst.shared.u32 [s], %r2;\nbar.sync 0;\n\
                atom.global.add.u32 %r3, [%rd1], 1;\nred.global.max.u32 [%rd1+4], %r1;\nmembar.gl;\n\
                xor.b32 %r3, %r1, 5;\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd3, %rd1, %rd3;\n\
                setp.gt.u32 %p1, %r1, 40;\n@%p1 bra END;\nst.global.u32 [%rd3+256], %r1;\n\
                st.local.u32 [l], %r1;\nEND:";
    format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b32 %r<4>;\n\
         .reg .b64 %rd<4>;\n.reg .pred %p<2>;\n.shared .align 4 .b8 s[4];\n.local .align 4 .b8 l[4];\n\
         ld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n"
    )
}

/// Creates a program of two CTAs of two warps, whose trace has records of all kinds except textures. Also returns its folder.
fn small_program() -> (tempfile::TempDir, Source) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.ptx"), small_program_ptx()).expect("written");
    let launch =
        "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [2]\nblock = [64]\n[[arg]]\ntype = \"u32\"\ncount = 128\n";
    let file = folder.path().join("k.toml");
    std::fs::write(&file, launch).expect("written");
    let source = Source::find(&file.display().to_string()).expect("valid");
    (folder, source)
}

/// Returns the trace of the small program.
pub(super) fn small() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| recorded(small_program().1, "base").1)
}

#[test]
fn local_memory_divergence_and_atomics_replay_too() {
    for mechanism in ["base", "hw-bdi", "dmil"] {
        let (executed, bytes) = recorded(small_program().1, mechanism);
        let again = replay(bytes, mechanism).expect("it starts");
        assert_eq!(report(&again), report(&executed), "{mechanism}");
    }
}

#[test]
fn a_replay_that_leaves_other_values_on_the_recorded_machine_fails() {
    let mut bytes = small().to_vec();
    // The payload of the last section is the digest of memory. The digest of the section follows it.
    let at = bytes.len() - 16;
    bytes[at] ^= 1;
    reseal(&mut bytes);
    let outcome = replay(bytes.clone(), "base").expect("it starts");
    let says = "device memory does not end as the recorded run left it";
    assert_eq!((outcome.report.result, outcome.report.error.as_deref()), (Outcome::Fail, Some(says)));
    let elsewhere = replay(bytes, "dmil").expect("it starts");
    assert_eq!(
        elsewhere.report.result,
        Outcome::Unchecked,
        "on another configuration there is nothing to compare with"
    );
}

fn refusal(bytes: &[u8]) -> String {
    RecordedTrace::parse("x.strace", bytes.to_vec()).map(|_| ()).expect_err("it is wrong").to_string()
}

#[test]
fn a_summary_counts_what_each_launch_does() {
    let trace = RecordedTrace::parse("x.strace", small().to_vec()).expect("valid");
    let [launch] = &trace.summaries()[..] else { panic!("one launch") };
    assert_eq!((launch.grid, launch.block), ([2, 1, 1], [64, 1, 1]));
    // Each of four warps executes two loads (one of global memory, one of the parameter), three stores, an atomic and a
    // reduction.
    assert_eq!((launch.loads, launch.stores, launch.atomics), (8, 12, 8));
    // In each of two CTAs, 41 threads store, 64 add and 64 compare.
    assert_eq!(launch.value_bytes, 2 * 4 * (41 + 64 + 64));
}

#[test]
fn foreign_and_cut_files_are_refused_with_the_offset() {
    let bytes = small();
    assert_eq!(
        refusal(b"-kernel name = k\n"),
        "x.strace: offset 0: not a trace that `selvedge trace record` has written"
    );
    assert_eq!(refusal(b""), "x.strace: offset 0: not a trace that `selvedge trace record` has written");
    let other = [&bytes[..7], &[9], &bytes[8..]].concat();
    assert_eq!(refusal(&other), "x.strace: offset 7: version 9 of the format: must be 1");
    assert_eq!(refusal(&bytes[..8]), "x.strace: offset 8: 1 bytes should follow, but 0 are left");
    for end in 0..bytes.len() {
        let line = refusal(&bytes[..end]);
        assert!(line.starts_with("x.strace: offset ") && line.lines().count() == 1, "{line}");
    }
    let longer = [bytes, b"x"].concat();
    assert!(refusal(&longer).ends_with("the trace goes on after its end"));
}

#[test]
fn every_changed_byte_is_noticed() {
    let bytes = small();
    for at in 0..bytes.len() {
        let mut changed = bytes.to_vec();
        changed[at] ^= 0x10;
        refusal(&changed);
    }
}

/// Recomputes the digests of all sections that it can find.
pub(super) fn reseal(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = bytes.get(at + 1..at + 9) {
        let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
        let end = usize::try_from(length).ok().and_then(|length| (at + 9).checked_add(length));
        let Some(end) = end.filter(|end| end.checked_add(8).is_some_and(|end| end <= bytes.len())) else {
            return;
        };
        let sum = digest(EMPTY_DIGEST, &bytes[at..end]);
        bytes[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        at = end + 8;
    }
}

#[test]
fn value_dependent_mechanisms_refuse_a_trace_of_addresses() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces/kernelslist.g");
    let source = Source::find(&list.display().to_string()).expect("valid");
    let refused = run(&spec(source.clone(), "dmil+hw-bdi"), Arc::new(Control::default())).err();
    let line = refused.map(|e| e.to_string()).unwrap_or_default();
    let begins = "mechanism hw-bdi: it looks at the values in memory, and kernelslist.g has addresses only: allowed with it are base, ";
    assert!(line.starts_with(begins), "{line}");
    assert!(
        line.ends_with(
            "; --values gives the trace values, and a workload, a launch file or a .strace has them"
        ),
        "{line}"
    );
    let allowed = &line[begins.len()..];
    assert!(allowed.contains("dmil, ") && !allowed.contains("hw-bdi"), "{line}");
    let outcome = run(&spec(source, "dmil"), Arc::new(Control::default())).expect("it starts");
    assert_eq!((outcome.fault.is_none(), outcome.report.result), (true, Outcome::Unchecked));
}
