//! Report of a run: totals, kernels and mechanism counters. Values that depend on the host are separate from the deterministic
//! ones.
use crate::error::RunError;
use crate::intervals::Estimate;
use crate::launch_range::LaunchRange;
use schemars::JsonSchema;
use selvedge_cudart::protocol::CUBLAS_KERNELS;
use selvedge_cudart::refusals::Refusals;
use selvedge_gpu::dram::Energy;
use selvedge_gpu::energy::{BlockOperations, GpuEnergy, LineBursts};
use selvedge_gpu::gpu::Limit;
use selvedge_gpu::partition::CrossbarStats;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::snapshot::Snapshot;
use selvedge_gpu::stats::{CacheCounters, MechanismCounters, SmCounters};
use selvedge_hw::{BlockTraffic, Corner, Engine, TrafficCoverage};
use selvedge_state::{Reader, State, StateError, Writer};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Version of the JSON format. A change of meaning or the removal of a key increases it.
pub const FORMAT_VERSION: u32 = 2;

/// A cache level in the report. Conserved: accesses = hits + misses + pending_hits.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct CacheReport {
    /// Line transactions that were decided.
    pub accesses: u64,
    /// Accesses that hit.
    pub hits: u64,
    /// Accesses that missed.
    pub misses: u64,
    /// Accesses merged into a miss in flight.
    pub pending_hits: u64,
    /// Cycles in which an access could not be decided.
    pub reservation_fails: u64,
    /// Misses and pending hits over accesses; 0 without accesses.
    pub miss_rate: f64,
    /// Reservation failures by cause, counters of stores, and bypasses.
    pub detail: CacheCounters,
}

impl From<CacheCounters> for CacheReport {
    fn from(c: CacheCounters) -> Self {
        CacheReport {
            accesses: c.accesses,
            hits: c.hits,
            misses: c.misses,
            pending_hits: c.pending_hits,
            reservation_fails: c.reservation_fails.total(),
            miss_rate: ratio(c.misses + c.pending_hits, c.accesses),
            detail: c,
        }
    }
}

/// Activity of an L2 slice in addition to cache accesses.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct L2Traffic {
    /// Atomics among the accesses.
    pub atomics: u64,
    /// Operations of these atomics, one per lane.
    pub atomic_operations: u64,
    /// Cycles in which an atomic waited for the atomic unit.
    pub atomic_stalls: u64,
    /// Lines that came from DRAM.
    pub fills: u64,
    /// Dirty lines that left for DRAM.
    pub writebacks: u64,
    /// Cycles in which the port was idle because replies could not leave.
    pub reply_stalls: u64,
    /// Cycles in which a request waited for the mechanism's write stage, or for a write in it.
    pub write_stage_stalls: u64,
    /// DRAM command cycles in which a request waited because its channel's queue was full.
    pub dram_full_cycles: u64,
}

/// DRAM activity in the report.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct DramReport {
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// 32-byte bursts moved, metadata included.
    pub bursts: u64,
    /// Rows opened.
    pub activates: u64,
    /// Rows closed.
    pub precharges: u64,
    /// Requests that found their row open.
    pub row_hits: u64,
    /// Data-bus cycles in use over data-bus cycles, all channels.
    pub bandwidth_utilization: f64,
    /// Requests for a mechanism's metadata, included in reads and writes.
    pub metadata: u64,
    /// Writes among the metadata requests, one burst each.
    pub metadata_writes: u64,
    /// Bursts read among all bursts.
    pub read_bursts: u64,
    /// Bursts written among all bursts.
    pub write_bursts: u64,
    /// Rows opened, counted separately for each sub-rank.
    pub sub_rank_activates: u64,
    /// Refreshes of all banks.
    pub refreshes: u64,
    /// Energy by LAMAR's formula (section 4.2).
    pub energy: DramEnergyReport,
}

/// The DRAM's energy in the report. Conserved: the parts add up to the total.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
#[schemars(rename = "DramEnergy")]
pub struct DramEnergyReport {
    /// Energy by parts, nanojoules.
    #[serde(flatten)]
    pub parts: Energy,
    /// Sum of the parts, nanojoules.
    pub total_nj: f64,
    /// Mean power over the simulated time, milliwatts.
    pub mean_power_mw: f64,
}

/// The whole GPU's energy in the report. Conserved: the components add up to the total.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct GpuEnergyReport {
    /// Energy by components, nanojoules.
    #[serde(flatten)]
    pub parts: GpuEnergy,
    /// Sum of the components, nanojoules.
    pub total_nj: f64,
    /// Mean power over the simulated time, milliwatts.
    pub mean_power_mw: f64,
    /// Total energy times the simulated time, nanojoule seconds.
    pub delay_product_nj_s: f64,
    /// Blocks with counted operations but without a known energy. They add nothing to the total.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks_without_energy: Vec<&'static str>,
}

/// Totals of a run or of one kernel.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Totals {
    /// Core cycles.
    pub cycles: u64,
    /// Warp instructions issued.
    pub warp_instructions: u64,
    /// Thread instructions: active lanes of issued warp instructions.
    pub thread_instructions: u64,
    /// Thread instructions per core cycle.
    pub ipc: f64,
    /// SM activity.
    pub sm: SmCounters,
    /// L1 data caches.
    pub l1d: CacheReport,
    /// Constant caches; zero without them.
    pub constant: CacheReport,
    /// Texture caches; zero without them.
    pub texture: CacheReport,
    /// Instruction caches; zero without them.
    pub instruction: CacheReport,
    /// L2 slices.
    pub l2: CacheReport,
    /// L2 slices: traffic with the crossbar and DRAM.
    pub l2_traffic: L2Traffic,
    /// DRAM channels.
    pub dram: DramReport,
    /// Crossbars.
    pub crossbar: CrossbarStats,
    /// Operations of mechanisms' blocks by the name of the block, such as lines of a codec.
    pub blocks: BlockOperations,
    /// Bursts of lines that a mechanism stores in its own format; absent without such a mechanism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_bursts: Option<LineBursts>,
    /// Energy of the whole GPU, DRAM included.
    pub energy: GpuEnergyReport,
}

impl From<Snapshot> for Totals {
    fn from(s: Snapshot) -> Self {
        let d = s.dram;
        Totals {
            cycles: s.cycles,
            warp_instructions: s.sm.warp_instructions,
            thread_instructions: s.sm.thread_instructions,
            ipc: ratio(s.sm.thread_instructions, s.cycles),
            sm: s.sm,
            l1d: s.l1d.into(),
            constant: s.constant.into(),
            texture: s.texture.into(),
            instruction: s.instruction.into(),
            l2: s.l2.cache.into(),
            l2_traffic: L2Traffic {
                atomics: s.l2.atomics,
                atomic_operations: s.l2.atomic_operations,
                atomic_stalls: s.l2.atomic_stalls,
                fills: s.l2.fills,
                writebacks: s.l2.writebacks,
                reply_stalls: s.l2.reply_stalls,
                write_stage_stalls: s.l2.write_stage_stalls,
                dram_full_cycles: s.l2.dram_full_cycles,
            },
            dram: DramReport {
                reads: d.reads,
                writes: d.writes,
                bursts: d.bursts,
                activates: d.activates,
                precharges: d.precharges,
                row_hits: d.row_hits,
                bandwidth_utilization: ratio(d.busy_cycles, s.bus_cycles),
                metadata: d.metadata_reads + d.metadata_writes,
                metadata_writes: d.metadata_writes,
                read_bursts: d.read_bursts,
                write_bursts: d.write_bursts,
                sub_rank_activates: d.sub_rank_activates,
                refreshes: d.refreshes,
                energy: DramEnergyReport {
                    parts: s.dram_energy(),
                    total_nj: s.dram_energy().total_nj(),
                    mean_power_mw: s.dram_power_mw(),
                },
            },
            crossbar: s.crossbar,
            energy: GpuEnergyReport {
                parts: s.energy(),
                total_nj: s.energy().total_nj(),
                mean_power_mw: s.power_mw(),
                delay_product_nj_s: s.delay_product_nj_s(),
                blocks_without_energy: s.blocks_without_energy(),
            },
            blocks: s.blocks,
            line_bursts: s.line_bursts,
        }
    }
}

/// One of several launches that ran at the same time.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, State)]
pub struct OverlappingLaunch {
    /// Kernel name.
    pub name: String,
    /// Grid in CTAs.
    pub grid: [u32; 3],
    /// Block in threads.
    pub block: [u32; 3],
    /// Core cycle of the run in which the launch started.
    pub start_cycle: u64,
    /// Core cycle of the run in which its last CTA ended.
    pub end_cycle: u64,
    /// Warp instructions issued.
    pub warp_instructions: u64,
    /// Thread instructions issued.
    pub thread_instructions: u64,
}

/// One launch, or several launches of different streams that ran at the same time.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct KernelReport {
    /// Kernel name. An entry of several launches has the name and sizes of the first.
    pub name: String,
    /// Grid in CTAs.
    pub grid: [u32; 3],
    /// Block in threads.
    pub block: [u32; 3],
    /// 32-bit registers of a thread for the occupancy, those of assist warps included.
    pub registers: u32,
    /// Static and dynamic shared memory of a CTA, bytes.
    pub shared_bytes: u32,
    /// Max CTAs of the launch in an SM.
    pub ctas_per_sm: u32,
    /// The launches that ran at the same time, by start; absent for a launch that ran alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlapping: Vec<OverlappingLaunch>,
    /// This launch's share of the totals.
    #[serde(flatten)]
    pub totals: Totals,
    /// The counters of this launch.
    #[serde(skip)]
    pub share: Snapshot,
    /// The counters from the beginning of the run to the end of this launch.
    #[serde(skip)]
    pub so_far: Snapshot,
}

/// Saves only the counters; the totals follow from them.
impl State for KernelReport {
    fn save(&self, to: &mut Writer) {
        self.name.save(to);
        self.grid.save(to);
        self.block.save(to);
        self.registers.save(to);
        self.shared_bytes.save(to);
        self.ctas_per_sm.save(to);
        self.overlapping.save(to);
        self.share.save(to);
        self.so_far.save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        *self = Self::read(from)?;
        Ok(())
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        let (name, grid, block) = State::read(from)?;
        let (registers, shared_bytes, ctas_per_sm) = State::read(from)?;
        let overlapping = State::read(from)?;
        let (share, so_far) = <(Snapshot, Snapshot)>::read(from)?;
        Ok(KernelReport {
            name,
            grid,
            block,
            registers,
            shared_bytes,
            ctas_per_sm,
            overlapping,
            totals: share.clone().into(),
            share,
            so_far,
        })
    }
    fn is_value() -> bool {
        true
    }
}

/// Corner cases of a block that a run reaches, over all instances of the block.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct BlockCoverage {
    /// Name of the block.
    pub block: &'static str,
    /// Number of instances.
    pub instances: u64,
    /// Cycles in which an instance was clocked.
    pub cycles: u64,
    /// `true` if two forms of the block were compared in these cycles.
    pub compared: bool,
    /// Operations, in the block's unit: lines, accesses or cycles.
    pub operations: u64,
    /// All corner cases of the block.
    pub corners: Vec<CornerCount>,
}

/// A corner case of a block in a run.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct CornerCount {
    /// The event.
    pub name: &'static str,
    /// Number of times that the run reached it.
    pub times: u64,
}

impl BlockCoverage {
    /// Returns the counts of each block in a run under `engine`.
    pub(crate) fn of(coverage: &TrafficCoverage, engine: Engine) -> Vec<Self> {
        let compared = engine.sides().1.is_some();
        let corner = |corner: Corner| CornerCount { name: corner.name, times: corner.times };
        let block = |BlockTraffic { block, instances, cycles, operations, corners }| BlockCoverage {
            block,
            instances,
            cycles,
            compared,
            operations,
            corners: corners.into_iter().map(corner).collect(),
        };
        coverage.blocks().into_iter().map(block).collect()
    }
}

/// Max corner cases that the line of a block names.
const MOST_MISSING: usize = 3;

/// Displays as a line: "milg: 9000 cycles compared, 1 of 2 corner cases reached; not reached: counter saturates".
impl Display for BlockCoverage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let BlockCoverage { block, cycles, compared, corners, .. } = self;
        let missing: Vec<&str> =
            corners.iter().filter(|corner| corner.times == 0).map(|corner| corner.name).collect();
        let (reached, all) = (corners.len() - missing.len(), corners.len());
        let compared = if *compared { " compared" } else { "" };
        write!(f, "{block}: {cycles} cycles{compared}, {reached} of {all} corner cases reached")?;
        if missing.is_empty() || *cycles == 0 {
            return Ok(());
        }
        let (shown, more) = missing.split_at(missing.len().min(MOST_MISSING));
        write!(f, "; not reached: {}", shown.join("; "))?;
        if more.is_empty() { Ok(()) } else { write!(f, "; {} more", more.len()) }
    }
}

/// One SM over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SmReport {
    /// Activity of the SM.
    #[serde(flatten)]
    pub sm: SmCounters,
    /// L1 data cache of the SM.
    pub l1d: CacheReport,
}

/// Values that depend on the simulating host, separate from the deterministic values.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HostReport {
    /// Wall-clock seconds of the simulation.
    pub wall_s: f64,
    /// Simulated core cycles per second.
    pub cycles_per_s: f64,
    /// Simulated warp instructions per second.
    pub warp_instructions_per_s: f64,
}

/// Outcome of a run: how it ended, and the check of the device's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The results are as expected.
    Pass,
    /// The results are wrong, or a fault ended the run.
    Fail,
    /// The run completed, but its expected results are unknown.
    Unchecked,
    /// The run completed, but some of its work was refused; see `refused`.
    Incomplete,
    /// The run reached its limit of core cycles.
    MaxCycles,
    /// The run reached its limit of thread instructions.
    MaxInstructions,
    /// The run reached its limit of time.
    Timeout,
    /// The user ended the run.
    Interrupted,
}

impl Outcome {
    /// Returns the outcome of a run. `fault` ended it early; `verdict` is `Ok(true)` if a check passed, and `Ok(false)` without a
    /// check.
    pub(crate) fn new(fault: Option<&RunError>, verdict: Result<bool, &str>) -> Self {
        let Some(fault) = fault else {
            return match verdict {
                Ok(true) => Outcome::Pass,
                Ok(false) => Outcome::Unchecked,
                Err(_) => Outcome::Fail,
            };
        };
        match fault {
            RunError::Fault(SimFault::Interrupted { .. }) => Outcome::Interrupted,
            RunError::Fault(SimFault::Limited { limit, .. }) => match limit {
                Limit::MaxCycles(_) => Outcome::MaxCycles,
                Limit::MaxInstructions(_) => Outcome::MaxInstructions,
                Limit::TimeoutS(_) => Outcome::Timeout,
            },
            _ => Outcome::Fail,
        }
    }

    /// Returns the outcome of a run after refused work, which turns `Pass` and `Unchecked` into `Incomplete`.
    pub(crate) fn with(self, refused: Option<&Refused>) -> Self {
        let is_done = matches!(self, Outcome::Pass | Outcome::Unchecked);
        if is_done && refused.is_some() { Outcome::Incomplete } else { self }
    }

    /// Returns the outcome as in the JSON format, for tables.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Unchecked => "unchecked",
            Outcome::Incomplete => "incomplete",
            Outcome::MaxCycles => "max-cycles",
            Outcome::MaxInstructions => "max-instructions",
            Outcome::Timeout => "timeout",
            Outcome::Interrupted => "interrupted",
        }
    }

    /// Returns whether runs with these outcomes are comparable in cycles: both complete, or both stopped at the limit of
    /// instructions.
    pub fn compares_with(self, other: Outcome) -> bool {
        let is_cut = |outcome| {
            matches!(
                outcome,
                Outcome::Incomplete | Outcome::MaxCycles | Outcome::Timeout | Outcome::Interrupted
            )
        };
        let by_instructions = |outcome| outcome == Outcome::MaxInstructions;
        !is_cut(self) && !is_cut(other) && by_instructions(self) == by_instructions(other)
    }
}

/// Refused work of a CUDA program: its calls that returned an error.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Refused {
    /// Number of refused modules.
    pub modules: u64,
    /// Number of refused launches.
    pub launches: u64,
    /// Number of other refused calls.
    pub calls: u64,
    /// The first reasons, each once.
    pub reasons: Vec<RefusedFor>,
}

/// A reason for which calls were refused.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RefusedFor {
    /// Function of the CUDA runtime library.
    pub call: String,
    /// The reason, in one line.
    pub why: String,
    /// Number of calls refused for this reason.
    pub count: u64,
}

impl From<&Refusals> for Refused {
    fn from(refusals: &Refusals) -> Self {
        let reasons = refusals.reasons.iter().map(|reason| RefusedFor {
            call: reason.call.clone(),
            why: reason.why.clone(),
            count: reason.count,
        });
        Refused {
            modules: refusals.modules,
            launches: refusals.launches,
            calls: refusals.calls,
            reasons: reasons.collect(),
        }
    }
}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Refused { modules, launches, calls, .. } = self;
        let parts = [(*modules, "module"), (*launches, "launch"), (*calls, "other call")];
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| match (*count, *what) {
            (1, what) => format!("1 {what}"),
            (count, "launch") => format!("{count} launches"),
            (count, what) => format!("{count} {what}s"),
        });
        write!(f, "the simulator has refused {}", parts.collect::<Vec<_>>().join(", "))
    }
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RunReport {
    /// Version of the format. A change of meaning or the removal of a key increases it.
    pub format_version: u32,
    /// Workload name.
    pub workload: String,
    /// Workload size.
    pub size: String,
    /// Model of the values in memory of an Accel-Sim trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// Configuration name.
    pub config: String,
    /// Mechanism as written.
    pub mechanism: String,
    /// Engine of the mechanism's blocks.
    pub engine: String,
    /// Outcome of the run, including the check of its results.
    pub result: Outcome,
    /// The limit that ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Error message, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Refused work of a CUDA program. The result is then `incomplete` or worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// `true` if the execution races, so that instruction counts differ slightly between mechanisms. Null for launch files,
    /// which do not state it.
    pub races: Option<bool>,
    /// Estimate from intervals. All other counters are then estimates, rounded, and `sms` is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Launches that were simulated, if not all. The others executed without timing and are in no counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launches: Option<LaunchRange>,
    /// Sums over the run.
    pub totals: Totals,
    /// Reports of the launches, in order.
    pub kernels: Vec<KernelReport>,
    /// Reports of the SMs, in order.
    pub sms: Vec<SmReport>,
    /// Counters since the beginning of the run, at equal intervals and at its end, if they were requested.
    #[serde(skip)]
    pub series: Vec<Snapshot>,
    /// The mechanism's own counters.
    pub mechanism_counters: MechanismCounters,
    /// Corner cases that the blocks reach, if they are counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<BlockCoverage>,
    /// Values that depend on the host.
    pub host: HostReport,
}

/// Returns `a / b`, or 0 if `b` is 0.
pub fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

impl RunReport {
    /// Returns the number of launches that replace kernels of cuBLAS.
    pub fn cublas_launches(&self) -> usize {
        self.kernels.iter().filter(|kernel| kernel.name.starts_with(CUBLAS_KERNELS)).count()
    }

    /// Returns the bursts that the moved lines need uncompressed, divided by the bursts that they took. Bursts of metadata do not
    /// count (CABA, section 6, prints the inverse). Returns `None` without a mechanism that compresses.
    pub fn compression_ratio(&self) -> Option<f64> {
        let bursts = self.totals.line_bursts.filter(|bursts| bursts.data > 0)?;
        Some(ratio(bursts.uncompressed, bursts.data))
    }
}
