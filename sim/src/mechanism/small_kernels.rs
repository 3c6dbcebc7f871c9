//! Kernels of a few lines for tests of mechanisms, and short ways to run them and workloads.
use crate::config::GpuConfig;
use crate::gpu::Control;
use crate::mechanism::probe::ProbeSpec;
use crate::run::{RunOutcome, RunSpec, Source, run};
use crate::together::report::TogetherReport;
use crate::together::{TogetherSpec, run as run_side_by_side};
use crate::workload::Size;
use selvedge_hw::Engine;
use std::path::Path;
use std::sync::Arc;

/// A kernel `k(u64 buffer)`.
pub struct SmallKernel {
    /// CTAs.
    pub grid: u32,
    /// Threads of a CTA.
    pub block: u32,
    /// 32-bit words of the buffer.
    pub words: u32,
    /// PTX after the declarations, with the buffer's address in %rd1; %r, %rd and %p below 10 may be used.
    pub body: &'static str,
}

/// Each of 8 warps of an SM goes six times through 32 lines of its own, word after word, a line per thread: 256 lines in a
/// cache of 128, where four warps would find room.
pub const THRASHING: SmallKernel = SmallKernel {
    grid: 3,
    block: 256,
    words: 3 * 256 * 32,
    body: "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r1, %r2, 256, %r1;\n\
           mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nand.b32 %r5, %r3, 31;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd3, %rd2, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 192;\n@%p1 bra LOOP;\nst.global.u32 [%rd2], %r4;",
};

/// Two warps of an SM go round 64 lines, half of its cache, all threads to the same word.
pub const RELOADING: SmallKernel = SmallKernel {
    grid: 3,
    block: 64,
    words: 64 * 32,
    body: "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nand.b32 %r5, %r3, 63;\nmul.wide.u32 %rd3, %r5, 128;\nadd.s64 %rd3, %rd1, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 1024;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
};

/// One warp of an SM goes 64 times round 192 lines, half as many again as its cache holds.
pub const ROUND: SmallKernel = SmallKernel {
    grid: 3,
    block: 32,
    words: 192 * 32,
    body: "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nrem.u32 %r5, %r3, 192;\nmul.wide.u32 %rd3, %r5, 128;\nadd.s64 %rd3, %rd1, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 12288;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
};

/// Eight warps of an SM go through 1 MB line by line, each from a place of its own.
pub const STREAMING: SmallKernel = SmallKernel {
    grid: 3,
    block: 256,
    words: 1 << 18,
    body: "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r1, %r2, 256, %r1;\nshr.u32 %r1, %r1, 5;\n\
           mul.lo.u32 %r1, %r1, 67;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nadd.u32 %r5, %r1, %r3;\nand.b32 %r5, %r5, 8191;\nmul.wide.u32 %rd3, %r5, 128;\n\
           add.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 4096;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
};

/// SMs that the kernels run on.
fn few_sms(config: &str) -> GpuConfig {
    let text = format!("base = \"{config}\"\n[sm]\ncount = 3\n");
    GpuConfig::parse("small.toml", &text).expect("valid")
}

/// Runs a kernel on three SMs of a built-in machine.
pub fn run_small(kernel: &SmallKernel, config: &str, mechanism: &str) -> RunOutcome {
    let folder = tempfile::tempdir().expect("a folder");
    run_on(&write(kernel, folder.path()), few_sms(config), mechanism)
}

/// Runs kernels side by side on three SMs of a built-in machine for so many cycles, their CTAs where they fit.
pub fn run_together(kernels: &[&SmallKernel], config: &str, mechanism: &str, cycles: u64) -> TogetherReport {
    let folders: Vec<_> = kernels.iter().map(|_| tempfile::tempdir().expect("a folder")).collect();
    let files = kernels.iter().zip(&folders).map(|(kernel, folder)| write(kernel, folder.path()));
    let spec = TogetherSpec {
        workloads: files.map(|file| Source::find(&file).expect("valid")).collect(),
        size: Size::Tiny,
        config: Arc::new(few_sms(config)),
        share: "left-over".parse().expect("valid"),
        cycles: Some(cycles),
        alone: false,
        isolated: None,
        mechanism: mechanism.parse().expect("valid"),
        engine: Engine::Model,
        probes: ProbeSpec::default(),
        check_dram: true,
    };
    let outcome = run_side_by_side(&spec, Arc::new(Control::default())).expect("it starts");
    assert!(outcome.report.error.is_none(), "{mechanism}: {:?}", outcome.report.error);
    outcome.report
}

/// Writes a kernel and its launch file; gives the latter.
fn write(kernel: &SmallKernel, folder: &Path) -> String {
    let SmallKernel { grid, block, words, body } = kernel;
    let ptx = format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n.reg .pred %p<10>;\nld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n"
    );
    std::fs::write(folder.join("k.ptx"), ptx).expect("written");
    let launch = format!(
        "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [{grid}]\nblock = [{block}]\n[[arg]]\ntype = \"u32\"\ncount = {words}\n"
    );
    let file = folder.join("k.toml");
    std::fs::write(&file, launch).expect("written");
    file.display().to_string()
}

/// Runs a workload at size tiny, or a launch file, on a built-in machine, to its right end.
pub fn run_workload(name: &str, config: &str, mechanism: &str) -> RunOutcome {
    run_on(name, GpuConfig::load(config).expect("built in"), mechanism)
}

fn run_on(name: &str, config: GpuConfig, mechanism: &str) -> RunOutcome {
    let spec = RunSpec {
        workload: Source::find(name).expect("valid"),
        size: Size::Tiny,
        input: None,
        config: Arc::new(config),
        mechanism: mechanism.parse().expect("valid"),
        engine: Engine::Model,
        probes: ProbeSpec::default(),
        check_dram: true,
        sample_cycles: None,
    };
    let outcome = run(&spec, Arc::new(Control::default())).expect("it starts");
    assert!(outcome.report.error.is_none(), "{name} {mechanism}: {:?}", outcome.report.error);
    outcome
}
