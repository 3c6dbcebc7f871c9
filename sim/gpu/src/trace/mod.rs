//! Traces instead of kernels: recorded instruction streams that run through the same timing model.
//!
//! [`strace`] is the own format, with the values that host and kernels wrote; [`accel`] reads Accel-Sim's, which have
//! addresses only. Both become [`TraceLaunch`]es, whose warps ([`replay`]) stand in an SM where a PTX warp would.
pub mod accel;
mod bytes;
mod change;
mod error;
mod launch;
mod program;
pub(crate) mod record;
pub(crate) mod replay;
pub mod strace;
mod stream;

pub use bytes::{EMPTY_DIGEST, digest};
pub use error::TraceError;
pub use launch::{LaunchSummary, TraceLaunch};
pub use program::{OtherMemory, TraceProgram};
pub use record::LaunchRecorder;

use crate::limits::Limits;
use accel::AccelTrace;
use std::path::{Path, PathBuf};
use strace::RecordedTrace;

/// A trace file.
#[derive(Debug)]
pub struct TraceFile {
    /// The file's name, without its folder.
    pub name: String,
    /// The files that are read: itself and those that it names.
    pub inputs: Vec<PathBuf>,
    /// What is in it.
    pub trace: Trace,
}

/// What a trace file holds.
#[derive(Debug)]
pub enum Trace {
    /// An own one, with values.
    Recorded(RecordedTrace),
    /// Accel-Sim's, with addresses only.
    Accel(AccelTrace),
}

impl TraceFile {
    /// Returns whether a name on the command line means a trace.
    #[must_use]
    pub fn is_one(name: &str) -> bool {
        name.ends_with(".strace") || name.ends_with(".g") || accel::is_kernel(name)
    }

    /// Reads the file. An own trace is checked as a whole; of Accel-Sim's, a list is, and each kernel when its turn comes.
    ///
    /// The files of a list's kernels lie within `reach`.
    ///
    /// # Errors
    /// The file cannot be read, is none or exceeds `limits`, in one line.
    pub fn load(path: &Path, limits: &Limits) -> Result<Self, TraceError> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let mut inputs = vec![path.to_path_buf()];
        let trace = if name.ends_with(".strace") {
            Trace::Recorded(RecordedTrace::load(path, limits.memory)?)
        } else {
            let accel = AccelTrace::load(path, limits)?;
            inputs.extend_from_slice(accel.kernels());
            Trace::Accel(accel)
        };
        Ok(Self { name, inputs, trace })
    }

    /// The size that reports name: the recorded one, or that it is a trace.
    #[must_use]
    pub fn size(&self) -> &str {
        match &self.trace {
            Trace::Recorded(trace) => &trace.recorded.size,
            Trace::Accel(_) => "trace",
        }
    }

    /// Whether it has the values in memory.
    #[must_use]
    pub fn has_values(&self) -> bool {
        matches!(self.trace, Trace::Recorded(_))
    }

    /// What each launch does, in order; reads all of Accel-Sim's kernels.
    ///
    /// # Errors
    /// A kernel's file is not what the format allows.
    pub fn summaries(&self) -> Result<Vec<LaunchSummary>, TraceError> {
        let accel = match &self.trace {
            Trace::Recorded(trace) => return Ok(trace.summaries()),
            Trace::Accel(accel) => accel,
        };
        let mut all = Vec::new();
        while let Some(launch) = accel.launch(all.len())? {
            all.push(launch.summary);
        }
        Ok(all)
    }
}
