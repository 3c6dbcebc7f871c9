//! Fuzzes traces: each damaged trace must be refused in one line, or run to an end.
use super::{reseal, small, source, spec};
use crate::run::{RunError, Source, run};
use proptest::prelude::*;
use selvedge_gpu::gpu::Control;
use selvedge_testing::fuzz;
use std::path::Path;
use std::sync::Arc;

/// Traces of the end-to-end tests, with their names.
const KERNELS: [(&str, &[u8]); 3] = [
    ("kernel-1.traceg", include_bytes!("../../../../tests/traces/kernel-1.traceg")),
    ("kernel-1.tracez", include_bytes!("../../../../tests/traces/kernel-1.tracez")),
    ("kernel-2.traceg.xz", include_bytes!("../../../../tests/traces/kernel-2.traceg.xz")),
];

/// Checks that a source is refused in one line or runs to an end, without a violated conservation law or DRAM constraint.
fn survives(source: Result<Source, RunError>) -> Result<(), TestCaseError> {
    let fault = match source.and_then(|source| run(&spec(source, "base"), Arc::new(Control::default()))) {
        Ok(outcome) => outcome.fault,
        Err(error) => Some(error),
    };
    let Some(fault) = fault else { return Ok(()) };
    let line = fault.to_string();
    prop_assert_eq!(line.lines().count(), 1, "{}", line);
    prop_assert!(!line.contains("conservation") && !line.contains("DRAM timing"), "{}", line);
    Ok(())
}

/// Returns the file as the source of a run.
fn file(folder: &Path, name: &str) -> Result<Source, RunError> {
    Source::find(&folder.join(name).display().to_string())
}

#[test]
fn fuzz_own_traces_are_refused_in_one_line_or_run_to_an_end() {
    fuzz("own-traces", &[small().to_vec()], 128, |bytes| survives(source("x.strace", bytes.to_vec())));
}

#[test]
fn fuzz_own_traces_with_right_digests_are_refused_in_one_line_or_run_to_an_end() {
    fuzz("sealed-traces", &[small().to_vec()], 256, |bytes| {
        let mut bytes = bytes.to_vec();
        reseal(&mut bytes);
        survives(source("x.strace", bytes))
    });
}

#[test]
fn fuzz_kernel_traces_are_refused_in_one_line_or_run_to_an_end() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, whole) in KERNELS {
        fuzz(name, &[whole.to_vec()], 128, |bytes| {
            std::fs::write(folder.path().join(name), bytes).expect("written");
            survives(file(folder.path(), name))
        });
    }
}

#[test]
fn fuzz_lists_of_kernel_traces_are_refused_in_one_line_or_run_to_an_end() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, whole) in KERNELS {
        std::fs::write(folder.path().join(name), whole).expect("written");
    }
    let list = include_bytes!("../../../../tests/traces/kernelslist.g").to_vec();
    fuzz("kernel-lists", &[list], 128, |bytes| {
        std::fs::write(folder.path().join("kernelslist.g"), bytes).expect("written");
        survives(file(folder.path(), "kernelslist.g"))
    });
}
