//! Host side of a program that shares the GPU. The program starts again after each end.
use super::report::Verdict;
use super::spec::TogetherSpec;
use crate::checkpoint::Journal;
use crate::error::RunError;
use crate::source::{Source, prepare};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Gpu;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::Module;
use selvedge_state::State;
use selvedge_workloads::workload::{HostProgram, OutputFile};
use std::path::PathBuf;

pub(super) struct SharedProgram {
    slot: u8,
    source: Source,
    module: Module,
    host: Box<dyn HostProgram>,
    pub(super) name: String,
    pub(super) record: ProgramProgress,
    /// Data that the host side has read since its last start; present if the run writes checkpoints.
    pub(super) journal: Option<Journal>,
}

/// Progress and results of a program.
#[derive(Default, State)]
pub(super) struct ProgramProgress {
    /// Number of times that the program has ended.
    pub ends: u64,
    /// Number of launches, over all starts.
    pub launches: u64,
    /// First difference between the results at an end and the CPU reference.
    mismatch: Option<String>,
    /// Path and contents of the files that the program wrote at its first end.
    outputs: Vec<(String, Vec<u8>)>,
}

impl SharedProgram {
    /// Creates the program of kernel slot `slot`, and loads its module into its address space.
    pub(super) fn new(
        slot: u8,
        source: &Source,
        spec: &TogetherSpec,
        memory: &mut DeviceMemory,
    ) -> Result<Self, RunError> {
        let mut module = source.module()?;
        let host = source.start(&mut module, &spec.config, spec.size, None)?;
        memory.select(slot);
        module.load(memory)?;
        let name = source.name().to_owned();
        let source = source.clone();
        Ok(SharedProgram {
            slot,
            source,
            module,
            host,
            name,
            record: ProgramProgress::default(),
            journal: None,
        })
    }

    /// Starts the first launch after a start or restart.
    pub(super) fn launch_first(&mut self, gpu: &mut Gpu, memory: &mut DeviceMemory) -> Result<(), RunError> {
        if self.launch_next(gpu, memory)? {
            return Ok(());
        }
        // A program without launches would restart forever, without any cycle.
        Err(RunError::NoLaunch { name: self.name.clone() })
    }

    /// Starts the launch that follows the ended one. After the last one, verifies the results and returns `false`.
    pub(super) fn launch_next(&mut self, gpu: &mut Gpu, memory: &mut DeviceMemory) -> Result<bool, RunError> {
        memory.select(self.slot);
        let mut next = |memory: &mut DeviceMemory| self.host.next(memory);
        let launch = match &mut self.journal {
            Some(journal) => journal.note(memory, next)?,
            None => next(memory)?,
        };
        if let Some(launch) = launch {
            let launch = prepare(&self.module, &launch, self.slot, gpu.config())?;
            gpu.check_room(&launch, memory)?;
            gpu.take_copies(memory);
            gpu.start(launch);
            self.record.launches += 1;
            return Ok(true);
        }
        if self.record.ends == 0 {
            let outputs = self.host.outputs(memory)?.into_iter();
            self.record.outputs =
                outputs.map(|file| (file.path.to_string_lossy().into_owned(), file.bytes)).collect();
        }
        self.record.ends += 1;
        if let (Err(difference), None) = (self.host.verify(memory), &self.record.mismatch) {
            self.record.mismatch = Some(difference.to_string());
        }
        Ok(false)
    }

    /// Replays the calls of the host side since its last start. Returns the current launch.
    pub(super) fn replay(
        &mut self,
        journal: Journal,
        config: &GpuConfig,
        memory: &mut DeviceMemory,
    ) -> Result<Option<LaunchedKernel>, RunError> {
        memory.select(self.slot);
        let launch = journal.replay(memory, |memory| self.host.next(memory))?.flatten();
        self.journal = Some(journal);
        launch.map(|launch| prepare(&self.module, &launch, self.slot, config)).transpose()
    }

    /// Restarts the program in an empty address space.
    pub(super) fn restart(
        &mut self,
        spec: &TogetherSpec,
        gpu: &mut Gpu,
        memory: &mut DeviceMemory,
    ) -> Result<(), RunError> {
        self.host = self.source.start(&mut self.module, &spec.config, spec.size, None)?;
        self.journal.iter_mut().for_each(Journal::clear);
        memory.select(self.slot);
        memory.clear();
        self.module.load(memory)?;
        self.launch_first(gpu, memory)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.record.ends > 0
    }

    pub(super) fn verdict(&self) -> Verdict {
        match (&self.record.mismatch, self.record.ends) {
            (Some(_), _) => Verdict::Fail,
            (None, 0) => Verdict::Unfinished,
            (None, _) if self.host.checks() => Verdict::Pass,
            (None, _) => Verdict::Unchecked,
        }
    }

    /// Returns the first difference in the results, if any.
    pub(super) fn error(&self) -> Option<String> {
        self.record.mismatch.as_ref().map(|difference| format!("{}: {difference}", self.name))
    }

    pub(super) fn take_outputs(&mut self) -> Vec<OutputFile> {
        let outputs = std::mem::take(&mut self.record.outputs).into_iter();
        outputs.map(|(path, bytes)| OutputFile { path: PathBuf::from(path), bytes }).collect()
    }
}
