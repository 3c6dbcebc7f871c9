//! Kernels of a few lines for tests of mechanisms, and functions to run them and workloads.
pub mod kernels;

use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::{Bounds, Control};
use selvedge_gpu::mechanism::probe::ProbeSpec;
use selvedge_hw::Engine;
use selvedge_sim::report::RunReport;
use selvedge_sim::run::{RunOutcome, RunSpec, Source, run};
use selvedge_sim::together::report::TogetherReport;
use selvedge_sim::together::{TogetherSpec, run as run_side_by_side};
use selvedge_workloads::workload::Size;
use std::path::Path;
use std::sync::Arc;

/// A kernel `k(u64 buffer)` of 32-bit words.
pub struct SmallKernel<'a> {
    /// CTAs.
    pub grid: u32,
    /// Threads of a CTA.
    pub block: u32,
    /// Words of the buffer.
    pub words: u32,
    /// Lines of the launch file that say how the buffer is filled; without any, the buffer holds zeros.
    pub fill: &'a str,
    /// PTX before the kernel.
    pub functions: &'a str,
    /// PTX after the declarations, with the buffer's address in %rd1 and the thread's number among all in %r1; %r, %rd and
    /// %p below 10 may be used.
    pub body: &'a str,
}

/// A kernel that does nothing; other kernels take the rest of their fields from it.
pub const NOTHING: SmallKernel<'static> =
    SmallKernel { grid: 1, block: 32, words: 32, fill: "", functions: "", body: "" };

/// Returns a built-in configuration with three SMs, as TOML.
fn few_sms(config: &str) -> String {
    format!("base = \"{config}\"\n[sm]\ncount = 3\n")
}

fn machine(toml: &str) -> GpuConfig {
    GpuConfig::parse("machine.toml", toml).expect("valid")
}

/// Runs a kernel on three SMs of a built-in configuration.
pub fn run_small(kernel: &SmallKernel<'_>, config: &str, mechanism: &str) -> RunOutcome {
    run_kernel(kernel, &few_sms(config), mechanism, Engine::Model)
}

/// Runs a kernel on the configuration with this TOML text.
pub fn run_kernel(
    kernel: &SmallKernel<'_>,
    machine_toml: &str,
    mechanism: &str,
    engine: Engine,
) -> RunOutcome {
    let folder = tempfile::tempdir().expect("a folder");
    run_on(&write(kernel, folder.path()), machine(machine_toml), mechanism, engine)
}

/// Runs kernels at the same time on three SMs of a built-in configuration, for `cycles` cycles. CTAs are placed wherever they
/// fit. If `alone` is set, each kernel runs alone before.
pub fn run_together(
    kernels: &[&SmallKernel<'_>],
    config: &str,
    mechanism: &str,
    cycles: u64,
    alone: bool,
) -> TogetherReport {
    let folders: Vec<_> = kernels.iter().map(|_| tempfile::tempdir().expect("a folder")).collect();
    let files = kernels.iter().zip(&folders).map(|(kernel, folder)| write(kernel, folder.path()));
    let spec = TogetherSpec {
        workloads: files.map(|file| Source::find(&file).expect("valid")).collect(),
        size: Size::Tiny,
        config: Arc::new(machine(&few_sms(config))),
        share: "left-over".parse().expect("valid"),
        cycles: Some(cycles),
        alone,
        isolated: None,
        mechanism: mechanism.parse().expect("valid"),
        engine: Engine::Model,
        probes: ProbeSpec::default(),
        check_dram: true,
        max_memory: selvedge_gpu::limits::Limits::default().memory,
        bounds: Bounds::default(),
    };
    let outcome = run_side_by_side(&spec, Arc::new(Control::default())).expect("it starts");
    assert!(outcome.report.error.is_none(), "{mechanism}: {:?}", outcome.report.error);
    outcome.report
}

/// Writes a kernel and its launch file, and returns the path of the launch file.
fn write(kernel: &SmallKernel<'_>, folder: &Path) -> String {
    let SmallKernel { grid, block, words, fill, functions, body } = kernel;
    let ptx = format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n{functions}.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n.reg .pred %p<10>;\nld.param.u64 %rd1, [p];\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r1, %r2, {block}, %r1;\n{body}\nret;\n}}\n"
    );
    std::fs::write(folder.join("k.ptx"), ptx).expect("written");
    let launch = format!(
        "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [{grid}]\nblock = [{block}]\n[[arg]]\ntype = \"u32\"\ncount = {words}\n\
         {fill}\n"
    );
    let file = folder.join("k.toml");
    std::fs::write(&file, launch).expect("written");
    file.display().to_string()
}

/// Runs a workload at size tiny, or a launch file, on a built-in configuration, and checks that it ends without an error.
pub fn run_workload(name: &str, config: &str, mechanism: &str) -> RunOutcome {
    run_on(name, GpuConfig::load(config).expect("built in"), mechanism, Engine::Model)
}

/// Runs as [`run_workload`], on the configuration with this TOML text.
pub fn run_workload_on(name: &str, machine_toml: &str, mechanism: &str) -> RunReport {
    run_on(name, machine(machine_toml), mechanism, Engine::Model).report
}

fn run_on(name: &str, config: GpuConfig, mechanism: &str, engine: Engine) -> RunOutcome {
    let spec = RunSpec {
        engine,
        check_dram: true,
        ..RunSpec::new(
            Source::find(name).expect("valid"),
            Arc::new(config),
            mechanism.parse().expect("valid"),
        )
    };
    let outcome = run(&spec, Arc::new(Control::default())).expect("it starts");
    assert!(outcome.report.error.is_none(), "{name} {mechanism}: {:?}", outcome.report.error);
    outcome
}
