//! A GPU, its memory and the programs that share it.
use super::program::SharedProgram;
use super::report::{CtaPartition, ProgramReport};
use super::spec::TogetherSpec;
use crate::checkpoint::{Checkpoint, CheckpointSchedule};
use crate::conservation::{BrokenLaw, check_conservation};
use crate::error::RunError;
use crate::launches::device_memory;
use crate::mechanism::MechanismSpec;
use crate::report::ratio;
use crate::source::Source;
use selvedge_gpu::gpu::{Control, Gpu};
use selvedge_gpu::mechanism::probe::{ProbeSpec, Probes};
use selvedge_gpu::share::Share;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::snapshot::Snapshot;
use selvedge_gpu::stats::KernelCounters;
use selvedge_hw::TrafficCoverage;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::{State, Writer};
use std::sync::Arc;

/// Counters at the end of the measured time.
pub(super) struct MeasuredCounters {
    pub(super) cycles: u64,
    pub(super) total: Snapshot,
    pub(super) kernels: Vec<KernelCounters>,
}

impl MeasuredCounters {
    pub(super) fn take(gpu: &Gpu, programs: usize) -> Self {
        let kernels = (0..programs).map(|slot| gpu.program_counters(slot)).collect();
        MeasuredCounters { cycles: gpu.cycle(), total: gpu.snapshot(), kernels }
    }

    /// Returns the thread instructions per cycle of each kernel.
    pub(super) fn ipcs(&self) -> Vec<f64> {
        self.kernels.iter().map(|k| ratio(k.thread_instructions, self.cycles)).collect()
    }

    /// Checks that the kernels' counters add up to the counters of the SMs.
    pub(super) fn check_sums(&self) -> Result<(), BrokenLaw> {
        let mut sum = KernelCounters::default();
        self.kernels.iter().for_each(|kernel| sum += *kernel);
        let sm = &self.total.sm;
        for (what, kernels, all) in [
            ("warp instructions", sum.warp_instructions, sm.warp_instructions),
            ("thread instructions", sum.thread_instructions, sm.thread_instructions),
            ("memory instructions", sum.memory_instructions, sm.memory_instructions),
            ("transactions", sum.transactions, sm.transactions),
            ("CTAs", sum.ctas, sm.ctas),
        ] {
            if kernels != all {
                return Err(BrokenLaw::new(
                    &format!("the kernels' {what} are those of the SMs"),
                    kernels,
                    all,
                ));
            }
        }
        if sum.l1d != self.total.l1d {
            let law = "the kernels' L1D counters are those of the L1Ds";
            return Err(BrokenLaw::new(law, format!("{:?}", sum.l1d), format!("{:?}", self.total.l1d)));
        }
        Ok(())
    }
}

/// A GPU, its memory and the programs that share it.
pub(super) struct Machine<'a> {
    pub(super) spec: &'a TogetherSpec,
    pub(super) gpu: Gpu,
    pub(super) memory: DeviceMemory,
    pub(super) programs: Vec<SharedProgram>,
    /// Counts of the corner cases that the blocks reach.
    pub(super) coverage: TrafficCoverage,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        spec: &'a TogetherSpec,
        workloads: &[Source],
        mechanism: &MechanismSpec,
        probed: &ProbeSpec,
        share: Share,
        control: &Arc<Control>,
    ) -> Result<Self, RunError> {
        let mut memory = device_memory(&spec.config, spec.max_memory, spec.check_dram);
        let mut programs = Vec::new();
        for (slot, workload) in (0..).zip(workloads) {
            programs.push(SharedProgram::new(slot, workload, spec, &mut memory)?);
        }
        let probes = Probes::new(probed.clone(), spec.engine);
        probes.check_engine()?;
        let config = Arc::new(mechanism.machine(&spec.config)?);
        let parts = mechanism.build(&config, workloads.len(), &probes)?;
        probes.check_names()?;
        let mut gpu = Gpu::new(&config, parts, Arc::clone(control));
        gpu.system_mut().check_dram(spec.check_dram);
        if spec.check_dram || cfg!(debug_assertions) {
            gpu.watch();
        }
        if let Some(cycles) = probed.timeline_cycles() {
            gpu.record_timeline(cycles);
        }
        gpu.share(share);
        let coverage = probes.coverage();
        Ok(Machine { spec, gpu, memory, programs, coverage })
    }

    /// Starts the first launch of each program.
    pub(super) fn launch_first(&mut self) -> Result<(), RunError> {
        self.programs.iter_mut().try_for_each(|program| program.launch_first(&mut self.gpu, &mut self.memory))
    }

    /// Returns the current counters.
    pub(super) fn measure(&self) -> MeasuredCounters {
        MeasuredCounters::take(&self.gpu, self.programs.len())
    }

    /// Runs the programs for the given number of cycles, or until each has ended once.
    pub(super) fn run(&mut self, cycles: Option<u64>) -> Result<(), RunError> {
        self.launch_first()?;
        self.proceed(cycles, None, None)
    }

    /// Restores the state of the checkpoint, with the launch that was current for each program.
    pub(super) fn resume(&mut self, mut checkpoint: Checkpoint) -> Result<(), RunError> {
        let mut launches = Vec::new();
        for program in &mut self.programs {
            let launch = program.replay(checkpoint.value()?, self.gpu.config(), &mut self.memory)?;
            // The L2 state in the checkpoint already reflects these copies.
            self.memory.take_copies();
            launches.push(Arc::new(launch.ok_or_else(|| checkpoint.without("a launch"))?));
        }
        checkpoint.load(|from| {
            self.memory.load(from)?;
            self.gpu.resume(&launches, from)?;
            self.programs.iter_mut().try_for_each(|program| program.record.load(from))
        })?;
        Ok(())
    }

    pub(super) fn write(&self, schedule: &mut CheckpointSchedule, partition: Option<&CtaPartition>) {
        let save = |to: &mut Writer| {
            partition.cloned().save(to);
            self.programs.iter().for_each(|program| program.journal.clone().unwrap_or_default().save(to));
            self.memory.save(to);
            self.gpu.save(to);
            self.programs.iter().for_each(|program| program.record.save(to));
        };
        schedule.write(&self.gpu, save);
    }

    /// Runs the current and later launches. An interrupt or a limit also writes a checkpoint; a fault does not.
    pub(super) fn proceed(
        &mut self,
        cycles: Option<u64>,
        mut schedule: Option<&mut CheckpointSchedule>,
        partition: Option<&CtaPartition>,
    ) -> Result<(), RunError> {
        let until = cycles.unwrap_or(u64::MAX);
        while self.gpu.cycle() < until {
            let due = schedule.as_ref().map_or(u64::MAX, |schedule| schedule.next);
            let ended = match (self.gpu.run_until_one_ends(until.min(due), &mut self.memory), &mut schedule) {
                (Err(stop @ (SimFault::Interrupted { .. } | SimFault::Limited { .. })), Some(schedule)) => {
                    self.write(schedule, partition);
                    return Err(stop.into());
                }
                (ended, _) => ended?,
            };
            for slot in ended {
                let program = &mut self.programs[usize::from(slot)];
                if program.launch_next(&mut self.gpu, &mut self.memory)? {
                    continue;
                }
                if cycles.is_none() && self.programs.iter().all(SharedProgram::has_ended) {
                    return Ok(());
                }
                self.programs[usize::from(slot)].restart(self.spec, &mut self.gpu, &mut self.memory)?;
            }
            if let Some(schedule) =
                schedule.as_deref_mut().filter(|schedule| schedule.next <= self.gpu.cycle())
            {
                self.write(schedule, partition);
            }
        }
        Ok(())
    }

    /// Runs the CTAs on the SMs to their end, then checks the conservation laws.
    pub(super) fn finish(&mut self) -> Result<(), RunError> {
        self.gpu.drain(&mut self.memory)?;
        if let Some(violation) = self.gpu.system().dram_violation() {
            return Err(RunError::DramTiming(violation));
        }
        if let Some(wrong) = self.gpu.witness().wrong() {
            return Err(RunError::Unseen(wrong));
        }
        let measured = self.measure();
        let schedulers = u64::from(self.spec.config.sm.count * self.spec.config.sm.schedulers);
        check_conservation(&measured.total, schedulers).map_err(RunError::Conservation)?;
        measured.check_sums().map_err(RunError::Conservation)
    }

    pub(super) fn reports(&self, measured: &MeasuredCounters, alone: &[f64]) -> Vec<ProgramReport> {
        let ipcs = measured.ipcs();
        let one = |(slot, program): (usize, &SharedProgram)| ProgramReport {
            workload: program.name.clone(),
            result: program.verdict(),
            error: program.error(),
            ends: program.record.ends,
            launches: program.record.launches,
            ipc: ipcs[slot],
            ipc_alone: alone.get(slot).copied(),
            warp_instructions: measured.kernels[slot].warp_instructions,
            thread_instructions: measured.kernels[slot].thread_instructions,
            memory_instructions: measured.kernels[slot].memory_instructions,
            transactions: measured.kernels[slot].transactions,
            ctas: measured.kernels[slot].ctas,
            resident_cycles: measured.kernels[slot].resident_cycles,
            l1d: measured.kernels[slot].l1d.into(),
        };
        self.programs.iter().enumerate().map(one).collect()
    }
}
