//! Where what runs comes from: a built-in workload, a user's launch file or a trace.
use crate::run::{RunError, RunSpec, prepare};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::limits::Limits;
use selvedge_gpu::mechanism::Needs;
use selvedge_gpu::sm::feed::Feed;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_gpu::trace::{OtherMemory, TraceFile, TraceLaunch, TraceProgram};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::Module;
use selvedge_workloads::launch_file::LaunchFile;
use selvedge_workloads::workload::{self, HostProgram, OutputFile, Size, Workload, WorkloadError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where kernels and host program come from.
#[derive(Clone)]
pub enum Source {
    /// A built-in workload.
    BuiltIn(&'static dyn Workload),
    /// A user's launch file.
    File(Arc<LaunchFile>),
    /// A trace.
    Trace(Arc<TraceFile>),
}

impl Source {
    /// Returns the built-in workload called `name`, the launch file when `name` ends in `.toml`, or the trace when it ends
    /// as traces do, within the default limits.
    ///
    /// # Errors
    /// As [`Source::find_within`].
    pub fn find(name: &str) -> Result<Self, RunError> {
        Self::find_within(name, &Limits::default())
    }

    /// As [`Source::find`], within these limits.
    ///
    /// # Errors
    /// No such workload, a mistake in the file, or a file that exceeds the limits; each in one line.
    pub fn find_within(name: &str, limits: &Limits) -> Result<Self, RunError> {
        if name.ends_with(".toml") {
            return Ok(Source::File(Arc::new(LaunchFile::load(Path::new(name), limits)?)));
        }
        if TraceFile::is_one(name) {
            return Ok(Source::Trace(Arc::new(TraceFile::load(Path::new(name), limits)?)));
        }
        Ok(Source::BuiltIn(workload::find(name)?))
    }

    /// The name in reports.
    pub fn name(&self) -> &str {
        match self {
            Source::BuiltIn(workload) => workload.name(),
            Source::File(file) => &file.name,
            Source::Trace(file) => &file.name,
        }
    }

    /// The size in reports: that of the run, or what a trace says of itself.
    pub(crate) fn size_name(&self, size: Size) -> String {
        match self {
            Source::Trace(file) => file.size().to_owned(),
            _ => size.to_string(),
        }
    }

    /// Returns whether the execution races ([`Workload::races`]); none where nobody states it, as for a launch file.
    pub(crate) fn races(&self) -> Option<bool> {
        match self {
            Source::BuiltIn(workload) => Some(workload.races()),
            Source::File(_) => None,
            Source::Trace(_) => Some(false),
        }
    }

    /// What tells a user's program from others of its name: a hash of its files' contents. Empty for built-in workloads and for
    /// traces, which do not run beside others.
    pub(crate) fn fingerprint(&self) -> String {
        match self {
            Source::BuiltIn(_) | Source::Trace(_) => String::new(),
            Source::File(file) => format!("{:016x}", file.fingerprint()),
        }
    }

    /// Returns the files that a run reads; `input` is the real input file of a built-in workload, where there is one.
    pub fn inputs(&self, input: Option<&Path>) -> Vec<PathBuf> {
        match self {
            Source::BuiltIn(workload) => input.map(|file| workload.inputs(file)).unwrap_or_default(),
            Source::File(file) => file.inputs().to_vec(),
            Source::Trace(file) => file.inputs.clone(),
        }
    }

    /// The files that a run writes.
    pub fn outputs(&self) -> Vec<&Path> {
        match self {
            Source::BuiltIn(_) | Source::Trace(_) => Vec::new(),
            Source::File(file) => file.outputs().map(PathBuf::as_path).collect(),
        }
    }

    pub(crate) fn module(&self) -> Result<Module, RunError> {
        match self {
            Source::BuiltIn(workload) => {
                let (file, text) = workload.ptx();
                Ok(Module::parse(file, text)?)
            }
            Source::File(file) => Ok(file.module()?),
            Source::Trace(file) => Err(RunError::NoProgram { name: file.name.clone() }),
        }
    }

    /// The host program; what a launch file says is checked against `module` and the configuration, and its constants set.
    pub(crate) fn start(
        &self,
        module: &mut Module,
        config: &GpuConfig,
        size: Size,
        input: Option<&Path>,
    ) -> Result<Box<dyn HostProgram>, RunError> {
        match self {
            Source::BuiltIn(workload) => Ok(workload.start(size, input)?),
            Source::File(file) => Ok(file.start(module, config)?),
            Source::Trace(file) => Err(RunError::NoProgram { name: file.name.clone() }),
        }
    }

    /// What mechanisms can look at.
    pub(crate) fn gives(&self) -> Needs {
        match self {
            Source::BuiltIn(_) | Source::File(_) => Needs::Execution,
            Source::Trace(file) if file.has_values() => Needs::Values,
            Source::Trace(_) => Needs::Nothing,
        }
    }
}

/// What launches kernels: a host program, or a trace.
pub(crate) enum Program {
    Ptx { module: Module, host: Box<dyn HostProgram> },
    Trace(TraceProgram),
}

impl Program {
    /// What `spec` names, before its first launch.
    pub fn new(spec: &RunSpec) -> Result<Self, RunError> {
        if let Source::Trace(file) = &spec.workload {
            return Ok(Program::Trace(TraceProgram::new(file)));
        }
        let mut module = spec.workload.module()?;
        let host = spec.workload.start(&mut module, &spec.config, spec.size, spec.input.as_deref())?;
        Ok(Program::Ptx { module, host })
    }

    /// Places what a module declares in memory.
    pub fn load(&self, memory: &mut DeviceMemory) -> Result<(), RunError> {
        match self {
            Program::Ptx { module, .. } => Ok(module.load(memory)?),
            Program::Trace(_) => Ok(()),
        }
    }

    /// The next launch; none at the end.
    pub fn next(
        &mut self,
        memory: &mut DeviceMemory,
        config: &GpuConfig,
    ) -> Result<Option<LaunchedKernel>, RunError> {
        match self {
            Program::Ptx { module, host } => {
                let launch = host.next(memory)?;
                launch.map(|launch| prepare(module, &launch, 0, config)).transpose()
            }
            Program::Trace(trace) => trace.next(memory)?.map(|launch| replayed(launch, config)).transpose(),
        }
    }

    /// Checks the results, and returns whether there was anything to check.
    ///
    /// # Errors
    /// What is wrong with the results.
    pub fn verify(&self, memory: &DeviceMemory, spec: &RunSpec) -> Result<bool, WrongResults> {
        match self {
            Program::Ptx { host, .. } => {
                host.verify(memory)?;
                Ok(host.checks())
            }
            Program::Trace(trace) => Ok(trace.verify(memory, &spec.config, &spec.mechanism.text)?),
        }
    }

    /// The files to write at the end.
    pub fn outputs(&self, memory: &DeviceMemory) -> Result<Vec<OutputFile>, RunError> {
        match self {
            Program::Ptx { host, .. } => Ok(host.outputs(memory)?),
            Program::Trace(_) => Ok(Vec::new()),
        }
    }
}

/// Results that are not what the workload or its recording has.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WrongResults {
    /// The device's differ from those of the host program.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// Memory does not end as it was recorded.
    #[error(transparent)]
    Replay(#[from] OtherMemory),
}

/// A recorded launch as the GPU takes it.
fn replayed(launch: Arc<TraceLaunch>, config: &GpuConfig) -> Result<LaunchedKernel, RunError> {
    let kernel = Arc::clone(&launch.kernel);
    let mut launched = LaunchedKernel::new(kernel, launch.dims, Vec::new(), 0, config)?;
    launched.instruction_bytes = launch.instruction_bytes;
    launched.feed = Feed::Replay(launch);
    Ok(launched)
}
