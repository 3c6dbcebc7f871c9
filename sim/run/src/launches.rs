//! The launches of a run, one after the other, with checkpoints between two of their cycles.
use crate::best::Choice;
use crate::checkpoint::{Checkpoint, Journal, Place};
use crate::report::KernelReport;
use crate::run::RunError;
use crate::source::Program;
use crate::statistic::{check_bursts, check_conservation};
use selvedge_gpu::gpu::Gpu;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::sm::feed::Feed;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_gpu::snapshot::Snapshot;
use selvedge_gpu::trace::strace::Recording;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::LaunchDims;
use selvedge_state::{State, Writer};

/// What a run that goes on needs before it can load its state.
pub(crate) struct Beginning {
    /// What the trials of its mechanism have found.
    pub choice: Option<Choice>,
    /// What its host program has read.
    pub journal: Journal,
}

/// What the launches have left so far.
#[derive(Default, State)]
pub(crate) struct Done {
    /// The launches that have ended.
    pub kernels: Vec<KernelReport>,
    /// The counters at the beginning of the current launch.
    before: Snapshot,
}

/// The current launch: its kernel's name and its dimensions.
pub(crate) type UnderWay = (String, LaunchDims);

/// A host program, the GPU that runs its launches, and what came of them.
pub(crate) struct Launches {
    pub beginning: Beginning,
    pub program: Program,
    pub gpu: Gpu,
    pub memory: DeviceMemory,
    pub recording: Option<Recording>,
    pub done: Done,
}

impl Launches {
    /// Goes to where the checkpoint was written; returns the current launch. Nothing must have run yet.
    pub fn resume(&mut self, mut checkpoint: Checkpoint) -> Result<UnderWay, RunError> {
        self.beginning.journal = checkpoint.value()?;
        let (program, config) = (&mut self.program, self.gpu.config());
        let replayed: Option<Option<LaunchedKernel>> =
            self.beginning.journal.replay(&mut self.memory, |memory| program.next(memory, config, 0))?;
        let launch = replayed.flatten().ok_or_else(|| checkpoint.without("a launch"))?;
        let under_way = (launch.kernel.name.clone(), launch.dims);
        checkpoint.load(|from| {
            self.memory.load(from)?;
            self.gpu.resume(vec![launch], from)?;
            self.done.load(from)
        })?;
        Ok(under_way)
    }

    /// Lets the host program launch its kernels, after the end of the current launch, if there is one.
    pub fn run(&mut self, resumed: Option<UnderWay>, mut place: Option<&mut Place>) -> Result<(), RunError> {
        let mut under_way = resumed;
        loop {
            let Some(current) =
                under_way.take().map_or_else(|| self.launch(place.is_some()), |one| Ok(Some(one)))?
            else {
                return Ok(());
            };
            match &mut place {
                Some(place) => self.run_with_checkpoints(place)?,
                None => self.gpu.run_until(u64::MAX, &mut self.memory).map(|_| ())?,
            }
            self.end(current)?;
        }
    }

    /// Starts the next launch, if there is one.
    pub fn launch(&mut self, keeps_journal: bool) -> Result<Option<UnderWay>, RunError> {
        let (program, config) = (&mut self.program, self.gpu.config());
        let cycle = self.gpu.cycle();
        let mut next = |memory: &mut DeviceMemory| program.next(memory, config, cycle);
        let launch = match keeps_journal {
            true => self.beginning.journal.note(&mut self.memory, &mut next)?,
            false => next(&mut self.memory)?,
        };
        let Some(mut launch) = launch else { return Ok(None) };
        self.done.before = self.gpu.snapshot();
        let under_way = (launch.kernel.name.clone(), launch.dims);
        if let Some(recording) = &mut self.recording {
            launch.feed = Feed::Record(recording.begin(&launch.kernel, launch.dims, &mut self.memory));
        }
        self.gpu.start(launch);
        Ok(Some(under_way))
    }

    /// Runs the current launch to its end. What stops it early leaves a checkpoint, too, unless it is a fault.
    fn run_with_checkpoints(&mut self, place: &mut Place) -> Result<(), RunError> {
        loop {
            match self.gpu.run_until(place.next, &mut self.memory) {
                Ok(true) => return Ok(()),
                Ok(false) => self.write(place)?,
                Err(stop @ (SimFault::Interrupted { .. } | SimFault::Limited { .. })) => {
                    self.write(place)?;
                    return Err(stop.into());
                }
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    fn write(&self, place: &mut Place) -> Result<(), RunError> {
        let save = |to: &mut Writer| {
            self.beginning.choice.save(to);
            self.beginning.journal.save(to);
            self.memory.save(to);
            self.gpu.save(to);
            self.done.save(to);
        };
        Ok(place.write(self.gpu.cycle(), save)?)
    }

    /// Checks what the launch has left, and notes its counters.
    pub fn end(&mut self, (name, dims): UnderWay) -> Result<(), RunError> {
        if let Some(recording) = &mut self.recording {
            recording.end();
        }
        if let Some(violation) = self.gpu.system().dram_violation() {
            return Err(RunError::DramTiming(violation));
        }
        if let Some(wrong) = self.gpu.witness().wrong() {
            return Err(RunError::Unseen(wrong));
        }
        let so_far = self.gpu.snapshot();
        let schedulers = u64::from(self.gpu.config().sm.count * self.gpu.config().sm.schedulers);
        check_conservation(&so_far, schedulers).map_err(RunError::Conservation)?;
        check_bursts(&so_far).map_err(RunError::Conservation)?;
        let share = &so_far - &self.done.before;
        self.done.kernels.push(KernelReport {
            name,
            grid: dims.grid,
            block: dims.block,
            totals: share.clone().into(),
            share,
            so_far,
        });
        Ok(())
    }
}
