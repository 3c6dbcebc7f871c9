//! Reasons for which a run fails.
use crate::checkpoint::CheckpointError;
use crate::conservation::BrokenLaw;
use crate::launch_range::LaunchRange;
use selvedge_cudart::device::DeviceError;
use selvedge_cudart::operation::RecordError;
use selvedge_cudart::session::SessionError;
use selvedge_gpu::gpu::Limit;
use selvedge_gpu::mechanism::MechanismError;
use selvedge_gpu::share::ShareError;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::trace::TraceError;
use selvedge_gpu::trace::values::ValueModelError;
use selvedge_ptx::memory::MemoryError;
use selvedge_ptx::ptx::{ArgError, PtxError};
use selvedge_workloads::launch_file::LaunchFileError;
use selvedge_workloads::workload::WorkloadError;

/// Reasons for which a run fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The input or the host program of the workload is wrong.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A CUDA or PTX file is given instead of a launch file.
    #[error("'{name}' is no workload: {instead}")]
    SourceCode {
        /// Name of the file.
        name: String,
        /// The command to use.
        instead: String,
    },
    /// The launch file is wrong.
    #[error(transparent)]
    LaunchFile(#[from] LaunchFileError),
    /// The PTX is wrong or unsupported.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// The trace file is wrong.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A trace or a CUDA program is given where only a workload or a launch file can run.
    #[error(
        "{name}: a trace runs alone, and so does a CUDA program: what runs beside others or is recorded must be a workload or a launch file"
    )]
    NoProgram {
        /// Name of the trace or program.
        name: String,
    },
    /// The model of the values in memory is wrong.
    #[error(transparent)]
    Values(#[from] ValueModelError),
    /// A model of values is given for a source that has values.
    #[error(
        "values {values}: {name} has values of its own: must be an Accel-Sim trace, NAME.traceg or kernelslist.g"
    )]
    HasValues {
        /// Name of the source.
        name: String,
        /// Model of the values.
        values: String,
    },
    /// The record of a CUDA program cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The device refuses an operation of a recorded CUDA program.
    #[error("the recorded program: {0}")]
    Replay(#[from] DeviceError),
    /// A CUDA program cannot be run, or broke off.
    #[error(transparent)]
    Session(SessionError),
    /// The PTX file has no such kernel.
    #[error("no kernel '{name}' in the PTX: there are {allowed}")]
    NoKernel {
        /// Requested kernel.
        name: String,
        /// Kernels in the PTX, separated by commas.
        allowed: String,
    },
    /// The arguments of a launch do not fit the kernel's parameters.
    #[error(transparent)]
    Args(#[from] ArgError),
    /// Device memory is exhausted, or an access is outside of it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The mechanism or a probe is wrong.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The run cannot be estimated from intervals.
    #[error("--intervals: {what}: must be {must}")]
    NoIntervals {
        /// Value that was given.
        what: String,
        /// Allowed kinds.
        must: &'static str,
    },
    /// Intervals of a program whose streams overlap.
    #[error("--intervals: launches overlap: must be a run without --intervals")]
    Overlap,
    /// Checkpoints of a program whose kernels launch kernels.
    #[error("checkpoints: a kernel launches kernels: must be a run without checkpoints")]
    KernelsLaunch,
    /// The program has fewer launches than the range.
    #[error("--launch {range}: must be 1 to {launches}, the launches of the run")]
    NoSuchLaunch {
        /// Range that was given.
        range: LaunchRange,
        /// Launches of the run.
        launches: u64,
    },
    /// The programs cannot share the GPU as requested.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// Too many programs for one GPU.
    #[error("{count} workloads together: must be 1 to {most}")]
    Programs {
        /// Number of given programs.
        count: usize,
        /// Max number of programs.
        most: usize,
    },
    /// A program that shares the GPU launches no kernel.
    #[error("{name} launches no kernel: allowed beside others are workloads that do")]
    NoLaunch {
        /// Name of the program.
        name: String,
    },
    /// A kernel without timing stopped with a fault.
    #[error(transparent)]
    Kernel(#[from] selvedge_ptx::ptx::FunctionalError),
    /// The simulation stopped with a fault, at a limit or after an interrupt.
    #[error(transparent)]
    Fault(#[from] SimFault),
    /// Counters violate a conservation law, which is an error of the simulator.
    #[error("a law of conservation is broken: {0}")]
    Conservation(BrokenLaw),
    /// A DRAM command violates a timing constraint, which is an error of the simulator.
    #[error("DRAM timing violated: {0}")]
    DramTiming(String),
    /// A load returned another value than it must return.
    #[error("{0}")]
    Unseen(String),
    /// A checkpoint does not belong to the run, or cannot be written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl RunError {
    /// Returns the limit that ended the run, if any.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            RunError::Fault(SimFault::Limited { limit, .. }) => Some(*limit),
            _ => None,
        }
    }

    /// Returns whether an interrupt or a limit ended the run. Its report up to that point is then valid.
    pub fn is_stop(&self) -> bool {
        matches!(self, RunError::Fault(SimFault::Interrupted { .. } | SimFault::Limited { .. }))
    }
}
