//! Report of a run of several workloads at the same time, and measures of their joint performance.
use crate::report::{BlockCoverage, CacheReport, HostReport, Totals};
use schemars::JsonSchema;
use selvedge_gpu::gpu::Limit;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_state::State;
use serde::Serialize;

/// Verdict on the results of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The results equalled the CPU reference at every end of the program.
    Pass,
    /// The results differed from the CPU reference at some end of the program.
    Fail,
    /// The program ended, but its expected results are unknown.
    Unchecked,
    /// The program never ended.
    Unfinished,
}

impl Verdict {
    /// Returns the verdict in lower case, for tables.
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
    /// Number of times that the program ended.
    pub ends: u64,
    /// Launches, including launches in progress at the end of the run.
    pub launches: u64,
    /// Thread instructions of the program per core cycle of the run.
    pub ipc: f64,
    /// IPC of the program alone on the GPU without mechanism, if it was requested.
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
    /// Cycles in which a CTA of the program was resident, summed over SMs.
    pub resident_cycles: u64,
    /// Accesses of the program to the L1Ds.
    pub l1d: CacheReport,
}

impl ProgramReport {
    /// Returns the IPC divided by the IPC of the program alone. Returns `None` if the latter is 0 or unknown.
    pub fn normalized_ipc(&self) -> Option<f64> {
        self.ipc_alone.filter(|alone| *alone > 0.0).map(|alone| self.ipc / alone)
    }
}

/// Joint performance of the programs.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Throughput {
    /// The sum of the normalized IPCs (STP in Dai, section 4.2).
    pub weighted_speedup: f64,
    /// The arithmetic mean of the normalized turnaround times, which are the inverses of the normalized IPCs.
    pub antt: f64,
    /// Smallest normalized IPC divided by the largest: 1 if all programs slow down equally.
    pub fairness: f64,
}

impl Throughput {
    /// Returns the measures. Returns `None` unless the IPC of each program alone is known and each program has issued an
    /// instruction.
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

/// CTAs of each kernel, and the measurements and quotas of the sharing policy.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, State)]
#[schemars(rename = "Partition")]
pub struct CtaPartition {
    /// Max CTAs of each kernel on an SM.
    pub ctas: Vec<u32>,
    /// Thread instructions per cycle of each kernel alone with 1, 2, ... CTAs in every SM; only for Warped-Slicer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scalability: Vec<Vec<f64>>,
    /// Warp instructions of each kernel in a set of quotas of an SM; only for SMK-(P+W).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<u32>,
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TogetherReport {
    /// Version of the format. A change of meaning or the removal of a key increases it.
    pub format_version: u32,
    /// Size of the workloads.
    pub size: String,
    /// Configuration name.
    pub config: String,
    /// Mechanism as written.
    pub mechanism: String,
    /// Engine of the mechanism's blocks.
    pub engine: String,
    /// Sharing policy of the SMs.
    pub share: String,
    /// CTAs of each kernel, if the sharing policy chooses them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<CtaPartition>,
    /// The limit that ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Error message, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Joint performance of the programs, if their IPCs alone were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// Reports of the programs, in the order in which they were named.
    pub programs: Vec<ProgramReport>,
    /// Sums over the run.
    pub totals: Totals,
    /// The mechanism's own counters, up to the same cycle as the sums.
    pub mechanism_counters: MechanismCounters,
    /// Corner cases that the blocks reach, if they are counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<BlockCoverage>,
    /// Values that depend on the host.
    pub host: HostReport,
}

impl TogetherReport {
    /// Returns the names of the workloads, joined by `+`.
    pub fn workload(&self) -> String {
        let names: Vec<&str> = self.programs.iter().map(|program| program.workload.as_str()).collect();
        names.join("+")
    }

    /// Returns why the results of a program are wrong, if they are.
    pub fn wrong(&self) -> Option<&str> {
        let failed = self.programs.iter().find(|program| program.result == Verdict::Fail)?;
        Some(failed.error.as_deref().unwrap_or("the results differ from the CPU reference"))
    }
}
