//! Whole simulations.
use crate::failure::exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use selvedge_embed::Failure;
use selvedge_embed::gpu::{Gpu, Options};
use selvedge_sim::gpu::Control;
use selvedge_sim::report::Outcome;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time between two checks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// Stack of the simulating thread in bytes, the size of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// The report as JSON, the output of the kernels, and the reason of a failure.
type Finished = (String, String, Option<String>);

/// Runs a simulation to its end. `options` is a JSON object.
///
/// Returns the report as JSON, the output of the kernels, and the reason of a failure.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    workload: String,
    mechanism: String,
    config: String,
    options: String,
) -> PyResult<Finished> {
    let control = Arc::new(Control::default());
    let stop = Arc::clone(&control.stop);
    let (send, mut receive) = channel();
    let simulate = move || {
        // A receiver that has gone needs no result.
        let _ = send.send(finish(&workload, &mechanism, &config, &options, control));
    };
    // Python handles signals in its main thread only, and not while this function runs.
    let worker = thread::Builder::new().name("selvedge".into()).stack_size(STACK_BYTES).spawn(simulate)?;
    loop {
        let (result, same) = py.detach(move || (receive.recv_timeout(SIGNALS), receive));
        receive = same;
        match result {
            Ok(result) => return result.map_err(exception),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Err(interrupt) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            py.detach(move || receive.recv()).ok();
            return Err(interrupt);
        }
    }
    let panic = worker.join().err();
    let why = panic.as_ref().and_then(|panic| {
        let literal = panic.downcast_ref::<&str>().copied();
        literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
    });
    Err(PyRuntimeError::new_err(format!("internal error: {}", why.unwrap_or("a panic"))))
}

fn finish(
    workload: &str,
    mechanism: &str,
    config: &str,
    options: &str,
    control: Arc<Control>,
) -> Result<Finished, Failure> {
    let options = Options::parse(options)?;
    let mut gpu = Gpu::new(config, mechanism, workload, options, control)?;
    let finished = gpu.finish()?;
    let text = serde_json::to_string(&finished.report).map_err(Failure::fault)?;
    // The caller has set the limits and expects them.
    let is_limit = matches!(finished.report.result, Outcome::MaxCycles | Outcome::MaxInstructions);
    let failure = finished.failure.filter(|_| !is_limit).map(|failure| failure.line);
    Ok((text, gpu.printed().to_owned(), failure))
}
