//! Traces: recorded instruction streams that run through the timing model instead of kernels.
//!
//! [`strace`] is Selvedge's own format, with the values that host and kernels wrote. [`accel`] reads Accel-Sim traces, which
//! contain only addresses; [`values`] models their values. Both become [`TraceLaunch`]es. In an SM, their warps ([`replay`]) replace PTX warps.
pub mod accel;
mod bytes;
mod change;
pub(crate) mod error;
pub(crate) mod launch;
mod program;
pub(crate) mod record;
pub(crate) mod replay;
pub mod strace;
mod stream;
pub mod values;

pub use bytes::{EMPTY_DIGEST, digest};
pub use error::TraceError;
pub use launch::{LaunchSummary, TraceLaunch};
pub use program::{OtherMemory, TraceProgram};
pub use record::LaunchRecorder;

use crate::limits::Limits;
use accel::AccelTrace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use strace::RecordedTrace;
use values::ValueModel;

/// A trace file.
#[derive(Debug)]
pub struct TraceFile {
    /// Name of the file, without its folder.
    pub name: String,
    /// Paths of the file and of the files that it names.
    pub inputs: Vec<PathBuf>,
    /// Contents of the file.
    pub trace: TraceContents,
    /// Model of the values in memory, if the trace has only addresses and a model is given.
    pub values: Option<Arc<ValueModel>>,
}

/// Contents of a trace file.
#[derive(Debug)]
pub enum TraceContents {
    /// A trace in Selvedge's own format, with values.
    Recorded(RecordedTrace),
    /// An Accel-Sim trace, with addresses only.
    Accel(AccelTrace),
}

impl TraceFile {
    /// Returns whether a name on the command line denotes a trace.
    #[must_use]
    pub fn is_one(name: &str) -> bool {
        name.ends_with(".strace") || name.ends_with(".g") || accel::is_kernel(name)
    }

    /// Reads the file. A trace in Selvedge's own format is checked as a whole. For Accel-Sim traces, the list is checked here and
    /// each kernel at its launch.
    ///
    /// The files of a list's kernels must lie within `limits.reach`.
    ///
    /// # Errors
    /// Returns an error of one line if the file cannot be read, is not a trace or exceeds `limits`.
    pub fn load(path: &Path, limits: &Limits) -> Result<Self, TraceError> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let mut inputs = vec![path.to_path_buf()];
        let trace = if name.ends_with(".strace") {
            TraceContents::Recorded(RecordedTrace::load(path, limits.memory)?)
        } else {
            let accel = AccelTrace::load(path, limits)?;
            inputs.extend_from_slice(accel.kernels());
            TraceContents::Accel(accel)
        };
        Ok(Self { name, inputs, trace, values: None })
    }

    /// Returns the workload size for reports: the recorded size, or `trace`.
    #[must_use]
    pub fn size(&self) -> &str {
        match &self.trace {
            TraceContents::Recorded(trace) => &trace.recorded.size,
            TraceContents::Accel(_) => "trace",
        }
    }

    /// Returns the trace with a model of the values in memory; `None` if it contains the values.
    #[must_use]
    pub fn with_values(&self, values: &Arc<ValueModel>) -> Option<Self> {
        let TraceContents::Accel(accel) = &self.trace else { return None };
        let mut inputs = self.inputs.clone();
        inputs.extend(values.file().map(Path::to_owned));
        let (name, trace) = (self.name.clone(), TraceContents::Accel(accel.clone()));
        Some(Self { name, inputs, trace, values: Some(Arc::clone(values)) })
    }

    /// Returns whether the values in memory are known, from the trace or a model.
    #[must_use]
    pub fn has_values(&self) -> bool {
        matches!(self.trace, TraceContents::Recorded(_)) || self.values.is_some()
    }

    /// Returns the number of launches.
    #[must_use]
    pub fn launches(&self) -> usize {
        match &self.trace {
            TraceContents::Recorded(trace) => trace.launches().count(),
            TraceContents::Accel(accel) => accel.launches(),
        }
    }

    /// Returns launch `index` of a trace in Selvedge's own format as the text of a kernel's trace in Accel-Sim's format. Returns
    /// `None` after the last launch.
    ///
    /// # Errors
    /// Returns an error if the format cannot express the launch, or if the trace is an Accel-Sim trace already.
    pub fn kernel_text(&self, index: usize) -> Result<Option<String>, TraceError> {
        let TraceContents::Recorded(trace) = &self.trace else {
            return Err(TraceError::unreadable(&self.inputs[0], "must be NAME.strace"));
        };
        let Some(launch) = trace.launches().nth(index) else { return Ok(None) };
        let text = accel::kernel_text(launch, index + 1);
        text.map(Some).map_err(|message| TraceError::Kernel {
            file: self.name.clone(),
            kernel: launch.kernel.name.clone(),
            message,
        })
    }

    /// Returns the summary of each launch, in order. Reads all kernels of an Accel-Sim trace.
    ///
    /// # Errors
    /// Returns an error if a kernel's file violates the format.
    pub fn summaries(&self) -> Result<Vec<LaunchSummary>, TraceError> {
        let accel = match &self.trace {
            TraceContents::Recorded(trace) => return Ok(trace.summaries()),
            TraceContents::Accel(accel) => accel,
        };
        let mut all = Vec::new();
        while let Some(launch) = accel.launch(all.len())? {
            all.push(launch.summary);
        }
        Ok(all)
    }
}
