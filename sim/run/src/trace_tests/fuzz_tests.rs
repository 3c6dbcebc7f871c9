//! Fuzzes traces: each damaged trace must be refused in one line, or run to an end.
use super::{reseal, small, source, spec};
use crate::run::{RunError, Source, run};
use proptest::prelude::*;
use selvedge_gpu::gpu::Control;
use selvedge_testing::fuzz;
use std::path::Path;
use std::sync::Arc;

/// A trace of version 6 with a bulk copy, a group of copies and a numbered barrier.
const VERSION_6: &str = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (64,1,1)\n-shmem = 1024\n-nregs = 8\n\
    -accelsim tracer version = 6\n#traces format = ...\n#BEGIN_TB\nthread block = 0,0,0\ncluster rank = 0\n\
    warp = 0\ninsts = 6\n\
    0000 00000001 0 UTMALDG.2D 2 UR4 UR8 32 0x400 0 96 0 4 0x7f2ed4a00000 3 256 256 0 0 NoVal\n\
    0010 ffffffff 0 LDGSTS.E.BYPASS.128 1 R2 16 1 0x7f2ed4a01000 16 0 0 NoVal\n\
    0020 ffffffff 0 LDGDEPBAR 0 0 0 0 NoVal\n0030 ffffffff 0 DEPBAR.LE 0 0 0 0 NoVal\n\
    0040 ffffffff 1 R4 BAR.SYNC 1 R5 0 0 0 Val 1 3 1 40\n0050 ffffffff 0 EXIT 0 0 0 0 NoVal\n\
    warp = 1\ninsts = 2\n0040 ffffffff 1 R4 BAR.SYNC 1 R5 0 0 0 Val 1 3 1 40\n\
    0050 ffffffff 0 EXIT 0 0 0 0 NoVal\n#END_TB\n";

/// Traces of the end-to-end tests, with their names.
const KERNELS: [(&str, &[u8]); 4] = [
    ("kernel-1.traceg", include_bytes!("../../../../tests/traces/kernel-1.traceg")),
    ("version-6.traceg", VERSION_6.as_bytes()),
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
