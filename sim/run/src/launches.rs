//! Runs the launches of a host program, and writes checkpoints between cycles. Launches of different streams of a CUDA program run at
//! the same time.
use crate::checkpoint::{Checkpoint, CheckpointSchedule, Journal};
use crate::conservation::{check_bursts, check_conservation};
use crate::error::RunError;
use crate::launch_range::LaunchRange;
use crate::report::{KernelReport, OverlappingLaunch};
use crate::source::LaunchProgram;
use selvedge_cudart::streams::LaunchStart;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Gpu;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::sm::feed::Feed;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_gpu::snapshot::Snapshot;
use selvedge_gpu::stats::SlotWork;
use selvedge_gpu::trace::strace::TraceRecording;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::LaunchDims;
use selvedge_state::{State, Writer};
use std::sync::Arc;

/// Best choice of the trials, and the counters for the report.
pub(crate) type BestChoice = (Vec<u32>, MechanismCounters);

/// Data that a resumed run needs before it loads the rest of its state.
pub(crate) struct Beginning {
    /// Choice of the search of the mechanism, and its counters, if the mechanism searches.
    pub choice: Option<BestChoice>,
    /// Data that the host program has read from device memory.
    pub journal: Journal,
}

/// Results of the launches so far.
#[derive(Default, State)]
pub(crate) struct LaunchResults {
    pub kernels: Vec<KernelReport>,
    /// Counters at the start of the current launch.
    before: Snapshot,
}

/// Data of the current launch for its report.
#[derive(Clone)]
pub(crate) struct CurrentLaunch {
    name: String,
    dims: LaunchDims,
    registers: u32,
    shared_bytes: u32,
    ctas_per_sm: u32,
    /// Launches that have started since the GPU was last idle, if there are several. The first is this one.
    overlapping: Vec<OverlappingLaunch>,
}

impl CurrentLaunch {
    pub fn of(launch: &LaunchedKernel, config: &GpuConfig) -> Self {
        CurrentLaunch {
            name: launch.kernel.name.clone(),
            dims: launch.dims,
            registers: launch.registers_per_cta / (launch.warps_per_cta * 32),
            shared_bytes: launch.shared_bytes,
            ctas_per_sm: launch.most_ctas(&config.sm),
            overlapping: Vec::new(),
        }
    }

    /// Returns the report of the launch: its counters, and the counters from the beginning of the run to its end.
    pub fn report(self, share: Snapshot, so_far: Snapshot) -> KernelReport {
        KernelReport {
            name: self.name,
            grid: self.dims.grid,
            block: self.dims.block,
            registers: self.registers,
            shared_bytes: self.shared_bytes,
            ctas_per_sm: self.ctas_per_sm,
            overlapping: self.overlapping,
            totals: share.clone().into(),
            share,
            so_far,
        }
    }
}

/// A launch in flight, with the state of the GPU at its start.
struct LaunchInFlight {
    slot: u8,
    /// Report of the launch, without its end.
    report: OverlappingLaunch,
    before: SlotWork,
}

impl LaunchInFlight {
    /// Returns a launch that starts now.
    fn new(launch: &LaunchedKernel, gpu: &Gpu) -> Self {
        LaunchInFlight {
            slot: launch.slot,
            report: OverlappingLaunch {
                name: launch.kernel.name.clone(),
                grid: launch.dims.grid,
                block: launch.dims.block,
                start_cycle: gpu.cycle(),
                ..OverlappingLaunch::default()
            },
            before: gpu.work_of(launch.slot),
        }
    }

    /// Returns the report of the launch, which ends now.
    fn end(self, gpu: &Gpu) -> OverlappingLaunch {
        let work = gpu.work_of(self.slot);
        OverlappingLaunch {
            end_cycle: gpu.cycle(),
            warp_instructions: work.warp_instructions - self.before.warp_instructions,
            thread_instructions: work.thread_instructions - self.before.thread_instructions,
            ..self.report
        }
    }
}

/// A host program, the GPU that runs its launches, and their results.
pub(crate) struct ProgramLaunches {
    pub beginning: Beginning,
    pub program: LaunchProgram,
    pub gpu: Gpu,
    pub memory: DeviceMemory,
    pub recording: Option<TraceRecording>,
    /// Launches to simulate; `None`: all.
    pub range: Option<LaunchRange>,
    /// Launches that have begun.
    pub begun: u64,
    pub done: LaunchResults,
}

impl ProgramLaunches {
    /// Restores the state of the checkpoint and returns the current launch. The GPU must not have run before.
    pub fn resume(&mut self, mut checkpoint: Checkpoint) -> Result<CurrentLaunch, RunError> {
        self.beginning.journal = checkpoint.value()?;
        let (program, config) = (&mut self.program, self.gpu.config());
        let replayed: Option<Option<LaunchedKernel>> = self
            .beginning
            .journal
            .replay(&mut self.memory, |memory| program.next(memory, config, &mut || 0))?;
        let launch = replayed.flatten().ok_or_else(|| checkpoint.without("a launch"))?;
        let under_way = CurrentLaunch::of(&launch, config);
        // The L2 state in the checkpoint already reflects these copies.
        self.memory.take_copies();
        checkpoint.load(|from| {
            self.memory.load(from)?;
            self.gpu.resume(&[Arc::new(launch)], from)?;
            self.done.load(from)
        })?;
        Ok(under_way)
    }

    /// Runs the host program's launches to the end of the program. A `resumed` launch ends first.
    pub fn run(
        &mut self,
        resumed: Option<CurrentLaunch>,
        mut schedule: Option<&mut CheckpointSchedule>,
    ) -> Result<(), RunError> {
        let mut under_way = resumed;
        let may_overlap = schedule.is_none() && self.recording.is_none() && self.range.is_none();
        let mut has_warned = may_overlap;
        loop {
            let Some(mut current) =
                under_way.take().map_or_else(|| self.launch(schedule.is_some()), |one| Ok(Some(one)))?
            else {
                self.range.map_or(Ok(()), |range| range.check(self.begun))?;
                return self.program.finish(self.gpu.cycle());
            };
            if schedule.is_some() && self.program.has_family() {
                return Err(RunError::KernelsLaunch);
            }
            if !has_warned && self.program.overlaps() {
                has_warned = true;
                self.gpu.warn("launches that could overlap run one after another, because checkpoints, --launch and traces need it");
            }
            match &mut schedule {
                Some(schedule) => self.run_with_checkpoints(schedule)?,
                None if may_overlap => self.run_overlapping(&mut current)?,
                None => self.gpu.run_until(u64::MAX, &mut self.memory).map(|_| ())?,
            }
            self.end(current)?;
        }
    }

    /// Runs the current launch and all launches that start before its end, until the GPU is idle.
    fn run_overlapping(&mut self, current: &mut CurrentLaunch) -> Result<(), RunError> {
        let gpu = &mut self.gpu;
        let mut started: Vec<_> = gpu.launches().map(|launch| LaunchInFlight::new(launch, gpu)).collect();
        // A launch whose local memory does not fit together with that of the others.
        let mut held: Option<LaunchedKernel> = None;
        while !started.is_empty() || held.is_some() {
            let cycle = gpu.cycle();
            let start = if held.is_none() { LaunchStart::Now } else { LaunchStart::AtEnd };
            let launch = self.program.beside(start, &mut self.memory, &mut || cycle)?;
            held = held.or(launch);
            gpu.take_copies(&mut self.memory);
            let has_room = |launch: &mut LaunchedKernel| gpu.check_room(launch, &self.memory).is_ok();
            if let Some(launch) = held.take_if(|launch| started.is_empty() || has_room(launch)) {
                gpu.check_room(&launch, &self.memory)?;
                started.push(LaunchInFlight::new(&launch, gpu));
                gpu.start(launch);
                continue;
            }
            let ended = gpu.run_until_one_ends(u64::MAX, &mut self.memory)?;
            for slot in &ended {
                let at = started.iter().position(|launch| launch.slot == *slot);
                current.overlapping.extend(at.map(|at| started.remove(at).end(gpu)));
            }
            if started.is_empty() {
                // The stores of the last launch must end, too.
                gpu.run_until(u64::MAX, &mut self.memory)?;
            }
            ended.iter().for_each(|slot| self.program.end(*slot, &mut self.memory));
        }
        match &mut current.overlapping[..] {
            [_] => current.overlapping.clear(),
            several => several.sort_by_key(|launch| launch.start_cycle),
        }
        Ok(())
    }

    /// Starts the next launch to simulate. Returns `None` at the end of the host program.
    pub fn launch(&mut self, keeps_journal: bool) -> Result<Option<CurrentLaunch>, RunError> {
        let mut launch = loop {
            // The rest of a trace has nothing to execute.
            let is_over = self.range.is_some_and(|range| self.begun >= range.last);
            if is_over && matches!(self.program, LaunchProgram::Trace(_)) {
                return Ok(None);
            }
            let Some(launch) = self.next(keeps_journal)? else { return Ok(None) };
            self.begun += 1;
            match self.range {
                Some(range) if !range.contains(self.begun) => self.pass_over(launch)?,
                _ => break launch,
            }
        };
        self.gpu.take_copies(&mut self.memory);
        self.done.before = self.gpu.snapshot();
        if let Feed::Replay(trace) = &launch.feed
            && trace.empty_ctas > 0
        {
            let (name, empty, ctas) = (&trace.kernel.name, trace.empty_ctas, trace.dims.ctas());
            self.gpu.warn(&format!("{name}: the trace has no instructions of {empty} of {ctas} CTAs"));
        }
        let under_way = CurrentLaunch::of(&launch, self.gpu.config());
        if let Some(recording) = &mut self.recording {
            launch.feed = Feed::Record(recording.begin(&launch.kernel, launch.dims, &mut self.memory));
        }
        self.gpu.check_room(&launch, &self.memory)?;
        self.gpu.start(launch);
        Ok(Some(under_way))
    }

    /// Returns the next launch of the host program.
    fn next(&mut self, keeps_journal: bool) -> Result<Option<LaunchedKernel>, RunError> {
        let (program, config) = (&mut self.program, self.gpu.config());
        let cycle = self.gpu.cycle();
        let mut next = |memory: &mut DeviceMemory| program.next(memory, config, &mut || cycle);
        match keeps_journal {
            true => self.beginning.journal.note(&mut self.memory, &mut next),
            false => next(&mut self.memory),
        }
    }

    /// Executes a launch without timing. A trace has nothing to execute.
    fn pass_over(&mut self, launch: LaunchedKernel) -> Result<(), RunError> {
        self.gpu.take_copies_untimed(&mut self.memory);
        if matches!(launch.feed, Feed::Execute) {
            self.gpu.check_room(&launch, &self.memory)?;
            self.gpu.start(launch);
            self.gpu.execute_ctas(u64::MAX, u64::MAX, &mut self.memory)?;
        }
        Ok(())
    }

    /// Runs the current launch to its end. An interrupt or a limit also writes a checkpoint; a fault does not.
    fn run_with_checkpoints(&mut self, schedule: &mut CheckpointSchedule) -> Result<(), RunError> {
        loop {
            match self.gpu.run_until(schedule.next, &mut self.memory) {
                Ok(true) => return Ok(()),
                Ok(false) => self.write(schedule),
                Err(stop @ (SimFault::Interrupted { .. } | SimFault::Limited { .. })) => {
                    self.write(schedule);
                    return Err(stop.into());
                }
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    fn write(&self, schedule: &mut CheckpointSchedule) {
        let save = |to: &mut Writer| {
            self.beginning.choice.save(to);
            self.beginning.journal.save(to);
            self.memory.save(to);
            self.gpu.save(to);
            self.done.save(to);
        };
        schedule.write(&self.gpu, save);
    }

    /// Checks the state that the launch leaves, and records its counters.
    pub fn end(&mut self, current: CurrentLaunch) -> Result<(), RunError> {
        // Discards the copies: they are stores of a replayed kernel, not copies from the host.
        self.memory.take_copies();
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
        self.done.kernels.push(current.report(share, so_far));
        Ok(())
    }
}

/// Returns the device memory of a run with timing. `checks` also notes reads of lanes that do not execute.
pub(crate) fn device_memory(config: &GpuConfig, most_bytes: u64, checks: bool) -> DeviceMemory {
    let mut memory = DeviceMemory::with_capacity(most_bytes);
    memory.set_zero_outside(config.memory.zero_outside());
    if config.l2.fill_on_copy {
        memory.note_copies();
    }
    if checks {
        memory.note_idle_reads();
    }
    memory
}
