//! Runs several workloads on one GPU at the same time (Dai, chapter 4). Each has its own host program and address space, and
//! launches its own kernels.
//!
//! A program that ends starts again, so that the others still compete with it. The run lasts for a given number of cycles, or
//! until each program has ended once. At each end the results are compared with the CPU reference.
pub mod isolated;
pub mod partition;
mod program;
pub mod report;
#[cfg(test)]
mod tests;

use crate::checkpoint::{Checkpoint, Checkpoints, Identity, Journal, Place};
use crate::mechanism::MechanismSpec;
use crate::report::{FORMAT_VERSION, HostReport, ratio};
use crate::run::{RunError, Source, instances};
use crate::statistic::{BrokenLaw, check_conservation};
use isolated::{IsolatedKey, IsolatedRun, IsolatedRuns};
use partition::Partition;
use program::Program;
use report::{ProgramReport, Throughput, TogetherReport, Verdict};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::{Bounds, Control, Gpu};
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::mechanism::probe::{ProbeSpec, Probes};
use selvedge_gpu::share::{Share, ShareError, ShareSpec};
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::sm::launch::KERNEL_SLOTS;
use selvedge_gpu::snapshot::Snapshot;
use selvedge_gpu::stats::KernelCounters;
use selvedge_gpu::timeline::Timeline;
use selvedge_hw::Engine;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::{DeviceMemory, Printed};
use selvedge_state::{State, Writer};
use selvedge_workloads::workload::{OutputFile, Size};
use std::sync::Arc;
use std::time::Instant;

/// Specification of a run of several programs.
#[derive(Clone)]
pub struct TogetherSpec {
    /// Workloads: 1 to [`KERNEL_SLOTS`].
    pub workloads: Vec<Source>,
    /// Size of the built-in workloads.
    pub size: Size,
    /// Configuration of the GPU.
    pub config: Arc<GpuConfig>,
    /// Way in which the programs share the SMs.
    pub share: ShareSpec,
    /// Duration in core cycles. With `None`, the run lasts until each program has ended once.
    pub cycles: Option<u64>,
    /// `true` to also run each workload alone, without a mechanism, for the same number of cycles.
    pub alone: bool,
    /// Storage for the results of these isolated runs.
    pub isolated: Option<Arc<dyn IsolatedRuns>>,
    /// Mechanism of the shared run.
    pub mechanism: MechanismSpec,
    /// Engine of the mechanism's blocks.
    pub engine: Engine,
    /// Block instances to record.
    pub probes: ProbeSpec,
    /// Checks each DRAM command against all timing constraints, and the value that each load returns.
    pub check_dram: bool,
    /// Max device memory of all workloads, in bytes.
    pub max_memory: u64,
    /// Limits of the whole run, including the cycles after its end in which in-flight work drains.
    pub bounds: Bounds,
}

/// Report, outputs and fault of a run.
pub struct TogetherOutcome {
    /// Report; it covers the part that ran if the run stopped early.
    pub report: TogetherReport,
    /// Reason for which the run stopped early.
    pub fault: Option<RunError>,
    /// Recorded signals of the probed block instances.
    pub traces: Vec<Trace>,
    /// Timeline, if the run recorded one.
    pub timeline: Option<Timeline>,
    /// Output of the kernels' `printf`, of all starts of the programs.
    pub printed: Printed,
    /// Files that the host programs wrote at their first end.
    pub outputs: Vec<OutputFile>,
}

/// Counters at the end of the measured time.
struct Measured {
    cycles: u64,
    total: Snapshot,
    kernels: Vec<KernelCounters>,
}

impl Measured {
    fn take(gpu: &Gpu, programs: usize) -> Self {
        let kernels = (0..programs).map(|slot| gpu.kernel_counters(slot)).collect();
        Measured { cycles: gpu.cycle(), total: gpu.snapshot(), kernels }
    }

    /// Returns the thread instructions per cycle of each kernel.
    fn ipcs(&self) -> Vec<f64> {
        self.kernels.iter().map(|k| ratio(k.thread_instructions, self.cycles)).collect()
    }

    /// Checks that the kernels' counters add up to the counters of the SMs.
    fn check_sums(&self) -> Result<(), BrokenLaw> {
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

/// Runs `spec`. `control` shows progress and can stop the run.
///
/// # Errors
/// A mistake that is found before the simulation starts. A later fault is in the outcome, next to the measurements up to it.
pub fn run(spec: &TogetherSpec, control: Arc<Control>) -> Result<TogetherOutcome, RunError> {
    run_with_checkpoints(spec, &Checkpoints::default(), control)
}

/// Runs `spec` like [`run`], and writes checkpoints or resumes from one. A limit or an interrupt also leaves a checkpoint.
///
/// # Errors
/// The errors of [`run`], and a checkpoint that cannot be read or belongs to another run.
pub fn run_with_checkpoints(
    spec: &TogetherSpec,
    checkpoints: &Checkpoints,
    control: Arc<Control>,
) -> Result<TogetherOutcome, RunError> {
    let count = spec.workloads.len();
    if !(1..=KERNEL_SLOTS).contains(&count) {
        return Err(RunError::Programs { count, most: KERNEL_SLOTS });
    }
    checkpoints.check(&spec.probes, spec.engine)?;
    let identity = checkpoints.identity(|| identity(spec));
    let mut checkpoint = Checkpoint::read(checkpoints, &identity)?;
    let shares = match &mut checkpoint {
        // The checkpoint holds the partition that was measured before.
        Some(checkpoint) => shares(spec, checkpoint.value()?).map_err(RunError::from),
        None => share_of(spec, &control),
    };
    // A run that stops during the measurement of the partition still makes a report, without any work.
    let (share, partition, stopped) = match shares {
        Ok((share, partition)) => (share, partition, None),
        Err(error) if error.is_stop() => (Share::LeftOver, None, Some(error)),
        Err(error) => return Err(error),
    };
    let mut machine = Machine::new(spec, &spec.workloads, &spec.mechanism, &spec.probes, share, &control)?;
    machine.gpu.bound(spec.bounds);
    let quotas = partition.as_ref().map_or(&[][..], |partition| &partition.quotas);
    if !quotas.is_empty() {
        machine.gpu.set_quotas(quotas);
    }
    if checkpoints.file.is_some() {
        machine.programs.iter_mut().for_each(|program| program.journal = Some(Journal::default()));
    }
    let is_resumed = checkpoint.is_some();
    if let Some(checkpoint) = checkpoint {
        machine.resume(checkpoint)?;
    }
    let mut place = Place::new(checkpoints, &identity, machine.gpu.cycle());
    let start = Instant::now();
    let mut fault = match stopped {
        Some(stopped) => Some(stopped),
        None => {
            let launched = if is_resumed { Ok(()) } else { machine.launch_first() };
            launched.and_then(|()| machine.proceed(spec.cycles, place.as_mut(), partition.as_ref())).err()
        }
    };
    let measured = machine.measure();
    // Reads the counters here, because work that drains after the measured time does not count.
    let mut mechanism_counters = MechanismCounters::new();
    machine.gpu.mechanism_counters(&mut mechanism_counters);
    if !quotas.is_empty() {
        mechanism_counters.insert("quota_sets", machine.gpu.quota_sets());
    }
    if fault.is_none() {
        fault = machine.finish().err();
    }
    let wall_s = start.elapsed().as_secs_f64();
    let mut alone = Vec::new();
    if spec.alone && fault.is_none() {
        match alone_ipcs(spec, measured.cycles, &control) {
            Ok(ipcs) => alone = ipcs,
            Err(error) => fault = Some(error),
        }
    }
    let programs = machine.reports(&measured, &alone);
    let failed = programs.iter().find(|program| program.result == Verdict::Fail);
    let error = match (&fault, failed) {
        (Some(fault), _) => Some(fault.to_string()),
        (None, Some(program)) => program.error.clone(),
        (None, None) => None,
    };
    let report = TogetherReport {
        format_version: FORMAT_VERSION,
        size: spec.size.to_string(),
        config: spec.config.name.clone(),
        mechanism: spec.mechanism.text.clone(),
        engine: spec.probes.engine_name(spec.engine),
        share: spec.share.to_string(),
        partition,
        limit: fault.as_ref().and_then(RunError::limit),
        error,
        throughput: Throughput::of(&programs),
        programs,
        totals: measured.total.clone().into(),
        mechanism_counters,
        host: HostReport {
            wall_s,
            cycles_per_s: measured.cycles as f64 / wall_s.max(1e-9),
            warp_instructions_per_s: measured.total.sm.warp_instructions as f64 / wall_s.max(1e-9),
        },
    };
    Ok(TogetherOutcome {
        report,
        fault,
        traces: machine.gpu.traces(),
        timeline: machine.gpu.take_timeline(),
        printed: machine.memory.take_printed(),
        outputs: machine.programs.iter_mut().flat_map(|program| program.take_outputs()).collect(),
    })
}

/// Returns the requested share. Also returns the partition if the share depends on the programs.
fn share_of(spec: &TogetherSpec, control: &Arc<Control>) -> Result<(Share, Option<Partition>), RunError> {
    if let Some(share) = spec.share.among(spec.workloads.len(), &spec.config.sm)? {
        return Ok((share, None));
    }
    let partition = match spec.share {
        // The profile covers the length of the run: caches and queues fill slowly, so the first cycles are not representative.
        ShareSpec::WarpedSlicer(cycles) => partition::warped_slicer(spec, cycles.or(spec.cycles), control)?,
        ShareSpec::SmkPw(cycles) => partition::smk_with_quotas(spec, cycles.or(spec.cycles), control)?,
        _ => partition::smk(spec, control)?,
    };
    Ok((Share::PerSm(partition.ctas.clone()), Some(partition)))
}

/// Returns the requested share, or the share of a known partition.
fn shares(
    spec: &TogetherSpec,
    partition: Option<Partition>,
) -> Result<(Share, Option<Partition>), ShareError> {
    let asked = spec.share.among(spec.workloads.len(), &spec.config.sm)?;
    let known = partition.as_ref().map(|partition| Share::PerSm(partition.ctas.clone()));
    Ok((asked.or(known).unwrap_or(Share::LeftOver), partition))
}

/// Returns the identity of the run. It does not include the limits.
fn identity(spec: &TogetherSpec) -> Identity {
    let mut identity = Identity::new();
    for workload in &spec.workloads {
        identity.add("workload", workload.name());
        identity.add_inputs(&workload.inputs(None));
    }
    identity.add("size", spec.size);
    identity.add_machine(&spec.config, &spec.mechanism.text, spec.engine, spec.check_dram);
    identity.add("--share", &spec.share);
    identity.add("--for", spec.cycles.map_or("none".into(), |cycles| cycles.to_string()));
    identity
}

/// Returns the IPC of each workload that runs alone, without a mechanism, for the given number of cycles.
fn alone_ipcs(spec: &TogetherSpec, cycles: u64, control: &Arc<Control>) -> Result<Vec<f64>, RunError> {
    let (base, probes) = (MechanismSpec::base(), ProbeSpec::default());
    let mut ipcs = Vec::new();
    for workload in &spec.workloads {
        let key = spec.isolated.as_ref().map(|runs| (runs, IsolatedKey::new(spec, workload, cycles)));
        if let Some(known) = key.as_ref().and_then(|(runs, key)| runs.known(key)) {
            ipcs.push(known.ipc());
            continue;
        }
        let only = std::slice::from_ref(workload);
        let mut machine = Machine::new(spec, only, &base, &probes, Share::LeftOver, control)?;
        machine.run(Some(cycles))?;
        let run =
            IsolatedRun { thread_instructions: machine.measure().kernels[0].thread_instructions, cycles };
        if let Some((runs, key)) = &key {
            runs.keep(key, &run);
        }
        ipcs.push(run.ipc());
    }
    Ok(ipcs)
}

/// Returns the names of the block instances that a run can record.
///
/// # Errors
/// The mechanism does not support the configuration.
pub fn probe_names(spec: &TogetherSpec) -> Result<Vec<String>, RunError> {
    let built = instances(&spec.mechanism, &spec.config, spec.workloads.len())?;
    Ok(built.into_iter().map(|one| one.name).collect())
}

/// A GPU, its memory and the programs that share it.
struct Machine<'a> {
    spec: &'a TogetherSpec,
    gpu: Gpu,
    memory: DeviceMemory,
    programs: Vec<Program>,
}

impl<'a> Machine<'a> {
    fn new(
        spec: &'a TogetherSpec,
        workloads: &[Source],
        mechanism: &MechanismSpec,
        probed: &ProbeSpec,
        share: Share,
        control: &Arc<Control>,
    ) -> Result<Self, RunError> {
        let mut memory = DeviceMemory::with_capacity(spec.max_memory);
        memory.set_zero_outside(spec.config.memory.zero_outside());
        if spec.config.l2.fill_on_copy {
            memory.note_copies();
        }
        if spec.check_dram {
            memory.note_idle_reads();
        }
        let mut programs = Vec::new();
        for (slot, workload) in (0..).zip(workloads) {
            programs.push(Program::new(slot, workload, spec, &mut memory)?);
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
        Ok(Machine { spec, gpu, memory, programs })
    }

    /// Starts the first launch of each program.
    fn launch_first(&mut self) -> Result<(), RunError> {
        self.programs.iter_mut().try_for_each(|program| program.launch_first(&mut self.gpu, &mut self.memory))
    }

    /// Returns the current counters.
    fn measure(&self) -> Measured {
        Measured::take(&self.gpu, self.programs.len())
    }

    /// Runs the programs for the given number of cycles, or until each has ended once.
    fn run(&mut self, cycles: Option<u64>) -> Result<(), RunError> {
        self.launch_first()?;
        self.proceed(cycles, None, None)
    }

    /// Restores the state of the checkpoint, with the launch that was current for each program.
    fn resume(&mut self, mut checkpoint: Checkpoint) -> Result<(), RunError> {
        let mut launches = Vec::new();
        for program in &mut self.programs {
            let launch = program.replay(checkpoint.value()?, self.gpu.config(), &mut self.memory)?;
            // The L2 state in the checkpoint already reflects these copies.
            self.memory.take_copies();
            launches.push(launch.ok_or_else(|| checkpoint.without("a launch"))?);
        }
        checkpoint.load(|from| {
            self.memory.load(from)?;
            self.gpu.resume(launches, from)?;
            self.programs.iter_mut().try_for_each(|program| program.record.load(from))
        })?;
        Ok(())
    }

    fn write(&self, place: &mut Place, partition: Option<&Partition>) {
        let save = |to: &mut Writer| {
            partition.cloned().save(to);
            self.programs.iter().for_each(|program| program.journal.clone().unwrap_or_default().save(to));
            self.memory.save(to);
            self.gpu.save(to);
            self.programs.iter().for_each(|program| program.record.save(to));
        };
        place.write(&self.gpu, save);
    }

    /// Runs the current and later launches. An interrupt or a limit also writes a checkpoint; a fault does not.
    fn proceed(
        &mut self,
        cycles: Option<u64>,
        mut place: Option<&mut Place>,
        partition: Option<&Partition>,
    ) -> Result<(), RunError> {
        let until = cycles.unwrap_or(u64::MAX);
        while self.gpu.cycle() < until {
            let due = place.as_ref().map_or(u64::MAX, |place| place.next);
            let ended = match (self.gpu.run_until_one_ends(until.min(due), &mut self.memory), &mut place) {
                (Err(stop @ (SimFault::Interrupted { .. } | SimFault::Limited { .. })), Some(place)) => {
                    self.write(place, partition);
                    return Err(stop.into());
                }
                (ended, _) => ended?,
            };
            for slot in ended {
                let program = &mut self.programs[usize::from(slot)];
                if program.launch_next(&mut self.gpu, &mut self.memory)? {
                    continue;
                }
                if cycles.is_none() && self.programs.iter().all(Program::has_ended) {
                    return Ok(());
                }
                self.programs[usize::from(slot)].restart(self.spec, &mut self.gpu, &mut self.memory)?;
            }
            if let Some(place) = place.as_deref_mut().filter(|place| place.next <= self.gpu.cycle()) {
                self.write(place, partition);
            }
        }
        Ok(())
    }

    /// Runs the CTAs on the SMs to their end, then checks the conservation laws.
    fn finish(&mut self) -> Result<(), RunError> {
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

    fn reports(&self, measured: &Measured, alone: &[f64]) -> Vec<ProgramReport> {
        let ipcs = measured.ipcs();
        let one = |(slot, program): (usize, &Program)| ProgramReport {
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
