//! Sources of kernels and host programs: a built-in workload, a launch file, a trace, or a CUDA program.
mod replay;

pub use selvedge_cudart::fatbin;
pub use selvedge_cudart::operation::{EXTENSION as RECORDED, ProgramRecord, RecordError};
pub use selvedge_cudart::session::{BadEnd, SessionError, SessionSettings, StartedProgram};

use crate::error::RunError;
use replay::Replay;
use selvedge_cudart::device::fault_code;
use selvedge_cudart::operation::DeviceOperation;
use selvedge_cudart::protocol::error::LAUNCH_FAILURE;
use selvedge_cudart::refusals::Refusals;
use selvedge_cudart::session::{Session, SessionStep};
use selvedge_cudart::streams::LaunchStart;
use selvedge_gpu::bounds::Limit;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Control;
use selvedge_gpu::limits::Limits;
use selvedge_gpu::mechanism::DataNeeds;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::sm::feed::Feed;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_gpu::trace::values::ValueModel;
use selvedge_gpu::trace::{OtherMemory, TraceFile, TraceLaunch, TraceProgram};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{FunctionalError as KernelError, Kernel, LaunchDims, Module, PARAMETER_BUFFER};
use selvedge_workloads::launch_file::LaunchFile;
use selvedge_workloads::workload::{self, HostProgram, Launch, OutputFile, Size, Workload, WorkloadError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Source of the kernels and the host program.
#[derive(Clone)]
pub enum Source {
    /// A built-in workload.
    BuiltIn(&'static dyn Workload),
    /// A launch file from the user.
    File(Arc<LaunchFile>),
    /// A trace file.
    Trace(Arc<TraceFile>),
    /// The recorded operations of a CUDA program; they run without the program.
    Recorded(Arc<RecordedProgram>),
    /// A CUDA program that has been started. It can run only once.
    Live(Arc<StartedProgram>),
}

/// A recorded CUDA program and its file.
pub struct RecordedProgram {
    /// Path of the record; `None` for a record that was not read from a file.
    pub file: Option<PathBuf>,
    /// Recorded operations.
    pub record: ProgramRecord,
}

impl Source {
    /// Returns the source called `name`, within the default limits. A name that ends in `.toml` is a launch file, in `.sprog` a
    /// recorded program. A name with a trace's extension is a trace; any other is a built-in workload.
    ///
    /// # Errors
    /// The errors of [`Source::find_within`].
    pub fn find(name: &str) -> Result<Self, RunError> {
        Self::find_within(name, &Limits::default())
    }

    /// Returns the source called `name`, like [`Source::find`], within these limits.
    ///
    /// # Errors
    /// An unknown workload, a mistake in the file, or a file that exceeds the limits; each in one line.
    pub fn find_within(name: &str, limits: &Limits) -> Result<Self, RunError> {
        if name.ends_with(".toml") {
            return Ok(Source::File(Arc::new(LaunchFile::load(Path::new(name), limits)?)));
        }
        if name.ends_with(RECORDED) {
            let record = ProgramRecord::read(Path::new(name), limits.memory)?;
            return Ok(Source::Recorded(Arc::new(RecordedProgram { file: Some(name.into()), record })));
        }
        if TraceFile::is_one(name) {
            return Ok(Source::Trace(Arc::new(TraceFile::load(Path::new(name), limits)?)));
        }
        if let Some(instead) = instead_of(name) {
            return Err(RunError::SourceCode { name: name.into(), instead });
        }
        Ok(Source::BuiltIn(workload::find(name)?))
    }

    /// Returns the source with a model of the values in memory, if one is given.
    ///
    /// # Errors
    /// The source has values.
    pub fn with_values(self, values: Option<&Arc<ValueModel>>) -> Result<Self, RunError> {
        let Some(values) = values else { return Ok(self) };
        let with_model = match &self {
            Source::Trace(file) => file.with_values(values),
            _ => None,
        };
        match with_model {
            Some(file) => Ok(Source::Trace(Arc::new(file))),
            None => Err(RunError::HasValues { name: self.name().into(), values: values.name.clone() }),
        }
    }

    /// Returns the model of the values in memory, if the source has one.
    pub fn values(&self) -> Option<&ValueModel> {
        match self {
            Source::Trace(file) => file.values.as_deref(),
            _ => None,
        }
    }

    /// Returns the name for reports.
    pub fn name(&self) -> &str {
        match self {
            Source::BuiltIn(workload) => workload.name(),
            Source::File(file) => &file.name,
            Source::Trace(file) => &file.name,
            Source::Recorded(program) => &program.record.name,
            Source::Live(live) => live.name(),
        }
    }

    /// Returns the size for reports: the size of the run, the size stated in a trace, or the arguments of a CUDA program.
    pub(crate) fn size_name(&self, size: Size) -> String {
        match self {
            Source::Trace(file) => file.size().to_owned(),
            Source::Recorded(program) => arguments_name(&program.record.arguments),
            Source::Live(live) => arguments_name(live.arguments()),
            _ => size.to_string(),
        }
    }

    /// Returns the number of launches, or `None` if only a run shows it.
    pub(crate) fn launches(&self) -> Option<u64> {
        let is_launch = |operation: &&DeviceOperation| operation.is_launch();
        let kernels_may_launch = |operation: &DeviceOperation| match operation {
            DeviceOperation::Module { text } => text.contains(PARAMETER_BUFFER),
            _ => false,
        };
        match self {
            Source::BuiltIn(_) | Source::File(_) | Source::Live(_) => None,
            Source::Trace(file) => Some(file.launches() as u64),
            Source::Recorded(program) => {
                let operations = &program.record.operations;
                (!operations.iter().any(kernels_may_launch))
                    .then(|| operations.iter().filter(is_launch).count() as u64)
            }
        }
    }

    /// Returns whether the execution races ([`Workload::races`]), or `None` if that is unknown, as for a launch file.
    pub(crate) fn races(&self) -> Option<bool> {
        match self {
            Source::BuiltIn(workload) => Some(workload.races()),
            Source::File(_) | Source::Recorded(_) | Source::Live(_) => None,
            Source::Trace(_) => Some(false),
        }
    }

    /// Returns a hash of the contents of a launch file, which distinguishes it from others of the same name. Empty for other
    /// sources.
    pub(crate) fn fingerprint(&self) -> String {
        match self {
            Source::BuiltIn(_) | Source::Trace(_) | Source::Recorded(_) | Source::Live(_) => String::new(),
            Source::File(file) => format!("{:016x}", file.fingerprint()),
        }
    }

    /// Returns the files that a run reads. `input` is the input file that replaces the input of a built-in workload.
    pub fn inputs(&self, input: Option<&Path>) -> Vec<PathBuf> {
        match self {
            Source::BuiltIn(workload) => input.map(|file| workload.inputs(file)).unwrap_or_default(),
            Source::File(file) => file.inputs().to_vec(),
            Source::Trace(file) => file.inputs.clone(),
            Source::Recorded(program) => program.file.iter().cloned().collect(),
            Source::Live(_) => Vec::new(),
        }
    }

    /// Returns the files that a run writes.
    pub fn outputs(&self) -> Vec<&Path> {
        match self {
            Source::BuiltIn(_) | Source::Trace(_) | Source::Recorded(_) | Source::Live(_) => Vec::new(),
            Source::File(file) => file.outputs().map(PathBuf::as_path).collect(),
        }
    }

    pub(crate) fn module(&self) -> Result<Module, RunError> {
        match self {
            Source::BuiltIn(workload) => Ok(workload.module()?),
            Source::File(file) => Ok(file.module()?),
            Source::Trace(_) | Source::Recorded(_) | Source::Live(_) => Err(self.runs_alone()),
        }
    }

    /// Starts the host program. For a launch file, checks it against `module` and the configuration, and sets its constants in
    /// `module`.
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

    /// Returns the error for a source that cannot share the GPU with other programs.
    fn runs_alone(&self) -> RunError {
        RunError::NoProgram { name: self.name().to_owned() }
    }

    /// Returns the data that mechanisms can read from this source.
    pub(crate) fn gives(&self) -> DataNeeds {
        match self {
            Source::BuiltIn(_) | Source::File(_) | Source::Recorded(_) | Source::Live(_) => {
                DataNeeds::Execution
            }
            Source::Trace(file) if file.has_values() => DataNeeds::Values,
            Source::Trace(_) => DataNeeds::Nothing,
        }
    }
}

/// Returns the arguments of a CUDA program, or a dash if there are none. Reports show them as the size.
fn arguments_name(arguments: &str) -> String {
    if arguments.is_empty() { "-".into() } else { arguments.into() }
}

/// Kernel, dimensions and parameters of a launch without timing.
pub(crate) type UntimedLaunch = (Arc<Kernel>, LaunchDims, Vec<u8>);

/// Source of launches: a host program, a trace, a CUDA program or its record.
pub(crate) enum LaunchProgram {
    Ptx { module: Module, host: Box<dyn HostProgram> },
    Trace(TraceProgram),
    Recorded(Box<Replay>),
    Live(Box<Session>),
}

impl LaunchProgram {
    /// Opens a workload before its first launch, with at most `max_memory` bytes of device memory. `control` can end it
    /// between launches.
    pub fn open(
        workload: &Source,
        config: &Arc<GpuConfig>,
        max_memory: u64,
        size: Size,
        input: Option<&Path>,
        control: &Control,
    ) -> Result<Self, RunError> {
        match workload {
            Source::Trace(file) => return Ok(LaunchProgram::Trace(TraceProgram::new(file))),
            Source::Recorded(program) => {
                return Ok(LaunchProgram::Recorded(Box::new(Replay::new(program, config, control.watch()))));
            }
            Source::Live(live) => {
                let session = Session::new(live, config, max_memory).map_err(|e| ended(e, 0))?;
                return Ok(LaunchProgram::Live(Box::new(session)));
            }
            Source::BuiltIn(_) | Source::File(_) => {}
        }
        let mut module = workload.module()?;
        let host = workload.start(&mut module, config, size, input)?;
        Ok(LaunchProgram::Ptx { module, host })
    }

    /// Allocates and initializes the variables of the module in memory, or gives memory the values of a trace's model.
    pub fn load(&self, memory: &mut DeviceMemory) -> Result<(), RunError> {
        match self {
            LaunchProgram::Ptx { module, .. } => Ok(module.load(memory)?),
            LaunchProgram::Trace(trace) => {
                trace.load(memory);
                Ok(())
            }
            LaunchProgram::Recorded(_) | LaunchProgram::Live(_) => Ok(()),
        }
    }

    /// Returns the next launch after the end of all others, or `None` at the end. `now` returns the current core cycle.
    pub fn next(
        &mut self,
        memory: &mut DeviceMemory,
        config: &GpuConfig,
        now: &mut dyn FnMut() -> u64,
    ) -> Result<Option<LaunchedKernel>, RunError> {
        match self {
            LaunchProgram::Ptx { module, host } => {
                let launch = host.next(memory)?;
                launch.map(|launch| prepare(module, &launch, 0, config)).transpose()
            }
            LaunchProgram::Trace(trace) => {
                trace.next(memory)?.map(|launch| replayed(launch, config)).transpose()
            }
            LaunchProgram::Recorded(replay) => replay.next(memory, now),
            LaunchProgram::Live(session) => session.next(memory, now).map_err(|error| ended(error, now())),
        }
    }

    /// Returns a launch that starts while others are in flight, if there is one. `now` returns the current core cycle.
    pub fn beside(
        &mut self,
        start: LaunchStart,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> u64,
    ) -> Result<Option<LaunchedKernel>, RunError> {
        match self {
            LaunchProgram::Ptx { .. } | LaunchProgram::Trace(_) => Ok(None),
            LaunchProgram::Recorded(replay) => replay.beside(start, memory, now),
            LaunchProgram::Live(session) => match session.beside(start, memory, now) {
                Ok(SessionStep::Launch(launch)) => Ok(Some(*launch)),
                Ok(SessionStep::Await | SessionStep::End) => Ok(None),
                Err(error) => Err(ended(error, now())),
            },
        }
    }

    /// Returns whether launches of different streams could run at the same time so far.
    pub fn overlaps(&self) -> bool {
        match self {
            LaunchProgram::Ptx { .. } | LaunchProgram::Trace(_) => false,
            LaunchProgram::Recorded(replay) => replay.overlaps(),
            LaunchProgram::Live(session) => session.overlaps(),
        }
    }

    /// Returns whether kernels have launched kernels so far.
    pub fn has_family(&self) -> bool {
        match self {
            LaunchProgram::Ptx { .. } | LaunchProgram::Trace(_) => false,
            LaunchProgram::Recorded(replay) => replay.has_family(),
            LaunchProgram::Live(session) => session.has_family(),
        }
    }

    /// Ends a launch in flight by its kernel slot.
    pub fn end(&mut self, slot: u8, memory: &mut DeviceMemory) {
        match self {
            LaunchProgram::Ptx { .. } | LaunchProgram::Trace(_) => {}
            LaunchProgram::Recorded(replay) => replay.end(slot, memory),
            LaunchProgram::Live(session) => session.end(slot, memory),
        }
    }

    /// Waits for the end of a CUDA program that launches no more kernels.
    ///
    /// # Errors
    /// A signal or the timeout ended the program, at this core cycle.
    pub fn finish(&mut self, cycle: u64) -> Result<(), RunError> {
        match self {
            LaunchProgram::Live(session) => session.finish().map_err(|error| ended(error, cycle)),
            _ => Ok(()),
        }
    }

    /// Returns the refused work of a CUDA program.
    pub fn refusals(&self) -> Option<&Refusals> {
        let refusals = match self {
            LaunchProgram::Ptx { .. } | LaunchProgram::Trace(_) => return None,
            LaunchProgram::Recorded(replay) => replay.refusals(),
            LaunchProgram::Live(session) => session.refusals(),
        };
        (refusals.total() > 0).then_some(refusals)
    }

    /// Reports the reason for the early end of the run to a CUDA program.
    pub fn fail(&mut self, fault: &RunError) {
        if let LaunchProgram::Live(session) = self {
            session.fail(match fault {
                RunError::Fault(fault) => fault_code(fault),
                RunError::Kernel(KernelError::Fault(fault)) => fault_code(&SimFault::Kernel(fault.clone())),
                _ => LAUNCH_FAILURE,
            });
        }
    }

    /// Returns the next launch for a run without timing. The limits of an SM do not apply to built-in workloads and launch files.
    pub(crate) fn next_untimed(
        &mut self,
        memory: &mut DeviceMemory,
        config: &GpuConfig,
    ) -> Result<Option<UntimedLaunch>, RunError> {
        if let LaunchProgram::Ptx { module, host } = self {
            let Some(launch) = host.next(memory)? else { return Ok(None) };
            let kernel = kernel_of(module, &launch)?;
            let params = kernel.pack(&launch.args)?;
            return Ok(Some((kernel, launch.dims, params)));
        }
        let launch = self.next(memory, config, &mut || 0)?;
        Ok(launch.map(|launch| (launch.kernel, launch.dims, launch.params)))
    }

    /// Checks the results. Returns `false` if the source has no check.
    ///
    /// # Errors
    /// The difference between the results and the expected ones.
    pub fn verify(
        &mut self,
        memory: &DeviceMemory,
        config: &GpuConfig,
        mechanism: &str,
    ) -> Result<bool, WrongResults> {
        match self {
            LaunchProgram::Ptx { host, .. } => {
                host.verify(memory)?;
                Ok(host.checks())
            }
            LaunchProgram::Trace(trace) => Ok(trace.verify(memory, config, mechanism)?),
            LaunchProgram::Recorded(_) => Ok(false),
            LaunchProgram::Live(session) => {
                session.verdict()?;
                Ok(false)
            }
        }
    }

    /// Returns the files to write at the end.
    pub fn outputs(&self, memory: &DeviceMemory) -> Result<Vec<OutputFile>, RunError> {
        match self {
            LaunchProgram::Ptx { host, .. } => Ok(host.outputs(memory)?),
            LaunchProgram::Trace(_) | LaunchProgram::Recorded(_) | LaunchProgram::Live(_) => Ok(Vec::new()),
        }
    }
}

/// Results that differ from the check of the workload or from the recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WrongResults {
    /// The results on the device differ from the host program's reference.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The memory at the end differs from the recorded one.
    #[error(transparent)]
    Replay(#[from] OtherMemory),
    /// The CUDA program ended with an error.
    #[error(transparent)]
    Program(#[from] BadEnd),
}

/// Converts the end of a CUDA program, at a core cycle, to the error of a run that ended for the same reason.
pub(crate) fn ended(error: SessionError, cycle: u64) -> RunError {
    match error {
        SessionError::Stopped => RunError::Fault(SimFault::Interrupted { cycle }),
        SessionError::TimedOut(timeout) => {
            RunError::Fault(SimFault::Limited { limit: Limit::TimeoutS(timeout.as_secs_f64()), cycle })
        }
        other => RunError::Session(other),
    }
}

/// Converts a recorded launch to a launch for the GPU.
fn replayed(launch: Arc<TraceLaunch>, config: &GpuConfig) -> Result<LaunchedKernel, RunError> {
    let kernel = Arc::clone(&launch.kernel);
    let mut launched = LaunchedKernel::new(kernel, launch.dims, Vec::new(), 0, config)?;
    launched.instruction_bytes = launch.instruction_bytes;
    launched.feed = Feed::Replay(launch);
    Ok(launched)
}

/// Packs the arguments of a launch for its kernel, in a kernel slot.
pub(crate) fn prepare(
    module: &Module,
    launch: &Launch,
    slot: u8,
    config: &GpuConfig,
) -> Result<LaunchedKernel, RunError> {
    let kernel = kernel_of(module, launch)?;
    let params = kernel.pack(&launch.args)?;
    Ok(LaunchedKernel::new(kernel, launch.dims, params, slot, config)?)
}

/// Returns the kernel that a launch names.
pub(crate) fn kernel_of(module: &Module, launch: &Launch) -> Result<Arc<Kernel>, RunError> {
    module.kernel(&launch.kernel).ok_or_else(|| RunError::NoKernel {
        name: launch.kernel.clone(),
        allowed: module.kernels().iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}

/// Returns the command for a file of CUDA or PTX, which is no workload.
fn instead_of(name: &str) -> Option<String> {
    let end = Path::new(name).extension()?.to_str()?;
    let (option, program) = match end {
        "ptx" => ("ptx", ""),
        "cu" => ("cuda", ", `selvedge cuda -- PROGRAM` runs a compiled CUDA program"),
        _ => return None,
    };
    let file = Path::new(name).with_extension("toml");
    Some(format!(
        "`selvedge new --{option} {name} -o {}` writes a launch file for its kernels{program}",
        file.display()
    ))
}
