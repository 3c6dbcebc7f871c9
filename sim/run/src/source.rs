//! Where what runs comes from: a built-in workload, a user's launch file, a trace, or a CUDA program.
mod replay;

pub use selvedge_cudart::operation::{EXTENSION as RECORDED, Record, RecordError};
pub use selvedge_cudart::session::{BadEnd, Live, SessionError, Settings};

use crate::run::{RunError, RunSpec, kernel_of, prepare};
use replay::Replay;
use selvedge_cudart::device::fault_code;
use selvedge_cudart::protocol::error::LAUNCH_FAILURE;
use selvedge_cudart::session::Session;
use selvedge_gpu::bounds::Limit;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::limits::Limits;
use selvedge_gpu::mechanism::Needs;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::sm::feed::Feed;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_gpu::trace::{OtherMemory, TraceFile, TraceLaunch, TraceProgram};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Kernel, LaunchDims, Module, RunError as KernelError};
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
    /// What a CUDA program has done, without the program.
    Recorded(Arc<RecordedProgram>),
    /// A CUDA program that was started, which runs once.
    Live(Arc<Live>),
}

/// A recorded CUDA program and the file that it came from.
pub struct RecordedProgram {
    /// The file; none for a record that was never in one.
    pub file: Option<PathBuf>,
    /// What it did.
    pub record: Record,
}

impl Source {
    /// Returns the built-in workload called `name`, the launch file when `name` ends in `.toml`, the recorded program when it ends
    /// in `.sprog`, or the trace when it ends as traces do, within the default limits.
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
        if name.ends_with(RECORDED) {
            let record = Record::read(Path::new(name), limits.memory)?;
            return Ok(Source::Recorded(Arc::new(RecordedProgram { file: Some(name.into()), record })));
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
            Source::Recorded(program) => &program.record.name,
            Source::Live(live) => live.name(),
        }
    }

    /// The size in reports: that of the run, what a trace says of itself, or the arguments of a CUDA program.
    pub(crate) fn size_name(&self, size: Size) -> String {
        match self {
            Source::Trace(file) => file.size().to_owned(),
            Source::Recorded(program) => arguments_name(&program.record.arguments),
            Source::Live(live) => arguments_name(live.arguments()),
            _ => size.to_string(),
        }
    }

    /// Returns whether the execution races ([`Workload::races`]); none where nobody states it, as for a launch file.
    pub(crate) fn races(&self) -> Option<bool> {
        match self {
            Source::BuiltIn(workload) => Some(workload.races()),
            Source::File(_) | Source::Recorded(_) | Source::Live(_) => None,
            Source::Trace(_) => Some(false),
        }
    }

    /// What tells a user's program from others of its name: a hash of its files' contents. Empty for built-in workloads and for
    /// traces, which do not run beside others.
    pub(crate) fn fingerprint(&self) -> String {
        match self {
            Source::BuiltIn(_) | Source::Trace(_) | Source::Recorded(_) | Source::Live(_) => String::new(),
            Source::File(file) => format!("{:016x}", file.fingerprint()),
        }
    }

    /// Returns the files that a run reads; `input` is the real input file of a built-in workload, where there is one.
    pub fn inputs(&self, input: Option<&Path>) -> Vec<PathBuf> {
        match self {
            Source::BuiltIn(workload) => input.map(|file| workload.inputs(file)).unwrap_or_default(),
            Source::File(file) => file.inputs().to_vec(),
            Source::Trace(file) => file.inputs.clone(),
            Source::Recorded(program) => program.file.iter().cloned().collect(),
            Source::Live(_) => Vec::new(),
        }
    }

    /// The files that a run writes.
    pub fn outputs(&self) -> Vec<&Path> {
        match self {
            Source::BuiltIn(_) | Source::Trace(_) | Source::Recorded(_) | Source::Live(_) => Vec::new(),
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
            Source::Trace(_) | Source::Recorded(_) | Source::Live(_) => Err(self.runs_alone()),
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
            Source::Trace(_) | Source::Recorded(_) | Source::Live(_) => Err(self.runs_alone()),
        }
    }

    /// What runs the same way once more: the record of a CUDA program that has run, if there is one.
    pub(crate) fn again(&self) -> Option<Source> {
        let Source::Live(live) = self else { return Some(self.clone()) };
        let record = live.record()?;
        Some(Source::Recorded(Arc::new(RecordedProgram { file: None, record })))
    }

    /// The error that this cannot run beside others.
    fn runs_alone(&self) -> RunError {
        RunError::NoProgram { name: self.name().to_owned() }
    }

    /// What mechanisms can look at.
    pub(crate) fn gives(&self) -> Needs {
        match self {
            Source::BuiltIn(_) | Source::File(_) | Source::Recorded(_) | Source::Live(_) => Needs::Execution,
            Source::Trace(file) if file.has_values() => Needs::Values,
            Source::Trace(_) => Needs::Nothing,
        }
    }
}

/// The arguments of a CUDA program as the size of a run: a dash for none.
fn arguments_name(arguments: &str) -> String {
    if arguments.is_empty() { "-".into() } else { arguments.into() }
}

/// A launch for its values alone: kernel, dimensions and parameters.
pub(crate) type UntimedLaunch = (Arc<Kernel>, LaunchDims, Vec<u8>);

/// What launches kernels: a host program, a trace, or a CUDA program or its record.
pub(crate) enum Program {
    Ptx { module: Module, host: Box<dyn HostProgram> },
    Trace(TraceProgram),
    Recorded(Box<Replay>),
    Live(Box<Session>),
}

impl Program {
    /// What `spec` names, before its first launch.
    pub fn new(spec: &RunSpec) -> Result<Self, RunError> {
        Self::open(&spec.workload, &spec.config, spec.max_memory, spec.size, spec.input.as_deref())
    }

    /// As [`Program::new`], of a workload on a configuration with so much memory.
    pub fn open(
        workload: &Source,
        config: &Arc<GpuConfig>,
        max_memory: u64,
        size: Size,
        input: Option<&Path>,
    ) -> Result<Self, RunError> {
        match workload {
            Source::Trace(file) => return Ok(Program::Trace(TraceProgram::new(file))),
            Source::Recorded(program) => {
                return Ok(Program::Recorded(Box::new(Replay::new(program, config))));
            }
            Source::Live(live) => {
                let session = Session::new(live, config, max_memory).map_err(|e| ended(e, 0))?;
                return Ok(Program::Live(Box::new(session)));
            }
            Source::BuiltIn(_) | Source::File(_) => {}
        }
        let mut module = workload.module()?;
        let host = workload.start(&mut module, config, size, input)?;
        Ok(Program::Ptx { module, host })
    }

    /// Places what a module declares in memory.
    pub fn load(&self, memory: &mut DeviceMemory) -> Result<(), RunError> {
        match self {
            Program::Ptx { module, .. } => Ok(module.load(memory)?),
            Program::Trace(_) | Program::Recorded(_) | Program::Live(_) => Ok(()),
        }
    }

    /// The next launch, at this core cycle; none at the end.
    pub fn next(
        &mut self,
        memory: &mut DeviceMemory,
        config: &GpuConfig,
        cycle: u64,
    ) -> Result<Option<LaunchedKernel>, RunError> {
        match self {
            Program::Ptx { module, host } => {
                let launch = host.next(memory)?;
                launch.map(|launch| prepare(module, &launch, 0, config)).transpose()
            }
            Program::Trace(trace) => trace.next(memory)?.map(|launch| replayed(launch, config)).transpose(),
            Program::Recorded(replay) => Ok(replay.next(memory)?),
            Program::Live(session) => session.next(memory, cycle).map_err(|error| ended(error, cycle)),
        }
    }

    /// Reports to a CUDA program what has ended the run early.
    pub fn fail(&mut self, fault: &RunError) {
        if let Program::Live(session) = self {
            session.fail(match fault {
                RunError::Fault(fault) => fault_code(fault),
                RunError::Kernel(KernelError::Fault(fault)) => fault_code(&SimFault::Kernel(fault.clone())),
                _ => LAUNCH_FAILURE,
            });
        }
    }

    /// The next launch for its values alone: kernel, dimensions and parameters, whatever an SM of the configuration holds.
    pub fn next_untimed(
        &mut self,
        memory: &mut DeviceMemory,
        config: &GpuConfig,
    ) -> Result<Option<UntimedLaunch>, RunError> {
        if let Program::Ptx { module, host } = self {
            let Some(launch) = host.next(memory)? else { return Ok(None) };
            let kernel = kernel_of(module, &launch)?;
            let params = kernel.pack(&launch.args)?;
            return Ok(Some((kernel, launch.dims, params)));
        }
        let launch = self.next(memory, config, 0)?;
        Ok(launch.map(|launch| (launch.kernel, launch.dims, launch.params)))
    }

    /// Checks the results, and returns whether there was anything to check.
    ///
    /// # Errors
    /// What is wrong with the results.
    pub fn verify(
        &mut self,
        memory: &DeviceMemory,
        config: &GpuConfig,
        mechanism: &str,
    ) -> Result<bool, WrongResults> {
        match self {
            Program::Ptx { host, .. } => {
                host.verify(memory)?;
                Ok(host.checks())
            }
            Program::Trace(trace) => Ok(trace.verify(memory, config, mechanism)?),
            Program::Recorded(_) => Ok(false),
            Program::Live(session) => {
                session.finish()?;
                Ok(false)
            }
        }
    }

    /// The files to write at the end.
    pub fn outputs(&self, memory: &DeviceMemory) -> Result<Vec<OutputFile>, RunError> {
        match self {
            Program::Ptx { host, .. } => Ok(host.outputs(memory)?),
            Program::Trace(_) | Program::Recorded(_) | Program::Live(_) => Ok(Vec::new()),
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
    /// The CUDA program itself says that something is wrong.
    #[error(transparent)]
    Program(#[from] BadEnd),
}

/// Why a CUDA program was ended at a core cycle, in the words of a simulation that was.
pub(crate) fn ended(error: SessionError, cycle: u64) -> RunError {
    match error {
        SessionError::Stopped => RunError::Fault(SimFault::Interrupted { cycle }),
        SessionError::TimedOut(timeout) => {
            RunError::Fault(SimFault::Limited { limit: Limit::TimeoutS(timeout.as_secs_f64()), cycle })
        }
        other => RunError::Session(other),
    }
}

/// A recorded launch as the GPU takes it.
fn replayed(launch: Arc<TraceLaunch>, config: &GpuConfig) -> Result<LaunchedKernel, RunError> {
    let kernel = Arc::clone(&launch.kernel);
    let mut launched = LaunchedKernel::new(kernel, launch.dims, Vec::new(), 0, config)?;
    launched.instruction_bytes = launch.instruction_bytes;
    launched.feed = Feed::Replay(launch);
    Ok(launched)
}
