//! A whole simulation: a workload on a GPU under a mechanism, in steps of cycles.
use crate::SelvedgeStatus;
use crate::call::{Failure, Guarded, call, free};
use crate::text::{is_null, read, read_if_any, write, write_json, write_text};
use selvedge_sim::gpu::{Bounds, Control};
use selvedge_sim::simulation::Simulation;
use selvedge_sim::stepped::SteppedRun;
use selvedge_sim::workload::OutputFile;
use serde::Deserialize;
use std::ffi::c_char;
use std::fs;
use std::io;
use std::sync::Arc;

/// A simulation.
pub struct SelvedgeGpu(Guarded<Gpu>);

struct Gpu {
    /// `None` after the end of the simulation.
    run: Option<SteppedRun>,
    cycle: u64,
    printed: String,
}

/// Options of a simulation in addition to its names.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SimulationOptions {
    size: Option<String>,
    engine: Option<String>,
    check: bool,
    max_cycles: Option<u64>,
    max_instructions: Option<u64>,
}

impl Gpu {
    fn new(
        configuration: &str,
        mechanism: &str,
        workload: &str,
        options: Option<&str>,
    ) -> Result<Self, Failure> {
        let options: SimulationOptions = match options {
            None => SimulationOptions::default(),
            Some(text) => {
                serde_json::from_str(text).map_err(|error| Failure::invalid(format!("options: {error}")))?
            }
        };
        let mut simulation =
            Simulation::builder().configuration(configuration).mechanism(mechanism).workload(workload);
        if let Some(size) = options.size {
            simulation = simulation.size(size.parse().map_err(Failure::invalid)?);
        }
        if let Some(engine) = options.engine {
            simulation = simulation.engine(engine.parse().map_err(Failure::invalid)?);
        }
        if options.check {
            simulation = simulation.check();
        }
        let (cycles, instructions) = (options.max_cycles, options.max_instructions);
        let spec = simulation.bounds(Bounds { cycles, instructions }).spec().map_err(Failure::invalid)?;
        let run = SteppedRun::new(spec, Arc::new(Control::default()))
            .map_err(|error| if error.is_stop() { Failure::fault(error) } else { Failure::invalid(error) })?;
        Ok(Gpu { run: Some(run), cycle: 0, printed: String::new() })
    }

    fn run(&mut self) -> Result<&mut SteppedRun, Failure> {
        self.run.as_mut().ok_or_else(|| Failure::invalid("the simulation was finished before"))
    }
}

/// Writes a file of the host program, completely or not at all.
fn write_file(file: &OutputFile) -> io::Result<()> {
    let mut beside = file.path.as_os_str().to_owned();
    beside.push(".part");
    let written = fs::write(&beside, &file.bytes).and_then(|()| fs::rename(&beside, &file.path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Sets up a simulation before its first cycle. `configuration` is the name of a built-in configuration or the path of a
/// file. `mechanism` is as after --mechanism ("base" for none). `workload` is the name of a built-in workload, or the path
/// of a trace or of a launch file, which names a PTX file. `options` is null or a JSON object with any of these keys:
/// "size" (of a built-in workload: tiny, small, study or paper), "engine" (of the mechanism's blocks: model, rtl or
/// lockstep), "check" (true: DRAM commands and loads are checked), "max_cycles" and "max_instructions". The caller frees
/// the simulation.
///
/// # Safety
/// `configuration`, `mechanism`, `workload` and `options` are texts or null; `gpu` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_gpu_new(
    configuration: *const c_char,
    mechanism: *const c_char,
    workload: *const c_char,
    options: *const c_char,
    gpu: *mut *mut SelvedgeGpu,
) -> SelvedgeStatus {
    call(|| {
        if gpu.is_null() {
            return Err(is_null("gpu"));
        }
        // SAFETY: the caller's promise.
        let (configuration, mechanism, workload, options) = unsafe {
            (
                read("configuration", configuration)?,
                read("mechanism", mechanism)?,
                read("workload", workload)?,
                read_if_any("options", options)?,
            )
        };
        let made = SelvedgeGpu(Guarded::new(Gpu::new(configuration, mechanism, workload, options)?));
        // SAFETY: the caller's promise.
        unsafe { write("gpu", gpu, Box::into_raw(Box::new(made))) }
    })
}

/// Frees a simulation, even before its end. Null is ignored.
///
/// # Safety
/// `gpu` is null, or a simulation that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_gpu_free(gpu: *mut SelvedgeGpu) {
    // SAFETY: the caller's promise.
    unsafe { free(gpu) }
}

/// Runs `cycles` core cycles, fewer if the simulation ends earlier, and writes whether the simulation is over.
///
/// # Safety
/// `gpu` is null or a simulation that no other thread uses; `is_over` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_gpu_step(
    gpu: *mut SelvedgeGpu,
    cycles: u64,
    is_over: *mut bool,
) -> SelvedgeStatus {
    with!(gpu, |gpu| {
        if is_over.is_null() {
            return Err(is_null("is_over"));
        }
        let run = gpu.run()?;
        let over = run.step(cycles);
        gpu.cycle = run.cycle();
        let over = over.map_err(Failure::fault)?;
        // SAFETY: the caller's promise.
        unsafe { write("is_over", is_over, over) }
    })
}

/// Writes the number of core cycles that have run.
///
/// # Safety
/// `gpu` is null or a simulation that no other thread uses; `cycle` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_gpu_cycle(gpu: *mut SelvedgeGpu, cycle: *mut u64) -> SelvedgeStatus {
    // SAFETY: the caller's promise.
    with!(gpu, |gpu| unsafe { write("cycle", cycle, gpu.cycle) })
}

/// Writes the current counters as a JSON object, the "totals" of a report. Must not be called after selvedge_gpu_finish.
/// The caller frees the text.
///
/// # Safety
/// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_gpu_statistics(
    gpu: *mut SelvedgeGpu,
    json: *mut *mut c_char,
) -> SelvedgeStatus {
    with!(gpu, |gpu| {
        let totals = gpu.run()?.totals();
        // SAFETY: the caller's promise.
        unsafe { write_json("json", json, &totals) }
    })
}

/// Runs the simulation to its end, checks the results, writes the files of a launch file, and writes the report, the JSON
/// object of `selvedge run --json`. If the run has stopped early or its results are wrong, the status is
/// SELVEDGE_STATUS_FAULT, and the report is still written. The caller frees the text.
///
/// # Safety
/// `gpu` is null or a simulation that no other thread uses; `json` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_gpu_finish(
    gpu: *mut SelvedgeGpu,
    json: *mut *mut c_char,
) -> SelvedgeStatus {
    with!(gpu, |gpu| {
        if json.is_null() {
            return Err(is_null("json"));
        }
        gpu.run()?;
        let Some(run) = gpu.run.take() else { return Ok(()) };
        let outcome = run.end().map_err(Failure::fault)?;
        gpu.cycle = outcome.report.totals.cycles;
        gpu.printed = outcome.printed.text;
        // SAFETY: the caller's promise.
        unsafe { write_json("json", json, &outcome.report)? };
        if let Some(error) = &outcome.report.error {
            return Err(Failure::fault(error));
        }
        for file in &outcome.outputs {
            write_file(file).map_err(|error| Failure::fault(format!("{}: {error}", file.path.display())))?;
        }
        Ok(())
    })
}

/// Writes the text that the kernels of a finished simulation have printed. The caller frees the text.
///
/// # Safety
/// `gpu` is null or a simulation that no other thread uses; `text` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_gpu_printed(
    gpu: *mut SelvedgeGpu,
    text: *mut *mut c_char,
) -> SelvedgeStatus {
    // SAFETY: the caller's promise.
    with!(gpu, |gpu| unsafe { write_text("text", text, &gpu.printed.replace('\0', "")) })
}
