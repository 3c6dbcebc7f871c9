//! What a run of several workloads at the same time reports, and the measures of how well they get on.
use crate::report::{CacheReport, HostReport, Totals};
use crate::together::partition::Partition;
use schemars::JsonSchema;
use selvedge_gpu::gpu::Limit;
use selvedge_gpu::mechanism::MechanismCounters;
use serde::Serialize;

/// What became of a program's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At every end they equalled the CPU reference.
    Pass,
    /// At some end they did not.
    Fail,
    /// The program came to its end, and nothing says what its results must be.
    Unchecked,
    /// The program never came to its end.
    Unfinished,
}

impl Verdict {
    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Unchecked => "unchecked",
            Verdict::Unfinished => "unfinished",
        }
    }
}

/// One of the programs.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ProgramReport {
    /// Workload name.
    pub workload: String,
    /// Verdict on the results.
    pub result: Verdict,
    /// The first difference from the CPU reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Times that it came to its end.
    pub ends: u64,
    /// Launches, those in progress at the end of the run included.
    pub launches: u64,
    /// Its thread instructions per core cycle of the run.
    pub ipc: f64,
    /// The same when it has the GPU without mechanism for itself, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipc_alone: Option<f64>,
    /// Warp instructions issued.
    pub warp_instructions: u64,
    /// Thread instructions.
    pub thread_instructions: u64,
    /// Memory instructions issued to the load/store units.
    pub memory_instructions: u64,
    /// Requests: line transactions after coalescing.
    pub transactions: u64,
    /// CTAs completed.
    pub ctas: u64,
    /// Cycles, over SMs, in which one of its CTAs was resident.
    pub resident_cycles: u64,
    /// Its accesses to the L1Ds.
    pub l1d: CacheReport,
}

impl ProgramReport {
    /// Its IPC over the one that it has alone.
    pub fn normalized_ipc(&self) -> Option<f64> {
        self.ipc_alone.filter(|alone| *alone > 0.0).map(|alone| self.ipc / alone)
    }
}

/// How well programs get on together.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Throughput {
    /// The sum of the normalized IPCs (STP in Dai, section 4.2).
    pub weighted_speedup: f64,
    /// The arithmetic mean of the normalized turnaround times, which are the inverses of the normalized IPCs.
    pub antt: f64,
    /// The least normalized IPC over the greatest: 1 when all lose equally.
    pub fairness: f64,
}

impl Throughput {
    /// The measures; none unless each program's IPC alone is known and each has issued something.
    pub fn of(programs: &[ProgramReport]) -> Option<Self> {
        let normalized = programs.iter().map(ProgramReport::normalized_ipc).collect::<Option<Vec<_>>>()?;
        let least = normalized.iter().copied().reduce(f64::min)?;
        let greatest = normalized.iter().copied().reduce(f64::max)?;
        let inverses: f64 = normalized.iter().map(|n| 1.0 / n).sum();
        (least > 0.0).then(|| Throughput {
            weighted_speedup: normalized.iter().sum(),
            antt: inverses / normalized.len() as f64,
            fairness: least / greatest,
        })
    }
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TogetherReport {
    /// Version of the form: a change of meaning or the removal of a key raises it.
    pub format_version: u32,
    /// Size of the workloads.
    pub size: String,
    /// Configuration name.
    pub config: String,
    /// Mechanism as written.
    pub mechanism: String,
    /// Engine of the mechanism's blocks.
    pub engine: String,
    /// How the programs share the SMs.
    pub share: String,
    /// The CTAs of each, where the way of sharing has chosen them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
    /// The limit that ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// What went wrong, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How well the programs get on, when their IPCs alone were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// Program by program, in the order in which they were named.
    pub programs: Vec<ProgramReport>,
    /// Sums over the run.
    pub totals: Totals,
    /// The mechanism's own counters, up to the same cycle as the sums.
    pub mechanism_counters: MechanismCounters,
    /// What depends on the host.
    pub host: HostReport,
}
