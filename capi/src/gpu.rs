//! A whole simulation: a workload on a GPU under a mechanism, in steps of cycles.
use crate::SelvedgeStatus;
use crate::call::{Guarded, call, free};
use crate::text::{is_null, read, read_if_any, write, write_json, write_text};
use selvedge_embed::gpu::{Gpu, Options};
use std::ffi::c_char;
use std::sync::Arc;

/// A simulation.
pub struct SelvedgeGpu(Guarded<Gpu>);

/// Sets up a simulation before its first cycle. `configuration` is the name of a built-in configuration or the path of a
/// file. `mechanism` is as after --mechanism ("base" for none). `workload` is the name of a built-in workload, or the path
/// of a trace or of a launch file, which names a PTX file. `options` is null or a JSON object with any of these keys:
/// "size" (of a built-in workload: tiny, small, study or paper), "values" (of memory in an Accel-Sim trace, as after
/// --values), "engine" (of the mechanism's blocks: model, rtl or lockstep), "check" (true: DRAM commands and loads are
/// checked), "max_cycles", "max_instructions", and "set" (an object with values that override the configuration, such as
/// {"l1d.ways": 8}). The caller frees the simulation.
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
        let options = options.map(Options::parse).transpose()?.unwrap_or_default();
        let made = Gpu::new(configuration, mechanism, workload, options, Arc::default())?;
        let made = SelvedgeGpu(Guarded::new(made));
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
        let over = gpu.step(cycles)?;
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
    with!(gpu, |gpu| unsafe { write("cycle", cycle, gpu.cycle()) })
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
        let totals = gpu.totals()?;
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
        let finished = gpu.finish()?;
        // SAFETY: the caller's promise.
        unsafe { write_json("json", json, &finished.report)? };
        finished.failure.map_or(Ok(()), |failure| Err(failure.into()))
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
    with!(gpu, |gpu| unsafe { write_text("text", text, &gpu.printed().replace('\0', "")) })
}
