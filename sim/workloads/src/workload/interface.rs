//! Interface of a workload: its description, its host program and its launches.
use super::error::WorkloadError;
use super::group::Group;
use super::registers;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Arg, LaunchDims, Module, PtxError};
use std::path::{Path, PathBuf};
use strum::{Display, EnumString, VariantNames};

/// Size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = WorkloadError, parse_err_fn = unknown_size)]
pub enum Size {
    /// For tests: at most 100,000 warp instructions.
    Tiny,
    /// For a quick look: at most 1.5 million warp instructions.
    Small,
    /// For comparisons: the papers' access pattern with a footprint above the L2's size, in less than 3 million
    /// cycles.
    Study,
    /// For reproduction: the size that the papers ran.
    Paper,
}

impl Size {
    /// Every size, in ascending order.
    pub const ALL: [Self; 4] = [Self::Tiny, Self::Small, Self::Study, Self::Paper];
}

fn unknown_size(name: &str) -> WorkloadError {
    WorkloadError::UnknownSize { name: name.to_owned() }
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Name of the kernel, as its `.entry` in the PTX.
    pub kernel: String,
    /// CTAs, threads per CTA, and dynamic shared memory.
    pub dims: LaunchDims,
    /// Arguments, in the order of the kernel's parameters.
    pub args: Vec<Arg>,
}

/// The host side of a running workload. It is a state machine, so that several can run concurrently.
pub trait HostProgram {
    /// Returns the next launch, or `None` when the program has finished, and on every further call. Must be called at
    /// the start, and again after each returned launch has completed.
    ///
    /// # Errors
    /// [`WorkloadError::Memory`] if device memory is too small for the buffers.
    fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Launch>, WorkloadError>;

    /// Compares the device's results with the CPU reference, which it recomputes from the inputs.
    ///
    /// # Errors
    /// [`WorkloadError::Mismatch`] for the first difference; [`WorkloadError::Unfinished`] before [`HostProgram::next`] has
    /// returned `None`.
    fn verify(&self, memory: &DeviceMemory) -> Result<(), WorkloadError>;

    /// Returns whether [`HostProgram::verify`] has expected results to compare with.
    fn checks(&self) -> bool {
        true
    }

    /// Returns the files to write after [`HostProgram::next`] has returned `None`.
    ///
    /// # Errors
    /// [`WorkloadError::Memory`] if their contents are not in device memory.
    fn outputs(&self, _memory: &DeviceMemory) -> Result<Vec<OutputFile>, WorkloadError> {
        Ok(Vec::new())
    }
}

/// A file that the host program writes at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents of the file.
    pub bytes: Vec<u8>,
}

/// Workloads with races: their threads relax, claim or insert items concurrently.
pub(super) const RACING: [&str; 6] = ["betweenness", "bfs_worklist", "mis", "mst", "sssp", "word_count"];

/// A kernel that the papers ran, with everything needed to run it.
pub trait Workload: Sync {
    /// Returns the name, as users type it.
    fn name(&self) -> &'static str;

    /// Returns a description of the computation in one line.
    fn summary(&self) -> &'static str;

    /// Returns the papers that ran this algorithm, with their name for it, in one line.
    fn papers(&self) -> &'static str;

    /// Returns the kind of program.
    fn group(&self) -> Group;

    /// Returns the name and text of the PTX file.
    fn ptx(&self) -> (&'static str, &'static str);

    /// Returns the decoded PTX. Its kernels have the registers that NVIDIA's assembler allocates.
    ///
    /// # Errors
    /// [`PtxError`] if the PTX is invalid.
    fn module(&self) -> Result<Module, PtxError> {
        let (file, text) = self.ptx();
        let mut module = Module::parse(file, text)?;
        for (kernel, registers) in registers::of(file) {
            module.set_registers(kernel, registers);
        }
        Ok(module)
    }

    /// Returns the problem dimensions and bytes of device memory at `size`, in one line.
    fn description(&self, size: Size) -> String;

    /// Returns the kind of input file that can replace the generated input.
    fn input(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether the execution races. A thread's reads then depend on the order of other threads' writes, which
    /// every mechanism changes. Instruction counts differ slightly between mechanisms; results do not.
    fn races(&self) -> bool {
        RACING.contains(&self.name())
    }

    /// Returns the files that are read for `input`: the file and its companion, if any.
    fn inputs(&self, input: &Path) -> Vec<PathBuf> {
        vec![input.to_path_buf()]
    }

    /// Returns a host program at its start. `input` is a file in the format of the real benchmark that replaces the
    /// generated input. `size` then only sets values that the file leaves open, such as the number of time steps.
    ///
    /// # Errors
    /// [`WorkloadError::NoInput`] if the workload reads no file; [`WorkloadError::Unreadable`] or
    /// [`WorkloadError::BadInput`] if the file is unreadable or malformed.
    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError>;
}
