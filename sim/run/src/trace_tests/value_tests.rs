//! Tests that mechanisms run on traces and records, and that a model gives an Accel-Sim trace its values.
use super::{recorded, small_program, small_program_ptx, source, spec};
use crate::launch_range::LaunchRange;
use crate::mechanism::built_in;
use crate::report::{Outcome, RunReport};
use crate::run::{RunError, RunSpec, Source, run};
use crate::source::RecordedProgram;
use selvedge_cudart::operation::{DeviceOperation, LaunchOperation, ProgramRecord};
use selvedge_gpu::gpu::Control;
use selvedge_gpu::limits::Limits;
use selvedge_gpu::mechanism::DataNeeds;
use selvedge_gpu::trace::values::ValueModel;
use selvedge_hw::Engine;
use selvedge_ptx::memory::HEAP_BASE;
use selvedge_ptx::requests::RequestedLaunch;
use std::path::Path;
use std::sync::Arc;

fn list() -> Source {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces/kernelslist.g");
    Source::find(&list.display().to_string()).expect("valid")
}

fn with_values(source: Source, values: &str) -> Result<Source, RunError> {
    let model = ValueModel::parse(values, Path::new(""), &Limits::default()).expect(values);
    source.with_values(Some(&Arc::new(model)))
}

fn report(workload: Source, mechanism: &str, engine: Engine) -> Result<RunReport, RunError> {
    let spec = RunSpec { engine, ..spec(workload, mechanism) };
    let outcome = run(&spec, Arc::new(Control::default()))?;
    outcome.fault.map_or(Ok(outcome.report), Err)
}

/// Returns the report of the list of traces with modeled values, without values that depend on the host.
fn of_list(values: &str, mechanism: &str) -> RunReport {
    let workload = with_values(list(), values).expect("a trace of addresses");
    let report = report(workload, mechanism, Engine::Model).expect("it runs");
    assert_eq!(report.values.as_deref(), Some(values));
    RunReport {
        host: crate::report::HostReport { wall_s: 0.0, cycles_per_s: 0.0, warp_instructions_per_s: 0.0 },
        ..report
    }
}

/// Returns the launch of the small program as the record of a CUDA program.
fn small_record() -> Source {
    let launch = RequestedLaunch {
        kernel: "k".into(),
        grid: [2, 1, 1],
        block: [64, 1, 1],
        params: HEAP_BASE.to_le_bytes().into(),
        ..RequestedLaunch::default()
    };
    let launch = LaunchOperation { module: 0, launch };
    let operations = vec![
        DeviceOperation::Module { text: small_program_ptx() },
        DeviceOperation::Allocate { address: HEAP_BASE, bytes: 512 },
        DeviceOperation::Launch(launch),
    ];
    let record = ProgramRecord { operations, ..ProgramRecord::default() };
    Source::Recorded(Arc::new(RecordedProgram { file: None, record }))
}

#[test]
fn every_mechanism_runs_on_traces_and_records_with_values_except_those_that_read_registers_of_a_trace() {
    let (_, strace) = recorded(small_program().1, "base");
    let random = with_values(list(), "random").expect("a trace of addresses");
    let sources = [
        ("a .strace", source("x.strace", strace).expect("valid")),
        ("an Accel-Sim trace", random),
        ("a .sprog", small_record()),
    ];
    let mut refused = Vec::new();
    for info in built_in() {
        // `swl` has no default limit.
        let mechanism = if info.name == "swl" { "swl=4" } else { info.name };
        for (kind, source) in &sources {
            match report(source.clone(), mechanism, Engine::Rtl) {
                Ok(report) => {
                    assert!(
                        matches!(report.result, Outcome::Pass | Outcome::Unchecked),
                        "{mechanism}, {kind}"
                    );
                    assert!(report.totals.l1d.accesses > 0, "{mechanism}, {kind}");
                }
                Err(error) => {
                    let line = error.to_string();
                    assert!(info.needs == DataNeeds::Execution, "{mechanism}, {kind}: {line}");
                    assert!(
                        line.contains("it looks at the values in registers, which the trace of"),
                        "{line}"
                    );
                    refused.push((mechanism, *kind));
                }
            }
        }
    }
    assert_eq!(refused, [("caba-memo", "a .strace"), ("caba-memo", "an Accel-Sim trace")]);
}

#[test]
fn lines_compress_as_the_model_says() {
    // The bursts of a whole line of 128 bytes under BDI: 1 for zeros, 2 for a base of 8 bytes and 16 differences of 2 bytes (40
    // bytes), 4 uncompressed.
    for (values, ratio) in [("zeros", 4.0), ("repeated", 4.0), ("b8d2", 2.0), ("random", 1.0)] {
        let report = of_list(values, "hw-bdi");
        let bursts = report.totals.line_bursts.expect("a mechanism that compresses");
        assert!(bursts.uncompressed > 0, "{bursts:?}");
        assert_eq!(report.compression_ratio(), Some(ratio), "{values}: {bursts:?}");
    }
}

#[test]
fn lines_in_the_l1ds_compress_as_the_model_says() {
    let counter = |values, name: &str| {
        let report = of_list(values, "static-bdi");
        let counters = serde_json::to_value(&report.mechanism_counters).expect("JSON");
        counters[name].as_u64().unwrap_or_else(|| panic!("no {name} in {counters}"))
    };
    // Two launches fill 16 lines each into the L1Ds. A line of zeros takes a sub-block of 32 bytes, another four.
    assert_eq!((counter("zeros", "l1d_lines_kept_whole"), counter("zeros", "l1d_sub_blocks")), (0, 32));
    assert_eq!((counter("random", "l1d_lines_kept_whole"), counter("random", "l1d_sub_blocks")), (32, 128));
}

#[test]
fn a_model_changes_no_statistic_of_the_baseline() {
    let plain = report(list(), "base", Engine::Model).expect("it runs");
    assert_eq!(plain.values, None);
    for values in ["zeros", "random", "zeros=0.5,b4d1=0.5"] {
        let RunReport { totals, kernels, sms, .. } = of_list(values, "base");
        assert_eq!(totals, plain.totals, "{values}");
        assert_eq!((kernels.len(), sms), (plain.kernels.len(), plain.sms.clone()), "{values}");
    }
}

#[test]
fn the_seed_changes_the_values_and_a_repetition_does_not() {
    // On a mix of classes the bursts depend on the classes of the lines.
    let of_seed = |seed| of_list(&format!("zeros=0.5,random=0.5,seed={seed}"), "hw-bdi").totals;
    assert_eq!(of_seed(1), of_seed(1));
    assert!((2..10).any(|seed| of_seed(seed).line_bursts != of_seed(1).line_bursts));
}

#[test]
fn a_source_that_has_values_takes_no_model() {
    let (_, strace) = recorded(small_program().1, "base");
    let sources = [
        Source::find("vecadd").expect("built in"),
        source("x.strace", strace).expect("valid"),
        small_record(),
    ];
    for source in sources {
        let name = source.name().to_owned();
        let line = with_values(source, "random").err().map(|error| error.to_string());
        let expected = format!(
            "values random: {name} has values of its own: must be an Accel-Sim trace, NAME.traceg or kernelslist.g"
        );
        assert_eq!(line, Some(expected));
    }
}

#[test]
fn a_launch_beyond_the_last_of_a_trace_or_a_record_is_refused_before_the_run() {
    let (_, strace) = recorded(small_program().1, "base");
    for (source, launches) in
        [(list(), 2), (source("x.strace", strace).expect("valid"), 1), (small_record(), 1)]
    {
        let range = LaunchRange { first: 1, last: launches + 1 };
        let stop = Control::default();
        // A run that begins ends at once, with an outcome.
        stop.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let spec =
            |range| RunSpec { launches: Some(range), check_dram: false, ..spec(source.clone(), "base") };
        let refused = run(&spec(range), Arc::new(stop)).err().map(|error| error.to_string());
        let expected =
            format!("--launch 1..{}: must be 1 to {launches}, the launches of the run", range.last);
        assert_eq!(refused, Some(expected));
        let whole = run(&spec(LaunchRange { last: launches, ..range }), Arc::new(Control::default()));
        assert!(whole.is_ok_and(|outcome| outcome.fault.is_none()));
    }
}
