//! Runs a workload for its values only, without timing: host program, launches, verdict and report.
use crate::report::{FORMAT_VERSION, Outcome, Refused};
use crate::run::{RunError, Source};
use crate::source::LaunchProgram;
use schemars::JsonSchema;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Control;
use selvedge_ptx::memory::{DeviceMemory, PrintedText};
use selvedge_ptx::ptx::{FunctionalError as KernelError, FunctionalStats, run_kernel};
use selvedge_workloads::workload::{OutputFile, Size};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Specification of a run without timing.
#[derive(Clone)]
pub struct FunctionalSpec {
    /// Workload. A trace is unsupported: it records results instead of instructions.
    pub workload: Source,
    /// Size of a built-in workload.
    pub size: Size,
    /// Input file that replaces the built-in input.
    pub input: Option<PathBuf>,
    /// Configuration for the checks of launch files.
    pub config: GpuConfig,
    /// Max device memory in bytes.
    pub max_memory: u64,
    /// Warns about instructions that read values from inactive lanes.
    pub check: bool,
}

/// Report of a run without timing.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FunctionalReport {
    /// Version of the format. A change of meaning or the removal of a key increases it.
    pub format_version: u32,
    /// Workload name.
    pub workload: String,
    /// Workload size.
    pub size: String,
    /// Outcome of the run, including the check of its results.
    pub result: Outcome,
    /// Error message, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Refused work of a CUDA program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// Completed launches.
    pub launches: u64,
    /// Warp instructions of the completed launches.
    pub warp_instructions: u64,
    /// Thread instructions of the completed launches: active lanes of warp instructions.
    pub thread_instructions: u64,
    /// Warp instructions among them with an access of at least one lane to global, local or shared memory.
    pub memory_instructions: u64,
    /// Bytes of device memory at the end.
    pub device_bytes: u64,
    /// Values that depend on the host.
    pub host: FunctionalHost,
}

/// Values that depend on the host.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FunctionalHost {
    /// Wall-clock seconds of the launches and the host program.
    pub wall_s: f64,
    /// Warp instructions per second.
    pub warp_instructions_per_s: f64,
}

/// Report, outputs and fault of a run.
pub struct FunctionalOutcome {
    /// Report; it covers the part that ran if the run stopped early.
    pub report: FunctionalReport,
    /// Reason for which the run stopped early.
    pub fault: Option<RunError>,
    /// Output of the kernels' `printf`.
    pub printed: PrintedText,
    /// Files that the host program writes; empty if the run stopped early.
    pub outputs: Vec<OutputFile>,
}

/// Runs `spec`. CTAs that wait for each other run concurrently. `control` shows progress and can stop the run.
///
/// # Errors
/// A mistake that is found before the first launch. Faults of kernels are in the outcome.
pub fn run(spec: &FunctionalSpec, control: &Control) -> Result<FunctionalOutcome, RunError> {
    if let Source::Trace(file) = &spec.workload {
        return Err(RunError::NoProgram { name: file.name.clone() });
    }
    let config = Arc::new(spec.config.clone());
    let mut program = LaunchProgram::open(
        &spec.workload,
        &config,
        spec.max_memory,
        spec.size,
        spec.input.as_deref(),
        control,
    )?;
    let mut memory = DeviceMemory::with_capacity(spec.max_memory);
    memory.set_zero_outside(spec.config.memory.zero_outside());
    if spec.check {
        memory.note_idle_reads();
    }
    program.load(&mut memory)?;
    let mut done = LaunchCounts::default();
    let start = Instant::now();
    let fault = launch_all(&mut program, &mut memory, &config, control, &mut done).err();
    if let Some(fault) = &fault {
        program.fail(fault);
    }
    let wall_s = start.elapsed().as_secs_f64();
    let verdict = match &fault {
        Some(fault) => Err(fault.to_string()),
        None => program.verify(&memory, &config, "base").map_err(|wrong| wrong.to_string()),
    };
    let result = match &verdict {
        Ok(true) => Outcome::Pass,
        Ok(false) => Outcome::Unchecked,
        Err(_) if fault.as_ref().is_some_and(is_stop) && control.stop.load(Ordering::Relaxed) => {
            Outcome::Interrupted
        }
        Err(_) if fault.as_ref().is_some_and(is_stop) => Outcome::Timeout,
        Err(_) => Outcome::Fail,
    };
    let refused = program.refusals().map(Refused::from);
    let result = result.with(refused.as_ref());
    let outputs = if fault.is_some() { Vec::new() } else { program.outputs(&memory)? };
    let report = FunctionalReport {
        format_version: FORMAT_VERSION,
        workload: spec.workload.name().into(),
        size: spec.workload.size_name(spec.size),
        result,
        error: verdict.err().or_else(|| refused.as_ref().map(Refused::to_string)),
        refused,
        launches: done.launches,
        warp_instructions: done.instructions.warp_instructions,
        thread_instructions: done.instructions.thread_instructions,
        memory_instructions: done.instructions.memory_instructions,
        device_bytes: memory.used(),
        host: FunctionalHost {
            wall_s,
            warp_instructions_per_s: done.instructions.warp_instructions as f64 / wall_s.max(1e-9),
        },
    };
    Ok(FunctionalOutcome { report, fault, printed: memory.take_printed(), outputs })
}

/// Returns whether a signal, the timeout or a limit ended the run.
fn is_stop(fault: &RunError) -> bool {
    fault.is_stop() || matches!(fault, RunError::Kernel(KernelError::Stopped { .. }))
}

/// Counts of the launches that have ended.
#[derive(Default)]
struct LaunchCounts {
    launches: u64,
    instructions: FunctionalStats,
}

/// Runs the launches of the host program in order.
fn launch_all(
    program: &mut LaunchProgram,
    memory: &mut DeviceMemory,
    config: &GpuConfig,
    control: &Control,
    done: &mut LaunchCounts,
) -> Result<(), RunError> {
    while let Some((kernel, dims, params)) = program.next_untimed(memory, config)? {
        control.ctas_total.store(dims.ctas(), Ordering::Relaxed);
        let mut goes_on = |ctas: u64| {
            control.ctas_done.store(ctas, Ordering::Relaxed);
            !control.stop.load(Ordering::Relaxed) && control.timed_out().is_none()
        };
        let ran = run_kernel(&kernel, &dims, &params, memory, &mut goes_on);
        memory.take_idle_reads().iter().for_each(|text| control.warn(text));
        let ran = ran?;
        done.launches += 1;
        done.instructions.warp_instructions += ran.warp_instructions;
        done.instructions.thread_instructions += ran.thread_instructions;
        done.instructions.memory_instructions += ran.memory_instructions;
    }
    program.finish(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::limits::Limits;
    use selvedge_workloads::workload;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    fn spec(workload: &str) -> FunctionalSpec {
        FunctionalSpec {
            workload: Source::find(workload).expect("built in"),
            size: Size::Tiny,
            input: None,
            config: GpuConfig::load("gtx480").expect("built in"),
            max_memory: Limits::default().memory,
            check: false,
        }
    }

    #[test]
    fn every_workload_gives_the_right_results_and_executes_what_was_counted() {
        for workload in workload::all() {
            let name = workload.name();
            let report = run(&spec(name), &Control::default()).expect("it starts").report;
            assert_eq!(report.result, Outcome::Pass, "{name}: {:?}", report.error);
            let counted = workload::measured(name, Size::Tiny).expect("counted");
            assert_eq!(
                (report.launches, report.warp_instructions, report.memory_instructions),
                (counted.launches, counted.warp_instructions, counted.memory_instructions),
                "{name}"
            );
        }
    }

    #[test]
    fn the_outside_ends_a_run() {
        let stop = Arc::new(AtomicBool::new(true));
        let interrupted = run(&spec("vecadd"), &Control::new(&stop, None, |_| {})).expect("it starts");
        assert_eq!(interrupted.report.result, Outcome::Interrupted);
        let go = Arc::new(AtomicBool::new(false));
        let late = Control::new(&go, Some(Duration::from_nanos(1)), |_| {});
        let late = run(&spec("vecadd"), &late).expect("it starts");
        assert_eq!((late.report.result, late.report.launches), (Outcome::Timeout, 0));
        assert!(late.fault.is_some_and(|fault| fault.to_string().contains("stopped after 0 CTAs")));
    }
}
