//! Specification of a run of several programs.
use super::isolated::IsolatedRuns;
use crate::mechanism::MechanismSpec;
use crate::source::Source;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Bounds;
use selvedge_gpu::mechanism::probe::ProbeSpec;
use selvedge_gpu::share::ShareSpec;
use selvedge_hw::Engine;
use selvedge_workloads::workload::Size;
use std::sync::Arc;

/// Specification of a run of several programs.
#[derive(Clone)]
pub struct TogetherSpec {
    /// Workloads: 1 to [`PROGRAMS`].
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
