//! What a run reports: totals, kernels, mechanism counters; what is deterministic apart from what the host adds.
use crate::run::RunError;
use schemars::JsonSchema;
use selvedge_gpu::dram::Energy;
use selvedge_gpu::energy::{BlockOperations, GpuEnergy, LineBursts};
use selvedge_gpu::gpu::{Estimate, Limit};
use selvedge_gpu::partition::CrossbarStats;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::snapshot::Snapshot;
use selvedge_gpu::stats::{CacheCounters, MechanismCounters, SmCounters};
use selvedge_state::{Reader, State, StateError, Writer};
use serde::Serialize;

/// Version of the JSON form; a change of meaning or the removal of a key raises it.
pub const FORMAT_VERSION: u32 = 1;

/// A level of cache in the report. Conserved: accesses = hits + misses + pending_hits.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct CacheReport {
    /// Line transactions decided.
    pub accesses: u64,
    /// Found.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
    /// Merged into a miss in flight.
    pub pending_hits: u64,
    /// Cycles in which an access could not be decided.
    pub reservation_fails: u64,
    /// Misses and pending hits over accesses; 0 without accesses.
    pub miss_rate: f64,
    /// Reservation failures by cause, stores apart, bypasses.
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

/// What an L2 slice did besides deciding accesses.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct L2Traffic {
    /// Atomics among the accesses.
    pub atomics: u64,
    /// Lines that came from DRAM.
    pub fills: u64,
    /// Dirty lines that left for DRAM.
    pub writebacks: u64,
    /// Cycles in which the port stood still because replies could not leave.
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
    /// Requests for a mechanism's metadata among reads and writes.
    pub metadata: u64,
    /// Writes among those requests, a burst each.
    pub metadata_writes: u64,
    /// Bursts read among all bursts.
    pub read_bursts: u64,
    /// Bursts written among all bursts.
    pub write_bursts: u64,
    /// Rows opened, each sub-rank's part counted.
    pub sub_rank_activates: u64,
    /// Refreshes of all banks.
    pub refreshes: u64,
    /// Energy by LAMAR's formula (section 4.2).
    pub energy: EnergyReport,
}

/// The DRAM's energy in the report. Conserved: the parts add up to the total.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
#[schemars(rename = "DramEnergy")]
pub struct EnergyReport {
    /// By parts, nanojoules.
    #[serde(flatten)]
    pub parts: Energy,
    /// All parts together, nanojoules.
    pub total_nj: f64,
    /// Over the simulated time, milliwatts.
    pub mean_power_mw: f64,
}

/// The whole GPU's energy in the report. Conserved: the components add up to the total.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct GpuEnergyReport {
    /// By components, nanojoules.
    #[serde(flatten)]
    pub parts: GpuEnergy,
    /// All components together, nanojoules.
    pub total_nj: f64,
    /// Over the simulated time, milliwatts.
    pub mean_power_mw: f64,
    /// The total times the simulated time, nanojoule seconds.
    pub delay_product_nj_s: f64,
    /// Blocks whose operations are counted and whose energy is not known: they are charged nothing.
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
    /// Constant caches; zero where there are none.
    pub constant: CacheReport,
    /// Texture caches; zero where there are none.
    pub texture: CacheReport,
    /// Instruction caches; zero where there are none.
    pub instruction: CacheReport,
    /// L2 slices.
    pub l2: CacheReport,
    /// L2 slices: what passed between them, the crossbar and DRAM.
    pub l2_traffic: L2Traffic,
    /// DRAM channels.
    pub dram: DramReport,
    /// Crossbars.
    pub crossbar: CrossbarStats,
    /// Operations of mechanisms' blocks by the name of the block: lines of a codec, for instance.
    pub blocks: BlockOperations,
    /// Bursts of lines in a form of a mechanism's own; none without such a mechanism.
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
                energy: EnergyReport {
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

/// One launch.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct KernelReport {
    /// Kernel name.
    pub name: String,
    /// Grid in CTAs.
    pub grid: [u32; 3],
    /// Block in threads.
    pub block: [u32; 3],
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

/// The totals follow from the counters.
impl State for KernelReport {
    fn save(&self, to: &mut Writer) {
        self.name.save(to);
        self.grid.save(to);
        self.block.save(to);
        self.share.save(to);
        self.so_far.save(to);
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        *self = Self::read(from)?;
        Ok(())
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        let (name, grid, block) = State::read(from)?;
        let (share, so_far) = <(Snapshot, Snapshot)>::read(from)?;
        Ok(KernelReport { name, grid, block, totals: share.clone().into(), share, so_far })
    }
    fn is_value() -> bool {
        true
    }
}

/// One SM over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SmReport {
    /// Its activity.
    #[serde(flatten)]
    pub sm: SmCounters,
    /// Its L1 data cache.
    pub l1d: CacheReport,
}

/// What depends on the host that simulates, kept apart from what is deterministic.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HostReport {
    /// Wall-clock seconds of the simulation.
    pub wall_s: f64,
    /// Simulated core cycles per second.
    pub cycles_per_s: f64,
    /// Simulated warp instructions per second.
    pub warp_instructions_per_s: f64,
}

/// How a run ended, and whether the device's results equal what is expected of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// They do.
    Pass,
    /// They do not, or a fault ended the run.
    Fail,
    /// The run came to its end, and nothing says what its results must be.
    Unchecked,
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
    /// Returns the outcome of a run that ended early, by `fault`, or with this verdict, which says whether it checked anything.
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

    /// Returns the word in tables, which is that in the JSON form.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Unchecked => "unchecked",
            Outcome::MaxCycles => "max-cycles",
            Outcome::MaxInstructions => "max-instructions",
            Outcome::Timeout => "timeout",
            Outcome::Interrupted => "interrupted",
        }
    }

    /// Returns whether runs that ended in these ways have done the same work, all of it or as many instructions, so that their cycles compare.
    pub fn compares_with(self, other: Outcome) -> bool {
        let is_cut =
            |outcome| matches!(outcome, Outcome::MaxCycles | Outcome::Timeout | Outcome::Interrupted);
        let by_instructions = |outcome| outcome == Outcome::MaxInstructions;
        !is_cut(self) && !is_cut(other) && by_instructions(self) == by_instructions(other)
    }
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RunReport {
    /// Version of the form: a change of meaning or the removal of a key raises it.
    pub format_version: u32,
    /// Workload name.
    pub workload: String,
    /// Workload size.
    pub size: String,
    /// Configuration name.
    pub config: String,
    /// Mechanism as written.
    pub mechanism: String,
    /// Engine of the mechanism's blocks.
    pub engine: String,
    /// How the run ended, and the verdict on its results.
    pub result: Outcome,
    /// The limit that ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// What went wrong, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the execution races, so that instruction counts differ slightly between mechanisms. Null for launch files, which
    /// do not state it.
    pub races: Option<bool>,
    /// What a sampled simulation estimates; everything else is of what it simulated in detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Estimate>,
    /// Sums over the run.
    pub totals: Totals,
    /// Launch by launch.
    pub kernels: Vec<KernelReport>,
    /// SM by SM.
    pub sms: Vec<SmReport>,
    /// The counters from the beginning of the run, taken at equal distances and at its end, when that was asked for.
    #[serde(skip)]
    pub series: Vec<Snapshot>,
    /// The mechanism's own counters.
    pub mechanism_counters: MechanismCounters,
    /// What depends on the host.
    pub host: HostReport,
}

/// `a / b`, and 0 when there is nothing to divide by.
pub fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

impl RunReport {
    /// Bursts that the lines moved would have taken uncompressed over the bursts that they took, metadata apart
    /// (CABA, section 6, printed there as its inverse); none without a compressing mechanism.
    pub fn compression_ratio(&self) -> Option<f64> {
        let bursts = self.totals.line_bursts.filter(|bursts| bursts.data > 0)?;
        Some(ratio(bursts.uncompressed, bursts.data))
    }
}
