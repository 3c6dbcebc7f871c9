//! Runs several workloads on one GPU at the same time (Dai, chapter 4). Each has its own host program and address space, and
//! launches its own kernels.
//!
//! A program that ends starts again, so that the others still compete with it. The run lasts for a given number of cycles, or
//! until each program has ended once. At each end the results are compared with the CPU reference.
pub mod isolated;
mod machine;
mod partition;
mod program;
pub mod report;
mod spec;
#[cfg(test)]
mod tests;

use crate::checkpoint::{Checkpoint, CheckpointSchedule, Checkpoints, Journal, RunIdentity};
use crate::mechanism::MechanismSpec;
use crate::report::{BlockCoverage, FORMAT_VERSION, HostReport};
use crate::run::{RunError, instances};
use isolated::{IsolatedKey, IsolatedRun};
use machine::Machine;
use report::{CtaPartition, Throughput, TogetherReport, Verdict};
use selvedge_gpu::gpu::Control;
use selvedge_gpu::kernel_slots::PROGRAMS;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::mechanism::probe::ProbeSpec;
use selvedge_gpu::share::{Share, ShareError, ShareSpec};
use selvedge_gpu::timeline::Timeline;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::PrintedText;
use selvedge_workloads::workload::OutputFile;
pub use spec::TogetherSpec;
use std::sync::Arc;
use std::time::Instant;

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
    pub printed: PrintedText,
    /// Files that the host programs wrote at their first end.
    pub outputs: Vec<OutputFile>,
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
    if !(1..=PROGRAMS).contains(&count) {
        return Err(RunError::Programs { count, most: PROGRAMS });
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
    let mut schedule = CheckpointSchedule::new(checkpoints, &identity, machine.gpu.cycle());
    let start = Instant::now();
    let mut fault = match stopped {
        Some(stopped) => Some(stopped),
        None => {
            let launched = if is_resumed { Ok(()) } else { machine.launch_first() };
            launched.and_then(|()| machine.proceed(spec.cycles, schedule.as_mut(), partition.as_ref())).err()
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
        coverage: BlockCoverage::of(&machine.coverage, spec.engine),
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
fn share_of(spec: &TogetherSpec, control: &Arc<Control>) -> Result<(Share, Option<CtaPartition>), RunError> {
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
    partition: Option<CtaPartition>,
) -> Result<(Share, Option<CtaPartition>), ShareError> {
    let asked = spec.share.among(spec.workloads.len(), &spec.config.sm)?;
    let known = partition.as_ref().map(|partition| Share::PerSm(partition.ctas.clone()));
    Ok((asked.or(known).unwrap_or(Share::LeftOver), partition))
}

/// Returns the identity of the run. It does not include the limits.
fn identity(spec: &TogetherSpec) -> RunIdentity {
    let mut identity = RunIdentity::new();
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
