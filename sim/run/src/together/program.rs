//! A program beside others: its host side, started again at each end.
use super::TogetherSpec;
use super::report::Verdict;
use crate::run::{RunError, Source, prepare};
use selvedge_gpu::gpu::Gpu;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::Module;
use selvedge_workloads::workload::{HostProgram, OutputFile};

/// A program.
pub(super) struct Program {
    slot: u8,
    source: Source,
    module: Module,
    host: Box<dyn HostProgram>,
    /// Name of the workload.
    pub(super) name: String,
    /// Times that it came to its end.
    pub(super) ends: u64,
    /// Launches, those of all starts.
    pub(super) launches: u64,
    /// The first difference between an end's results and the CPU reference.
    mismatch: Option<String>,
    outputs: Vec<OutputFile>,
}

impl Program {
    /// The program of kernel slot `slot`, with its module in its address space.
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
        Ok(Program {
            slot,
            source,
            module,
            host,
            name,
            ends: 0,
            launches: 0,
            mismatch: None,
            outputs: vec![],
        })
    }

    /// The first launch since the start.
    pub(super) fn launch_first(&mut self, gpu: &mut Gpu, memory: &mut DeviceMemory) -> Result<(), RunError> {
        if self.launch_next(gpu, memory)? {
            return Ok(());
        }
        // It would start again for ever without a cycle passing.
        Err(RunError::NoLaunch { name: self.name.clone() })
    }

    /// The launch that follows on the one that has ended; false when that was the last, and the results are verified.
    pub(super) fn launch_next(&mut self, gpu: &mut Gpu, memory: &mut DeviceMemory) -> Result<bool, RunError> {
        memory.select(self.slot);
        if let Some(launch) = self.host.next(memory)? {
            gpu.start(prepare(&self.module, &launch, self.slot, gpu.config())?);
            self.launches += 1;
            return Ok(true);
        }
        if self.ends == 0 {
            self.outputs = self.host.outputs(memory)?;
        }
        self.ends += 1;
        if let (Err(difference), None) = (self.host.verify(memory), &self.mismatch) {
            self.mismatch = Some(difference.to_string());
        }
        Ok(false)
    }

    /// Begins again, in an empty address space.
    pub(super) fn restart(
        &mut self,
        spec: &TogetherSpec,
        gpu: &mut Gpu,
        memory: &mut DeviceMemory,
    ) -> Result<(), RunError> {
        self.host = self.source.start(&mut self.module, &spec.config, spec.size, None)?;
        memory.select(self.slot);
        memory.clear();
        self.module.load(memory)?;
        self.launch_first(gpu, memory)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ends > 0
    }

    pub(super) fn verdict(&self) -> Verdict {
        match (&self.mismatch, self.ends) {
            (Some(_), _) => Verdict::Fail,
            (None, 0) => Verdict::Unfinished,
            (None, _) if self.host.checks() => Verdict::Pass,
            (None, _) => Verdict::Unchecked,
        }
    }

    /// What is wrong with the results.
    pub(super) fn error(&self) -> Option<String> {
        self.mismatch.as_ref().map(|difference| format!("{}: {difference}", self.name))
    }

    pub(super) fn take_outputs(&mut self) -> Vec<OutputFile> {
        std::mem::take(&mut self.outputs)
    }
}
