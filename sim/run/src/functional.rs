//! Running a workload for its values alone, without timing: host program, launches, verdict and report.
use crate::report::{FORMAT_VERSION, Outcome};
use crate::run::{RunError, Source};
use crate::source::Program;
use schemars::JsonSchema;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Control;
use selvedge_ptx::memory::{DeviceMemory, Printed};
use selvedge_ptx::ptx::{FunctionalStats, RunError as KernelError, run_kernel};
use selvedge_workloads::workload::{OutputFile, Size};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What to run.
#[derive(Clone)]
pub struct FunctionalSpec {
    /// The workload; not a trace, which holds values instead of instructions to compute them.
    pub workload: Source,
    /// Its size.
    pub size: Size,
    /// A real input file instead of the built-in input.
    pub input: Option<PathBuf>,
    /// The configuration against which launch files are checked.
    pub config: GpuConfig,
    /// Most bytes of device memory.
    pub max_memory: u64,
}

/// What a run without timing reports.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FunctionalReport {
    /// Version of the form: a change of meaning or the removal of a key raises it.
    pub format_version: u32,
    /// Workload name.
    pub workload: String,
    /// Workload size.
    pub size: String,
    /// How the run ended, and the verdict on its results.
    pub result: Outcome,
    /// What went wrong, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Launches that came to their end.
    pub launches: u64,
    /// Warp instructions of those launches.
    pub warp_instructions: u64,
    /// Thread instructions of those launches: active lanes of warp instructions.
    pub thread_instructions: u64,
    /// Warp instructions among them that take at least one lane to global, local or shared memory.
    pub memory_instructions: u64,
    /// Bytes of device memory at the end.
    pub device_bytes: u64,
    /// What depends on the host.
    pub host: FunctionalHost,
}

/// What depends on the host.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FunctionalHost {
    /// Wall-clock seconds of the launches, host program included.
    pub wall_s: f64,
    /// Warp instructions per second.
    pub warp_instructions_per_s: f64,
}

/// A run's report and what it left.
pub struct FunctionalOutcome {
    /// The report; when the run stopped early, of what it has.
    pub report: FunctionalReport,
    /// What stopped the run early.
    pub fault: Option<RunError>,
    /// What the kernels have printed.
    pub printed: Printed,
    /// The files that the host program writes; none when the run stopped early.
    pub outputs: Vec<OutputFile>,
}

/// Runs `spec`, one CTA after the other; `control` shows progress and can stop the run.
///
/// # Errors
/// Mistakes that are found before anything runs. Faults of the kernels are in the outcome.
pub fn run(spec: &FunctionalSpec, control: &Control) -> Result<FunctionalOutcome, RunError> {
    if let Source::Trace(file) = &spec.workload {
        return Err(RunError::NoProgram { name: file.name.clone() });
    }
    let config = Arc::new(spec.config.clone());
    let mut program =
        Program::open(&spec.workload, &config, spec.max_memory, spec.size, spec.input.as_deref())?;
    let mut memory = DeviceMemory::with_capacity(spec.max_memory);
    memory.set_zero_outside(spec.config.memory.zero_outside());
    program.load(&mut memory)?;
    let mut done = Done::default();
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
    let outputs = if fault.is_some() { Vec::new() } else { program.outputs(&memory)? };
    let report = FunctionalReport {
        format_version: FORMAT_VERSION,
        workload: spec.workload.name().into(),
        size: spec.workload.size_name(spec.size),
        result,
        error: verdict.err(),
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

/// Returns whether the outside has ended the run.
fn is_stop(fault: &RunError) -> bool {
    fault.is_stop() || matches!(fault, RunError::Kernel(KernelError::Stopped { .. }))
}

/// The launches that have ended.
#[derive(Default)]
struct Done {
    launches: u64,
    instructions: FunctionalStats,
}

/// Lets the host program launch its kernels one after the other.
fn launch_all(
    program: &mut Program,
    memory: &mut DeviceMemory,
    config: &GpuConfig,
    control: &Control,
    done: &mut Done,
) -> Result<(), RunError> {
    while let Some((kernel, dims, params)) = program.next_untimed(memory, config)? {
        control.ctas_total.store(dims.ctas(), Ordering::Relaxed);
        let mut goes_on = |ctas: u64| {
            control.ctas_done.store(ctas, Ordering::Relaxed);
            !control.stop.load(Ordering::Relaxed) && control.timed_out().is_none()
        };
        let ran = run_kernel(&kernel, &dims, &params, memory, &mut goes_on)?;
        done.launches += 1;
        done.instructions.warp_instructions += ran.warp_instructions;
        done.instructions.thread_instructions += ran.thread_instructions;
        done.instructions.memory_instructions += ran.memory_instructions;
    }
    Ok(())
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
