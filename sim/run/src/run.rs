//! Runs a workload on a GPU: host program, launches, verdict and report.
pub use crate::error::RunError;
pub use crate::source::Source;

use crate::best::{self, Best};
use crate::checkpoint::{Checkpoint, CheckpointSchedule, Checkpoints, Journal, RunIdentity};
use crate::intervals::{Estimated, IntervalCounters, IntervalSpec};
use crate::launch_range::LaunchRange;
use crate::launches::{Beginning, LaunchResults, ProgramLaunches, device_memory};
use crate::mechanism::MechanismSpec;
use crate::report::{BlockCoverage, FORMAT_VERSION, HostReport, Outcome, Refused, RunReport, SmReport};
use crate::source::LaunchProgram;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::{Bounds, Control, Gpu};
use selvedge_gpu::limits::Limits;
use selvedge_gpu::mechanism::probe::{BlockInstance, ProbeSpec, Probes};
use selvedge_gpu::mechanism::{Claim, DataNeeds, MechanismError};
use selvedge_gpu::timeline::Timeline;
use selvedge_gpu::trace::strace::{RecordedRun, TraceRecording};
use selvedge_hw::wave::Trace;
use selvedge_hw::{Engine, TrafficCoverage};
use selvedge_ptx::memory::{DeviceMemory, PrintedText};
use selvedge_workloads::workload::{OutputFile, Size};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Specification of a run.
#[derive(Clone)]
pub struct RunSpec {
    /// Workload to run.
    pub workload: Source,
    /// Size of a built-in workload.
    pub size: Size,
    /// Input file that replaces the built-in input.
    pub input: Option<PathBuf>,
    /// Configuration of the GPU.
    pub config: Arc<GpuConfig>,
    /// Mechanism, or `base`.
    pub mechanism: MechanismSpec,
    /// Engine of the mechanism's blocks.
    pub engine: Engine,
    /// Block instances to record.
    pub probes: ProbeSpec,
    /// Checks each DRAM command against all timing constraints, and the value that each load returns.
    pub check_dram: bool,
    /// Interval in core cycles at which the report's series takes the counters.
    pub sample_cycles: Option<u64>,
    /// Max device memory in bytes.
    pub max_memory: u64,
    /// Limits of the simulation.
    pub bounds: Bounds,
    /// Launches to simulate; `None`: all.
    pub launches: Option<LaunchRange>,
}

impl RunSpec {
    /// Creates a run at size `tiny` with the engine `model`, without probes, checks, series and bounds.
    pub fn new(workload: Source, config: Arc<GpuConfig>, mechanism: MechanismSpec) -> Self {
        RunSpec {
            workload,
            size: Size::Tiny,
            input: None,
            config,
            mechanism,
            engine: Engine::Model,
            probes: ProbeSpec::default(),
            check_dram: false,
            sample_cycles: None,
            max_memory: Limits::default().memory,
            bounds: Bounds::default(),
            launches: None,
        }
    }
}

/// Report, outputs and fault of a run.
pub struct RunOutcome {
    /// Report; it covers the part that ran if the run stopped early.
    pub report: RunReport,
    /// Reason for which the run stopped early.
    pub fault: Option<RunError>,
    /// Recorded signals of the probed block instances.
    pub traces: Vec<Trace>,
    /// Timeline, if the run recorded one.
    pub timeline: Option<Timeline>,
    /// Output of the kernels' `printf`, in the order of simulated cycles. It includes a launch that stopped early.
    pub printed: PrintedText,
    /// Files that the host program writes; empty if the run stopped early.
    pub outputs: Vec<OutputFile>,
    /// Max number of warps that were resident on a scheduler at the same time.
    pub most_resident_warps: u64,
}

/// Runs `spec`. `control` shows progress and can stop the run.
///
/// # Errors
/// A mistake that is found before the simulation starts. A later fault is in the outcome, next to the measurements up to it.
pub fn run(spec: &RunSpec, control: Arc<Control>) -> Result<RunOutcome, RunError> {
    run_recorded(spec, &Checkpoints::default(), control, &mut None)
}

/// Runs `spec` like [`run`], and writes checkpoints or resumes from one. A limit or an interrupt also leaves a checkpoint.
///
/// # Errors
/// The errors of [`run`], and a checkpoint that cannot be read or belongs to another run.
pub fn run_with_checkpoints(
    spec: &RunSpec,
    checkpoints: &Checkpoints,
    control: Arc<Control>,
) -> Result<RunOutcome, RunError> {
    run_recorded(spec, checkpoints, control, &mut None)
}

/// Runs `spec` like [`run`], and returns the bytes of a trace file. The bytes are `None` if the run stopped early.
///
/// # Errors
/// The errors of [`run`], and a trace, which cannot be recorded again.
pub fn record(spec: &RunSpec, control: Arc<Control>) -> Result<(RunOutcome, Option<Vec<u8>>), RunError> {
    if let Source::Trace(file) = &spec.workload {
        return Err(RunError::NoProgram { name: file.name.clone() });
    }
    let size = spec.size.to_string();
    let recorded = RecordedRun::new(spec.workload.name(), &size, &spec.config, &spec.mechanism.text);
    let mut recording = Some(RecordingRun { recorded, bytes: None });
    let outcome = run_recorded(spec, &Checkpoints::default(), control, &mut recording)?;
    Ok((outcome, recording.and_then(|recording| recording.bytes)))
}

/// A recording, and the finished trace.
struct RecordingRun {
    recorded: RecordedRun,
    bytes: Option<Vec<u8>>,
}

/// Returns the identity of the run. It includes limits only if the mechanism searches.
fn identity(spec: &RunSpec) -> RunIdentity {
    let mut identity = RunIdentity::new();
    identity.add("workload", spec.workload.name());
    identity.add("size", spec.workload.size_name(spec.size));
    if let Some(values) = spec.workload.values() {
        identity.add("--values", values.name.clone());
    }
    identity.add_machine(&spec.config, &spec.mechanism.text, spec.engine, spec.check_dram);
    let every = spec.sample_cycles.map_or("none".into(), |every| format!("every {every} cycles"));
    identity.add("--series", every);
    if best::searches(&spec.mechanism, &spec.config) {
        // The limits also end trials, and so affect the choice.
        let limit = |limit: Option<u64>| limit.map_or("none".into(), |most| most.to_string());
        identity.add("--max-cycles", limit(spec.bounds.cycles));
        identity.add("--max-instructions", limit(spec.bounds.instructions));
    }
    identity.add_inputs(&spec.workload.inputs(spec.input.as_deref()));
    identity
}

fn run_recorded(
    spec: &RunSpec,
    checkpoints: &Checkpoints,
    control: Arc<Control>,
    recording: &mut Option<RecordingRun>,
) -> Result<RunOutcome, RunError> {
    checkpoints.check(&spec.probes, spec.engine)?;
    let identity = checkpoints.identity(|| identity(spec));
    let mut checkpoint = Checkpoint::read(checkpoints, &identity)?;
    let recorded = recording.as_ref().map(|recording| &recording.recorded);
    let mut begun = BegunRun::new(spec, checkpoint.as_mut(), &control, recorded, None)?;
    begun.watch(spec);
    let resumed = checkpoint.map(|checkpoint| begun.launches.resume(checkpoint)).transpose()?;
    let mut schedule = CheckpointSchedule::new(checkpoints, &identity, begun.launches.gpu.cycle());
    let start = Instant::now();
    let fault = match begun.stopped.take() {
        Some(stopped) => Some(stopped),
        None => begun.launches.run(resumed, schedule.as_mut()).err(),
    };
    let wall_s = start.elapsed().as_secs_f64();
    if let Some(fault) = &fault {
        begun.launches.program.fail(fault);
    }
    let trace = begun.launches.recording.take();
    let (outcome, mut memory) = begun.end(spec, fault, wall_s, None)?;
    if let (Some(recording), None) = (recording, &outcome.fault) {
        recording.bytes = trace.map(|trace| trace.finish(&mut memory));
    }
    Ok(outcome)
}

/// A run before its first launch: its GPU and its host program.
pub(crate) struct BegunRun {
    pub launches: ProgramLaunches,
    best: Option<Best>,
    /// Mechanism with its best choice.
    pub mechanism: MechanismSpec,
    /// Counts of the corner cases that the blocks reach.
    coverage: TrafficCoverage,
    /// Reason that stopped the trials of the mechanism.
    pub stopped: Option<RunError>,
}

impl BegunRun {
    /// Sets up `spec`, from its start or from `checkpoint`. The trials of the mechanism run by `intervals`, if given.
    ///
    /// # Errors
    /// The errors of [`run`].
    pub fn new(
        spec: &RunSpec,
        checkpoint: Option<&mut Checkpoint>,
        control: &Arc<Control>,
        recorded: Option<&RecordedRun>,
        intervals: Option<IntervalSpec>,
    ) -> Result<Self, RunError> {
        if let (Some(range), Some(launches)) = (spec.launches, spec.workload.launches()) {
            range.check(launches)?;
        }
        let program = LaunchProgram::open(
            &spec.workload,
            &spec.config,
            spec.max_memory,
            spec.size,
            spec.input.as_deref(),
            control,
        )?;
        // A trace can replay memory values but no register values: a mechanism that needs the latter cannot be recorded.
        let most = if recorded.is_some() { DataNeeds::Values } else { DataNeeds::Execution };
        spec.mechanism.check_needs(spec.workload.gives().min(most), spec.workload.name())?;
        let probes = Probes::new(spec.probes.clone(), spec.engine);
        probes.check_engine()?;
        // If the trials are stopped early, the run still makes a report, without any work.
        let found = match checkpoint {
            // The checkpoint holds the earlier choice.
            Some(checkpoint) => {
                checkpoint.value().map(|choice| best::chosen(spec, choice)).map_err(RunError::from)
            }
            None => best::find(spec, control, intervals),
        };
        let (best, stopped) = match found {
            Ok(best) => (best, None),
            Err(error) if error.is_stop() => (None, Some(error)),
            Err(error) => return Err(error),
        };
        let mechanism = best
            .as_ref()
            .map_or_else(|| best::settled(&spec.mechanism, &spec.config), |best| best.mechanism.clone());
        let machine = Arc::new(mechanism.machine(&spec.config)?);
        let parts = mechanism.build(&machine, 1, &probes)?;
        probes.check_names()?;
        let coverage = probes.coverage();
        let mut gpu = Gpu::new(&machine, parts, Arc::clone(control));
        gpu.system_mut().check_dram(spec.check_dram);
        if let Some(cycles) = spec.probes.timeline_cycles() {
            gpu.record_timeline(cycles);
        }
        gpu.sample(spec.sample_cycles);
        gpu.bound(spec.bounds);
        let mut memory = device_memory(&spec.config, spec.max_memory, spec.check_dram);
        let recording = recorded.map(|recorded| TraceRecording::new(recorded, &mut memory));
        program.load(&mut memory)?;
        let beginning = Beginning { choice: best.as_ref().map(Best::choice), journal: Journal::default() };
        let launches = ProgramLaunches {
            beginning,
            program,
            gpu,
            memory,
            recording,
            range: spec.launches,
            begun: 0,
            done: LaunchResults::default(),
        };
        Ok(BegunRun { launches, best, mechanism, coverage, stopped })
    }

    /// Lets a witness follow the contents of the caches and DRAM, if the run is checked or a debug build. Nothing may have run.
    /// Launches without timing change contents behind its back.
    pub fn watch(&mut self, spec: &RunSpec) {
        if spec.check_dram || cfg!(debug_assertions) && spec.launches.is_none() {
            self.launches.gpu.watch();
        }
    }

    /// Checks the results and makes the report, up to `fault` if there is one. `estimated` replaces the counters of the GPU. Also
    /// returns the device memory.
    ///
    /// # Errors
    /// The output files of the host program cannot be computed.
    pub fn end(
        self,
        spec: &RunSpec,
        fault: Option<RunError>,
        wall_s: f64,
        estimated: Option<Estimated>,
    ) -> Result<(RunOutcome, DeviceMemory), RunError> {
        let BegunRun { launches, best, mechanism, coverage, .. } = self;
        let ProgramLaunches { mut program, mut gpu, mut memory, done, .. } = launches;
        let verdict = match &fault {
            Some(fault) => Err(fault.to_string()),
            None => {
                program.verify(&memory, &spec.config, &spec.mechanism.text).map_err(|wrong| wrong.to_string())
            }
        };
        let refused = program.refusals().map(Refused::from);
        let outputs = match &fault {
            Some(_) => Vec::new(),
            None => program.outputs(&memory)?,
        };
        let sms = gpu.sms().iter().filter(|_| estimated.is_none());
        let sms = sms.map(|sm| SmReport { sm: sm.counters_at(gpu.cycle()), l1d: sm.l1d().counters().into() });
        let sms = sms.collect();
        let (counters, estimate, most_resident_warps) = match estimated {
            Some(Estimated { counters, estimate, most_resident_warps }) => {
                (counters, Some(estimate), most_resident_warps)
            }
            None => (IntervalCounters::of(&gpu), None, gpu.most_resident_warps()),
        };
        let IntervalCounters { snapshot, mechanism: mut mechanism_counters } = counters;
        if mechanism.claims(Claim::WarpLimit) {
            mechanism_counters.insert(best::MOST_WARPS, most_resident_warps);
        }
        if let Some(best) = &best {
            mechanism_counters.extend(best.found.iter());
        }
        let mut series = gpu.samples().to_vec();
        if spec.sample_cycles.is_some() && series.last().is_none_or(|last| last.cycles < snapshot.cycles) {
            series.push(snapshot.clone());
        }
        let report = RunReport {
            format_version: FORMAT_VERSION,
            workload: spec.workload.name().into(),
            size: spec.workload.size_name(spec.size),
            values: spec.workload.values().map(|values| values.name.clone()),
            config: spec.config.name.clone(),
            mechanism: spec.mechanism.text.clone(),
            engine: spec.probes.engine_name(spec.engine),
            result: Outcome::new(
                fault.as_ref(),
                verdict.as_ref().map(|checked| *checked).map_err(String::as_str),
            )
            .with(refused.as_ref()),
            limit: fault.as_ref().and_then(RunError::limit),
            error: verdict.err().or_else(|| refused.as_ref().map(Refused::to_string)),
            refused,
            races: spec.workload.races(),
            estimate,
            launches: spec.launches,
            totals: snapshot.clone().into(),
            kernels: done.kernels,
            series,
            sms,
            mechanism_counters,
            coverage: BlockCoverage::of(&coverage, spec.engine),
            host: HostReport {
                wall_s,
                cycles_per_s: snapshot.cycles as f64 / wall_s.max(1e-9),
                warp_instructions_per_s: snapshot.sm.warp_instructions as f64 / wall_s.max(1e-9),
            },
        };
        let printed = memory.take_printed();
        let (traces, timeline) = (gpu.traces(), gpu.take_timeline());
        let outcome = RunOutcome { report, fault, traces, timeline, printed, outputs, most_resident_warps };
        Ok((outcome, memory))
    }
}

/// Returns the names of the block instances that a run can record.
///
/// # Errors
/// The mechanism does not support the configuration.
pub fn probe_names(spec: &RunSpec) -> Result<Vec<String>, RunError> {
    let mechanism = best::settled(&spec.mechanism, &spec.config);
    Ok(instances(&mechanism, &spec.config, 1)?.into_iter().map(|one| one.name).collect())
}

/// Returns the block instances of a mechanism. `kernels` is the number of kernels that share the GPU.
///
/// # Errors
/// The mechanism does not support the configuration.
pub fn instances(
    mechanism: &MechanismSpec,
    config: &GpuConfig,
    kernels: usize,
) -> Result<Vec<BlockInstance>, MechanismError> {
    let probes = Probes::new(ProbeSpec::default(), Engine::Model);
    mechanism.build(&mechanism.machine(config)?, kernels, &probes)?;
    Ok(probes.into_instances())
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::sm::SimFault;

    fn vecadd(mechanism: &str, config: &str) -> Result<RunOutcome, RunError> {
        let spec = RunSpec {
            check_dram: true,
            ..RunSpec::new(
                Source::find("vecadd")?,
                Arc::new(GpuConfig::parse("my.toml", config).expect("valid")),
                mechanism.parse()?,
            )
        };
        run(&spec, Arc::new(Control::default()))
    }

    #[test]
    fn the_metadata_bursts_that_a_mechanism_counts_are_those_that_dram_moved() {
        for mechanism in ["hw-bdi", "hw-bdi-mem", "ideal-bdi,metadata=cached,md_kb=4"] {
            let report = vecadd(mechanism, "base = \"gtx480\"\n").expect("it runs").report;
            assert_eq!(
                report.mechanism_counters["metadata_bursts"], report.totals.dram.metadata,
                "{mechanism}"
            );
            assert_ne!(report.totals.dram.metadata, 0, "{mechanism}");
        }
    }

    #[test]
    fn bdi_refuses_a_dram_whose_bursts_are_whole_lines() {
        let refused = vecadd("hw-bdi-mem", "base = \"gtx480\"\n[dram]\nburst_bytes = 128\n").err();
        let line = refused.map(|e| e.to_string()).unwrap_or_default();
        assert_eq!(
            line,
            "mechanism hw-bdi-mem: dram.burst_bytes = 128: must be 32 or 64: a line of 128 bytes moves in several bursts"
        );
    }

    /// Runs a kernel `k` with `body`, as one warp. Its pointer argument is in %rd1.
    fn run_body(body: &str, mechanism: &str) -> RunOutcome {
        run_module("", body, mechanism, 32)
    }

    /// Runs a kernel like [`run_body`], with declarations of the module and a block of `threads`.
    fn run_module(declarations: &str, body: &str, mechanism: &str, threads: u32) -> RunOutcome {
        let folder = tempfile::tempdir().expect("a folder");
        let ptx = format!(
            ".version 4.3\n.target sm_20\n.address_size 64\n{declarations}\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n"
        );
        std::fs::write(folder.path().join("k.ptx"), ptx).expect("written");
        let launch = format!(
            "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [{threads}]\n\
             [[arg]]\ntype = \"u32\"\ncount = 32\n"
        );
        let file = folder.path().join("k.toml");
        std::fs::write(&file, launch).expect("written");
        let spec = RunSpec {
            check_dram: true,
            ..RunSpec::new(
                Source::find(&file.display().to_string()).expect("valid"),
                Arc::new(GpuConfig::load("gtx480").expect("built in")),
                mechanism.parse().expect("valid"),
            )
        };
        run(&spec, Arc::new(Control::default())).expect("it starts")
    }

    #[test]
    fn a_counting_barrier_tells_warps_of_an_sm_what_all_brought() {
        // A thread that receives another number traps.
        let body = ".reg .pred %p<4>;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 37;\nbar.red.popc.u32 %r2, 0, %p1;\n\
                    setp.ne.u32 %p2, %r2, 37;\nsetp.gt.u32 %p1, %r1, 95;\nbar.red.or.pred %p3, 0, %p1;\n@%p2 trap;\n@%p3 trap;";
        assert!(run_module("", body, "base", 96).fault.is_none());
        let wrong = run_module("", &body.replace("%p2, %r2, 37", "%p2, %r2, 36"), "base", 96).fault;
        assert!(wrong.is_some_and(|fault| fault.to_string().ends_with("`@%p2 trap` stops the kernel")));
    }

    #[test]
    fn what_kernels_print_comes_with_the_outcome() {
        let declarations = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
                            .global .align 1 .b8 text[4] = {37, 100, 32, 0};";
        let body = ".local .align 8 .b8 l[8];\n.reg .pred %p<2>;\nmov.u32 %r1, %tid.x;\nst.local.u32 [l], %r1;\n\
                    and.b32 %r2, %r1, 7;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra END;\nmov.u64 %rd2, l;\ncvta.local.u64 %rd2, %rd2;\n\
                    mov.u64 %rd3, text;\n{ .param .b64 f;\n.param .b64 a;\n.param .b32 r;\nst.param.b64 [f], %rd3;\n\
                    st.param.b64 [a], %rd2;\ncall.uni (r), vprintf, (f, a); }\nEND:";
        let outcome = run_module(declarations, body, "base", 32);
        assert!(outcome.fault.is_none());
        assert_eq!(outcome.printed, PrintedText { text: "0 8 16 24 ".to_owned(), lost: 0 });
    }

    #[test]
    fn a_barrier_that_no_block_has_is_a_fault_of_the_kernel() {
        let fault = run_body("mov.u32 %r1, 99;\nbar.sync %r1;", "base").fault.expect("it stops");
        assert!(matches!(fault, RunError::Fault(SimFault::Kernel(_))), "{fault}");
        assert!(fault.to_string().contains("names barrier 99, which does not exist"), "{fault}");
    }

    #[test]
    fn lines_of_local_memory_are_not_taken_for_zeros() {
        // A full-line store and a bypass load of local memory: its lines must not be compressed.
        let body = ".local .align 16 .b8 l[64];\nmov.u32 %r1, %tid.x;\nmov.u64 %rd2, l;\nst.local.u32 [%rd2], %r1;\n\
                    ld.local.u32 %r2, [%rd2+16];\nst.local.u32 [%rd2+32], %r2;";
        for mechanism in ["hw-bdi", "hw-bdi-mem"] {
            let report = run_body(body, mechanism).report;
            assert_eq!(report.compression_ratio(), Some(1.0), "{mechanism}");
            assert_eq!(report.mechanism_counters["partition_lines_decompressed"], 0, "{mechanism}");
        }
    }

    #[test]
    fn what_the_host_copies_is_in_the_l2_where_the_configuration_says_so() {
        let reads = |fills: bool| {
            let config = format!("base = \"gtx480\"\n[l2]\nfill_on_copy = {fills}\n");
            let spec = RunSpec {
                check_dram: true,
                ..RunSpec::new(
                    Source::find("vecadd").expect("built in"),
                    Arc::new(GpuConfig::parse("my.toml", &config).expect("valid")),
                    "base".parse().expect("valid"),
                )
            };
            let report = run(&spec, Arc::new(Control::default())).expect("each load sees its data").report;
            (report.totals.dram.reads, report.totals.l2.misses, report.totals.cycles)
        };
        let (cold, warm) = (reads(false), reads(true));
        // Both inputs fit in the L2: their loads need no DRAM read.
        assert!(cold.0 > 0 && warm.0 == 0, "{cold:?} {warm:?}");
        assert!(warm.1 < cold.1 && warm.2 < cold.2, "{cold:?} {warm:?}");
    }

    #[test]
    fn atomics_are_counted_apart_among_the_accesses_of_the_l2() {
        // The words of a warp are in one line: three atomics, a store and a bypass load.
        let address = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n";
        let accesses = "atom.global.add.u32 %r2, [%rd2], 1;\natom.global.exch.b32 %r2, [%rd2], 5;\n\
                        red.global.add.u32 [%rd2], 1;\nst.global.u32 [%rd2], %r2;\nld.global.cg.u32 %r3, [%rd2];";
        let report = run_body(&(address.to_string() + accesses), "base").report;
        let each = report.kernels.iter().map(|kernel| &kernel.totals).chain([&report.totals]);
        for totals in each {
            assert_eq!((totals.l2_traffic.atomics, totals.l2.accesses), (3, 5));
        }
    }

    fn scheduler_cycles(workload: &str, keys: &str) -> (RunOutcome, u64) {
        let config = format!("base = \"gtx480\"\n{keys}");
        let spec = RunSpec::new(
            Source::find(workload).expect("built in"),
            Arc::new(GpuConfig::parse("my.toml", &config).expect("valid")),
            "base".parse().expect("valid"),
        );
        let schedulers = u64::from(spec.config.sm.count * spec.config.sm.schedulers);
        (run(&spec, Arc::new(Control::default())).expect("it starts"), schedulers)
    }

    const POLICIES: [&str; 6] = [
        "[sm]\nscheduler = \"gto\"",
        "[sm]\nscheduler = \"lrr\"",
        "[sm]\nscheduler = \"two-level\"",
        "[sm]\nscheduler = \"two-level\"\nactive_warps = 1",
        "[sm]\nscheduler = \"oldest-cta-first\"",
        "[sm]\nwavefront_limit = 1",
    ];

    #[test]
    fn scheduler_cycles_add_up_in_the_run_and_in_each_kernel() {
        for keys in POLICIES {
            for workload in ["vecadd", "bfs", "backprop"] {
                let (outcome, schedulers) = scheduler_cycles(workload, keys);
                let totals = outcome.report.kernels.iter().map(|k| &k.totals);
                for t in totals.chain([&outcome.report.totals]) {
                    assert_eq!(t.sm.scheduler_cycles.total(), t.cycles * schedulers, "{workload} {keys}");
                    assert_eq!(t.sm.scheduler_cycles.active, t.warp_instructions, "{workload} {keys}");
                }
            }
        }
    }

    #[test]
    fn every_scheduling_policy_gives_the_right_results() {
        // backprop has barriers between warps of a CTA: a limit of one warp must not deadlock them.
        for keys in POLICIES {
            for workload in ["backprop", "bfs"] {
                let (outcome, _) = scheduler_cycles(workload, keys);
                assert_eq!(outcome.report.result, Outcome::Pass, "{workload} {keys}");
            }
        }
    }

    /// Organizations of the caches that differ from the built-in one.
    const CACHES: [&str; 10] = [
        "[l1d]\nsector_bytes = 32\nallocate = \"on-fill\"\n[l2]\nsector_bytes = 32",
        "[l1d]\nsector_bytes = 64\nfetch = \"line\"\n[l2]\nsector_bytes = 32\nfetch = \"line\"",
        "[l1d]\nline_bytes = 32\nsector_bytes = 32\nwrite_policy = \"write-through\"",
        "[l1d]\nline_bytes = 64\nsector_bytes = 64\n[l2]\nline_bytes = 256\nsector_bytes = 64\nwrite_allocate = \"mask\"",
        "[l1d]\nline_bytes = 256\nsector_bytes = 32\n[l2]\nline_bytes = 256\nsector_bytes = 32\nwrite_policy = \"write-through\"",
        "[l1d]\nbypass = \"all\"\nbypass_slots = 8\n[l2]\nwrite_allocate = \"none\"",
        "[l1d]\ntags_per_way = 4",
        "[l1d]\nwrite_policy = \"write-back\"\n[l2]\nallocate = \"on-fill\"",
        "[l1d]\nsets = 4\nsector_bytes = 32\nwrite_policy = \"write-back\"\nallocate = \"on-fill\"\n[l2]\nsets = 4\nallocate = \"on-fill\"",
        "[sm.constant]\nsets = 64\n[sm.texture]\nsets = 4\n[sm.instruction]\nsets = 4",
    ];

    #[test]
    fn every_organisation_of_the_caches_gives_the_right_results_and_obeys_the_laws() {
        for keys in CACHES {
            let (outcome, schedulers) = scheduler_cycles("bfs", keys);
            assert!(outcome.fault.is_none(), "{keys}: {:?}", outcome.fault.map(|f| f.to_string()));
            assert_eq!(outcome.report.result, Outcome::Pass, "{keys}");
            let t = outcome.report.totals;
            assert_eq!(t.sm.scheduler_cycles.total(), t.cycles * schedulers, "{keys}");
            if !keys.contains("sector_bytes") {
                assert_eq!((t.l1d.detail.sector_misses, t.l2.detail.sector_misses), (0, 0), "{keys}");
            }
        }
    }

    #[test]
    fn an_l1d_that_writes_back_keeps_stores_and_sends_less() {
        let (outcome, _) = scheduler_cycles("bfs", "[l1d]\nwrite_policy = \"write-back\"");
        let t = outcome.report.totals;
        assert!(t.sm.stores_kept > 0 && t.sm.l1d_writebacks > 0, "{:?}", t.sm);
        assert!(t.sm.l1d_writebacks <= t.sm.stores_kept, "a line that leaves was written");
        let (evicting, _) = scheduler_cycles("bfs", "");
        let evicting = evicting.report.totals;
        assert_eq!((evicting.sm.stores_kept, evicting.sm.l1d_writebacks), (0, 0));
        let stores = |t: &crate::report::Totals| t.l1d.detail.write_hits + t.l1d.detail.write_misses;
        assert_eq!(stores(&t), stores(&evicting), "the same stores");
    }

    #[test]
    fn all_loads_pass_by_when_told_and_wait_for_a_slot() {
        let (outcome, _) = scheduler_cycles("bfs", "[l1d]\nbypass = \"all\"\nbypass_slots = 1");
        let l1d = outcome.report.totals.l1d;
        assert_eq!(
            l1d.accesses,
            l1d.detail.write_hits + l1d.detail.write_misses,
            "only stores are looked up"
        );
        assert!(l1d.detail.bypasses > 0 && l1d.detail.reservation_fails.bypass_slot > 0);
    }

    #[test]
    fn a_codec_of_whole_lines_makes_caches_with_sectors_fetch_whole_lines() {
        let config = GpuConfig::load("titan-v").expect("built in");
        let spec: MechanismSpec = "hw-bdi".parse().expect("valid");
        let machine = spec.machine(&config).expect("it suits");
        assert_eq!(
            (config.l1d.sector_bytes, config.l2.sector_bytes, config.l2.split_requests),
            (32, 32, true)
        );
        assert_eq!(
            (machine.l1d.sector_bytes, machine.l2.sector_bytes, machine.l2.split_requests),
            (128, 128, false)
        );
        let config = "base = \"gtx480\"\n[l2]\nwrite_policy = \"write-through\"\n";
        let refused = vecadd("hw-bdi-mem", config).err().map(|e| e.to_string());
        assert!(
            refused.is_some_and(|line| line.contains("l2.write_policy = write-through: must be write-back"))
        );
    }

    #[test]
    fn a_chain_of_dependent_additions_stalls_for_data() {
        let body = "mov.u32 %r1, 1;\n".to_string() + &"add.u32 %r1, %r1, 1;\n".repeat(200);
        let t = run_body(&body, "base").report.totals;
        let cycles = t.sm.scheduler_cycles;
        // One warp on one scheduler: each addition waits for the previous result, 18 cycles after its issue.
        assert!(cycles.data_dependence >= 199 * 17, "{cycles:?}");
        assert_eq!((cycles.memory, cycles.compute), (0, 0));
    }

    #[test]
    fn independent_special_functions_stall_for_their_pipe() {
        let line = "rsqrt.approx.f32 %f1, %f2;\nrsqrt.approx.f32 %f3, %f2;\n";
        let body = ".reg .f32 %f<4>;\nmov.f32 %f2, 0f3F800000;\n".to_string() + line;
        let cycles = run_body(&body, "base").report.totals.sm.scheduler_cycles;
        // A pipe of four lanes takes a warp every eight cycles: the second instruction waits for seven.
        assert_eq!(cycles.compute, 7);
    }

    #[test]
    fn scattered_stores_stall_for_memory() {
        let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
            .to_string()
            + &"st.global.u32 [%rd2], %r1;\n".repeat(40);
        let cycles = run_body(&body, "base").report.totals.sm.scheduler_cycles;
        assert!(cycles.memory > 0, "{cycles:?}");
    }
}
